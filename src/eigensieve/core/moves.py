"""Moves that several solvers share: renormalization, starts, completion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .criteria import fix_signs, generalized_eigh
from .pencil import Pencil
from .problem import Problem

# Eigenvectors that may take part in a score; more carry next to nothing.
MANY = 50


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
    small = pencil.restrict(support)
    _, vectors = generalized_eigh(small.A, None if small.has_identity_B else small.B)
    full = np.zeros(pencil.size)
    full[support] = fix_signs(vectors[:, :1])[:, 0]
    return full


def top_k(problem: Problem, scores: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """k features: include (and start), then the highest scores within the block quotas."""
    return np.sort(ranked(problem, scores, problem.include if start is None else start))


def ranked(problem: Problem, scores: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The same in the order in which they are taken: a smaller k takes the first of them."""
    chosen = list(start)
    candidates = np.setdiff1d(problem.features, chosen)
    # stable sort: ties go to the lowest index
    for j in candidates[np.argsort(-scores[candidates], kind="stable")]:
        if len(chosen) == problem.k:
            break
        if problem.quota is None or problem.open_blocks(chosen)[j]:
            chosen.append(int(j))
    return np.asarray(chosen, dtype=np.intp)


def eigenvector_scores(problem: Problem) -> np.ndarray:
    """What the leading eigenvectors, over all features, say of every feature.

    |x_j| for "lambda_max"; for the other criteria the norm over the eigenvectors,
    weighted by their eigenvalues.
    """
    if problem.criterion == "lambda_max":
        return np.abs(problem.pencil.top()[1][:, 0])
    values, vectors = problem.pencil.top(MANY)
    return np.sqrt(np.square(vectors) @ np.maximum(values, 0.0))


def starting_supports(
    problem: Problem, n_starts: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Other places to start a local search from: eigenvectors first, then random sets."""
    if n_starts == 0:
        return
    _, vectors = problem.pencil.top(min(3, n_starts))
    for v in vectors.T:
        yield top_k(problem, np.abs(v) * np.sqrt(problem.pencil.diag_B))
    for _ in range(n_starts - vectors.shape[1]):
        yield top_k(problem, rng.random(problem.pencil.size))
