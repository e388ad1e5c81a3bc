"""The group lasso's three algorithms: cone solver, scikit-learn, optimality by hand, odd data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eigensieve import ScoringProblem
from eigensieve.errors import OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.scoring.gloss import make_search
from eigensieve.scoring.group_lasso import GroupLassoSearch
from eigensieve.scoring.group_lasso_dual import can_solve, suits
from eigensieve.scoring.penalty_search import solve_at
from tests.oracles import group_lasso as oracle
from tests.oracles.scoring_cases import KINDS, TOLS, WITHIN, Case, make, make_ridge, solvers_for

ALPHAS = (0.7, 0.3, 0.1, 1 / 128)


# -- the optimum -----------------------------------------------------------------------------


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_that_of_scikit_learn_and_of_a_cone_solver(kind: str, within: str) -> None:
    case = make(kind, within)
    plain = case.plain
    for alpha in ALPHAS:
        penalty = alpha * plain.lambda_max
        by_cone = plain.objective(oracle.least_by_cone(plain, penalty), penalty)
        by_sklearn = plain.objective(oracle.least_by_sklearn(plain, penalty), penalty)
        assert by_cone == pytest.approx(by_sklearn, rel=1e-8)
        for solver in solvers_for(case):
            if solver == "variational" and alpha < 0.3:
                continue  # slow; the next test has it
            found = case.solve(alpha, solver)
            assert found.penalty == pytest.approx(penalty, rel=1e-12)
            assert found.objective == pytest.approx(by_cone, rel=1e-8)
            assert found.objective == pytest.approx(by_sklearn, rel=1e-8)
            assert found.bound <= by_sklearn * (1 + 1e-9)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimality_conditions_hold_for_every_solver(kind: str, within: str) -> None:
    case = make(kind, within)
    plain = case.plain
    for solver in solvers_for(case):
        for alpha in ALPHAS:
            if solver == "variational" and alpha == 0.1:
                continue
            found = case.solve(alpha, solver)
            B = case.rows_in_plain_scores(found)
            off = plain.violation(B, found.penalty)
            assert off <= TOLS[solver] + 1e-12
            assert found.kkt == pytest.approx(off, abs=1e-11)
            assert found.objective == pytest.approx(plain.objective(B, found.penalty), rel=1e-12)
            assert found.gap <= TOLS[solver]


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("kind", KINDS)
def test_all_solvers_reach_the_same_rows(kind: str, within: str) -> None:
    """The paper's algorithm too. The optimum is unique here: columns are in general position."""
    case = make(kind, within, seed=1)
    for alpha in (0.3, 0.05):
        penalty = alpha * case.plain.lambda_max
        by_sklearn = oracle.least_by_sklearn(case.plain, penalty)
        size = np.abs(by_sklearn).max()
        first, *others = [case.solve(alpha, solver) for solver in solvers_for(case)]
        for found in (first, *others):
            B = case.rows_in_plain_scores(found)
            near = 1e-6 if found.solver == "variational" else 1e-7
            np.testing.assert_allclose(B, by_sklearn, rtol=0, atol=near * size)
            assert found.support.tolist() == first.support.tolist()
            assert np.abs(found.coefficients - first.coefficients).max() <= 1e-6 * size


