"""A node of the search tree: which features are in, which are free, and what sets it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

Weight = TypeVar("Weight", int, float, Fraction)
Fixed = tuple[list[int], list[int]] | None  # features that a record puts out, and in


@dataclass(frozen=True, eq=False)
class RecordedNode:
    """Features that are in or free (ascending), the free ones' blocks, and how many are needed."""

    inside: np.ndarray
    free: np.ndarray
    blocks: np.ndarray
    need: list[int]

    @cached_property
    def all(self) -> np.ndarray:
        """IN and FREE, ascending."""
        return np.union1d(self.inside, self.free)

    @cached_property
    def is_inside(self) -> np.ndarray:
        """Which of ``all`` are in."""
        mask = np.zeros(len(self.all), dtype=bool)
        mask[np.searchsorted(self.all, self.inside)] = True
        return mask

    @property
    def is_empty(self) -> bool:
        """Whether the node has no admissible set."""
        there = np.bincount(self.blocks, minlength=len(self.need)).tolist()
        return any(need < 0 or need > left for need, left in zip(self.need, there))

    @property
    def only_set(self) -> tuple[int, ...] | None:
        """The one set of the node; None if it has none, or several."""
        needs = np.array(self.need)
        there = np.bincount(self.blocks, minlength=len(needs))
        if not ((needs == 0) | (needs == there)).all():
            return None
        taken = self.free[needs[self.blocks] > 0]
        return tuple(np.union1d(self.inside, taken).tolist())

    @property
    def n_needed(self) -> int:
        return sum(self.need)


class Ranking(Generic[Weight]):
    """The free features of a node by weight: what the heaviest admissible choice weighs."""

    def __init__(self, node: RecordedNode, weights: Sequence[Weight]) -> None:
        self.weights: Sequence[Weight] = weights
        self.need = node.need
        self.block = node.blocks.tolist()
        self.order: list[list[int]] = [[] for _ in node.need]
        for i in sorted(range(len(weights)), key=weights.__getitem__, reverse=True):
            self.order[self.block[i]].append(i)

    def heaviest(self, forced: int | None = None, barred: int | None = None) -> list[Weight] | None:
        """The weights of the heaviest choice with one feature or without; None if there is none."""
        chosen = []
        for block, order in enumerate(self.order):
            need = self.need[block]
            if forced is not None and self.block[forced] == block:
                chosen.append(forced)
                need -= 1
            others = [i for i in order[: max(need, 0) + 2] if i not in (forced, barred)]
            if not 0 <= need <= len(others):
                return None
            chosen += others[:need]
        return [self.weights[i] for i in chosen]

    def hardest(self, out: Iterable[int], inside: Iterable[int]) -> list[list[Weight]]:
        """The choices to judge where ``out`` must not be chosen and ``inside`` must.

        The heaviest choice with feature j grows with the weight of j, the heaviest one without j
        falls with it: one feature of every block decides for all.
        """
        most: dict[int, int] = {}
        for j in out:
            held = most.setdefault(self.block[j], j)
            if self.weights[j] > self.weights[held]:
                most[self.block[j]] = j
        least: dict[int, int] = {}
        for j in inside:
            held = least.setdefault(self.block[j], j)
            if self.weights[j] < self.weights[held]:
                least[self.block[j]] = j
        found = [self.heaviest(forced=j) for j in most.values()]
        found += [self.heaviest(barred=j) for j in least.values()]
        return [choice for choice in found if choice is not None]


def choices_to_judge(
    node: RecordedNode, weights: Sequence[Weight], fixed: Fixed = None
) -> list[list[Weight]]:
    """The heaviest choice of free features, or those that a fix must exclude; by their weights."""
    ranking = Ranking(node, weights)
    if fixed is None:
        choice = ranking.heaviest()
        return [] if choice is None else [choice]
    out, inside = (np.searchsorted(node.free, features).tolist() for features in fixed)
    return ranking.hardest(out, inside)
