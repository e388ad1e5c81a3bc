"""Q-alpha with class labels (definition 6, corrected).

M_g (n, q_g) holds the samples of class g, A_gh = M_g' diag(alpha) M_h their affinities to class h.
Those within a class are to be strong, those between classes weak:

    sum_g ||A_gg Q_gg||^2 - gamma sum_{g != h} ||A_gh Q_gh||^2.

Its matrix is indefinite, so that only Lanczos finds the leading eigenvector, and the value may fall
a little from one cycle to the next. Centred features that differ between classes have strong
*negative* affinities between classes, whose squares are punished: hence the offset that is added to
every feature before it is scaled.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .feature_rows import FeatureRows
from .relevance import DENSE_SAMPLES, leading_vectors, orthonormal, random_basis

Bases = dict[tuple[int, int], np.ndarray]


@dataclass(frozen=True)
class Blocks:
    """How many eigenvectors count within and between classes, and the weight of the latter."""

    k_within: int = 2
    k_between: int = 1
    gamma: float = 0.5

    def sign(self, g: int, h: int) -> float:
        """The weight of A_gh."""
        return 1.0 if g == h else -self.gamma


class SupervisedForm:
    """The weighted sum of the forms of all pairs of classes."""

    def __init__(self, classes: list[FeatureRows], Q: Bases, blocks: Blocks) -> None:
        self.classes, self.Q, self.blocks = classes, Q, blocks
        self.n_features, self.dtype = classes[0].n_features, classes[0].dtype
        self.U = {pair: classes[pair[1]].times(basis) for pair, basis in Q.items()}
        # side by side, the bases of one g need one product with M_g
        self._first = range(len(classes))
        self._joint = [np.hstack([self.U[g, h] for h in self._first]) for g in self._first]
        self._signs = [self._column_signs(g) for g in self._first]

    def _column_signs(self, g: int) -> np.ndarray:
        signs = [np.full(self.U[g, h].shape[1], self.blocks.sign(g, h)) for h in self._first]
        return np.concatenate(signs).astype(self.dtype)

    def apply(self, x: np.ndarray) -> np.ndarray:
        total = np.zeros(self.n_features, dtype=self.dtype)
        for rows, U, signs in zip(self.classes, self._joint, self._signs):
            Z = rows.times_transposed(x[:, None] * U)
            total += np.einsum("ij,ij->i", U, rows.times(Z * signs))
        return total

    def value(self, alpha: np.ndarray) -> float:
        total = 0.0
        for rows, U, signs in zip(self.classes, self._joint, self._signs):
            Z = rows.times_transposed(alpha[:, None] * U)
            total += float(np.square(Z, dtype=np.float64).sum(axis=0) @ signs)
        return total

    def turn(self, alpha: np.ndarray) -> Bases:
        return {pair: self._turn(pair, alpha) for pair in self.Q}

    def _turn(self, pair: tuple[int, int], alpha: np.ndarray) -> np.ndarray:
        """A_gg Q, and A_gh'A_gh Q between classes, where the affinity is not symmetric."""
        g, h = pair
        Z = self.classes[g].times_transposed(alpha[:, None] * self.U[pair])
        if g != h:
            Z = self.classes[h].times_transposed(alpha[:, None] * self.classes[g].times(Z))
        return orthonormal(Z)


class Supervised:
    """Definition 6; ``code`` holds the class of every sample, 0 ... K - 1."""

    def __init__(self, rows: FeatureRows, code: np.ndarray, blocks: Blocks) -> None:
        self.rows, self.blocks = rows, blocks
        self.members = [np.flatnonzero(code == g) for g in range(code.max() + 1)]
        self.classes = [rows.of_samples(samples) for samples in self.members]

    def _sizes(self) -> dict[tuple[int, int], int]:
        """All pairs of classes, with the number of basis vectors."""
        pairs = itertools.product(range(len(self.members)), repeat=2)
        b = self.blocks
        return {
            (g, h): min(b.k_within if g == h else b.k_between, self.members[h].size)
            for g, h in pairs
        }

    @property
    def cost(self) -> int:
        joint = self.blocks.k_within + (len(self.members) - 1) * self.blocks.k_between
        return self.rows.n_entries * joint

    def start(self, rng: np.random.Generator | None) -> Bases:
        sizes = self._sizes()
        if rng is not None:
            return {pair: random_basis(self.classes[pair[1]], sizes[pair], rng) for pair in sizes}
        if self.rows.n_samples > DENSE_SAMPLES:
            return {pair: self._search_leading(pair, k) for pair, k in sizes.items()}
        A = self.rows.affinity(np.ones(self.rows.n_features, dtype=self.rows.dtype))
        return {
            (g, h): linalg.svd(A[np.ix_(self.members[g], self.members[h])])[2][:k].T
            for (g, h), k in sizes.items()
        }

    def _search_leading(self, pair: tuple[int, int], k: int) -> np.ndarray:
        """Right singular vectors of A_gh of equal weights, where it is too large to be formed."""
        left, right = (self.classes[i] for i in pair)

        def multiply(x: np.ndarray) -> np.ndarray:
            back = left.times_transposed(right.times(x.reshape(-1, 1)))
            return right.times_transposed(left.times(back))[:, 0]

        return leading_vectors(multiply, right.n_samples, k, right.dtype)

    def at(self, basis: Bases) -> SupervisedForm:
        return SupervisedForm(self.classes, basis, self.blocks)

    def express(self, basis: Bases) -> Bases:
        return basis
