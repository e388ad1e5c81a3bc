"""The perspective relaxation: an upper bound on every set of k features, and its solver.

B - diag(D) is positive semidefinite. For weights w in [0, 1] that sum to k,

    Q(w) = H (B + diag(D (1/w - 1)))^-1 H',   f(w) = tr Q(w)   or   log det(I + Q(w))

is concave, and at the indicator of a set it is the criterion of the set. So any w gives the bound
f(w) + g'(v - w), g the gradient, v the best of all sets: the sum of the largest g.
"""

from libc.math cimport INFINITY, NAN, log1p, sqrt

from ....pencil.views cimport (
    Flag, NewMatrix, array_of, copy_of, copy_of_matrix, is_raised, largest, pick, value_at_rank,
    vector, where,
)
from ...linear_kernel cimport factorize, solve, top_sum
from .newton_kernel cimport curvature, make_scratch, newton_step, with_free
from .products_kernel cimport price, solve_rows
from .weights_kernel cimport WEIGHTLESS, read_problem

cdef enum:
    WORKING_SET = 60  # features that a relaxation of many begins with

cdef extern from *:
    """
    // A guess is at least this of a feature that it says anything of; it may be 0 for most.
    static constexpr double MARKED = 1e-300;
    """
    const double MARKED


cdef double log_determinant(Matrix[double] Q) noexcept nogil:
    """log det(I + Q); elimination leaves the rows of I + Q behind, less I, in the upper triangle.

    With log1p, so that small eigenvalues keep their digits. It is nan if rounding has left no
    positive definite matrix.
    """
    cdef double value = 0.0, pivot, factor
    cdef Index c = Q.rows, i, j, m
    cdef Vector[double] row, other
    for j in range(c):
        row = Q[j]
        pivot = 1.0 + row[j]
        if not pivot > 0.0:
            return NAN
        value += log1p(row[j])
        for i in range(j + 1, c):
            factor = row[i] / pivot
            other = Q[i]
            for m in range(i, c):
                other[m] -= factor * row[m]
    return value


cdef double weigh(Matrix[double] Q, bint logdet, Matrix[double] G) noexcept nogil:
    """The criterion of the c x c matrix Q; G becomes its gradient: I, or (I + Q)^-1."""
    cdef Index c = Q.rows, i, j
    cdef double value = 0.0, root
    cdef NewMatrix[double] U
    cdef NewVector[double] x
    if not logdet:
        for i in range(c):
            value += Q[i][i]
            for j in range(c):
                G[i][j] = 1.0 if i == j else 0.0
        return value
    U = copy_of_matrix(Q)
    value = log_determinant(U)
    if value != value:
        return value
    for j in range(c):
        root = sqrt(1.0 + U[j][j])
        U[j][j] = root
        for i in range(j + 1, c):
            U[j][i] /= root
    x = NewVector[double](c)
    for j in range(c):
        x.fill(0.0)
        x[j] = 1.0
        solve(U, c, x)
        for i in range(c):
            G[i][j] = x[i]
    return value


cdef (double, Index) evaluate(
    WeightProblem& problem, Vector[double] w, Scratch& scratch, Vector[double] g
) noexcept nogil:
    """f(w) and |T|, with the gradient g; both w and g belong to ``free``. It is nan if B fails."""
    cdef Matrix[double] B = problem.B, U = scratch.U
    cdef Vector[double] D = problem.D, row, line
    cdef Vector[Index] forced = problem.forced, free = problem.free, T = scratch.T
    cdef Index c = problem.H.rows, n_forced = forced.size, u = free.size, t = n_forced, a, b, i
    cdef NewMatrix[double] Q
    cdef double value
    for i in range(n_forced):
        T[i] = forced[i]
    for i in range(u):
        if w[i] > WEIGHTLESS:
            T[t] = free[i]
            t += 1
    for a in range(t):
        row, line = B[T[a]], U[a]
        for b in range(a, t):
            line[b] = row[T[b]]
    a = n_forced
    for i in range(u):
        if w[i] > WEIGHTLESS:
            U[a][a] += D[free[i]] * (1.0 / w[i] - 1.0)
            a += 1
    # only roughly what it takes: the same for the same problem, and about a nanosecond each
    problem.work[0] += t * t * (t / 6.0 + c) + <double> c * c * (t + c)
    if not factorize(U, t, 0.0):
        return NAN, t
    Q = NewMatrix[double](c, c)
    solve_rows(problem, t, scratch, Q)
    value = weigh(Q, problem.logdet, scratch.G)
    price(problem, w, t, scratch, g)
    if problem.charge.size:
        for i in range(n_forced):
            value -= problem.charge[forced[i]]
        for i in range(u):
            value -= w[i] * problem.charge[free[i]]
            g[i] -= problem.charge[free[i]]
    return value, t


