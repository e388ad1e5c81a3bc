"""What the pages ask of a study, whatever its method is and wherever Ctrl-C ended it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pencil.solution import Solution
from ..plots._style import printable
from ..studies.cv_path import GIVEN
from ..studies.result import Study
from ..studies.stability import StabilityIndex
from .words import percent


def inner_model(study: Study) -> Any:
    """The fitted classifier of standardised columns."""
    return study.final_estimator.estimator_


def n_classes(study: Study) -> int:
    """Number of classes."""
    return len(study.final_estimator.classes_)


def n_used(study: Study) -> int:
    """Number of features of the final model; some methods cannot have exactly k."""
    return len(study.selected)


def solutions(study: Study) -> dict[int, Solution]:
    """The judged set of every k that has one."""
    return dict(zip(study.path, study.optimality))


def chosen_solution(study: Study) -> Solution | None:
    """The judged set of the chosen k; None if Ctrl-C came first."""
    return solutions(study).get(study.best_k)


def chosen_index(study: Study) -> StabilityIndex | None:
    """The stability index at the chosen k; None where it is not known."""
    for index in study.indices:
        if index.k == study.best_k and not np.isnan(index.index):
            return index
    return None


def frequencies(study: Study, k: int) -> np.ndarray | None:
    """How often every feature was selected at k, as a share; None if that is not known."""
    if k not in study.ks or not len(study.frequency):
        return None
    return np.asarray(study.frequency[study.ks.index(k)])


def class_counts(study: Study) -> list[tuple[str, int, str]]:
    """Name, number of samples and share of every class."""
    classes, counts = np.unique(study.labels, return_counts=True)
    n = study.n_samples
    return [(printable(c), int(m), percent(m / n)) for c, m in zip(classes, counts)]


def baseline(study: Study) -> float:
    """The error of always guessing the largest class."""
    return 1 - max(n for _, n, _ in class_counts(study)) / study.n_samples


def beats_guess(study: Study) -> bool:
    """Whether the whole interval of the error lies below the error of a guess."""
    found = study.honest_error
    return found is not None and found.high < baseline(study)


def separates(study: Study) -> bool:
    """Whether it lies well below: under half of the error of a guess."""
    found = study.honest_error
    return found is not None and found.high < baseline(study) / 2


def mark_of_k(study: Study) -> str:
    """What the k of the final set is called beside the others; "" where nothing is to be said."""
    if study.chose_k:
        return "chosen"
    return "given" if study.k_rule == GIVEN else ""


def is_balanced(study: Study) -> bool:
    """Whether k was chosen by the balanced error."""
    return study.score == "balanced_error"


def has_constraints(study: Study) -> bool:
    """Whether the user kept features in, or out."""
    model = inner_model(study)
    return any(len(getattr(model, constraint, ())) > 0 for constraint in ("include", "exclude"))


def is_forced(study: Study) -> bool:
    """Whether the user kept in every selected feature: then nothing was left to select."""
    kept = {int(j) for j in getattr(inner_model(study), "include", ())}
    return bool(study.selected) and all(one.index in kept for one in study.selected)


def aims_at_separation(study: Study) -> bool:
    """Whether the method seeks the class separation by which its sets are judged."""
    return hasattr(inner_model(study), "criterion")
