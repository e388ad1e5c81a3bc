"""What single limits decide of a node: `Limits.narrow` for the compiled search."""

from ....pencil.views cimport (
    Flag, Index, NewVector, Vector, flags, indices, sorted, vector, where,
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
    cdef Index c, decided = 1
    while decided:
        decided = 0
        for c in range(limits.most.size):
            decided += narrow_by(limits, c, state, k)
            if decided < 0:
                return False
    return True


cdef Index narrow_by(LimitRows& limits, Index c, Vector[Flag] state, Index k) noexcept nogil:
    """How many features a row decides; very negative if it leaves no set."""
    cdef NewVector[Index] free = where(state, <Flag> FREE)
    cdef NewVector[double] load = NewVector[double](state.size, 0.0), own, ordered
    cdef Index u = free.size, need = k, count = 0, i, j
    cdef double room = limits.most[c], least = 0.0, last, following
    cdef Index none = -state.size - 1
    for i in range(limits.starts[c], limits.starts[c + 1]):
        j = limits.features[i]
        load[j] = limits.weights[i]
        if state[j] == IN:
            room -= load[j]
    for j in range(state.size):
        if state[j] == IN:
            need -= 1
    if need < 0 or need > u:
        return none
    own = NewVector[double](u)
    for i in range(u):
        own[i] = load[free[i]]
    ordered = sorted(own)
    for i in range(need):
        least += ordered[i]
    if least > room:
        return none
    if need == 0 or need == u:
        return 0
    last, following = ordered[need - 1], ordered[need]
    for i in range(u):
        if own[i] > last:
            if least - last + own[i] > room:
                state[free[i]] = OUT
                count += 1
        elif least - own[i] + following > room:
            state[free[i]] = IN
            count += 1
    return count


ctypedef bint (*Narrow)(LimitRows&, Vector[Flag], Index) except + nogil


def narrow_state(limits, state, Index k):
    """`narrow` of arrays: whether the limits leave a set; the state is overwritten."""
    cdef LimitRows views = read_limits(limits)
    cdef Vector[Flag] now = flags(state, write=True)
    cdef bint is_left
    with nogil:
        is_left = (<Narrow> narrow)(views, now, k)
    return is_left
