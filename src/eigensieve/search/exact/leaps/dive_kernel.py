"""Leaps and bounds below a node: depth first on the inverse of B, a few microseconds a node.

Deleting features costs at least as much as the costliest of them alone, and after a deletion the
costs of the others are known in O(u): most children are closed without being built.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....pencil.compile import jit
from ..coverage_kernel import record_closed
from .problem_kernel import (
    LOGDET,
    RANK_ONE,
    TRACE,
    LeapsProblem,
    Log,
    Rest,
    consider,
    log_det,
    rounding,
)

MIN_PIVOT = 1e-300
LOST = -1


class Room(NamedTuple):
    """Memory for `additions`: Cholesky rows, H beside them, what is left of B's diagonal."""

    L: np.ndarray
    K: np.ndarray
    left: np.ndarray
    places: np.ndarray
    values: np.ndarray


@jit
def deletion_costs(kind: int, P: np.ndarray, second: np.ndarray, u: int, costs: np.ndarray) -> bool:
    """What deleting each feature alone costs; False if rounding has left no such matrices.

    ``P`` and ``second``: see `Rest`. The diagonal of an inverse is positive, whatever was deleted.
    """
    for j in range(u):
        if not P[j, j] > 0.0 or (kind == LOGDET and not second[j, j] > 0.0):
            return False
        if kind == RANK_ONE:
            costs[j] = second[0, j] * second[0, j] / P[j, j]
        elif kind == TRACE:
            costs[j] = max(second[j, j], 0.0) / P[j, j]
        else:
            costs[j] = max(math.log(P[j, j] / second[j, j]), 0.0)
    return True


@jit
def count_stuck(
    kind: int, P: np.ndarray, second: np.ndarray, diag: np.ndarray, i: int, u: int, slack: float
) -> int:
    """How many of the features after i cannot be deleted once i is: each costs >= slack.

    Not where rounding has left nothing of the diagonal that a cost is a share of.
    """
    count = 0
    share = 1.0 / P[i, i]
    if kind == RANK_ONE:
        ratio = second[0, i] * share
        for b in range(i + 1, u):
            p = P[i, b]
            x, left = second[0, b] - p * ratio, diag[0, b] - p * p * share
            if left > 0.0 and x * x >= slack * left:
                count += 1
    elif kind == TRACE:
        own = second[i, i]
        for b in range(i + 1, u):
            p = P[i, b]
            g = p * share
            left = diag[0, b] - p * g
            if left > 0.0 and diag[1, b] - g * (2.0 * second[i, b] - g * own) >= slack * left:
                count += 1
    else:
        times, other = math.exp(slack), 1.0 / second[i, i]
        for b in range(i + 1, u):
            p, q = P[i, b], second[i, b]
            left = diag[1, b] - q * q * other
            if left > 0.0 and diag[0, b] - p * p * share >= times * left:
                count += 1
    return count


@jit
def delete(
    kind: int,
    P: np.ndarray,
    second: np.ndarray,
    i: int,
    m: int,
    P_new: np.ndarray,
    second_new: np.ndarray,
) -> None:
    """The matrices of the m features after i, once i is deleted."""
    share = 1.0 / P[i, i]
    for a in range(m):
        factor = P[i, i + 1 + a] * share
        for b in range(m):
            P_new[a, b] = P[i + 1 + a, i + 1 + b] - factor * P[i, i + 1 + b]
    if kind == RANK_ONE:
        ratio = second[0, i] * share
        for b in range(m):
            second_new[0, b] = second[0, i + 1 + b] - P[i, i + 1 + b] * ratio
    elif kind == TRACE:
        own = second[i, i]
        for a in range(m):
            g = P[i, i + 1 + a] * share
            h = second[i, i + 1 + a] - g * own
            for b in range(m):
                second_new[a, b] = (
                    second[i + 1 + a, i + 1 + b]
                    - g * second[i, i + 1 + b]
                    - h * share * P[i, i + 1 + b]
                )
    else:
        other = 1.0 / second[i, i]
        for a in range(m):
            factor = second[i, i + 1 + a] * other
            for b in range(m):
                second_new[a, b] = second[i + 1 + a, i + 1 + b] - factor * second[i, i + 1 + b]


