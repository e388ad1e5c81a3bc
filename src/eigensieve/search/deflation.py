"""Deflation: take a found direction out of A, so that the next one is new.

With x'Bx = 1:

* projection: (I - Bxx') A (I - xx'B), stays positive semidefinite;
* schur: A - Axx'A / (x'Ax), stays positive semidefinite;
* hotelling: A - (x'Ax) Bxx'B, may become indefinite for a sparse x;
* orthogonalized-hotelling: Hotelling with x made B-orthogonal to the earlier directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ..pencil.checks import check_choice
from ..pencil.factor_pencil import FactorPencil
from ..pencil.pencil import Pencil
from ..pencil.solution import Solution

# A direction whose share in a view is below this has no part there (the correlation is zero).
NOTHING = 1e-8
DEFLATIONS = ("projection", "schur", "hotelling", "orthogonalized-hotelling")


def check_deflation(method: str) -> None:
    """Raise unless the method is known."""
    check_choice(method, "deflation", DEFLATIONS)


def deflate(pencil: Pencil, vectors: np.ndarray, method: str = "projection") -> Pencil:
    """The pencil without the last of the directions found so far.

    Parameters
    ----------
    pencil : Pencil, already deflated by all directions but the last
    vectors : array (p, t), the directions found so far, x'Bx = 1
    method : see the module's docstring
    """
    check_deflation(method)
    x = vectors[:, -1]
    if method == "orthogonalized-hotelling":
        x = _orthogonalize(pencil, vectors)
        if not x.any():  # the last direction lies in the span of the earlier ones
            return pencil
    Bx = pencil.apply_B(x)
    if pencil.factors:
        return _deflate_factor(pencil.factors, x, Bx, method)
    A, Ax = pencil.A, pencil.apply_A(x)
    value = float(x @ Ax)
    if method == "projection":
        cross = np.outer(Bx, Ax)
        A = A - cross - cross.T + value * np.outer(Bx, Bx)
    elif method == "schur":
        A = A - np.outer(Ax, Ax) / value if value != 0 else A
    else:
        A = A - value * np.outer(Bx, Bx)
    B = None if pencil.has_identity_B else pencil.B
    return Pencil._trusted((A + A.T) / 2, B, blocks=pencil.blocks)


def _deflate_factor(pencil: FactorPencil, x: np.ndarray, Bx: np.ndarray, method: str) -> Pencil:
    H, core = pencil.H, pencil.core
    h = H @ x
    value = float(h @ (h if core is None else core @ h))
    if method == "projection":
        H = _without(H, h, Bx)
    elif method == "schur":
        if value != 0 and core is None:
            H = _without(H, h, (h @ H) / value)
        elif value != 0 and core is not None:
            core = core - np.outer(core @ h, core @ h) / value
    else:
        H = np.vstack([H, Bx]) if isinstance(H, np.ndarray) else H.above(Bx[None])
        old = np.eye(len(H) - 1) if core is None else core
        core = linalg.block_diag(old, [[-value]])
    return pencil.with_A(H, core)


def _without(H: Any, left: np.ndarray, right: np.ndarray) -> Any:
    """H - left right'; rows that are no array remember it."""
    if isinstance(H, np.ndarray):
        return H - np.outer(left, right)
    return H.plus(-left[:, None], right[None])


def _orthogonalize(pencil: Pencil, vectors: np.ndarray) -> np.ndarray:
    """The last direction, B-orthogonal to the earlier ones and of unit B-norm (or zero)."""
    basis: list[np.ndarray] = []
    for v in vectors.T:
        q = v.astype(float)
        for _ in range(2):  # twice is enough
            for b in basis:
                q = q - b * float(b @ pencil.apply_B(q))
        norm = float(np.sqrt(q @ pencil.apply_B(q)))
        q = q / norm if norm > 1e-10 else np.zeros_like(q)
        basis.append(q)
    return basis[-1]


def explained_variances(
    pencil: Pencil, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three measures of the variance that a sparse basis V of a PCA pencil explains.

    Returns
    -------
    plain : v'Cv of each component; correlated components are counted twice
    adjusted : what each adds to the ones before it (Zou et al.: diag(R)^2 of the QR of XV)
    subspace : cumulative tr(Q'CQ), Q an orthonormal basis of the first t components
    """
    used = np.flatnonzero(vectors.any(axis=1))  # the others take no part: their columns may rest
    if used.size < pencil.size:
        pencil, vectors = pencil.take(used), vectors[used]
    CV = pencil.apply_A(vectors)
    plain = np.einsum("ij,ij->j", vectors, CV)
    adjusted, subspace = np.zeros(plain.size), np.zeros(plain.size)
    M = vectors.T @ CV  # (XV)'(XV): its pivots are diag(R)^2
    M = (M + M.T) / 2
    for t in range(plain.size):
        adjusted[t] = max(float(M[t, t]), 0.0)
        if M[t, t] > 1e-14 * max(plain.max(), 0.0):
            M = M - np.outer(M[:, t], M[t] / M[t, t])
        Q = linalg.orth(vectors[:, : t + 1])
        subspace[t] = float(np.einsum("ij,ij->", Q, pencil.apply_A(Q)))
    return plain, adjusted, subspace


def own_directions(pencil: Pencil, solution: Solution) -> list[np.ndarray]:
    """u = [wx; 0] and v = [0; wy] with u'Bu = v'Bv = 1; zero where a view has no part."""
    directions = []
    for block in (0, 1):
        u = np.where(pencil.blocks == block, solution.vectors[:, 0], 0.0)
        norm = float(np.sqrt(u @ pencil.apply_B(u)))
        directions.append(u / norm if norm > NOTHING else np.zeros_like(u))
    return directions


def deflate_views(pencil: Pencil, solution: Solution) -> Pencil:
    """The pencil with each view's own direction projected out: A keeps its zero blocks."""
    for u in own_directions(pencil, solution):
        if u.any():
            pencil = deflate(pencil, u[:, None])
    return pencil
