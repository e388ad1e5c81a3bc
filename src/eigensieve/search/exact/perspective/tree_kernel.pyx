"""Depth-first search with the perspective bound: what happens at a node, and the stack."""

from libc.float cimport DBL_EPSILON as EPS
from libc.math cimport INFINITY
from libcpp.vector cimport vector as Growing

from ....pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, argmax, array_of, array_of_flag_matrix,
    array_of_indices, array_of_matrix, copy_of, copy_of_matrix, flags, is_raised, join, largest,
    pick, vector, where,
)
from ...linear_kernel cimport top_sum
from ..coverage_kernel cimport FREE, IN, OUT, record_closed
from .limits_kernel cimport narrow
from .moves_kernel cimport (
    MARGIN, branch_position, larger_diagonal, last_values, schur_complement,
)
from .newton_kernel cimport make_scratch, project
from .relax_kernel cimport Relaxed, count_at_hand, evaluate, maximise, maximise_in_parts
from .weights_kernel cimport WEIGHTLESS, Ground, Scratch, WeightProblem, read_ground

from .weights import OpenNodes

cdef enum:
    TUNE_LIMIT = 60  # up to this many undecided features the diagonal is tuned for the node
    MAX_ITER = 60
    COMPACT = 250  # up to this many features a node gets a matrix of its own
    CLOSED = -1  # in place of a feature to branch on
    POSTPONED = -2  # until there is a matrix with what the node needs

globals()["COMPACT"] = COMPACT  # for Python as well

cdef extern from *:
    """
    // A relaxation is solved when its bound is this close to its value.
    static constexpr double SOLVED = 1e-7;
    // A relaxation that lies above the cut is solved to this share of the difference only.
    static constexpr double HOPELESS = 0.05;
    """
    const double SOLVED, HOPELESS


cdef cppclass Found:
    """The number visited, the best set, the final cut, and what is known of the open nodes.

    A search that lists has all sets above the cut in ``listed``, one after the other, and no best.
    """
    Index visited
    NewVector[Index] members
    Growing[Index] listed
    double cut
    NewVector[double] bounds
    NewMatrix[Flag] states
    NewMatrix[double] weights, diagonals, gradients


cdef cppclass Visit:
    """Of one node: bound, feature to branch on (or CLOSED, POSTPONED), value and set of a better."""
    double bound
    Index branch
    double value
    NewVector[Index] members


cdef WeightProblem make_weights(
    Ground& ground, Vector[double] D, Vector[Index] forced, Vector[Index] free, Index need
) noexcept nogil:
    """The relaxation of a node."""
    cdef WeightProblem problem
    problem.B, problem.H, problem.D = ground.B, ground.H, D
    problem.forced, problem.free, problem.need = forced, free, need
    problem.logdet, problem.stop, problem.work = ground.logdet, ground.stop, ground.work
    problem.charge = ground.charge
    return problem


cdef (double, double) score_set(Ground& ground, Vector[Index] members) noexcept nogil:
    """The criterion of a set, and that plus what round-off may hide of it.

    -inf and inf if B is not positive definite on the set to working precision.
    """
    cdef Vector[Index] none
    cdef Vector[double] empty
    cdef Index t = members.size, i
    cdef WeightProblem problem = make_weights(ground, empty, members, none, 0)
    cdef Scratch scratch = make_scratch(problem, 0)
    cdef double value, pivot = 1.0
    problem.charge = empty  # a set keeps the limits, or it does not
    value, _ = evaluate(problem, empty, scratch, empty)
    if value != value:
        return -INFINITY, INFINITY
    for i in range(t):
        pivot = min(pivot, scratch.U[i][i] * scratch.U[i][i])
    return value, value * (1.0 + 8.0 * t * EPS / pivot)


cdef NewVector[Index] heaviest(Vector[double] w, Vector[double] g, Index count) noexcept nogil:
    """So many positions by weight, the largest first; among equals the larger gradient."""
    cdef double top = g[0] if g.size else 1.0
    cdef NewVector[double] key = NewVector[double](w.size)
    cdef Index i
    for i in range(g.size):
        top = max(top, g[i])
    for i in range(w.size):
        key[i] = w[i] + 1e-6 * g[i] / max(top, 1e-300)
    return largest(key, count)


