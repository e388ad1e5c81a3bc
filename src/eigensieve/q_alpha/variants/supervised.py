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
from typing import Any

import numpy as np
from scipy import linalg

from ...tables.operators.any_rows import join_arrays
from ..class_rows import ClassRows
from ..passes import equal_weights
from ..relevance import DENSE_SAMPLES, leading_vectors, orthonormal, point_up, random_basis

Pair = tuple[int, int]
Bases = dict[Pair, np.ndarray]


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
    """The weighted sum of the forms of all pairs of classes.

    ``joint[g]`` has the U_gh of all h side by side: one product with M_g serves them all.
    """

    iterates_on_samples = False

    def __init__(self, classes: ClassRows, Q: Bases, blocks: Blocks) -> None:
        self.classes, self.rows, self.Q = classes, classes.rows, Q
        self.n_features, self.dtype = self.rows.n_features, self.rows.dtype
        self.labels = range(len(classes.sizes))
        widths = {pair: basis.shape[1] for pair, basis in Q.items()}
        self.of_second = {h: _places([(g, h) for g in self.labels], widths) for h in self.labels}
        self.of_first = {g: _places([(g, h) for h in self.labels], widths) for g in self.labels}
        U = classes.project([np.hstack([Q[g, h] for g in self.labels]) for h in self.labels])
        self.joint = self._by_first(U)
        self.signs = [
            np.repeat([blocks.sign(g, h) for h in self.labels], [widths[g, h] for h in self.labels])
            .astype(self.dtype)
            for g in self.labels
        ]  # fmt: skip

    def _by_first(self, U: list[Any]) -> list[Any]:
        """From matrices for every h, with the columns of all g, to those of g with all h."""
        return [
            join_arrays([U[h][:, self.of_second[h][g, h]] for h in self.labels], axis=1)
            for g in self.labels
        ]

    def _by_second(self, U: list[Any]) -> list[Any]:
        """And back."""
        return [
            join_arrays([U[g][:, self.of_first[g][g, h]] for g in self.labels], axis=1)
            for h in self.labels
        ]

    def equal_weights(self) -> Any:
        return equal_weights(self.rows)

    def apply(self, x: Any) -> Any:
        Z = self.classes.turn(x, self.joint)
        return self.classes.weigh(self.joint, [z * signs for z, signs in zip(Z, self.signs)])

    def step(self, x: Any) -> Any:
        return point_up(self.apply(x))

    def value(self, alpha: Any) -> float:
        Z = self.classes.turn(alpha, self.joint)
        squares = (np.square(z, dtype=np.float64).sum(axis=0) for z in Z)
        return float(sum(s @ signs for s, signs in zip(squares, self.signs)))

    def turn(self, alpha: Any) -> Bases:
        """A_gg Q, and A_gh'A_gh Q between classes, where the affinity is not symmetric."""
        Z = self.classes.turn(alpha, self.joint)
        twice = self.classes.turn(alpha, self._by_second(self.classes.project(Z)))
        return {
            (g, h): orthonormal(
                Z[g][:, self.of_first[g][g, h]] if g == h else twice[h][:, self.of_second[h][g, h]]
            )
            for g, h in self.Q
        }


def _places(pairs: list[Pair], widths: dict[Pair, int]) -> dict[Pair, slice]:
    """Where the columns of each pair are if they lie side by side."""
    ends = np.cumsum([widths[pair] for pair in pairs]).tolist()
    return {pair: slice(end - widths[pair], end) for pair, end in zip(pairs, ends)}


class Supervised:
    """Definition 6."""

    def __init__(self, classes: ClassRows, blocks: Blocks) -> None:
        self.classes, self.blocks = classes, blocks

    def _sizes(self) -> dict[Pair, int]:
        """All pairs of classes, with the number of basis vectors."""
        pairs = itertools.product(range(len(self.classes.sizes)), repeat=2)
        b = self.blocks
        return {
            (g, h): min(b.k_within if g == h else b.k_between, self.classes.sizes[h])
            for g, h in pairs
        }

    @property
    def cost(self) -> int:
        joint = self.blocks.k_within + (len(self.classes.sizes) - 1) * self.blocks.k_between
        return self.classes.rows.n_entries * joint

    def start(self, rng: np.random.Generator | None) -> Bases:
        sizes = self._sizes()
        if rng is not None:
            return self._draw(sizes, rng)
        if sum(self.classes.sizes) > DENSE_SAMPLES:
            return {pair: self._search_leading(pair, k) for pair, k in sizes.items()}
        A = self.classes.affinity()
        return {(g, h): linalg.svd(A[g][h])[2][:k].T for (g, h), k in sizes.items()}

    def _draw(self, sizes: dict[Pair, int], rng: np.random.Generator) -> Bases:
        parts = self.classes.parts
        return {(g, h): random_basis(parts[h], k, rng) for (g, h), k in sizes.items()}

    def _search_leading(self, pair: Pair, k: int) -> np.ndarray:
        """Right singular vectors of A_gh of equal weights, where it is too large to be formed."""
        left, right = (self.classes.parts[i] for i in pair)

        def multiply(x: np.ndarray) -> np.ndarray:
            back = left.matmat(right.rmatmat(x.reshape(-1, 1)))
            return right.matmat(left.rmatmat(back))[:, 0]

        return leading_vectors(multiply, right.n_samples, k, right.dtype)

    def at(self, basis: Bases, alpha: Any = None) -> SupervisedForm:
        return SupervisedForm(self.classes, basis, self.blocks)

    def express(self, basis: Bases) -> Bases:
        """All bases of the samples of one class at once."""
        labels = range(len(self.classes.sizes))
        bases = self.classes.express([np.hstack([basis[g, h] for g in labels]) for h in labels])
        widths = {pair: Q.shape[1] for pair, Q in basis.items()}
        places = [_places([(g, h) for g in labels], widths) for h in labels]
        return {(g, h): bases[h][:, places[h][g, h]] for g, h in basis}
