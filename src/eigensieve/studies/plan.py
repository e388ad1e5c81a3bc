"""What a study does with a table, checked once: the same object from the options to the jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pickle import PicklingError
from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np

from .. import __version__
from ..errors import InputError
from ..pencil.checks import check_k, check_number
from .data import StudyData
from .near_optimal import WITHIN
from .preference import Preference, make_preference
from .prepared import has_size
from .settings import (
    as_sizes,
    check_score,
    check_usable,
    resolve_constraints,
    usable_ks,
    usable_range,
)
from .splits import N_FOLDS, Splitter

DEFAULT_KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
N_REPEATS = 5


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """What is tried, and how it is judged; jobs in other processes get it without the table.

    Attributes
    ----------
    settings : estimators by name
    ks : numbers of features to try; empty where the estimator chooses the number itself
    k : the number that was given, None if it is to be chosen
    score : what is chosen by
    missing : what is done about missing values
    classes : array, all classes of the table
    splitter, n_repeats, n_permutations
    preference : which of the nearly optimal sets is taken; None for the best one
    within : float, how far below the best one a nearly optimal set may be
    """

    settings: Mapping[str, Any]
    ks: tuple[int, ...]
    k: int | None
    score: str
    missing: str
    classes: np.ndarray
    splitter: Splitter
    n_repeats: int
    n_permutations: int
    preference: Preference | None = None
    within: float = WITHIN

    @property
    def n_sizes(self) -> int:
        """How many models one setting gives."""
        return max(1, len(self.ks))

    @property
    def must_choose(self) -> bool:
        """Whether k, or a setting, is to be chosen."""
        return (self.k is None and self.n_sizes > 1) or len(self.settings) > 1

    @property
    def has_inner_folds(self) -> bool:
        """Whether something is chosen by resamples: k, a setting, or the most stable set."""
        by_stability = self.preference is not None and self.preference.needs_resamples
        return self.must_choose or by_stability

    def key(self, data: StudyData) -> str:
        """A digest of everything that the results of the jobs depend on."""
        parts: list[Any] = [__version__, data.fingerprint, self.ks, self.missing]
        for name, estimator in self.settings.items():
            kind = type(estimator)
            parts += [name, kind.__module__, kind.__qualname__, _hash(estimator.get_params())]
        if self.preference is not None:
            rule, costs = self.preference.rule, self.preference.costs
            parts += [self.within, _hash({"prefer": rule, "costs": costs})]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def make_plan(
    data: StudyData,
    settings: dict[str, Any],
    *,
    ks: Iterable[int] = DEFAULT_KS,
    k: int | str = "auto",
    cv: Any = N_FOLDS,
    n_repeats: int = N_REPEATS,
    n_permutations: int = 0,
    score: str = "error",
    random_state: int = 0,
    prefer: Any = None,
    within: float = WITHIN,
    costs: Any = None,
    flag: str = "",
) -> StudyPlan:
    """Check the options (see `run_study`) against the table.

    ``settings`` are classifiers by name; ``flag`` is how the names of their options begin where
    the user has given them: "--" on a command line.
    """
    settings = resolve_constraints(settings, data, flag)
    sizes, given = _check_sizes(settings, ks, k, data.X.shape[1], flag)
    seed = _check_seed(random_state)
    check_number(within, "within", 0.0, 1.0, "a share from 0 to 1; 0.01 is one percent")
    return StudyPlan(
        settings=settings,
        ks=tuple(sizes),
        k=given,
        score=check_score(score),
        missing=data.missing,
        classes=np.unique(data.y),
        splitter=Splitter(cv, data.groups, seed),
        n_repeats=check_k(n_repeats, "n_repeats"),
        n_permutations=_check_permutations(n_permutations),
        preference=make_preference(prefer, costs, data.names, settings.values(), sizes),
        within=within,
    )


def _check_sizes(
    settings: Mapping[str, Any], ks: Iterable[int], k: int | str, p: int, flag: str
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
        return usable_ks(settings.values(), wanted, p), None
    if isinstance(given, str):
        raise InputError(f"k is {k!r}; it must be 'auto' or a whole number, at least 1")
    number = check_k(given)
    allowed = usable_range(settings.values(), p)
    for estimator in settings.values() if number < allowed.stop else ():
        check_usable(estimator, number, p)
    if number not in allowed:
        reason = "" if allowed == range(1, p + 1) else f" ({flag}include, {flag}exclude)"
        limits = f"{allowed.start} to {allowed.stop - 1}"
        raise InputError(f"k is {k!r}; this table allows {limits}{reason}")
    return usable_ks(settings.values(), [*wanted, number], p), number


def _check_permutations(n: Any) -> int:
    is_none = isinstance(n, int | np.integer) and n == 0
    return 0 if is_none else check_k(n, "n_permutations")


def _check_seed(seed: Any) -> int:
    """A whole number: a generator would not give the same splits again."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"random_state is {seed!r}; a study needs a whole number from 0 on")
    return int(seed)


def _code_of(value: Any) -> Any:
    """What a function does, or an object that is called like one; None if it is not in Python."""
    if isinstance(value, partial):
        return _code_of(value.func), value.args, value.keywords
    function = value if isinstance(value, FunctionType) else type(value).__call__
    if not isinstance(function, FunctionType):
        return None
    return _instructions(function.__code__), function.__defaults__, function.__kwdefaults__


def _instructions(code: CodeType) -> Any:
    """The code itself, and that of the functions in it: their repr has an address in memory."""
    parts = [_instructions(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, parts


def _hash(given: dict[str, Any]) -> str:
    """A digest of parameters; of a function also what it does, as it may have been edited."""
    codes = [(name, _code_of(value)) for name, value in sorted(given.items()) if callable(value)]
    try:
        return str(joblib.hash((given, codes)))
    except (PicklingError, TypeError) as error:
        raise InputError(
            f"{given!r:.200} has a function without a name of its own, by which a checkpoint could "
            "know it again; define it in a module, or do without a checkpoint"
        ) from error
