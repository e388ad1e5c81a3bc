"""Local search among a few features: the best exchange, again and again, on dense matrices.

The formulas are those of swap.py. There every scan of all exchanges costs some hundred
microseconds whatever its size; here as many as the arithmetic takes, so that many starts are
cheap where there are few features. Sets are proposals: swap.py confirms the best of them.
"""

from libc.math cimport copysign, sqrt

from ...pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, copy_of, copy_of_matrix, indices, matrix,
)
from ..linear_kernel cimport factorize, invert, largest_ratio

cdef extern from *:
    """
    // As in swap.py.
    static constexpr double MIN_GAIN = 1e-9;
    static constexpr double DEPENDENT = 1e-13;
    """
    const double MIN_GAIN
    const double DEPENDENT

cdef enum:
    MAX_SWAPS = 1000


cdef void exchange_best(
    Matrix[double] A, Matrix[double] B, Matrix[double] H, Index kind, Vector[Index] S,
    Vector[Index] group,
) noexcept nogil:
    """Improve the set S, in place, until no exchange helps.

    Parameters
    ----------
    A, B : arrays (p, p); B has a unit diagonal, and so has A + B for kind 1 a scale of its own
    H : array (c, p), A = H'H, for kind 0
    kind : 0 for the trace of B^-1 A, 1 for log det(A) - log det(B), 2 for the largest eigenvalue
    group : array (p,); features of one group may take each other's place, those of -1 stay
    """
    cdef Index p = B.rows, k = S.size, i, j, slot
    cdef NewVector[Flag] outside = NewVector[Flag](p, True)
    for i in range(k):
        outside[S[i]] = False
    for _ in range(MAX_SWAPS):
        if kind == 0:
            slot, j = best_trace(B, H, S, group, outside)
        elif kind == 1:
            slot, j = best_logdet(A, B, S, group, outside)
        else:
            slot, j = best_lambda(A, B, S, group, outside)
        if slot < 0:
            return
        outside[S[slot]], outside[j] = True, False
        S[slot] = j


cdef NewMatrix[double] regress(
    Matrix[double] M, Vector[Index] S, Matrix[double] C, Vector[double] v
) noexcept nogil:
    """P = M_S^-1, C = P M[S] (k, p), and v, what the set leaves of every feature."""
    cdef Index p = M.rows, k = S.size, a, b, j
    cdef NewMatrix[double] U = NewMatrix[double](k, k), P = NewMatrix[double](k, k, 0.0)
    cdef Vector[double] row, other
    cdef double factor
    for a in range(k):
        for b in range(k):
            U[a][b] = M[S[a]][S[b]]
    if not factorize(U, k, 0.0):
        return P
    invert(U, k, P)
    C.fill(0.0)
    for j in range(p):
        v[j] = M[j][j]
    for a in range(k):
        row = C[a]
        for b in range(k):
            factor = P[a][b]
            other = M[S[b]]
            for j in range(p):
                row[j] += factor * other[j]
        other = M[S[a]]
        for j in range(p):
            v[j] -= row[j] * other[j]
    return P


cdef (Index, Index) best_logdet(
    Matrix[double] A, Matrix[double] B, Vector[Index] S, Vector[Index] group, Vector[Flag] outside
) noexcept nogil:
    """The best exchange for log det(A_S) - log det(B_S)."""
    cdef Index p = B.rows, k = S.size, i, j, slot = -1, new = -1
    cdef NewMatrix[double] C = NewMatrix[double](k, p), D = NewMatrix[double](k, p)
    cdef NewVector[double] v = NewVector[double](p), w = NewVector[double](p)
    cdef NewMatrix[double] P = regress(B, S, C, v), Q = regress(A, S, D, w)
    cdef Vector[double] c, d
    # the logarithm of the best ratio; a set is worth some units at least where gains matter
    cdef double best = 1.0 + MIN_GAIN, room, ratio, own_P, own_Q
    for i in range(k):
        own_P, own_Q = P[i][i], Q[i][i]
        if group[S[i]] < 0 or not (own_P > 0.0 and own_Q > 0.0):
            continue
        c, d = C[i], D[i]
        for j in range(p):
            if outside[j] and group[j] == group[S[i]]:
                room = own_P * v[j] + c[j] * c[j]
                if not room > DEPENDENT * own_P:
                    continue
                ratio = (own_Q * w[j] + d[j] * d[j]) / room
                if ratio > best * (1.0 + 1e-12):
                    best, slot, new = ratio, i, j
    return slot, new


