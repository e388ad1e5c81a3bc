"""LDA and PCA pencils of wide tables on disk, from one pass over blocks of columns.

The statistics of a column need no other column, so that those of a block are exact. What is kept
is a number or a class mean per column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..pencil.checks import check_labels
from ..pencil.row_factor import column_squares
from .kinds.big_table import BigTable
from .operators.streamed_rows import StreamedRows, WithinGroups
from .shrinkage import ColumnMoments, check_shrinkage, is_auto, lda_diagonal
from .statistics import ClassStats, ClassWeight, check_classes
from .streamed_pencil import StreamedPencil

# Columns whose statistics are found at a time: so many entries, and at least so many columns.
CACHED_ENTRIES = 2**17
MIN_COLUMNS = 256


def streamed_lda(
    table: BigTable,
    y: ArrayLike,
    shrinkage: float | str,
    ridge: float,
    class_weight: ClassWeight,
) -> tuple[ClassStats, float, StreamedPencil]:
    """The LDA problem of a wide table: see `lda_problem`, which has the same parameters.

    Returns
    -------
    stats : ClassStats with counts, means and shares, without the scatter
    shrinkage : float, resolved
    pencil : StreamedPencil
    """
    check_labels(np.asarray(y))
    classes, code = np.unique(np.asarray(y), return_inverse=True)
    n, p = table.shape
    if code.shape != (n,):
        raise InputError(f"the table has {n} rows and y has shape {code.shape}; they must agree")
    check_classes(classes, n)
    moments = ColumnMoments(n, classes.size) if is_auto(shrinkage) else None
    s = 0.0 if moments is not None else check_shrinkage(shrinkage)
    means, H = np.empty((classes.size, p)), np.empty((classes.size - 1, p))
    within = np.empty(p)
    for where, stats in _column_stats(table, np.asarray(y)):
        if moments is not None:
            moments.add(stats.rows)
        stats = stats.weighted(class_weight)
        means[:, where], H[:, where] = stats.means, stats.between_factor()
        within[where] = stats.within_variance()
    if moments is not None:
        s = float(np.sqrt(moments.intensity()))
    diag_A = column_squares(H)
    share, d = lda_diagonal(within, diag_A, s, ridge)
    within *= 1 - share
    weight = np.sqrt((1 - share) / n) * stats.row_scale()
    tails = np.broadcast_to(0.0, means.shape)
    whole = ClassStats(classes, stats.counts, means, tails, None, None, None, stats.shares)
    W = StreamedRows(table, WithinGroups(code, weight))
    return whole, s, StreamedPencil(H, W, d, diag_A=diag_A, diag_B=np.add(within, d, out=within))


def streamed_pca(table: BigTable) -> tuple[np.ndarray, StreamedPencil]:
    """The means (p,) of the columns of a wide table, and its PCA pencil: see `pca_problem`."""
    n, p = table.shape
    group = np.zeros(n, dtype=np.intp)
    mean, variance = np.empty(p), np.empty(p)
    for where, stats in _column_stats(table, group):
        mean[where], variance[where] = stats.means[0], stats.within_variance()
    rows = StreamedRows(table, WithinGroups(group, np.full(n, 1.0 / np.sqrt(n))))
    ones = np.ones(p)
    return mean, StreamedPencil(rows, None, ones, diag_A=variance, diag_B=ones)


def _column_stats(table: BigTable, y: np.ndarray) -> Iterator[tuple[slice, ClassStats]]:
    """Class statistics with rows, of some columns at a time: one pass."""
    step = max(MIN_COLUMNS, CACHED_ENTRIES // table.shape[0])
    for where, block in table.column_blocks():
        for start in range(0, block.shape[1], step):
            part = block[:, start : start + step]
            first = where.start + start
            yield (
                slice(first, first + part.shape[1]),
                ClassStats.from_data(part, y, form="rows"),
            )
