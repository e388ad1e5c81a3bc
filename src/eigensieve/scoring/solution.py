"""Answers of group-lasso optimal scoring, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import VerificationError
from ..pencil.criteria import EPS
from ..pencil.solution import Status
from .scoring import ScoringProblem, row_lengths

TOL = 1e-10
SUMS = 16.0  # units in the last place that a sum of products may be off
# What round-off may excuse: beyond it nothing is proved.
LOOSEST = 1e-6
LOOSEST_TOL = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class GroupLassoSolution:
    """The minimiser B of one `ScoringProblem` at one penalty, with a dual bound.

    Attributes
    ----------
    support : array (k,), sorted indices of the features that are used
    rows : array (k, q), their rows of B; all others are zero
    n_features : int, p
    penalty : float, lambda
    lambda_max : float, the smallest penalty at which nothing is used
    objective : float
    bound : float, of a feasible point of the dual: no B has an objective below it
    kkt : float
        How far the optimality conditions are off, the largest of all features, as a share of
        lambda w_j: ``|slope_j - lambda w_j beta_j / |beta_j||``, or ``|slope_j| - lambda w_j`` if
        beta_j is zero and that is positive.
    tol : float, the kkt that was asked for
    status : Status
        OPTIMAL if kkt and gap are at most tol; or at most what round-off leaves, if that is more
        (it is for penalties near zero), and not above 1e-6.
    n_iter : int, sweeps and Newton steps
    n_screened : int, features that were proved to be unused before the end
    seconds : float
    solver : str
    """

    support: np.ndarray
    rows: np.ndarray
    n_features: int
    penalty: float
    lambda_max: float
    objective: float
    bound: float
    kkt: float
    tol: float
    status: Status
    n_iter: int
    n_screened: int
    seconds: float
    solver: str

    @property
    def alpha(self) -> float:
        """The penalty as a share of lambda_max."""
        return self.penalty / self.lambda_max

    @property
    def gap(self) -> float:
        """(objective - bound) / objective."""
        return max(0.0, self.objective - self.bound) / self.objective

    @property
    def is_certified(self) -> bool:
        """Whether B is proved optimal, up to tol."""
        return self.status is Status.OPTIMAL

    @property
    def coefficients(self) -> np.ndarray:
        """B (p, q)."""
        B = np.zeros((self.n_features, self.rows.shape[1]))
        B[self.support] = self.rows
        return B

    def __repr__(self) -> str:
        status = str(self.status)
        if self.is_certified and max(self.gap, self.kkt) > LOOSEST:  # optimal as far as was asked
            status += f" within tol={self.tol:g}"
        return (
            f"GroupLassoSolution({self.support.size} of {self.n_features} features, "
            f"alpha={self.alpha:.4g}, objective={self.objective:.6g}, gap={self.gap:.1e}, "
            f"kkt={self.kkt:.1e}, status={status}, solver={self.solver!r})"
        )

    def verify(self, problem: ScoringProblem, *, tol: float = 1e-9) -> None:
        """Recompute objective, optimality conditions and bound; raise `VerificationError`."""
        self._check_form(problem)
        figures = evaluate(problem, self.support, self.rows, self.penalty, tol=self.tol)
        checks = {
            "objective": abs(figures.objective - self.objective) <= tol * figures.objective,
            "kkt": figures.kkt <= self.kkt + tol + figures.noise,
            "bound": figures.bound >= self.bound - tol * figures.objective,
            "lambda_max": abs(problem.lambda_max - self.lambda_max) <= tol * self.lambda_max,
        }
        for name, holds in checks.items():
            if not holds:
                raise VerificationError(f"the {name} of {self} is off: found {figures}")
        proved = figures.is_proved and self.gap <= max(self.tol, figures.gap_noise)
        if self.is_certified and not proved:
            raise VerificationError(f"optimal, with a gap of {self.gap:.2e}, kkt {self.kkt:.2e}")

    def _check_form(self, problem: ScoringProblem) -> None:
        p, q = problem.weights.size, problem.target.shape[1]
        S = self.support
        if self.n_features != p or self.rows.shape != (S.size, q):
            raise VerificationError(f"{self} is not of a problem with {p} features, {q} scores")
        if S.size and (np.any(np.diff(S) <= 0) or S[0] < 0 or S[-1] >= p):
            raise VerificationError("the support is not a sorted list of features")
        if not self.rows.any(axis=1).all():
            raise VerificationError(f"{self} has a feature that is not used")
        if not 0 < self.tol <= LOOSEST_TOL:
            raise VerificationError(f"a tolerance of {self.tol} proves nothing")


@dataclass(frozen=True)
class Figures:
    """What a B is worth: objective, dual bound, largest violation.

    noise and gap_noise are the parts of violation and gap that round-off excuses; is_proved says
    whether every feature, and the gap, is within the tolerance or so excused.
    """

    objective: float
    bound: float
    kkt: float
    noise: float
    gap_noise: float
    is_proved: bool


def evaluate(
    problem: ScoringProblem,
    support: np.ndarray,
    rows: np.ndarray,
    penalty: float,
    slope: np.ndarray | None = None,
    tol: float = TOL,
    outside: float = 0.0,
) -> Figures:
    """The figures of one B; ``slope`` (p, q) saves time if it is known.

    ``outside`` is the largest |slope_j| / (lambda w_j) of features that the problem leaves out, and
    that are not used: the figures are then those of the problem with them.
    """
    residual = problem.residual(support, rows)
    if slope is None:
        slope = problem.slope(support, rows)
    t = penalty * problem.weights
    lengths = row_lengths(slope)
    sizes = row_lengths(rows)
    squares = float(np.square(residual).sum() + np.trace(problem.quadratic_form(support, rows)))
    off = np.maximum(lengths / t - 1.0, 0.0)
    off[support] = row_lengths(slope[support] / t[support, None] - rows / sizes[:, None])
    # the residual, shortened until it satisfies the dual |slope_j| <= lambda w_j, bounds from below
    along = float((problem.target * residual).sum())
    limit = 1.0 / max(float((lengths / t).max()), outside, EPS)
    share = max(-limit, min(along / squares, limit))
    paid = float(t[support] @ sizes)
    objective = 0.5 * squares + paid
    bound = share * along - 0.5 * share**2 * squares
    noise = excuses(problem, support, rows, penalty)
    terms = float(np.square(problem.target).sum()) + squares + paid
    gap_noise = min(SUMS * EPS * terms / objective, LOOSEST)
    closed = objective - bound <= max(tol, gap_noise) * objective
    return Figures(
        objective=objective,
        bound=bound,
        kkt=max(float(off.max()), outside - 1.0),
        noise=float(noise.max()),
        gap_noise=gap_noise,
        is_proved=closed and outside <= 1.0 + tol and bool(np.all(off <= np.maximum(tol, noise))),
    )


def excuses(
    problem: ScoringProblem, support: np.ndarray, rows: np.ndarray, penalty: float
) -> np.ndarray:
    """(p,), the violation of each feature that round-off alone may leave, at most LOOSEST.

    Slopes are sums of products with a column of F and of R.
    """
    sizes = row_lengths(rows)
    terms = float(np.linalg.norm(problem.target)) + float(problem.lengths[support] @ sizes)
    sums = problem.lengths * terms + problem.quadratic_product(support, sizes, absolute=True)
    return np.minimum(SUMS * EPS * sums / (penalty * problem.weights), LOOSEST)
