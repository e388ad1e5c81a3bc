"""Nearly singular B and graded A: what round-off may hide is in the bound, whoever the solver is.

A run of any length: ``python -m tests.search.exact.fuzz_exact --targeted --count 10000``.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import eigensieve as es
from tests.oracles.exact import Truth, judge
from tests.oracles.exact_tables import exact_lda
from tests.oracles.instances import Instance, labelled
from tests.oracles.targeted import TARGETED, targeted_instance
from tests.search.exact.fuzz_exact import EVERYBODY, run_batch, solve, solvers_for

INSTANCES, PER_TEST = 540, 90  # ten of every kind in each test
DIFFERENCE = np.array([[1.0, -1.0], [-1.0, 1.0]])


def rank_one_to_the_eye() -> Instance:
    a, B = np.array([1, 1, 0.4, 0.2]), np.eye(4)
    A = np.outer(a, a)
    A[:2, :2] += 9e-14 * DIFFERENCE
    B[0, 1] = B[1, 0] = 1 - 1e-12
    return Instance(0, "rank one to the eye", es.Pencil(A, B), 2, "logdet", (), ())


def small_beside_large() -> Instance:
    a, B = np.array([1e3, 0, 0, 0, 1e-2, 1e-2]), np.eye(6)
    A = np.outer(a, a)
    A[1:3, 1:3] += 9e-8 * DIFFERENCE
    B[1, 2] = B[2, 1] = 1 - 1e-3
    return Instance(0, "small beside large", es.Pencil(A, B), 3, "logdet", (), ())


@pytest.mark.parametrize("instance", [rank_one_to_the_eye(), small_beside_large()], ids=repr)
def test_a_part_that_only_B_shows(instance: Instance) -> None:
    names = solvers_for(instance, EVERYBODY)
    assert {"exact", "leaps", "perspective", "interlacing", "exhaustive", "greedy"} <= set(names)
    for name in names:
        assert judge(instance, solve(instance, name)) == [], name


def test_the_set_that_only_B_shows_is_found() -> None:
    instance = rank_one_to_the_eye()
    truth = Truth(instance)
    best = truth.sets[int(np.argmax(truth.values))]
    assert best.tolist() == [0, 1]
    found = solve(instance, "exact")
    assert found.support.tolist() == [0, 1]
    assert found.objective == pytest.approx(truth.optimum, rel=1e-4)
    assert found.status is es.Status.GAP_LIMIT  # doubles cannot tell: 1e-16 times 1e12


@pytest.mark.parametrize("first", range(0, INSTANCES, PER_TEST))
def test_no_certificate_is_false(first: int) -> None:
    found = run_batch(first, PER_TEST, EVERYBODY, draw=targeted_instance)
    assert not found.failures, "\n".join(found.failures)
    assert {kind for kind, _ in found.runs} == set(TARGETED)
    # a solver that gave up everywhere would pass, too
    assert sum(found.certified[kind, "exact"] for kind in TARGETED) > PER_TEST / 2


def test_the_only_set_has_its_rounding_in_the_bound() -> None:
    """With k = p there is nothing to search, and the value is still a rounded one."""
    hidden = 0
    for seed in range(60):
        drawn = targeted_instance(seed)
        instance = Instance(
            seed, drawn.kind, drawn.pencil, drawn.pencil.size, drawn.criterion, (), ()
        )
        truth, found = Truth(instance), solve(instance, "greedy")
        assert found.bound >= truth.optimum - 1e-12 * max(abs(truth.optimum), truth.scale)
        hidden += not found.is_certified
    assert hidden > 0


def test_certificates_of_given_sets() -> None:
    for seed in range(90):
        instance = targeted_instance(seed)
        if instance.pencil.blocks is not None:  # rivals would have as many of each block
            continue
        truth = Truth(instance)
        given = truth.sets[seed % len(truth.sets)]
        claim = es.certify(
            instance.pencil,
            given,
            instance.criterion,
            include=instance.include,
            exclude=instance.exclude,
        )
        assert judge(instance, claim, truth) == [], instance


@pytest.mark.parametrize("seed", range(8))
def test_tables_with_near_copies_and_hardly_any_shrinkage(seed: int) -> None:
    """Judged by the table itself: the pencil of doubles has lost some of it already."""
    rng = np.random.default_rng([seed, 25])
    for criterion in ("trace", "logdet"):
        for shrinkage in (0.0, 1e-12, 1e-8, 1e-6):
            X, y = labelled(rng, 5, int(rng.integers(2, 4)), int(rng.integers(6, 15)))
            X = X[:, rng.integers(0, 2, size=5)] + 10.0 ** rng.uniform(-8, -5) * X
            X += 10.0 ** rng.uniform(0, 4, size=5) * (rng.random(5) < 0.4)  # far from the origin
            k, exact = int(rng.integers(1, 6)), exact_lda(X, y, shrinkage)
            sets = [np.array(S) for S in itertools.combinations(range(5), k)]
            values = {tuple(S.tolist()): exact.value(S, criterion, 0.0, 0.0) for S in sets}
            best, pencil = max(values.values()), es.lda_pencil(X, y, shrinkage)
            for name in ("exact", "leaps", "perspective", "interlacing", "exhaustive", "greedy"):
                found = es.solve(pencil, k, name, criterion)
                unit = max(best, found.scale)
                assert found.bound >= best - 1e-9 * unit, name
                if found.is_certified:
                    assert values[tuple(found.support.tolist())] >= best - 1.001e-6 * unit, name


def test_a_factor_says_what_it_leaves_out() -> None:
    """Of every kind of dense A: B^-1 (A - H'H) has no larger trace, in exact numbers."""
    for seed in range(45):
        pencil = targeted_instance(seed).pencil
        if not pencil.is_psd or isinstance(pencil, es.FactorPencil):
            continue
        H = pencil.spectral_factor[0]
        rest = es.Pencil._trusted(pencil.A - H.T @ H, pencil.B)
        everything = Instance(seed, "rest", rest, pencil.size, "trace", (), ())
        left = Truth(everything).exact.trace(np.arange(pencil.size))
        d = 1 / np.sqrt(pencil.diag_B)
        rounding = np.abs(H * d).max() ** 2 * len(H) * 2.3e-16 * pencil.size**2 / pencil.least_B
        assert abs(float(left)) <= pencil.size * pencil.left_out("trace") + rounding
