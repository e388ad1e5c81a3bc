"""How Q-alpha scales each feature: centred, an offset added, unit norm over the samples.

The map is affine, m_i = factor_i (x_i - shift_i 1) + lift_i 1, so that it can be applied to a
block of features, or left implicit for a sparse table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from .feature_blocks import feature_slices

# a feature whose deviations are below this share of its size is constant but for round-off
ROUND_OFF = 16 * float(np.finfo(np.float64).eps)
# so that neither a difference nor the inverse of a norm overflows
SMALLEST, LARGEST = 1e-290, 1e290


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map of every feature.

    Attributes
    ----------
    shift, factor, lift : arrays (n,) of float64
    dtype : of what `apply` gives: float32 for float32 data, else float64
    """

    shift: np.ndarray
    factor: np.ndarray
    lift: np.ndarray
    dtype: np.dtype

    def apply(self, X: np.ndarray, where: slice = np.s_[:]) -> np.ndarray:
        """The features ``where``, given as (samples, features), scaled; X is not changed."""
        out = np.empty_like(X, dtype=self.dtype)
        # in float64 whatever the data, number by number: float32 - float32 would lose digits
        np.subtract(X, self.shift[where], out=out, casting="same_kind", dtype=np.float64)
        np.multiply(out, self.factor[where], out=out, casting="same_kind")
        if self.lift[where].any():
            np.add(out, self.lift[where], out=out, casting="same_kind")
        return out

    @classmethod
    def identity(cls, n: int, dtype: np.dtype) -> Scaling:
        """For features that are scaled already."""
        return cls(np.zeros(n), np.ones(n), np.zeros(n), dtype)


def find_scaling(X: Any, *, center: bool, scale: bool, offset: float) -> Scaling:
    """The map of a table (samples, features), dense or sparse.

    ``scale`` gives every feature unit norm; without it the largest has norm 1, so that numbers of
    any size can be multiplied. Constant features (zero ones, if not centred) become 0.
    """
    q = X.shape[0]
    dtype = np.dtype(np.float32 if X.dtype in (np.float16, np.float32) else np.float64)
    measure = _measure_sparse if sparse.issparse(X) else _measure_dense
    shift, size, norm = measure(X, center)
    varies = (norm > ROUND_OFF * np.sqrt(q)) & (size > SMALLEST)  # the norm is in units of the size
    if size.max() > LARGEST:
        raise InputError(f"a feature has numbers above {LARGEST:g}; give it in another unit")
    if not varies.any():
        what = "constant" if center else "zero"
        raise InputError(f"every feature is {what}: there is nothing to weigh")
    norm = np.where(varies, norm * size, np.inf)
    if not scale:
        return Scaling(shift, varies / norm[varies].max(), np.zeros_like(shift), dtype)
    root = float(np.hypot(1.0, offset))
    return Scaling(shift, 1.0 / (norm * root), varies * (offset / (root * np.sqrt(q))), dtype)


def _measure_dense(X: np.ndarray, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shift, largest modulus, and norm of the shifted feature in units of that modulus."""
    n = X.shape[1]
    shift, size, norm = np.zeros(n), np.ones(n), np.zeros(n)
    for where in feature_slices(n, X.shape[0]):
        block = X[:, where].astype(np.float64)
        peak = np.abs(block).max(axis=0)
        size[where] = np.where(peak > 0, peak, 1.0)
        block /= size[where]
        if center:
            mean = block.mean(axis=0)
            block -= mean
            shift[where] = mean * size[where]
        norm[where] = np.sqrt(np.einsum("ij,ij->j", block, block))
    return shift, size, norm


def _measure_sparse(X: Any, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same from the stored entries, which are all that differ from zero."""
    q, n = X.shape
    X = X.tocoo(copy=False)
    values, column = X.data.astype(np.float64), X.col
    peak = np.zeros(n)
    np.maximum.at(peak, column, np.abs(values))
    size = np.where(peak > 0, peak, 1.0)
    values /= size[column]
    mean = np.bincount(column, values, n) / q if center else np.zeros(n)
    stored = np.bincount(column, minlength=n)
    squares = np.bincount(column, np.square(values - mean[column]), n)
    return mean * size, size, np.sqrt(squares + (q - stored) * np.square(mean))
