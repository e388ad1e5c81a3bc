"""What must hold on pure noise: errors at chance at every k, p-values that are not too small."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

import eigensieve as es
from eigensieve.studies.data import check_data
from eigensieve.studies.estimation import Estimates, estimate
from eigensieve.studies.nested import HonestError
from eigensieve.studies.null import permutation_null
from eigensieve.studies.plan import make_plan
from eigensieve.studies.running.runner import run_stages
from eigensieve.studies.schedule import NESTED, make_schedule

KS = (1, 2, 5, 10, 20)
Table = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def run_estimation(table: Table, model: Any = None, **options: Any) -> Estimates:
    """`es.study` up to the final models, which say nothing about errors."""
    X, y, groups = table
    data = check_data(X, y, groups, None, options.pop("missing", "error"))
    settings = {"model": es.SparseLDA(random_state=0) if model is None else model}
    return estimate(data, make_plan(data, settings, n_repeats=1, **options))


def honest(table: Table, model: Any = None, **options: Any) -> HonestError:
    found = run_estimation(table, model, **options).honest
    assert found is not None
    return found


def noise(seed: int, n: int = 40, p: int = 100, n_classes: int = 2) -> Table:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.permutation(np.arange(n) % n_classes), None


def patients(seed: int, n_groups: int, p: int) -> Table:
    """Three samples of every patient, alike in their features, and with one label."""
    rng = np.random.default_rng(seed)
    own = np.repeat(rng.normal(size=(n_groups, p)), 3, axis=0)
    y = np.repeat(rng.permutation(np.arange(n_groups) % 2), 3)
    groups = np.repeat(np.arange(n_groups), 3)
    return own + 0.3 * rng.normal(size=own.shape), y, groups


def with_gaps(seed: int) -> Table:
    X, y, _ = noise(seed, n=40, p=100)
    X[np.random.default_rng(seed + 1000).random(X.shape) < 0.1] = np.nan
    return X, y, None


def assert_at_chance(found: Sequence[HonestError], chance: float) -> None:
    """The mean of many sets is chance within 3 standard errors, and the intervals tell it.

    A held-out sample leaves its class a little smaller than the others, which tips the rule
    against it: up to .02 above chance is no leak (a leak is far below).
    """
    errors = np.array([one.error for one in found])
    se = errors.std(ddof=1) / np.sqrt(errors.size)
    assert chance - 3 * se <= errors.mean() <= chance + 0.02 + 3 * se
    assert se < 0.05  # else the lines above would say nothing
    covered = [one.low <= chance <= one.high for one in found]
    # every model's error is chance here, and the intervals allow for models that differ
    assert np.mean(covered) >= 0.95


@pytest.mark.parametrize("k", [1, 5, 20])
def test_error_of_every_k_is_at_chance(k: int) -> None:
    assert_at_chance([honest(noise(s, n=(40, 50, 60)[s % 3]), ks=(k,)) for s in range(20)], 0.5)


def test_error_is_at_chance_if_k_is_chosen() -> None:
    found = [honest(noise(s), ks=KS, cv=3) for s in range(20)]
    assert_at_chance(found, 0.5)
    assert {size for one in found for _, size in one.chosen} > {0}  # not always the first k


def test_error_of_three_classes_is_at_chance() -> None:
    found = [honest(noise(s, 42, 60, 3), ks=(1, 10), cv=3) for s in range(20)]
    assert_at_chance(found, 2 / 3)


def test_error_with_groups_is_at_chance() -> None:
    """Without groups the samples of a patient would tell each other's label."""
    tables = [patients(s, 20, 60) for s in range(20)]
    assert_at_chance([honest(table, ks=(1, 10), cv=3) for table in tables], 0.5)
    leaky = [honest((X, y, None), ks=(10,), cv=4).error for X, y, _ in tables[:5]]
    assert np.mean(leaky) < 0.3


def test_error_with_filled_gaps_is_at_chance() -> None:
    found = [honest(with_gaps(s), ks=(1, 10), cv=3, missing="median") for s in range(20)]
    assert_at_chance(found, 0.5)


def test_balanced_error_with_class_weights_is_at_chance() -> None:
    """One class in four, all classes alike: the balanced error is 1/2."""
    errors = []
    for s in range(20):
        X, y, _ = noise(s, 48, 100, 4)
        model = es.SparseLDA(class_weight="balanced")
        table = X, np.where(y == 0, "rare", "common"), None
        found = honest(table, model, ks=(2, 10), cv=3, score="balanced_error")
        errors.append(found.balanced_error)
    se = np.std(errors, ddof=1) / np.sqrt(20)
    assert se < 0.04
    assert abs(np.mean(errors) - 0.5) <= 3 * se + 0.02


def test_this_is_the_error_that_a_study_reports() -> None:
    X, y, _ = noise(3)
    study = es.study(X, y, ks=(1, 5), cv=4, n_repeats=1)
    assert study.honest_error is not None
    assert study.honest_error.estimate == honest((X, y, None), ks=(1, 5), cv=4).estimate


# ---------------------------------------------------------------- permutations


def p_value(table: Table, n_permutations: int, model: Any = None) -> float:
    """As in a study with n_permutations, without its nested error and its final models."""
    X, y, groups = table
    data = check_data(X, y, groups, None, "error")
    model = es.SparseLDA(random_state=0) if model is None else model
    options = {"n_repeats": 1, "n_permutations": n_permutations}
    plan = make_plan(data, {"model": model}, ks=(1, 3), cv=2, **options)
    schedule = make_schedule(plan, data.y)
    stages = [stage for stage in schedule.stages() if stage.name != NESTED]
    found, _ = run_stages(stages, data.X, plan)
    return permutation_null(schedule.repeats[0], schedule.permuted, found, plan).p_value


def too_small(p_values: Sequence[float]) -> float:
    """Significance of p-values being too small: their distribution lies above the uniform one."""
    return float(kstest(p_values, "uniform", alternative="greater").pvalue)


def test_p_values_are_not_too_small() -> None:
    p_values = [p_value(noise(s, 24, 8), 9) for s in range(80)]
    assert too_small(p_values) > 0.01
    assert np.mean(p_values) < 0.75  # nor useless


def test_p_values_with_groups_are_not_too_small() -> None:
    model = es.RankedLDA("anova")
    p_values = [p_value(patients(s, 12, 20), 9, model) for s in range(40)]
    assert too_small(p_values) > 0.01
    # labels that were exchanged between single samples would look far worse than those there are
    ungrouped = [p_value((*patients(s, 12, 20)[:2], None), 9, model) for s in range(20)]
    assert too_small(ungrouped) < 1e-4


def test_p_values_of_a_leak_are_too_small() -> None:
    """Features that were selected on all samples beforehand: the test above would see it."""
    p_values = []
    for s in range(30):
        X, y, _ = noise(s, 24, 200)
        apart = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
        few = X[:, np.argsort(-apart)[:5]]
        p_values.append(p_value((few, y, None), 9, es.RankedLDA("anova")))
    assert too_small(p_values) < 1e-6


def test_p_value_of_a_study() -> None:
    X, y, _ = noise(1, 24, 30)
    study = es.study(X, y, ks=(1, 3), cv=2, n_repeats=2, n_permutations=9)
    assert study.null is not None
    assert study.null.p_value == p_value((X, y, None), 9)
