"""What is proved between directions: bounds on cones, from sums of products at their corners.

With z = z_1 a_1 + ... at v = v_1 a_1 + ... no set T is worth more in the direction v than a'M_T a,
M_T[i, j] = z_i'z_j + the sum of y_i y_j over T. For a >= 0 it may be replaced by anything larger,
entry by entry: so no set that holds k features gets above the level l in the cone if l V'V - M is
copositive, M with the sums of the largest products, V the corners.
"""

from libc.math cimport INFINITY, sqrt

from ....pencil.views cimport (
    Flag, Index, Matrix, NewMatrix, NewVector, Vector, array_of, array_of_matrix, fail, flags,
    index_matrix, indices, is_raised, matrix, pick, value_at_rank, vector, where,
)
from ...linear_kernel cimport factorize, top_sum
from ..perspective.newton_kernel cimport make_scratch, with_free
from ..perspective.relax_kernel cimport evaluate, maximise
from ..perspective.weights_kernel cimport WEIGHTLESS, Scratch, WeightProblem, read_problem

cdef enum:
    MOST = 100  # steps of a search for a level
    WORKING_SET = 60  # features that a relaxation of many begins with
    ROUNDS = 10

cdef extern from *:
    """
    // Round-off of an entry of M, in units of the largest.
    static constexpr double MARGIN = 1e-10;
    // A level is found to this, relatively.
    static constexpr double CLOSE = 1e-9;
    """
    const double MARGIN, CLOSE


cdef cppclass Corner:
    """y of the forced and then the free features, and X, which is zero without a weight."""
    NewVector[double] y, x


cdef cppclass Sums:
    """Of pairs of corners: M, the last product in it, and the next."""
    Vector[double] total, last, after


cdef cppclass Room:
    """For one cone: M, and l V'V - M, which factorization overwrites."""
    NewMatrix[double] M, left, clipped


cdef Index count_weights(Vector[double] w) noexcept nogil:
    cdef Index count = 0, i
    for i in range(w.size):
        if w[i] > WEIGHTLESS:
            count += 1
    return count


cdef double gap_of(Vector[double] g, Vector[double] w, Index need) noexcept nogil:
    """How far the bound is above the value, with this gradient."""
    cdef double gap
    cdef Index i
    gap, _, _ = top_sum(g, need)
    for i in range(w.size):
        gap -= g[i] * w[i]
    return gap


cdef void improve_some(
    WeightProblem& problem, Vector[double] w, Vector[double] g, Vector[Flag] is_in, Index few,
    double cut, Index max_iter, double solved, double hopeless,
) noexcept nogil:
    """Maximise over the weights of the features with the largest gradients; ``is_in`` grows."""
    cdef double bar = value_at_rank(g, w.size - few) if few < w.size else -INFINITY
    cdef NewVector[Index] part, free
    cdef NewVector[double] some
    cdef WeightProblem fewer
    cdef Index i
    for i in range(w.size):
        if w[i] > WEIGHTLESS or g[i] >= bar:
            is_in[i] = True
    part = where[Flag](is_in, True)
    some, free = pick(w, part), pick(problem.free, part)
    fewer = with_free(problem, free)
    maximise(fewer, some, cut, max_iter, solved, hopeless)
    for i in range(part.size):
        w[part[i]] = some[i]


cdef Corner solve_corner(
    WeightProblem& problem, Vector[double] w, double cut, Index max_iter, double solved,
    double hopeless,
) noexcept nogil:
    """The relaxation with one row for A: y = (h - W'z) / sqrt(D), z = W X.

    Solved for some of the features, those with the largest gradients, until it is for all.
    """
    cdef Index f = problem.forced.size, u = problem.free.size, need = problem.need, a = f, i
    cdef Index few = max(WORKING_SET, 5 * need)
    cdef NewVector[double] g = NewVector[double](u)
    cdef NewVector[Flag] is_in = NewVector[Flag](u, False)
    cdef Scratch scratch
    cdef Corner corner
    cdef double value, gap, before = -INFINITY
    for _ in range(ROUNDS):
        scratch = make_scratch(problem, count_weights(w))
        value, _ = evaluate(problem, w, scratch, g)
        if value != value:
            fail("B is not positive definite on the features of a relaxation")
        gap = gap_of(g, w, need)
        if (
            gap <= solved * (value + gap) or value + gap <= cut or value <= before
            or (value > cut and gap <= hopeless * (value - cut)) or is_raised(problem.stop)
        ):
            break
        before = value
        improve_some(problem, w, g, is_in, few, cut, max_iter, solved, hopeless)
    corner.y, corner.x = NewVector[double](f + u), NewVector[double](f + u, 0.0)
    for i in range(f):
        corner.x[i] = scratch.X[0][i]
        corner.y[i] = sqrt(problem.D[problem.forced[i]]) * scratch.X[0][i]
    for i in range(u):
        corner.y[f + i] = scratch.Y[0][i]
        if w[i] > WEIGHTLESS:
            corner.x[f + i] = scratch.X[0][a]
            a += 1
    return corner


