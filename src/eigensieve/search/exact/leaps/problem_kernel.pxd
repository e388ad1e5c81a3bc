"""What the kernels of the leaps search know of a problem; see problem_kernel.pyx."""

from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, log

from ....pencil.views cimport Flag, Index, Matrix, NewMatrix, NewVector, Vector
from ...linear_kernel cimport factorize

cpdef enum:
    RANK_ONE = 0
    TRACE = 1
    LOGDET = 2


cdef cppclass LeapsProblem:  # the fields of that in problem.py
    Index kind
    Matrix[double] B, H
    Vector[Index] blocks, quota
    double unit


cdef cppclass Log:  # the fields of that in problem.py
    Vector[Flag] best
    Vector[double] record
    Vector[Index] counts
    Matrix[Index] strides


# What is left when some features are chosen: see `reduce`.
cdef cppclass Reduced:
    double value, shaky
    NewMatrix[double] B, H


# The problem that is left on the free features when others are chosen; not ``fine`` if B is too
# nearly singular to trust it.
#
# ``base`` is the value of the chosen, ``top`` that of everything, and ``error``, which is added
# to it, what rounding may do to any value. ``shaky`` is the sum of 1/pivot of the chosen.
# ``P`` is the inverse of B; ``second`` is P H as a row (rank one), P H H' P (trace) or the
# inverse of B + H H' (logdet).
cdef cppclass Rest:
    bint fine
    NewVector[Index] free
    NewMatrix[double] B, H, P, second
    double base, top, error, shaky


cdef inline double log_det(Matrix[double] K) noexcept nogil:
    """log det of a positive definite K, whose upper triangle becomes its Cholesky factor."""
    cdef Index j
    cdef double total = 0.0
    if not factorize(K, K.rows, 0.0):
        return INFINITY
    for j in range(K.rows):
        total += log(K[j][j])
    return 2.0 * total


cdef inline double trace(Matrix[double] M) noexcept nogil:
    cdef Index j
    cdef double total = 0.0
    for j in range(M.rows):
        total += M[j][j]
    return total


cdef inline double rounding(LeapsProblem& problem, double value, double shaky) noexcept nogil:
    """What rounding may do to a value that was got through a matrix with these pivots."""
    return 8.0 * DBL_EPSILON * (value + problem.unit) * (shaky + 1.0)


cdef inline NewVector[Flag] chosen_mask(Vector[Flag] state) noexcept nogil:
    """1 where a feature is chosen, 0 elsewhere."""
    cdef NewVector[Flag] mask = NewVector[Flag](state.size)
    cdef Index j
    for j in range(state.size):
        mask[j] = state[j] == 1
    return mask


cdef void consider(LeapsProblem& problem, Log& log, Vector[Flag] mask) noexcept nogil
cdef Rest reduce_to_free(LeapsProblem& problem, Vector[Flag] state) noexcept nogil
cdef LeapsProblem read_problem(object given) except *
cdef Log read_log(object given) except *
