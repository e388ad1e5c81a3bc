"""Vectors and matrices for kernels (see views.hpp), and the way to them from NumPy and back.

A kernel is a ``cdef`` function that needs no GIL. What Python calls is a ``def`` beside it: it
turns arrays into views, releases the GIL, and calls the kernel by a pointer declared ``except +``,
so that want of memory (and an index out of bounds, where that is checked) becomes an exception.
"""

ctypedef Py_ssize_t Index
ctypedef signed char Flag  # of np.int8 and np.bool_


cdef extern from "views.hpp" namespace "eigensieve" nogil:
    cppclass Vector[T]:
        T* data
        Index size
        Vector()
        Vector(T*, Index)
        T& operator[](Index)
        Vector[T] part(Index, Index)
        void fill(T)
        void assign(Vector[T])

    cppclass Matrix[T]:
        T* data
        Index rows, columns, stride
        Matrix()
        Matrix(T*, Index, Index)
        Vector[T] operator[](Index)
        Matrix[T] part(Index, Index)
        Matrix[T] across(Index, Index)
        Matrix[T] layer(Index, Index)
        void fill(T)
        void assign(Matrix[T])

    cppclass NewVector[T](Vector[T]):
        NewVector()
        NewVector(Index)
        NewVector(Index, T)

    cppclass NewMatrix[T](Matrix[T]):
        NewMatrix()
        NewMatrix(Index, Index)
        NewMatrix(Index, Index, T)

    NewVector[T] copy_of[T](Vector[T])
    NewMatrix[T] copy_of_matrix "eigensieve::copy_of"[T](Matrix[T])
    NewVector[T] pick[T](Vector[T], Vector[Index])
    NewVector[T] join[T](Vector[T], Vector[T])
    NewVector[Index] where[T](Vector[T], T)
    NewVector[double] sorted(Vector[double])
    NewVector[double] upper_values(Vector[double], Index)
    double value_at_rank(Vector[double], Index)
    NewVector[Index] descending(Vector[double])
    NewVector[Index] largest(Vector[double], Index)  # first of all places
    Index argmax(Vector[double])
    void subtract(Vector[double] y, double a, Vector[double] x)
    void add_four_rows(Vector[double] y, Vector[double] a, Matrix[double] M)
    double sum(Vector[double])
    Index count_all "eigensieve::sum"(Vector[Index])
    bint is_raised(Vector[Flag])
    void check(bint)  # does nothing but where indices are checked
    void fail(const char*)


# Of arrays that are C-contiguous and of just this type; with `write` they must be writable. Whoever
# asks keeps the array.
cdef Vector[double] vector(object array, bint write=*) except *
cdef Matrix[double] matrix(object array, bint write=*) except *
cdef Vector[Index] indices(object array, bint write=*) except *
cdef Matrix[Index] index_matrix(object array, bint write=*) except *
cdef Vector[Flag] flags(object array, bint write=*) except *
cdef Matrix[Flag] flag_matrix(object array, bint write=*) except *

# New arrays with a copy of the numbers.
cdef object array_of(Vector[double] x)
cdef object array_of_matrix(Matrix[double] M)
cdef object array_of_indices(Vector[Index] x)
cdef object array_of_flag_matrix(Matrix[Flag] M)
