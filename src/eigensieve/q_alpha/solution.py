"""What Q-alpha finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..errors import VerificationError
from ..pencil.criteria import EPS
from ..pencil.solution import Status
from .options import QAlphaOptions


@dataclass(frozen=True, eq=False, repr=False)
class QAlphaSolution:
    """Weights of features, and the basis of samples they go with.

    Attributes
    ----------
    alpha : array (n,), unit norm, sum >= 0; zero for constant features
    Q : array (q, k), orthonormal
        A dict from pairs of classes (places in sorted order) to arrays for "supervised"; None with
        a kernel, whose feature space has no coordinates in terms of samples.
    objective : float
        trace(Q'A^2 Q) with A = sum_i alpha_i m_i m_i', or what the variant maximises instead.
    history : array, the objective after every cycle of the best start
    converged : whether alpha moved by at most tol in the last cycle
    status : Status, CONVERGED, or why not all of the search was made
    eigensolver : the one used
    n_starts : how many starts were made
    seconds : all starts together
    options : QAlphaOptions
    """

    alpha: np.ndarray
    Q: Any
    objective: float
    history: np.ndarray
    converged: bool
    status: Status
    eigensolver: str
    n_starts: int
    seconds: float
    options: QAlphaOptions

    # The ascent finds a local optimum, and nothing is proved of a better one.
    bound: ClassVar[float] = np.inf
    gap: ClassVar[float] = np.inf
    is_certified: ClassVar[bool] = False

    @property
    def support(self) -> np.ndarray:
        """Sorted indices of the features that have a weight; a selector keeps the heaviest."""
        return np.flatnonzero(self.alpha)

    @property
    def n_iter(self) -> int:
        """Cycles of the best start."""
        return len(self.history)

    def __repr__(self) -> str:
        n_used, n = self.support.size, self.alpha.size
        return (
            f"QAlphaSolution({n_used} of {n} features have weight, "
            f"n_clusters={self.options.n_clusters}, variant={self.options.variant!r}, "
            f"objective={self.objective:.6g}, status={self.status})"
        )

    def verify(self, X: Any, y: ArrayLike | None = None) -> None:
        """Recompute everything densely from the definitions; raise VerificationError if it is off.

        ``X`` (samples, features) and ``y`` as they were given. Not for kernels, of which only the
        weights are checked.
        """
        rtol = 1e-6 if self.alpha.dtype == np.float64 else 3e-5
        if abs(np.linalg.norm(self.alpha) - 1.0) > rtol or self.alpha.sum() < -rtol:
            raise VerificationError("alpha is not of unit norm, or its sum is negative")
        if not np.isfinite(self.history).all() or self.history[-1] != self.objective:
            raise VerificationError("the objective is not that of the last cycle")
        if self.options.kernel is not None:
            return
        table = X.toarray() if sparse.issparse(X) else X
        values = np.asarray(table, dtype=np.float64).T
        if len(values) != self.alpha.size:
            raise VerificationError(
                f"weights of {self.alpha.size} features, not of {len(values)}: rows are samples"
            )
        rows = _scale_literally(values, self.options)
        bases = self.Q if isinstance(self.Q, dict) else {(0, 0): self.Q}
        for Q in bases.values():
            if not np.allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=rtol):
                raise VerificationError("Q is not orthonormal")
        again, unit = self._evaluate(rows, y)
        rtol += _open_digits(values) if self.options.is_centred else 0.0
        if not abs(again - self.objective) <= rtol * unit:  # not, so that NaN is off, too
            raise VerificationError(f"the objective is {again!r}, not {self.objective!r}")

    def _evaluate(self, rows: np.ndarray, y: ArrayLike | None) -> tuple[float, float]:
        """The objective from the definitions, and the unit of its round-off."""
        alpha = self.alpha.astype(np.float64)
        A = (rows * alpha[:, None]).T @ rows
        variant = self.options.variant
        if variant == "supervised":
            code = np.unique(np.asarray(y), return_inverse=True)[1]
            sign = self.options.blocks.sign
            signed = [sign(*pair) * _part(A, code, pair, Q) for pair, Q in self.Q.items()]
            return sum(signed), sum(map(abs, signed))
        if variant == "laplacian":
            sums = A.sum(axis=1)
            # the d of the last cycle: the largest row sum, so that no L_alpha is larger
            A = A - np.diag(sums) + sums.max() * np.eye(len(A))
        value = float(np.square(A @ self.Q).sum())
        if variant == "gap":
            return 2 * value - float(np.square(A).sum()), float(np.square(A).sum())
        return value, value


def _part(A: np.ndarray, code: np.ndarray, pair: tuple[int, int], Q: np.ndarray) -> float:
    g, h = pair
    return float(np.square(A[np.ix_(code == g, code == h)] @ Q).sum())


def _open_digits(M: np.ndarray) -> float:
    """How far round-off may put off a feature that hardly varies, once it is centred."""
    size = np.abs(M).max(axis=1)
    spread = (M[size > 0] / size[size > 0, None]).std(axis=1)
    return 8 * EPS / float(spread[spread > 16 * EPS].min(initial=1.0))


def _scale_literally(M: np.ndarray, options: QAlphaOptions) -> np.ndarray:
    """The rows as the definitions have them, in plain steps."""
    size = np.abs(M).max(axis=1, keepdims=True)
    rows = M / np.where(size > 0, size, 1.0)
    if options.is_centred:
        rows = rows - rows.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    varies = norms > 16 * EPS * np.sqrt(M.shape[1])
    if not options.scale:
        rows = np.where(varies, rows * (size / size.max()), 0.0)
        return rows / np.linalg.norm(rows, axis=1).max()
    deviations = norms / np.sqrt(M.shape[1])
    rows = np.where(varies, rows / np.where(varies, deviations, 1.0) + options.shift, 0.0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
