"""What a solver gives back, the same whatever the solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from scipy import linalg

from ..errors import VerificationError
from .criteria import (
    EPS,
    LOST,
    TINY,
    count_positive,
    criterion_unit,
    score_pair,
    surely_below,
    value_rounding,
)
from .grading import graded_rounding, is_graded, unit_ranks
from .pencil import Pencil

# A gap up to this is round-off: by default it is what "optimal" leaves open.
GAP_TOL = 1e-6
GIVEN = "given"  # the solver's name where a set was not searched, but only judged


class Status(Enum):
    """Why a solver stopped. OPTIMAL only with a proved bound: the gap is at most gap_tol."""

    OPTIMAL = "optimal"
    GAP_LIMIT = "gap limit"
    CONVERGED = "converged"
    FEASIBLE = "feasible"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"

    def __str__(self) -> str:
        return self.value

    @property
    def is_early(self) -> bool:
        """Whether a limit or Ctrl-C ended the search before it was done."""
        return self in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A set of k features, its eigenvectors, and what is known of the optimum.

    Attributes
    ----------
    support : array (k,), sorted feature indices (0-based)
    loadings : array (k, m)
        Generalized eigenvectors on the support; one for "lambda_max", otherwise one per
        eigenvalue that counts. x'Bx = 1; the largest entry of each is positive.
    values : array (m,), the eigenvalues, descending
    objective : float, the criterion
    bound : float
        No set of k features has a larger objective; inf if nothing is known.
    status : Status
    criterion, solver : str
    n_features : int, the size of the pencil
    scale : float
        The unit in which a gap near objective 0 is measured: ``max |A_ij| / sqrt(B_ii B_jj)``,
        for "logdet" log(1 + that).
    gap_tol : float, the largest gap that OPTIMAL allows; 1e-6 unless `solve` was told another
    n_iter, n_nodes, seconds : what the search cost
    """

    support: np.ndarray
    loadings: np.ndarray
    values: np.ndarray
    objective: float
    status: Status
    criterion: str
    solver: str
    n_features: int
    scale: float
    bound: float = np.inf
    gap_tol: float = GAP_TOL
    n_iter: int = 0
    n_nodes: int = 0
    seconds: float = 0.0

    @property
    def k(self) -> int:
        """Number of selected features."""
        return int(self.support.size)

    @property
    def vectors(self) -> np.ndarray:
        """The eigenvectors in full length, (n_features, m), zero outside the support."""
        full = np.zeros((self.n_features, self.loadings.shape[1]))
        full[self.support] = self.loadings
        return full

    @property
    def gap(self) -> float:
        """``(bound - objective) / max(|objective|, scale)``."""
        return relative_gap(self.objective, self.bound, self.scale)

    @property
    def is_certified(self) -> bool:
        """Whether the set is proved optimal, up to gap_tol."""
        return self.status is Status.OPTIMAL

    def __repr__(self) -> str:
        percent = 100 * self.gap
        digits = ".0f" if percent >= 99.5 else ".2g"
        gap = "unknown" if np.isinf(percent) else f"{percent:{digits}} %"
        status = str(self.status)
        if self.is_certified and self.gap > GAP_TOL:  # not what "optimal" means by default
            status += f" within gap_tol={self.gap_tol:g}"
        return (
            f"Solution(k={self.k}, {self.criterion}={self.objective:.6g}, gap={gap}, "
            f"status={status}, solver={self.solver!r})"
        )

    def verify(self, pencil: Pencil, *, tol: float = 1e-8) -> None:
        """Recompute everything without solver code; raise `VerificationError` if it is off.

        Checks that the support is a sorted set, that the loadings satisfy x'Bx = 1 and
        A_S x = value B_S x, the eigenvalues (scipy) and their number, the objective, the
        scale, that the bound is not below the objective, and that OPTIMAL is claimed only with a
        closed gap. Nothing that the solution says of itself sets a tolerance: what is allowed
        beside ``tol`` is what the condition of B on the support makes of round-off.
        """
        S = self.support
        if self.n_features != pencil.size:
            raise VerificationError(f"solution of {self.n_features} features, not {pencil.size}")
        if S.size == 0 or np.any(np.diff(S) <= 0) or S[0] < 0 or S[-1] >= pencil.size:
            raise VerificationError(f"support {S} is not a sorted set of feature indices")
        if self.loadings.shape != (S.size, self.values.size):
            raise VerificationError("loadings do not match the support and the values")
        small = pencil.restrict(S)
        d = 1.0 / np.sqrt(small.diag_B)
        A, B = small.A * np.outer(d, d), small.B * np.outer(d, d)
        values = linalg.eigh(A, B, eigvals_only=True)[::-1]
        unit = max(float(np.abs(values).max()), float(np.abs(A).max()), TINY)
        blur = value_rounding(values, A, B, "lambda_max")  # what B_S^-1 makes of round-off
        graded = self.criterion != "lambda_max" and is_graded(small.diag_A, small.diag_B)
        few, many = 1, 1
        if self.criterion != "lambda_max":
            few, many = unit_ranks(A) if graded else _possible_counts(values, blur)
        if not few <= self.values.size <= many:
            raise VerificationError(f"{self.values.size} eigenvalues do not make {self.criterion}")
        _close(self.values, values[: self.values.size], tol * unit + blur, "eigenvalues")
        least, most = (criterion_unit(s, self.criterion) for s in (np.abs(A).max(), pencil.scale))
        if not least * (1 - tol) <= self.scale <= most * (1 + tol):
            raise VerificationError(f"scale {self.scale} does not belong to this pencil")
        objective = score_pair(values, A, B, self.criterion)
        size = max(abs(objective), unit if self.criterion != "logdet" else 1e-300)
        if graded and self.criterion == "logdet":
            hidden = graded_rounding(A, B)
        else:
            hidden = value_rounding(values, A, B, self.criterion)
            whole = 0.0 if is_graded(pencil.diag_A, pencil.diag_B) else pencil.scale
            hidden += _factor_rounding(values, A, B, self.criterion, whole)
        _close(self.objective, objective, tol * size + hidden, "objective")
        _verify_vectors(A, B, self.loadings / d[:, None], self.values, tol, 100 * tol * unit)
        if not self.bound >= self.objective - tol * size:
            raise VerificationError(f"bound {self.bound} is below the objective {self.objective}")
        if self.is_certified and not self.gap <= self.gap_tol:
            raise VerificationError(f"status is optimal with an open gap of {self.gap}")


