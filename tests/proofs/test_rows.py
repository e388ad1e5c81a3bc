"""Rows witnesses: accepted exactly where brute force over all sets says that they hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from tests.proofs import naive_prover as naive
from tests.proofs import oracle
from tests.proofs.mutations import ROW_CHANGES
from tests.proofs.proof_files import Lines, make_header, read_proof, write_proof
from tests.proofs.test_mutations import judge_mutations

# What rounding may decide: sums this close to their limit are not judged.
CLOSE = 1e-9


def prove_all(folder: Path) -> list[tuple[naive.Problem, Lines]]:
    """Problems of every kind with the proofs of the real prover."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 12))
    A = rng.normal(size=(10, 10))
    A, B, blocks = A + A.T, np.cov(rng.normal(size=(10, 30))), np.arange(10) % 2
    views = X[:, :6], X[:, 6:]
    cases: list[tuple[naive.Problem, es.Pencil, Any, dict[str, Any]]] = [
        (naive.pca_problem(X, 4), es.pca_pencil(X), 4, {}),
        (naive.pca_problem(X, 3, include=(2,), exclude=(0,)), es.pca_pencil(X), 3,
         {"include": [2], "exclude": [0]}),
        (naive.cca_problem(*views, (2, 2), (0.3, 0.3)), es.cca_pencil(*views, shrinkage=0.3),
         (2, 2), {}),
        (naive.matrix_problem(A, None, 4, "lambda_max"), es.Pencil(A), 4, {}),
        (naive.matrix_problem(A, B, 3, "lambda_max"), es.Pencil(A, B), 3, {}),
        (naive.matrix_problem(A, B, [2, 1], "lambda_max", blocks=blocks),
         es.Pencil(A, B, blocks=blocks), (2, 1), {}),
    ]  # fmt: skip
    W = np.random.default_rng(8).normal(size=(40, 11))
    W[:, :5] += np.random.default_rng(9).normal(size=(40, 1))
    cases.append((naive.pca_problem(W, 4), es.pca_pencil(W), 4, {}))
    found, file = [], folder / "true"
    for problem, pencil, k, limits in cases:
        assert es.solve(pencil, k, "exact", "lambda_max", proof=file, **limits).is_certified
        es.check_proof(file, **problem.given).raise_if_rejected()
        found.append((problem, read_proof(file)))
    return found


