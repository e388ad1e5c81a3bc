"""Small dense linear algebra for the compiled searches: M = U'U, loops over contiguous rows.

Of a symmetric matrix the upper triangle is used. LAPACK's start-up costs more than these sizes
(10 to 100) do. The functions are inline, so that every kernel has its own copy of the loops.
"""

from libc.math cimport INFINITY, sqrt

from ..pencil.views cimport Index, Matrix, NewMatrix, NewVector, Vector, fail, upper_values


cdef inline bint factorize(Matrix[double] M, Index n, double floor) noexcept nogil:
    """Overwrite the upper triangle of M[:n, :n] by U; False if a pivot is not above the floor."""
    cdef Index i, j, m
    cdef double pivot, scale, factor
    cdef Vector[double] row, other
    for j in range(n):
        row = M[j]
        pivot = row[j]
        if not pivot > floor:
            return False
        scale = 1.0 / sqrt(pivot)
        for i in range(j, n):
            row[i] *= scale
        for i in range(j + 1, n):
            factor = row[i]
            if factor != 0.0:
                other = M[i]
                for m in range(i, n):
                    other[m] -= factor * row[m]
    return True


cdef inline double eliminate(Matrix[double] M, Matrix[double] H, Index steps) noexcept nogil:
    """The first steps of `factorize`, carried out on the rows of H as well.

    Afterwards the first ``steps`` rows hold U (and of H the solution U'^-1 H), the others the
    Schur complements. Returns the sum of 1/pivot, or inf if M is not positive definite.
    """
    cdef Index n = H.rows, c = H.columns, a, b, j, s
    cdef double pivot, scale, factor, shaky = 0.0
    cdef Vector[double] row, other, h, g
    for j in range(steps):
        row, h = M[j], H[j]
        pivot = row[j]
        if not pivot > 0.0:
            return INFINITY
        shaky += 1.0 / pivot
        scale = 1.0 / sqrt(pivot)
        for b in range(j, n):
            row[b] *= scale
        for s in range(c):
            h[s] *= scale
        for a in range(j + 1, n):
            factor = row[a]
            if factor != 0.0:
                other, g = M[a], H[a]
                for b in range(a, n):
                    other[b] -= factor * row[b]
                for s in range(c):
                    g[s] -= factor * h[s]
    return shaky


cdef inline void solve_lower(Matrix[double] U, Index n, Vector[double] x) noexcept nogil:
    """x <- U'^-1 x."""
    cdef Index i, j
    cdef double value
    cdef Vector[double] row
    for j in range(n):
        row = U[j]
        value = x[j] / row[j]
        x[j] = value
        if value != 0.0:
            for i in range(j + 1, n):
                x[i] -= value * row[i]


cdef inline void solve_upper(Matrix[double] U, Index n, Vector[double] x) noexcept nogil:
    """x <- U^-1 x."""
    cdef Index i, m
    cdef double value
    cdef Vector[double] row
    for i in range(n - 1, -1, -1):
        row = U[i]
        value = x[i]
        for m in range(i + 1, n):
            value -= row[m] * x[m]
        x[i] = value / row[i]


cdef inline void solve(Matrix[double] U, Index n, Vector[double] x) noexcept nogil:
    """x <- (U'U)^-1 x."""
    solve_lower(U, n, x)
    solve_upper(U, n, x)


cdef inline void invert_by_rows(Matrix[double] U, Index n, Matrix[double] P) noexcept nogil:
    """As `invert`, slower, with other last digits, on which the trees of perspective/ depend."""
    cdef Index i, j
    for j in range(n):
        P[j].part(0, n).fill(0.0)
        P[j][j] = 1.0
        solve(U, n, P[j])
    for j in range(n):
        for i in range(j):
            P[j][i] = P[i][j]


cdef inline void invert(Matrix[double] U, Index n, Matrix[double] P) noexcept nogil:
    """P[:n, :n] <- (U'U)^-1, symmetric to the last bit."""
    cdef NewMatrix[double] Z = NewMatrix[double](n, n, 0.0)  # the inverse of U, transposed
    cdef Index a, b, s, t
    cdef double factor, scale
    cdef Vector[double] row, other
    for t in range(n):
        row = Z[t]
        row[t] = 1.0
        for s in range(t):
            factor = U[s][t]
            other = Z[s]
            for b in range(s + 1):
                row[b] -= factor * other[b]
        scale = 1.0 / U[t][t]
        for b in range(t + 1):
            row[b] *= scale
    for t in range(n):
        P[t].part(0, n).fill(0.0)
    for t in range(n):
        row = Z[t]
        for a in range(t + 1):
            factor = row[a]
            other = P[a]
            for b in range(a + 1):
                other[b] += factor * row[b]
    for a in range(n):
        for b in range(a):
            P[b][a] = P[a][b]


cdef inline (double, double, double) top_sum(Vector[double] values, Index k) noexcept nogil:
    """The sum of the k largest, the k-th and the next largest (-inf if there is none)."""
    cdef NewVector[double] top
    cdef Index i, n = values.size, more = 1 if k < n else 0
    cdef double total = 0.0
    if not 0 < k <= n:
        fail("a sum of the largest is wanted of none, or of more than there are")
    top = upper_values(values, k + more)
    for i in range(more, k + more):
        total += top[i]
    return total, top[more], top[0] if more else -INFINITY


cdef double largest_ratio(Matrix[double] A, Matrix[double] B, Vector[Index] chosen) noexcept nogil
cdef void eigenvectors(Matrix[double] M, Vector[double] values) noexcept nogil
cdef void multiply(
    Matrix[double] A, bint turn_A, Matrix[double] B, bint turn_B, Matrix[double] out
) noexcept nogil
