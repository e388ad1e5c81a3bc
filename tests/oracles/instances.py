"""Random small problems of every kind, for comparing exact solvers with brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import eigensieve as es
from tests.oracles import naive

LARGEST = 14
# Exact arithmetic takes its time: ill-conditioned instances are smaller.
LARGEST_DOUBTFUL = 9
SHRINKAGES = (0.0, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
CRITERIA = ("lambda_max", "trace", "logdet")
Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem as `es.solve` takes it; ``k`` is a tuple where blocks have quotas."""

    seed: int
    kind: str
    pencil: es.Pencil
    k: int | tuple[int, ...]
    criterion: str
    include: tuple[int, ...]
    exclude: tuple[int, ...]

    @property
    def cardinality(self) -> int:
        """How many features are chosen."""
        return self.k if isinstance(self.k, int) else sum(self.k)

    def __repr__(self) -> str:
        return (
            f"{self.kind}, seed {self.seed}: n={self.pencil.size}, k={self.k}, "
            f"{self.criterion}, include={self.include}, exclude={self.exclude}"
        )


def random_instance(seed: int) -> Instance:
    """The instance of this number; the kinds take turns."""
    names = list(KINDS)
    kind = names[seed % len(names)]
    rng = np.random.default_rng([seed, 20_060_101])
    pencil = KINDS[kind](rng)
    criteria = CRITERIA if pencil.is_psd else CRITERIA[:1]
    quotas = pencil.blocks is not None and rng.random() < 0.6
    k: int | tuple[int, ...]
    if quotas:
        assert pencil.blocks is not None
        k = tuple(int(rng.integers(1, size + 1)) for size in np.bincount(pencil.blocks))
    else:
        k = int(rng.integers(1, pencil.size + 1))
    include, exclude = constraints(rng, pencil, k) if rng.random() < 0.35 else ((), ())
    criterion = criteria[rng.integers(len(criteria))]
    return Instance(seed, kind, pencil, k, criterion, include, exclude)


