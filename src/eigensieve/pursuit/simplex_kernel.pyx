"""The simplex method on the polytope {y : |u_j'y| <= h_j for every column u_j}: steps of max c'y.

``rows`` (g, p) holds the u_j in its columns, so that all u_j'y are sums of long rows. A vertex is
kept as g columns (``basis``), the sign of the bound that each lies at, the inverse of the matrix A
with rows u_j, y itself and s = rows'y; all are changed in place.
"""

from libc.math cimport INFINITY, copysign, isnan, sqrt

from ..pencil.views cimport (
    Index, Matrix, NewVector, Vector, add_four_rows, copy_of, indices, matrix, subtract, vector,
)

cdef extern from *:
    """
    // Entries of a direction below this, relatively, are round-off: no pivots.
    static constexpr double SMALLEST_PIVOT = 1e-9;
    static constexpr double IDLE = 1e-10;  // a step as short as this leads nowhere
    static constexpr double ROUND_OFF = 1e-13;  // of weights, as a share of the largest
    """
    const double SMALLEST_PIVOT
    const double IDLE
    const double ROUND_OFF

cdef enum:
    BLOCK = 1024  # columns whose sums stay in the fastest cache
    STALLED = 24  # idle steps in a row before the bounds are moved apart

cpdef enum:
    OPTIMAL = 0
    UNFINISHED = 1
    DEGENERATE = 2
    UNBOUNDED = 3


cdef void combine(Matrix[double] rows, Vector[double] d, Vector[double] out) noexcept nogil:
    """out = rows'd, summed along the rows: vectorised, and the same on every machine load."""
    cdef Index g = rows.rows, p = rows.columns, start = 0, stop, i
    cdef Matrix[double] block
    cdef Vector[double] sums
    while start < p:
        stop = min(p, start + BLOCK)
        block, sums = rows.across(start, stop), out.part(start, stop)
        sums.fill(0.0)
        i = 0
        while i + 4 <= g:
            add_four_rows(sums, d.part(i, i + 4), block.part(i, i + 4))
            i += 4
        while i < g:
            subtract(sums, -d[i], block[i])
            i += 1
        start = stop


cdef double length(Vector[double] d) noexcept nogil:
    """The Euclidean norm."""
    cdef Index i
    cdef double total = 0.0
    for i in range(d.size):
        total += d[i] * d[i]
    return sqrt(total)


cdef double sum_of_sizes(Vector[double] x) noexcept nogil:
    """The sum of all |x_i|."""
    cdef Index i
    cdef double total = 0.0
    for i in range(x.size):
        total += abs(x[i])
    return total


cdef double largest_size(Vector[double] x) noexcept nogil:
    """The largest |x_i|; NaN if there is one."""
    cdef Index i
    cdef double largest = 0.0
    for i in range(x.size):
        if isnan(x[i]):
            return x[i]
        largest = max(largest, abs(x[i]))
    return largest


cdef NewVector[double] column_of(Matrix[double] M, Index j) noexcept nogil:
    """A column in one piece."""
    cdef Index i
    cdef NewVector[double] column = NewVector[double](M.rows)
    for i in range(M.rows):
        column[i] = M[i][j]
    return column


cdef inline double room_along(
    Index j, Vector[double] s, Vector[double] t, Vector[double] h
) noexcept nogil:
    """How far s_j is from the bound that it moves to along t; without a branch, as signs vary."""
    return h[j] - copysign(1.0, t[j]) * s[j]


cdef Index first_bound(
    Vector[double] s, Vector[double] t, Vector[double] h, double overstep, double least
) noexcept nogil:
    """The column whose bound stops a move along t first; -1 if there is none.

    If bounds may be overstepped by ``overstep``, several are met at once: of those the column with
    the largest |t|, which is the best pivot (Harris). Of equal ones the lowest index.
    """
    cdef Index j, chosen = -1
    cdef double nearest = INFINITY, largest = 0.0, size, room
    for j in range(s.size):
        size = abs(t[j])
        if size > least:
            room = room_along(j, s, t, h)
            nearest = min(nearest, (room + overstep) / size)
    for j in range(s.size):
        size = abs(t[j])
        if size > least and size > largest:
            if room_along(j, s, t, h) <= nearest * size:
                chosen, largest = j, size
    return chosen


