"""Every solver on every problem of the bank: valid answers that claim no more than they can."""

import sys

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.solve import find_solvers
from tests.contracts.bank import problem_bank
from tests.oracles import naive

SOLVERS = find_solvers()
BANK = problem_bank()
CRITERIA = ("lambda_max", "trace", "logdet")


def refusal(name: str, pencil: es.Pencil, k: object, criterion: str = "lambda_max") -> str | None:
    """Why the solver says that it is not made for a problem; checked to be what `solve` raises."""
    solver = SOLVERS[name]
    reason = None
    if solver.refuses is not None:
        reason = solver.refuses(make_problem(pencil, k, criterion))
    if reason is not None:
        with pytest.raises(OptionError, match=name):
            es.solve(pencil, k, solver=name, criterion=criterion)
    return reason


def takers(problem: str, k: object, criterion: str = "lambda_max") -> list[str]:
    """The solvers that are made for a problem of the bank; `refusal` checks the others."""
    return [name for name in SOLVERS if refusal(name, BANK[problem], k, criterion) is None]


def usual_problem(name: str) -> tuple[es.Pencil, str]:
    """Four classes and the trace; what a solver is made for, where that is not it."""
    for problem, criterion in (("four classes", "trace"), ("four classes", "lambda_max")):
        if refusal(name, BANK[problem], 2, criterion) is None:
            return BANK[problem], criterion
    return BANK["pca"], "lambda_max"


def cases() -> list:
    return [
        pytest.param(name, problem, criterion, id=f"{name}-{problem}-{criterion}")
        for problem, pencil in BANK.items()
        for criterion in (CRITERIA if pencil.is_psd else CRITERIA[:1])
        for name in takers(problem, min(3, pencil.size), criterion)
    ]


def test_exact_refuses_nothing() -> None:
    exact = SOLVERS["exact"]
    assert exact.refuses is None
    assert exact.max_features is None
    assert set(exact.criteria) == set(CRITERIA)
    for pencil in BANK.values():
        for criterion in CRITERIA if pencil.is_psd else CRITERIA[:1]:
            for k in sorted({1, min(3, pencil.size), pencil.size}):
                chosen = SOLVERS[exact.choose(make_problem(pencil, k, criterion))]
                assert chosen.certifies
                assert criterion in chosen.criteria
                assert refusal(chosen.name, pencil, k, criterion) is None


def test_no_solver_refuses_everything() -> None:
    for name in SOLVERS:
        taken = [p for p in BANK.values() if refusal(name, p, min(3, p.size)) is None]
        assert len(taken) >= 3, name


@pytest.mark.parametrize(("name", "problem", "criterion"), cases())
def test_answers_are_valid_and_honest(name: str, problem: str, criterion: str) -> None:
    pencil = BANK[problem]
    A, B = pencil.A, pencil.B
    for k in sorted({1, min(3, pencil.size), pencil.size}):
        solution = es.solve(pencil, k, solver=name, criterion=criterion)
        solution.verify(pencil)
        assert solution.k == k
        best, _ = naive.best(A, B, k, criterion)
        unit = 1e-6 * max(abs(best), pencil.scale)
        assert solution.objective <= best + unit
        assert solution.bound >= best - unit
        if solution.status is Status.OPTIMAL:
            assert solution.objective >= best - unit
        if k == pencil.size:  # no other set: only where B is all but singular is a value not sure
            d = 1 / np.sqrt(np.diag(B))
            hidden = 1e-16 / np.linalg.eigvalsh(B * np.outer(d, d))[0]
            assert solution.is_certified or hidden > 1e-7


@pytest.mark.parametrize("name", SOLVERS)
def test_include_exclude_and_path(name: str) -> None:
    pencil, criterion = usual_problem(name)
    path = es.solve_path(
        pencil, (2, 4), solver=name, include=[3], exclude=[0, 8], criterion=criterion
    )
    path.verify(pencil)
    assert path.ks == [2, 4]
    for solution in path.values():
        assert 3 in solution.support
        assert not {0, 8} & set(solution.support.tolist())


@pytest.mark.parametrize("name", takers("two views", (2, 1)))
def test_quota(name: str) -> None:
    pencil = BANK["two views"]
    solution = es.solve(pencil, (2, 1), solver=name)
    solution.verify(pencil)
    assert np.bincount(pencil.blocks[solution.support], minlength=2).tolist() == [2, 1]


@pytest.mark.parametrize("name", SOLVERS)
def test_same_input_same_answer(name: str) -> None:
    pencil, criterion = usual_problem(name)
    a, b = (es.solve(pencil, 3, solver=name, criterion=criterion) for _ in "ab")
    np.testing.assert_array_equal(a.support, b.support)
    np.testing.assert_array_equal(a.loadings, b.loadings)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_says_what_it_is(name: str) -> None:
    solver = SOLVERS[name]
    assert (solver.solve is None) != (solver.choose is None)
    homes = [m for m, module in sys.modules.items() if getattr(module, "SOLVER", None) is solver]
    assert [home.rsplit(".", 1)[-1] for home in homes] == [solver.name] == [name]
    assert es.available_solvers()[name] == solver.summary
    taken = [p for p in BANK.values() if refusal(name, p, min(3, p.size)) is None]
    certified = [es.solve(p, min(3, p.size), solver=name).is_certified for p in taken]
    if solver.certifies:
        assert all(certified)
    else:
        assert not all(certified)


@pytest.mark.parametrize("name", [name for name, solver in SOLVERS.items() if solver.certifies])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_solver_that_certifies_does_so_wherever_it_can(name: str, criterion: str) -> None:
    assert criterion in SOLVERS[name].criteria
    for problem, pencil in BANK.items():
        k = min(3, pencil.size)
        if criterion != "lambda_max" and not pencil.is_psd:
            continue
        if refusal(name, pencil, k, criterion) is None:
            assert es.solve(pencil, k, solver=name, criterion=criterion).is_certified, problem


def test_size_limit_is_named() -> None:
    big = es.Pencil(np.eye(501))
    with pytest.raises(ValueError, match="at most 500 features"):
        es.solve(big, 2, solver="exhaustive")
    with pytest.raises(ValueError, match="would visit"):
        es.solve(es.Pencil(np.eye(100)), 20, solver="exhaustive")
