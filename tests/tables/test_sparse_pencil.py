"""Pencils of sparse tables, against those of the same tables as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil import factor_pencil
from eigensieve.pencil.factor_pencil import FactorPencil
from eigensieve.pencil.pencil import Pencil
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.row_factor import RowFactor
from eigensieve.search.deflation import DEFLATIONS, deflate
from eigensieve.search.exact.inclusion import spectrum
from eigensieve.search.quick_bound import root_bound
from eigensieve.search.spectral_bound import TraceBound, spectral_upper_bound
from eigensieve.tables.operators import centred_rows
from eigensieve.tables.view_builders import centre_views, permute_second_view
from tests.oracles.sparse_tables import at_most, awkward_table, separated_table

KINDS = ("lda", "pca", "cca", "hotelling")


def make(kind: str, *, is_sparse: bool) -> Pencil:
    """A wide pencil of that kind."""
    X, y = separated_table(24, 620, 0.05, seed=4)
    X[:, 3:5] = awkward_table(24, 12, 0.2)[:, 1:3]
    form = sparse.csr_array if is_sparse else np.array
    if kind == "lda":
        return es.lda_pencil(form(X), y)
    if kind == "cca":
        return es.cca_pencil(form(X[:, :400]), form(X[:, 400:] + X[:, :220]))
    X[:, 3:5] = 0.0  # an offset of 1e6 is no offset to a PCA, but it is to a tolerance
    pencil = es.pca_pencil(form(X))
    if kind == "hotelling":
        return deflate(pencil, pencil.top()[1], "hotelling")
    return pencil


@pytest.fixture(params=KINDS)
def pair(request, monkeypatch) -> tuple[FactorPencil, FactorPencil]:
    monkeypatch.setattr(centred_rows, "MAX_DENSE_ENTRIES", 0)  # what is taken stays sparse
    found, dense = (make(request.param, is_sparse=flag) for flag in (True, False))
    assert isinstance(found, FactorPencil)
    assert isinstance(dense, FactorPencil)
    assert isinstance(found.W if request.param == "lda" else found.H, RowFactor)
    return found, dense


def same(found: np.ndarray, expected: np.ndarray, tol: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol * np.abs(expected).max())


def test_what_solvers_ask(pair) -> None:
    found, dense = pair
    rng = np.random.default_rng(0)
    d = np.sqrt(dense.diag_B)
    x, V = rng.normal(size=dense.size) / d, rng.normal(size=(dense.size, 3)) * d[:, None]
    same(found.diag_A, dense.diag_A)
    same(found.diag_B, dense.diag_B)
    for index in (7, [3, 11, 7]):
        same(found.columns_A(index), dense.columns_A(index))
        same(found.columns_B(index), dense.columns_B(index))
    same(found.apply_A(x), dense.apply_A(x))
    same(found.apply_B(x), dense.apply_B(x))
    same(found.solve_B(V), dense.solve_B(V), 1e-7)
    same(found.A, dense.A)
    same(found.B, dense.B)
    assert found.has_identity_B == dense.has_identity_B
    assert found.is_psd == dense.is_psd
    assert found.is_rank_one == dense.is_rank_one
    same(found.scales, dense.scales)


def test_parts(pair) -> None:
    found, dense = pair
    index = np.arange(1, 600, 2)
    small, expected = found.restrict(index[:9]), dense.restrict(index[:9])
    same(small.A, expected.A)
    same(small.B, expected.B)
    part, expected = found.take(index), dense.take(index)
    same(part.diag_A, expected.diag_A)
    same(part.diag_B, expected.diag_B)
    assert (part.blocks is None) == (expected.blocks is None)


def test_eigenvectors(pair) -> None:
    found, dense = pair
    (values, vectors), (expected, directions) = found.top(3), dense.top(3)
    same(values, expected)
    np.testing.assert_allclose(vectors, directions, atol=1e-6 * np.abs(directions).max())
    same(spectrum(found), spectrum(dense), 1e-8)


def test_the_spectral_factor(pair) -> None:
    found, _ = pair
    H, signs = found.spectral_factor
    dense = H[:, :]
    same(dense.T @ (signs[:, None] * dense), found.A)


@pytest.mark.parametrize("method", DEFLATIONS)
def test_deflation(pair, method) -> None:
    found, dense = pair
    x = dense.top()[1]
    same(deflate(found, x, method).A, deflate(dense, x, method).A, 1e-7)


def test_a_factor_without_signs() -> None:
    """Hotelling's deflation by an eigenvector leaves a semidefinite A, with a negative core."""
    found = make("hotelling", is_sparse=True)
    assert isinstance(found, FactorPencil)
    assert found.core is not None
    assert found.is_psd
    H, signs = found.spectral_factor
    assert np.all(signs == 1)
    same(H[:, :].T @ H[:, :], found.A)


