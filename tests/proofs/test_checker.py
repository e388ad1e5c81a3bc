"""Proofs written out by hand, and those of a naive prover: accepted if true, rejected if not."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import VerificationError
from tests.proofs import naive_prover as naive
from tests.proofs.proof_files import Lines, make_header, write_proof

EMPTY_LEAF = {"leaf": "empty"}
LEVEL_LEAF = {"leaf": "level", "level": {"E": None}}


def dual_leaf(value: float, **other: Any) -> dict[str, Any]:
    return {"leaf": "dual", "dual": {"value": value, "D": None, "rows": [], "V": []} | other}


def check(tmp_path: Path, lines: Lines, **given: Any) -> es.Verdict:
    return es.check_proof(write_proof(tmp_path / "proof.jsonl", lines), **given)


# ---------------------------------------------------------------- written out by hand


def diagonal(values: list[float], k: int, support: list[int], bound: float, **other: Any) -> Lines:
    """The header of a proof about A = diag(values), B = I."""
    kwargs = {"support": support, "objective": max(values), "bound": bound} | other
    return [make_header(len(values), k, "lambda_max", **kwargs)]


def test_one_leaf(tmp_path: Path) -> None:
    lines = [*diagonal([2.0, 3.0], 1, [1], 3.0), LEVEL_LEAF]
    verdict = check(tmp_path, lines, A=np.diag([2.0, 3.0]))
    assert verdict.accepted
    assert verdict.raise_if_rejected() is verdict
    assert (verdict.n_nodes, verdict.n_leaves, verdict.line) == (1, 1, None)
    assert verdict.n_exact == 1  # 3 B - A is singular: equality needs exact numbers
    assert 3.0 - 3e-9 <= verdict.objective <= 3.0
    assert verdict.gap <= 1e-9
    assert verdict.explain().startswith("proved: no set of 1 of the 2 features has a lambda_max")
    for bound, objective in ((2 / 3, 2 / 3), (-1 / 3, -1 / 3), (1e-7 / 3, 0.0), (0.1, 0.1)):
        said = replace(verdict, bound=bound, objective=objective).explain()
        shown = re.search(r"above (\S+); the set given has at least (\S+)$", said)
        assert float(shown[1]) >= bound == pytest.approx(float(shown[1]), rel=1e-9)
        assert float(shown[2]) <= objective == pytest.approx(float(shown[2]), rel=1e-9)


def test_branches_in_preorder(tmp_path: Path) -> None:
    A = np.diag([1.0, 2.0, 3.0, 4.0])
    lines = diagonal([1.0, 2.0, 3.0, 4.0], 2, [0, 3], 4.0)
    # 3 out: the rest is below 3.5; 3 in: 0 out, then 0 in with one more
    tree = [{"branch": 3}, LEVEL_LEAF, {"branch": 0}, LEVEL_LEAF, LEVEL_LEAF]
    assert check(tmp_path, lines + tree, A=A).accepted
    verdict = check(tmp_path, lines + tree[:-1], A=A)
    assert "subtree is missing" in verdict.reason
    verdict = check(tmp_path, [*lines, *tree, LEVEL_LEAF], A=A)
    assert "another record follows" in verdict.reason
    assert verdict.line == 7
    verdict = check(tmp_path, [*lines, {"branch": 3}, {"branch": 3}], A=A)
    assert verdict.reason == "branches on feature 3, which is not free"
    assert verdict.line == 3


def test_an_empty_leaf_must_be_empty(tmp_path: Path) -> None:
    lines = diagonal([1.0, 2.0], 2, [0, 1], 2.0)
    A = np.diag([1.0, 2.0])
    tree = [{"branch": 0}, EMPTY_LEAF, LEVEL_LEAF]
    assert check(tmp_path, lines + tree, A=A).accepted
    verdict = check(tmp_path, [*lines, {"branch": 0}, LEVEL_LEAF, EMPTY_LEAF], A=A)
    assert verdict.reason == "the leaf is said to be empty, and has admissible sets"
    assert verdict.line == 4
    assert verdict.bound is verdict.objective is verdict.gap is None
    with pytest.raises(VerificationError, match="line 4 fails: the leaf is said to be empty"):
        verdict.raise_if_rejected()


FACTOR = {"kind": "matrices", "factor": [[2.0, 0.0], [0.0, 3.0]], "slack": [0.0, 0.0], "least": 0.0}


@pytest.mark.parametrize(("bound", "accepted"), [(9.0, True), (math.nextafter(9.0, 0.0), False)])
def test_a_value_equal_to_the_bound(tmp_path: Path, bound: float, accepted: bool) -> None:
    header = make_header(2, 1, "trace", pencil=FACTOR, support=[1], objective=9.0, bound=bound)
    verdict = check(tmp_path, [header, dual_leaf(bound)], A=np.diag([4.0, 9.0]))
    assert verdict.accepted is accepted
    if accepted:
        assert verdict.n_exact == 2  # the factor is exact, and so is the leaf
    else:
        assert verdict.line == 2
        assert "more than the 8.9999999999999982 claimed, exactly; is this" in verdict.reason


@pytest.mark.parametrize("criterion", ["trace", "lambda_max"])
@pytest.mark.parametrize(("bound", "accepted"), [(4.0, True), (math.nextafter(4.0, 0.0), False)])
def test_equality_from_a_table(
    tmp_path: Path, criterion: str, bound: float, accepted: bool
) -> None:
    """Within-class variance 1, class means 4 apart: the score is exactly 4."""
    X = np.array([[0.0, 1e9], [2.0, 1e9 + 1], [4.0, 1e9], [6.0, 1e9 + 1]])
    recipe = {"kind": "lda", "shrinkage": 1.0, "ridge": 0.0, "members": [0, 2]}
    header = make_header(2, 1, criterion, pencil=recipe, support=[0], objective=4.0, bound=bound)
    leaves = [dual_leaf(bound)] + ([LEVEL_LEAF] if criterion == "lambda_max" else [])
    for leaf in leaves:
        assert check(tmp_path, [header, leaf], X=X, y=list("aabb")).accepted is accepted


@pytest.mark.parametrize("ulps", [-1, 1])
def test_a_logarithm_is_decided_to_the_last_digit(tmp_path: Path, ulps: int) -> None:
    """A = 3 = (1, 1, 1)(1, 1, 1)', so the score is log 4, and Q = I - J/2 is its exact tangent."""
    pencil = {"kind": "matrices", "factor": [[1.0, 1.0, 1.0]], "slack": [0.0], "least": 0.0}
    Q = (np.eye(3) - 0.5).tolist()
    below = 1.3862943611198906  # log 4 = 1.38629436111989061883...
    bound = below if ulps < 0 else math.nextafter(below, 2.0)
    header = make_header(1, 1, "logdet", pencil=pencil, support=[0], objective=below, bound=bound)
    verdict = check(tmp_path, [header, dual_leaf(bound, Q=Q)], A=np.array([[3.0]]))
    assert verdict.accepted is (ulps > 0)


