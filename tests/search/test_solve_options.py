"""Options that count something are checked at the door, whatever the solver."""

import numpy as np
import pytest

import eigensieve as es

PENCIL = es.lda_pencil(
    np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 2, shrinkage=0.0
)


@pytest.mark.parametrize("solver", ["exact", "leaps", "levelset", "perspective", "interlacing"])
@pytest.mark.parametrize("option", [{"max_nodes": "x"}, {"max_nodes": 0}, {"n_starts": -1}])
def test_counts_are_whole_numbers(solver: str, option: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(option))} is .*whole number"):
        es.solve(PENCIL, 3, solver, "trace", **option)


def test_no_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="n_jobs is 0"):
        es.solve(PENCIL, 3, "exact", "trace", n_jobs=0)


def test_a_callback_is_a_function() -> None:
    with pytest.raises(ValueError, match="callback is 3"):
        es.solve(PENCIL, 3, "exact", "trace", callback=3)


@pytest.mark.parametrize("solver", ["exact", "leaps", "levelset", "perspective", "interlacing"])
def test_no_time_still_gives_a_bound(solver: str) -> None:
    best = es.solve(PENCIL, 3, "exhaustive", "trace")
    none = es.solve(PENCIL, 3, solver, "trace", time_limit=0)
    assert none.objective <= best.objective * (1 + 1e-9)
    assert best.objective <= none.bound < np.inf


VIEWS = es.cca_pencil(
    np.random.default_rng(1).normal(size=(30, 5)), np.random.default_rng(2).normal(size=(30, 4))
)


@pytest.mark.parametrize("solver", ["greedy", "dc", "exact"])
def test_path_of_pairs(solver: str) -> None:
    path = es.solve_path(VIEWS, [(2, 1), (1, 3), (1, 1)], solver=solver, exclude=[0])
    path.verify(VIEWS)
    assert path.ks == [(1, 1), (1, 3), (2, 1)]
    for pair, solution in path.items():
        assert tuple(np.bincount(VIEWS.blocks[solution.support])) == pair
        best = es.solve(VIEWS, pair, "exhaustive", exclude=[0]).objective
        assert 0.9 * best <= solution.objective <= best * (1 + 1e-9)
        if solver == "exact":
            assert solution.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(
    ("ks", "said"),
    [
        ([(1, 1), 3], "pairs"),
        ([(1, 1, 1)], "2 blocks"),
        ([(1, 1), (1, 9), (2, 1)], "block 1 is to give 9"),
        ([(0, 1)], "k is 0"),
    ],
)
def test_wrong_pairs(ks: list, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        es.solve_path(VIEWS, ks)


def test_pairs_need_blocks() -> None:
    with pytest.raises(ValueError, match="no blocks"):
        es.solve_path(PENCIL, [(1, 2)])