@jit
def swap_features(M: np.ndarray, a: int, b: int, u: int) -> None:
    """Exchange two rows and columns; of a single row, two columns."""
    if M.shape[0] > 1:
        for t in range(u):
            M[a, t], M[b, t] = M[b, t], M[a, t]
        for t in range(u):
            M[t, a], M[t, b] = M[t, b], M[t, a]
    else:
        M[0, a], M[0, b] = M[0, b], M[0, a]


@jit
def sort_front(
    P: np.ndarray,
    second: np.ndarray,
    costs: np.ndarray,
    index: np.ndarray,
    diag: np.ndarray,
    u: int,
    front: int,
) -> None:
    """Bring the ``front`` costliest features to the front, in order: no others get a child."""
    for a in range(front):
        b = a + int(np.argmax(costs[a:u]))
        if costs[b] > costs[a]:
            swap_features(P, a, b, u)
            swap_features(second, a, b, u)
            costs[a], costs[b] = costs[b], costs[a]
            index[a], index[b] = index[b], index[a]
    rows = second.shape[0]
    for a in range(u):
        diag[0, a] = P[a, a]
        diag[1, a] = second[a if rows > 1 else 0, a]


@jit
def additions(
    problem: LeapsProblem, rest: Rest, chosen: np.ndarray, free: np.ndarray, room: Room
) -> None:
    """Upper bounds on the values of the chosen set with one free feature more, in room.values."""
    B, shaky = rest.B, rest.shaky
    L, K, left, index = room.L, room.K, room.left, room.places
    m, u, c = chosen.size, free.size, rest.H.shape[1]
    index[:m] = chosen
    index[m : m + u] = free
    for s in range(c):
        for a in range(m + u):
            K[s, a] = rest.H[index[a], s]
    for b in range(u):
        left[b] = B[free[b], free[b]]
    for a in range(m):
        row = B[chosen[a]]
        for b in range(a, m + u):
            L[a, b] = row[index[b]]
        for t in range(a):
            factor = L[t, a]
            for b in range(a, m + u):
                L[a, b] -= factor * L[t, b]
        pivot = max(L[a, a], MIN_PIVOT)
        shaky += 1.0 / pivot
        share = 1.0 / math.sqrt(pivot)
        for b in range(a, m + u):
            L[a, b] *= share
        for s in range(c):
            K[s, a] *= share
            y = K[s, a]
            for b in range(a + 1, m + u):
                K[s, b] -= L[a, b] * y
        for b in range(u):
            left[b] -= L[a, m + b] * L[a, m + b]
    is_log = problem.kind == LOGDET
    base = rest.base + explain(K[:, : m + u], m, is_log)
    for b in range(u):
        gain, share = 0.0, 1.0 / max(left[b], MIN_PIVOT)
        for s in range(c):
            gain += K[s, m + b] * K[s, m + b]
        value = base + (math.log1p(gain * share) if is_log else gain * share)
        room.values[b] = value + rounding(problem, value, shaky + share)


@jit
def explain(K: np.ndarray, m: int, is_log: bool) -> float:
    """The value of the first m columns, which are eliminated; logdet: the others adapt to them."""
    c, value = K.shape[0], 0.0
    if not is_log:
        for s in range(c):
            for a in range(m):
                value += K[s, a] * K[s, a]
        return value
    C = np.eye(c)
    for s in range(c):
        for t in range(s, c):
            for a in range(m):
                C[s, t] += K[s, a] * K[t, a]
    value = log_det(C)
    if value == np.inf:
        return value
    for s in range(c):
        for b in range(m, K.shape[1]):
            K[s, b] /= C[s, s]
        for t in range(s + 1, c):
            for b in range(m, K.shape[1]):
                K[t, b] -= C[s, t] * K[s, b]
    return value


