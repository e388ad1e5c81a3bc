"""Proofs under limits on sets, and of lists, as they are written; the checker is the judge."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.constraints import Constraints
from eigensieve.pencil.problem import Problem, make_problem
from eigensieve.pencil.solution import Solution, Status
from eigensieve.search.proof.proof import Prover, as_request


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "best.proof"


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def best_of(problem: Problem) -> np.ndarray:
    """By exchanges of one feature; enough here, and if it is not the proof says so."""
    score, support = max(
        (problem.score(S), S)
        for S in combinations(range(0, problem.pencil.size, 8), problem.k)
        if problem.allows(S)
    )
    improved = True
    while improved:
        improved = False
        for slot in range(problem.k):
            for j in np.flatnonzero(problem.may_replace(np.array(support), slot)):
                trial = tuple(sorted({*np.delete(support, slot).tolist(), int(j)}))
                if problem.score(trial) > score * (1 + 1e-12):
                    score, support, improved = problem.score(trial), trial, True
                    break
    return np.array(support)


def prove(problem: Problem, pencil: es.Pencil, support: Any, file: Path, **limit: Any) -> Solution:
    found = problem.solution(support, Budget(), status=Status.FEASIBLE, solver="known")
    return Prover(problem, pencil, as_request(file)).prove(found, Budget(**limit))


GROUPS = {"first": list(range(25)), "last": list(range(40, 60))}
LIMITS = [
    {"groups": GROUPS, "at_most": {"first": 1}},
    {"groups": GROUPS, "at_least": {"last": 2}, "at_most": {"first": 1}},
    {"costs": np.where(np.arange(150) < 30, 3.0, 0.7), "max_cost": 6.0},
]


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("wishes", LIMITS, ids=["at most", "at least", "costs"])
def test_prices_keep_trees_small(file: Path, criterion: str, wishes: dict[str, Any]) -> None:
    """Where many sets that a limit forbids score more than the best one that keeps it."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 150))
    X[:, :40] += 0.8 * y[:, None] * rng.normal(size=40)
    pencil = es.lda_pencil(X, y, shrinkage=0.5)
    problem = make_problem(pencil, 4, criterion, constraints=Constraints(**wishes))
    shown = prove(problem, pencil, best_of(problem), file)
    assert shown.is_certified
    verdict = es.check_proof(file, X, y).raise_if_rejected()
    assert verdict.n_limits == problem.limits.most.size
    assert verdict.n_nodes < 150
    assert any("prices" in line.get("dual", {}) for line in read(file))
    assert es.solve(pencil, 4, "exact", criterion).objective > shown.bound


def test_whole_bands_of_a_spectrum(file: Path) -> None:
    """Of 24 bands three are taken: all choices are compared."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 120)), np.arange(50) % 2
    X[:, 20:40] += 0.8 * y[:, None]
    bands = {f"band {i}": list(range(5 * i, 5 * i + 5)) for i in range(24)}
    pencil = es.lda_pencil(X, y, shrinkage=0.5)
    problem = make_problem(pencil, 15, "trace", constraints=Constraints(groups=bands, whole=True))
    unions = [np.concatenate(three) for three in combinations(bands.values(), 3)]
    support = max(unions, key=problem.score)
    shown = prove(problem, pencil, support, file, time_limit=60)
    assert shown.is_certified
    verdict = es.check_proof(file, X, y).raise_if_rejected()
    assert verdict.problem["limits"][0]["means"] == "feature 0 only with feature 1"
    assert verdict.problem["limits"][0]["says"] == "all or none of 'band 0'"
    assert file.stat().st_size < 300_000


def test_many_columns_of_which_rows_leave_few(file: Path) -> None:
    """With a limit on those that are alike, and a list without one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 600))
    X[:, :8] += 1.5 * rng.normal(size=(50, 1))
    pencil = es.pca_pencil(X)
    found = es.near_optimal(pencil, 4, 0.03, proof=file)
    verdict = es.check_proof(file, X).raise_if_rejected()
    assert found.is_complete
    assert verdict.n_sets == found.n_sets > 1
    limits = Constraints(groups={"alike": list(range(8))}, at_most=3)
    problem = make_problem(pencil, 4, "lambda_max", constraints=limits)
    near = np.array([(*three, j) for three in combinations(range(8), 3) for j in range(8, 600)])
    best = near[np.linalg.eigvalsh(pencil.A[near[:, :, None], near[:, None]])[:, -1].argmax()]
    shown = prove(problem, pencil, best, file)
    assert shown.is_certified
    assert es.check_proof(file, X).raise_if_rejected().n_limits == 1


