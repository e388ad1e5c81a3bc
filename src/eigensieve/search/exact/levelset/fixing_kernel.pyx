"""What one eigen-decomposition of N tells of a subproblem of the level-set search.

The spectral trace test: for a diagonal D > 0 and tau > 0 let Y = (I - tau D^-1/2 N D^-1/2)_+.
Every set S whose part of diag(Y) sums to at most 1 has N_S >= 0: the level is not exceeded.

The inverse test, where N has one negative eigenvalue: with Q = N^-1 and T the features that a set
leaves out, N without T keeps the negative eigenvalue exactly if Q_TT is positive semidefinite. So
a feature with Q_jj < 0 must be chosen, and of two with Q_ij^2 > Q_ii Q_jj at least one.
"""

from libc.math cimport INFINITY, pow, sqrt

from ....pencil.views cimport (
    NewMatrix, NewVector, copy_of, count_all, descending, indices, matrix, vector,
)
from ...linear_kernel cimport eigenvectors, multiply

cdef extern from *:
    """
    // Backward error of an eigen-decomposition, per row, in units of the largest eigenvalue.
    static constexpr double BACKWARD = 1e-14;
    """
    const double BACKWARD


cdef void decompose(Matrix[double] N, Vector[double] theta, Matrix[double] V) noexcept nogil:
    """Eigenvalues (ascending) and vectors (rows) of D^-1/2 N D^-1/2, D = sqrt(diag N).

    Between no scaling and a unit diagonal: fewer nodes than with either, or with a D that is
    tuned by further decompositions.
    """
    cdef Index u = N.rows, i, j
    cdef NewVector[double] root = NewVector[double](u)
    for j in range(u):
        root[j] = pow(N[j][j], -0.25)
    for i in range(u):
        for j in range(u):
            V[i][j] = N[i][j] * root[j] * root[i]
    eigenvectors(V, theta)


cdef void positive_diagonal(
    Vector[double] theta, Matrix[double] V, double tau, Vector[double] y
) noexcept nogil:
    """y = diag((I - tau Nh)_+) from the eigenvalues of Nh, ascending, and its vectors in rows."""
    cdef Index i, j
    cdef double part
    cdef Vector[double] row
    y.fill(0.0)
    for i in range(theta.size):
        part = 1.0 - tau * theta[i]
        if part <= 0.0:
            break
        row = V[i]
        for j in range(y.size):
            y[j] += part * row[j] * row[j]


cdef (double, double) least_trace_sum(
    Vector[double] theta, Matrix[double] V, Vector[Index] block, Vector[Index] need,
    Vector[double] y,
) noexcept nogil:
    """The least sum, over tau > 0, of the need[b] largest entries of Y's diagonal; and the tau.

    The sum is convex in tau, and bisected on its slope; below 1 it is small enough. ``y`` gets
    the diagonal.
    """
    cdef Index i, j
    cdef NewVector[double] least = NewVector[double](need.size)
    cdef NewVector[double] after = NewVector[double](need.size)
    cdef NewVector[Flag] taken = NewVector[Flag](y.size)
    cdef double low = 0.0, high = INFINITY, tau = 1.0, best_tau = 1.0, best = INFINITY
    cdef double total, slope, error
    cdef Vector[double] row
    for _ in range(24):
        positive_diagonal(theta, V, tau, y)
        total = take_largest(y, block, need, least, after, taken)
        if total < best:
            best, best_tau = total, tau
        if total <= 1.0 - 2.0 * HIDDEN_SHARE:
            break
        slope = 0.0
        for i in range(theta.size):
            if tau * theta[i] >= 1.0:
                break
            row = V[i]
            for j in range(y.size):
                if taken[j]:
                    slope -= theta[i] * row[j] * row[j]
        if slope < 0.0:
            low = tau
        else:
            high = tau
        if high < 1.02 * low:
            break
        if high == INFINITY:
            tau *= 4.0
        elif low == 0.0:
            tau *= 0.25
        else:
            tau = sqrt(low * high)
    if tau != best_tau:
        positive_diagonal(theta, V, best_tau, y)
    error = BACKWARD * theta.size * best_tau * max(abs(theta[0]), abs(theta[theta.size - 1]))
    return best + error, best_tau


