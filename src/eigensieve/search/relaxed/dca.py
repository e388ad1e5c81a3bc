"""D.C. programming for sparse generalized eigenvectors (Sriperumbudur, Torres, Lanckriet 2007).

To maximise x'Ax - rho sum log(eps + |x_i|) subject to x'Bx <= 1, the convex x'Ax is replaced by
its tangent and the penalty by its own, at the present x:

    max  g'x - sum t_i |x_i|   s.t.  x'Bx <= 1,    g = Ax, t_i = rho / (2 (|x_i| + eps)).

That is one weighted lasso u (weighted_lasso.py) and a division: x = u / nu, nu = sqrt(u'Bu).
The objective never falls. With eps = 0 a coordinate that is zero stays zero, so supports shrink
and later steps are cheap. With t_i = rho / 2 the same loop is SCoTLASS.

A must be positive semidefinite for its tangent to lie below it. Any other symmetric A is replaced
by A + tau B, which on x'Bx = 1 adds tau to the objective and changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...pencil.budget import Budget
from ...pencil.pencil import ITERATIVE, Pencil
from .weighted_lasso import WeightedLasso, make_lasso

# The inner problem is solved to this share of the last change of x, and never beyond FINE.
COARSE = 1e-2
FINE = 1e-13
# Smaller entries cost no more than this one: their inverse must be a number.
MIN_ENTRY = 1e-150


@dataclass(frozen=True, eq=False)
class Penalty:
    """What a non-zero costs.

    Attributes
    ----------
    eps : of the logarithm; None for the l1 norm instead
    free : mask (p,) of the features that cost nothing
    """

    eps: float | None
    free: np.ndarray

    def thresholds(self, x: np.ndarray, rho: float, at: np.ndarray) -> np.ndarray:
        """t of the inner problem for the features ``at``."""
        if self.eps is None:
            t = np.full(x.size, rho / 2)
        else:
            t = rho / (2 * np.maximum(np.abs(x) + self.eps, MIN_ENTRY))
        t[self.free[at]] = 0.0
        return t

    def cost(self, x: np.ndarray, at: np.ndarray) -> float:
        """The penalty of x per unit of rho; at eps = 0 that of its non-zeros."""
        x = np.abs(x[~self.free[at]])
        if self.eps is None:
            return float(x.sum())
        return float(np.log(x[x > 0] if self.eps == 0 else x + self.eps).sum())

    @property
    def is_sticky(self) -> bool:
        """Whether a zero stays zero."""
        return self.eps == 0


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where the iteration came to rest.

    Attributes
    ----------
    support : array (k,), where x is not zero
    entries : array (k,), the entries there
    nu : the optimal value of the last inner problem, without the shift
    value : x'Ax
    history : the penalised objective after every step
    converged : False if a limit ended the iteration
    """

    support: np.ndarray
    entries: np.ndarray
    nu: float
    value: float
    history: tuple[float, ...]
    converged: bool

    @property
    def n_iter(self) -> int:
        return len(self.history)

    def vector(self, p: int) -> np.ndarray:
        """x in full length."""
        x = np.zeros(p)
        x[self.support] = self.entries
        return x


NOTHING = Ascent(np.empty(0, dtype=np.intp), np.empty(0), 0.0, 0.0, (), True)


