"""Several methods side by side, under the same nested cross-validation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, TimeLimitError
from .data import StudyData, check_data
from .methods import COMPARED, find_method
from .page import Reported
from .plan import StudyPlan, make_plan
from .result import Provenance, Study
from .run import open_checkpoint, run_plan
from .running.progress import shown
from .running.runner import StageProgress, sent_once
from .settings import as_sizes, check_settings
from .splits import N_FOLDS

if TYPE_CHECKING:
    import pandas as pd

COMPARED_KS = (1, 2, 5, 10, 20, 50)


@dataclass(frozen=True, eq=False)
class Comparison(Reported):
    """The same question to several methods.

    Attributes
    ----------
    results : dict method -> Study, all with the same folds
    titles : dict method -> what it is, in words
    failures : dict method -> why it has no result
    reference : str
        The method that the differences are to: the first one.
    table : DataFrame, one row per method, the smallest error first
        error (nested), low, high (95 %), difference from the reference with its standard error,
        paired by sample; balanced_error, auc, k, n_features, stability (Nogueira's index at k), gap
        (how far the class separation of the set may be from that of the best set).
    unfinished : sentences about what Ctrl-C left undone
    """

    results: Mapping[str, Study]
    titles: Mapping[str, str]
    failures: Mapping[str, str]
    reference: str
    source: Provenance
    notes: Sequence[str] = ()
    unfinished: Sequence[str] = ()

    @property
    def how(self) -> str:
        """Where the errors come from: a method without a choice of k has nothing nested."""
        found: dict[str, list[str]] = {}
        for name, study in self.results.items():
            if study.honest_error is not None:
                found.setdefault(study.honest_error.how, []).append(name)
        if len(found) < 2:
            return next(iter(found), "not estimated")
        first, *others = sorted(found, key=lambda how: not how.startswith("nested"))
        return "; ".join([first, *(f"{', '.join(found[how])}: {how}" for how in others)])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table`` as plain values, None where something is not known."""
        rows = [self._row(name, study) for name, study in self.results.items()]
        return sorted(rows, key=lambda row: (row["error"] is None, row["error"] or 0.0))

    def _row(self, name: str, study: Study) -> dict[str, Any]:
        found, solution = study.honest_error, study.solution
        difference, standard_error = self._difference(study)
        index = study.indices[study.ks.index(study.best_k)].index if study.indices else np.nan
        return {
            "method": name,
            "title": self.titles[name],
            "error": None if found is None else found.error,
            "low": None if found is None else found.low,
            "high": None if found is None else found.high,
            "difference": difference,
            "difference_se": standard_error,
            "balanced_error": study.balanced_error,
            "auc": None if found is None else found.auc,
            "k": study.best_k,
            "n_features": len(study.selected),
            "stability": None if np.isnan(index) else index,
            "gap": solution.gap if np.isfinite(solution.gap) else None,
            "features": [feature.name for feature in study.selected],
        }

    def _difference(self, study: Study) -> tuple[float | None, float | None]:
        """Mean difference of the errors from the reference, and its standard error.

        Samples are pairs; those of one group count together.
        """
        base = self.results.get(self.reference)
        if base is None or base.honest_error is None or study.honest_error is None:
            return None, None
        each = study.honest_error.wrong - base.honest_error.wrong
        seen = ~np.isnan(each)
        groups = np.arange(each.size) if self.source.groups is None else self.source.groups
        names, member = np.unique(groups[seen], return_inverse=True)
        mean, n = float(each[seen].mean()), int(seen.sum())
        sums = np.bincount(member, weights=each[seen] - mean)
        factor = names.size / max(names.size - 1, 1)
        return mean, float(np.sqrt(factor * np.square(sums).sum()) / n)

    @property
    def table(self) -> pd.DataFrame:
        """One row per method, the smallest error first."""
        import pandas as pd

        return pd.DataFrame(self.rows).drop(columns="features", errors="ignore")

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.results)})"


