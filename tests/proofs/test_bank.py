"""Proofs of the real prover: the whole test bank is accepted, and false copies are rejected."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import PencilError
from eigensieve.pencil.problem import make_problem
from tests.contracts.bank import problem_bank
from tests.proofs import naive_prover as naive
from tests.proofs.mutations import CHANGES
from tests.proofs.oracle import find_false
from tests.proofs.proof_files import Lines, read_proof
from tests.proofs.test_mutations import judge_mutations

CRITERIA = ("lambda_max", "trace", "logdet")
BANK = problem_bank()


def draw_tables() -> dict[str, np.ndarray]:
    """Tables of all kinds, 24 x 9: good ones, and what users bring."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 9))
    X[:, 1] += np.arange(24) % 4
    twins = np.hstack([X[:, :5], X[:, :4]])
    near = twins.copy()
    near[:, 5:] += 1e-7 * rng.normal(size=(24, 4))
    flat = X.copy()
    flat[:, [2, 6]] = 0.1
    return {
        "plain": X,
        "twins": twins,
        "near twins": near,
        "constant columns": flat,
        "scales": X * np.geomspace(1e-8, 1e8, 9),
        "offset": X + 1e9,
        "float32": X.astype(np.float32),
        "integers": np.round(3 * X),
        "fewer samples": X[:7],
    }


TABLES = draw_tables()


def best_score(pencil: es.Pencil, k: Any, criterion: str) -> float:
    problem = make_problem(pencil, k, criterion)
    sets = (np.array(S) for S in combinations(range(pencil.size), problem.k))
    return max(problem.score(S) for S in sets if problem.fills_quota(S))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", BANK)
def test_bank(name: str, criterion: str, tmp_path: Path) -> None:
    pencil = BANK[name]
    matrices = es.Pencil(pencil.A, pencil.B, blocks=pencil.blocks)  # without the table
    k: Any = (2, 2) if pencil.blocks is not None else max(1, min(4, pencil.size - 1))
    file = tmp_path / "proof"
    if criterion != "lambda_max" and not matrices.is_psd:
        with pytest.raises(PencilError, match="positive semidefinite"):
            es.solve(matrices, k, "exact", criterion, proof=file)
        return
    shown = es.solve(matrices, k, "exact", criterion, proof=file)
    verdict = es.check_proof(file, A=matrices.A, B=matrices.B, blocks=matrices.blocks)
    verdict.raise_if_rejected()
    assert verdict.bound == shown.bound >= best_score(matrices, k, criterion) * (1 - 1e-9)
    if name != "singular within scatter":  # there double precision shows less than it finds
        assert shown.is_certified


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", TABLES)
def test_lda_of_a_table(name: str, n_classes: int, shrinkage: float, tmp_path: Path) -> None:
    X = TABLES[name]
    y = np.array(["ten", "9", "two"])[np.arange(len(X)) % n_classes]
    pencil = es.lda_pencil(X, y, shrinkage=shrinkage)
    for criterion in CRITERIA:
        file = tmp_path / criterion
        shown = es.solve(pencil, 3, "exact", criterion, proof=file)
        # the labels come back as other values, in another order
        verdict = es.check_proof(file, X, [{"ten": 2, "9": 7, "two": 0}[label] for label in y])
        verdict.raise_if_rejected()
        assert verdict.bound >= best_score(pencil, 3, criterion) * (1 - 1e-9)
        if shrinkage:
            assert shown.is_certified


@pytest.mark.parametrize("name", TABLES)
def test_pca_and_cca_of_a_table(name: str, tmp_path: Path) -> None:
    X, file = TABLES[name], tmp_path / "proof"
    pencil = es.pca_pencil(X)
    assert es.solve(pencil, 3, "exact", proof=file).is_certified
    es.check_proof(file, X).raise_if_rejected()
    views = es.cca_pencil(X[:, :5], X[:, 5:], shrinkage=0.3)
    assert es.solve(views, (2, 1), "exact", proof=file).is_certified
    verdict = es.check_proof(file, X[:, :5], Y=X[:, 5:])
    verdict.raise_if_rejected()
    assert verdict.bound >= best_score(views, (2, 1), "lambda_max") * (1 - 1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_wishes_and_limits(criterion: str, tmp_path: Path) -> None:
    X, y, file = TABLES["plain"], np.arange(24) % 3, tmp_path / "proof"
    pencil = es.lda_pencil(X, y, shrinkage=0.1)
    constraints: dict[str, Any] = {"include": [7], "exclude": [1, 4], "proof": file}
    for limits in ({}, {"time_limit": 0}, {"max_nodes": 1}, {"gap_tol": 0.05}):
        es.solve(pencil, 4, "exact", criterion, **constraints, **limits)
        es.check_proof(file, X, y).raise_if_rejected()
    es.certify(pencil, [0, 2, 3], criterion, proof=file)
    verdict = es.check_proof(file, X, y)
    verdict.raise_if_rejected()
    assert verdict.gap > 1e-3


def test_another_table_is_another_matter(tmp_path: Path) -> None:
    X, y, file = TABLES["plain"], np.arange(24) % 3, tmp_path / "proof"
    es.solve(es.lda_pencil(X, y, shrinkage=0.3), 3, "exact", "logdet", proof=file)
    other = X.copy()
    other[:, 3] += 2 * y  # now this one belongs to the best set
    verdict = es.check_proof(file, other, y)
    assert not verdict.accepted
    assert "table" in verdict.reason


# ---------------------------------------------------------------- false copies


def prove_all(folder: Path) -> list[tuple[naive.Problem, Lines]]:
    """Problems of all kinds, each with the lines of its proof by the real prover."""
    X, y = TABLES["plain"], np.arange(24) % 3
    rng = np.random.default_rng(2)
    F, W = rng.normal(size=(7, 3)), rng.normal(size=(9, 7))
    A, B = F @ F.T, W.T @ W / 9 + 0.1 * np.eye(7)
    cases: list[tuple[naive.Problem, es.Pencil, Any]] = []
    for criterion in CRITERIA:
        for s, k in ((0.05, 3), (0.4, 4)):
            problem = naive.lda_problem(X, y, k, criterion, shrinkage=s)
            cases.append((problem, es.lda_pencil(X, y, shrinkage=s), k))
        cases.append((naive.matrix_problem(A, B, 3, criterion), es.Pencil(A, B), 3))
    cases.append((naive.pca_problem(X, 4), es.pca_pencil(X), 4))
    views = X[:, :5], X[:, 5:]
    problem = naive.cca_problem(*views, (2, 2), (0.1, 0.3))
    cases.append((problem, es.cca_pencil(*views, shrinkage=(0.1, 0.3)), (2, 2)))
    found = []
    for problem, pencil, k in cases:
        file = folder / "true"
        es.solve(pencil, k, "exact", problem.criterion, proof=file)
        lines = read_proof(file)
        about = lines[0]["pencil"]
        if "factor" in about:  # the oracle judges with the factor of the file
            problem.pencil, problem.slack = about, np.array(about["slack"])
            problem.columns = np.array(about["factor"])
            problem.weights = np.ones(problem.columns.shape[1])
        found.append((problem, lines))
    return found


def test_false_copies_are_rejected(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed, (problem, lines) in enumerate(prove_all(tmp_path)):
        assert find_false(problem, lines) is None
        counts += judge_mutations(problem, lines, tmp_path, 50, seed)
    assert counts.total() >= 500
    assert set(counts) == {change.__name__ for change in CHANGES}