class Climb:
    """The iteration on one pencil from one start, for many rho.

    Parameters
    ----------
    pencil : Pencil
    start : array (p,), any length; scaled to x'Bx = 1
    penalty : Penalty
    tau : float, makes A + tau B positive semidefinite; see `semidefinite_shift`
    tol : the relative change of x at which it has converged
    lasso : of the pencil, if it is there already
    """

    def __init__(
        self,
        pencil: Pencil,
        start: np.ndarray,
        penalty: Penalty,
        tau: float,
        tol: float,
        lasso: WeightedLasso | None = None,
    ) -> None:
        self.pencil, self.penalty, self.tau, self.tol = pencil, penalty, tau, tol
        self.lasso = make_lasso(pencil) if lasso is None else lasso
        self.start = start / np.sqrt(float(start @ pencil.apply_B(start)))
        self.slope = _slope(pencil, self.start, tau)

    @property
    def rho_max(self) -> float:
        """From here on the first step leaves nothing."""
        x, g = np.abs(self.start), np.abs(self.slope)
        costs = ~self.penalty.free
        if self.penalty.eps is None:
            return float(2 * g[costs].max(initial=0.0))
        return float(2 * ((x + self.penalty.eps) * g)[costs].max(initial=0.0))

    def run(self, rho: float, budget: Budget, max_iter: int, least: int = 0) -> Ascent:
        """Iterate with one rho; where zeros stay, give up below ``least`` non-zeros."""
        return _iterate(self, rho, budget, max_iter, least if self.penalty.is_sticky else 0)

    def restart(self, x: np.ndarray) -> Climb:
        """The same from another vector."""
        return Climb(self.pencil, x, self.penalty, self.tau, self.tol, self.lasso)


class _Part:
    """The features that are still in play: their pencil, its lasso, and which they are."""

    def __init__(self, pencil: Pencil, at: np.ndarray, lasso: WeightedLasso) -> None:
        self.pencil, self.at, self.lasso = pencil, at, lasso

    def keep(self, mask: np.ndarray) -> _Part:
        pencil = self.pencil.take(np.flatnonzero(mask))
        return _Part(pencil, self.at[mask], make_lasso(pencil))


def _iterate(climb: Climb, rho: float, budget: Budget, max_iter: int, least: int) -> Ascent:
    penalty, part = climb.penalty, _Part(climb.pencil, np.arange(climb.pencil.size), climb.lasso)
    x, g, nu, value, change = climb.start, climb.slope, 0.0, 0.0, 1.0
    if penalty.is_sticky and not x.all():
        part, g, x = part.keep(x != 0), g[x != 0], x[x != 0]
    history: list[float] = []
    while len(history) < max_iter and change > climb.tol:
        if history and budget.stop() is not None:
            break
        t = penalty.thresholds(x, rho, part.at)
        # from the best multiple of x any descent of the lasso is an ascent of the objective:
        # far from the end it need not be solved to the last digit
        here = max(float(g @ x - t @ np.abs(x)), 0.0) * x
        u = part.lasso.solve(g, t, here, np.clip(COARSE * change, FINE, COARSE), budget)
        kept = u != 0
        if not kept.any() or np.count_nonzero(kept) < least:
            return NOTHING
        lost = 0.0
        if penalty.is_sticky and not kept.all():
            lost = float(np.square(x[~kept]) @ part.pencil.diag_B[~kept])
            part, u, x, t, g = part.keep(kept), u[kept], x[kept], t[kept], g[kept]
        diagonal, old = part.pencil.diag_B, x
        x = u / np.sqrt(float(u @ part.pencil.apply_B(u)))
        nu = float(g @ x - t @ np.abs(x))
        moved = float(np.square(x - old) @ diagonal) + lost
        change = float(np.sqrt(moved / (np.square(x) @ diagonal)))
        Ax = part.pencil.apply_A(x)
        g = Ax + climb.tau * part.pencil.apply_B(x) if climb.tau else Ax
        value = float(x @ Ax)  # x'g - tau cancels where B is nearly singular
        history.append(value - rho * penalty.cost(x, part.at))
    S, converged = np.flatnonzero(x), change <= climb.tol
    return Ascent(part.at[S], x[S], nu - climb.tau, value, tuple(history), converged)


def _slope(pencil: Pencil, x: np.ndarray, tau: float) -> np.ndarray:
    g = pencil.apply_A(x)
    return g + tau * pencil.apply_B(x) if tau else g


def semidefinite_shift(pencil: Pencil) -> float:
    """tau >= 0 with A + tau B positive semidefinite: 0 if A is, else -lambda_min(A, B)."""
    if pencil.is_psd:
        return 0.0
    opposite = pencil.negated()
    largest = opposite.rayleigh(opposite.leading()[:, 0])
    return max(largest * (1.0 if pencil.size <= ITERATIVE else 1.0 + 1e-6), 0.0)