@jit
def dive(
    problem: LeapsProblem,
    log: Log,
    rest: Rest,
    state: np.ndarray,
    need: int,
    limit: int,
    states: np.ndarray,
    bounds: np.ndarray,
) -> tuple[int, int]:
    """Search the rest for sets of ``need`` features above the cut.

    The features of a level are sorted by cost, descending. Child i deletes feature i and chooses
    those before it; the remainder of a level, with fewer and fewer left to choose, ends in
    `additions`. Returns the number of nodes, and how many remainders ``limit`` left open, which
    go to ``states`` and ``bounds``; LOST if deletions have used up the digits of the inverse.
    """
    kind, record, free = problem.kind, log.record, rest.free
    u, rows = free.size, rest.second.shape[0]
    depth = min(u - need, limit) + 1
    Ps, seconds = np.empty((depth, u, u)), np.empty((depth, rows, u))
    costs, diag = np.empty((depth, u)), np.empty((depth, 2, u))
    index = np.empty((depth, u), np.int64)
    sizes, needs = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    places, n_chosen = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    tops, chosen = np.empty(depth), np.empty(u, np.int64)
    c = rest.H.shape[1]
    room = Room(
        np.empty((need, u)), np.empty((c, u)), np.empty(u), np.empty(u, np.int64), np.empty(u)
    )
    size_now, need_now = np.empty(1, np.int64), np.empty(1, np.int64)

    Ps[0], seconds[0], index[0] = rest.P, rest.second, np.arange(u)
    deletion_costs(kind, Ps[0], seconds[0], u, costs[0])
    sort_front(Ps[0], seconds[0], costs[0], index[0], diag[0], u, need + 1)
    sizes[0], needs[0], tops[0] = u, need, rest.top
    level, nodes = 0, 1
    while level >= 0:
        i, m, k = places[level], sizes[level], needs[level]
        slack = tops[level] - record[0]
        here = n_chosen[level] + i
        size_now[0], need_now[0] = m - i, k - i
        if k - i == 1 or costs[level, k] >= slack:
            record_closed(log.counts, log.strides, size_now, need_now, 1)
            if costs[level, k] < slack:
                chosen[here - i : here] = index[level, :i]
                additions(problem, rest, chosen[:here], index[level, i:m], room)
                offer(problem, log, state, free, chosen[:here], index[level, i:m], room.values)
            level -= 1
            continue
        if nodes > limit:
            break
        places[level] = i + 1
        size_now[0] -= 1
        left = slack - costs[level, i]
        if left <= 0.0 or (
            count_stuck(kind, Ps[level], seconds[level], diag[level], i, m, left) > k - i
        ):
            record_closed(log.counts, log.strides, size_now, need_now, 1)
            continue
        nodes += 1
        if m - k == 1:
            record_closed(log.counts, log.strides, size_now, need_now, 1)
            mask = state == 1
            for a in range(here - i):
                mask[free[chosen[a]]] = True
            for a in range(m):
                mask[free[index[level, a]]] = a != i
            consider(problem, log, mask)
            continue
        child, m = level + 1, m - i - 1
        chosen[here - i : here] = index[level, :i]
        P, second = Ps[child], seconds[child]
        delete(kind, Ps[level], seconds[level], i, m, P, second)
        if not deletion_costs(kind, P, second, m, costs[child]):
            return nodes, LOST
        for a in range(m):
            index[child, a] = index[level, i + 1 + a]
        sort_front(P, second, costs[child], index[child], diag[child], m, k - i + 1)
        sizes[child], needs[child], places[child] = m, k - i, 0
        n_chosen[child], tops[child] = here, tops[level] - costs[level, i]
        level = child
    for a in range(level + 1):
        states[a] = state
        states[a, free] = -1
        states[a, free[chosen[: n_chosen[a]]]] = 1
        states[a, free[index[a, : places[a]]]] = 1
        states[a, free[index[a, places[a] : sizes[a]]]] = 0
        bounds[a] = tops[a] - costs[a, needs[a]]
    return nodes, level + 1


@jit
def offer(
    problem: LeapsProblem,
    log: Log,
    state: np.ndarray,
    free: np.ndarray,
    chosen: np.ndarray,
    added: np.ndarray,
    values: np.ndarray,
) -> None:
    """Consider the chosen set with each feature that may bring it above the cut, best first."""
    while True:
        b = np.argmax(values[: added.size])
        if values[b] <= log.record[0]:
            return
        mask = state == 1
        for a in range(chosen.size):
            mask[free[chosen[a]]] = True
        mask[free[added[b]]] = True
        consider(problem, log, mask)
        values[b] = -np.inf