def test_fixing_out_and_in(tmp_path: Path) -> None:
    pencil = {
        "kind": "matrices",
        "factor": np.diag([1.0, 2.0, 3.0]).tolist(),
        "slack": [0.0] * 3,
        "least": 0.0,
    }
    A = np.diag([1.0, 4.0, 9.0])
    header = make_header(
        3, 2, "trace", pencil=pencil, support=[1, 2], objective=13.0, bound=13.0
    )  # fmt: skip
    witness = dual_leaf(99.0)["dual"]
    for fix in ({"out": [0]}, {"keep": [1, 2]}, {"keep": [1, 2], "in": [2]}, {"in": [1, 2]}):
        tree = [{"fix": fix, "dual": witness}, dual_leaf(13.0)]
        assert check(tmp_path, [header, *tree], A=A).accepted, fix
    low = header | {"bound": 12.0, "objective": 12.0}  # which {1, 2} exceeds, and {0, 2} does not
    for fix in ({"out": [1]}, {"keep": [0, 1]}, {"out": [0, 2]}, {"in": [0]}):
        verdict = check(tmp_path, [low, {"fix": fix, "dual": witness}, EMPTY_LEAF], A=A)
        assert verdict.line == 2
        assert verdict.reason.startswith("the witness gives 13, above the 12 that is claimed")
    tree = [{"fix": {"out": [0], "in": [1]}, "dual": witness}, dual_leaf(12.0)]
    assert check(tmp_path, [low, *tree], A=A).line == 3


@pytest.mark.parametrize(
    ("fix", "said"),
    [
        ({}, "neither or both"),
        ({"out": [0], "keep": [1]}, "neither or both"),
        ({"out": [0], "in": [0]}, "both out and in"),
        ({"keep": [1, 2], "in": [0]}, "both out and in"),
        ({"out": [0, 0]}, "an index twice"),
        ({"out": [3]}, "from 0 to 2"),
        ({"out": 1}, "not a list"),
        ({"away": [1]}, "unknown key"),
        ([], "not an object"),
    ],
)
def test_a_fix_that_is_malformed(tmp_path: Path, fix: Any, said: str) -> None:
    lines = [
        *diagonal([1.0, 2.0, 3.0], 1, [2], 9.0, status="feasible"),
        {"fix": fix, "level": {"E": None}},
        LEVEL_LEAF,
    ]
    verdict = check(tmp_path, lines, A=np.diag([1.0, 2.0, 3.0]))
    assert said in verdict.reason
    assert verdict.line == 2


