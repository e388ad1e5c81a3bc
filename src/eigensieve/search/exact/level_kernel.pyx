"""N = level * B - A on the features that are undecided, for the searches that work at a level."""

from ...pencil.views cimport (
    NewMatrix, NewVector, array_of_indices, array_of_matrix, copy_of, indices, join, matrix, vector,
)

cdef extern from *:
    """
    // Round-off of an elimination, per row and column, in units of the diagonal of N, which is
    // lowered by it.
    static constexpr double ROUND_OFF = 2.2e-16;
    """
    const double ROUND_OFF


cdef (Index, double, double) reduce_level(
    Matrix[double] A, Matrix[double] B, double level, Vector[Index] inside, Vector[Index] free,
    Vector[double] reach, Matrix[double] N,
) noexcept nogil:
    """``N`` gets the Schur complement of level * B - A on the free features.

    Returns how many pivots of ``inside`` were positive before the first that was not, the least
    pivot allowed, and how far the sets may exceed the level unseen. Fewer pivots than ``inside``
    has mean that the features up to that one exceed the level, or that double precision cannot
    tell; every pivot that is not positive is replaced by the least one.
    """
    cdef Index f = inside.size, u = free.size, n = f + u, i, j, c, positive = f
    cdef NewVector[Index] order = join(inside, free)
    cdef NewMatrix[double] M = NewMatrix[double](n, n)
    cdef Vector[double] a, b, row, other
    cdef double slack = ROUND_OFF * (n + 2) * (f + 2) * (1.0 + abs(level))
    cdef double lifted = 0.0, pivot, factor
    for i in range(n):
        a, b, row = A[order[i]], B[order[i]], M[i]
        for j in range(n):
            row[j] = level * b[order[j]] - a[order[j]]
        row[i] -= slack
    for c in range(f):
        row = M[c]
        pivot = row[c]
        if not pivot > 0.0:
            positive = min(positive, c)
        if pivot < slack:
            lifted += (slack - pivot) * reach[order[c]]
            pivot = slack
        for i in range(c + 1, n):
            factor = row[i] / pivot
            other = M[i]
            for j in range(i, n):
                other[j] -= factor * row[j]
    for i in range(u):
        for j in range(i, u):
            N[i][j] = N[j][i] = M[f + i][f + j]
    return positive, slack, lifted


cdef NewVector[Index] indefinite_subset(
    Matrix[double] N, Vector[Index] block, Vector[Index] needs, Index few
) noexcept nogil:
    """At most three features, as many as needed, on which N is not positive definite."""
    cdef Index u = N.rows, a, b, c
    cdef NewVector[Index] left = copy_of(needs), found
    cdef NewVector[double] border = NewVector[double](u)
    cdef Vector[double] row, other
    cdef double pivot, side
    for a in range(u if few > 1 else 0):
        row = N[a]
        left[block[a]] -= 1
        for b in range(a + 1, u):
            border[b] = row[b] / row[a]
        for b in range(a + 1, u):
            if left[block[b]] <= 0:
                continue
            other = N[b]
            pivot = other[b] - border[b] * row[b]
            if not pivot > 0.0:
                found = NewVector[Index](2)
                found[0], found[1] = a, b
                return found
            if few < 3:
                continue
            left[block[b]] -= 1
            for c in range(b + 1, u):
                if left[block[c]] > 0:
                    side = other[c] - border[b] * row[c]
                    if not pivot * (N[c][c] - border[c] * row[c]) > side * side:
                        found = NewVector[Index](3)
                        found[0], found[1], found[2] = a, b, c
                        return found
            left[block[b]] += 1
        left[block[a]] += 1
    return found


ctypedef (Index, double, double) (*Reduce)(
    Matrix[double], Matrix[double], double, Vector[Index], Vector[Index], Vector[double],
    Matrix[double],
) except + nogil
ctypedef NewVector[Index] (*FindSubset)(
    Matrix[double], Vector[Index], Vector[Index], Index
) except + nogil


def reduce_to_free(A, B, double level, inside, free, reach):
    """`reduce_level` of arrays: N on the free features, and what it returns."""
    cdef Matrix[double] a = matrix(A), b = matrix(B)
    cdef Vector[Index] chosen = indices(inside), others = indices(free)
    cdef Vector[double] most = vector(reach)
    cdef NewMatrix[double] N = NewMatrix[double](others.size, others.size)
    cdef (Index, double, double) found
    with nogil:
        found = (<Reduce> reduce_level)(a, b, level, chosen, others, most, N)
    return array_of_matrix(N), found[0], found[1], found[2]


def find_indefinite(N, block, needs):
    """`indefinite_subset` of arrays, where at most three features are needed."""
    cdef Matrix[double] M = matrix(N)
    cdef Vector[Index] own = indices(block), wanted = indices(needs)
    cdef Index few = sum(needs)
    cdef NewVector[Index] found
    with nogil:
        found = (<FindSubset> indefinite_subset)(M, own, wanted, few)
    return array_of_indices(found)