def constraints(
    rng: Rng, pencil: es.Pencil, k: int | tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Some of a random feasible set to include, and some of the others to exclude."""
    order = rng.permutation(pencil.size)
    if isinstance(k, int):
        inside = order[:k]
    else:
        assert pencil.blocks is not None
        blocks = pencil.blocks[order]
        inside = np.concatenate([order[blocks == b][:most] for b, most in enumerate(k)])
    outside = np.setdiff1d(order, inside)
    include = inside[: rng.integers(0, inside.size + 1)] if rng.random() < 0.6 else inside[:0]
    exclude = outside[rng.random(outside.size) < 0.3]
    return tuple(sorted(include.tolist())), tuple(sorted(exclude.tolist()))


# -- building blocks -------------------------------------------------------------------------


def size(rng: Rng, least: int = 2, most: int = LARGEST) -> int:
    return int(rng.integers(least, most + 1))


def gaussian(rng: Rng, rows: int, n: int) -> np.ndarray:
    """Independent or strongly correlated columns."""
    X = rng.normal(size=(rows, n))
    if rng.random() < 0.5:
        X += rng.uniform(0.5, 3.0) * rng.normal(size=(rows, 1)) * rng.normal(size=n)
    return X


def covariance(rng: Rng, n: int) -> np.ndarray:
    """Positive definite: Wishart or the covariance of Brownian paths."""
    if rng.random() < 0.5:
        return naive.brownian_covariance(n, rng)
    X = gaussian(rng, n + int(rng.integers(2, 20)), n)
    return X.T @ X / len(X)


def low_rank(rng: Rng, n: int, rank: int) -> np.ndarray:
    H = rng.normal(size=(rank, n))
    return H.T @ H


def labelled(
    rng: Rng, n: int, classes: int, rows: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of some classes whose means differ in some columns."""
    rows = rows or int(rng.integers(classes + 2, 4 * n + classes + 3))
    y = np.arange(rows) % classes
    X = gaussian(rng, rows, n)
    X += rng.normal(size=(classes, n))[y] * (rng.random(n) < 0.5) * rng.uniform(0, 2)
    return X, y


def shrinkage(rng: Rng, least: float = 0.0) -> float:
    s = float(rng.choice(SHRINKAGES)) if rng.random() < 0.7 else float(rng.random())
    return max(s, least)


def lda(rng: Rng, X: np.ndarray, y: np.ndarray) -> es.Pencil:
    """Little shrinkage of few rows leaves a singular B: such instances are kept small."""
    least = 0.0 if X.shape[1] <= LARGEST_DOUBTFUL else 1e-3
    return es.lda_pencil(X, y, shrinkage=shrinkage(rng, least))


# -- the kinds -------------------------------------------------------------------------------


def pca(rng: Rng) -> es.Pencil:
    n = size(rng)
    if rng.random() < 0.5:
        return es.Pencil(covariance(rng, n))
    return es.pca_pencil(gaussian(rng, 30, n))


def two_classes(rng: Rng) -> es.Pencil:
    return lda(rng, *labelled(rng, size(rng), 2))


def many_classes(rng: Rng) -> es.Pencil:
    return lda(rng, *labelled(rng, size(rng), int(rng.integers(3, 7))))


def two_views(rng: Rng) -> es.Pencil:
    n, rows = size(rng), int(rng.integers(20, 60))
    Z, px = gaussian(rng, rows, n), int(rng.integers(1, n))
    if rng.random() < 0.3:
        Z = np.round(Z)
    return es.cca_pencil(Z[:, :px], Z[:, px:], shrinkage=shrinkage(rng, 1e-3))


def indefinite(rng: Rng) -> es.Pencil:
    n = size(rng)
    A = rng.normal(size=(n, n))
    A = A + A.T
    if rng.random() < 0.2:  # every value below zero
        A = -A @ A.T - 0.1 * np.eye(n)
    blocks = [j % 2 for j in range(n)] if rng.random() < 0.2 else None
    return es.Pencil(A, covariance(rng, n) if rng.random() < 0.7 else None, blocks=blocks)


def whole_numbers(rng: Rng) -> es.Pencil:
    n = size(rng)
    A = rng.integers(-2, 3, size=(n, n)).astype(float)
    A = A @ A.T if rng.random() < 0.6 else A + A.T
    if rng.random() < 0.5:
        return es.Pencil(A)
    C = rng.integers(-1, 2, size=(n, n)).astype(float)
    return es.Pencil(A, C @ C.T + int(rng.integers(1, 4)) * np.eye(n))


def duplicates(rng: Rng) -> es.Pencil:
    n = size(rng, 3, LARGEST)
    X, y = labelled(rng, n, int(rng.integers(2, 5)))
    X = X[:, rng.integers(0, max(2, n // 2), size=n)]
    return lda(rng, X, y) if rng.random() < 0.7 else es.pca_pencil(X)


def near_duplicates(rng: Rng) -> es.Pencil:
    """Correlations of 1 - 1e-9 and thereabouts, with every amount of shrinkage."""
    n = size(rng, 3, LARGEST_DOUBTFUL)
    X, y = labelled(rng, n, int(rng.integers(2, 5)))
    twins = X[:, rng.integers(0, max(2, n // 2), size=n)]
    noise = rng.normal(size=X.shape) * 10.0 ** rng.uniform(-5, -4)
    s = float(rng.choice([0.0, 1e-8, 1e-6])) if rng.random() < 0.5 else shrinkage(rng)
    return es.lda_pencil(twins + noise * twins.std(axis=0), y, shrinkage=s)


def near_singular_pair(rng: Rng) -> es.Pencil:
    """A dense B with a pair (or more) of features of correlation 1 - 1e-9 or closer."""
    n = size(rng, 2, LARGEST_DOUBTFUL)
    C = covariance(rng, n)
    d = 1 / np.sqrt(np.diag(C))
    C *= np.outer(d, d)
    source = rng.integers(0, max(1, n // 2), size=n)
    B = C[np.ix_(source, source)] + 10.0 ** rng.uniform(-11, -8) * np.eye(n)
    A = low_rank(rng, n, int(rng.integers(1, n + 1)))
    if rng.random() < 0.3:
        A = rng.normal(size=(n, n))
        A = A + A.T
    return es.Pencil(A, B)


def hidden_ties(rng: Rng) -> es.Pencil:
    """Twins whose correlations differ in the last bits: sets that doubles cannot rank."""
    n = size(rng, 3, 7)
    delta = 2.0 ** -int(rng.integers(28, 40))
    bits = rng.integers(0, 6, size=(n, n)) * 2.0**-52
    B = 1 - delta * (1 + 0.5 * (rng.random() < 0.5)) - np.triu(bits, 1) - np.triu(bits, 1).T
    np.fill_diagonal(B, 1.0)
    d = np.where(np.arange(n) % 2, -1.0, 1.0) * (1 + (rng.random(n) < 0.3) * 2.0**-20)
    A = np.outer(d, d)
    if rng.random() < 0.4:
        A += low_rank(rng, n, 1)
    return es.Pencil(A, B)


def scales(rng: Rng) -> es.Pencil:
    """Features in units 1e16 apart, and an A anywhere between 1e-8 and 1e8."""
    n = size(rng)
    unit = 10.0 ** rng.uniform(-8, 8, size=n)
    if rng.random() < 0.4:
        X, y = labelled(rng, n, int(rng.integers(2, 5)))
        return es.lda_pencil(X * unit, y, shrinkage=shrinkage(rng, 1e-3))
    A = low_rank(rng, n, int(rng.integers(1, n + 1))) * 10.0 ** rng.uniform(-8, 8)
    if rng.random() < 0.3:
        A -= np.diag(np.diag(A)) / 2
    return es.Pencil(A * np.outer(unit, unit), covariance(rng, n) * np.outer(unit, unit))


def factors(rng: Rng) -> es.Pencil:
    n, c = size(rng), int(rng.integers(1, 5))
    core = None
    if rng.random() < 0.3:
        core = rng.normal(size=(c, c))
        core = core + core.T
    W = rng.normal(size=(int(rng.integers(1, 7)), n)) if rng.random() < 0.9 else None
    d = 10.0 ** rng.uniform(-3, 1) * rng.uniform(0.5, 1.5, size=n)
    blocks = [j % 2 for j in range(n)] if n > 2 and rng.random() < 0.3 else None
    return es.FactorPencil(rng.normal(size=(c, n)), W, d, core=core, blocks=blocks)


def wide_classes(rng: Rng) -> es.Pencil:
    """LDA with few rows, kept as factors, as for genes; s down to 1e-10."""
    n, classes = size(rng, 3, LARGEST), int(rng.integers(2, 5))
    X, y = labelled(rng, n, classes, classes + int(rng.integers(2, n + 1)))
    s = max(shrinkage(rng, 0.0 if n <= LARGEST_DOUBTFUL else 1e-3), 1e-10)
    means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    share = np.sqrt(np.bincount(y) / len(y))
    W = (X - means[y]) / np.sqrt(len(y))
    H = share[:, None] * (means - X.mean(axis=0))
    return es.FactorPencil(H, np.sqrt(1 - s) * W, s * np.einsum("ij,ij->j", W, W))


def zero(rng: Rng) -> es.Pencil:
    n = size(rng, 2, 8)
    return es.Pencil(np.zeros((n, n)), covariance(rng, n) if rng.random() < 0.5 else None)


def diagonal(rng: Rng) -> es.Pencil:
    """Diagonal B, and sometimes a diagonal A beside it."""
    n = size(rng)
    A = covariance(rng, n) if rng.random() < 0.6 else np.diag(rng.normal(size=n))
    return es.Pencil(A, np.diag(10.0 ** rng.uniform(-2, 2, size=n)))


def deficient(rng: Rng) -> es.Pencil:
    n = size(rng, 3, LARGEST)
    A = low_rank(rng, n, int(rng.integers(2, max(3, n // 2 + 1))))
    A[:, rng.random(n) < 0.2] = 0.0  # features without any effect of their own
    live = np.diag(A) > 0
    return es.Pencil(A * np.outer(live, live), covariance(rng, n))


def rank_one(rng: Rng) -> es.Pencil:
    n = size(rng)
    d = rng.multivariate_normal(np.zeros(n), covariance(rng, n))
    return es.Pencil(np.outer(d, d), covariance(rng, n))


def full_pair(rng: Rng) -> es.Pencil:
    n = size(rng)
    return es.Pencil(covariance(rng, n), covariance(rng, n))


def semidefinite_blocks(rng: Rng) -> es.Pencil:
    """Views with quotas and a criterion other than lambda_max."""
    n = size(rng, 3, LARGEST)
    blocks = rng.permutation(np.arange(n) % int(rng.integers(2, 4)))
    A = low_rank(rng, n, int(rng.integers(1, n + 1)))
    return es.Pencil(A, covariance(rng, n), blocks=blocks.tolist())


KINDS: dict[str, Callable[[Rng], es.Pencil]] = {
    "pca": pca,
    "two classes": two_classes,
    "many classes": many_classes,
    "two views": two_views,
    "indefinite": indefinite,
    "whole numbers": whole_numbers,
    "duplicates": duplicates,
    "near duplicates": near_duplicates,
    "near-singular pair": near_singular_pair,
    "hidden ties": hidden_ties,
    "scales": scales,
    "factors": factors,
    "wide classes": wide_classes,
    "zero A": zero,
    "diagonal B": diagonal,
    "rank-deficient": deficient,
    "rank one": rank_one,
    "full pair": full_pair,
    "blocks": semidefinite_blocks,
}


def shifted_classes(
    n: int = 24, p: int = 120, K: int = 3, seed: int = 0, shift: float = 3.0
) -> tuple[np.ndarray, np.ndarray]:
    """X (n, p) and y for K classes in turn; column k has a shift for class k."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, p))
    X[np.arange(n), y] += shift
    return X, y
