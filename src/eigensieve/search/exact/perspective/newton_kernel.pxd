from ....pencil.views cimport Index, Matrix, NewMatrix, NewVector, Vector
from .weights_kernel cimport Scratch, WeightProblem

cdef WeightProblem with_free(WeightProblem& problem, Vector[Index] free) noexcept nogil
cdef Scratch make_scratch(WeightProblem& problem, Index most) noexcept nogil
cdef void project(Vector[double] v, double k) noexcept nogil
cdef NewMatrix[double] curvature(
    WeightProblem& problem, Vector[Index] moving, Index t, Scratch& scratch
) noexcept nogil
cdef NewVector[double] newton_step(
    Matrix[double] M, Vector[double] slope, Vector[double] w
) noexcept nogil
