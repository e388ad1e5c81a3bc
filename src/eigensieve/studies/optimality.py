"""How good the selected sets are as sets: bounds, the price of a feature, stand-ins.

Whatever method chose a set, it is judged by the class separation that `SparseLDA` maximises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators._shared import with_certificate
from ..estimators.sparse_lda import SparseLDA
from ..pencil.budget import Budget
from ..pencil.constraints import Constraints, as_constraints
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem, make_problem
from ..pencil.solution import GIVEN, Solution, Status
from ..pencil.wording import rounded_up
from ..search.auto import bounded
from ..search.greedy.swap import LogdetScan, swap_refine
from ..tables.builders import lda_pencil
from ..tables.kinds.arrays import to_numpy

MAX_REFINED_FEATURES = 20  # features of a set without each of which a new one is searched for
MAX_SWAPS = 10
MAX_PRICED_FEATURES = 100
N_STAND_INS = 3
MAX_CLAIMED = 2.0  # a bound so many times the score says nothing
# For every feature so many rivals are scored from scratch; the order among all comes from a
# formula that is exact for the log-det criterion (and for any, if A has rank one).
RESCORED = 10
DEPENDENT = 1e-10  # a share of variance this small, given the others, is round-off


@dataclass(frozen=True)
class StandIn:
    """A feature that could take the place of a selected one, and what that would cost."""

    name: str
    index: int
    loss: float


@dataclass(frozen=True)
class FeaturePrice:
    """What it would cost to do without a selected feature.

    Attributes
    ----------
    name, index : the feature
    loss : float
        The share of the class separation that the best set found without it lacks. A better one
        may exist: the true price is at most this.
    stand_ins : tuple of StandIn, the cheapest first
        Single features that could take its place, the rest of the set unchanged.
    """

    name: str
    index: int
    loss: float
    stand_ins: tuple[StandIn, ...]


def claim(
    solution: Solution, n_features: int, n_in: int = 0, n_out: int = 0, *, is_free: bool = True
) -> str | None:
    """What is proved of a set, as a sentence without its full stop; None if that is nothing.

    The user kept ``n_in`` features in and ``n_out`` out. ``is_free``: all sets are rivals.
    """
    if solution.k in (n_features - n_out, n_in) or not 0 < solution.objective < np.inf:
        return None
    if not solution.bound <= MAX_CLAIMED * solution.objective:  # that would only puzzle
        return None
    rivals = f"set of {solution.k:,} of the {n_features:,} features"
    if solution.k == 1:
        rivals = f"feature of the {n_features:,}"
    sentence = f"No other {'' if is_free else 'allowed '}{rivals} separates the classes"
    if solution.is_certified:
        return f"{sentence} better"
    excess = rounded_up(100 * (solution.bound / solution.objective - 1))
    return f"{sentence} more than {excess} % better"


@dataclass(frozen=True, eq=False)
class Judge:
    """The pencil by which sets are judged, and the constraints that they keep to.

    ``settings`` are those of the SparseLDA that has this pencil, if there is one.
    """

    pencil: Pencil
    criterion: str
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    constraints: Constraints | None = None
    settings: tuple[Any, ...] | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """What is asked of a set, as `near_optimal` takes it."""
        limits = {} if self.constraints is None else self.constraints.as_options()
        lists = {"include": self.include, "exclude": self.exclude}
        return {"criterion": self.criterion, **lists, **limits}

    @property
    def restrictions(self) -> dict[str, Any]:
        """What sets are rivals, as `make_problem` takes it."""
        lists = {"include": self.include, "exclude": self.exclude}
        return {**lists, "constraints": self.constraints}

    def problem(self, k: int, *more_excluded: int) -> Problem:
        """The choice of k features under the constraints, without some more of them."""
        asked = self.restrictions | {"exclude": (*self.exclude, *more_excluded)}
        return make_problem(self.pencil, k, self.criterion, **asked)

    def allows(self, support: np.ndarray) -> bool:
        """Whether a set keeps the constraints."""
        limits = None if self.constraints is None else self.constraints.limits(self.pencil.size)
        kept = np.isin(self.include, support).all() and not np.isin(self.exclude, support).any()
        return bool(kept) and (limits is None or limits.allows(support))

    @classmethod
    def of(cls, model: Any, Z: np.ndarray, y: np.ndarray) -> Judge:
        """The model's own pencil, if it is a SparseLDA; else the one of its default settings."""
        if not isinstance(model, SparseLDA):
            return cls(lda_pencil(Z, y), "logdet", (), ())
        pencil = lda_pencil(Z, y, model.shrinkage_, model.ridge, class_weight=model.class_weight)
        lists = tuple(model.include), tuple(model.exclude)
        asked = as_constraints(model.constraints)
        return cls(pencil, model.solution_.criterion, *lists, asked, _settings(model))

    def judge(self, model: Any, *, wants_bound: bool = True) -> Solution:
        """The model's set as a solution, with a bound on the best set of as many features."""
        settings = _settings(model)
        if settings is not None and settings == self.settings:
            own: Solution = model.solution_
            certificate = "root" if wants_bound else "none"
            return with_certificate(certificate, own, self.pencil, **self.restrictions)
        # of another method, or of other settings: what it says of itself is by another measure
        support = model.get_support(indices=True)
        if self.allows(support):
            problem = self.problem(support.size)
        else:
            problem = make_problem(self.pencil, support.size, self.criterion)
        places = problem.to_local(support)
        given = problem.solution(places, status=Status.FEASIBLE, solver=GIVEN)
        return bounded(problem, given) if wants_bound else given

    def price(self, solution: Solution, names: Sequence[str]) -> list[FeaturePrice]:
        """The price of every selected feature that is no constraint of the user.

        A set of very many features has none: that any one of them matters is not what it says.
        """
        if solution.k > MAX_PRICED_FEATURES:
            return []
        problem = self.problem(solution.k)
        places = problem.to_local(solution.support)
        exchanges = best_exchanges(problem, places, N_STAND_INS)
        if problem.limits is not None:  # some features have no allowed stand-in, hence no price
            exchanges = [exchange for exchange in exchanges if exchange.entering.size]
        prices = []
        for exchange in exchanges:
            j = int(problem.to_original[exchange.leaving])
            entering = problem.to_original[exchange.entering].tolist()
            stand_ins = tuple(
                StandIn(str(names[i]), i, _loss(solution.objective, score))
                for i, score in zip(entering, exchange.scores.tolist())
            )
            if entering:
                best = self._best_without(solution, j, entering, exchange)
            else:  # what is left depends on the rest of the set, and adds nothing to it
                others = np.setdiff1d(places, exchange.leaving)
                best = problem.score(others) if others.size else 0.0
            prices.append(
                FeaturePrice(str(names[j]), j, _loss(solution.objective, best), stand_ins)
            )
        return prices

    def _best_without(
        self, solution: Solution, j: int, entering: Sequence[int], exchange: Exchange
    ) -> float:
        """The criterion of the best set that exchanges lead to without feature j."""
        best = float(exchange.scores[0])
        if solution.k > MAX_REFINED_FEATURES:
            return best
        problem = self.problem(solution.k, j)
        start = problem.to_local([*(i for i in solution.support.tolist() if i != j), entering[0]])
        found, _, _ = swap_refine(problem, start, Budget(max_iter=MAX_SWAPS))
        return max(best, problem.score(found))