def test_rows_outside_the_set_need_the_remainder_there_too(tmp_path: Path) -> None:
    """With k = 1 and D = diag(B), B - D is PSD on each single feature, but not on both.

    A row of V at the other feature would then show any bound.
    """
    B = np.array([[1.0, 0.5], [0.5, 1.0]])
    pencil = {"kind": "matrices", "factor": [[0.0], [1.0]], "slack": [0.0, 0.0], "least": 0.0}
    A = np.diag([0.0, 1.0])
    header = make_header(2, 1, "trace", pencil=pencil, support=[0], objective=0.0, bound=0.5,
                         status="feasible")  # fmt: skip
    lie = dual_leaf(0.5, D=[1.0, 1.0], rows=[0], V=[[2.0]])
    verdict = check(tmp_path, [header, lie], A=A, B=B)
    assert verdict.reason.startswith("B - diag(D) is not positive semidefinite")
    honest = dual_leaf(1.0, D=[1.0, 1.0])  # no rows: each feature alone is enough
    assert check(tmp_path, [header | {"bound": 1.0}, honest], A=A, B=B).accepted


# ---------------------------------------------------------------- level witnesses with E


def spike_lines(a: np.ndarray, k: int, bound: float, unit: np.ndarray, **other: Any) -> Lines:
    """The header for A = aa', whose sets score the sum of their a_i^2, in some units."""
    best = np.argsort(-(a**2))[:k].tolist()
    claim = {"support": sorted(best), "objective": float((a[best] ** 2).sum()), "bound": bound}
    return [make_header(len(a), k, "lambda_max", **claim | {"gap_tol": 0.1} | other)]


UNITS = {"one": np.ones(4), "mixed": np.array([1e-120, 1.0, 1e8, 0.3])}


@pytest.mark.parametrize("name", UNITS)
def test_a_level_that_holds_for_small_sets_only(tmp_path: Path, name: str) -> None:
    """bound B - aa' is not PSD on all features; E = bound diag(B) gives Y = aa'."""
    unit, a = UNITS[name], np.ones(4)
    A, B = np.outer(a * unit, a * unit), np.diag(unit**2)
    A = (A + A.T) / 2
    for k, bound in ((1, 1.01), (2, 2.01), (3, 3.01)):
        E = (bound * unit**2).tolist()
        leaf = {"leaf": "level", "level": {"E": E}}
        header = spike_lines(a, k, bound, unit)
        verdict = check(tmp_path, [*header, leaf], A=A, B=B)
        assert verdict.accepted, verdict.explain()
        assert verdict.n_nodes == 1
        # with a feature inside, E is about the free ones only
        inside = {"leaf": "level", "level": {"E": E[1:]}}
        tree = [{"branch": 0}, inside, inside]
        assert check(tmp_path, header + tree, A=A, B=B).accepted
        # without E the whole node is judged, or its sets one by one where they are single features
        assert check(tmp_path, [*header, LEVEL_LEAF], A=A, B=B).accepted is (k == 1)
        low = header[0] | {"bound": k - 0.01, "objective": k - 0.01}
        verdict = check(tmp_path, [low, leaf], A=A, B=B)
        assert verdict.reason.startswith("E does not show that no set of the node beats the bound")


def test_fixing_by_a_level(tmp_path: Path) -> None:
    a = np.array([1.0, 1.0, 1.0, 0.1])
    A = np.outer(a, a)
    (header,) = spike_lines(a, 2, 2.001, np.ones(4))
    low = header | {"bound": 1.5, "objective": 1.5}  # {3, i} scores 1.01, the others 2
    witness = {"E": [1.5] * 4}
    leaf = {"leaf": "level", "level": {"E": [2.001] * 3}}
    good = {"fix": {"out": [3]}, "level": {"E": [2.001] * 4}}
    assert check(tmp_path, [header, good, leaf], A=A).accepted
    assert check(tmp_path, [low, {"fix": {"out": [3]}, "level": witness}, leaf], A=A).line == 3
    for fix in ({"out": [0]}, {"in": [3]}, {"keep": [0, 1]}):
        assert check(tmp_path, [low, {"fix": fix, "level": witness}, leaf], A=A).line == 2


# ---------------------------------------------------------------- a naive prover


