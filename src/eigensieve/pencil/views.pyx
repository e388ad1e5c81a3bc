"""From NumPy arrays to the views of the kernels, and back."""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.string cimport strchr, strlen

import numpy as np


cdef (void*, Index, Index) look(
    object array, const char* kinds, Index itemsize, str dtype, int ndim, bint write
) except *:
    """Where the numbers of an array lie, its rows and its columns; TypeError if it is another."""
    cdef Py_buffer buffer
    cdef Index rows = 1, columns
    PyObject_GetBuffer(
        array, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if write else 0)
    )
    try:
        if (
            buffer.ndim != ndim
            or strlen(buffer.format) != 1
            or strchr(kinds, buffer.format[0]) == NULL
            or buffer.itemsize != itemsize
        ):
            raise TypeError(
                f"a kernel takes a {ndim}-dimensional array of {dtype} here, not a "
                f"{buffer.ndim}-dimensional one of {np.asarray(array).dtype}"
            )
        columns = buffer.shape[ndim - 1]
        if ndim == 2:
            rows = buffer.shape[0]
        return buffer.buf, rows, columns
    finally:
        PyBuffer_Release(&buffer)


cdef Vector[double] vector(object array, bint write=False) except *:
    data, _, size = look(array, b"d", sizeof(double), "float64", 1, write)
    return Vector[double](<double*> data, size)


cdef Matrix[double] matrix(object array, bint write=False) except *:
    data, rows, columns = look(array, b"d", sizeof(double), "float64", 2, write)
    return Matrix[double](<double*> data, rows, columns)


cdef Vector[Index] indices(object array, bint write=False) except *:
    data, _, size = look(array, b"lq", sizeof(Index), "int64", 1, write)
    return Vector[Index](<Index*> data, size)


cdef Matrix[Index] index_matrix(object array, bint write=False) except *:
    data, rows, columns = look(array, b"lq", sizeof(Index), "int64", 2, write)
    return Matrix[Index](<Index*> data, rows, columns)


cdef Vector[Flag] flags(object array, bint write=False) except *:
    data, _, size = look(array, b"b?", sizeof(Flag), "int8 or bool", 1, write)
    return Vector[Flag](<Flag*> data, size)


cdef Matrix[Flag] flag_matrix(object array, bint write=False) except *:
    data, rows, columns = look(array, b"b?", sizeof(Flag), "int8 or bool", 2, write)
    return Matrix[Flag](<Flag*> data, rows, columns)


cdef object array_of(Vector[double] x):
    array = np.empty(x.size)
    vector(array, write=True).assign(x)
    return array


cdef object array_of_matrix(Matrix[double] M):
    array = np.empty((M.rows, M.columns))
    matrix(array, write=True).assign(M)
    return array


cdef object array_of_indices(Vector[Index] x):
    array = np.empty(x.size, dtype=np.int64)
    indices(array, write=True).assign(x)
    return array


cdef object array_of_flag_matrix(Matrix[Flag] M):
    array = np.empty((M.rows, M.columns), dtype=np.int8)
    flag_matrix(array, write=True).assign(M)
    return array