cdef double step_to(
    Index j, Vector[double] s, Vector[double] t, Vector[double] h, Vector[double] y,
    Vector[double] d,
) noexcept nogil:
    """Move along d until column j is at its bound; the length of the step."""
    cdef double step = max(0.0, room_along(j, s, t, h) / abs(t[j]))
    subtract(y, -step, d)
    subtract(s, -step, t)
    return step


cdef void project_off(Matrix[double] frame, Index k, Vector[double] d) noexcept nogil:
    """Take the first k orthonormal rows of ``frame`` out of d; twice is enough."""
    cdef Index i, j
    cdef double part
    cdef Vector[double] row
    for _ in range(2):
        for i in range(k):
            row = frame[i]
            part = 0.0
            for j in range(d.size):
                part += row[j] * d[j]
            for j in range(d.size):
                d[j] -= part * row[j]


cdef NewVector[double] rise(Vector[double] c, Matrix[double] frame, Index k) noexcept nogil:
    """c projected off the k active columns; where nothing is left, any direction off them."""
    cdef NewVector[double] d = copy_of(c)
    cdef Index i, j, freest = 0
    cdef double free, most = -1.0
    project_off(frame, k, d)
    if length(d) > SMALLEST_PIVOT * length(c):
        return d
    for i in range(c.size):
        free = 1.0
        for j in range(k):
            free -= frame[j][i] * frame[j][i]
        if free > most:
            freest, most = i, free
    d.fill(0.0)
    d[freest] = 1.0
    project_off(frame, k, d)
    return d


cdef Index climb_to_vertex(
    Matrix[double] rows, Vector[double] c, Vector[Index] basis, Vector[double] signs,
    Matrix[double] frame, Vector[double] y, Vector[double] s, Vector[double] h, double overstep,
    Index k, Index n_steps,
) noexcept nogil:
    """From a point with k active columns towards a vertex; how many are active now.

    Each step goes up along c, projected off the active columns, to the next bound. ``frame`` holds
    an orthonormal basis of the active columns.
    """
    cdef NewVector[double] t = NewVector[double](s.size), d, row
    cdef Index i, j
    cdef double size
    for _ in range(min(n_steps, c.size - k)):
        d = rise(c, frame, k)
        combine(rows, d, t)
        j = first_bound(s, t, h, overstep, SMALLEST_PIVOT * length(d))
        if j < 0:
            return -1
        step_to(j, s, t, h, y, d)
        basis[k] = j
        signs[k] = 1.0 if t[j] > 0.0 else -1.0
        row = column_of(rows, j)
        project_off(frame, k, row)
        size = length(row)
        for i in range(row.size):
            frame[k][i] = row[i] / size
        k += 1
    return k


cdef void weigh(
    Matrix[double] inverse, Vector[double] c, Vector[double] weights, Vector[double] norms
) noexcept nogil:
    """weights = A^-T c, and the norms of the columns of A^-1."""
    cdef Index i, k
    cdef Vector[double] row
    weights.fill(0.0)
    norms.fill(0.0)
    for k in range(c.size):
        row = inverse[k]
        for i in range(c.size):
            weights[i] += c[k] * row[i]
            norms[i] += row[i] * row[i]
    for i in range(c.size):
        norms[i] = sqrt(norms[i])


cdef void exchange(Matrix[double] inverse, Vector[double] column, Index i) noexcept nogil:
    """A^-1 after row i of A became ``column``."""
    cdef NewVector[double] w = NewVector[double](column.size, 0.0)
    cdef Index k, m
    cdef double pivot, factor
    cdef Vector[double] row
    for k in range(column.size):
        row, factor = inverse[k], column[k]
        for m in range(column.size):
            w[m] += factor * row[m]
    for k in range(column.size):
        row = inverse[k]
        pivot = row[i] / w[i]
        for m in range(column.size):
            row[m] -= w[m] * pivot
        row[i] = pivot


