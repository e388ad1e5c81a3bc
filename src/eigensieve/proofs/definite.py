"""Rigorous proofs that a symmetric matrix, known by an enclosure, is positive semidefinite.

S. M. Rump, "Verification of positive definiteness", BIT 46 (2006): if the floating-point Cholesky
factorisation of a symmetric matrix M runs to its end, then M + E is positive semidefinite for an E
with ``|E_ij| <= gamma_{n+1} / (1 - gamma_{n+1}) sqrt(m_ii m_jj)``. So the diagonal is first
lowered by the row sums of that bound and of the radii: if the rest still has a factor, every matrix
of the enclosure is positive semidefinite.
"""

from __future__ import annotations

import enum

import numpy as np

from .balls import UNIT, Ball

MAX_DENSE_FEATURES = 4096  # features in one dense matrix: 128 MiB each
_FOR_EIGENVALUES = 600  # larger matrices are not analysed after a failure


class Shown(enum.Enum):
    """What is known of a statement."""

    TRUE = "true"
    FALSE = "false"
    OPEN = "open"  # too close for the enclosures


def show_semidefinite(matrix: Ball, *, explain: bool = True) -> Shown:
    """Whether every matrix of the enclosure is positive semidefinite.

    FALSE is said only where the smallest eigenvalue is far below zero; without ``explain``
    a failure is always OPEN.
    """
    mid, rad = _mirrored(matrix.mid), _mirrored(matrix.rad)
    n = len(mid)
    if n == 0:
        return Shown.TRUE
    if not (np.isfinite(mid).all() and np.isfinite(rad).all()):
        return Shown.OPEN
    diagonal = mid.diagonal().copy()
    if n == 1:
        if diagonal[0] >= rad[0, 0]:
            return Shown.TRUE
        return Shown.FALSE if diagonal[0] < -rad[0, 0] else Shown.OPEN
    shift = _shift(diagonal, rad)
    lowered = np.nextafter(diagonal - shift, -np.inf)
    if (lowered > 0.0).all() and _has_factor(mid, lowered):
        return Shown.TRUE
    if not explain or n > _FOR_EIGENVALUES:
        return Shown.OPEN
    far = -4.0 * float(shift.max())
    hopeless = diagonal.min() < far or np.linalg.eigvalsh(mid)[0] < far
    return Shown.FALSE if hopeless else Shown.OPEN


def _mirrored(square: np.ndarray) -> np.ndarray:
    """The symmetric matrix with this lower triangle."""
    lower = np.tril(square)
    return lower + np.tril(square, -1).T


def _shift(diagonal: np.ndarray, rad: np.ndarray) -> np.ndarray:
    """More than the row sums of all errors; twice Rump's bound, as LAPACK may use reciprocals."""
    n = len(diagonal)
    root = np.sqrt(np.maximum(diagonal, 0.0))
    rounding = 2.0 * (n + 8) * UNIT * root * root.sum()
    underflow = n * (2.0 * n + float(root.max()) ** 2) * 2.0**-1060
    return (rad.sum(axis=1) + rounding) * (1.0 + 4.0 * (n + 8) * UNIT) + underflow


def _has_factor(mid: np.ndarray, diagonal: np.ndarray) -> bool:
    shifted = mid.copy()
    np.fill_diagonal(shifted, diagonal)
    try:
        factor = np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(factor).all())


def show_bordered(core: Ball, sides: Ball, corners: Ball) -> np.ndarray:
    """For which columns j every [[core, sides_j], [sides_j', corners_j]] is semidefinite.

    Enough is that the corner is not negative after the elimination of the core.
    """
    if core.shape[0] == 0:
        return np.asarray(corners.lower >= 0.0)
    found = eliminate(core, sides)
    if found is None:
        return np.zeros(corners.shape, dtype=bool)
    w, e, lost = found
    left = corners - (w * (sides + e)).sum(axis=0)
    return np.asarray((left - Ball.exact(lost).squared()).lower >= 0.0)


def eliminate(core: Ball, sides: Ball) -> tuple[Ball, Ball, np.ndarray] | None:
    """w, e = sides - core w, and for every column more than |e_j| / sqrt(mu), where core >= mu > 0.

    The matrix [[core, sides], [sides', M]] is congruent to [[core, e], [e', M - w'sides - e'w]];
    to eliminate the core from that takes e_i' core^-1 e_j, at most |e_i| |e_j| / mu, off an entry.
    None if the core could not be shown to be positive definite.
    """
    n = len(core.mid)
    if n == 0:
        return sides, sides, np.zeros(sides.shape[1])
    if not (np.isfinite(core.mid).all() and np.isfinite(sides.mid).all()):
        return None
    mu = 0.5 * float(np.linalg.eigvalsh(_mirrored(core.mid))[0])
    if mu <= 0.0:
        return None
    if show_semidefinite(core - Ball.exact(mu * np.eye(n)), explain=False) is not Shown.TRUE:
        return None
    w = Ball.exact(np.linalg.solve(core.mid, sides.mid))
    e = sides - core @ w
    squares = (e.squared().sum(axis=0) / Ball.exact(mu)).upper
    return w, e, np.nextafter(np.sqrt(squares), np.inf)
