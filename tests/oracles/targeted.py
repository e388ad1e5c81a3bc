"""Problems made to deceive double precision: nearly singular B, A over many decades, near-copies.

B^-1 magnifies what is tiny in A, so that a part of A that looks like round-off decides which set is
best.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import eigensieve as es
from tests.oracles.exact import ExactPencil
from tests.oracles.instances import CRITERIA, Instance, Rng, constraints, labelled, size

LARGEST = 7


def targeted_instance(seed: int) -> Instance:
    """The instance of this number; the kinds take turns."""
    names = list(TARGETED)
    kind = names[seed % len(names)]
    for attempt in range(100):
        rng = np.random.default_rng([seed, attempt, 20_261_118])
        try:
            pencil = TARGETED[kind](rng)
        except es.errors.EigensieveError:  # B singular to working precision: refused
            continue
        is_psd = pencil.is_psd
        if not ExactPencil(pencil).is_definite and is_psd:  # a table whose scatter was rounded off
            continue
        criteria = CRITERIA if is_psd else CRITERIA[:1]
        k = int(rng.integers(1, pencil.size + 1 if rng.random() < 0.1 else min(pencil.size, 5)))
        limits = constraints(rng, pencil, k) if rng.random() < 0.2 else ((), ())
        return Instance(seed, kind, pencil, k, criteria[rng.integers(len(criteria))], *limits)
    raise AssertionError(f"no instance of kind {kind!r}")


def _near_copies(rng: Rng, n: int) -> tuple[np.ndarray, list[tuple[int, int]], float]:
    """A correlation matrix with some pairs of 1 - delta, those pairs, and delta."""
    C = np.corrcoef(rng.normal(size=(n, n + int(rng.integers(1, 9)))))
    delta = 10.0 ** rng.uniform(-13, -6)
    order, pairs = rng.permutation(n), []
    for i, j in zip(order[::2], order[1::2]):
        if pairs and rng.random() < 0.5:
            continue
        C[j] = C[:, j] = C[i] * (1 - delta if rng.random() < 0.5 else 1.0)
        C[j, j], C[i, j], C[j, i] = 1.0, 1 - delta, 1 - delta
        pairs.append((int(i), int(j)))
    return C, pairs, delta


def _graded(rng: Rng, n: int) -> np.ndarray:
    """Sizes of features over twelve decades; some are 0."""
    a = 10.0 ** rng.uniform(-6, 6, size=n)
    a[rng.random(n) < 0.25] = 0.0
    return a if a.any() else np.ones(n)


def _add_differences(
    rng: Rng, A: np.ndarray, pairs: list[tuple[int, int]], least: float
) -> np.ndarray:
    """A and a tiny part along differences of near-copies, which B^-1 magnifies."""
    A = A.copy()
    for i, j in pairs:
        t = least * 10.0 ** rng.uniform(-5, 1)
        A[i, i] += t
        A[j, j] += t
        A[i, j] -= t
        A[j, i] -= t
    return A


def tiny_difference(rng: Rng) -> es.Pencil:
    """Rank one to the eye."""
    n = size(rng, 3, LARGEST)
    B, pairs, delta = _near_copies(rng, n)
    a = rng.choice([1.0, 1.0, 0.4, 0.2, 0.1], size=n)
    for i, j in pairs:
        a[j] = a[i]
    return es.Pencil(_add_differences(rng, np.outer(a, a), pairs, delta), B)


def two_directions(rng: Rng) -> es.Pencil:
    """Low rank, and a tiny part."""
    n = size(rng, 3, LARGEST)
    B, pairs, delta = _near_copies(rng, n)
    H = rng.normal(size=(int(rng.integers(1, 4)), n))
    for i, j in pairs:
        H[:, j] = H[:, i] * (1 + delta * rng.normal() * (rng.random() < 0.5))
    return es.Pencil(_add_differences(rng, H.T @ H, pairs, delta), B)


def graded_rank_one(rng: Rng) -> es.Pencil:
    """One large feature, small ones, and a tiny part of others that are correlated."""
    n = size(rng, 4, LARGEST)
    a = _graded(rng, n)
    B, i, j = np.eye(n), *rng.choice(n, size=2, replace=False).tolist()
    delta = 10.0 ** rng.uniform(-6, -1)
    B[i, j] = B[j, i] = 1 - delta
    A = np.outer(a, a)
    return es.Pencil(_add_differences(rng, A, [(i, j)], 10.0 ** rng.uniform(-14, 0)), B)


def graded(rng: Rng) -> es.Pencil:
    """A = DMD with D over twelve decades and M of any rank; B ordinary or nearly singular."""
    n = size(rng, 3, LARGEST)
    H = rng.normal(size=(int(rng.integers(1, n + 1)), n)) * _graded(rng, n)
    B = _near_copies(rng, n)[0] if rng.random() < 0.5 else np.corrcoef(rng.normal(size=(n, n + 4)))
    return es.Pencil(H.T @ H, B)


def spread_spectrum(rng: Rng) -> es.Pencil:
    """A with eigenvalues over twelve decades in random directions."""
    n = size(rng, 3, LARGEST)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = 10.0 ** rng.uniform(-12, 0, size=n) * 10.0 ** rng.uniform(-3, 3)
    A = (Q * values) @ Q.T
    if rng.random() < 0.3:
        A = (Q * values * rng.choice([-1, 1], size=n)) @ Q.T
    return es.Pencil((A + A.T) / 2, _near_copies(rng, n)[0])


def table_of_copies(rng: Rng) -> es.Pencil:
    """A table whose columns are copies but for 1e-4 ... 1e-8, with hardly any shrinkage."""
    n, classes = size(rng, 3, LARGEST), int(rng.integers(2, 5))
    X, y = labelled(rng, n, classes, int(rng.integers(classes + n + 1, 4 * n + classes + 3)))
    source = rng.integers(0, max(2, n // 2), size=n)
    X = X[:, source] + 10.0 ** rng.uniform(-8, -4) * rng.normal(size=X.shape)
    return es.lda_pencil(X, y, shrinkage=_tiny(rng))


def wide_table_of_copies(rng: Rng) -> es.Pencil:
    """The same with few rows, kept as factors."""
    n, classes = size(rng, 4, LARGEST), int(rng.integers(2, 4))
    X, y = labelled(rng, n, classes, classes + int(rng.integers(2, n)))
    source = rng.integers(0, max(2, n // 2), size=n)
    X = X[:, source] + 10.0 ** rng.uniform(-8, -4) * rng.normal(size=X.shape)
    s = max(_tiny(rng), 1e-12)
    means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    W = (X - means[y]) / np.sqrt(len(y))
    H = np.sqrt(np.bincount(y) / len(y))[:, None] * (means - X.mean(axis=0))
    return es.FactorPencil(H, np.sqrt(1 - s) * W, s * np.einsum("ij,ij->j", W, W))


def table_of_integers(rng: Rng) -> es.Pencil:
    """Few different values, sums of other columns, and a last digit."""
    n, classes = size(rng, 3, LARGEST), int(rng.integers(2, 5))
    X, y = labelled(rng, n, classes)
    X = np.round(2 * X)
    X[:, -1] = X[:, 0] + X[:, 1] + 10.0 ** rng.uniform(-8, -4) * rng.integers(-2, 3, size=len(X))
    return es.lda_pencil(X, y, shrinkage=_tiny(rng))


def views_of_copies(rng: Rng) -> es.Pencil:
    n = size(rng, 4, LARGEST)
    Z = rng.normal(size=(30, n))
    Z = Z[:, rng.integers(0, max(2, n // 2), size=n)] + 10.0 ** rng.uniform(-7, -4) * Z
    return es.cca_pencil(Z[:, : n // 2], Z[:, n // 2 :], shrinkage=max(_tiny(rng), 1e-12))


def _tiny(rng: Rng) -> float:
    return float(rng.choice([0.0, 10.0 ** rng.uniform(-13, -6)]))


TARGETED: dict[str, Callable[[Rng], es.Pencil]] = {
    "tiny difference": tiny_difference,
    "two directions": two_directions,
    "graded rank one": graded_rank_one,
    "graded": graded,
    "spread spectrum": spread_spectrum,
    "table of copies": table_of_copies,
    "wide table of copies": wide_table_of_copies,
    "table of integers": table_of_integers,
    "views of copies": views_of_copies,
}
