"""Columns that are copies of one another, up to sign and round-off."""

from __future__ import annotations

import numpy as np

from ..pencil.row_factor import RowFactor, column_squares

SAME = 1e-12  # columns as near as this, relatively, count as identical


def first_copies(columns: np.ndarray | RowFactor) -> np.ndarray:
    """For every column (g, p) the lowest index of one that equals it, up to sign and round-off.

    Equal columns have equal sums with any weights: only neighbours in that order are compared.
    """
    first = np.arange(columns.shape[1])
    sums = np.abs(np.cos(np.arange(1, len(columns) + 1)) @ columns)
    order = np.argsort(sums, kind="stable")
    lengths = np.sqrt(column_squares(columns))
    close = np.diff(sums[order]) <= SAME * len(columns) * lengths[order[1:]]
    edges = np.flatnonzero(np.diff(close, prepend=False, append=False))
    for start, stop in edges.reshape(-1, 2):  # runs of neighbours that are close
        group = order[start : stop + 1]
        waiting = np.sort(group[lengths[group] > 0])
        while waiting.size > 1:
            one, others = waiting[0], waiting[1:]
            off = np.minimum(
                np.linalg.norm(columns[:, others] - columns[:, [one]], axis=0),
                np.linalg.norm(columns[:, others] + columns[:, [one]], axis=0),
            )
            same = off <= SAME * lengths[one]
            first[others[same]] = one
            waiting = others[~same]
    return first


def unify_copies(columns: np.ndarray, data: np.ndarray) -> None:
    """Make copies equal to the last digit, so that round-off does not choose among them.

    Copies are those of the data that ``columns`` were made from (round-off may have moved the
    latter apart by the data's condition), and what cutting off directions made equal.
    """
    for first in (first_copies(data), first_copies(columns)):
        unify(columns, first)


def unify(columns: np.ndarray, first: np.ndarray) -> None:
    """Make every column equal to that of which it is a copy, or its negative."""
    copies = np.flatnonzero(first != np.arange(first.size))
    own, models = columns[:, copies], columns[:, first[copies]]
    columns[:, copies] = np.sign(np.einsum("ij,ij->j", own, models)) * models
