"""What the level-set search takes from fixing_kernel.pyx."""

from ....pencil.views cimport Flag, Index, Matrix, Vector

cdef extern from *:
    """
    // A share of Y's trace, or of N's and Q's largest entry, that round-off may hide.
    static constexpr double HIDDEN_SHARE = 1e-10;
    """
    const double HIDDEN_SHARE


cdef void decompose(Matrix[double] N, Vector[double] theta, Matrix[double] V) noexcept nogil
cdef (double, double) least_trace_sum(
    Vector[double] theta, Matrix[double] V, Vector[Index] block, Vector[Index] need,
    Vector[double] y,
) noexcept nogil
cdef void fix_by_trace(
    Vector[double] y, double total, Vector[Index] block, Vector[Index] need, Vector[Flag] fix
) noexcept nogil
cdef bint fix_by_inverse(
    Vector[double] theta, Matrix[double] V, Vector[Index] block, Vector[Index] need,
    Vector[Flag] fix,
) noexcept nogil
