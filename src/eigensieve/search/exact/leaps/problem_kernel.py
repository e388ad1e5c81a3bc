"""The problem of the leaps search, and what of it is left when some features are chosen.

These are eliminated by Cholesky steps, which leave a problem of the same kind behind.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....pencil.compile import jit
from ....pencil.criteria import EPS
from ...linear_kernel import eliminate, factorize, invert

RANK_ONE, TRACE, LOGDET = 0, 1, 2


class LeapsProblem(NamedTuple):
    """What is maximised: A = H H' with H (p, c), and B with a diagonal near 1.

    ``kind`` is RANK_ONE (trace with c = 1), TRACE or LOGDET. Features of a block stand together;
    ``quota`` is what each block gives. ``unit`` is the size of A, for rounding errors.
    """

    kind: int
    B: np.ndarray
    H: np.ndarray
    blocks: np.ndarray
    quota: np.ndarray
    unit: float


class Log(NamedTuple):
    """What a search finds: the best set as a mask, and for the audit the closed subproblems.

    ``record`` holds the cut, what a better set adds to its value to make the next cut, and the
    largest bound with which a single set was closed.
    """

    best: np.ndarray
    record: np.ndarray
    counts: np.ndarray
    strides: np.ndarray


class Rest(NamedTuple):
    """The problem that is left on the free features when others are chosen.

    ``base`` is the value of the chosen, ``top`` that of everything, and ``error``, which is added
    to it, what rounding may do to any value. ``shaky`` is the sum of 1/pivot of the chosen.
    ``P`` is the inverse of B; ``second`` is P H as a row (rank one), P H H' P (trace) or the
    inverse of B + H H' (logdet).
    """

    free: np.ndarray
    B: np.ndarray
    H: np.ndarray
    P: np.ndarray
    second: np.ndarray
    base: float
    top: float
    error: float
    shaky: float


@jit
def log_det(K: np.ndarray) -> float:
    """log det of a positive definite K, whose upper triangle becomes its Cholesky factor."""
    if not factorize(K, K.shape[0]):
        return np.inf
    total = 0.0
    for j in range(K.shape[0]):
        total += math.log(K[j, j])
    return 2.0 * total


@jit
def reduce(
    B: np.ndarray, H: np.ndarray, chosen: np.ndarray, free: np.ndarray, is_log: bool
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """What is left when some features are chosen: a problem of the same kind on the free ones.

    H is (p, c), A = H H'. Returns the value of the chosen set (inf: beside A nothing is left of
    B), the sum of 1/pivot (inf: they are dependent), and B and H of the rest: for every set T of
    free features the value of chosen + T is the value of the chosen plus that of T in the reduced
    problem.
    """
    m, u, c = chosen.size, free.size, H.shape[1]
    index = np.concatenate((chosen, free))
    M = np.empty((m + u, m + u))
    K = np.empty((m + u, c))
    for a in range(m + u):
        row = B[index[a]]
        for b in range(a, m + u):
            M[a, b] = row[index[b]]
        for s in range(c):
            K[a, s] = H[index[a], s]
    shaky = eliminate(M, K, m)
    value = 0.0
    if shaky < np.inf and is_log:
        C = K[:m].T @ K[:m] + np.eye(c)
        value = log_det(C)
        for a in range(
            m, m + u if value < np.inf else m
        ):  # K C^-1/2: the directions that are explained count less
            for s in range(c):
                K[a, s] /= C[s, s]
                for t in range(s + 1, c):
                    K[a, t] -= K[a, s] * C[s, t]
    elif shaky < np.inf:
        for a in range(m):
            for s in range(c):
                value += K[a, s] * K[a, s]
    rest = np.empty((u, u))
    for a in range(u):
        for b in range(a, u):
            rest[a, b] = M[m + a, m + b]
            rest[b, a] = rest[a, b]
    return value, shaky, rest, K[m:].copy()


@jit
def score(problem: LeapsProblem, chosen: np.ndarray) -> tuple[float, float]:
    """The value of a set from scratch, and how far it may be off."""
    nothing = np.empty(0, np.int64)
    value, shaky, _, _ = reduce(problem.B, problem.H, chosen, nothing, problem.kind == LOGDET)
    return value, rounding(problem, value, shaky)


@jit
def rounding(problem: LeapsProblem, value: float, shaky: float) -> float:
    """What rounding may do to a value that was got through a matrix with these pivots."""
    return 8.0 * EPS * (value + problem.unit) * (shaky + 1.0)


@jit
def consider(problem: LeapsProblem, log: Log, mask: np.ndarray) -> None:
    """Close a single set: it is the new best if it is above the cut, from scratch."""
    value, error = score(problem, np.flatnonzero(mask))
    record = log.record
    if record[0] < value < np.inf:
        log.best[:] = mask
        record[0] = value + record[1]
    record[2] = max(record[2], value + error)


@jit
def reduce_to_free(problem: LeapsProblem, state: np.ndarray) -> tuple[bool, Rest]:
    """The problem that a node leaves; False if B is too nearly singular to trust it."""
    is_log = problem.kind == LOGDET
    free = np.flatnonzero(state == 0)
    base, shaky, B, H = reduce(problem.B, problem.H, np.flatnonzero(state == 1), free, is_log)
    u = free.size
    P, second, U = np.zeros((u, u)), np.zeros((1, u)), B.copy()
    if not (base < np.inf and shaky < np.inf and factorize(U, u)):
        return False, Rest(free, B, H, P, second, base, np.inf, np.inf, shaky)
    invert(U, u, P)
    X, fine = P @ H, True
    Q = H.T @ X
    if is_log:
        value = log_det(Q + np.eye(Q.shape[0]))
        second, U = np.zeros(B.shape), B + H @ H.T
        fine = factorize(U, u)
        if fine:
            invert(U, u, second)
    else:
        value = np.trace(Q)
        second = X.T.copy() if problem.kind == RANK_ONE else X @ X.T
    error = rounding(problem, base + value, shaky + np.trace(P))
    return fine, Rest(free, B, H, P, second, base, base + value + error, error, shaky)
