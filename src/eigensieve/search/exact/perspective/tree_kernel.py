"""Depth-first search with the perspective bound: what happens at a node, and the stack."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....pencil.compile import jit
from ....pencil.criteria import EPS
from ...linear_kernel import top_sum
from ..coverage_kernel import record_closed
from .moves_kernel import MARGIN, best_last, choose_branch, schur, tune_diagonal
from .newton_kernel import make_scratch, project
from .relax_kernel import evaluate, relax, relax_in_parts
from .weights_kernel import WEIGHTLESS, WeightProblem

# Up to this many undecided features the diagonal is tuned for the node.
TUNE_LIMIT = 60
MAX_ITER = 60
# A relaxation is solved when its bound is this close to its value.
SOLVED = 1e-7
# A relaxation that lies above the cut is solved to this share of the difference only.
HOPELESS = 0.05


class Ground(NamedTuple):
    """What all nodes share: the problem, the audit's table (see coverage.py), the time's end."""

    B: np.ndarray
    H: np.ndarray
    k: int
    logdet: bool
    counts: np.ndarray
    strides: np.ndarray
    stop: np.ndarray


class OpenNodes(NamedTuple):
    """What is known of the nodes that a search leaves open, a row for each."""

    bounds: np.ndarray
    states: np.ndarray
    weights: np.ndarray
    diagonals: np.ndarray
    gradients: np.ndarray


@jit
def make_weights(
    ground: Ground, D: np.ndarray, forced: np.ndarray, free: np.ndarray, need: int
) -> WeightProblem:
    """The relaxation of a node."""
    return WeightProblem(ground.B, ground.H, D, forced, free, need, ground.logdet, ground.stop)


@jit
def score_set(ground: Ground, members: np.ndarray) -> tuple[float, float]:
    """The criterion of a set, and that plus what round-off may hide of it.

    -inf and inf if B is not positive definite on the set to working precision.
    """
    none, empty, t = np.empty(0, dtype=np.int64), np.empty(0), members.size
    problem = WeightProblem(ground.B, ground.H, empty, members, none, 0, ground.logdet, ground.stop)
    scratch = make_scratch(problem, 0)
    value, _ = evaluate(problem, empty, scratch, empty)
    if value != value:
        return -np.inf, np.inf
    pivot = 1.0
    for i in range(t):
        pivot = min(pivot, scratch.U[i, i] * scratch.U[i, i])
    return value, value * (1.0 + 8.0 * t * EPS / pivot)


@jit
def heaviest(w: np.ndarray, g: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k largest weights; among equals the larger gradient, then the first."""
    top = g.max() if g.size else 1.0
    key = np.empty(w.size)
    for i in range(w.size):
        key[i] = -(w[i] + 1e-6 * g[i] / max(top, 1e-300))
    return np.argsort(key, kind="mergesort")[:k]


@jit
def refill(w: np.ndarray, g: np.ndarray, k: int) -> None:
    """Make the weights sum to k again, on their support if it has room for that."""
    used = np.empty(w.size, dtype=np.int64)
    count = 0
    for i in range(w.size):
        if w[i] > WEIGHTLESS:
            used[count] = i
            count += 1
    if count <= k:
        for j in heaviest(w, g, min(k + 1, w.size)):
            if w[j] <= WEIGHTLESS:
                used[count] = j
                count += 1
            if count > k:
                break
    used = used[:count]
    part = w[used]
    w[:] = 0.0
    if count <= k:
        w[used] = 1.0
        return
    project(part, float(k))
    for i in range(count):
        w[used[i]] = part[i]


@jit
def search_perspective(
    ground: Ground,
    state: np.ndarray,
    weights: np.ndarray,
    diagonal: np.ndarray,
    hot: np.ndarray,
    bound: float,
    cut: float,
    step: float,
    horizon: float,
    max_nodes: int,
) -> tuple[int, np.ndarray, float, OpenNodes]:
    """Visit up to max_nodes nodes below one, best first as far as they are above the horizon.

    Without a horizon (-inf) it goes depth first. Returns the number visited, the members of
    the best set above the cut (or none), the final cut, and the open nodes. ``hot`` is larger for
    features that are likely to matter: a gradient, or a guess.
    """
    n = state.size
    room = max_nodes + 2
    states = np.empty((room, n), dtype=np.int8)
    all_w, all_D, bounds = np.empty((room, n)), np.empty((room, n)), np.empty(room)
    all_g = np.empty((room, n))
    states[0], all_w[0], all_D[0], bounds[0] = state, weights, diagonal, bound
    all_g[0] = hot
    n_open, visited = 1, 0
    best, members = -np.inf, np.empty(0, dtype=np.int64)
    while n_open > 0 and visited < max_nodes and not (visited and ground.stop[0]):
        if horizon > -np.inf:
            top = n_open - 1
            for i in range(n_open - 1, -1, -1):  # the latest of equals
                if bounds[i] > bounds[top]:
                    top = i
            if visited and bounds[top] < horizon:
                break
            last = n_open - 1
            if top != last:
                for pile in (all_w, all_D, all_g):
                    exchange(pile, top, last)
                bounds[top], bounds[last] = bounds[last], bounds[top]
                kept = states[top].copy()
                states[top] = states[last]
                states[last] = kept
        n_open -= 1
        visited += 1
        now, w_now, D_now = states[n_open].copy(), all_w[n_open].copy(), all_D[n_open].copy()
        g_now = all_g[n_open].copy()
        ub, branch, value, found = visit(
            ground, now, w_now, D_now, g_now, bounds[n_open], cut, step
        )
        if value > best and found.size:
            best, members = value, found
            cut = max(cut, value + step)
        if branch < 0:
            continue
        for choice in (-1, 1):  # the one that takes it is on top, hence first
            states[n_open] = now
            states[n_open, branch] = choice
            all_w[n_open], all_D[n_open], bounds[n_open] = w_now, D_now, ub
            all_g[n_open] = g_now
            all_w[n_open, branch] = 0.0
            n_open += 1
    left = OpenNodes(
        bounds[:n_open].copy(),
        states[:n_open].copy(),
        all_w[:n_open].copy(),
        all_D[:n_open].copy(),
        all_g[:n_open].copy(),
    )
    return visited, members, cut, left


