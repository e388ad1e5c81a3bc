"""The rows witness: sums of rows keep a matrix positive semidefinite on every set of the node.

M is what is left of N = bound B - A on the free features after those that are in are eliminated.
A set with the free part T contains a row i with M_ii w_i below the sum of |M_ij| w_j over the rest
of T, or else M_T is dominant in its rows for the weights w > 0, thus positive semidefinite. With a
matrix Q such that M - Q is positive semidefinite, the same holds of the rows of Q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .balls import UNIT, Ball, sum_up
from .cases import Case, Form
from .definite import Shown, eliminate, show_semidefinite
from .nodes import Fixed, RecordedNode, choices_to_judge
from .records import check_keys, refuse, refute, vector

_STRIP = 256  # rows of M at a time


def check_rows(case: Case, node: RecordedNode, given: Any, fixed: Fixed = None) -> None:
    """No set of the node (or none that the fix excludes) scores above the bound."""
    check_keys(given, {"weights", "Q"}, "the rows witness")
    if case.header.criterion != "lambda_max":
        refuse("a rows witness is for lambda_max only")
    open_node = _without_full_blocks(node)
    n = len(open_node.free)
    weights = vector(given["weights"], n, "weights")
    if not (weights > 0.0).all():
        refuse("weights has an entry that is not positive")
    form = Form(case, bound=case.header.bound)
    Q = None if given["Q"] is None else _read_q(given["Q"], n)
    if node.is_empty:
        return
    test = _RowTest(open_node, _restrict(fixed, open_node))
    if Q is not None:
        _require_below(form, open_node, *Q)
        test.require(Ball.exact(Q[0]), Ball.exact(weights), 0)
        return
    scaled = Ball.scaled(weights, -case.pencil.exponents[open_node.free])
    for first, rows in _schur_rows(form, open_node):
        test.require(rows, scaled, first)


def _without_full_blocks(node: RecordedNode) -> RecordedNode:
    """The node without the free features of blocks that need no more: no set has them."""
    is_open = np.array(node.need)[node.blocks] > 0
    return replace(node, free=node.free[is_open], blocks=node.blocks[is_open])


def _restrict(fixed: Fixed, node: RecordedNode) -> Fixed:
    """What a fix says of the features that a set can still have."""
    if fixed is None:
        return None
    out, inside = fixed
    free = set(node.free.tolist())
    if not free.issuperset(inside):
        refuse("the fix puts in a feature of a block that is full")
    return [j for j in out if j in free], inside


def _read_q(given: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix q, and scales s: Q = diag(s) q diag(s)."""
    check_keys(given, {"scales", "upper"}, "Q")
    scales = vector(given["scales"], n, "scales")
    if not (scales > 0.0).all():
        refuse("scales has an entry that is not positive")
    upper = vector(given["upper"], n * (n + 1) // 2, "upper")
    q = np.zeros((n, n))
    q[np.triu_indices(n)] = upper
    return q + np.triu(q, 1).T, scales


def _require_below(form: Form, node: RecordedNode, q: np.ndarray, scales: np.ndarray) -> None:
    """N - blockdiag(0, Q) is positive semidefinite on all features: then so is M - Q."""
    U, is_free = node.all, ~node.is_inside
    s = Ball.scaled(scales, form.case.pencil.exponents[node.free])
    Q = Ball.exact(q) * s[:, None] * s
    mid, rad = np.zeros((len(U), len(U))), np.zeros((len(U), len(U)))
    block = np.ix_(is_free, is_free)
    mid[block], rad[block] = Q.mid, Q.rad
    if show_semidefinite(form.block(U, U) - Ball(mid, rad), explain=False) is not Shown.TRUE:
        refute("Q could not be shown to be below bound B - A")


def _schur_rows(form: Form, node: RecordedNode) -> Iterator[tuple[int, Ball]]:
    """Enclosures of the rows of M, some at a time, and the number of the first."""
    inside, free = node.inside, node.free
    sides = form.block(inside, free)
    found = eliminate(form.block(inside, inside), sides)
    if found is None:
        refute("bound B - A could not be shown to be definite on what is in")
    w, e, lost = found
    for first in range(0, len(free), _STRIP):
        own = slice(first, first + _STRIP)
        rows = form.block(free[own], free)
        if len(inside):
            rows = rows - (w[:, own].T @ sides + e[:, own].T @ w)
            more = np.nextafter(lost[own][:, None] * lost, np.inf)
            rows = Ball(rows.mid, np.nextafter(rows.rad + more, np.inf))
        yield first, rows


@dataclass(frozen=True, eq=False)
class _RowTest:
    """The rows of a matrix on the free features of a node, each judged by itself."""

    node: RecordedNode
    fixed: Fixed

    def require(self, rows: Ball, weights: Ball, first: int) -> None:
        """Some rows, from the ``first`` on: they pass, or fail only as the fix allows."""
        here = np.arange(len(rows.mid))
        own = first + here
        sizes = rows.magnitude * weights.upper
        sizes = np.nextafter(np.where(np.isnan(sizes), np.inf, sizes), np.inf)
        sizes[here, own] = 0.0
        limits = (rows[here, own] * weights[own]).lower
        for i in np.flatnonzero(~(self._sums(sizes, own) <= limits)).tolist():
            self._judge(int(own[i]), sizes[i], float(limits[i]))

    def _sums(self, sizes: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Above the largest sum that a set with the row can have, for every row."""
        total = np.zeros(len(sizes))
        for b, need in enumerate(self.node.need):
            columns = np.flatnonzero(self.node.blocks == b)
            if need == 0:
                continue
            largest = -np.partition(-sizes[:, columns], need - 1, axis=1)[:, :need]
            is_own = self.node.blocks[own] == b  # the row's own feature is one of those needed
            total += largest[:, : need - 1].sum(axis=1)
            total += np.where(is_own, 0.0, largest[:, need - 1])
        return total * (1.0 + 4.0 * (self.node.n_needed + 8) * UNIT)

    def _judge(self, i: int, sizes: np.ndarray, limit: float) -> None:
        """A row that may fail: no set that must not be left out fails in it."""
        node, feature = self.node, int(self.node.free[i])
        need = list(node.need)
        need[int(node.blocks[i])] -= 1
        others = np.delete(np.arange(len(node.free)), i)
        with_i = RecordedNode(
            np.union1d(node.inside, [feature]), node.free[others], node.blocks[others], need
        )
        fixed = self.fixed
        if fixed is not None:
            out, inside = fixed
            fixed = None if feature in out else (out, [j for j in inside if j != feature])
        choices = choices_to_judge(with_i, sizes[others].tolist(), fixed)
        if not all(sum_up(choice) <= limit for choice in choices):
            refute(f"the row of feature {feature} does not show that no set of the node beats the "
                   "bound")  # fmt: skip
