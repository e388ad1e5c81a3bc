"""Sparse optimal scoring with a lasso, or elastic net, per direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.checks import check_k, check_number
from ..pencil.solution import Status
from ..scoring.optimal_scoring import ScoredDirection, find_scored_directions
from ..scoring.options import check_alpha
from ..scoring.scoring import ScoringProblem
from ..tables.column_statistics import class_contrasts
from ._gloss import tell_if_not
from ._projected import ProjectedClassifier
from ._rules import check_rule, make_rule
from ._shared import clip_k, warn_or_reraise


class SparseOptimalScoring(ProjectedClassifier):
    """Sparse LDA by optimal scoring, every direction with its own features.

    Clemmensen et al. (2011), known as SLDA, or as ``sda`` of the R package sparseLDA: class scores
    and an elastic net in turn, for one direction after the other. It is here for comparison:
    `GroupLassoLDA` solves a convex problem, whose directions share their features, and equals it
    for two classes.

    Parameters
    ----------
    n_features_to_select : int, or one per direction, default 10
        Features of each direction. If no penalty gives exactly so many: the nearest, with a
        warning.
    alpha : float, below 1, optional
        The penalty as a share of the largest that leaves a direction; overrides
        n_features_to_select.
    weights : array (n_features,), "std", optional
        The price of each feature, as in `GroupLassoLDA`.
    ridge : float or matrix (n_features, n_features), default 0
        The quadratic penalty of the elastic net, in units of the covariance (see `GroupLassoLDA`).
    n_components : int, optional
        The number of directions; n_classes - 1 by default.
    rule : "lda", "centroid" or "1-nn"
        How the projected rows are classified: LDA as in the paper, nearest class mean, nearest
        training row.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities for rule "lda"; the frequencies by default, equal if "balanced".
    tol : float, default 1e-6
        Change of the scores at which a direction has converged.
    max_iter : int, default 500
        The most elastic nets for a direction.
    time_limit : seconds for the search

    Attributes
    ----------
    scalings_ : array (n_features, n_components); the projected training rows have variance 1
    supports_ : list of arrays, the features of each direction
    n_components_ : the number of directions; there are fewer than asked for if the penalty leaves
        no feature for the next, or no scores are left
    support_, selected_features_ : the features of any direction
    sparsity_ : share of zeros in ``scalings_``
    theta_ : array (n_classes, n_components), the scores of the classes, variance 1
    solutions_ : list of GroupLassoSolution, the last lasso of each direction
    solution_ : the first of them
    alphas_ : array (n_components,), penalties as shares of the largest that leaves a direction
    n_iter_ : array (n_components,), elastic nets that were solved for the final penalty
    explained_variance_ratio_ : share of each direction in the variance between the classes
    classes_, priors_, means_, xbar_, coef_, intercept_
        As in scikit-learn's LinearDiscriminantAnalysis; rule "1-nn" has no ``coef_`` and
        ``intercept_``.
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    The scale of a column matters: standardise columns of different units. Constant columns are
    never used, of identical ones the first is unless there is a ridge. The criterion is not convex
    for more than two classes: the answer belongs to a start, which is always the same. X may be a
    scipy.sparse matrix, which is centred on paper.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import SparseOptimalScoring
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 200)), np.repeat(["a", "b", "c"], 20)
    >>> X[20:40, :3] += 3
    >>> X[40:, 3:6] += 3
    >>> lda = SparseOptimalScoring([6, 3]).fit(X, y)
    >>> [s.tolist() for s in lda.supports_]
    [[0, 1, 2, 5, 17, 102], [0, 4, 5]]
    >>> round(lda.score(X, y), 2)
    1.0
    """

    _takes_tables, _fits_blocks = True, False

    def __init__(
        self,
        n_features_to_select: int | Sequence[int] = 10,
        *,
        alpha: float | None = None,
        weights: ArrayLike | str | None = None,
        ridge: Any = 0.0,
        n_components: int | None = None,
        rule: str = "lda",
        priors: ArrayLike | None = None,
        tol: float = 1e-6,
        max_iter: int = 500,
        time_limit: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.weights = weights
        self.ridge = ridge
        self.n_components = n_components
        self.rule = rule
        self.priors = priors
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit

    def fit(self, X: Any, y: ArrayLike | None = None) -> SparseOptimalScoring:
        """Find the directions and the rule."""
        check_rule(self.rule, self.priors)
        check_number(self.tol, "tol", 1e-12, 0.1, "a number from 1e-12 to 0.1")
        max_iter = check_k(self.max_iter, "max_iter")
        alpha = None if self.alpha is None else check_alpha(self.alpha)
        with self._watched(X, y):
            budget = Budget(self.time_limit, callback=self._tasks)
            data, code = self._take_data(X, y)
            m = self._count_directions()
            problem = ScoringProblem.from_data(data, code, weights=self.weights, ridge=self.ridge)
            sizes: list[int | None] = [] if alpha is None else [None]
            for k in self._wanted(m) if alpha is None else []:
                sizes.append(clip_k(k, data.shape[1]))  # here: its warning is for the caller's line
            sizes = (sizes * m if len(sizes) == 1 else sizes)[:m]
            with budget.interruptible():
                found = find_scored_directions(
                    problem, sizes, budget, alpha=alpha, tol=self.tol, max_iter=max_iter
                )
            stopped = budget.stop()
            if stopped is Status.INTERRUPTED and not found:
                raise KeyboardInterrupt
            self._describe(problem, found, code)
            self._set_rule(make_rule(self.rule, self._project(data), code, self.priors_))
            warn_or_reraise(stopped, f"{len(found)} of {m} directions")
            if stopped is None:
                self._tell_of_fewer(m)
                for i, (direction, k) in enumerate(zip(found, sizes)):
                    if k is not None:
                        tell_if_not(
                            k, direction.solution.support.size, direction.alpha, f"direction {i}: "
                        )
                if not all(direction.converged for direction in found):
                    slow = [i for i, direction in enumerate(found) if not direction.converged]
                    warn_or_reraise(
                        Status.ITERATION_LIMIT,
                        f"direction {slow[0]} still moves; increase max_iter",
                    )
            return self

    def _wanted(self, m: int) -> list[Any]:
        """The number of features as given: one for all directions, or one for each."""
        wanted: Any = self.n_features_to_select
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            return [wanted]
        sizes = list(wanted)
        asked = m if self.n_components is None else self.n_components
        if len(sizes) != asked:
            raise OptionError(
                f"n_features_to_select is {wanted!r}; it must be one number, or one for each of "
                f"{asked} directions"
            )
        return sizes

    def _describe(
        self, problem: ScoringProblem, found: list[ScoredDirection], code: np.ndarray
    ) -> None:
        scalings = np.zeros((problem.weights.size, len(found)))
        for i, direction in enumerate(found):
            scalings[direction.solution.support, i] = direction.solution.rows[:, 0]
        scores = problem.factor @ scalings
        size = np.sqrt(np.square(scores).sum(axis=0) / problem.n_samples)
        self._set_directions(scalings / size, problem.mean, problem.means)
        self.solutions_ = [d.solution for d in found]
        self.solution_ = self.solutions_[0]
        self.supports_ = [s.support for s in self.solutions_]
        self.alphas_ = np.array([d.alpha for d in found])
        self.n_iter_ = np.array([d.n_iter for d in found])
        first = np.unique(code, return_index=True)[1]
        a = np.column_stack([d.scores for d in found])
        self.theta_ = np.sqrt(len(code)) * class_contrasts(code)[first] @ a
        separation = np.square(problem.target.T @ (scores / size)).sum(axis=0)
        self.explained_variance_ratio_ = separation / separation.sum()
