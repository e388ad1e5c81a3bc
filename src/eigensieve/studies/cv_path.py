"""Error against the number of features, by cross-validation with selection inside the fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.metrics import recall_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from ..core.checks import check_k
from ..errors import InputError, TimeLimitError
from .standardize import Standardizer

DEFAULT_KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
N_FOLDS = 5
Progress = Callable[[int, int], None]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CVPath:
    """Errors of every fold for every k.

    Attributes
    ----------
    ks : the cardinalities, ascending
    fold_errors, fold_balanced_errors : arrays (n_repeats * n_folds, len(ks))
    n_folds, n_repeats : int
    """

    ks: tuple[int, ...]
    fold_errors: np.ndarray
    fold_balanced_errors: np.ndarray
    n_folds: int
    n_repeats: int

    @property
    def error(self) -> np.ndarray:
        """Mean error for every k."""
        return self.fold_errors.mean(axis=0)

    @property
    def balanced_error(self) -> np.ndarray:
        """Mean balanced error (each class weighs the same) for every k."""
        return self.fold_balanced_errors.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean error.

        The folds of one repeat use all samples once; further repeats are no new samples,
        so the divisor counts the folds of one repeat only.
        """
        return self.fold_errors.std(axis=0, ddof=1) / np.sqrt(self.n_folds)

    @property
    def best_k(self) -> int:
        """1-SE rule: the smallest k whose error is within one SE of the smallest error."""
        lowest = int(np.argmin(self.error))
        limit = self.error[lowest] + self.standard_error[lowest]
        return self.ks[int(np.argmax(self.error <= limit))]

    def table(self) -> list[dict[str, float]]:
        """One row per k: k, error, se, balanced_error."""
        columns = zip(self.ks, self.error, self.standard_error, self.balanced_error)
        return [
            {"k": k, "error": float(e), "se": float(s), "balanced_error": float(b)}
            for k, e, s, b in columns
        ]


@dataclass(frozen=True)
class ErrorEstimate:
    """An error rate on samples that had no part in choosing the model."""

    error: float
    low: float
    high: float
    n_samples: int
    how: str


def cross_validate_path(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int] = DEFAULT_KS,
    *,
    n_folds: int = N_FOLDS,
    n_repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CVPath:
    """Repeated stratified cross-validation of an estimator that has ``fit_path``.

    Standardisation, selection and classifier are fitted anew in every training part. The
    number of folds is lowered to the size of the smallest class where that is less.
    """
    sizes, n_folds = usable_ks(estimator, ks, X.shape[1]), usable_folds(y, n_folds)
    splits = [
        split for r in range(n_repeats) for split in stratified_splits(y, n_folds, random_state + r)
    ]
    results = _run_folds(estimator, X, y, sizes, splits, n_jobs, progress)
    errors = np.array([[fold[k][0] for k in sizes] for fold in results])
    balanced = np.array([[fold[k][1] for k in sizes] for fold in results])
    return CVPath(tuple(sizes), errors, balanced, n_folds, n_repeats)


