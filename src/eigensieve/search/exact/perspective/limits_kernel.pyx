"""What single limits decide of a node: `Limits.narrow` for the compiled search."""

from ....pencil.views cimport (
    Flag, Index, NewVector, Vector, flags, indices, sorted, vector,
)
from ..coverage_kernel cimport FREE, IN, OUT


cdef LimitRows read_limits(object limits) except *:
    """The views of a tuple of arrays."""
    cdef LimitRows views
    starts, features, weights, most = limits
    views.starts, views.features = indices(starts), indices(features)
    views.weights, views.most = vector(weights), vector(most)
    return views


cdef bint narrow(LimitRows& limits, Vector[Flag] state, Index k) noexcept nogil:
    """Decide in place what every set of k that keeps the limits must have, or cannot have.

    A row at a time, until none says any more; False if one of them leaves no set.
    """
    cdef Index c, need = 0, u = 0, more = 1, decided = 1
    while decided:
        decided = 0
        for c in range(limits.most.size):
            if more:  # the features are others than before
                need, u = count(state, k)
            more = narrow_by(limits, c, state, need, u)
            if more < 0:
                return False
            decided += more
    return True


cdef (Index, Index) count(Vector[Flag] state, Index k) noexcept nogil:
    """How many features are still needed, and how many are FREE."""
    cdef Index need = k, u = 0, j
    for j in range(state.size):
        need -= state[j] == IN
        u += state[j] == FREE
    return need, u


cdef Index narrow_by(
    LimitRows& limits, Index c, Vector[Flag] state, Index need, Index u
) noexcept nogil:
    """How many features a row decides of u that are FREE; -1 if it leaves no set.

    The smallest sum of ``need`` weights of FREE features, most of which weigh nothing in the row,
    is ``least``; an exchange for the last one in it, or for the next one, says what must be.
    """
    cdef Index start = limits.starts[c], m = limits.starts[c + 1] - start, n_free = 0, i, j, decided = 0
    cdef NewVector[double] weights = NewVector[double](m), ordered
    cdef double room = limits.most[c], least = 0.0, last, following, weight
    for i in range(start, start + m):
        j = limits.features[i]
        if state[j] == IN:
            room -= limits.weights[i]
        elif state[j] == FREE:
            weights[n_free] = limits.weights[i]
            n_free += 1
    if need < 0 or need > u:
        return -1
    ordered = sorted(weights.part(0, n_free))
    for i in range(need):
        weight = at_rank(ordered, u - n_free, i)
        if weight == 0.0 and i < need - 1 and at_rank(ordered, u - n_free, need - 1) == 0.0:
            break
        least += weight
    if least > room:
        return -1
    if need == 0 or need == u:
        return 0
    last, following = at_rank(ordered, u - n_free, need - 1), at_rank(ordered, u - n_free, need)
    for i in range(start, start + m):
        j = limits.features[i]
        if state[j] == FREE:
            decided += decide(state, j, limits.weights[i], least, last, following, room)
    if u > n_free and (least - last > room or least + following > room):
        decided += decide_others(limits, c, state, least, last, following, room)
    return decided


cdef double at_rank(Vector[double] ordered, Index zeros, Index i) noexcept nogil:
    """What would stand at a place if so many zeros were sorted in."""
    cdef Index a = 0
    if i < ordered.size and ordered[i] < 0.0:
        return ordered[i]
    while a < ordered.size and ordered[a] < 0.0:
        a += 1
    return 0.0 if i < a + zeros else ordered[i - zeros]


cdef bint decide(
    Vector[Flag] state, Index j, double weight, double least, double last, double following,
    double room,
) noexcept nogil:
    """Whether a FREE feature of this weight is decided, in place."""
    if weight > last:
        if least - last + weight > room:
            state[j] = OUT
            return True
    elif least - weight + following > room:
        state[j] = IN
        return True
    return False


cdef Index decide_others(
    LimitRows& limits, Index c, Vector[Flag] state, double least, double last, double following,
    double room,
) noexcept nogil:
    """The same for all features that weigh nothing in the row."""
    cdef NewVector[Flag] is_member = NewVector[Flag](state.size, False)
    cdef Index i, j, decided = 0
    for i in range(limits.starts[c], limits.starts[c + 1]):
        is_member[limits.features[i]] = True
    for j in range(state.size):
        if state[j] == FREE and not is_member[j]:
            decided += decide(state, j, 0.0, least, last, following, room)
    return decided


ctypedef bint (*Narrow)(LimitRows&, Vector[Flag], Index) except + nogil


def narrow_state(limits, state, Index k):
    """`narrow` of arrays: whether the limits leave a set; the state is overwritten."""
    cdef LimitRows views = read_limits(limits)
    cdef Vector[Flag] now = flags(state, write=True)
    cdef bint is_left
    with nogil:
        is_left = (<Narrow> narrow)(views, now, k)
    return is_left
