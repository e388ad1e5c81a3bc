"""The perspective relaxation: an upper bound on every set of k features, and its solver.

B - diag(D) is positive semidefinite. For weights w in [0, 1] that sum to k,

    Q(w) = H (B + diag(D (1/w - 1)))^-1 H',   f(w) = tr Q(w)   or   log det(I + Q(w))

is concave, and at the indicator of a set it is the criterion of the set. So any w gives the bound
f(w) + g'(v - w), g the gradient, v the best of all sets: the sum of the largest g.
"""

from __future__ import annotations

import math

import numpy as np

from ....pencil.compile import jit
from ...linear_kernel import factorize, solve, solve_lower, solve_upper, top_sum
from .newton_kernel import curvature, make_scratch, newton_step, with_free
from .weights_kernel import WEIGHTLESS, Scratch, WeightProblem

# Features that a relaxation of many begins with.
WORKING_SET = 60


@jit
def log_determinant(Q: np.ndarray) -> float:
    """log det(I + Q); elimination leaves the rows of I + Q behind, less I, in the upper triangle.

    With log1p, so that small eigenvalues keep their digits. It is nan if rounding has left no
    positive definite matrix.
    """
    value, c = 0.0, Q.shape[0]
    for j in range(c):
        pivot = 1.0 + Q[j, j]
        if not pivot > 0.0:
            return np.nan
        value += math.log1p(Q[j, j])
        for i in range(j + 1, c):
            factor = Q[j, i] / pivot
            for m in range(i, c):
                Q[i, m] -= factor * Q[j, m]
    return value


@jit
def weigh(Q: np.ndarray, logdet: bool, G: np.ndarray) -> float:
    """The criterion of the c x c matrix Q; G becomes its gradient: I, or (I + Q)^-1."""
    c = Q.shape[0]
    value = 0.0
    if not logdet:
        for i in range(c):
            value += Q[i, i]
            for j in range(c):
                G[i, j] = 1.0 if i == j else 0.0
        return value
    U = Q.copy()
    value = log_determinant(U)
    if value != value:
        return value
    for j in range(c):
        root = math.sqrt(1.0 + U[j, j])
        U[j, j] = root
        for i in range(j + 1, c):
            U[j, i] /= root
    for j in range(c):
        x = np.zeros(c)
        x[j] = 1.0
        solve(U, c, x)
        for i in range(c):
            G[i, j] = x[i]
    return value


@jit
def evaluate(
    problem: WeightProblem, w: np.ndarray, scratch: Scratch, g: np.ndarray
) -> tuple[float, int]:
    """f(w) and |T|, with the gradient g; both w and g belong to ``free``. It is nan if B fails."""
    B, H, D, forced, free = problem.B, problem.H, problem.D, problem.forced, problem.free
    T, U, X, Y, G = scratch
    c, n_forced, u = H.shape[0], forced.size, free.size
    t = n_forced
    for i in range(n_forced):
        T[i] = forced[i]
    for i in range(u):
        if w[i] > WEIGHTLESS:
            T[t] = free[i]
            t += 1
    for a in range(t):
        row = B[T[a]]
        for b in range(a, t):
            U[a, b] = row[T[b]]
    a = n_forced
    for i in range(u):
        if w[i] > WEIGHTLESS:
            U[a, a] += D[free[i]] * (1.0 / w[i] - 1.0)
            a += 1
    if not factorize(U, t):
        return np.nan, t
    Q = np.empty((c, c))
    for r in range(c):
        for b in range(t):
            X[r, b] = H[r, T[b]]
        solve_lower(U, t, X[r, :t])
    for r in range(c):
        for s in range(r, c):
            total = 0.0
            for b in range(t):
                total += X[r, b] * X[s, b]
            Q[r, s] = total
            Q[s, r] = total
    value = weigh(Q, problem.logdet, G)
    for r in range(c):
        solve_upper(U, t, X[r, :t])
    price(problem, w, t, scratch)
    for i in range(u):
        total = 0.0
        for r in range(c):
            for s in range(c):
                total += Y[r, i] * G[r, s] * Y[s, i]
        g[i] = total
    return value, t


@jit
def price(problem: WeightProblem, w: np.ndarray, t: int, scratch: Scratch) -> None:
    """Y = (H - B X) / sqrt(D), where T's own diagonal terms are left out."""
    B, H, D, free = problem.B, problem.H, problem.D, problem.free
    T, X, Y = scratch.T, scratch.X, scratch.Y
    c, u, n = H.shape[0], free.size, B.shape[0]
    if 4 * u > n:  # whole rows are several times faster than picking entries from them
        whole = H.copy()
        for a in range(t):
            row = B[T[a]]
            for r in range(c):
                x = X[r, a]
                line = whole[r]
                for j in range(n):
                    line[j] -= x * row[j]
        for r in range(c):
            for i in range(u):
                Y[r, i] = whole[r, free[i]]
    else:
        for r in range(c):
            y = Y[r]
            for i in range(u):
                y[i] = H[r, free[i]]
            for a in range(t):
                x = X[r, a]
                row = B[T[a]]
                for i in range(u):
                    y[i] -= x * row[free[i]]
    a = problem.forced.size
    for i in range(u):
        D_i = D[free[i]]
        root = math.sqrt(D_i)
        if w[i] > WEIGHTLESS:  # the same by the equation of X, without cancellation
            for r in range(c):
                Y[r, i] = D_i * X[r, a] / (w[i] * root)
            a += 1
        else:
            for r in range(c):
                Y[r, i] /= root


