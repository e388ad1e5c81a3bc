"""Proofs of lists and of limits: accepted if true; every false copy is rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.constraints import Constraints
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.near_optimal.proved import prove_list
from eigensieve.search.near_optimal.sets import TIE, NearOptimalSets
from eigensieve.search.proof.proof import ProofRequest, Prover
from tests.proofs import naive_prover as naive
from tests.proofs.list_mutations import ALL_CHANGES, LIMIT_CHANGES, LIST_CHANGES
from tests.proofs.oracle import find_false
from tests.proofs.proof_files import Lines, read_proof
from tests.proofs.test_mutations import judge_mutations


class Asked(NamedTuple):
    """A problem for brute force, its pencil, and the wishes in the words of a user."""

    problem: naive.Problem
    pencil: es.Pencil
    k: Any
    within: float
    wishes: dict[str, Any]


def true_list(asked: Asked) -> NearOptimalSets:
    """By brute force."""
    problem = with_limits(asked)
    every = sorted((-problem.score(S), S) for S in problem.allowed())
    best = make(asked).solution(
        np.array(every[0][1]), Budget(), status=Status.OPTIMAL, solver="brute", bound=-every[0][0]
    )
    unit = max(abs(best.objective), best.scale)
    threshold = best.objective - asked.within * abs(best.objective)
    kept = [(-score, S) for score, S in every if -score >= threshold - TIE * unit]
    return NearOptimalSets(
        sets=np.array([S for _, S in kept]), scores=np.array([score for score, _ in kept]),
        best=best, within=asked.within, threshold=threshold, level=threshold, bound=threshold,
        is_complete=True, status=Status.OPTIMAL, never=np.arange(0), core=np.arange(0),
    )  # fmt: skip


def make(asked: Asked) -> Any:
    wishes = dict(asked.wishes)
    plain = {name: wishes.pop(name) for name in ("include", "exclude") if name in wishes}
    constraints = Constraints(**wishes) if wishes else None
    return make_problem(
        asked.pencil, asked.k, asked.problem.criterion, constraints=constraints, **plain
    )


def with_limits(asked: Asked) -> naive.Problem:
    """The problem with the rows written out here, from what the user says."""
    wishes, rows, p = asked.wishes, [], asked.problem.p
    for name, members in wishes.get("groups", {}).items():
        for sign, which in ((1.0, "at_most"), (-1.0, "at_least")):
            number = wishes.get(which, {}).get(name)
            if number is not None:
                rows.append(row(members, [sign] * len(members), sign * number))
        if name in wishes.get("whole", []):
            for one, other in zip(members, [*members[1:], members[0]]):
                rows.append(row([one, other], [1.0, -1.0], 0.0))
    if "costs" in wishes:
        rows.append(row(list(range(p)), list(wishes["costs"]), wishes["max_cost"] * (1 + 1e-9)))
    about = {name: tuple(wishes.get(name, ())) for name in ("include", "exclude")}
    return replace(asked.problem, limits=rows, **about)


def row(features: list[int], weights: list[float], most: float) -> dict[str, Any]:
    return {"features": features, "weights": weights, "most": most}


def write(asked: Asked, found: NearOptimalSets, file: Path) -> tuple[NearOptimalSets, es.Verdict]:
    """The real prover's file, and what the checker says of it."""
    prover = Prover(make(asked), asked.pencil, ProofRequest(file))
    shown = prove_list(prover, found, Budget())
    return shown, es.check_proof(file, **asked.problem.given)


def of_header(asked: Asked, lines: Lines) -> naive.Problem:
    """The problem for the oracle, with the factor and the limits of the file."""
    problem = with_limits(asked)
    pencil = lines[0]["pencil"]
    if "factor" in pencil:
        factor, slack = np.array(pencil["factor"]), np.array(pencil["slack"])
        weights = np.ones(factor.shape[1])
        problem = replace(problem, columns=factor, weights=weights, slack=slack, pencil=pencil)
    return replace(problem, limits=lines[0].get("limits", []))


