"""Class statistics of a sparse table, from its stored entries.

A class's part of a column that is mostly zeros keeps its zeros, and its mean is subtracted on
paper. One that is mostly not is stored in full, and centred there: a large mean then costs no
digits, and the table grows by a half at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..pencil.magnitudes import ROUND_OFF, refuse_extremes
from .operators.centred_rows import CentredRows, column_of_entry


def _check_entries(X: Any) -> Any:
    """A csc_array of float64 of our own: every entry stored once, none of them NaN."""
    if X.dtype.kind not in "fiub":
        raise InputError(f"X must hold real numbers; its dtype is {X.dtype}")
    table = sparse.csc_array(X, dtype=np.float64, copy=True)
    table.sum_duplicates()
    if not np.isfinite(table.data).all():
        raise InputError("X contains NaN or infinity; impute or drop them first")
    return table


def centre_sparse(
    X: Any, code: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, CentredRows]:
    """Class means with their tails (K, p), residuals (n, p); exact zeros for constants.

    Row i of the scipy.sparse matrix X is of class ``code[i]``, which has ``counts[code[i]]`` rows.
    """
    table = _check_entries(X)
    high, low = (getattr(table, end)(axis=0).toarray().ravel() for end in ("max", "min"))
    magnitude = np.maximum(high, -low)
    refuse_extremes(magnitude)
    means, tails, is_full = _class_means(table, code, counts)
    member = np.equal.outer(code, np.arange(counts.size)).astype(np.float64)
    stored = _fill_in(table, code, is_full, means, tails)
    rows = CentredRows(stored, member, np.where(is_full, 0.0, -means))
    _flatten(rows, magnitude)
    constant = high == low
    means[:, constant], tails[:, constant] = high[constant], 0.0
    return means, tails, rows


def _class_means(
    table: Any, code: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means and their tails, and where more than half of a class is stored, each (K, p)."""
    K, p, size = counts.size, table.shape[1], counts[:, None]
    cell = code[table.indices] * p + column_of_entry(table)
    stored = np.bincount(cell, minlength=K * p).reshape(K, p)
    first = np.bincount(cell, table.data, K * p).reshape(K, p) / size
    # the second pass removes the round-off of a large common offset
    rest = np.bincount(cell, table.data - first.ravel()[cell], K * p).reshape(K, p)
    second = (rest - (size - stored) * first) / size
    means = first + second
    return means, (first - means) + second, 2 * stored > size


def _fill_in(
    table: Any, code: np.ndarray, is_full: np.ndarray, means: np.ndarray, tails: np.ndarray
) -> Any:
    """The entries of sparse parts as they are, those of full parts all there and centred."""
    if not is_full.any():
        return table
    columns, by_row = column_of_entry(table), table.tocsr()
    light = ~is_full[code[table.indices], columns]
    values, rows, places = [table.data[light]], [table.indices[light]], [columns[light]]
    for k, full in enumerate(is_full):
        own, here = np.flatnonzero(code == k), np.flatnonzero(full)
        block = by_row[own][:, here].toarray()
        block -= means[k, here]
        block -= tails[k, here]
        values.append(block.ravel())
        rows.append(np.repeat(own, here.size))
        places.append(np.tile(here, own.size))
    where = np.concatenate(rows), np.concatenate(places)
    return sparse.coo_array((np.concatenate(values), where), shape=table.shape).tocsc()


def _flatten(rows: CentredRows, magnitude: np.ndarray) -> None:
    """Make columns of round-off exactly zero, in place."""
    columns, peaks = column_of_entry(rows.S), np.abs(rows.M).max(axis=0)
    np.maximum.at(peaks, columns, np.abs(rows.S.data + rows.added()))
    flat = peaks <= ROUND_OFF * magnitude
    rows.M[:, flat] = 0.0
    rows.S.data[flat[columns]] = 0.0
    rows.S.eliminate_zeros()


def residual_moments(rows: CentredRows, weight: np.ndarray) -> tuple[float, np.ndarray, float]:
    """||RR'||_F^2, the row sums of R^2 and the sum of R^4, for R = residuals * weight.

    The rows are those of class statistics: each belongs to one class, so that (L M)^4 = L^4 M^4.
    """
    R = rows.scaled(weight)
    small = R.gram() if R.shape[0] <= R.shape[1] else R.inner()
    L2, M2, b2 = np.square(R.L), np.square(R.M), np.square(R.added())
    r2 = np.square(R.S.data + R.added())
    row_sums = np.bincount(R.S.indices, r2 - b2, len(R)) + L2 @ M2.sum(axis=1)
    fourth = float((np.square(r2) - np.square(b2)).sum())
    fourth += float(np.square(L2).sum(axis=0) @ np.square(M2).sum(axis=1))
    return float(np.einsum("ij,ij->", small, small)), row_sums, fourth
