"""Pencils of wide tables on disk, against those of the same data in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError, PencilError
from eigensieve.pencil import row_factor
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.factor_pencil import FactorPencil
from eigensieve.pencil.problem import make_problem
from eigensieve.search.deflation import DEFLATIONS, deflate, explained_variances
from eigensieve.search.moves import column_supports
from eigensieve.search.quick_bound import root_bound
from eigensieve.tables.builders import lda_problem, pca_problem
from eigensieve.tables.kinds.opening import as_big_table
from eigensieve.tables.shrinkage import resolve_shrinkage
from eigensieve.tables.streamed_pencil import StreamedPencil
from tests.oracles.streamed import CountedTable, wide_data


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_factor, "SMALL_ENTRIES", 0)


def assert_same_pencil(found: StreamedPencil, expected: FactorPencil) -> None:
    """Everything that a search may ask, and the pencil in memory that `load` gives."""
    assert found.size == expected.size
    close = {"rtol": 1e-9, "atol": 1e-10}
    rng = np.random.default_rng(0)
    x, S = rng.normal(size=(found.size, 2)), np.array([3, 50, 200, 211])
    for name in ("diag_A", "diag_B", "scales", "is_psd", "is_rank_one", "has_identity_B"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), **close)
    np.testing.assert_allclose(found.apply_A(x), expected.apply_A(x), **close)
    np.testing.assert_allclose(found.apply_B(x), expected.apply_B(x), **close)
    np.testing.assert_allclose(found.columns_A(S), expected.columns_A(S), **close)
    np.testing.assert_allclose(found.columns_B(7), expected.columns_B(7), **close)
    np.testing.assert_allclose(found.top(2)[0], expected.top(2)[0], rtol=1e-6)
    np.testing.assert_allclose(found.leading(1), expected.leading(1), rtol=1e-6, atol=1e-7)
    small, other = found.restrict(S), expected.restrict(S)
    np.testing.assert_allclose(small.A, other.A, **close)
    np.testing.assert_allclose(small.B, other.B, **close)
    part, index = found.take(np.arange(5, 305, 2)), np.arange(5, 305, 2)
    assert isinstance(part, StreamedPencil)
    np.testing.assert_allclose(part.diag_B, expected.diag_B[index], **close)
    np.testing.assert_allclose(part.columns_A(3), expected.take(index).columns_A(3), **close)
    loaded = found.load_all()
    assert type(loaded) is FactorPencil
    np.testing.assert_allclose(loaded.columns_B(S), expected.columns_B(S), **close)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}])
@pytest.mark.parametrize(("n_classes", "dtype"), [(2, np.float32), (4, np.float64), (3, np.int16)])
def test_lda_pencil(n_classes: int, dtype: type, class_weight: object) -> None:
    X, y = wide_data(1, 26, 620, n_classes)
    X = (10 * X + 1000).astype(dtype)
    table = CountedTable(X)
    problem = lda_problem(table, y, class_weight=class_weight)
    stats, s, pencil = problem.stats, problem.shrinkage, problem.pencil
    assert table.passes == 1
    whole = es.ClassStats.from_data(X, y, form="rows")
    assert s == pytest.approx(resolve_shrinkage("auto", whole.rows, n_classes), rel=1e-12)
    whole = whole.weighted(class_weight)
    np.testing.assert_allclose(stats.means, whole.means, rtol=1e-14)
    np.testing.assert_allclose(stats.priors, whole.priors)
    np.testing.assert_allclose(stats.mean, whole.mean, rtol=1e-14)
    expected = es.lda_pencil(X, y, class_weight=class_weight)
    assert isinstance(expected, FactorPencil)
    assert_same_pencil(pencil, expected)
    assert (pencil.diag_A[7], pencil.diag_B[7]) == (0.0, 1.0)  # the constant column


@pytest.mark.parametrize(("shrinkage", "ridge"), [(0.0, 0.0), (0.3, 0.5), (1.0, 0.0)])
def test_lda_pencil_with_given_shrinkage(shrinkage: float, ridge: float) -> None:
    X, y = wide_data(2, 20, 520, 2)
    problem = lda_problem(CountedTable(X), y, shrinkage, ridge)
    assert problem.shrinkage == shrinkage
    pencil = problem.pencil
    expected = es.lda_pencil(X, y, shrinkage, ridge)
    np.testing.assert_allclose(pencil.diag_B, expected.diag_B, rtol=1e-12)
    np.testing.assert_allclose(pencil.columns_B(20), expected.columns_B(20), atol=1e-10)


def test_pca_pencil_of_a_file(tmp_path: Path) -> None:
    X, _ = wide_data(3, 15, 700, 2)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    table = as_big_table(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert table is not None
    problem = pca_problem(table)
    mean, pencil = problem.mean, problem.pencil
    np.testing.assert_allclose(mean, X.astype(np.float32).mean(axis=0, dtype=float), rtol=1e-12)
    expected = es.pca_pencil(X.astype(np.float32))
    assert isinstance(expected, FactorPencil)
    assert_same_pencil(pencil, expected)


def test_bad_labels_and_options_are_refused() -> None:
    X, y = wide_data(4, 12, 510, 2)
    table = CountedTable(X)
    with pytest.raises(InputError, match="12 rows and y has shape"):
        es.lda_pencil(table, y[:-1])
    with pytest.raises(InputError, match="one class only"):
        es.lda_pencil(table, np.zeros(12))
    with pytest.raises(InputError, match="one sample only"):
        es.lda_pencil(table, np.arange(12))
    with pytest.raises(OptionError, match="shrinkage"):
        es.lda_pencil(table, y, "most")
    with pytest.raises(InputError, match="class_weight names"):
        es.lda_pencil(table, y, class_weight={"third": 1.0})
    with pytest.raises(InputError, match="one row only"):
        es.pca_pencil(CountedTable(X[:1]))
    with pytest.raises(PencilError, match="on disk"):
        StreamedPencil(X, None, np.ones(510))


def pca_pair(seed: int = 5) -> tuple[StreamedPencil, FactorPencil]:
    X, _ = wide_data(seed, 18, 540, 2)
    expected = es.pca_pencil(X)
    assert isinstance(expected, FactorPencil)
    return es.pca_pencil(CountedTable(X)), expected


@pytest.mark.parametrize("method", DEFLATIONS)
def test_deflation(method: str) -> None:
    found, expected = pca_pair()
    rng = np.random.default_rng(1)
    V = np.zeros((found.size, 3))
    for j in range(3):
        V[rng.permutation(found.size)[:6], j] = rng.normal(size=6)
    V /= np.linalg.norm(V, axis=0)
    whole = found, expected
    for t in (1, 2, 3):
        found, expected = (deflate(each, V[:, :t], method) for each in (found, expected))
        assert isinstance(found, StreamedPencil)
        assert_same_pencil(found, expected)
    np.testing.assert_allclose(*(explained_variances(each, V) for each in whole), rtol=1e-9)


def test_explained_variances_of_full_vectors() -> None:
    found, expected = pca_pair()
    V = np.linalg.qr(np.random.default_rng(2).normal(size=(found.size, 2)))[0]
    A = expected.A
    plain, _, subspace = explained_variances(found, V)
    np.testing.assert_allclose(plain, np.diag(V.T @ A @ V))
    np.testing.assert_allclose(subspace, np.cumsum(np.diag(V.T @ A @ V)))


@pytest.mark.parametrize("include", [(), (3, 200)])
@pytest.mark.parametrize("method", [None, "hotelling"])
def test_sets_of_similar_features(method: str | None, include: tuple[int, ...]) -> None:
    pair: list[es.Pencil] = list(pca_pair())
    if method is not None:
        V = np.eye(pair[0].size)[:, [20]]
        pair = [deflate(each, V, method) for each in pair]
    sets = []
    for pencil in pair:
        problem = make_problem(pencil, 5, include=include)
        sets.append([S.tolist() for S in column_supports(problem, 3, Budget())])
    assert sets[0] == sets[1]


def test_largest_entries_and_their_ties() -> None:
    found, expected = pca_pair()
    index = np.array([20, 3, 7])
    sizes, places = found.largest_entries(index, 6)
    for j, size, place in zip(index, sizes, places):
        column = np.abs(expected.columns_A(int(j)))
        order = np.argsort(-column.round(9), kind="stable")[:6]
        np.testing.assert_allclose(size, column[order], atol=1e-12)
        if j != 7:  # of the constant column all entries are zero
            assert place.tolist() == order.tolist()
    assert places[0][:3].tolist() == [20, 50, 300]


@pytest.mark.parametrize("criterion", ["trace", "logdet", "lambda_max"])
def test_root_bounds(criterion: str) -> None:
    X, y = wide_data(6, 24, 560, 3)
    pencil = es.lda_pencil(CountedTable(X), y, 0.5)
    bounds = []
    for each in (pencil, es.lda_pencil(X, y, 0.5)):
        problem = make_problem(each, 4, criterion)
        bounds.append(root_bound(problem, np.array([1, 20, 30, 40])))
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-5)


def test_the_root_bound_of_pca_is_found_in_memory_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, expected = pca_pair()
    S = np.array([1, 20, 30, 40])
    bounds = [root_bound(make_problem(each, 4), S) for each in (found, expected)]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-8)
    monkeypatch.setattr("eigensieve.tables.streamed_pencil.LOADED_ENTRIES", 0)
    assert root_bound(make_problem(found, 4), S) == np.inf
    assert np.isfinite(root_bound(make_problem(found, 1), S[:1]))
