"""What a node takes from relax_kernel.pyx."""

from ....pencil.views cimport Index, NewVector, Vector
from .problem_kernel cimport Rest


# What `take_best` finds, and `relax`: see there.
cdef cppclass Taken:
    double total
    NewVector[double] last, following


cdef cppclass Relaxed:
    double bound
    NewVector[double] gains, weights


cdef Taken take_best(
    Vector[double] values, Vector[Index] starts, Vector[Index] needs
) noexcept nogil
cdef Relaxed relax(
    Rest& rest, bint is_log, Vector[Index] starts, Vector[Index] needs, double target, double fuzz
) noexcept nogil
