"""Block coordinate descent for the group lasso: min 1/2 tr B'GB - tr B'C + sum_j |beta_j|.

A group is a row beta_j of B (w, q). Each visit minimises over one row exactly. B and H = C - GB are
kept transposed, so that the update of H runs over neighbours in memory; both are changed in place.
"""

from libc.math cimport sqrt

from ..pencil.views cimport Flag, Index, Matrix, NewVector, Vector, matrix, subtract, where


cdef void descend_blocks(
    Matrix[double] G, Matrix[double] B, Matrix[double] H, Index sweeps, double enough
) noexcept nogil:
    """Sweeps over all rows, and in between over those that are not zero.

    B and H are (q, w). It ends early when no step of a sweep over all rows is larger than
    ``enough``, measured by the change of the gradient.
    """
    cdef Index q = B.rows, w = B.columns, c, j, visit
    cdef NewVector[double] step = NewVector[double](q)
    cdef NewVector[Flag] visited = NewVector[Flag](w, True)
    cdef NewVector[Index] everything = where(visited, <Flag> True), order = everything
    cdef Vector[double] row
    cdef double largest, curvature, square, value, length, keep, moved
    for _ in range(sweeps):
        largest = 0.0
        for visit in range(order.size):
            j = order[visit]
            row = G[j]
            curvature = row[j]
            if curvature <= 0.0:
                continue
            square = 0.0
            for c in range(q):
                value = H[c][j] + curvature * B[c][j]
                step[c] = value
                square += value * value
            length = sqrt(square)
            keep = (length - 1.0) / (length * curvature) if length > 1.0 else 0.0
            moved = 0.0
            for c in range(q):
                step[c] = keep * step[c] - B[c][j]
                moved += step[c] * step[c]
            if moved == 0.0:
                continue
            for c in range(q):
                B[c][j] += step[c]
                subtract(H[c], step[c], row)
            largest = max(largest, sqrt(moved) * curvature)
        if order.size == w:
            if largest <= enough:
                break
            for j in range(w):
                visited[j] = False
                for c in range(q):
                    if B[c][j] != 0.0:
                        visited[j] = True
            order = where(visited, <Flag> True)
        elif largest <= enough:
            order = everything


ctypedef void (*Descend)(
    Matrix[double], Matrix[double], Matrix[double], Index, double
) except + nogil


def descend_rows(G, B, H, Index sweeps, double enough):
    """`descend_blocks` of arrays; B and H change."""
    cdef Matrix[double] g = matrix(G), b = matrix(B, write=True), h = matrix(H, write=True)
    with nogil:
        (<Descend> descend_blocks)(g, b, h, sweeps, enough)
