"""The simplex method on the polytope {y : |u_j'y| <= h_j for every column u_j}: steps of max c'y.

``rows`` (g, p) holds the u_j in its columns, so that all u_j'y are sums of long rows. A vertex is
kept as g columns (``basis``), the sign of the bound that each lies at, the inverse of the matrix A
with rows u_j, y itself and s = rows'y; all are changed in place.
"""

from __future__ import annotations

import math

import numpy as np

from ..pencil.compile import jit

# Entries of a direction below this, relatively, are round-off: no pivots.
SMALLEST_PIVOT = 1e-9
BLOCK = 1024  # columns whose sums stay in the fastest cache
IDLE = 1e-10  # a step as short as this leads nowhere
ROUND_OFF = 1e-13  # of weights, as a share of the largest
STALLED = 24  # such steps in a row before the bounds are moved apart

OPTIMAL, UNFINISHED, DEGENERATE, UNBOUNDED = 0, 1, 2, 3


@jit
def combine(rows: np.ndarray, d: np.ndarray, out: np.ndarray) -> None:
    """out = rows'd, summed along the rows: vectorised, and the same on every machine load."""
    g, p = rows.shape
    for start in range(0, p, BLOCK):
        stop = min(p, start + BLOCK)
        for j in range(start, stop):
            out[j] = 0.0
        i = 0
        while i + 4 <= g:
            a, b, c, e = d[i], d[i + 1], d[i + 2], d[i + 3]
            ra, rb, rc, re = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            for j in range(start, stop):
                out[j] += a * ra[j] + b * rb[j] + c * rc[j] + e * re[j]
            i += 4
        while i < g:
            a, ra = d[i], rows[i]
            for j in range(start, stop):
                out[j] += a * ra[j]
            i += 1


@jit
def length(d: np.ndarray) -> float:
    """The Euclidean norm."""
    total = 0.0
    for value in d:
        total += value * value
    return math.sqrt(total)


@jit
def first_bound(s: np.ndarray, t: np.ndarray, h: np.ndarray, overstep: float, least: float) -> int:
    """The column whose bound stops a move along t first; -1 if there is none.

    If bounds may be overstepped by ``overstep``, several are met at once: of those the column with
    the largest |t|, which is the best pivot (Harris). Of equal ones the lowest index.
    """
    nearest = np.inf
    for j in range(s.size):
        size = abs(t[j])
        if size > least:
            room = h[j] - s[j] if t[j] > 0.0 else h[j] + s[j]
            nearest = min(nearest, (room + overstep) / size)
    chosen, largest = -1, 0.0
    for j in range(s.size):
        size = abs(t[j])
        if size > least and size > largest:
            room = h[j] - s[j] if t[j] > 0.0 else h[j] + s[j]
            if room <= nearest * size:
                chosen, largest = j, size
    return chosen


@jit
def step_to(
    j: int, s: np.ndarray, t: np.ndarray, h: np.ndarray, y: np.ndarray, d: np.ndarray
) -> float:
    """Move along d until column j is at its bound; the length of the step."""
    room = h[j] - s[j] if t[j] > 0.0 else h[j] + s[j]
    step = max(0.0, room / abs(t[j]))
    for i in range(y.size):
        y[i] += step * d[i]
    for i in range(s.size):
        s[i] += step * t[i]
    return step


@jit
def project_off(frame: np.ndarray, k: int, d: np.ndarray) -> None:
    """Take the first k orthonormal rows of ``frame`` out of d; twice is enough."""
    for _ in range(2):
        for i in range(k):
            row = frame[i]
            part = 0.0
            for j in range(d.size):
                part += row[j] * d[j]
            for j in range(d.size):
                d[j] -= part * row[j]


@jit
def rise(c: np.ndarray, frame: np.ndarray, k: int) -> np.ndarray:
    """c projected off the k active columns; where nothing is left, any direction off them."""
    d = c.copy()
    project_off(frame, k, d)
    if length(d) > SMALLEST_PIVOT * length(c):
        return d
    freest, most = 0, -1.0
    for i in range(c.size):
        free = 1.0
        for j in range(k):
            free -= frame[j, i] * frame[j, i]
        if free > most:
            freest, most = i, free
    d[:] = 0.0
    d[freest] = 1.0
    project_off(frame, k, d)
    return d


@jit
def reach_vertex(
    rows: np.ndarray,
    c: np.ndarray,
    basis: np.ndarray,
    signs: np.ndarray,
    frame: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    h: np.ndarray,
    overstep: float,
    k: int,
    n_steps: int,
) -> int:
    """From a point with k active columns towards a vertex; how many are active now.

    Each step goes up along c, projected off the active columns, to the next bound. ``frame`` holds
    an orthonormal basis of the active columns.
    """
    t = np.empty(s.size)
    for _ in range(min(n_steps, c.size - k)):
        d = rise(c, frame, k)
        combine(rows, d, t)
        j = first_bound(s, t, h, overstep, SMALLEST_PIVOT * length(d))
        if j < 0:
            return -1
        step_to(j, s, t, h, y, d)
        basis[k] = j
        signs[k] = 1.0 if t[j] > 0.0 else -1.0
        row = rows[:, j].copy()
        project_off(frame, k, row)
        frame[k] = row / length(row)
        k += 1
    return k


