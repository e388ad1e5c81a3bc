"""Pencils from tables: any table is taken or refused, and what must not matter does not."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

import eigensieve as es
from tests.fuzz.harness import Refused, attempt, cases
from tests.fuzz.strategies import (
    MILD,
    ODD,
    SHRINKAGES,
    SPARSE,
    WILD,
    Drawn,
    Labelled,
    arrays,
    containers,
    labelled,
    labels,
    pencils,
    tiny_arrays,
)

DATA = st.data()
RANDOMS = st.randoms(use_true_random=False)


def solved(pencil: Any) -> None:
    """A pencil that was built can be solved, and the answer verifies."""
    if isinstance(pencil, Refused):
        return
    assert np.isfinite(pencil.diag_A).all()
    assert (pencil.diag_B > 0).all()
    solution = attempt(es.solve, pencil, min(2, pencil.size))
    if not isinstance(solution, Refused):
        solution.verify(pencil)
        assert np.isfinite(solution.objective)


@cases(28, 400)
@given(st.one_of(arrays(WILD), tiny_arrays()), DATA)
def test_pca_of_any_table(X: np.ndarray, data: st.DataObject) -> None:
    solved(attempt(es.pca_pencil, data.draw(containers(X))))


@cases(44, 800)
@given(st.one_of(arrays(WILD), tiny_arrays()), DATA, SHRINKAGES)
def test_lda_of_any_table(X: np.ndarray, data: st.DataObject, shrinkage: Any) -> None:
    y = data.draw(labels(len(X)))
    ridge = data.draw(st.sampled_from([0.0] * 30 + [1e-6, 1.0, 1e300, -1.0, np.nan, "1", None]))
    weight = data.draw(st.sampled_from([None] * 30 + ["balanced", {0: 2.0}, {}, "other", 3]))
    solved(
        attempt(
            es.lda_pencil, data.draw(containers(X)), y,
            shrinkage=shrinkage, ridge=ridge, class_weight=weight,
        )
    )  # fmt: skip


@cases(20, 300)
@given(arrays(WILD, (2, 20), (1, 8)), arrays(WILD, (2, 20), (1, 8)), DATA, SHRINKAGES)
def test_cca_of_any_views(
    X: np.ndarray, Y: np.ndarray, data: st.DataObject, shrinkage: Any
) -> None:
    if data.draw(st.integers(0, 9)):  # mostly the same number of rows
        n = min(len(X), len(Y))
        X, Y = X[:n], Y[:n]
    views = [data.draw(containers(V)) for V in (X, Y)]
    pencil = attempt(es.cca_pencil, *views, shrinkage=shrinkage)
    solved(pencil)
    if not isinstance(pencil, Refused):
        both = es.solve(pencil, (1, 1))
        assert abs(both.objective) <= 1 + 1e-6  # a correlation


def between_and_within(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The definitions, in plain numpy."""
    A, W, mean = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2), X.mean(axis=0)
    for label in np.unique(y):
        part = X[y == label]
        A += len(part) / len(X) * np.outer(part.mean(axis=0) - mean, part.mean(axis=0) - mean)
        W += (part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) / len(X)
    return A, W


@cases(20, 250)
@given(labelled(MILD, columns=(1, 6)), st.floats(0.01, 1), st.sampled_from([0.0, 0.5]))
def test_lda_pencil_is_its_definition(case: Labelled, s: float, ridge: float) -> None:
    pencil = attempt(es.lda_pencil, case.X, case.y, shrinkage=s, ridge=ridge)
    if isinstance(pencil, Refused):
        return
    A, W = between_and_within(case.X, case.y)
    B = (1 - s) * W + s * np.diag(np.diag(W)) + ridge * np.eye(len(W))
    varies = np.diag(W) > 1e-12  # a constant column gets a place of its own
    live = np.ix_(varies, varies)
    np.testing.assert_allclose(pencil.A[live], A[live], atol=1e-9 * max(1, np.abs(A).max()))
    np.testing.assert_allclose(pencil.B[live], B[live], atol=1e-9 * max(1, np.abs(B).max()))


def optimum(X: Any, y: np.ndarray, k: int = 2, shrinkage: float = 0.3) -> tuple[float, float]:
    """The best score of k features, and the unit of its round-off."""
    solution = es.solve(es.lda_pencil(X, y, shrinkage=shrinkage), k, solver="exact")
    return solution.objective, max(abs(solution.objective), solution.scale)


@cases(16, 200)
@given(labelled(), RANDOMS, st.sampled_from(["columns", "rows", "classes", "units", "origin"]))
def test_lda_knows_no_order_names_units_or_origin(case: Labelled, random: Any, what: str) -> None:
    X, y = case.X, case.y
    changed: Any = X
    labels_changed = y
    if what == "columns":
        changed = X[:, random.sample(range(X.shape[1]), X.shape[1])]
    elif what == "rows":
        order = random.sample(range(len(X)), len(X))
        changed, labels_changed = X[order], y[order]
    elif what == "classes":
        names = np.array(random.sample(["z", "a", "m", "b"], 4))
        labels_changed = names[y]
    elif what == "units":
        changed = X * 10.0 ** np.array([random.randint(-3, 3) for _ in range(X.shape[1])])
    else:
        changed = X + np.array([random.uniform(-100, 100) for _ in range(X.shape[1])])
    one, unit = optimum(X, y)
    two, _ = optimum(changed, labels_changed)
    assert abs(one - two) <= 1e-5 * unit


