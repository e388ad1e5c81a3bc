"""Coordinate descent for the weighted lasso: min 1/2 u'Bu - g'u + sum t_i |u_i|.

Each visit of a coordinate minimises over it exactly; u and what is kept beside it are changed in
place. Steps are measured in units where diag(B) = 1.
"""

from libc.math cimport sqrt

from ...pencil.views cimport Flag, Index, Matrix, NewVector, Vector, matrix, subtract, vector, where


cdef inline double shrink(double value, double threshold) noexcept nogil:
    """Soft thresholding."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


cdef NewVector[Index] all_places(Vector[double] u) noexcept nogil:
    """0, 1, 2, ..."""
    return where(NewVector[Flag](u.size, True), <Flag> True)


cdef NewVector[Index] places_not_zero(Vector[double] u) noexcept nogil:
    """Where u is not zero."""
    cdef Index i
    cdef NewVector[Flag] used = NewVector[Flag](u.size)
    for i in range(u.size):
        used[i] = u[i] != 0.0
    return where(used, <Flag> True)


cdef void sweep_dense(
    Matrix[double] B, Vector[double] t, Vector[double] u, Vector[double] r, Index sweeps,
    double enough,
) noexcept nogil:
    """A sweep over all coordinates, then some over those that are not zero.

    r = g - Bu is kept. It ends early when no step is larger than ``enough``.
    """
    cdef NewVector[Index] order = all_places(u)
    cdef Index visit, i
    cdef Vector[double] row
    cdef double largest, b, new, step
    for _ in range(sweeps):
        largest = 0.0
        for visit in range(order.size):
            i = order[visit]
            row = B[i]
            b = row[i]
            new = shrink(r[i] + b * u[i], t[i]) / b
            step = new - u[i]
            if step != 0.0:
                u[i] = new
                subtract(r, step, row)
                largest = max(largest, abs(step) * sqrt(b))
        if largest <= enough:
            break
        if order.size == u.size:
            order = places_not_zero(u)


cdef void sweep_factor(
    Matrix[double] W, Vector[double] d, Vector[double] b, Vector[double] g, Vector[double] t,
    Vector[double] u, Vector[double] z, Index sweeps, double enough,
) noexcept nogil:
    """The same for B = WW' + diag(d) with W (p, m): only z = W'u is kept, B is never formed."""
    cdef NewVector[Index] order = all_places(u)
    cdef Index visit, i, j
    cdef Vector[double] row
    cdef double largest, gradient, new, step
    for _ in range(sweeps):
        largest = 0.0
        for visit in range(order.size):
            i = order[visit]
            row = W[i]
            gradient = g[i] - d[i] * u[i]
            for j in range(z.size):
                gradient -= row[j] * z[j]
            new = shrink(gradient + b[i] * u[i], t[i]) / b[i]
            step = new - u[i]
            if step != 0.0:
                u[i] = new
                subtract(z, -step, row)
                largest = max(largest, abs(step) * sqrt(b[i]))
        if largest <= enough:
            break
        if order.size == u.size:
            order = places_not_zero(u)


ctypedef void (*Dense)(
    Matrix[double], Vector[double], Vector[double], Vector[double], Index, double
) except + nogil
ctypedef void (*Factor)(
    Matrix[double], Vector[double], Vector[double], Vector[double], Vector[double],
    Vector[double], Vector[double], Index, double,
) except + nogil


def descend_dense(B, t, u, r, Index sweeps, double enough):
    """`sweep_dense` of arrays; u and r change."""
    cdef Matrix[double] quadratic = matrix(B)
    cdef Vector[double] thresholds = vector(t), solution = vector(u, write=True)
    cdef Vector[double] rest = vector(r, write=True)
    with nogil:
        (<Dense> sweep_dense)(quadratic, thresholds, solution, rest, sweeps, enough)


def descend_factor(W, d, b, g, t, u, z, Index sweeps, double enough):
    """`sweep_factor` of arrays; u and z change."""
    cdef Matrix[double] factor = matrix(W)
    cdef Vector[double] ridge = vector(d), diagonal = vector(b), linear = vector(g)
    cdef Vector[double] thresholds = vector(t), solution = vector(u, write=True)
    cdef Vector[double] image = vector(z, write=True)
    with nogil:
        (<Factor> sweep_factor)(
            factor, ridge, diagonal, linear, thresholds, solution, image, sweeps, enough
        )
