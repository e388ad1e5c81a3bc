"""Sparse linear discriminant analysis with exactly k features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)

from ..errors import InputError
from ..pencil.checks import check_k
from ..pencil.criteria import fix_signs, generalized_eigh
from ..pencil.pencil import Pencil
from ..pencil.solution import Solution
from ..search.solve import serves, solve, solve_path
from ..tables.builders import lda_pencil_from_stats, lda_stats, stats_shrinkage, sums_form
from ..tables.kinds.big_table import BigTable
from ..tables.shrinkage import check_ridge
from ..tables.statistics import ClassStats, ClassWeight
from ..tables.streamed_builders import streamed_lda
from ._partial import add_part, check_fitted, counting, wait_for_more
from ._rules import check_priors
from ._shared import (
    check_certificate,
    check_solver_options,
    clip_k,
    draw_seed,
    feature_indices,
    is_left_to_penalty,
    warn_or_reraise,
    with_certificate,
)
from ._validation import by_row_blocks, labels_on_host, read_columns, take_labels, validate_table


@dataclass(frozen=True)
class _Prepared:
    """The training data, reduced to what selection and classifier need."""

    stats: ClassStats
    pencil: Pencil
    shrinkage: float
    include: np.ndarray
    exclude: np.ndarray

    @property
    def n_free(self) -> int:
        return self.pencil.size - self.exclude.size

    def allows(self, k: int) -> bool:
        return self.include.size <= k <= self.n_free


class SparseLDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis on exactly k features.

    Selects the k features with the largest class separation (Moghaddam et al. 2006:
    GSLDA with solver "greedy", ESLDA with "exact"), then classifies and projects with them.
    The within-class scatter is shrunk towards its diagonal in the selection and in the
    classifier alike: that is what makes the choice hold on new samples.

    Parameters
    ----------
    n_features_to_select : int, default 10
        k. More than there are is clipped, with a warning. None for as many as a penalty leaves,
        for solvers with an option ``rho``.
    solver : str, default "greedy"
        See `eigensieve.available_solvers`.
    criterion : "auto", "logdet", "trace" or "lambda_max"
        "auto" is "logdet" (Wilks): with many classes the others keep adding features
        for the pair of classes that is separated already. With two classes all agree. A solver
        that seeks one direction only ("dc", "scotlass", "levelset") gets "lambda_max" instead.
    shrinkage : "auto" or float in [0, 1]
        Weight s of the diagonal in B = (1-s) S_w + s diag(S_w).
    ridge : float >= 0
        The papers' multiple of the identity; with ridge = 0 the scale of a column does
        not matter.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities; "balanced" makes them equal. By default the frequencies in the
        training data, or the shares of the classes where ``class_weight`` is given.
    n_components : int, optional
        Directions kept by `transform`, at most n_classes - 1 (the default); never more than k.
    include, exclude : features (names, indices or a mask) that must, or must not, be selected
    certificate : "root" or "none", default "root"
        "root": a search that proves nothing (greedy) is followed by a bound on the best set of
        k features, where that is cheap; it is in ``solution_.bound``. `fit_path` never
        computes it.
    time_limit : seconds for the search
    solver_options : dict of options of that solver
    random_state : seed, for solvers with random starts
    class_weight : None, "balanced" or dict of class: weight > 0
        What a sample of each class counts in the scatters, hence in the selection: 1, 1/n_k (all
        classes alike) or the weight given (1 for a class that the dict does not name). The
        share of a class, which replaces its frequency, is proportional to weight_k n_k.
    device : "cuda", "cuda:1" or another device of torch, optional
        Where to compute, for arrays in memory. None: where X is, hence on the device for an array
        of torch or cupy.

    Attributes
    ----------
    solution_ : Solution
        Support, objective, bound and status of the search.
    support_ : mask (n_features,) of the selected features
    selected_features_ : their names (or indices), in column order
    classes_, priors_, means_, xbar_, coef_, intercept_, scalings_
        As in scikit-learn's LinearDiscriminantAnalysis; zero outside the support.
    explained_variance_ratio_ : share of each direction in the class separation
    shrinkage_ : the shrinkage used
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    A class may have a single sample: it adds nothing to S_w, whatever its weight. The shrinkage
    "auto" does not depend on ``class_weight``. Constant columns are never preferred; of identical
    columns the first is taken. Features that do not vary within the classes count as
    (nearly) perfect. float32 data are computed on in float64. Ctrl-C during `fit` keeps the
    best set so far in the fitted estimator and then raises KeyboardInterrupt.

    X may be any table of docs/scale.md: dense or sparse, in memory, on disk, on a cluster or on a
    device. Of one that is not in memory a tall one is read once, in blocks of rows; of a wide one
    blocks of columns are read as often as the search needs them. The result is that of the table
    in memory. A tall table leaves p x p numbers there: once with a number as ``shrinkage``, for
    each of the K classes with ``class_weight``, and 2K + 1 times with "auto".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from eigensieve import SparseLDA
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> lda = SparseLDA(n_features_to_select=3).fit(X, y)
    >>> list(lda.selected_features_)
    ['worst radius', 'worst texture', 'worst concave points']
    >>> round(lda.score(X, y), 2)
    0.96
    """

    def __init__(
        self,
        n_features_to_select: int | None = 10,
        *,
        solver: str = "greedy",
        criterion: str = "auto",
        shrinkage: float | str = "auto",
        ridge: float = 0.0,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        include: Sequence[Any] = (),
        exclude: Sequence[Any] = (),
        certificate: str = "root",
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        class_weight: ClassWeight = None,
        device: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.solver = solver
        self.criterion = criterion
        self.shrinkage = shrinkage
        self.ridge = ridge
        self.priors = priors
        self.n_components = n_components
        self.include = include
        self.exclude = exclude
        self.certificate = certificate
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state
        self.class_weight = class_weight
        self.device = device

    # -- fitting -------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike | None = None) -> SparseLDA:
        """Select the features and fit the classifier."""
        self.__dict__.pop("_partial", None)
        return self._select(self._prepare(X, y))

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> SparseLDA:
        """Count some more samples, and select and fit anew from all that were seen.

        The result is that of `fit` on all samples given so far, without those of an earlier `fit`.
        p x p numbers are kept, as of a tall table, for 20,000 features at most. Every call runs
        the search: give the samples in few, large parts. Set ``class_weight`` and the shrinkage
        "auto" before the first call.

        Parameters
        ----------
        X : some samples, as for `fit`
        y : their labels
        classes : all labels there will ever be, optional
            Needed if the first samples are of one class only: the estimator is then not fitted
            until a second one has come.
        """
        check_certificate(self.certificate)
        form = sums_form(self.shrinkage, self.class_weight)
        partial = add_part(self, X, y, form, classes, self.device)
        if not partial.is_enough():
            wait_for_more(self, partial, "solution_")
            return self
        data = self._prepare_stats(partial.stats)
        with counting(self, partial):
            return self._select(data)

    def _select(self, data: _Prepared) -> SparseLDA:
        k = self.n_features_to_select
        if not is_left_to_penalty(k, self.solver_options):
            k = clip_k(k, data.n_free, stacklevel=4)
        solution = solve(data.pencil, k, **self._search_options(data))
        constraints = data.include.tolist(), data.exclude.tolist()
        solution = with_certificate(self.certificate, solution, data.pencil, *constraints)
        self._finish(data, solution)
        warn_or_reraise(self.solution_.status, self.solution_, stacklevel=4)
        return self

    def fit_path(self, X: Any, y: ArrayLike, ks: Iterable[int]) -> dict[int, SparseLDA]:
        """One fitted classifier per k, from a single search for the whole path.

        Values of k that ``include`` and ``exclude`` do not allow are left out, and so are
        those that a time limit did not let the search reach. The estimator itself is
        not changed. No root bound is computed, whatever ``certificate`` says: a path is made
        for comparisons, and pays for the search only.
        """
        worker = clone(self)
        data = worker._prepare(X, y)
        sizes = [k for k in sorted({check_k(k) for k in ks}) if data.allows(k)]
        if not sizes:
            raise InputError(f"no k of ks lies in {data.include.size}..{data.n_free}")
        path = solve_path(data.pencil, sizes, **worker._search_options(data))
        models = {}
        for k, solution in path.items():
            model = clone(self).set_params(n_features_to_select=k)
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(worker, name):
                    setattr(model, name, getattr(worker, name))
            models[k] = model._finish(data, solution)
        warn_or_reraise(path.stopped, f"k = {', '.join(map(str, path))}")
        return models

    def _prepare(self, X: Any, y: ArrayLike | None) -> _Prepared:
        check_certificate(self.certificate)
        table = validate_table(self, X, reset=True, device=self.device, min_samples=2)
        labels = take_labels(y, table.shape[0], table)
        if isinstance(table, BigTable) and not table.is_tall:
            options = self.shrinkage, self.ridge, self.class_weight
            return self._check_constraints(*streamed_lda(table, labels, *options))
        return self._prepare_stats(lda_stats(table, labels, self.shrinkage, self.class_weight))

    def _prepare_stats(self, stats: ClassStats) -> _Prepared:
        """``stats.rows``, if there are any, are the pencil's from now on."""
        s = stats_shrinkage(stats, self.shrinkage)
        stats = stats.weighted(self.class_weight)
        pencil = lda_pencil_from_stats(stats, s, check_ridge(self.ridge), reuse_rows=True)
        return self._check_constraints(replace(stats, rows=None), s, pencil)

    def _check_constraints(self, stats: ClassStats, s: float, pencil: Pencil) -> _Prepared:
        """Before the search, not after it."""
        self.classes_ = stats.classes
        check_priors(self.priors, stats.priors)
        self._n_directions(stats)
        names = getattr(self, "feature_names_in_", None)
        include = feature_indices(self.include, names, pencil.size, "include")
        exclude = feature_indices(self.exclude, names, pencil.size, "exclude")
        return _Prepared(stats, pencil, s, include, exclude)

    def _search_options(self, data: _Prepared) -> dict[str, Any]:
        return {
            "solver": self.solver,
            "criterion": self._resolve_criterion(data.pencil),
            "include": data.include,
            "exclude": data.exclude,
            "time_limit": self.time_limit,
            "random_state": draw_seed(self.random_state),
            **check_solver_options(self.solver_options),
        }

    def _resolve_criterion(self, pencil: Pencil) -> str:
        if self.criterion != "auto":
            return self.criterion
        return "logdet" if serves(self.solver, pencil, "logdet") else "lambda_max"

    def _finish(self, data: _Prepared, solution: Solution) -> SparseLDA:
        """The classifier and the projection on the chosen features."""
        stats, S = data.stats, solution.support
        self.solution_ = solution
        self.shrinkage_ = data.shrinkage
        self.support_ = np.zeros(stats.n_features, dtype=bool)
        self.support_[S] = True
        names = getattr(self, "feature_names_in_", None)
        self.selected_features_ = S if names is None else names[S]
        self.priors_ = check_priors(self.priors, stats.priors)
        self.means_ = stats.means
        self.xbar_ = stats.mean
        small = data.pencil.restrict(S)
        self._set_rule(stats, small, S)
        self._set_projection(stats, small, S)
        return self

    def _set_rule(self, stats: ClassStats, small: Pencil, S: np.ndarray) -> None:
        covariance = small.B
        scale = 1.0 / np.sqrt(np.diag(covariance))
        # centred means: a large offset of the data must not cancel in the intercept
        centred = stats.means[:, S] - self.xbar_[S]
        weights = np.linalg.solve(covariance * np.outer(scale, scale), (centred * scale).T)
        coef = np.zeros((stats.classes.size, stats.n_features))
        coef[:, S] = (weights * scale[:, None]).T
        offset = -0.5 * np.einsum("ij,ij->i", centred, coef[:, S]) + np.log(self.priors_)
        intercept = offset - coef[:, S] @ self.xbar_[S]
        if stats.classes.size == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def _set_projection(self, stats: ClassStats, small: Pencil, S: np.ndarray) -> None:
        most = min(stats.classes.size - 1, S.size)
        m = min(self._n_directions(stats), most)
        values, vectors = generalized_eigh(small.A, small.B)
        self.scalings_ = np.zeros((stats.n_features, m))
        self.scalings_[S] = fix_signs(vectors[:, :m])
        positive = np.maximum(values[:most], 0.0)
        self.explained_variance_ratio_ = positive[:m] / max(positive.sum(), 1e-300)
        self._n_features_out = m

    def _n_directions(self, stats: ClassStats) -> int:
        """The directions wanted; fewer features than that give fewer."""
        most = stats.classes.size - 1
        m = most if self.n_components is None else check_k(self.n_components, "n_components")
        if m > most:
            raise InputError(f"n_components is {m}; {most + 1} classes have at most {most}")
        return m

    # -- using ---------------------------------------------------------------------

    def _columns(self, X: Any) -> np.ndarray:
        """The selected columns of X, float64."""
        check_fitted(self, "solution_")
        return read_columns(validate_table(self, X, reset=False), self.solution_.support)

    @by_row_blocks
    def decision_function(self, X: Any) -> np.ndarray:
        """Discriminant scores: (n,) for two classes, (n, n_classes) otherwise."""
        columns = self._columns(X)
        scores = columns @ self.coef_[:, self.solution_.support].T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row."""
        scores = self.decision_function(X)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities under the Gaussian model with a common covariance."""
        return softmax(self._full_scores(X), axis=1)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities."""
        return log_softmax(self._full_scores(X), axis=1)

    def _full_scores(self, X: Any) -> np.ndarray:
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return scores

    @by_row_blocks
    def transform(self, X: Any) -> np.ndarray:
        """Project on the discriminant directions, (n, n_components)."""
        columns = self._columns(X)
        S = self.solution_.support
        return (columns - self.xbar_[S]) @ self.scalings_[S]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows whose class is predicted right."""
        return float(super().score(X, labels_on_host(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask, or indices, of the selected features."""
        check_fitted(self, "solution_")
        return self.solution_.support.copy() if indices else self.support_