cdef (Index, Index) follow_edges(
    Matrix[double] rows, Vector[double] c, Vector[Index] basis, Vector[double] signs,
    Matrix[double] inverse, Vector[double] y, Vector[double] s, Vector[double] h, double overstep,
    double tol, Index n_steps,
) noexcept nogil:
    """From vertex to vertex, up along the steepest edge: a status, and the steps taken.

    An edge leaves the bound of the i-th basic column; it goes up where the weight of that column
    has the wrong sign. The column may as well cross to its opposite bound.
    """
    cdef Index g = c.size, idle = 0, n, i, j, k, leaving
    cdef NewVector[double] t = NewVector[double](s.size), d = NewVector[double](g)
    cdef NewVector[double] weights = NewVector[double](g), norms = NewVector[double](g)
    cdef double enough, steepest, down, step
    for n in range(n_steps):
        weigh(inverse, c, weights, norms)
        enough = tol * sum_of_sizes(weights)
        leaving, steepest = -1, 0.0
        for i in range(g):
            down = weights[i] * signs[i]
            if down < -enough and down / norms[i] < steepest:
                leaving, steepest = i, down / norms[i]
        if leaving < 0:
            return OPTIMAL, n
        for k in range(g):
            d[k] = -signs[leaving] * inverse[k][leaving]
        combine(rows, d, t)
        for i in range(g):
            t[basis[i]] = 0.0
        t[basis[leaving]] = -signs[leaving]
        j = first_bound(s, t, h, overstep, SMALLEST_PIVOT * norms[leaving])
        if j < 0:
            return UNBOUNDED, n
        step = step_to(j, s, t, h, y, d)
        signs[leaving] = 1.0 if t[j] > 0.0 else -1.0
        if j != basis[leaving]:
            basis[leaving] = j
            exchange(inverse, column_of(rows, j), leaving)
        idle = idle + 1 if step <= IDLE else 0
        if idle >= STALLED:
            return DEGENERATE, n + 1
    return UNFINISHED, n_steps


cdef (Index, Index) enter_violated(
    Matrix[double] rows, Vector[double] c, Vector[Index] basis, Vector[double] signs,
    Matrix[double] inverse, Vector[double] y, Vector[double] s, double tol, Index n_steps,
) noexcept nogil:
    """The primal simplex: from a basis whose weights have the right signs, but with |s_j| > 1.

    The column with the largest |s_j| enters, and that whose weight first becomes zero leaves;
    after some steps that lead nowhere, the lowest index in both places (Bland).
    """
    cdef Index g = c.size, idle = 0, n, i, j, k, entering, leaving
    cdef NewVector[double] weights = NewVector[double](g), norms = NewVector[double](g)
    cdef NewVector[double] shrinking = NewVector[double](g), sizes = NewVector[double](g), column
    cdef Vector[double] row
    cdef double worst, side, step
    for n in range(n_steps):
        for i in range(g):
            s[basis[i]] = signs[i]
        entering, worst = -1, 1.0 + tol
        for j in range(s.size):
            if abs(s[j]) > worst:
                entering, worst = j, abs(s[j])
                if idle >= STALLED:
                    break
        if entering < 0:
            return OPTIMAL, n
        side = 1.0 if s[entering] > 0.0 else -1.0
        column = column_of(rows, entering)
        weigh(inverse, c, weights, norms)
        shrinking.fill(0.0)
        for k in range(g):
            row = inverse[k]
            for i in range(g):
                shrinking[i] += side * signs[i] * column[k] * row[i]
        for i in range(g):
            sizes[i] = weights[i] * signs[i]
        leaving = first_zero(sizes, shrinking, basis, idle >= STALLED)
        if leaving < 0:
            return UNBOUNDED, n
        step = max(0.0, weights[leaving] * signs[leaving]) / shrinking[leaving]
        basis[leaving], signs[leaving] = entering, side
        exchange(inverse, column, leaving)
        for k in range(g):
            row = inverse[k]
            y[k] = 0.0
            for i in range(g):
                y[k] += row[i] * signs[i]
        combine(rows, y, s)
        idle = idle + 1 if step <= IDLE * largest_size(weights) else 0
    return UNFINISHED, n_steps


