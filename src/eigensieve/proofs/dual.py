"""The dual witness: an upper bound that is a sum over features.

With R = B - diag(D) positive semidefinite and any v,
``z_S' B_S^-1 z_S <= v'Rv + sum over i in S of (z_i - (Rv)_i)^2 / D_i``
for every set S of the node. The trace is such a sum over the columns z_c; log det(I + B_S^-1 A_S)
is at most one, too, for every invertible Q (the tangent of log det at Q).

A set that keeps the limits, a_c'x <= b_c, may be given what it leaves of them at any prices
m_c >= 0, since m_c (b_c - the sum over i in S of a_ci) is not negative: one more offset and sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .balls import Ball, sum_down, sum_up
from .cases import Case, Form, exact_less, require_semidefinite
from .limits import Prices, enclosed_charges, exact_charges, read_prices
from .nodes import Fixed, RecordedNode, choices_to_judge
from .rational import (
    Matrix,
    fraction_rows,
    logarithm,
    product,
    round_up,
    spend,
    sum_with_log_at_most,
)
from .records import check_keys, indices, matrix, number, refuse, refute, vector
from .tangents import Tangent


@dataclass(frozen=True, eq=False)
class DualWitness:
    """What a record says; ``V`` has a row for each feature of ``at``."""

    value: float
    form: Form
    at: np.ndarray
    V: np.ndarray
    Q: np.ndarray | None
    prices: Prices

    @classmethod
    def read(cls, given: Any, case: Case, node: RecordedNode) -> DualWitness:
        keys = {"value", "D", "rows", "V"} | ({"Q"} if case.header.criterion == "logdet" else set())
        check_keys(given, keys, "the dual witness", optional={"prices"})
        if case.pencil.columns is None:
            refuse("a dual witness needs A = F F' by construction, or a factor in the header")
        K, p = case.pencil.columns.shape[1], case.header.n_features
        at = np.array(indices(given["rows"], p, "rows"), dtype=np.intp)
        if not np.isin(at, node.all).all():
            refuse("rows has a feature that is out")
        less = None
        if given["D"] is not None:
            D = vector(given["D"], len(node.all), "D")
            if not (D > 0.0).all():
                refuse("D has an entry that is not positive")
            less = np.zeros(p)
            less[node.all] = D
        elif not case.pencil.has_floor:
            refuse("D is missing, and this B has no known floor")
        V = matrix(given["V"], len(at), K, "V")
        Q = matrix(given["Q"], K, K, "Q") if "Q" in given else None
        prices = read_prices(given.get("prices", []), case.header.limits)
        return cls(number(given["value"], "value"), Form(case, less=less), at, V, Q, prices)


def check_dual_leaf(case: Case, node: RecordedNode, given: Any) -> None:
    """No set of the node scores above the bound, or the record is refused."""
    witness = DualWitness.read(given, case, node)
    if witness.value > case.header.bound:
        refuse(f"the leaf's value {witness.value:.10g} is above the bound {case.header.bound:.10g}")
    if not node.is_empty:
        _judge(case, node, witness, witness.value, None)


def check_dual_fix(
    case: Case, node: RecordedNode, given: Any, out: list[int], inside: list[int]
) -> None:
    """No set with a feature of ``out``, and none without one of ``inside``, beats the bound."""
    witness = DualWitness.read(given, case, node)
    if not node.is_empty:
        _judge(case, node, witness, case.header.bound, (out, inside))


def _judge(
    case: Case, node: RecordedNode, witness: DualWitness, limit: float, fixed: Fixed
) -> None:
    require_semidefinite(witness.form, node, witness.at, "B - diag(D)")
    tangent = Tangent(witness.Q, case.pencil.weights)
    offset, g = _enclosed_sum(case, node, witness)
    low, high = tangent.ends
    most = [high, float(offset.upper), *_split(g.upper, np.inf, node)[0]]
    if all(
        sum_up([*most, *choice]) <= limit
        for choice in choices_to_judge(node, _split(g.upper, np.inf, node)[1], fixed)
    ):
        return
    least = [low, float(offset.lower), *_split(g.lower, -np.inf, node)[0]]
    for choice in choices_to_judge(node, _split(g.lower, -np.inf, node)[1], fixed):
        if (shown := sum_down([*least, *choice])) > limit:
            refute(f"the witness gives {shown:.10g}, above the {limit:.10g} that is claimed")
    _judge_exactly(case, node, witness, tangent, limit, fixed)


def _split(g: np.ndarray, unknown: float, node: RecordedNode) -> tuple[list[float], list[float]]:
    """The terms of the features that are in, and of the free ones."""
    g = np.where(np.isnan(g), unknown, g)
    return g[node.is_inside].tolist(), g[~node.is_inside].tolist()


def _enclosed_sum(case: Case, node: RecordedNode, witness: DualWitness) -> tuple[Ball, Ball]:
    """The offset sum_c w_c v_c'R v_c, and the term of every feature of the node."""
    pencil, form = case.pencil, witness.form
    U, T = node.all, witness.at
    D = form.scaled_less(U)
    V = Ball.scaled(witness.V, -pencil.exponents[T][:, None])
    RV = pencil.g_times(U, T, V)
    if form.less is not None:
        place = np.searchsorted(U, T)
        left = (pencil.floor[T] - D[place])[:, None] * V
        mid, rad = np.zeros(RV.shape), np.zeros(RV.shape)
        mid[place], rad[place] = left.mid, left.rad
        RV = RV + Ball(mid, rad)
    assert pencil.columns is not None
    Z = pencil.columns[U]
    weights = Ball.rational(pencil.weights)
    if witness.Q is not None:
        Z, weights = Z @ Ball.exact(witness.Q), Ball.exact(np.ones(len(pencil.weights)))
    offset = (V * RV[np.searchsorted(U, T)] * weights).sum()
    terms = ((Z - RV).squared() * weights).sum(axis=1) / D
    if pencil.slack is not None:
        least = Ball.exact(case.source.recipe.least) * pencil.b_diagonal[U]
        terms = terms + pencil.slack[U] / D.maximum(least)
    if witness.prices:
        charge, budget = enclosed_charges(witness.prices, case.header.n_features)
        offset, terms = offset + budget, terms - charge[U]
    return offset, terms


