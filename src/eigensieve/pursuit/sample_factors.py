"""The factors of centred samples, Xc / sqrt(n) = V diag(sigma) U', wherever the samples are.

Xc may be divided by the deviations of its columns first, so that their units do not matter.

An array has a singular value decomposition. For other tables there is a Gram matrix, n x n or
p x p, whichever is smaller, and one pass or two: what the squares cost in digits is made good by
orthonormalising the long vectors once more as they are read. Those are never stored: U' is a
`SpannedRows` if p > n, V a `Scores` if n >= p.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ..errors import InputError
from ..pencil.criteria import EPS
from ..pencil.row_factor import weighted_gram
from ..tables.column_statistics import (
    ColumnStats,
    centre_samples,
    class_contrasts,
    class_means,
    class_sums,
)
from ..tables.copies import first_copies, unify, unify_copies
from ..tables.kinds.arrays import is_device_array, like, to_numpy
from ..tables.kinds.big_table import BigTable
from ..tables.operators.column_passes import column_parts
from ..tables.operators.device_rows import DeviceRows
from ..tables.statistics import ClassStats
from .spanned_rows import Scores, SpannedRows, centred_blocks

# The squares in a Gram matrix cost digits: they are made good where more than this would be lost.
LOSS = 1e-13
NEARLY = 1e-3  # of orthonormal: one correction from there gives all digits
MAX_PASSES = 3
SCALES = "the scales of the columns differ too much; standardise them"

# Q'Q and Z'Q of the vectors Q = ZA, for a given A
Measure = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class SampleFactors:
    """Xc diag(1 / scale) / sqrt(n) = left diag(sizes) rows, of rank g.

    Attributes
    ----------
    rows : array or RowFactor (g, p), orthonormal
    sizes : array (g,), descending
    left : array or Scores (n, g), orthonormal
    reach : array (g, K - 1), left'E with contrasts E of the classes
    mean, means : arrays (p,) and (K, p), of all samples and of the classes
    scale : array (p,), the deviations of the columns, or ones
    """

    rows: Any
    sizes: np.ndarray
    left: Any
    reach: np.ndarray
    mean: np.ndarray
    means: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(
        cls, data: Any, code: np.ndarray, rank_tol: float, standardize: bool = False
    ) -> SampleFactors:
        """Of samples (n, p) of any kind, whose classes are 0..K-1.

        ``standardize``: of columns divided by their deviations.
        """
        sums = class_sums(data, code)
        if sums is not None:
            return _of_sums(sums, data, rank_tol, standardize)
        if isinstance(data, BigTable) or sparse.issparse(data) or is_device_array(data):
            return _of_rows(*centre_samples(data, code), code, rank_tol, standardize)
        return _of_array(np.asarray(data), code, rank_tol, standardize)


def _of_array(
    data: np.ndarray, code: np.ndarray, rank_tol: float, standardize: bool
) -> SampleFactors:
    """By a singular value decomposition, which takes the place of the centred samples."""
    whole = ClassStats.from_data(data, np.zeros(code.shape, dtype=np.int8), form="rows")
    centred: np.ndarray = whole.rows
    largest = np.maximum(centred.max(axis=0), -centred.min(axis=0))
    varies = largest > 0
    _refuse_constants(varies)
    deviation = _deviations(centred, largest)
    scale = deviation if standardize else np.ones(largest.size)
    # from the smallest to the largest column there may be 140 powers of ten: squares overflow
    unit = 1.0 if standardize else float(largest.max())
    values = None if standardize else linalg.svdvals((centred / deviation).T, overwrite_a=True)
    centred /= scale * (unit * np.sqrt(len(code)))
    copies = first_copies(centred)
    round_off = max(centred.shape) * EPS
    # transposed, as LAPACK wants it: no copy is made
    rows, sizes, left = linalg.svd(centred.T, full_matrices=False, overwrite_a=True)
    # the rank is that of standardised columns: their units do not matter
    values = sizes if values is None else values
    g = int(np.count_nonzero(values > max(rank_tol, round_off) * values[0]))
    if not sizes[g - 1] > round_off * sizes[0]:
        raise InputError(SCALES)
    rows, sizes, left = np.ascontiguousarray(rows.T[:g]), sizes[:g] * unit, left[:g].T
    rows[:, ~varies] = 0.0
    unify(rows, copies)
    unify(rows, first_copies(rows))
    reach = left.T @ class_contrasts(code)
    means = class_means(data, code)
    return SampleFactors(rows, sizes, left, reach, whole.means[0], means, scale)


def _refuse_constants(varies: np.ndarray) -> None:
    if not varies.any():
        raise InputError("no column varies: there is nothing to separate the classes by")


def _deviations(centred: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """The standard deviations of columns of any size; 1 where nothing varies."""
    size = np.where(largest > 0, largest, 1.0)
    scaled = centred / size
    deviation = np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / len(centred))
    return np.where(largest > 0, size * deviation, 1.0)


def _of_rows(
    columns: ColumnStats, samples: Any, code: np.ndarray, rank_tol: float, standardize: bool
) -> SampleFactors:
    """p > n: from the n x n Gram matrix; U' is read when it is needed."""
    n, variance = columns.n_samples, columns.variance + columns.separation
    _refuse_constants(variance > 0)
    unit = np.sqrt(np.where(variance > 0, variance, 1.0))
    scale = unit if standardize else np.ones(unit.size)
    samples = samples / scale if standardize else samples
    weights = np.square(scale / unit)
    gram = np.zeros((n, n))
    scaled = gram if standardize else np.zeros((n, n))
    for where, part in column_parts(samples):
        gram += weighted_gram(part)
        if not standardize:
            scaled += weighted_gram(part, weights[where])
    g = _rank_of_gram(linalg.eigvalsh(scaled)[::-1], rank_tol)
    pass_over = _measure(lambda: (part for _, part in column_parts(samples)), n)
    A, left, sizes = _orthonormalise(gram / n, np.ones(n), lambda _: g, pass_over)
    reach = left.T @ class_contrasts(code)
    rows = SpannedRows(A / np.sqrt(n), samples)
    return SampleFactors(rows, sizes, left, reach, columns.mean, columns.means, scale)


