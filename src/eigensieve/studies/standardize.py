"""Centre and scale columns, and fill what is missing; a constant column keeps the scale 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.stats import ROUND_OFF
from ..errors import InputError, OptionError

MISSING = ("error", "median")


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Mean and standard deviation of every column; the medians if gaps are filled with them."""

    center: np.ndarray
    scale: np.ndarray
    fill: np.ndarray | None = None

    @classmethod
    def fit(cls, X: np.ndarray, missing: str = "error") -> Standardizer:
        """From the rows of X (divisor n)."""
        fill = find_medians(X) if missing == "median" else None
        X = fill_gaps(X, fill)
        center = X.mean(axis=0, dtype=np.float64)
        scale = X.std(axis=0, dtype=np.float64)
        magnitude = np.maximum(X.max(axis=0), -X.min(axis=0))
        flat = scale <= ROUND_OFF * magnitude
        return cls(center, np.where(flat, 1.0, scale), fill)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """(X - center) / scale, gaps filled."""
        return (fill_gaps(X, self.fill) - self.center) / self.scale


def check_missing(missing: Any) -> str:
    """What is to be done about missing values."""
    if not isinstance(missing, str) or missing not in MISSING:
        raise OptionError(f"missing is {missing!r}; it must be one of {', '.join(MISSING)}")
    return missing


def find_medians(X: np.ndarray) -> np.ndarray:
    """The median of what each column has; 0 for a column that has nothing."""
    medians = np.zeros(X.shape[1])
    gaps = np.isnan(X).any(axis=0)
    medians[~gaps] = np.median(X[:, ~gaps], axis=0)
    some = gaps & ~np.isnan(X).all(axis=0)
    medians[some] = np.nanmedian(X[:, some], axis=0)
    return medians


def fill_gaps(X: np.ndarray, fill: np.ndarray | None) -> np.ndarray:
    """X with its gaps filled; X itself if there is nothing to fill."""
    if fill is None:
        return X
    gaps = np.isnan(X)
    return np.where(gaps, fill, X) if gaps.any() else X


def refuse_gaps(X: np.ndarray, missing: str) -> None:
    """Infinity is never allowed, a missing value only where it will be filled."""
    if missing == "error" and np.isnan(X).any():
        raise InputError(
            f"X has {np.isnan(X).sum()} missing values; fill them, or say missing='median' for "
            "the median of each column (of the training part, in cross-validation)"
        )
    if np.isinf(X).any():
        raise InputError("X has infinite values; drop them, or mark them as missing")
