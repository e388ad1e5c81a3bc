"""Sums of products of residuals, class by class, that can be moved to other means and merged.

The scatter of each class (so that classes can be weighted when the rows are gone) and, where the
analytic shrinkage will be asked for, the third and fourth moments that it is made of. About
(2K + 1) p^2 numbers for K classes and p features, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError

# (2K + 1) p^2 numbers: beyond this many features they are more than 16 GB for two classes.
MAX_FEATURES = 20_000


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Moments of the residuals r of K classes, each about the mean of its class.

    Attributes
    ----------
    grams : array (K, p, p), sum of r_i r_j over the rows of a class
    third : array (K, p, p), sum of r_i^2 r_j, or None
    fourth : array (p, p), sum of r_i^2 r_j^2 over all rows, or None
    """

    grams: np.ndarray
    third: np.ndarray | None = None
    fourth: np.ndarray | None = None

    @classmethod
    def from_rows(
        cls, rows: np.ndarray, code: np.ndarray, n_classes: int, *, higher: bool
    ) -> ClassMoments:
        """The moments of residual rows (n, p) with class indices (n,).

        ``higher`` asks for the third and fourth. The rows are squared in place: they are the
        caller's no more.
        """
        p = rows.shape[1]
        check_features(p)
        grams = np.empty((n_classes, p, p))
        third = np.empty_like(grams) if higher else None
        for k in range(n_classes):
            own = rows[code == k] if n_classes > 1 else rows
            np.matmul(own.T, own, out=grams[k])
            if third is not None:
                np.matmul(np.square(own).T, own, out=third[k])
        if not higher:
            return cls(grams)
        np.square(rows, out=rows)
        return cls(grams, third, rows.T @ rows)

    def pooled(self, weights: np.ndarray) -> np.ndarray:
        """The scatters of the classes, each times its weight, as one (p, p)."""
        return np.einsum("k,kij->ij", weights, self.grams)

    def pooled_variance(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of the same."""
        return np.einsum("k,kii->i", weights, self.grams)


@dataclass(frozen=True)
class Part:
    """Moments, and how they enter into a larger whole.

    Attributes
    ----------
    moments : of the classes of this part
    places : array (k,), the index of each of those classes in the whole
    counts : array (K,), rows of each class of the whole in this part
    shifts : array (K, p), this part's class means less those of the whole
    """

    moments: ClassMoments
    places: np.ndarray
    counts: np.ndarray
    shifts: np.ndarray


def merge_moments(parts: Sequence[Part]) -> ClassMoments:
    """The moments of the rows of all parts, about the means of the whole.

    What none of the parts lacks: without third and fourth moments of one there are none.
    """
    K, p = parts[0].shifts.shape
    grams = np.zeros((K, p, p))
    higher = all(part.moments.fourth is not None for part in parts)
    whole = ClassMoments(
        grams, np.zeros_like(grams) if higher else None, np.zeros((p, p)) if higher else None
    )
    for part in parts:
        for own, k in enumerate(part.places):
            _move_class(whole, k, part, own)
        if whole.fourth is not None and part.moments.fourth is not None:
            np.add(whole.fourth, part.moments.fourth, out=whole.fourth)
    return whole


def _move_class(whole: ClassMoments, k: int, part: Part, own: int) -> None:
    """Add the moments of r + a, a the shift, of one class: sums of r alone are zero."""
    a, n, G = part.shifts[k], part.counts[k], part.moments.grams[own]
    whole.grams[k] += G
    is_moved = bool(a.any())
    if is_moved:
        whole.grams[k] += np.outer(n * a, a)
    third, fourth = whole.third, whole.fourth
    if third is None or fourth is None or part.moments.third is None:
        return
    T = part.moments.third[own]
    third[k] += T
    if is_moved:
        squares, variances = np.square(a), np.diag(G)
        third[k] += 2.0 * a[:, None] * G + np.outer(variances + n * squares, a)
        half = 2.0 * T * a + np.outer(variances + 0.5 * n * squares, squares)
        half += 2.0 * np.outer(a, a) * G
        fourth += half
        fourth += half.T


def check_features(p: int) -> None:
    """Refuse tables of which p x p is too much."""
    if p > MAX_FEATURES:
        raise InputError(
            f"the table has {p} features; samples that are not kept leave p x p numbers behind, "
            f"and at most {MAX_FEATURES} features are allowed: drop some first, or give fit an "
            "array or a sparse matrix in memory"
        )
