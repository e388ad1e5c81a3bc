"""A pencil kept as factors of the data: p x p is never formed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from ..errors import OptionError, PencilError
from .checks import MAX_SIZE, MIN_SIZE, check_blocks, finite, symmetric
from .criteria import EPS, NOISE, fix_signs
from .magnitudes import LARGEST
from .pencil import PSD_TOL, Pencil, identity_columns
from .row_factor import RowFactor, column_squares, turn_rows, weighted_gram

# Larger dense matrices are not formed by accident.
DENSE_LIMIT = 20_000
# Up to this size the scale of an indefinite A is found from the matrix itself.
EXACT_SCALE = 3000
# Rows that are no array may become one up to this size (128 MB), for algorithms that need it.
DENSE_ENTRIES = 2**24
# A pair of features as negative as this, relatively, is no round-off.
SURELY = 1e-3
# W'W is looked at in full, where it has full rank, up to this size and this much arithmetic.
GRAM_LIMIT = 1500
GRAM_WORK = 2e10


class FactorPencil(Pencil):
    """A = H' C H and B = W'W + diag(d) kept as factors; p x p is never formed.

    The arrays are not copied: do not change them afterwards. H and W may be a `RowFactor`, rows
    that are no array: those of a sparse table, or of one on disk.

    Parameters
    ----------
    H : array or RowFactor (c, p)
    W : array or RowFactor (m, p), or None
        None: B is diagonal.
    d : array (p,), positive
    core : array (c, c), symmetric, optional
        C; the identity by default, and then A is positive semidefinite.
    blocks : see `Pencil`.
    """

    def __init__(
        self,
        H: ArrayLike | RowFactor,
        W: ArrayLike | RowFactor | None,
        d: ArrayLike,
        *,
        core: ArrayLike | None = None,
        blocks: Sequence[int] | None = None,
    ) -> None:
        self.H: Any = _finite_rows(H, "H")
        self.d = finite(d, "d")
        self.W: Any = np.empty((0, self.size)) if W is None else _finite_rows(W, "W")
        self.core = None if core is None else symmetric(core, "core")
        if self.H.ndim != 2 or self.W.ndim != 2 or self.d.shape != (self.size,):
            raise PencilError("H must be (c, p), W (m, p) and d (p,)")
        if self.W.shape[1] != self.size:
            raise PencilError(f"H has {self.size} columns and W {self.W.shape[1]}; they must agree")
        if self.core is not None and self.core.shape[0] != self.H.shape[0]:
            raise PencilError("core must be as wide as H has rows")
        if self.size and self.d.min() <= 0:
            raise PencilError(
                f"B = W'W + diag(d) needs d > 0, and its smallest entry is {self.d.min():.3g}; "
                "add a ridge or use shrinkage > 0"
            )
        if self.size and (self.d.min() < MIN_SIZE or self.d.max() > MAX_SIZE):
            raise PencilError(
                f"d has entries from {self.d.min():.1e} to {self.d.max():.1e}; rescale the "
                f"columns: {MIN_SIZE:.0e} to {MAX_SIZE:.0e} are allowed"
            )
        self.blocks = check_blocks(blocks, self.size)

    @property
    def factors(self) -> FactorPencil:
        return self

    @property
    def max_rank(self) -> int:
        return len(self.H)

    @property
    def size(self) -> int:
        return self.H.shape[1]

    @property
    def A(self) -> np.ndarray:
        self._refuse_dense()
        h = self.H[:, :]
        return self.H.T @ (h if self.core is None else self.core @ h)

    @property
    def B(self) -> np.ndarray:
        self._refuse_dense()
        return self.W.T @ self.W[:, :] + np.diag(self.d)

    @property
    def has_identity_B(self) -> bool:
        return self.W.shape[0] == 0 and bool(np.all(self.d == 1.0))

    @property
    def has_diagonal_B(self) -> bool:
        return len(self.W) == 0

    def diagonal_root(self) -> np.ndarray | None:
        return None if column_squares(self.W).any() else np.sqrt(self.diag_B)

    @cached_property
    def diagonal_below(self) -> np.ndarray:
        return self.d + self._least_of_rows() * self.diag_B

    def _least_of_rows(self) -> float:
        """The smallest eigenvalue of W'W where diag(B) = 1, if it has one above 0 that is cheap."""
        m, p = self.W.shape
        if not 0 < p <= min(m, GRAM_LIMIT) or m * p * p > GRAM_WORK:
            return 0.0
        W = self.W / np.sqrt(self.diag_B)
        gram = W.inner() if isinstance(W, RowFactor) else W.T @ W
        rounding = EPS * p * (m + 8)  # of sums of m products, and of the decomposition
        return max(float(linalg.eigvalsh(gram, subset_by_index=[0, 0])[0]) - rounding, 0.0)

    def _refuse_dense(self) -> None:
        if self.size > DENSE_LIMIT:
            raise PencilError(
                f"a dense matrix of {self.size} features is refused (limit {DENSE_LIMIT}); "
                "use columns_A, columns_B or restrict"
            )

    @cached_property
    def diag_A(self) -> np.ndarray:
        return column_squares(self.H) if self.core is None else quadratic_forms(self.H, self.core)

    @cached_property
    def diag_B(self) -> np.ndarray:
        return column_squares(self.W) + self.d

    def columns_A(self, index: int | Sequence[int] | np.ndarray) -> np.ndarray:
        h = self.H[:, index]
        return self.H.T @ (h if self.core is None else self.core @ h)

    def columns_B(self, index: int | Sequence[int] | np.ndarray) -> np.ndarray:
        if not len(self.W):
            return identity_columns(self.size, index) * (
                self.d if np.ndim(index) == 0 else self.d[:, None]
            )
        columns = self.W.T @ self.W[:, index]
        if np.ndim(index) == 0:
            columns[index] += self.d[index]
        else:
            rows = np.asarray(index, dtype=np.intp)
            columns[rows, np.arange(rows.size)] += self.d[rows]
        return columns

    def apply_A(self, x: np.ndarray) -> np.ndarray:
        h = self.H @ x
        return self.H.T @ (h if self.core is None else self.core @ h)

    def apply_B(self, x: np.ndarray) -> np.ndarray:
        d = self.d if x.ndim == 1 else self.d[:, None]
        return self.W.T @ (self.W @ x) + d * x

    def solve_B(self, V: np.ndarray) -> np.ndarray:
        """B^-1 V for V (p, m), by the Woodbury identity: O(p m n)."""
        scaled = V / self.d[:, None]
        if not len(self.W):
            return scaled
        inner = linalg.cho_solve(self._woodbury, self.W @ scaled)
        return scaled - (self.W.T @ inner) / self.d[:, None]

    @cached_property
    def _woodbury(self) -> tuple[np.ndarray, bool]:
        """The Cholesky factor of I + W diag(d)^-1 W'."""
        K = weighted_gram(self.W, 1.0 / self.d)
        K[np.diag_indices_from(K)] += 1.0
        return linalg.cho_factor(K)

    def inner_gram(self) -> np.ndarray:
        """G = H B^-1 H' (c, c): those eigenvalues of (A, B) that are not zero are C G's."""
        if not isinstance(self.H, RowFactor):
            return self.H @ self.solve_B(self.H.T)
        G = weighted_gram(self.H, 1.0 / self.d)
        if len(self.W):
            cross = self.H.cross(self.W, 1.0 / self.d)
            G -= cross @ linalg.cho_solve(self._woodbury, cross.T)
        return G

    def restrict(self, support: Sequence[int] | np.ndarray) -> Pencil:
        S = np.asarray(support, dtype=np.intp)
        H, W = self.H[:, S], self.W[:, S]
        A = H.T @ (H if self.core is None else self.core @ H)
        part = Pencil._trusted((A + A.T) / 2, W.T @ W + np.diag(self.d[S]))
        part.criterion = self.criterion
        return part

    def _find_top(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        # with G = H B^-1 H' = R R', the eigenvalues of (A, B) that are not zero are those of
        # R' C R (c x c): no iteration, no p x p
        R = _square_root(self.inner_gram())
        CR = R if self.core is None else self.core @ R
        values, V = linalg.eigh(R.T @ CR)
        keep = np.flatnonzero(values > 1e-13 * np.abs(values).max(initial=0.0))[::-1][:m]
        if keep.size == 0:
            return self._top_without_positive()
        vectors = self.solve_B(self.H.T @ (CR @ V[:, keep]))
        return values[keep], fix_signs(vectors / values[keep])

    def leading(self, m: int = 1) -> np.ndarray:
        return self.top(m)[1]

    def _top_without_positive(self) -> tuple[np.ndarray, np.ndarray]:
        """A has no positive direction: a vector of its null space, if there is one."""
        if self.size <= len(self.H):
            return self.restrict(np.arange(self.size)).top()
        x = np.ones(self.size)
        if isinstance(self.H, RowFactor):
            x -= self.H.T @ np.linalg.lstsq(weighted_gram(self.H), self.H @ x, rcond=None)[0]
        else:
            x -= np.linalg.lstsq(self.H, self.H @ x, rcond=None)[0]
        return np.zeros(1), (x / np.sqrt(x @ self.apply_B(x)))[:, None]

    @cached_property
    def spectral_factor(self) -> tuple[Any, np.ndarray]:
        if self.core is None:
            return self.H, np.ones(len(self.H))
        values, vectors = linalg.eigh(self.core)
        keep = np.abs(values) > NOISE * np.abs(values).max(initial=1e-300)
        H = turn_rows((vectors[:, keep] * np.sqrt(np.abs(values[keep]))).T, self.H)
        signs = np.sign(values[keep])
        if self.is_psd and signs.min(initial=1.0) < 0:
            # C is indefinite only where H does not reach: the same A without negative signs
            units = np.where(self.diag_A > 0, self.diag_A, self.diag_B)  # graded ones keep digits
            H = _without_signs(H, signs, np.sqrt(units))
            signs = np.ones(len(H))
        return H, signs

    @cached_property
    def is_psd(self) -> bool:
        if self.core is None:
            return True
        if self._has_negative_minor():
            return False
        R = _square_root(weighted_gram(self.H, 1.0 / self.diag_B))
        values = linalg.eigvalsh(R.T @ self.core @ R)
        return bool(values[0] >= -PSD_TOL * max(abs(values[-1]), abs(values[0])))

    def _has_negative_minor(self) -> bool:
        """Whether two features show that A is indefinite: at once for CCA, whose diagonal is 0."""
        ratio = self.diag_A / self.diag_B
        j = int(np.argmin(ratio))
        cross = self.columns_A(j) / np.sqrt(self.diag_B * self.diag_B[j])
        cross[j] = 0.0
        i = int(np.argmax(np.abs(cross)))
        low, high = ratio[j], ratio[i]
        least = (low + high) / 2 - np.hypot((low - high) / 2, cross[i])
        largest = max(float(np.abs(ratio).max()), float(np.abs(cross).max()))
        return bool(least < -SURELY * largest)

    @cached_property
    def beside_rank_one(self) -> float:
        is_one = len(self.H) == 1 and (self.core is None or float(self.core[0, 0]) > 0)
        return 0.0 if is_one else np.inf

    @property
    def is_factored(self) -> bool:  # type: ignore[override]
        return self.core is None

    def _factor_error(self, units: np.ndarray) -> float:
        if self.core is None:
            return 0.0
        # what `spectral_factor` leaves out of C; H'H has no larger eigenvalue than its trace
        norm = float(np.abs(linalg.eigvalsh(self.core)).max())
        return NOISE * norm * float((column_squares(self.H) / units).sum())

    @cached_property
    def scales(self) -> np.ndarray:
        if self.core is None:  # Cauchy-Schwarz: the largest entry lies on the diagonal
            return self.diag_A / self.diag_B
        if self.size <= EXACT_SCALE:
            return self.restrict(np.arange(self.size)).scales
        # |H_i' C H_j| <= |C| |H_i| |H_j|: an upper bound
        norm = float(np.abs(linalg.eigvalsh(self.core)).max())
        return norm * column_squares(self.H) / self.diag_B

    def column_lengths(self) -> np.ndarray:
        scale = 1.0 / np.sqrt(self.diag_B)
        G = weighted_gram(self.H, np.square(scale))
        if self.core is not None:
            G = self.core @ G @ self.core
        return np.square(scale) * quadratic_forms(self.H, G)

    def take(self, index: np.ndarray) -> FactorPencil:
        H, W = take_columns(self.H, index), take_columns(self.W, index)
        part = self._alike(H, W, self.d[index], self.core)
        part.blocks = None if self.blocks is None else self.blocks[index]
        part.criterion = self.criterion
        return part

    def negated(self) -> Pencil:
        return self.with_A(self.H, -np.eye(len(self.H)) if self.core is None else -self.core)

    def with_identity_B(self, root: np.ndarray) -> Pencil:
        return FactorPencil(self.H / root, None, np.ones(self.size), core=self.core)

    def with_A(self, H: Any, core: np.ndarray | None) -> FactorPencil:
        """The pencil with another A and the same B."""
        other = self._alike(H, self.W, self.d, core)
        other.blocks = self.blocks
        return other

    def _alike(self, H: Any, W: Any, d: np.ndarray, core: np.ndarray | None) -> FactorPencil:
        """A pencil of the same kind."""
        return FactorPencil(H, W, d, core=core)


def _without_signs(H: Any, signs: np.ndarray, d: np.ndarray) -> Any:
    """F with F'F = H' diag(signs) H, which is semidefinite, in units of d."""
    if not isinstance(H, RowFactor):
        Q, triangle = linalg.qr((H / d).T, mode="economic")
        values, vectors = linalg.eigh(triangle @ (signs[:, None] * triangle.T))
        keep = values > 1e-13 * values.max(initial=1e-300)
        return ((Q @ vectors[:, keep]) * np.sqrt(values[keep])).T * d
    sizes, U = linalg.eigh(weighted_gram(H, 1.0 / np.square(d)))
    used = sizes > 1e-13 * sizes.max(initial=1e-300)
    root = U[:, used] * np.sqrt(sizes[used])
    values, vectors = linalg.eigh(root.T @ (signs[:, None] * root))
    keep = values > 1e-13 * values.max(initial=1e-300)
    turn = (U[:, used] / np.sqrt(sizes[used])) @ (vectors[:, keep] * np.sqrt(values[keep]))
    return turn_rows(turn.T, H)


def _square_root(G: np.ndarray) -> np.ndarray:
    """R with R R' = G, for a semidefinite G."""
    values, vectors = linalg.eigh((G + G.T) / 2)
    # what is round-off must not stay: its root is not small any more
    values[values <= len(G) * EPS * values.max(initial=0.0)] = 0.0
    return vectors * np.sqrt(values)


def dense_rows(rows: np.ndarray | RowFactor, what: str) -> np.ndarray:
    """The rows as an array, for ``what``, which cannot do without; refused if they are many."""
    if not isinstance(rows, RowFactor):
        return rows
    m, p = rows.shape
    if m * p > DENSE_ENTRIES:
        raise OptionError(
            f"{what} needs all of {m} x {p} numbers as a dense array, and the table is sparse or "
            "on disk; choose a method that does without, or give X.toarray() if memory allows"
        )
    return rows[:, :]


def _finite_rows(rows: ArrayLike | RowFactor, name: str) -> np.ndarray | RowFactor:
    if isinstance(rows, RowFactor):  # made from data that were checked
        return rows
    array = finite(rows, name)
    size = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    if size > 10 * LARGEST:
        most = f"at most {10 * LARGEST:.0e}"
        raise PencilError(f"{name} has entries of size {size:.1e}; rescale it: {most}")
    return array


def take_columns(rows: np.ndarray | RowFactor, index: np.ndarray) -> np.ndarray | RowFactor:
    """Some columns, as an array or, if they are many, in the form that they have."""
    return rows.take(index) if isinstance(rows, RowFactor) else rows[:, index]


def quadratic_forms(rows: Any, G: np.ndarray) -> np.ndarray:
    """r_j' G r_j for every column of the rows and a symmetric G."""
    if isinstance(rows, RowFactor):
        return rows.quadratic_forms(G)
    return np.einsum("ij,ij->j", rows, G @ rows)
