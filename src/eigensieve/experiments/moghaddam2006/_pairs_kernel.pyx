"""Monte Carlo of small pencils: heuristics and the proved optimum of every cardinality.

For thousands of pairs (A, B) of some 16 features, A positive semidefinite. That a set's largest
eigenvalue does not exceed a level is one Cholesky factor of level * B - A: an eigenvalue costs ten
times as much, and is computed only where there is something to gain.
"""

from libc.math cimport sqrt

from ...pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, copy_of, fail, index_matrix, join, matrix,
)
from ...search.linear_kernel cimport largest_ratio

import numpy as np

# Rows of the result, after those of the rankings.
cpdef enum:
    FORWARD = 0
    BACKWARD = 1
    SWAP = 2
    OPTIMUM = 3

cdef extern from *:
    """
    // All relative to the value of a set.
    static constexpr double TIE = 1e-11;
    static constexpr double MIN_GAIN = 1e-9;  // of an exchange
    static constexpr double STEP = 1e-10;  // no set exceeds an optimum by more
    // of a pivot: what is below is looked at again, by eigenvalues
    static constexpr double ROUND_OFF = 1e-14;
    """
    const double TIE
    const double MIN_GAIN
    const double STEP
    const double ROUND_OFF

ctypedef void (*SolvePair)(
    Matrix[double], Matrix[double], Matrix[Index], Matrix[double]
) except + nogil


def solve_pairs(A, B, orders):
    """The value of every method at every cardinality.

    Parameters
    ----------
    A, B : arrays (pairs, n, n)
    orders : array (pairs, m, n) of int
        Rankings of the features: m methods that take the first k of them.

    Returns
    -------
    array (pairs, m + 4, n) : largest eigenvalues of the sets of size 1 ... n; the rankings first,
    then FORWARD, BACKWARD, SWAP (exchanges from both) and OPTIMUM.
    """
    cdef Matrix[double] a, b, out
    cdef Matrix[Index] rankings
    pairs, m, n = orders.shape
    values = np.empty((pairs, m + OPTIMUM + 1, n))
    for i in range(pairs):
        A_i, B_i, orders_i, values_i = A[i], B[i], orders[i], values[i]  # views keep no arrays
        a, b, out = matrix(A_i), matrix(B_i), matrix(values_i, write=True)
        rankings = index_matrix(orders_i)
        with nogil:
            (<SolvePair> solve_pair)(a, b, rankings, out)
    return values


cdef void solve_pair(
    Matrix[double] A, Matrix[double] B, Matrix[Index] orders, Matrix[double] values
) noexcept nogil:
    """The same for one pair."""
    cdef Index m = orders.rows, n = orders.columns, j, k, r
    cdef NewVector[double] scale = NewVector[double](n)
    cdef NewMatrix[double] a, b
    for j in range(n):
        scale[j] = 1.0 / sqrt(B[j][j])
    a, b = scaled(A, scale), scaled(B, scale)
    for r in range(m):
        for k in range(1, n + 1):
            values[r][k - 1] = largest_ratio(a, b, orders[r].part(0, k))
    search(a, b, values.part(m, values.rows))


cdef NewMatrix[double] scaled(Matrix[double] M, Vector[double] scale) noexcept nogil:
    """Rows and columns of M times a scale."""
    cdef Index i, j
    cdef NewMatrix[double] out = NewMatrix[double](M.rows, M.columns)
    for i in range(scale.size):
        for j in range(scale.size):
            out[i][j] = M[i][j] * (scale[i] * scale[j])
    return out


cdef void search(Matrix[double] A, Matrix[double] B, Matrix[double] values) noexcept nogil:
    """Both greedy passes, exchanges and the optimum; B has a unit diagonal."""
    cdef Index n = A.rows, k
    cdef NewVector[Index] added = NewVector[Index](n), kept = NewVector[Index](n), first, second
    cdef double value, other
    for k in range(n):
        kept[k] = k
    forward(A, B, added, values[FORWARD])
    backward(A, B, kept, values[BACKWARD])
    values[SWAP].assign(values[FORWARD])  # optimal for one feature, and for all
    values[OPTIMUM].assign(values[FORWARD])
    for k in range(2, n):
        first, second = copy_of[Index](added), copy_of[Index](kept)
        value = exchange(A, B, first, k, values[FORWARD][k - 1])
        other = exchange(A, B, second, k, values[BACKWARD][k - 1])
        if other > value:
            first, value = second, other
        values[SWAP][k - 1] = value
        values[OPTIMUM][k - 1] = prove(A, B, first, k, value)


cdef double raised(
    Matrix[double] A, Matrix[double] B, Vector[Index] S, double value, double gain
) noexcept nogil:
    """The value of a set where it is above ``value``, relatively by a gain; else ``value``."""
    cdef double level = value * (1.0 + gain), dot, new
    cdef Index k = S.size, i, j, c
    cdef NewMatrix[double] L = NewMatrix[double](k, k)
    cdef Vector[double] row, other, of_A, of_B
    for i in range(k):
        row, of_A, of_B = L[i], A[S[i]], B[S[i]]
        for j in range(i + 1):
            other = L[j]
            dot = level * of_B[S[j]] - of_A[S[j]]
            for c in range(j):
                dot -= row[c] * other[c]
            if j < i:
                row[j] = dot * other[j]
            elif dot > ROUND_OFF * level:
                row[i] = 1.0 / sqrt(dot)
            else:
                new = largest_ratio(A, B, S)
                return new if new > level else value
    return value


