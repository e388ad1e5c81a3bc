"""Group lassos that were once not solved, or said to be: found by fuzzing."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import eigensieve as es
from eigensieve.errors import InputError, VerificationError
from eigensieve.scoring.group_lasso import _Part
from tests.oracles import group_lasso as oracle
from tests.oracles.instances import shifted_classes as make


def test_round_off_of_one_column_excuses_no_other() -> None:
    """A column in tiny units with a ridge matrix: its share of the ridge is huge beside it."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 3
    X[y == 1, :3] += 1
    for scale in (1.0, 1e-6, 1e-12, 1e-16):
        X[:, 0] = scale * rng.normal(size=60)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            path = es.gloss_path(X, y, [0.5, 0.1, 0.01], weights="std", ridge=root @ root.T)
        assert len(told) == (not all(solution.is_certified for solution in path.solutions))
        for solution in path.solutions:
            if solution.is_certified:
                assert max(solution.gap, solution.kkt) <= 1e-6
            solution.verify(path.problem)


@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6, 1e-10, 0.0])
@pytest.mark.parametrize("K", [3, 8])
def test_columns_that_hardly_vary_within_the_classes(K: int, noise: float) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20 * K) % K
    X = rng.normal(size=(20 * K, 40))
    X[:, :2] = np.column_stack([y, y % 2]) + noise * rng.normal(size=(20 * K, 2))
    plain = oracle.Regression.of(X, y, within="diagonal")
    path = es.gloss_path(X, y, [0.5, 0.1, 0.01], within="diagonal")
    for solution in path.solutions:
        assert solution.is_certified
        least = plain.objective(oracle.least_by_sklearn(plain, solution.penalty), solution.penalty)
        assert solution.objective == pytest.approx(least, rel=1e-8)
    assert es.GroupLassoLDA(2, within="diagonal").fit(X, y).support_.sum() == 2


@pytest.mark.parametrize("alpha", [1e-3, 1e-5, 8e-7])
def test_a_small_penalty_is_reached_from_large_ones(alpha: float) -> None:
    X, y = make(33, 150, 5, shift=0.0)
    path = es.gloss_path(X, y, [alpha])
    assert path[0].is_certified
    with warnings.catch_warnings():  # one of 40 on the way ends with a gap of 2e-9
        warnings.simplefilter("ignore", ConvergenceWarning)
        warm = es.gloss_path(X, y, np.geomspace(0.9, alpha, 40))
    assert warm[-1].is_certified
    assert path[0].objective == pytest.approx(warm[-1].objective, rel=1e-6)


def test_more_rows_than_the_rank_are_dropped() -> None:
    """Two classes: 49 features cannot be used with 49 samples, though descent passes there."""
    for seed in range(5):
        X, y = make(49, 2000, 2, seed=seed, shift=0.3)
        path = es.gloss_path(X, y, weights="std")
        assert all(solution.is_certified for solution in path.solutions)
        assert path.n_selected.max() <= 48


def test_copies_in_units_of_their_weights_do_not_share() -> None:
    """Scaled copies cost the same with weights "std": the first has it all."""
    X, y = make(40, 20, 3, shift=1.0)
    wide = np.hstack([X, 7.0 * X, -0.1 * X])
    for alpha in (0.5, 0.1, 0.02):
        one = es.gloss_path(X, y, [alpha], weights="std")[0]
        three = es.gloss_path(wide, y, [alpha], weights="std")[0]
        assert three.is_certified
        assert np.unique(three.support % 20).size == three.support.size == one.support.size
        assert three.objective == pytest.approx(one.objective, rel=1e-10)


def test_verify_wants_a_solution_of_this_problem() -> None:
    X, y = make(40, 30, 3)
    path = es.gloss_path(X, y, [0.5, 0.2])
    found = path[0]
    found.verify(path.problem)
    few = es.ScoringProblem.from_data(X[:, :9], y)
    with pytest.raises(VerificationError, match="not of a problem with 9 features"):
        found.verify(few)
    twice = np.r_[found.support, found.support]
    both = np.vstack([found.rows, found.rows]) / 2
    with pytest.raises(VerificationError, match="sorted list"):
        replace(found, support=twice, rows=both).verify(path.problem)
    with pytest.raises(VerificationError, match="proves nothing"):
        replace(found, tol=0.2).verify(path.problem)


def test_a_sparse_table_has_the_same_path() -> None:
    X, y = make(20, 10, 2)
    found, wanted = es.gloss_path(sparse.csr_array(X), y), es.gloss_path(X, y)
    np.testing.assert_allclose(found.coefs, wanted.coefs, atol=1e-9 * np.abs(wanted.coefs).max())


def test_folds_that_cannot_be_used() -> None:
    X, y = make(30, 20, 3)
    rows = np.arange(30)
    with pytest.raises(InputError, match="cv has no folds"):
        es.GroupLassoLDACV(cv=[]).fit(X, y)
    with pytest.raises(InputError, match="without rows to test on"):
        es.GroupLassoLDACV(cv=[(rows, rows[:0])]).fit(X, y)
    # nothing is used in a fold at a penalty so near to 1: the most frequent class is the guess
    lda = es.GroupLassoLDACV([1 - 1e-9], within="diagonal", cv=3).fit(X, y)
    assert lda.errors_.shape == (1, 2, 3)


def test_a_step_much_too_long_is_shortened_although_a_row_turns_on_it() -> None:
    """Row 0 should go from .1 to .2, not to 100; row 1 turns round half-way."""
    G = np.diag([1e4, 1.0])
    part = _Part(G, np.array([[1.0 + 1e4 * 0.2], [0.5]]))
    B, step = np.array([[0.1], [0.1]]), np.array([[100.0], [-0.2]])
    new, share = part.descend_along(B, step)
    assert new is not None
    assert 0 < share < 0.01

    def value(b: np.ndarray) -> float:
        return float(np.abs(b).sum() + 0.5 * b[:, 0] @ G @ b[:, 0] - part.C[:, 0] @ b[:, 0])

    assert value(new) < value(B)


def test_a_covariance_that_is_not_definite_is_an_error_of_ours() -> None:
    """As round-off may make it where a ridge and columns differ by 60 powers of ten."""
    path = es.gloss_path(*make(40, 30, 3), [0.3])
    spoilt = replace(path.problem, quadratic=np.full(30, -1e6))
    with pytest.raises(InputError, match="not positive definite in double precision"):
        spoilt.discriminate(path[0].support, path[0].rows, path[0].penalty)


@pytest.mark.parametrize("solver", ["working-set", "dual", "variational"])
def test_at_lambda_max_nothing_is_used_whatever_the_time(solver: str) -> None:
    """Found by fuzzing: with no time left the dual kept a feature by round-off."""
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(8, 3))
        y = np.arange(8) % 2
        path = es.gloss_path(X, y, [1.0], ridge=0.1, solver=solver, time_limit=0.0)
        assert path[0].support.size == 0


def test_large_columns_beside_a_small_ridge() -> None:
    """Found by fuzzing: a LinAlgError of the dual's Newton step."""
    for seed in range(10):
        X, y = 1e8 * np.random.default_rng(seed).normal(size=(6, 1)), np.arange(6) % 2
        path = es.gloss_path(X, y, [0.9, 0.3], ridge=0.1, solver="dual")
        plain = es.gloss_path(X, y, [0.9, 0.3], ridge=0.1, solver="working-set")
        for solution, other in zip(path, plain):
            solution.verify(path.problem)
            assert solution.objective == pytest.approx(other.objective, rel=1e-6)
