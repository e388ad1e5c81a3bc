"""Limits on sets: the weights of a set's features sum to so much at most, in exact numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from .balls import Ball
from .nodes import Fixed, RecordedNode, choices_to_judge
from .rational import spend
from .records import check_keys, indices, number, refuse, vector, whole

_LONGEST_TEXT = 1000
_SHOWN = 5  # features that a description names


@dataclass(frozen=True, eq=False)
class Limit:
    """The features of a limit, their weights, and what those of a set sum to at most."""

    features: list[int]
    weights: np.ndarray
    most: float
    says: str

    @cached_property
    def _wholes(self) -> tuple[dict[int, int], int]:
        """Weights and limit as whole numbers, all times the same number."""
        exact = [Fraction(value) for value in [*self.weights.tolist(), self.most]]
        unit = math.lcm(*(value.denominator for value in exact))
        scaled = [value.numerator * (unit // value.denominator) for value in exact]
        return dict(zip(self.features, scaled)), scaled[-1]

    def room(self, support: Sequence[int]) -> int:
        """What a set leaves of the limit: negative if it does not keep it."""
        weights, most = self._wholes
        spend(0.1 * len(support))  # a list may have many sets, and a file many limits
        return most - sum(weights.get(j, 0) for j in support)

    def loads(self, features: Sequence[int]) -> list[int]:
        """The weights of some features in the unit of ``room``, 0 for those of no weight."""
        weights, _ = self._wholes
        return [weights.get(j, 0) for j in features]

    def describe(self, names: list[str] | None) -> str:
        """What the numbers say, whatever the file calls it."""
        shown = [f"feature {j}" if names is None else names[j] for j in self.features[:_SHOWN]]
        rest = len(self.features) - len(shown)
        group = ", ".join(shown) + (f" and {rest} more" if rest else "")
        kinds = set(self.weights.tolist())
        if kinds == {1.0} and self.most == int(self.most):
            return f"at most {int(self.most)} of {group}"
        if kinds == {-1.0} and self.most == int(self.most):
            return f"at least {int(-self.most)} of {group}"
        if self.weights.tolist() in ([1.0, -1.0], [-1.0, 1.0]) and self.most == 0.0:
            held, holder = shown if self.weights[0] > 0 else shown[::-1]
            return f"{held} only with {holder}"
        return f"weights of {group} that sum to at most {self.most:.10g}"

    def as_plain(self, names: list[str] | None) -> dict[str, Any]:
        """All of it as JSON values; ``says`` is the file's own word for it, not verified."""
        return {
            "features": self.features,
            "weights": self.weights.tolist(),
            "most": self.most,
            "means": self.describe(names),
            "says": self.says,
        }


def read_limits(given: Any, p: int) -> list[Limit]:
    """The limits of a header."""
    if not isinstance(given, list):
        refuse("limits is not a list")
    return [_read_limit(row, p) for row in given]


def _read_limit(given: Any, p: int) -> Limit:
    check_keys(given, {"features", "weights", "most", "says"}, "a limit")
    features = indices(given["features"], p, "the features of a limit")
    weights = vector(given["weights"], len(features), "the weights of a limit")
    says = given["says"]
    if not isinstance(says, str) or len(says) > _LONGEST_TEXT:
        refuse("what a limit says is not a text")
    return Limit(features, weights, number(given["most"], "a limit"), says)


def check_limit(limits: list[Limit], node: RecordedNode, given: Any, fixed: Fixed = None) -> None:
    """No set of the node (or none that the fix excludes) keeps a limit."""
    if not limits:
        refuse("a record speaks of a limit, and the header has none")
    limit = limits[whole(given, len(limits), "the number of the limit")]
    room = limit.room(node.inside.tolist())
    lightest = [-load for load in limit.loads(node.free.tolist())]
    for choice in choices_to_judge(node, lightest, fixed):
        if room + sum(choice) >= 0:
            refuse(f"there is a set that keeps the limit ({limit.describe(None)})")


# ---------------------------------------------------------------- prices

Prices = list[tuple[Limit, float]]


def read_prices(given: Any, limits: list[Limit]) -> Prices:
    """Pairs of a limit's number and its price."""
    if not isinstance(given, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in given
    ):
        refuse("prices is not a list of pairs")
    numbers = indices([pair[0] for pair in given], len(limits), "prices")
    values = vector([pair[1] for pair in given], len(given), "prices")
    if not (values >= 0.0).all():
        refuse("prices has a negative entry")
    return [(limits[c], value) for c, value in zip(numbers, values.tolist())]


def enclosed_charges(prices: Prices, p: int) -> tuple[Ball, Ball]:
    """What every feature pays for the limits, and what a set that keeps them has for it."""
    charge, budget = Ball.exact(np.zeros(p)), Ball.exact(0.0)
    for limit, price in prices:
        at = np.array(limit.features, dtype=np.intp)
        paid = charge[at] + Ball.exact(limit.weights) * Ball.exact(price)
        charge.mid[at], charge.rad[at] = paid.mid, paid.rad
        budget = budget + Ball.exact(limit.most) * Ball.exact(price)
    return charge, budget


def exact_charges(prices: Prices, features: Sequence[int]) -> tuple[list[Fraction], Fraction]:
    """The same for some features, in exact numbers."""
    place = {j: i for i, j in enumerate(features)}
    charge, budget = [Fraction(0)] * len(features), Fraction(0)
    for limit, price in prices:
        for j, weight in zip(limit.features, limit.weights.tolist()):
            if j in place:
                charge[place[j]] += Fraction(price) * Fraction(weight)
        budget += Fraction(price) * Fraction(limit.most)
    return charge, budget
