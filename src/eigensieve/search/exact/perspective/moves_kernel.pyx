"""What a node of the perspective search may do: tune its diagonal, end, choose a branch."""

from libc.math cimport INFINITY, NAN

from ....pencil.views cimport array_of, array_of_matrix, copy_of, matrix, pick, sum, vector
from ...linear_kernel cimport factorize, invert_by_rows, multiply, solve_lower
from .newton_kernel cimport curvature, make_scratch, with_free
from .relax_kernel cimport evaluate, log_determinant
from .weights_kernel cimport WEIGHTLESS, Scratch, read_problem


cdef NewMatrix[double] schur_complement(WeightProblem& problem) noexcept nogil:
    """B on the free features, after the forced ones are eliminated; nan if these are dependent."""
    cdef Matrix[double] B = problem.B
    cdef Vector[Index] forced = problem.forced, free = problem.free
    cdef Index f = forced.size, u = free.size, a, b, i, j
    cdef NewMatrix[double] U = NewMatrix[double](f, f), C = NewMatrix[double](u, f)
    cdef NewMatrix[double] S = NewMatrix[double](u, u)
    cdef Vector[double] row, line
    for a in range(f):
        for b in range(a, f):
            U[a][b] = B[forced[a]][forced[b]]
    # with the search for a larger diagonal, which follows
    problem.work[0] += <double> f * f * (f / 6.0 + u / 2.0) + <double> u * u * (f + 3.0 * u)
    if not factorize(U, f, 0.0):
        S.fill(NAN)
        return S
    for i in range(u):
        row, line = B[free[i]], C[i]
        for a in range(f):
            line[a] = row[forced[a]]
        solve_lower(U, f, line)
    multiply(C, False, C, True, S)
    for i in range(u):
        row, line = B[free[i]], S[i]
        for j in range(u):
            line[j] = row[free[j]] - line[j]
    return S


cdef NewVector[double] larger_diagonal(
    Matrix[double] S, Vector[double] D, Vector[double] pull
) noexcept nogil:
    """A larger diagonal below S (in the order of matrices) where ``pull`` says that it helps.

    Coordinate ascent on sum pull_j D_j + mu log det(S - diag D), D >= .995 of what it was. An
    empty vector if rounding spoils it.
    """
    cdef Index u = D.size, i
    cdef NewVector[double] low = NewVector[double](u), new, none
    cdef NewMatrix[double] M = NewMatrix[double](u, u), P = NewMatrix[double](u, u)
    cdef double mu = 0.0
    for i in range(u):
        low[i] = 0.995 * D[i]
    new = copy_of(low)
    for i in range(u):
        M[i].part(i, u).assign(S[i].part(i, u))
        M[i][i] -= new[i]
    if not factorize(M, u, 0.0):
        return none
    invert_by_rows(M, u, P)
    for i in range(u):
        mu += pull[i] * D[i]
    mu *= 0.3 / u
    for _ in range(2):
        if not ascend(P, new, low, pull, mu):
            return none
        mu *= 0.3
    for i in range(u):
        M[i].part(i, u).assign(S[i].part(i, u))
        M[i][i] -= (1.0 + 1e-9) * new[i]
    if not factorize(M, u, 0.0):
        return none
    return new


cdef bint ascend(
    Matrix[double] P, Vector[double] D, Vector[double] low, Vector[double] pull, double mu
) noexcept nogil:
    """A sweep of coordinate ascent on sum pull_j D_j + mu log det(S - diag D), with D >= low.

    P = (S - diag D)^-1 follows; False if rounding has spoiled it.
    """
    cdef Index u = D.size, a, b, j
    cdef NewVector[double] row = NewVector[double](u)
    cdef Vector[double] line
    cdef double delta, factor, step
    for j in range(u):
        row.assign(P[j])
        if not row[j] > 0.0:
            return False
        delta = 1.0 / row[j] - mu / pull[j] if pull[j] > 0.0 else -INFINITY
        delta = max(min(delta, 0.98 / row[j]), low[j] - D[j])
        D[j] = max(D[j] + delta, low[j])  # which the sum may miss by rounding
        factor = delta / (1.0 - delta * row[j])
        for a in range(u):
            step = factor * row[a]
            line = P[a]
            for b in range(u):
                line[b] += step * row[b]
    return True


