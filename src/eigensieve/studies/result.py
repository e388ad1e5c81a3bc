"""The result of a study: one answer with its rule, and what is known about it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..io.model import save_model
from ..pencil.solution import Solution
from ..search.near_optimal.sets import NearOptimalSets
from .calibration import Calibration
from .copies.features import FeatureCopy
from .cv_path import CHOSEN, CVPath
from .model_file import make_model
from .near_optimal import stability_of_sets
from .nested import HonestError
from .null import PermutationNull
from .optimality import FeaturePrice, claim
from .page import Reported
from .preference import Preferred
from .prepared import PreparedClassifier
from .stability import StabilityIndex

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SelectedFeature:
    """One selected feature: its rank by weight, and its loading on every direction."""

    rank: int
    name: str
    index: int
    weight: float
    loadings: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Provenance:
    """What the study was made from, for reproduction.

    Attributes
    ----------
    labels : array (n,)
    names : feature names
    target : name of the target
    groups : array (n,), or None
    fingerprint : digest of the table
    seed : int
    missing : "error" or "median"
    n_missing : int, values that were filled
    log2_floor : if set, the columns are log2(max(x, floor)) of what was given
    layer : the layer of an .h5ad file that was read, None for its X and for other files
    annotation_columns, annotations : headers, and for a feature its texts
    """

    labels: np.ndarray
    names: list[str]
    target: str
    groups: np.ndarray | None = None
    fingerprint: str = ""
    seed: int = 0
    missing: str = "error"
    n_missing: int = 0
    log2_floor: float | None = None
    layer: str | None = None
    annotation_columns: tuple[str, ...] = ()
    annotations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Study(Reported):
    """Which features, how few, how good on new samples, how stable, how close to the best.

    Attributes
    ----------
    best_k : int
        The number of features, and ``k_rule``: how it was chosen.
    table : DataFrame, one row per k
        k, error, se (of ``score``), balanced_error, auc, n_features (mean number used), and the
        setting of least error, if several were tried. Selection happens inside the folds.
    honest_error : HonestError or None
        error, low, high (95 %), balanced_error, auc, confusion: of the whole recipe, the choice
        of k included (nested cross-validation). None where it could not be had: see ``notes``.
    calibration : Calibration or None
        ``temperature`` of the final model, and log_loss, brier and bins() of its probabilities
        ``before`` and ``after`` it, on samples left out. None without an error estimate, and for
        a classifier whose probabilities are no softmax of scores (rule "1-nn").
    stability : DataFrame (features, ks)
        The share of training parts that selected a feature.
    stability_index : DataFrame: k, index, low, high (Nogueira)
    null : PermutationNull or None
        What permuted labels give; ``null.p_value``. None unless it was asked for.
    final_estimator : PreparedClassifier
        Fitted on all rows with the chosen k; takes raw rows. Its probabilities have the
        temperature of ``calibration``.
    path : dict k -> PreparedClassifier
        Fitted on all rows, for every k; only the chosen one has a temperature other than 1.
    optimality : list of Solution, one per k
        The selected set of every k, its class separation, and a bound on that of any set.
    prices : list of FeaturePrice
        What each selected feature is worth, and what could stand in for it.
    near_optimal : NearOptimalSets or None
        The sets of as many features whose class separation is within one percent (or ``within``)
        of the best; ``near_stability``: how stable each of them is. None for methods that seek
        something else, and where there is nothing to choose from.
    preferred : Preferred or None
        Which of them was taken, and why, if one was to be preferred; ``preferred.describe()``.
    selected : list of SelectedFeature, the heaviest first
    scores : array (n, m), the discriminant scores of the rows
    correlations : array (k, m), of the selected features with the scores
    cv : CVPath or None, the errors of every fold
    settings : tuple of str; ``setting`` is the one that was chosen
    copies : list of FeatureCopy, selected features that are others up to scale and shift
    notes : sentences about the data and the choices
    unfinished : sentences about what Ctrl-C left undone; empty for a whole study
    source : Provenance
    """

    settings: tuple[str, ...]
    setting: str
    best_k: int
    k_rule: str
    ks: tuple[int, ...]
    score: str
    splitting: str
    cv: CVPath | None
    honest_error: HonestError | None
    frequency: np.ndarray
    indices: Sequence[StabilityIndex]
    null: PermutationNull | None
    path: Mapping[int, PreparedClassifier]
    optimality: Sequence[Solution]
    prices: Sequence[FeaturePrice]
    selected: Sequence[SelectedFeature]
    scores: np.ndarray
    correlations: np.ndarray
    source: Provenance
    calibration: Calibration | None = None
    near_optimal: NearOptimalSets | None = None
    preferred: Preferred | None = None
    copies: Sequence[FeatureCopy] = ()
    notes: Sequence[str] = ()
    unfinished: Sequence[str] = ()

    @property
    def final_estimator(self) -> PreparedClassifier:
        """The model of the chosen k."""
        return self.path[self.best_k]

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of every raw row, by the final model; X has all columns of the table."""
        return self.final_estimator.predict(X)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities of raw rows, (n, n_classes), with the temperature."""
        return self.final_estimator.predict_proba(X)

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write the final model as ``eigensieve fit`` does; an existing file is replaced.

        The file holds the selected features by name, the rule and its temperature, and where it
        comes from; no data. `eigensieve.load_model` and ``eigensieve predict`` read it.

        Raises
        ------
        InputError
            If the final model has no linear rule (rule "1-nn").
        ModelFileError
            If the file cannot be written.
        """
        save_model(make_model(self), path)

    @property
    def solution(self) -> Solution:
        """The selected set of the chosen k, with its bound."""
        return self.optimality[list(self.path).index(self.best_k)]

    @property
    def claim(self) -> str | None:
        """What is proved of the selected set, in a sentence; None if nothing is, or needs to be."""
        if not self.optimality:
            return None
        model = self.final_estimator.estimator_
        n_in, n_out = (len(getattr(model, name, ())) for name in ("include", "exclude"))
        is_free = not self.has_constraints
        return claim(self.solution, len(self.names), n_in, n_out, is_free=is_free)

    @property
    def has_constraints(self) -> bool:
        """Whether the user has ruled out sets: features kept in or out, limits on groups, costs."""
        model = self.final_estimator.estimator_
        return any(getattr(model, name, None) for name in ("include", "exclude", "constraints"))

    @property
    def near_stability(self) -> np.ndarray | None:
        """Of every set of ``near_optimal``: how often its features were selected, on average.

        The mean, over its features, of the share of training parts in which they were selected at
        this k. None without such sets, and without cross-validation.
        """
        if self.near_optimal is None or not len(self.frequency):
            return None
        frequency = self.frequency[self.ks.index(self.best_k)]
        return stability_of_sets(self.near_optimal.sets, frequency)

    @property
    def labels(self) -> np.ndarray:
        """The labels of the rows."""
        return self.source.labels

    @property
    def names(self) -> list[str]:
        """The names of all features."""
        return self.source.names

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def balanced_error(self) -> float | None:
        """The honest error in which every class counts alike."""
        return None if self.honest_error is None else self.honest_error.balanced_error

    @property
    def chose_k(self) -> bool:
        """Whether cross-validation chose k among several."""
        return self.k_rule in CHOSEN

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C left something undone."""
        return bool(self.unfinished)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table`` as plain values."""
        if self.cv is None:
            return []
        cv = self.cv
        with np.errstate(invalid="ignore"):
            aucs = _mean_known(cv.fold_aucs)
        columns = {
            "error": cv.along_best(cv.average(cv.fold_errors)),
            "se": cv.along_best(cv.standard_error),
            "balanced_error": cv.along_best(cv.average(cv.fold_balanced_errors)),
            "auc": cv.along_best(aucs),
            "n_features": cv.along_best(cv.fold_sizes.mean(axis=0)),
        }
        rows: list[dict[str, Any]] = [
            {"k": k, **{name: float(values[i]) for name, values in columns.items()}}
            for i, k in enumerate(self.ks)
        ]
        if len(self.settings) > 1:
            for row, setting in zip(rows, cv.best_settings.tolist()):
                row["setting"] = self.settings[setting]
        return rows

    @property
    def table(self) -> pd.DataFrame:
        """One row per k."""
        import pandas as pd

        columns = ["k", "error", "se", "balanced_error", "auc", "n_features"]
        return pd.DataFrame(self.rows, columns=None if self.rows else columns)

    @property
    def stability(self) -> pd.DataFrame:
        """The share of training parts that selected a feature, for every k."""
        import pandas as pd

        ks = self.ks if len(self.frequency) else ()
        return pd.DataFrame(self.frequency.T, index=self.names, columns=list(ks))

    @property
    def stability_index(self) -> pd.DataFrame:
        """Nogueira's index for every k."""
        import pandas as pd

        columns = ["k", "index", "low", "high"]
        return pd.DataFrame([asdict(index) for index in self.indices], columns=columns)

    def features_at(self, k: int) -> list[SelectedFeature]:
        """The selected features of a k of the path, the heaviest first."""
        if k not in self.path:
            raise InputError(f"k is {k}; the study has {', '.join(map(str, self.path))}")
        return rank_features(self.path[k].estimator_, self.names)

    def __repr__(self) -> str:
        error = "error unknown"
        if self.honest_error is not None:
            found = self.honest_error
            error = f"error={found.error:.3g} ({found.low:.3g}..{found.high:.3g})"
        return f"Study({self.setting}, best_k={self.best_k}, {error}, n={self.n_samples})"


def _mean_known(values: np.ndarray) -> np.ndarray:
    """Means over the first axis of what is not NaN; NaN where there is nothing."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan))


def rank_features(model: Any, names: Sequence[str]) -> list[SelectedFeature]:
    """The selected features, heaviest first.

    The weight of a feature is the norm of its loadings (on standardised columns), each
    direction weighted by its share of the variance between the classes.
    """
    S = model.get_support(indices=True)
    loadings = model.scalings_[S]
    weight = np.sqrt(np.square(loadings) @ model.explained_variance_ratio_)
    order = np.argsort(-weight, kind="stable")
    return [
        SelectedFeature(
            r + 1, str(names[S[i]]), int(S[i]), float(weight[i]), tuple(loadings[i].tolist())
        )
        for r, i in enumerate(order)
    ]
