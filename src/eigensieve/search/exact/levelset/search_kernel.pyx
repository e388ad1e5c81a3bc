"""The level-set search: is there a set whose largest eigenvalue exceeds a level?

None does exactly if N_S is positive semidefinite for all sets, N = level * B - A. A node knows
which features are in and out; N's Schur complement on the others is computed anew for every node:
that costs less than one eigen-decomposition, and does not drift.
"""

from libc.math cimport sqrt

from ....pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, argmax, array_of_flag_matrix,
    array_of_indices, copy_of, copy_of_matrix, count_all, flags, index_matrix, indices,
    matrix, pick, vector, where,
)
from ...linear_kernel cimport factorize, largest_ratio
from ..coverage_kernel cimport FREE, IN, OUT, count_free, decide_full_blocks, record_closed
from ..level_kernel cimport indefinite_subset, reduce_level
from .fixing_kernel cimport (
    HIDDEN_SHARE, decompose, fix_by_inverse, fix_by_trace, least_trace_sum,
)

cdef enum:
    CLOSED
    BRANCH

cdef extern from *:
    """
    // Cholesky's own round-off; that of N is in the slack of `reduce_level`.
    static constexpr double MARGIN = 1e-12;
    """
    const double MARGIN


cdef cppclass Problem:  # the fields of LevelsetProblem, in levelset.py
    Matrix[double] A, B
    Vector[double] reach, doubt
    Vector[Index] block, need, counts
    Matrix[Index] strides


cdef Problem read_problem(object problem) except *:
    cdef Problem views
    views.A, views.B = matrix(problem.A), matrix(problem.B)
    views.reach, views.doubt = vector(problem.reach), vector(problem.doubt, write=True)
    views.block, views.need = indices(problem.block), indices(problem.need)
    views.counts = indices(problem.counts, write=True)
    views.strides = index_matrix(problem.strides)
    return views


cdef cppclass Found:
    Index n_nodes
    NewMatrix[Flag] states
    NewVector[Index] best
    double level


cdef Found search_depth_first(
    Problem& problem, double level, double step, Vector[Flag] root, Index chunk
) noexcept nogil:
    """Depth-first search below a state, ``chunk`` nodes at most.

    A set of value v above the level raises it to v + step: what was closed stays closed.
    Returns the nodes visited, the states left open, the best set (empty: none), and the level.
    """
    cdef Index n = root.size, top = 1, nodes = 0, verdict, j
    cdef NewMatrix[Flag] states = NewMatrix[Flag](n + 2, n)
    cdef NewVector[Flag] state = NewVector[Flag](n)
    cdef NewVector[Index] sizes = NewVector[Index](problem.need.size)
    cdef NewVector[Index] needs = NewVector[Index](problem.need.size)
    cdef NewVector[Index] best, better
    cdef Found found
    states[0].assign(root)
    while top > 0 and nodes < chunk:
        top -= 1
        state.assign(states[top])
        nodes += 1
        while True:
            verdict, j = examine(problem, level, state, sizes, needs, better)
            if better.size == 0:
                break
            best = better
            level = largest_ratio(problem.A, problem.B, better) + step
        if verdict == CLOSED:
            record_closed(problem.counts, problem.strides, sizes, needs, 1)
        else:
            states[top].assign(state)
            states[top][j] = OUT
            states[top + 1].assign(state)
            states[top + 1][j] = IN  # comes off the stack first
            top += 2
    found.n_nodes, found.level, found.best = nodes, level, best
    found.states = copy_of_matrix(states.part(0, top))
    return found