cdef NewVector[double] last_values(WeightProblem& problem) noexcept nogil:
    """What every free feature makes of the forced ones, by Schur complements.

    Empty if the features are too near to each other for this arithmetic: leave it to score_set.
    """
    cdef Matrix[double] B = problem.B, H = problem.H
    cdef Vector[Index] forced = problem.forced, free = problem.free
    cdef Index f = forced.size, u = free.size, c = H.rows, a, b, i, r, s
    cdef NewMatrix[double] U = NewMatrix[double](f, f), X = NewMatrix[double](c, f)
    cdef NewMatrix[double] Q = NewMatrix[double](c, c, 0.0), R = NewMatrix[double](c, c)
    cdef NewVector[double] C = NewVector[double](f), h = NewVector[double](c), none
    cdef NewVector[double] values = NewVector[double](u)
    cdef Vector[double] row, line
    cdef double rest, value
    for a in range(f):
        for b in range(a, f):
            U[a][b] = B[forced[a]][forced[b]]
    problem.work[0] += <double> f * f * (f / 6.0 + c + u / 2.0) + <double> u * c * c * c
    if not factorize(U, f, 0.0):
        return none
    for a in range(f):
        if U[a][a] * U[a][a] <= 1e-4:
            return none
    for r in range(c):
        for a in range(f):
            X[r][a] = H[r][forced[a]]
        solve_lower(U, f, X[r])
    for r in range(c):
        for s in range(c):
            row, line = X[r], X[s]
            for a in range(f):
                Q[r][s] += row[a] * line[a]
    for i in range(u):
        rest = 1.0
        for a in range(f):
            C[a] = B[forced[a]][free[i]]
        solve_lower(U, f, C)
        for a in range(f):
            rest -= C[a] * C[a]
        if rest <= 1e-4:
            return none
        for r in range(c):
            line = X[r]
            h[r] = H[r][free[i]]
            for a in range(f):
                h[r] -= C[a] * line[a]
        value = 0.0
        for r in range(c):
            for s in range(c):
                R[r][s] = Q[r][s] + h[r] * h[s] / rest
            value += R[r][r]
        if problem.logdet:
            value = log_determinant(R)
        if value != value:
            return none
        values[i] = value * (1.0 + MARGIN)
    return values


cdef Index branch_position(WeightProblem& problem, Vector[double] w) noexcept nogil:
    """The position whose decision should lower the bound most, either way.

    By the second-order model at the maximum: forcing w_j to v costs (w_j - v)^2 / (2 V_jj), V the
    inverse of the curvature on the undecided weights, whose sum is given.
    """
    cdef Index n = w.size, u = 0, m = 0, i, t, where = 0
    cdef NewVector[Index] held = NewVector[Index](n), moving = NewVector[Index](n), free
    cdef NewVector[double] some, g, sums
    cdef NewMatrix[double] M, V
    cdef WeightProblem fewer
    cdef Scratch scratch
    cdef double value, total, spread, x, score, best = -1.0
    for i in range(n):
        if w[i] * (1.0 - w[i]) > w[where] * (1.0 - w[where]):
            where = i
    for i in range(n):
        if w[i] > WEIGHTLESS:
            if 1e-4 < w[i] < 1.0 - 1e-4:
                moving[m] = u
                m += 1
            held[u] = i
            u += 1
    if m < 2:
        return where
    some = pick(w, held.part(0, u))
    free = pick(problem.free, held.part(0, u))
    fewer = with_free(problem, free)
    scratch = make_scratch(fewer, u)
    g = NewVector[double](u)
    value, t = evaluate(fewer, some, scratch, g)
    if value != value:
        return where
    M = curvature(fewer, moving.part(0, m), t, scratch)
    V = NewMatrix[double](m, m)
    for i in range(m):
        M[i][i] *= 1.0 + 1e-9
    if not factorize(M, m, 0.0):
        return where
    invert_by_rows(M, m, V)
    sums = NewVector[double](m)
    for i in range(m):
        sums[i] = sum(V[i])
    total = sum(sums)
    if not total > 0.0:  # of a positive definite V: rounding has spoiled it
        return where
    for i in range(m):
        spread = max(V[i][i] - sums[i] * sums[i] / total, 1e-300)
        x = some[moving[i]]
        score = x * (1.0 - x) / spread
        if score > best:
            best, where = score, held[moving[i]]
    return where


ctypedef NewMatrix[double] (*Schur)(WeightProblem&) except + nogil
ctypedef NewVector[double] (*Tune)(Matrix[double], Vector[double], Vector[double]) except + nogil
ctypedef bint (*Ascend)(
    Matrix[double], Vector[double], Vector[double], Vector[double], double
) except + nogil
ctypedef Index (*Choose)(WeightProblem&, Vector[double]) except + nogil


def schur(problem):
    """`schur_complement` of arrays."""
    cdef WeightProblem views = read_problem(problem)
    cdef NewMatrix[double] S
    with nogil:
        S = (<Schur> schur_complement)(views)
    return array_of_matrix(S)


def tune_diagonal(S, D, pull):
    """`larger_diagonal` of arrays."""
    cdef Matrix[double] left = matrix(S)
    cdef Vector[double] old = vector(D), helps = vector(pull)
    cdef NewVector[double] new
    with nogil:
        new = (<Tune> larger_diagonal)(left, old, helps)
    return array_of(new)


def improve_diagonal(P, D, low, pull, double mu):
    """`ascend` of arrays: P and D are overwritten."""
    cdef Matrix[double] inverse = matrix(P, write=True)
    cdef Vector[double] new = vector(D, write=True), least = vector(low), helps = vector(pull)
    cdef bint is_sound
    with nogil:
        is_sound = (<Ascend> ascend)(inverse, new, least, helps, mu)
    return is_sound


def choose_branch(problem, w):
    """`branch_position` of arrays."""
    cdef WeightProblem views = read_problem(problem)
    cdef Vector[double] weights = vector(w)
    cdef Index where
    with nogil:
        where = (<Choose> branch_position)(views, weights)
    return where