def _loss(objective: float, other: float) -> float:
    """The share of the criterion that is lost; a set that was not optimal may even gain."""
    return (objective - other) / objective if objective > 0 else 0.0


def _settings(model: Any) -> tuple[Any, ...] | None:
    """What the measure of a SparseLDA depends on; None for another method."""
    if not isinstance(model, SparseLDA):
        return None
    asked = tuple(model.include), tuple(model.exclude), model.constraints
    criterion = model.solution_.criterion
    return (model.shrinkage_, model.ridge, model.class_weight, criterion, *asked)


@dataclass(frozen=True, eq=False)
class Exchange:
    """One feature of a set, those that could stand in for it, and what the set scores then.

    Attributes
    ----------
    leaving : the feature
    entering : array of features, the best first
    scores : array, the criterion with each of them in its place
    """

    leaving: int
    entering: np.ndarray
    scores: np.ndarray


def best_exchanges(problem: Problem, support: np.ndarray, n_best: int = 3) -> list[Exchange]:
    """For every feature of the set that may go: the best to come in its place.

    Indices are those of the problem's pencil. A feature that the problem includes stays.
    """
    S = np.sort(np.asarray(support, dtype=np.intp))
    slots = np.flatnonzero(~np.isin(S, problem.include))
    if S.size == problem.pencil.size or slots.size == 0:
        return []
    scan = LogdetScan(problem.with_k(S.size))
    scan.load(S)
    return [_best(problem, S, slot, _gains(scan, slot), n_best) for slot in slots.tolist()]


def _gains(scan: LogdetScan, slot: int) -> np.ndarray:
    """(p,): the gain in log-det of a feature over the set in that slot; -inf if it may not come."""
    pencil, own = scan.pencil, scan.sweep
    left = to_numpy(own.room(slot)) / (own.P[slot, slot] * pencil.diag_B)
    with np.errstate(all="ignore"):  # dependent features
        gains = to_numpy(scan.differences(slot))
    usable = np.isfinite(gains) & scan.may_take(slot) & (left >= DEPENDENT)
    return np.where(usable, gains, -np.inf)


def _best(problem: Problem, S: np.ndarray, slot: int, gains: np.ndarray, n_best: int) -> Exchange:
    rivals = np.argsort(-gains, kind="stable")[: max(RESCORED, n_best)]
    rivals = rivals[np.isfinite(gains[rivals])]
    scores = np.array([problem.score(_exchanged(S, slot, i)) for i in rivals.tolist()])
    order = np.argsort(-scores, kind="stable")[:n_best]
    return Exchange(int(S[slot]), rivals[order], scores[order])


def _exchanged(S: np.ndarray, slot: int, feature: int) -> np.ndarray:
    other = S.copy()
    other[slot] = feature
    return np.sort(other)
