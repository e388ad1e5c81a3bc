"""The claim that a list of sets is complete: every other set scores at most the bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .nodes import RecordedNode
from .records import check_keys, indices, number, refuse, vector, whole

TIE = 1e-9  # scores are what they are said to be up to this share of the unit
THRESHOLD_TIE = 4e-9  # so far may the bound be from the threshold


@dataclass(frozen=True, eq=False)
class ListClaim:
    """Sets with their scores, best first; ``within`` is the share of the best one's score.

    ``met`` notes which of them the tree has come to.
    """

    sets: list[tuple[int, ...]]
    scores: list[float]
    within: float | None
    met: set[int] = field(default_factory=set)

    def meet(self, given: Any, node: RecordedNode) -> None:
        """A leaf whose only set is a listed one."""
        i = whole(given, len(self.sets), "the number of the listed set")
        only = node.only_set
        if only is None:
            refuse("the leaf is said to have one set only")
        if only != self.sets[i]:
            refuse(f"the leaf's set is not set {i} of the list")
        if i in self.met:
            refuse(f"set {i} of the list is met twice")
        self.met.add(i)

    def check_met(self) -> None:
        """Every listed set was met."""
        if missing := len(self.sets) - len(self.met):
            refuse(f"the tree does not come to {missing} of the listed sets")


def read_list(given: Any, p: int, k: int) -> ListClaim:
    """The list of a header."""
    check_keys(given, {"within", "sets", "scores"}, "the list")
    rows, within = given["sets"], given["within"]
    if not isinstance(rows, list) or not rows:
        refuse("the list has no sets")
    sets = [tuple(sorted(indices(row, p, "a set of the list"))) for row in rows]
    if not all(len(support) == k for support in sets):
        refuse(f"the list has a set that is not of {k} features")
    if len(set(sets)) < len(sets):
        refuse("the list has a set twice")
    scores = vector(given["scores"], len(sets), "the scores of the list").tolist()
    if within is not None and number(within, "within") < 0.0:
        refuse("within is negative")
    return ListClaim(sets, scores, None if within is None else float(within))


def check_order(claim: ListClaim, support: list[int], bound: float, unit: float) -> None:
    """Best first, all above the bound, and the bound is as far below the best as is said."""
    scores = np.array(claim.scores)
    if list(claim.sets[0]) != support:
        refuse("the support is not the first set of the list")
    if (np.diff(scores) > TIE * unit).any():
        refuse("the list is not in the order of its scores")
    if not (scores >= bound).all():
        refuse("the list has a set below the bound")
    if claim.within is None:
        return
    best = claim.scores[0]
    if not abs(bound - (best - claim.within * abs(best))) <= THRESHOLD_TIE * unit:
        refuse(f"the bound is not {claim.within:.10g} of the best score below it")
