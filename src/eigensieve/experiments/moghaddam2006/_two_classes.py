"""Two classes as the paper treats them: covariances, a tiny ridge, and the midpoint rule."""

from __future__ import annotations

import numpy as np

from ...pencil.pencil import Pencil
from ...tables.builders import lda_pencil

# Singular values of the residuals below this share of the largest are round-off.
RANK_TOL = 1e-10
# What simple thresholding looks at: B^-1/2 d, the eigenvector of B^-1/2 A B^-1/2 (the paper's), or
# B^-1 d, the eigenvector of the pencil itself.
WHITENED, DIRECT = -0.5, -1.0


class TwoClasses:
    """A training set: the pencil of its covariances, and a rule from any few of its variables.

    Parameters
    ----------
    X : array (n, p)
    y : array (n,) of bool
    share : float
        The ridge alpha in units of the smallest positive eigenvalue of the within-class
        covariance: B is often singular, and its smallest eigenvalue then 0.

    Attributes
    ----------
    X, y : arrays
        As given.
    difference, middle : arrays (p,)
        Of and between the two class means.
    ridge : float
        alpha.
    pencil : Pencil
        A = (n1 n2 / n^2) dd', which orders sets as dd' does, and B + alpha I.
    """

    def __init__(self, X: np.ndarray, y: np.ndarray, share: float) -> None:
        self.X, self.y = X, y
        means = X[~y].mean(axis=0), X[y].mean(axis=0)
        self.difference = means[1] - means[0]
        self.middle = (means[0] + means[1]) / 2
        residuals = (X - np.where(y[:, None], means[1], means[0])) / np.sqrt(len(X))
        _, sizes, axes = np.linalg.svd(residuals, full_matrices=False)
        keep = sizes > RANK_TOL * sizes[0]
        self._variances, self._axes = np.square(sizes[keep]), axes[keep]
        self.ridge = float(share * self._variances[-1])
        self.pencil: Pencil = lda_pencil(X, y, shrinkage=0.0, ridge=self.ridge)
        self.pencil.criterion = "lambda_max"  # the paper's

    def threshold_order(self, power: float) -> np.ndarray:
        """All variables by simple thresholding: the largest entry of |B^power d| first."""
        inside = self._axes @ self.difference
        outside = self.difference - inside @ self._axes
        values = ((self._variances + self.ridge) ** power * inside) @ self._axes
        values += self.ridge**power * outside
        return np.argsort(-np.abs(values), kind="stable")

    def misclassified(self, X: np.ndarray, y: np.ndarray, support: np.ndarray) -> np.ndarray:
        """Which rows are on the wrong side of the midpoint, along the best direction of a set.

        The direction is the eigenvector of the restricted pencil (variational renormalization).
        """
        B = self.pencil.restrict(support).B
        direction = np.linalg.solve(B, self.difference[support])
        wrong: np.ndarray = ((X[:, support] - self.middle[support]) @ direction > 0) != y
        return wrong


def first_of(order: np.ndarray, sizes: list[int]) -> dict[int, np.ndarray]:
    """The sets that a ranking gives."""
    return {k: order[:k] for k in sizes}
