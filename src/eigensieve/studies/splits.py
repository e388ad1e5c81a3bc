"""Training and test parts: stratified, grouped, leave-one-out, or by any splitter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import (
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from ..errors import InputError, OptionError
from ..pencil.checks import check_k
from ..pencil.wording import counted

N_FOLDS = 5
LEAVE_ONE_OUT = "loo"
MIN_SAMPLES_OF_A_CLASS = 3  # for a choice: a third held out, and half of the rest: one is left
Split = tuple[np.ndarray, np.ndarray]


class Splitter:
    """How a table is cut, again and again, into training and test parts.

    Parameters
    ----------
    cv : int, "loo" or an object with ``split``
        The number of stratified folds; leave one sample (with groups: one group) out; or a
        splitter of scikit-learn, taken as it is.
    groups : array (n,), optional
        Samples of one group are never on both sides.
    random_state : int
        Seed of the first repeat; those of the others are drawn from it.
    """

    def __init__(self, cv: Any, groups: np.ndarray | None, random_state: int) -> None:
        self.cv = _check_cv(cv)
        self.groups = groups
        self.seed = random_state

    @property
    def is_fixed(self) -> bool:
        """Whether a repeat would only give the same parts again."""
        return not isinstance(self.cv, int)

    def split(self, y: np.ndarray, repeat: int = 0) -> list[Split]:
        """The parts of all rows, of which ``y`` are the labels."""
        return self._cut(self.cv, y, np.arange(len(y)), _seed_of(self.seed, repeat))

    def split_inside(self, y: np.ndarray, rows: np.ndarray) -> list[Split]:
        """Parts of some rows, in stratified folds whatever the outer parts are."""
        folds = self.cv if isinstance(self.cv, int) else N_FOLDS
        return self._cut(folds, y, rows, self.seed)

    def _cut(self, cv: Any, y: np.ndarray, rows: np.ndarray, seed: int) -> list[Split]:
        groups = None if self.groups is None else self.groups[rows]
        splitter = _make_splitter(cv, y[rows], groups, seed)
        blank = np.zeros((rows.size, 1))
        try:
            parts = [(rows[a], rows[b]) for a, b in splitter.split(blank, y[rows], groups)]
        except ValueError as error:  # too few samples, too few groups, no groups
            reason = f"{type(splitter).__name__} cannot split the samples: {error}"
            raise InputError(reason.rstrip(".")) from error
        for train, test in parts:
            _check_part(y, train, test)
            if self.groups is not None and np.isin(self.groups[test], self.groups[train]).any():
                raise InputError(
                    f"{type(splitter).__name__} puts samples of one group on both sides; give a "
                    "splitter that keeps groups together, such as GroupKFold, or a number of folds"
                )
        return parts

    def describe(self, y: np.ndarray) -> str:
        """In words: "5-fold", "leave-one-out"."""
        if self.cv == LEAVE_ONE_OUT:
            return "leave-one-out" if self.groups is None else "leave-one-group-out"
        if not isinstance(self.cv, int):
            return f"{type(self.cv).__name__}"
        folds = usable_folds(y, self.cv, self.groups)
        return f"{'grouped ' if self.groups is not None else ''}{folds}-fold"


def _seed_of(seed: int, repeat: int) -> int:
    """The seed itself, then numbers that neighbouring seeds do not share."""
    if repeat == 0:
        return seed
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _check_cv(cv: Any) -> Any:
    if isinstance(cv, str) and cv == LEAVE_ONE_OUT:
        return cv
    if hasattr(cv, "split") and not isinstance(cv, str | type):
        return cv
    if isinstance(cv, str | type | Iterable):
        raise OptionError(f"cv is {cv!r}; it must be a number of folds, 'loo' or a splitter")
    if check_k(cv, "cv") < 2:
        raise OptionError("cv is 1; at least two folds are needed")
    return int(cv)


def _make_splitter(cv: Any, y: np.ndarray, groups: np.ndarray | None, seed: int) -> Any:
    if cv == LEAVE_ONE_OUT:
        return LeaveOneOut() if groups is None else LeaveOneGroupOut()
    if not isinstance(cv, int):
        return cv
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    return kind(usable_folds(y, cv, groups), shuffle=True, random_state=seed)


def _check_part(y: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
    classes, counts = np.unique(y[train], return_counts=True)
    if classes.size < 2 or counts.max() < 2:
        raise InputError(
            f"a training part has {counted(train.size, 'sample')} of "
            f"{counted(classes.size, 'class', 'classes')}, and needs two classes, one of them with "
            "two samples; give the classes more samples"
        )
    if test.size == 0:
        raise InputError("a test part has no samples; use fewer folds")


def usable_folds(
    y: np.ndarray, n_folds: int, groups: np.ndarray | None = None, *, least: int = 2
) -> int:
    """The number of folds, lowered to the smallest class, which needs ``least`` samples.

    With groups the samples of a class count once for every group they come from.
    """
    classes, counts = np.unique(y, return_counts=True)
    unit = "sample"
    if groups is not None:
        counts, unit = np.array([np.unique(groups[y == c]).size for c in classes]), "group"
    if classes.size < 2:
        raise InputError(f"the target has one class only ({str(classes[0])!r}); two are needed")
    smallest = int(counts.min())
    if smallest < least:
        size = f"one {unit}" if smallest == 1 else f"{smallest} {unit}s"
        raise InputError(
            f"class {str(classes[np.argmin(counts)])!r} has {size} only, and cross-validation "
            f"takes {least} of each; give it more {unit}s, or leave it out"
        )
    return min(n_folds, smallest)


def permute_labels(
    y: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """Labels that belong to other samples.

    Samples of a group are alike. Where each group has one label, whole groups change labels. Else
    groups of the same size change all their labels with one another, and then inside the group.
    """
    if groups is None:
        return rng.permutation(y)
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    if np.array_equal(y[first][member], y):
        return rng.permutation(y[first])[member]
    rows = [np.flatnonzero(member == g) for g in range(first.size)]
    sizes = np.array([part.size for part in rows])
    permuted = y.copy()
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        for to, source in zip(alike, rng.permutation(alike)):
            permuted[rows[to]] = rng.permutation(y[rows[source]])
    return permuted
