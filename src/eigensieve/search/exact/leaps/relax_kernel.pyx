"""The perspective bound: how much the best set of a reduced problem can be worth.

For weights 0 < w <= 1 with the right sums and any diagonal D <= B (B - D semidefinite), the value
of A = H H' with B - D + D/w in place of B is concave in w, and that of a set is its value at the
set's indicator. So a tangent plane bounds all sets: a few steps that raise the value at w
make a good one. A larger D is better, and every node gets its own.
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, sqrt

from ....pencil.views cimport Matrix, NewMatrix, copy_of_matrix, indices, vector
from ...linear_kernel cimport eliminate, factorize, invert, multiply, top_sum
from .problem_kernel cimport log_det, trace

cdef enum:
    POWER_STEPS = 8
    # Rounds of improving the weights; what they bring falls off fast.
    TURNS = 6

cdef extern from *:
    """
    static constexpr double MIN_WEIGHT = 1e-5;
    // How far D stays inside B - D >= 0.
    static constexpr double INSIDE = 1e-7;
    """
    const double MIN_WEIGHT
    const double INSIDE

globals()["MIN_WEIGHT"] = MIN_WEIGHT  # for Python as well


cdef bint inner_diagonal(
    Matrix[double] B, Matrix[double] P, double fuzz, Vector[double] D
) noexcept nogil:
    """A diagonal D with B - D semidefinite; P is the inverse of B.

    By Gershgorin's theorem 1/D >= P if 1/D_j is the sum of |P_ji| sqrt(P_jj/P_ii); a few steps of
    the power method tell how much larger D may be, and a Cholesky factorisation decides.
    """
    cdef Index u = P.rows, a, b
    cdef double total, largest = 1.0
    # matrices of one row, for `multiply`
    cdef NewMatrix[double] X = NewMatrix[double](1, u, 1.0), Y = NewMatrix[double](1, u)
    cdef Vector[double] x = X[0], y = Y[0], row
    for a in range(u):
        row = P[a]
        total = 0.0
        for b in range(u):
            total += abs(row[b]) / sqrt(P[b][b])
        D[a] = 1.0 / (total * sqrt(row[a]))
    for _ in range(POWER_STEPS):
        for a in range(u):
            y[a] = sqrt(D[a]) * x[a]
        multiply(Y, False, P, True, X)
        total = 0.0
        for a in range(u):
            x[a] *= sqrt(D[a])
            total += x[a] * x[a]
        largest = sqrt(total)
        for a in range(u):
            x[a] /= largest
    for a in range(u):
        D[a] *= 0.98 / largest
    for _ in range(40):
        if is_inside(B, D, fuzz):
            return True
        for a in range(u):
            D[a] *= 0.9
    return False


cdef void spread_weights(
    Vector[double] w, Vector[Index] starts, Vector[Index] needs
) noexcept nogil:
    """Scale the weights of every block to their sum, none above 1 or too near 0.

    Only their ratios count: first they are made small, so that those at 1 are those put there.
    """
    cdef Index b, j, lo, hi
    cdef double largest, capped, total, factor
    cdef bint over
    for b in range(needs.size):
        lo, hi, largest = starts[b], starts[b + 1], 0.0
        for j in range(lo, hi):
            largest = max(largest, w[j])
        for j in range(lo, hi):
            w[j] = 0.5 * w[j] / largest if largest > 0.0 else 0.5
        for _ in range(50):
            capped, total = 0.0, 0.0
            for j in range(lo, hi):
                if w[j] >= 1.0:
                    capped += 1.0
                else:
                    total += w[j]
            if total <= 0.0:
                break
            factor = (needs[b] - capped) / total
            over = False
            for j in range(lo, hi):
                if w[j] < 1.0:
                    w[j] = max(w[j] * factor, MIN_WEIGHT)
                    if w[j] > 1.0:
                        w[j] = 1.0
                        over = True
            if not over:
                break


cdef (double, double) tangent(
    Matrix[double] B, Matrix[double] H, Vector[double] D, Vector[double] w, bint is_log,
    Matrix[double] X, Vector[double] gains,
) noexcept nogil:
    """The plane at w: offset + the sum of gains over a set bounds the set's value.

    Returns the offset (inf: not to be had) and the relaxed value at w. The plane is valid for
    whatever X comes out of the solve; what rounding may do to it is added to the gains.
    """
    cdef Index u = H.rows, c = H.columns, a, b, s
    cdef double factor
    cdef NewMatrix[double] M = copy_of_matrix(B)
    cdef Vector[double] x, other
    X.assign(H)
    for a in range(u):
        M[a][a] += D[a] / w[a] - D[a]
    if eliminate(M, X, u) == INFINITY:
        return INFINITY, INFINITY
    for a in range(u - 1, -1, -1):
        x = X[a]
        for s in range(c):
            x[s] /= M[a][a]
        for b in range(a):
            factor, other = M[b][a], X[b]
            for s in range(c):
                other[s] -= factor * x[s]
    return plane(B, H, D, is_log, X, gains)


cdef (double, double) plane(
    Matrix[double] B, Matrix[double] H, Vector[double] D, bint is_log, Matrix[double] X,
    Vector[double] gains,
) noexcept nogil:
    cdef Index u = H.rows, c = H.columns, a, b, s, t
    cdef NewMatrix[double] Y = NewMatrix[double](u, c, 0.0)  # (B - D) X
    cdef NewMatrix[double] Q = NewMatrix[double](c, c), V = NewMatrix[double](c, c)
    cdef NewMatrix[double] G = NewMatrix[double](c, c, 0.0), K
    cdef NewVector[double] rough = NewVector[double](u, 0.0), largest = NewVector[double](u, 0.0)
    cdef double factor, offset = 0.0, value, size, error, total, slack
    cdef Vector[double] row, x, y, h, g
    for a in range(u):
        for s in range(c):
            largest[a] += abs(X[a][s])
    for a in range(u):
        row, y = B[a], Y[a]
        for b in range(u):
            factor = row[b] if a != b else row[a] - D[a]
            rough[a] += abs(factor) * largest[b]
            x = X[b]
            for s in range(c):
                y[s] += factor * x[s]
    multiply(H, True, X, False, Q)
    multiply(X, True, Y, False, V)
    value = trace(Q)
    for s in range(c):
        G[s][s] = 1.0
    if is_log:
        K = NewMatrix[double](c, c)
        for s in range(c):
            Q[s][s] += 1.0
        for s in range(c):
            for t in range(c):
                K[s][t] = (Q[s][t] + Q[t][s]) / 2.0
        value = log_det(K)
        if value == INFINITY:
            return INFINITY, INFINITY
        invert(K, c, G)
        offset = -log_det(copy_of_matrix(<Matrix[double]> G)) + trace(G) - c
    size = abs(offset)
    for s in range(c):
        for t in range(c):
            offset += G[s][t] * V[s][t]
            size += abs(G[s][t] * V[s][t])
    error = 2.0 * DBL_EPSILON * sqrt(<double> u)
    for a in range(u):
        h, y = H[a], Y[a]
        total = 0.0
        for s in range(c):
            total += abs(h[s])
        slack = error * (rough[a] + total)
        total = 0.0
        for s in range(c):
            g = G[s]
            for t in range(c):
                total += g[t] * (h[s] - y[s]) * (h[t] - y[t])
        total = sqrt(max(total, 0.0)) + slack
        gains[a] = total * total / D[a]
    return offset + 2.0 * error * size, value


cdef Taken take_best(
    Vector[double] values, Vector[Index] starts, Vector[Index] needs
) noexcept nogil:
    """The sum of the ``need`` largest values of every block; per block their least, and the next.

    A block that needs none gives zeros; every other one is larger than its need.
    """
    cdef Index b
    cdef double part
    cdef Taken best
    best.total = 0.0
    best.last = NewVector[double](needs.size, 0.0)
    best.following = NewVector[double](needs.size, 0.0)
    for b in range(needs.size):
        if needs[b] > 0:
            part, best.last[b], best.following[b] = top_sum(
                values.part(starts[b], starts[b + 1]), needs[b]
            )
            best.total += part
    return best


cdef bint is_inside(Matrix[double] B, Vector[double] D, double fuzz) noexcept nogil:
    """Whether B - D is positive definite, beyond what rounding can feign."""
    cdef Index u = D.size, a
    cdef NewMatrix[double] M = copy_of_matrix(B)
    for a in range(u):
        M[a][a] -= D[a] * (1.0 + INSIDE) + fuzz
    return factorize(M, u, 0.0)


cdef Relaxed relax(
    Rest& rest, bint is_log, Vector[Index] starts, Vector[Index] needs, double target, double fuzz
) noexcept nogil:
    """Improve the weights until no set is worth more than ``target``, or that is out of reach.

    Returns the bound, the gains that go with it, and the weights; inf if there is none.
    """
    cdef Matrix[double] B = rest.B, H = rest.H
    cdef Index u = B.rows, a, b, turn
    cdef NewMatrix[double] X = NewMatrix[double](u, H.columns)
    cdef NewVector[double] trial = NewVector[double](u), D = NewVector[double](u)
    cdef double offset, value, bound
    cdef Vector[double] w
    cdef Relaxed best
    best.bound = INFINITY
    best.gains, best.weights = NewVector[double](u, 0.0), NewVector[double](u)
    w = best.weights
    for b in range(needs.size):
        w.part(starts[b], starts[b + 1]).fill(
            needs[b] / <double> max(starts[b + 1] - starts[b], <Index> 1)
        )
    if not inner_diagonal(B, rest.P, fuzz, D):
        return best
    for turn in range(TURNS):
        offset, value = tangent(B, H, D, w, is_log, X, trial)
        bound = offset + take_best(trial, starts, needs).total
        if bound < best.bound:
            best.bound = bound
            best.gains.assign(trial)
        if not bound < INFINITY or best.bound <= target or turn + 1 == TURNS:
            break
        if value > target and best.bound - value < 0.1 * (value - target):
            break
        for a in range(u):
            w[a] *= sqrt(trial[a])
        spread_weights(w, starts, needs)
    return best


ctypedef void (*Spread)(Vector[double], Vector[Index], Vector[Index]) except + nogil


def spread(w, starts, needs):
    """`spread_weights` of an array, in place."""
    cdef Vector[double] weights = vector(w, write=True)
    cdef Vector[Index] first = indices(starts), wanted = indices(needs)
    with nogil:
        (<Spread> spread_weights)(weights, first, wanted)
