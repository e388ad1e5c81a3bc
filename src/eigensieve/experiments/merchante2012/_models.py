"""The discriminants that the paper compares, along their penalties, and how one is chosen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...estimators.gloss_path import gloss_path
from ...estimators.penalized_lda import PenalizedLDA
from ...estimators.sparse_optimal_scoring import SparseOptimalScoring
from ...scoring.penalized_lda import largest_alpha
from ...tables.statistics import ClassStats

HALVES = 0.5 ** np.arange(1.0, 8.0)  # of lambda_max, down to 1/128
TENTHS = np.arange(10, 0, -1) / 10  # of the largest useful penalty of PLDA
TINY = 1e-6  # of the variance of a projection: it may vanish within the classes


@dataclass(frozen=True, eq=False)
class Model:
    """Nearest class mean along some directions.

    Attributes
    ----------
    directions : array (p, m)
    centre : array (p,), the mean of all rows
    means : array (K, p), of the classes 0, 1, ...
    handicaps : array (K,), added to the squared distances; minus twice the logarithms of the priors
    settled : whether the search for the directions ended by itself
    """

    directions: np.ndarray
    centre: np.ndarray
    means: np.ndarray
    handicaps: np.ndarray
    settled: bool = True

    @property
    def selected(self) -> np.ndarray:
        """The features that any direction uses, as a mask."""
        return np.asarray(self.directions.any(axis=1))

    def leading(self, m: int) -> Model:
        """The same with the first m directions at most."""
        return replace(self, directions=self.directions[:, :m])

    def project(self, X: np.ndarray) -> np.ndarray:
        """The rows along the directions."""
        return np.asarray((X - self.centre) @ self.directions)

    def errors(self, X: np.ndarray, code: np.ndarray) -> np.ndarray:
        """Error rates with the first 1, 2, ... directions."""
        apart = np.square(self.project(X)[:, None, :] - self.project(self.means))
        reach = apart.cumsum(axis=2) + self.handicaps[:, None]
        return np.asarray((reach.argmin(axis=1) != code[:, None]).mean(axis=0))


Path = list[Model]  # from the largest penalty on


def gloss_models(X: np.ndarray, code: np.ndarray, within: str = "full") -> Path:
    """GLOSS, or GLOSS-D for "diagonal", at penalties that halve; every solution is verified."""
    path = gloss_path(X, code, HALVES, within=within)
    problem, handicaps = path.problem, prior_handicaps(code)
    models = []
    for i, solution in enumerate(path.solutions):
        solution.verify(problem)
        V, settled = path.directions(i)[0], solution.is_certified
        models.append(Model(V, problem.mean, problem.means, handicaps, settled))
    return models


def plda_models(X: np.ndarray, code: np.ndarray, shares: np.ndarray = TENTHS) -> Path:
    """Penalized LDA at shares of its largest useful penalty; its classes count alike."""
    stats = ClassStats.from_data(X, code, form="rows")
    top = largest_alpha(stats.between_factor() / np.sqrt(stats.within_variance()))
    models = []
    for share in shares:
        lda = PenalizedLDA(top * share).fit(X, code)
        handicaps = np.zeros(len(lda.means_))
        models.append(Model(lda.scalings_, lda.xbar_, lda.means_, handicaps))
    return models


def slda_models(X: np.ndarray, code: np.ndarray, alphas: np.ndarray = HALVES) -> Path:
    """Lasso optimal scoring; LDA in its space is a nearest mean after whitening."""
    models, handicaps = [], prior_handicaps(code)
    for alpha in alphas:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted by its caller instead
            lda = SparseOptimalScoring(alpha=float(alpha)).fit(X, code)
        rest = lda.transform(X) - ((lda.means_ - lda.xbar_) @ lda.scalings_)[code]
        # a triangular root keeps the first directions first
        root = np.linalg.cholesky(rest.T @ rest / len(rest) + TINY * np.eye(rest.shape[1]))
        V = lda.scalings_ @ np.linalg.inv(root).T
        settled = bool(np.all(lda.n_iter_ < lda.max_iter))
        models.append(Model(V, lda.xbar_, lda.means_, handicaps, settled))
    return models


def prior_handicaps(code: np.ndarray) -> np.ndarray:
    """Minus twice the logarithms of the class frequencies."""
    return np.asarray(-2.0 * np.log(np.bincount(code) / code.size))


def end_at(models: Path, n_features: int) -> Path:
    """The path up to the first model with so many features or more (5.2 of the paper)."""
    full = [i for i, model in enumerate(models) if model.selected.sum() >= n_features]
    return models[: full[0] + 1] if full else models


def count_unsettled(models: Path) -> int:
    """How many searches ended at a limit."""
    return sum(not model.settled for model in models)


def path_errors(models: Path, X: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Error rates (penalties, directions); where there is no further direction, as without it."""
    errors = np.empty((len(models), len(models[0].means) - 1))
    for row, model in zip(errors, models):
        found = model.errors(X, code)
        row[: found.size], row[found.size :] = found, found[-1]
    return errors


def choose(errors: Sequence[np.ndarray]) -> tuple[int, int]:
    """Which penalty and how many directions have the least error, a mean over folds.

    Ties go to the larger penalty, then to fewer directions. Where paths ended, those penalties
    count that every fold reached.
    """
    depth = min(map(len, errors))
    mean = np.mean([fold[:depth] for fold in errors], axis=0).round(12)  # round-off decides nothing
    i, m = np.unravel_index(mean.argmin(), mean.shape)
    return int(i), int(m) + 1


def convergence(slow: int, fits: int) -> str:
    """How many fits of SLDA, GLOSS and GLOSS-D came to their end, as a sentence."""
    end = f"{slow} of {fits} did not converge" if slow else f"all {fits} converged"
    return f"Of the fits of SLDA, GLOSS and GLOSS-D {end}."
