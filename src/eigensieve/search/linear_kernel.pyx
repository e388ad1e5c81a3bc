"""The linear algebra of the compiled searches that goes through BLAS and LAPACK."""

from libc.math cimport INFINITY, isfinite
from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv
from scipy.linalg.cython_lapack cimport dsyevd

from ..pencil.views cimport check, indices, matrix


cdef double largest_ratio(Matrix[double] A, Matrix[double] B, Vector[Index] chosen) noexcept nogil:
    """The largest generalized eigenvalue of a set, from scratch; -inf if B is singular there."""
    cdef Index n = chosen.size, i, j
    cdef NewMatrix[double] U = NewMatrix[double](n, n), C = NewMatrix[double](n, n)
    cdef NewVector[double] values = NewVector[double](n)
    if n == 0:
        return -INFINITY
    for i in range(n):
        for j in range(n):
            U[i][j] = B[chosen[i]][chosen[j]]
            C[i][j] = A[chosen[i]][chosen[j]]
    if not factorize(U, n, 0.0):
        return -INFINITY
    for _ in range(2):  # C = U'^-1 (U'^-1 C)'
        for i in range(n):
            solve_lower(U, n, C[i])
        for i in range(n):
            for j in range(i):
                C[i][j], C[j][i] = C[j][i], C[i][j]
    for i in range(n):
        for j in range(i):
            C[i][j] = C[j][i] = (C[i][j] + C[j][i]) / 2
    eigenvalues(C, values)
    return values[n - 1]


cdef void eigenvalues(Matrix[double] M, Vector[double] values) noexcept nogil:
    """Of a symmetric matrix, ascending; M is overwritten."""
    decompose(b"N", M, values)


cdef void eigenvectors(Matrix[double] M, Vector[double] values) noexcept nogil:
    """Eigenvalues of a symmetric matrix, ascending; M gets the vectors in its rows."""
    decompose(b"V", M, values)


cdef void decompose(char* job, Matrix[double] M, Vector[double] values) noexcept nogil:
    cdef Index i, j
    cdef int n = <int> M.rows, info = 0, n_work = -1, n_iwork = -1, iwork_wanted = 0
    cdef double work_wanted = 0.0
    cdef char* triangle = b"L"
    cdef NewVector[double] work
    cdef NewVector[int] iwork
    check(M.rows == M.columns == M.stride == values.size)
    for i in range(n):
        for j in range(n):
            if not isfinite(M[i][j]):
                fail("a matrix whose eigenvalues are wanted has entries that are not finite")
    dsyevd(job, triangle, &n, M.data, &n, values.data, &work_wanted, &n_work, &iwork_wanted,
           &n_iwork, &info)
    n_work, n_iwork = <int> work_wanted, iwork_wanted
    work, iwork = NewVector[double](n_work), NewVector[int](n_iwork)
    dsyevd(job, triangle, &n, M.data, &n, values.data, work.data, &n_work, iwork.data,
           &n_iwork, &info)
    if info != 0:
        fail("the eigenvalues of a matrix were not found")


cdef void multiply(
    Matrix[double] A, bint turn_A, Matrix[double] B, bint turn_B, Matrix[double] out
) noexcept nogil:
    """out = A B, each transposed where ``turn`` says so. BLAS counts by columns: out' = B'A'.

    It has a routine for every shape; which one is taken decides the last digits.
    """
    cdef int m = <int> out.rows, n = <int> out.columns
    cdef int k = <int> (A.rows if turn_A else A.columns)
    cdef int a = <int> A.stride, b = <int> B.stride, c = <int> out.stride, one = 1
    cdef int a_step = a if turn_A else 1, b_step = 1 if turn_B else b
    cdef int b_rows = <int> B.columns, b_columns = <int> B.rows
    cdef int a_rows = <int> A.columns, a_columns = <int> A.rows
    cdef double unit = 1.0, zero = 0.0
    cdef char* for_a = b"T" if turn_A else b"N"
    cdef char* for_b = b"T" if turn_B else b"N"
    cdef char* other
    check(k == (B.columns if turn_B else B.rows))
    check(m == (A.columns if turn_A else A.rows) and n == (B.rows if turn_B else B.columns))
    if m == 0 or n == 0 or k == 0:
        out.fill(0.0)
    elif m == 1 and n == 1:
        out.data[0] = ddot(&k, A.data, &a_step, B.data, &b_step)
    elif n == 1:
        other = b"N" if turn_A else b"T"
        dgemv(other, &a_rows, &a_columns, &unit, A.data, &a, B.data, &b_step, &zero, out.data, &c)
    elif m == 1:
        dgemv(for_b, &b_rows, &b_columns, &unit, B.data, &b, A.data, &a_step, &zero, out.data, &one)
    else:
        dgemm(for_b, for_a, &n, &m, &k, &unit, B.data, &b, A.data, &a, &zero, out.data, &c)


ctypedef double (*Ratio)(Matrix[double], Matrix[double], Vector[Index]) except + nogil


def ratio_of_set(A, B, chosen):
    """`largest_ratio` of arrays."""
    cdef Matrix[double] a = matrix(A), b = matrix(B)
    cdef Vector[Index] some = indices(chosen)
    cdef double value
    with nogil:
        value = (<Ratio> largest_ratio)(a, b, some)
    return value