cdef (Index, Index) examine(
    Problem& problem, double level, Vector[Flag] state, Vector[Index] sizes, Vector[Index] needs,
    NewVector[Index]& better,
) noexcept nogil:
    """CLOSED, or BRANCH and the feature; ``better`` gets a set above the level, or nothing.

    ``state`` changes where features are fixed. ``sizes`` and ``needs`` get how many features of
    every block are free and needed.
    """
    cdef Matrix[double] A = problem.A, B = problem.B
    cdef Vector[double] reach = problem.reach, doubt = problem.doubt
    cdef Vector[Index] block = problem.block, need = problem.need
    cdef NewVector[Index] nothing, inside, free, own, subset, whole, old_sizes, old_needs
    cdef NewVector[Flag] fix
    cdef NewMatrix[double] N
    cdef Index i, n_positive, few, verdict, branch
    cdef double slack, lifted
    better = nothing
    count_free(state, block, need, sizes, needs)
    while True:
        decide_full_blocks(state, block, sizes, needs)
        inside, free = where(state, <Flag> IN), where(state, <Flag> FREE)
        N = NewMatrix[double](free.size, free.size)
        n_positive, slack, lifted = reduce_level(A, B, level, inside, free, reach, N)
        if n_positive < inside.size:
            whole = fill_up(state, nothing, block, need)
            if largest_ratio(A, B, whole) > level:
                better = whole
                return CLOSED, -1
        for i in range(free.size):
            if not N[i][i] > 0.0:
                whole = fill_up(state, free.part(i, i + 1), block, need)
                if largest_ratio(A, B, whole) > level:
                    better = whole
                    return CLOSED, -1
                lifted += (slack - N[i][i]) * reach[free[i]]
                N[i][i] = slack
        if lifted > 0.0:  # double precision could not tell
            doubt[0] = max(doubt[0], level + lifted)
        if free.size == 0:
            return CLOSED, -1
        own = pick(block, free)
        few = count_all(needs)
        if few <= 3:
            subset = indefinite_subset(N, own, needs, few)
            if subset.size == 0:
                return CLOSED, -1
            whole = fill_up(state, pick(free, subset), block, need)
            if largest_ratio(A, B, whole) > level:
                better = whole
                return CLOSED, -1
        if is_positive_definite(N, MARGIN):
            return CLOSED, -1
        fix = NewVector[Flag](free.size, 0)
        verdict, branch = test_by_eigenvalues(N, own, needs, fix)
        if verdict == CLOSED:
            return CLOSED, -1
        if branch >= 0:
            return BRANCH, free[branch]
        old_sizes, old_needs = copy_of(sizes), copy_of(needs)
        for i in range(free.size):
            state[free[i]] = fix[i]
        if not count_free(state, block, need, sizes, needs):
            sizes.assign(old_sizes)
            needs.assign(old_needs)
            return CLOSED, -1
        record_closed(problem.counts, problem.strides, old_sizes, old_needs, 1)
        record_closed(problem.counts, problem.strides, sizes, needs, -1)


cdef (Index, Index) test_by_eigenvalues(
    Matrix[double] N, Vector[Index] block, Vector[Index] need, Vector[Flag] fix
) noexcept nogil:
    """CLOSED; or BRANCH and the feature to branch on, -1 where ``fix`` says what is fixed."""
    cdef Index u = N.rows, i, j
    cdef NewVector[double] theta = NewVector[double](u), y = NewVector[double](u)
    cdef NewVector[double] negative
    cdef NewMatrix[double] V = NewMatrix[double](u, u)
    cdef Vector[double] row
    cdef double total
    decompose(N, theta, V)
    if not fix_by_inverse(theta, V, block, need, fix):
        return CLOSED, -1
    if is_any(fix):
        return BRANCH, -1
    total, _ = least_trace_sum(theta, V, block, need, y)
    if total <= 1.0 - HIDDEN_SHARE:
        return CLOSED, -1
    fix_by_trace(y, total, block, need, fix)
    if is_any(fix):
        return BRANCH, -1
    # a feature with much of both the trace and what is negative in N
    negative = NewVector[double](u, 0.0)
    for i in range(u):
        if theta[i] < 0.0:
            row = V[i]
            for j in range(u):
                negative[j] -= theta[i] * row[j] * row[j]
    for j in range(u):
        y[j] *= negative[j] + HIDDEN_SHARE
    return BRANCH, argmax(y)


cdef bint is_any(Vector[Flag] fix) noexcept nogil:
    """Whether a feature is fixed."""
    cdef Index j
    for j in range(fix.size):
        if fix[j]:
            return True
    return False


cdef NewVector[Index] fill_up(
    Vector[Flag] state, Vector[Index] extra, Vector[Index] block, Vector[Index] need
) noexcept nogil:
    """A whole set: what is in, the extra features, and the first free ones; sorted."""
    cdef NewVector[Index] left = copy_of(need)
    cdef NewVector[Flag] chosen = NewVector[Flag](state.size)
    cdef Index i, j
    for j in range(state.size):
        chosen[j] = state[j] == IN
    for i in range(extra.size):
        chosen[extra[i]] = True
    for j in range(state.size):
        if chosen[j]:
            left[block[j]] -= 1
    for j in range(state.size):
        if state[j] == FREE and not chosen[j] and left[block[j]] > 0:
            chosen[j] = True
            left[block[j]] -= 1
    return where(chosen, <Flag> True)


cdef bint is_positive_definite(Matrix[double] M, double margin) noexcept nogil:
    """Whether M, scaled to a unit diagonal, has all eigenvalues above the margin."""
    cdef Index n = M.rows, i, j
    cdef NewMatrix[double] scaled = NewMatrix[double](n, n)
    for i in range(n):
        for j in range(i, n):
            scaled[i][j] = M[i][j] / sqrt(M[i][i] * M[j][j])
        scaled[i][i] = 1.0 - margin
    return factorize(scaled, n, 1e-14)


ctypedef Found (*Search)(Problem&, double, double, Vector[Flag], Index) except + nogil


def search_below(problem, double level, double step, root, Index chunk):
    """`search_depth_first` of a LevelsetProblem."""
    cdef Problem views = read_problem(problem)
    cdef Vector[Flag] state = flags(root)
    cdef Found found
    with nogil:
        found = (<Search> search_depth_first)(views, level, step, state, chunk)
    states, best = array_of_flag_matrix(found.states), array_of_indices(found.best)
    return found.n_nodes, states, best, found.level
