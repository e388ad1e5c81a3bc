"""The best rotation of the directions: HiGHS at every angle, random rotations, false proofs."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.exceptions import ConvergenceWarning

from eigensieve import SparseUncorrelatedLDA, UncorrelatedFamily
from eigensieve.errors import OptionError, VerificationError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from eigensieve.pursuit.rotation import pursue_rotated
from eigensieve.pursuit.rotation_proof import RotationProof
from eigensieve.pursuit.simplex import solve_simplex
from eigensieve.pursuit.solution import judge
from tests.oracles import linear
from tests.oracles.instances import shifted_classes as make

THREE = [(12, 30, 0), (15, 20, 1), (15, 60, 2), (21, 25, 3), (40, 8, 4)]  # samples, columns, seed


def fit(X: np.ndarray, y: np.ndarray, **options: object) -> SparseUncorrelatedLDA:
    return SparseUncorrelatedLDA(rotation="best", **options).fit(X, y)


def least_norm(family: UncorrelatedFamily, Z: np.ndarray) -> float:
    """Of the solutions with this rotation, by HiGHS."""
    return sum(linear.least_l1(family.rows, c) for c in (family.target @ Z).T)


def turn(t: float) -> np.ndarray:
    return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])


@pytest.mark.parametrize(("n", "p", "seed"), THREE)
def test_of_three_classes_no_angle_is_better(n: int, p: int, seed: int) -> None:
    X, y = make(n, p, 3, seed, shift=1.0)
    family = UncorrelatedFamily.from_data(X, y)
    best = fit(X, y).solution_
    best.verify(family.rows, family.target, tol=1e-12)
    assert best.gap_any_rotation <= 1e-10
    scan = np.array([least_norm(family, turn(t)) for t in np.linspace(0, np.pi, 120)])
    assert scan.min() >= best.bound_any_rotation * (1 - 1e-9)
    # the scan passes near the optimum: the norm changes by no more than its slope, its own size
    assert scan.min() <= best.objective * (1 + np.pi / 119)
    assert least_norm(family, best.rotation) == pytest.approx(best.objective, rel=1e-9)


@pytest.mark.parametrize(("n", "p", "K"), [(20, 60, 4), (20, 25, 5), (60, 9, 4)])
def test_of_more_classes_the_bound_holds_for_every_rotation(n: int, p: int, K: int) -> None:
    X, y = make(n, p, K, 0, shift=1.0)
    family = UncorrelatedFamily.from_data(X, y)
    best, fixed = fit(X, y).solution_, SparseUncorrelatedLDA().fit(X, y).solution_
    best.verify(family.rows, family.target)
    assert family.contains(best.x)
    assert best.objective <= fixed.objective * (1 + 1e-12)
    shared = SparseUncorrelatedLDA("l21").fit(X, y).solution_
    assert best.bound_any_rotation == pytest.approx(shared.objective, rel=1e-9)
    for seed in range(20):
        Z = ortho_group.rvs(K - 1, random_state=seed)
        norm = least_norm(family, Z)
        assert norm >= best.bound_any_rotation * (1 - 1e-9)
        assert norm >= best.objective * (1 - 1e-9)  # and so far the search has not been beaten


def test_a_better_member_than_that_of_the_fixed_rotation() -> None:
    """What the certificate of one rotation does not exclude."""
    X, y = make(24, 120, 3)
    fixed, best = SparseUncorrelatedLDA().fit(X, y), fit(X, y)
    family = UncorrelatedFamily.from_data(X, y)
    assert fixed.solution_.is_certified
    assert fixed.solution_.rotation is None
    assert fixed.solution_.gap_any_rotation == np.inf
    assert family.contains(best.scalings_)
    assert np.abs(best.scalings_).sum() < 0.999 * np.abs(fixed.scalings_).sum()


@pytest.mark.parametrize("options", [{"K": 2}, {"K": 3, "penalty": "l21"}])
def test_where_there_is_no_rotation_nothing_changes(options: dict) -> None:
    X, y = make(K=options.pop("K"))
    fixed = SparseUncorrelatedLDA(**options).fit(X, y)
    best = fit(X, y, **options)
    np.testing.assert_array_equal(best.scalings_, fixed.scalings_)
    for solution in (fixed.solution_, best.solution_):
        assert solution.bound_any_rotation == solution.bound
        assert solution.gap_any_rotation <= 1e-12


def test_figures_of_the_fit_belong_to_the_rotated_directions() -> None:
    X, y = make(80, 9, 4, shift=1.0)
    lda = fit(X, y, rule="lda")
    G = lda.scalings_
    means = np.array([X[y == k].mean(axis=0) for k in range(4)]) - X.mean(axis=0)
    between = (means * np.bincount(y)[:, None] / len(y)).T @ means
    separation = np.diag(G.T @ between @ G)
    np.testing.assert_allclose(lda.explained_variance_ratio_, separation / separation.sum())
    assert (np.diff(separation) <= 1e-9).all()
    np.testing.assert_allclose(G.T @ np.cov(X, rowvar=False, bias=True) @ G, np.eye(3), atol=1e-10)
    # the rules do not see a rotation, and for n > p there is no other difference
    same = SparseUncorrelatedLDA(rule="lda").fit(X, y)
    np.testing.assert_allclose(lda.predict_proba(X), same.predict_proba(X), atol=1e-8)


def test_a_false_claim_is_refused() -> None:
    X, y = make()
    family = UncorrelatedFamily.from_data(X, y)
    true = fit(X, y).solution_
    proof = true.rotation_proof
    assert proof is not None
    assert proof.angles is not None
    shear = np.array([[1.0, 0.1], [0.0, 1.0]])
    target = family.target @ true.rotation @ shear
    sheared = judge(family.rows, target, true.x @ shear, true.y, "l1", "simplex")
    lies = {
        "is proved": replace(true, bound_any_rotation=1.01 * true.bound_any_rotation),
        "not orthogonal": replace(sheared, rotation=true.rotation @ shear),
        "no proof for every": replace(true, rotation_proof=replace(proof, y=1.1 * proof.y)),
        "do not cover": replace(true, rotation_proof=replace(proof, angles=proof.angles + 0.1)),
        "or not": replace(true, rotation=np.eye(3)),
        "every rotation are": replace(true, rotation_proof=replace(proof, y=proof.y[:, :-2])),
    }
    for says, lie in lies.items():
        with pytest.raises(VerificationError, match=says):
            lie.verify(family.rows, family.target)
    few = replace(proof, y=proof.y[:, :2], angles=proof.angles[:1])
    with pytest.raises(VerificationError, match="is proved"):
        replace(true, rotation_proof=few).verify(family.rows, family.target)
    with pytest.raises(VerificationError, match="is proved"):
        replace(true, rotation_proof=None).verify(family.rows, family.target)


def test_duals_of_another_problem_prove_nothing() -> None:
    """One dual for three columns would count thrice, two angles' worth would skip the third."""
    X, y = make(K=4)
    family = UncorrelatedFamily.from_data(X, y)
    true = fit(X, y).solution_
    one = RotationProof(true.rotation_proof.y[:, :1])
    pair = RotationProof(true.y[:, :2], np.zeros(1))
    for proof, says in ((one, "every rotation are"), (pair, "two columns only")):
        claim = replace(true, rotation_proof=proof, bound_any_rotation=0.0)
        with pytest.raises(VerificationError, match=says):
            claim.verify(family.rows, family.target)


