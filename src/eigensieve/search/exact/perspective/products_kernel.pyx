"""The part of an evaluation that takes the rows of H: to solve for them, and to price with them.

Many rows are worth products of matrices, a handful is faster without.
"""

from libc.math cimport sqrt

from ....pencil.views cimport NewMatrix, NewVector, copy_of_matrix, pick, subtract
from ...linear_kernel cimport multiply, solve_lower, solve_upper
from .weights_kernel cimport WEIGHTLESS

cdef enum:
    MANY = 8


cdef void solve_rows(
    WeightProblem& problem, Index t, Scratch& scratch, Matrix[double] Q
) noexcept nogil:
    """X = (U'U)^-1 H_T and Q = H_T' X, from the Cholesky factor U."""
    if Q.rows < MANY:
        solve_few(problem, t, scratch, Q)
    else:
        solve_many(problem, t, scratch, Q)


cdef void price(
    WeightProblem& problem, Vector[double] w, Index t, Scratch& scratch, Vector[double] g
) noexcept nogil:
    """Y = (H - B X) / sqrt(D) and the prices g_j = y_j' G y_j of the free features."""
    cdef Matrix[double] Y = scratch.Y, G = scratch.G
    cdef Index r, s, i
    cdef double total, wide
    # only roughly what it takes; a product of matrices takes a fourth of what loops take
    wide = problem.H.columns if 4 * g.size > problem.H.columns else g.size
    problem.work[0] += Y.rows * (t * wide + Y.rows * g.size) * (1.0 if Y.rows < MANY else 0.25)
    if Y.rows < MANY:
        price_few(problem, t, scratch)
    else:
        price_many(problem, t, scratch)
    weigh_prices(problem, w, scratch)
    if Y.rows >= MANY:
        quadratic_forms(Y, G, g)
        return
    for i in range(g.size):
        total = 0.0
        for r in range(Y.rows):
            for s in range(Y.rows):
                total += Y[r][i] * G[r][s] * Y[s][i]
        g[i] = total


cdef void solve_many(
    WeightProblem& problem, Index t, Scratch& scratch, Matrix[double] Q
) noexcept nogil:
    cdef Matrix[double] H = problem.H, U = scratch.U, X = scratch.X
    cdef Index c = H.rows, a, b, r
    cdef NewMatrix[double] Z = NewMatrix[double](t, c)  # of X the transpose: long rows
    cdef Vector[double] row
    for a in range(t):
        for r in range(c):
            Z[a][r] = H[r][scratch.T[a]]
    for a in range(t):
        row = Z[a]
        for r in range(c):
            row[r] /= U[a][a]
        for b in range(a + 1, t):
            subtract(Z[b], U[a][b], row)
    multiply(Z, True, Z, False, Q)
    for a in range(t - 1, -1, -1):
        row = Z[a]
        for b in range(a + 1, t):
            subtract(row, U[a][b], Z[b])
        for r in range(c):
            row[r] /= U[a][a]
            X[r][a] = row[r]


cdef void price_many(WeightProblem& problem, Index t, Scratch& scratch) noexcept nogil:
    """Y = H - X B on the free features."""
    cdef Matrix[double] B = problem.B, H = problem.H, Y = scratch.Y
    cdef Vector[Index] free = problem.free
    cdef Index c = H.rows, u = free.size, n = H.columns, a, i, r
    cdef bint whole = 4 * u > n  # to pick from the product is faster than to pick from B
    cdef NewMatrix[double] rows = NewMatrix[double](t, n if whole else u)
    cdef NewMatrix[double] product = NewMatrix[double](c, rows.columns)
    cdef Vector[double] row, line, y
    for a in range(t):
        row, line = B[scratch.T[a]], rows[a]
        if whole:
            line.assign(row)
        else:
            for i in range(u):
                line[i] = row[free[i]]
    multiply(scratch.X.across(0, t), False, rows, False, product)
    for r in range(c):
        row, line, y = H[r], product[r], Y[r]
        for i in range(u):
            y[i] = row[free[i]] - line[free[i] if whole else i]


cdef void solve_few(
    WeightProblem& problem, Index t, Scratch& scratch, Matrix[double] Q
) noexcept nogil:
    cdef Matrix[double] U = scratch.U, X = scratch.X
    cdef Index c = Q.rows, b, r, s
    cdef Vector[double] row, line, other
    cdef double total
    for r in range(c):
        row, line = problem.H[r], X[r].part(0, t)
        for b in range(t):
            line[b] = row[scratch.T[b]]
        solve_lower(U, t, line)
    for r in range(c):
        line = X[r]
        for s in range(r, c):
            other = X[s]
            total = 0.0
            for b in range(t):
                total += line[b] * other[b]
            Q[r][s] = total
            Q[s][r] = total
    for r in range(c):
        solve_upper(U, t, X[r].part(0, t))


cdef void price_few(WeightProblem& problem, Index t, Scratch& scratch) noexcept nogil:
    """Y = H - X B on the free features."""
    cdef Matrix[double] B = problem.B, H = problem.H, X = scratch.X, Y = scratch.Y
    cdef Vector[double] row, line, y
    cdef Vector[Index] free = problem.free, T = scratch.T
    cdef Index c = H.rows, u = free.size, n = H.columns, a, i, r
    cdef NewMatrix[double] whole
    cdef double x
    if 4 * u > n:  # whole rows are several times faster than picking entries from them
        whole = copy_of_matrix(H)
        for a in range(t):
            row = B[T[a]]
            for r in range(c):
                subtract(whole[r], X[r][a], row)
        for r in range(c):
            line, y = whole[r], Y[r]
            for i in range(u):
                y[i] = line[free[i]]
    else:
        for r in range(c):
            line, y = H[r], Y[r]
            for i in range(u):
                y[i] = line[free[i]]
            for a in range(t):
                x = X[r][a]
                row = B[T[a]]
                for i in range(u):
                    y[i] -= x * row[free[i]]


cdef void weigh_prices(
    WeightProblem& problem, Vector[double] w, Scratch& scratch
) noexcept nogil:
    """Y /= sqrt(D); what has weight gets it by the equation of X, without cancellation."""
    cdef Matrix[double] X = scratch.X, Y = scratch.Y
    cdef Index u = problem.free.size, a, i, r
    cdef NewVector[double] roots = pick(problem.D, problem.free)
    cdef Vector[double] y
    cdef double D_i
    for i in range(u):
        roots[i] = sqrt(roots[i])
    for r in range(Y.rows):
        y = Y[r]
        for i in range(u):
            y[i] /= roots[i]
    a = problem.forced.size
    for i in range(u):
        if w[i] > WEIGHTLESS:
            D_i = problem.D[problem.free[i]]
            for r in range(Y.rows):
                Y[r][i] = D_i * X[r][a] / (w[i] * roots[i])
            a += 1


cdef void quadratic_forms(Matrix[double] Y, Matrix[double] G, Vector[double] g) noexcept nogil:
    """g_j = y_j' G y_j."""
    cdef NewMatrix[double] V = NewMatrix[double](Y.rows, Y.columns)
    cdef Vector[double] y, v
    cdef Index r, i
    multiply(G, False, Y, False, V)
    g.fill(0.0)
    for r in range(Y.rows):
        y, v = Y[r], V[r]
        for i in range(g.size):
            g[i] += y[i] * v[i]