def test_no_positive_direction() -> None:
    """Two views of which one is constant have no correlation: any direction will do."""
    X = sparse.csr_array(separated_table(24, 620, 0.05)[0])
    pencil = es.cca_pencil(X, sparse.csr_array((24, 5)))
    values, vectors = pencil.top()
    assert values.tolist() == [0.0]
    assert float(vectors[:, 0] @ pencil.apply_B(vectors[:, 0])) == pytest.approx(1.0)


def test_bounds(pair) -> None:
    problems = [make_problem(pencil, 4) for pencil in pair]
    support = np.array([7, 8, 9, 450])
    bounds = [spectral_upper_bound(problem) for problem in problems]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-8)
    one, two = map(TraceBound, problems)
    value = problems[1].score(support)
    np.testing.assert_array_equal(one.may_exceed(value), two.may_exceed(value))
    roots = [root_bound(problem, support) for problem in problems]
    assert roots[0] == pytest.approx(roots[1], rel=1e-6)


SOLVERS = [
    ("lda", "greedy", "logdet", {}),
    ("lda", "greedy", "trace", {"direction": "both"}),
    ("lda", "greedy", "lambda_max", {"n_starts": 4, "random_state": 0}),
    ("lda", "threshold", "logdet", {}),
    ("lda", "exact", "logdet", {"time_limit": 20}),
    ("lda", "dc", "lambda_max", {}),
    ("pca", "greedy", "lambda_max", {"n_starts": 6, "random_state": 0}),
    ("pca", "greedy", "trace", {}),
    ("pca", "greedy", "lambda_max", {"direction": "backward"}),
    ("pca", "threshold", "lambda_max", {}),
    ("pca", "dominance", "lambda_max", {"gap_tol": 0.3, "time_limit": 20}),
    ("pca", "dc", "lambda_max", {}),
    ("cca", "greedy", "lambda_max", {}),
]


@pytest.mark.parametrize(("kind", "solver", "criterion", "options"), SOLVERS)
def test_solvers_find_what_they_find_in_the_array(kind, solver, criterion, options) -> None:
    found, dense = (make(kind, is_sparse=flag) for flag in (True, False))
    k = (3, 2) if kind == "cca" else 4
    one, two = (es.solve(pencil, k, solver, criterion, **options) for pencil in (found, dense))
    assert one.support.tolist() == two.support.tolist()
    assert one.objective == pytest.approx(two.objective, rel=1e-8)
    one.verify(dense)


def test_what_needs_the_array_says_so(monkeypatch) -> None:
    monkeypatch.setattr(factor_pencil, "DENSE_ENTRIES", 1000)
    monkeypatch.setattr(centred_rows, "MAX_DENSE_ENTRIES", 0)
    pencil = make("lda", is_sparse=True)
    for options in ({"solver": "dc"}, {"solver": "greedy", "direction": "backward"}):
        with pytest.raises(OptionError, match=r"X\.toarray\(\)"):
            es.solve(pencil, 3, criterion="lambda_max", **options)


@pytest.mark.parametrize("sizes", [(30, 20), (400, 300)])
def test_views_in_another_order(sizes) -> None:
    X, Y = (separated_table(60, p, 0.1, seed=p)[0] for p in sizes)
    order = np.random.default_rng(0).permutation(60)
    made = []
    for form in (sparse.csc_array, np.array):
        for other in (sparse.csr_array, np.array):
            views = centre_views(form(X), other(Y))
            made.append(permute_second_view(es.cca_pencil(form(X), other(Y)), views, order))
    expected = made.pop()
    for pencil in made:
        same(pencil.A, expected.A)
        same(pencil.B, expected.B)


def test_a_large_table_stays_sparse() -> None:
    """As an array it would take 240 MB."""
    rng = np.random.default_rng(0)
    table = sparse.random_array((500, 60_000), density=0.001, rng=rng, format="csr")
    with at_most(80):
        pencil = es.lda_pencil(table, np.arange(500) % 2)
        es.solve(pencil, 5)
    with at_most(120):
        pencil = es.pca_pencil(table)
        es.solve(pencil, 3, n_starts=0)
