"""Random limits on sets, and a plain check of them: no code of the package."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles import naive
from tests.oracles.instances import Instance, random_instance


@dataclass
class Wishes:
    """Limits as `es.solve` takes them; every group has a number in ``most`` and ``least``."""

    groups: dict[str, list[int]] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    whole: list[str] = field(default_factory=list)
    costs: list[float] | None = None
    max_cost: float | None = None

    def allow(self, support: Any) -> bool:
        """Whether a set keeps all of them, by counting."""
        S = {int(j) for j in support}
        counts = {name: len(S & set(members)) for name, members in self.groups.items()}
        if any(counts[name] > most for name, most in self.most.items()):
            return False
        if any(counts[name] < least for name, least in self.least.items()):
            return False
        if any(counts[name] not in (0, len(self.groups[name])) for name in self.whole):
            return False
        if self.costs is None:
            return True
        return sum(Fraction(self.costs[j]) for j in S) <= Fraction(self.max_cost) * (
            1 + Fraction(1, 10**9)
        )

    def options(self) -> dict[str, Any]:
        """The keywords of `es.solve`."""
        found: dict[str, Any] = {}
        if self.groups:
            found = {"groups": self.groups, "at_most": self.most, "at_least": self.least}
            found["whole"] = self.whole
        if self.costs is not None:
            found |= {"costs": self.costs, "max_cost": self.max_cost}
        return found


def random_wishes(rng: np.random.Generator, p: int, k: int) -> Wishes:
    """Groups, some of them whole or overlapping, and costs; a set may or may not exist."""
    wishes, kinds = Wishes(), rng.random(4) < (0.6, 0.35, 0.45, 0.4)
    if not kinds.any():
        kinds[rng.integers(4)] = True
    order = rng.permutation(p)
    cuts = np.sort(rng.choice(p + 1, size=min(p, int(rng.integers(1, 4))), replace=False))
    parts = [part.tolist() for part in np.split(order, cuts) if part.size]
    if rng.random() < 0.3:
        parts.append(rng.choice(p, size=int(rng.integers(1, p + 1)), replace=False).tolist())
    for number, members in enumerate(parts):
        name, kind = f"g{number}", rng.random()
        if kinds[0] and kind < 0.5:
            wishes.most[name] = int(rng.integers(0 if kind < 0.05 else 1, len(members) + 1))
        if kinds[1] and kind > 0.4:
            wishes.least[name] = int(rng.integers(1, max(2, min(len(members), k) + 1)))
        if kinds[2] and rng.random() < 0.6 and len(members) <= k:
            wishes.whole.append(name)
        if name in (*wishes.most, *wishes.least, *wishes.whole):
            wishes.groups[name] = members
    if kinds[3] or not wishes.groups:
        costs = rng.integers(0, 9, size=p) / 10 if rng.random() < 0.5 else rng.gamma(1.0, size=p)
        wishes.costs = costs.tolist()
        cheap, dear = np.sort(costs)[:k].sum(), np.sort(costs)[-k:].sum()
        wishes.max_cost = float(cheap + rng.random() * (dear - cheap))
    return wishes


@dataclass(frozen=True, eq=False)
class Limited:
    """A random problem with limits, and all its sets."""

    instance: Instance
    wishes: Wishes
    sets: list[list[int]]

    @property
    def arguments(self) -> dict[str, Any]:
        """All but the pencil, for `es.solve`."""
        own = self.instance
        return {
            "k": own.k, "criterion": own.criterion, "include": own.include,
            "exclude": own.exclude, **self.wishes.options(),
        }  # fmt: skip

    def score(self, support: Any) -> float:
        """The criterion of a set."""
        pencil = self.instance.pencil
        A, B = np.asarray(pencil.A), np.asarray(pencil.B)
        return naive.score(A, B, [int(j) for j in support], self.instance.criterion)

    def best(self) -> float:
        """The optimum, by looking at every set."""
        return max(self.score(S) for S in self.sets)


def limited_instance(seed: int) -> Limited:
    """The instance of this number, with limits; ``sets`` is empty where they conflict."""
    instance = random_instance(seed)
    rng = np.random.default_rng([seed, 29])
    pencil, k = instance.pencil, instance.cardinality
    wishes = random_wishes(rng, pencil.size, k)
    sets = []
    for S in itertools.combinations(range(pencil.size), k):
        fits = set(instance.include) <= set(S) and not set(instance.exclude) & set(S)
        if fits and not isinstance(instance.k, int):
            counts = np.bincount(pencil.blocks[list(S)], minlength=len(instance.k))
            fits = tuple(counts) == tuple(instance.k)
        if fits and wishes.allow(S):
            sets.append(list(S))
    return Limited(instance, wishes, sets)