@pytest.mark.parametrize("K", [3, 4])
def test_after_a_time_limit_the_bound_is_still_valid(K: int) -> None:
    X, y = make(K=K)
    family = UncorrelatedFamily.from_data(X, y)
    with pytest.warns(ConvergenceWarning, match="time limit") as told:
        stopped = fit(X, y, time_limit=0).solution_
    assert len(told) == 1
    stopped.verify(family.rows, family.target)
    assert family.contains(stopped.x)
    assert stopped.bound_any_rotation <= fit(X, y).solution_.objective


class Looks(Budget):
    """Time that ends after so many looks at the clock."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left

    def stop(self) -> Status | None:
        self.left -= 1
        return Status.TIME_LIMIT if self.left < 0 else None


@pytest.mark.parametrize("K", [3, 4])
def test_stopped_early_it_is_no_worse_than_the_fixed_rotation(K: int) -> None:
    family = UncorrelatedFamily.from_data(*make(K=K))
    clock = Looks(10_000)
    fixed = solve_simplex(family.rows, family.target, clock)
    needed = 10_000 - clock.left
    norms = [
        np.abs(pursue_rotated(family.rows, family.target, Looks(needed + more))[0].x).sum()
        for more in (1, 10, 100, 1000, 10_000)
    ]
    assert max(norms) <= np.abs(fixed.x).sum() * (1 + 1e-12)
    assert norms[-1] < 0.999 * norms[0]


def test_wrong_options() -> None:
    X, y = make()
    with pytest.raises(OptionError, match="rotation is 'free'; it must be one of fixed, best"):
        SparseUncorrelatedLDA(rotation="free").fit(X, y)
    with pytest.raises(OptionError, match="not 'bregman'"):
        fit(X, y, solver="bregman")


@pytest.mark.parametrize("K", [3, 4])
def test_of_identical_columns_the_first_is_used(K: int) -> None:
    X, y = make(30, 40, K, shift=1.0)
    lda = fit(np.hstack([X, X]), y)
    assert lda.get_support(indices=True).max() < 40
    plain = fit(X, y)
    np.testing.assert_allclose(lda.solution_.bound_any_rotation, plain.solution_.bound_any_rotation)


def test_of_three_classes_their_order_does_not_matter() -> None:
    X, y = make(30, 100, 3, shift=1.0)
    ways = [np.array(order)[y] for order in permutations(range(3))]
    best = [fit(X, way) for way in ways]
    assert len({lda.support_.tobytes() for lda in best}) == 1
    np.testing.assert_allclose(
        [lda.solution_.objective for lda in best], best[0].solution_.objective
    )
    fixed = [SparseUncorrelatedLDA().fit(X, way).solution_.objective for way in ways]
    assert max(fixed) > min(fixed) * 1.001
