"""Relevance of weighted features (Wolf & Shashua 2005): the quadratic forms of Q-alpha.

A_alpha = sum_i alpha_i m_i m_i' is the affinity of the samples, Q (q, k) an orthonormal basis, and

    trace(Q'A_alpha^2 Q) = alpha'G alpha,    G_ij = (m_i'm_j) (m_i'QQ'm_j)

is what Q-alpha maximises over both. G is never formed: with U = MQ and Z = A_alpha Q = M'(alpha U),
G alpha is the row sums of U * (MZ), at a cost linear in the number of features. The paper thought
that quadratic was the best possible.

Each variant is a `Family`: where to start, and the form at a basis. A form gives G alpha, its value
and the next basis. New variants are new files beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from ..errors import InputError
from ..tables.kinds.arrays import namespace
from ..tables.operators.table_rows import TableRows
from .passes import equal_weights, project_and_turn, turn, weigh, weigh_and_turn

EXTRA, STEPS = 8, 6  # of the subspace iteration
MAX_SAMPLES = 20_000  # an affinity of 3 GB
MAX_DENSE_SAMPLES_PER_VECTOR = 20  # times vectors: Lanczos needs more
DENSE_SAMPLES = 1_000  # beyond, the affinity of the samples is not formed for its eigenvectors


class Form(Protocol):
    """alpha'G alpha at one basis. Weights lie where the data are: perhaps on a device."""

    n_features: int
    dtype: np.dtype

    @property
    def iterates_on_samples(self) -> bool:
        """Whether Lanczos is to work on vectors of samples: those of features are far away."""

    def equal_weights(self) -> Any:
        """Weights to begin with."""

    def apply(self, x: Any) -> Any:
        """G x."""

    def step(self, x: Any) -> Any:
        """G x at unit length, pointing up: one step of the power method."""

    def value(self, alpha: Any) -> float:
        """alpha'G alpha, or what the variant maximises instead."""

    def turn(self, alpha: Any) -> Any:
        """The next basis."""


class Family(Protocol):
    """One variant of Q-alpha on one data set; a basis is what `Form.turn` gives."""

    @property
    def cost(self) -> int:
        """Multiplications in one product with G, or in what else a cycle needs, roughly."""

    def start(self, rng: np.random.Generator | None) -> Any:
        """A basis to begin with: that of equal weights (None), or a random one."""

    def at(self, basis: Any, alpha: Any = None) -> Form:
        """The form at a basis; its value at alpha will be asked for next, if that is given."""

    def express(self, basis: Any) -> Any:
        """The basis as users get it."""


class StandardForm:
    """G of the standard spectrum; positive semidefinite."""

    def __init__(self, rows: TableRows, Q: np.ndarray, alpha: Any = None) -> None:
        self.rows, self.Q = rows, Q
        self.n_features, self.dtype = rows.n_features, rows.dtype
        self._turned: tuple[Any, np.ndarray] | None = None
        if alpha is None:
            self.U = rows.rmatmat(Q)
        else:
            self.U, Z = project_and_turn(rows, Q, alpha)
            self._turned = (alpha, Z)

    @property
    def iterates_on_samples(self) -> bool:
        return self.rows.is_remote and MAX_DENSE_SAMPLES_PER_VECTOR < self.Q.size < self.n_features

    def equal_weights(self) -> Any:
        return equal_weights(self.rows)

    def turned(self, x: Any) -> np.ndarray:
        """Z = A_x Q; the last one is kept, since value, apply and turn ask for it in turn."""
        if self._turned is None or self._turned[0] is not x:
            self._turned = (x, turn(self.rows, x, self.U))
        return self._turned[1]

    def weigh(self, Z: np.ndarray) -> Any:
        """G x from Z = A_x Q."""
        return weigh(self.rows, self.U, Z)

    def weigh_and_turn(self, Z: np.ndarray) -> tuple[Any, np.ndarray]:
        """G x from Z = A_x Q, and the Z of that."""
        return weigh_and_turn(self.rows, self.U, Z)

    def apply(self, x: Any) -> Any:
        return self.weigh(self.turned(x))

    def step(self, x: Any) -> Any:
        """What the next basis needs is kept, since it comes from the same pass over the data."""
        y, Z = self.weigh_and_turn(self.turned(x))
        factor = upward(y)
        if factor == 0.0:
            return self.equal_weights()
        self._turned = (y * factor, Z * factor)
        return self._turned[0]

    def value(self, alpha: Any) -> float:
        return float(np.square(self.turned(alpha), dtype=np.float64).sum())

    def turn(self, alpha: Any) -> Any:
        """One step of the orthogonal iteration (definition 2)."""
        return orthonormal(self.turned(alpha))

    def root_blocks(self) -> Any:
        """Blocks of C (n, qk) with G = CC': row i is the Kronecker product of m_i and u_i."""
        for where, block in self.rows.array_blocks():
            root = block.T[:, :, None] * self.U[where, None, :]
            yield where, namespace(root).reshape(root, (root.shape[0], -1))


class Standard:
    """Definition 2, the power-embedded method: Q takes one step of the orthogonal iteration."""

    form: type[StandardForm] = StandardForm

    def __init__(self, rows: TableRows, k: int) -> None:
        self.rows, self.k = rows.reduced(), k

    @property
    def cost(self) -> int:
        return self.rows.n_entries * self.k

    def start(self, rng: np.random.Generator | None) -> np.ndarray:
        return start_basis(self.rows, self.k, rng)

    def at(self, basis: np.ndarray, alpha: Any = None) -> StandardForm:
        return self.form(self.rows, basis, alpha)

    def express(self, basis: np.ndarray) -> Any:
        return self.rows.express(basis)