def test_hundreds_of_small_problems() -> None:
    """400 of them; a cone solver, and for some plain gradient steps, know the optimum."""
    for seed in range(400):
        rng = np.random.default_rng([seed, 91])
        counts = tuple(rng.integers(1, 8, size=rng.integers(2, 7)).tolist())
        p = int(rng.integers(1, 12))
        X, y = oracle.random_classes(rng, (*counts, 3), p)
        if rng.random() < 0.3:
            X = np.round(X)
        if rng.random() < 0.2 and p > 3:
            X[:, p // 2] = X[:, 0]
        ridge = make_ridge(str(rng.choice(["none", "none", "number", "dense"])), p, rng)
        weights: Any = (None, "std", rng.uniform(0.3, 3.0, size=p))[rng.integers(3)]
        if isinstance(weights, str) and not X.std(axis=0).all():
            weights = None
        case = Case(X, y, {"within": WITHIN[seed % 2], "ridge": ridge, "weights": weights})
        alpha = float(2.0 ** -rng.uniform(0, 7))
        plain, search = case.plain, make_search(case.problem, "auto", 1e-10, Budget())
        penalty = alpha * plain.lambda_max
        found = solve_at(search, alpha)
        found.verify(case.problem)
        assert found.is_certified, seed
        B = oracle.least_by_cone(plain, penalty)
        assert found.objective == pytest.approx(plain.objective(B, penalty), rel=1e-8), seed
        if seed % 10 < 2:
            B = oracle.least_by_proximal_gradient(plain, penalty)
            assert found.objective == pytest.approx(plain.objective(B, penalty), rel=1e-8), seed


def test_larger_problems_where_the_working_set_grows() -> None:
    for seed in range(2):
        rng = np.random.default_rng([seed, 92])
        X, y = oracle.random_classes(rng, (20, 25, 15), 600)
        for within in WITHIN:
            case = Case(X, y, {"within": within, "ridge": 0.0, "weights": None})
            plain, search = case.plain, make_search(case.problem, "working-set", 1e-10, Budget())
            for alpha in (0.5, 0.05):  # a cold start, then a leap
                found = search.solve(alpha * plain.lambda_max)
                found.verify(case.problem)
                assert found.is_certified
                B = case.rows_in_plain_scores(found)
                assert plain.violation(B, found.penalty) <= 1e-10
                assert plain.surely(B, found.penalty)


# -- screening -------------------------------------------------------------------------------


def test_screened_features_are_not_used_by_the_optimum() -> None:
    """After a solution at one penalty, and from noisy rows: what is dropped is never needed."""
    n_dropped = n_close = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 93])
        counts = tuple(rng.integers(6, 12, size=2 + seed % 3).tolist())
        X, y = oracle.random_classes(rng, counts, 80, shift=1.5)
        weights = rng.uniform(0.5, 2.0, size=80) if seed % 4 == 0 else None
        ridge = 0.5 * (seed % 3 == 0)
        case = Case(X, y, {"within": WITHIN[seed % 2], "ridge": ridge, "weights": weights})
        plain, problem = case.plain, case.problem
        alpha = rng.uniform(0.4, 0.9)
        penalty = alpha * plain.lambda_max
        best = oracle.least_by_sklearn(plain, penalty)
        used = np.flatnonzero(np.linalg.norm(best, axis=1) > 1e-7 * np.abs(best).max())
        exact = case.solve(alpha)
        for nearby in (1.2, 1.05, 1.01, 1.001):
            search = GroupLassoSearch(problem, Budget())
            search.solve(min(nearby * penalty, 0.999 * plain.lambda_max))
            live = screen(search, penalty)
            assert set(used) <= set(live), seed
            n_dropped += live.size < 80
        for noise in (0.3, 0.1, 0.03, 0.01, 0.001):
            for _ in range(3):
                search = GroupLassoSearch(problem, Budget())
                kept = rng.random(exact.support.size) < 0.8
                search.S = exact.support[kept]
                search.rows = exact.rows[kept] * (1 + noise * rng.normal(size=(kept.sum(), 1)))
                search.slope = problem.slope(search.S, search.rows)
                live = screen(search, penalty)
                assert set(used) <= set(live), (seed, noise)
                n_dropped += live.size < 80
                t = penalty * problem.weights
                n_close += bool(np.any(np.linalg.norm(search.slope, axis=1)[used] < t[used]))
    assert n_dropped >= 100
    assert n_close >= 100


def screen(search: GroupLassoSearch, penalty: float) -> np.ndarray:
    search.t = penalty * search.problem.weights
    return search._screen(penalty)


def test_screening_happens_and_does_no_harm() -> None:
    n_screened = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 94])
        X, y = oracle.random_classes(rng, (15, 15, 15), 150, shift=1.5)
        ridge = 0.3 * (seed % 3 == 0)
        case = Case(X, y, {"within": WITHIN[seed % 2], "ridge": ridge, "weights": "std"})
        plain, search = case.plain, make_search(case.problem, "working-set", 1e-10, Budget())
        for alpha in 0.95 ** np.arange(1, 25):
            found = search.solve(float(alpha) * plain.lambda_max)
            assert 0 <= found.n_screened <= 150 - found.support.size
            n_screened += found.n_screened > 0
            B = case.rows_in_plain_scores(found)
            assert plain.violation(B, found.penalty) <= 1e-10 + 1e-12
        best = oracle.least_by_sklearn(plain, found.penalty)
        needed = np.flatnonzero(np.linalg.norm(best, axis=1) > 1e-7 * np.abs(best).max())
        assert set(needed) <= set(found.support.tolist())
    assert n_screened >= 50


