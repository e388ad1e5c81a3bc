"""What is proved of a set of features that somebody else chose, as numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..pencil.solution import GIVEN, Solution
from ..pencil.wording import MAX_RATIO_IN_PERCENT, ROUND_OFF, above, at_least, rounded, rounded_up
from .swaps import Swap

MAX_FEATURES_NAMED = 50  # features of a better set that the sentence names
CLOSED = 1e-6  # a gap up to this is "the best" in words, whatever gap_tol allows


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Solution):
    """What is proved of a given set of features.

    A `Solution` for the given set: ``objective`` is its own score, ``bound`` what no set of as
    many features can exceed, ``gap`` the distance. ``status`` is OPTIMAL if the given set is
    proved to be the best (up to gap_tol), the limit that ended the search if one did, and
    FEASIBLE if the search ended by itself and knows better.

    Attributes
    ----------
    better : Solution or None
        The best set that was found, if it scores more than the given one (by more than round-off;
        by more than a millionth, where the given one counts as optimal).
    sizes : tuple of int
        How many features of each block the rivals have; empty for a pencil without blocks.
    is_constrained : bool
        Whether include, exclude, or limits on groups or costs left only some of these sets as
        rivals.
    names : tuple of str or None
        What all features of the pencil are called, if that is known.
    swaps : tuple of Swap
        What leads from the given set to the better one, a feature at a time; empty if none was
        found. Each has leaving, entering (feature indices) and objective, the score after it.
    """

    better: Solution | None = None
    sizes: tuple[int, ...] = ()
    is_constrained: bool = False
    names: tuple[str, ...] | None = None
    swaps: tuple[Swap, ...] = ()

    def __repr__(self) -> str:
        return super().__repr__().replace("Solution", "Certificate", 1)

    @property
    def is_better_best(self) -> bool:
        """Whether a better set was found and proved the best, whatever gap_tol allows."""
        better = self.better
        return (
            better is not None and better.is_certified and min(better.gap, better.gap_tol) <= CLOSED
        )

    def describe_bound(self) -> str:
        """The bound, and how far it is above the given set's score.

        Where a better set is proved the best, it is the bound of that one, and `explain` says how
        much higher it scores.
        """
        if math.isinf(self.bound):
            return "unknown"
        if self.is_better_best:
            return f"{self.bound:.6g}, that of the better set"
        if self.objective <= 0:
            return f"{self.bound:.6g}"
        return f"{self.bound:.6g}, {above(self.bound, self.objective)}"

    def explain(self, noun: str = "features", names: Sequence[str] | None = None) -> str:
        """What is proved, in one sentence.

        Parameters
        ----------
        noun : what the features are called, in the plural: "genes"
        names : what all features of the pencil are called, if not as in ``self.names``

        Examples
        --------
        >>> import numpy as np, eigensieve as es
        >>> pencil = es.Pencil(np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
        >>> es.certify(pencil, [0, 1]).explain("genes")
        'proved: no other set of 2 genes scores higher (within 0.0001 %)'
        >>> es.certify(pencil, [1, 2]).explain(names=["a", "b", "c"])
        'a set of 2 features scores 80.9 % higher: a, b (proved the best)'
        """
        allowed = "allowed " if self.is_constrained else ""
        sizes = " + ".join(map(str, self.sizes or (self.k,)))
        group = f"{allowed}set of {sizes} {noun.removesuffix('s') if self.k == 1 else noun}"
        called = self._called(names)
        if self.solver == GIVEN:
            return f"there is no other {group} to choose"
        if self.is_certified and self.better is None:
            return f"proved: no other {group} scores higher{self._tolerance()}"
        if self.better is None:
            return self._limit(group)
        chosen = [str(j if called is None else called[j]) for j in self.better.support]
        listed = ", ".join(chosen[:MAX_FEATURES_NAMED]) + (
            ", ..." if len(chosen) > MAX_FEATURES_NAMED else ""
        )
        article, rest = "an" if allowed else "a", f"; {self._limit(f'{allowed}set')}"
        if self.is_better_best:
            rest = " (proved the best allowed)" if allowed else " (proved the best)"
            rest += "" if self.objective > 0 else f"; the given one scores {self.objective:.4g}"
        return f"{article} {group} scores {self._gain()}: {listed}{rest}"

    def describe_swaps(self, names: Sequence[str] | None = None) -> list[str]:
        """What leads to the better set, a line for each feature; empty if none was found.

        In brackets is what all swaps up to there change of the given set's score. It may fall in
        between: some features are worth something together only.

        Parameters
        ----------
        names : what all features of the pencil are called, if not as in ``self.names``

        Examples
        --------
        >>> import numpy as np, eigensieve as es
        >>> claim = es.certify(es.Pencil(np.diag([4.0, 3.0, 2.0])), [2], names=["a", "b", "c"])
        >>> claim.describe_swaps()
        ["replace 'c' by 'a' (+100 %)"]
        """
        called = self._called(names)
        lines = []
        for i, swap in enumerate(self.swaps):
            pair = (swap.leaving, swap.entering)
            out, into = (str(j) if called is None else repr(str(called[j])) for j in pair)
            lines.append(f"replace {out} by {into} ({self._change(swap.objective, i > 0)})")
        return lines

    def _called(self, names: Sequence[str] | None) -> Sequence[str] | None:
        if names is None:
            return self.names
        if len(names) != self.n_features:
            raise InputError(f"names has {len(names)} entries; the pencil has {self.n_features}")
        return names

    # Percentages are of the score itself; the unit of the gap may be larger than the score.

    def _tolerance(self) -> str:
        size = self.gap_tol * max(abs(self.objective), self.scale)
        if size <= 0:
            return ""
        if self.objective > 0:
            return f" (within {rounded_up(100 * size / self.objective)} %)"
        return f" (within {rounded_up(size)})"

    def _limit(self, group: str) -> str:
        if math.isinf(self.bound):
            return f"nothing is proved of the best {group}"
        if self.objective > 0:
            ratio = self.bound / self.objective
            if ratio > MAX_RATIO_IN_PERCENT:
                return f"no {group} can score more than {rounded_up(ratio)} times the given one"
            percent = rounded_up(100 * (ratio - 1))
            return f"no {group} can score more than {percent} % above the given one"
        bound, scores = at_least(self.bound), f"{self.objective:.4g}"
        return f"no {group} can score more than {bound}; the given one scores {scores}"

    def _gain(self) -> str:
        assert self.better is not None
        if self.objective > 0:
            ratio = self.better.objective / self.objective
            if ratio > MAX_RATIO_IN_PERCENT:
                return f"{rounded(ratio)} times as much"
            return f"{rounded(100 * (ratio - 1))} % higher"
        return f"{self.better.objective:.4g}"

    def _change(self, score: float, is_sum: bool) -> str:
        """From the given set's score to another one, which may be lower, or below zero."""
        if self.objective <= 0 or score <= 0:
            return f"{'then ' if is_sum else ''}the score is {score:.4g}"
        ratio, in_all = score / self.objective, " in all" if is_sum else ""
        if ratio > MAX_RATIO_IN_PERCENT:
            return f"{rounded(ratio)} times the score{in_all}"
        if abs(ratio - 1) <= ROUND_OFF:
            return f"no change{in_all}"
        sign = "+" if ratio > 1 else "-"
        return f"{sign}{rounded(100 * abs(ratio - 1))} %{in_all}"
