"""Sparse linear discriminant analysis with exactly k features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..errors import InputError
from ..pencil.constraints import Constraints
from ..pencil.problem import make_problem
from ..pencil.solution import GIVEN, Solution, Status
from ..search.near_optimal.sets import NearOptimalSets
from ..search.solve import solve, solve_path
from ..tables.builders import LDAProblem, lda_problem, sums_form
from ..tables.statistics import ClassWeight
from ._partial import add_part, counting, wait_for_more
from ._projected import project_rows
from ._rules import check_priors, discriminant_of_columns
from ._selected import SelectedLDA, allowed_sizes, possible_sizes
from ._shared import (
    check_certificate,
    clip_k,
    feature_indices,
    is_left_to_penalty,
    limits_by_index,
    list_near_optimal,
    search_options,
    warn_or_reraise,
    with_certificate,
)
from ._validation import take_labels


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The training data, reduced to what selection and classifier need."""

    problem: LDAProblem
    include: np.ndarray
    exclude: np.ndarray
    constraints: Constraints
    n_directions: int

    @property
    def n_free(self) -> int:
        return self.problem.pencil.size - self.exclude.size

    @property
    def restrictions(self) -> dict[str, Any]:
        """What sets may be chosen, as `make_problem` takes it."""
        return {
            "include": self.include.tolist(),
            "exclude": self.exclude.tolist(),
            "constraints": self.constraints,
        }