# -- copies ----------------------------------------------------------------------------------


def with_copies(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """12 columns, the same, and the first six with another sign."""
    rng = np.random.default_rng([seed, 95])
    X, y = oracle.random_classes(rng, (9, 11, 8), 12)
    return np.hstack([X, X, -X[:, :6]]), y


@pytest.mark.parametrize("solver", ["working-set", "variational"])
def test_without_a_quadratic_term_the_first_of_identical_columns_is_used(solver: str) -> None:
    for seed in range(2 if solver == "variational" else 6):
        X, y = with_copies(seed)
        options = {"within": "full", "ridge": 0.0, "weights": None}
        case, alone = Case(X, y, options), Case(X[:, :12], y, options)
        for alpha in (0.5, 0.1):
            found, single = case.solve(alpha, solver), alone.solve(alpha, solver)
            assert found.support.tolist() == single.support.tolist()
            np.testing.assert_allclose(found.coefficients[:12], single.coefficients, atol=1e-6)
            penalty = alpha * case.plain.lambda_max
            best = oracle.least_by_sklearn(case.plain, penalty)
            assert found.objective == pytest.approx(case.plain.objective(best, penalty), rel=1e-8)


def test_of_identical_columns_that_of_least_weight_is_used() -> None:
    for seed in range(6):
        X, y = with_copies(seed)
        weights = np.ones(30)
        weights[[0, 13, 26]] = 1.0, 0.9, 0.8  # 13 is a copy of 1, 26 minus that of 2
        case = Case(X, y, {"within": "full", "ridge": 0.0, "weights": weights})
        for alpha in (0.3, 0.05):
            found = case.solve(alpha)
            allowed = {0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 26}
            assert set(found.support.tolist()) <= allowed
            penalty = alpha * case.plain.lambda_max
            best = oracle.least_by_sklearn(case.plain, penalty)
            assert found.objective == pytest.approx(case.plain.objective(best, penalty), rel=1e-8)
        assert {13, 26} <= set(found.support.tolist())


@pytest.mark.parametrize("solver", ["working-set", "dual", "variational"])
@pytest.mark.parametrize(("within", "ridge"), [("full", 0.4), ("diagonal", 0.0), ("diagonal", 0.4)])
def test_with_a_quadratic_term_identical_columns_share_equally(
    within: str, ridge: float, solver: str
) -> None:
    for seed in range(1 if solver == "variational" else 4):
        X, y = with_copies(seed)
        case = Case(X, y, {"within": within, "ridge": ridge, "weights": None})
        found = case.solve(0.4, solver)
        B, used = found.coefficients, set(found.support.tolist())
        assert used
        size = np.abs(B).max()
        np.testing.assert_allclose(B[:12], B[12:24], rtol=0, atol=1e-6 * size)
        np.testing.assert_allclose(B[:6], -B[24:], rtol=0, atol=1e-6 * size)
        assert {j + 12 for j in used if j < 12} == {j for j in used if 12 <= j < 24}
        best = oracle.least_by_sklearn(case.plain, found.penalty)
        least = case.plain.objective(best, found.penalty)
        assert found.objective == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize("within", WITHIN)
def test_nearly_identical_columns_do_not_spoil_the_certificate(
    within: str, distance: float
) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, 96])
        X, y = oracle.random_classes(rng, (9, 11, 8), 12)
        X = np.hstack([X, X + distance * rng.normal(size=X.shape)])
        case = Case(X, y, {"within": within, "ridge": 0.0, "weights": None})
        found = case.solve(0.2)
        B = case.rows_in_plain_scores(found)
        assert case.plain.surely(B, found.penalty), (distance, seed)
        assert case.plain.violation(B, found.penalty) <= 1e-10 + 1e-12


