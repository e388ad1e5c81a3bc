"""A list of all sets that are nearly as good as the best, and what it says of the features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InputError, VerificationError
from ...pencil.pencil import Pencil
from ...pencil.problem import make_problem
from ...pencil.solution import Solution, Status
from ...tables.kinds.frames import frame_of
from .exchanges import Exchange, connect, find_exchanges

# Scores are equal to a threshold, or to each other, within this share of their size.
TIE = 1e-9
# Below so many ties a share is none.
TIES = 5.0
# What a recomputed score may differ from the listed one.
ROUNDING = 1e-7


def check_names(names: Iterable[str], p: int) -> tuple[str, ...]:
    """What p features are called, as text."""
    called = tuple(map(str, names))
    if len(called) != p:
        raise InputError(f"names has {len(called)} entries, and there are {p} features")
    return called


@dataclass(frozen=True, eq=False)
class NearOptimalSets:
    """The sets of k features that are nearly as good as the best one.

    Attributes
    ----------
    sets : array (n_sets, k), feature indices, each row ascending
        Best first; sets of the same score in the order of their indices.
    scores : array (n_sets,)
    best : Solution
        The first of them, with what is proved of it.
    within : float
        How far below the best a score may be: 0.01 is one percent.
    threshold : float
        The least score that counts. Scores that differ from it by round-off (a billionth) count.
    level : float
        What ``never`` and ``core`` are about: the threshold, or a higher score where ``max_sets``
        cut the list or a limit ended the search.
    bound : float
        No set that is missing in the list scores more.
    is_complete : bool
        Whether every set that reaches the threshold is listed: proved.
    is_capped : bool
        Whether more sets reach the threshold than were wanted.
    status : Status
        Why the search ended. OPTIMAL: the list is complete.
    never : feature indices
        In no set that scores more than ``level``: proved, whether or not the list is complete.
    core : feature indices
        In every set that scores more than ``level``: proved, too.
    names : tuple of str or None
        What all features are called, if that is known.
    seconds, n_nodes : what the search took
    """

    sets: np.ndarray
    scores: np.ndarray
    best: Solution
    within: float
    threshold: float
    level: float
    bound: float
    is_complete: bool
    status: Status
    never: np.ndarray
    core: np.ndarray
    names: tuple[str, ...] | None = None
    is_capped: bool = False
    seconds: float = 0.0
    n_nodes: int = 0
    problem: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def n_sets(self) -> int:
        """How many are listed; if the list is not complete there may be more."""
        return len(self.sets)

    @property
    def k(self) -> int:
        """How many features a set has."""
        return int(self.sets.shape[1])

    @property
    def n_features(self) -> int:
        """How many features there are to choose from."""
        return self.best.n_features

    @property
    def criterion(self) -> str:
        """What the scores are: "lambda_max", "trace" or "logdet"."""
        return self.best.criterion

    @property
    def complete_within(self) -> float | None:
        """Down to what share below the best no set is missing; None if even that is not known.

        ``within`` if the list is complete. 0 says that no set is better than the first one.
        """
        if self.is_complete:
            return self.within
        share = self.loss_of(self.bound)
        if share < 0.0:
            return None
        return share if share > TIES * TIE else 0.0

    @property
    def _unit(self) -> float:
        return max(abs(self.best.objective), self.best.scale) or 1.0

    def loss_of(self, score: Any) -> Any:
        """How far a score is below the best, as a share of it; of the scale if that is zero."""
        best = self.best.objective
        unit = abs(best) if abs(best) > TIE * self._unit else self._unit
        return (best - score) / unit

    @property
    def losses(self) -> np.ndarray:
        """How far every set is below the best, as a share of it; 0 where that is round-off."""
        losses = self.loss_of(self.scores)
        return np.asarray(np.where(losses > TIE, losses, 0.0))

    @cached_property
    def frequency(self) -> np.ndarray:
        """The share of the listed sets that every feature is in (n_features,)."""
        counts = np.bincount(self.sets.ravel(), minlength=self.n_features)
        return counts / max(self.n_sets, 1)

    @property
    def shared(self) -> np.ndarray:
        """Features of some listed sets, but not of all, the most frequent first."""
        found = np.flatnonzero((self.frequency > 0.0) & (self.frequency < 1.0))
        return found[np.argsort(-self.frequency[found], kind="stable")]

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Pairs of features that take each other's place between two listed sets."""
        return find_exchanges(self.sets)

    @property
    def exchange_groups(self) -> tuple[np.ndarray, ...]:
        """Features that stand in for each other, by single exchanges; the largest group first."""
        return connect(self.exchanges, self.n_features)

    def without(self, features: int | str | Iterable[int | str]) -> int | None:
        """The place of the best listed set that has none of these features; None if none is."""
        given = [features] if isinstance(features, int | np.integer | str) else list(features)
        banned = [self._index(feature) for feature in given]
        rows = np.flatnonzero(~np.isin(self.sets, banned).any(axis=1))
        return int(rows[0]) if rows.size else None

    def _index(self, feature: Any) -> int:
        if isinstance(feature, str):
            if self.names is None or feature not in self.names:
                raise InputError(f"there is no feature {feature!r}")
            return self.names.index(feature)
        if not 0 <= feature < self.n_features:
            raise InputError(f"feature {feature!r} is outside 0..{self.n_features - 1}")
        return int(feature)

    def name_of(self, feature: int) -> str:
        """What a feature is called: its index, if it has no name."""
        return str(feature) if self.names is None else self.names[feature]

    def to_frame(self, names: Sequence[str] | None = None) -> Any:
        """A pandas frame with a row for every set: rank, score, loss, and the features.

        Parameters
        ----------
        names : what all features are called, if not as in ``self.names``
        """
        called = self.names if names is None else check_names(names, self.n_features)
        cells = self.sets if called is None else np.array(called, dtype=object)[self.sets]
        first = {"rank": np.arange(1, self.n_sets + 1), "score": self.scores, "loss": self.losses}
        return frame_of({**first, **{f"feature_{i + 1}": own for i, own in enumerate(cells.T)}})

    def verify(self, pencil: Pencil) -> None:
        """Recompute every score, without any code of the search; raises if anything is off.

        That nothing is missing takes a proof: see the parameter ``proof`` of `near_optimal`.
        """
        self.best.verify(pencil)
        problem = make_problem(pencil, **self.problem)
        if len(np.unique(self.sets, axis=0)) < self.n_sets:
            raise VerificationError("a set is listed twice")
        for support, score in zip(self.sets, self.scores):
            if np.unique(support).size != problem.k or not problem.allows(
                problem.to_local(support)
            ):
                raise VerificationError(f"set {support.tolist()} is not allowed")
            own = problem.score(problem.to_local(support))
            if abs(own - score) > ROUNDING * self._unit:
                raise VerificationError(f"set {support.tolist()} scores {own:.9g}, not {score:.9g}")
        if np.any(np.diff(self.scores) > ROUNDING * self._unit):
            raise VerificationError("the sets are not in the order of their scores")
        if self.scores[-1] < self.threshold - ROUNDING * self._unit:
            raise VerificationError("a set does not reach the threshold")
        used = self.frequency > 0.0
        if used[self.never].any() or (self.frequency[self.core] < 1.0).any():
            raise VerificationError("the list contradicts what is said of core and never")
