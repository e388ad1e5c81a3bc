"""AnnData: .X by blocks, whether it lies in an .h5ad file (backed) or in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tables import BigTable, check_numeric

KIND = "an AnnData object"


class AnnDataTable(BigTable):
    """.X, dense or sparse; the names are those of .var.

    Cells are rows. A sparse .X is filled in block by block only.
    """

    kind = KIND

    def __init__(self, X: Any, names: np.ndarray) -> None:
        check_numeric(X.shape, X.dtype, KIND)
        self.X, self.names = X, names
        self.shape, self.dtype = tuple(X.shape), np.dtype(X.dtype)

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        part = self.X[rows, columns]
        return part.toarray() if hasattr(part, "toarray") else np.asarray(part)


def open_anndata(data: Any) -> BigTable:
    """An ``anndata.AnnData``, best opened with ``backed="r"``."""
    return AnnDataTable(data.X, np.asarray(data.var_names, dtype=object))
