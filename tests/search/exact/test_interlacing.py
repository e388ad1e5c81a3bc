"""The paper's branch and bound against brute force, and what it says when it is cut short."""

from __future__ import annotations

import math
import signal
from itertools import combinations, count

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import VerificationError
from eigensieve.pencil.solution import Status
from eigensieve.search.exact import interlacing
from tests.oracles import naive

CRITERIA = ("lambda_max", "trace", "logdet")


def random_pencil(seed: int, n: int = 9) -> es.Pencil:
    """Of changing kind: any rank, integers with ties, near-duplicates."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, n + 3))
    H, W = rng.normal(size=(rank, n)), rng.normal(size=(n + 4, n))
    if seed % 4 == 1:
        H, W = np.rint(2 * H), np.rint(2 * W)
    if seed % 4 == 2:
        H[:, 1], W[:, 1] = H[:, 0], W[:, 0] + 1e-6 * rng.normal(size=n + 4)
    return es.Pencil(H.T @ H, W.T @ W / n + 1e-3 * np.eye(n))


@pytest.mark.parametrize("seed", range(24))
def test_brute_force_agrees(seed: int) -> None:
    pencil = random_pencil(seed)
    criterion = CRITERIA[seed % 3]
    for k in (2, 4, 7):
        best, _ = naive.best(pencil.A, pencil.B, k, criterion)
        unit = max(abs(best), pencil.scale)
        for search in ("best", "depth"):
            for order in ("sorted", "natural"):
                found = es.solve(
                    pencil, k, "interlacing", criterion,
                    search=search, order=order, n_starts=0, audit=True,
                )  # fmt: skip
                found.verify(pencil)
                assert found.is_certified
                assert abs(found.objective - best) <= 2e-6 * unit
                assert found.bound >= best - 1e-9 * unit


@pytest.mark.parametrize("seed", range(6))
def test_indefinite_a(seed: int) -> None:
    rng = np.random.default_rng(seed)
    M, W = rng.normal(size=(9, 9)), rng.normal(size=(14, 9))
    pencil = es.Pencil(M + M.T - 3 * np.eye(9) * (seed % 2), W.T @ W / 14)
    best, _ = naive.best(pencil.A, pencil.B, 4, "lambda_max")
    found = es.solve(pencil, 4, "interlacing")
    assert found.is_certified
    assert found.objective == pytest.approx(best, abs=1e-6 * pencil.scale)


@pytest.mark.parametrize("search", ["best", "depth"])
def test_wishes(search: str) -> None:
    pencil = random_pencil(7, n=10)
    include, exclude = [2, 5], [0, 9]
    sets = [sorted((*include, *c)) for c in combinations((1, 3, 4, 6, 7, 8), 2)]
    best = max(naive.score(pencil.A, pencil.B, S, "trace") for S in sets)
    found = es.solve(pencil, 4, "interlacing", "trace", include, exclude, search=search, audit=True)
    assert found.is_certified
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert set(include) < set(found.support.tolist())
    assert not set(exclude) & set(found.support.tolist())


@pytest.mark.parametrize("search", ["best", "depth"])
@pytest.mark.parametrize("quota", [(2, 1), (1, 3), (3, 4)])
def test_quota(search: str, quota: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 9))
    X[:, 5:] += 0.7 * X[:, :4]
    pencil = es.cca_pencil(X[:, :5], X[:, 5:], shrinkage=0.2)
    sets = (
        [*a, *b]
        for a in combinations(range(5), quota[0])
        for b in combinations(range(5, 9), quota[1])
    )
    best = max(naive.score(pencil.A, pencil.B, S, "lambda_max") for S in sets)
    found = es.solve(pencil, quota, "interlacing", search=search, audit=True)
    found.verify(pencil)
    assert found.is_certified
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert np.bincount(pencil.blocks[found.support]).tolist() == list(quota)


def hard_pencil() -> es.Pencil:
    """Some ten thousand nodes in natural order, and an optimum that greedy misses."""
    rng = np.random.default_rng(11)
    W = rng.normal(size=(20, 16))
    H = rng.normal(size=(4, 16))
    return es.Pencil(H.T @ H, W.T @ W / 20)


@pytest.fixture(scope="module")
def hard() -> tuple[es.Pencil, float]:
    pencil = hard_pencil()
    return pencil, naive.best(pencil.A, pencil.B, 8, "lambda_max")[0]


@pytest.mark.parametrize("search", ["best", "depth"])
@pytest.mark.parametrize("max_nodes", [1, 2, 7, 40, 200])
def test_a_node_limit_leaves_a_valid_bound(hard, search: str, max_nodes: int) -> None:
    pencil, best = hard
    found = es.solve(
        pencil, 8, "interlacing",
        search=search, order="natural", max_nodes=max_nodes, n_starts=0, audit=True,
    )  # fmt: skip
    found.verify(pencil)
    assert found.status is Status.ITERATION_LIMIT
    assert found.n_nodes == max_nodes
    assert best - 1e-9 <= found.bound < math.inf
    assert found.objective <= best + 1e-9


@pytest.mark.parametrize("max_nodes", [40, None])
def test_the_audit_sees_a_child_that_was_forgotten(hard, monkeypatch, max_nodes) -> None:
    whole = interlacing._Run._children
    calls = count()

    def forgetful(run, node):
        first = next(calls) == 3
        return (child for i, child in enumerate(whole(run, node)) if not (first and i == 1))

    monkeypatch.setattr(interlacing._Run, "_children", forgetful)
    options = {"order": "natural", "n_starts": 0, "max_nodes": max_nodes}
    with pytest.raises(VerificationError, match=r"covered \d+ sets of 12870"):
        es.solve(hard[0], 8, "interlacing", audit=True, **options)


def test_exact_can_be_audited_where_it_picks_interlacing() -> None:
    rng = np.random.default_rng(0)
    H = rng.normal(size=(5, 7)) * np.geomspace(1.0, 1e8, 7)
    pencil = es.Pencil(H.T @ H)
    found = es.solve(pencil, 3, "exact", "logdet", audit=True)
    assert found.solver == "interlacing"
    best, _ = naive.best(pencil.A, pencil.B, 3, "logdet")
    assert found.is_certified
    assert found.objective == pytest.approx(best, rel=1e-6)


def test_the_bound_falls_as_the_search_goes_on(hard) -> None:
    pencil, best = hard
    bounds = [
        es.solve(pencil, 8, "interlacing", order="natural", max_nodes=n, n_starts=0).bound
        for n in (1, 30, 300)
    ]
    assert bounds[0] > bounds[1] > bounds[2] > best


def test_no_time_at_all(hard) -> None:
    pencil, _ = hard
    found = es.solve(pencil, 8, "interlacing", time_limit=0)
    assert found.status is Status.TIME_LIMIT
    assert found.bound == pytest.approx(es.inclusion_bounds(pencil, 8).upper)
    assert found.seconds < 1


def test_a_wide_gap_is_soon_closed(hard) -> None:
    pencil, best = hard
    coarse = es.solve(pencil, 8, "interlacing", gap_tol=0.2)
    fine = es.solve(pencil, 8, "interlacing")
    assert coarse.is_certified
    assert coarse.gap <= 0.2
    assert coarse.bound >= best
    assert coarse.n_nodes < fine.n_nodes
    assert fine.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("search", ["best", "depth"])
def test_ctrl_c_and_progress(search: str) -> None:
    """A search of hours, ended after some tenths of a second."""
    rng = np.random.default_rng(0)
    H, W = rng.normal(size=(5, 40)), rng.normal(size=(60, 40))
    pencil = es.Pencil(H.T @ H, W.T @ W / 60)
    good = es.solve(pencil, 20, n_starts=5, random_state=0).objective
    events = []

    def watch(event) -> None:
        if event.phase == "search":
            events.append(event)
            if len(events) == 2:
                signal.raise_signal(signal.SIGINT)

    found = es.solve(
        pencil, 20, "interlacing", callback=watch, search=search, order="natural", n_starts=0
    )
    found.verify(pencil)
    assert found.status is Status.INTERRUPTED
    assert good <= found.bound < math.inf
    assert [event.bound >= good for event in events] == [True, True]
    assert events[1].bound <= events[0].bound
    assert events[1].objective >= events[0].objective > 0
    assert 0 < events[0].n_nodes < events[1].n_nodes <= found.n_nodes


def test_sorting_pays_and_a_start_is_used() -> None:
    rng = np.random.default_rng(0)
    d, W = rng.normal(size=20), rng.normal(size=(60, 20))
    pencil = es.Pencil(np.outer(d, d), W.T @ W / 60)
    counts = {
        order: es.solve(pencil, 10, "interlacing", order=order).n_nodes
        for order in ("sorted", "natural")
    }
    assert 3 * counts["sorted"] < counts["natural"]
    best = es.solve(pencil, 10, "interlacing")
    again = es.solve(pencil, 10, "interlacing", start=best.support, n_starts=0, max_nodes=1)
    assert again.objective == pytest.approx(best.objective)


def test_a_nearly_singular_b_gives_no_false_certificate() -> None:
    """Copies up to 1e-5: what cannot be known in double precision is not claimed."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(12, 6))
        W[:, 3:] = W[:, :3] + 1e-5 * rng.normal(size=(12, 3))
        a = rng.normal(size=6)
        A, B = np.outer(a, a), W.T @ W
        pencil = es.Pencil(A, B)
        exact = [naive.exact_det_ratio(A, B, list(S)) for S in combinations(range(6), 4)]
        best = math.log(max(exact))
        found = es.solve(pencil, 4, "interlacing", "logdet")
        true = math.log(naive.exact_det_ratio(A, B, found.support.tolist()))
        assert found.bound >= best - 1e-12 * abs(best)
        if found.is_certified:
            assert true >= best - 2e-6 * abs(best)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"search": "wide"}, "search is 'wide'; it must be one of best, depth"),
        ({"order": 3}, "order is 3; it must be one of sorted, natural"),
        ({"max_nodes": 0}, "max_nodes is 0"),
        ({"audit": "yes"}, "audit is 'yes'"),
    ],
)
def test_wrong_options(options: dict, said: str) -> None:
    with pytest.raises(es.errors.InputError, match=said):
        es.solve(es.Pencil(np.eye(3)), 2, "interlacing", **options)
