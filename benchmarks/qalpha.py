"""Q-alpha: cost in the number of features, memory, sparse text, and how the cuts and the null fare.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.qalpha [--part NAME]``, by default all parts:

cost    100 samples, k = 4, single-step, one start, ten cycles, at 10^5 and 10^6 features: a process
        each, the best of three; seconds of es.qalpha, and the peak memory with X over that of X.
form    the leading eigenvector of G at 7,129 features x 60 samples, k = 6: by products, against
        forming G first (its entries by two matrix products) and Lanczos on that.
sparse  20,000 documents x 10^6 words, 10^7 counts drawn at random, default options: seconds, and
        peak memory over that of the table (which as an array would be 160 GB).
mapped  10^6 features x 100 samples in a .npy file, read block by block: seconds and peak memory
        above that of the libraries.
cuts    F1 of the features that each rule keeps, on the paper's clusters in noise and Ben-Dor's
        model and on shifted classes; 15 draws each.
variants  share of the relevant features among as many of the largest weights, same draws as cuts:
        variant "standard", "laplacian" and "gap", and what chance gives.
null    shares of p <= .05 and features that pass Benjamini-Hochberg at 5 %, 20 draws each.
real    cycles and seconds on gene sets (EIGENSIEVE_DATA), exact weights against single steps, and
        the default starts against that of the singular vectors.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse.linalg import eigsh

import eigensieve as es
from eigensieve.datasets.loader import load_table
from eigensieve.datasets.wolf2005 import ben_dor, clusters_in_noise
from eigensieve.q_alpha.leading import leading_eigenvector
from eigensieve.q_alpha.options import QAlphaOptions
from eigensieve.q_alpha.problem import make_rows
from eigensieve.q_alpha.relevance import Standard
from eigensieve.q_alpha.weight_cut import CUTS, count_relevant

PEAK = """
import re, sys, time
import numpy as np, eigensieve as es
from scipy import sparse
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
es.qalpha(np.random.default_rng(0).normal(size=(20, 200)))  # libraries loaded
before = peak()
"""
DENSE = (
    PEAK
    + """
drawn = lambda n: np.random.default_rng(0).standard_normal((100, n))
X = drawn(int(sys.argv[1])) if sys.argv[1].isdigit() else np.load(sys.argv[1], mmap_mode="r")
start = time.perf_counter()
found = es.qalpha(X, 4, eigensolver="single-step", n_init=1, max_iter=10, tol=0.0)
print(time.perf_counter() - start, (peak() - before) / X.nbytes)
"""
)
SPARSE = (
    PEAK
    + """
rng, q, n, stored = np.random.default_rng(0), 20_000, 1_000_000, 10_000_000
counts, place = rng.integers(1, 5, stored).astype(float), rng.integers(0, [[q], [n]], (2, stored))
X = sparse.csr_array((counts, (place[0], place[1])), shape=(q, n))
del counts, place
open("/proc/self/clear_refs", "w").write("5")  # the peak is that of now
size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
start = time.perf_counter()
found = es.qalpha(X, 4)
seconds = time.perf_counter() - start
print(seconds, (peak() - before) / size, found.n_iter, found.status, found.eigensolver)
"""
)


def run(program: str, *arguments: str) -> list[str]:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def show_cost() -> None:
    print("100 samples, k = 4, single-step, one start, ten cycles")
    seconds = {}
    for n in (100_000, 1_000_000):
        taken, memory = min(tuple(map(float, run(DENSE, str(n)))) for _ in range(3))
        seconds[n] = taken
        print(f"  {n:>9,} features: {taken:6.2f} s, peak memory {memory:.2f} x X")
    print(f"  time ratio: {seconds[1_000_000] / seconds[100_000]:.1f}")


def show_form() -> None:
    X = np.random.default_rng(0).standard_normal((60, 7129))
    family = Standard(make_rows(X, QAlphaOptions()), 6)
    form = family.at(family.start(None))
    alpha = np.full(7129, 7129**-0.5)

    def by_products() -> np.ndarray:
        return leading_eigenvector(form, alpha, "lanczos", lambda: None)

    def by_forming() -> np.ndarray:
        M = family.rows.rmatmat(np.eye(60))
        return eigsh((M @ M.T) * (form.U @ form.U.T), k=1, which="LA", v0=alpha)[1][:, 0]

    ours, theirs = best_of(by_products, 5), best_of(by_forming, 2)
    apart = min(np.abs(by_products() - s * by_forming()).max() for s in (1, -1))
    print("the leading eigenvector of G, 7,129 features x 60 samples, k = 6")
    print(f"  by products {ours:.3f} s, forming G {theirs:.2f} s: x {theirs / ours:.0f}")
    print(f"  largest difference {apart:.0e}; G alone takes {7129**2 * 8 / 2**20:.0f} MB")


def best_of(task: Callable[[], object], repeats: int) -> float:
    """The shortest of several times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def show_sparse() -> None:
    seconds, memory, n_iter, *status = run(SPARSE)
    print("20,000 documents x 1,000,000 words, 10^7 counts, k = 4, default options")
    print(f"  {float(seconds):.1f} s, peak {float(memory):.1f} x the sparse table; {n_iter} cycles")
    print(f"  ({' '.join(status)})")


