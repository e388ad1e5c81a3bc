"""`study`: from a table to one answer, and everything that is known about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..pencil.budget import Callback
from .cv_path import GIVEN, ONLY, OWN, CVPath
from .data import StudyData, check_data
from .estimation import Estimates, estimate
from .final import Final, fit_final
from .near_optimal import WITHIN
from .plan import DEFAULT_KS, N_REPEATS, StudyPlan, make_plan
from .result import Provenance, Study
from .running.checkpoint import Checkpoint
from .running.progress import show_search, shown
from .running.runner import StageProgress
from .settings import check_settings
from .splits import N_FOLDS
from .stability import StabilityIndex


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
    prefer: str | Callable[[list[str]], float] | None = None,
    within: float = WITHIN,
    costs: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    target: str | None = None,
    progress: bool | StageProgress | None = None,
    search_progress: Callback | None = None,
    restart: bool = False,
) -> Study:
    """Which features, how few, how good on new samples, how stable, how close to the best.

    Columns are standardised, features selected and the classifier fitted anew in every training
    part. The number of features is the **smallest k whose error is within one standard error of
    the smallest** (1-SE rule), by repeated cross-validation. The error that is reported comes from
    nested cross-validation: in every outer fold the same choice is made without the samples that
    are then predicted, by one cross-validation inside. The same predictions give the temperature
    by which the final model divides its scores before they become probabilities.

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
        Samples of one group (patient) stay on one side of every split. `copy_groups` makes them
        of rows that are copies of each other, of which ``notes`` of the study tell.
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
        How often cross-validation is run on permuted labels, for ``null.p_value``.
    prefer : "stable", "cheap" or a function, optional
        Which set is taken, of those that are nearly as good as the best one; by default the best.
        "stable": the one whose features were selected most often in cross-validation; "cheap": the
        one that costs least. A function is given the names of a set's features, and the set with
        the least value is taken. In every outer fold of the nested cross-validation, which then
        gives ``honest_error`` for a given k as well, the same choice is made. For SparseLDA.
    within : float
        How far below the best a set may be that is listed (``near_optimal``) and may be preferred:
        0.01 is one percent of the class separation.
    costs : one number per feature, or a dict that names them all, for prefer="cheap"
    checkpoint : path, optional
        A file that keeps every result as it comes: after a crash, the same call goes on from
        there, and ends with the same study. It is not deleted.
    names, target : feature names (default: those of X), and the name of the target, for reports
    progress : bool, or callable (stage, done, total), optional
        True: bars on stderr in a terminal or a notebook, elsewhere (a log file) a line now and
        then. A function is called with each result of a stage.
    search_progress : callback of the final search, as in `solve`; with ``progress=True`` that is
        shown, too
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
    data = check_data(X, y, groups, names, missing, target)
    plan = make_plan(
        data, check_settings(estimator, random_state), ks=ks, k=k, cv=cv, n_repeats=n_repeats,
        n_permutations=n_permutations, score=score, random_state=random_state, prefer=prefer,
        within=within, costs=costs,
    )  # fmt: skip
    with shown(progress) as tell:
        if progress is True and tell is not None and search_progress is None:
            search_progress = show_search(tell)
        return run_plan(
            data, plan, n_jobs, checkpoint, tell, search_progress=search_progress, restart=restart
        )


def run_plan(
    data: StudyData,
    plan: StudyPlan,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: StageProgress | None = None,
    *,
    search_progress: Callback | None = None,
    restart: bool = False,
    is_brief: bool = False,
) -> Study:
    """Cross-validate and fit; ``is_brief``: without the path, prices of features and other sets."""
    with open_checkpoint(checkpoint, data, plan, restart) as file:
        found = estimate(data, plan, n_jobs, file, progress)
    final = fit_final(data, plan, found, n_jobs, progress, search_progress, is_brief=is_brief)
    if found.calibration is not None:
        final.path[final.k].estimator_.temperature_ = found.calibration.temperature
    return _assemble(data, plan, found, final)


def open_checkpoint(
    path: str | os.PathLike[str] | None, data: StudyData, plan: StudyPlan, restart: bool
) -> AbstractContextManager[Checkpoint | None]:
    """The file that keeps the results of the jobs, if one is wanted."""
    return nullcontext() if path is None else Checkpoint(path, plan.key(data), replace=restart)


def _rule(plan: StudyPlan, cv: CVPath | None) -> str:
    """How the number of features came about, in words."""
    if plan.k is not None:
        return GIVEN
    if len(plan.ks) > 1:
        assert cv is not None  # else there would be no study
        return cv.rule
    return ONLY if plan.ks else OWN


def _assemble(data: StudyData, plan: StudyPlan, found: Estimates, final: Final) -> Study:
    """Everything in one place."""
    p = data.X.shape[1]
    ks = plan.ks or (final.k,)
    indices = [StabilityIndex(k, i.index, i.low, i.high) for k, i in zip(ks, found.indices)]
    return Study(
        settings=tuple(plan.settings),
        setting=final.setting,
        best_k=final.k,
        k_rule=_rule(plan, found.cv),
        ks=ks,
        score=plan.score,
        splitting=plan.splitter.describe(data.y) if found.cv is not None else "",
        cv=found.cv,
        honest_error=found.honest,
        calibration=found.calibration,
        frequency=np.zeros((0, p)) if found.frequency is None else found.frequency,
        indices=indices,
        null=found.null,
        path=final.path,
        optimality=final.optimality,
        prices=final.prices,
        near_optimal=final.near_optimal,
        preferred=final.preferred,
        selected=final.selected,
        scores=final.scores,
        correlations=final.correlations,
        source=Provenance(
            labels=data.y, names=data.names, target=data.target, groups=data.groups,
            fingerprint=data.fingerprint, seed=plan.splitter.seed, missing=plan.missing,
            n_missing=data.n_missing,
        ),
        copies=final.copies,
        notes=(*data.about_rows, *found.notes, *final.notes),
        unfinished=(*found.unfinished, *final.unfinished),
    )  # fmt: skip
