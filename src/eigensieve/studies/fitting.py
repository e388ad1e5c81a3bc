"""From a table to one fitted model and everything the report says about it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.budget import Callback
from ..core.checks import check_k
from ..core.stats import ClassStats, refuse_extremes
from ..errors import InputError, TimeLimitError
from ..estimators.sparse_lda import SparseLDA
from .cv_path import (
    DEFAULT_KS,
    N_FOLDS,
    CVPath,
    ErrorEstimate,
    cross_validate_path,
    error_estimate,
    nested_error,
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
    interrupted : whether Ctrl-C cut the error estimate or the search short
    log2_floor : if set, the columns are log2(max(x, floor)) of what was given
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
    log2_floor: float | None = None
    interrupted: bool = False

    @property
    def n_samples(self) -> int:
        """Number of training rows."""
        return len(self.labels)

    @property
    def balanced_error(self) -> float | None:
        """Cross-validated balanced error at k (every class counts alike)."""
        if self.cv is None:
            return None
        return float(self.cv.balanced_error[self.cv.ks.index(self.k)])


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
    search_progress: Callback | None = None,
) -> FitResult:
    """Choose k (or take it), estimate the error honestly, fit on all rows.

    With ``k="auto"`` the 1-SE rule picks k by repeated cross-validation, and the error comes
    from nested cross-validation; with a number the error is that of plain
    cross-validation, in which nothing was chosen.

    The result has no error estimate, and a note why, where a class is too small for it, a
    time limit ends it or Ctrl-C does; only a k that was to be chosen cannot do without.
    ``search_progress`` is told of the events of the final search.
    """
    base = SparseLDA(random_state=seed) if estimator is None else estimator
    _check_study(X, y, names, k)
    estimates = _Estimates()
    try:
        _estimate_error(estimates, base, X, y, k, ks, seed, n_jobs, progress)
    except (InputError, TimeLimitError) as reason:
        if k == "auto" and estimates.cv is None:
            raise InputError(f"{reason} (in cross-validation); a given k does without") from reason
        estimates.notes.append(f"No error estimate: {reason}.")
    except KeyboardInterrupt:
        if k == "auto" and estimates.cv is None:
            raise
        estimates.interrupted = True
        estimates.notes.append("No error estimate: it was interrupted.")
    best = estimates.cv.best_k if k == "auto" and estimates.cv is not None else int(k)
    scaler = Standardizer.fit(X)
    Z = scaler.apply(X)
    model = clone(base).set_params(n_features_to_select=best)
    try:
        _fit_watched(model, Z, y, n_jobs, search_progress)
    except KeyboardInterrupt:
        estimates.interrupted = True
        if not hasattr(model, "solution_"):
            raise  # nothing was found yet
    return FitResult(
        estimator=model,
        names=list(names),
        target=target,
        standardizer=scaler,
        k=best,
        k_rule=ONE_SE if k == "auto" else GIVEN,
        cv=estimates.cv,
        error=estimates.error,
        labels=y,
        scores=model.transform(Z),
        selected=rank_features(model, names),
        notes=estimates.notes + describe_columns(X, y, names, model),
        seed=seed,
        fingerprint=fingerprint(X, y, names),
        interrupted=estimates.interrupted,
    )


def _fit_watched(
    model: SparseLDA, Z: np.ndarray, y: np.ndarray, n_jobs: int | None, watch: Callback | None
) -> None:
    """Fit, with threads and progress for the search; the model does not keep either."""
    own = model.solver_options
    model.set_params(solver_options={"n_jobs": n_jobs, "callback": watch, **(own or {})})
    try:
        model.fit(Z, y)
    finally:
        model.set_params(solver_options=own)


@dataclass
class _Estimates:
    """What is known of the error, as far as the estimation came."""

    cv: CVPath | None = None
    error: ErrorEstimate | None = None
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False


def _check_study(X: np.ndarray, y: np.ndarray, names: Sequence[str], k: int | str) -> None:
    refuse_extremes(np.maximum(X.max(axis=0), -X.min(axis=0)), names)
    if np.all(X.max(axis=0) == X.min(axis=0)):
        raise InputError("no column varies: there is nothing to select")
    if k == "auto":
        usable_folds(y, N_FOLDS, least=3)
    elif check_k(k) > X.shape[1]:
        raise InputError(f"k is {k}; the table has {X.shape[1]} features: give 1..{X.shape[1]}")


def _estimate_error(
    found: _Estimates,
    estimator: SparseLDA,
    X: np.ndarray,
    y: np.ndarray,
    k: int | str,
    ks: Sequence[int],
    seed: int,
    n_jobs: int | None,
    progress: StageProgress | None,
) -> None:
    """The cross-validated path, then the error of the recipe for the k that was asked for."""

    def stage(name: str) -> Callable[[int, int], None] | None:
        return None if progress is None else partial(progress, name)

    options: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    sizes = sorted({*ks, *([] if k == "auto" else [int(k)])})
    cv = cross_validate_path(estimator, X, y, sizes, progress=stage("cross-validation"), **options)
    found.cv = cv
    if cv.n_folds < N_FOLDS:
        found.notes.append(f"{cv.n_folds} folds instead of {N_FOLDS}: {smallest_class(y)}.")
    if k == "auto":
        found.error = nested_error(
            estimator, X, y, sizes, progress=stage("nested check"), **options
        )
    else:
        how = f"{cv.n_repeats} times {cv.n_folds}-fold cross-validation, k fixed"
        rate = float(cv.error[cv.ks.index(int(k))])
        found.error = error_estimate(rate * len(y), len(y), how)


def smallest_class(y: np.ndarray) -> str:
    """The smallest class and its size, in words."""
    classes, counts = np.unique(y, return_counts=True)
    return f"class {str(classes[np.argmin(counts)])!r} has {counts.min()} samples"


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


def describe_columns(
    X: np.ndarray, y: np.ndarray, names: Sequence[str], model: SparseLDA
) -> list[str]:
    """What a user should know about the columns, and about the selected ones."""
    notes = []
    constant = int(np.count_nonzero(X.max(axis=0) == X.min(axis=0)))
    if constant:
        columns = "column is" if constant == 1 else "columns are"
        notes.append(f"{constant} {columns} constant and worth nothing.")
    S = model.get_support(indices=True)
    rows = ClassStats.from_data(X[:, S], y, form="rows").rows
    assert rows is not None
    for j in S[~rows.any(axis=0)]:
        if X[:, j].max() > X[:, j].min():
            notes.append(
                f"{str(names[j])!r} does not vary within the classes: make sure that it is not "
                "the label in another form."
            )
    return notes


def fingerprint(X: np.ndarray, y: np.ndarray, names: Sequence[str]) -> str:
    """A digest of the data the model was fitted on."""
    digest = hashlib.sha256(np.ascontiguousarray(X, dtype=np.float64).tobytes())
    digest.update("\x1f".join(map(str, names)).encode())
    digest.update("\x1f".join(map(str, y)).encode())
    return digest.hexdigest()[:16]
