"""From one set to a better one, a feature at a time: replace this one by that one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..pencil.problem import Problem
from ..pencil.solution import Solution

# Of more features than this only the most promising are tried in pairs, on either side ...
SHORTLIST = 5
# ... and of more than this the most promising two at once: each trial factors a large matrix.
MANY = 100


@dataclass(frozen=True)
class Swap:
    """One feature in the place of another.

    Attributes
    ----------
    leaving, entering : feature indices
    objective : float, the score after this swap and those before it
    """

    leaving: int
    entering: int
    objective: float


def list_swaps(problem: Problem, given: Solution, better: Solution) -> tuple[Swap, ...]:
    """The swaps that turn the given set into the better one, the one that gains most first.

    Each is the best that the features left over allow, whatever comes after it (of very many
    features, the best that was tried); the score may fall in between where two features are worth
    something together only. A feature makes room for one of its own block; the sets in between keep
    other limits where one of the first swaps does.
    """
    union = np.union1d(given.support, better.support)
    part, blocks = _part(problem, union)
    chosen, target = part.to_local(given.support), part.to_local(better.support)
    leaving = _most_promising(part, chosen, np.setdiff1d(chosen, target))
    entering = _most_promising(part, chosen, np.setdiff1d(target, chosen))
    most = SHORTLIST if len(leaving) <= MANY else 1
    swaps = []
    while leaving:
        pairs = list(_pairs(leaving, entering, blocks, most))
        pairs = [pair for pair in pairs if part.allows(_exchanged(chosen, *pair))] or pairs
        if len(leaving) == 1:
            scores = [better.objective]
        else:
            scores = [part.score(_exchanged(chosen, *pair)) for pair in pairs]
        best = int(np.argmax(scores))
        out, into = pairs[best]
        swaps.append(Swap(int(union[out]), int(union[into]), scores[best]))
        chosen = _exchanged(chosen, out, into)
        leaving.remove(out)
        entering.remove(into)
    return tuple(swaps)


def _part(problem: Problem, union: np.ndarray) -> tuple[Problem, np.ndarray]:
    """The problem on these features alone, and the block of each: a table on disk is read once."""
    places = problem.to_local(union)
    part = problem.among(places, problem.pencil.take(places))
    part = replace(part, include=np.empty(0, dtype=np.intp), quota=None)
    return part, problem.blocks_and_needs()[0][places]


def _most_promising(part: Problem, chosen: np.ndarray, features: np.ndarray) -> list[int]:
    """Features by the score of the set without them, or with them if they are not in it."""
    if features.size <= SHORTLIST:
        return features.tolist()
    scores = [part.score(np.setxor1d(chosen, j)) for j in features.tolist()]
    return features[np.argsort(np.negative(scores), kind="stable")].tolist()


def _pairs(
    leaving: list[int], entering: list[int], blocks: np.ndarray, most: int
) -> Iterator[tuple[int, int]]:
    """Who may make room for whom: the first few of either side, within each block."""
    for block in np.unique(blocks[leaving]).tolist():
        out, into = ([j for j in side if blocks[j] == block] for side in (leaving, entering))
        yield from ((i, j) for i in out[:most] for j in into[:most])


def _exchanged(chosen: np.ndarray, out: int, into: int) -> np.ndarray:
    return np.union1d(np.setdiff1d(chosen, out), into)
