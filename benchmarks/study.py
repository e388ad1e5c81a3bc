"""`eigensieve fit` from a .csv to the report, and the study against the plain loop it stands for.

``python -m benchmarks.study [--rows 60] [--columns 50000]``: writes a table of noise in which 20
columns matter, reads it (seconds), and runs `eigensieve fit` on it with default settings on all
cores (seconds, peak memory), in a process of its own. Then, on
100 x 2,000, `es.study` with n_jobs 1 and 2, against a loop over the same splits with
scikit-learn pieces (StandardScaler, then SparseLDA for every k by itself, as GridSearchCV would).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.io.tables import read_table

KS = (1, 2, 5, 10, 20)
FIT = "from eigensieve.cli.main import main; main()"


def make_table(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that differ in the first 20 columns."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.repeat(["a", "b"], [n // 2, n - n // 2])
    X[y == "b", :20] += 1.0
    return X, y


def write_csv(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """As a spreadsheet would."""
    with open(path, "w") as file:
        file.write(",".join(["id", *(f"g{j}" for j in range(X.shape[1])), "kind"]) + "\n")
        for i, (row, label) in enumerate(zip(X, y)):
            file.write(f"s{i}," + ",".join(f"{x:.6f}" for x in row) + f",{label}\n")


def run_fit(n: int, p: int) -> None:
    """Reading, and the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "t.csv"
        write_csv(table, *make_table(n, p))
        start = time.perf_counter()
        read_table(table, "kind")
        print(f"reading {n} x {p:,}: {time.perf_counter() - start:.1f} s")
        args = ["fit", str(table), "--target", "kind", "--out", str(Path(folder) / "out")]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", FIT, *args], check=True, capture_output=True)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        print(f"eigensieve fit:{seconds:18.1f} s, peak memory {peak:.2f} GiB")


def run_loop(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The cross-validated path as anybody would write it: every k for itself, without nesting."""
    splitter = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
    errors = []
    for train, test in splitter.split(X, y):
        scaler = StandardScaler().fit(X[train])
        Z, Z_new = scaler.transform(X[train]), scaler.transform(X[test])
        models = [es.SparseLDA(k, certificate="none").fit(Z, y[train]) for k in KS]
        errors.append([np.mean(model.predict(Z_new) != y[test]) for model in models])
    return np.mean(errors, axis=0)


def compare_with_loop() -> None:
    """Seconds of the study (path, nested error, stability, bounds, prices) and of the loop."""
    X, y = make_table(100, 2000)
    es.study(X[:, :50], y, ks=(1, 2), n_repeats=1)  # kernels
    seconds = {}
    for n_jobs in (1, 2):
        start = time.perf_counter()
        es.study(X, y, ks=KS, n_jobs=n_jobs)
        seconds[f"study, n_jobs={n_jobs}"] = time.perf_counter() - start
    start = time.perf_counter()
    run_loop(X, y)
    seconds["plain loop, path only"] = time.perf_counter() - start
    base = seconds["plain loop, path only"]
    for name, value in seconds.items():
        print(f"{name:24s}{value:8.1f} s   x {value / base:.2f} of the plain loop")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--columns", type=int, default=50_000)
    arguments = parser.parse_args()
    run_fit(arguments.rows, arguments.columns)
    compare_with_loop()


if __name__ == "__main__":
    main()