cdef void forward(
    Matrix[double] A, Matrix[double] B, Vector[Index] order, Vector[double] values
) noexcept nogil:
    """Add the feature that raises the value most; the first k of the order are the set of k."""
    cdef Index n = order.size, j, k, winner
    cdef NewVector[Flag] free = NewVector[Flag](n, True)
    cdef double best, new
    for k in range(1, n + 1):
        best, winner = -1.0, -1
        for j in range(n):
            if free[j]:
                order[k - 1] = j
                new = raised(A, B, order.part(0, k), best, TIE)
                if new > best:
                    best, winner = new, j
        if winner < 0:
            fail("B is not positive definite, or A far from positive semidefinite")
        order[k - 1] = winner
        values[k - 1] = best
        free[winner] = False


cdef void backward(
    Matrix[double] A, Matrix[double] B, Vector[Index] order, Vector[double] values
) noexcept nogil:
    """Delete the feature that lowers the value least; the order is as that of `forward`."""
    cdef Index n = order.size, i, k, winner, deleted
    cdef NewVector[Index] rest
    cdef double best, new
    values[n - 1] = largest_ratio(A, B, order)
    for k in range(n - 1, 0, -1):
        best, winner = -1.0, -1
        for i in range(k + 1):
            rest = join(order.part(0, i), order.part(i + 1, k + 1))
            new = raised(A, B, rest, best, TIE)
            if new > best:
                best, winner = new, i
        if winner < 0:
            fail("B is not positive definite, or A far from positive semidefinite")
        deleted = order[winner]
        order.part(winner, k).assign(copy_of(order.part(winner + 1, k + 1)))
        order[k] = deleted
        values[k - 1] = best


cdef double exchange(
    Matrix[double] A, Matrix[double] B, Vector[Index] order, Index k, double value
) noexcept nogil:
    """Exchange one of the first k features for another, the best pair first, while that helps.

    The order changes. Returns the value of its first k.
    """
    cdef Index i, j, old, out, into
    cdef double best, new
    while True:
        best, out, into = value, -1, -1
        for i in range(k):
            old = order[i]
            for j in range(k, order.size):
                order[i] = order[j]
                new = raised(A, B, order.part(0, k), best, MIN_GAIN if out < 0 else TIE)
                if new > best:
                    best, out, into = new, i, j
            order[i] = old
        if out < 0:
            return value
        order[out], order[into] = order[into], order[out]
        value = best


cdef double prove(
    Matrix[double] A, Matrix[double] B, Vector[Index] order, Index k, double value
) noexcept nogil:
    """The largest value of k features, given that of a good set, which the order has first."""
    cdef Index n = order.size, i, j
    cdef NewMatrix[double] a = NewMatrix[double](n, n), b = NewMatrix[double](n, n)
    cdef NewMatrix[double] N = NewMatrix[double](k * n, n)  # k matrices, one below the other
    cdef double level, new
    for i in range(n):
        for j in range(n):
            a[i][j] = A[order[i]][order[j]]
            b[i][j] = B[order[i]][order[j]]
    while True:
        level = value * (1.0 + STEP)
        for i in range(n):
            for j in range(n):
                N[i][j] = level * b[i][j] - a[i][j]
        new = find_above(a, b, N, level)
        if not new > level:
            return value
        value = new


cdef double find_above(
    Matrix[double] A, Matrix[double] B, Matrix[double] N, double level
) noexcept nogil:
    """The value of a set of at most k features, if there is one above the level; else 0.

    Depth first: layer m of N is the Schur complement of layer 0, level * B - A, after m features,
    on those that come later. No set below a node is above the level where N is positive definite on
    them.
    """
    cdef Index n = N.columns, k = N.rows // n, m = 0, i, j
    cdef double floor = ROUND_OFF * level, pivot, value
    cdef NewVector[Index] chosen = NewVector[Index](k, 0), end = NewVector[Index](k)
    cdef NewMatrix[double] scratch = NewMatrix[double](n, n)
    cdef Matrix[double] now = N.layer(0, n), later
    end[0] = min(n - k + 1, definite_from(now, 0, floor, scratch))
    while m >= 0:
        i = chosen[m]
        if i >= end[m]:
            m -= 1
            if m >= 0:
                chosen[m] += 1
            continue
        now = N.layer(m, n)
        pivot = max(now[i][i], floor)
        for j in range(i + 1, n):
            if now[j][j] - now[i][j] * now[i][j] / pivot <= floor:
                chosen[m + 1] = j
                value = largest_ratio(A, B, chosen.part(0, m + 2))
                if value > level:
                    return value
        if m + 2 >= k:
            chosen[m] += 1
            continue
        later = N.layer(m + 1, n)
        eliminate_first(now, later, i, pivot)
        m += 1
        chosen[m] = i + 1
        end[m] = min(n - k + m + 1, definite_from(later, i + 1, floor, scratch))
    return 0.0


cdef void eliminate_first(
    Matrix[double] N, Matrix[double] rest, Index i, double pivot
) noexcept nogil:
    """The Schur complement of N after i, on what comes later; the upper triangle."""
    cdef Index n = N.rows, a, b
    cdef double factor
    cdef Vector[double] first = N[i], row, out
    for a in range(i + 1, n):
        row, out = N[a], rest[a]
        factor = first[a] / pivot
        for b in range(a, n):
            out[b] = row[b] - factor * first[b]


cdef Index definite_from(
    Matrix[double] N, Index start, double floor, Matrix[double] M
) noexcept nogil:
    """The least t, not below the start, such that N is positive definite on t, t + 1, ..."""
    cdef Index n = N.rows, a, b, c
    cdef double factor
    for a in range(start, n):
        for b in range(a, n):
            M[a][b] = N[a][b]
    for c in range(n - 1, start - 1, -1):
        if not M[c][c] > floor:
            return c + 1
        for b in range(start, c):
            factor = M[b][c] / M[c][c]
            for a in range(start, b + 1):
                M[a][b] -= factor * M[a][c]
    return start