cdef void refill_weights(Vector[double] w, Vector[double] g, Index k) noexcept nogil:
    """Make the weights sum to k again, on their support if it has room for that."""
    cdef NewVector[Index] used = NewVector[Index](w.size), order
    cdef NewVector[double] part
    cdef Index count = 0, i, j
    for i in range(w.size):
        if w[i] > WEIGHTLESS:
            used[count] = i
            count += 1
    if count <= k:
        order = heaviest(w, g, min(k + 1, w.size))
        for i in range(min(k + 1, w.size)):
            j = order[i]
            if w[j] <= WEIGHTLESS:
                used[count] = j
                count += 1
            if count > k:
                break
    part = pick(w, used.part(0, count))
    w.fill(0.0)
    if count <= k:
        part.fill(1.0)
    else:
        project(part, k)
    for i in range(count):
        w[used[i]] = part[i]


cdef Found search_below(
    Ground& ground, Vector[Flag] state, Vector[double] weights, Vector[double] diagonal,
    Vector[double] hot, double bound, double cut, double step, double horizon, Index max_nodes,
) noexcept nogil:
    """Visit up to max_nodes nodes below one, best first as far as they are above the horizon.

    Without a horizon (-inf) it goes depth first. Returns the number visited, the members of
    the best set above the cut (or none), the final cut, and the open nodes. ``hot`` is larger for
    features that are likely to matter: a gradient, or a guess. Nodes that are postponed wait at
    the end of the stack's memory.
    """
    cdef Index n = state.size, room = max_nodes + 2, n_open = 1, visited = 0, top, last, i
    cdef Index aside = room
    cdef NewMatrix[Flag] states = NewMatrix[Flag](room, n)
    cdef NewMatrix[double] all_w = NewMatrix[double](room, n), all_D = NewMatrix[double](room, n)
    cdef NewMatrix[double] all_g = NewMatrix[double](room, n)
    cdef NewVector[double] bounds = NewVector[double](room), w_now, D_now, g_now
    cdef NewVector[Flag] now
    cdef NewVector[Index] members
    cdef double best = -INFINITY
    cdef Visit node
    cdef Found found
    cdef Flag choice
    states[0].assign(state)
    all_w[0].assign(weights)
    all_D[0].assign(diagonal)
    all_g[0].assign(hot)
    bounds[0] = bound
    while n_open > 0 and visited < max_nodes and not (visited and is_raised(ground.stop)):
        if horizon > -INFINITY:
            top = n_open - 1
            for i in range(n_open - 1, -1, -1):  # the latest of equals
                if bounds[i] > bounds[top]:
                    top = i
            if visited and bounds[top] < horizon:
                break
            last = n_open - 1
            if top != last:
                exchange(all_w[top], all_w[last])
                exchange(all_D[top], all_D[last])
                exchange(all_g[top], all_g[last])
                bounds[top], bounds[last] = bounds[last], bounds[top]
                now = copy_of(states[top])
                states[top].assign(states[last])
                states[last].assign(now)
        n_open -= 1
        visited += 1
        ground.work[0] += 100.0 * n  # copies, searches for the best of the open ones
        now, w_now = copy_of(states[n_open]), copy_of(all_w[n_open])
        D_now, g_now = copy_of(all_D[n_open]), copy_of(all_g[n_open])
        node = visit(ground, now, w_now, D_now, g_now, bounds[n_open], cut, step, found.listed)
        if node.value > best and node.members.size:
            best, members = node.value, node.members
            cut = max(cut, node.value + step)
        if node.branch == POSTPONED:
            aside -= 1
            states[aside].assign(now)
            all_w[aside].assign(w_now)
            all_D[aside].assign(D_now)
            all_g[aside].assign(g_now)
            bounds[aside] = node.bound
        if node.branch < 0:
            continue
        for choice in range(OUT, IN + 1, 2):  # the one that takes it is on top, hence first
            states[n_open].assign(now)
            states[n_open][node.branch] = choice
            all_w[n_open].assign(w_now)
            all_D[n_open].assign(D_now)
            all_g[n_open].assign(g_now)
            bounds[n_open] = node.bound
            all_w[n_open][node.branch] = 0.0
            n_open += 1
    while aside < room:
        states[n_open].assign(states[aside])
        all_w[n_open].assign(all_w[aside])
        all_D[n_open].assign(all_D[aside])
        all_g[n_open].assign(all_g[aside])
        bounds[n_open] = bounds[aside]
        n_open += 1
        aside += 1
    found.visited, found.members, found.cut = visited, members, cut
    found.bounds = copy_of(bounds.part(0, n_open))
    found.states = copy_of_matrix(states.part(0, n_open))
    found.weights = copy_of_matrix(all_w.part(0, n_open))
    found.diagonals = copy_of_matrix(all_D.part(0, n_open))
    found.gradients = copy_of_matrix(all_g.part(0, n_open))
    return found


cdef void exchange(Vector[double] row, Vector[double] other) noexcept nogil:
    """Swap two rows."""
    cdef Index i
    for i in range(row.size):
        row[i], other[i] = other[i], row[i]


