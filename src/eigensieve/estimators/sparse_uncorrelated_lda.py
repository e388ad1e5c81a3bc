"""Sparse uncorrelated linear discriminant analysis (SULDA)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.checks import check_choice
from ..pursuit.basis_pursuit import check_method, pursue
from ..pursuit.rotation import judge_rotated, pursue_rotated
from ..pursuit.solution import PursuitSolution, judge
from ..pursuit.uncorrelated import RANK_TOL, UncorrelatedFamily
from ._shared import check_solver_options, warn_or_reraise
from ._uncorrelated import UncorrelatedClassifier

ROTATIONS = ("fixed", "best")


class SparseUncorrelatedLDA(UncorrelatedClassifier):
    """Uncorrelated LDA with a sparse solution, of least l1 norm (SULDA: Chu & Zhang 2013).

    For p > n there are many G with G'S_t G = I that separate the classes best. They project the
    training rows on the same scores, up to a rotation of the directions. This is the G of least l1
    norm for one rotation (or the best one, see ``rotation``), or that of least sum of row lengths
    for all of them, proved so by a dual certificate. The number of features is not chosen: at most
    rank(S_t), about n, per direction.

    Parameters
    ----------
    penalty : "l1" or "l21"
        "l1": every direction has its own features, at most rank(S_t) of them. "l21": the directions
        share features, which are fewer in all and do not depend on a rotation of the directions.
    solver : "simplex" or "bregman"
        "simplex": exact. "bregman": the paper's iteration, an approximation, for "l1" only.
    rotation : "fixed" or "best"
        For "l1" and more than two classes the least norm depends on how the directions are rotated.
        "fixed": as the canonical correlations, or the contrasts of the classes, have them (Notes);
        the norm is proved least for this rotation only. "best": the rotation with the least norm is
        sought as well. For three classes it is found and proved, in several times the time; for
        more it is a local search from four starts, with the distance to a bound for every rotation
        in ``solution_.gap_any_rotation``: about a hundred times as slow as "fixed" for four
        classes, a thousand times and more for eight.
    rule : "centroid", "1-nn" or "lda"
        How the projected rows are classified: nearest class mean, nearest training row, LDA. For
        n <= p, as a rule, they agree; use "lda" for n > p, where "centroid" does not see how well
        each direction separates the classes.
    priors : array (n_classes,) or "balanced", optional
        Class probabilities for rule "lda"; the frequencies by default, equal if "balanced".
    rank_tol : float, default 1e-6
        Singular values of the centred rows, columns scaled to unit variance, are zero below this
        share of the largest.
    time_limit : seconds for the search
    solver_options : dict, of "bregman": mu, delta, tau, tol, max_iter
        See `eigensieve.basis_pursuit`.
    device : "cuda", "cuda:1" or another device of torch, optional
        Where to compute the factors, for arrays in memory. None: where X is, hence on the device
        for an array of torch or cupy.

    Attributes
    ----------
    solution_ : PursuitSolution
        The search: norm, bound, gap, residual, status, and with rotation "best" the rotation and
        the bound and gap for any rotation (known without it for two classes, and for "l21"). It
        belongs to ``rows`` and ``target`` of ``UncorrelatedFamily.from_data(X, y)``.
    dual_ : array (n_samples, n_components)
        The certificate in terms of the samples: with Xc the centred rows, ``|Xc'dual_| <= 1``, and
        the sum of ``dual_ * (Xc scalings_)`` is the norm of ``scalings_``: no directions that give
        the training rows the same scores have a smaller one. ("l21": the same for rows of
        ``Xc'dual_``, none of which is longer than 1.)
    scalings_ : array (n_features, n_components), G; n_components is rank(S_b)
    orthogonality_error_ : ``|G'S_t G - I| / sqrt(n_components)``, Frobenius
    n_components_ : the number of directions
    sparsity_ : share of zeros in ``scalings_``
    support_ : mask (n_features,) of the features that any direction uses
    selected_features_ : their names (or indices), in column order
    canonical_correlations_ : array (n_components,), descending; all 1 for independent samples
        Those of the subspace; with rotation "best" not those of single directions.
    explained_variance_ratio_ : share of each direction in the class separation, trace(G'S_b G)
    rank_ : rank(S_t), the most features that a direction uses with "l1"
    classes_, priors_, means_, xbar_, coef_, intercept_
        As in scikit-learn's LinearDiscriminantAnalysis; rule "1-nn" has no ``coef_`` and
        ``intercept_``.
    temperature_ : 1; the scores are divided by it before they become probabilities
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    X may be any table of docs/scale.md: dense or sparse, in memory, on disk, on a cluster or on a
    device. Of all but arrays of numpy the smaller Gram matrix, n x n or p x p, is formed, and
    ``rank_tol`` is not below about 1e-7; wide ones are solved on a set of columns that grows until
    a pass over all columns finds none that could do better. "bregman" takes no wide ones.

    The scale of a column matters, as in a lasso: standardise columns of different units. With more
    independent samples than columns (n > p) there is one solution only, up to a rotation: it is not
    sparse, and with the fixed rotation it is that of `UncorrelatedLDA`.
    Constant columns are never used; of identical columns the first is. Where all canonical
    correlations are 1 the data do not tell how to rotate the directions; with rotation "fixed" they
    are then the Householder contrasts of the classes in sorted order, so that round-off does not
    choose the features.
    Probabilities: as for `UncorrelatedLDA`. After a time limit, or Ctrl-C, the directions that
    "simplex" did not reach are dense, but solutions all the same; those of "bregman" are not: see
    ``solution_.residual``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import SparseUncorrelatedLDA
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 500)), np.repeat(["a", "b"], 20)
    >>> X[20:, :5] += 3
    >>> lda = SparseUncorrelatedLDA().fit(X, y)
    >>> int(lda.support_.sum()), lda.rank_
    (39, 39)
    >>> lda.solution_.is_certified, lda.orthogonality_error_ < 1e-12
    (True, True)

    Two classes have one direction, and no rotation. Three:

    >>> y = np.repeat(["a", "b", "c"], [20, 10, 10])
    >>> fixed = SparseUncorrelatedLDA().fit(X, y).solution_
    >>> best = SparseUncorrelatedLDA(rotation="best").fit(X, y).solution_
    >>> round(fixed.objective, 3), round(best.objective, 3), best.gap_any_rotation < 1e-9
    (4.926, 4.438, True)
    """

    def __init__(
        self,
        penalty: str = "l1",
        *,
        solver: str = "simplex",
        rotation: str = "fixed",
        rule: str = "centroid",
        priors: ArrayLike | None = None,
        rank_tol: float = RANK_TOL,
        time_limit: float | None = None,
        solver_options: dict[str, Any] | None = None,
        device: Any = None,
    ) -> None:
        self.penalty = penalty
        self.solver = solver
        self.rotation = rotation
        self.rule = rule
        self.priors = priors
        self.rank_tol = rank_tol
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.device = device

    def fit(self, X: Any, y: ArrayLike | None = None) -> SparseUncorrelatedLDA:
        """Find the directions of least norm and the rule."""
        check_method(self.penalty, self.solver, check_solver_options(self.solver_options))
        check_choice(self.rotation, "rotation", ROTATIONS)
        if self.rotation == "best" and self.solver == "bregman":
            raise OptionError("rotation 'best' is for solver 'simplex', not 'bregman'")
        with self._watched(X, y):
            self._fit(X, y)
            warn_or_reraise(self.solution_.status, self.solution_)
            if self.solution_.is_certified:
                self._tell_if_inexact()
            elif self.solver == "simplex" and not self.solution_.status.is_early:
                warnings.warn(
                    f"the optimum is not proved: {self.solution_}", ConvergenceWarning, stacklevel=2
                )
            return self

    def _find_directions(self, family: UncorrelatedFamily) -> np.ndarray:
        budget = Budget(self.time_limit, callback=self._tasks)
        with budget.interruptible():
            solution = self._pursue(family, budget)
        self.solution_ = replace(solution, seconds=budget.seconds)
        self.dual_ = family.to_samples(self.solution_.y)
        return self.solution_.x

    def _pursue(self, family: UncorrelatedFamily, budget: Budget) -> PursuitSolution:
        rows, target = family.rows, family.target
        # "l21" does not see a rotation, and one direction has none
        if self.rotation == "best" and self.penalty == "l1" and family.least_dimension > 1:
            found, proof = pursue_rotated(rows, target, budget)
            found = found.in_order(family.correlations)
            x = family.polish(found.x, found.rotation)
            return replace(judge_rotated(rows, target, x, found, proof), n_iter=found.n_iter)
        options = check_solver_options(self.solver_options)
        answer = pursue(rows, target, self.penalty, self.solver, budget, options)
        x = family.polish(answer.x)
        solution = judge(rows, target, x, answer.y, self.penalty, self.solver, answer.stopped)
        return replace(solution, n_iter=answer.n_iter)

    def _separation(self, correlations: np.ndarray, m: int) -> np.ndarray:
        if self.solution_.rotation is None:
            return super()._separation(correlations, m)
        squares = np.square(correlations)
        return squares @ np.square(self.solution_.rotation) / squares.sum()
