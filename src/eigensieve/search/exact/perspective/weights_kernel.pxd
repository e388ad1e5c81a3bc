"""What the kernels of the perspective search hand to each other; as tuples of arrays: weights.py.

Views do not keep what they look at: whoever makes a WeightProblem or a Ground does.
"""

from ....pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, flags, index_matrix, indices, matrix, vector,
)
from .limits_kernel cimport LimitRows, read_limits


cdef extern from *:
    """
    // Weights below this are zero.
    static constexpr double WEIGHTLESS = 1e-9;
    """
    const double WEIGHTLESS


cdef cppclass WeightProblem:
    Matrix[double] B, H
    Vector[double] D
    Vector[Index] forced, free
    Index need
    bint logdet
    Vector[Flag] stop
    Vector[double] work, charge


cdef cppclass Ground:
    Matrix[double] B, H
    Index k
    bint logdet, lists
    Vector[Index] counts
    Matrix[Index] strides
    Vector[Flag] stop
    Vector[double] work, charge
    LimitRows limits


cdef cppclass Scratch:
    """What an evaluation leaves behind.

    T lists the features with weight (the forced first, then those of free), U is the Cholesky
    factor on them, X (c, t) = (B + ...)_T^-1 H_T, and Y (c, u) with G (c, c) gives the gradient
    g_j = y_j' G y_j.
    """
    NewVector[Index] T
    NewMatrix[double] U, X, Y, G


cdef inline WeightProblem read_problem(object problem) except *:
    """The views of a tuple of arrays."""
    cdef WeightProblem views
    B, H, D, forced, free, need, logdet, work, stop, charge = problem
    views.B, views.H, views.D = matrix(B), matrix(H), vector(D)
    views.forced, views.free = indices(forced), indices(free)
    views.need, views.logdet, views.stop = need, logdet, flags(stop)
    views.work, views.charge = vector(work, write=True), vector(charge)
    return views


cdef inline Ground read_ground(object ground) except *:
    """The views of a tuple of arrays."""
    cdef Ground views
    B, H, k, logdet, counts, strides, stop, work, charge, limits, lists = ground
    views.B, views.H, views.k, views.logdet = matrix(B), matrix(H), k, logdet
    views.counts = indices(counts, write=True)
    views.strides, views.stop = index_matrix(strides), flags(stop)
    views.work, views.charge = vector(work, write=True), vector(charge)
    views.limits, views.lists = read_limits(limits), lists
    return views