def test_a_file_without_limits_is_as_before(file: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 2
    es.solve(es.lda_pencil(X, y, shrinkage=0.4), 3, "exact", "logdet", proof=file)
    lines = read(file)
    assert not {"limits", "list"} & set(lines[0])
    assert all(set(line) <= {"branch", "fix", "leaf", "dual", "digest"} for line in lines[1:])


@pytest.mark.parametrize("criterion", ["lambda_max", "trace"])
def test_a_limit_of_time_leaves_a_true_list(file: Path, criterion: str) -> None:
    """The file is about the sets above what it shows; the list claims no more."""
    X = np.random.default_rng(1).normal(size=(60, 14))
    A, B = X.T @ X / 60, np.cov(np.random.default_rng(2).normal(size=(14, 40)))
    pencil = es.Pencil(A, B)
    full = es.near_optimal(pencil, 4, 0.1, criterion=criterion)
    shown = es.near_optimal(pencil, 4, 0.1, criterion=criterion, time_limit=0, proof=file)
    verdict = es.check_proof(file, A=A, B=B).raise_if_rejected()
    assert full.is_complete
    assert not shown.is_complete
    assert shown.bound >= verdict.bound > full.threshold
    problem = make_problem(pencil, 4, criterion)
    listed = set(verdict.sets or ())
    for S in combinations(range(14), 4):
        assert S in listed or problem.score(S) <= verdict.bound


def test_a_capped_list_is_proved_down_to_its_end(file: Path) -> None:
    X = np.random.default_rng(1).normal(size=(60, 14))
    pencil = es.pca_pencil(X)
    full = es.near_optimal(pencil, 4, 0.2)
    shown = es.near_optimal(pencil, 4, 0.2, max_sets=20, proof=file)
    verdict = es.check_proof(file, X).raise_if_rejected()
    assert full.n_sets > 21
    assert not shown.is_complete
    assert verdict.n_sets == 20
    assert verdict.sets == tuple(map(tuple, full.sets[:20].tolist()))
    assert full.scores[20] < verdict.bound < full.scores[19]
    assert 0 < verdict.within < 0.2
    assert verdict.within == pytest.approx(shown.complete_within, abs=1e-8)


def test_a_list_of_an_estimators_pencil_knows_its_names(file: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    pencil = es.lda_pencil(X, y, shrinkage=0.5)
    found = es.near_optimal(pencil, 4, 0.05, proof=file, exclude=[0])
    verdict = es.check_proof(file, X, y).raise_if_rejected()
    assert found.is_complete
    assert verdict.n_sets == found.n_sets > 1
    assert verdict.sets == tuple(map(tuple, found.sets.tolist()))
    assert verdict.within == 0.05
    assert verdict.objective == pytest.approx(found.best.objective, rel=1e-9)
    among = "of all sets of 4 of the 30 features, among those with the fixed features,"
    listed = f"exactly the {found.n_sets} listed have a logdet above"
    assert verdict.explain().startswith(f"proved: {among} {listed} ")
    assert "5 % below the best of them" in verdict.explain()


@pytest.mark.parametrize(("within", "n_sets"), [(0.005, 3), (0.01, 10), (0.02, 141)])
def test_a_table_of_genes(file: Path, load_data: Any, within: float, n_sets: int) -> None:
    """The numbers of sets are those of a prototype in plain NumPy, which enumerated them."""
    X, y, _ = load_data("colon")
    X = np.log2(np.maximum(X, 1.0))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    pencil = es.lda_pencil(X, y, shrinkage=0.7)
    found = es.near_optimal(pencil, 10, within, criterion="trace", proof=file)
    verdict = es.check_proof(file, X, y).raise_if_rejected()
    assert found.is_complete
    assert (verdict.n_sets, verdict.within) == (n_sets, within)
    assert file.stat().st_size < 20_000 * (n_sets + 10)


def test_all_scores_may_be_zero(file: Path) -> None:
    A = np.zeros((5, 5))
    shown = es.near_optimal(es.Pencil(A, np.eye(5)), 2, 0.1, criterion="lambda_max", proof=file)
    verdict = es.check_proof(file, A=A).raise_if_rejected()
    assert (shown.is_complete, verdict.n_sets, verdict.bound) == (False, None, 0.0)


def test_what_cannot_be_proved_is_refused_before_the_search(file: Path, tmp_path: Path) -> None:
    views = es.Pencil(np.eye(4), blocks=[0, 0, 1, 1])
    with pytest.raises(OptionError, match="per block"):
        es.near_optimal(views, (1, 1), criterion="trace", proof=file)
    with pytest.raises(InputError, match="folder must exist"):
        es.near_optimal(es.Pencil(np.eye(4)), 2, proof=tmp_path / "nowhere" / "x.proof")
    assert not file.exists()
