"""What a node takes from dive_kernel.pyx."""

from ....pencil.views cimport Flag, Index, Matrix, Vector
from .problem_kernel cimport LeapsProblem, Log, Rest

cdef enum:
    LOST = -1


cdef bint deletion_costs(
    Index kind, Matrix[double] P, Matrix[double] second, Index u, Vector[double] costs
) noexcept nogil
cdef (Index, Index) dive(
    LeapsProblem& problem, Log& log, Rest& rest, Vector[Flag] state, Index need, Index limit,
    Matrix[Flag] states, Vector[double] bounds,
) noexcept nogil