@jit
def exchange(pile: np.ndarray, a: int, b: int) -> None:
    """Swap two rows."""
    kept = pile[a].copy()
    pile[a] = pile[b]
    pile[b] = kept


@jit
def visit(
    ground: Ground,
    state: np.ndarray,
    weights: np.ndarray,
    D: np.ndarray,
    gradient: np.ndarray,
    bound: float,
    cut: float,
    step: float,
) -> tuple[float, int, float, np.ndarray]:
    """Work on one node: bound, feature to branch on (-1: closed), value and set of a better one.

    State, weights, the diagonal D and the gradient become those of what is left of the node.
    """
    k, counts, strides = ground.k, ground.counts, ground.strides
    best, members = -np.inf, np.empty(0, dtype=np.int64)
    size, need = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    is_tuned = False
    margin = MARGIN + 8.0 * k * EPS / D.min()
    while True:
        forced, free = np.flatnonzero(state == 1), np.flatnonzero(state == 0)
        size[0], need[0] = free.size, k - forced.size
        if bound <= cut or need[0] < 0 or free.size < need[0]:
            record_closed(counts, strides, size, need, 1)
            return bound, -1, best, members
        if need[0] == 0 or free.size == need[0]:
            chosen = forced if need[0] == 0 else np.concatenate((forced, free))
            value, ceiling = score_set(ground, chosen)
            ceiling = min(ceiling, bound)
            if ceiling > cut and ceiling > best:  # if only by round-off, from scratch will tell
                best, members = ceiling, chosen
            record_closed(counts, strides, size, need, 1)
            return bound, -1, best, members
        problem = make_weights(ground, D, forced, free, need[0])
        if need[0] == 1:
            value, where = best_last(problem)
            if value < np.inf:
                if value > cut and value > best:
                    best = value
                    members = np.append(forced, free[where])
                record_closed(counts, strides, size, need, 1)
                return bound, -1, best, members
        w = weights[free]
        g = gradient[free]
        refill(w, g, need[0])
        ub, value, g, pull = relax_in_parts(problem, w, g, cut, MAX_ITER, SOLVED, HOPELESS)
        gradient[free] = g
        ub += margin * abs(ub)
        bound = min(bound, ub)
        weights[free] = w
        if bound <= cut:
            continue
        chosen = np.concatenate((forced, free[heaviest(w, g, need[0])]))
        value, _ = score_set(ground, chosen)
        if value > cut and value > best:
            best, members = value, chosen
            cut = value + step
            if bound <= cut:
                continue
        n_fixed, matters = fix(state, free, w, g, ub, cut, need[0])
        if n_fixed:
            record_closed(counts, strides, size, need, 1)
            left = np.flatnonzero(state[free] == 0)
            forced, free = np.flatnonzero(state == 1), np.flatnonzero(state == 0)
            size[0], need[0] = free.size, k - forced.size
            record_closed(counts, strides, size, need, -1)
            if matters or need[0] <= 1 or free.size <= need[0]:
                continue
            # the relaxation is the same without them
            w, g, pull = w[left], g[left], pull[left]
            problem = make_weights(ground, D, forced, free, need[0])
        if not is_tuned and free.size <= TUNE_LIMIT:
            is_tuned = True
            new = tune_diagonal(schur(problem), D[free], pull)
            if new.size:
                old = D[free]
                D[free] = new
                trial = w.copy()
                better, _, _, _ = relax(problem, trial, cut, MAX_ITER, SOLVED, HOPELESS)
                if better * (1.0 + margin) < ub:
                    weights[free] = trial
                    continue
                D[free] = old
        return bound, free[choose_branch(problem, w)], best, members


@jit
def fix(
    state: np.ndarray,
    free: np.ndarray,
    w: np.ndarray,
    g: np.ndarray,
    ub: float,
    cut: float,
    need: int,
) -> tuple[int, bool]:
    """Decide what a better set must have or cannot have.

    Returns how many were decided, and whether one of them had another weight so far.
    """
    _, kth, after = top_sum(g, need)
    count, matters = 0, False
    for i in range(free.size):
        if g[i] >= kth:
            if ub - g[i] + after <= cut:
                state[free[i]] = 1
                count += 1
                matters = matters or w[i] < 1.0 - WEIGHTLESS
        elif ub - kth + g[i] <= cut:
            state[free[i]] = -1
            count += 1
            matters = matters or w[i] > WEIGHTLESS
    return count, matters
