"""Proofs about more features than a dense matrix is made of, against all pairs of them."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.search.proof import level

WIDE = 520  # above the 500 of a tree
SETS_OF_FOUR = [list(S) for S in combinations(range(14), 4)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "best.proof"


def table(seed: int, groups: int = 8) -> np.ndarray:
    """Standardised columns, the first ones in correlated groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, WIDE))
    for g in range(groups):
        X[:, 5 * g : 5 * g + 5] += 1.5 * rng.normal(size=(40, 1))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def best_of_pairs(A: np.ndarray, may_join: np.ndarray) -> float:
    """The largest eigenvalue over all pairs that are allowed."""
    a = A.diagonal()
    half, mean = (a[:, None] - a) / 2, (a[:, None] + a) / 2
    tops = mean + np.hypot(half, A)
    return float(tops[may_join & ~np.eye(len(A), dtype=bool)].max())


@pytest.mark.parametrize("limits", [{}, {"include": [70], "exclude": [3, 100]}])
def test_against_all_pairs(file: Path, limits: dict[str, Any]) -> None:
    X = table(0)
    A = X.T @ X / len(X)
    allowed = np.ones(A.shape, dtype=bool)
    for j in limits.get("exclude", []):
        allowed[j], allowed[:, j] = False, False
    for j in limits.get("include", []):
        keep = allowed[j].copy()
        allowed[:] = False
        allowed[j] = keep
    best = best_of_pairs(A, allowed)
    for pencil, given in ((es.pca_pencil(X), {"X": X}), (es.Pencil(A), {"A": A})):
        shown = es.solve(pencil, 2, "dominance", proof=file, **limits)
        verdict = es.check_proof(file, **given).raise_if_rejected()
        assert shown.is_certified
        assert shown.objective == pytest.approx(best, rel=1e-9)
        assert best * (1 - 1e-12) <= verdict.bound <= best * (1 + 1e-5)
        larger = {name: 1.001 * M for name, M in given.items()}
        assert not es.check_proof(file, **larger).accepted


def test_one_of_every_block(file: Path) -> None:
    X = table(1)
    A, blocks = X.T @ X / len(X), np.arange(WIDE) % 3 % 2
    best = best_of_pairs(A, blocks[:, None] != blocks)
    shown = es.solve(es.Pencil(A, blocks=blocks), (1, 1), "dominance", proof=file)
    es.check_proof(file, A=A, blocks=blocks).raise_if_rejected()
    assert shown.is_certified
    assert shown.objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("limits", [{}, {"include": [70]}])
def test_a_search_that_was_stopped_leaves_a_bound_by_rows(
    file: Path, limits: dict[str, Any]
) -> None:
    X = table(2)
    best = es.solve(es.pca_pencil(X), 6, "dominance", **limits)
    assert best.is_certified
    shown = es.solve(es.pca_pencil(X), 6, "dominance", time_limit=0, proof=file, **limits)
    es.check_proof(file, X).raise_if_rejected()
    assert shown.status is es.Status.TIME_LIMIT
    assert best.objective <= shown.bound < 3 * best.objective
    assert [list(json.loads(line)) for line in file.read_text().splitlines()[1:-1]] == [
        ["leaf", "rows"]
    ]


def test_branches_by_rows_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where too many features are left for any decomposition."""
    monkeypatch.setattr(level, "MAX_TRACED", 0)
    monkeypatch.setattr(level, "MAX_ABSORBED", 0)
    X = np.random.default_rng(4).normal(size=(15, 14))
    best = max(np.linalg.eigvalsh(np.cov(X[:, S].T, bias=True))[-1] for S in SETS_OF_FOUR)
    shown = es.solve(es.pca_pencil(X), 4, "dominance", proof=file)
    es.check_proof(file, X).raise_if_rejected()
    assert shown.is_certified
    assert best <= shown.bound <= best * (1 + 1e-5)
    assert '"branch"' in file.read_text()


def test_noise_needs_a_tree_and_the_file_is_short(file: Path) -> None:
    X = table(3)
    shown = es.solve(es.pca_pencil(X), 6, "dominance", proof=file)
    verdict = es.check_proof(file, X).raise_if_rejected()
    assert shown.is_certified
    assert verdict.n_nodes > 1
    assert file.stat().st_size < 300_000
