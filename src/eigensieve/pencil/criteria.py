"""The criteria: what a set of features is worth, from its eigenvalues.

Every solver and ``Solution.verify`` use these definitions and no others. The
eigenvalues are those of the pencil restricted to the set, A_S x = lambda B_S x:

========== ========================= =============================
lambda_max the largest eigenvalue    any symmetric A
trace      sum of the eigenvalues    A positive semidefinite
logdet     sum of log(1 + eigenvalue) A positive semidefinite (Wilks)
========== ========================= =============================

For a positive semidefinite A all three never fall when a feature is added
(lambda_max: for every symmetric A).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..errors import OptionError, PencilError

CRITERIA = ("lambda_max", "trace", "logdet")
# Eigenvalues of a semidefinite A below this share of the largest count as zero.
NOISE = 1e-13
EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)  # stands for zero in a denominator
LOST = EPS**2  # stands for an eigenvalue of B that round-off has left nothing of
# Beside an eigenvalue above this the others are too inexact for log-det.
DOMINANT = 1e6


def score_values(values: np.ndarray, criterion: str) -> float:
    """The criterion of a set whose restricted pencil has these eigenvalues."""
    if criterion == "lambda_max":
        return float(np.max(values))
    # where a semidefinite A has a zero, round-off leaves 1e-16 of the largest, of either sign; a
    # higher cut than 0 would drop real ones where B is nearly singular and the largest is 1e10
    positive = np.maximum(values, 0.0)
    if criterion == "trace":
        return float(np.sum(positive))
    if criterion == "logdet":
        return float(np.sum(np.log1p(positive)))
    raise OptionError(f"criterion is {criterion!r}; it must be one of {', '.join(CRITERIA)}")


def score_pair(values: np.ndarray, A: np.ndarray, B: np.ndarray, criterion: str) -> float:
    """`score_values` of a small pair with B of unit diagonal, also where B is nearly singular.

    Beside an eigenvalue of 1e10 the small ones are noise, and the logarithm would show it.
    """
    if criterion == "logdet" and values[0] > DOMINANT:
        sizes = np.diag(A + B)
        unit = (A + B) / np.sqrt(np.outer(sizes, sizes))
        (sign, both), (_, own) = np.linalg.slogdet(unit), np.linalg.slogdet(B)
        if sign > 0:
            return float(np.log(sizes).sum() + both - own)
    return score_values(values, criterion)


def factor_eigenvalues(H: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The eigenvalues, descending, of H'H and B (of unit diagonal), as many as B has rows.

    From singular values: beside a large one the small ones keep their digits, which those of an
    eigen-solver do not.
    """
    L, scale = unit_cholesky(B)
    Z = linalg.solve_triangular(L, (H * scale).T, lower=True)
    values = np.zeros(len(B))
    found = np.square(linalg.svdvals(Z))
    values[: found.size] = found
    return values


def factor_rounding(values: np.ndarray, least: float, criterion: str, factor_error: float) -> float:
    """How far the criterion may be off that `factor_eigenvalues` give; no eigenvalue of B < least.

    By round-off, and by the error of the factor itself (`Pencil.factor_error`).
    """
    error = (8 * values.size * EPS * np.sqrt(values * values.max()) + factor_error) / least
    if criterion == "logdet":
        return float(np.sum(np.log1p(error / (1.0 + values))))
    return float(error.sum())


def surely_below(B: np.ndarray) -> float:
    """No eigenvalue of B (of unit diagonal) is smaller, however it was rounded; 0 tells nothing."""
    return max(float(np.linalg.eigvalsh(B)[0]) - 8 * len(B) * EPS, 0.0)


def criterion_unit(scale: float, criterion: str) -> float:
    """The unit in which a gap near zero is measured, from the scale of the eigenvalues."""
    return float(np.log1p(scale)) if criterion == "logdet" else scale


def value_rounding(
    values: np.ndarray, A: np.ndarray, B: np.ndarray, criterion: str, least: float | None = None
) -> float:
    """How far round-off may put the criterion off; A and B (of unit diagonal) are of the set.

    An eigen-solver leaves eps of the largest eigenvalue on each of them, and rounding A and B
    themselves moves an eigenvalue by eps (|A| + |value| |B|) over the smallest eigenvalue of B,
    which is ``least`` where that is known better than from B itself.
    """
    least = max(surely_below(B), LOST) if least is None else least
    if criterion == "logdet" and values[0] > DOMINANT:  # by determinants
        return 8 * len(B) * EPS * (1.0 + float(np.abs(A).max())) / least
    size = np.abs(values)
    error = 4 * len(B) * EPS * (size.max() + (np.abs(A).max() + size) / least)
    if criterion == "lambda_max":
        return float(error.max())
    if criterion == "trace":
        return float(error.sum())
    return float(np.sum(np.log1p(error / (1.0 + np.maximum(values, 0.0)))))


def count_positive(values: np.ndarray) -> int:
    """How many eigenvalues (descending) of a semidefinite A count; at least one is kept.

    Not for graded ones, see grading.py.
    """
    return max(1, int(np.count_nonzero(values > NOISE * max(values[0], 0.0))))


def generalized_eigh(A: np.ndarray, B: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (descending) and B-orthonormal eigenvectors of a small dense pair.

    Rows and columns are first scaled to a unit diagonal of B, so that features
    measured in units 1e16 apart do not spoil each other.
    """
    if B is None:
        values, vectors = linalg.eigh(A)
        return values[::-1], vectors[:, ::-1]
    scale = 1.0 / np.sqrt(np.diag(B))
    B = B * np.outer(scale, scale)
    values, vectors = linalg.eigh(A * np.outer(scale, scale), B)
    vectors /= np.sqrt(np.einsum("ij,ij->j", vectors, B @ vectors))  # near-singular B: refresh
    return values[::-1], (vectors * scale[:, None])[:, ::-1]


def unit_cholesky(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L and s = 1/sqrt(diag M) with L L' = M scaled to a unit diagonal."""
    scale = 1.0 / np.sqrt(np.diag(M))
    L, failed = linalg.lapack.dpotrf(M * np.outer(scale, scale), lower=True, clean=True)
    if failed:
        raise PencilError("a submatrix of B is not positive definite; add a ridge or shrinkage")
    return L, scale


def spd_inverse(M: np.ndarray) -> np.ndarray:
    """Inverse of a symmetric positive definite matrix, by Cholesky on its unit-diagonal form.

    LAPACK is called directly: scipy.linalg.inv starts threads for matrices of ten rows.
    """
    L, scale = unit_cholesky(M)
    inverse, _ = linalg.lapack.dpotri(L, lower=True)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    return inverse * np.outer(scale, scale)


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Make the entry of largest modulus of every column positive."""
    if vectors.size == 0:
        return vectors
    # a tiny tilt towards the first row, so that +a and -a never tie by round-off
    pivot = np.argmax(np.abs(vectors) > np.abs(vectors).max(axis=0) * (1 - 1e-9), axis=0)
    signs = np.sign(vectors[pivot, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
