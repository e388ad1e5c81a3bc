"""Searches of tables on disk, against the same searches in memory."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil import row_factor
from eigensieve.pencil.solution import Solution, Status
from eigensieve.search.deflation import deflate
from eigensieve.search.greedy import column_generation
from eigensieve.tables.kinds.big_table import BigTable
from eigensieve.tables.kinds.opening import as_big_table
from eigensieve.tables.streamed_pencil import StreamedPencil
from tests.oracles.streamed import CountedTable, wide_data

CRITERIA = ("trace", "logdet", "lambda_max")


@pytest.fixture(autouse=True)
def few_columns_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least that the search can start with, so that columns have to be generated."""
    monkeypatch.setattr(row_factor, "SMALL_ENTRIES", 0)
    monkeypatch.setattr(column_generation, "WORKING_SET", 25)
    monkeypatch.setattr(column_generation, "PART", 64)


def assert_same(found: Solution, expected: Solution) -> None:
    assert found.support.tolist() == expected.support.tolist()
    assert found.status is expected.status
    assert found.n_features == expected.n_features
    for name in ("objective", "scale", "bound"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-8)
    np.testing.assert_allclose(found.loadings, expected.loadings, rtol=1e-6, atol=1e-9)


def lda_pair(
    seed: int, n_classes: int, shrinkage: float | str = 0.05, **options: Any
) -> tuple[CountedTable, StreamedPencil, es.Pencil]:
    X, y = wide_data(seed, 20 + 3 * seed, 620 + 31 * seed, n_classes)
    table = CountedTable(X, 101 + seed)
    pencil = es.lda_pencil(table, y, shrinkage, **options)
    table.passes = 0
    return table, pencil, es.lda_pencil(X, y, shrinkage, **options)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("seed", "n_classes", "shrinkage", "class_weight"),
    [(0, 2, 0.05, None), (1, 4, 0.05, "balanced"), (2, 2, "auto", {0: 3.0}), (3, 4, "auto", None)],
)
def test_greedy_finds_what_it_finds_in_memory(
    criterion: str, seed: int, n_classes: int, shrinkage: float | str, class_weight: Any
) -> None:
    table, found, expected = lda_pair(seed, n_classes, shrinkage, class_weight=class_weight)
    constraints: list[dict[str, Any]] = [{}, {"include": [3, 60], "exclude": [20, 21, 500]}]
    for k, options in (
        (1, {}),
        (5, constraints[0]),
        (4, constraints[1]),
        (2, {"include": [3, 60]}),
    ):
        table.passes = 0
        solution = es.solve(found, k, "greedy", criterion, **options)
        solution.verify(found)
        direct = es.solve(expected, k, "greedy", criterion, **options)
        assert_same(solution, direct)
        assert table.passes <= 8


def test_columns_are_generated_and_one_pass_confirms(monkeypatch: pytest.MonkeyPatch) -> None:
    table, found, expected = lda_pair(9, 2)
    wanted = es.solve(expected, 6, "greedy", "trace").support
    worth = np.argsort(-found.diag_A / found.diag_B)
    assert not np.isin(wanted, worth[:25]).all()  # the first columns are not enough
    es.solve(found, 6, "greedy", "trace")
    assert table.passes > 1
    monkeypatch.setattr(column_generation, "WORKING_SET", found.size - 1)
    table.passes = 0
    assert es.solve(found, 6, "greedy", "trace").support.tolist() == wanted.tolist()
    assert table.passes == 1


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_path_needs_no_more_passes(criterion: str) -> None:
    table, found, expected = lda_pair(1, 3)
    path = es.solve_path(found, [1, 3, 5], "greedy", criterion)
    passes = table.passes
    path.verify(found)
    direct = es.solve_path(expected, [1, 3, 5], "greedy", criterion)
    assert path.ks == direct.ks
    for k in path:
        assert_same(path[k], direct[k])
    table.passes = 0
    es.solve(found, 5, "greedy", criterion)
    assert passes <= 2 * table.passes + 3


def test_identical_columns_go_to_the_first() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 900))
    X[:, 300:500] = (rng.normal(size=24) + 3 * y)[:, None]  # more than the search starts with
    X[:, 40] = X[:, 850] = rng.normal(size=24) + y
    pencil = es.lda_pencil(CountedTable(X), y)
    solution = es.solve(pencil, 3, criterion="logdet")
    assert_same(solution, es.solve(es.lda_pencil(X, y), 3, criterion="logdet"))
    assert solution.support[-1] == 300 + np.count_nonzero(solution.support >= 300) - 1


def test_columns_without_variance() -> None:
    X, y = wide_data(8, 20, 600, 2)
    X[:, 100:400] = 1.0
    X[:, 450] = 5.0 + y  # constant within the classes
    pair = es.lda_pencil(CountedTable(X), y), es.lda_pencil(X, y)
    first, second = (es.solve(each, 4, criterion="trace") for each in pair)
    assert first.support.tolist() == second.support.tolist()
    assert 450 in first.support
    nothing = np.full((20, 600), 2.0)
    pair = es.lda_pencil(CountedTable(nothing), y), es.lda_pencil(nothing, y)
    assert_same(*(es.solve(each, 3) for each in pair))


def test_a_file_gives_what_an_array_gives(tmp_path: Path) -> None:
    X, y = wide_data(5, 30, 3000, 3)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    table = as_big_table(mapped)
    assert isinstance(table, BigTable)
    pencil = es.lda_pencil(table, y)
    direct = es.solve(es.lda_pencil(X.astype(np.float32), y), 8, criterion="logdet")
    assert_same(es.solve(pencil, 8, criterion="logdet"), direct)


