"""Moves that several solvers share: renormalization, starts, completion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..pencil.allowed import heaviest_allowed
from ..pencil.budget import Budget
from ..pencil.criteria import TINY, fix_signs
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem
from .secular import first_max

# Eigenvectors that may take part in a score; more carry next to nothing.
MAX_EIGENVECTORS = 50
# Columns of A are looked at in blocks, and as many as cost some tenths of a second.
BLOCK = 128
MOVE_ENTRIES = 2**20  # 8 MB, of which some copies are made
REFINE_WORK = 2e6
COLUMN_WORK = 1e9
SORTING = 100  # what it costs to look at an entry, in multiplications


def renormalize(pencil: Pencil, x: ArrayLike) -> np.ndarray:
    """Replace the non-zeros of x by the best vector with the same zeros.

    The variational renormalization of Moghaddam et al. (Proposition 2): the top
    generalized eigenvector of the pencil restricted to the support of x. It never lowers
    the quotient.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> pencil = es.Pencil(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> es.renormalize(pencil, [1.0, 0.2, 0.0]).round(4).tolist()
    [0.7071, 0.7071, 0.0]
    """
    x = np.asarray(x, dtype=np.float64)
    if x.shape != (pencil.size,) or not np.isfinite(x).all():
        raise InputError(f"x must be a finite vector of {pencil.size} entries; got {x.shape}")
    support = np.flatnonzero(x)
    if support.size == 0:
        raise InputError("x is zero: it has no support to renormalize on")
    _, vectors = pencil.restrict(support).eigh()
    full = np.zeros(pencil.size)
    full[support] = fix_signs(vectors[:, :1])[:, 0]
    return full


def top_k(problem: Problem, scores: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """k features: include (and start), then the highest scores within the block quotas.

    With limits the allowed set of the largest sum; without the start if there is none with it.
    """
    start = problem.include if start is None else start
    if problem.limits is None:
        return np.sort(ranked(problem, scores, start))
    gains, wanted = _as_gains(scores), np.union1d(problem.include, start).astype(np.intp)
    found = heaviest_allowed(problem.all_limits, problem.k, wanted, gains)
    if found is None:
        found = heaviest_allowed(problem.all_limits, problem.k, problem.include, gains)
    assert found is not None  # else there would be no problem
    return found


def _as_gains(scores: np.ndarray) -> np.ndarray:
    """The scores in units of the largest one; what is minus infinity is a little below all."""
    finite = scores[np.isfinite(scores)]
    gains = np.clip(scores, *((finite.min(), finite.max()) if finite.size else (0.0, 0.0)))
    size = max(float(np.abs(gains).max()), TINY)
    return np.asarray(np.where(scores == -np.inf, gains / size - 1.0, gains / size))


def ranked(problem: Problem, scores: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The same in the order in which they are taken: a smaller k takes the first of them."""
    outside = np.ones(problem.pencil.size, dtype=bool)
    outside[start] = False
    candidates = np.flatnonzero(outside)
    # stable sort: ties go to the lowest index
    order = candidates[np.argsort(-scores[candidates], kind="stable")]
    if problem.quota is not None:
        assert problem.pencil.blocks is not None
        own, lacks = problem.pencil.blocks[order], problem.lacks(start)
        places = [np.flatnonzero(own == b)[: lacks[b]] for b in problem.quota]
        order = order[np.sort(np.concatenate(places))]
    return np.concatenate([start, order[: problem.k - len(start)]]).astype(np.intp)


def best_single(problem: Problem, choice: np.ndarray) -> tuple[np.ndarray, float]:
    """The best single feature of some, the first of equals, and the score that none exceeds."""
    ratio = (problem.pencil.diag_A / problem.pencil.diag_B)[choice]
    return choice[[first_max(ratio)]], problem.score([choice[np.argmax(ratio)]])


def eigenvector_scores(problem: Problem) -> np.ndarray:
    """What the leading eigenvectors, over all features, say of every feature.

    |x_j| for "lambda_max"; for the other criteria the norm over the eigenvectors,
    weighted by their eigenvalues.
    """
    if problem.criterion == "lambda_max":
        return np.abs(problem.pencil.top()[1][:, 0])
    values, vectors = problem.pencil.top(MAX_EIGENVECTORS)
    return np.sqrt(np.square(vectors) @ np.maximum(values, 0.0))


def can_refine_many(problem: Problem) -> bool:
    """Whether local search from several starts takes a second or two at most."""
    return problem.pencil.size * problem.k**2 <= REFINE_WORK


def starting_supports(
    problem: Problem, n_starts: int, rng: np.random.Generator, budget: Budget
) -> Iterator[np.ndarray]:
    """Other places to start a local search from, as long as there is time.

    The largest entries of the leading eigenvectors (up to 3); for the largest eigenvalue as many
    sets of features that go together; then random sets.
    """
    if n_starts == 0 or budget.stop() is not None:
        return
    vectors = problem.pencil.leading(min(3, (n_starts + 1) // 2, problem.pencil.size))
    for v in vectors.T:
        yield top_k(problem, np.abs(v) * np.sqrt(problem.pencil.diag_B))
    n_starts -= vectors.shape[1]
    if problem.criterion == "lambda_max" and not problem.pencil.is_rank_one and n_starts > 0:
        columns = column_supports(problem, min(3, n_starts), budget)
        yield from columns
        n_starts -= len(columns)
    for _ in range(n_starts):
        yield top_k(problem, rng.random(problem.pencil.size))


def column_supports(problem: Problem, count: int, budget: Budget) -> list[np.ndarray]:
    """A feature and those that go with it most, for the features with the longest such column.

    For a semidefinite A and B = I the length of a column, restricted to a set, is a lower bound
    on the set's value. Among thousands of correlated features greedy passes miss such sets.
    """
    if problem.pencil.in_memory:
        sets = _column_sets(problem, 10 * count, budget)
    else:
        sets = _column_sets_on_disk(problem, 10 * count)
    best = sorted(dict.fromkeys(sets), key=lambda S: -problem.score(S))[:count]
    return [np.array(S, dtype=np.intp) for S in best]


def _column_sets(problem: Problem, count: int, budget: Budget) -> list[tuple[int, ...]]:
    lengths: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    for part, rows in long_columns(problem):
        if lengths and budget.stop() is not None:
            break
        squares = np.partition(np.square(rows), -problem.k, axis=1)[:, -problem.k :]
        lengths.append(squares.sum(axis=1))
        columns.append(part)
    order = np.argsort(-np.concatenate(lengths), kind="stable")[:count]
    rows = _scaled_columns(problem.pencil, np.concatenate(columns)[order])
    return [tuple(top_k(problem, np.abs(row))) for row in rows]


def _column_sets_on_disk(problem: Problem, count: int) -> list[tuple[int, ...]]:
    """The same by one pass, without a row of all features."""
    k = problem.k
    sizes, places = problem.pencil.factors.largest_entries(_longest(problem), k)
    order = np.argsort(-np.square(sizes).sum(axis=1), kind="stable")[:count]
    sets = []
    for row in places[order]:
        others = row[~np.isin(row, problem.include)][: k - problem.include.size]
        sets.append(tuple(np.sort(np.append(problem.include, others))))
    return sets


def long_columns(problem: Problem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Columns of A, in blocks: their indices (m,), and they as rows (m, p), where diag(B) = 1.

    The longest ones, as many as can be looked at.
    """
    columns = _longest(problem)
    step = int(np.clip(MOVE_ENTRIES // problem.pencil.size, 1, BLOCK))
    for start in range(0, columns.size, step):
        part = columns[start : start + step]
        yield part, _scaled_columns(problem.pencil, part)


def _longest(problem: Problem) -> np.ndarray:
    """The columns of A that are longest, where diag(B) = 1: as many as can be looked at."""
    pencil = problem.pencil
    rank = pencil.max_rank if pencil.factors else 0  # dense: they are there
    most = max(BLOCK, int(COLUMN_WORK / ((rank + SORTING) * pencil.size)))
    if most >= pencil.size:
        return problem.features
    return np.sort(np.argsort(-pencil.column_lengths(), kind="stable")[:most])


def _scaled_columns(pencil: Pencil, index: np.ndarray) -> np.ndarray:
    scale = 1.0 / np.sqrt(pencil.diag_B)
    return np.asarray(pencil.columns_A(index).T * scale * scale[index, None])