cdef (double, double) linear_bound(
    double value, Vector[double] g, Vector[double] w, Index k
) noexcept nogil:
    """What value and gradient at w say of every set of k, and the k-th largest gradient."""
    cdef double total, kth, here = 0.0
    cdef Index i
    total, kth, _ = top_sum(g, k)
    for i in range(w.size):
        if w[i] > WEIGHTLESS:
            here += g[i] * w[i]
    return value - here + total, kth


cdef Relaxed maximise(
    WeightProblem& problem, Vector[double] w, double cut, Index max_iter, double solved,
    double hopeless,
) noexcept nogil:
    """Maximise f from the weights w, which are overwritten.

    Returns the bound, the value f(w), the gradient g that belongs to the bound, and c_j, how
    fast f falls when D_j grows. It ends once the gap is ``solved`` of the bound, or the bound is
    at or below ``cut``, or f lies so far above the cut (the gap is ``hopeless`` of that) that
    the bound never will.
    """
    cdef Index u = problem.free.size, c = problem.H.rows, t, a, i, r, s
    cdef Scratch scratch = make_scratch(problem, u)
    cdef NewVector[double] g = NewVector[double](u), trial = NewVector[double](u)
    cdef Matrix[double] X = scratch.X, G = scratch.G
    cdef double best = INFINITY, value, bound, kth, gap
    cdef Relaxed found
    found.gradient = NewVector[double](u, 0.0)
    found.pull = NewVector[double](u, 0.0)
    value, t = evaluate(problem, w, scratch, g)
    for _ in range(max_iter):
        if value != value:  # B failed: no bound from here
            break
        bound, kth = linear_bound(value, g, w, problem.need)
        if bound < best:
            best = bound
            found.gradient.assign(g)
        gap = bound - value
        if best <= cut or gap <= solved * abs(best):
            break
        if value > cut and gap <= hopeless * (value - cut):
            break
        if is_raised(problem.stop):
            break
        value, t = improve(problem, w, g, kth, value, t, scratch, trial)
    if value == value:
        a = problem.forced.size
        for i in range(u):
            if w[i] > WEIGHTLESS:
                for r in range(c):
                    for s in range(c):
                        found.pull[i] += X[r][a] * G[r][s] * X[s][a]
                found.pull[i] *= 1.0 / w[i] - 1.0
                a += 1
    found.bound, found.value = best, value
    return found


cdef (double, Index) improve(
    WeightProblem& problem, Vector[double] w, Vector[double] g, double kth, double value, Index t,
    Scratch& scratch, Vector[double] trial,
) noexcept nogil:
    """One ascent step on w: Newton on the weights that may move, else towards the best vertex."""
    cdef Index u = problem.free.size, count = 0, i
    cdef NewVector[Index] places = NewVector[Index](u), order
    cdef NewVector[double] old = copy_of(w), slope, d, vertex
    cdef Vector[Index] moving
    cdef double gain = 0.0, step, new
    cdef bint inside
    for i in range(u):
        inside = WEIGHTLESS < w[i] < 1.0 - WEIGHTLESS
        if (
            inside
            or (w[i] <= WEIGHTLESS and g[i] >= kth)
            or (w[i] >= 1.0 - WEIGHTLESS and g[i] <= kth)
        ):
            places[count] = i
            count += 1
    moving = places.part(0, count)
    if count > 1:
        slope = pick(g, moving)
        d = newton_step(curvature(problem, moving, t, scratch), slope, pick(w, moving))
        for i in range(count):
            gain += slope[i] * d[i]
        step = 1.0
        for _ in range(4):
            if gain <= 0.0:
                break
            for i in range(count):
                w[moving[i]] = min(max(old[moving[i]] + step * d[i], 0.0), 1.0)
            new, t = evaluate(problem, w, scratch, trial)
            if new >= value + 1e-4 * step * gain:
                g.assign(trial)
                return new, t
            step *= 0.3
    # towards the vertex of the k largest gradients (Frank-Wolfe)
    vertex = NewVector[double](u, 0.0)
    order = largest(g, problem.need)
    for i in range(problem.need):
        vertex[order[i]] = 1.0
    step = 0.5
    for _ in range(6):
        for i in range(u):
            w[i] = old[i] + step * (vertex[i] - old[i])
        new, t = evaluate(problem, w, scratch, trial)
        if new > value:
            g.assign(trial)
            return new, t
        step *= 0.3
    w.assign(old)
    return evaluate(problem, w, scratch, g)