cdef Visit visit(
    Ground& ground, Vector[Flag] state, Vector[double] weights, Vector[double] D,
    Vector[double] gradient, double bound, double cut, double step, Growing[Index]& listed,
) noexcept nogil:
    """Work on one node: see Visit.

    State, weights, the diagonal D and the gradient become those of what is left of the node. A
    search that lists puts the sets of the node into ``listed``.
    """
    cdef Index k = ground.k, place, n_fixed, m, i
    cdef Vector[Index] counts = ground.counts
    cdef Matrix[Index] strides = ground.strides
    cdef NewVector[Index] size = NewVector[Index](1), need = NewVector[Index](1)
    cdef NewVector[Index] forced, free, chosen, left
    cdef NewVector[double] w, g, pull, new, old, trial, last
    cdef WeightProblem problem
    cdef Relaxed relaxed
    cdef Visit node
    cdef bint is_tuned = False, is_square = ground.B.rows == ground.B.columns, matters
    cdef double margin, value, ceiling, ub, least = INFINITY
    for i in range(D.size):
        least = min(least, D[i])
    margin = MARGIN + 8.0 * k * EPS / least
    node.branch, node.value = CLOSED, -INFINITY
    while True:
        if not narrow_node(ground, state):
            return node
        forced, free = where(state, <Flag> IN), where(state, <Flag> FREE)
        size[0], need[0] = free.size, k - forced.size
        node.bound = bound
        if bound <= cut or need[0] < 0 or free.size < need[0]:
            record_closed(counts, strides, size, need, 1)
            return node
        problem = make_weights(ground, D, forced, free, need[0])
        m = count_at_hand(problem)
        if not is_square and (forced.size + free.size <= COMPACT or m <= 2 * need[0]):
            node.branch = POSTPONED
            return node
        if forced.size and forced[forced.size - 1] >= ground.B.rows:  # by a limit
            node.branch = POSTPONED
            return node
        if need[0] == 0 or free.size == need[0]:
            chosen = forced
            if need[0] != 0:
                chosen = join[Index](forced, free)
            value, ceiling = score_set(ground, chosen)
            ceiling = min(ceiling, bound)
            if ceiling > cut and ground.lists:
                append(listed, chosen)
            elif ceiling > cut and ceiling > node.value:
                # if only by round-off, from scratch will tell
                node.value, node.members = ceiling, chosen
            record_closed(counts, strides, size, need, 1)
            return node
        if need[0] == 1:
            last = last_values(problem)
            if last.size:
                place = argmax(last)
                if ground.lists:
                    for i in range(last.size):
                        if last[i] > cut:
                            append(listed, join[Index](forced, free.part(i, i + 1)))
                elif last[place] > cut and last[place] > node.value:
                    node.value = last[place]
                    node.members = join[Index](forced, free.part(place, place + 1))
                record_closed(counts, strides, size, need, 1)
                return node
        w, g = pick(weights, free), pick(gradient, free)
        refill_weights(w.part(0, m), g.part(0, m), need[0])
        relaxed = maximise_in_parts(problem, w, g, cut, MAX_ITER, SOLVED, HOPELESS)
        ub, g, pull = relaxed.bound, relaxed.gradient, relaxed.pull
        put(gradient, free, g)
        ub += margin * abs(ub)
        bound = min(bound, ub)
        put(weights, free, w)
        if bound <= cut:
            continue
        if not ground.lists:
            left = heaviest(w.part(0, m), g.part(0, m), need[0])
            chosen = join[Index](forced, pick(free, left.part(0, need[0])))
            value, _ = score_set(ground, chosen)
            if value > cut and value > node.value and keeps_limits(ground, chosen, state.size):
                node.value, node.members = value, chosen
                cut = value + step
                if bound <= cut:
                    continue
        n_fixed, matters = fix(state, free, w, g, ub, cut, need[0], m)
        if n_fixed:
            record_closed(counts, strides, size, need, 1)
            left = where(pick(state, free), <Flag> FREE)
            forced, free = where(state, <Flag> IN), where(state, <Flag> FREE)
            size[0], need[0] = free.size, k - forced.size
            record_closed(counts, strides, size, need, -1)
            if matters or need[0] <= 1 or free.size <= need[0]:
                continue
            if not is_square and forced.size + free.size <= COMPACT:
                continue
            # the relaxation is the same without them
            w, g, pull = pick(w, left), pick(g, left), pick(pull, left)
            problem = make_weights(ground, D, forced, free, need[0])
        if is_square and not is_tuned and free.size <= TUNE_LIMIT:
            is_tuned = True
            old = pick(D, free)
            new = larger_diagonal(schur_complement(problem), old, pull)
            if new.size:
                put(D, free, new)
                trial = copy_of(w)
                relaxed = maximise(problem, trial, cut, MAX_ITER, SOLVED, HOPELESS)
                if relaxed.bound * (1.0 + margin) < ub:
                    put(weights, free, trial)
                    continue
                put(D, free, old)
        node.bound, node.branch = bound, free[branch_position(problem, w)]
        return node


