"""What a `GroupLassoSolution` says of itself, and that `verify` finds out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eigensieve import GroupLassoSolution, ScoringProblem
from eigensieve.errors import VerificationError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from eigensieve.scoring.gloss import make_search
from eigensieve.scoring.solution import evaluate
from tests.oracles import group_lasso as oracle
from tests.oracles.scoring_cases import KINDS, TOLS, WITHIN, make, solvers_for


@pytest.fixture(scope="module")
def solved() -> tuple[ScoringProblem, GroupLassoSolution]:
    case = make("five classes, dense ridge", "full")
    return case.problem, case.solve(0.2)


def test_verify_passes_what_the_solvers_find() -> None:
    for kind in KINDS:
        for within in WITHIN:
            case = make(kind, within, seed=2)
            for solver in solvers_for(case):
                for alpha in (1.0, 0.4):
                    case.solve(alpha, solver).verify(case.problem)


def test_figures_are_those_of_the_plain_problem() -> None:
    """For any B: objective, violation, and a bound that is below the optimum."""
    for seed, kind in enumerate(KINDS):
        for within in WITHIN:
            case, rng = make(kind, within, seed=3), np.random.default_rng(seed)
            plain, problem = case.plain, case.problem
            penalty = 0.3 * plain.lambda_max
            least = plain.objective(oracle.least_by_sklearn(plain, penalty), penalty)
            found = case.solve(0.3)
            for noise in (2.0, 0.1, 1e-4):
                rows = found.rows * (1 + noise * rng.normal(size=found.rows.shape))
                other = replace(found, rows=rows)
                B = case.rows_in_plain_scores(other)
                figures = evaluate(problem, found.support, rows, penalty)
                assert figures.objective == pytest.approx(plain.objective(B, penalty), rel=1e-12)
                assert figures.kkt == pytest.approx(plain.violation(B, penalty), rel=1e-9)
                assert figures.bound <= least * (1 + 1e-12)
                assert figures.objective >= least * (1 - 1e-12)
                assert figures.bound >= plain.bound(B, penalty) - 1e-12 * least


def test_the_bound_is_valid_for_rows_that_are_much_too_long() -> None:
    for kind in KINDS:
        case = make(kind, "full", seed=3)
        plain, found = case.plain, case.solve(0.3)
        penalty = found.penalty
        least = plain.objective(oracle.least_by_sklearn(plain, penalty), penalty)
        for factor in (-100.0, -1.0, 3.0, 10.0, 100.0):
            figures = evaluate(case.problem, found.support, factor * found.rows, penalty)
            assert figures.bound <= least * (1 + 1e-12), (kind, factor)


def tampered(
    solved: tuple[ScoringProblem, GroupLassoSolution], name: str | None, **changes: Any
) -> None:
    problem, found = solved
    found.verify(problem)
    with pytest.raises(VerificationError, match=name):
        replace(found, **changes).verify(problem)


def test_verify_finds_a_wrong_objective(solved: Any) -> None:
    tampered(solved, "objective", objective=solved[1].objective * (1 - 1e-7))
    tampered(solved, "objective", objective=solved[1].objective * (1 + 1e-7))


def test_verify_finds_wrong_rows(solved: Any) -> None:
    rows = solved[1].rows.copy()
    rows[1] *= 1.001
    tampered(solved, None, rows=rows)
    rows = solved[1].rows.copy()
    rows[0] = -rows[0]
    tampered(solved, "objective", rows=rows)


def test_verify_finds_rows_that_are_off_by_little(solved: Any) -> None:
    """Little enough for the objective not to see it."""
    tampered(solved, "kkt", rows=solved[1].rows * (1 + 1e-6))


def test_verify_finds_rows_of_zeros(solved: Any) -> None:
    """Without a warning about a division by zero."""
    problem, found = solved
    outside = np.setdiff1d(np.arange(found.n_features), found.support)[0]
    support = np.append(found.support, outside)
    rows = np.vstack([found.rows, np.zeros((1, found.rows.shape[1]))])
    order = np.argsort(support)
    with pytest.raises(VerificationError):
        replace(found, support=support[order], rows=rows[order]).verify(problem)


def test_verify_finds_a_bound_that_was_raised(solved: Any) -> None:
    tampered(solved, "bound", bound=solved[1].bound + 1e-7 * solved[1].objective)


def test_verify_finds_a_wrong_support(solved: Any) -> None:
    _, found = solved
    outside = np.setdiff1d(np.arange(found.n_features), found.support)
    support = found.support.copy()
    support[0] = outside[0]
    tampered(solved, None, support=support)
    tampered(solved, None, support=found.support[1:], rows=found.rows[1:])


def test_verify_finds_a_status_that_is_not_earned() -> None:
    case = make("three classes, ridge", "full")
    search = make_search(case.problem, "working-set", 1e-10, Budget(time_limit=0))
    early = search.solve(0.05 * case.problem.lambda_max)
    early.verify(case.problem)
    assert early.status is Status.TIME_LIMIT
    with pytest.raises(VerificationError, match="optimal"):
        replace(early, status=Status.OPTIMAL).verify(case.problem)


def test_verify_finds_a_kkt_or_lambda_max_that_is_too_good(solved: Any) -> None:
    problem, found = solved
    rows = found.rows * (1 + 1e-6)
    figures = evaluate(problem, found.support, rows, found.penalty)
    stated = replace(
        found,
        rows=rows,
        kkt=figures.kkt,
        objective=figures.objective,
        bound=figures.bound,
        status=Status.TIME_LIMIT,
    )
    stated.verify(problem)
    with pytest.raises(VerificationError, match="kkt"):
        replace(stated, kkt=figures.kkt / 2).verify(problem)
    tampered(solved, "lambda_max", lambda_max=found.lambda_max * 1.01)


def test_verify_needs_the_problem_that_was_solved(solved: Any) -> None:
    problem, found = solved
    with pytest.raises(VerificationError):
        found.verify(replace(problem, weights=1.001 * problem.weights))


def test_repr_says_what_it_is(solved: Any) -> None:
    assert repr(solved[1]).startswith(f"GroupLassoSolution({solved[1].support.size} of 20 features")


@pytest.mark.parametrize("solver", TOLS)
def test_wherever_time_ends_the_bound_is_valid(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is reached at a certain look at the clock, however fast the machine is."""
    case = make("three classes, ridge", "diagonal")
    penalty = 0.1 * case.plain.lambda_max
    least = case.plain.objective(oracle.least_by_sklearn(case.plain, penalty), penalty)
    n_early = 0
    for polls in (*range(8), 10, 13, 20, 30, 60, 200):
        looks = iter(range(10**6))
        monkeypatch.setattr(
            Budget,
            "stop",
            lambda _, looks=looks, polls=polls: Status.TIME_LIMIT if next(looks) >= polls else None,
        )
        found = make_search(case.problem, solver, TOLS[solver], Budget()).solve(penalty)
        found.verify(case.problem)
        if found.is_certified:
            break
        n_early += 1
        assert found.status is Status.TIME_LIMIT
        assert found.bound <= least * (1 + 1e-9) <= found.objective * (1 + 2e-9)
    assert n_early >= 1 or solver == "dual"  # which is done in no time
    monkeypatch.undo()
