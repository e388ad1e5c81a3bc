"""`solve`, `solve_path` and `certify` on random pencils: valid and honest, or refused."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import eigensieve as es
from eigensieve.pencil.solution import Status
from eigensieve.search.solve import find_solvers
from tests.fuzz.harness import Refused, attempt, cases
from tests.fuzz.strategies import CRITERIA, Drawn, matrices, pencils
from tests.oracles.exact import Truth, judge
from tests.oracles.instances import Instance

SOLVERS = sorted(find_solvers())
DATA = st.data()
# Options by name: values that may be given, and values that must be refused.
OPTIONS: dict[str, tuple[list[Any], list[Any]]] = {
    "gap_tol": ([1e-6, 0.0, 0.05, 1.0], [-1.0, np.nan, None, "small"]),
    "time_limit": ([None, 0, 0.0, 60, 1e-9], [-1, np.nan, "1"]),
    "random_state": ([None, 0, 7], [-1, 1.5, True]),
    "n_jobs": ([None, 1, 2], [0, 1.5]),
    "max_nodes": ([None, 1, 3], [0, 2.5]),
    "n_starts": ([None, 0, 1, 5], [-1, "2"]),
    "max_iter": ([1, 5, 100], [0, 1e3]),
    "swap": ([True, False], []),
    "direction": (["auto", "forward", "backward", "both"], ["up", None]),
    "rho": ([None, 0.0, 0.1, 1e6], [-1.0, np.nan, "x"]),
    "start": ([], ["zeros", [99], np.ones(33)]),
    "vector": (["x"], ["q", None]),
    "search": (["best", "depth"], ["wide"]),
    "order": (["sorted"], ["other"]),
    "tol": ([1e-6, 1e-3], [-1.0, np.nan]),
    "eps": ([0.0, 1e-3], [-1.0]),
    "ridge": ([None, 1.0], [-1.0]),
    "audit": ([False, True], []),
    "unknown": ([], [1]),
}
SHARED = ["gap_tol", "time_limit", "random_state", "n_jobs"]


def known_options(solver: str) -> list[str]:
    found = find_solvers()[solver]
    if found.solve is None:  # "exact" hands them on to whom it chooses
        return [*SHARED, "max_nodes", "n_starts", "audit"]
    parameters = inspect.signature(found.solve).parameters.values()
    own = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and OPTIONS.get(p.name, [[]])[0]]
    return sorted({*SHARED, *own})


@st.composite
def calls(draw: Any, drawn: Drawn, size: Any) -> tuple[dict[str, Any], bool]:
    """The arguments of a call with at most one thing that is wrong, and whether there is one."""
    p, solver = drawn.pencil.size, draw(st.sampled_from(SOLVERS))
    k = draw(st.integers(1, p))
    order = draw(st.permutations(range(p)))
    given_options: dict[str, Any] = {"solver": solver, size: k if size == "k" else [k]}
    given_options["criterion"] = draw(
        st.sampled_from(CRITERIA[:1] * 3 + CRITERIA * drawn.pencil.is_psd)
    )
    given_options["include"] = order[: draw(st.sampled_from([0, 0, min(2, k)]))]
    given_options["exclude"] = order[k : k + draw(st.sampled_from([0, 0, 2]))]
    names = draw(st.lists(st.sampled_from(known_options(solver)), max_size=3, unique=True))
    given_options |= {name: draw(st.sampled_from(OPTIONS[name][0])) for name in names}
    if draw(st.integers(0, 3)):
        return given_options, False
    return given_options | draw(mistakes(p, size)), True


def mistakes(p: int, size: str) -> st.SearchStrategy[dict[str, Any]]:
    """One argument that may be wrong."""
    odd: list[Any] = [{name: value} for name, (_, wrong) in OPTIONS.items() for value in wrong]
    odd += [{size: k} for k in (0, -1, p + 1, p + 2, 1.0, "2", (1,), (1, 1), [], np.nan, True)]
    odd += [{name: value} for name in ("include", "exclude")
            for value in ([-1], [p], [0.5], ["0"], [[0]], [True], [0, 0], None, 3)]  # fmt: skip
    odd += [{"solver": "other"}, {"criterion": "other"}, {"criterion": "trace"}, {"solver": None}]
    return st.sampled_from(odd)


def check(solution: es.Solution, pencil: es.Pencil) -> None:
    """What holds for every solution, whatever was asked."""
    solution.verify(pencil)
    assert np.isfinite(solution.objective)
    assert np.isfinite(solution.loadings).all()
    assert solution.bound >= solution.objective - 1e-8 * max(abs(solution.objective), 1e-300)
    assert solution.seconds >= 0
    assert "Solution" in repr(solution) or "Certificate" in repr(solution)


@cases(88, 1500)
@given(pencils(), DATA)
def test_any_call_answers_or_refuses(drawn: Drawn, data: st.DataObject) -> None:
    pencil = drawn.pencil
    call, spoilt = data.draw(calls(drawn, "k"))
    solution = attempt(es.solve, pencil, **call)
    if isinstance(solution, Refused):
        return
    check(solution, pencil)
    if spoilt:
        return
    if call.get("rho") is None:
        assert solution.k == call["k"]
    chosen = set(solution.support.tolist())
    assert set(call["include"]) <= chosen
    assert not set(call["exclude"]) & chosen


@cases(56, 500)
@given(matrices(), st.integers(1, 3), st.sampled_from(SOLVERS), st.sampled_from(CRITERIA))
def test_any_matrices_make_a_pencil_or_not(
    pair: tuple[Any, Any], k: int, solver: str, criterion: str
) -> None:
    pencil = attempt(es.Pencil, *pair)
    if isinstance(pencil, Refused):
        return
    solution = attempt(es.solve, pencil, k, solver=solver, criterion=criterion)
    if not isinstance(solution, Refused):
        check(solution, pencil)


@st.composite
def instances(draw: Any, most: int = 8) -> Instance:
    """A problem small enough for brute force, with constraints that can be met."""
    drawn = draw(pencils(most))
    pencil = drawn.pencil
    k = draw(st.integers(1, pencil.size))
    order = draw(st.permutations(range(pencil.size)))
    include = order[: draw(st.integers(0, min(2, k)))]
    exclude = order[k : k + draw(st.integers(0, 2))]
    criterion = draw(st.sampled_from(CRITERIA if pencil.is_psd else CRITERIA[:1]))
    kind = f"{drawn!r}, cut to {most}"
    return Instance(drawn.seed, kind, pencil, k, criterion, tuple(include), tuple(exclude))


@cases(36, 1000)
@given(instances(), st.sampled_from(SOLVERS), st.booleans())
def test_brute_force_is_never_beaten(instance: Instance, solver: str, stopped: bool) -> None:
    """Every solver's bound holds, every certificate is true; exact ones certify when let."""
    limit = {"time_limit": 0.0} if stopped else {}
    solution = attempt(
        es.solve, instance.pencil, instance.k, solver=solver, criterion=instance.criterion,
        include=instance.include, exclude=instance.exclude, **limit,
    )  # fmt: skip
    if isinstance(solution, Refused):
        assert solver != "exact", str(solution.error)
        return
    assert judge(instance, solution) == []
    if find_solvers()[solver].certifies and not stopped:
        assert solution.status in (Status.OPTIMAL, Status.GAP_LIMIT), repr(solution)


