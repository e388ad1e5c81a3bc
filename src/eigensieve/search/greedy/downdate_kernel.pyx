"""Deleting a feature from an inverse matrix, in place."""

from ...pencil.views cimport Index, Matrix, Vector, indices, matrix


cdef void downdate(Matrix[double] P, Vector[Index] alive, Index j) noexcept nogil:
    """P -= P_j P_j' / P_jj on the rows and columns listed in alive (j not among them).

    P holds the inverse of a matrix restricted to alive + {j}; afterwards its alive part is
    the inverse of the matrix restricted to alive.
    """
    cdef Index m = alive.size, a, b
    cdef Vector[double] row, own = P[j]
    cdef double pivot = own[j], factor
    for a in range(m):
        row = P[alive[a]]
        factor = row[j] / pivot
        if factor != 0.0:
            for b in range(m):
                row[alive[b]] -= factor * own[alive[b]]


ctypedef void (*Downdate)(Matrix[double], Vector[Index], Index) except + nogil


def delete_from_inverse(P, alive, Index j):
    """`downdate` of arrays."""
    cdef Matrix[double] inverse = matrix(P, write=True)
    cdef Vector[Index] left = indices(alive)
    with nogil:
        (<Downdate> downdate)(inverse, left, j)