@jit
def weigh(inverse: np.ndarray, c: np.ndarray, weights: np.ndarray, norms: np.ndarray) -> None:
    """weights = A^-T c, and the norms of the columns of A^-1."""
    weights[:] = 0.0
    norms[:] = 0.0
    for k in range(c.size):
        row = inverse[k]
        for i in range(c.size):
            weights[i] += c[k] * row[i]
            norms[i] += row[i] * row[i]
    for i in range(c.size):
        norms[i] = math.sqrt(norms[i])


@jit
def exchange(inverse: np.ndarray, column: np.ndarray, i: int) -> None:
    """A^-1 after row i of A became ``column``."""
    w = np.zeros(column.size)
    for k in range(column.size):
        for m in range(column.size):
            w[m] += column[k] * inverse[k, m]
    for k in range(column.size):
        pivot = inverse[k, i] / w[i]
        for m in range(column.size):
            inverse[k, m] -= w[m] * pivot
        inverse[k, i] = pivot


@jit
def improve(
    rows: np.ndarray,
    c: np.ndarray,
    basis: np.ndarray,
    signs: np.ndarray,
    inverse: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    h: np.ndarray,
    overstep: float,
    tol: float,
    n_steps: int,
) -> tuple[int, int]:
    """From vertex to vertex, up along the steepest edge: a status, and the steps taken.

    An edge leaves the bound of the i-th basic column; it goes up where the weight of that column
    has the wrong sign. The column may as well cross to its opposite bound.
    """
    g = c.size
    t, d = np.empty(s.size), np.empty(g)
    weights, norms = np.empty(g), np.empty(g)
    idle = 0
    for n in range(n_steps):
        weigh(inverse, c, weights, norms)
        enough = tol * np.abs(weights).sum()
        leaving, steepest = -1, 0.0
        for i in range(g):
            down = weights[i] * signs[i]
            if down < -enough and down / norms[i] < steepest:
                leaving, steepest = i, down / norms[i]
        if leaving < 0:
            return OPTIMAL, n
        for k in range(g):
            d[k] = -signs[leaving] * inverse[k, leaving]
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
            exchange(inverse, rows[:, j].copy(), leaving)
        idle = idle + 1 if step <= IDLE else 0
        if idle >= STALLED:
            return DEGENERATE, n + 1
    return UNFINISHED, n_steps


@jit
def repair(
    rows: np.ndarray,
    c: np.ndarray,
    basis: np.ndarray,
    signs: np.ndarray,
    inverse: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    tol: float,
    n_steps: int,
) -> tuple[int, int]:
    """The primal simplex: from a basis whose weights have the right signs, but with |s_j| > 1.

    The column with the largest |s_j| enters, and that whose weight first becomes zero leaves;
    after some steps that lead nowhere, the lowest index in both places (Bland).
    """
    g = c.size
    weights, norms = np.empty(g), np.empty(g)
    idle = 0
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
        column = rows[:, entering].copy()
        weigh(inverse, c, weights, norms)
        shrinking = np.zeros(g)
        for k in range(g):
            for i in range(g):
                shrinking[i] += side * signs[i] * column[k] * inverse[k, i]
        leaving = first_zero(weights * signs, shrinking, basis, idle >= STALLED)
        if leaving < 0:
            return UNBOUNDED, n
        step = max(0.0, weights[leaving] * signs[leaving]) / shrinking[leaving]
        basis[leaving], signs[leaving] = entering, side
        exchange(inverse, column, leaving)
        for k in range(g):
            y[k] = 0.0
            for i in range(g):
                y[k] += inverse[k, i] * signs[i]
        combine(rows, y, s)
        idle = idle + 1 if step <= IDLE * np.abs(weights).max() else 0
    return UNFINISHED, n_steps


@jit
def first_zero(sizes: np.ndarray, rates: np.ndarray, basis: np.ndarray, bland: bool) -> int:
    """Which size reaches zero first at these rates; of several the fastest, or the lowest index."""
    least = SMALLEST_PIVOT * np.abs(rates).max()
    give = 0.0 if bland else ROUND_OFF * np.abs(sizes).max()
    nearest = np.inf
    for i in range(sizes.size):
        if rates[i] > least:
            nearest = min(nearest, (max(0.0, sizes[i]) + give) / rates[i])
    reach = nearest * (1.0 + 1e-12)
    chosen = -1
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