@cases(20, 500)
@given(instances(7), st.randoms(use_true_random=False), st.sampled_from([None, 0.0]))
def test_certificates_of_any_set_hold(instance: Instance, random: Any, limit: float | None) -> None:
    truth = Truth(instance)
    support = truth.sets[random.randrange(len(truth.sets))]
    claim = attempt(
        es.certify, instance.pencil, support.tolist(), criterion=instance.criterion,
        include=instance.include, exclude=instance.exclude, time_limit=limit,
    )  # fmt: skip
    if isinstance(claim, Refused):  # not for blocks: rivals are those with the same quotas
        raise AssertionError(str(claim.error))
    check(claim, instance.pencil)
    assert claim.support.tolist() == support.tolist()
    assert claim.explain()
    if instance.pencil.blocks is None:
        assert judge(instance, claim, truth) == []
        if claim.better is not None:
            assert claim.better.objective > claim.objective
            assert judge(instance, claim.better, truth) == []


@cases(6, 200)
@given(pencils(8), st.sampled_from(CRITERIA))
def test_more_features_are_never_worse(drawn: Drawn, criterion: str) -> None:
    """Of the optimum, and so of what "exact" finds, up to what its certificate leaves open."""
    assume(criterion == "lambda_max" or drawn.pencil.is_psd)
    path = es.solve_path(drawn.pencil, solver="exact", criterion=criterion)
    path.verify(drawn.pencil)
    d = 1 / np.sqrt(drawn.pencil.diag_B)
    least = np.linalg.eigvalsh(drawn.pencil.B * np.outer(d, d))[0]
    open_digits = 2e-6 + 16 * d.size**2 * np.finfo(float).eps / least  # of values as doubles
    slack = open_digits * np.maximum(np.abs(path.objectives), path[path.ks[0]].scale)
    assert np.all(np.diff(path.objectives) >= -slack[1:])
    assert path.ks == list(range(1, drawn.pencil.size + 1))


@cases(16, 300)
@given(pencils(8), st.integers(1, 8), st.sampled_from(CRITERIA), st.randoms(use_true_random=False))
def test_the_optimum_knows_no_order_or_scale(
    drawn: Drawn, k: int, criterion: str, random: Any
) -> None:
    """Columns in another order, and in other units: the same optimum."""
    pencil = drawn.pencil
    assume(k <= pencil.size and (criterion == "lambda_max" or pencil.is_psd))
    order = np.array(random.sample(range(pencil.size), pencil.size))
    units = 2.0 ** np.array([random.randrange(-8, 8) for _ in order])  # exact in doubles
    A, B = (M * np.outer(units, units) for M in (pencil.A, pencil.B))
    other = attempt(es.Pencil, A[np.ix_(order, order)], B[np.ix_(order, order)])
    assume(not isinstance(other, Refused))  # at the limit of what is positive definite
    one, two = (es.solve(p, k, solver="exact", criterion=criterion) for p in (pencil, other))
    truth = Truth(Instance(drawn.seed, drawn.kind, pencil, k, criterion, (), ()))
    slack = 3e-6 * max(abs(one.objective), one.scale) + 2 * truth.error
    assert abs(one.objective - two.objective) <= slack


@cases(36, 500)
@given(pencils(8), DATA)
def test_paths_answer_or_refuse(drawn: Drawn, data: st.DataObject) -> None:
    pencil = drawn.pencil
    call, spoilt = data.draw(calls(drawn, "ks"))
    if not spoilt:
        least, most = max(1, len(call["include"])), pencil.size - len(call["exclude"])
        call["ks"] = data.draw(st.lists(st.integers(least, most), min_size=1, max_size=3))
    path = attempt(es.solve_path, pencil, **call)
    if isinstance(path, Refused):
        return
    for solution in path.values():
        check(solution, pencil)
    if not spoilt and call.get("rho") is None:
        path.verify(pencil)
        assert path.stopped or path.ks == sorted(set(call["ks"]))