cdef void sum_pairs(
    Matrix[double] Y, Matrix[double] X, Matrix[double] R, Matrix[Index] pairs, Index n_forced,
    Index need, Matrix[double] out,
) noexcept nogil:
    """Rows of `Sums` for pairs of corners, from y, X and W'z of each."""
    cdef Index n = Y.columns, u = n - n_forced, e, i
    cdef Vector[double] one, other, x, r
    cdef NewVector[double] product = NewVector[double](u)
    cdef double total, top, last, after
    for e in range(pairs.rows):
        one, other = Y[pairs[e][0]], Y[pairs[e][1]]
        x, r = X[pairs[e][1]], R[pairs[e][0]]
        total = 0.0
        for i in range(n):
            total += x[i] * r[i]
        for i in range(n_forced):
            total += one[i] * other[i]
        for i in range(u):
            product[i] = one[n_forced + i] * other[n_forced + i]
        top, last, after = top_sum(product, need)
        out[e][0], out[e][1], out[e][2] = total + top, last, after


cdef bint is_closed(Vector[double] gram, double level, Room& room) noexcept nogil:
    """Whether level * V'V - M is seen to be copositive.

    It is if it is positive definite, also with its positive entries outside the diagonal left out.
    """
    cdef Index c = room.M.rows, i, j
    cdef double largest = 0.0, slack, entry
    for i in range(c):
        largest = max(largest, room.M[i][i])
    slack = MARGIN * largest
    for i in range(c):
        for j in range(i, c):
            entry = level * gram[i * c + j] - room.M[i][j] - slack
            room.left[i][j] = entry
            room.clipped[i][j] = entry if i == j else min(entry, 0.0)
    return factorize(room.clipped, c, 0.0) or factorize(room.left, c, 0.0)


cdef void limit_by_diagonal(Matrix[double] M) noexcept nogil:
    """By Cauchy and Schwarz no entry of M_T is larger than this."""
    cdef Index c = M.rows, i, j
    for i in range(c):
        for j in range(i + 1, c):
            M[i][j] = min(M[i][j], sqrt(max(M[i][i] * M[j][j], 0.0)))


cdef Room make_room(Index c) noexcept nogil:
    cdef Room room
    room.M, room.left = NewMatrix[double](c, c), NewMatrix[double](c, c)
    room.clipped = NewMatrix[double](c, c)
    return room


cdef void find_reach(
    Matrix[double] grams, Matrix[Index] places, Sums& sums, Index c, Vector[double] out
) noexcept nogil:
    """The least level at which each cone is closed."""
    cdef Room room = make_room(c)
    cdef Index n, i, j
    cdef double low, high, middle
    for n in range(grams.rows):
        low = 0.0
        for i in range(c):
            for j in range(i, c):
                room.M[i][j] = sums.total[places[n][i * c + j]]
            low = max(low, room.M[i][i])
        limit_by_diagonal(room.M)
        high = low
        if low > 0.0:
            high = low * (1.0 + CLOSE)
            for _ in range(MOST):
                if is_closed(grams[n], high, room):
                    break
                high += high - low
            else:
                high = INFINITY
            for _ in range(MOST):
                if not high - low > CLOSE * high:
                    break
                middle = 0.5 * (low + high)
                if is_closed(grams[n], middle, room):
                    high = middle
                else:
                    low = middle
        out[n] = high


