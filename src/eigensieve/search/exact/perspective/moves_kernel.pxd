from ....pencil.views cimport Index, Matrix, NewMatrix, NewVector, Vector
from .weights_kernel cimport WeightProblem


cdef extern from *:
    """
    // Relative rounding of a value.
    static constexpr double MARGIN = 1e-11;
    """
    const double MARGIN


cdef NewMatrix[double] schur_complement(WeightProblem& problem) noexcept nogil
cdef NewVector[double] larger_diagonal(
    Matrix[double] S, Vector[double] D, Vector[double] pull
) noexcept nogil
cdef NewVector[double] last_values(WeightProblem& problem) noexcept nogil
cdef Index branch_position(WeightProblem& problem, Vector[double] w) noexcept nogil