@jit
def linear_bound(value: float, g: np.ndarray, w: np.ndarray, k: int) -> tuple[float, float]:
    """What value and gradient at w say of every set of k, and the k-th largest gradient."""
    total, kth, _ = top_sum(g, k)
    here = 0.0
    for i in range(w.size):
        if w[i] > WEIGHTLESS:
            here += g[i] * w[i]
    return value - here + total, kth


@jit
def relax(
    problem: WeightProblem, w: np.ndarray, cut: float, max_iter: int, solved: float, hopeless: float
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Maximise f from the weights w, which are overwritten.

    Returns the bound, the value f(w), the gradient g that belongs to the bound, and c_j, how
    fast f falls when D_j grows. It ends once the gap is ``solved`` of the bound, or the bound is
    at or below ``cut``, or f lies so far above the cut (the gap is ``hopeless`` of that) that
    the bound never will.
    """
    u, c = problem.free.size, problem.H.shape[0]
    scratch = make_scratch(problem, u)
    g, trial, best_g = np.empty(u), np.empty(u), np.zeros(u)
    best = np.inf
    value, t = evaluate(problem, w, scratch, g)
    for _ in range(max_iter):
        if value != value:  # B failed: no bound from here
            break
        bound, kth = linear_bound(value, g, w, problem.need)
        if bound < best:
            best = bound
            best_g[:] = g
        gap = bound - value
        if best <= cut or gap <= solved * abs(best):
            break
        if value > cut and gap <= hopeless * (value - cut):
            break
        if problem.stop[0]:
            break
        value, t = improve(problem, w, g, kth, value, t, scratch, trial)
    pull = np.zeros(u)
    if value == value:
        X, G = scratch.X, scratch.G
        a = problem.forced.size
        for i in range(u):
            if w[i] > WEIGHTLESS:
                for r in range(c):
                    for s in range(c):
                        pull[i] += X[r, a] * G[r, s] * X[s, a]
                pull[i] *= 1.0 / w[i] - 1.0
                a += 1
    return best, value, best_g, pull


@jit
def improve(
    problem: WeightProblem,
    w: np.ndarray,
    g: np.ndarray,
    kth: float,
    value: float,
    t: int,
    scratch: Scratch,
    trial: np.ndarray,
) -> tuple[float, int]:
    """One ascent step on w: Newton on the weights that may move, else towards the best vertex."""
    u = problem.free.size
    count = 0
    moving = np.empty(u, dtype=np.int64)
    for i in range(u):
        inside = WEIGHTLESS < w[i] < 1.0 - WEIGHTLESS
        if (
            inside
            or (w[i] <= WEIGHTLESS and g[i] >= kth)
            or (w[i] >= 1.0 - WEIGHTLESS and g[i] <= kth)
        ):
            moving[count] = i
            count += 1
    moving = moving[:count]
    old = w.copy()
    if count > 1:
        slope = g[moving]
        d = newton_step(curvature(problem, moving, t, scratch), slope, old[moving])
        gain = 0.0
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
                g[:] = trial
                return new, t
            step *= 0.3
    # towards the vertex of the k largest gradients (Frank-Wolfe)
    vertex = np.zeros(u)
    order = np.argsort(-g, kind="mergesort")
    for i in range(problem.need):
        vertex[order[i]] = 1.0
    step = 0.5
    for _ in range(6):
        for i in range(u):
            w[i] = old[i] + step * (vertex[i] - old[i])
        new, t = evaluate(problem, w, scratch, trial)
        if new > value:
            g[:] = trial
            return new, t
        step *= 0.3
    w[:] = old
    return evaluate(problem, w, scratch, g)


@jit
def relax_in_parts(
    problem: WeightProblem,
    w: np.ndarray,
    guess: np.ndarray,
    cut: float,
    max_iter: int,
    solved: float,
    hopeless: float,
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """`relax` where most features never matter: solve for some, price all, let violators in.

    ``guess`` is a gradient from nearby (the parent's): it says which ones to begin with.
    """
    u, few = problem.free.size, max(WORKING_SET, 5 * problem.need)
    if u <= 2 * few:
        return relax(problem, w, cut, max_iter, solved, hopeless)
    g = guess.copy()
    is_in = np.zeros(u, dtype=np.bool_)
    best, best_g, pull = np.inf, np.zeros(u), np.zeros(u)
    value = np.nan
    for _ in range(10):
        bar = np.partition(g, u - few)[u - few]
        for i in range(u):
            if w[i] > WEIGHTLESS or g[i] >= bar:
                is_in[i] = True
        part = np.flatnonzero(is_in)
        some = w[part]
        _, value, _, part_pull = relax(
            with_free(problem, problem.free[part]), some, cut, max_iter, solved, hopeless
        )
        w[part] = some
        pull[part] = part_pull
        value, _ = evaluate(problem, w, make_scratch(problem, part.size), g)
        if value != value:
            break
        bound, kth = linear_bound(value, g, w, problem.need)
        if bound < best:
            best = bound
            best_g[:] = g
        late = False
        for i in range(u):
            if not is_in[i] and g[i] > kth:
                late = True
        if (
            problem.stop[0]
            or best <= cut
            or not late
            or (value > cut and bound - value <= hopeless * (value - cut))
        ):
            break
    return best, value, best_g, pull
