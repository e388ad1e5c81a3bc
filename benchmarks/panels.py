"""Lists of near-optimal sets: how many, how long, and beside it the proof of the best one alone.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.panels [--only SECTION ...]``, with EIGENSIEVE_DATA
set. A row gives the sets within a share of the best, seconds (CPU), the ratio to the seconds that
proving the best set takes in the same run, and the memory that the process has had at most. Rows
with a bar end with ok or MISSED.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import eigensieve as es

from .exact import lda, load

# (name, shrinkage, k, share, sets that notes/panels.md counts or None, seconds at most)
TWO_CLASSES = (
    ("prostate", 0.7, 10, 0.005, 11, 3.0), ("prostate", 0.7, 10, 0.01, 67, 3.0),
    ("colon", 0.7, 10, 0.005, 3, 3.0), ("colon", 0.7, 10, 0.01, 10, 3.0),
    ("colon", 0.7, 10, 0.02, 141, 3.0), ("prostate", 0.5, 5, 0.02, 17, 2.0),
    ("colon", 0.5, 10, 0.02, None, None),
)  # fmt: skip
MANY_CLASSES = ("srbct83", "lymphoma", "brain")
LONG = (("prostate", 0.03, 20_000), ("prostate", 0.05, 100_000))
GENES = ("colon", "lymphoma", "srbct83")
TIME_LIMIT = 120.0


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the CPU seconds it takes."""
    start = time.process_time()
    found = run()
    return found, time.process_time() - start


def memory() -> float:
    """What the process has had at most, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(
    label: str, pencil: es.Pencil, k: Any, within: float, *, n_sets: int | None = None,
    bar: float | None = None, max_sets: int = 10_000, **options: Any,
) -> None:  # fmt: skip
    """One line of the table."""
    criterion = options.get("criterion", "auto")
    asked = {name: options[name] for name in options if name not in ("effort", "criterion")}
    _, alone = timed(
        lambda: es.solve(pencil, k, "exact", criterion, time_limit=TIME_LIMIT, **asked)
    )
    found, seconds = timed(
        lambda: es.near_optimal(pencil, k, within, max_sets, time_limit=TIME_LIMIT, **options)
    )
    known = found.complete_within
    says = "all" if found.is_complete else "?" if known is None else f"to {100 * known:.2f} %"
    is_met = found.is_complete and n_sets in (None, found.n_sets) and seconds <= (bar or np.inf)
    verdict = "-" if bar is None else "ok" if is_met else "MISSED"
    print(  # noqa: T201
        f"{label:<34}{within:>7.1%}{found.n_sets:>8,}  {says:<11}{found.core.size:>4}"
        f"{found.shared.size:>5}{seconds:>9.2f} s{seconds / max(alone, 1e-3):>8.1f} x"
        f"{memory():>8.0f} MB  {verdict}",
        flush=True,
    )


def two_classes() -> None:
    """The table of the note: two classes, trace."""
    for name, shrinkage, k, within, n_sets, bar in TWO_CLASSES:
        row(
            f"{name} s = {shrinkage} k = {k}", lda(name, shrinkage), k, within,
            n_sets=n_sets, bar=bar, criterion="trace",
        )  # fmt: skip


def many_classes() -> None:
    """Log-det at the default shrinkage."""
    for name in MANY_CLASSES:
        row(f"{name} k = 5", lda(name, "auto"), 5, 0.01, bar=20.0)


def long_lists() -> None:
    """Tens of thousands of sets, in bounded memory."""
    for name, within, most in LONG:
        row(
            f"{name} s = 0.7 k = 10, {most:,} sets", lda(name, 0.7), 10, within, max_sets=most,
            criterion="trace", effort=np.inf,
        )  # fmt: skip


def eigenvalues() -> None:
    """Sparse PCA of genes, and CCA."""
    for name in GENES:
        for k in (5, 10):
            row(f"{name} PCA, all genes, k = {k}", es.pca_pencil(load(name)[0]), k, 0.01)
    X = load("colon")[0]
    pencil = es.cca_pencil(X[:, :200], X[:, 200:400], shrinkage=0.5)
    row("colon CCA 200 + 200, k = 2 + 2", pencil, (2, 2), 0.01)


def limits() -> None:
    """Groups and costs: the relaxation pays for them by prices."""
    rng = np.random.default_rng(0)
    for name in ("colon", "prostate"):
        pencil, X = lda(name, 0.5), load(name)[0]
        p = pencil.size
        best = np.argsort(-pencil.diag_A / pencil.diag_B)
        near = np.abs(X.T @ X[:, best[:40:2]]) / len(X) > 0.5
        families = {f"like {j}": np.flatnonzero(column) for j, column in enumerate(near.T)}
        wishes: dict[str, dict[str, Any]] = {
            "2 of the 60 best": {"groups": {"best": best[:60]}, "at_most": 2},
            "1 of a family": {"groups": families, "at_most": 1},
            "costs": {"costs": rng.integers(1, 20, size=p).astype(float), "max_cost": 30.0},
            "pairs": {"groups": np.arange(p) // 2, "whole": True},
        }
        for wish, rules in wishes.items():
            row(f"{name} k = 10, {wish}", pencil, 10, 0.005, criterion="trace", **rules)


SECTIONS = {
    "two-classes": two_classes,
    "many-classes": many_classes,
    "eigenvalues": eigenvalues,
    "limits": limits,
    "long": long_lists,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    print(  # noqa: T201
        f"{'':<34}{'within':>7}{'sets':>8}  {'complete':<11}{'core':>4}{'more':>5}{'':>11}"
        f"{'to best':>10}{'at most':>11}"
    )
    row("(warm-up)", lda("colon", 0.7), 5, 0.01, criterion="trace")
    for name in parser.parse_args().only:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
