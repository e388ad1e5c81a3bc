"""Exact solvers against brute force on a thousand small problems: no false certificate, ever.

A slow run of any length is started by hand:
``python -m tests.search.exact.fuzz_exact --count 50000``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.solution import Solution, Status
from eigensieve.search.solve import find_solvers
from tests.oracles import naive
from tests.oracles.exact import ExactPencil, Truth, judge
from tests.oracles.instances import KINDS, Instance, random_instance
from tests.search.exact.fuzz_exact import ALGORITHMS, poor_starts, run_batch, solve, solvers_for

INSTANCES, PER_TEST = 1140, 95  # five of every kind in each test
FOUND = [name for name in ALGORITHMS if name in find_solvers()]


@pytest.mark.parametrize("first", range(0, INSTANCES, PER_TEST))
def test_brute_force_agrees(first: int) -> None:
    record_closed = run_batch(first, PER_TEST)
    assert not record_closed.failures, "\n".join(record_closed.failures)
    assert {kind for kind, _ in record_closed.runs} == set(KINDS)
    assert {name for _, name in record_closed.runs} >= set(ALGORITHMS)


def test_every_kind_criterion_and_algorithm_meet() -> None:
    met = set()
    for seed in range(INSTANCES):
        instance = random_instance(seed)
        met |= {(name, instance.criterion) for name in solvers_for(instance)}
    expected = {(name, c) for name in FOUND for c in find_solvers()[name].criteria}
    assert met == expected


def test_the_search_matters() -> None:
    """Greedy alone misses some optima; and half of the instances above start far worse."""
    missed = 0
    for seed in range(360):
        instance = random_instance(seed)
        truth = Truth(instance)
        greedy = solve(instance, "greedy", direction="forward", swap=False)
        missed += judge(instance, _claiming_optimality(greedy), truth) != []
    assert missed >= 20


def _claiming_optimality(solution: Solution) -> Solution:
    return replace(solution, status=Status.OPTIMAL, bound=solution.objective)


def _second_best(instance: Instance, truth: Truth) -> Solution:
    """The solution of a set that is worse than the optimum by more than 1e-5."""
    order = np.argsort(-truth.values)
    unit = max(abs(truth.optimum), truth.scale)
    place = next(i for i in order if truth.values[i] < truth.optimum - 1e-5 * unit)
    support = truth.sets[place]
    others = np.setdiff1d(np.arange(instance.pencil.size), support)
    return es.solve(
        instance.pencil,
        len(support),
        solver="exhaustive",
        criterion=instance.criterion,
        exclude=others.tolist(),
    )


class TestTheJudge:
    """A judge that never complains proves nothing."""

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "zero A"])
    def test_sees_a_false_certificate(self, kind: str) -> None:
        instance = self.instance_with_a_choice(kind)
        truth = Truth(instance)
        worse = replace(_second_best(instance, truth), scale=truth.scale)
        complaints = judge(instance, _claiming_optimality(worse), truth)
        assert any("FALSE CERTIFICATE" in complaint for complaint in complaints)
        honest = replace(worse, status=Status.TIME_LIMIT, bound=truth.optimum + 1e-9 * truth.scale)
        assert judge(instance, honest, truth) == []
        # right set, wrong bound
        low = replace(worse, status=Status.TIME_LIMIT, bound=worse.objective)
        assert judge(instance, low, truth) != []

    def test_sees_a_false_certificate_that_doubles_do_not(self) -> None:
        """Two sets of twins worth 2 / delta each, where delta is all but lost in 1 - delta."""
        delta = {(0, 1): 2.0**-36, (0, 2): 2.0**-36 + 2.0**-52, (1, 2): 2.0**-36}
        B = np.eye(3)
        for (i, j), rest in delta.items():
            B[i, j] = B[j, i] = 1 - rest
        d = np.array([1.0, -1.0, -1.0])
        instance = Instance(0, "twins", es.Pencil(np.outer(d, d), B), 2, "trace", (0,), ())
        truth = Truth(instance)
        assert truth.is_doubtful
        for S in truth.sets:
            assert truth.exact.trace(S) == 2 / Fraction(delta[tuple(S)])
        worse = es.solve(
            instance.pencil, 2, solver="exhaustive", criterion="trace", exclude=[1], gap_tol=1e-6
        )
        assert not worse.is_certified
        claim = _claiming_optimality(worse)
        assert any("FALSE" in c for c in judge(instance, claim, truth))

    def test_sees_broken_wishes(self) -> None:
        instance = self.instance_with_a_choice("full pair")
        solution = solve(instance, "exhaustive")
        j = int(solution.support[0])
        assert judge(replace(instance, exclude=(j,)), solution) != []
        outside = int(np.setdiff1d(np.arange(instance.pencil.size), solution.support)[0])
        assert judge(replace(instance, include=(outside,)), solution) != []
        assert judge(replace(instance, k=instance.k + 1), solution) != []

    @staticmethod
    def instance_with_a_choice(kind: str) -> Instance:
        """The first instance of a kind with ten sets of different values."""
        for seed in range(list(KINDS).index(kind), 20_000, len(KINDS)):
            instance = random_instance(seed)
            if isinstance(instance.k, int) and not instance.include + instance.exclude:
                truth = Truth(instance)
                unit = max(abs(truth.optimum), truth.scale)
                if truth.values.size >= 10 and np.ptp(truth.values) > 1e-3 * unit:
                    return instance
        raise AssertionError("no such instance")


@pytest.mark.parametrize("seed", range(0, 72, 3))
def test_brute_force_is_that_of_the_plain_loop(seed: int) -> None:
    instance = random_instance(seed)
    if not isinstance(instance.k, int) or instance.pencil.size > 9:
        instance = replace(instance, k=2)
    instance = replace(instance, include=(), exclude=())
    A, B = instance.pencil.A, instance.pencil.B
    best, _ = naive.best(A, B, instance.cardinality, instance.criterion)
    truth = Truth(instance)
    unit = max(abs(best), truth.scale)
    assert abs(truth.optimum - best) <= 1e-9 * unit + truth.error


@pytest.mark.parametrize("seed", range(36))
def test_exact_arithmetic_agrees_with_doubles_where_those_are_good(seed: int) -> None:
    instance = random_instance(seed)
    truth = Truth(instance)
    if truth.is_doubtful:
        return
    exact = ExactPencil(instance.pencil)
    S, value = truth.sets[0], float(truth.values[0])
    found = exact.value(S, instance.criterion, value, truth.scale)
    assert abs(found - value) <= 1e-9 * max(abs(value), truth.scale) + truth.error
    if instance.criterion == "logdet":
        expected = naive.exact_det_ratio(instance.pencil.A, instance.pencil.B, S.tolist())
        np.testing.assert_allclose(float(exact.det_ratio(S)), float(expected), rtol=1e-12)


@pytest.mark.parametrize("name", ["leaps", "levelset", "perspective"])
def test_threads_do_not_change_the_answer(name: str) -> None:
    compared = 0
    for seed in range(0, 360, 5):
        instance = random_instance(seed)
        if name not in solvers_for(instance):
            continue
        with poor_starts():  # so that threads have something to find
            one, two = (solve(instance, name, n_jobs=jobs) for jobs in (1, 2))
        assert one.support.tolist() == two.support.tolist(), repr(instance)
        assert one.objective == two.objective, repr(instance)
        assert one.n_nodes == two.n_nodes, repr(instance)
        compared += 1
    assert compared >= 10