cdef bint narrow_node(Ground& ground, Vector[Flag] state) noexcept nogil:
    """Decide what the limits decide; False if they leave no set of the node, which is closed."""
    cdef Index k = ground.k
    cdef NewVector[Flag] before
    cdef NewVector[Index] size = NewVector[Index](1), need = NewVector[Index](1)
    cdef bint is_left
    if ground.limits.most.size == 0:
        return True
    before = copy_of(state)
    is_left = narrow(ground.limits, state, k)
    count(before, k, size, need)
    record_closed(ground.counts, ground.strides, size, need, 1)
    if is_left:
        count(state, k, size, need)
        record_closed(ground.counts, ground.strides, size, need, -1)
    return is_left


cdef void count(Vector[Flag] state, Index k, Vector[Index] size, Vector[Index] need) noexcept nogil:
    """How many features are FREE, and how many a set still needs."""
    cdef Index i
    size[0], need[0] = 0, k
    for i in range(state.size):
        size[0] += state[i] == FREE
        need[0] -= state[i] == IN


cdef bint keeps_limits(Ground& ground, Vector[Index] members, Index n) noexcept nogil:
    """Whether a set is allowed."""
    cdef NewVector[Flag] state
    cdef Index i
    if ground.limits.most.size == 0:
        return True
    state = NewVector[Flag](n, OUT)
    for i in range(members.size):
        state[members[i]] = IN
    return narrow(ground.limits, state, members.size)


cdef void append(Growing[Index]& listed, Vector[Index] members) noexcept nogil:
    """Add a set."""
    cdef Index i
    for i in range(members.size):
        listed.push_back(members[i])


cdef void put(Vector[double] x, Vector[Index] places, Vector[double] values) noexcept nogil:
    """x[places] = values."""
    cdef Index i
    for i in range(places.size):
        x[places[i]] = values[i]


cdef (Index, bint) fix(
    Vector[Flag] state, Vector[Index] free, Vector[double] w, Vector[double] g, double ub,
    double cut, Index need, Index at_hand,
) noexcept nogil:
    """Decide what a better set must have (if its row is at hand) or cannot have.

    Returns how many were decided, and whether one of them had another weight so far.
    """
    cdef double kth, after
    cdef Index i, count = 0
    cdef bint matters = False
    _, kth, after = top_sum(g, need)
    for i in range(free.size):
        if g[i] >= kth:
            if i < at_hand and ub - g[i] + after <= cut:
                state[free[i]] = IN
                count += 1
                matters = matters or w[i] < 1.0 - WEIGHTLESS
        elif ub - kth + g[i] <= cut:
            state[free[i]] = OUT
            count += 1
            matters = matters or w[i] > WEIGHTLESS
    return count, matters


ctypedef void (*Refill)(Vector[double], Vector[double], Index) except + nogil
ctypedef Found (*Search)(
    Ground&, Vector[Flag], Vector[double], Vector[double], Vector[double], double, double, double,
    double, Index,
) except + nogil


def refill(w, g, Index k):
    """`refill_weights` of arrays; w is overwritten."""
    cdef Vector[double] weights = vector(w, write=True), gradient = vector(g)
    with nogil:
        (<Refill> refill_weights)(weights, gradient, k)


def search_perspective(
    ground, state, weights, diagonal, hot, double bound, double cut, double step, double horizon,
    Index max_nodes,
):
    """`search_below` of arrays: visited, members, the listed sets in a row, cut and OpenNodes."""
    cdef Ground views = read_ground(ground)
    cdef Vector[Flag] start = flags(state)
    cdef Vector[double] w = vector(weights), D = vector(diagonal), g = vector(hot)
    cdef Found found
    with nogil:
        found = (<Search> search_below)(
            views, start, w, D, g, bound, cut, step, horizon, max_nodes
        )
    left = OpenNodes(
        array_of(found.bounds),
        array_of_flag_matrix(found.states),
        array_of_matrix(found.weights),
        array_of_matrix(found.diagonals),
        array_of_matrix(found.gradients),
    )
    listed = array_of_indices(Vector[Index](found.listed.data(), found.listed.size()))
    return found.visited, array_of_indices(found.members), listed, found.cut, left
