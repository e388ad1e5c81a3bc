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
