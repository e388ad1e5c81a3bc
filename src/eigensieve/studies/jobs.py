"""One job of a study: fit on a training part, for every setting and k, and predict the rest.

All of a study is made of such jobs, whatever they are for; what one finds is plain data.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from ..errors import TimeLimitError
from ..pencil.solution import Status
from .plan import StudyPlan
from .preference import take_preferred
from .prepared import fit_sizes
from .standardize import Standardizer


class Finding(TypedDict):
    """What one model did: classes of the test rows, AUC there, and the features it uses.

    ``log_proba``: see `pack`; None where it is not kept, or there is no temperature to fit to it.
    """

    predicted: list[int]
    auc: float | None
    support: list[int]
    early: bool
    log_proba: str | None


Findings = list[list[Finding]]  # by setting, then by k


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen inside a training part: a setting and a size (by their places).

    ``frequency``: how often every feature was selected from parts of it, by these; 0 without parts.
    """

    setting: int
    size: int
    frequency: np.ndarray


@dataclass(frozen=True, eq=False)
class Job:
    """A training and a test part of rows with labels (those of the null are permuted).

    ``keeps_proba``: whether the probabilities of the test rows are kept as well. ``choice``: if
    there is one, a single model is fitted, on the set that is preferred.
    """

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray
    keeps_proba: bool = False
    choice: Choice | None = None

    @cached_property
    def key(self) -> str:
        """The same for the same parts and labels, in any process."""
        digest = hashlib.sha256()
        for rows in (self.train, self.test):
            digest.update(rows.astype("<i8").tobytes() + b"|")
        digest.update("\x1f".join(map(str, self.labels.tolist())).encode())
        digest.update(b"|proba" if self.keeps_proba else b"")
        if self.choice is not None:
            own = self.choice
            digest.update(repr((own.setting, own.size)).encode() + own.frequency.tobytes())
        return digest.hexdigest()[:24]


def run_job(job: Job, X: Any, plan: StudyPlan) -> Findings:
    """Fit every setting and k on the training part, and judge it on the test part."""
    scaler = Standardizer.fit(X[job.train], plan.missing)
    Z, Z_new = scaler.apply(X[job.train]), scaler.apply(X[job.test])
    y, y_new = job.labels[job.train], job.labels[job.test]
    with _quiet_process():
        return [
            [_judge(model, Z_new, y_new, plan.classes, job.keeps_proba) for model in models]
            for models in _fit_all(job.choice, Z, y, plan)
        ]


def _fit_all(
    choice: Choice | None, Z: np.ndarray, y: np.ndarray, plan: StudyPlan
) -> Iterator[list[Any]]:
    """The models of every setting and k; or the one on the set that is preferred."""
    settings = list(plan.settings.values())
    if choice is None:
        yield from (_fit(estimator, Z, y, plan.ks) for estimator in settings)
        return
    assert plan.preference is not None
    model = _fit(settings[choice.setting], Z, y, plan.ks)[choice.size]
    model, preferred = take_preferred(
        model, Z, y, plan.preference, choice.frequency, plan.within, n_jobs=1
    )
    if preferred is not None and preferred.found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # which the list has only noted
    yield [model]


def _fit(estimator: Any, Z: np.ndarray, y: np.ndarray, ks: tuple[int, ...]) -> list[Any]:
    if not ks:
        return [clone(estimator).fit(Z, y)]
    models = fit_sizes(_without_proof(estimator), Z, y, ks)
    late = [k for k in ks if k not in models]
    if late:
        raise TimeLimitError(
            f"the time limit ended a search before k = {late[0]}; raise it, or ask for less"
        )
    return [models[k] for k in ks]


def _without_proof(estimator: Any) -> Any:
    """A copy that does without the exact search of solver "auto".

    A proof takes many times as long as the greedy search, and there are hundreds of fits. It
    changes few sets; what that does to the error is measured, see docs/study.md.
    """
    fast = clone(estimator)
    return fast.set_params(effort=0) if "effort" in fast.get_params(deep=False) else fast


def _judge(
    model: Any, Z: np.ndarray, y: np.ndarray, classes: np.ndarray, keeps_proba: bool
) -> Finding:
    status = getattr(getattr(model, "solution_", None), "status", None)
    return {
        "predicted": np.searchsorted(classes, model.predict(Z)).tolist(),
        "auc": _area(model, Z, y),
        "support": model.get_support(indices=True).tolist(),
        "early": bool(getattr(status, "is_early", False)),
        "log_proba": pack(_log_proba(model, Z, classes)) if keeps_proba else None,
    }


def _log_proba(model: Any, Z: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
    """(n, K), -inf for a class that the model has never seen; None without a softmax."""
    if not getattr(getattr(model, "_rule", None), "has_softmax", False):
        return None
    found = np.full((Z.shape[0], classes.size), -np.inf)
    found[:, np.searchsorted(classes, model.classes_)] = model.predict_log_proba(Z)
    return found


def pack(values: np.ndarray | None) -> str | None:
    """Numbers as text that JSON keeps as it is, in single precision: there may be millions."""
    if values is None:
        return None
    return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def unpack(text: str, n_columns: int) -> np.ndarray:
    """What was packed, (n, n_columns)."""
    flat = np.frombuffer(base64.b64decode(text), dtype="<f4")
    return flat.reshape(-1, n_columns).astype(np.float64)


def _area(model: Any, Z: np.ndarray, y: np.ndarray) -> float | None:
    """Area under the ROC curve; with several classes the mean of one against the others.

    None where the test part does not have samples of two classes.
    """
    if model.classes_.size == 2:
        columns, scores = model.classes_[1:], model.decision_function(Z)[:, None]
    else:
        columns, scores = model.classes_, model.predict_log_proba(Z)
    areas = [
        _area_of(y == label, scores[:, i])
        for i, label in enumerate(columns)
        if 0 < np.count_nonzero(y == label) < y.size
    ]
    return float(np.mean(areas)) if areas else None


def _area_of(member: np.ndarray, scores: np.ndarray) -> float:
    """The share of pairs in which the member has the larger score (Mann and Whitney)."""
    n = int(np.count_nonzero(member))
    excess = rankdata(scores)[member].sum() - n * (n + 1) / 2
    return float(excess / (n * (member.size - n)))


@contextmanager
def _quiet_process() -> Iterator[None]:
    """Silence warnings where that is safe: in the main thread of a process.

    Hundreds of fits would say the same; what matters is in the findings. Threads share one list
    of filters: there the runner has silenced them already.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
