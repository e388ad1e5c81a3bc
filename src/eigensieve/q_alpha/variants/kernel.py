"""Q-alpha in the feature space of a kernel between features (definition 14, corrected).

V (n, n) holds the kernel of every two features; Q = M'E exists through E (n, k) only. With H = VE,
G alpha is the row sums of H * V(alpha H), and the next E is alpha H R^-1 with R'R = H'DVDH. (The
paper prints E R^-1, which diverges.)
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import eigsh

from ...errors import InputError
from ...pencil.criteria import EPS
from ..relevance import point_up

DENSE_FEATURES = 500


class KernelForm:
    """G at one basis; positive semidefinite if V is."""

    iterates_on_samples = False

    def __init__(self, V: np.ndarray, E: np.ndarray) -> None:
        self.V, self.E, self.H = V, E, V @ E
        self.n_features, self.dtype = len(V), V.dtype

    def equal_weights(self) -> np.ndarray:
        return np.full(self.n_features, 1.0 / np.sqrt(self.n_features), dtype=self.dtype)

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", self.H, self.V @ (x[:, None] * self.H))

    def step(self, x: np.ndarray) -> np.ndarray:
        return point_up(self.apply(x))

    def value(self, alpha: np.ndarray) -> float:
        F = alpha[:, None] * self.H
        return float(np.einsum("ij,ij->", F, self.V @ F))

    def turn(self, alpha: np.ndarray) -> np.ndarray:
        following = normalize_dual(self.V, alpha[:, None] * self.H)
        return following if following.size else self.E  # a matrix that is no kernel


class KernelRelevance:
    """Definition 14 for a kernel matrix."""

    def __init__(self, V: np.ndarray, k: int) -> None:
        self.V, self.k = V, k

    @property
    def cost(self) -> int:
        return self.V.size * self.k

    def start(self, rng: np.random.Generator | None) -> np.ndarray:
        n = len(self.V)
        if rng is not None:
            drawn = normalize_dual(self.V, rng.standard_normal((n, self.k)))
            return drawn if drawn.size else self.start(None)
        if n <= max(DENSE_FEATURES, 2 * self.k):
            values, vectors = linalg.eigh(self.V)
        else:
            v0 = np.random.default_rng(0).standard_normal(n)
            values, vectors = eigsh(self.V, k=self.k, which="LA", v0=v0)
        values, vectors = values[-self.k :], vectors[:, -self.k :]
        positive = values > n * EPS * np.abs(values).max()
        if not positive.any():
            raise InputError("the kernel matrix has no positive eigenvalue")
        return (vectors[:, positive] / np.sqrt(values[positive]))[:, ::-1]

    def at(self, basis: np.ndarray, alpha: np.ndarray | None = None) -> KernelForm:
        return KernelForm(self.V, basis)

    def express(self, basis: np.ndarray) -> None:
        """Nothing: the basis has no coordinates in terms of samples."""


def normalize_dual(V: np.ndarray, F: np.ndarray) -> np.ndarray:
    """F R^-1, so that M'F R^-1 is orthonormal; directions of no length are left out."""
    S = F.T @ V @ F
    R, failed = linalg.lapack.dpotrf(S, lower=False, clean=True)
    if not failed and np.diag(R).min() > 1e-7 * np.diag(R).max():
        return linalg.solve_triangular(R, F.T, trans="T").T
    values, vectors = linalg.eigh(S)
    kept = values > len(S) * EPS * values[-1]
    return F @ (vectors[:, kept] / np.sqrt(values[kept]))
