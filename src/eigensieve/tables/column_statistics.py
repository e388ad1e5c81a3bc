"""Class statistics of tables that are no arrays: p x p sums, or each column by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .kinds.arrays import is_device_array, like
from .kinds.big_table import BigTable, equal_blocks
from .kinds.frames import plain_frame
from .kinds.opening import as_big_table
from .operators.centred_rows import CentredRows
from .operators.device_rows import DeviceRows
from .operators.streamed_rows import StreamedRows, WithinGroups
from .statistics import ClassStats

ROWS = 16  # that are handled at once


def open_table(X: Any) -> Any:
    """X itself, a frame of numbers, or a `BigTable` if it is one that is read in blocks."""
    table = as_big_table(X)
    return plain_frame(X) if table is None else table


def class_sums(X: Any, labels: np.ndarray) -> ClassStats | None:
    """The statistics of a tall table that is no array, with p x p sums; None for all others."""
    is_array = not (isinstance(X, BigTable) or sparse.issparse(X) or is_device_array(X))
    if is_array or X.shape[0] < X.shape[1]:
        return None
    return ClassStats.from_data(X, labels, form="gram")


def class_means(data: Any, code: np.ndarray) -> np.ndarray:
    """(K, p), the means of the rows of each class 0..K-1."""
    counts = np.bincount(code)
    return np.asarray((np.equal.outer(np.arange(counts.size), code) / counts[:, None]) @ data)


def class_contrasts(code: np.ndarray) -> np.ndarray:
    """E (n, K - 1), orthonormal, constant within the classes, orthogonal to 1.

    The Householder reflection of sqrt(n_k / n); with two classes the second is positive.
    """
    counts = np.bincount(code)
    root = np.sqrt(counts / code.size)
    v = root.copy()
    v[0] += 1.0
    contrasts = np.eye(counts.size)[:, 1:] - np.outer(v, v[1:] * (2.0 / (v @ v)))
    return (contrasts / np.sqrt(counts)[:, None])[code]


@dataclass(frozen=True, eq=False)
class ColumnStats:
    """What the columns of labelled rows are, each for itself.

    Attributes
    ----------
    classes, counts : arrays (K,)
    means : array (K, p), of the classes
    mean : array (p,), of all rows
    between : array (K - 1, p), E'Xc with contrasts E of the classes
    variance : array (p,), within the classes
    """

    classes: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    mean: np.ndarray
    between: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, stats: ClassStats) -> ColumnStats:
        """Of statistics of any form."""
        return cls(
            stats.classes,
            stats.counts,
            stats.means,
            stats.mean,
            np.sqrt(stats.n_samples) * stats.between_factor(),
            stats.within_variance(),
        )

    @classmethod
    def from_data(cls, data: Any, labels: np.ndarray) -> ColumnStats:
        """Of a table of any kind."""
        if isinstance(data, BigTable) and not data.is_tall:
            return cls.from_columns(data, labels)
        form = "gram" if isinstance(data, BigTable) else "rows"
        return cls.of(ClassStats.from_data(data, labels, form=form))

    @classmethod
    def from_columns(cls, table: BigTable, labels: np.ndarray) -> ColumnStats:
        """Of a wide table, in one pass over blocks of columns."""
        classes, code = np.unique(labels, return_inverse=True)
        K, p = classes.size, table.shape[1]
        means, mean = np.empty((K, p)), np.empty(p)
        between, variance = np.empty((K - 1, p)), np.empty(p)
        for where, block in table.column_blocks():
            own = cls.of(ClassStats.from_data(block, code, form="rows"))
            means[:, where], mean[where] = own.means, own.mean
            between[:, where], variance[where] = own.between, own.variance
        return cls(classes, np.bincount(code), means, mean, between, variance)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def separation(self) -> np.ndarray:
        """The variance (p,) between the classes."""
        return np.einsum("ij,ij->j", self.between, self.between) / self.n_samples


def centre_samples(data: Any, labels: np.ndarray) -> tuple[ColumnStats, Any]:
    """What each column is, and the centred samples Xc = residuals + E E'Xc."""
    if isinstance(data, BigTable):
        n = len(data)
        rows = StreamedRows(data, WithinGroups(np.zeros(n, dtype=np.int8), np.ones(n)))
        return ColumnStats.from_data(data, labels), rows
    stats = ClassStats.from_data(data, labels, form="rows")
    columns, rest = ColumnStats.of(stats), stats.rows
    contrasts = class_contrasts(np.searchsorted(stats.classes, labels))
    if isinstance(rest, CentredRows):
        return columns, rest.plus(contrasts, columns.between)
    for part in equal_blocks(len(contrasts), ROWS):  # in place, without a second copy
        rest[part, :] += like(contrasts[part], rest) @ like(columns.between, rest)
    return columns, DeviceRows(rest) if is_device_array(rest) else rest