def test_false_copies_are_rejected(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    kinds: Counter[tuple[str, bool]] = Counter()
    for seed, (problem, lines) in enumerate(prove_all(tmp_path)):
        assert oracle.find_false(problem, lines) is None
        for line in lines:
            if "rows" in line:
                kinds["fix" if "fix" in line else "leaf", line["rows"]["Q"] is None] += 1
        counts += judge_mutations(problem, lines, tmp_path, 100, seed, ROW_CHANGES)
    assert {("fix", True), ("leaf", True), ("fix", False)} <= set(kinds)
    assert counts.total() >= 700
    assert set(counts) == {change.__name__ for change in ROW_CHANGES}


# ---------------------------------------------------------------- random witnesses


def draw_problem(rng: np.random.Generator) -> naive.Problem:
    p = int(rng.integers(4, 8))
    A = rng.normal(size=(p, p))
    A = A + A.T
    B = None if rng.random() < 0.3 else np.eye(p) + 0.3 * np.cov(rng.normal(size=(p, 3 * p)))
    limits: dict[str, Any] = {}
    if rng.random() < 0.5:
        limits["include"] = (int(rng.integers(p)),)
    k: int | list[int] = int(rng.integers(2, 4))
    if rng.random() < 0.4:
        k, limits["blocks"] = [2, 1], rng.permutation(np.arange(p) % 2)
    return naive.matrix_problem(A, B, k, "lambda_max", **limits)


def draw_witness(rng: np.random.Generator, M: np.ndarray) -> dict[str, Any]:
    n = len(M)
    weights = np.exp(0.3 * rng.normal(size=n))
    if rng.random() < 0.6:
        return {"weights": weights.tolist(), "Q": None}
    scales = np.exp(0.5 * rng.normal(size=n))
    G = rng.normal(size=(n, 2)) * 0.3
    Q = M - G @ G.T - rng.choice([1e-3, -1e-3]) * np.eye(n)
    upper = (Q / np.outer(scales, scales))[np.triu_indices(n)]
    return {"weights": weights.tolist(), "Q": {"scales": scales.tolist(), "upper": upper.tolist()}}


def is_valid(
    problem: naive.Problem, bound: float, witness: dict[str, Any], fix: dict[str, Any] | None
) -> bool | None:
    """By brute force; None if it is too close to tell."""
    inside = sorted(problem.include)
    free = sorted(set(range(problem.p)) - set(inside))
    open_ = oracle.open_features(problem, inside, free)
    M = oracle.what_is_left(problem, bound, inside, open_)
    if witness["Q"] is not None:
        Q = oracle.matrix_of(witness["Q"])
        least = np.linalg.eigvalsh(M - Q)[0]
        if abs(least) < 1e-6:
            return None
        if least < 0:
            return False
        s = np.array(witness["Q"]["scales"])
        M = Q / np.outer(s, s)
    worst = -1.0
    for S in problem.sets():
        if fix is not None and not set(fix["out"]) & set(S) and set(fix["in"]) <= set(S):
            continue
        T = [open_.index(j) for j in S if j not in inside]
        worst = max(worst, oracle.row_excess(M, np.array(witness["weights"]), T))
    return None if abs(worst) < CLOSE else worst < 0


def test_exactly_the_valid_ones_are_accepted(tmp_path: Path) -> None:
    """Leaves, and fixes of features drawn at random, by rows of M and of Q."""
    rng = np.random.default_rng(0)
    seen: Counter[tuple[str, bool, bool]] = Counter()
    for _ in range(1500):
        problem = draw_problem(rng)
        best, support = problem.best()
        bound = best + abs(best) * 10.0 ** rng.uniform(-2, 1)
        inside = sorted(problem.include)
        free = [j for j in range(problem.p) if j not in inside]
        open_ = oracle.open_features(problem, inside, free)
        witness = draw_witness(rng, oracle.what_is_left(problem, bound, inside, open_))
        fix = None
        record: dict[str, Any] = {"leaf": "rows", "rows": witness}
        if rng.random() < 0.6:
            some = rng.permutation(open_)[: rng.integers(1, 4)].tolist()
            n_in = int(rng.random() < 0.3)
            fix = {"in": some[:n_in], "out": some[n_in:]}
            record = {"fix": fix, "rows": witness}
        valid = is_valid(problem, bound, witness, fix)
        if valid is None:
            continue
        header = make_header(
            problem.p, problem.k, "lambda_max", include=inside, support=list(support),
            objective=best, bound=bound, status="feasible",
        )  # fmt: skip
        lines = [header, record] + ([] if fix is None else [{"leaf": "empty"}])
        verdict = es.check_proof(write_proof(tmp_path / "p", lines), **problem.given)
        accepted = verdict.accepted or verdict.line != 2  # a fix that holds leaves a tree to close
        assert accepted == valid, verdict.explain()
        seen["leaf" if fix is None else "fix", witness["Q"] is None, valid] += 1
    assert len(seen) == 8
    assert min(seen.values()) >= 10, seen


# ---------------------------------------------------------------- what is not as it must be


@pytest.mark.parametrize(
    ("witness", "reason"),
    [
        ({"weights": [1.0, 1.0]}, "has no 'Q'"),
        ({"weights": [1.0], "Q": None}, "not a list of 2"),
        ({"weights": [1.0, 0.0], "Q": None}, "not positive"),
        ({"weights": [1.0, 1.0], "Q": {"scales": [1.0, 1.0]}}, "has no 'upper'"),
        ({"weights": [1.0, 1.0], "Q": {"scales": [1.0, -1.0], "upper": [1, 0, 1]}}, "not positive"),
        ({"weights": [1.0, 1.0], "Q": {"scales": [1.0, 1.0], "upper": [1, 0]}}, "list of 3"),
        ({"weights": [1.0, 1.0], "Q": {"scales": [1.0, 1.0], "upper": [9, 0, 9]}}, "be below"),
        ({"weights": [1.0, 1e308], "Q": None}, "the row of feature"),
    ],
)
def test_a_witness_must_be_well_made(tmp_path: Path, witness: Any, reason: str) -> None:
    A = np.array([[1.0, 1.0], [1.0, 2.0]])
    header = make_header(
        2, 2, "lambda_max", support=[0, 1], objective=2.0, bound=3.0, status="feasible"
    )
    good = {"weights": [1.0, 1.3], "Q": None}
    lines = [header, {"leaf": "rows", "rows": good}]
    assert es.check_proof(write_proof(tmp_path / "p", lines), A=A).accepted
    lines[1] = {"leaf": "rows", "rows": witness}
    verdict = es.check_proof(write_proof(tmp_path / "p", lines), A=A)
    assert not verdict.accepted
    assert reason in verdict.reason


def test_rows_are_for_the_largest_eigenvalue(tmp_path: Path) -> None:
    factor = {"kind": "matrices", "factor": [[1.0]], "slack": [0.0], "least": 0.0}
    header = make_header(1, 1, "trace", pencil=factor, support=[0], objective=1.0, bound=2.0)
    leaf = {"leaf": "rows", "rows": {"weights": [1.0], "Q": None}}
    lines = [header | {"status": "feasible"}, leaf]
    verdict = es.check_proof(write_proof(tmp_path / "p", lines), A=np.eye(1))
    assert verdict.reason == "a rows witness is for lambda_max only"