cdef void fix_by_trace(
    Vector[double] y, double total, Vector[Index] block, Vector[Index] need, Vector[Flag] fix
) noexcept nogil:
    """Features that the trace test decides: 1 in every set above the level, -1 in none."""
    cdef Index j, b
    cdef NewVector[double] least = NewVector[double](need.size)
    cdef NewVector[double] after = NewVector[double](need.size)
    cdef NewVector[Flag] taken = NewVector[Flag](y.size)
    take_largest(y, block, need, least, after, taken)
    for j in range(y.size):
        b = block[j]
        if taken[j]:
            if total - y[j] + max(after[b], 0.0) <= 1.0 - HIDDEN_SHARE:
                fix[j] = 1
        elif total - least[b] + y[j] <= 1.0 - HIDDEN_SHARE:
            fix[j] = -1


cdef bint fix_by_inverse(
    Vector[double] theta, Matrix[double] V, Vector[Index] block, Vector[Index] need,
    Vector[Flag] fix,
) noexcept nogil:
    """Mark with 1 what must be chosen; False if nothing can be left out often enough."""
    cdef Index u = theta.size, i, j
    cdef double largest = max(abs(theta[0]), abs(theta[u - 1])), size = 0.0, doubt, both, excess
    cdef NewMatrix[double] scaled, Q
    cdef NewVector[Index] drop, allies
    cdef Vector[double] row
    cdef bint changed = True
    if u < 2 or not (theta[0] < -HIDDEN_SHARE * largest and theta[1] > HIDDEN_SHARE * largest):
        return True  # not one negative eigenvalue, or too close to call
    scaled, Q = NewMatrix[double](u, u), NewMatrix[double](u, u)
    for i in range(u):
        row = V[i]
        for j in range(u):
            scaled[j][i] = row[j] / theta[i]
    multiply(scaled, False, V, False, Q)
    for i in range(u):
        for j in range(u):
            size = max(size, abs(Q[i][j]))
    doubt = size * max(HIDDEN_SHARE, BACKWARD * u * largest * size)
    drop, allies = NewVector[Index](need.size), NewVector[Index](need.size)
    for i in range(need.size):
        drop[i] = -need[i]
    for j in range(u):
        drop[block[j]] += 1
        if Q[j][j] < -doubt:
            fix[j] = 1
    while changed:
        changed = False
        allies.fill(0)
        for j in range(u):
            if fix[j] == 0:
                allies[block[j]] += 1
        if is_short(allies, drop):
            return False
        if count_all(drop) < 2:
            break
        for i in range(u):
            if fix[i] == 0:
                allies.fill(0)
                row = Q[i]
                for j in range(u):
                    if fix[j] == 0:
                        both = (row[i] + doubt) * (Q[j][j] + doubt) * (1.0 + HIDDEN_SHARE)
                        excess = max(abs(row[j]) - doubt, 0.0)
                        if excess * excess <= both:
                            allies[block[j]] += 1
                if is_short(allies, drop):  # i is an ally of itself
                    fix[i] = 1
                    changed = True
    return True


cdef bint is_short(Vector[Index] have, Vector[Index] wanted) noexcept nogil:
    """Whether some block has fewer than are wanted."""
    cdef Index b
    for b in range(have.size):
        if have[b] < wanted[b]:
            return True
    return False


cdef double take_largest(
    Vector[double] y, Vector[Index] block, Vector[Index] need, Vector[double] least,
    Vector[double] next_, Vector[Flag] taken,
) noexcept nogil:
    """The sum of the need[b] largest y of every block b; ``taken`` gets their mask.

    ``least`` gets the smallest taken of every block, ``next_`` the largest not taken.
    """
    cdef NewVector[Index] left = copy_of(need), order = descending(y)
    cdef Index i, j, b
    cdef double total = 0.0
    taken.fill(False)
    least.fill(INFINITY)
    next_.fill(-INFINITY)
    for i in range(order.size):
        j = order[i]
        b = block[j]
        if left[b] > 0:
            left[b] -= 1
            taken[j] = True
            total += y[j]
            least[b] = y[j]
        elif y[j] > next_[b]:
            next_[b] = y[j]
    return total


ctypedef (double, double) (*TraceSum)(
    Vector[double], Matrix[double], Vector[Index], Vector[Index], Vector[double]
) except + nogil


def trace_sum(theta, V, block, need, y):
    """`least_trace_sum` of arrays."""
    cdef Vector[double] values = vector(theta), diagonal = vector(y, write=True)
    cdef Matrix[double] vectors = matrix(V)
    cdef Vector[Index] own = indices(block), needs = indices(need)
    cdef (double, double) found
    with nogil:
        found = (<TraceSum> least_trace_sum)(values, vectors, own, needs, diagonal)
    return found