cdef Index count_at_hand(WeightProblem& problem) noexcept nogil:
    """How many of the free features, the first of them, have their row of B at hand."""
    cdef Index m = problem.free.size
    while m > 0 and problem.free[m - 1] >= problem.B.rows:
        m -= 1
    return m


cdef Relaxed maximise_in_parts(
    WeightProblem& problem, Vector[double] w, Vector[double] guess, double cut, Index max_iter,
    double solved, double hopeless,
) noexcept nogil:
    """`maximise` where most features never matter: solve for some, price all, let violators in.

    ``guess`` is a gradient from nearby (the parent's): it says which ones to begin with. Features
    whose row of B is not at hand get no weight; they count in the bound as all do.
    """
    cdef Index u = problem.free.size, few = max(WORKING_SET, 5 * problem.need), i
    cdef Index m = count_at_hand(problem)
    cdef NewVector[double] g, some
    cdef NewVector[Flag] is_in
    cdef NewVector[Index] part, part_free
    cdef WeightProblem fewer
    cdef Scratch scratch
    cdef Relaxed found, part_found
    cdef double bar, value = NAN, bound, kth
    cdef bint late
    if u <= 2 * few and m == u:
        return maximise(problem, w, cut, max_iter, solved, hopeless)
    g = copy_of(guess)
    is_in = NewVector[Flag](u, False)
    found.bound = INFINITY
    found.gradient, found.pull = NewVector[double](u, 0.0), NewVector[double](u, 0.0)
    for _ in range(10):
        bar = max(value_at_rank(g.part(0, m), m - few), MARKED) if m > few else -INFINITY
        for i in range(m):
            if w[i] > WEIGHTLESS or g[i] >= bar:
                is_in[i] = True
        part = where[Flag](is_in, True)
        some = pick(w, part)
        part_free = pick(problem.free, part)
        fewer = with_free(problem, part_free)
        part_found = maximise(fewer, some, cut, max_iter, solved, hopeless)
        for i in range(part.size):
            w[part[i]] = some[i]
            found.pull[part[i]] = part_found.pull[i]
        scratch = make_scratch(problem, part.size)
        value, _ = evaluate(problem, w, scratch, g)
        if value != value:
            break
        bound, kth = linear_bound(value, g, w, problem.need)
        if bound < found.bound:
            found.bound = bound
            found.gradient.assign(g)
        late = False
        for i in range(m):
            if not is_in[i] and g[i] > kth:
                late = True
        if (
            is_raised(problem.stop)
            or found.bound <= cut
            or not late
            or (value > cut and bound - value <= hopeless * (value - cut))
        ):
            break
    found.value = value
    return found


ctypedef Relaxed (*Maximise)(
    WeightProblem&, Vector[double], double, Index, double, double
) except + nogil
ctypedef Relaxed (*MaximiseInParts)(
    WeightProblem&, Vector[double], Vector[double], double, Index, double, double
) except + nogil


def relax(problem, w, double cut, Index max_iter, double solved, double hopeless):
    """`maximise` of arrays: the bound, the value, the gradient and the pull; w is overwritten."""
    cdef WeightProblem views = read_problem(problem)
    cdef Vector[double] weights = vector(w, write=True)
    cdef Relaxed found
    with nogil:
        found = (<Maximise> maximise)(views, weights, cut, max_iter, solved, hopeless)
    return found.bound, found.value, array_of(found.gradient), array_of(found.pull)


def relax_in_parts(problem, w, guess, double cut, Index max_iter, double solved, double hopeless):
    """`maximise_in_parts` of arrays; w is overwritten."""
    cdef WeightProblem views = read_problem(problem)
    cdef Vector[double] weights = vector(w, write=True), start = vector(guess)
    cdef Relaxed found
    with nogil:
        found = (<MaximiseInParts> maximise_in_parts)(
            views, weights, start, cut, max_iter, solved, hopeless
        )
    return found.bound, found.value, array_of(found.gradient), array_of(found.pull)