def _judge_exactly(
    case: Case,
    node: RecordedNode,
    witness: DualWitness,
    tangent: Tangent,
    limit: float,
    fixed: Fixed,
) -> None:
    spend(10.0 * len(node.all) * (len(node.all) + witness.V.shape[1]))
    offset, g = _exact_sum(case, node, witness)
    is_in = node.is_inside.tolist()
    rational, argument = tangent.exact
    base = rational + offset
    base += sum((term for term, inside in zip(g, is_in) if inside), Fraction(0))
    free = [term for term, inside in zip(g, is_in) if not inside]
    for choice in choices_to_judge(node, free, fixed):
        total = base + sum(choice, Fraction(0))
        if not sum_with_log_at_most(total, argument, Fraction(limit)):
            more = round_up(total + logarithm(argument)[0] - Fraction(limit))
            refute(f"the witness gives {more:.3g} more than the {limit:.17g} claimed, exactly")


def _exact_sum(
    case: Case, node: RecordedNode, witness: DualWitness
) -> tuple[Fraction, list[Fraction]]:
    U = node.all
    exact = case.exactly(U)
    R = witness.form.exact(U, exact)
    V: Matrix = [[Fraction(0)] * witness.V.shape[1] for _ in U]
    for place, row in zip(np.searchsorted(U, witness.at).tolist(), witness.V.tolist()):
        V[place] = [Fraction(value) for value in row]
    RV = product(R, V)
    Z, weights = exact.columns, exact.weights
    if witness.Q is not None:
        Z = product(Z, fraction_rows(witness.Q.tolist()))
        weights = [Fraction(1)] * len(weights)
    D = exact_less(witness.form, U, exact)
    offset = sum(
        (w * v * r for vs, rs in zip(V, RV) for w, v, r in zip(weights, vs, rs)), Fraction(0)
    )
    least = Fraction(case.source.recipe.least)
    terms = [
        sum((w * (z - r) ** 2 for w, z, r in zip(weights, zs, rs)), Fraction(0)) / d
        + extra / max(d, least * exact.B[i][i])
        for i, (zs, rs, extra, d) in enumerate(zip(Z, RV, exact.slack, D))
    ]
    charge, budget = exact_charges(witness.prices, U.tolist())
    return offset + budget, [term - paid for term, paid in zip(terms, charge)]