cdef (Index, Index) best_trace(
    Matrix[double] B, Matrix[double] H, Vector[Index] S, Vector[Index] group, Vector[Flag] outside
) noexcept nogil:
    """The best exchange for trace(B_S^-1 H_S'H_S)."""
    cdef Index c = H.rows, p = H.columns, k = S.size, a, b, i, j, t, slot = -1, new = -1
    cdef NewMatrix[double] C = NewMatrix[double](k, p)
    cdef NewVector[double] v = NewVector[double](p)
    cdef NewMatrix[double] P = regress(B, S, C, v)
    cdef NewMatrix[double] beta = NewMatrix[double](k, c, 0.0), rest = copy_of_matrix(H)
    cdef NewVector[double] norm2 = NewVector[double](p, 0.0), cross = NewVector[double](p)
    cdef Vector[double] row, left
    cdef double total = 0.0, best, own, lost, x, room, won, pivot
    for a in range(k):
        row = C[a]
        for t in range(c):
            own = H[t][S[a]]
            for b in range(k):
                beta[b][t] += P[b][a] * own
            left = rest[t]
            for j in range(p):
                left[j] -= row[j] * own
    for t in range(c):
        left = rest[t]
        for j in range(p):
            norm2[j] += left[j] * left[j]
        for a in range(k):
            total += beta[a][t] * H[t][S[a]]
    best = MIN_GAIN * total
    for i in range(k):
        pivot = P[i][i]
        if group[S[i]] < 0 or not pivot > 0.0:
            continue
        lost = 0.0
        cross.fill(0.0)
        for t in range(c):
            own = beta[i][t]
            lost += own * own / pivot
            left = rest[t]
            for j in range(p):
                cross[j] += left[j] * own
        row = C[i]
        for j in range(p):
            if outside[j] and group[j] == group[S[i]]:
                x = row[j]
                room = pivot * v[j] + x * x
                if not room > DEPENDENT * pivot:
                    continue
                won = (pivot * norm2[j] + 2.0 * x * cross[j] + x * x * lost) / room
                if won - lost > best * (1.0 + 1e-12):
                    best, slot, new = won - lost, i, j
    return slot, new


cdef (Index, Index) best_lambda(
    Matrix[double] A, Matrix[double] B, Vector[Index] S, Vector[Index] group, Vector[Flag] outside
) noexcept nogil:
    """The best exchange for the largest eigenvalue.

    The set R + j exceeds a level if and only if level B - A is not positive semidefinite there:
    one elimination of R tells it of all j. Eigenvalues are for those that do.
    """
    cdef Index p = B.rows, k = S.size, i, j, slot = -1, new = -1
    cdef double value = largest_ratio(A, B, S)
    cdef double level = value + MIN_GAIN * max(abs(value), 1.0)
    cdef NewVector[double] left = NewVector[double](p)
    cdef NewVector[Index] T = copy_of(S)
    for i in range(k):
        if group[S[i]] < 0 or not leftover(A, B, S, i, level, left):
            continue
        for j in range(p):
            if outside[j] and group[j] == group[S[i]] and left[j] < 0.0:
                T[i] = j
                value = largest_ratio(A, B, T)
                if value > level:
                    level, slot, new = value * (1.0 + copysign(1e-12, value)), i, j
                    if not leftover(A, B, S, i, level, left):
                        break
        T[i] = S[i]
    return slot, new


cdef bint leftover(
    Matrix[double] A, Matrix[double] B, Vector[Index] S, Index slot, double level,
    Vector[double] left,
) noexcept nogil:
    """What S without the slot leaves of every feature under level B - A; False if it exceeds."""
    cdef Index p = B.rows, k = S.size, a, b, j, row = 0, below
    cdef NewMatrix[double] X = NewMatrix[double](k - 1, p)
    cdef Vector[double] x, y, of_A, of_B
    cdef double pivot, scale, factor
    for j in range(p):
        left[j] = level * B[j][j] - A[j][j]
    for a in range(k):
        if a != slot:
            x, of_A, of_B = X[row], A[S[a]], B[S[a]]
            for j in range(p):
                x[j] = level * of_B[j] - of_A[j]
            row += 1
    row = 0
    for a in range(k):
        if a == slot:
            continue
        x = X[row]
        pivot = x[S[a]]
        if not pivot > 0.0:
            return False
        scale = 1.0 / sqrt(pivot)
        for j in range(p):
            x[j] *= scale
            left[j] -= x[j] * x[j]
        below = row + 1
        for b in range(a + 1, k):
            if b != slot:
                y, factor = X[below], x[S[b]]
                for j in range(p):
                    y[j] -= factor * x[j]
                below += 1
        row += 1
    return True


ctypedef void (*Climb)(
    Matrix[double], Matrix[double], Matrix[double], Index, Vector[Index], Vector[Index]
) except + nogil


def climb(A, B, H, Index kind, S, group):
    """`exchange_best` of arrays; S changes."""
    cdef Matrix[double] a = matrix(A), b = matrix(B), h = matrix(H)
    cdef Vector[Index] chosen = indices(S, write=True), groups = indices(group)
    with nogil:
        (<Climb> exchange_best)(a, b, h, kind, chosen, groups)
