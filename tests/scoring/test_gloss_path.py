"""gloss_path, and exactly k features: plain paths, cold starts, pairs that enter together."""

from __future__ import annotations

import signal
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

import eigensieve as es
from eigensieve import ScoringProblem, gloss_path
from eigensieve.datasets.witten2011 import make_population
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Budget, Progress
from eigensieve.pencil.solution import Status
from eigensieve.scoring.gloss import make_search
from eigensieve.scoring.penalty_search import solve_at, solve_for
from tests.oracles import group_lasso as oracle
from tests.oracles.instances import shifted_classes

WITHIN = ("full", "diagonal")
SOLVERS = ("auto", "working-set", "variational")


@pytest.fixture(scope="module")
def data() -> oracle.Data:
    return shifted_classes(n=30, p=60, K=4, seed=1)


# -- the path --------------------------------------------------------------------------------


@pytest.mark.parametrize("within", WITHIN)
def test_shapes_and_order(data: Any, within: str) -> None:
    X, y = data
    path = gloss_path(X, y, [0.1, 0.9, 0.4, 1.0], within=within)
    assert isinstance(path, es.GlossPath)
    assert len(path) == 4
    np.testing.assert_allclose(path.alphas, [1.0, 0.9, 0.4, 0.1], rtol=1e-14)
    lambda_max = oracle.Regression.of(X, y, within=within).lambda_max
    assert path.lambda_max == pytest.approx(lambda_max, rel=1e-12)
    np.testing.assert_allclose(path.lambdas, lambda_max * path.alphas, rtol=1e-12)
    assert path.coefs.shape == (4, 60, 3)
    assert path.kkts.shape == path.n_selected.shape == (4,)
    assert path.kkts.max() <= 1e-10
    assert path.n_selected[0] == 0
    for i, B in enumerate(path.coefs):
        used = np.flatnonzero(np.linalg.norm(B, axis=1))
        assert used.tolist() == path.supports[i].tolist() == path[i].support.tolist()
        assert used.size == path.n_selected[i]
        assert path[i] is path.solutions[i]
        path[i].verify(path.problem)
    assert repr(path) == f"GlossPath(4 penalties, {path.n_selected.tolist()} features)"


def test_the_usual_penalties(data: Any) -> None:
    path = gloss_path(*data)
    np.testing.assert_allclose(path.alphas, [2.0 ** (-i / 2) for i in range(15)], rtol=1e-12)


def test_one_penalty_as_a_number(data: Any) -> None:
    X, y = data
    path = gloss_path(X, y, 0.5)
    np.testing.assert_allclose(path.alphas, [0.5])


