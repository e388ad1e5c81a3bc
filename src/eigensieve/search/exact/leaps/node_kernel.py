"""Branch and bound for the trace and log-det criteria: what is done with one node.

A node is reduced to the features that are undecided. A short dive on the inverse tries to finish
it; if that does not, the perspective bound closes it or decides features, and what is left is
branched on.
"""

from __future__ import annotations

import numpy as np

from ....pencil.compile import jit
from ....pencil.criteria import EPS
from ..coverage_kernel import count_free, decide_full_blocks, record_closed
from .dive_kernel import LOST, deletion_costs, dive
from .problem_kernel import LOGDET, LeapsProblem, Log, Rest, consider, reduce_to_free
from .relax_kernel import relax, take_best

CLOSED = -1
AGAIN = -2
# Nodes of the dive that is tried first.
TRIAL = 200
# Where the perspective bound bridges this share of the gap, its own branching beats the dive.
STRONG = 0.85


@jit
def settle(problem: LeapsProblem, state: np.ndarray, sizes: np.ndarray, needs: np.ndarray) -> bool:
    """Count what is free and needed per block, and decide where there is no choice.

    False if a block cannot be filled, or is overfull.
    """
    if not count_free(state, problem.blocks, problem.quota, sizes, needs):
        return False
    decide_full_blocks(state, problem.blocks, sizes, needs)
    return True


@jit
def decide(
    problem: LeapsProblem,
    state: np.ndarray,
    rest: Rest,
    costs: np.ndarray,
    relaxed: float,
    gains: np.ndarray,
    starts: np.ndarray,
    needs: np.ndarray,
    cut: float,
) -> int:
    """Choose or drop the features for which the other choice cannot beat the cut; how many."""
    _, last, following = take_best(gains, starts, needs)
    count = 0
    for a in range(rest.free.size):
        j = rest.free[a]
        b = problem.blocks[j]
        if rest.top - costs[a] <= cut or relaxed - gains[a] + following[b] <= cut:
            state[j] = 1
            count += 1
        elif relaxed - last[b] + gains[a] <= cut:
            state[j] = -1
            count += 1
    return count


@jit
def visit(
    problem: LeapsProblem,
    log: Log,
    state: np.ndarray,
    bound: float,
    limit: int,
    states: np.ndarray,
    bounds: np.ndarray,
) -> tuple[int, float, int, int]:
    """Close a node, decide features, search below it, or say on which feature to branch.

    Returns CLOSED, AGAIN or the feature; the node's bound; the number of nodes of a dive and of
    those it left open, which are in ``states`` and ``bounds``.
    """
    n_blocks, record = problem.quota.size, log.record
    sizes, needs = np.empty(n_blocks, np.int64), np.empty(n_blocks, np.int64)
    if not settle(problem, state, sizes, needs):
        return CLOSED, bound, 1, 0
    if sizes.sum() == 0:
        record_closed(log.counts, log.strides, sizes, needs, 1)
        consider(problem, log, state == 1)
        return CLOSED, bound, 1, 0
    fine, rest = reduce_to_free(problem, state)
    u = rest.free.size
    costs = np.empty(u)
    if not (fine and deletion_costs(problem.kind, rest.P, rest.second, u, costs)):
        return rest.free[0], bound, 1, 0
    starts = np.zeros(n_blocks + 1, np.int64)
    starts[1:] = np.cumsum(sizes)
    # deleting a set costs at least as much as its costliest member
    bound = min(bound, rest.top - take_best(costs, starts, needs)[2].max())
    if bound <= record[0]:
        record_closed(log.counts, log.strides, sizes, needs, 1)
        return CLOSED, bound, 1, 0
    nodes, relaxed, w = 1, np.inf, costs
    for attempt in range(2):
        if n_blocks == 1 and rest.top - relaxed < STRONG * (rest.top - record[0]):
            before = log.counts.copy()
            most = limit if attempt else min(limit, TRIAL)
            visited, n_open = dive(problem, log, rest, state, needs[0], most, states, bounds)
            nodes += visited
            if n_open == 0 or (attempt and n_open != LOST):
                return CLOSED, bound, nodes, n_open
            log.counts[:] = before
        if attempt:
            break
        slop = rest.base + rest.error
        fuzz = 8.0 * EPS * (u + rest.shaky)
        relaxed, gains, w = relax(
            rest, problem.kind == LOGDET, starts, needs, record[0] - slop, fuzz
        )
        relaxed += slop
        bound = min(bound, relaxed)
        if bound <= record[0]:
            record_closed(log.counts, log.strides, sizes, needs, 1)
            return CLOSED, bound, nodes, 0
        if decide(problem, state, rest, costs, relaxed, gains, starts, needs, record[0]):
            record_closed(log.counts, log.strides, sizes, needs, 1)
            if settle(problem, state, sizes, needs):
                record_closed(log.counts, log.strides, sizes, needs, -1)
                return AGAIN, bound, nodes, 0
            return CLOSED, bound, nodes, 0
    return rest.free[np.argmin(np.abs(w - 0.5))], bound, nodes, 0
