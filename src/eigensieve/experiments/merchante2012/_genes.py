"""The tumours of section 6.2: rows, splits, and penalties chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from ..data import load_set
from ._models import HALVES, Path, end_at, path_errors, slda_models

LARGEST = {"nakayama": 5}  # how many classes are kept, where not all are
Fit = Callable[[np.ndarray, np.ndarray], Path]


def load_tumours(name: str, genes: int | None = None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Expressions in log2, classes 0, 1, ... and their names; the first ``genes`` columns."""
    X, y = load_set(name)
    labels, counts = np.unique(y, return_counts=True)
    largest = np.argsort(-counts, kind="stable")[: LARGEST.get(name)]
    kept = np.isin(y, labels[largest])
    names, code = np.unique(y[kept], return_inverse=True)
    return np.log2(X[kept, :genes]), code, [str(label) for label in names]


def standardise(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean 0 and deviation 1 in the training rows; genes that are constant there stay so."""
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return (train - mean) / deviation, (test - mean) / deviation


def split_rows(code: np.ndarray, split: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of one of the splits: a quarter of the rows, rounded down, to test.

    Rounded down, because the printed errors are multiples of 1 / 210, 1 / 490 and 1 / 450.
    """
    splitter = StratifiedShuffleSplit(split + 1, test_size=code.size // 4, random_state=seed)
    *_, rows = splitter.split(code, code)
    return rows


def folds(code: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows left out; the rows of every class go to the folds in turn."""
    fold = np.empty(code.size, dtype=int)
    fold[np.argsort(code, kind="stable")] = np.arange(code.size) % count
    for i in range(count):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)


def slda_fit(penalties: int) -> Fit:
    """SLDA at the first of the halved penalties alone: it is slow, and slower with small ones."""
    return lambda X, code: slda_models(X, code, HALVES[:penalties])


def cross_validate(
    fit: Fit, X: np.ndarray, code: np.ndarray, count: int
) -> list[tuple[np.ndarray, int]]:
    """For every fold the errors (penalties, directions) of the rows left out, and where it ends.

    That is: how many models there are up to the first with as many features as rows.
    """
    found = []
    for train, left in folds(code, count):
        models = fit(X[train], code[train])
        end = len(end_at(models, train.size))
        found.append((path_errors(models, X[left], code[left]), end))
    return found
