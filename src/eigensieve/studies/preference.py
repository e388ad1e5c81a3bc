"""Which set is taken, of those that are nearly as good as the best one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InputError, OptionError
from ..estimators.sparse_lda import SparseLDA
from ..pencil.constraints import Constraints
from ..pencil.wording import counted, percent
from ..search.near_optimal.sets import NearOptimalSets
from ..search.near_optimal.words import is_constrained, loss, within
from .near_optimal import list_near_optimal, stability_of_sets, with_bound_of
from .optimality import Judge

RULES = ("stable", "cheap")
MAX_SETS = 1000
SAME = 1e-12  # values that differ by less, as a share of the largest, are equal: round-off


@dataclass(frozen=True, eq=False)
class Preference:
    """A second wish, and what it needs to be known of the features.

    Attributes
    ----------
    rule : "stable", "cheap" or a function
        The function is given the names of a set's features; the set with the least value is taken.
    names : what all features are called
    costs : array, or None
        What every feature costs, for the rule "cheap".
    """

    rule: str | Callable[[list[str]], Any]
    names: Sequence[str]
    costs: np.ndarray | None = None

    @property
    def needs_resamples(self) -> bool:
        """Whether it must be known how often every feature is selected from parts of the rows."""
        return self.rule == "stable"

    @property
    def which(self) -> str:
        """'the most stable one'."""
        if callable(self.rule):
            return "the one with the least value"
        return {"stable": "the most stable one", "cheap": "the cheapest one"}[self.rule]

    def values(self, sets: np.ndarray, frequency: np.ndarray | None) -> np.ndarray:
        """The value of every set (row); the least is preferred."""
        if callable(self.rule):
            return np.array([self.value_of(members) for members in sets.tolist()])
        if self.rule == "stable":
            assert frequency is not None
            return -stability_of_sets(sets, frequency)
        assert self.costs is not None
        return np.asarray(self.costs[sets].sum(axis=1))

    def value_of(self, members: Sequence[int]) -> float:
        """What the function gives for a set."""
        assert callable(self.rule)
        features = [self.names[j] for j in members]
        value: Any = self.rule(features)
        if not isinstance(value, Real) or not np.isfinite(float(value)):
            raise InputError(
                f"prefer must give a finite number for a set; for {', '.join(features)} it gave "
                f"{value!r:.80}"
            )
        return float(value)

    def first(self, values: np.ndarray) -> int:
        """The place of the least value; of equal ones the first, which is the better set."""
        slack = SAME * float(np.abs(values).max())
        return int(np.argmax(values <= values.min() + slack))


def make_preference(
    prefer: Any, costs: Any, names: Sequence[str], settings: Iterable[Any], sizes: Sequence[int]
) -> Preference | None:
    """Check what was asked for against the table and the estimators; ``sizes`` are to be tried."""
    if prefer is None:
        if costs is not None:
            raise OptionError("costs are for prefer='cheap'; limits on them are constraints")
        return None
    if not callable(prefer) and not (isinstance(prefer, str) and prefer in RULES):
        raise OptionError(f"prefer is {prefer!r}; it must be 'stable', 'cheap' or a function")
    is_cheap = isinstance(prefer, str) and prefer == "cheap"
    if is_cheap != (costs is not None):
        raise OptionError("prefer='cheap' and costs belong together: give both or neither")
    others = [type(one).__name__ for one in settings if not isinstance(one, SparseLDA)]
    if others:
        raise InputError(
            f"prefer chooses among nearly optimal sets of SparseLDA; {others[0]} has none"
        )
    if costs is None:
        preference = Preference(prefer, names)
        if callable(prefer):
            preference.value_of(range(sizes[0]))  # what it cannot do is said before the work
        return preference
    read = Constraints(costs=costs, max_cost=0.0).by_index(len(names), names).costs
    return Preference(prefer, names, read)


@dataclass(frozen=True, eq=False)
class Preferred:
    """The set that was taken, and those that it was chosen from.

    Attributes
    ----------
    found : NearOptimalSets
    place : int, that of the set in the list
    preference : Preference
    values : array (n_sets,), by which it was chosen
    """

    found: NearOptimalSets
    place: int
    preference: Preference
    values: np.ndarray

    def describe(self) -> str:
        """Why this set, in a sentence."""
        found, near = self.found, within(self.found)
        allowed = "allowed " if is_constrained(found) else ""
        if found.n_sets == 1:
            is_ = "is" if found.is_complete else "was found that is"
            return f"No other {allowed}panel {is_} {near}: there was nothing to prefer."
        among = f"{counted(found.n_sets, f'{allowed}panel')} {near}"
        if found.is_complete:
            among = f"Of all {among}"
        elif found.is_capped:
            among = f"Of the best {among} (there are more)"
        else:
            among = f"Of the {among} that were found"
        if self.place == 0:
            return f"{among}, the best one itself is {self.preference.which}: {self._figures()}."
        lost = loss(float(found.losses[self.place]))
        return (
            f"{among}, {self.preference.which} was taken: {self._figures()}. It loses {lost} of "
            "the class separation."
        )

    def _figures(self) -> str:
        """The value of this set, and of the best one if that is another."""
        own, best = (float(self.values[place]) for place in (self.place, 0))
        if self.preference.rule == "stable":
            text = f"on average its features were selected in {percent(-own)} of the training parts"
            other = f", those of the best one in {percent(-best)}"
        elif self.preference.rule == "cheap":
            text, other = f"it costs {own:,.12g}", f", the best one {best:,.12g}"
        else:
            text, other = f"its value is {own:,.6g}", f", that of the best one {best:,.6g}"
        return text + other if self.place else text


def take_preferred(
    model: SparseLDA,
    Z: np.ndarray,
    y: np.ndarray,
    preference: Preference,
    frequency: np.ndarray | None,
    share: float,
    n_jobs: int | None = None,
) -> tuple[SparseLDA, Preferred | None]:
    """The model on the preferred set, of those within a share of the best one.

    ``frequency``: how often every feature was selected in parts of these rows. None where there
    is no list: if all features are selected, say.
    """
    judge, own = Judge.of(model, Z, y), model.solution_
    found = list_near_optimal(judge, own, preference.names, share, MAX_SETS, n_jobs)
    if found is None:
        return model, None
    values = preference.values(found.sets, frequency)
    place = preference.first(values)
    preferred = Preferred(found, place, preference, values)
    if not np.array_equal(found.sets[place], own.support):
        model = clone(model).fit_set(Z, y, found.sets[place])
    model.solution_ = with_bound_of(found, model.solution_)
    return model, preferred
