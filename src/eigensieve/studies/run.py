"""`study`: from a table to one answer, and everything that is known about it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pickle import PicklingError
from types import FunctionType
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike

from .. import __version__
from ..errors import InputError
from ..pencil.budget import Callback
from ..pencil.checks import check_k
from .checkpoint import Checkpoint
from .cv_path import GIVEN, ONE_SE, ONE_SE_BALANCED, ONLY, OWN
from .data import StudyData, check_data
from .estimation import Estimates, Task, estimate
from .final import Final, fit_final
from .jobs import Recipe
from .prepared import has_size
from .result import Source, Study
from .runner import StageProgress
from .settings import (
    as_sizes,
    check_score,
    check_settings,
    resolve_constraints,
    usable_ks,
    usable_range,
)
from .splits import N_FOLDS, Splitter
from .stability import StabilityIndex

DEFAULT_KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
N_REPEATS = 5


def run_study(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    ks: Iterable[int] = DEFAULT_KS,
    cv: Any = N_FOLDS,
    groups: ArrayLike | None = None,
    n_repeats: int = N_REPEATS,
    n_jobs: int | None = None,
    random_state: int = 0,
    *,
    k: int | str = "auto",
    score: str = "error",
    missing: str = "error",
    n_permutations: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    target: str | None = None,
    progress: StageProgress | None = None,
    search_progress: Callback | None = None,
    restart: bool = False,
) -> Study:
    """Which features, how few, how good on new samples, how stable, how close to the best.

    Columns are standardised, features selected and the classifier fitted anew in every training
    part. The number of features is the **smallest k whose error is within one standard error of
    the smallest** (1-SE rule), by repeated cross-validation. The error that is reported comes from
    nested cross-validation: in every outer fold the same choice is made without the samples that
    are then predicted, by one cross-validation inside.

    Parameters
    ----------
    X : array, DataFrame or scipy.sparse matrix (n, p)
        The columns of a sparse matrix are scaled, not centred, before a classifier sees them.
    y : labels (n,)
    estimator : classifier of the package, or several (a list, or a dict by name)
        Default: SparseLDA(). Of several, the one with the least error is taken, in the same choice
        as k: ``[SparseLDA(shrinkage=s) for s in (0.2, 0.5, 0.8)]`` tunes shrinkage and k together.
        A QAlphaSelector ranks the features for a shrunk LDA. A method that chooses the number of
        features itself (SparseUncorrelatedLDA, PenalizedLDA) is tried as it is, without a path.
    ks : numbers of features to try, default (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
        Those that the table does not allow are left out.
    cv : int, "loo" or a splitter of scikit-learn, default 5
        The number of stratified folds; or leave one sample (or group) out.
    groups : array (n,), optional
        Samples of one group (patient) stay on one side of every split.
    n_repeats : int, default 5
        How often the cross-validation is repeated with other folds.
    n_jobs : int, optional
        Processes, as in joblib; -1: all cores. A short study does without. The result does not
        depend on it.
    random_state : int
    k : "auto" or int
        A number is taken as it is; the error is then that of plain cross-validation.
    score : "error" or "balanced_error"
        What k is chosen by. "balanced_error" counts every class alike.
    missing : "error" or "median"
        "median": missing values become the median of their column in the training part.
    n_permutations : int
        How often the whole recipe is run on permuted labels, for ``null.p_value``.
    checkpoint : path, optional
        A file that keeps every result as it comes: after a crash, the same call goes on from
        there, and ends with the same study. It is not deleted.
    names, target : feature names (default: those of X), and the name of the target, for reports
    progress : callable (stage, done, total), optional
    search_progress : callable, told of the events of the final search
    restart : bool
        Whether a checkpoint of another study may be overwritten.

    Returns
    -------
    Study
        After Ctrl-C: what is known by then, with ``unfinished`` saying what is missing.

    Examples
    --------
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = es.study(X, y, ks=(1, 2, 5, 10), n_repeats=2)
    >>> study.best_k
    5
    >>> [feature.name for feature in study.selected][:2]
    ['worst radius', 'worst concave points']
    >>> study.honest_error.low < study.honest_error.error < 0.08
    True
    """
    data = check_data(X, y, groups, names, missing)
    options = Options(ks, cv, n_repeats, random_state, k, score, missing, n_permutations)
    task = make_task(data, check_settings(estimator, random_state), options)
    with open_checkpoint(checkpoint, task, restart) as file:
        found = estimate(task, n_jobs, file, progress)
    final = fit_final(data, task.recipe, found.cv, task.k, n_jobs, progress, search_progress)
    return assemble(task, found, final, target)


@dataclass(frozen=True, eq=False)
class Options:
    """How estimators are studied, whatever they are: see `run_study`."""

    ks: Iterable[int] = DEFAULT_KS
    cv: Any = N_FOLDS
    n_repeats: int = N_REPEATS
    random_state: int = 0
    k: int | str = "auto"
    score: str = "error"
    missing: str = "error"
    n_permutations: int = 0


def make_task(data: StudyData, settings: dict[str, Any], options: Options) -> Task:
    """Check the options against the table."""
    settings = resolve_constraints(settings, data)
    sizes, given = _check_sizes(settings, options.ks, options.k, data)
    seed = _check_seed(options.random_state)
    return Task(
        data,
        Recipe(settings, tuple(sizes), options.missing, np.unique(data.y)),
        given,
        check_score(options.score),
        Splitter(options.cv, data.groups, seed),
        check_k(options.n_repeats, "n_repeats"),
        _check_permutations(options.n_permutations),
    )


@contextmanager
def open_checkpoint(
    path: str | os.PathLike[str] | None, task: Task, replace: bool
) -> Iterator[Checkpoint | None]:
    """The file that keeps the results of the task, if one is wanted."""
    if path is None:
        yield None
        return
    with Checkpoint(path, _study_key(task.data, task.recipe), replace=replace) as file:
        yield file


def _check_sizes(
    settings: Mapping[str, Any], ks: Iterable[int], k: int | str, data: StudyData
) -> tuple[list[int], int | None]:
    """The numbers of features to try (none if the method chooses), and the one given, if any."""
    sized = [has_size(estimator) for estimator in settings.values()]
    given = None if isinstance(k, str) and k == "auto" else k
    if not all(sized):
        if len(sized) > 1:
            raise InputError(
                "a method that chooses the number of features itself cannot be tuned along with "
                "others; compare them (es.compare), or give it alone"
            )
        if given is not None:
            name = type(next(iter(settings.values()))).__name__
            raise InputError(f"k is {k!r}, but {name} chooses the number of features itself")
        return [], None
    wanted = as_sizes(ks)
    if given is None:
        return usable_ks(settings.values(), wanted, data.X.shape[1]), None
    if isinstance(given, str):
        raise InputError(f"k is {k!r}; it must be 'auto' or a whole number, at least 1")
    number = check_k(given)
    allowed = usable_range(settings.values(), data.X.shape[1])
    if number not in allowed:
        raise InputError(f"k is {k!r}; this table allows {allowed.start} to {allowed.stop - 1}")
    return usable_ks(settings.values(), [*wanted, number], data.X.shape[1]), number


def _check_permutations(n: Any) -> int:
    is_none = isinstance(n, int | np.integer) and n == 0
    return 0 if is_none else check_k(n, "n_permutations")


def _check_seed(seed: Any) -> int:
    """A whole number: a generator would not give the same splits again."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"random_state is {seed!r}; a study needs a whole number from 0 on")
    return int(seed)


def _study_key(data: StudyData, recipe: Recipe) -> str:
    """A digest of everything that the results of the jobs depend on."""
    parts: list[Any] = [__version__, data.fingerprint, recipe.ks, recipe.missing]
    for name, estimator in recipe.settings.items():
        kind = type(estimator)
        parts += [name, kind.__module__, kind.__qualname__, _hash(estimator)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def _hash(estimator: Any) -> str:
    """A digest of the parameters; of a function also what it does, as it may have been edited."""
    given = estimator.get_params()
    codes = [
        (name, value.__code__.co_code, value.__code__.co_names, repr(value.__code__.co_consts))
        for name, value in sorted(given.items())
        if isinstance(value, FunctionType)
    ]
    try:
        return str(joblib.hash((given, codes)))
    except (PicklingError, TypeError) as error:
        raise InputError(
            f"{estimator!r} has a function without a name of its own, by which a checkpoint could "
            "know it again; define it in a module, or do without a checkpoint"
        ) from error


def _rule(task: Task) -> str:
    """How the number of features came about, in words."""
    if task.k is not None:
        return GIVEN
    if len(task.recipe.ks) > 1:
        return ONE_SE if task.score == "error" else ONE_SE_BALANCED
    return ONLY if task.recipe.ks else OWN


def assemble(task: Task, found: Estimates, final: Final, target: str | None = None) -> Study:
    """Everything in one place."""
    data, recipe = task.data, task.recipe
    p = data.X.shape[1]
    ks = recipe.ks or (final.k,)
    indices = [StabilityIndex(k, i.index, i.low, i.high) for k, i in zip(ks, found.indices)]
    return Study(
        settings=tuple(recipe.settings),
        setting=final.setting,
        best_k=final.k,
        k_rule=_rule(task),
        ks=ks,
        score=task.score,
        splitting=task.splitter.describe(data.y) if found.cv is not None else "",
        cv=found.cv,
        honest_error=found.honest,
        frequency=np.zeros((0, p)) if found.frequency is None else found.frequency,
        indices=indices,
        null=found.null,
        path=final.path,
        optimality=final.optimality,
        prices=final.prices,
        selected=final.selected,
        scores=final.scores,
        correlations=final.correlations,
        source=Source(
            labels=data.y, names=data.names, target=target or "target", groups=data.groups,
            fingerprint=data.fingerprint, seed=task.splitter.seed, missing=recipe.missing,
            n_missing=data.n_missing,
        ),
        copies=final.copies,
        notes=(*found.notes, *final.notes),
        unfinished=(*found.unfinished, *final.unfinished),
    )  # fmt: skip
