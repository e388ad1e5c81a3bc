"""Sparse tables with every kind of column that gives trouble, as arrays."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

FORMATS = ("csr", "csc", "coo", "dok", "lil")


def awkward_table(n: int, p: int, density: float, seed: int = 0) -> np.ndarray:
    """Random entries of both signs; the first columns are special.

    0: zero, 1: constant, 2: no zeros and an offset of 1e6, 3: an offset of 1e6 in every third row
    and zeros else, 4: constant in every third row, 5: a copy of 6.
    """
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < density, 3.0 * rng.normal(size=(n, p)) + 1.0, 0.0)
    third = np.arange(n) % 3
    X[:, 0], X[:, 1] = 0.0, 5.3
    X[:, 2] = 1e6 + rng.normal(size=n)
    X[:, 3] = np.where(third == 0, 1e6 + rng.normal(size=n), 0.0)
    X[:, 4] = 7.1 * third
    X[:, 5] = X[:, 6]
    return X


def separated_table(n: int, p: int, density: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A sparse table, as an array, of which columns 7 to 11 tell three classes apart, and these."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < density, rng.normal(size=(n, p)), 0.0)
    y = np.arange(n) % 3
    X[y == 1, 7:10] += 1.5 * rng.random((np.count_nonzero(y == 1), 3))
    X[y == 2, 9:12] -= 2.0 * rng.random((np.count_nonzero(y == 2), 3))
    return X, y


@contextmanager
def at_most(megabytes: float) -> Iterator[None]:
    """What is done inside must not take more memory than this beyond what is there."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield
        peak = (tracemalloc.get_traced_memory()[1] - before) / 2**20
    finally:
        tracemalloc.stop()
    assert peak < megabytes, f"{peak:.0f} MB were taken"
