"""The test by rows and what is taken out before it: by their definitions, set by set."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from eigensieve.search.exact.dominance.absorb import absorb, remainder
from eigensieve.search.exact.dominance.rows import Rows, decide_with, excess, tune


def instance(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """A matrix, where its blocks start, how many a set has of each, and all sets."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, size=1 + seed % 2)
    n = int(sizes.sum())
    M = rng.normal(size=(n, n)) * rng.choice([0.15, 0.3, 0.5])
    M = (M + M.T) / 2
    np.fill_diagonal(M, rng.uniform(0.5, 1.5, n))
    if seed % 3 == 0:
        M = np.round(4 * M) / 4 + 0.25 * np.eye(n)
    starts = np.append(0, np.cumsum(sizes))
    needs = np.array([int(rng.integers(1, size)) for size in sizes])
    parts = [itertools.combinations(range(a, b), m) for a, b, m in zip(starts, starts[1:], needs)]
    sets = [np.array(sum(part, ())) for part in itertools.product(*map(list, parts))]
    return M, starts, needs, sets


def violating(M: np.ndarray, sets: list[np.ndarray]) -> Iterator[np.ndarray]:
    return (S for S in sets if np.linalg.eigvalsh(M[np.ix_(S, S)])[0] <= 0)


@pytest.mark.parametrize("seed", range(200))
def test_sums_and_decisions(seed: int) -> None:
    M, starts, needs, sets = instance(seed)
    n, rng = len(M), np.random.default_rng(seed)
    if np.diag(M).min() <= 0:
        return
    rows = Rows.of(M, np.ones(n), starts, needs)
    w = rng.uniform(0.2, 1.0, n)
    expected = np.zeros(n)
    for i in range(n):
        own = [S for S in sets if i in S]
        expected[i] = max((np.abs(M[i, S[i != S]]) @ w[S[i != S]] for S in own), default=0.0)
    np.testing.assert_allclose(rows.sums(w), expected, rtol=1e-14)
    np.testing.assert_allclose(rows.ranked(w)[0], expected, rtol=1e-14)
    decision = decide_with(rows, w)
    assert decision.n_failing == np.sum(expected >= np.diag(M) * w * (1 - 1e-9))
    for S in violating(M, sets):
        assert decision.n_failing > 0
        assert set(np.flatnonzero(decision.must)) <= set(S)
        assert not set(np.flatnonzero(decision.cannot)) & set(S)
    tuned = tune(rows, w, 20)
    if tuned.passes:
        assert not list(violating(M, sets))
    lifted = M + excess(rows, w) * np.eye(n)
    assert min(np.linalg.eigvalsh(lifted[np.ix_(S, S)])[0] for S in sets) > -1e-9


def test_decisions_are_made() -> None:
    """Without decisions the test above would say nothing."""
    must = cannot = passed = 0
    for seed in range(200):
        M, starts, needs, _ = instance(seed)
        if np.diag(M).min() > 0:
            rows = Rows.of(M, np.ones(len(M)), starts, needs)
            decision = decide_with(rows, np.ones(len(M)))
            must += decision.must.sum() * (decision.n_failing > 0)
            cannot += decision.cannot.sum() * (decision.n_failing > 0)
            passed += tune(rows, np.ones(len(M)), 20).passes
    assert min(must, cannot, passed) > 20


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_out_is_semidefinite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 30)), int(rng.integers(2, 6))
    C = rng.normal(size=(n, n)) / n
    M = np.eye(n) - (C + C.T) * (1 - np.eye(n))
    first = absorb(M, m, None, 30)
    assert np.linalg.eigvalsh(M - first.Q)[0] >= 0
    again = absorb(M, m, first.state, 30)
    assert np.linalg.eigvalsh(M - again.Q)[0] >= 0
    part = np.sort(rng.choice(n, size=n - 2, replace=False))
    fewer = absorb(M[np.ix_(part, part)], m, again.state.restrict(part), 5)
    assert np.linalg.eigvalsh(M[np.ix_(part, part)] - fewer.Q)[0] >= 0
    Y = rng.normal(size=(n, n))
    assert np.linalg.eigvalsh(M - remainder(np.eye(n) - M, Y + Y.T))[0] >= 0
