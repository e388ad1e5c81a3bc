"""Sparse principal components with exactly k features each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)

from ..errors import InputError, OptionError
from ..pencil.checks import check_k
from ..pencil.pencil import Pencil
from ..pencil.solution import Solution
from ..search.deflation import check_deflation, deflate, explained_variances
from ..search.near_optimal.sets import NearOptimalSets
from ..search.solve import finds_jointly, solve, solve_components
from ..tables.builders import PCAProblem, pca_problem
from ._callbacks import WatchedFit, is_last
from ._partial import check_fitted, counting, take_part, wait_for_more
from ._projected import project_rows
from ._shared import (
    check_certificate,
    check_solver_options,
    clip_components,
    clip_k,
    is_left_to_penalty,
    limits_by_index,
    list_near_optimal,
    search_options,
    warn_or_reraise,
    with_certificate,
)
from ._validation import validate_table


@contextmanager
def _naming(component: int) -> Iterator[None]:
    """A later component may be too much for what suits the first: say which one it was."""
    try:
        yield
    except OptionError as error:
        if component == 1:
            raise
        raise OptionError(f"component {component}: {error}") from error


class SparsePCA(WatchedFit, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components that use exactly k features each.

    Parameters
    ----------
    n_components : int, default 2
        Clipped to min(n_samples - 1, n_features), with a warning.
    n_features_to_select : int, or one int per component, default 10
        k. More than there are is clipped, with a warning. None for as many as a penalty leaves,
        for solvers that have an option ``rho``; with a penalty k is the most there may be.
    solver : str, default "auto"
        Greedy search, then an exact one as far as ``effort`` goes: a solution is proved to be the
        best, or tells the gap that is left. See `eigensieve.available_solvers`. "spca" finds all
        components at once.
    effort : "quick", "normal", "high" or a number, default "normal"
        How much work solver "auto" may do for the proof of a component: roughly a number
        of seconds (0.3, 3 and 30), but counted in arithmetic, so that the result is the same
        on every machine. With 0 nothing is searched but what greedy search finds. Other solvers
        do not use it.
    deflation : "projection", "schur", "hotelling" or "orthogonalized-hotelling"
        How a component is taken out before the next is sought; of no use to "spca".
    constraints : dict, optional
        Limits on groups of features and on costs that every component keeps: groups, at_most,
        at_least, whole, costs and max_cost, as in `eigensieve.solve`; groups list names, indices or
        a mask. "spca" keeps none.
    certificate : "root" or "none", default "root"
        "root": a search that proves nothing (greedy) is followed by a bound on the best set of
        k features, where that is cheap; each component's is that of the pencil the earlier ones
        were taken out of, in ``solutions_[i].bound``. "none": no bound; solver "auto" then ends
        with greedy search.
    time_limit : seconds for each component
    solver_options : dict of options of that solver
        ``rho``, where there is one, may be a number or one number per component.
    random_state : seed, for solvers with random starts; None is 0

    Attributes
    ----------
    components_ : array (n_components, n_features), unit norm, zero outside k features each
        (on those an entry may happen to be zero, too); for "spca" its own, shrunk loadings
    mean_ : array (n_features,)
    solutions_ : list of Solution, one per component; each belongs to the pencil that the
        earlier components were taken out of, for "spca" to the pencil of the data. One that is
        optimal has the best k features of that pencil; together the components may still be
        improved on
    solution_ : the first of them
    support_ : mask (n_features,) of the features selected for any component
    selected_features_ : their names (or indices), in column order
    n_components_ : the number of components
    sparsity_ : share of zeros in ``components_``
    explained_variance_, explained_variance_ratio_
        Plain: variance of each component's scores. Correlated scores count twice.
    adjusted_variance_, adjusted_variance_ratio_
        Zou's adjusted variance: what each component adds to the ones before it.
    subspace_variance_, subspace_variance_ratio_
        Cumulative variance inside the span of the components; the ratio of the last is
        the share of the total variance that all of them explain together.
    n_samples_, n_features_in_, feature_names_in_

    Notes
    -----
    Variances have the divisor n - 1, as in scikit-learn's PCA, which is recovered at full
    cardinality. Columns are centred, not scaled: standardise them first for a
    PCA of correlations. Constant columns are never preferred.

    X may be any table of docs/scale.md: dense or sparse (centred on paper only), in memory, on
    disk, on a cluster or on a device (the search then runs on the host). Of one that is not in
    memory a tall one is read once, in blocks of rows, and leaves p x p numbers; of a wide one
    blocks of columns are read as often as the search needs them. The result is that of the table
    in memory.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from eigensieve import SparsePCA
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> pca = SparsePCA(n_components=2, n_features_to_select=4).fit(X)
    >>> (pca.components_ != 0).sum(axis=1).tolist()
    [4, 4]
    >>> float(pca.subspace_variance_ratio_[-1].round(2))
    0.41
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_features_to_select: int | Sequence[int] | None = 10,
        solver: str = "auto",
        effort: float | str = "normal",
        deflation: str = "projection",
        constraints: dict[str, Any] | None = None,
        certificate: str = "root",
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_features_to_select = n_features_to_select
        self.solver = solver
        self.effort = effort
        self.deflation = deflation
        self.constraints = constraints
        self.certificate = certificate
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> SparsePCA:
        """Find the components, one after the other (for "spca" all at once)."""
        self.__dict__.pop("_partial", None)
        self._check_choices()
        n_parts = None if finds_jointly(self.solver) else check_k(self.n_components, "n_components")
        with self._watched(X, n_parts=n_parts):
            table = validate_table(self, X, reset=True, min_samples=2)
            return self._find(pca_problem(table, getattr(self, "feature_names_in_", None)))

    def partial_fit(self, X: Any, y: None = None) -> SparsePCA:
        """Count some more samples, and find the components anew from all that were seen.

        The result is that of `fit` on all samples given so far; those of an earlier `fit` do not
        count. What is kept is p x p numbers: no more than 20,000 features. Every call runs the
        search: give the samples in few, large parts. After a first sample alone nothing is
        fitted yet.
        """
        self._check_choices()
        partial, table = take_part(self, X)
        partial = partial.count(table, np.zeros(table.shape[0], dtype=np.int8), "gram")
        if partial.stats.n_samples < 2:
            wait_for_more(self, partial, "solution_")
            return self
        problem = pca_problem(partial.stats)
        with counting(self, partial):
            return self._find(problem)

    def near_optimal(
        self, X: Any, y: None = None, within: float = 0.01, max_sets: int = 1000, **options: Any
    ) -> NearOptimalSets:
        """All sets of k features whose first component has nearly as much variance as the best.

        Parameters
        ----------
        X : as for `fit`
        within : share of the best variance, 0.01 is one percent
        max_sets : int, how many are listed at most
        **options
            Of `eigensieve.near_optimal`: effort, n_jobs, callback, proof ...

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.preprocessing import StandardScaler
        >>> from eigensieve import SparsePCA
        >>> X = StandardScaler().fit_transform(load_wine().data)
        >>> found = SparsePCA(n_features_to_select=4).near_optimal(X, within=0.05)
        >>> found.n_sets, found.core.tolist()
        (3, [5, 6, 11])
        """
        worker = clone(self)
        table = validate_table(worker, X, reset=True, min_samples=2)
        names = getattr(worker, "feature_names_in_", None)
        problem = pca_problem(table, names)
        asked = limits_by_index(self.constraints, names, problem.pencil.size).as_options()
        ks: Any = self.n_features_to_select
        first = ks if ks is None or np.ndim(ks) == 0 else ks[0]
        k = None if first is None else clip_k(first, problem.pencil.size)
        size = {"within": within, "max_sets": max_sets}
        return list_near_optimal(self, problem.pencil, k, asked, size | options)

    def _check_choices(self) -> None:
        check_deflation(self.deflation)
        check_certificate(self.certificate)

    def _find(self, problem: PCAProblem) -> SparsePCA:
        """The components of the samples' pencil."""
        self.n_samples_, self.mean_, pencil = problem.n_samples, problem.mean, problem.pencil
        ks = self._cardinalities(self.n_samples_, pencil.size)
        search = self._search_jointly if finds_jointly(self.solver) else self._search
        self.components_, self.solutions_ = search(pencil, ks, self._options(ks))
        self.solution_ = self.solutions_[0]
        self.support_ = np.zeros(pencil.size, dtype=bool)
        self.support_[np.concatenate([s.support for s in self.solutions_])] = True
        names = getattr(self, "feature_names_in_", np.arange(pencil.size))
        self.selected_features_ = names[self.support_]
        self.n_components_ = self._n_features_out = len(self.components_)
        self.sparsity_ = float(np.mean(self.components_ == 0))
        self._set_variances(pencil)
        for solution in self.solutions_:
            warn_or_reraise(solution.status, solution)
        return self

    def _cardinalities(self, n: int, p: int) -> list[int | None]:
        """k of every component; None where a penalty decides."""
        what = f"{n} samples of {p} features"
        m = check_k(self.n_components, "n_components")
        m = clip_components(m, min(n - 1, p), what, stacklevel=5)
        ks: Any = self.n_features_to_select
        if is_left_to_penalty(ks, self.solver_options):
            return [None] * m
        if np.ndim(ks) == 0:
            return [clip_k(ks, p)] * m
        if len(ks) != self.n_components:
            raise InputError(
                f"n_features_to_select is {ks!r}; give one number, or one for each of the "
                f"{self.n_components} components"
            )
        each: list[int | None] = [clip_k(k, p) for k in ks]
        return each[:m]

    def _options(self, ks: list[int | None]) -> list[dict[str, Any]]:
        """The penalty of every component, if there is one: a list of them is dealt out."""
        rho: Any = check_solver_options(self.solver_options).get("rho")
        if np.ndim(rho) == 0:
            return [{} if rho is None else {"rho": rho}] * len(ks)
        if len(rho) != self.n_components:
            raise InputError(
                f"rho is {rho!r}; give one number, or one for each of the "
                f"{self.n_components} components"
            )
        return [{"rho": r} for r in rho][: len(ks)]

    def _search(
        self, pencil: Pencil, ks: list[int | None], options: list[dict[str, Any]]
    ) -> tuple[np.ndarray, list[Solution]]:
        """One component after the other, each from what the earlier ones leave."""
        names = getattr(self, "feature_names_in_", None)
        limits = limits_by_index(self.constraints, names, pencil.size)
        common = search_options(self, len(ks)) | limits.as_options()
        solutions: list[Solution] = []
        for k, own in zip(ks, options):
            i = len(solutions) + 1
            with _naming(i), self._part(f"component {i}") as part:
                solution = solve(pencil, k, **(common | own))
                found = with_certificate(self.certificate, solution, pencil, constraints=limits)
                solutions.append(found)
            if is_last(solution, part):
                break
            if len(solutions) < len(ks):
                vectors = np.column_stack([s.vectors[:, 0] for s in solutions])
                pencil = deflate(pencil, vectors, self.deflation)
        return np.vstack([s.vectors[:, 0] for s in solutions]), solutions

    def _search_jointly(
        self, pencil: Pencil, ks: list[int | None], options: list[dict[str, Any]]
    ) -> tuple[np.ndarray, list[Solution]]:
        """All components at once, with the solver's own loadings."""
        if self.constraints is not None:
            raise OptionError(
                f"solver {self.solver!r} cannot keep constraints: it finds all components at once"
            )
        own = search_options(self)
        if own.get("rho") is not None:
            own["rho"] = [each["rho"] for each in options]
        if self.time_limit is not None:
            own["time_limit"] = self.time_limit * len(ks)
        loadings, solutions = solve_components(pencil, ks, **own)
        return loadings.T, [with_certificate(self.certificate, s, pencil) for s in solutions]

    def _set_variances(self, pencil: Pencil) -> None:
        unbiased = self.n_samples_ / (self.n_samples_ - 1)
        total = max(float(pencil.diag_A.sum()), np.finfo(float).tiny)
        measures = explained_variances(pencil, self.components_.T)
        for name, variance in zip(("explained", "adjusted", "subspace"), measures):
            setattr(self, f"{name}_variance_", variance * unbiased)
            setattr(self, f"{name}_variance_ratio_", variance / total)

    def transform(self, X: Any) -> np.ndarray:
        """Scores of the rows on the components, (n, n_components)."""
        check_fitted(self, "solution_")
        table = validate_table(self, X, reset=False)
        S = np.flatnonzero(self.support_)
        return project_rows(table, S, self.mean_[S], self.components_[:, S].T)

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Rows in the span of the components that have these scores (least squares)."""
        check_fitted(self, "solution_")
        scores = np.asarray(X, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != len(self.components_):
            raise InputError(
                f"X must be scores of {len(self.components_)} components; it is {scores.shape}"
            )
        return scores @ np.linalg.pinv(self.components_.T) + self.mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask, or indices, of the features used by any component."""
        check_fitted(self, "solution_")
        return np.flatnonzero(self.support_) if indices else self.support_