def compare_methods(
    X: Any,
    y: ArrayLike,
    methods: Iterable[str] | Mapping[str, Any] | None = None,
    ks: Iterable[int] = COMPARED_KS,
    cv: Any = N_FOLDS,
    groups: ArrayLike | None = None,
    n_repeats: int = 1,
    n_jobs: int | None = None,
    random_state: int = 0,
    *,
    score: str = "error",
    missing: str = "error",
    names: Sequence[str] | None = None,
    target: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | StageProgress | None = None,
    restart: bool = False,
) -> Comparison:
    """The package's methods and classical ones side by side, under the same nested CV.

    Every method gets the same folds, and chooses its k inside them.

    Parameters
    ----------
    methods : names, or estimators by name, optional
        By default sparse-lda, gloss, gloss-d, sulda, plda, qalpha, and the classical pearson,
        anova, snr, svm-rfe and l1; slda is slow, and only run if it is named. The first is the
        reference.
    checkpoint : folder, optional
        Keeps one file per method, from which a killed comparison goes on. Made if need be.
    X, y, ks, cv, groups, n_repeats, n_jobs, random_state : as in `study`
    score, missing, names, target, progress, restart : as in `study`

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> found = es.compare(X, y, ["sparse-lda", "anova"], ks=(1, 2, 5))
    >>> sorted(found.table["method"])
    ['anova', 'sparse-lda']
    """
    data = check_data(X, y, groups, names, missing, target)
    options = {"ks": as_sizes(ks), "cv": cv, "n_repeats": n_repeats, "score": score}
    settings, titles = _named_methods(methods, random_state)
    plans, failures = _make_plans(data, settings, {**options, "random_state": random_state})
    results: dict[str, Study] = {}
    unfinished: list[str] = []
    files = {} if checkpoint is None else _make_files(Path(checkpoint), data, plans, restart)
    with sent_once(), shown(progress) as told:
        for name, plan in plans.items():
            tell = None if told is None else _stage_of(name, told)
            try:
                results[name] = run_plan(data, plan, n_jobs, files.get(name), tell, is_brief=True)
            except (ValueError, TimeLimitError) as reason:  # the method's own, or a library's
                failures[name] = str(reason)
            except KeyboardInterrupt:
                unfinished.append(f"{', '.join(_left(settings, results, failures))} not compared")
                break
            if results.get(name) is not None and results[name].unfinished:
                rest = _left(settings, results, failures)
                unfinished.extend(f"{name}: {part}" for part in results[name].unfinished)
                unfinished.extend([f"{', '.join(rest)} not compared"] if rest else [])
                break
    if not results:
        if unfinished:
            raise KeyboardInterrupt("no method is done yet")
        raise InputError(f"no method could be fitted; {next(iter(failures.values()))}")
    return _collect(results, titles, failures, settings, unfinished)


def _named_methods(
    methods: Iterable[str] | Mapping[str, Any] | None, seed: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """Estimators and titles, by name."""
    if isinstance(methods, Mapping):
        settings = check_settings(methods, seed)
        return settings, {name: type(one).__name__ for name, one in settings.items()}
    if isinstance(methods, str):
        methods = [methods]
    found = [find_method(name) for name in (COMPARED if methods is None else methods)]
    if not found:
        raise InputError("there is no method to compare; name at least one")
    return {m.name: m.make(seed) for m in found}, {m.name: m.title for m in found}


def _stage_of(method: str, progress: StageProgress) -> StageProgress:
    def tell(stage: str, done: int, total: int) -> None:
        progress(type(stage)(f"{method}, {stage}"), done, total)

    return tell


def _make_plans(
    data: StudyData, settings: Mapping[str, Any], options: dict[str, Any]
) -> tuple[dict[str, StudyPlan], dict[str, str]]:
    """What is to be done for each method, and why some can do nothing with the table."""
    plans, failures = {}, {}
    for name, estimator in settings.items():
        try:
            plans[name] = make_plan(data, {name: estimator}, **options)
        except InputError as reason:
            failures[name] = str(reason)
    return plans, failures


def _make_files(
    folder: Path, data: StudyData, plans: Mapping[str, StudyPlan], restart: bool
) -> dict[str, Path]:
    """The checkpoint of every method; one that cannot be used is told before the work begins."""
    files = {name: folder / f"{quote(name, safe=' ')}.jsonl" for name in plans}
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: is no folder to write to ({error.strerror})") from error
    for name, plan in plans.items():
        with open_checkpoint(files[name], data, plan, restart):
            pass
    return files


def _left(
    settings: Mapping[str, Any], results: Mapping[str, Study], failures: Mapping[str, str]
) -> list[str]:
    return [name for name in settings if name not in results and name not in failures]


def _collect(
    results: Mapping[str, Study],
    titles: Mapping[str, str],
    failures: Mapping[str, str],
    settings: Mapping[str, Any],
    unfinished: Sequence[str],
) -> Comparison:
    """All of it; what every method notes is told once."""
    first = next(iter(results.values()))
    common = [note for note in first.notes if all(note in s.notes for s in results.values())]
    own = [
        f"{name}: {note}"
        for name, study in results.items()
        for note in study.notes
        if note not in common
    ]
    reference = next(name for name in settings if name in results)
    return Comparison(
        results, titles, failures, reference, first.source, (*common, *own), tuple(unfinished)
    )
