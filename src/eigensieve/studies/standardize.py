"""Centre and scale columns; a constant column keeps the scale 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.stats import ROUND_OFF


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Mean and standard deviation of every column."""

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, X: np.ndarray) -> Standardizer:
        """From the rows of X (divisor n)."""
        center = X.mean(axis=0, dtype=np.float64)
        scale = X.std(axis=0, dtype=np.float64)
        magnitude = np.maximum(X.max(axis=0), -X.min(axis=0))
        flat = scale <= ROUND_OFF * magnitude
        return cls(center, np.where(flat, 1.0, scale))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """(X - center) / scale."""
        return (X - self.center) / self.scale
