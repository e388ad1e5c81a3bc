"""The pencil (A, B): the narrow waist between data and combinatorics.

Maximise x'Ax subject to x'Bx = 1 and few non-zeros. A is symmetric, B positive
definite. Two forms share one interface:

* `Pencil`: dense matrices, for up to some thousand features;
* `FactorPencil` (factor_pencil.py): A = H' C H and B = W'W + diag(d), never formed, for wide data.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from ..errors import PencilError
from .checks import MAX_SIZE, MIN_SIZE, check_blocks, require_positive_definite, symmetric
from .criteria import EPS, NOISE, fix_signs, generalized_eigh
from .grading import graded_factor, is_graded, unit_form
from .lanczos import lanczos
from .recipe import Recipe

PSD_TOL = 1e-9
# What may be missing of A, as the criteria see it through B^-1, where A is taken for aa'.
RANK_ONE_TOL = 1e-8
# Below this smallest eigenvalue of B even the smallest eigenvalues of A may count.
WELL_CONDITIONED = 1e-3
# So many leading eigenvectors are remembered.
MAX_KEPT_EIGENVECTORS = 3
# Above this many features they are found by iteration where that will do.
ITERATIVE = 500


class Pencil:
    """A symmetric matrix A and a positive definite B, dense.

    Parameters
    ----------
    A : array (p, p), symmetric
        A covariance with eigenvalues slightly below zero by round-off is taken
        as positive semidefinite.
    B : array (p, p), symmetric positive definite, or None
        None means the identity.
    blocks : sequence of int, optional
        The block (view) of every feature, for pencils whose cardinality is
        limited per block, as in CCA. Numbered 0, 1, ... in sorted order.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import Pencil
    >>> pencil = Pencil(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> pencil.size
    2
    >>> values, vectors = pencil.top()
    >>> float(values[0].round(6))
    3.0
    """

    # how it was made from a table, for proofs that are to be checked against the table
    recipe: Recipe | None = None
    # what criterion="auto" means for it: the criterion by which sets of its features are compared
    criterion: str = "lambda_max"

    def __init__(
        self, A: ArrayLike, B: ArrayLike | None = None, *, blocks: Sequence[int] | None = None
    ) -> None:
        self._A = symmetric(A, "A")
        self._B = None if B is None else symmetric(B, "B")
        if self._B is not None:
            if self._B.shape != self._A.shape:
                raise PencilError(f"A is {self._A.shape} and B is {self._B.shape}; they must agree")
            require_positive_definite(self._B)
        if self.scale > MAX_SIZE or 0 < self.scale < MIN_SIZE:
            raise PencilError(
                f"A / B is of size {self.scale:.1e}; rescale A: sizes between {MIN_SIZE:.0e} and "
                f"{MAX_SIZE:.0e} are allowed"
            )
        self.blocks = check_blocks(blocks, self.size)

    @classmethod
    def _trusted(
        cls,
        A: np.ndarray,
        B: np.ndarray | None,
        factor: np.ndarray | None = None,
        blocks: np.ndarray | None = None,
    ) -> Pencil:
        """A pencil from matrices that are known to be valid, and A's factor if that is known."""
        pencil = cls.__new__(cls)
        pencil._A, pencil._B, pencil.blocks = A, B, blocks
        if factor is not None:  # A = factor' factor: spare the eigen-decompositions below
            pencil.__dict__["spectral_factor"] = (factor, np.ones(len(factor)))
            pencil.__dict__["is_psd"] = True
            pencil.is_factored = True
        return pencil

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"

    # -- what it can do, for solvers that have a choice ---------------------------------

    # whether A is defined by its `spectral_factor`, not the other way round
    is_factored: bool = False
    # whether its columns are at hand; otherwise `load` and `parts` read them from disk
    in_memory: bool = True
    has_A_on_disk: bool = False
    # how much more arithmetic it may be asked for than a processor does in the same time
    speed: float = 1.0

    @property
    def factors(self) -> Any:
        """Itself if A and B are kept as factors (a `FactorPencil`); None if they are matrices."""
        return None

    @property
    def working(self) -> Any:
        """Where vectors over all features belong: has diag_A, diag_B, factor_A, and W, d if any.

        Their array namespace is that of a device if the rows lie there.
        """
        return self

    @property
    def factor_A(self) -> Any:
        """H (c, p) with A = H'H, where A is semidefinite."""
        return self.spectral_factor[0]

    @property
    def max_rank(self) -> int:
        """What the rank of A cannot exceed, without a look at A."""
        return self.size

    def in_memory_if_small(self) -> Pencil:
        """The pencil; read as a whole if it is on disk, but no larger than one block of it."""
        return self

    # -- what every solver may ask -------------------------------------------------

    @property
    def size(self) -> int:
        """Number of features."""
        return self._A.shape[0]

    @property
    def A(self) -> np.ndarray:
        """A as a dense matrix."""
        return self._A

    @property
    def B(self) -> np.ndarray:
        """B as a dense matrix."""
        return np.eye(self.size) if self._B is None else self._B

    @property
    def has_identity_B(self) -> bool:
        """Whether B is the identity."""
        return self._B is None

    @property
    def has_diagonal_B(self) -> bool:
        """Whether B is known to be diagonal, without a look at its entries."""
        return self.has_identity_B

    def diagonal_root(self) -> np.ndarray | None:
        """The square root of B as a vector, or None if B has other entries than its diagonal."""
        others = self._B is not None and int(np.count_nonzero(self._B)) > self.size
        return None if others else np.sqrt(self.diag_B)

    @cached_property
    def diagonal_below(self) -> np.ndarray:
        """A diagonal D <= B, in the order of semidefinite matrices."""
        if self._B is None:
            return self.diag_B
        d = 1.0 / np.sqrt(self.diag_B)
        smallest = linalg.eigvalsh(self._B * np.outer(d, d), subset_by_index=[0, 0])[0]
        return self.diag_B * max(float(smallest) - 8 * EPS * self.size, 1e-300)

    @property
    def least_B(self) -> float:
        """No eigenvalue of B is smaller, in the units where diag(B) = 1."""
        return float((self.diagonal_below / self.diag_B).min())

    @cached_property
    def diag_A(self) -> np.ndarray:
        """The diagonal of A."""
        return np.diag(self._A).copy()

    @cached_property
    def diag_B(self) -> np.ndarray:
        """The diagonal of B."""
        return np.ones(self.size) if self._B is None else np.diag(self._B).copy()

    def columns_A(self, index: int | Sequence[int] | np.ndarray) -> np.ndarray:
        """Columns of A: (p,) for one index, (p, m) for several."""
        return self._A[:, index]

    def columns_B(self, index: int | Sequence[int] | np.ndarray) -> np.ndarray:
        """Columns of B: (p,) for one index, (p, m) for several."""
        if self._B is not None:
            return self._B[:, index]
        return identity_columns(self.size, index)

    def apply_A(self, x: np.ndarray) -> np.ndarray:
        """A @ x."""
        return self._A @ x

    def apply_B(self, x: np.ndarray) -> np.ndarray:
        """B @ x."""
        return x.copy() if self._B is None else self._B @ x

    def restrict(self, support: Sequence[int] | np.ndarray) -> Pencil:
        """The dense pencil of a subset of the features."""
        S = np.asarray(support, dtype=np.intp)
        part = Pencil._trusted(
            self._A[np.ix_(S, S)], None if self._B is None else self._B[np.ix_(S, S)]
        )
        part.criterion = self.criterion
        return part

    def rayleigh(self, x: np.ndarray) -> float:
        """The generalized Rayleigh quotient x'Ax / x'Bx."""
        x = np.asarray(x, dtype=float)
        denominator = float(x @ self.apply_B(x))
        if denominator <= 0:
            raise PencilError("the Rayleigh quotient of a zero vector is not defined")
        return float(x @ self.apply_A(x)) / denominator

    def top(self, m: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The m largest generalized eigenvalues and B-orthonormal eigenvectors (p, m).

        A factor pencil knows only the positive ones, and may return fewer than m.
        """
        known = self.__dict__.setdefault("_known_tops", {})
        if m not in known:
            found = self._find_top(m)
            for array in found:
                array.flags.writeable = False
            if m > MAX_KEPT_EIGENVECTORS:
                return found
            known[m] = found  # starts, scores and bounds ask for the same few again and again
        values, vectors = known[m]
        return values, vectors

    def eigh(self) -> tuple[np.ndarray, np.ndarray]:
        """All eigenvalues, descending, and B-orthonormal eigenvectors."""
        return generalized_eigh(self._A, self._B)

    def _find_top(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = self.eigh()
        return values[:m], fix_signs(vectors[:, :m])

    def leading(self, m: int = 1) -> np.ndarray:
        """The leading eigenvectors (p, m) as a search needs them to start from: to some digits."""
        if self.size <= ITERATIVE:
            return self.top(m)[1]
        known = self.__dict__.setdefault("_known_leading", {})
        if m not in known:
            known[m] = lanczos(self._A, self._B, m)
        vectors: np.ndarray = known[m]
        return vectors

    @cached_property
    def spectral_factor(self) -> tuple[np.ndarray, np.ndarray]:
        """H (c, p) and the diagonal of C with A = H' diag(C) H, C = +1 or -1.

        But for `factor_error`: of small eigenvalues of A those are left out that B^-1 does not
        magnify to anything that counts.
        """
        if self.is_rank_one:
            j = int(np.argmax(self.diag_A / self.diag_B))
            return self._A[None, j] / np.sqrt(self.diag_A[j]), np.ones(1)
        if self.is_psd and is_graded(self.diag_A, self.diag_B):
            H = graded_factor(self._A)
            return H, np.ones(len(H))
        d = np.sqrt(self.diag_B)  # unit diagonal of B: columns of very different scale survive
        values, vectors = linalg.eigh(self._A / np.outer(d, d))
        size = values if self.is_psd else np.abs(values)  # negative ones are then round-off
        least = NOISE if self.least_B > WELL_CONDITIONED else 0.0
        keep = size > least * max(np.abs(values).max(initial=0.0), 1e-300)
        H = vectors[:, keep].T * np.sqrt(np.abs(values[keep]))[:, None] * d
        return np.ascontiguousarray(H), np.sign(values[keep])

    @cached_property
    def factor_error(self) -> float:
        """How far A is from its `spectral_factor`: no eigenvalue of the difference is larger.

        In the units where diag(B) = 1.
        """
        return self._factor_error(self.diag_B)

    def left_out(self, criterion: str) -> float:
        """What is in A, but not in its `spectral_factor`, adds no more per feature to a set."""
        most = self.factor_error / self.least_B
        if criterion != "logdet" or most == 0:
            return most
        # A + B takes the place of B: large features have large errors, which count less
        least = linalg.eigvalsh(unit_form(self.A + self.B)[0], subset_by_index=[0, 0])[0]
        own = self._factor_error(self.diag_A + self.diag_B)
        return min(most, own / max(float(least) - 8 * EPS * self.size, 1e-300))

    def _factor_error(self, units: np.ndarray) -> float:
        if self.is_factored:
            return 0.0
        d = 1.0 / np.sqrt(units)
        H, signs = self.spectral_factor
        return distance(self._A * np.outer(d, d), H * d, signs)

    @cached_property
    def is_psd(self) -> bool:
        """Whether A is positive semidefinite, up to round-off."""
        # in units where diag(B) = 1, so that the answer does not depend on the scale of columns
        d = 1.0 / np.sqrt(self.diag_B)
        scaled = self._A * np.outer(d, d)
        if is_graded(self.diag_A, self.diag_B):  # what is small beside the largest counts, too
            values = linalg.eigvalsh(unit_form(self._A)[0])
            return bool(np.diag(scaled).min() >= -PSD_TOL and values[0] >= -PSD_TOL * values[-1])
        # many times quicker than eigenvalues, and all there is to do for a covariance
        shift = PSD_TOL * max(float(np.abs(np.diag(scaled)).max()), 1e-300)
        if linalg.lapack.dpotrf(scaled + shift * np.eye(self.size), overwrite_a=True)[1] == 0:
            return True
        values = linalg.eigvalsh(scaled)
        return bool(values[0] >= -PSD_TOL * max(abs(values[-1]), abs(values[0])))

    @property
    def is_rank_one(self) -> bool:
        """Whether A = aa', but for `beside_rank_one`: then all criteria order the sets alike."""
        return self.beside_rank_one <= RANK_ONE_TOL * np.log1p(self.scale)

    @cached_property
    def beside_rank_one(self) -> float:
        """What there is in A beside aa': no criterion of any set has more of it."""
        if self.is_factored:
            return 0.0 if len(self.spectral_factor[0]) == 1 else np.inf
        j = int(np.argmax(self.diag_A / self.diag_B))
        pivot, a = self.diag_A[j], self._A[:, j]
        if pivot <= 0:
            return np.inf
        d = 1.0 / np.sqrt(self.diag_B)
        first = np.outer(a * d, a * d / pivot)
        rest = np.linalg.norm(self._A * np.outer(d, d) - first) + EPS * np.linalg.norm(first)
        # B^-1 magnifies it, and a trace adds up as many eigenvalues as there are features
        return float(np.sqrt(self.size) * rest / self.least_B)

    @property
    def scale(self) -> float:
        """``max |A_ij| / sqrt(B_ii B_jj)``: the unit in which a gap near zero is measured."""
        return float(self.scales.max(initial=0.0))

    @cached_property
    def scales(self) -> np.ndarray:
        """The same maximum for every feature, over its own row."""
        d = 1.0 / np.sqrt(self.diag_B)
        return np.abs(self._A * np.outer(d, d)).max(axis=1)

    def column_lengths(self) -> np.ndarray:
        """The squared lengths of the columns of A, where diag(B) = 1."""
        scale = 1.0 / np.sqrt(self.diag_B)
        return np.square(scale) * (np.square(self._A) @ np.square(scale))

    # -- other pencils from this one -------------------------------------------------

    def take(self, index: np.ndarray) -> Pencil:
        """The pencil of a subset of the features, in the same form."""
        part = self.restrict(index)
        if self.is_factored:
            factor = self.spectral_factor[0][:, index]
            part = Pencil._trusted(part.A, part._B, factor)
            part.criterion = self.criterion
        part.blocks = None if self.blocks is None else self.blocks[index]
        return part

    def negated(self) -> Pencil:
        """The pencil (-A, B)."""
        return Pencil._trusted(-self._A, self._B)

    def with_identity_B(self, root: np.ndarray) -> Pencil:
        """The pencil in y = root * x, for the `diagonal_root` of B: there B is the identity."""
        return Pencil._trusted(self._A / np.outer(root, root), None)


def distance(A: np.ndarray, H: np.ndarray, signs: np.ndarray | float = 1.0) -> float:
    """No eigenvalue of A - H' diag(signs) H is larger than this, round-off included."""
    rest = np.abs(A - (H.T * signs) @ H).sum(axis=1)
    return float(rest.max() + EPS * len(A) * np.abs(np.diag(A)).max())


def identity_columns(p: int, index: int | Sequence[int] | np.ndarray) -> np.ndarray:
    if np.ndim(index) == 0:
        column = np.zeros(p)
        column[index] = 1.0
        return column
    rows = np.asarray(index, dtype=np.intp)
    columns = np.zeros((p, rows.size))
    columns[rows, np.arange(rows.size)] = 1.0
    return columns
