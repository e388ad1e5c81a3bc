"""The best exchanges of one feature, against all of them scored one by one."""

import numpy as np
import pytest

from eigensieve.pencil.pencil import Pencil
from eigensieve.pencil.problem import Problem, make_problem
from eigensieve.studies.optimality import best_exchanges
from eigensieve.tables.builders import lda_pencil
from tests.oracles import naive


def make_pencil(n_classes: int, p: int = 14, seed: int = 0, shrinkage: float = 0.2) -> Pencil:
    rng = np.random.default_rng(seed)
    y = np.arange(30) % n_classes
    X = rng.normal(size=(30, p)) @ rng.normal(size=(p, p))
    X += y[:, None] * rng.normal(size=p)
    return lda_pencil(X, y, shrinkage)


def all_exchanges(problem: Problem, S: list[int], leaving: int) -> list[tuple[float, int]]:
    """(score, feature) of everything that could come in, the best first."""
    A, B = np.asarray(problem.pencil.A), np.asarray(problem.pencil.B)
    rest = [i for i in S if i != leaving]
    return sorted(
        (
            (naive.score(A, B, [*rest, j], problem.criterion), j)
            for j in range(problem.pencil.size)
            if j not in S
        ),
        key=lambda entry: (-entry[0], entry[1]),
    )


def assert_best(problem: Problem, S: list[int], n_best: int = 3) -> None:
    found = best_exchanges(problem, np.array(S), n_best)
    assert [one.leaving for one in found] == [j for j in sorted(S) if j not in problem.include]
    for one in found:
        expected = all_exchanges(problem, S, one.leaving)[:n_best]
        np.testing.assert_allclose(one.scores, [score for score, _ in expected], rtol=1e-9)
        assert one.entering.tolist() == [j for _, j in expected]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_logdet_is_exact(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    pencil = make_pencil(n_classes, 14, seed)
    for k in (1, 2, 5, 13):
        S = rng.choice(14, size=k, replace=False).tolist()
        assert_best(make_problem(pencil, k, "logdet"), S)


@pytest.mark.parametrize("criterion", ["trace", "lambda_max"])
def test_two_classes_are_exact_for_every_criterion(criterion: str) -> None:
    for seed in range(5):
        pencil = make_pencil(2, 16, seed)
        S = np.random.default_rng(seed).choice(16, size=4, replace=False).tolist()
        assert_best(make_problem(pencil, 4, criterion), S)


@pytest.mark.parametrize("criterion", ["trace", "lambda_max"])
def test_few_rivals_are_all_scored(criterion: str) -> None:
    """With several classes the order is that of log-det; up to ten rivals are rescored."""
    pencil = make_pencil(4, 12)
    assert_best(make_problem(pencil, 3, criterion), [0, 5, 9])


def test_wide_data_are_like_dense_ones() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 700)), np.arange(20) % 3
    X[:, 50:] = rng.normal(size=(20, 650)) * 0.3 + X[:, :1]
    wide = lda_pencil(X, y, 0.3)
    dense = Pencil(np.asarray(wide.A), np.asarray(wide.B))
    S = np.array([3, 60, 500])
    for a, b in zip(*(best_exchanges(make_problem(q, 3, "logdet"), S) for q in (wide, dense))):
        np.testing.assert_array_equal(a.entering, b.entering)
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9)
    assert_best(make_problem(wide, 3, "logdet"), S.tolist())


def test_included_features_stay_and_excluded_ones_never_come() -> None:
    pencil = make_pencil(3, 10)
    problem = make_problem(pencil, 4, "logdet", include=[2, 7], exclude=[0, 5])
    places = problem.to_local([2, 3, 7, 9])
    found = best_exchanges(problem, places, 20)
    assert problem.to_original[[one.leaving for one in found]].tolist() == [3, 9]
    for one in found:
        assert set(problem.to_original[one.entering]) == {1, 4, 6, 8}
    assert_best(problem, places.tolist())
    everything = make_problem(pencil, 2, "logdet", include=[2, 7])
    assert best_exchanges(everything, np.array([2, 7])) == []


def test_all_features_have_no_rival() -> None:
    pencil = make_pencil(2, 5)
    assert best_exchanges(make_problem(pencil, 5, "logdet"), np.arange(5)) == []


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
def test_a_copy_takes_the_place_without_a_loss(shrinkage: float) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 6))
    X[:, :3] += np.array([4.0, 1.5, 1.5]) * y[:, None]
    X[:, 5] = 7 - 4 * X[:, 0]
    problem = make_problem(lda_pencil(X, y, shrinkage), 2, "logdet")
    first, second = best_exchanges(problem, np.array([0, 1]))
    assert first.entering[0] == 5
    assert first.scores[0] == pytest.approx(problem.score([0, 1]), rel=1e-7)
    # beside feature 0 its copy is a rival like others, of little worth without shrinkage
    scores = {j: problem.score([0, j]) for j in (2, 3, 4, 5)}
    assert second.entering[0] == max(scores, key=lambda j: scores[j])
    assert second.scores[0] == pytest.approx(max(scores.values()))
    assert (shrinkage > 0) == (5 in second.entering)


def test_columns_without_any_worth_come_last() -> None:
    """A constant column adds nothing: the set scores what it does without the feature."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 5))
    X[:, 0] += 2 * y
    X[:, 4] = 3.0
    problem = make_problem(lda_pencil(X, y, 0.2), 2, "logdet")
    _, one = best_exchanges(problem, np.array([0, 1]), 5)
    assert one.entering.tolist()[-1] == 4
    assert one.scores[-1] == pytest.approx(problem.score([0]))
    assert_best(problem, [0, 1], 3)


def test_a_set_of_copies() -> None:
    """The set itself is nearly dependent: scores are still those from scratch."""
    rng = np.random.default_rng(1)
    y = np.arange(24) % 3
    X = rng.normal(size=(24, 8)) + y[:, None] * rng.normal(size=8)
    X[:, 1] = X[:, 0]
    problem = make_problem(lda_pencil(X, y, 0.0), 3, "logdet")
    S = [0, 1, 2]
    for one in best_exchanges(problem, np.array(S)):
        rest = [j for j in S if j != one.leaving]
        scores = {j: problem.score(sorted([*rest, j])) for j in range(3, 8)}
        assert one.scores[0] == pytest.approx(max(scores.values()), rel=1e-6)
        for j, score in zip(one.entering.tolist(), one.scores):
            assert score == pytest.approx(scores[j])
