"""A time limit ends a compiled search inside a node."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.search.exact.perspective.perspective import PerspectiveTree


def nearly_singular() -> es.FactorPencil:
    """A small diagonal: the relaxation is weak, and its weights are many."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 120))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=60)
    return es.FactorPencil(((y - y.mean()) @ X)[None, :], X, np.full(120, 0.001))


def nodes_per_expansion(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counts: list[int] = []
    expand = PerspectiveTree.expand

    def counted(self: PerspectiveTree, *args: Any) -> Any:
        found = expand(self, *args)
        counts.append(found.n_nodes)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(PerspectiveTree, "expand", counted)
        solution = es.solve(nearly_singular(), 6, "perspective", "trace", max_nodes=10)
    solution.verify(nearly_singular())
    return counts


def test_a_set_mark_ends_the_search_of_a_subtree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(nodes_per_expansion(monkeypatch)) > 1

    @contextmanager
    def ringing(self: Budget) -> Iterator[np.ndarray]:
        yield np.ones(1, dtype=np.int8)

    monkeypatch.setattr(Budget, "alarm", ringing)
    assert set(nodes_per_expansion(monkeypatch)) == {1}


def test_the_mark_is_set_when_the_time_is_up() -> None:
    with Budget(0.05).alarm() as mark:
        assert mark[0] == 0
        ends = time.monotonic() + 20
        while not mark[0] and time.monotonic() < ends:
            time.sleep(0.01)
        assert mark[0] == 1
    for limit in (None, np.inf):
        with Budget(limit).alarm() as mark:
            assert mark[0] == 0
