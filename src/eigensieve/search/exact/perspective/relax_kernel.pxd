from ....pencil.views cimport Index, Matrix, NewVector, Vector
from .weights_kernel cimport Scratch, WeightProblem


cdef cppclass Relaxed:
    """A bound, the value f(w), the gradient that belongs to the bound, and how fast f falls
    when D_j grows.
    """
    double bound, value
    NewVector[double] gradient, pull


cdef double log_determinant(Matrix[double] Q) noexcept nogil
cdef (double, Index) evaluate(
    WeightProblem& problem, Vector[double] w, Scratch& scratch, Vector[double] g
) noexcept nogil
cdef Relaxed maximise(
    WeightProblem& problem, Vector[double] w, double cut, Index max_iter, double solved,
    double hopeless,
) noexcept nogil
cdef Index count_at_hand(WeightProblem& problem) noexcept nogil
cdef Relaxed maximise_in_parts(
    WeightProblem& problem, Vector[double] w, Vector[double] guess, double cut, Index max_iter,
    double solved, double hopeless,
) noexcept nogil
