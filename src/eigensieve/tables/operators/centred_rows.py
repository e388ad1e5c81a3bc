"""Rows of a sparse table, centred on paper: R = S + L M, with S sparse and L M of low rank.

L (m, q) says to which class each row belongs (times the scale of the row), M (q, p) what is added
to the rows of a class; where all are of one class, L is a column of ones. A product with R is one
with the stored entries of S and one with q rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ...pencil.row_factor import RowFactor, feature_slices
from .table_rows import TableRows

# Above this share of stored entries a product of two sparse matrices is slower than one of dense
# blocks: BLAS gains more than the zeros cost.
SPARSE_PRODUCT = 0.1
# So few entries are better off as an array (16 MB).
MAX_DENSE_ENTRIES = 2_000_000


class CentredRows(TableRows):
    """R = S + L M.

    Parameters
    ----------
    S : csc_array (m, p), or for many rows of few columns csr_array: what a product gathers from,
        or scatters to, fits the cache if the longer side comes first
    L : array (m, q)
    M : array (q, p)
    """

    is_sparse = True

    def __init__(self, S: Any, L: np.ndarray, M: np.ndarray) -> None:
        self.S, self.L, self.M = S, L, M
        self.shape, self.dtype = S.shape, S.dtype

    # -- products -------------------------------------------------------------------

    def columns(self, index: np.ndarray) -> np.ndarray:
        part: np.ndarray = self.S[:, index].toarray()
        part += self.L @ self.M[:, index]
        return part

    def _column_parts(self) -> Iterator[tuple[slice, CentredRows]]:
        by_column = self.S.tocsc()
        for where in feature_slices(self.shape[1], self.shape[0]):
            yield where, CentredRows(by_column[:, where], self.L, self.M[:, where])

    def array_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where, part in self._column_parts():
            block = part.S.toarray()
            block += part.L @ part.M
            yield where, block

    def rmatmat(self, V: np.ndarray) -> np.ndarray:
        out: np.ndarray = self.S.T @ V
        out += self.M.T @ (self.L.T @ V)
        return out

    def matmat(self, X: np.ndarray) -> np.ndarray:
        out: np.ndarray = self.S @ X
        out += self.L @ (self.M @ X)
        return out

    def squares(self) -> np.ndarray:
        # (s + b)^2 = b^2 + s (s + 2b) for b of L M, and s is zero but for what is stored
        stored = self.S.data * (self.S.data + 2.0 * self.added())
        squares = np.einsum("ij,ij->j", self.M, (self.L.T @ self.L) @ self.M)
        squares += np.bincount(column_of_entry(self.S), stored, self.shape[1])
        return np.maximum(squares, 0.0)

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        if self.density > SPARSE_PRODUCT:
            return super().gram(weights)
        return self.cross(self, np.ones(self.shape[1], self.dtype) if weights is None else weights)

    def cross(self, other: Any, weights: np.ndarray) -> np.ndarray:
        if not isinstance(other, CentredRows) or max(self.density, other.density) > SPARSE_PRODUCT:
            return super().cross(other, weights)
        mine, theirs = self.scaled(weights), other.M * weights
        out: np.ndarray = (mine.S @ other.S.T).toarray()
        out += (self.S @ theirs.T) @ other.L.T
        out += self.L @ ((other.S @ mine.M.T).T + (mine.M @ other.M.T) @ other.L.T)
        return out

    def quadratic_forms(self, G: np.ndarray) -> np.ndarray:
        forms = np.empty(self.shape[1], dtype=self.dtype)
        for where, part in self._column_parts():
            forms[where] = np.einsum("ij,ji->i", part.rmatmat(G), part[:, :])
        return forms

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        if not self._is_one_class:
            return super().limits()
        least, most = (getattr(self.S, end)(axis=0).toarray().ravel() for end in ("min", "max"))
        return least + self.M[0], most + self.M[0]

    def inner(self, other: CentredRows | None = None) -> np.ndarray:
        """R'Q (p, q) for as many rows Q, R'R by default."""
        Q = self if other is None else other
        if max(self.density, Q.density) > SPARSE_PRODUCT:
            blocks = zip(*(R.row_blocks(max(self.shape[1], Q.shape[1])) for R in (self, Q)))
            zeros = np.zeros((self.shape[1], Q.shape[1]), dtype=self.dtype)
            return sum((mine.T @ theirs for mine, theirs in blocks), start=zeros)
        out: np.ndarray = (self.S.T @ Q.S).toarray()
        out += (self.S.T @ Q.L) @ Q.M
        out += self.M.T @ ((Q.S.T @ self.L).T + (self.L.T @ Q.L) @ Q.M)
        return out

    def row_blocks(self, width: int) -> Iterator[np.ndarray]:
        """The rows, dense, as many at a time as are handled of a table so wide."""
        by_row = self.S.tocsr()
        for rows in feature_slices(len(self), width):
            block = by_row[rows].toarray()
            block += self.L[rows] @ self.M
            yield block

    # -- other rows from these ------------------------------------------------------

    def scaled(self, scale: np.ndarray) -> CentredRows:
        return self._with(self.S.data * scale[column_of_entry(self.S)], self.L, self.M * scale)

    def __mul__(self, scale: np.ndarray | float) -> RowFactor:
        if np.ndim(scale) == 2:  # (m, 1), as for an array
            return self.scaled_rows(np.ravel(scale))
        return super().__mul__(scale)

    __rmul__ = __mul__

    def scaled_rows(self, scale: np.ndarray) -> CentredRows:
        """diag(scale) R."""
        return self._with(
            self.S.data * scale[row_of_entry(self.S)], self.L * scale[:, None], self.M
        )

    def _with(self, values: np.ndarray, L: np.ndarray, M: np.ndarray) -> CentredRows:
        S = type(self.S)((values, self.S.indices, self.S.indptr), shape=self.shape)
        return CentredRows(S, L, M)

    def take(self, index: np.ndarray) -> CentredRows | np.ndarray:
        if len(self) * np.size(index) <= MAX_DENSE_ENTRIES:
            return self.columns(index)
        return CentredRows(self.S[:, index], self.L, self.M[:, index])

    def of_rows(self, index: np.ndarray) -> CentredRows:
        """Some rows, in the order given."""
        S = self.S.tocsr()[index].asformat(self.S.format)
        return CentredRows(S, self.L[index], self.M)

    def permuted(self, seed: int) -> CentredRows:
        """Of one class: what is added to a column is the same in every row."""
        assert self._is_one_class
        rng = np.random.default_rng(seed)
        S = self.S.tocsc(copy=True)
        for j in np.flatnonzero(np.diff(S.indptr)).tolist():
            first, last = S.indptr[j], S.indptr[j + 1]
            S.indices[first:last] = rng.choice(self.shape[0], last - first, replace=False)
        S.has_sorted_indices = False
        return CentredRows(S.asformat(self.S.format), self.L, self.M)

    def beside(self, other: TableRows) -> TableRows:
        if not (isinstance(other, CentredRows) and self._is_one_class and other._is_one_class):
            return super().beside(other)
        S = sparse.hstack([self.S, other.S], format=self.S.format)
        return CentredRows(S, self.L, np.hstack([self.M, other.M]))

    def plus(self, L: np.ndarray, M: np.ndarray) -> CentredRows:
        """R + L M."""
        return CentredRows(self.S, np.hstack([self.L, L]), np.vstack([self.M, M]))

    def above(self, extra: np.ndarray) -> CentredRows:
        """These rows, and some others (q, p) beneath them."""
        (m, p), q = self.shape, len(extra)
        S = self._with(self.S.data, self.L, self.M).S
        S.resize((m + q, p))
        return CentredRows(S, linalg.block_diag(self.L, np.eye(q)), np.vstack([self.M, extra]))

    # -- what is stored -------------------------------------------------------------

    @property
    def _is_one_class(self) -> bool:
        return self.L.shape[1] == 1 and bool((self.L == 1).all())

    @property
    def n_entries(self) -> int:
        return int(self.S.nnz) + self.shape[1]

    @property
    def density(self) -> float:
        """The share of entries that are stored."""
        return float(self.S.nnz / max(1, self.shape[0] * self.shape[1]))

    def added(self) -> np.ndarray:
        """L M at the stored entries."""
        rows, columns = row_of_entry(self.S), column_of_entry(self.S)
        if np.count_nonzero(self.L, axis=1).max(initial=0) == 1:  # each row is of one class
            own = np.abs(self.L).argmax(axis=1)
            return (self.L[np.arange(len(self)), own])[rows] * self.M[own[rows], columns]
        out = np.zeros(self.S.nnz)
        for left, right in zip(self.L.T, self.M):
            out += left[rows] * right[columns]
        return out


def column_of_entry(S: Any) -> np.ndarray:
    """The column of every entry that a csc or csr matrix stores."""
    return S.indices if S.format == "csr" else np.repeat(np.arange(S.shape[1]), np.diff(S.indptr))


def row_of_entry(S: Any) -> np.ndarray:
    """The row of every entry that a csc or csr matrix stores."""
    return column_of_entry(S.T)


def stack_rows(parts: Sequence[np.ndarray | RowFactor]) -> np.ndarray | CentredRows:
    """Rows below each other: an array if all of them are, else centred rows."""
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) == len(parts):
        return np.vstack(arrays)
    rows = [_as_centred(part) for part in parts]
    S = sparse.vstack([part.S for part in rows], format="csc")
    return CentredRows(
        sparse.csc_array(S), linalg.block_diag(*[r.L for r in rows]), np.vstack([r.M for r in rows])
    )


def join_columns(first: np.ndarray | RowFactor, second: np.ndarray | RowFactor) -> CentredRows:
    """blockdiag(first, second)."""
    one, two = _as_centred(first), _as_centred(second)
    S = sparse.block_diag([one.S, two.S], format="csc")
    L, M = linalg.block_diag(one.L, two.L), linalg.block_diag(one.M, two.M)
    return CentredRows(sparse.csc_array(S), L, M)


def _as_centred(rows: np.ndarray | RowFactor) -> CentredRows:
    if isinstance(rows, CentredRows):
        return rows
    if not isinstance(rows, np.ndarray):
        raise TypeError(f"{type(rows).__name__} rows cannot be joined with sparse ones")
    m, p = rows.shape
    return CentredRows(sparse.csc_array(rows), np.empty((m, 0)), np.empty((0, p)))