@dataclass(frozen=True, eq=False)
class SolutionPath(Mapping[Any, Solution]):
    """Solutions for several k: ``path[k]`` is the solution with k features.

    With one number per block the keys are tuples, ``path[kx, ky]``.
    ``stopped`` is the limit that ended the search before every k was done, or None.
    """

    solutions: dict[Any, Solution] = field(default_factory=dict)
    stopped: Status | None = None

    def __getitem__(self, k: Any) -> Solution:
        return self.solutions[k]

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(self.solutions))

    def __len__(self) -> int:
        return len(self.solutions)

    @property
    def ks(self) -> list[Any]:
        """The cardinalities, ascending."""
        return list(self)

    @property
    def objectives(self) -> np.ndarray:
        """The objective for every k."""
        return np.array([self[k].objective for k in self])

    @property
    def bounds(self) -> np.ndarray:
        """The proved upper bound for every k (inf where none is known)."""
        return np.array([self[k].bound for k in self])

    def verify(self, pencil: Pencil) -> None:
        """Verify every solution."""
        for k, solution in self.items():
            if solution.k != np.sum(k):
                raise VerificationError(f"the solution for k = {k} has {solution.k} features")
            solution.verify(pencil)


def relative_gap(objective: float, bound: float, scale: float) -> float:
    """(bound - objective) / max(|objective|, scale), not below zero."""
    if np.isinf(bound):
        return np.inf
    return max(bound - objective, 0.0) / max(abs(objective), scale, TINY)


def _verify_vectors(
    A: np.ndarray, B: np.ndarray, x: np.ndarray, values: np.ndarray, tol: float, residual: float
) -> None:
    # next to the tolerance, what rounding the entries of x alone may do if B_S is near-singular
    eps = 8 * len(x) * EPS
    rough = np.abs(B) @ np.abs(x)
    slack = eps * np.einsum("ij,ij->j", np.abs(x), rough)
    _close(np.einsum("ij,ij->j", x, B @ x), np.ones(values.size), tol + slack, "x'Bx")
    slack = eps * (np.abs(A) @ np.abs(x) + rough * np.abs(values))
    _close(A @ x, (B @ x) * values, residual + slack, "A x = value B x")


def _factor_rounding(
    values: np.ndarray, A: np.ndarray, B: np.ndarray, criterion: str, scale: float
) -> float:
    """What a factor does to the criterion: of the whole A, of this scale and rounded as such.

    It has no negative eigenvalues, which an A that counts as semidefinite may have a little of.
    """
    if criterion == "lambda_max":  # does without
        return 0.0
    negative = max(0.0, -float(linalg.eigvalsh(A)[0]))
    error = (4 * len(B) * EPS * scale + negative) / max(surely_below(B), LOST)
    if criterion == "trace":
        return error * values.size
    return float(np.log1p(error / (1.0 + np.maximum(values, 0.0))).sum())


def _possible_counts(values: np.ndarray, blur: float) -> tuple[int, int]:
    """How few and how many of the eigenvalues, each off by ``blur`` at most, may count."""
    return count_positive(values - blur), count_positive(values + blur)


def _close(
    found: np.ndarray | float, expected: np.ndarray | float, tol: np.ndarray | float, what: str
) -> None:
    error = np.abs(np.subtract(found, expected))
    if not np.all(error <= tol):
        worst = np.max(error)
        raise VerificationError(f"{what}: off by {worst:.3g} (allowed {np.min(tol):.3g})")
