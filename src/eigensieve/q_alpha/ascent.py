"""The cycle of Q-alpha: weights for the basis, a basis for the weights, until the weights rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..pencil.budget import Budget
from ..pencil.solution import Status
from ..tables.kinds.arrays import to_numpy
from .leading import SearchStopped, leading_eigenvector
from .options import QAlphaOptions
from .relevance import Family, length
from .solution import QAlphaSolution

# multiplications in one product with G up to which "auto" means
EXACT = 200_000  # exact eigenvectors in every cycle,
SEVERAL, STARTS = 5_000_000, 6  # several starts
SLOWER = 10  # exact eigenvectors than single steps, with the same end
# chance has many local optima, one of which a race of random starts avoids
RACERS, SPRINT = 60, 15


@dataclass(frozen=True, eq=False)
class Ascent:
    """The end of one start: what the last cycle gave, and the value after each."""

    alpha: Any
    basis: Any
    history: list[float]
    status: Status


def ascend(
    family: Family, options: QAlphaOptions, budget: Budget, rng: np.random.Generator
) -> QAlphaSolution:
    """The best of several starts."""
    method = choose_eigensolver(options, family.cost)
    wanted, races = choose_starts(options, family.cost)
    best: Ascent | None = None
    for i in range(wanted):
        basis = (
            _race(family, options, budget, rng) if races and i else family.start(rng if i else None)
        )
        found = _ascend_once(family, basis, method, options, budget)
        ended = budget.stop()
        if best is None or found.history[-1] > best.history[-1]:
            best = found
        budget.report("qalpha", "starts", i + 1, total=wanted, objective=best.history[-1])
        if ended is not None:
            break
    assert best is not None
    is_cut = found.status in (Status.TIME_LIMIT, Status.INTERRUPTED) or i + 1 < wanted
    return QAlphaSolution(
        alpha=to_numpy(best.alpha),
        Q=family.express(best.basis),
        objective=best.history[-1],
        history=np.array(best.history),
        converged=best.status is Status.CONVERGED,
        status=best.status if ended is None or not is_cut else ended,
        eigensolver=method,
        n_starts=1 + RACERS * i if races else i + 1,
        seconds=budget.seconds,
        options=options,
    )


def _race(family: Family, options: QAlphaOptions, budget: Budget, rng: np.random.Generator) -> Any:
    """Where the best of many random starts is after some single steps."""
    short = replace(options, max_iter=SPRINT)
    best: Ascent | None = None
    for _ in range(RACERS):
        found = _ascend_once(family, family.start(rng), "single-step", short, budget)
        if best is None or found.history[-1] > best.history[-1]:
            best = found
        if budget.stop() is not None:
            break
    assert best is not None
    return best.basis


def choose_eigensolver(options: QAlphaOptions, cost: int) -> str:
    """The one asked for; "auto": exact weights if the table is small."""
    if options.eigensolver != "auto":
        return options.eigensolver
    if cost > EXACT and "single-step" in options.eigensolvers:
        return "single-step"
    return "lanczos"


def choose_starts(options: QAlphaOptions, cost: int) -> tuple[int, bool]:
    """How many go to the end, and whether all but the first are winners of a race.

    As many as asked for; "auto": the first and the winner of a race, or a few where there are no
    single steps to race with, or (if that would take long) the first alone.
    """
    if options.n_init != "auto":
        return int(options.n_init), False
    if "single-step" in options.eigensolvers:
        return (2, True) if cost <= SEVERAL else (1, False)
    return (STARTS if SLOWER * cost <= SEVERAL else 1), False


def _ascend_once(
    family: Family, basis: Any, method: str, options: QAlphaOptions, budget: Budget
) -> Ascent:
    form = family.at(basis)
    alpha = form.equal_weights()
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
            # something to give where there is no time for a single cycle
            weights = leading_eigenvector(form, alpha, "single-step", budget.stop)
        basis = form.turn(weights)
        form = family.at(basis, weights)
        history.append(form.value(weights))
        budget.report("qalpha", "cycles", len(history), objective=history[-1])
        change, alpha = length(weights - alpha), weights
        if change <= options.tol:
            status = Status.CONVERGED
            break
    return Ascent(alpha, basis, history, status)
