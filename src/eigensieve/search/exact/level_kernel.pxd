from ...pencil.views cimport Index, Matrix, NewVector, Vector


cdef (Index, double, double) reduce_level(
    Matrix[double] A, Matrix[double] B, double level, Vector[Index] inside, Vector[Index] free,
    Vector[double] reach, Matrix[double] N,
) noexcept nogil
cdef NewVector[Index] indefinite_subset(
    Matrix[double] N, Vector[Index] block, Vector[Index] needs, Index few
) noexcept nogil
