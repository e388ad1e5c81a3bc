"""The models on all rows, and what is known of the sets that they select."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators._validation import read_columns
from ..pencil.budget import Callback
from ..pencil.solution import Solution, Status
from ..pencil.wording import counted
from ..search.near_optimal.sets import NearOptimalSets
from ..tables.statistics import ClassStats
from .copies.features import FeatureCopy, describe_copies, find_copies
from .cv_path import CVPath
from .data import StudyData, column_extent
from .estimation import Estimates
from .near_optimal import list_near_optimal, with_bound_of
from .optimality import FeaturePrice, Judge
from .plan import StudyPlan
from .preference import Preferred, take_preferred
from .prepared import SIZE, PreparedClassifier, fit_sizes
from .result import SelectedFeature, rank_features
from .running.runner import StageProgress, quiet_run
from .standardize import Standardizer, fill_gaps, has_gaps

FINAL = "final models"
NOTHING_TO_PREFER = (
    "No set was preferred: there is no choice, or the set is too large to list others as good."
)
BEST_TAKEN = "No set was preferred: the model is on the best set that was found."
OF_BEST_SETS = (
    "The curve, the table and the stability are those of the best set of every k; the preferred "
    "set was taken for k = {k} only, and the error on new samples is that of preferred sets."
)
LIST_INTERRUPTED = "the search for other sets as good was interrupted"


@dataclass
class Final:
    """Everything that comes from all rows."""

    setting: str
    k: int
    path: dict[int, PreparedClassifier]
    optimality: list[Solution] = field(default_factory=list)
    prices: Sequence[FeaturePrice] = ()
    near_optimal: NearOptimalSets | None = None
    preferred: Preferred | None = None
    selected: Sequence[SelectedFeature] = ()
    scores: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    correlations: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    copies: Sequence[FeatureCopy] = ()
    notes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def fit_final(
    data: StudyData,
    plan: StudyPlan,
    estimates: Estimates,
    n_jobs: int | None,
    progress: StageProgress | None,
    search_progress: Callback | None = None,
    *,
    is_brief: bool = False,
) -> Final:
    """Fit the chosen k first, then the others; Ctrl-C keeps what is there.

    ``is_brief``: the chosen k only, no prices of features and no other sets.
    """
    names, cv = list(plan.settings), estimates.cv
    setting, size = (0, 0) if cv is None else cv.choose(plan.k)
    if cv is None and plan.k is not None:
        size = plan.ks.index(plan.k)
    scaler = Standardizer.fit(data.X, plan.missing)
    Z = scaler.apply(data.X)
    inner = clone(plan.settings[names[setting]])
    if plan.ks:
        inner.set_params(**{SIZE: plan.ks[size]})
    tell = _steps(progress)
    with quiet_run():
        tell(0)
        notes, unfinished = _fit_chosen(inner, Z, data.y, n_jobs, search_progress)
        final = Final(names[setting], plan.ks[size] if plan.ks else _count(inner), {})
        if plan.preference is not None and not unfinished:
            often = None if estimates.frequency is None else estimates.frequency[size]
            inner, cut = _prefer(final, inner, Z, data.y, plan, often, n_jobs)
            unfinished += cut
            if final.preferred is None:
                notes.append(BEST_TAKEN if cut else NOTHING_TO_PREFER)
            elif final.preferred.place:
                notes.append(OF_BEST_SETS.format(k=final.k))
        models = {final.k: inner}
        try:
            tell(1)
            if not unfinished and not is_brief:
                models = _fit_others(models, plan, cv, Z, data.y, n_jobs, search_progress)
            tell(2)
            judge = Judge.of(inner, Z, data.y)
            final.optimality = [judge.judge(model) for model in models.values()]
            tell(3)
            if not is_brief:
                chosen = final.optimality[list(models).index(final.k)]
                final.prices = judge.price(chosen, data.names)
                if not unfinished and final.preferred is None:
                    listing = partial(
                        list_near_optimal, judge, chosen, data.names, plan.within, n_jobs=n_jobs
                    )
                    final.near_optimal, unfinished = _listed(listing)
                if final.near_optimal is not None:
                    place = list(models).index(final.k)
                    final.optimality[place] = with_bound_of(final.near_optimal, chosen)
            tell(4)
        except KeyboardInterrupt:
            models = {final.k: inner}
            final.optimality = [Judge.of(inner, Z, data.y).judge(inner, wants_bound=False)]
            unfinished.append("bounds and prices of the features were not computed")
    final.path = {k: _wrap(model, scaler, plan, data) for k, model in models.items()}
    final.selected = rank_features(inner, data.names)
    final.scores = np.asarray(inner.transform(Z))
    final.correlations = _correlate(Z, final.scores, [f.index for f in final.selected])
    final.copies = _copies_in(data, scaler, final.selected)
    copies = describe_copies(final.copies)
    final.notes = (*describe_columns(data, inner), *copies, *notes)
    final.unfinished = tuple(unfinished)
    return final


def _steps(progress: StageProgress | None) -> Callable[[int], None]:
    def tell(done: int) -> None:
        if progress is not None:
            progress(FINAL, done, 4)

    return tell


def _count(model: Any) -> int:
    return int(model.get_support().sum())


def _fit_chosen(
    inner: Any, Z: np.ndarray, y: np.ndarray, n_jobs: int | None, watch: Callback | None
) -> tuple[list[str], list[str]]:
    """Fit the model of the study; what it warned of, and what Ctrl-C left undone."""
    unfinished = []
    with noted_warnings() as notes:
        try:
            with _watched(inner, n_jobs, watch):
                inner.fit(Z, y)
        except KeyboardInterrupt:
            if not hasattr(inner, "solution_"):
                raise  # nothing was found yet
            unfinished.append("the final search was interrupted; its best set so far was taken")
    return notes, unfinished


def _prefer(
    final: Final, model: Any, Z: np.ndarray, y: np.ndarray, plan: StudyPlan,
    frequency: np.ndarray | None, n_jobs: int | None,
) -> tuple[Any, list[str]]:  # fmt: skip
    """The model on the set that is preferred; what Ctrl-C left undone."""
    assert plan.preference is not None
    if frequency is None and plan.preference.needs_resamples:
        return model, ["no set was preferred: which one is stable is not known"]
    try:
        model, final.preferred = take_preferred(
            model, Z, y, plan.preference, frequency, plan.within, n_jobs
        )
    except KeyboardInterrupt:
        return model, [LIST_INTERRUPTED]
    final.near_optimal = None if final.preferred is None else final.preferred.found
    return model, _cut_short(final.near_optimal)


def _listed(
    listing: Callable[[], NearOptimalSets | None],
) -> tuple[NearOptimalSets | None, list[str]]:
    """The sets as good as the chosen one; what Ctrl-C left undone."""
    try:
        found = listing()
    except KeyboardInterrupt:
        return None, [LIST_INTERRUPTED]
    return found, _cut_short(found)


def _cut_short(found: NearOptimalSets | None) -> list[str]:
    is_cut = found is not None and found.status is Status.INTERRUPTED
    return [LIST_INTERRUPTED] if is_cut else []


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Warnings as sentences of a list, each once, when the block has ended."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        notes.append(f"{text[:1].upper()}{text[1:]}.")


@contextmanager
def _watched(
    model: Any, n_jobs: int | None, watch: Callback | None
) -> Iterator[Callable[[Any], None]]:
    """Threads and progress for the search of a model, which does not keep either.

    Yields what takes them from its copies as well.
    """
    if "solver_options" not in model.get_params(deep=False) or not hasattr(model, "fit_path"):
        yield lambda copy: None
        return
    own = model.solver_options
    model.set_params(solver_options={"n_jobs": n_jobs, "callback": watch, **(own or {})})
    try:
        yield lambda copy: copy.set_params(solver_options=own)
    finally:
        model.set_params(solver_options=own)


def _fit_others(
    models: Mapping[int, Any],
    plan: StudyPlan,
    cv: CVPath | None,
    Z: np.ndarray,
    y: np.ndarray,
    n_jobs: int | None,
    watch: Callback | None,
) -> dict[int, Any]:
    """The models of every k, each with its best setting; the chosen one stays as it is."""
    settings = list(plan.settings.values())
    best = np.zeros(len(plan.ks), dtype=int) if cv is None else cv.best_settings
    found = dict(models)
    for setting in np.unique(best).tolist():
        ks = [k for k, s in zip(plan.ks, best.tolist()) if s == setting and k not in models]
        if ks:
            estimator = clone(settings[setting])
            with _watched(estimator, n_jobs, watch) as restore:
                others = fit_sizes(estimator, Z, y, ks)
                for model in others.values():
                    restore(model)
            found |= others
    return {k: found[k] for k in sorted(found)}


def _wrap(inner: Any, scaler: Standardizer, plan: StudyPlan, data: StudyData) -> PreparedClassifier:
    """A classifier of raw rows, as if it had been fitted on them."""
    model = PreparedClassifier(clone(inner), missing=plan.missing)
    return model.adopt(inner, scaler, data.columns)


def _copies_in(
    data: StudyData, scaler: Standardizer, selected: Sequence[SelectedFeature]
) -> list[FeatureCopy]:
    """Copies among the selected columns as they are in the table, gaps filled."""
    indices = np.array([feature.index for feature in selected], dtype=np.intp)
    columns = read_columns(data.X, indices)
    fill = None if scaler.fill is None else scaler.fill[indices]
    return find_copies(fill_gaps(columns, fill), indices.tolist(), data.names)


def _correlate(Z: Any, scores: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Correlations of columns with scores; 0 where one does not vary."""
    some = read_columns(Z, np.array(columns, dtype=np.intp))
    left, right = some - some.mean(axis=0), scores - scores.mean(axis=0)
    size = np.outer(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0))
    product = left.T @ right
    return np.asarray(np.divide(product, size, out=np.zeros_like(product), where=size > 0))


def describe_columns(data: StudyData, model: Any) -> list[str]:
    """What a user should know about the columns, and about the selected ones."""
    notes = []
    X, with_values = data.X, ~has_gaps(data.X)
    if data.n_missing:
        columns = int(np.count_nonzero(~with_values))
        notes.append(
            f"{counted(data.n_missing, 'missing value')} in {counted(columns, 'column')} "
            f"{'was' if data.n_missing == 1 else 'were'} filled with the median of the column, in "
            "every training part anew."
        )
    high, low = column_extent(X)
    constant = int(np.count_nonzero(with_values & (high == low)))
    if constant:
        columns_are = "column is" if constant == 1 else "columns are"
        notes.append(f"{constant} {columns_are} constant and worth nothing.")
    S = [j for j in model.get_support(indices=True).tolist() if with_values[j]]
    if not S:
        return notes
    rows = ClassStats.from_data(read_columns(X, np.array(S)), data.y, form="rows").rows
    for j, varies in zip(S, np.any(rows, axis=0).tolist()):
        if not varies and high[j] > low[j]:
            notes.append(
                f"{str(data.names[j])!r} does not vary within the classes: make sure that it is "
                "not the label in another form."
            )
    return notes
