"""The search with few rows of B at hand: the same answer, whatever is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.solution import Status
from eigensieve.search.exact.perspective import kept_rows
from eigensieve.search.exact.perspective.kept_rows import KeptRows
from eigensieve.search.exact.perspective.tree_kernel import COMPACT


def wide(seed: int, p: int = 400) -> es.FactorPencil:
    """Two classes, and so little shrinkage that most columns survive the root."""
    rng = np.random.default_rng([seed, 5])
    X, y = rng.normal(size=(30, p)), np.arange(30) % 2
    X += rng.normal(size=(30, 3)) @ rng.normal(size=(3, p))
    X[:, :20] += 0.4 * y[:, None]
    rows = np.concatenate([X[y == c] - X[y == c].mean(axis=0) for c in (0, 1)])
    H = (X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0))[None, :]
    return es.FactorPencil(H, rows * np.sqrt(0.85 / 30), 0.15 * np.square(rows).mean(axis=0))


def best_triple(pencil: es.FactorPencil) -> float:
    """The largest trace of three features: one is eliminated, pairs are solved in closed form."""
    B, h, best = pencil.B, pencil.H[0], 0.0
    for i in range(pencil.size - 2):
        S = B[i + 1 :, i + 1 :] - np.outer(B[i, i + 1 :], B[i, i + 1 :]) / B[i, i]
        r = h[i + 1 :] - B[i, i + 1 :] * h[i] / B[i, i]
        d = np.diag(S)
        gain = np.square(r) * d[:, None] + np.square(r)[:, None] * d - 2 * np.outer(r, r) * S
        det = np.outer(d, d) - np.square(S)
        np.fill_diagonal(det, np.inf)
        best = max(best, h[i] ** 2 / B[i, i] + float((gain / det).max()))
    return best


class Watched:
    """Counts what the nodes of a search are given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.most, self.n_own = 0, 0
        grow, own = KeptRows.grow, KeptRows._own

        def grown(kept: KeptRows, *args: Any) -> None:
            grow(kept, *args)
            self.most = max(self.most, kept.n_known)

        def owned(kept: KeptRows, here: np.ndarray, count: int) -> Any:
            self.n_own += here.size > COMPACT
            return own(kept, here, count)

        patch.setattr(KeptRows, "grow", grown)
        patch.setattr(KeptRows, "_own", owned)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr(kept_rows, "FIRST", 8)
    monkeypatch.setattr(kept_rows, "FIRST_PER_K", 1)
    return Watched(monkeypatch)


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_added_as_they_are_needed(few: Watched, seed: int) -> None:
    pencil = wide(seed)
    found = es.solve(pencil, 3, "perspective", "trace", audit=True)
    assert found.is_certified
    assert found.objective == pytest.approx(best_triple(pencil), rel=1e-9)
    assert few.most > 8


@pytest.mark.parametrize("seed", range(4))
def test_nodes_that_need_too_many_get_rows_of_their_own(
    few: Watched, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(kept_rows, "MAX_ENTRIES", 30 * 400)  # of W; that is 30 rows of B
    pencil = wide(seed)
    found = es.solve(pencil, 3, "perspective", "trace", audit=True)
    assert found.is_certified
    assert found.objective == pytest.approx(best_triple(pencil), rel=1e-9)
    assert few.most <= 30
    assert few.n_own > 0


def test_what_a_limit_leaves_does_not_depend_on_threads(few: Watched) -> None:
    pencil = wide(0)
    found = [
        es.solve(pencil, 6, "perspective", "trace", max_nodes=400, n_jobs=n_jobs)
        for n_jobs in (1, 3)
    ]
    assert found[0].bound == found[1].bound
    assert found[0].n_nodes == found[1].n_nodes >= 400
    assert few.most > 8


def test_a_bound_holds_wherever_the_search_ends(few: Watched) -> None:
    pencil = wide(1)
    best = best_triple(pencil)
    for max_nodes in (1, 20, 60):
        found = es.solve(pencil, 3, "perspective", "trace", max_nodes=max_nodes)
        assert found.objective <= best * (1 + 1e-9)
        assert found.bound >= best


def test_too_many_features_keep_the_bound_of_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "MAX_ENTRIES", 400)
    pencil = wide(0)
    found = es.solve(pencil, 3, "perspective", "trace")
    assert found.status is Status.GAP_LIMIT
    assert found.bound >= best_triple(pencil) > 0
