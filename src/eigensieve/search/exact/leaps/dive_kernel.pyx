"""Leaps and bounds below a node: depth first on the inverse of B, a few microseconds a node.

Deleting features costs at least as much as the costliest of them alone, and after a deletion the
costs of the others are known in O(u): most children are closed without being built.
"""

from libc.math cimport INFINITY, exp, log as logarithm, log1p, sqrt

from ....pencil.views cimport NewMatrix, NewVector, argmax
from ..coverage_kernel cimport FREE, IN, OUT, record_closed
from .problem_kernel cimport LOGDET, RANK_ONE, TRACE, chosen_mask, consider, log_det, rounding

cdef extern from *:
    """
    static constexpr double MIN_PIVOT = 1e-300;
    """
    const double MIN_PIVOT


# Memory for `additions`: Cholesky rows, H beside them, what is left of B's diagonal.
cdef cppclass Room:
    NewMatrix[double] L, K
    NewVector[double] left, values
    NewVector[Index] places


cdef bint deletion_costs(
    Index kind, Matrix[double] P, Matrix[double] second, Index u, Vector[double] costs
) noexcept nogil:
    """What deleting each feature alone costs; False if rounding has left no such matrices.

    ``P`` and ``second``: see `Rest`. The diagonal of an inverse is positive, whatever was deleted.
    """
    cdef Index j
    cdef double p, x
    for j in range(u):
        p, x = P[j][j], second[0 if kind == RANK_ONE else j][j]
        if not p > 0.0 or (kind == LOGDET and not x > 0.0):
            return False
        if kind == RANK_ONE:
            costs[j] = x * x / p
        elif kind == TRACE:
            costs[j] = max(x, 0.0) / p
        else:
            costs[j] = max(logarithm(p / x), 0.0)
    return True


cdef Index count_stuck(
    Index kind, Matrix[double] P, Matrix[double] second, Matrix[double] diag, Index i, Index u,
    double slack,
) noexcept nogil:
    """How many of the features after i cannot be deleted once i is: each costs >= slack.

    Not where rounding has left nothing of the diagonal that a cost is a share of.
    """
    cdef Index count = 0, b
    cdef Vector[double] row = P[i], x_row = second[0 if kind == RANK_ONE else i]
    cdef Vector[double] first = diag[0], other = diag[1]
    cdef double share = 1.0 / row[i], own = x_row[i]
    cdef double ratio, p, q, g, x, left, times, part
    if kind == RANK_ONE:
        ratio = own * share
        for b in range(i + 1, u):
            p = row[b]
            x, left = x_row[b] - p * ratio, first[b] - p * p * share
            count += (left > 0.0) & (x * x >= slack * left)
    elif kind == TRACE:
        for b in range(i + 1, u):
            p = row[b]
            g = p * share
            left = first[b] - p * g
            x = other[b] - g * (2.0 * x_row[b] - g * own)
            count += (left > 0.0) & (x >= slack * left)
    else:
        times, part = exp(slack), 1.0 / own
        for b in range(i + 1, u):
            p, q = row[b], x_row[b]
            left = other[b] - q * q * part
            count += (left > 0.0) & (first[b] - p * p * share >= times * left)
    return count


cdef void delete(
    Index kind, Matrix[double] P, Matrix[double] second, Index i, Index m, Matrix[double] P_new,
    Matrix[double] second_new,
) noexcept nogil:
    """The matrices of the m features after i, once i is deleted."""
    cdef Index a, b, after = i + 1
    cdef double share = 1.0 / P[i][i], factor, ratio, own, part, g, h
    cdef Vector[double] row = P[i].part(after, after + m), x_row, old, new
    for a in range(m):
        old, new = P[after + a].part(after, after + m), P_new[a]
        factor = row[a] * share
        for b in range(m):
            new[b] = old[b] - factor * row[b]
    x_row = second[0 if kind == RANK_ONE else i]
    own, x_row = x_row[i], x_row.part(after, after + m)
    if kind == RANK_ONE:
        new = second_new[0]
        ratio = own * share
        for b in range(m):
            new[b] = x_row[b] - row[b] * ratio
    elif kind == TRACE:
        for a in range(m):
            old, new = second[after + a].part(after, after + m), second_new[a]
            g = row[a] * share
            h = x_row[a] - g * own
            for b in range(m):
                new[b] = old[b] - g * x_row[b] - h * share * row[b]
    else:
        part = 1.0 / own
        for a in range(m):
            old, new = second[after + a].part(after, after + m), second_new[a]
            factor = x_row[a] * part
            for b in range(m):
                new[b] = old[b] - factor * x_row[b]


cdef void swap_features(Matrix[double] M, Index a, Index b, Index u) noexcept nogil:
    """Exchange two rows and columns; of a single row, two columns."""
    cdef Index t
    cdef Vector[double] row = M[0], other
    if M.rows > 1:
        row, other = M[a], M[b]
        for t in range(u):
            row[t], other[t] = other[t], row[t]
        for t in range(u):
            row = M[t]
            row[a], row[b] = row[b], row[a]
    else:
        row[a], row[b] = row[b], row[a]