def nested_error(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int] = DEFAULT_KS,
    *,
    n_folds: int = N_FOLDS,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ErrorEstimate:
    """The error of the whole recipe, the choice of k included (nested cross-validation).

    In every outer fold k is chosen anew, by cross-validation inside its training part.
    """
    folds = usable_folds(y, n_folds, least=3)  # one held out, two for the inner folds
    wrong = 0
    splits = list(stratified_splits(y, folds, random_state))
    for done, (train, test) in enumerate(splits):
        if progress is not None:
            progress(done, len(splits))
        inner = cross_validate_path(
            estimator, X[train], y[train], ks, n_folds=n_folds, n_repeats=1,
            random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        found = _predict_path(estimator, X, y, [inner.best_k], train, test)
        wrong += int(np.count_nonzero(found[inner.best_k] != y[test]))
    if progress is not None:
        progress(len(splits), len(splits))
    return error_estimate(wrong, len(y), f"nested {folds}-fold cross-validation, k chosen inside")


def error_estimate(wrong: float, n: int, how: str) -> ErrorEstimate:
    """An error rate with its 95 % Wilson interval.

    ``wrong`` may be a mean over repeats, and then need not be whole.
    """
    z = 1.959963984540054
    rate, share = wrong / n, z * z / n
    centre = (rate + share / 2) / (1 + share)
    half = np.sqrt(rate * (1 - rate) * share + share * share / 4) / (1 + share)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return ErrorEstimate(float(rate), float(low), float(high), n, how)


def usable_folds(y: np.ndarray, n_folds: int, *, least: int = 2) -> int:
    """The number of folds, lowered to the smallest class, which needs ``least`` samples."""
    classes, counts = np.unique(y, return_counts=True)
    if classes.size < 2:
        raise InputError(f"the target has one class only ({str(classes[0])!r}); two are needed")
    smallest = int(counts.min())
    if smallest < least:
        size = "one sample" if smallest == 1 else f"{smallest} samples"
        raise InputError(
            f"class {str(classes[np.argmin(counts)])!r} has {size} only, and cross-validation "
            f"takes {least} of each; give it more samples, or leave it out"
        )
    return min(n_folds, smallest)


def usable_ks(estimator: Any, ks: Sequence[int], p: int) -> list[int]:
    """The values of k that p features and the estimator's wishes allow, ascending."""
    least = max(1, _count(getattr(estimator, "include", ())))
    most = p - _count(getattr(estimator, "exclude", ()))
    sizes = sorted({k for k in map(check_k, ks) if least <= k <= most})
    if not sizes:
        raise InputError(f"no k of {list(ks)} lies in {least}..{most}")
    return sizes


def _count(features: Any) -> int:
    """How many features are named, by a list or by a mask."""
    array = np.asarray(features)
    return int(array.sum()) if array.dtype == bool else np.unique(array).size


def stratified_splits(
    y: np.ndarray, n_folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Train and test indices of one stratified k-fold."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    yield from folds.split(np.zeros(len(y)), y)


def _run_folds(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    ks: list[int],
    splits: list[tuple[np.ndarray, np.ndarray]],
    n_jobs: int | None,
    progress: Progress | None,
) -> list[dict[int, tuple[float, float]]]:
    # threads: the work is BLAS, and the table is shared instead of copied to processes
    jobs = [partial(_score_fold, estimator, X, y, ks, train, test) for train, test in splits]
    results = []
    # one BLAS thread per fold: two threads that each start two more only wait for each other
    with threadpool_limits(limits=1, user_api="blas"):
        for result in _run_jobs(jobs, effective_n_jobs(n_jobs)):
            results.append(result)
            if progress is not None:
                progress(len(results), len(splits))
    return results


def _run_jobs(jobs: Sequence[Callable[[], T]], n_threads: int) -> Iterator[T]:
    """Results in order. If the consumer or a job fails (Ctrl-C), running jobs are waited for:

    a thread that is still in compiled code when the interpreter ends would abort it.
    """
    if n_threads == 1:
        yield from (job() for job in jobs)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        for future in [pool.submit(job) for job in jobs]:
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _score_fold(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    ks: list[int],
    train: np.ndarray,
    test: np.ndarray,
) -> dict[int, tuple[float, float]]:
    scores = {}
    for k, found in _predict_path(estimator, X, y, ks, train, test).items():
        # a tiny class may be missing from a test part: it has no recall there
        recall = recall_score(y[test], found, labels=np.unique(y[test]), average="macro")
        scores[k] = (float(np.mean(found != y[test])), float(1.0 - recall))
    return scores


def _predict_path(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    ks: list[int],
    train: np.ndarray,
    test: np.ndarray,
) -> dict[int, np.ndarray]:
    scaler = Standardizer.fit(X[train])
    models = estimator.fit_path(scaler.apply(X[train]), y[train], ks)
    missing = [k for k in ks if k not in models]
    if missing:
        raise TimeLimitError(
            f"the time limit ended a search before k = {missing[0]}; raise it, or ask for less"
        )
    Z = scaler.apply(X[test])
    return {k: models[k].predict(Z) for k in ks}
