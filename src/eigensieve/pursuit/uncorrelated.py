"""All solutions of generalized uncorrelated LDA (Chu and Zhang 2013, theorem 1).

G solves  max trace(G'S_b G)  subject to  G'S_t G = I  exactly if

    G = (U diag(1/sigma) [P  M1] + M2) Z,   M1'M1 = I, M1'P = 0, M2'U = 0, Z orthogonal,

where Xc / sqrt(n) = V diag(sigma) U' and P holds the left singular vectors of V'E, with orthonormal
contrasts of the classes E (n, K - 1): V'E is the paper's Sigma_t^-1 U'H_b, without the division.
The singular values are the canonical correlations of the columns with the classes. Neither S_t nor
S_b is ever formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from ..errors import InputError
from ..pencil.checks import check_k, check_labels, check_number
from ..pencil.criteria import EPS, TINY, fix_signs
from ..tables.column_statistics import open_table
from ..tables.kinds.arrays import to_numpy
from ..tables.operators.column_passes import gather_columns
from .sample_factors import LOSS, SampleFactors
from .spanned_rows import SpannedRows

RANK_TOL = 1e-6
# Canonical correlations as near as this are equal: their directions are fixed up to a rotation.
EQUAL = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class UncorrelatedFamily:
    """The solutions of generalized uncorrelated LDA, as factors.

    Attributes
    ----------
    mean : array (p,)
    rows : array (g, p), U': orthonormal, spans the centred samples; g = rank(S_t)
        A `RowFactor`, which reads the samples, if they are no array and p > n.
    singular_values : array (g,), sigma, descending
    left : array (n, g), V; for products with matrices only if the samples are no array and n >= p
    P : array (g, q), orthonormal; q = rank(S_b), at most n_classes - 1
    correlations : array (q,), the canonical correlations, descending
    means : array (K, p), of the classes
    scale : array (p,), what the columns were divided by: ones, or with ``standardize`` deviations
        ``rows``, ``singular_values`` and ``target`` are about X / scale, `member` about X.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(12, 50)), np.arange(12) % 3
    >>> family = es.UncorrelatedFamily.from_data(X, y)
    >>> family.rank, family.least_dimension                 # of S_t, of S_b
    (11, 2)
    >>> G = family.member()
    >>> family.contains(G), family.contains(2 * G)
    (True, False)
    """

    mean: np.ndarray
    rows: Any
    singular_values: np.ndarray
    left: Any
    P: np.ndarray
    correlations: np.ndarray
    means: np.ndarray
    scale: np.ndarray

    @classmethod
    def from_data(
        cls, X: Any, y: ArrayLike, *, rank_tol: float = RANK_TOL, standardize: bool = False
    ) -> UncorrelatedFamily:
        """From samples (n, p) and labels (n,).

        The samples may be a sparse matrix, a table that is read in blocks, or an array of torch or
        cupy: then Gram matrices are used, which do not see a ``rank_tol`` below about 1e-7.

        Singular values of the centred samples, columns scaled to unit variance, count as zero below
        ``rank_tol`` times the largest, and so do canonical correlations below ``rank_tol``: two
        samples that are nearly equal must not define a direction, in whatever units.

        The solutions are the same in any units. Where there are many (p >= n), the one of smallest
        norm is not: ``standardize`` takes it, and the factors, for columns of unit variance.
        """
        check_number(rank_tol, "rank_tol", 0.0, 0.1, "a number in [0, 0.1]")
        labels = to_numpy(y)
        check_labels(labels)
        classes, code = np.unique(labels, return_inverse=True)
        if classes.size < 2:
            raise InputError(f"y has one class only ({str(classes[0])!r}); two are needed")
        found = SampleFactors.of(open_table(X), code, rank_tol, standardize)
        P, correlations = _discriminate(found.reach, rank_tol)
        return cls(
            found.mean, found.rows, found.sizes, found.left, P, correlations, found.means,
            found.scale,
        )  # fmt: skip

    def __repr__(self) -> str:
        n, p = len(self.left), self.rows.shape[1]
        dimensions = f"{self.least_dimension} to {self.rank} directions"
        return f"UncorrelatedFamily({n} samples, {p} columns, {dimensions})"

    @property
    def rank(self) -> int:
        """g = rank(S_t): the largest dimension of a solution."""
        return int(self.singular_values.size)

    @property
    def least_dimension(self) -> int:
        """q = rank(S_b): the smallest dimension of a solution."""
        return int(self.correlations.size)

    @property
    def target(self) -> np.ndarray:
        """C (g, q): G is a solution of smallest dimension, up to a rotation, if rows G = C."""
        return self.P / self.singular_values[:, None]

    @property
    def scores(self) -> np.ndarray:
        """(n, q), what such a solution makes of the centred samples: uncorrelated, variance 1."""
        return self.left @ self.P * np.sqrt(len(self.left))

    def to_samples(self, dual: np.ndarray) -> np.ndarray:
        """W (n, q) with Xc'W = U dual: a dual (g, q) of rows G = target as weights of samples."""
        return (self.left / (self.singular_values * np.sqrt(len(self.left)))) @ dual

    def member(
        self,
        n_components: int | None = None,
        *,
        M1: ArrayLike | None = None,
        M2: ArrayLike | None = None,
        Z: ArrayLike | None = None,
    ) -> np.ndarray:
        """G (p, l), a solution: of smallest dimension and norm unless more is asked for.

        Parameters
        ----------
        n_components : l, from q to g
            The directions beyond q do not separate the classes; unless ``M1`` says otherwise they
            are those of largest variance.
        M1 : array (g, l - q), orthonormal and orthogonal to P
        M2 : array (p, l), orthogonal to the centred samples
        Z : array (l, l), orthogonal
        """
        wide = self._complete(n_components, M1)
        G = self.rows.T @ (wide / self.singular_values[:, None])
        if self._loses_digits:  # a second step gains them
            G = G + self.rows.T @ self._missing(self.rows.samples @ G, wide)
        if M1 is None:  # round-off must not choose the signs of what separates no classes
            q = self.least_dimension
            G[:, q:] = fix_signs(G[:, q:])
        if M2 is not None:
            free = _shaped(M2, G.shape, "M2") * self.scale[:, None]
            unit = max(np.abs(free).max(initial=0.0), np.abs(G).max(initial=0.0))
            _near(self.rows @ free, 0.0, unit, "M2 is not orthogonal to U")
            G = G + free
        if Z is not None:
            turn = _shaped(Z, (G.shape[1],) * 2, "Z")
            _near(turn.T @ turn, np.eye(len(turn)), 1.0, "Z is not orthogonal")
            G = G @ turn
        return np.asarray(G / self.scale[:, None])

    def polish(self, x: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
        """x (p, q) with rows x = target Z to the digits that the samples allow, not only the rows.

        It keeps its zeros. An array has nothing to gain: its rows are as good as the samples.
        """
        if not self._loses_digits:
            return x
        S, x = np.flatnonzero(x.any(axis=1)), x.copy()
        samples = gather_columns(self.rows.samples, S)
        wanted = self.P if Z is None else self.P @ Z
        rows, missing = self.rows.span(samples), self._missing(samples @ x[S], wanted)
        for i in range(x.shape[1]):
            own = x[S, i] != 0
            x[S[own], i] += linalg.lstsq(rows[:, own], missing[:, i])[0]
        return x

    @property
    def _loses_digits(self) -> bool:
        """Whether the rows are combinations of the samples in which much cancels."""
        spread = self.singular_values[0] / self.singular_values[-1]
        return isinstance(self.rows, SpannedRows) and bool(EPS * spread**2 > LOSS)

    def _missing(self, scores: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """What rows G must gain so that the scores Xc G become V wanted sqrt(n)."""
        found = self.left.T @ scores / np.sqrt(len(self.left))
        return np.asarray((wanted - found) / self.singular_values[:, None])

    def _complete(self, n_components: int | None, M1: ArrayLike | None) -> np.ndarray:
        """[P M1]."""
        q, given = self.least_dimension, None if M1 is None else _matrix(M1, "M1")
        default = q if given is None else q + given.shape[1]
        size = default if n_components is None else check_k(n_components, "n_components")
        if not q <= size <= self.rank:
            raise InputError(
                f"n_components is {size}; the solutions have {q} to {self.rank} directions"
                + ("; for fewer take the first columns" if size < q else "")
            )
        if given is None:
            return np.column_stack([self.P, self._largest_rest(size - q)])
        more = _shaped(given, (self.rank, size - q), "M1")
        _near(self.P.T @ more, 0.0, 1.0, "M1 is not orthogonal to P")
        _near(more.T @ more, np.eye(size - q), 1.0, "M1 is not orthonormal")
        return np.column_stack([self.P, more])

    def _largest_rest(self, count: int) -> np.ndarray:
        """The directions of largest variance that have nothing of P."""
        if count == 0:
            return np.empty((self.rank, 0))
        basis = linalg.qr(self.P)[0][:, self.least_dimension :]
        turn = linalg.svd(basis.T * self.singular_values, full_matrices=False)[0]
        return basis @ turn[:, :count]

    def contains(self, G: ArrayLike, *, tol: float = 1e-9) -> bool:
        """Whether G (p, l) is a solution, up to ``tol``."""
        directions = _matrix(G, "G")
        if len(directions) != self.rows.shape[1]:
            raise InputError(
                f"G has {len(directions)} rows; there are {self.rows.shape[1]} columns"
            )
        W = self.singular_values[:, None] * (self.rows @ (directions * self.scale[:, None]))
        q, size = self.least_dimension, W.shape[1]
        if not q <= size <= self.rank:
            return False
        uncorrelated = np.abs(W.T @ W - np.eye(size)).max() <= tol
        reach = self.P.T @ W
        return bool(uncorrelated and np.abs(reach @ reach.T - np.eye(q)).max() <= tol)


def _discriminate(reach: np.ndarray, rank_tol: float) -> tuple[np.ndarray, np.ndarray]:
    """P and the canonical correlations, from V'E."""
    P, correlations, turn = linalg.svd(reach, full_matrices=False)
    q = int(np.count_nonzero(correlations > rank_tol))
    if q == 0:
        raise InputError("the class means are all equal: no direction separates the classes")
    P, correlations = P[:, :q], np.minimum(correlations[:q], 1.0)
    ends = np.flatnonzero(np.diff(correlations) < -EQUAL) + 1
    for part in np.split(np.arange(q), ends):
        P[:, part] = P[:, part] @ _canonical_turn(turn[part])
    return P, correlations


def _canonical_turn(turn: np.ndarray) -> np.ndarray:
    """The rotation (m, m) of m directions with equal correlations that round-off does not decide.

    ``turn`` (m, K - 1) has them in the coordinates of the contrasts. The contrasts, projected on
    their span, are orthonormalised one after the other; what adds little is left out. If all
    correlations are 1 (n <= p, as a rule) the directions become the contrasts themselves.
    """
    m, width = turn.shape
    found: list[np.ndarray] = []
    for column in turn.T:
        rest = column.copy()
        for _ in range(2):
            for known in found:
                rest = rest - (known @ rest) * known
        if len(found) < m and rest @ rest > 1.0 / (4 * width):
            found.append(rest / np.sqrt(rest @ rest))
    return np.column_stack(found)


def _matrix(value: ArrayLike, name: str) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers only: {error}") from error
    if array.ndim != 2:
        raise InputError(f"{name} has shape {array.shape}; it must be a matrix")
    return array


def _shaped(value: ArrayLike, shape: tuple[int, ...], name: str) -> np.ndarray:
    array = _matrix(value, name)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; it must be {shape}")
    return array


def _near(found: np.ndarray, wanted: np.ndarray | float, unit: float, complaint: str) -> None:
    off = np.abs(found - wanted).max(initial=0.0)
    if not off <= 1e-8 * max(unit, TINY):
        raise InputError(f"{complaint}: off by {off:.1e}")
