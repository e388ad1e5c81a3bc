"""Sparse optimal scoring: the paper's alternation written out, optimality by hand, limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.linear_model import ElasticNet

from eigensieve import ScoringProblem
from eigensieve.pencil.budget import Budget
from eigensieve.scoring.optimal_scoring import ScoredDirection, find_scored_directions
from tests.clock import stop_after
from tests.oracles.instances import shifted_classes as make

TOL = 1e-6


class Plain:
    """The paper's terms: centred X, class indicators Y, scores theta with theta'Dtheta = 1."""

    def __init__(self, X: np.ndarray, y: np.ndarray, ridge: float = 0.0) -> None:
        self.X, self.n, self.ridge = X - X.mean(axis=0), len(X), ridge
        self.Y = np.equal.outer(y, np.unique(y)).astype(float)
        self.D = self.Y.T @ self.Y / self.n

    def theta(self, direction: ScoredDirection, problem: ScoringProblem) -> np.ndarray:
        """Scores of the classes, from those of the samples."""
        scores = np.sqrt(self.n) * problem.target @ direction.scores
        return np.linalg.lstsq(self.Y, scores, rcond=None)[0]

    def start(self, Q: np.ndarray) -> np.ndarray:
        """The scores D-orthogonal to Q of the column that is used first."""
        root = np.sqrt(np.diag(self.D))
        free = linalg.null_space((root[:, None] * Q).T) / root[:, None]
        C = self.X.T @ self.Y @ free
        first = C[np.argmax(np.linalg.norm(C, axis=1))]
        return free @ (first / np.linalg.norm(first))

    def best_scores(self, b: np.ndarray, Q: np.ndarray) -> np.ndarray:
        w = np.linalg.solve(self.D, self.Y.T @ self.X @ b)
        w -= Q @ (Q.T @ self.D @ w)
        return w / np.sqrt(w @ self.D @ w)

    def net(self, theta: np.ndarray, penalty: float) -> np.ndarray:
        size = penalty / self.n + self.ridge
        model = ElasticNet(
            alpha=size,
            l1_ratio=penalty / self.n / size,
            fit_intercept=False,
            tol=1e-13,
            max_iter=100_000,
        )
        return model.fit(self.X, self.Y @ theta / np.sqrt(self.n)).coef_

    def alternate(
        self, theta: np.ndarray, Q: np.ndarray, penalty: float, steps: int = 300
    ) -> tuple[np.ndarray, np.ndarray]:
        """Steps 2(a) and 2(b) of the paper, literally."""
        for _ in range(steps):
            b = self.net(theta, penalty)
            if not b.any():
                break
            last, theta = theta, self.best_scores(b, Q)
            if np.abs(theta - last).max() < 1e-8:
                break
        return theta, self.net(theta, penalty)

    def criterion(self, theta: np.ndarray, b: np.ndarray, penalty: float) -> float:
        rest = self.Y @ theta / np.sqrt(self.n) - self.X @ b
        return float(rest @ rest + self.n * self.ridge * b @ b) / 2 + penalty * np.abs(b).sum()


def search(
    problem: ScoringProblem,
    alpha: float,
    *,
    budget: Budget | None = None,
    tol: float = TOL,
    max_iter: int = 500,
) -> list[ScoredDirection]:
    sizes = [None] * problem.target.shape[1]
    return find_scored_directions(
        problem, sizes, budget or Budget(), alpha=alpha, tol=tol, max_iter=max_iter
    )


def earlier(found: list[ScoredDirection], plain: Plain, problem: ScoringProblem) -> np.ndarray:
    """The constant and the scores of these directions."""
    thetas = [plain.theta(direction, problem) for direction in found]
    return np.column_stack([np.ones(len(plain.D)), *thetas])


def weights(direction: ScoredDirection) -> np.ndarray:
    return direction.solution.coefficients[:, 0]


# --- against the paper's alternation ---


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize("alpha", [0.7, 0.5, 0.2])
@pytest.mark.parametrize(("n", "p", "K"), [(40, 120, 3), (40, 30, 4), (40, 100, 5), (90, 10, 3)])
def test_the_criterion_is_not_above_that_of_the_alternation_of_the_paper(
    n: int, p: int, K: int, alpha: float, ridge: float
) -> None:
    """From the same start, by way of the same penalties: one below 1/2 is halved on the way."""
    for seed, shift in [(0, 3.0), (1, 1.0), (2, 3.0)]:
        X, y = make(n, p, K, seed=seed, shift=shift)
        plain, problem = Plain(X, y, ridge), ScoringProblem.from_data(X, y, ridge=ridge)
        found = search(problem, alpha)
        for k, direction in enumerate(found):
            Q, penalty = earlier(found[:k], plain, problem), direction.solution.penalty
            steps = int(np.ceil(-np.log2(alpha)))
            theta = plain.start(Q)
            for share in alpha ** (np.arange(1, steps + 1) / steps - 1):
                theta, b = plain.alternate(theta, Q, share * penalty)
            theirs = plain.criterion(theta, b, penalty)
            ours = plain.criterion(plain.theta(direction, problem), weights(direction), penalty)
            assert ours <= theirs * (1 + 1e-6)
            assert direction.solution.objective == pytest.approx(ours, rel=1e-10)


@pytest.mark.parametrize("K", [3, 4, 5])
def test_the_start_is_the_column_that_is_used_first(K: int) -> None:
    """With one lasso only, the scores of the start are kept."""
    X, y = make(40, 60, K, shift=2.0)
    X, y = X[:-3], y[:-3]
    plain, problem = Plain(X, y), ScoringProblem.from_data(X, y)
    found = search(problem, 0.5, max_iter=1)
    assert len(found) > 1
    for k, direction in enumerate(found):
        theta, start = (
            plain.theta(direction, problem),
            plain.start(earlier(found[:k], plain, problem)),
        )
        assert abs(theta @ plain.D @ start) == pytest.approx(1.0, rel=1e-9)
        assert direction.n_iter == 1


@pytest.mark.parametrize("shift", [3.0, 0.5])
@pytest.mark.parametrize("K", [3, 4, 5])
def test_a_lasso_that_nearly_interpolates_converges(K: int, shift: float) -> None:
    """Optimal by the conditions of the lasso, written out, and the scores stay."""
    X, y = make(30, 1000, K, shift=shift)
    plain, problem = Plain(X, y), ScoringProblem.from_data(X, y)
    found = search(problem, 1 / 128)
    assert len(found) == K - 1
    for k, direction in enumerate(found):
        assert direction.converged
        assert direction.n_iter <= 60  # the paper's steps: 100 and more for most first directions
        theta, b = plain.theta(direction, problem), weights(direction)
        rest = plain.Y @ theta / np.sqrt(30) - plain.X @ b
        assert np.linalg.norm(rest) < 0.05
        slope, penalty, used = plain.X.T @ rest, direction.solution.penalty, b != 0
        assert np.abs(slope).max() <= penalty * (1 + 1e-8)
        np.testing.assert_allclose(slope[used], penalty * np.sign(b[used]), rtol=1e-8)
        move = theta - plain.best_scores(b, earlier(found[:k], plain, problem))
        assert np.sqrt(move @ plain.D @ move) <= 1.001 * TOL


# --- what is returned ---


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_scores_are_orthonormal_and_lassos_are_proved_optimal(K: int, alpha: float) -> None:
    X, y = make(40, 80, K)
    problem = ScoringProblem.from_data(X, y)
    found = search(problem, alpha)
    a = np.column_stack([direction.scores for direction in found])
    np.testing.assert_allclose(a.T @ a, np.eye(a.shape[1]), atol=1e-12)
    for k, direction in enumerate(found):
        assert direction.solution.is_certified
        direction.solution.verify(problem.combine(direction.scores[:, None]))
        assert direction.alpha == pytest.approx(alpha, rel=1e-12)
        left = problem.correlations @ linalg.null_space(a[:, :k].T) if k else problem.correlations
        largest = np.linalg.norm(left, axis=1).max()
        assert direction.solution.penalty == pytest.approx(alpha * largest, rel=1e-9)


def test_a_smaller_tol_is_kept_too() -> None:
    X, y = make(40, 80, 4, shift=1.0)
    plain, problem = Plain(X, y), ScoringProblem.from_data(X, y)
    moves = {}
    for tol in (1e-2, 1e-9):
        direction = search(problem, 0.1, tol=tol)[0]
        move = plain.theta(direction, problem) - plain.best_scores(
            weights(direction), np.ones((4, 1))
        )
        moves[tol] = np.sqrt(move @ plain.D @ move)
        assert direction.converged
        assert moves[tol] <= 1.001 * tol
    assert moves[1e-2] > 1e-9  # else the smaller one was no more work


def test_a_limit_of_lassos_is_kept_and_told_of() -> None:
    X, y = make(40, 80, 4, shift=1.0)
    problem = ScoringProblem.from_data(X, y)
    needed = search(problem, 0.1)[0].n_iter
    assert needed > 4
    for limit in (1, 2, 3):
        direction = search(problem, 0.1, max_iter=limit)[0]
        assert direction.n_iter == limit
        assert not direction.converged
        direction.solution.verify(problem.combine(direction.scores[:, None]))


def test_two_classes_have_one_score_and_need_one_lasso() -> None:
    found = search(ScoringProblem.from_data(*make(40, 80, 2)), 0.1, max_iter=1)
    assert len(found) == 1
    assert found[0].converged
    assert found[0].n_iter == 1
    assert abs(found[0].scores[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_no_more_directions_than_the_class_means_span(p: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 5
    X = rng.normal(size=(5, p))[y] * 3 + rng.normal(size=(60, p))
    assert len(search(ScoringProblem.from_data(X, y), 0.01)) == p


@pytest.mark.parametrize("K", [2, 3, 5])
def test_every_penalty_below_the_largest_leaves_a_feature(K: int) -> None:
    X, y = make(30, 200, K)
    problem = ScoringProblem.from_data(X, y)
    for alpha in (1 - 1e-6, 0.99, 0.7):
        found = search(problem, alpha)
        assert len(found) == K - 1
        assert all(direction.solution.support.size > 0 for direction in found)
        first = int(np.argmax(np.linalg.norm(problem.correlations, axis=1)))
        assert first in found[0].solution.support


# --- limits ---


@pytest.mark.parametrize("looks", [0, 1, 3, 10, 30, 100, 300])
def test_what_there_is_when_the_time_is_up_fits_together(
    monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    """Support, weights and scores of one and the same step; better than b = 0, which costs 1/2."""
    X, y = make(30, 60, 4)
    problem = ScoringProblem.from_data(X, y)
    whole = len(search(problem, 0.1))
    stop_after(monkeypatch, looks)
    found = search(problem, 0.1)
    assert 1 <= len(found) <= whole
    for direction in found:
        direction.solution.verify(problem.combine(direction.scores[:, None]))
        assert direction.solution.objective < 0.5
    assert looks > 0 or len(found) == 1


@pytest.mark.parametrize("looks", [0, 1, 2, 5])
@pytest.mark.parametrize("k", [1, 10])
def test_a_number_of_features_when_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch, k: int, looks: int
) -> None:
    """The scores of the start have no feature yet at the first penalty that is looked at."""
    problem = ScoringProblem.from_data(*make(40, 100, 5, seed=8, shift=1.0))
    stop_after(monkeypatch, looks)
    found = find_scored_directions(problem, [k], Budget(), alpha=None, tol=TOL, max_iter=500)
    assert len(found) <= 1
