"""Centre and scale columns, and fill what is missing; a constant column keeps the scale 1.

The columns of a sparse table are scaled only: its zeros stay zeros, and classifiers centre for
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..pencil.checks import check_choice
from ..pencil.magnitudes import ROUND_OFF, refuse_extremes
from ..pencil.row_factor import feature_slices
from ..tables.statistics import ClassStats

MISSING = ("error", "median")


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Mean and standard deviation of every column; the medians if gaps are filled with them."""

    center: np.ndarray
    scale: np.ndarray
    fill: np.ndarray | None = None

    @classmethod
    def fit(cls, X: Any, missing: str = "error") -> Standardizer:
        """From the rows of X (divisor n), an array or a csr matrix."""
        fill = find_medians(X) if missing == "median" else None
        X = fill_gaps(X, fill)
        if sparse.issparse(X):
            stats = ClassStats.from_data(X, np.zeros(X.shape[0], dtype=np.int8), form="rows")
            scale = np.sqrt(stats.within_variance())  # exactly 0 for a constant column
            return cls(np.zeros(X.shape[1]), np.where(scale > 0, scale, 1.0), fill)
        magnitude = np.maximum(X.max(axis=0), -X.min(axis=0))
        refuse_extremes(magnitude)
        center = X.mean(axis=0, dtype=np.float64)
        scale = X.std(axis=0, dtype=np.float64)
        flat = scale <= ROUND_OFF * magnitude
        return cls(center, np.where(flat, 1.0, scale), fill)

    def apply(self, X: Any) -> Any:
        """(X - center) / scale, gaps filled; of a csr matrix that was fitted on, X / scale."""
        X = fill_gaps(X, self.fill)
        if not sparse.issparse(X):
            return (X - self.center) / self.scale
        if self.center.any():
            raise InputError("X is sparse, and the model was fitted on dense rows; X.toarray()")
        return replace_entries(X, X.data / self.scale[X.indices])


def check_missing(missing: Any) -> str:
    """What is to be done about missing values."""
    return check_choice(missing, "missing", MISSING)


def replace_entries(X: Any, values: np.ndarray) -> Any:
    """The same csr matrix with other values."""
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)


def stored_numbers(X: Any) -> np.ndarray:
    """The entries of an array, or those that a sparse matrix stores."""
    return np.asarray(X.data if sparse.issparse(X) else X)


def has_gaps(X: Any) -> np.ndarray:
    """A mask (p,) of the columns with missing values."""
    if sparse.issparse(X):
        return np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1]) > 0
    return np.asarray(np.isnan(X).any(axis=0))


def find_medians(X: Any) -> np.ndarray:
    """The median of what each column has; 0 for a column that has nothing."""
    if sparse.issparse(X):  # some columns at a time
        by_column = X.tocsc()
        parts = feature_slices(X.shape[1], X.shape[0])
        return np.concatenate([find_medians(by_column[:, part].toarray()) for part in parts])
    medians = np.zeros(X.shape[1])
    gaps = np.isnan(X).any(axis=0)
    medians[~gaps] = np.median(X[:, ~gaps], axis=0)
    some = gaps & ~np.isnan(X).all(axis=0)
    medians[some] = np.nanmedian(X[:, some], axis=0)
    return medians


def fill_gaps(X: Any, fill: np.ndarray | None) -> Any:
    """X with its gaps filled; X itself if there is nothing to fill."""
    if fill is None:
        return X
    if sparse.issparse(X):
        return replace_entries(X, np.where(np.isnan(X.data), fill[X.indices], X.data))
    gaps = np.isnan(X)
    return np.where(gaps, fill, X) if gaps.any() else X


def refuse_gaps(X: Any, missing: str) -> None:
    """Infinity is never allowed, a missing value only where it will be filled."""
    numbers = stored_numbers(X)
    n_missing = int(np.isnan(numbers).sum())
    if missing == "error" and n_missing:
        raise InputError(
            f"X has {n_missing} missing values; fill them, or say missing='median' for "
            "the median of each column (of the training part, in cross-validation)"
        )
    if np.isinf(numbers).any():
        raise InputError("X has infinite values; drop them, or mark them as missing")
