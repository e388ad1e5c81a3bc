"""Steps on the weights of the perspective relaxation: curvature, Newton, projection."""

from libc.math cimport INFINITY, sqrt

from ....pencil.views cimport copy_of, sum
from ...linear_kernel cimport factorize, multiply, solve, solve_lower
from .weights_kernel cimport WEIGHTLESS

globals()["WEIGHTLESS"] = WEIGHTLESS  # for Python as well


cdef WeightProblem with_free(WeightProblem& problem, Vector[Index] free) noexcept nogil:
    """The same with fewer weights to find; the others are zero."""
    cdef WeightProblem fewer = problem
    fewer.free = free
    return fewer


cdef Scratch make_scratch(WeightProblem& problem, Index most) noexcept nogil:
    """Room for evaluations with up to ``most`` features of ``free`` that have weight."""
    cdef Index c = problem.H.rows, t = problem.forced.size + most
    cdef Scratch scratch
    scratch.T = NewVector[Index](t)
    scratch.U = NewMatrix[double](t, t)
    scratch.X = NewMatrix[double](c, t)
    scratch.Y = NewMatrix[double](c, problem.free.size)
    scratch.G = NewMatrix[double](c, c)
    return scratch


cdef void project(Vector[double] v, double k) noexcept nogil:
    """v <- the nearest point with entries in [0, 1] that sum to k, in place."""
    cdef Index i, inside
    cdef double low = INFINITY, high = -INFINITY, middle, total
    for i in range(v.size):
        low = min(low, v[i])
        high = max(high, v[i])
    low -= 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        total = 0.0
        for i in range(v.size):
            total += min(max(v[i] - middle, 0.0), 1.0)
        if total > k:
            low = middle
        else:
            high = middle
    total, inside = 0.0, 0
    for i in range(v.size):
        v[i] = min(max(v[i] - high, 0.0), 1.0)
        total += v[i]
        if 0.0 < v[i] < 1.0:
            inside += 1
    if inside:
        for i in range(v.size):
            if 0.0 < v[i] < 1.0:
                v[i] = min(max(v[i] + (k - total) / inside, 0.0), 1.0)


cdef NewMatrix[double] curvature(
    WeightProblem& problem, Vector[Index] moving, Index t, Scratch& scratch
) noexcept nogil:
    """Minus the Hessian of f on the positions ``moving`` of free."""
    cdef Matrix[double] B = problem.B, U = scratch.U, Y = scratch.Y
    cdef Vector[double] D = problem.D, row, line
    cdef Vector[Index] free = problem.free, T = scratch.T
    cdef Index m = moving.size, c = Y.rows, a, b, i, j, r
    cdef NewMatrix[double] C = NewMatrix[double](m, t), M = NewMatrix[double](m, m)
    cdef NewMatrix[double] Z = NewMatrix[double](m, c), V = NewMatrix[double](m, c)
    cdef NewMatrix[double] N = NewMatrix[double](m, m)
    cdef double rest, value
    # as in `evaluate`; with what a step of Newton's takes afterwards
    problem.work[0] += <double> m * t * (t / 2.0 + m) + <double> m * m * (c + 20.0)
    for i in range(m):
        j = free[moving[i]]
        row, line = B[j], C[i]
        for a in range(t):
            line[a] = row[T[a]]
            if T[a] == j:
                line[a] -= D[j]
        solve_lower(U, t, line)
    multiply(C, False, C, True, M)
    for i in range(m):
        for r in range(c):
            Z[i][r] = Y[r][moving[i]]
    multiply(Z, False, scratch.G, False, V)
    multiply(V, False, Z, True, N)
    for i in range(m):
        a = free[moving[i]]
        row, line = B[a], N[i]
        for j in range(i + 1):
            b = free[moving[j]]
            rest = row[b] - M[i][j]
            if i == j:
                rest -= D[a]
            value = 2.0 * rest / (sqrt(D[a]) * sqrt(D[b])) * line[j]
            if problem.logdet:
                value += line[j] * line[j]
            M[i][j] = value
            M[j][i] = value
    return M


cdef NewVector[double] newton_step(
    Matrix[double] M, Vector[double] slope, Vector[double] w
) noexcept nogil:
    """A step d of sum zero with w + d in [0, 1] that about maximises slope'd - d'Md/2.

    Exchanges between the pair that violates the optimality conditions most find out which
    weights end on the border; the others are then solved for at once.
    """
    cdef Index m = slope.size, i, step, up, down
    cdef NewVector[double] new_d = NewVector[double](m, 0.0), new_q = copy_of(slope)
    cdef Vector[double] d = new_d, q = new_q, row, other
    cdef double first = 0.0, bend, most, size
    for step in range(10 * m):
        up, down = -1, -1
        for i in range(m):
            if w[i] + d[i] < 1.0 - WEIGHTLESS and (up < 0 or q[i] > q[up]):
                up = i
            if w[i] + d[i] > WEIGHTLESS and (down < 0 or q[i] < q[down]):
                down = i
        if up < 0 or down < 0 or q[up] <= q[down]:
            break
        if step == 0:
            first = q[up] - q[down]
        elif q[up] - q[down] <= 1e-3 * first:
            break
        row, other = M[up], M[down]
        bend = row[up] + other[down] - 2.0 * row[down]
        most = min(1.0 - w[up] - d[up], w[down] + d[down])
        size = most if bend <= 0.0 else min(most, (q[up] - q[down]) / bend)
        d[up] += size
        d[down] -= size
        for i in range(m):
            q[i] -= size * (row[i] - other[i])
    polish_step(M, q, w, d)
    return new_d


cdef void polish_step(
    Matrix[double] M, Vector[double] q, Vector[double] w, Vector[double] d
) noexcept nogil:
    """Newton on the entries inside the box, as far as the box allows; q = slope - M d."""
    cdef Index m = q.size, a = 0, i, j
    cdef NewVector[Index] inside = NewVector[Index](m)
    cdef NewMatrix[double] S
    cdef NewVector[double] right, ones
    cdef Vector[double] row, line
    cdef double lift = 0.0, total, nu, share = 1.0, move, at
    for i in range(m):
        if WEIGHTLESS < w[i] + d[i] < 1.0 - WEIGHTLESS:
            inside[a] = i
            a += 1
    if a < 2:
        return
    S = NewMatrix[double](a, a)
    right, ones = NewVector[double](a), NewVector[double](a, 1.0)
    for i in range(a):
        lift += M[inside[i]][inside[i]]
    lift = 1e-10 * lift / a + 1e-300
    for i in range(a):
        row, line = S[i], M[inside[i]]
        for j in range(a):
            row[j] = line[inside[j]]
        row[i] += lift
        right[i] = q[inside[i]]
    if not factorize(S, a, 0.0):
        return
    solve(S, a, right)
    solve(S, a, ones)
    total = sum(ones)
    if not total > 0.0:  # of a positive definite S: rounding has spoiled it
        return
    nu = sum(right) / total
    for i in range(a):
        move = right[i] - nu * ones[i]
        right[i] = move
        at = w[inside[i]] + d[inside[i]]
        if at + share * move > 1.0:
            share = (1.0 - at) / move
        elif at + share * move < 0.0:
            share = -at / move
    for i in range(a):
        d[inside[i]] += share * right[i]
