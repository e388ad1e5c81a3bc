"""Basis pursuit: the x of least norm with Ax = b, and how close to the least it is.

    minimise  |x|   subject to  Ax = b         (primal)
    maximise  b'y   subject to  |A'y|* <= 1    (dual)

With several columns in b, x is a matrix, and the norm either the sum of all |x_ij| ("l1": every
column for itself) or the sum of the Euclidean lengths of the rows of x ("l21": columns share rows).
|.|* is the largest entry, or the longest row. Every y that satisfies the dual bounds the norm from
below, by b'y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from ..errors import InputError, VerificationError
from ..pencil.criteria import TINY
from ..pencil.row_factor import RowFactor
from ..pencil.solution import Status
from ..tables.copies import unify_copies
from .dual import SLACK, dual_figures, penalty_terms
from .rotation_proof import RotationProof

PENALTIES = ("l1", "l21")
INCONSISTENT = 1e-8  # part of b that no x explains


def relative_residual(A: Any, x: np.ndarray, b: np.ndarray) -> float:
    """|Ax - b| / |b|, Frobenius; of numbers near 1, whose squares neither vanish nor overflow."""
    unit = float(np.abs(b).max(initial=0.0)) or 1.0
    return float(np.linalg.norm((A @ x - b) / unit) / max(float(np.linalg.norm(b / unit)), TINY))


@dataclass(frozen=True, eq=False, repr=False)
class PursuitSolution:
    """The x of least norm with Ax = b, and a dual y that proves it.

    Attributes
    ----------
    x : array (p,) or (p, q), the minimiser; exact zeros outside the support
    y : array (m,) or (m, q)
        The certificate: ``|A'y|* <= 1``, so that no solution of Ax = b has a norm below b'y.
    objective : float, the norm of x
    bound : float, b'y
    residual : float, ``|Ax - b| / |b|``
    rotation : array (q, q), orthogonal, or None
        If the columns of b were rotated, so as to make the norm smaller still, then x, y, bound and
        residual belong to ``b @ rotation`` in the place of b.
    bound_any_rotation : float
        No orthogonal Z in ``Ax = bZ`` gives a norm below this; -inf if unknown. It is ``bound`` for
        one column, and for "l21", whose norm no rotation changes.
    rotation_proof : RotationProof or None, what proves it where it is not ``bound``
    penalty, solver : str
    status : Status
        OPTIMAL if gap and residual are at most gap_tol; CONVERGED if an iteration reached its own
        tolerance, FEASIBLE if the gap could not be closed.
    gap_tol : float
    n_iter : int, pivots or iterations
    seconds : float
    """

    x: np.ndarray
    y: np.ndarray
    objective: float
    bound: float
    residual: float
    penalty: str
    solver: str
    status: Status
    gap_tol: float = 1e-9
    n_iter: int = 0
    seconds: float = 0.0
    rotation: np.ndarray | None = None
    bound_any_rotation: float = -np.inf
    rotation_proof: RotationProof | None = None

    @property
    def support(self) -> np.ndarray:
        """Sorted indices of the entries (rows) of x that are not zero."""
        return np.flatnonzero(penalty_terms(self.x, "l21"))

    @property
    def gap(self) -> float:
        """``|objective - bound|``, relative; of little meaning where the residual is large."""
        return abs(self.objective - self.bound) / max(self.objective, abs(self.bound), TINY)

    @property
    def gap_any_rotation(self) -> float:
        """By what share of the norm a rotation of b might make it smaller; inf if unknown."""
        if self.bound_any_rotation == -np.inf:
            return np.inf
        return abs(self.objective - self.bound_any_rotation) / max(self.objective, TINY)

    @property
    def is_certified(self) -> bool:
        """Whether x is proved optimal for its b, up to gap_tol; see also gap_any_rotation."""
        return self.status is Status.OPTIMAL

    def __repr__(self) -> str:
        any_rotation = ""
        if self.rotation is not None:
            any_rotation = f"gap_any_rotation={self.gap_any_rotation:.1e}, "
        return (
            f"PursuitSolution({self.support.size} of {len(self.x)} non-zero, "
            f"{self.penalty} norm={self.objective:.6g}, gap={self.gap:.1e}, {any_rotation}"
            f"residual={self.residual:.1e}, status={self.status}, solver={self.solver!r})"
        )

    def verify(self, A: ArrayLike | RowFactor, b: ArrayLike, *, tol: float = 1e-9) -> None:
        """Recompute everything from A and b; raise `VerificationError` if it is off.

        A is an array, or a `RowFactor` with orthonormal rows. Checks the objective, the residual,
        that y satisfies the dual, that the bound is b'y, that OPTIMAL is claimed only with a closed
        gap, and what is claimed of other rotations of b.
        """
        matrix: Any = A if isinstance(A, RowFactor) else np.asarray(A, dtype=np.float64)
        target = np.asarray(b, dtype=np.float64)
        fits = matrix.shape == (len(target), len(self.x)) and target.shape == self.y.shape
        if not fits or self.x.shape[1:] != target.shape[1:]:
            raise VerificationError(
                f"x {self.x.shape} and y {self.y.shape} are not of this A and b"
            )
        given = target
        if self.rotation is not None:
            _check_orthogonal(self.rotation, given.shape[-1], tol)
            target = given @ self.rotation
        residual = relative_residual(matrix, self.x, target)
        objective = float(penalty_terms(self.x, self.penalty).sum())
        steepest, bound = dual_figures(matrix, target, self.y, self.penalty)
        unit = max(objective, abs(bound), TINY)
        if not abs(objective - self.objective) <= tol * unit:
            raise VerificationError(f"the norm of x is {objective}, not {self.objective}")
        if not abs(bound - self.bound) <= tol * unit:
            raise VerificationError(f"b'y is {bound}, not {self.bound}")
        if not abs(residual - self.residual) <= tol:
            raise VerificationError(f"the residual is {residual:.2e}, not {self.residual:.2e}")
        if not steepest <= 1 + tol:
            raise VerificationError(f"y is no certificate: |A'y| reaches {steepest}")
        if self.is_certified and not max(self.gap, residual) <= self.gap_tol:
            raise VerificationError(
                f"optimal, with a gap of {self.gap:.2e}, residual {residual:.2e}"
            )
        self._verify_any_rotation(matrix, given, tol)

    def _verify_any_rotation(self, A: Any, b: np.ndarray, tol: float) -> None:
        if self.rotation_proof is not None:
            steepest, bound = self.rotation_proof.figures(A, b)
            if not steepest <= 1 + tol:
                raise VerificationError(f"no proof for every rotation: |A'y| reaches {steepest}")
        else:
            bound = self.bound if _has_no_rotation(b, self.penalty) else -np.inf
        if not self.bound_any_rotation <= bound + tol * self.objective:
            raise VerificationError(
                f"for every rotation {bound} is proved, not {self.bound_any_rotation}"
            )


def _check_orthogonal(Z: np.ndarray, q: int, tol: float) -> None:
    if Z.shape != (q, q) or not np.abs(Z.T @ Z - np.eye(q)).max() <= tol:
        raise VerificationError(f"the rotation is not orthogonal, or not {(q, q)}")


def _has_no_rotation(b: np.ndarray, penalty: str) -> bool:
    """Whether the least norm is the same for every orthogonal Z in Ax = bZ."""
    return penalty == "l21" or b.ndim == 1 or b.shape[1] == 1


@dataclass(frozen=True, eq=False)
class Answer:
    """What an algorithm found for orthonormal rows: x (p, q), y (g, q), and why it stopped."""

    x: np.ndarray
    y: np.ndarray
    n_iter: int
    stopped: Status | None = None


@dataclass(frozen=True, eq=False)
class OrthonormalForm:
    """Ax = b as ``rows`` x = ``target`` with orthonormal rows.

    Attributes
    ----------
    rows : array (g, p), g the rank of A
    target : array (g, q)
    back : array (m, g), which makes a dual of A and b of a dual of this form
    """

    rows: np.ndarray
    target: np.ndarray
    back: np.ndarray

    @classmethod
    def of(cls, A: np.ndarray, b: np.ndarray, rank_tol: float) -> OrthonormalForm:
        """From A (m, p) of any rank and b (m, q); an error if nothing satisfies Ax = b."""
        unit = _lengths_of_rows(A)
        scaled_rows = A / unit[:, None]
        left, sizes, rows = linalg.svd(scaled_rows, full_matrices=False)
        rank = int(np.count_nonzero(sizes > rank_tol * sizes.max(initial=0.0)))
        left, sizes, rows = left[:, :rank], sizes[:rank], rows[:rank]
        with np.errstate(over="ignore"):
            scaled = b / unit[:, None]
        if not np.isfinite(scaled).all():
            raise InputError(
                "b is so large beside A that x is beyond the range of double precision; divide b "
                "by a number such as its largest entry"
            )
        coordinates = left.T @ scaled
        missed = np.abs(scaled - left @ coordinates).max(initial=0.0)
        if missed > max(rank_tol, INCONSISTENT) * np.abs(scaled).max(initial=0.0):
            raise InputError(
                f"no x satisfies Ax = b: A has {len(A)} rows and rank {rank}, and b is no "
                "combination of its columns; remove contradicting rows, or use a lasso"
            )
        target = coordinates / sizes[:, None]
        rows = np.ascontiguousarray(rows)
        unify_copies(rows, scaled_rows)
        return cls(rows, target, (left / sizes) / unit[:, None])


def _lengths_of_rows(A: np.ndarray) -> np.ndarray:
    """Euclidean lengths, 1 for rows of zeros; their inverses are finite, too."""
    largest = np.abs(A).max(axis=1)
    largest[largest == 0.0] = 1.0
    with np.errstate(over="ignore"):
        lengths = largest * np.maximum(np.linalg.norm(A / largest[:, None], axis=1), 1.0)
    extreme = np.flatnonzero(~np.isfinite(lengths) | (lengths < np.finfo(float).tiny))
    if extreme.size:
        raise InputError(
            f"row {extreme[0]} of A has entries up to {largest[extreme[0]]:.3g}, too close to "
            "the limits of double precision; multiply or divide that row of A and of b by a number"
        )
    return lengths


def judge(
    A: Any,
    b: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    penalty: str,
    solver: str,
    stopped: Status | None = None,
    gap_tol: float = 1e-9,
) -> PursuitSolution:
    """x and y with what they are worth: y is scaled to satisfy the dual, whatever it was."""
    steepest, bound = dual_figures(A, b, y, penalty)
    margin = 0.0
    while steepest > 1.0 + SLACK:
        y = y / (steepest * (1.0 + margin))
        steepest, bound = dual_figures(A, b, y, penalty)
        margin = max(SLACK, 4.0 * margin)  # a large y is moved by its own rounding
    bound /= max(1.0, steepest)
    solution = PursuitSolution(
        x=x,
        y=y,
        objective=float(penalty_terms(x, penalty).sum()),
        bound=bound,
        bound_any_rotation=bound if _has_no_rotation(b, penalty) else -np.inf,
        residual=relative_residual(A, x, b),
        penalty=penalty,
        solver=solver,
        status=stopped or Status.FEASIBLE,
        gap_tol=gap_tol,
    )
    if stopped in (None, Status.CONVERGED) and max(solution.gap, solution.residual) <= gap_tol:
        return replace(solution, status=Status.OPTIMAL)
    return solution
