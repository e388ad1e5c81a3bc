"""Linear discriminant analysis on the first k features of a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..errors import InputError, OptionError
from ..pencil.checks import as_seed
from ..tables.builders import lda_problem
from ..tables.statistics import ClassStats, ClassWeight
from ._rankers import RANKERS, order_by_alpha
from ._rules import discriminant
from ._selected import SelectedLDA, allowed_sizes
from ._shared import clip_k


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The training data, reduced to what every k needs."""

    stats: ClassStats
    order: np.ndarray
    selector: Any


class RankedLDA(SelectedLDA):
    """Rank all features, take the first k, and classify with LDA on these.

    The classical filters and wrappers, for comparison with `SparseLDA`, which looks at the features
    together. The LDA is that of `SparseLDA`: its within-class scatter is shrunk towards the
    diagonal.

    Parameters
    ----------
    ranker : str, function or selector, default "anova"
        "pearson": size of the correlation with the class (largest of one class against the rest);
        "anova": F values; "snr": Golub's signal-to-noise ratio, ``|m1 - m2| / (s1 + s2)`` (largest
        of one class against the rest); "svm-rfe": recursive elimination with a linear SVM; "l1":
        the order in which features enter an l1-penalised linear SVM; "qalpha": Q-alpha's weights
        for as many clusters as classes. A function (X, y) -> all column indices, best first. A
        selector with weights ``alpha_``, such as `QAlphaSelector`; it is cloned, then fitted.
    n_features_to_select : int, default 10
        k. More than there are is clipped, with a warning.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities; the frequencies by default, or the shares under ``class_weight``.
    class_weight : None, "balanced" or dict of class: weight > 0
        What a sample of each class counts in the LDA, as for `SparseLDA`; not in the ranking.
    random_state : seed, for "l1" and "qalpha"; None is 0

    Attributes
    ----------
    ranking_ : array (n_features,), all column indices, best first
    ranker_ : the fitted selector, if the ranker is one; else None
    support_ : mask (n_features,) of the selected features
    selected_features_ : their names (or indices), in column order
    classes_, priors_, means_, xbar_, coef_, intercept_, scalings_
        As in scikit-learn's LinearDiscriminantAnalysis; zero outside the support.
    explained_variance_ratio_ : share of each direction in the variance between the classes
    shrinkage_ : the shrinkage used, found from the selected columns
    n_components_ : the number of directions, n_classes - 1 or, if less, k
    sparsity_ : share of zeros in ``scalings_``
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    The scales of columns do not matter for a ranker that is named. Constant columns rank last; of
    equal scores the first column's comes first. For two classes "pearson" and "anova" are the same.
    X may be a scipy.sparse matrix, which stays one; a function or a selector is given it as it is.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from eigensieve import RankedLDA
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> lda = RankedLDA("anova", n_features_to_select=3).fit(X, y)
    >>> list(lda.selected_features_)
    ['mean concave points', 'worst perimeter', 'worst concave points']
    >>> round(lda.score(X, y), 2)
    0.94
    """

    _fits_blocks = False

    def __init__(
        self,
        ranker: str | Callable[[np.ndarray, np.ndarray], ArrayLike] | Any = "anova",
        n_features_to_select: int = 10,
        *,
        priors: ArrayLike | str | None = None,
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ranker = ranker
        self.n_features_to_select = n_features_to_select
        self.priors = priors
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> RankedLDA:
        """Rank the features, and fit the classifier on the first k."""
        with self._watched(X, y):
            prepared = self._prepare(X, y)
            return self._finish(prepared, clip_k(self.n_features_to_select, self.n_features_in_))

    def fit_path(self, X: Any, y: ArrayLike, ks: Iterable[int]) -> dict[int, RankedLDA]:
        """One fitted classifier per k, from a single ranking.

        Values of k above the number of columns are left out. The estimator itself is not changed.
        """
        worker = clone(self)
        prepared = worker._prepare(X, y)
        sizes = allowed_sizes(ks, 1, worker.n_features_in_)
        return {k: self._of_size(k, worker)._finish(prepared, k) for k in sizes}

    def _prepare(self, X: Any, y: ArrayLike | None) -> _Prepared:
        rank, selector = self._find_ranker()
        data, code = self._take_data(X, y)
        stats = ClassStats.from_data(data, code, form="rows")
        # weights name the classes as the user does
        stats = replace(stats, classes=self.classes_).weighted(self.class_weight)
        order = check_order(rank(data, self.classes_[code]), data.shape[1])
        return _Prepared(stats, order, selector)

    def _find_ranker(self) -> tuple[Callable[[np.ndarray, np.ndarray], Any], Any]:
        """The ranker as a function (X, y) -> order; and the selector that it fits, if any."""
        ranker = self.ranker
        if isinstance(ranker, str) and ranker in RANKERS:
            seed = as_seed(self.random_state)
            return lambda X, y: RANKERS[ranker](X, y, random_state=seed), None
        if hasattr(ranker, "fit") and not isinstance(ranker, type):
            selector = clone(ranker)
            return lambda X, y: _rank_by_selector(selector, X, y), selector
        if callable(ranker) and not isinstance(ranker, type):
            return ranker, None
        close = get_close_matches(ranker, RANKERS, n=1) if isinstance(ranker, str) else []
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise OptionError(
            f"ranker is {ranker!r}{hint}; it must be one of {', '.join(RANKERS)}, a function "
            "(X, y) -> column indices, or a selector such as QAlphaSelector()"
        )

    def _finish(self, prepared: _Prepared, k: int) -> RankedLDA:
        """LDA on the first k features of the ranking."""
        self.ranking_, self.ranker_ = prepared.order, prepared.selector
        S = np.sort(prepared.order[:k])
        whole, own = prepared.stats, lda_problem(_take_columns(prepared.stats, S))
        self.shrinkage_ = own.shrinkage
        self._set_projection(whole, own.pencil, S)
        # V'BV = I, and the class means differ in the space of V only: LDA there is LDA on S
        centred = (own.stats.means - own.stats.mean) @ self.scalings_[S]
        self._set_rule(discriminant(centred, np.eye(self.n_components_), self.priors_))
        return self


def _take_columns(stats: ClassStats, S: np.ndarray) -> ClassStats:
    assert stats.rows is not None
    return replace(stats, means=stats.means[:, S], tails=stats.tails[:, S], rows=stats.rows[:, S])


def _rank_by_selector(selector: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    fitted = selector.fit(X, y)
    alpha = np.asarray(getattr(fitted, "alpha_", ()))
    if alpha.shape != (X.shape[1],):
        raise OptionError(
            f"ranker is {selector!r}, which has no weight alpha_ for each feature; give a "
            f"QAlphaSelector, a function, or one of {', '.join(RANKERS)}"
        )
    return order_by_alpha(alpha)


def check_order(order: Any, p: int) -> np.ndarray:
    """All columns 0..p-1, each once."""
    array = np.asarray(order)
    if (
        array.shape != (p,)
        or array.dtype.kind not in "iu"
        or not np.array_equal(np.sort(array), np.arange(p))
    ):
        raise InputError(
            f"the ranker gave an array of shape {array.shape} and type {array.dtype}; it must give "
            f"the {p} column indices 0..{p - 1}, each once, best first"
        )
    return array.astype(np.intp, copy=False)