def show_mapped() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        file = np.lib.format.open_memmap(path, "w+", np.float64, (100, 1_000_000))
        file[:] = np.random.default_rng(0).standard_normal(file.shape)
        file.flush()
        seconds, memory = map(float, run(DENSE, str(path)))
    print("1,000,000 features x 100 samples from a file, single-step, ten cycles")
    print(
        f"  {seconds:.1f} s, peak {memory:.2f} x X (pages of the file that are in memory included)"
    )


def shifted(relevant: int, n: int, q: int, shift: float) -> Callable[..., tuple]:
    """Two groups of samples that differ on the first features."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((q, n))
        X[: q // 2, :relevant] += shift
        return X, np.arange(n) < relevant

    return draw


def only(generator: Callable[..., tuple], *arguments: object) -> Callable[..., tuple]:
    """The table and the mask of relevant features of one of the paper's models."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X, _, relevant = generator(*arguments, rng)
        return X, relevant

    return draw


CASES = {
    **{f"{c} clusters, 5 of 125": (only(clusters_in_noise, c), c) for c in (2, 3, 4, 6)},
    "Ben-Dor, 168 of 600": (only(ben_dor), 2),
    "5 of 50, shift 3": (shifted(5, 50, 30, 3.0), 2),
    "20 of 500, shift 2": (shifted(20, 500, 40, 2.0), 2),
    "100 of 500, shift 2": (shifted(100, 500, 40, 2.0), 2),
    "200 of 400, shift 2": (shifted(200, 400, 60, 2.0), 2),
    "50 of 5,000, shift 3": (shifted(50, 5000, 60, 3.0), 2),
}


def show_cuts(repeats: int = 15) -> None:
    rules = [rule for rule in CUTS if rule != "null"]
    print(f"{'F1 of the features kept':24}", *(f"{rule:>8}" for rule in rules))
    for name, (draw, k) in CASES.items():
        scores = np.zeros((repeats, len(rules)))
        for r in range(repeats):
            X, relevant = draw(np.random.default_rng(r))
            alpha = es.qalpha(X, k, n_init=1).alpha
            scores[r] = [f1(alpha, relevant, count_relevant(alpha, c, 0.9)) for c in rules]
        print(f"{name:24}", *(f"{score:8.2f}" for score in scores.mean(axis=0)))


def show_variants(repeats: int = 15) -> None:
    variants = ("standard", "laplacian", "gap")
    print(f"{'relevant among the largest':26}", *(f"{name:>10}" for name in variants), "    chance")
    for name, (draw, k) in CASES.items():
        shares = np.zeros((repeats, len(variants) + 1))
        for r in range(repeats):
            X, relevant = draw(np.random.default_rng(r))
            found = [es.qalpha(X, k, variant=v, n_init=1, max_iter=300).alpha for v in variants]
            # as many features as are relevant: F1 is then their share
            shares[r, :-1] = [f1(alpha, relevant, int(relevant.sum())) for alpha in found]
            shares[r, -1] = relevant.mean()
        print(f"{name:26}", *(f"{share:10.2f}" for share in shares.mean(axis=0)))


def f1(alpha: np.ndarray, relevant: np.ndarray, k: int) -> float:
    """Of the k largest weights."""
    hits = np.count_nonzero(relevant[np.argsort(-alpha, kind="stable")[:k]])
    return 2.0 * hits / (k + np.count_nonzero(relevant))


def show_null(repeats: int = 20) -> None:
    cases = {
        "noise, 300 features": shifted(0, 300, 40, 0.0),
        "20 of 300, shift 2": shifted(20, 300, 40, 2.0),
        "150 of 300, shift 1": shifted(150, 300, 40, 1.0),
        "3 of 300, shift 3": shifted(3, 300, 40, 3.0),
        "10 of 1,000, shift 3": shifted(10, 1000, 60, 3.0),
    }
    print(f"{'10 permutations':24} p <= .05: noise  relevant | pass: noise  relevant")
    for name, draw in cases.items():
        rows = []
        for r in range(repeats):
            X, relevant = draw(np.random.default_rng(r))
            selector = es.QAlphaSelector(
                1, eigensolver="single-step", n_permutations=10, max_iter=2000
            ).fit(X)
            assert selector.null_ is not None
            small = selector.null_.p_values <= 0.05
            passes = selector.null_.passing()
            shares = small[~relevant].mean(), small[relevant].mean() if relevant.any() else np.nan
            rows.append([*shares, passes[~relevant].sum(), passes[relevant].sum()])
        noise, power, false, true = np.mean(rows, axis=0)
        print(f"{name:24} {noise:15.3f} {power:9.2f} | {false:11.2f} {true:9.1f}")


def show_real() -> None:
    for name in ("colon", "leukemia", "prostate", "srbct", "brain"):
        X = load_table(name).X
        for k in (2, 4):
            line = f"{name:9} k = {k}:"
            for method in ("lanczos", "single-step"):
                found = es.qalpha(X, k, eigensolver=method, n_init=1)
                line += f"  {method} {found.n_iter} cycles {found.seconds:.2f} s"
                line += f" {found.objective:.4f}"
            many = es.qalpha(X, k, eigensolver="single-step")
            print(line, f" default starts {many.objective:.4f}")


PARTS = {
    "cost": show_cost,
    "form": show_form,
    "sparse": show_sparse,
    "mapped": show_mapped,
    "cuts": show_cuts,
    "variants": show_variants,
    "null": show_null,
    "real": show_real,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="one part only")
    chosen = parser.parse_args().part
    for name in [chosen] if chosen else PARTS:
        PARTS[name]()
        print()


if __name__ == "__main__":
    main()
