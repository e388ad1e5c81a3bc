"""The largest entries of every row of a matrix: what the test by rows is made of.

Features of one block stand together, the b-th from starts[b] on; a set has needs[b] of them.
"""

from libc.math cimport INFINITY, fabs
from libcpp.algorithm cimport nth_element

from ....pencil.views cimport Index, Matrix, NewVector, Vector, indices, matrix, vector

cdef extern from *:
    """
    // Up to this many a heap is quicker than a selection, and up to this share: few enter it.
    static constexpr std::ptrdiff_t FEW = 16, SHARE = 16;
    """
    const Index FEW, SHARE


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


cdef double* largest_of(double* values, Index count, Index size, double* heap) noexcept nogil:
    """The largest of some values, so many of them, the smallest first. The values are reordered."""
    cdef Index j
    if size > FEW and size * SHARE > count:
        nth_element(values, values + count - size, values + count)
        return values + count - size
    for j in range(size):
        heap[j] = 0.0
    for j in range(count):
        if values[j] > heap[0]:
            sift(heap, size, values[j])
    return heap


cdef double* find_largest(
    Vector[double] row, Index own, Vector[double] w, Index start, Index stop, Index size,
    double* values, double* heap,
) noexcept nogil:
    """The largest |row_j| w_j in a block, so many of them, without j = own; the smallest first."""
    cdef Index j, count = stop - start
    cdef double* entries = row.data + start
    cdef double* weights = w.data + start
    cdef double value
    if size <= 0:
        return heap
    for j in range(count):
        value = fabs(entries[j]) * weights[j]
        values[j] = value if value == value else INFINITY  # NaN has no order
    if start <= own < stop:
        values[own - start] = 0.0
    if size > count:  # a sum of more than there are
        values[count] = 0.0
        count += 1
    return largest_of(values, count, size, heap)


cdef void sum_rows(
    Matrix[double] rows, Index first, Vector[double] w, Vector[Index] starts, Vector[Index] needs,
    Vector[double] sums,
) noexcept nogil:
    cdef Index i, j, b, size, own
    cdef NewVector[double] values = NewVector[double](w.size + 1), heap = NewVector[double](w.size + FEW + 1, 0.0)
    cdef double* top
    cdef double total
    for i in range(rows.rows):
        own, total = first + i, 0.0
        for b in range(needs.size):
            size = needs[b] - (starts[b] <= own < starts[b + 1])
            top = find_largest(
                rows[i], own, w, starts[b], starts[b + 1], size, values.data, heap.data
            )
            for j in range(size):
                total += top[j]
        sums[i] = total


cdef void rank_rows(
    Matrix[double] rows, Index first, Vector[double] w, Vector[Index] starts, Vector[Index] needs,
    Vector[double] sums, Matrix[double] least, Matrix[double] after,
) noexcept nogil:
    cdef Index i, j, b, size, own
    cdef NewVector[double] values = NewVector[double](w.size + 1), heap = NewVector[double](w.size + FEW + 1, 0.0)
    cdef double* top
    for i in range(rows.rows):
        own, sums[i] = first + i, 0.0
        for b in range(needs.size):
            size = needs[b] - (starts[b] <= own < starts[b + 1])
            top = find_largest(
                rows[i], own, w, starts[b], starts[b + 1], size + 1, values.data, heap.data
            )
            after[i][b] = top[0]
            least[i][b] = INFINITY  # where a set has no other feature
            for j in range(1, size + 1):
                sums[i] += top[j]
                least[i][b] = min(least[i][b], top[j])


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
