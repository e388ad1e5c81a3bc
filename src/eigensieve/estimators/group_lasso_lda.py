"""Group-lasso optimal scoring (GLOSS and GLOSS-D) as a classifier."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.solution import Status
from ..scoring.gloss import make_search
from ..scoring.options import check_alpha, check_method
from ..scoring.penalty_search import solve_at, solve_for
from ..scoring.scoring import ScoringProblem
from ..scoring.solution import TOL
from ..tables.column_statistics import class_sums
from ._gloss import GLOSS_RULES, GlossClassifier, tell_if_not
from ._partial import add_part, counting, wait_for_more
from ._rules import check_priors, check_rule
from ._shared import clip_k, warn_or_reraise


class GroupLassoLDA(GlossClassifier):
    """Sparse LDA whose directions share their features (GLOSS: Sanchez Merchante et al. 2012).

    The class scores are regressed on the features, with a group lasso that uses a feature in all
    directions or in none::

        minimise  1/2 |T - XB|^2 + lambda sum_j w_j |beta_j|,   T orthonormal scores of the classes.

    The problem is convex. Its solution is that of an LDA whose within-class covariance is
    ``S = S_w + ridge + (lambda / n) diag(w_j / |beta_j|)``.

    Parameters
    ----------
    n_features_to_select : int, default 10
        The penalty is chosen such that so many features are used. A path may skip a number: then
        the nearest one is taken, with a warning.
    alpha : float, below 1, optional
        The penalty as a share of lambda_max, at which no feature is left; overrides
        n_features_to_select.
    within : "full" or "diagonal"
        The covariance within the classes, S_w: as it is (GLOSS), or without correlations (GLOSS-D),
        which is more robust for few samples.
    weights : array (n_features,), "std", optional
        w > 0, the price of each feature; 1 by default. "std": the standard deviations, which is as
        if the columns were standardised.
    ridge : float or matrix (n_features, n_features), default 0
        A quadratic penalty, added to S_w: a number times the identity, or a symmetric positive
        semidefinite matrix, dense or scipy.sparse, such as squared second differences for smooth
        directions.
    n_components : int, optional
        The number of directions, the leading ones; by default all, at most n_classes - 1.
    rule : "lda", "penalized", "centroid" or "1-nn"
        How the projected rows are classified. "lda": LDA with their own covariance within the
        classes. "penalized": the paper's, the penalised LDA itself with covariance S; with few
        features the penalty makes S large, the priors decide, and rare classes are never predicted.
        Nearest class mean; nearest row.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities, for "lda" and "penalized"; the frequencies by default, equal
        if "balanced".
    solver : "auto", "working-set", "dual" or "variational"
        The problem has one optimum, as a rule; ``solution_.status`` says whether it was reached.
        "auto" is the dual for within="diagonal" (with at most 21 classes, and columns that vary
        within them), else the working set; "variational" is the paper's algorithm, for comparison:
        hundreds of times slower, and with a ConvergenceWarning where 50,000 linear systems do not
        suffice.
    tol : float, default 1e-10
        How far the optimality conditions may be off, as a share of lambda w_j.
    time_limit : seconds for the search

    Attributes
    ----------
    scalings_ : array (n_features, n_components), V with V'SV = I
    n_components_ : the number of directions
    eigenvalues_ : of the covariance between the classes against S, descending
    explained_variance_ratio_ : share of each direction in the sum over all directions there are
    sparsity_ : share of zeros in ``scalings_``
    support_ : mask (n_features,) of the features that are used
    selected_features_ : their names (or indices), in column order
    solution_ : GroupLassoSolution
        The minimiser, with its gap, optimality conditions and status; it belongs to
        ``ScoringProblem.from_data(X, y, within=..., weights=..., ridge=...)``.
    alpha_, lambda_, lambda_max_ : the penalty that was used, and the least that leaves nothing
    kkt_ : how far the optimality conditions are off, as a share of lambda w_j
    classes_, priors_, means_, xbar_, coef_, intercept_
        As in scikit-learn's LinearDiscriminantAnalysis; rule "1-nn" has no ``coef_`` and
        ``intercept_``.
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    X may be any table of docs/scale.md: dense or sparse, in memory, on disk, on a cluster or on a
    device (the search then runs on the host). Of one that is not in memory a tall one is read once,
    in blocks of rows, and leaves p x p numbers; of a wide one blocks of columns are read as often
    as the search needs them (once, with within="diagonal"). The result is that of the table in
    memory.

    The scale of a column matters, as in a lasso: standardise columns of different units, or use
    weights="std". Probabilities are those of Gaussians with the covariance of the rule.

    Constant columns are never used. Of identical columns the first is (or that of least weight);
    with a ridge, or within="diagonal", identical columns share their weight, and enter together.
    A class may have one sample. With two classes there is one direction, and the group lasso is
    the lasso: at most n - 1 features are used, without a ridge.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import GroupLassoLDA
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 500)), np.repeat(["a", "b", "c"], 20)
    >>> X[20:40, :4] += 2
    >>> X[40:, 4:8] += 2
    >>> lda = GroupLassoLDA(n_features_to_select=8).fit(X, y)
    >>> lda.get_support(indices=True).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> lda.transform(X).shape, round(lda.score(X, y), 2)
    ((60, 2), 0.97)
    >>> lda.solution_.is_certified
    True
    """

    def __init__(
        self,
        n_features_to_select: int = 10,
        *,
        alpha: float | None = None,
        within: str = "full",
        weights: ArrayLike | str | None = None,
        ridge: Any = 0.0,
        n_components: int | None = None,
        rule: str = "lda",
        priors: ArrayLike | None = None,
        solver: str = "auto",
        tol: float = TOL,
        time_limit: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.within = within
        self.weights = weights
        self.ridge = ridge
        self.n_components = n_components
        self.rule = rule
        self.priors = priors
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: ArrayLike | None = None) -> GroupLassoLDA:
        """Find the features, the directions and the rule."""
        self.__dict__.pop("_partial", None)
        self._check_options()
        with self._watched(X, y):
            data, code = self._take_data(X, y)
            m = self._count_directions()
            k = None if self.alpha is not None else clip_k(self.n_features_to_select, data.shape[1])
            sums, training = class_sums(data, code), (data, code)
            if sums is None:
                problem = ScoringProblem.from_data(data, code, **self._problem_options())
            else:
                problem = ScoringProblem.from_stats(sums, **self._problem_options())
            by_sums = sums is not None and self.rule != "1-nn"
            return self._finish(problem, sums if by_sums else training, k, m)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> GroupLassoLDA:
        """Count some more samples, and find everything anew from all that were seen.

        The result is that of `fit` on all samples given so far; those of an earlier `fit` do not
        count. What is kept is p x p numbers: no more than 20,000 features. Every call runs the
        search: give the samples in few, large parts. Not for rule "1-nn", which needs all rows.

        Parameters
        ----------
        X : some samples, as for `fit`
        y : their labels
        classes : all labels there will ever be, optional
            Needed if the first samples are of one class only: the estimator is then not fitted
            until a second one has come.
        """
        self._check_options()
        if self.rule == "1-nn":
            raise OptionError(
                "rule '1-nn' needs all training rows, which partial_fit does not keep; use "
                "'lda', 'penalized' or 'centroid'"
            )
        partial = add_part(self, X, y, "gram", classes)
        if not partial.is_enough():
            wait_for_more(self, partial, "scalings_")
            return self
        stats = partial.stats
        problem = ScoringProblem.from_stats(stats, **self._problem_options())
        self.classes_ = stats.classes
        self.priors_ = check_priors(self.priors, stats.priors)
        m = self._count_directions()
        k = None if self.alpha is not None else clip_k(self.n_features_to_select, stats.n_features)
        with counting(self, partial):
            return self._finish(problem, stats, k, m)

    def _check_options(self) -> None:
        check_method(self.solver, self.tol)
        if self.alpha is not None:
            check_alpha(self.alpha)
        check_rule(self.rule, self.priors, GLOSS_RULES)

    def _finish(
        self, problem: ScoringProblem, training: Any, k: int | None, m: int
    ) -> GroupLassoLDA:
        """The minimiser with k features, or at the penalty alpha, and all that follows from it."""
        budget = Budget(self.time_limit, callback=self._tasks)
        with budget.interruptible():
            search = make_search(problem, self.solver, float(self.tol), budget)
            if k is not None:
                solution = solve_for(search, k)
            else:
                assert self.alpha is not None
                solution = solve_at(search, self.alpha)
        stopped = budget.stop()
        if stopped is Status.INTERRUPTED and solution.support.size == 0:
            raise KeyboardInterrupt
        self._take_solution(problem, solution, m, training)
        self._tell_of_fewer(m, stacklevel=4)
        if k is None:
            # at a time limit what was asked for may be there all the same: its status tells
            stopped = None if stopped is Status.TIME_LIMIT else stopped
            warn_or_reraise(stopped or solution.status, solution, stacklevel=4)
            return self
        kept = f"{solution}; {k} features were asked for"
        warn_or_reraise(stopped or solution.status, kept, stacklevel=4)
        if stopped is None:
            tell_if_not(k, solution.support.size, solution.alpha, stacklevel=4)
        return self
