"""What `partial_fit` keeps of the samples it has seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError, OptionError
from ..tables.moments import check_features
from ..tables.statistics import SUMS, ClassStats
from ._validation import take_labels, validate_table

# What needs more of the samples than their sum of squares.
NEEDS = {"grams": "class_weight", "moments": "shrinkage='auto'"}


@dataclass(frozen=True)
class PartialSums:
    """Class statistics without rows, and the classes that were announced.

    Attributes
    ----------
    sums : ClassStats or None, of all samples so far
    form : str, that of the sums: the first samples decide
    classes : array or None, those that may come
    waits : bool, whether these samples are too few to fit anything
    """

    sums: ClassStats | None = None
    form: str = "gram"
    classes: np.ndarray | None = None
    waits: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no sample has come yet."""
        return self.sums is None

    @property
    def stats(self) -> ClassStats:
        """The statistics, once there are some."""
        assert self.sums is not None
        return self.sums

    def add(
        self, table: Any, labels: np.ndarray, form: str, classes: ArrayLike | None
    ) -> PartialSums:
        """Count labelled samples for a classifier; ``classes`` are all there will ever be."""
        known = self._announce(classes)
        if known is not None and not np.isin(labels, known).all():
            stranger = labels[~np.isin(labels, known)][0]
            raise InputError(f"y has the class {str(stranger)!r}, which is not one of classes")
        whole = replace(self.count(table, labels, form), classes=known)
        if known is None and not whole.is_enough():
            raise InputError(
                f"{whole.missing()}: give more samples at once, or announce all classes: "
                "partial_fit(X, y, classes=[...])"
            )
        return whole

    def count(self, table: Any, labels: np.ndarray, form: str) -> PartialSums:
        """Count the samples of a table, in a form of `ClassStats` without rows."""
        check_features(table.shape[1])
        if not self.is_empty and SUMS.index(form) > SUMS.index(self.form):
            raise OptionError(
                f"{NEEDS[form]} must be set before the first partial_fit, which did not keep what "
                "it needs of the samples; call fit, or clone and begin again"
            )
        form = form if self.is_empty else self.form
        new = ClassStats.from_data(table, labels, form=form)
        return PartialSums(new if self.sums is None else self.sums + new, form, self.classes)

    def is_enough(self) -> bool:
        """Whether a classifier can be fitted."""
        return 2 <= self.stats.classes.size < self.stats.n_samples

    def missing(self) -> str:
        """Why nothing can be fitted, in words."""
        if self.stats.n_samples == 1:
            return "one sample only has come so far"
        if self.stats.classes.size == 1:
            return f"one class only ({str(self.stats.classes[0])!r}) has come so far"
        return "one sample only of every class has come so far"

    def _announce(self, classes: ArrayLike | None) -> np.ndarray | None:
        if classes is None:
            return self.classes
        given = np.unique(np.asarray(classes))
        before = None if self.classes is None else self.classes.tolist()
        if not self.is_empty and given.tolist() != before:
            raise InputError(
                f"classes is {given.tolist()}; in the first call to partial_fit it was {before}"
            )
        return given


def take_part(estimator: Any, X: Any, device: Any = None) -> tuple[PartialSums, Any]:
    """What an estimator has kept, and the table of some more samples, checked."""
    partial = getattr(estimator, "_partial", PartialSums())
    return partial, validate_table(estimator, X, reset=partial.is_empty, device=device)


def add_part(
    estimator: Any, X: Any, y: Any, form: str, classes: ArrayLike | None, device: Any = None
) -> PartialSums:
    """What a classifier keeps when some more samples have come."""
    partial, table = take_part(estimator, X, device)
    return partial.add(table, take_labels(y, table.shape[0], table), form, classes)


def wait_for_more(estimator: Any, partial: PartialSums, fitted: str) -> None:
    """Keep the sums only: what an earlier fit has left does not belong to them."""
    estimator._partial = replace(partial, waits=True)
    estimator.__dict__.pop(fitted, None)


@contextmanager
def counting(estimator: Any, partial: PartialSums) -> Iterator[None]:
    """Keep the sums, unless what follows is refused: then these samples have not come."""
    before = getattr(estimator, "_partial", PartialSums())
    estimator._partial = partial
    try:
        yield
    except InputError:
        estimator._partial = before
        raise


def check_fitted(estimator: Any, attribute: str) -> None:
    """As in scikit-learn; an estimator that waits for more samples says for which."""
    partial = getattr(estimator, "_partial", None)
    if partial is None or not partial.waits:
        check_is_fitted(estimator, attribute)
    else:
        name, why = type(estimator).__name__, partial.missing()
        raise NotFittedError(f"This {name} is not fitted yet: {why}. Call partial_fit with more.")
