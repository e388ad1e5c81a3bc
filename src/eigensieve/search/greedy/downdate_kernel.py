"""Deleting a feature from an inverse matrix, in place."""

from __future__ import annotations

import numpy as np

from ...pencil.compile import jit


@jit
def delete_from_inverse(P: np.ndarray, alive: np.ndarray, j: int) -> None:
    """P -= P_j P_j' / P_jj on the rows and columns listed in alive (j not among them).

    P holds the inverse of a matrix restricted to alive + {j}; afterwards its alive part is
    the inverse of the matrix restricted to alive.
    """
    pivot = P[j, j]
    m = alive.size
    for a in range(m):
        row = alive[a]
        factor = P[row, j] / pivot
        if factor != 0.0:
            for b in range(m):
                P[row, alive[b]] -= factor * P[j, alive[b]]
