"""`solve` and `solve_path` with limits on groups and costs: what they take and refuse."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil import row_factor
from eigensieve.search.solve import find_solvers

KEEPERS = ("auto", "greedy", "exact", "exhaustive", "perspective", "dominance")


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 12)), np.arange(40) % 2
    X[y == 1, :4] += 0.9
    return X, y


@pytest.mark.parametrize("name", [n for n in find_solvers() if n not in KEEPERS])
def test_other_solvers_refuse_limits(name: str, table: tuple[np.ndarray, np.ndarray]) -> None:
    pencil = es.lda_pencil(*table, shrinkage=0.4)
    for criterion in find_solvers()[name].criteria:
        with pytest.raises(OptionError, match="cannot keep limits on groups or costs; use 'auto'"):
            es.solve(pencil, 3, name, criterion, groups={"g": [0, 1]}, at_most=1)


def test_names_of_the_table_are_known(table: tuple[np.ndarray, np.ndarray]) -> None:
    names = [f"gene{j}" for j in range(12)]
    pencil = es.lda_pencil(pd.DataFrame(table[0], columns=names), table[1], shrinkage=0.4)
    by_name = es.solve(pencil, 3, groups={"g": names[:4]}, at_most=1)
    by_index = es.solve(pencil, 3, groups={"g": [0, 1, 2, 3]}, at_most=1)
    np.testing.assert_array_equal(by_name.support, by_index.support)
    assert np.count_nonzero(by_name.support < 4) == 1
    costs = dict(zip(names, [1.0] * 12))
    with pytest.raises(InputError, match="cost at most 2 in all"):
        es.solve(pencil, 3, costs=costs, max_cost=2)


def test_a_penalty_cannot_decide_the_number(table: tuple[np.ndarray, np.ndarray]) -> None:
    pencil = es.lda_pencil(*table, shrinkage=0.4)
    with pytest.raises(InputError, match="k is None; limits on groups or costs need the number"):
        es.solve(pencil, None, "dc", rho=0.1, groups={"g": [0, 1]}, at_most=1)


def test_a_path_leaves_out_what_is_impossible() -> None:
    pencil = es.Pencil(np.diag(np.arange(7.0, 0.0, -1.0)))
    groups = {"a": [0, 1], "b": [2, 3, 4], "c": [5, 6]}
    path = es.solve_path(pencil, solver="greedy", groups=groups, whole=True)
    assert path.ks == [2, 3, 4, 5, 7]
    path = es.solve_path(pencil, solver="greedy", groups=groups, whole=True, include=[3])
    assert path.ks == [3, 5, 7]
    path = es.solve_path(pencil, solver="greedy", groups=groups, whole=True, exclude=[3])
    assert path.ks == [2, 4]
    path = es.solve_path(pencil, solver="greedy", costs=[2, 2, 2, 2, 2, 2, 1], max_cost=5)
    assert path.ks == [1, 2, 3]
    with pytest.raises(InputError, match=r"no set of 6 features.*all or none of"):
        es.solve_path(pencil, [2, 6, 7], "greedy", groups=groups, whole=True)
    with pytest.raises(InputError, match=r"no set of 1 feature .*at most 0 of 'g'"):
        es.solve_path(pencil, groups={"g": range(7)}, at_most=0)


def test_a_path_has_the_first_fifty_that_are_possible() -> None:
    pencil = es.Pencil(np.diag(np.linspace(2.0, 1.0, 60)))
    assert es.solve_path(pencil, solver="greedy", swap=False).ks == list(range(1, 51))
    pairs = {f"{i}": [2 * i, 2 * i + 1] for i in range(30)}
    path = es.solve_path(pencil, solver="greedy", groups=pairs, whole=True, swap=False)
    assert path.ks == list(range(2, 61, 2))


def test_quotas_and_limits_together() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 10)) + 0.7 * rng.normal(size=(60, 1))
    pencil = es.cca_pencil(Z[:, :6], Z[:, 6:], shrinkage=0.3)
    groups = {"both": [0, 1, 2, 6, 7]}
    found = es.solve(pencil, (3, 2), "greedy", groups=groups, at_most=2)
    A, B = np.asarray(pencil.A), np.asarray(pencil.B)
    best = -np.inf
    for S in itertools.product(
        itertools.combinations(range(6), 3), itertools.combinations(range(6, 10), 2)
    ):
        T = [*S[0], *S[1]]
        if len({0, 1, 2, 6, 7} & set(T)) <= 2:
            part = np.ix_(T, T)
            best = max(best, np.linalg.eigvals(np.linalg.solve(B[part], A[part])).real.max())
    assert found.objective == pytest.approx(best)
    assert np.count_nonzero(found.support < 6) == 3
    with pytest.raises(InputError, match="2 features of block 1"):
        es.solve(pencil, (3, 2), groups={"second": range(6, 10)}, at_most=1)


def test_a_wide_table_on_disk_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_factor, "SMALL_ENTRIES", 0)
    np.save(tmp_path / "table.npy", np.random.default_rng(0).normal(size=(20, 4000)))
    pencil = es.pca_pencil(np.load(tmp_path / "table.npy", mmap_mode="r"))
    assert not pencil.in_memory_if_small().in_memory
    for solver in ("auto", "greedy", "exact"):
        with pytest.raises(OptionError, match=r"need the table in memory: give np\.asarray"):
            es.solve(pencil, 3, solver, groups={"g": [0, 1]}, at_most=1)
