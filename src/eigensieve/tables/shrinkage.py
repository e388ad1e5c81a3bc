"""How far to shrink a scatter matrix towards its diagonal.

The analytic choice of Schaefer and Strimmer, applied to pooled within-class
correlations, in O(n^2 p) or O(n p^2), whichever is less; and its square root,
which costs no accuracy on gene data and makes certificates far easier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OptionError
from ..pencil.checks import check_number
from .kinds.arrays import like, namespace, to_numpy
from .moments import ClassMoments
from .operators.any_rows import row_squares
from .operators.centred_rows import CentredRows
from .sparse_statistics import residual_moments

# B is never shrunk less than this: a singular scatter would make the quotient infinite.
SHRINKAGE_FLOOR = 1e-10
BLOCK = 4096


def analytic_shrinkage(residuals: Any, n_classes: int) -> float:
    """The analytic intensity from residual rows (n, p) of n_classes classes.

    The rows are an array, the centred rows of a sparse table, or an array on a device.

    With R the residuals scaled to unit variance (nu = n - K degrees of freedom) and
    V the sum of squared correlations off the diagonal,
    s = n/(n-1)^3 [sum_k (sum_i R_ki^2)^2 - sum R^4 - nu^2/n V] / V, clipped to [0, 1].
    """
    n = int(residuals.shape[0])
    weight = _unit_weight(row_squares(residuals), n, n_classes)
    if weight is None:
        return 1.0
    if isinstance(residuals, CentredRows):
        squares, row_sums, fourth = residual_moments(residuals, weight)
    else:
        squares, row_sums, fourth = _moments(residuals, weight)
    mixed = float(np.square(row_sums).sum()) - fourth
    return _intensity(squares, mixed, int(np.count_nonzero(weight)), n, n_classes)


def shrinkage_from_moments(moments: ClassMoments, n: int) -> float:
    """The same from merged moments of n rows, which are all that it is made of."""
    assert moments.fourth is not None
    K = len(moments.grams)
    gram = moments.pooled(np.ones(K))
    weight = _unit_weight(np.diag(gram), n, K)
    if weight is None:
        return 1.0
    u = np.square(weight)
    squares = float(u @ np.square(gram) @ u)
    mixed = float(u @ moments.fourth @ u) - float(np.square(u) @ np.diag(moments.fourth))
    return _intensity(squares, mixed, int(np.count_nonzero(weight)), n, K)


def _unit_weight(squares: np.ndarray, n: int, n_classes: int) -> np.ndarray | None:
    """What scales every column to unit variance, 0 for constants; None: nothing to estimate."""
    nu = n - n_classes
    variance = squares / max(nu, 1)
    use = variance > 0
    if nu < 1 or n < 2 or use.sum() < 2:
        return None
    return np.where(use, 1.0 / np.sqrt(np.where(use, variance, 1.0)), 0.0)


def _intensity(squares: float, mixed: float, p: int, n: int, n_classes: int) -> float:
    """s, where ``mixed`` is the sum of R_ki^2 R_kj^2 over i != j."""
    nu = n - n_classes
    V = squares / nu**2 - p
    if V <= 0:
        return 1.0
    s = n / (n - 1) ** 3 * (mixed - nu**2 / n * V) / V
    return float(np.clip(s, 0.0, 1.0))


def _moments(residuals: Any, weight: np.ndarray) -> tuple[float, np.ndarray, float]:
    """||RR'||_F^2, the row sums of R^2 and the sum of R^4 for R = residuals * weight.

    In blocks along the longer side, so that no second copy of the data is made.
    """
    xp = namespace(residuals)
    n, p = residuals.shape
    scale = like(weight, residuals)
    gram = like(np.zeros((min(n, p), min(n, p))), residuals)
    row_sums, fourth = like(np.zeros(n), residuals), 0.0
    for start in range(0, max(n, p), BLOCK):
        part = slice(start, min(start + BLOCK, max(n, p)))
        if n <= p:
            R, rows = residuals[:, part] * scale[part], slice(None)
            gram += R @ R.T
        else:
            R, rows = residuals[part, :] * scale, part
            gram += R.T @ R
        R *= R
        row_sums[rows] += xp.sum(R, axis=1)
        R *= R
        fourth += float(xp.sum(R))
    gram *= gram
    return float(xp.sum(gram)), to_numpy(row_sums), fourth


class ColumnMoments:
    """What the intensity of a wide table is made of, gathered from blocks of its columns."""

    def __init__(self, n: int, n_classes: int) -> None:
        self.n, self.n_classes, self.p = n, n_classes, 0
        self.gram, self.row_sums, self.fourth = np.zeros((n, n)), np.zeros(n), 0.0

    def add(self, residuals: np.ndarray) -> None:
        """Count the residuals (n, b) of some more columns."""
        variance = np.einsum("ij,ij->j", residuals, residuals) / max(self.n - self.n_classes, 1)
        use = variance > 0
        R = residuals[:, use] / np.sqrt(variance[use])
        self.p += int(use.sum())
        self.gram += R @ R.T
        np.square(R, out=R)
        self.row_sums += R.sum(axis=1)
        self.fourth += float(np.einsum("ij,ij->", R, R))

    def intensity(self) -> float:
        """The analytic intensity of all columns."""
        if self.n - self.n_classes < 1 or self.n < 2 or self.p < 2:
            return 1.0
        squares = float(np.einsum("ij,ij->", self.gram, self.gram))
        mixed = float(np.square(self.row_sums).sum()) - self.fourth
        return _intensity(squares, mixed, self.p, self.n, self.n_classes)


def resolve_shrinkage(shrinkage: float | str, residuals: Any, n_classes: int) -> float:
    """A number in [0, 1] from the user's choice: a number, or "auto"."""
    if is_auto(shrinkage):
        return float(np.sqrt(analytic_shrinkage(residuals, n_classes)))
    return check_shrinkage(shrinkage)


def is_auto(shrinkage: Any) -> bool:
    """Whether the data decide; no other word is allowed."""
    if isinstance(shrinkage, str) and shrinkage != "auto":
        raise OptionError(f"shrinkage is {shrinkage!r}; it must be 'auto' or a number 0..1")
    return isinstance(shrinkage, str)


def check_shrinkage(shrinkage: Any) -> float:
    """The number itself, if it lies in [0, 1]."""
    return check_number(shrinkage, "shrinkage", 0.0, 1.0, "'auto' or a number 0..1")


def check_ridge(ridge: Any) -> float:
    """The ridge as a float, if it is a finite number >= 0."""
    return check_number(ridge, "ridge", 0.0, np.finfo(float).max, "a number >= 0")


def lda_diagonal(
    within: np.ndarray, between: np.ndarray, s: float, ridge: float
) -> tuple[float, np.ndarray]:
    """The s and the d > 0 of B = (1-s) S_w + diag(d), from the variances (p,) of the columns.

    s is not below its floor. A column that does not vary within the classes gets a little of its
    variance between them, a constant one, whose variances are exactly 0, gets 1.
    """
    s = max(s, SHRINKAGE_FLOOR)
    total = within + between
    d = np.maximum(s * within + ridge, SHRINKAGE_FLOOR * total)
    d[total == 0] = 1.0
    return s, d
