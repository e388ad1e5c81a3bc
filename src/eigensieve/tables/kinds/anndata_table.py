"""AnnData: .X by blocks, whether it lies in an .h5ad file (backed) or in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from .big_table import ArrayTable, BigTable, check_numeric
from .opening import as_big_table, matrix_of

KIND = "an AnnData object"


class SparseTable(BigTable):
    """A sparse .X, in memory or backed by a file; cells are rows. Blocks of it are filled in."""

    kind = "a sparse AnnData matrix"
    loading = "X.to_memory()"

    def __init__(self, X: Any) -> None:
        check_numeric(X.shape, X.dtype, self.kind)
        self.X = X
        self.shape, self.dtype = tuple(X.shape), np.dtype(X.dtype)

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        filled: np.ndarray = self.X[rows, columns].toarray()
        return filled


def open_sparse(X: Any) -> BigTable:
    """The sparse .X of an AnnData that is backed."""
    return SparseTable(X)


def open_anndata(data: Any) -> BigTable:
    """An ``anndata.AnnData``, best opened with ``backed="r"``; the names are those of .var."""
    X = matrix_of(data)
    if X is None:
        raise InputError(f"{KIND} without X was given; give one of its layers: X.layers['counts']")
    table = as_big_table(X)
    if table is None:
        check_numeric(X.shape, X.dtype, KIND)
        table = SparseTable(X) if hasattr(X, "toarray") else ArrayTable(X, KIND)
    table.kind, table.names = KIND, np.asarray(data.var_names, dtype=object)
    table.loading = "X.to_memory().X" if data.isbacked else "X.X"
    return table