cdef void sort_front(
    Matrix[double] P, Matrix[double] second, Vector[double] costs, Vector[Index] index,
    Matrix[double] diag, Index u, Index front,
) noexcept nogil:
    """Bring the ``front`` costliest features to the front, in order: no others get a child."""
    cdef Index a, b, rows = second.rows
    cdef Vector[double] first = diag[0], other = diag[1]
    for a in range(front):
        b = a + argmax(costs.part(a, u))
        if costs[b] > costs[a]:
            swap_features(P, a, b, u)
            swap_features(second, a, b, u)
            costs[a], costs[b] = costs[b], costs[a]
            index[a], index[b] = index[b], index[a]
    for a in range(u):
        first[a] = P[a][a]
        other[a] = second[a if rows > 1 else 0][a]


cdef void additions(
    LeapsProblem& problem, Rest& rest, Vector[Index] chosen, Vector[Index] free, Room& room
) noexcept nogil:
    """Upper bounds on the values of the chosen set with one free feature more, in room.values."""
    cdef Matrix[double] B = rest.B, H = rest.H, L = room.L, K = room.K
    cdef Vector[double] left = room.left, values = room.values, row, own, other
    cdef Vector[Index] index = room.places
    cdef Index m = chosen.size, u = free.size, c = H.columns, a, b, s, t
    cdef bint is_log = problem.kind == LOGDET
    cdef double shaky = rest.shaky, base, factor, pivot, share, y, gain, value
    index.part(0, m).assign(chosen)
    index.part(m, m + u).assign(free)
    for s in range(c):
        own = K[s]
        for a in range(m + u):
            own[a] = H[index[a]][s]
    for b in range(u):
        left[b] = B[free[b]][free[b]]
    for a in range(m):
        row, own = B[chosen[a]], L[a]
        for b in range(a, m + u):
            own[b] = row[index[b]]
        for t in range(a):
            other = L[t]
            factor = other[a]
            for b in range(a, m + u):
                own[b] -= factor * other[b]
        pivot = max(own[a], MIN_PIVOT)
        shaky += 1.0 / pivot
        share = 1.0 / sqrt(pivot)
        for b in range(a, m + u):
            own[b] *= share
        for s in range(c):
            other = K[s]
            other[a] *= share
            y = other[a]
            for b in range(a + 1, m + u):
                other[b] -= own[b] * y
        own = own.part(m, m + u)
        for b in range(u):
            left[b] -= own[b] * own[b]
    base = rest.base + explain(K.across(0, m + u), m, is_log)
    for b in range(u):
        gain, share = 0.0, 1.0 / max(left[b], MIN_PIVOT)
        for s in range(c):
            gain += K[s][m + b] * K[s][m + b]
        value = base + (log1p(gain * share) if is_log else gain * share)
        values[b] = value + rounding(problem, value, shaky + share)


cdef double explain(Matrix[double] K, Index m, bint is_log) noexcept nogil:
    """The value of the first m columns, which are eliminated; logdet: the others adapt to them."""
    cdef Index c = K.rows, a, b, s, t
    cdef double value = 0.0, total
    cdef NewMatrix[double] C
    cdef Vector[double] row, other
    if not is_log:
        for s in range(c):
            row = K[s]
            for a in range(m):
                value += row[a] * row[a]
        return value
    C = NewMatrix[double](c, c)
    for s in range(c):
        row = K[s]
        for t in range(s, c):
            other = K[t]
            total = 1.0 if s == t else 0.0
            for a in range(m):
                total += row[a] * other[a]
            C[s][t] = total
    value = log_det(C)
    if value == INFINITY:
        return value
    for s in range(c):
        row = K[s]
        for b in range(m, K.columns):
            row[b] /= C[s][s]
        for t in range(s + 1, c):
            other = K[t]
            for b in range(m, K.columns):
                other[b] -= C[s][t] * row[b]
    return value


