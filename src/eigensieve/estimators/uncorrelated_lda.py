"""Uncorrelated linear discriminant analysis, for any number of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..pursuit.uncorrelated import RANK_TOL, UncorrelatedFamily
from ._shared import clip_components
from ._uncorrelated import UncorrelatedClassifier


class UncorrelatedLDA(UncorrelatedClassifier):
    """Linear discriminant analysis with uncorrelated scores, also for p > n.

    Maximises trace(G'S_b G) subject to G'S_t G = I, S_b the scatter between the classes and S_t the
    total one (generalized ULDA: Ye 2005; Chu & Zhang 2013). Nothing is selected or regularised; see
    `SparseUncorrelatedLDA` for a sparse solution.

    Parameters
    ----------
    n_components : int, optional
        rank(S_b) by default, which is n_classes - 1 unless class means depend on each other. More
        are clipped with a warning: no further direction separates the classes of the training rows.
        Fewer: the leading ones only.
    rule : "lda", "centroid" or "1-nn"
        How the projected rows are classified: LDA (for n > p that of scikit-learn), nearest class
        mean, nearest training row.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities for rule "lda"; the frequencies by default, equal if "balanced".
    rank_tol : float, default 1e-6
        Singular values of the centred rows, columns scaled to unit variance, are zero below this
        share of the largest.

    Attributes
    ----------
    scalings_ : array (n_features, n_components), G
        Where there are many solutions (p >= n), that of smallest norm for columns of unit variance,
        so that units do not matter.
    canonical_correlations_ : array (rank(S_b),), descending; all 1 for independent samples
    explained_variance_ratio_ : share of each direction in the class separation, trace(G'S_b G)
    rank_ : rank(S_t)
    orthogonality_error_ : ``|G'S_t G - I| / sqrt(n_components)``, Frobenius
    n_components_ : the number of directions
    sparsity_ : share of zeros in ``scalings_``
    support_ : mask (n_features,) of the features used; all but constant ones, as a rule
    selected_features_ : their names (or indices)
    classes_, priors_, means_, xbar_, coef_, intercept_
        As in scikit-learn's LinearDiscriminantAnalysis; rule "1-nn" has no ``coef_`` and
        ``intercept_``.
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    X may be dense (of torch and cupy, too), a scipy.sparse matrix, or a table that is not in memory
    (a memory map, dask, zarr, HDF5, AnnData or parquet). Of those the smaller Gram matrix, n x n or
    p x p, is in memory, and ``rank_tol`` is not below about 1e-7.

    With independent samples (p >= n, as a rule) all training rows of a class fall on one point, and
    all rules agree on which class is nearest (but for priors). Probabilities: with "centroid" those
    of Gaussians with the total covariance, cautious; with "lda" the covariance within the classes,
    not below 1e-6 of the total one, so nearly 0 or 1 for p >= n; with "1-nn" 0 or 1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigensieve import UncorrelatedLDA
    >>> X, y = load_wine(return_X_y=True)
    >>> lda = UncorrelatedLDA().fit(X, y)
    >>> scores = lda.transform(X)
    >>> bool(abs(scores.T @ scores / len(X) - [[1, 0], [0, 1]]).max() < 1e-12)
    True
    >>> round(lda.score(X, y), 2)
    1.0
    """

    _standardizes = True
    _loss = "rows or columns are too nearly dependent; raise rank_tol"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rule: str = "lda",
        priors: ArrayLike | None = None,
        rank_tol: float = RANK_TOL,
    ) -> None:
        self.n_components = n_components
        self.rule = rule
        self.priors = priors
        self.rank_tol = rank_tol

    def fit(self, X: Any, y: ArrayLike | None = None) -> UncorrelatedLDA:
        """Find the directions and the rule."""
        with self._watched(X, y):
            self._fit(X, y)
            self._tell_if_inexact()
            return self

    def _find_directions(self, family: UncorrelatedFamily) -> np.ndarray:
        most = family.least_dimension
        m = clip_components(self.n_components, most, "these class means", stacklevel=5)
        return family.member()[:, :m]
