"""The cycle of Q-alpha: weights for the basis, a basis for the weights, until the weights rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .budget import Budget
from .leading import SearchStopped, leading_eigenvector, point_up
from .qalpha_options import QAlphaOptions
from .relevance import Family, Form
from .solution import Status

# multiplications in one product with G up to which "auto" means
EXACT = 200_000  # exact eigenvectors in every cycle,
SEVERAL, STARTS = 5_000_000, 6  # several starts
SLOWER = 10  # exact eigenvectors than single steps, with the same end


@dataclass(frozen=True, eq=False)
class Ascent:
    """The end of the best start.

    Attributes
    ----------
    alpha, basis : after the last cycle
    history : the value after each cycle
    converged : whether the weights came to rest
    status : CONVERGED, or why the search ended before
    eigensolver : the one used
    n_starts : how many were made
    """

    alpha: np.ndarray
    basis: Any
    history: list[float]
    converged: bool
    status: Status
    eigensolver: str = ""
    n_starts: int = 1


def ascend(
    family: Family, options: QAlphaOptions, budget: Budget, rng: np.random.Generator
) -> Ascent:
    """The best of several starts."""
    method = choose_eigensolver(options, family.cost)
    wanted = choose_starts(options, family.cost, method)
    best: Ascent | None = None
    for i in range(wanted):
        basis = family.start(rng if i else None)
        found = _ascend_once(family, basis, method, options, budget)
        ended = budget.stop()
        if best is None or found.history[-1] > best.history[-1]:
            best = found
        budget.report("qalpha", "starts", i + 1, total=wanted, objective=best.history[-1])
        if ended is not None:
            break
    assert best is not None
    is_cut = found.status in (Status.TIME_LIMIT, Status.INTERRUPTED) or i + 1 < wanted
    status = best.status if ended is None or not is_cut else ended
    return replace(best, status=status, eigensolver=method, n_starts=i + 1)


def choose_eigensolver(options: QAlphaOptions, cost: int) -> str:
    """The one asked for; "auto": exact weights if the table is small."""
    if options.eigensolver != "auto":
        return options.eigensolver
    if cost > EXACT and "single-step" in options.eigensolvers:
        return "single-step"
    return "lanczos"


def choose_starts(options: QAlphaOptions, cost: int, method: str) -> int:
    """As many as asked for; "auto": several, unless they would take long."""
    if options.n_init != "auto":
        return int(options.n_init)
    return STARTS if cost * (1 if method == "single-step" else SLOWER) <= SEVERAL else 1


def _ascend_once(
    family: Family, basis: Any, method: str, options: QAlphaOptions, budget: Budget
) -> Ascent:
    form = family.at(basis)
    alpha = np.full(form.n_features, 1.0 / np.sqrt(form.n_features), dtype=form.dtype)
    history: list[float] = []
    status = Status.ITERATION_LIMIT
    for _ in range(options.max_iter):
        if history and (early := budget.stop()) is not None:
            status = early
            break
        try:
            weights = leading_eigenvector(form, alpha, method, budget.stop)
        except SearchStopped as stopped:
            status = stopped.status
            if history:
                break
            weights = _rough(form, alpha)
        basis = form.turn(weights)
        form = family.at(basis)
        history.append(form.value(weights))
        budget.report("qalpha", "cycles", len(history), objective=history[-1])
        change, alpha = float(np.linalg.norm(weights - alpha)), weights
        if change <= options.tol:
            status = Status.CONVERGED
            break
    return Ascent(alpha, basis, history, status is Status.CONVERGED, status)


def _rough(form: Form, alpha: np.ndarray) -> np.ndarray:
    """Something to give where there is no time for a single cycle: one step of the power method."""
    return point_up(form.apply(alpha))
