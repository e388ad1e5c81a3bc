"""Counting inside a kernel: what every block needs, and which subproblems were closed."""

from ...pencil.views cimport Flag, Index, Matrix, Vector

cdef enum:
    FREE = 0  # as in search/target.py
    IN = 1
    OUT = -1


cdef inline void record_closed(
    Vector[Index] counts, Matrix[Index] strides, Vector[Index] sizes, Vector[Index] needs,
    Index amount,
) noexcept nogil:
    """Add ``amount`` to the entry of a subproblem: sizes[b] undecided, needs[b] still to choose.

    A closed node counts +1. A node that fixing turns into a smaller one counts +1 for itself and
    -1 for what is left of it. ``counts`` is empty where no audit is wanted.
    """
    cdef Index b, code = 0
    if counts.size == 0:
        return
    for b in range(sizes.size):
        code += sizes[b] * strides[b][0] + needs[b] * strides[b][1]
    counts[code] += amount


cdef inline bint count_free(
    Vector[Flag] state, Vector[Index] block, Vector[Index] need, Vector[Index] sizes,
    Vector[Index] needs,
) noexcept nogil:
    """Free and needed features of every block; False if a block cannot be filled."""
    cdef Index b, j
    sizes.fill(0)
    needs.assign(need)
    for j in range(state.size):
        if state[j] == FREE:
            sizes[block[j]] += 1
        elif state[j] == IN:
            needs[block[j]] -= 1
    for b in range(sizes.size):
        if needs[b] < 0 or sizes[b] < needs[b]:
            return False
    return True


cdef inline void decide_full_blocks(
    Vector[Flag] state, Vector[Index] block, Vector[Index] sizes, Vector[Index] needs
) noexcept nogil:
    """Where a block needs all of its free features, or none, there is no choice left."""
    cdef Index b, j
    for b in range(sizes.size):
        if sizes[b] > 0 and (needs[b] == 0 or needs[b] == sizes[b]):
            for j in range(state.size):
                if state[j] == FREE and block[j] == b:
                    state[j] = OUT if needs[b] == 0 else IN
            sizes[b] = 0
            needs[b] = 0
