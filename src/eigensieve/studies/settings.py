"""What a study tries: estimators by name, checked, with features in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InputError
from ..estimators._shared import feature_indices
from ..estimators.qalpha_selector import QAlphaSelector
from ..estimators.ranked import RankedLDA
from ..estimators.sparse_lda import SparseLDA
from ..pencil.checks import check_choice, check_k
from .data import StudyData
from .prepared import PreparedClassifier, check_classifier

CONSTRAINTS = ("include", "exclude")
SCORES = ("error", "balanced_error")


def check_settings(estimator: Any, random_state: int) -> dict[str, Any]:
    """Classifiers by name, from one, several or none."""
    if estimator is None:
        estimator = SparseLDA(random_state=random_state)
    if isinstance(estimator, Mapping):
        settings = {str(name): one for name, one in estimator.items()}
        if len(settings) < len(estimator):
            raise InputError(f"two estimators have one name: {', '.join(map(repr, estimator))}")
    elif isinstance(estimator, list | tuple):
        settings = _named(estimator)
    else:
        settings = {type(estimator).__name__: estimator}
    if not settings:
        raise InputError("there is no estimator to try; give at least one")
    return {name: _as_classifier(one) for name, one in settings.items()}


def _named(estimators: Iterable[Any]) -> dict[str, Any]:
    """By their reprs, which show what is not default; numbered where these are alike."""
    settings: dict[str, Any] = {}
    for one in estimators:
        name = " ".join(repr(one).split())
        settings[name if name not in settings else f"{name} ({len(settings) + 1})"] = one
    return settings


def _as_classifier(estimator: Any) -> Any:
    """A selector of features that does not classify ranks them for a shrunk LDA."""
    if isinstance(estimator, QAlphaSelector):
        return RankedLDA(clone(estimator))
    if isinstance(estimator, PreparedClassifier):
        raise InputError(
            "a PreparedClassifier is what a study makes; give the classifier inside, and missing"
        )
    check_classifier(estimator)
    return clone(estimator)


def resolve_constraints(
    settings: dict[str, Any], data: StudyData, flag: str = ""
) -> dict[str, Any]:
    """The same settings with the features of include and exclude in numbers.

    They must leave a choice, or at least an answer; ``flag`` as in `make_plan`.
    """
    p, names = data.X.shape[1], np.array(data.names, dtype=object)
    for estimator in settings.values():
        own = estimator.get_params(deep=False)
        found = {
            constraint: feature_indices(own[constraint], names, p, constraint).tolist()
            for constraint in CONSTRAINTS
            if constraint in own
        }
        estimator.set_params(**found)
        both = set(found.get("include", ())) & set(found.get("exclude", ()))
        if both:
            raise InputError(f"{names[min(both)]!r} is in {flag}include and in {flag}exclude")
    if usable_range(settings.values(), p).stop <= 1:
        raise InputError(f"{flag}exclude leaves no feature to select; exclude fewer")
    return settings


def as_sizes(ks: Any) -> tuple[Any, ...]:
    """What was given as ks, which may be used up by looking at it."""
    if isinstance(ks, str) or not isinstance(ks, Iterable):
        raise InputError(f"ks is {ks!r}; it must be several whole numbers, such as (1, 2, 5)")
    return tuple(ks)


def usable_ks(estimators: Iterable[Any], ks: Iterable[int], p: int) -> list[int]:
    """The values of k that p features and the estimators' constraints allow, ascending."""
    allowed, wanted = usable_range(estimators, p), list(ks)
    sizes = sorted({k for k in map(check_k, wanted) if k in allowed})
    if not sizes:
        raise InputError(f"no k of {wanted[:20]} lies in {allowed.start}..{allowed.stop - 1}")
    return sizes


def usable_range(estimators: Iterable[Any], p: int) -> range:
    """The numbers of features that include and exclude allow."""
    least, most = 1, p
    for estimator in estimators:
        least = max(least, len(getattr(estimator, "include", ())))
        most = min(most, p - len(getattr(estimator, "exclude", ())))
    return range(least, most + 1)


def check_score(score: Any) -> str:
    """What k is chosen by."""
    return check_choice(score, "score", SCORES)
