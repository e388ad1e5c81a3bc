"""How Q-alpha scales each feature: centred, an offset added, unit norm over the samples.

The map is affine, m_i = factor_i (x_i - shift_i 1) + lift_i 1, so that it can be applied to a
block of features, or left implicit for a sparse table. A table on a device is measured there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...pencil.criteria import EPS
from ...pencil.row_factor import DEVICE_ENTRIES, feature_slices
from ..kinds.arrays import is_device_array, namespace
from ..kinds.big_table import BigTable

# a feature whose deviations are below this share of its size is constant but for round-off
ROUND_OFF = 16 * EPS
# so that neither a difference nor the inverse of a norm overflows
SMALLEST, LARGEST = 1e-290, 1e290
SMALLEST_SINGLE = 1e-35
SINGLE = ("float16", "bfloat16", "float32")


@dataclass(frozen=True)
class Measures:
    """What the scaling follows from, all arrays (n,) of float64.

    Attributes
    ----------
    shift : what is taken off each feature: its mean, or 0
    size : a number of the order of the largest of the feature
    norm : of the shifted feature, in units of its size
    """

    shift: Any
    size: Any
    norm: Any


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map of every feature.

    Attributes
    ----------
    shift, factor, lift : arrays (n,) of float64, where the table is
    dtype : of what `apply` gives: float32 for float32 data, else float64
    """

    shift: Any
    factor: Any
    lift: Any
    dtype: np.dtype

    def apply(self, X: Any, where: slice | np.ndarray = np.s_[:]) -> Any:
        """The features ``where``, given as (samples, features), scaled; X is not changed."""
        xp = namespace(X)
        working = getattr(xp, self.dtype.name)
        shift = xp.asarray(self.shift[where], dtype=working)
        out = xp.asarray(X, dtype=working) - shift
        if self.dtype == np.float32:  # what rounding took from the shift: no digits are lost
            rest = self.shift[where] - xp.asarray(shift, dtype=xp.float64)
            out -= xp.asarray(rest, dtype=working)
        out *= xp.asarray(self.factor[where], dtype=working)
        if bool(xp.any(self.lift[where] != 0)):
            out += xp.asarray(self.lift[where], dtype=working)
        return out

    @classmethod
    def identity(cls, n: int, dtype: np.dtype) -> Scaling:
        """For features that are scaled already."""
        return cls(np.zeros(n), np.ones(n), np.zeros(n), dtype)


def find_scaling(X: Any, *, center: bool, scale: bool, offset: float) -> Scaling:
    """The map of a table (samples, features): dense, sparse, on disk or on a device.

    ``scale`` gives every feature unit norm; without it the largest has norm 1, so that numbers of
    any size can be multiplied. Constant features (zero ones, if not centred) become 0.
    """
    if sparse.issparse(X):
        measures = _measure_sparse(X, center)
    elif isinstance(X, BigTable):
        measures = _measure_blocks(X.column_blocks(), np.empty(X.shape[1]), center)
    else:
        entries = DEVICE_ENTRIES if is_device_array(X) else None
        slices = feature_slices(X.shape[1], X.shape[0], entries)
        measures = _measure_blocks(((where, X[:, where]) for where in slices), X[0, :], center)
    return make_scaling(
        measures, X.shape[0], working_dtype(X), center=center, scale=scale, offset=offset
    )


def working_dtype(X: Any) -> np.dtype:
    """float32 for tables of single precision, else float64."""
    return np.dtype(np.float32 if str(X.dtype).rpartition(".")[2] in SINGLE else np.float64)


def make_scaling(
    measures: Measures, q: int, dtype: np.dtype, *, center: bool, scale: bool, offset: float
) -> Scaling:
    """The map that the measures of the features of q samples call for."""
    shift, size, norm = measures.shift, measures.size, measures.norm
    xp = namespace(norm)
    smallest = SMALLEST if dtype == np.float64 else SMALLEST_SINGLE
    varies = (norm > ROUND_OFF * float(np.sqrt(q))) & (size > smallest)
    if float(xp.max(size)) > LARGEST:
        raise InputError(f"a feature has numbers above {LARGEST:g}; give it in another unit")
    if not bool(xp.any(varies)):
        what = "constant" if center else "zero"
        raise InputError(f"every feature is {what}: there is nothing to weigh")
    none = xp.zeros_like(norm)
    norm = norm * size
    if not scale:
        most = float(xp.max(xp.where(varies, norm, none)))
        return Scaling(shift, xp.where(varies, xp.full_like(norm, 1.0 / most), none), none, dtype)
    root = float(np.hypot(1.0, offset))
    # (a constant feature may have norm 0, whose inverse is not asked for)
    factor = xp.where(varies, 1.0 / xp.where(varies, norm * root, xp.ones_like(norm)), none)
    lift = xp.where(varies, xp.full_like(norm, offset / (root * float(np.sqrt(q)))), none)
    return Scaling(shift, factor, lift, dtype)


def _measure_blocks(blocks: Iterable[tuple[slice, Any]], like: Any, center: bool) -> Measures:
    """From blocks of whole features; the results lie where ``like`` (n,) does."""
    xp = namespace(like)
    shift, size, norm = (xp.zeros_like(like, dtype=xp.float64) for _ in range(3))
    for where, columns in blocks:
        block = xp.asarray(columns, dtype=xp.float64)
        peak = xp.max(xp.abs(block), axis=0)
        unit = xp.where(peak > 0, peak, xp.ones_like(peak))
        block = block / unit
        if center:
            mean = xp.mean(block, axis=0)
            block -= mean
            shift[where] = mean * unit
        size[where] = unit
        norm[where] = xp.sqrt(xp.sum(block * block, axis=0))
    return Measures(shift, size, norm)


def _measure_sparse(X: Any, center: bool) -> Measures:
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
    return Measures(mean * size, size, np.sqrt(squares + (q - stored) * np.square(mean)))
