"""What all records of a proof are judged by: the claim, the source, the enclosures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from .balls import Ball
from .definite import Shown, show_bordered, show_semidefinite
from .exact_pencils import ExactPencil, exact_pencil
from .header import Header
from .nodes import RecordedNode
from .pencils import Pencil
from .rational import MAX_EXACT_FEATURES, Matrix, is_semidefinite
from .records import refute
from .sources import ProofSource

_MAX_SETS = 200  # sets of one record that exact numbers may decide


@dataclass(eq=False)
class Case:
    """One proof under examination; ``used_exact`` says whether the record at hand needed it."""

    header: Header
    source: ProofSource
    pencil: Pencil
    used_exact: bool = field(default=False)

    def exactly(self, index: np.ndarray) -> ExactPencil:
        """The pencil on some features in exact numbers."""
        self.used_exact = True
        if self.header.n_features <= MAX_EXACT_FEATURES:
            return self._all_exactly.take(index.tolist())
        return exact_pencil(self.source, index)

    @cached_property
    def _all_exactly(self) -> ExactPencil:
        """All features of a small table, once."""
        return exact_pencil(self.source, np.arange(self.header.n_features))


@dataclass(frozen=True, eq=False)
class Form:
    """The matrix B - diag(less), or with a ``bound`` the matrix bound B - A.

    ``less`` is None where it is the pencil's floor: then the form is PSD by construction.
    """

    case: Case
    bound: float | None = None
    less: np.ndarray | None = None  # one per feature of the table, not scaled

    def scaled_less(self, index: np.ndarray) -> Ball:
        """The diagonal to subtract, in the coordinates of the enclosures."""
        if self.less is None:
            return self.case.pencil.floor[index]
        return Ball.scaled(self.less[index], 2 * self.case.pencil.exponents[index])

    def block(self, some: np.ndarray, others: np.ndarray) -> Ball:
        """The form between two lists of features."""
        B = self.case.pencil.b_block(some, others)
        if self.bound is not None:
            return Ball.exact(self.bound) * B - self.case.pencil.a_block(some, others)
        same = some[:, None] == others
        less = self.scaled_less(others)
        return B - Ball(np.where(same, less.mid, 0.0), np.where(same, less.rad, 0.0))

    def diagonal(self, index: np.ndarray) -> Ball:
        """The diagonal on some features."""
        B = self.case.pencil.b_diagonal[index]
        if self.bound is not None:
            return Ball.exact(self.bound) * B - self.case.pencil.a_diagonal[index]
        return B - self.scaled_less(index)

    def exact(self, index: np.ndarray, pencil: ExactPencil) -> Matrix:
        """The form on some features, in exact numbers, not scaled."""
        if self.bound is not None:
            bound = Fraction(self.bound)
            return [[bound * b - a for a, b in zip(*rows)] for rows in zip(pencil.A, pencil.B)]
        less = exact_less(self, index, pencil)
        return [
            [b - less[i] if i == j else b for j, b in enumerate(row)]
            for i, row in enumerate(pencil.B)
        ]

    def is_semidefinite_by_nature(self, index: np.ndarray) -> bool:
        """G plus a diagonal that is not negative."""
        if self.bound is not None or not self.case.pencil.has_floor:
            return False
        if self.less is None:
            return True
        left = self.case.pencil.floor[index] - self.scaled_less(index)
        return bool((left.lower >= 0.0).all())


def exact_less(form: Form, index: np.ndarray, pencil: ExactPencil) -> Sequence[Fraction]:
    """The diagonal to subtract, in exact numbers."""
    if form.less is None:
        return pencil.floor
    return [Fraction(value) for value in form.less[index].tolist()]


def require_semidefinite(form: Form, node: RecordedNode, also: np.ndarray, what: str) -> None:
    """Show the form PSD on ``also`` with every admissible set of the node, or refuse.

    Where at most one free feature is needed the sets are few, and are looked at one by one.
    """
    if form.is_semidefinite_by_nature(node.all):
        return
    core = np.union1d(node.inside, also)
    if node.n_needed != 1:
        whole = node.all if node.n_needed > 1 else core
        _require_on(form, [whole], show_semidefinite(form.block(whole, whole)), what)
        return
    rest = np.setdiff1d(node.free[np.array(node.need)[node.blocks] > 0], core)
    if len(rest) == 0:
        rest, core = core[-1:], core[:-1]
    shown = show_bordered(form.block(core, core), form.block(core, rest), form.diagonal(rest))
    left = [np.union1d(core, [j]) for j in rest[~shown].tolist()]
    if len(left) > _MAX_SETS:
        refute(f"{what} could not be shown to be positive semidefinite")
    _require_on(form, left, Shown.OPEN, what)


def _require_on(form: Form, sets: list[np.ndarray], shown: Shown, what: str) -> None:
    if shown is Shown.TRUE:
        return
    for index in sets:
        if shown is Shown.FALSE or not is_semidefinite(form.exact(index, form.case.exactly(index))):
            refute(f"{what} is not positive semidefinite")
