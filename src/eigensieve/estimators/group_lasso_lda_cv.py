"""`GroupLassoLDA` with its penalty and its number of directions chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.model_selection import check_cv
from sklearn.utils.validation import indexable

from ..errors import InputError
from ..pencil.budget import Budget
from ..pencil.checks import check_choice
from ..pencil.solution import Status
from ..scoring.gloss import make_search
from ..scoring.options import check_alpha, check_alphas, check_method
from ..scoring.penalty_search import solve_at, solve_path
from ..scoring.scoring import ScoringProblem
from ..scoring.solution import TOL
from ._gloss import GLOSS_RULES, GlossClassifier
from ._rules import check_priors, check_rule, make_rule
from ._shared import warn_or_reraise
from ._validation import read_columns

SELECTIONS = ("best", "one-se")


class GroupLassoLDACV(GlossClassifier):
    """`GroupLassoLDA` whose penalty and number of directions are chosen by cross-validation.

    Every fold follows the path of penalties on its training rows, each from the one before. The
    error is that on the rows left out; the model is then fitted to all rows. The error of the
    choice is optimistic, being the smallest of many: for an honest one cross-validate this
    estimator.

    Parameters
    ----------
    alphas : penalties as shares of lambda_max (of each fold's own), below 1
        By default 14, from 1 / sqrt(2) to 1/128.
    within, weights, ridge, rule, priors, solver, tol : as in `GroupLassoLDA`
    n_components : int, optional
        The number of directions; by default chosen together with alpha.
    cv : int, splitter or iterable, default 10
        Stratified folds for a number.
    selection : "best" or "one-se"
        The smallest mean error over the folds; or the largest alpha, then the fewest directions,
        whose error is within one standard error of it (folds counted as independent). Ties always
        go to the larger alpha, then to fewer directions.
    n_jobs : folds at once; the result does not depend on it

    Attributes
    ----------
    alphas_ : array (m,), descending
    errors_ : array (m, n_components, n_folds)
        Error rate for each alpha, 1, 2, ... directions (up to what was asked for), and fold.
    cv_error_, cv_error_se_ : its mean over the folds for what was chosen, and standard error
    alpha_, n_components_, and all else : as in `GroupLassoLDA`, for the model fitted to all rows

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import GroupLassoLDACV
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 200)), np.repeat(["a", "b", "c"], 20)
    >>> X[20:40, :4] += 2
    >>> X[40:, :4] -= 2
    >>> lda = GroupLassoLDACV(cv=5, selection="one-se").fit(X, y)
    >>> lda.n_components_, lda.get_support(indices=True).tolist()
    (1, [0, 1, 2, 3])
    """

    _fits_blocks = False  # rows are taken out again and again

    def __init__(
        self,
        alphas: ArrayLike | None = None,
        *,
        within: str = "full",
        weights: ArrayLike | str | None = None,
        ridge: Any = 0.0,
        n_components: int | None = None,
        rule: str = "lda",
        priors: ArrayLike | None = None,
        cv: Any = 10,
        selection: str = "best",
        solver: str = "auto",
        tol: float = TOL,
        n_jobs: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.within = within
        self.weights = weights
        self.ridge = ridge
        self.n_components = n_components
        self.rule = rule
        self.priors = priors
        self.cv = cv
        self.selection = selection
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> GroupLassoLDACV:
        """Choose, and fit to all rows; ``groups`` are for a cv that keeps them together."""
        tol = check_method(self.solver, self.tol)
        check_choice(self.selection, "selection", SELECTIONS)
        alphas = self._check_alphas()
        check_rule(self.rule, self.priors, GLOSS_RULES)
        with self._watched(X, y):
            data, code = self._take_data(X, y)
            data = data.tocsr() if sparse.issparse(data) else data  # rows are taken out of it
            most = self._count_directions()
            budget = Budget(callback=self._tasks)
            # what is wrong with the options is told here, once
            problem = ScoringProblem.from_data(data, code, **self._problem_options())
            search = make_search(problem, self.solver, tol, budget)
            self.alphas_ = alphas
            splits, folds = self._split(data, code, groups), []
            for found in Parallel(n_jobs=self.n_jobs, return_as="generator")(
                delayed(self._path_errors)(data, code, *split, most) for split in splits
            ):
                folds.append(found)
                budget.report("gloss", "folds", len(folds), total=len(splits))
            self.errors_ = np.stack([errors for errors, _ in folds], axis=2)
            i, m = self._choose(fixed=None if self.n_components is None else most)
            chosen = self.errors_[i, m - 1]
            self.cv_error_, self.cv_error_se_ = float(chosen.mean()), _standard_error(chosen)
            with budget.interruptible():
                solution = solve_at(search, alphas[i])
            self._take_solution(problem, solution, m, (data, code))
            self._tell_of_fewer(m)
            stopped = budget.stop() or solution.status
            if not stopped.is_early and not all(converged for _, converged in folds):
                stopped = Status.ITERATION_LIMIT
            warn_or_reraise(stopped, solution)
            return self

    def _check_alphas(self) -> np.ndarray:
        alphas = check_alphas(self.alphas)
        if self.alphas is None:
            return alphas[1:]
        for alpha in alphas:
            check_alpha(float(alpha), "alphas")
        return alphas

    def _split(
        self, data: Any, code: np.ndarray, groups: ArrayLike | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Row numbers to learn from and to test on."""
        everything, (*_, checked) = np.arange(data.shape[0]), indexable(data, groups)
        splitter = check_cv(self.cv, code, classifier=True)
        splits = [  # lists and masks, too
            (everything[train], everything[test])
            for train, test in splitter.split(data, code, checked)
        ]
        if not splits or any(test.size == 0 for _, test in splits):
            raise InputError("cv has no folds, or a fold without rows to test on")
        if any(np.unique(code[train]).size < 2 for train, _ in splits):
            raise InputError("a fold has one class only to learn from; use fewer, stratified folds")
        return splits

    def _path_errors(
        self, data: Any, code: np.ndarray, train: np.ndarray, test: np.ndarray, most: int
    ) -> tuple[np.ndarray, bool]:
        """The error rates of one fold, (alphas, directions), and whether all converged."""
        here, counts = np.unique(code[train], return_counts=True)  # a fold may lack a class
        problem = ScoringProblem.from_data(data[train], code[train], **self._problem_options())
        priors = check_priors(
            None if self.priors is None else self.priors_[here], counts / train.size
        )
        own = np.searchsorted(here, code[train])
        errors, converged = np.empty((self.alphas_.size, most)), True
        search = make_search(problem, self.solver, self.tol, Budget())
        for i, solution in enumerate(solve_path(search, self.alphas_)):
            S, converged = solution.support, converged and solution.is_certified
            V, _ = problem.discriminate(S, solution.rows, solution.penalty)
            few = read_columns(data, S) - problem.mean[S]
            Z, Z_test = (few[rows] @ V for rows in (train, test))
            guess = here[np.full(test.size, priors.argmax())]
            for m in range(most):
                if m < V.shape[1]:
                    rule = make_rule(self.rule, Z[:, : m + 1], own, priors)
                    guess = here[rule.scores(Z_test[:, : m + 1]).argmax(axis=1)]
                errors[i, m] = np.mean(guess != code[test])
        return errors, converged

    def _choose(self, fixed: int | None) -> tuple[int, int]:
        """The index of alpha, and the number of directions."""
        mean = self.errors_.mean(axis=2).round(12)  # round-off does not decide
        sizes = range(1, mean.shape[1] + 1) if fixed is None else [fixed]
        options = [(i, m) for i in range(len(mean)) for m in sizes]  # in order of preference
        best = min(options, key=lambda o: mean[o[0], o[1] - 1])
        if self.selection == "best":
            return best
        limit = mean[best[0], best[1] - 1] + _standard_error(self.errors_[best[0], best[1] - 1])
        return next(o for o in options if mean[o[0], o[1] - 1] <= limit)


def _standard_error(errors: np.ndarray) -> float:
    return float(errors.std(ddof=1) / np.sqrt(errors.size)) if errors.size > 1 else 0.0