cdef Index first_zero(
    Vector[double] sizes, Vector[double] rates, Vector[Index] basis, bint bland
) noexcept nogil:
    """Which size reaches zero first at these rates; of several the fastest, or the lowest index."""
    cdef double least = SMALLEST_PIVOT * largest_size(rates)
    cdef double give = 0.0 if bland else ROUND_OFF * largest_size(sizes)
    cdef double nearest = INFINITY, reach
    cdef Index i, chosen = -1
    for i in range(sizes.size):
        if rates[i] > least:
            nearest = min(nearest, (max(0.0, sizes[i]) + give) / rates[i])
    reach = nearest * (1.0 + 1e-12)
    for i in range(sizes.size):
        if rates[i] > least and max(0.0, sizes[i]) <= reach * rates[i]:
            if chosen < 0:
                chosen = i
            elif bland:
                if basis[i] < basis[chosen]:
                    chosen = i
            elif rates[i] > rates[chosen]:
                chosen = i
    return chosen


ctypedef Index (*Reach)(
    Matrix[double], Vector[double], Vector[Index], Vector[double], Matrix[double], Vector[double],
    Vector[double], Vector[double], double, Index, Index,
) except + nogil
ctypedef (Index, Index) (*Improve)(
    Matrix[double], Vector[double], Vector[Index], Vector[double], Matrix[double], Vector[double],
    Vector[double], Vector[double], double, double, Index,
) except + nogil
ctypedef (Index, Index) (*Repair)(
    Matrix[double], Vector[double], Vector[Index], Vector[double], Matrix[double], Vector[double],
    Vector[double], double, Index,
) except + nogil


def reach_vertex(
    rows, c, basis, signs, frame, y, s, h, double overstep, Index k, Index n_steps
):
    """`climb_to_vertex` of arrays; basis, signs, frame, y and s change."""
    cdef Matrix[double] all_rows = matrix(rows), the_frame = matrix(frame, write=True)
    cdef Vector[Index] the_basis = indices(basis, write=True)
    cdef Vector[double] goal = vector(c), the_signs = vector(signs, write=True)
    cdef Vector[double] the_y = vector(y, write=True), sums = vector(s, write=True)
    cdef Vector[double] bounds = vector(h)
    with nogil:
        k = (<Reach> climb_to_vertex)(
            all_rows, goal, the_basis, the_signs, the_frame, the_y, sums, bounds, overstep, k,
            n_steps,
        )
    return k


def improve(
    rows, c, basis, signs, inverse, y, s, h, double overstep, double tol, Index n_steps
):
    """`follow_edges` of arrays; basis, signs, inverse, y and s change."""
    cdef Matrix[double] all_rows = matrix(rows), the_inverse = matrix(inverse, write=True)
    cdef Vector[Index] the_basis = indices(basis, write=True)
    cdef Vector[double] goal = vector(c), the_signs = vector(signs, write=True)
    cdef Vector[double] the_y = vector(y, write=True), sums = vector(s, write=True)
    cdef Vector[double] bounds = vector(h)
    cdef (Index, Index) found
    with nogil:
        found = (<Improve> follow_edges)(
            all_rows, goal, the_basis, the_signs, the_inverse, the_y, sums, bounds, overstep, tol,
            n_steps,
        )
    return found


def repair(rows, c, basis, signs, inverse, y, s, double tol, Index n_steps):
    """`enter_violated` of arrays; basis, signs, inverse, y and s change."""
    cdef Matrix[double] all_rows = matrix(rows), the_inverse = matrix(inverse, write=True)
    cdef Vector[Index] the_basis = indices(basis, write=True)
    cdef Vector[double] goal = vector(c), the_signs = vector(signs, write=True)
    cdef Vector[double] the_y = vector(y, write=True), sums = vector(s, write=True)
    cdef (Index, Index) found
    with nogil:
        found = (<Repair> enter_violated)(
            all_rows, goal, the_basis, the_signs, the_inverse, the_y, sums, tol, n_steps
        )
    return found
