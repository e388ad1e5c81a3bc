"""Graded matrices: A with features of very different size, in the units of B.

Beside an eigenvalue of 1e20 an ordinary decomposition loses one of 100, and log(1 + 100) counts.
Nothing is lost once rows and columns are scaled to a unit diagonal of A: that matrix has all the
digits, and what is found there is scaled back.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .criteria import DOMINANT, EPS, TINY, unit_cholesky

# `cancellation` above this: differences of log-dets are not seen in the coordinates of a factor.
MAX_CANCELLATION = 1e12


def unit_form(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A semidefinite A scaled to a unit diagonal, and d, the roots of its own; zero rows stay."""
    d = np.sqrt(np.maximum(np.diag(A), 0.0))
    inverse = np.divide(1.0, d, out=np.zeros(d.size), where=d > 0)
    return A * inverse[:, None] * inverse, d


def graded_factor(A: np.ndarray) -> np.ndarray:
    """H (rank, p) with A = H'H for a semidefinite A; every column of H has its own digits."""
    unit, d = unit_form(A)
    values, vectors = linalg.eigh(unit)
    keep = _counts(values)
    return np.sqrt(values[keep])[:, None] * vectors[:, keep].T * d


def graded_eigh(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positive eigenvalues, descending, and B-orthonormal eigenvectors; A semidefinite.

    All of them with their own digits: by Jacobi's method, on rows of ascending size. In that order
    the triangle of B does not put a multiple of a large row into a small one.
    """
    order = np.argsort(np.diag(A) / np.diag(B), kind="stable")
    place = np.ix_(order, order)
    L, scale = unit_cholesky(B[place])
    H = graded_factor(A[place])
    if not len(H):
        return np.zeros(0), np.zeros((len(A), 0))
    Z = linalg.solve_triangular(L, (H * scale).T, lower=True)
    sizes, U, _, work, _, failed = linalg.lapack.dgejsv(
        Z, joba=2, jobu=0, jobv=3, jobr=0, jobt=0, jobp=0
    )
    if failed:
        raise np.linalg.LinAlgError("the singular values of a set were not found")
    vectors = np.empty((len(A), sizes.size))
    vectors[order] = linalg.solve_triangular(L, U, lower=True, trans="T") * scale[:, None]
    return np.square(sizes * (work[0] / work[1])), vectors


def graded_rounding(A: np.ndarray, B: np.ndarray) -> float:
    """How far the log-det that `graded_eigh` give may be off; B of unit diagonal.

    By round-off, and by what the factor leaves out of A: it counts as much as it raises
    eigenvalues of A + B in its unit form, which are no smaller than B makes them.
    """
    blur = 8 * len(A) * EPS
    both, sizes = unit_form(A + B)
    own, mixed, below = (linalg.eigvalsh(M) for M in (unit_form(A)[0], both, B))
    surely = np.maximum(below - blur, TINY)
    hidden = float(np.abs(own[~_counts(own)]).max(initial=0.0)) + 2 * blur
    least = np.maximum(mixed - hidden, surely[0] / float(np.square(sizes).max()))
    return float(np.log1p(hidden / least).sum() + np.log(np.maximum(below, blur) / surely).sum())


def unit_ranks(A: np.ndarray) -> tuple[int, int]:
    """The least and the largest rank that a semidefinite A may have, however it is scaled.

    Two, since round-off may put an eigenvalue on either side of what counts.
    """
    values = linalg.eigvalsh(unit_form(A)[0])
    blur = 2 * values.size * EPS * max(float(values[-1]), EPS)
    few, many = (int(np.count_nonzero(_counts(values, shift))) for shift in (-blur, blur))
    return few, many


def _counts(values: np.ndarray, shift: float = 0.0) -> np.ndarray:
    """Which eigenvalues (ascending) of a unit form are more than round-off, once shifted."""
    return values + shift > 8 * values.size * EPS * max(float(values[-1]), EPS)


def is_graded(diag_A: np.ndarray, diag_B: np.ndarray) -> bool:
    """Whether a feature is so large that the digits of others need care."""
    return bool(np.any(diag_A > DOMINANT * diag_B))


def align(H: np.ndarray) -> np.ndarray:
    """H turned so that the largest column lies on the first axis, the next near the second, ...

    Sums of outer products of the columns are then graded, and their factors keep their digits.
    """
    triangle, order = linalg.qr(H, mode="r", pivoting=True)
    turned = np.empty((min(H.shape), H.shape[1]))
    turned[:, order] = triangle[: len(turned)]
    return turned


def cancellation(H: np.ndarray) -> float:
    """What size of A round-off in log det(I + sum of h h') goes by, h columns of H; at least 1.

    A column along an axis does no harm, whatever its length; what lies across does.
    """
    squares = np.square(H)
    total = squares.sum(axis=0)
    squares[np.argmax(squares, axis=0), np.arange(total.size)] = 0.0
    across = squares.sum(axis=0)
    return max(1.0, float(np.minimum(total, 8.0 * across).max(initial=0.0)))
