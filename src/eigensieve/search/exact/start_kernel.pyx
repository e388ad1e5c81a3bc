"""A local search for the largest eigenvalue, by exchanges, on small dense pencils."""

from libc.math cimport INFINITY

from ...pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, array_of_indices, flags, indices, join,
    matrix,
)
from ..linear_kernel cimport eliminate, largest_ratio

import numpy as np

cdef extern from *:
    """
    // An exchange must gain this much, relatively: round-off must not cycle.
    static constexpr double MIN_GAIN = 1e-9;
    """
    const double MIN_GAIN


cdef double exchange_in_turn(
    Matrix[double] A, Matrix[double] B, Vector[Index] block, Vector[Index] S, Vector[Flag] movable
) noexcept nogil:
    """Exchange one feature of S after the other, in place, while that helps; its value.

    With R the set without one feature, R + j exceeds the level exactly if the Schur complement of
    N at j is negative: one Cholesky factor of N_R answers for every j.
    """
    cdef double value = largest_ratio(A, B, S), level, new
    cdef Index slot = 0, unchanged = 0, j, old
    while unchanged < S.size:
        if movable[S[slot]]:
            level = value + MIN_GAIN * max(abs(value), 1.0)
            j = best_exchange(A, B, block, S, slot, level)
            if j >= 0:
                old = S[slot]
                S[slot] = j
                new = largest_ratio(A, B, S)
                if new > level:
                    value, unchanged = new, -1
                else:  # double precision could not tell
                    S[slot] = old
        slot = (slot + 1) % S.size
        unchanged += 1
    return value


cdef Index best_exchange(
    Matrix[double] A, Matrix[double] B, Vector[Index] block, Vector[Index] S, Index slot,
    double level,
) noexcept nogil:
    """The feature that lifts the set most clearly above the level in that slot, or -1."""
    cdef Index n = A.rows, r = S.size - 1, i, j, c, best = -1
    cdef NewVector[Index] rest = join(S.part(0, slot), S.part(slot + 1, S.size))
    cdef NewMatrix[double] N = NewMatrix[double](r, r), X = NewMatrix[double](r, n)
    cdef NewVector[double] schur = NewVector[double](n)
    cdef Vector[double] a, b, row
    cdef double lowest = 0.0
    for i in range(r):
        a, b = A[rest[i]], B[rest[i]]
        for j in range(r):
            N[i][j] = level * b[rest[j]] - a[rest[j]]
        row = X[i]
        for j in range(n):
            row[j] = level * b[j] - a[j]
    if eliminate(N, X, r) == INFINITY:
        return -1
    for j in range(n):
        schur[j] = level * B[j][j] - A[j][j]
    for c in range(r):
        row = X[c]
        for j in range(n):
            schur[j] -= row[j] * row[j]
    for i in range(S.size):
        schur[S[i]] = INFINITY
    for j in range(n):
        if schur[j] < lowest and block[j] == block[S[slot]]:
            best, lowest = j, schur[j]
    return best


ctypedef double (*Climb)(
    Matrix[double], Matrix[double], Vector[Index], Vector[Index], Vector[Flag]
) except + nogil


def climb(A, B, block, chosen, movable):
    """The set that `exchange_in_turn` leads to, sorted, and its value."""
    end = array_of_indices(indices(chosen))
    cdef Matrix[double] a = matrix(A), b = matrix(B)
    cdef Vector[Index] own = indices(block), S = indices(end, write=True)
    cdef Vector[Flag] may_move = flags(movable)
    cdef double value
    with nogil:
        value = (<Climb> exchange_in_turn)(a, b, own, S, may_move)
    return np.sort(end), value