def test_one_of_two_nearly_identical_columns_is_enough() -> None:
    """Coordinate descent takes for ever to move all weight from one to the other."""
    rng = np.random.default_rng(8)
    y = np.arange(30) % 2
    x = rng.normal(size=30) + y
    X = np.column_stack([x, x + 1e-3 * rng.normal(size=30)])
    case = Case(X, y, {"within": "full", "ridge": 0.0, "weights": None})
    assert case.plain.violation(single_column(case, 1, 0.5), 0.5 * case.plain.lambda_max) <= 1e-12
    assert case.solve(0.5).support.tolist() == [1]


def single_column(case: Case, column: int, alpha: float) -> np.ndarray:
    """B, if this column alone is used."""
    plain = case.plain
    F = plain.F[:, column]
    pull = F @ plain.T
    B = np.zeros((plain.F.shape[1], plain.T.shape[1]))
    B[column] = (1 - alpha * plain.lambda_max / np.linalg.norm(pull)) * pull / (F @ F)
    return B


# -- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", TOLS)
@pytest.mark.parametrize("weights", [None, "std"])
@pytest.mark.parametrize(("within", "ridge"), [("full", 0.3), ("diagonal", 0.0)])
def test_nothing_is_used_at_lambda_max(
    within: str, ridge: float, weights: str | None, solver: str
) -> None:
    """Not by round-off either: 40 problems."""
    for seed in range(40):
        rng = np.random.default_rng([seed, 104])
        X, y = oracle.random_classes(rng, (10, 9, 11)[: 2 + seed % 2], 8)
        problem = Case(X, y, {"within": within, "ridge": ridge, "weights": weights}).problem
        search = make_search(problem, solver, TOLS[solver], Budget())
        assert search.solve(problem.lambda_max).support.size == 0, seed
        assert search.solve(0.999 * problem.lambda_max).support.size == 1, seed


def test_the_dual_needs_a_diagonal_and_positive_quadratic_term() -> None:
    X, y = oracle.random_classes(np.random.default_rng(0), (9, 9), 8)
    matrix: dict[str, Any] = {"ridge": np.eye(8)}
    for options in ({}, matrix, {"within": "diagonal", **matrix}):
        problem = ScoringProblem.from_data(X, y, **options)
        assert not can_solve(problem)
        with pytest.raises(OptionError, match="dual"):
            make_search(problem, "dual", 1e-10, Budget())
        assert make_search(problem, "auto", 1e-10, Budget()).solve(1.0).solver == "working-set"
    assert can_solve(ScoringProblem.from_data(X, y, ridge=0.1))
    assert suits(ScoringProblem.from_data(X, y, within="diagonal"))


# -- odd data --------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e20, 1e60])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("solver", TOLS)
def test_scales_do_not_matter(solver: str, within: str, scale: float) -> None:
    if solver == "dual" and within == "full":
        return
    p = 10 if solver == "variational" else 25
    X, y = oracle.random_classes(np.random.default_rng(97), (9, 12, 7), p)
    options = {"within": within, "ridge": 0.0, "weights": None}
    plain, scaled = Case(X, y, options), Case(scale * X, y, options)
    for alpha in (0.4,) if solver == "variational" else (0.4, 0.1):
        one, other = plain.solve(alpha, solver), scaled.solve(alpha, solver)
        assert other.support.tolist() == one.support.tolist()
        assert other.objective == pytest.approx(one.objective, rel=1e-10)
        assert other.kkt <= TOLS[solver]
        np.testing.assert_allclose(
            other.coefficients * scale, one.coefficients, rtol=0, atol=1e-6 * np.abs(one.rows).max()
        )