class BasicForm(StandardForm):
    """The same form; the next basis is the best one for the weights."""

    def step(self, x: Any) -> Any:
        return point_up(self.apply(x))

    def turn(self, alpha: Any) -> np.ndarray:
        """Eigenvectors of A_alpha of the largest squared eigenvalues, which the value sums."""
        return leading_samples(self.rows, self.Q.shape[1], alpha)


class Basic(Standard):
    """The basic method: alpha for Q and Q for alpha in turn, each the best there is."""

    form = BasicForm

    @property
    def cost(self) -> int:
        return self.rows.n_entries * min(self.rows.n_samples, DENSE_SAMPLES)


class GapForm(BasicForm):
    """The squared eigenvalues of the k leading eigenvectors, less all others; indefinite."""

    iterates_on_samples = False  # there is no root of G

    def apply(self, x: np.ndarray) -> np.ndarray:
        everything = self.rows.quadratic_forms(self.rows.gram(x))
        return 2.0 * super().apply(x) - everything

    def value(self, alpha: np.ndarray) -> float:
        return 2.0 * super().value(alpha) - float(np.square(self.rows.gram(alpha)).sum())


class Gap(Basic):
    """Maximises the gap between the leading and the remaining squared eigenvalues."""

    form = GapForm

    def __init__(self, rows: TableRows, k: int) -> None:
        super().__init__(rows, k)
        q = self.rows.n_samples
        if q > MAX_SAMPLES:
            raise InputError(
                f"variant 'gap' forms the affinity of all samples, {q:,} x {q:,} here; use another "
                "variant, or fewer samples"
            )


def length(x: Any) -> float:
    """The norm of a vector, wherever it lies."""
    return float(x @ x) ** 0.5


def upward(x: Any) -> float:
    """The factor that gives x unit length and a sum that is not negative; 0 if x is zero."""
    norm = length(x)
    if norm == 0.0:
        return 0.0
    return (-1.0 if float(namespace(x).sum(x)) < 0 else 1.0) / norm


def point_up(x: Any) -> Any:
    """A vector at unit length with a sum that is not negative; zero becomes equal weights."""
    factor = upward(x)
    if factor == 0.0:
        return namespace(x).full_like(x, x.shape[0] ** -0.5)
    return x * factor


def orthonormal(Z: np.ndarray) -> np.ndarray:
    """The Q of a QR factorisation with a positive diagonal of R: unique, so repeatable."""
    Q, R = np.linalg.qr(Z.astype(np.float64, copy=False))
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return (Q * signs).astype(Z.dtype, copy=False)


def random_basis(rows: TableRows, k: int, rng: np.random.Generator) -> np.ndarray:
    """An orthonormal basis of random combinations of the features, whatever their coordinates."""
    mixture = rng.standard_normal((rows.n_features, k)).astype(rows.dtype)
    return orthonormal(rows.matmat(rows.place(mixture)))


def start_basis(rows: TableRows, k: int, rng: np.random.Generator | None) -> np.ndarray:
    """The leading eigenvectors of the affinity of equal weights, or (with rng) a random basis.

    Where that affinity is too large to be formed, the subspace of a few steps towards them.
    """
    if rng is not None:
        return random_basis(rows, k, rng)
    if rows.n_samples <= max(DENSE_SAMPLES, 2 * k):
        return leading_samples(rows, k)
    Q = random_basis(rows, k + EXTRA, np.random.default_rng(0))
    for _ in range(STEPS):
        Q = orthonormal(rows.matmat(rows.rmatmat(Q)))
    U = rows.rmatmat(Q)
    return Q @ linalg.eigh(U.T @ U)[1][:, : -k - 1 : -1].astype(rows.dtype)


def leading_samples(rows: TableRows, k: int, weights: Any = None) -> np.ndarray:
    """The k eigenvectors of A_w (equal weights by default) with the largest |eigenvalue|."""
    q = rows.n_samples
    if q <= max(DENSE_SAMPLES, 2 * k):
        values, vectors = linalg.eigh(rows.gram(weights).astype(np.float64))
        order = np.argsort(-np.abs(values), kind="stable")[:k]
        return vectors[:, order].astype(rows.dtype)

    if weights is None:
        weights = equal_weights(rows)

    def multiply(x: np.ndarray) -> np.ndarray:
        return project_and_turn(rows, x.reshape(-1, 1), weights)[1][:, 0]

    return leading_vectors(multiply, q, k, rows.dtype)


def leading_vectors(
    multiply: Callable[[np.ndarray], np.ndarray], q: int, k: int, dtype: np.dtype
) -> np.ndarray:
    """The k eigenvectors of a symmetric operator with the largest |eigenvalue|, in that order."""
    k = min(k, q)
    if q <= 2 * k + 1:  # too small for Lanczos
        values, vectors = linalg.eigh(
            np.column_stack([multiply(e) for e in np.eye(q, dtype=dtype)])
        )
    else:
        operator = LinearOperator((q, q), matvec=multiply, dtype=dtype)
        v0 = np.random.default_rng(0).standard_normal(q).astype(dtype)
        values, vectors = eigsh(operator, k=k, which="LM", v0=v0)
    order = np.argsort(-np.abs(values), kind="stable")[:k]
    return orthonormal(vectors[:, order].astype(dtype, copy=False))
