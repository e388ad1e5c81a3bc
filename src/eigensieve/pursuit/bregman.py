"""The accelerated linearized Bregman iteration (Huang, Ma and Goldfarb 2011), as Chu and Zhang
(2013) use it: min |x|_1 subject to Ux = C, U with orthonormal rows.

    X = delta shrink(U'W~, mu),   W+ = W~ - tau (UX - C),   W~ = a W+ + (1 - a) W,  a = (2k+3)/(k+3)

It converges to the minimiser of mu |x|_1 + |x|^2 / (2 delta), which is a minimiser of |x|_1 (that
of least Euclidean norm) once mu is large enough; W / mu tends to the dual. The paper keeps V = U'W,
the same with more numbers. The simplex method is faster and exact: this one is here because it is
the paper's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.checks import check_k, check_number
from ..pencil.criteria import EPS, TINY
from ..pencil.solution import Status
from ..tables.copies import first_copies
from .solution import Answer

MARGIN = 1.05  # of mu above its threshold
POLL = 20  # iterations between looks at the clock
DEGENERATE = 1e-9


def check_bregman(mu: Any, delta: Any, tau: Any, tol: Any, max_iter: Any) -> None:
    """Raise unless the parameters make sense; mu may be "auto"."""
    biggest = np.finfo(float).max
    if not (isinstance(mu, str) and mu == "auto"):
        check_number(mu, "mu", TINY, biggest, "a positive number, or 'auto'")
    for value, name in ((delta, "delta"), (tau, "tau"), (tol, "tol")):
        check_number(value, name, TINY, biggest, "a positive number")
    if tau * delta > 1.0:
        raise OptionError(f"tau * delta is {tau * delta:g}; the iteration needs at most 1")
    check_k(max_iter, "max_iter")


def solve_bregman(
    rows: np.ndarray,
    target: np.ndarray,
    budget: Budget,
    *,
    mu: float,
    delta: float,
    tau: float,
    tol: float,
    max_iter: int,
) -> Answer:
    """x (p, q) and y (g, q), until |rows x - target| <= tol |target|."""
    enough = tol * float(np.linalg.norm(target))
    W = tau * target
    ahead = W
    for k in range(max_iter):
        V = rows.T @ ahead
        x = delta * (V - np.clip(V, -mu, mu))
        off = rows @ x - target
        if np.linalg.norm(off) <= enough:
            return Answer(x, ahead / mu, k + 1, Status.CONVERGED)
        if k % POLL == 0:
            budget.report("bregman", "iterations", k, total=max_iter)
            stopped = budget.stop()
            if stopped is not None:
                return Answer(x, ahead / mu, k + 1, stopped)
        last, W = W, ahead - tau * off
        momentum = (2 * k + 3) / (k + 3)
        ahead = momentum * W + (1 - momentum) * last
    return Answer(x, ahead / mu, max_iter, Status.ITERATION_LIMIT)


def enough_mu(rows: np.ndarray, exact: Answer, delta: float) -> float:
    """A mu just above the threshold from which the iteration's limit is a minimiser of |x|_1.

    For x with signs sgn on S the limit is optimal if y0 + y1 / (mu delta) satisfies the dual, where
    u_j'y0 = sgn_j and u_j'y1 = x_j for j in S. Copies of a column share its weight in the limit.
    """
    needed = [_threshold(rows, x, y) for x, y in zip(exact.x.T, exact.y.T) if x.any()]
    return MARGIN * max(needed, default=1.0) / delta


def _threshold(rows: np.ndarray, x: np.ndarray, y0: np.ndarray) -> float:
    S = np.flatnonzero(x)
    first = first_copies(rows)
    share = x[S] / np.bincount(first)[first[S]]
    y1 = linalg.lstsq(rows[:, S].T, share)[0]
    free = ~np.isin(first, first[S])
    s, t = rows[:, free].T @ y0, rows[:, free].T @ y1
    moving = np.abs(t) > EPS * np.abs(t).max(initial=0.0)
    room = (1.0 - np.sign(t[moving]) * s[moving]) / np.abs(t[moving])
    # in units of the largest weight; without other columns every mu will do
    least = float(room.min(initial=1.0 / np.abs(share).max())) * np.abs(share).max()
    if least <= DEGENERATE:
        raise OptionError(
            "mu='auto' finds no threshold, because the optimum is degenerate; give a number"
        )
    return float(np.abs(share).max() / least)
