"""A pencil with a diagonal B, scaled to B = I: for methods that are made for PCA."""

from __future__ import annotations

import numpy as np

from ..pencil.factor_pencil import FactorPencil
from ..pencil.pencil import Pencil
from ..pencil.row_factor import RowFactor


def has_diagonal_B(pencil: Pencil) -> bool:
    """Whether B is known to be diagonal, without a look at its entries."""
    return pencil.has_identity_B or (isinstance(pencil, FactorPencil) and len(pencil.W) == 0)


def diagonal_root(pencil: Pencil) -> np.ndarray | None:
    """The square root of B as a vector, or None if B has other entries than its diagonal."""
    if isinstance(pencil, FactorPencil):
        W = pencil.W
        has_others = bool((W.squares() if isinstance(W, RowFactor) else W).any())
    else:
        has_others = not has_diagonal_B(pencil) and int(np.count_nonzero(pencil.B)) > pencil.size
    return None if has_others else np.sqrt(pencil.diag_B)


def to_identity_form(pencil: Pencil, root: np.ndarray) -> Pencil:
    """The pencil in y = root * x, whose B is the identity."""
    if isinstance(pencil, FactorPencil):
        return FactorPencil(pencil.H / root, None, np.ones(pencil.size), core=pencil.core)
    return Pencil._trusted(pencil.A / np.outer(root, root), None)
