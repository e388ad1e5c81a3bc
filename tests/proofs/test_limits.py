"""Limits on sets: records by one of them, and prices on them, judged as brute force judges them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from tests.proofs import naive_prover as naive
from tests.proofs.oracle import find_false
from tests.proofs.proof_files import make_header, read_proof, write_proof

LEVEL = {"leaf": "level", "level": {"E": None}}
PRICES = [0.1, 0.2, 0.3, 0.6, 1.0, -1.0, 3.0]


def draw_row(rng: np.random.Generator, p: int) -> dict[str, Any]:
    features = rng.permutation(p)[: rng.integers(1, p + 1)].tolist()
    kind = rng.random()
    weights = rng.choice(PRICES, size=len(features)).tolist()
    if kind < 0.5:
        weights = [1.0 if kind < 0.3 else -1.0] * len(features)
    most = (
        float(rng.choice([-2, -1, 0, 1, 2])) if kind < 0.5 else float(rng.choice([0.3, 0.6, 1.2]))
    )
    return {"features": features, "weights": weights, "most": most, "says": "a wish"}


def draw_problem(rng: np.random.Generator) -> naive.Problem | None:
    """Diagonal matrices with one limit that some set keeps."""
    p = int(rng.integers(3, 8))
    limits: dict[str, Any] = {}
    k: int | list[int] = int(rng.integers(1, p))
    if rng.random() < 0.4:
        k, limits["blocks"] = [1, 1], rng.permutation(np.arange(p) % 2)
    if rng.random() < 0.3:
        limits["include"] = (int(rng.integers(p)),)
    A = np.diag(rng.integers(1, 9, size=p).astype(float))
    problem = naive.matrix_problem(A, None, k, "lambda_max", limits=[draw_row(rng, p)], **limits)
    return problem if any(True for _ in problem.allowed()) else None


def test_a_record_holds_exactly_if_it_does_for_all_sets(tmp_path: Path) -> None:
    rng, seen = np.random.default_rng(0), Counter[tuple[str, bool]]()
    for _ in range(1200):
        problem = draw_problem(rng)
        if problem is None:
            continue
        free = [j for j in range(problem.p) if j not in problem.include]
        some = rng.permutation(free)[: rng.integers(1, 3)].tolist()
        kept = list(problem.allowed())
        if rng.random() < 0.5:
            kind, tree = "leaf", [{"branch": some[0]}, LEVEL, {"leaf": "limit", "limit": 0}]
            holds = not any(some[0] in S for S in kept)
        else:
            n_in = int(rng.integers(len(some) + 1))
            fix = {"in": some[:n_in], "out": some[n_in:]}
            kind, tree = "fix", [{"fix": fix, "limit": 0}, LEVEL]
            holds = all(set(fix["in"]) <= set(S) and not set(fix["out"]) & set(S) for S in kept)
        header = make_header(
            problem.p, problem.k, "lambda_max", include=list(problem.include),
            support=list(kept[0]), objective=problem.score(kept[0]), bound=10.0, status="feasible",
        )  # fmt: skip
        lines = [header | {"limits": problem.limits}, *tree]
        verdict = es.check_proof(write_proof(tmp_path / "p", lines), **problem.given)
        assert verdict.accepted == holds, verdict.explain()
        seen[kind, holds] += 1
    assert len(seen) == 4
    assert min(seen.values()) >= 25, seen


def test_sums_are_exact(tmp_path: Path) -> None:
    """As doubles .1 and .2 are together more than .3, though their rounded sum may not be."""
    assert Fraction(0.1) + Fraction(0.2) > Fraction(0.3)
    header = make_header(3, 2, "trace", support=[0, 2], objective=2.0, bound=2.0)
    header["criterion"] = "lambda_max"
    header |= {"objective": 1.0, "bound": 1.0}
    for most, accepted in ((0.3, False), (np.nextafter(0.3, 1.0), True)):
        row = {"features": [0, 2], "weights": [0.1, 0.2], "most": float(most), "says": "dear"}
        lines = [header | {"limits": [row]}, LEVEL]
        verdict = es.check_proof(write_proof(tmp_path / "p", lines), A=np.eye(3))
        assert verdict.accepted is accepted
        if not accepted:
            assert "the support does not keep a limit" in verdict.reason


# ---------------------------------------------------------------- prices


def draw_priced(rng: np.random.Generator) -> tuple[naive.Problem, dict[str, Any]]:
    """A problem, and its whole root as one charged witness (its value is still to be set)."""
    p, criterion = int(rng.integers(4, 8)), str(rng.choice(["trace", "logdet"]))
    X, y = rng.normal(size=(20, p)), np.arange(20) % 3
    X[:, 0] += y
    problem = naive.lda_problem(X, y, 2, criterion, shrinkage=0.5)
    rows = [{"features": [0, 1, 2], "weights": [1.0, 1.0, 1.0], "most": 1.0, "says": "one"}]
    rows.append({"features": [3, 1], "weights": [0.3, -0.7], "most": 0.1, "says": "two"})
    problem = replace(problem, limits=rows)
    witness, _, _ = naive._dual_sum(problem, [], list(range(p)), problem.k)
    prices = rng.uniform(0, 0.5, size=2) * rng.choice([0, 1, 1], size=2)
    return problem, witness | {"prices": [[c, float(m)] for c, m in enumerate(prices)]}


def test_prices_bound_the_sets_that_keep_the_limits(tmp_path: Path) -> None:
    """Accepted exactly where the charged sums are below the value; then no allowed set is above."""
    rng, seen = np.random.default_rng(1), Counter[bool]()
    lowest = 0
    for _ in range(150):
        problem, witness = draw_priced(rng)
        best, support = problem.best()
        value = charged_value(problem, witness)
        for share in (1e-9, -1e-9):
            bound = value + share * abs(value)
            leaf = {"leaf": "dual", "dual": witness | {"value": bound}}
            header = make_header(
                problem.p, 2, problem.criterion, pencil=problem.pencil, support=list(support),
                objective=best, bound=bound, status="feasible",
            )  # fmt: skip
            lines = [header | {"limits": problem.limits}, leaf]
            verdict = es.check_proof(write_proof(tmp_path / "p", lines), **problem.given)
            assert verdict.accepted is (share > 0), verdict.explain()
            assert (find_false(problem, read_proof(tmp_path / "p")) is None) or share < 0
            seen[verdict.accepted] += 1
        assert value >= best
        lowest += value < max(map(problem.score, problem.sets()))
    assert lowest >= 10  # below sets that the limits forbid


def charged_value(problem: naive.Problem, witness: dict[str, Any]) -> float:
    """The largest charged sum, from the definitions."""
    _, offset, g = naive._dual_sum(problem, [], list(range(problem.p)), problem.k)
    for c, price in witness["prices"]:
        row = problem.limits[c]
        offset += price * row["most"]
        for j, weight in zip(row["features"], row["weights"]):
            g[j] -= price * weight
    return offset + sum(sorted(g.values())[-2:])


# ---------------------------------------------------------------- what is not as it must be


GOOD = {"features": [0], "weights": [1.0], "most": 1.0, "says": "at most 1 of 'a'"}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (None, "limits is not a list"),
        ([[]], "a limit is not an object"),
        ([GOOD | {"note": 1}], "unknown key 'note'"),
        ([GOOD | {"features": [0, 0], "weights": [1.0, 1.0]}], "an index twice"),
        ([GOOD | {"features": [2]}], "from 0 to 1"),
        ([GOOD | {"weights": []}], "not a list of 1 numbers"),
        ([GOOD | {"most": "x"}], "is not a number"),
        ([GOOD | {"says": 1}], "is not a text"),
        ([GOOD | {"says": "x" * 2000}], "is not a text"),
        (
            [GOOD | {"most": 0.0, "features": [1]}],
            "the support does not keep a limit (at most 0 of",
        ),
    ],
)
def test_limits_must_be_well_made(tmp_path: Path, limits: Any, said: str) -> None:
    header = make_header(2, 1, "lambda_max", support=[1], objective=3.0, bound=3.1)
    header["status"] = "feasible"
    A = np.diag([2.0, 3.0])
    good = write_proof(tmp_path / "p", [header | {"limits": [GOOD]}, LEVEL])
    assert es.check_proof(good, A=A).accepted
    verdict = es.check_proof(write_proof(tmp_path / "p", [header | {"limits": limits}, LEVEL]), A=A)
    assert not verdict.accepted
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"leaf": "limit"}, "no 'limit'"),
        ({"leaf": "limit", "limit": 1}, "from 0 to 0"),
        (
            {"leaf": "limit", "limit": 0},
            "there is a set that keeps the limit (at most 1 of feature 0)",
        ),
        ({"leaf": "limit", "limit": 0, "level": {}}, "unknown key 'level'"),
        ({"fix": {"out": [0]}, "limit": True}, "from 0 to 0"),
        ({"fix": {"out": [0]}, "limit": 0}, "there is a set that keeps the limit"),
        ({"leaf": "listed", "set": 0}, "the header has no list"),
    ],
)
def test_records_of_limits_must_be_well_made(tmp_path: Path, record: Any, said: str) -> None:
    header = make_header(2, 1, "lambda_max", support=[1], objective=3.0, bound=3.1)
    header |= {"status": "feasible", "limits": [GOOD]}
    verdict = es.check_proof(write_proof(tmp_path / "p", [header, record]), A=np.diag([2.0, 3.0]))
    assert verdict.line == 2
    assert said in verdict.reason


def test_without_limits_there_is_no_record_of_one(tmp_path: Path) -> None:
    header = make_header(1, 1, "lambda_max", support=[0], objective=1.0, bound=2.0)
    lines = [header | {"status": "feasible"}, {"leaf": "limit", "limit": 0}]
    verdict = es.check_proof(write_proof(tmp_path / "p", lines), A=np.eye(1))
    assert "the header has none" in verdict.reason


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({}, "not a list of pairs"),
        ([[0]], "not a list of pairs"),
        ([[0, -1.0]], "a negative entry"),
        ([[1, 1.0]], "from 0 to 0"),
        ([[0, 1.0], [0, 1.0]], "at most 1 indices"),
        ([[0, "x"]], "is not a number"),
    ],
)
def test_prices_must_be_well_made(tmp_path: Path, prices: Any, said: str) -> None:
    pencil = {"kind": "matrices", "factor": [[1.0], [0.0]], "slack": [0.0, 0.0], "least": 0.0}
    header = make_header(
        2, 1, "trace", pencil=pencil, support=[0], objective=1.0, bound=2.0, status="feasible"
    )
    dual = {"value": 2.0, "D": [1.0, 1.0], "rows": [], "V": []}
    A = np.diag([1.0, 0.0])
    for given, reason in (([[0, 0.5]], None), (prices, said)):
        leaf = {"leaf": "dual", "dual": dual | {"prices": given}}
        lines = [header | {"limits": [GOOD]}, leaf]
        verdict = es.check_proof(write_proof(tmp_path / "p", lines), A=A)
        assert verdict.accepted is (reason is None)
        assert reason is None or reason in verdict.reason


@pytest.mark.parametrize(
    ("row", "means"),
    [
        (GOOD, "at most 1 of g0"),
        (GOOD | {"weights": [-1.0], "most": -2.0}, "at least 2 of g0"),
        (
            {"features": [1, 0], "weights": [1.0, -1.0], "most": 0.0, "says": "all or none"},
            "g1 only with g0",
        ),
        (
            {"features": [0, 1], "weights": [-1.0, 1.0], "most": 0.0, "says": "all or none"},
            "g1 only with g0",
        ),
        (
            {"features": [0, 1], "weights": [0.5, 2.0], "most": 2.5, "says": "cheap"},
            "weights of g0, g1 that sum to at most 2.5",
        ),
    ],
)
def test_what_a_limit_means_is_told_from_its_numbers(
    tmp_path: Path, row: dict[str, Any], means: str
) -> None:
    header = make_header(2, 2, "lambda_max", support=[0, 1], objective=3.0, bound=3.1)
    header |= {"status": "feasible", "limits": [row]}
    A = np.diag([2.0, 3.0])
    verdict = es.check_proof(write_proof(tmp_path / "p", [header, LEVEL]), A=A, names=["g0", "g1"])
    assert verdict.problem["limits"] == [row | {"means": means}]
    assert not verdict.accepted or "among those within the limits" in verdict.explain()
