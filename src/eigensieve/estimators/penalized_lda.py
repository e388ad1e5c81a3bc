"""Penalized linear discriminant analysis (PLDA)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..pencil.checks import check_k, check_number
from ..pencil.criteria import TINY, fix_signs
from ..pencil.wording import rounded_down
from ..scoring.penalized_lda import (
    PenalizedDirections,
    count_directions,
    find_directions,
    largest_alpha,
    safe_alpha,
)
from ..tables.column_statistics import ColumnStats
from ._projected import ProjectedClassifier
from ._rules import check_rule, make_rule
from ._shared import clip_components, warn_or_reraise

BIGGEST = float(np.finfo(np.float64).max)


class PenalizedLDA(ProjectedClassifier):
    """Fisher's discriminant with a diagonal within-class scatter and lasso penalties.

    Direction b_k maximises ``b'S_b^k b - alpha l_k sum_j |s_j b_j|`` subject to b'Db <= 1 (Witten
    & Tibshirani 2011). D = diag(s_j^2) holds the within-class variances, S_b^k is the scatter
    between the classes without what the earlier directions explain, l_k the largest eigenvalue of
    D^-1/2 S_b^k D^-1/2. For any number of columns; without a ridge their scales do not matter.

    Parameters
    ----------
    alpha : float or "auto"
        The lasso penalty, in units of the largest eigenvalue: 0 uses all features. "auto" is
        1 / sqrt(number of columns), the largest with which no direction can vanish whatever the
        data are (without fusion; with it, give a smaller number). From some value
        on (about twice that if many features matter a little, more if a few matter much) nothing is
        left: an error, which says where. Choose alpha by cross-validation.
    fusion : float, default 0
        A fused lasso penalty besides, ``fusion l_k sum_j |s_j b_j - s_(j-1) b_(j-1)|``:
        neighbouring columns (positions on a chromosome, times) get equal weights s_j b_j.
    n_components : int, optional
        All there are by default: n_classes - 1, as a rule. Fewer: the leading ones.
    rule : "centroid", "1-nn" or "lda"
        How the projected rows are classified: nearest class mean, nearest training row, LDA.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities for rule "lda"; the frequencies by default, equal if "balanced".
    ridge : float, default 0
        Added to the within-class variances. With columns of different units, standardise them.
    tol : float, default 1e-8
        The ascent ends when a step changes D^1/2 b, of length 1, by less.
    max_iter : int, default 10,000
        Steps for each direction; a ConvergenceWarning if they do not suffice. A few do, unless
        two eigenvalues nearly tie.

    Attributes
    ----------
    scalings_ : array (n_features, n_components)
        The directions, b'Db = 1; fewer than asked for if the penalty leaves nothing of the next.
    alpha_ : the lasso penalty that was used
    objective_ : array (n_components,)
        What is maximised. May be below 0: the ascent ends at a stationary point, as in the paper.
    explained_variance_ratio_ : b'S_b^k b of each direction as a share of trace(D^-1 S_b)
        Sums to 1 at most; with alpha = 0 these are the shares of the eigenvalues.
    n_iter_ : array (n_components,), steps
    n_components_ : the number of directions
    sparsity_ : share of zeros in ``scalings_``
    support_ : mask (n_features,) of the features that any direction uses
    selected_features_ : their names (or indices), in column order
    classes_, priors_, means_, xbar_, coef_, intercept_
        As in scikit-learn's LinearDiscriminantAnalysis; rule "1-nn" has no ``coef_`` and
        ``intercept_``.
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    Constant columns are never used, and with fusion the columns beside them are neighbours. A
    column that is constant within every class but not altogether is an error unless ridge > 0.
    Copies of a column get equal weights without fusion. The problem is not convex: the answer is a
    stationary point, reached from the leading eigenvector. The largest entry of a direction is
    positive.
    Probabilities with "centroid" are those of Gaussians with covariance I of the projected rows and
    equal class sizes: too sure of themselves where the features of a direction are correlated.

    X may be dense, a scipy.sparse matrix, or a table that is not in memory (a memory map, dask,
    zarr, HDF5, AnnData or parquet), of which blocks of columns are read once.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import PenalizedLDA
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 500)), np.repeat(["a", "b", "c"], 20)
    >>> X[20:40, :5] += 2
    >>> X[40:, 5:10] += 2
    >>> lda = PenalizedLDA(0.15).fit(X, y)
    >>> lda.selected_features_.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> lda.transform(X).shape
    (60, 2)
    """

    _takes_tables = True

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        fusion: float = 0.0,
        n_components: int | None = None,
        rule: str = "centroid",
        priors: ArrayLike | None = None,
        ridge: float = 0.0,
        tol: float = 1e-8,
        max_iter: int = 10_000,
    ) -> None:
        self.alpha = alpha
        self.fusion = fusion
        self.n_components = n_components
        self.rule = rule
        self.priors = priors
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: ArrayLike | None = None) -> PenalizedLDA:
        """Find the directions and the rule."""
        with self._watched(X, y):
            self._check_options()
            data, code = self._take_data(X, y)
            stats = ColumnStats.from_data(data, code)
            used, deviations, root = self._in_units_of_deviations(stats)
            found = self._find_directions(root)
            scalings = np.zeros((stats.mean.size, found.vectors.shape[1]))
            scalings[used] = found.vectors / deviations[:, None]
            self._set_directions(fix_signs(scalings), stats.mean, stats.means)
            self.objective_, self.n_iter_ = found.objective, found.n_iter
            self.explained_variance_ratio_ = found.separation / np.square(root).sum()
            self._set_rule(make_rule(self.rule, self._project(data), code, self.priors_))
            warn_or_reraise(
                found.status, f"direction {np.argmin(found.settled)} after {self.max_iter} steps"
            )
            return self

    def _check_options(self) -> None:
        check_rule(self.rule, self.priors)
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            check_number(self.alpha, "alpha", 0.0, BIGGEST, "a number >= 0, or 'auto'")
        for name in ("fusion", "ridge"):
            check_number(getattr(self, name), name, 0.0, BIGGEST, "a number >= 0")
        check_number(self.tol, "tol", TINY, BIGGEST, "a positive number")
        check_k(self.max_iter, "max_iter")
        if self.n_components is not None:
            check_k(self.n_components, "n_components")

    def _in_units_of_deviations(
        self, stats: ColumnStats
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns that vary, their deviations (D^1/2), and the root of S_b in these units."""
        variances, H = stats.variance, stats.between / np.sqrt(stats.n_samples)
        used = np.flatnonzero((variances > 0) | H.any(axis=0))
        if used.size == 0:
            raise InputError("no column varies: there is nothing to separate the classes by")
        variances = variances[used] + self.ridge
        if not variances.all():
            j = used[np.argmin(variances)]
            names = getattr(self, "feature_names_in_", None)
            raise InputError(
                f"column {j if names is None else repr(str(names[j]))} does not vary within the "
                "classes, only between them: drop it (it separates classes by itself), or give a "
                "ridge > 0"
            )
        deviations = np.sqrt(variances)
        return used, deviations, H[:, used] / deviations

    def _find_directions(self, root: np.ndarray) -> PenalizedDirections:
        most = count_directions(root)
        if most == 0:
            raise InputError("the class means are all equal: no direction separates the classes")
        wanted = clip_components(self.n_components, most, "these class means", stacklevel=4)
        is_auto = isinstance(self.alpha, str)
        self.alpha_ = safe_alpha(root.shape[1]) if is_auto else float(self.alpha)
        found = find_directions(
            root,
            wanted,
            alpha=self.alpha_,
            fusion=self.fusion,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        m = found.vectors.shape[1]
        if m == 0:
            raise InputError(self._explain_nothing(root))
        if self.n_components is not None and m < wanted:
            warnings.warn(
                f"n_components is {self.n_components}; finding {m}: alpha = {self.alpha_:g} "
                "leaves nothing of the next",
                UserWarning,
                stacklevel=3,
            )
        return found

    def _explain_nothing(self, root: np.ndarray) -> str:
        largest = largest_alpha(root, fusion=self.fusion, max_iter=self.max_iter)
        if largest == 0.0:
            return f"fusion is {self.fusion!r}: no feature is left, whatever alpha; take a smaller"
        return (
            f"alpha is {self.alpha_:g}: no feature is left; the largest useful value is about "
            f"{rounded_down(largest)}" + (", with this fusion" if self.fusion > 0 else "")
        )