cdef bint may_reach(
    Matrix[double] grams, Matrix[Index] cells, Matrix[Index] places, Sums& sums, Matrix[double] Y,
    Index feature, bint with_it, double level, Room& room,
) noexcept nogil:
    """Whether a set with (or without) the feature may be above the level, in some cone."""
    cdef Index c = cells.columns, n, i, j, place
    cdef double product, less
    for n in range(cells.rows):
        for i in range(c):
            for j in range(i, c):
                place = places[n][i * c + j]
                product = Y[cells[n][i]][feature] * Y[cells[n][j]][feature]
                less = sums.last[place] - product if with_it else product - sums.after[place]
                room.M[i][j] = sums.total[place] - max(less, 0.0)
        limit_by_diagonal(room.M)
        if not is_closed(grams[n], level, room):
            return True
    return False


cdef void fix(
    Matrix[double] grams, Matrix[Index] cells, Matrix[Index] places, Sums& sums, Matrix[double] Y,
    Index n_forced, double level, Vector[Flag] must, Vector[Flag] cannot,
) noexcept nogil:
    cdef Room room = make_room(cells.columns)
    cdef Index i
    for i in range(must.size):
        cannot[i] = not may_reach(
            grams, cells, places, sums, Y, n_forced + i, True, level, room
        )
        must[i] = not cannot[i] and not may_reach(
            grams, cells, places, sums, Y, n_forced + i, False, level, room
        )


cdef Sums read_sums(object total, object last, object after) except *:
    cdef Sums sums
    sums.total, sums.last, sums.after = vector(total), vector(last), vector(after)
    return sums


ctypedef Corner (*Solve)(
    WeightProblem&, Vector[double], double, Index, double, double
) except + nogil
ctypedef void (*SumPairs)(
    Matrix[double], Matrix[double], Matrix[double], Matrix[Index], Index, Index, Matrix[double]
) except + nogil
ctypedef void (*Reach)(
    Matrix[double], Matrix[Index], Sums&, Index, Vector[double]
) except + nogil
ctypedef void (*Fix)(
    Matrix[double], Matrix[Index], Matrix[Index], Sums&, Matrix[double], Index, double,
    Vector[Flag], Vector[Flag],
) except + nogil


def relax_direction(problem, w, double cut, Index max_iter, double solved, double hopeless):
    """y and X of `solve_corner`; w is overwritten."""
    cdef WeightProblem views = read_problem(problem)
    cdef Vector[double] weights = vector(w, write=True)
    cdef Corner corner
    with nogil:
        corner = (<Solve> solve_corner)(views, weights, cut, max_iter, solved, hopeless)
    return array_of(corner.y), array_of(corner.x)


def pair_sums(Y, X, R, pairs, Index n_forced, Index need):
    """`sum_pairs` of arrays, a row for each pair."""
    cdef Matrix[double] y = matrix(Y), x = matrix(X), r = matrix(R)
    cdef Matrix[Index] ends = index_matrix(pairs)
    cdef NewMatrix[double] out = NewMatrix[double](ends.rows, 3)
    with nogil:
        (<SumPairs> sum_pairs)(y, x, r, ends, n_forced, need, out)
    return array_of_matrix(out)


def cone_reach(grams, places, Index c, total, last, after):
    """`find_reach` of arrays."""
    cdef Matrix[double] gram = matrix(grams)
    cdef Matrix[Index] place = index_matrix(places)
    cdef Sums sums = read_sums(total, last, after)
    cdef NewVector[double] out = NewVector[double](gram.rows)
    with nogil:
        (<Reach> find_reach)(gram, place, sums, c, out)
    return array_of(out)


def fix_by_cones(
    grams, cells, places, total, last, after, Y, Index n_forced, double level, must, cannot
):
    """`fix` of arrays: marks what a set above the level must have, and what it cannot have."""
    cdef Matrix[double] gram = matrix(grams), y = matrix(Y)
    cdef Matrix[Index] cell = index_matrix(cells), place = index_matrix(places)
    cdef Sums sums = read_sums(total, last, after)
    cdef Vector[Flag] inside = flags(must, write=True), outside = flags(cannot, write=True)
    with nogil:
        (<Fix> fix)(gram, cell, place, sums, y, n_forced, level, inside, outside)