@pytest.mark.parametrize("within", WITHIN)
def test_the_same_penalty_twice_has_one_answer(data: Any, within: str) -> None:
    X, y = data
    path = gloss_path(X, y, [0.3, 0.3, 0.3], within=within)
    for found in path.solutions[1:]:
        np.testing.assert_allclose(found.coefficients, path[0].coefficients, rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("within", WITHIN)
def test_warm_starts_do_not_change_the_answer(data: Any, within: str, solver: str) -> None:
    """Every penalty alone, without the ones before it."""
    X, y = data
    alphas = (0.8, 0.6, 0.3) if solver == "variational" else (0.8, 0.5, 0.2, 0.05, 1 / 128)
    tol = 1e-8 if solver == "variational" else 1e-10
    plain = oracle.Regression.of(X, y, within=within)
    path = gloss_path(X, y, alphas, within=within, solver=solver, tol=tol)
    for i, alpha in enumerate(alphas):
        cold = gloss_path(X, y, [alpha], within=within, solver=solver, tol=tol)[0]
        assert cold.support.tolist() == path[i].support.tolist()
        size = np.abs(cold.rows).max()
        np.testing.assert_allclose(cold.coefficients, path.coefs[i], rtol=0, atol=1e-6 * size)
        penalty = alpha * plain.lambda_max
        least = plain.objective(oracle.least_by_sklearn(plain, penalty), penalty)
        assert path[i].objective == pytest.approx(least, rel=1e-9)


def test_solve_at_arrives_at_its_penalty(data: Any) -> None:
    X, y = data
    plain, problem = oracle.Regression.of(X, y), ScoringProblem.from_data(X, y)
    for alpha in (1.0, 0.7, 0.5, 0.1, 1e-3):
        found = solve_at(make_search(problem, "auto", 1e-10, Budget()), alpha)
        found.verify(problem)
        assert found.alpha == pytest.approx(alpha, rel=1e-14)
        least = oracle.least_by_cone(plain, found.penalty)
        value = plain.objective(least, found.penalty)
        assert found.objective == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("within", WITHIN)
def test_max_features_ends_the_path(data: Any, within: str) -> None:
    whole = gloss_path(*data, within=within)
    for most in (1, 3, 10, 60):
        short = gloss_path(*data, within=within, max_features=most)
        first_over = int(np.argmax(np.append(whole.n_selected, 10**9) > most))
        assert len(short) == first_over
        assert short.n_selected.tolist() == whole.n_selected[:first_over].tolist()


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize("within", WITHIN)
def test_directions_are_those_of_the_penalised_lda(data: Any, within: str, ridge: float) -> None:
    X, y = data
    S_w, S_b = oracle.scatters(X, y)
    path = gloss_path(X, y, [1.0, 0.5, 0.1], within=within, ridge=ridge, tol=1e-13)
    V, values = path.directions(0)
    assert V.shape == (60, 0)
    assert values.shape == (0,)
    for i in (1, 2):
        V, values = path.directions(i)
        S, lengths = path.supports[i], np.linalg.norm(path[i].rows, axis=1)
        assert V.shape == (60, values.size)
        assert not np.delete(V, S, axis=0).any()
        M = np.diag(np.diag(S_w)) if within == "diagonal" else S_w
        M = (M + ridge * np.eye(60))[np.ix_(S, S)]
        M += path[i].penalty / len(X) * np.diag(1 / lengths)
        np.testing.assert_allclose(V[S].T @ M @ V[S], np.eye(values.size), rtol=0, atol=1e-10)
        expected = linalg.eigh(S_b[np.ix_(S, S)], M, eigvals_only=True)[::-1][: values.size]
        np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_float32_is_the_same_numbers_in_float64(data: Any) -> None:
    X, y = data
    small = (X + 1000.0).astype(np.float32)
    for within in WITHIN:
        single = gloss_path(small, y, [0.5, 0.1], within=within)
        double = gloss_path(small.astype(np.float64), y, [0.5, 0.1], within=within)
        np.testing.assert_array_equal(single.coefs, double.coefs)
        assert single.coefs.dtype == np.float64
        assert single.kkts.max() <= 1e-10


def test_whole_numbers_and_lists(data: Any) -> None:
    X, y = data
    whole = np.round(3 * X).astype(int)
    expected = gloss_path(whole.astype(float), y, [0.3]).coefs
    np.testing.assert_array_equal(gloss_path(whole, y, [0.3]).coefs, expected)
    np.testing.assert_array_equal(gloss_path(whole.tolist(), y.tolist(), [0.3]).coefs, expected)


@pytest.mark.parametrize("names", [["a", "b", "c", "d"], [10, 20, 30, 40], [-1.5, 0.0, 0.5, 9.0]])
def test_labels_of_any_kind(data: Any, names: list[Any]) -> None:
    X, y = data
    expected = gloss_path(X, y, [0.3]).coefs
    np.testing.assert_array_equal(gloss_path(X, np.array(names)[y], [0.3]).coefs, expected)
    labels = np.array(names, dtype=object)[y]
    np.testing.assert_array_equal(gloss_path(X, labels, [0.3]).coefs, expected)


def test_the_order_of_classes_does_not_matter(data: Any) -> None:
    X, y = data
    for within in WITHIN:
        path, other = (gloss_path(X, label, [0.2], within=within) for label in (y, 3 - y))
        assert path[0].support.tolist() == other[0].support.tolist()
        B, C = path.coefs[0], other.coefs[0]
        np.testing.assert_allclose(B @ B.T, C @ C.T, rtol=0, atol=1e-9 * np.abs(B @ B.T).max())


# -- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("within", WITHIN)
def test_without_time_there_is_one_answer_with_a_valid_bound(
    data: Any, within: str, solver: str
) -> None:
    X, y = data
    plain = oracle.Regression.of(X, y, within=within)
    for alphas in (None, [0.02]):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            path = gloss_path(X, y, alphas, within=within, solver=solver, time_limit=0)
        assert len(path) == 1
        # the path of 15 has ended early, whatever its first answer is worth
        assert len(told) == (alphas is None or not path[0].is_certified)
        assert all(issubclass(warning.category, ConvergenceWarning) for warning in told)
        path[0].verify(path.problem)
        penalty = path[0].penalty
        assert penalty == pytest.approx(plain.lambda_max * (alphas or [1.0])[0], rel=1e-12)
        least = plain.objective(oracle.least_by_cone(plain, penalty), penalty)
        assert path[0].bound <= least * (1 + 1e-9)
        assert path[0].objective >= least * (1 - 1e-9)
        if path[0].status is not Status.TIME_LIMIT:  # quick enough to be done all the same
            assert path[0].is_certified
            assert path[0].objective == pytest.approx(least, rel=1e-8)


def test_ctrl_c_gives_what_there_is(data: Any) -> None:
    def press(event: Progress) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.warns(ConvergenceWarning, match="ended early|not optimal"):
        path = gloss_path(*data, callback=press)
    assert 1 <= len(path) < 15


def test_a_path_that_did_not_converge_says_so(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eigensieve.scoring.group_lasso_variational.MAX_SYSTEMS", 5)
    with pytest.warns(ConvergenceWarning, match="2 of 3 solutions are not optimal.*iteration"):
        path = gloss_path(*data, [1.0, 0.5, 0.25], solver="variational")
    assert [solution.is_certified for solution in path.solutions] == [True, False, False]


def test_the_papers_algorithm_converges_on_its_first_simulation() -> None:
    """125 features: 50,000 systems were not enough when each set of features was solved out."""
    rng = np.random.default_rng(0)
    X, y = make_population(1, rng).draw(100, rng)
    problem = ScoringProblem.from_data(X, y)
    wanted, found = (
        solve_at(make_search(problem, solver, 1e-6, Budget()), 0.125)
        for solver in ("working-set", "variational")
    )
    found.verify(problem)
    assert found.is_certified
    np.testing.assert_array_equal(found.support, wanted.support)
    np.testing.assert_allclose(found.rows, wanted.rows, atol=1e-4 * np.abs(wanted.rows).max())


def test_the_callback_hears_of_the_path(data: Any) -> None:
    X, y = data
    events: list[Progress] = []
    gloss_path(X, y, [0.5, 0.2], callback=events.append)
    assert events[0].phase == "path"
    assert (events[0].step, events[0].total) == (1, 2)


# -- exactly k -------------------------------------------------------------------------------


def sizes_on_the_way(plain: oracle.Regression, penalties: np.ndarray) -> set[int]:
    """Numbers of features that scikit-learn uses at these penalties."""
    found = set()
    for penalty in penalties:
        B = oracle.least_by_sklearn(plain, float(penalty))
        found.add(int(np.count_nonzero(np.linalg.norm(B, axis=1))))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("within", WITHIN)
def test_every_k_of_the_path_is_found(within: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 61])
    X, y = oracle.random_classes(rng, (10, 9, 11) if seed % 2 else (14, 12), 20, shift=0.4)
    plain = oracle.Regression.of(X, y, within=within)
    shares = plain.lambda_max * 0.96 ** np.arange(1, 90)
    problem = ScoringProblem.from_data(X, y, within=within)
    reachable = sizes_on_the_way(plain, shares) - {0}
    assert len(reachable) >= 10
    for k in sorted(reachable):
        found = solve_for(make_search(problem, "auto", 1e-10, Budget()), k)
        found.verify(problem)
        assert found.is_certified
        assert found.support.size == k
        best = oracle.least_by_sklearn(plain, found.penalty)
        used = np.flatnonzero(np.linalg.norm(best, axis=1) > 1e-7 * np.abs(best).max())
        assert set(used) <= set(found.support.tolist())
        least = plain.objective(best, found.penalty)
        assert found.objective == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("within", WITHIN)
def test_the_penalty_is_the_least_of_its_interval(within: str) -> None:
    """A little below (2 %) another number of features is used."""
    for seed in range(3):
        rng = np.random.default_rng([seed, 62])
        X, y = oracle.random_classes(rng, (10, 9, 11), 25, shift=1.5)
        plain = oracle.Regression.of(X, y, within=within)
        problem = ScoringProblem.from_data(X, y, within=within)
        for k in range(1, 9):
            found = solve_for(make_search(problem, "auto", 1e-10, Budget()), k)
            assert found.support.size == k
            below = oracle.least_by_sklearn(plain, found.penalty / 1.02)
            assert np.count_nonzero(np.linalg.norm(below, axis=1)) != k, (seed, k)


@pytest.mark.parametrize("solver", ["auto", "working-set"])
@pytest.mark.parametrize(("within", "ridge"), [("diagonal", 0.0), ("full", 0.3), ("diagonal", 0.3)])
def test_where_pairs_enter_together_the_fewer_of_the_nearest_comes(
    within: str, ridge: float, solver: str
) -> None:
    """Every column twice: no odd number of features is ever used."""
    for seed in range(2):
        rng = np.random.default_rng([seed, 63])
        X, y = oracle.random_classes(rng, (10, 9, 11), 8, shift=1.5)
        X = np.hstack([X, X])
        problem = ScoringProblem.from_data(X, y, within=within, ridge=ridge)
        for k in (1, 2, 3, 5, 8):
            found = solve_for(make_search(problem, solver, 1e-10, Budget()), k)
            found.verify(problem)
            assert found.is_certified
            assert found.support.size == max(2, 2 * (k // 2))  # no features are no answer
            half = found.support[found.support < 8]
            assert found.support.tolist() == [*half.tolist(), *(half + 8).tolist()]


@pytest.mark.parametrize("solver", ["auto", "working-set"])
@pytest.mark.parametrize(("seed", "k"), [(23, 2), (209, 1), (209, 2)])
def test_a_number_that_is_skipped_at_first_may_come_later(seed: int, k: int, solver: str) -> None:
    """Three copies enter together and leave again when others do better."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 2
    Z = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 4)) + np.outer(y, rng.normal(size=4))
    X = np.column_stack([Z[:, :1], Z[:, :1], Z])
    plain = oracle.Regression.of(X, y, ridge=1e-3)
    problem = ScoringProblem.from_data(X, y, ridge=1e-3)
    found = solve_for(make_search(problem, solver, 1e-10, Budget()), k)
    assert found.support.size == k
    for share in (0.9, 0.85, 0.8):
        lengths = np.linalg.norm(oracle.least_by_cone(plain, share * plain.lambda_max), axis=1)
        assert np.flatnonzero(lengths > 1e-6 * lengths.max()).tolist() == [0, 1, 2]
    lengths = np.linalg.norm(oracle.least_by_cone(plain, found.penalty), axis=1)
    assert np.flatnonzero(lengths > 1e-6 * lengths.max()).tolist() == found.support.tolist()


def test_copies_without_a_quadratic_term_do_not_enter_together() -> None:
    rng = np.random.default_rng(64)
    X, y = oracle.random_classes(rng, (10, 9, 11), 8, shift=1.5)
    problem = ScoringProblem.from_data(np.hstack([X, -X]), y)
    for k in range(1, 9):
        found = solve_for(make_search(problem, "auto", 1e-10, Budget()), k)
        assert found.support.size == k
        assert found.support.max() < 8


@pytest.mark.parametrize("within", WITHIN)
def test_more_features_than_the_path_reaches(within: str) -> None:
    """Two classes and the full covariance use at most n - 1; nobody uses constant columns."""
    X, y = oracle.random_classes(np.random.default_rng(65), (4, 4), 20)
    problem = ScoringProblem.from_data(X, y, within=within)
    for k in (20, 50):
        found = solve_for(make_search(problem, "auto", 1e-8, Budget()), k)
        found.verify(problem)
        if within == "full":
            assert 4 <= found.support.size <= 7
        else:
            assert found.support.size == 20
    X[:, 10:] = 1.0
    problem = ScoringProblem.from_data(X, y, within="diagonal")
    assert solve_for(make_search(problem, "auto", 1e-8, Budget()), 15).support.size == 10


def test_k_without_time() -> None:
    X, y = shifted_classes(n=30, p=60, K=4, seed=1)
    problem = ScoringProblem.from_data(X, y)
    found = solve_for(make_search(problem, "auto", 1e-8, Budget(time_limit=0)), 5)
    found.verify(problem)
    assert found.is_certified or found.status is Status.TIME_LIMIT
    assert found.alpha <= 1.0


# -- bad input -------------------------------------------------------------------------------

BAD: dict[str, tuple[str, dict[str, Any]]] = {
    "within": ("within", {"within": "diag"}),
    "weights of another length": ("weights", {"weights": [1.0, 2.0]}),
    "weights of zero": ("weights", {"weights": np.zeros(60)}),
    "ridge below zero": ("ridge", {"ridge": -1.0}),
    "ridge of another shape": ("ridge", {"ridge": np.eye(3)}),
    "alpha 0": ("alphas", {"alphas": [0.0]}),
    "alpha above 1": ("alphas", {"alphas": [1.1]}),
    "alpha below 0": ("alphas", {"alphas": [0.5, -0.1]}),
    "alpha NaN": ("alphas", {"alphas": [np.nan]}),
    "no alphas": ("alphas", {"alphas": []}),
    "a matrix of alphas": ("alphas", {"alphas": [[0.1, 0.2]]}),
    "alphas of text": ("alphas", {"alphas": "many"}),
    "alphas of several lengths": ("alphas", {"alphas": [[0.1], [0.1, 0.2]]}),
    "tol 0": ("tol", {"tol": 0.0}),
    "tol too small": ("tol", {"tol": 1e-16}),
    "tol too large": ("tol", {"tol": 0.2}),
    "tol NaN": ("tol", {"tol": np.nan}),
    "tol as text": ("tol", {"tol": "1e-6"}),
    "tol as bool": ("tol", {"tol": True}),
    "unknown solver": ("solver", {"solver": "lars"}),
    "solver None": ("solver", {"solver": None}),
    "solver in a list": ("solver", {"solver": ["dual"]}),
    "dual with the full covariance": ("dual", {"solver": "dual"}),
    "time below zero": ("time_limit", {"time_limit": -1}),
    "callback": ("callback", {"callback": 3}),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_options_are_refused(data: Any, name: str) -> None:
    match, options = BAD[name]
    with pytest.raises(OptionError, match=match):
        gloss_path(*data, **options)


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "3"])
def test_max_features_is_a_whole_number(data: Any, most: Any) -> None:
    with pytest.raises(InputError, match="max_features"):
        gloss_path(*data, max_features=most)


def test_data_that_cannot_be_used(data: Any) -> None:
    X, y = data
    broken = X.copy()
    broken[0, 0] = np.nan
    missing = y.astype(float)
    missing[2] = np.nan
    for wrong in ((broken, y), (X, np.zeros(30)), (X, missing), (X[:20], y), (np.ones_like(X), y)):
        with pytest.raises(InputError):
            gloss_path(*wrong)


def test_the_dual_with_too_many_classes_or_flat_columns_is_refused(data: Any) -> None:
    X, y = data
    gloss_path(X, y, [0.5], within="diagonal", solver="dual")
    flat = X.copy()
    flat[:, 2] = y
    with pytest.raises(OptionError, match="dual"):
        gloss_path(flat, y, [0.5], within="diagonal", solver="dual")
    rng = np.random.default_rng(0)
    many = np.arange(66) % 22
    with pytest.raises(OptionError, match="dual"):
        gloss_path(rng.normal(size=(66, 5)), many, [0.5], within="diagonal", solver="dual")
    path = gloss_path(rng.normal(size=(66, 5)), many, [0.5], within="diagonal")
    assert path[0].solver == "working-set"