cdef (Index, Index) dive(
    LeapsProblem& problem, Log& log, Rest& rest, Vector[Flag] state, Index need, Index limit,
    Matrix[Flag] states, Vector[double] bounds,
) noexcept nogil:
    """Search the rest for sets of ``need`` features above the cut.

    The features of a level are sorted by cost, descending. Child i deletes feature i and chooses
    those before it; the remainder of a level, with fewer and fewer left to choose, ends in
    `additions`. Returns the number of nodes, and how many remainders ``limit`` left open, which
    go to ``states`` and ``bounds``; LOST if deletions have used up the digits of the inverse.
    """
    cdef Index kind = problem.kind, u = rest.free.size, rows = rest.second.rows, c = rest.H.columns
    cdef Vector[double] record = log.record
    cdef Vector[Index] free = rest.free
    cdef Index depth = min(u - need, limit) + 1
    cdef NewMatrix[double] Ps = NewMatrix[double](depth * u, u)
    cdef NewMatrix[double] seconds = NewMatrix[double](depth * rows, u)
    cdef NewMatrix[double] costs = NewMatrix[double](depth, u)
    cdef NewMatrix[double] diags = NewMatrix[double](depth * 2, u)
    cdef NewMatrix[Index] index = NewMatrix[Index](depth, u)
    cdef NewVector[Index] sizes = NewVector[Index](depth, 0), needs = NewVector[Index](depth, 0)
    cdef NewVector[Index] places = NewVector[Index](depth, 0)
    cdef NewVector[Index] n_chosen = NewVector[Index](depth, 0), chosen = NewVector[Index](u)
    cdef NewVector[double] tops = NewVector[double](depth)
    cdef NewVector[Index] size_now = NewVector[Index](1), need_now = NewVector[Index](1)
    cdef NewVector[Flag] mask
    cdef Matrix[double] P, second, diag, P_new, second_new
    cdef Vector[double] cost
    cdef Vector[Index] own, added
    cdef Vector[Flag] new_state
    cdef Room room
    cdef Index level = 0, nodes = 1, child, here, i, m, k, a
    cdef double slack, left
    room.L, room.K = NewMatrix[double](need, u), NewMatrix[double](c, u)
    room.left, room.values = NewVector[double](u), NewVector[double](u)
    room.places = NewVector[Index](u)

    P, second, diag = Ps.layer(0, u), seconds.layer(0, rows), diags.layer(0, 2)
    P.assign(rest.P)
    second.assign(rest.second)
    for a in range(u):
        index[0][a] = a
    deletion_costs(kind, P, second, u, costs[0])
    sort_front(P, second, costs[0], index[0], diag, u, need + 1)
    sizes[0], needs[0], tops[0] = u, need, rest.top
    while level >= 0:
        i, m, k = places[level], sizes[level], needs[level]
        cost, own = costs[level], index[level]
        slack = tops[level] - record[0]
        here = n_chosen[level] + i
        size_now[0], need_now[0] = m - i, k - i
        if k - i == 1 or cost[k] >= slack:
            record_closed(log.counts, log.strides, size_now, need_now, 1)
            if cost[k] < slack:
                chosen.part(here - i, here).assign(own.part(0, i))
                added = own.part(i, m)
                additions(problem, rest, chosen.part(0, here), added, room)
                offer(problem, log, state, free, chosen.part(0, here), added, room.values)
            level -= 1
            continue
        if nodes > limit:
            break
        places[level] = i + 1
        size_now[0] -= 1
        left = slack - cost[i]
        P, second, diag = Ps.layer(level, u), seconds.layer(level, rows), diags.layer(level, 2)
        if left <= 0.0 or count_stuck(kind, P, second, diag, i, m, left) > k - i:
            record_closed(log.counts, log.strides, size_now, need_now, 1)
            continue
        nodes += 1
        if m - k == 1:
            record_closed(log.counts, log.strides, size_now, need_now, 1)
            mask = chosen_mask(state)
            for a in range(here - i):
                mask[free[chosen[a]]] = True
            for a in range(m):
                mask[free[own[a]]] = a != i
            consider(problem, log, mask)
            continue
        child, m = level + 1, m - i - 1
        chosen.part(here - i, here).assign(own.part(0, i))
        P_new, second_new = Ps.layer(child, u), seconds.layer(child, rows)
        delete(kind, P, second, i, m, P_new, second_new)
        if not deletion_costs(kind, P_new, second_new, m, costs[child]):
            return nodes, LOST
        index[child].part(0, m).assign(own.part(i + 1, i + 1 + m))
        diag = diags.layer(child, 2)
        sort_front(P_new, second_new, costs[child], index[child], diag, m, k - i + 1)
        sizes[child], needs[child], places[child] = m, k - i, 0
        n_chosen[child], tops[child] = here, tops[level] - cost[i]
        level = child
    for a in range(level + 1):
        new_state, own = states[a], index[a]
        new_state.assign(state)
        for i in range(u):
            new_state[free[i]] = OUT
        for i in range(n_chosen[a]):
            new_state[free[chosen[i]]] = IN
        for i in range(sizes[a]):
            new_state[free[own[i]]] = IN if i < places[a] else FREE
        bounds[a] = tops[a] - costs[a][needs[a]]
    return nodes, level + 1


cdef void offer(
    LeapsProblem& problem, Log& log, Vector[Flag] state, Vector[Index] free, Vector[Index] chosen,
    Vector[Index] added, Vector[double] values,
) noexcept nogil:
    """Consider the chosen set with each feature that may bring it above the cut, best first."""
    cdef Index a, b
    cdef NewVector[Flag] mask
    while True:
        b = argmax(values.part(0, added.size))
        if values[b] <= log.record[0] or values[b] == -INFINITY:
            return
        mask = chosen_mask(state)
        for a in range(chosen.size):
            mask[free[chosen[a]]] = True
        mask[free[added[b]]] = True
        consider(problem, log, mask)
        values[b] = -INFINITY
