"""A table with its features centred and scaled, whatever its kind: in memory, sparse, on disk, on
a device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..kinds import big_table as tables
from ..kinds.arrays import is_device_array
from ..kinds.big_table import BigTable
from ..kinds.opening import as_big_table
from .centred_rows import CentredRows, column_of_entry
from .device_rows import DeviceRows
from .scaling import Scaling, find_scaling
from .streamed_rows import StreamedRows
from .table_rows import ArrayRows, TableRows


def scaled_rows(X: Any, *, center: bool, scale: bool, offset: float = 0.0) -> TableRows:
    """The rows of a table (samples, features); see `find_scaling` for the options."""
    X = read_if_small(X)
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        if not X.has_canonical_format:  # an entry stored in two parts would be counted twice
            X = X.copy()
            X.sum_duplicates()
    scaling = find_scaling(X, center=center, scale=scale, offset=offset)
    if isinstance(X, BigTable):
        return StreamedRows(X, scaling)
    if sparse.issparse(X):
        return centred_on_paper(X, scaling)
    return (DeviceRows if is_device_array(X) else ArrayRows)(scaling.apply(X))


def read_if_small(X: Any) -> Any:
    """A table on disk as a `BigTable`; one of a single block, and any other, as an array."""
    table = as_big_table(X)
    if table is None:
        return X
    return read_all(table) if table.shape[0] * table.shape[1] <= tables.BLOCK_ENTRIES else table


def read_all(table: BigTable) -> np.ndarray:
    """The table in memory."""
    return np.concatenate([block for _, block in table.row_blocks()])


def centred_on_paper(X: Any, scaling: Scaling) -> CentredRows:
    """The rows of a sparse table as it is, a csc_array."""
    stored, column = np.diff(X.indptr), column_of_entry(X)
    # a feature without a zero is centred in full: on paper a large mean would cost digits
    shift = np.where(stored == X.shape[0], scaling.shift, 0.0)
    values = ((X.data - shift[column]) * scaling.factor[column]).astype(scaling.dtype)
    S = sparse.csc_array((values, X.indices, X.indptr), shape=X.shape)
    lift = (scaling.lift - scaling.factor * (scaling.shift - shift)).astype(scaling.dtype)
    ones = np.ones((X.shape[0], 1), dtype=scaling.dtype)
    return CentredRows(S.asformat("csc" if X.shape[1] > X.shape[0] else "csr"), ones, lift[None])
