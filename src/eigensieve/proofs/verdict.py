"""What the check of a proof came to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from ..errors import VerificationError


@dataclass(frozen=True)
class Verdict:
    """The result of :func:`check_proof`.

    Attributes
    ----------
    accepted : bool
        Whether every claim of the file was verified.
    reason : str or None
        Why not.
    line : int or None
        The line of the file that failed, from 1 on.
    bound : float or None
        What no admissible set scores above, or, if the proof is about a list of sets, no other
        one; None unless accepted, as the next three.
    objective : float or None
        What the support scores at least.
    unit : float or None
        What the gap is measured in: the size of the objective, or the scale of the problem if
        larger, which is about what one or two features that can be chosen score, and never above
        the bound.
    criterion : str or None
        "lambda_max", "trace" or "logdet".
    n_features : int or None
        The features of the table.
    k : tuple of int or None
        The size of the sets, by block.
    support : tuple of int or None
        The set that the proof is about, 0-based.
    names : tuple of str or None
        Its names, from the table (or from ``names``); None where only the file has names.
    problem : dict or None
        All that defines the problem, as plain data: kind, criterion, k, n_features, n_samples,
        classes with their counts, shrinkage, ridge, block_sizes, include and exclude (by index
        and by name), and limits on sets. None if the file was rejected before that was known.
    is_constrained : bool
        Whether features were fixed in or out from the start.
    n_limits : int
        How many limits on sets there are, on groups of features or on what they cost.
    sets : tuple of tuples of int, or None
        All sets that score more than ``bound``, best first, if the proof is about such a list.
    within : float or None
        How far ``bound`` is below the best score, as a share of it, if that is claimed.
    n_nodes, n_leaves : int
        Records of the tree that were read.
    n_exact : int
        Records that needed exact rationals.
    seconds : float
    """

    accepted: bool
    reason: str | None
    line: int | None
    bound: float | None
    objective: float | None
    unit: float | None
    criterion: str | None
    n_features: int | None
    k: tuple[int, ...] | None
    support: tuple[int, ...] | None
    names: tuple[str, ...] | None
    problem: dict[str, Any] | None
    is_constrained: bool
    n_limits: int
    sets: tuple[tuple[int, ...], ...] | None
    within: float | None
    n_nodes: int
    n_leaves: int
    n_exact: int
    seconds: float

    @property
    def n_sets(self) -> int | None:
        """The length of the list, if the proof is about one."""
        return None if self.sets is None else len(self.sets)

    @property
    def gap(self) -> float | None:
        """How far the bound is above what was shown of the set, relative to the unit.

        None unless accepted.
        """
        if self.bound is None or self.objective is None or self.unit is None:
            return None
        room = max(self.bound - self.objective, 0.0)
        if room == 0.0:
            return 0.0
        return room / self.unit if self.unit > 0.0 else math.inf

    def raise_if_rejected(self) -> Verdict:
        """The verdict itself, or :class:`~eigensieve.errors.VerificationError`."""
        if not self.accepted:
            raise VerificationError(self.explain())
        return self

    def explain(self) -> str:
        """One sentence: what is proved, or why nothing is."""
        if not self.accepted:
            return f"not proved: line {self.line} {_as_predicate(self.reason or '')}"
        assert self.k is not None
        assert self.bound is not None
        assert self.objective is not None
        sizes = " + ".join(map(str, self.k))
        of = f"{sizes} of the {self.n_features:,} features{self._among()}"
        least = _rounded(self.objective, ROUND_FLOOR)
        if self.n_sets is None:
            most = _rounded(self.bound, ROUND_CEILING)
            return (
                f"proved: no set of {of} has a {self.criterion} above {most}; the set given has "
                f"at least {least}"
            )
        listed = f"the {self.n_sets:,} listed have" if self.n_sets > 1 else "the one listed has"
        near = (
            "" if self.within is None else f", {100.0 * self.within:.6g} % below the best of them"
        )
        return (
            f"proved: of all sets of {of} exactly {listed} a {self.criterion} above "
            f"{self.bound:.12g}{near}; the best has at least {least}"
        )

    def _among(self) -> str:
        """Which sets are meant, if not all."""
        kinds = ["with the fixed features"] if self.is_constrained else []
        kinds += ["within the limits"] if self.n_limits else []
        return f", among those {' and '.join(kinds)}," if kinds else ""


def _rounded(value: float, direction: str) -> str:
    """Ten digits, rounded so that what was shown stays true."""
    digits = Context(prec=10, rounding=direction).create_decimal_from_float(value)
    return f"{float(digits):.10g}"


def _as_predicate(reason: str) -> str:
    """A reason after the words "line 3"."""
    return (
        reason if reason.startswith(("is ", "has ", "needs ", "branches ")) else f"fails: {reason}"
    )