@pytest.mark.parametrize("deflation", ["projection", "schur", "hotelling"])
def test_components(deflation: str) -> None:
    X, _ = wide_data(6, 20, 400, 2)
    found: Any = es.pca_pencil(CountedTable(X))
    expected = es.pca_pencil(X)
    vectors = []
    for _ in range(3):
        solution = es.solve(found, 4)
        solution.verify(found)
        assert_same(solution, es.solve(expected, 4))
        vectors.append(solution.vectors[:, 0])
        found, expected = (
            deflate(each, np.column_stack(vectors), deflation) for each in (found, expected)
        )


@pytest.mark.parametrize("n_starts", [0, 5])
def test_other_starts(n_starts: int) -> None:
    X, _ = wide_data(7, 20, 400, 2)
    found, expected = es.pca_pencil(CountedTable(X)), es.pca_pencil(X)
    options: dict[str, Any] = {"n_starts": n_starts, "random_state": 3}
    direct = es.solve(expected, 4, **options)
    assert_same(es.solve(found, 4, **options), direct)


def test_nearly_dependent_columns_leave_a_doubt() -> None:
    X, y = wide_data(8, 20, 600, 2)
    found, expected = es.lda_pencil(CountedTable(X), y, 0.0), es.lda_pencil(X, y, 0.0)
    solution = es.solve(found, 3, "greedy", "trace", include=[20])  # 50 and 300 are copies
    direct = es.solve(expected, 3, "greedy", "trace", include=[20])
    assert solution.status is direct.status is Status.FEASIBLE


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_exact_auto_and_threshold(criterion: str, n_classes: int) -> None:
    _, found, expected = lda_pair(2, n_classes, 0.8)
    for solver in ("exact", "auto", "threshold"):
        solution = es.solve(found, 3, solver=solver, criterion=criterion)
        solution.verify(found)
        direct = es.solve(expected, 3, solver=solver, criterion=criterion)
        assert solution.status is direct.status
        # by directions only tables in memory are searched
        assert solution.solver == direct.solver.replace("direction", "dominance")
        assert solution.support.tolist() == direct.support.tolist()
        assert solution.objective == pytest.approx(direct.objective, rel=1e-8)
        assert solution.gap == pytest.approx(direct.gap, abs=1e-8)


def test_exact_search_for_a_component() -> None:
    X = np.random.default_rng(3).normal(size=(40, 700)) * np.geomspace(1.0, 1e-4, 700)
    X[:, ::100] *= 20.0
    found, expected = es.pca_pencil(CountedTable(X)), es.pca_pencil(X)
    solution = es.solve(found, 3, solver="exact", start=[1, 2, 3])
    solution.verify(found)
    assert solution.status is Status.OPTIMAL
    direct = es.solve(expected, 3, solver="exact")
    assert solution.support.tolist() == direct.support.tolist()


def test_an_exact_search_of_too_many_features_leaves_the_root_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, found, _ = lda_pair(2, 3, 0.05)
    monkeypatch.setattr("eigensieve.tables.streamed_pencil.LOADED_ENTRIES", 0)
    solution = es.solve(found, 4, solver="exact", criterion="trace")
    solution.verify(found)
    assert solution.status is Status.GAP_LIMIT
    assert np.isfinite(solution.bound)


def test_small_tables_are_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    table, found, expected = lda_pair(0, 2)
    monkeypatch.setattr(row_factor, "SMALL_ENTRIES", 10**6)
    for options in ({}, {"solver": "greedy", "direction": "backward"}, {"solver": "dc"}):
        solution = es.solve(found, 3, **options)
        assert_same(solution, es.solve(expected, 3, **options))
    assert table.passes == 0


def test_what_does_not_work_on_disk_says_so() -> None:
    _, found, _ = lda_pair(0, 2)
    with pytest.raises(OptionError, match=r"'dc' needs the whole table .* greedy, threshold"):
        es.solve(found, 3, solver="dc")
    with pytest.raises(OptionError, match="forward only"):
        es.solve(found, 3, "greedy", direction="both")
    with pytest.raises(InputError, match="outside"):
        es.solve(found, 3, include=[10_000])
    X, _ = wide_data(0, 20, 600, 2)
    with pytest.raises(OptionError, match="'threshold' takes criterion 'lambda_max'"):
        es.solve(es.pca_pencil(CountedTable(X)), 3, solver="threshold", criterion="trace")


class InterruptedTable(CountedTable):
    """Ctrl-C is pressed while a block is read, and no further one may be."""

    last = 10**9

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for number, block in enumerate(super().column_blocks()):
            assert number <= self.last, "read on after Ctrl-C"
            if number == self.last:
                signal.raise_signal(signal.SIGINT)
            yield block


@pytest.mark.parametrize("criterion", CRITERIA)
def test_limits_leave_the_best_so_far(criterion: str) -> None:
    X, y = wide_data(9, 24, 900, 2)
    table = InterruptedTable(X, 100)
    pencil = es.lda_pencil(table, y, 0.05)
    solution = es.solve(pencil, 5, criterion=criterion, time_limit=0.0)
    assert solution.status is Status.TIME_LIMIT
    solution.verify(pencil)
    table.last = 3
    solution = es.solve(pencil, 5, criterion=criterion)
    assert solution.status is Status.INTERRUPTED
    solution.verify(pencil)
    table.last = 10**9
    assert es.solve(pencil, 5, criterion=criterion).objective >= solution.objective