def _of_sums(sums: ClassStats, data: Any, rank_tol: float, standardize: bool) -> SampleFactors:
    """n >= p: from the p x p Gram matrix; V is made of the rows when it is needed."""
    n, between = sums.n_samples, np.sqrt(sums.n_samples) * sums.between_factor()
    gram = sums.within_scatter() + between.T @ between / n
    size = np.sqrt(np.diag(gram))
    _refuse_constants(size > 0)
    unit, mean = np.where(size > 0, size, 1.0), sums.mean
    scale = unit if standardize else np.ones(unit.size)
    gram, between, unit = gram / scale / scale[:, None], between / scale, unit / scale
    pass_over = _measure(lambda: ((block / scale).T for block in centred_blocks(data, mean)), n)
    A, basis, sizes = _orthonormalise(
        gram, unit, lambda values: _rank_of_gram(values, rank_tol), pass_over
    )
    rows = np.ascontiguousarray(basis.T)
    rows[:, size == 0] = 0.0
    unify_copies(rows, gram / unit[:, None])
    reach = A.T @ between.T / np.sqrt(n)
    left = Scores(data, mean, A / scale[:, None] / np.sqrt(n))
    return SampleFactors(rows, sizes, left, reach, mean, sums.means, scale)


def _rank_of_gram(values: np.ndarray, rank_tol: float) -> int:
    """By eigenvalues, descending; roots below those of round-off count for nothing."""
    least = max(rank_tol**2, values.size * EPS)
    return int(np.count_nonzero(values > least * values[0]))


def _orthonormalise(
    gram: np.ndarray, unit: np.ndarray, rank: Callable[[np.ndarray], int], pass_over: Measure
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (s, g) so that Q = ZA is orthonormal, and Z = Q diag(sizes) B', from Z'Z (s, s).

    ``unit`` (s,) scales the columns of Z to be alike; ``rank`` counts their eigenvalues. Where the
    Gram matrix does not do, ``pass_over`` measures what became of Q. Returns A, B and sizes.
    """
    values, vectors = linalg.eigh(gram / unit / unit[:, None])
    values, vectors = values[::-1], vectors[:, ::-1]
    g = rank(values)
    A = vectors[:, :g] / np.sqrt(np.maximum(values[:g], EPS * values[0])) / unit[:, None]
    if EPS * values[0] <= LOSS * values[g - 1]:
        A, reach, off = _correct(A, A.T @ gram @ A, gram @ A)
    else:
        for _ in range(MAX_PASSES):
            A, reach, off = _correct(A, *pass_over(A))
            if off <= NEARLY:
                break
    if not off <= NEARLY:
        raise InputError(SCALES)
    basis, sizes, turn = linalg.svd(reach, full_matrices=False)
    if not sizes[-1] > len(reach) * EPS * sizes[0]:  # of the smallest nothing but round-off is left
        raise InputError(SCALES)
    return A @ turn.T, basis, sizes


def _correct(
    A: np.ndarray, products: np.ndarray, reach: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """A and Z'Q for vectors Q that are orthonormal, and how far they were from it."""
    values, vectors = linalg.eigh(products)
    if values[0] <= EPS * values[-1]:
        raise InputError(SCALES)
    turn = vectors / np.sqrt(values)
    return A @ turn, reach @ turn, float(np.abs(products - np.eye(len(products))).max())


def _measure(blocks: Callable[[], Iterator[Any]], n: int) -> Measure:
    """Of Z = Xc or Xc', over sqrt(n), from blocks of the columns of Z'."""

    def pass_over(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        products, reach = np.zeros((A.shape[1],) * 2), np.zeros_like(A)
        for block in blocks():
            array = block.array if isinstance(block, DeviceRows) else block
            Q = array.T @ like(A / np.sqrt(n), array)
            products += to_numpy(Q.T @ Q)
            reach += to_numpy(array @ Q)
        return products, reach / np.sqrt(n)

    return pass_over
