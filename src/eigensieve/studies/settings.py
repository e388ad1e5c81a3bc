"""What a study tries: estimators by name, checked, with features in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InputError
from ..estimators._shared import feature_indices, limits_by_index
from ..estimators.qalpha_selector import QAlphaSelector
from ..estimators.ranked import RankedLDA
from ..estimators.sparse_lda import SparseLDA
from ..pencil.allowed import check_allowed, next_size
from ..pencil.checks import check_choice, check_k
from ..pencil.constraints import Constraints
from ..pencil.limits import Limits
from .data import StudyData
from .prepared import PreparedClassifier, check_classifier

LISTS = ("include", "exclude")
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
    """The same settings with the features of include, exclude and constraints in numbers.

    They must leave a choice, or at least an answer; ``flag`` as in `make_plan`.
    """
    p, names = data.X.shape[1], np.array(data.names, dtype=object)
    for estimator in settings.values():
        own = estimator.get_params(deep=False)
        found = {
            name: feature_indices(own[name], names, p, name).tolist()
            for name in LISTS
            if name in own
        }
        estimator.set_params(**found)
        if own.get("constraints") is not None:
            asked = limits_by_index(own["constraints"], names, p)
            estimator.set_params(constraints=_as_plain(asked))
        both = set(found.get("include", ())) & set(found.get("exclude", ()))
        if both:
            raise InputError(f"{names[min(both)]!r} is in {flag}include and in {flag}exclude")
    if usable_range(settings.values(), p).stop <= 1:
        raise InputError(f"{flag}exclude leaves no feature to select; exclude fewer")
    return settings


def _as_plain(asked: Constraints) -> dict[str, Any]:
    """Constraints by index without arrays: two that are alike are equal."""
    groups = asked.groups and {name: members.tolist() for name, members in asked.groups.items()}
    costs = None if asked.costs is None else asked.costs.tolist()
    return asked.as_options() | {"groups": groups, "costs": costs}


def as_sizes(ks: Any) -> tuple[Any, ...]:
    """What was given as ks, which may be used up by looking at it."""
    if isinstance(ks, str) or not isinstance(ks, Iterable):
        raise InputError(f"ks is {ks!r}; it must be several whole numbers, such as (1, 2, 5)")
    return tuple(ks)


def usable_ks(estimators: Iterable[Any], ks: Iterable[int], p: int) -> list[int]:
    """The values of k that p features and the estimators' constraints allow, ascending."""
    estimators, wanted = list(estimators), list(ks)
    allowed = usable_range(estimators, p)
    sizes = sorted({k for k in map(check_k, wanted) if k in allowed})
    if not sizes:
        raise InputError(f"no k of {wanted[:20]} lies in {allowed.start}..{allowed.stop - 1}")
    possible = [k for k in sizes if all(_has_set(estimator, k, p) for estimator in estimators)]
    if not possible:
        for estimator in estimators:
            check_usable(estimator, sizes[0], p)
        raise InputError("for no k there is a set that keeps the constraints of every estimator")
    return possible


def usable_range(estimators: Iterable[Any], p: int) -> range:
    """From the least number of features that the estimators' constraints allow to the most."""
    least, most = 1, p
    for estimator in estimators:
        include = len(getattr(estimator, "include", ()))
        least = max(least, include)
        most = min(most, p - len(getattr(estimator, "exclude", ())))
        limits, inside = _limits(estimator, p)
        if limits is not None:
            first = next_size(limits, max(1, include), inside)
            if first is None:
                check_allowed(limits, None, inside)
            least = max(least, first or 1)
    return range(least, most + 1)


def check_usable(estimator: Any, k: int, p: int) -> None:
    """Raise, with the reason, unless some set of k of the p features keeps the limits."""
    limits, include = _limits(estimator, p)
    if limits is not None:
        check_allowed(limits, k, include)


def _has_set(estimator: Any, k: int, p: int) -> bool:
    limits, include = _limits(estimator, p)
    return limits is None or next_size(limits, k, include) == k


def _limits(estimator: Any, p: int) -> tuple[Limits | None, np.ndarray]:
    """The limits of an estimator's sets on what is not excluded, and the included features."""
    include = np.array(getattr(estimator, "include", ()), dtype=np.intp)
    limits = Constraints(**(getattr(estimator, "constraints", None) or {})).limits(p)
    free = np.setdiff1d(np.arange(p), np.array(getattr(estimator, "exclude", ()), dtype=np.intp))
    return None if limits is None else limits.take(free), np.searchsorted(free, include)


def check_score(score: Any) -> str:
    """What k is chosen by."""
    return check_choice(score, "score", SCORES)
