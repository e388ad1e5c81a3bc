"""What Q-alpha computes of the rows R (samples x features): M = R' in the words of the paper.

U (n, k) is always M times a basis of the samples, x a weight per feature. What has a row per
feature lies where the rows do. Two products with the same columns are formed in one pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables.kinds.arrays import is_device_array, namespace
from ..tables.operators.any_rows import join_arrays
from ..tables.operators.table_rows import TableRows


def equal_weights(rows: TableRows) -> Any:
    """Weights (n,) of unit norm."""
    n = rows.n_features
    return rows.place(np.full(n, 1.0 / np.sqrt(n), dtype=rows.dtype))


def row_products(U: Any, V: Any) -> Any:
    """u_i'v_i for every feature."""
    return namespace(U).sum(U * V, axis=1) if is_device_array(U) else np.einsum("ij,ij->i", U, V)


def turn(rows: TableRows, x: Any, U: Any) -> np.ndarray:
    """M'(x U): what A_x makes of the basis."""
    return rows.matmat(x[:, None] * U)


def weigh(rows: TableRows, U: Any, Z: np.ndarray) -> Any:
    """The row sums of U * MZ."""
    return row_products(U, rows.rmatmat(Z))


def weigh_and_turn(rows: TableRows, U: Any, Z: np.ndarray) -> tuple[Any, np.ndarray]:
    """Those row sums y, and M'(y U)."""
    sums, turned = [], np.zeros((rows.n_samples, Z.shape[1]), dtype=rows.dtype)
    for where, piece in rows.pieces():
        sums.append(weigh(piece, U[where, :], Z))
        turned += turn(piece, sums[-1], U[where, :])
    return join_arrays(sums), turned


def project_and_turn(rows: TableRows, B: np.ndarray, x: Any) -> tuple[Any, np.ndarray]:
    """U = M B, and M'(x U)."""
    found, turned = [], np.zeros((rows.n_samples, B.shape[1]), dtype=rows.dtype)
    for where, piece in rows.pieces():
        found.append(piece.rmatmat(B))
        turned += turn(piece, x[where], found[-1])
    return join_arrays(found), turned
