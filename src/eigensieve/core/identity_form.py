"""A pencil with a diagonal B, scaled to B = I: for methods that are made for PCA."""

from __future__ import annotations

import numpy as np

from .factor_pencil import FactorPencil
from .pencil import Pencil


def diagonal_root(pencil: Pencil) -> np.ndarray | None:
    """The square root of B as a vector, or None if B is not diagonal."""
    if isinstance(pencil, FactorPencil):
        is_diagonal = not pencil.W.any()
    else:
        is_diagonal = pencil.has_identity_B or np.count_nonzero(pencil.B) == pencil.size
    return np.sqrt(pencil.diag_B) if is_diagonal else None


def to_identity_form(pencil: Pencil, root: np.ndarray) -> Pencil:
    """The pencil in y = root * x, whose B is the identity."""
    if isinstance(pencil, FactorPencil):
        return FactorPencil(pencil.H / root, None, np.ones(pencil.size), core=pencil.core)
    return Pencil._trusted(pencil.A / np.outer(root, root), None)
