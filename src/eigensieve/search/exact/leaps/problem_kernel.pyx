"""The problem of the leaps search, and what of it is left when some features are chosen.

These are eliminated by Cholesky steps, which leave a problem of the same kind behind.
"""

from libc.math cimport INFINITY

from ....pencil.views cimport (
    copy_of_matrix, flags, index_matrix, indices, join, matrix, vector, where,
)
from ...linear_kernel cimport eliminate, factorize, invert, multiply
from ..coverage_kernel cimport FREE, IN


cdef Reduced reduce(
    Matrix[double] B, Matrix[double] H, Vector[Index] chosen, Vector[Index] free, bint is_log
) noexcept nogil:
    """What is left when some features are chosen: a problem of the same kind on the free ones.

    H is (p, c), A = H H'. Returns the value of the chosen set (inf: beside A nothing is left of
    B), the sum of 1/pivot (inf: they are dependent), and B and H of the rest: for every set T of
    free features the value of chosen + T is the value of the chosen plus that of T in the reduced
    problem.
    """
    cdef Index m = chosen.size, u = free.size, c = H.columns, a, b, s, t
    cdef NewVector[Index] index = join(chosen, free)
    cdef NewMatrix[double] M = NewMatrix[double](m + u, m + u), K = NewMatrix[double](m + u, c), C
    cdef Vector[double] row, own
    cdef double shaky, value = 0.0
    cdef Reduced left
    for a in range(m + u):
        row, own = B[index[a]], M[a]
        for b in range(a, m + u):
            own[b] = row[index[b]]
        K[a].assign(H[index[a]])
    shaky = eliminate(M, K, m)
    if shaky < INFINITY and is_log:
        C = NewMatrix[double](c, c)
        multiply(K.part(0, m), True, K.part(0, m), False, C)
        for s in range(c):
            C[s][s] += 1.0
        value = log_det(C)
        for a in range(
            m, m + u if value < INFINITY else m
        ):  # K C^-1/2: the directions that are explained count less
            own = K[a]
            for s in range(c):
                row = C[s]
                own[s] /= row[s]
                for t in range(s + 1, c):
                    own[t] -= own[s] * row[t]
    elif shaky < INFINITY:
        for a in range(m):
            for s in range(c):
                value += K[a][s] * K[a][s]
    left.value, left.shaky = value, shaky
    left.B = NewMatrix[double](u, u)
    for a in range(u):
        for b in range(a, u):
            left.B[a][b] = M[m + a][m + b]
            left.B[b][a] = left.B[a][b]
    left.H = copy_of_matrix(K.part(m, m + u))
    return left


cdef (double, double) score(LeapsProblem& problem, Vector[Index] chosen) noexcept nogil:
    """The value of a set from scratch, and how far it may be off."""
    cdef Vector[Index] nothing
    cdef Reduced left = reduce(problem.B, problem.H, chosen, nothing, problem.kind == LOGDET)
    return left.value, rounding(problem, left.value, left.shaky)


cdef void consider(LeapsProblem& problem, Log& log, Vector[Flag] mask) noexcept nogil:
    """Close a single set: it is the new best if it is above the cut, from scratch."""
    cdef double value, error
    cdef Vector[double] record = log.record
    value, error = score(problem, where[Flag](mask, 1))
    if record[0] < value < INFINITY:
        log.best.assign(mask)
        record[0] = value + record[1]
    record[2] = max(record[2], value + error)


cdef Rest reduce_to_free(LeapsProblem& problem, Vector[Flag] state) noexcept nogil:
    """The problem that a node leaves."""
    cdef bint is_log = problem.kind == LOGDET
    cdef NewVector[Index] free = where[Flag](state, FREE)
    cdef Reduced left = reduce(problem.B, problem.H, where[Flag](state, IN), free, is_log)
    cdef Index u = free.size, c = left.H.columns, a, b, s
    cdef NewMatrix[double] U = copy_of_matrix(<Matrix[double]> left.B), X, Q
    cdef double value
    cdef Rest rest
    rest.free, rest.B, rest.H, rest.base, rest.shaky = free, left.B, left.H, left.value, left.shaky
    rest.P, rest.second = NewMatrix[double](u, u, 0.0), NewMatrix[double](1, u, 0.0)
    rest.top = rest.error = INFINITY
    rest.fine = rest.base < INFINITY and rest.shaky < INFINITY and factorize(U, u, 0.0)
    if not rest.fine:
        return rest
    invert(U, u, rest.P)
    X, Q = NewMatrix[double](u, c), NewMatrix[double](c, c)
    multiply(rest.P, False, rest.H, False, X)
    multiply(rest.H, True, X, False, Q)
    if is_log:
        for s in range(c):
            Q[s][s] += 1.0
        value = log_det(Q)
        rest.second = NewMatrix[double](u, u, 0.0)
        multiply(rest.H, False, rest.H, True, U)
        for a in range(u):
            for b in range(u):
                U[a][b] += rest.B[a][b]
        rest.fine = factorize(U, u, 0.0)
        if rest.fine:
            invert(U, u, rest.second)
    else:
        value = trace(Q)
        if problem.kind == RANK_ONE:
            for a in range(u):
                rest.second[0][a] = X[a][0]
        else:
            rest.second = NewMatrix[double](u, u)
            multiply(X, False, X, True, rest.second)
    rest.error = rounding(problem, rest.base + value, rest.shaky + trace(rest.P))
    rest.top = rest.base + value + rest.error
    return rest


cdef LeapsProblem read_problem(object given) except *:
    cdef LeapsProblem problem
    problem.kind, problem.unit = given.kind, given.unit
    problem.B, problem.H = matrix(given.B), matrix(given.H)
    problem.blocks, problem.quota = indices(given.blocks), indices(given.quota)
    return problem


cdef Log read_log(object given) except *:
    cdef Log log
    log.best, log.record = flags(given.best, write=True), vector(given.record, write=True)
    log.counts, log.strides = indices(given.counts, write=True), index_matrix(given.strides)
    return log
