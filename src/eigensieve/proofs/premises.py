"""What must hold before the first record: blocks that fit, and matrices that are as promised."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from .balls import Ball
from .cases import Case
from .definite import Shown, show_semidefinite
from .header import Header
from .rational import Matrix, inner_products, is_definite, is_semidefinite
from .records import refuse


def read_blocks(header: Header, view: np.ndarray | None, given: Any) -> np.ndarray:
    """The block of every feature, for a k of several numbers."""
    p, n_blocks = header.n_features, len(header.k)
    if n_blocks == 1:
        return np.zeros(p, dtype=np.intp)
    if view is not None:
        given = view
    if given is None:
        raise InputError(f"the proof has {n_blocks} blocks: pass the block of every feature")
    blocks = np.asarray(given)
    if blocks.shape != (p,) or blocks.dtype.kind not in "iu":
        raise InputError(f"blocks must be {p} whole numbers; it has the shape {blocks.shape}")
    if blocks.min() < 0 or blocks.max() >= n_blocks:
        refuse(f"k has {n_blocks} numbers, and the blocks are not 0 to {n_blocks - 1}")
    return blocks.astype(np.intp)


def check_premises(case: Case) -> None:
    """B is positive definite, and A <= F F' + diag(slack) where the header says so."""
    everything = np.arange(case.header.n_features)
    if case.source.B is not None:
        shown = show_semidefinite(case.pencil.b_block(everything, everything))
        if shown is Shown.FALSE or (
            shown is Shown.OPEN and not is_definite(case.exactly(everything).B)
        ):
            refuse("B is not positive definite")
    F, slack = case.pencil.columns, case.pencil.slack
    if F is None or slack is None:
        return
    _check_least(case, everything)
    room = F @ F.T + Ball(np.diag(slack.mid), np.diag(slack.rad))
    shown = show_semidefinite(room - case.pencil.a_block(everything, everything))
    if shown is Shown.FALSE or (
        shown is Shown.OPEN and not is_semidefinite(_exact_room(case, everything))
    ):
        refuse("A is not below F F' + diag(slack)")


def _check_least(case: Case, index: np.ndarray) -> None:
    """B - least diag(B) is positive semidefinite."""
    least = case.source.recipe.least
    if least == 0.0:
        return
    B = case.pencil.b_block(index, index)
    less = Ball.exact(least) * case.pencil.b_diagonal
    rest = B - Ball(np.diag(less.mid), np.diag(less.rad))
    shown = show_semidefinite(rest)
    if shown is Shown.OPEN:
        exact = [list(row) for row in case.exactly(index).B]
        for i in range(len(exact)):
            exact[i][i] *= 1 - Fraction(least)
        shown = Shown.TRUE if is_semidefinite(exact) else Shown.FALSE
    if shown is Shown.FALSE:
        refuse("B is not above least diag(B)")


def _exact_room(case: Case, index: np.ndarray) -> Matrix:
    """F F' + diag(slack) - A."""
    exact = case.exactly(index)
    rows = inner_products(exact.columns, exact.columns)
    for i, (row, entries) in enumerate(zip(rows, exact.A)):
        rows[i] = [f - a for f, a in zip(row, entries)]
        rows[i][i] += exact.slack[i]
    return rows
