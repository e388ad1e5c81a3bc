"""The largest entries of every row of a matrix: what the test by rows is made of.

Features of one block stand together, the b-th from starts[b] on; a set has needs[b] of them.
"""

from libc.math cimport INFINITY, fabs

from ....pencil.views cimport Index, Matrix, NewVector, Vector, indices, matrix, vector


cdef inline void sift(double* heap, Index size, double value) noexcept nogil:
    """Put a value in the place of the smallest, heap[0]."""
    cdef Index place = 0, child
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


cdef inline void keep_largest(
    double* row, double* w, Index start, Index stop, double* heap, Index size
) noexcept nogil:
    """Of |row_j| w_j those join the heap that are larger than its smallest."""
    cdef Index j
    cdef double value
    for j in range(start, stop):
        value = fabs(row[j]) * w[j]
        if value > heap[0]:
            sift(heap, size, value)


cdef double sum_row(
    Vector[double] row, Index own, Vector[double] w, Vector[Index] starts, Vector[Index] needs,
    double* heap,
) noexcept nogil:
    """The largest sum of |row_j| w_j over the other features of a set with feature ``own``."""
    cdef Index b, i, size
    cdef double total = 0.0
    for b in range(needs.size):
        size = find_largest(row, own, w, starts, needs, b, 0, heap)
        for i in range(size):
            total += heap[i]
    return total


cdef inline Index find_largest(
    Vector[double] row, Index own, Vector[double] w, Vector[Index] starts, Vector[Index] needs,
    Index b, Index more, double* heap,
) noexcept nogil:
    """The largest entries of a row in block b, as many as a set has there, and ``more``."""
    cdef Index start = starts[b], stop = starts[b + 1], size = needs[b] + more, i
    cdef bint is_own = start <= own < stop
    if is_own:
        size -= 1
    for i in range(size):
        heap[i] = 0.0
    if size > 0:
        if is_own:
            keep_largest(row.data, w.data, start, own, heap, size)
            keep_largest(row.data, w.data, own + 1, stop, heap, size)
        else:
            keep_largest(row.data, w.data, start, stop, heap, size)
    return size


cdef void sum_rows(
    Matrix[double] rows, Index first, Vector[double] w, Vector[Index] starts, Vector[Index] needs,
    Vector[double] sums,
) noexcept nogil:
    cdef Index i
    cdef NewVector[double] heap = NewVector[double](w.size + 1)
    for i in range(rows.rows):
        sums[i] = sum_row(rows[i], first + i, w, starts, needs, heap.data)


cdef void rank_rows(
    Matrix[double] rows, Index first, Vector[double] w, Vector[Index] starts, Vector[Index] needs,
    Vector[double] sums, Matrix[double] least, Matrix[double] after,
) noexcept nogil:
    cdef Index i, j, b, size
    cdef NewVector[double] heap = NewVector[double](w.size + 1)
    cdef double* top = heap.data
    for i in range(rows.rows):
        sums[i] = 0.0
        for b in range(needs.size):
            size = find_largest(rows[i], first + i, w, starts, needs, b, 1, top)
            after[i][b] = top[0] if size > 0 else 0.0
            least[i][b] = INFINITY  # where a set has no other feature
            for j in range(1, size):
                sums[i] += top[j]
                if top[j] < least[i][b]:
                    least[i][b] = top[j]


ctypedef void (*Sum)(
    Matrix[double], Index, Vector[double], Vector[Index], Vector[Index], Vector[double]
) except + nogil
ctypedef void (*Rank)(
    Matrix[double], Index, Vector[double], Vector[Index], Vector[Index], Vector[double],
    Matrix[double], Matrix[double],
) except + nogil


def largest_sums(rows, Index first, w, starts, needs, sums):
    """For some rows, from ``first`` on: ``sums`` gets what `sum_row` says of each."""
    cdef Matrix[double] some = matrix(rows)
    cdef Vector[double] weights = vector(w), out = vector(sums, write=True)
    cdef Vector[Index] begin = indices(starts), wanted = indices(needs)
    with nogil:
        (<Sum> sum_rows)(some, first, weights, begin, wanted, out)


def ranked_sums(rows, Index first, w, starts, needs, sums, least, after):
    """The same; ``least`` and ``after`` get, for every block, the smallest entry that is in the
    sum (inf if none is) and the largest that is not.
    """
    cdef Matrix[double] some = matrix(rows)
    cdef Vector[double] weights = vector(w), out = vector(sums, write=True)
    cdef Vector[Index] begin = indices(starts), wanted = indices(needs)
    cdef Matrix[double] smallest = matrix(least, write=True), largest = matrix(after, write=True)
    with nogil:
        (<Rank> rank_rows)(some, first, weights, begin, wanted, out, smallest, largest)
