"""How far to shrink a scatter matrix towards its diagonal.

The analytic choice of Schaefer and Strimmer, applied to pooled within-class
correlations, in O(n^2 p) or O(n p^2), whichever is less; and its square root,
which costs no accuracy on gene data and makes certificates far easier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OptionError
from .checks import check_number

# B is never shrunk less than this: a singular scatter would make the quotient infinite.
SHRINKAGE_FLOOR = 1e-10
BLOCK = 4096


def analytic_shrinkage(residuals: np.ndarray, n_classes: int) -> float:
    """The analytic intensity from residual rows (n, p) of n_classes classes.

    With R the residuals scaled to unit variance (nu = n - K degrees of freedom) and
    V the sum of squared correlations off the diagonal,
    s = n/(n-1)^3 [sum_k (sum_i R_ki^2)^2 - sum R^4 - nu^2/n V] / V, clipped to [0, 1].
    """
    n = len(residuals)
    nu = n - n_classes
    variance = np.einsum("ij,ij->j", residuals, residuals) / max(nu, 1)
    use = variance > 0
    if nu < 1 or n < 2 or use.sum() < 2:
        return 1.0
    weight = np.where(use, 1.0 / np.sqrt(np.where(use, variance, 1.0)), 0.0)
    p = int(use.sum())
    squares, row_sums, fourth = _moments(residuals, weight)
    V = squares / nu**2 - p
    if V <= 0:
        return 1.0
    fourth = float(np.square(row_sums).sum()) - fourth
    s = n / (n - 1) ** 3 * (fourth - nu**2 / n * V) / V
    return float(np.clip(s, 0.0, 1.0))


def _moments(residuals: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray, float]:
    """||RR'||_F^2, the row sums of R^2 and the sum of R^4 for R = residuals * weight.

    In blocks along the longer side, so that no second copy of the data is made.
    """
    n, p = residuals.shape
    gram = np.zeros((min(n, p), min(n, p)))
    row_sums, fourth = np.zeros(n), 0.0
    for start in range(0, max(n, p), BLOCK):
        part = slice(start, start + BLOCK)
        if n <= p:
            R, rows = residuals[:, part] * weight[part], slice(None)
            gram += R @ R.T
        else:
            R, rows = residuals[part] * weight, part
            gram += R.T @ R
        np.square(R, out=R)
        row_sums[rows] += R.sum(axis=1)
        fourth += float(np.einsum("ij,ij->", R, R))
    return float(np.einsum("ij,ij->", gram, gram)), row_sums, fourth


def resolve_shrinkage(shrinkage: float | str, residuals: np.ndarray, n_classes: int) -> float:
    """A number in [0, 1] from the user's choice: a number, or "auto"."""
    if isinstance(shrinkage, str):
        if shrinkage != "auto":
            raise OptionError(f"shrinkage is {shrinkage!r}; it must be 'auto' or a number 0..1")
        return float(np.sqrt(analytic_shrinkage(residuals, n_classes)))
    return check_shrinkage(shrinkage)


def check_shrinkage(shrinkage: Any) -> float:
    """The number itself, if it lies in [0, 1]."""
    return check_number(shrinkage, "shrinkage", 0.0, 1.0, "'auto' or a number 0..1")