def draw_wishes(rng: np.random.Generator, p: int) -> dict[str, Any]:
    """Groups with limits, costs, features in and out, each now and then."""
    wishes: dict[str, Any] = {}
    if rng.random() < 0.6:
        order = rng.permutation(p).tolist()
        wishes["groups"] = {"a": order[: p // 2], "b": order[p // 3 :], "c": order[-2:]}
        wishes["at_most"] = {"b": int(rng.integers(1, 3))}
        if rng.random() < 0.5:
            wishes["at_least"] = {"a": 1}
        if rng.random() < 0.4:
            wishes["whole"] = ["c"]
    if rng.random() < 0.3:
        wishes["costs"] = rng.choice([0.1, 0.2, 0.3, 0.7], size=p).tolist()
        wishes["max_cost"] = 1.3
    if rng.random() < 0.2:
        wishes["include"] = [int(rng.integers(p))]
    return wishes


def draw(seed: int) -> Asked:
    """Any kind of pencil, with copies of columns and ties."""
    rng = np.random.default_rng(seed)
    p, k = int(rng.integers(5, 11)), int(rng.integers(1, 5))
    kind = ("lda", "lda", "pca", "cca", "matrices", "indefinite")[seed % 6]
    criterion = str(rng.choice(["lambda_max", "trace", "logdet"]))
    y, X = np.arange(24) % int(rng.integers(2, 4)), rng.normal(size=(24, p))
    X[:, 0] += y
    if rng.random() < 0.5:
        X[:, -1] = X[:, 0]
    within, wishes = float(rng.choice([0.0, 0.01, 0.1, 0.3])), draw_wishes(rng, p)
    if kind == "lda":
        problem = naive.lda_problem(X, y, k, criterion, shrinkage=0.3)
        return Asked(problem, es.lda_pencil(X, y, shrinkage=0.3), k, within, wishes)
    if kind == "pca":
        return Asked(naive.pca_problem(X, k), es.pca_pencil(X), k, within, wishes)
    if kind == "cca":
        views = X[:, : p // 2], X[:, p // 2 :]
        problem = naive.cca_problem(*views, (1, 2), (0.3, 0.3))
        return Asked(problem, es.cca_pencil(*views, shrinkage=0.3), (1, 2), within, wishes)
    if kind == "matrices":
        A, B = X.T @ X / 24, np.cov(rng.normal(size=(p, 2 * p))) + 0.2 * np.eye(p)
        return Asked(naive.matrix_problem(A, B, k, criterion), es.Pencil(A, B), k, within, wishes)
    A = rng.integers(-2, 3, size=(p, p)).astype(float)
    A = A + A.T
    return Asked(naive.matrix_problem(A, None, k, "lambda_max"), es.Pencil(A), k, within, wishes)


def draw_priced(seed: int, criterion: str) -> Asked:
    """The best features are of one group, of which a set may have two: that has its price."""
    rng = np.random.default_rng(seed)
    y, X = np.arange(36) % 3, rng.normal(size=(36, 12))
    X[:, :6] += y[:, None] * rng.normal(size=6)
    problem = naive.lda_problem(X, y, 4, criterion, shrinkage=0.3)
    wishes = {"groups": {"a": list(range(6))}, "at_most": {"a": 2}}
    return Asked(problem, es.lda_pencil(X, y, shrinkage=0.3), 4, 0.05, wishes)


def drawn(seeds: range) -> Iterator[Asked]:
    """Those of which there is a set, and more than one."""
    for seed in seeds:
        asked = draw(seed)
        if sum(1 for _ in with_limits(asked).allowed()) > 1:
            yield asked


# ---------------------------------------------------------------- true ones


def test_true_lists_are_accepted(tmp_path: Path) -> None:
    counts: Counter[tuple[str, str, bool]] = Counter()
    for asked in drawn(range(240)):
        found = true_list(asked)
        shown, verdict = write(asked, found, tmp_path / "p")
        verdict.raise_if_rejected()
        assert shown.is_complete
        assert verdict.n_sets == found.n_sets
        unit = max(abs(found.best.objective), found.best.scale)
        assert verdict.bound == pytest.approx(found.threshold, rel=0, abs=1e-9 * unit)
        assert verdict.n_limits == len(with_limits(asked).limits)
        lines = read_proof(tmp_path / "p")
        assert find_false(of_header(asked, lines), lines) is None
        kind = asked.problem.pencil["kind"]
        counts[kind, asked.problem.criterion, verdict.n_limits > 0] += 1
    assert {count[:2] for count in counts} >= {
        ("lda", "lambda_max"), ("lda", "trace"), ("lda", "logdet"), ("pca", "lambda_max"),
        ("cca", "lambda_max"), ("matrices", "trace"), ("matrices", "logdet"),
    }  # fmt: skip
    assert counts.total() >= 150


# ---------------------------------------------------------------- false ones


def chosen(tmp_path: Path) -> Iterator[tuple[naive.Problem, Lines]]:
    """Proofs of some length, of both kinds and all criteria, with limits and without."""
    seen: Counter[tuple[str, bool]] = Counter()
    for asked in drawn(range(300)):
        found = true_list(asked)
        if not 3 <= found.n_sets <= 20:
            continue
        write(asked, found, tmp_path / "p")
        lines = read_proof(tmp_path / "p")
        by_dual = any("dual" in line for line in lines)
        kind = f"{asked.problem.criterion} {by_dual}", "limits" in lines[0]
        if seen[kind] < 2 and len(lines) > 8:
            seen[kind] += 1
            yield of_header(asked, lines), lines


def priced(tmp_path: Path) -> Iterator[tuple[naive.Problem, Lines]]:
    """Proofs with prices on a limit."""
    for seed, criterion in enumerate(["trace", "logdet"]):
        asked = draw_priced(seed, criterion)
        write(asked, true_list(asked), tmp_path / "p")
        lines = read_proof(tmp_path / "p")
        yield of_header(asked, lines), lines


def test_false_copies_of_lists_are_rejected(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    proofs = [*chosen(tmp_path), *priced(tmp_path)]
    assert {line.get("leaf") for _, lines in proofs for line in lines} >= {
        "listed", "limit", "dual", "level",
    }  # fmt: skip
    for seed, (problem, lines) in enumerate(proofs):
        assert find_false(problem, lines) is None
        counts += judge_mutations(problem, lines, tmp_path, 40, seed, ALL_CHANGES)
    for seed, (problem, lines) in enumerate(proofs[-2:]):
        counts += judge_mutations(problem, lines, tmp_path, 40, seed, LIMIT_CHANGES)
    assert counts.total() >= 500
    changes = {change.__name__ for change in (*LIST_CHANGES, *LIMIT_CHANGES)}
    assert min(counts[name] for name in changes) >= 10, counts


# ---------------------------------------------------------------- false lists for the prover


def falsify(found: NearOptimalSets, rng: np.random.Generator) -> NearOptimalSets:
    """The list without one of its sets, which is then said to be complete."""
    i = int(rng.integers(1, found.n_sets))
    sets, scores = np.delete(found.sets, i, axis=0), np.delete(found.scores, i)
    return replace(found, sets=sets, scores=scores)


def test_a_false_list_is_never_accepted(tmp_path: Path) -> None:
    """Whatever the prover writes of it: the file then claims less, and that is true."""
    n_false, rng = 0, np.random.default_rng(0)
    for asked in drawn(range(300)):
        found = true_list(asked)
        if found.n_sets < 2:
            continue
        false = falsify(found, rng)
        shown, verdict = write(asked, false, tmp_path / "p")
        n_false += 1
        assert not shown.is_complete
        if not verdict.accepted:
            continue
        problem, header = with_limits(asked), read_proof(tmp_path / "p")[0]
        assert verdict.bound == header["bound"]
        listed = {tuple(S) for S in header.get("list", {"sets": []})["sets"]}
        unit = max(abs(found.best.objective), found.best.scale)
        for S in problem.allowed():
            assert S in listed or problem.score(S) <= verdict.bound + 1e-9 * unit
        for S in listed:
            assert problem.score(S) >= verdict.bound - 1e-9 * unit
    assert n_false >= 60


def test_what_is_left_of_a_list(tmp_path: Path) -> None:
    """A list that ends at a cap is proved down to where it ends, between ties as well."""
    n_capped = 0
    for asked in drawn(range(300)):
        found = true_list(asked)
        if found.n_sets < 3:
            continue
        cap = found.n_sets // 2
        capped = replace(
            found, sets=found.sets[:cap], scores=found.scores[:cap], is_complete=False,
            bound=float(found.scores[cap]), status=Status.ITERATION_LIMIT,
        )  # fmt: skip
        shown, verdict = write(asked, capped, tmp_path / "p")
        verdict.raise_if_rejected()
        n_capped += 1
        assert not shown.is_complete
        assert shown.bound >= capped.bound
        apart = np.flatnonzero(found.scores[:cap] - found.scores[cap] > 1e-6 * abs(found.scores[0]))
        assert (verdict.n_sets or 0) == apart.size
    assert n_capped >= 60
