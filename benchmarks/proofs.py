"""Proof files: what writing and checking them costs, against the search without one.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.proofs`` (EIGENSIEVE_DATA), CPU
seconds: the search alone; search and proof; the check; their ratios to the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import eigensieve as es

from .data import load_open_set

LDA = (  # data set, standardised; shrinkage, k, criterion
    ("colon", 0.5, 10, "logdet"),
    ("colon", 0.3, 20, "logdet"),
    ("leukemia", 0.5, 10, "logdet"),
    ("prostate", 0.7, 10, "logdet"),
    ("prostate", 0.5, 10, "logdet"),
    ("srbct83", 0.5, 5, "logdet"),
    ("sonar", 0.3, 10, "logdet"),
    ("sonar", 0.0, 5, "logdet"),
    ("srbct83", 0.5, 5, "trace"),
)
LISTS = (  # and how far below the best
    ("colon", 0.7, 10, "trace", 0.01),
    ("colon", 0.7, 10, "trace", 0.02),
    ("prostate", 0.7, 10, "trace", 0.01),
    ("prostate", 0.5, 5, "trace", 0.02),
    ("srbct83", 0.5, 5, "logdet", 0.01),
    ("lymphoma", 0.5, 5, "logdet", 0.01),
    ("brain", 0.5, 5, "logdet", 0.01),
)
MOST_MB = 0.3  # of a proof of sparse PCA
PCA = (("sonar", 10), ("colon", 5), ("colon", 10), ("leukemia", 20), ("prostate", 10))


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def clock(function: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what came out."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def measure(
    name: str, pencil: es.Pencil, k: Any, criterion: str, table: dict[str, Any],
    solver: str = "exact",
) -> float:  # fmt: skip
    """One line of the table, of the best set; the size of the file in MB."""
    search = partial(es.solve, pencil, k, solver, criterion)
    return report(f"{name:34} {criterion:10}", search, table)


def report(title: str, search: Callable[..., Any], table: dict[str, Any]) -> float:
    """Measure a search with and without a proof."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "proof"
        plain, _ = clock(search)
        written, found = clock(lambda: search(proof=file))
        checked, verdict = clock(lambda: es.check_proof(file, **table))
        size = file.stat().st_size / 1e6
    word = "accepted" if verdict.accepted else f"REJECTED: {verdict.reason}"
    print(
        f"{title} {verdict.n_nodes:6} nodes {size:7.2f} MB  "
        f"search {plain:6.2f} s  with proof {written:6.2f} s ({written / plain:5.1f} x)  "
        f"check {checked:6.2f} s ({checked / plain:5.1f} x)  {found.status}, {word}"
    )
    return size


def main() -> None:
    """All lines; the first problem of each kind is solved once before, for the imports."""
    rng = np.random.default_rng(0)
    warm = rng.normal(size=(30, 20))
    for k, criterion in ((3, "logdet"), (3, "trace"), (3, "lambda_max")):
        with TemporaryDirectory() as folder:
            pencil = es.lda_pencil(warm, np.arange(30) % 3, shrinkage=0.1)
            es.solve(pencil, k, "exact", criterion, proof=Path(folder) / "proof")
    for name, s, k, criterion in LDA:
        X, y = load_open_set(name)
        X = standardised(X)
        title = f"{name} {X.shape[0]} x {X.shape[1]}, s = {s}, k = {k}"
        measure(title, es.lda_pencil(X, y, shrinkage=s), k, criterion, {"X": X, "y": y})
    for name, s, k, criterion, within in LISTS:
        X, y = load_open_set(name)
        X = standardised(X)
        pencil = es.lda_pencil(X, y, shrinkage=s)
        search = partial(es.near_optimal, pencil, k, within, criterion=criterion)
        title = f"list of {name}, s = {s}, k = {k}, {within:.1%}"
        report(f"{title:34} {criterion:10}", search, {"X": X, "y": y})
    for name, k in PCA:
        X = standardised(load_open_set(name)[0])
        title = f"PCA of {name}, {X.shape[1]:,} columns, k = {k}"
        size = measure(title, es.pca_pencil(X), k, "lambda_max", {"X": X}, "dominance")
        if size >= MOST_MB:
            print(f"MISSED: the file has more than {MOST_MB} MB")
    X = standardised(load_open_set("sonar")[0])
    first, second = X[:, :30], X[:, 30:]
    views = {"X": first, "Y": second}
    pencil = es.cca_pencil(first, second, shrinkage=0.3)
    measure("CCA of its halves, k = (4, 4)", pencil, (4, 4), "lambda_max", views)
    first, second = rng.normal(size=(2, 200, 100))
    latent = rng.normal(size=(200, 1))
    first[:, :10] += latent
    second[:, :10] += latent
    pencil, views = es.cca_pencil(first, second, shrinkage=0.5), {"X": first, "Y": second}
    measure("CCA of 100 + 100 columns, k = 6", pencil, 6, "lambda_max", views, "dominance")


if __name__ == "__main__":
    main()
