"""What `partial_fit` keeps of the samples it has seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..backends.tables import BigTable
from ..core.moments import check_features
from ..core.stats import ClassStats
from ..errors import InputError


@dataclass(frozen=True)
class PartialSums:
    """Class statistics without rows, and the classes that were announced.

    Attributes
    ----------
    sums : ClassStats or None, of all samples so far
    classes : array or None, those that may come
    """

    sums: ClassStats | None = None
    classes: np.ndarray | None = None

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
        """Count the labelled samples of a table, in a form of `ClassStats` without rows."""
        known = self._announce(classes)
        if known is not None and not np.isin(labels, known).all():
            stranger = labels[~np.isin(labels, known)][0]
            raise InputError(f"y has the class {str(stranger)!r}, which is not one of classes")
        return replace(self.count(table, labels, form), classes=known)

    def count(self, table: Any, labels: np.ndarray, form: str) -> PartialSums:
        """The same, whatever classes were announced."""
        check_features(table.shape[1])
        make = ClassStats.from_table if isinstance(table, BigTable) else ClassStats.from_data
        new = make(table, labels, form=form)
        return replace(self, sums=new if self.sums is None else self.sums + new)

    def is_enough(self) -> bool:
        """Whether a classifier can be fitted; if not, others must have been announced."""
        return self.classes is None or 2 <= self.stats.classes.size < self.stats.n_samples

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
