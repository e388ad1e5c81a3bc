"""The level witness: no set of the node has an eigenvalue above the bound.

N = bound B - A must be positive semidefinite on every set. Where it is not on the whole node, a
positive diagonal E on the free features comes with the record, and the checker looks for Y = G G'
such that N + blockdiag(0, Y - diag(E)) is positive semidefinite. For a set S with free part T,
``x'Nx >= x_T'(E - Y)_T x_T >= 0`` as soon as the sum of Y_ii / E_i over T is at most one.
G is found in plain floating point; what it shows is then verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from .balls import Ball, sum_up
from .cases import Case, Form, require_semidefinite
from .definite import Shown, show_semidefinite
from .nodes import Fixed, RecordedNode, choices_to_judge
from .rational import MAX_EXACT_FEATURES, fraction_rows, inner_products, is_semidefinite
from .records import check_keys, refuse, refute, vector

_MARGINS = (1e-14, 1e-12, 1e-10, 1e-8)  # times the features of the node


def check_level(case: Case, node: RecordedNode, given: Any, fixed: Fixed = None) -> None:
    """No set of the node (or none that the fix excludes) scores above the bound."""
    check_keys(given, {"E"}, "the level witness")
    if case.header.criterion != "lambda_max":
        refuse("a level witness is for lambda_max only")
    form = Form(case, bound=case.header.bound)
    if given["E"] is None:
        if not node.is_empty:
            _require_whole(form, node)
        return
    E = vector(given["E"], len(node.free), "E")
    if not (E > 0.0).all():
        refuse("E has an entry that is not positive")
    if not node.is_empty:
        _require_split(form, node, E, fixed)


def _require_whole(form: Form, node: RecordedNode) -> None:
    """N is PSD on every set of the node; a wide covariance is judged by its rows."""
    pencil, bound = form.case.pencil, form.bound
    if form.case.source.recipe.kind == "pca" and pencil.rows is not None and bound is not None:
        n, U = pencil.rows.shape[0], node.all
        if n < len(U) and bound > 0.0:
            rows = pencil.rows[:, U]
            flat = (rows @ rows.T) / Ball.exact(float(n))
            if show_semidefinite(Ball.exact(bound * np.eye(n)) - flat) is Shown.TRUE:
                return
    require_semidefinite(form, node, node.inside, "bound B - A")


def _require_split(form: Form, node: RecordedNode, E: np.ndarray, fixed: Fixed) -> None:
    U, pencil = node.all, form.case.pencil
    N = form.block(U, U)
    is_free = ~node.is_inside
    scaled = Ball.scaled(E, 2 * pencil.exponents[node.free])
    tried = []
    for G in _candidates(form, node, N.mid, scaled.mid):
        tried.append(G)
        if _holds(N, is_free, scaled, G) and _is_light(node, scaled, G, fixed):
            return
    if len(U) <= MAX_EXACT_FEATURES:
        exact = form.case.exactly(U)
        matrix = form.exact(U, exact)
        units = pencil.exponents[node.free][:, None]
        if any(_holds_exactly(matrix, node, E, np.ldexp(G, -units), fixed) for G in tried):
            return
    refute("E does not show that no set of the node beats the bound")


def _candidates(
    form: Form, node: RecordedNode, N: np.ndarray, E: np.ndarray
) -> Iterator[np.ndarray]:
    """Factors G of Y = (diag(E) - M)_+, with M the Schur complement of N; in several units.

    The positive part depends on the units of the features: those of the table, those where E is
    one, and those where the diagonal of B is one are tried, each with growing margins.
    """
    free = ~node.is_inside
    M = N[np.ix_(free, free)]
    if not (np.isfinite(N).all() and np.isfinite(E).all() and (E > 0.0).all()):
        return
    if len(node.inside):
        side = N[np.ix_(~free, free)]
        M = M - side.T @ (np.linalg.pinv(N[np.ix_(~free, ~free)], hermitian=True) @ side)
    pencil = form.case.pencil
    table = np.ldexp(1.0, pencil.exponents[node.free])
    one = np.sqrt(pencil.b_diagonal.mid[node.free])
    for margin in _MARGINS:
        for unit in (table, np.sqrt(E), one):
            gap = (np.diag(E) - M) / unit[:, None] / unit
            if not np.isfinite(gap).all():
                continue
            values, vectors = np.linalg.eigh((gap + gap.T) / 2.0)
            size = np.abs(N.diagonal()[free]) + E
            values = values + margin * len(N) * float(np.max(size / unit**2))
            keep = values > 0.0
            yield unit[:, None] * (vectors[:, keep] * np.sqrt(values[keep]))


def _holds(N: Ball, is_free: np.ndarray, E: Ball, G: np.ndarray) -> bool:
    """Whether N + blockdiag(0, G G' - diag(E)) is PSD."""
    Y = Ball.exact(G) @ Ball.exact(G.T)
    more = Y - Ball(np.diag(E.mid), np.diag(E.rad))
    mid, rad = np.zeros(N.shape), np.zeros(N.shape)
    block = np.ix_(is_free, is_free)
    mid[block], rad[block] = more.mid, more.rad
    return show_semidefinite(N + Ball(mid, rad), explain=False) is Shown.TRUE


def _is_light(node: RecordedNode, E: Ball, G: np.ndarray, fixed: Fixed) -> bool:
    """Whether every choice to be judged has a sum of Y_ii / E_i of at most one."""
    y = (Ball.exact(G).squared().sum(axis=1) / E).upper
    weights = np.where(np.isnan(y), np.inf, y).tolist()
    return all(sum_up(choice) <= 1.0 for choice in choices_to_judge(node, weights, fixed))


def _holds_exactly(
    N: list[list[Fraction]], node: RecordedNode, E: np.ndarray, G: np.ndarray, fixed: Fixed
) -> bool:
    rows = fraction_rows(G.tolist())
    limits = [Fraction(value) for value in E.tolist()]
    Y = inner_products(rows, rows)
    weights = [Y[i][i] / limit for i, limit in enumerate(limits)]
    if not all(sum(choice, Fraction(0)) <= 1 for choice in choices_to_judge(node, weights, fixed)):
        return False
    matrix = [list(row) for row in N]
    place = np.searchsorted(node.all, node.free).tolist()
    for i, a in enumerate(place):
        for j, b in enumerate(place):
            matrix[a][b] += Y[i][j] - (limits[i] if i == j else 0)
    return is_semidefinite(matrix)
