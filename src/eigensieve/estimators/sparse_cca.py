"""Sparse canonical correlations: two views, exactly k features of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError, OptionError
from ..pencil.checks import as_seed, check_k
from ..pencil.constraints import Constraints
from ..pencil.pencil import Pencil
from ..pencil.solution import Solution, Status
from ..search.deflation import deflate_views, own_directions
from ..search.near_optimal.sets import NearOptimalSets
from ..search.solve import solve
from ..tables.view_builders import (
    CentredViews,
    ViewShrinkage,
    cca_pencil_from_views,
    centre_views,
    permute_second_view,
)
from ._callbacks import WatchedFit, is_last
from ._permutation import PermutationTest
from ._shared import (
    check_certificate,
    clip_components,
    clip_k,
    is_left_to_penalty,
    limits_by_index,
    list_near_optimal,
    search_options,
    warn_or_reraise,
    with_certificate,
)
from ._views import (
    TwoViews,
    names_of_both,
    pearson,
    per_view,
    split_views,
    unit_variance,
)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The training data, reduced to what the search needs."""

    views: CentredViews
    pencil: Pencil
    k: int | tuple[int, int] | None
    constraints: Constraints
    n_components: int


class SparseCCA(
    WatchedFit, TwoViews, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Pairs of directions, one in each of two views, with exactly k features each.

    The rows of both views are the same samples. A component is the pair of weighted sums, one of
    kx columns of X and one of ky columns of Y, with the largest correlation, both covariances
    being shrunk towards their diagonals: that is what makes the choice hold on new samples.

    Parameters
    ----------
    n_components : int, default 1
        Clipped to min(n_samples - 1, features of X, features of Y), with a warning.
    n_features_to_select : int, pair (kx, ky), or dict name -> k, default (10, 10)
        Of each view; one int is for both. More than there are is clipped, with a warning. None
        for as many as a penalty leaves, for solvers with an option ``rho``.
    together : bool, default False
        n_features_to_select is one int, the number in both views together, divided among them as
        the search likes (the problem of Sriperumbudur et al. 2007).
    solver : str, default "auto"
        Greedy search, then an exact one as far as ``effort`` goes: a solution is proved to be the
        best, or tells the gap that is left. See `eigensieve.available_solvers`.
    effort : "quick", "normal", "high" or a number, default "normal"
        How much work solver "auto" may do for the proof of a component: roughly a number
        of seconds (0.3, 3 and 30), but counted in arithmetic, so that the result is the same
        on every machine. With 0 nothing is searched but what greedy search finds. Other solvers
        do not use it.
    shrinkage : "auto", float in [0, 1], or a pair or dict of those, one per view
        Weight s of the diagonal in (1-s) S + s diag(S).
    constraints : dict, optional
        Limits on groups of features and on costs that every component keeps: groups, at_most,
        at_least, whole, costs and max_cost, as in `eigensieve.solve`. Features are numbered
        through: X's, then Y's; names serve where the columns of both views have names and no name
        is in both.
    certificate : "root" or "none", default "root"
        "root": a search that proves nothing (greedy) is followed by a bound on the best sets of
        as many features, where that is cheap; each component's is that of the pencil the earlier
        ones were taken out of, in ``solutions_[i].bound``. "none": no bound; solver "auto" then
        ends with greedy search.
    time_limit : seconds for each component
    solver_options : dict of options of that solver
    random_state : seed, for solvers with random starts; None is 0

    Attributes
    ----------
    x_weights_, y_weights_ : arrays (features of the view, n_components)
        Zero outside the chosen features. Training scores have unit variance (divisor n), the
        largest x weight is positive and the training correlation is not negative.
    x_mean_, y_mean_ : column means of the views
    correlations_ : array (n_components,)
        Pearson correlations of the training scores. They are optimistic, the more so the more
        columns there were to choose from: see `correlations` for new rows and
        `permutation_test`.
    solutions_ : list of Solution, one per component; each belongs to the pencil that the
        earlier components were taken out of. Features are numbered through: X's, then Y's.
    solution_ : the first of them
    support_ : pair of masks of the features selected for any component
    selected_features_ : pair of their names (or indices), in column order
    n_components_ : the number of components
    sparsity_ : share of zeros in the weights of both views
    shrinkage_ : pair, the shrinkage used
    view_names_ : pair, the names of a mapping's views; ("X", "Y") otherwise
    n_features_in_, feature_names_in_ : of X, as everywhere in scikit-learn
    y_feature_names_in_ : of Y, if its columns have names

    Notes
    -----
    Without shrinkage and with all features it is classical CCA. Constant columns are never
    preferred; of identical columns any may be taken, and with shrinkage several: copies count as
    more evidence. The scale of a column does not matter.
    If a view has no part in a component (its correlation is zero) its weights are zero. Sparse
    views are centred on paper, and never filled in.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import SparseCCA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(100, 1))
    >>> X, Y = rng.normal(size=(100, 300)), rng.normal(size=(100, 200))
    >>> X[:, :3] += shared
    >>> Y[:, 5:7] += shared
    >>> cca = SparseCCA(n_features_to_select=(3, 2)).fit(X, Y)
    >>> [chosen.tolist() for chosen in cca.get_support(indices=True)]
    [[0, 1, 2], [5, 6]]
    >>> float(cca.correlations_[0].round(2))
    0.63
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        n_features_to_select: int | Sequence[int] | Mapping[Any, int] | None = (10, 10),
        together: bool = False,
        solver: str = "auto",
        effort: float | str = "normal",
        shrinkage: ViewShrinkage | Mapping[Any, float | str] = "auto",
        constraints: dict[str, Any] | None = None,
        certificate: str = "root",
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_features_to_select = n_features_to_select
        self.together = together
        self.solver = solver
        self.effort = effort
        self.shrinkage = shrinkage
        self.constraints = constraints
        self.certificate = certificate
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    # -- fitting -------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> SparseCCA:
        """Find the components, one after the other.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, p), the first view; or both views, as a mapping
            name -> table (first, second) or a MuData
        y : array, frame or sparse matrix (n, q), or (n,), the second view; None if X holds both
        """
        with self._watched(X, y, check_k(self.n_components, "n_components")):
            data = self._prepare(X, y)
            self.solutions_ = self._search(data)
            self.solution_ = self.solutions_[0]
            self._set_weights(data)
            for solution in self.solutions_:
                warn_or_reraise(solution.status, solution)
            return self

    def near_optimal(
        self, X: Any, y: Any = None, within: float = 0.01, max_sets: int = 1000, **options: Any
    ) -> NearOptimalSets:
        """All sets of features whose first correlation is nearly as large as the best one.

        Features are numbered through: X's, then Y's.

        Parameters
        ----------
        X, y : as for `fit`
        within : share of the best correlation, 0.01 is one percent
        max_sets : int, how many are listed at most
        **options
            Of `eigensieve.near_optimal`: effort, n_jobs, callback, proof ...
        """
        data = clone(self)._prepare(X, y)
        size = {"within": within, "max_sets": max_sets}
        asked = data.constraints.as_options()
        return list_near_optimal(self, data.pencil, data.k, asked, size | options)

    def _prepare(self, X: Any, y: Any) -> _Prepared:
        views = split_views(X, y)
        check_certificate(self.certificate)
        self._require_both(views)
        first, second = self._validate(views, reset=True)
        self.view_names_ = views.names
        # that of a sparse table is a row of a matrix
        self.x_mean_ = np.asarray(first.mean(axis=0, dtype=np.float64)).ravel()
        self.y_mean_ = np.asarray(second.mean(axis=0, dtype=np.float64)).ravel()
        k = self._cardinality(views.names)
        m = self._count_components(first.shape[0])
        shrinkage: Any = self.shrinkage
        if isinstance(shrinkage, Mapping):
            shrinkage = per_view(shrinkage, views.names, "shrinkage")
        names = [getattr(self, f"{v}feature_names_in_", None) for v in ("", "y_")]
        centred = centre_views(first, second, shrinkage, names)
        self.shrinkage_ = centred.shrinkage
        limits = limits_by_index(
            self.constraints, names_of_both(names), self.x_mean_.size + self.y_mean_.size
        )
        return _Prepared(centred, cca_pencil_from_views(centred), k, limits, m)

    def _cardinality(self, names: tuple[Any, Any]) -> int | tuple[int, int] | None:
        """k as `solve` wants it: one per view, one for both together, or None with a penalty."""
        ks: Any = self.n_features_to_select
        px, py = self.x_mean_.size, self.y_mean_.size
        if not isinstance(self.together, bool | np.bool_):
            raise OptionError(f"together is {self.together!r}; it must be True or False")
        if is_left_to_penalty(ks, self.solver_options):
            return None
        if self.together:
            if np.ndim(ks) or isinstance(ks, Mapping):
                raise OptionError(
                    f"n_features_to_select is {ks!r}; together=True takes one number for both "
                    "views, such as 20"
                )
            return clip_k(ks, px + py, " of both views")
        kx, ky = per_view(ks, names, "n_features_to_select")
        kx = clip_k(kx, px, f" of view {names[0]!r}")
        return kx, clip_k(ky, py, f" of view {names[1]!r}")

    def _count_components(self, n: int) -> int:
        px, py = self.x_mean_.size, self.y_mean_.size
        what = f"{n} samples of {px} and {py} features"
        m = check_k(self.n_components, "n_components")
        return clip_components(m, min(n - 1, px, py), what, stacklevel=5)

    def _search(self, data: _Prepared) -> list[Solution]:
        options = search_options(self, data.n_components) | data.constraints.as_options()
        pencil = data.pencil
        solutions: list[Solution] = []
        for i in range(1, data.n_components + 1):
            with self._part(f"component {i}") as part:
                solution = solve(pencil, data.k, **options)
                counts = solution.k if self.together else _counts(pencil, solution)
                about = {"k": counts, "constraints": data.constraints}
                solutions.append(with_certificate(self.certificate, solution, pencil, **about))
            if is_last(solution, part):
                break
            if len(solutions) < data.n_components:
                pencil = deflate_views(pencil, solution)
        return solutions

    def _set_weights(self, data: _Prepared) -> None:
        (x_rows, y_rows), px = data.views.rows, self.x_mean_.size
        pairs = [own_directions(data.pencil, solution) for solution in self.solutions_]
        x, x_scores = unit_variance(x_rows, np.column_stack([u[:px] for u, _ in pairs]))
        y, y_scores = unit_variance(y_rows, np.column_stack([v[px:] for _, v in pairs]))
        peaks = x[np.abs(x).argmax(axis=0), np.arange(x.shape[1])]
        covariances = np.einsum("ij,ij->j", x_scores, y_scores)
        x_signs = np.where(peaks < 0, -1.0, 1.0)
        y_signs = np.where(covariances * x_signs < 0, -1.0, 1.0)
        self.x_weights_, self.y_weights_ = x * x_signs, y * y_signs
        self.correlations_ = np.minimum(np.abs(covariances), 1.0)
        chosen = np.zeros(data.pencil.size, dtype=bool)
        chosen[np.concatenate([s.support for s in self.solutions_])] = True
        self.support_ = chosen[:px], chosen[px:]
        labels = (getattr(self, f"{v}feature_names_in_", None) for v in ("", "y_"))
        self.selected_features_ = tuple(
            np.flatnonzero(mask) if names is None else names[mask]
            for mask, names in zip(self.support_, labels)
        )
        self.n_components_ = self._n_features_out = len(self.solutions_)
        self.sparsity_ = float(np.mean(np.vstack([self.x_weights_, self.y_weights_]) == 0))

    # -- using ---------------------------------------------------------------------

    def correlations(self, X: Any, y: Any = None) -> np.ndarray:
        """Pearson correlation of the scores of these rows, per component.

        On rows that the fit has not seen this is the honest figure. Constant scores count 0.
        """
        check_is_fitted(self, "x_weights_")
        views = self._open(X, y)
        self._require_both(views)
        scores = self._scores(views)
        if len(scores[0]) < 2:
            raise InputError("a correlation needs at least two rows; X has one")
        return pearson(*scores)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `correlations` over the components."""
        return float(self.correlations(X, y).mean())

    def permutation_test(
        self,
        X: Any,
        y: Any = None,
        *,
        n_permutations: int = 100,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> PermutationTest:
        """Compare what the search maximises with what it finds in rows of Y out of order.

        The features are searched anew in every permutation. All components are compared with
        the *first* of the permuted data: for the later ones that is conservative. A fitted
        estimator is neither needed nor changed. ``time_limit`` holds for every single search.

        Parameters
        ----------
        X, y : the views, as in `fit`
        n_permutations : int
            The smallest p-value possible is 1 / (1 + n_permutations).
        n_jobs : threads, as in joblib; the result does not depend on it
        random_state : seed of the permutations; None is 0
        """
        number = check_k(n_permutations, "n_permutations")
        worker = clone(self).set_params(certificate="none")
        options = search_options(worker, 1 + number)
        data = worker._prepare(X, y)
        options |= data.constraints.as_options()
        found = worker._search(data)
        _stop_if_interrupted(found[-1])
        seeds = np.random.RandomState(as_seed(random_state)).randint(2**31 - 1, size=number)
        # threads: the data are not copied, and the arithmetic is that of one process
        null = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_search_permuted)(data, seed, options) for seed in seeds
        )
        early = [s for s in (*found, *null) if s.status.is_early]
        if early:
            warn_or_reraise(early[0].status, f"{len(early)} of {number + len(found)} searches")
        return PermutationTest.of(found, null)

    def get_support(self, indices: bool = False) -> tuple[np.ndarray, ...]:
        """Pair of masks, or of index arrays, of the features used by any component."""
        check_is_fitted(self, "x_weights_")
        return tuple(np.flatnonzero(mask) for mask in self.support_) if indices else self.support_


def _counts(pencil: Pencil, solution: Solution) -> int | list[int]:
    """How many features of each view there are; of both together if a view has none."""
    assert pencil.blocks is not None
    counts = np.bincount(pencil.blocks[solution.support], minlength=2).tolist()
    return counts if all(counts) else solution.k


def _search_permuted(data: _Prepared, seed: int, options: dict[str, Any]) -> Solution:
    order = np.random.default_rng(seed).permutation(data.views.n_samples)
    solution = solve(permute_second_view(data.pencil, data.views, order), data.k, **options)
    _stop_if_interrupted(solution)
    return solution


def _stop_if_interrupted(solution: Solution) -> None:
    """Half a permutation test is none: Ctrl-C ends it at once."""
    if solution.status is Status.INTERRUPTED:
        warn_or_reraise(solution.status, "nothing of the permutation test")