@cases(16, 100)
@given(labelled(), st.integers(2, 4))
def test_rows_that_come_twice_change_nothing(case: Labelled, times: int) -> None:
    one, unit = optimum(case.X, case.y)
    two, _ = optimum(np.tile(case.X, (times, 1)), np.tile(case.y, times))
    assert abs(one - two) <= 1e-5 * unit


@cases(20, 250)
@given(labelled(MILD), st.sampled_from(sorted(SPARSE)), st.sampled_from(["pca", "lda", "cca"]))
def test_sparse_tables_are_dense_ones(case: Labelled, kind: str, what: str) -> None:
    X, y = case.X, case.y
    both = X, SPARSE[kind](X)
    if what == "pca":
        one, two = (attempt(es.pca_pencil, T) for T in both)
    elif what == "lda":
        one, two = (attempt(es.lda_pencil, T, y) for T in both)
    else:
        one, two = (attempt(es.cca_pencil, T, X[:, :1] ** 2) for T in both)
    assert isinstance(one, Refused) == isinstance(two, Refused)
    if not isinstance(one, Refused):
        unit = max(1.0, np.abs(one.A).max(), np.abs(one.B).max())
        np.testing.assert_allclose(one.A, two.A, atol=1e-9 * unit)
        np.testing.assert_allclose(one.B, two.B, atol=1e-9 * unit)


@cases(20, 250)
@given(labelled(ODD, columns=(1, 12)), st.integers(1, 20))
def test_statistics_of_parts_are_those_of_the_whole(case: Labelled, cut: int) -> None:
    X, y = case.X, case.y
    cut = min(cut, len(X) - 1)
    whole = attempt(es.ClassStats.from_data, X, y, form="gram")
    first = attempt(es.ClassStats.from_data, X[:cut], y[:cut], form="gram")
    rest = attempt(es.ClassStats.from_data, X[cut:], y[cut:], form="gram")
    if any(isinstance(part, Refused) for part in (whole, first, rest)):
        return
    joined = first + rest
    assert joined.counts.tolist() == whole.counts.tolist()
    size = np.abs(X).max(axis=0)
    size[size == 0] = 1.0
    np.testing.assert_allclose(joined.means / size, whole.means / size, atol=1e-10)
    ours, plain = (s.within_scatter() / np.outer(size, size) for s in (joined, whole))
    np.testing.assert_allclose(ours, plain, atol=1e-9)


@cases(20, 250)
@given(pencils(), DATA)
def test_inclusion_bounds_are_eigenvalues(drawn: Drawn, data: st.DataObject) -> None:
    pencil = drawn.pencil
    d = 1 / np.sqrt(pencil.diag_B)
    scaled_A, scaled_B = (M * np.outer(d, d) for M in (pencil.A, pencil.B))
    values = linalg.eigh(scaled_A, scaled_B, eigvals_only=True)
    lowest = linalg.eigvalsh(scaled_B)[0]
    slack = 1e-8 * max(np.abs(values).max(), pencil.scale) + 1e-12 * pencil.scale / lowest
    curve = attempt(es.inclusion_bounds, pencil)
    np.testing.assert_allclose(curve.lower, values, rtol=0, atol=slack)
    np.testing.assert_allclose(curve.upper, values[-1], rtol=0, atol=slack)
    k = data.draw(st.integers(0, pencil.size + 1))
    bounds = attempt(es.inclusion_bounds, pencil, k)
    if isinstance(bounds, Refused):
        assert not 1 <= k <= pencil.size
        return
    S = sorted(data.draw(st.permutations(range(pencil.size)))[:k])
    inside = linalg.eigh(
        scaled_A[np.ix_(S, S)], scaled_B[np.ix_(S, S)], eigvals_only=True
    )[-1]  # fmt: skip
    assert bounds.lower - slack <= inside <= bounds.upper + slack


@cases(20, 250)
@given(
    pencils(),
    st.lists(
        st.sampled_from([0.0, 1.0, -2.0, 3.0, 1e-200, 1e200] * 3 + [np.nan]),
        min_size=4,
        max_size=10,
    ),
)
def test_renormalize_never_lowers_the_quotient(drawn: Drawn, entries: list[float]) -> None:
    pencil = drawn.pencil
    x = np.resize(entries, pencil.size) if len(entries) < 10 else np.array(entries)
    better = attempt(es.renormalize, pencil, x)
    if isinstance(better, Refused):
        assert x.shape != (pencil.size,) or not np.isfinite(x).all() or not x.any()
        return
    assert np.isfinite(better).all()
    assert set(np.flatnonzero(better)) <= set(np.flatnonzero(x))
    size = x / np.abs(x).max()
    slack = 1e-7 * max(pencil.scale, abs(pencil.rayleigh(better)))
    assert pencil.rayleigh(better) >= pencil.rayleigh(size) - slack
