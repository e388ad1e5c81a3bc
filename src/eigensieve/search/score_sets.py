"""The criterion of many sets of equal size at once."""

from __future__ import annotations

import numpy as np

from ..pencil.problem import Problem

# Sets that are scored at a time.
BATCH = 4096
# No matrix has more rows; many sets of more features are taken in parts.
MAX_FEATURES = 1000
# Sets with a smaller pivot are scored one by one: the quick way would lose too many digits.
LEAST_PIVOT = 1e-5
# So are log-dets that are smaller: as differences they would have few digits.
LEAST_LOGDET = 1e-5


def score_sets(problem: Problem, sets: np.ndarray) -> np.ndarray:
    """The criterion of every row of ``sets``, from the matrices of their features."""
    features, places = np.unique(sets, return_inverse=True)
    if features.size > MAX_FEATURES and len(sets) > 1:
        middle = len(sets) // 2
        return np.concatenate([score_sets(problem, part) for part in np.split(sets, [middle])])
    places = places.reshape(sets.shape)
    small = problem.pencil.restrict(features)
    d = 1.0 / np.sqrt(small.diag_B)
    A, B = small.A * np.outer(d, d), small.B * np.outer(d, d)
    scores = np.empty(len(sets))
    for start in range(0, len(sets), BATCH):
        own = slice(start, start + BATCH)
        batch = places[own]
        doubtful = _is_doubtful(A, B, batch, problem.criterion)
        part = np.zeros(len(batch))
        part[~doubtful] = score_places(A, B, batch[~doubtful], problem.criterion)
        if problem.criterion == "logdet":
            doubtful |= part < LEAST_LOGDET
        part[doubtful] = [problem.score(S) for S in sets[own][doubtful]]
        scores[own] = part
    return scores


def _is_doubtful(A: np.ndarray, B: np.ndarray, sets: np.ndarray, criterion: str) -> np.ndarray:
    """Whether B, or for a log-det A + B, is nearly singular on a set."""
    small = _pivots(B, sets) < LEAST_PIVOT
    return small | (_pivots(A + B, sets) < LEAST_PIVOT) if criterion == "logdet" else small


def _pivots(matrix: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """The least pivot of every set, of a unit diagonal; 0 where one is not definite."""
    d = 1.0 / np.sqrt(np.diag(matrix))
    blocks = (matrix * np.outer(d, d))[sets[:, :, None], sets[:, None, :]]
    try:
        roots = np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        return np.zeros(len(sets))
    return np.square(np.diagonal(roots, axis1=1, axis2=2)).min(axis=1)


def score_places(A: np.ndarray, B: np.ndarray, sets: np.ndarray, criterion: str) -> np.ndarray:
    """The same for places in two matrices; B has a unit diagonal."""
    rows, columns = sets[:, :, None], sets[:, None, :]
    A_S, B_S = A[rows, columns], B[rows, columns]
    if criterion == "logdet":
        both = A_S + B_S
        sizes = np.diagonal(both, axis1=1, axis2=2)
        both /= np.sqrt(sizes[:, :, None] * sizes[:, None, :])  # graded ones keep their digits
        logs = np.linalg.slogdet(both)[1] - np.linalg.slogdet(B_S)[1]
        return logs + np.log(np.diag(A + B))[sets].sum(axis=1)
    if criterion == "trace":
        return np.trace(np.linalg.solve(B_S, A_S), axis1=1, axis2=2)
    L_inverse = np.linalg.inv(np.linalg.cholesky(B_S))
    return np.linalg.eigvalsh(L_inverse @ A_S @ L_inverse.transpose(0, 2, 1))[:, -1]