class SparseLDA(SelectedLDA):
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
    solver : str, default "auto"
        Greedy search, then an exact one as far as ``effort`` goes: ``solution_`` is proved to be
        the best set, or tells the gap that is left. See `eigensieve.available_solvers`.
    effort : "quick", "normal", "high" or a number, default "normal"
        How much work solver "auto" may do for the proof: roughly a number
        of seconds (0.3, 3 and 30), but counted in arithmetic, so that the result is the same
        on every machine. With 0 nothing is searched but what greedy search finds. Other solvers
        do not use it.
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
        Directions kept by `transform`; n_classes - 1 by default. More are clipped with a warning;
        k features have k directions at most.
    include, exclude : features (names, indices or a mask) that must, or must not, be selected
    constraints : dict, optional
        Limits on groups of features and on costs: groups, at_most, at_least, whole, costs and
        max_cost, as in `eigensieve.solve`; groups list names, indices or a mask.
    certificate : "root" or "none", default "root"
        "root": a search that proves nothing (greedy) is followed by a bound on the best set of
        k features, where that is cheap; it is in ``solution_.bound``. `fit_path` computes none
        but those of solver "auto". "none": no bound; solver "auto" then ends with greedy search.
    time_limit : seconds for the search
    solver_options : dict of options of that solver
    random_state : seed, for solvers with random starts; None is 0
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
    explained_variance_ratio_ : share of each direction in the variance between the classes
    shrinkage_ : the shrinkage used
    n_components_ : the number of directions
    sparsity_ : share of zeros in ``scalings_``
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    A class may have a single sample: it adds nothing to S_w, whatever its weight. The shrinkage
    "auto" does not depend on ``class_weight``. Constant columns are never preferred; of identical
    columns the first is taken first, and with shrinkage its copies may follow: they count as more
    evidence. Features that do not vary within the classes count as
    (nearly) perfect. float32 data are computed on in float64. Ctrl-C during `fit` keeps the
    best set so far in the fitted estimator and then raises KeyboardInterrupt. Probabilities are
    those of the Gaussian model with a common covariance, too sure of themselves: see
    `predict_proba`. The final model of a `study` has a temperature.

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
        solver: str = "auto",
        effort: float | str = "normal",
        criterion: str = "auto",
        shrinkage: float | str = "auto",
        ridge: float = 0.0,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        include: Sequence[Any] = (),
        exclude: Sequence[Any] = (),
        constraints: dict[str, Any] | None = None,
        certificate: str = "root",
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        class_weight: ClassWeight = None,
        device: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.solver = solver
        self.effort = effort
        self.criterion = criterion
        self.shrinkage = shrinkage
        self.ridge = ridge
        self.priors = priors
        self.n_components = n_components
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
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
        with self._watched(X, y):
            return self._select(self._prepare(*self._take_table(X, y)))

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
        data = self._prepare(partial.stats, None)
        with counting(self, partial):
            return self._select(data)

    def _select(self, data: _Prepared) -> SparseLDA:
        k, pencil = self.n_features_to_select, data.problem.pencil
        if not is_left_to_penalty(k, self.solver_options):
            k = clip_k(k, data.n_free, stacklevel=4)
        solution = solve(pencil, k, **self._search_options(data))
        solution = with_certificate(self.certificate, solution, pencil, **data.restrictions)
        self._finish(data, solution)
        self._tell_of_fewer(data.n_directions, stacklevel=4)
        warn_or_reraise(self.solution_.status, self.solution_, stacklevel=4)
        return self

    def fit_path(self, X: Any, y: ArrayLike, ks: Iterable[int]) -> dict[int, SparseLDA]:
        """One fitted classifier per k, from a single search for the whole path.

        Values of k that ``include``, ``exclude`` and ``constraints`` do not allow are left out, and
        so are those that a time limit did not let the search reach. The estimator itself is
        not changed. With solver "auto" all k together have the effort of four; other solvers get no
        root bound, whatever ``certificate`` says.
        """
        worker = clone(self)
        data = worker._prepare(*worker._take_table(X, y))
        sizes = allowed_sizes(ks, data.include.size, data.n_free)
        sizes = possible_sizes(sizes, data.problem.pencil, **data.restrictions)
        path = solve_path(data.problem.pencil, sizes, **worker._search_options(data))
        models = {k: self._of_size(k, worker)._finish(data, found) for k, found in path.items()}
        warn_or_reraise(path.stopped, f"k = {', '.join(map(str, path))}")
        return models

    def fit_set(self, X: Any, y: ArrayLike, features: Sequence[Any]) -> SparseLDA:
        """Fit the classifier and the projection on features that are chosen already.

        A set of `near_optimal`, say. Nothing is searched; ``n_features_to_select`` and the solver
        play no part. ``solution_`` says what the set scores, and, unless ``certificate`` is "none",
        how much a set of as many features that keeps the constraints can score at most.

        Parameters
        ----------
        X, y : as for `fit`
        features : names, indices or a mask

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from eigensieve import SparseLDA
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> found = SparseLDA(3).near_optimal(X, y, within=0.07)
        >>> lda = SparseLDA().fit_set(X, y, found.sets[1])
        >>> list(lda.selected_features_)
        ['color_intensity', 'od280/od315_of_diluted_wines', 'proline']
        """
        data = self._prepare(*self._take_table(X, y))
        names, pencil = getattr(self, "feature_names_in_", None), data.problem.pencil
        S = feature_indices(features, names, pencil.size, "features")
        if S.size == 0:
            raise InputError("features is empty; name at least one")
        if np.asarray(features).dtype != bool and S.size < len(features):
            raise InputError("features names a feature twice")
        if not np.isin(data.include, S).all() or np.isin(data.exclude, S).any():
            raise InputError("features are not what include and exclude of this estimator ask for")
        limits = data.constraints.limits(pencil.size)
        if limits is not None and (broken := limits.broken(S)) is not None:
            raise InputError(f"features break a constraint of this estimator: {broken}")
        problem = make_problem(pencil, S.size, self.criterion, **data.restrictions)
        places = problem.to_local(S)
        solution = problem.solution(places, status=Status.FEASIBLE, solver=GIVEN)
        return self._finish(
            data, with_certificate(self.certificate, solution, pencil, **data.restrictions)
        )

    def near_optimal(
        self,
        X: Any,
        y: ArrayLike | None = None,
        within: float = 0.01,
        max_sets: int = 1000,
        **options: Any,
    ) -> NearOptimalSets:
        """All sets of k features that separate the classes nearly as well as the best one.

        The problem is that of `fit`, by the parameters of this estimator, which need not be fitted
        and is not changed. The solver and its effort play no part.

        Parameters
        ----------
        X, y : as for `fit`
        within : share of the best score, 0.01 is one percent
        max_sets : int, how many are listed at most
        **options
            Of `eigensieve.near_optimal`: effort, n_jobs, callback, proof ...

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from eigensieve import SparseLDA
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> found = SparseLDA(3).near_optimal(X, y, within=0.07)
        >>> found.n_sets, [found.name_of(j) for j in found.core]
        (2, ['color_intensity', 'proline'])
        """
        worker = clone(self)
        data = worker._prepare(*worker._take_table(X, y))
        k, asked = self.n_features_to_select, worker._what_is_asked(data)
        k = k if k is None else clip_k(k, data.n_free)
        # with class weights the pencil does not know them
        asked["names"] = getattr(worker, "feature_names_in_", None)
        pencil, size = data.problem.pencil, {"within": within, "max_sets": max_sets}
        return list_near_optimal(self, pencil, k, asked, size | options)

    def _take_table(self, X: Any, y: ArrayLike | None) -> tuple[Any, np.ndarray]:
        check_certificate(self.certificate)
        table = self._open(X)
        return table, take_labels(y, table.shape[0], table)

    def _prepare(self, table: Any, labels: np.ndarray | None) -> _Prepared:
        """From a table or its statistics; what is wrong is said before the search."""
        names = getattr(self, "feature_names_in_", None)
        problem = lda_problem(
            table, labels, self.shrinkage, self.ridge, self.class_weight, names=names
        )
        self.classes_ = problem.stats.classes
        check_priors(self.priors, problem.stats.priors)
        m = self._count_directions(stacklevel=5)
        p = problem.pencil.size
        include = feature_indices(self.include, names, p, "include")
        exclude = feature_indices(self.exclude, names, p, "exclude")
        limits = limits_by_index(self.constraints, names, p)
        return _Prepared(problem, include, exclude, limits, m)

    def _search_options(self, data: _Prepared) -> dict[str, Any]:
        return self._what_is_asked(data) | search_options(self)

    def _what_is_asked(self, data: _Prepared) -> dict[str, Any]:
        """Of a set, whoever searches it."""
        return {
            "criterion": self.criterion,
            "include": data.include,
            "exclude": data.exclude,
            **data.constraints.as_options(),
        }

    def _finish(self, data: _Prepared, solution: Solution) -> SparseLDA:
        """The classifier and the projection on the chosen features."""
        stats, S = data.problem.stats, solution.support
        self.solution_, self.shrinkage_ = solution, data.problem.shrinkage
        small = data.problem.pencil.restrict(S)
        self._set_projection(stats, small, S)
        # of all columns of S: n_components may keep fewer directions than the rule needs; and
        # centred: a large offset of the data must not cancel in the intercept
        centre = self.xbar_[S]
        self._rule = discriminant_of_columns(stats.means[:, S] - centre, small.B, self.priors_)
        coef = np.zeros((stats.classes.size, stats.n_features))
        coef[:, S] = self._rule.weights
        self._set_coef(coef, self._rule.offsets - coef[:, S] @ centre)
        return self

    def _scores(self, X: Any) -> np.ndarray:
        """Straight from the columns, by the coefficients: of two classes the first has 0."""
        table, S = self._check(X), np.flatnonzero(self.support_)
        scores = project_rows(table, S, np.zeros(S.size), self.coef_[:, S].T) + self.intercept_
        return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
