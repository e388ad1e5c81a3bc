"""Rows of any table on a few directions: only what they use is read, some of it at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..tables.kinds.arrays import is_device_array, like, to_numpy
from ..tables.kinds.big_table import BigTable, count_per_block, equal_blocks
from ..tables.operators.device_rows import take_columns
from ._validation import read_columns


def project_rows(table: Any, S: np.ndarray, centre: np.ndarray, V: np.ndarray) -> np.ndarray:
    """(X_S - centre) V (n, m) of the columns S, which ascend, for V (|S|, m)."""
    n = table.shape[0]
    if isinstance(table, BigTable) and table.is_tall:
        return table.map_rows(lambda block: (block[:, S] - centre) @ V)
    if isinstance(table, BigTable) and n > count_per_block(S.size):
        return _project_in_pass(table, S, centre, V)
    if sparse.issparse(table):
        few = table[:, S].tocsr()
        blocks = equal_blocks(n, count_per_block(S.size))
        return np.concatenate([(few[rows].toarray() - centre) @ V for rows in blocks])
    if is_device_array(table):
        columns = take_columns(table, S)
        return to_numpy((columns - like(centre, table)) @ like(V, table))
    return (read_columns(table, S) - centre) @ V


def _project_in_pass(
    table: BigTable, S: np.ndarray, centre: np.ndarray, V: np.ndarray
) -> np.ndarray:
    Z = np.zeros((table.shape[0], V.shape[1]))
    for where, block in table.column_blocks():
        own = slice(*np.searchsorted(S, [where.start, where.stop]))
        Z += (block[:, S[own] - where.start] - centre[own]) @ V[own]
    return Z
