"""The models on all rows, and what is known of the sets that they select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.budget import Callback
from ..core.solution import Solution
from ..core.stats import ClassStats
from .cv_path import CVPath
from .data import StudyData
from .jobs import Recipe
from .optimality import FeaturePrice, Judge, judge_path
from .prepared import SIZE, PreparedClassifier, fit_sizes
from .result import SelectedFeature, rank_features
from .runner import StageProgress, quiet_run
from .standardize import Standardizer

FINAL = "final models"


@dataclass
class Final:
    """Everything that comes from all rows."""

    setting: str
    k: int
    path: dict[int, PreparedClassifier]
    optimality: Sequence[Solution] = ()
    prices: Sequence[FeaturePrice] = ()
    selected: Sequence[SelectedFeature] = ()
    scores: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    correlations: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    notes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def fit_final(
    data: StudyData,
    recipe: Recipe,
    cv: CVPath | None,
    k: int | None,
    n_jobs: int | None,
    progress: StageProgress | None,
    search_progress: Callback | None = None,
    *,
    is_brief: bool = False,
) -> Final:
    """Fit the chosen k first, then the others; Ctrl-C keeps what is there.

    ``is_brief``: the chosen k only, and no prices of features.
    """
    names = list(recipe.settings)
    setting, size = (0, 0) if cv is None else cv.choose(k)
    if cv is None and k is not None:
        size = recipe.ks.index(k)
    scaler = Standardizer.fit(data.X, recipe.missing)
    Z = scaler.apply(data.X)
    tell = (lambda done: None) if progress is None else (lambda done: progress(FINAL, done, 4))
    tell(0)
    unfinished = []
    with quiet_run():
        inner = clone(recipe.settings[names[setting]])
        if recipe.ks:
            inner.set_params(**{SIZE: recipe.ks[size]})
        try:
            _fit_watched(inner, Z, data.y, n_jobs, search_progress)
        except KeyboardInterrupt:
            if not hasattr(inner, "solution_"):
                raise  # nothing was found yet
            unfinished.append("the final search was interrupted; its best set so far was taken")
        models = {recipe.ks[size] if recipe.ks else int(inner.get_support().sum()): inner}
        final = Final(names[setting], next(iter(models)), {})
        tell(1)
        try:
            if not unfinished and not is_brief:
                models = _fit_others(models, recipe, cv, Z, data.y)
            tell(2)
            judge = Judge.of(inner, Z, data.y)
            final.optimality = judge_path(judge, models)
            tell(3)
            if not is_brief:
                chosen = final.optimality[list(models).index(final.k)]
                final.prices = judge.price(chosen, data.names)
            tell(4)
        except KeyboardInterrupt:
            unfinished.append("bounds and prices of the features were not computed")
            models = {final.k: inner}
            final.optimality = final.optimality[:0]
    final.path = {size: _wrap(model, scaler, recipe, data) for size, model in models.items()}
    final.selected = rank_features(inner, data.names)
    final.scores = np.asarray(inner.transform(Z))
    final.correlations = _correlate(Z, final.scores, [f.index for f in final.selected])
    final.notes = tuple(describe_columns(data, inner))
    final.unfinished = tuple(unfinished)
    return final


def _fit_watched(
    model: Any, Z: np.ndarray, y: np.ndarray, n_jobs: int | None, watch: Callback | None
) -> None:
    """Fit, with threads and progress for the search; the model does not keep either."""
    if "solver_options" not in model.get_params(deep=False) or not hasattr(model, "fit_path"):
        model.fit(Z, y)
        return
    own = model.solver_options
    model.set_params(solver_options={"n_jobs": n_jobs, "callback": watch, **(own or {})})
    try:
        model.fit(Z, y)
    finally:
        model.set_params(solver_options=own)


def _fit_others(
    models: Mapping[int, Any], recipe: Recipe, cv: CVPath | None, Z: np.ndarray, y: np.ndarray
) -> dict[int, Any]:
    """The models of every k, each with its best setting; the chosen one stays as it is."""
    settings = list(recipe.settings.values())
    best = np.zeros(len(recipe.ks), dtype=int) if cv is None else cv.best_settings
    found = dict(models)
    for setting in np.unique(best).tolist():
        ks = [k for k, s in zip(recipe.ks, best.tolist()) if s == setting and k not in models]
        if ks:
            found |= fit_sizes(settings[setting], Z, y, ks)
    return {k: found[k] for k in sorted(found)}


def _wrap(inner: Any, scaler: Standardizer, recipe: Recipe, data: StudyData) -> PreparedClassifier:
    """A classifier of raw rows, as if it had been fitted on them."""
    model = PreparedClassifier(clone(inner), missing=recipe.missing)
    return model.adopt(inner, scaler, data.names)


def _correlate(Z: np.ndarray, scores: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Correlations of columns with scores; 0 where one does not vary."""
    left, right = Z[:, columns] - Z[:, columns].mean(axis=0), scores - scores.mean(axis=0)
    size = np.outer(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0))
    product = left.T @ right
    return np.asarray(np.divide(product, size, out=np.zeros_like(product), where=size > 0))


def describe_columns(data: StudyData, model: Any) -> list[str]:
    """What a user should know about the columns, and about the selected ones."""
    notes = []
    X = data.X
    if data.n_missing:
        columns = int(np.isnan(X).any(axis=0).sum())
        notes.append(
            f"{data.n_missing:,} missing values in {columns:,} columns were filled with the "
            "median of the column, in every training part anew."
        )
    with_values = ~np.isnan(X).any(axis=0)
    constant = int(np.count_nonzero(with_values & (X.max(axis=0) == X.min(axis=0))))
    if constant:
        columns_are = "column is" if constant == 1 else "columns are"
        notes.append(f"{constant} {columns_are} constant and worth nothing.")
    S = [j for j in model.get_support(indices=True).tolist() if with_values[j]]
    if not S:
        return notes
    rows = ClassStats.from_data(X[:, S], data.y, form="rows").rows
    assert rows is not None
    for j, varies in zip(S, np.any(rows, axis=0).tolist()):
        if not varies and X[:, j].max() > X[:, j].min():
            notes.append(
                f"{str(data.names[j])!r} does not vary within the classes: make sure that it is "
                "not the label in another form."
            )
    return notes
