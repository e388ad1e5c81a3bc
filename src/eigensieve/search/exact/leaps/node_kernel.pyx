"""Branch and bound for the trace and log-det criteria: what is done with one node.

A node is reduced to the features that are undecided. A short dive on the inverse tries to finish
it; if that does not, the perspective bound closes it or decides features, and what is left is
branched on.
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY

from ....pencil.views cimport (
    Flag, Index, Matrix, NewVector, Vector, argmax, copy_of, count_all, flag_matrix, flags, vector,
)
from ..coverage_kernel cimport IN, OUT, count_free, decide_full_blocks, record_closed
from .dive_kernel cimport LOST, deletion_costs, dive
from .problem_kernel cimport (
    LOGDET, LeapsProblem, Log, Rest, chosen_mask, consider, read_log, read_problem, reduce_to_free,
)
from .relax_kernel cimport Relaxed, Taken, relax, take_best

cpdef enum:
    CLOSED = -1
    AGAIN = -2

cdef enum:
    # Nodes of the dive that is tried first.
    TRIAL = 200

cdef extern from *:
    """
    // Where the perspective bound bridges this share of the gap, its own branching beats the dive.
    static constexpr double STRONG = 0.85;
    """
    const double STRONG


cdef bint settle(
    LeapsProblem& problem, Vector[Flag] state, Vector[Index] sizes, Vector[Index] needs
) noexcept nogil:
    """Count what is free and needed per block, and decide where there is no choice.

    False if a block cannot be filled, or is overfull.
    """
    if not count_free(state, problem.blocks, problem.quota, sizes, needs):
        return False
    decide_full_blocks(state, problem.blocks, sizes, needs)
    return True


cdef Index decide(
    LeapsProblem& problem, Vector[Flag] state, Rest& rest, Vector[double] costs, double relaxed,
    Vector[double] gains, Vector[Index] starts, Vector[Index] needs, double cut,
) noexcept nogil:
    """Choose or drop the features for which the other choice cannot beat the cut; how many."""
    cdef Taken best = take_best(gains, starts, needs)
    cdef Index count = 0, a, b, j
    for a in range(rest.free.size):
        j = rest.free[a]
        b = problem.blocks[j]
        if rest.top - costs[a] <= cut or relaxed - gains[a] + best.following[b] <= cut:
            state[j] = IN
            count += 1
        elif relaxed - best.last[b] + gains[a] <= cut:
            state[j] = OUT
            count += 1
    return count


cdef (Index, double, Index, Index) visit_node(
    LeapsProblem& problem, Log& log, Vector[Flag] state, double bound, Index limit,
    Matrix[Flag] states, Vector[double] bounds,
) noexcept nogil:
    """Close a node, decide features, search below it, or say on which feature to branch.

    Returns CLOSED, AGAIN or the feature; the node's bound; the number of nodes of a dive and of
    those it left open, which are in ``states`` and ``bounds``.
    """
    cdef Index n_blocks = problem.quota.size, nodes = 1, u, a, b, attempt, most, visited, n_open
    cdef Vector[double] record = log.record
    cdef NewVector[Index] sizes = NewVector[Index](n_blocks), needs = NewVector[Index](n_blocks)
    cdef NewVector[Index] starts = NewVector[Index](n_blocks + 1, 0), before
    cdef NewVector[double] costs, following, nearness
    cdef double relaxed = INFINITY, slop, fuzz
    cdef Rest rest
    cdef Relaxed found
    if not settle(problem, state, sizes, needs):
        return CLOSED, bound, 1, 0
    if count_all(sizes) == 0:
        record_closed(log.counts, log.strides, sizes, needs, 1)
        consider(problem, log, chosen_mask(state))
        return CLOSED, bound, 1, 0
    rest = reduce_to_free(problem, state)
    u = rest.free.size
    costs = NewVector[double](u)
    if not (rest.fine and deletion_costs(problem.kind, rest.P, rest.second, u, costs)):
        return rest.free[0], bound, 1, 0
    for b in range(n_blocks):
        starts[b + 1] = starts[b] + sizes[b]
    # deleting a set costs at least as much as its costliest member
    following = take_best(costs, starts, needs).following
    bound = min(bound, rest.top - following[argmax(following)])
    if bound <= record[0]:
        record_closed(log.counts, log.strides, sizes, needs, 1)
        return CLOSED, bound, 1, 0
    for attempt in range(2):
        if n_blocks == 1 and rest.top - relaxed < STRONG * (rest.top - record[0]):
            before = copy_of(log.counts)
            most = limit if attempt else min(limit, <Index> TRIAL)
            visited, n_open = dive(problem, log, rest, state, needs[0], most, states, bounds)
            nodes += visited
            if n_open == 0 or (attempt and n_open != LOST):
                return CLOSED, bound, nodes, n_open
            log.counts.assign(before)
        if attempt:
            break
        slop = rest.base + rest.error
        fuzz = 8.0 * DBL_EPSILON * (u + rest.shaky)
        found = relax(rest, problem.kind == LOGDET, starts, needs, record[0] - slop, fuzz)
        relaxed = found.bound + slop
        bound = min(bound, relaxed)
        if bound <= record[0]:
            record_closed(log.counts, log.strides, sizes, needs, 1)
            return CLOSED, bound, nodes, 0
        if decide(problem, state, rest, costs, relaxed, found.gains, starts, needs, record[0]):
            record_closed(log.counts, log.strides, sizes, needs, 1)
            if settle(problem, state, sizes, needs):
                record_closed(log.counts, log.strides, sizes, needs, -1)
                return AGAIN, bound, nodes, 0
            return CLOSED, bound, nodes, 0
    nearness = NewVector[double](u)
    for a in range(u):
        nearness[a] = -abs(found.weights[a] - 0.5)
    return rest.free[argmax(nearness)], bound, nodes, 0


ctypedef (Index, double, Index, Index) (*Visit)(
    LeapsProblem&, Log&, Vector[Flag], double, Index, Matrix[Flag], Vector[double]
) except + nogil


def visit(problem, log, state, double bound, Index limit, states, bounds):
    """`visit_node` of arrays; problem and log are those of problem.py."""
    cdef LeapsProblem given = read_problem(problem)
    cdef Log to = read_log(log)
    cdef Vector[Flag] node = flags(state, write=True)
    cdef Matrix[Flag] open_states = flag_matrix(states, write=True)
    cdef Vector[double] open_bounds = vector(bounds, write=True)
    cdef (Index, double, Index, Index) outcome
    with nogil:
        outcome = (<Visit> visit_node)(given, to, node, bound, limit, open_states, open_bounds)
    return outcome
