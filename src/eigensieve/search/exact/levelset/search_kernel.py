"""The level-set search: is there a set whose largest eigenvalue exceeds a level?

None does exactly if N_S is positive semidefinite for all sets, N = level * B - A. A node knows
which features are in and out; N's Schur complement on the others is computed anew for every node:
that costs less than one eigen-decomposition, and does not drift.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....pencil.compile import jit
from ...linear_kernel import factorize, largest_ratio
from ..coverage_kernel import FREE, IN, OUT, count_free, decide_full_blocks, record_closed
from .fixing_kernel import HIDDEN_SHARE, decompose, fix_by_inverse, fix_by_trace, trace_sum

CLOSED, BRANCH = 0, 1
# Cholesky's own round-off; that of N is in the slack of `reduce_level`.
MARGIN = 1e-12
# Round-off of an entry of N, per feature, in units of the largest term in it: N is lowered by it.
ROUND_OFF = 4.4e-16


class LevelsetProblem(NamedTuple):
    """B with a unit diagonal, max |A| = 1, and need[b] features of block b; the audit's table.

    ``reach`` is the diagonal of B^-1: x_j^2 is at most reach[j] x'Bx. ``doubt`` gets the largest
    ratio that a set may have where N was lifted because double precision could not tell.
    """

    A: np.ndarray
    B: np.ndarray
    reach: np.ndarray
    doubt: np.ndarray
    block: np.ndarray
    need: np.ndarray
    counts: np.ndarray
    strides: np.ndarray


@jit
def search_below(
    problem: LevelsetProblem, level: float, step: float, root: np.ndarray, chunk: int
) -> tuple[int, np.ndarray, np.ndarray, float]:
    """Depth-first search below a state, ``chunk`` nodes at most.

    A set of value v above the level raises it to v + step: what was closed stays closed.
    Returns the nodes visited, the states left open, the best set (empty: none), and the level.
    """
    n = root.size
    states = np.empty((n + 2, n), dtype=np.int8)
    states[0] = root
    top, nodes = 1, 0
    best = np.empty(0, dtype=np.int64)
    sizes, needs = np.empty_like(problem.need), np.empty_like(problem.need)
    while top > 0 and nodes < chunk:
        top -= 1
        state = states[top].copy()
        nodes += 1
        while True:
            verdict, j, better = examine(problem, level, state, sizes, needs)
            if better.size == 0:
                break
            best = better
            level = largest_ratio(problem.A, problem.B, better) + step
        if verdict == CLOSED:
            record_closed(problem.counts, problem.strides, sizes, needs, 1)
        else:
            for choice in (OUT, IN):  # IN comes off the stack first
                states[top] = state
                states[top, j] = choice
                top += 1
    return nodes, states[:top].copy(), best, level


@jit
def examine(
    problem: LevelsetProblem,
    level: float,
    state: np.ndarray,
    sizes: np.ndarray,
    needs: np.ndarray,
) -> tuple[int, int, np.ndarray]:
    """CLOSED, or BRANCH and the feature; or a set above the level, if the third is not empty.

    ``state`` changes where features are fixed. ``sizes`` and ``needs`` get how many features of
    every block are free and needed.
    """
    A, B, reach, doubt, block, need, counts, strides = problem
    nothing = np.empty(0, dtype=np.int64)
    count_free(state, block, need, sizes, needs)
    while True:
        decide_full_blocks(state, block, sizes, needs)
        inside, free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        N, n_positive, slack, lifted = reduce_level(A, B, level, inside, free, reach)
        if n_positive < inside.size:
            whole = fill_up(state, nothing, block, need)
            if largest_ratio(A, B, whole) > level:
                return CLOSED, -1, whole
        for i in range(free.size):
            if not N[i, i] > 0.0:
                whole = fill_up(state, free[i : i + 1], block, need)
                if largest_ratio(A, B, whole) > level:
                    return CLOSED, -1, whole
                lifted += (slack - N[i, i]) * reach[free[i]]
                N[i, i] = slack
        if lifted > 0.0:  # double precision could not tell
            doubt[0] = max(doubt[0], level + lifted)
        if free.size == 0:
            return CLOSED, -1, nothing
        own = block[free]
        few = needs.sum()
        if few <= 3:
            subset = indefinite_subset(N, own, needs, few)
            if subset.size == 0:
                return CLOSED, -1, nothing
            whole = fill_up(state, free[subset], block, need)
            if largest_ratio(A, B, whole) > level:
                return CLOSED, -1, whole
        if is_positive_definite(N, MARGIN):
            return CLOSED, -1, nothing
        fix = np.zeros(free.size, dtype=np.int8)
        verdict, branch = test_by_eigenvalues(N, own, needs, fix)
        if verdict == CLOSED:
            return CLOSED, -1, nothing
        if branch >= 0:
            return BRANCH, free[branch], nothing
        old_sizes, old_needs = sizes.copy(), needs.copy()
        for i in range(free.size):
            state[free[i]] = fix[i]
        if not count_free(state, block, need, sizes, needs):
            sizes[:] = old_sizes
            needs[:] = old_needs
            return CLOSED, -1, nothing
        record_closed(counts, strides, old_sizes, old_needs, 1)
        record_closed(counts, strides, sizes, needs, -1)


@jit
def test_by_eigenvalues(
    N: np.ndarray, block: np.ndarray, need: np.ndarray, fix: np.ndarray
) -> tuple[int, int]:
    """CLOSED; or BRANCH and the feature to branch on, -1 where ``fix`` says what is fixed."""
    theta, V = decompose(N)
    if not fix_by_inverse(theta, V, block, need, fix):
        return CLOSED, -1
    if np.any(fix):
        return BRANCH, -1
    y = np.empty(theta.size)
    total, _ = trace_sum(theta, V, block, need, y)
    if total <= 1.0 - HIDDEN_SHARE:
        return CLOSED, -1
    fix_by_trace(y, total, block, need, fix)
    if np.any(fix):
        return BRANCH, -1
    # a feature with much of both the trace and what is negative in N
    negative = np.zeros(theta.size)
    for i in range(theta.size):
        if theta[i] < 0.0:
            negative -= theta[i] * V[i] * V[i]
    return BRANCH, int(np.argmax(y * (negative + HIDDEN_SHARE)))


@jit
def indefinite_subset(N: np.ndarray, block: np.ndarray, needs: np.ndarray, few: int) -> np.ndarray:
    """At most three features, as many as needed, on which N is not positive definite."""
    u = N.shape[0]
    left = needs.copy()
    border = np.empty(u)
    for a in range(u if few > 1 else 0):
        left[block[a]] -= 1
        for b in range(a + 1, u):
            border[b] = N[a, b] / N[a, a]
        for b in range(a + 1, u):
            if left[block[b]] <= 0:
                continue
            pivot = N[b, b] - border[b] * N[a, b]
            if not pivot > 0.0:
                return np.array([a, b])
            if few < 3:
                continue
            left[block[b]] -= 1
            for c in range(b + 1, u):
                if left[block[c]] > 0:
                    side = N[b, c] - border[b] * N[a, c]
                    if not pivot * (N[c, c] - border[c] * N[a, c]) > side * side:
                        return np.array([a, b, c])
            left[block[b]] += 1
        left[block[a]] += 1
    return np.empty(0, dtype=np.int64)


@jit
def fill_up(
    state: np.ndarray, extra: np.ndarray, block: np.ndarray, need: np.ndarray
) -> np.ndarray:
    """A whole set: what is in, the extra features, and the first free ones; sorted."""
    left = need.copy()
    chosen = state == IN
    chosen[extra] = True
    for i in np.flatnonzero(chosen):
        left[block[i]] -= 1
    for j in range(state.size):
        if state[j] == FREE and not chosen[j] and left[block[j]] > 0:
            chosen[j] = True
            left[block[j]] -= 1
    return np.flatnonzero(chosen)


@jit
def reduce_level(
    A: np.ndarray,
    B: np.ndarray,
    level: float,
    inside: np.ndarray,
    free: np.ndarray,
    reach: np.ndarray,
) -> tuple[np.ndarray, int, float, float]:
    """The Schur complement of N on the free features, and how many pivots were positive.

    Fewer than ``inside`` holds means that the features up to that pivot exceed the level,
    or that double precision cannot tell; such a pivot is replaced by the least one. That is the
    third, and the last is how far the lifted N may exceed the level unseen.
    """
    f, u = inside.size, free.size
    n = f + u
    order = np.concatenate((inside, free))
    slack = ROUND_OFF * (n + 2) * (1.0 + abs(level))
    M = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            M[i, j] = level * B[order[i], order[j]] - A[order[i], order[j]]
        M[i, i] -= slack
    positive, lifted = f, 0.0
    for c in range(f):
        pivot = M[c, c]
        if not pivot > 0.0:
            positive = min(positive, c)
        if pivot < slack:
            lifted += (slack - pivot) * reach[order[c]]
            pivot = slack
        for i in range(c + 1, n):
            factor = M[c, i] / pivot
            for j in range(i, n):
                M[i, j] -= factor * M[c, j]
    N = np.empty((u, u))
    for i in range(u):
        for j in range(i, u):
            N[i, j] = N[j, i] = M[f + i, f + j]
    return N, positive, slack, lifted


@jit
def is_positive_definite(M: np.ndarray, margin: float) -> bool:
    """Whether M, scaled to a unit diagonal, has all eigenvalues above the margin."""
    n = M.shape[0]
    scaled = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            scaled[i, j] = M[i, j] / math.sqrt(M[i, i] * M[j, j])
        scaled[i, i] = 1.0 - margin
    return factorize(scaled, n, 1e-14)
