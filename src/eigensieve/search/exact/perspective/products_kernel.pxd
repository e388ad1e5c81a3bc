from ....pencil.views cimport Index, Matrix, Vector
from .weights_kernel cimport Scratch, WeightProblem

cdef void solve_rows(
    WeightProblem& problem, Index t, Scratch& scratch, Matrix[double] Q
) noexcept nogil
cdef void price(
    WeightProblem& problem, Vector[double] w, Index t, Scratch& scratch, Vector[double] g
) noexcept nogil