def table(n: int = 24, p: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    y = np.arange(n) % 3
    X[:, 0] += y
    X[:, 2] -= 2 * (y == 1)
    X[:, 4] = 7.0
    return X, y


def matrices(p: int = 5) -> tuple[np.ndarray, np.ndarray]:
    G, H = np.random.default_rng(1).normal(size=(2, p, 2 * p))
    A, B = G @ G.T, H @ H.T
    return (A + A.T) / 2, (B + B.T) / 2


def problems() -> dict[str, naive.Problem]:
    X, y = table()
    A, B = matrices()
    blocks = np.array([0, 1, 0, 1, 1])
    found = {}
    for criterion in ("lambda_max", "trace", "logdet"):
        found[f"lda {criterion}"] = naive.lda_problem(X, y, 3, criterion, shrinkage=0.2)
        found[f"lda {criterion} ridge, limits"] = naive.lda_problem(
            1e6 + X, y, 3, criterion, shrinkage=0.0, ridge=0.5, include=(1,), exclude=(0, 4)
        )
        found[f"pca {criterion}"] = naive.pca_problem(X[:9], 2, criterion)
        found[f"matrices {criterion}"] = naive.matrix_problem(A, B, 2, criterion)
        found[f"identity {criterion}"] = naive.matrix_problem(A, None, 2, criterion)
        found[f"blocks {criterion}"] = naive.matrix_problem(A, B, [1, 2], criterion, blocks=blocks)
    indefinite = A - 2.0 * np.diag(A.diagonal())
    found["indefinite"] = naive.matrix_problem(indefinite, B, 2, "lambda_max")
    found["negative"] = naive.matrix_problem(-A, B, 2, "lambda_max")
    spike = np.outer(*2 * [np.array([1.0, 0.9, 0.8, 0.5, 0.3])]) + 0.01 * np.eye(5)
    unit = np.array([1e-6, 1.0, 1e8, 3.0, 0.5])
    found["spike"] = naive.matrix_problem(spike, None, 2, "lambda_max")
    found["spike in other units"] = naive.matrix_problem(
        spike * np.outer(unit, unit), np.diag(unit**2), 2, "lambda_max"
    )
    found["cca"] = naive.cca_problem(X[:, :3], X[:, 3:] + X[:, :3], (1, 2), (0.1, 0.3))
    level = naive.pca_problem(X, 3)
    level.columns = None  # level witnesses only
    found["pca by level"] = level
    return found


PROBLEMS = problems()


@pytest.mark.parametrize("name", PROBLEMS)
def test_true_proofs_are_accepted(tmp_path: Path, name: str) -> None:
    problem = PROBLEMS[name]
    lines = naive.prove(problem)
    verdict = check(tmp_path, lines, **problem.given)
    assert verdict.accepted, verdict.explain()
    assert verdict.n_nodes == len(lines) - 1
    best, support = problem.best()
    assert verdict.support == support
    assert verdict.objective == pytest.approx(best, rel=1e-8)
    assert verdict.bound >= best


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_not_true_is_rejected(tmp_path: Path, name: str) -> None:
    """The same tree with a bound just below the optimum."""
    problem = PROBLEMS[name]
    header, *tree = naive.prove(problem)
    best = header["objective"]
    for change in ({"bound": best - 1e-7 * abs(best)}, {"objective": best + 1e-7 * abs(best)}):
        assert not check(tmp_path, [header | change, *tree], **problem.given).accepted


def test_optimal_is_a_claim(tmp_path: Path) -> None:
    problem = PROBLEMS["lda trace"]
    header, *tree = naive.prove(problem, room=1e-3)
    verdict = check(tmp_path, [header, *tree], **problem.given)
    assert verdict.reason == 'the status is "optimal", and the gap is above gap_tol'
    for change in ({"status": "time_limit"}, {"gap_tol": 1.01e-3}):
        verdict = check(tmp_path, [header | change, *tree], **problem.given)
        assert verdict.accepted
        assert verdict.gap == pytest.approx(1e-3, rel=1e-3)


def test_another_table(tmp_path: Path) -> None:
    problem = PROBLEMS["lda trace"]
    lines = naive.prove(problem)
    X, y = problem.given["X"], problem.given["y"]
    assert check(tmp_path, lines, X=X, y=y.astype(str)).accepted
    other = X + np.random.default_rng(0).normal(size=X.shape)
    assert "is this the table" in check(tmp_path, lines, X=other, y=y).reason
    assert "is this the table" in check(tmp_path, lines, X=X[:, :4], y=y).reason
    assert "is this the table" in check(tmp_path, lines, X=X, y=y % 2).reason


def test_b_must_be_positive_definite(tmp_path: Path) -> None:
    lines = [*diagonal([1.0, 2.0], 1, [1], 2.0), LEVEL_LEAF]
    A = np.diag([1.0, 2.0])
    for B in (np.diag([1.0, -1.0]), np.ones((2, 2)), np.array([[1.0, 2.0], [2.0, 1.0]])):
        assert "B " in check(tmp_path, lines, A=A, B=B).reason


def test_the_factor_must_be_above_a(tmp_path: Path) -> None:
    header = make_header(2, 1, "trace", pencil=FACTOR, support=[1], objective=9.0, bound=9.0)
    verdict = check(tmp_path, [header, dual_leaf(9.0)], A=np.diag([4.0, math.nextafter(9.0, 10)]))
    assert verdict.reason == "A is not below F F' + diag(slack)"
    assert verdict.line == 1
