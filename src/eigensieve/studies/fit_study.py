"""From a table to one fitted model and everything the report says about it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimators.sparse_lda import SparseLDA
from .cv_path import (
    DEFAULT_KS,
    CVPath,
    ErrorEstimate,
    cross_validate_path,
    error_estimate,
    nested_error,
    stratified_splits,
    usable_folds,
)
from .standardize import Standardizer

ONE_SE = "smallest k whose cross-validated error is within one standard error of the smallest"
GIVEN = "given by the user"


@dataclass(frozen=True, eq=False)
class SelectedFeature:
    """One selected feature: its rank by weight, and its loading on every direction."""

    rank: int
    name: str
    index: int
    weight: float
    loadings: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted model with its cross-validation, as plain data.

    Attributes
    ----------
    estimator : the fitted SparseLDA (on standardised columns)
    names : all feature names
    target : name of the target
    standardizer : mean and scale of all columns
    k, k_rule : the number of features, and how it was chosen
    cv : CVPath, or None if a class is too small
    error : ErrorEstimate on samples that did not choose the model, or None
    labels, scores : class and discriminant scores (n, m) of the training rows
    selected : the selected features, by rank
    notes : sentences about the data and the choices
    seed, fingerprint : for reproduction
    """

    estimator: SparseLDA
    names: list[str]
    target: str
    standardizer: Standardizer
    k: int
    k_rule: str
    cv: CVPath | None
    error: ErrorEstimate | None
    labels: np.ndarray
    scores: np.ndarray
    selected: list[SelectedFeature]
    notes: list[str] = field(default_factory=list)
    seed: int = 0
    fingerprint: str = ""

    @property
    def n_samples(self) -> int:
        """Number of training rows."""
        return len(self.labels)


StageProgress = Callable[[str, int, int], None]


def fit_study(
    X: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    *,
    target: str = "target",
    k: int | str = "auto",
    ks: Sequence[int] = DEFAULT_KS,
    estimator: SparseLDA | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: StageProgress | None = None,
) -> FitResult:
    """Choose k (or take it), estimate the error honestly, fit on all rows.

    With ``k="auto"`` the 1-SE rule picks k by repeated cross-validation, and the error comes
    from nested cross-validation; with a number the error is that of plain
    cross-validation, in which nothing was chosen.
    """
    base = SparseLDA(random_state=seed) if estimator is None else estimator
    if k != "auto" and not 1 <= int(k) <= X.shape[1]:
        raise InputError(f"k is {k}; the table has {X.shape[1]} features: give 1..{X.shape[1]}")

    def stage(name: str) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, all_: progress(name, done, all_)

    notes: list[str] = []
    sizes = sorted({*ks, *([] if k == "auto" else [int(k)])})
    cv, error = None, None
    options: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    try:
        usable_folds(y, 5)
    except InputError as reason:
        if k == "auto" or np.unique(y).size < 2:
            raise
        notes.append(f"No error estimate: {reason}.")
    else:
        cv = cross_validate_path(base, X, y, sizes, progress=stage("cross-validation"), **options)
        if k == "auto":
            error = nested_error(base, X, y, sizes, progress=stage("nested check"), **options)
        else:
            error = _fixed_k_error(cv, int(k), y, seed)
    best = cv.best_k if k == "auto" and cv is not None else int(k)
    scaler = Standardizer.fit(X)
    Z = scaler.apply(X)
    from sklearn.base import clone

    model = clone(base).set_params(n_features_to_select=best).fit(Z, y)
    return FitResult(
        estimator=model,
        names=list(names),
        target=target,
        standardizer=scaler,
        k=best,
        k_rule=ONE_SE if k == "auto" else GIVEN,
        cv=cv,
        error=error,
        labels=y,
        scores=model.transform(Z),
        selected=rank_features(model, names),
        notes=notes + describe_columns(X),
        seed=seed,
        fingerprint=fingerprint(X, y, names),
    )


def _fixed_k_error(cv: CVPath, k: int, y: np.ndarray, seed: int) -> ErrorEstimate:
    """The error of the first repeat: every sample is predicted once."""
    folds = list(stratified_splits(y, cv.n_folds, seed))
    rates = cv.fold_errors[: cv.n_folds, cv.ks.index(k)]
    wrong = sum(round(rate * len(test)) for rate, (_, test) in zip(rates, folds))
    return error_estimate(int(wrong), len(y), f"{cv.n_folds}-fold cross-validation, k fixed")


def rank_features(model: SparseLDA, names: Sequence[str]) -> list[SelectedFeature]:
    """The selected features, heaviest first.

    The weight of a feature is the norm of its loadings (on standardised columns), each
    direction weighted by its share of the class separation.
    """
    S = model.get_support(indices=True)
    loadings = model.scalings_[S]
    weight = np.sqrt(np.square(loadings) @ model.explained_variance_ratio_)
    order = np.argsort(-weight, kind="stable")
    return [
        SelectedFeature(r + 1, str(names[S[i]]), int(S[i]), float(weight[i]), tuple(loadings[i]))
        for r, i in enumerate(order)
    ]


def describe_columns(X: np.ndarray) -> list[str]:
    """What a user should know about the columns."""
    constant = int(np.count_nonzero(X.max(axis=0) == X.min(axis=0)))
    if constant:
        return [f"{constant} constant columns can never be selected with profit."]
    return []


def fingerprint(X: np.ndarray, y: np.ndarray, names: Sequence[str]) -> str:
    """A digest of the data the model was fitted on."""
    digest = hashlib.sha256(np.ascontiguousarray(X, dtype=np.float64).tobytes())
    digest.update("\x1f".join(map(str, names)).encode())
    digest.update("\x1f".join(map(str, y)).encode())
    return digest.hexdigest()[:16]