@pytest.mark.parametrize("within", WITHIN)
def test_weights_of_the_size_of_the_columns_make_scales_of_columns_not_matter(within: str) -> None:
    X, y = oracle.random_classes(np.random.default_rng(98), (9, 12, 7), 25)
    unit = 10.0 ** np.random.default_rng(0).uniform(-20, 20, size=25)
    options = {"within": within, "ridge": 0.0, "weights": "std"}
    one, other = Case(X, y, options).solve(0.1), Case(X * unit, y, options).solve(0.1)
    assert other.support.tolist() == one.support.tolist()
    np.testing.assert_allclose(
        other.coefficients * unit[:, None], one.coefficients, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("within", WITHIN)
def test_a_large_offset_does_not_matter(within: str) -> None:
    rng = np.random.default_rng(99)
    X, y = oracle.random_classes(rng, (9, 12, 7), 25)
    X = np.round(X * 2**10) / 2**10  # the offset loses none of these digits
    far = X.copy()
    far[:, [0, 5]] += 1e8
    options = {"within": within, "ridge": 0.0, "weights": None}
    one, other = Case(X, y, options).solve(0.1), Case(far, y, options).solve(0.1)
    assert other.support.tolist() == one.support.tolist()
    np.testing.assert_allclose(other.coefficients, one.coefficients, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("solver", TOLS)
def test_constant_columns_are_never_used(solver: str, within: str) -> None:
    if solver == "dual" and within == "full":
        return
    X, y = oracle.random_classes(np.random.default_rng(100), (9, 12, 7), 25)
    X[:, [0, 7, 24]] = 0.1, 0.0, 1e6
    options = {"within": within, "ridge": 0.0, "weights": None}
    rest = np.setdiff1d(np.arange(25), [0, 7, 24])
    for weights in (None, "std"):
        options = {"within": within, "ridge": 0.0, "weights": weights}
        case, less = Case(X, y, options), Case(X[:, rest], y, options)
        for alpha in (0.3,) if solver == "variational" else (0.3, 1 / 64):
            found, without = case.solve(alpha, solver), less.solve(alpha, solver)
            assert found.support.tolist() == rest[without.support].tolist()
            assert found.objective == pytest.approx(without.objective, rel=1e-9)


def test_a_column_that_is_constant_within_the_classes() -> None:
    """Its within-class variance is zero: the dual is not smooth, the working set does not mind."""
    X, y = oracle.random_classes(np.random.default_rng(101), (9, 12, 7), 25)
    X[:, 4] = np.array([0.0, 0.3, -0.2])[y]
    case = Case(X, y, {"within": "diagonal", "ridge": 0.0, "weights": None})
    with pytest.raises(OptionError, match="dual"):
        make_search(case.problem, "dual", 1e-10, Budget())
    for alpha in (0.3, 0.01):
        search = make_search(case.problem, "auto", 1e-10, Budget())
        found = solve_at(search, alpha)
        found.verify(case.problem)
        assert found.solver == "working-set"
        assert found.is_certified
        B = oracle.least_by_cone(case.plain, found.penalty)
        assert found.objective == pytest.approx(case.plain.objective(B, found.penalty), rel=1e-8)
        V, values = case.problem.discriminate(found.support, found.rows, found.penalty)
        assert np.isfinite(V).all()
        assert np.isfinite(values).all()
    assert 4 in found.support


@pytest.mark.parametrize("within", WITHIN)
def test_classes_with_one_sample(within: str) -> None:
    for counts in ((1, 1), (1, 9), (1, 1, 1, 1), (1, 5, 1, 8)):
        X, y = oracle.random_classes(np.random.default_rng(102), counts, 10)
        case = Case(X, y, {"within": within, "ridge": 0.0, "weights": None})
        for alpha in (0.5, 0.05):
            found = case.solve(alpha)
            B = oracle.least_by_cone(case.plain, found.penalty)
            least = case.plain.objective(B, found.penalty)
            assert found.objective == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("solver", TOLS)
def test_one_column_shrinks_by_the_formula(solver: str, within: str) -> None:
    """beta = (1 - lambda / |F'T|) F'T / (F'F + R)."""
    if solver == "dual" and within == "full":
        return
    for counts in ((9, 12), (6, 7, 8)):
        X, y = oracle.random_classes(np.random.default_rng(103), counts, 1)
        case = Case(X, y, {"within": within, "ridge": 0.0, "weights": None})
        S_w, S_b = oracle.scatters(X, y)
        for alpha in (1.0, 0.5, 1 / 128):
            found = case.solve(alpha, solver)
            size = (1 - alpha) * np.sqrt(len(X) * S_b[0, 0]) / (len(X) * (S_w + S_b)[0, 0])
            assert np.linalg.norm(found.coefficients) == pytest.approx(size, rel=1e-6, abs=1e-15)
