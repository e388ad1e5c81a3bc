"""Where the search of a sparse PCA starts from: truncated power iteration, many at once."""

from __future__ import annotations

import numpy as np

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from ...greedy.start import best_of, resize
from ...greedy.swap import swap_refine
from ...moves import top_k
from ..tree import SearchOptions

# Features whose neighbours make a start, eigenvectors, and steps of the iteration.
N_FEATURES, N_VECTORS, N_STEPS = 300, 3, 20
# The best sets are improved by exchanges.
N_REFINED = 8
# So many entries of the starts, in all, are iterated.
MOST_ENTRIES = 1e6


def power_start(problem: Problem, budget: Budget, options: SearchOptions) -> np.ndarray:
    """The best set that exchanges find from those of the power iteration, or the given one."""
    given = () if options.start is None else options.start
    sets = [resize(problem, np.asarray(given, dtype=np.intp)), *_power_sets(problem, budget)]
    return best_of(problem, budget, (swap_refine(problem, support, budget)[0] for support in sets))


def _power_sets(problem: Problem, budget: Budget) -> list[np.ndarray]:
    """The best of the sets on which the truncated power iteration rests."""
    pencil = problem.pencil
    root = np.sqrt(pencil.diag_B)
    most = int(np.clip(MOST_ENTRIES / pencil.size, 20, N_FEATURES))
    vectors = pencil.leading(min(N_VECTORS, pencil.size)) * root[:, None]
    alone = np.argsort(-pencil.diag_A / pencil.diag_B, kind="stable")[:most]
    X = np.hstack([vectors, pencil.columns_A(alone) / root[:, None] / root[alone]])
    X, support = _truncated(problem, X)
    for _ in range(N_STEPS):
        if budget.stop() is not None:
            break
        before = support
        X, support = _truncated(problem, pencil.apply_A(X / root[:, None]) / root[:, None])
        if np.array_equal(before, support):
            break
    values = np.einsum("ij,ij->j", X, pencil.apply_A(X / root[:, None]) / root[:, None])
    found: dict[bytes, np.ndarray] = {}
    for j in np.argsort(-values, kind="stable"):
        chosen = np.flatnonzero(support[:, j])
        found.setdefault(chosen.tobytes(), chosen)
        if len(found) == N_REFINED:
            break
    return list(found.values())


def _truncated(problem: Problem, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every column cut to its largest entries within the quotas, of length 1; and the mask."""
    blocks, needs = problem.blocks_and_needs()
    size = np.abs(Y)
    size[problem.include] = np.inf
    mask = np.zeros(Y.shape, dtype=bool)
    for b, need in enumerate(needs):
        own = np.flatnonzero(blocks == b)
        if need > 0:
            top = np.argpartition(-size[own], need - 1, axis=0)[:need]
            mask[own[top], np.arange(Y.shape[1])] = True
    X = np.where(mask, Y, 0.0)
    return X / np.maximum(np.linalg.norm(X, axis=0), 1e-300), mask


def above_all_features(problem: Problem, support: np.ndarray, budget: Budget) -> np.ndarray:
    """The support, or a set that no feature exceeds alone."""
    ratios = problem.pencil.diag_A / problem.pencil.diag_B
    scores = np.where(may_join(problem), ratios, -np.inf)
    best = int(np.argmax(scores))
    if scores[best] <= problem.score(support):
        return support
    start = np.append(problem.include, best)
    return swap_refine(problem, top_k(problem, scores, start), budget)[0]


def may_join(problem: Problem) -> np.ndarray:
    """A mask of the features that some allowed set holds beside the included ones."""
    mask = problem.open_blocks(problem.include) & (problem.include.size < problem.k)
    mask[problem.include] = False
    return np.asarray(mask)
