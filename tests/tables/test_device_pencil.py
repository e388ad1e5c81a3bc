"""A pencil on a device: every answer is that of the same pencil in memory."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, PencilError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.problem import make_problem
from eigensieve.search.greedy.forward import forward_pass, make_state
from eigensieve.search.greedy.swap import swap_refine
from eigensieve.search.quick_bound import root_bound
from eigensieve.tables.device_pencil import DevicePencil
from eigensieve.tables.operators.device_rows import DeviceRows
from tests.device_arrays import DEVICES, Send, sender

CRITERIA = ("trace", "logdet", "lambda_max")


def table(seed: int, n: int = 40, p: int = 620, K: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, some with class shifts, a few of them twice, two constant."""
    rng = np.random.default_rng([seed, 5])
    y = np.arange(n) % K
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))
    X[:, :25] += rng.normal(size=(K, 25))[y]
    X[:, 100], X[:, 200] = X[:, 3], X[:, 7]
    X[:, 50], X[:, 51] = 0.0, 2.5
    return X, y


@pytest.fixture(params=DEVICES)
def send(request: pytest.FixtureRequest) -> Send:
    return sender(request.param)


def pair(send: Send, seed: int, **options: int) -> tuple[es.Pencil, DevicePencil]:
    X, y = table(seed, **options)
    there = es.lda_pencil(send(X), y)
    assert isinstance(there, DevicePencil)
    return es.lda_pencil(X, y), there


def test_the_pencil_is_the_same(send: Send) -> None:
    here, there = pair(send, 0)
    S = np.array([5, 0, 619, 100])
    x = np.random.default_rng(0).normal(size=(620, 2))
    same = [
        (here.diag_A, there.diag_A),
        (here.diag_B, there.diag_B),
        (here.columns_B(S), there.columns_B(S)),
        (here.columns_B(7), there.columns_B(7)),
        (here.apply_B(x), there.apply_B(x)),
        (here.solve_B(x), there.solve_B(x)),
        (here.restrict(S).B, there.restrict(S).B),
        (here.take(S).B, there.take(S).B),
        (here.top(2)[0], there.top(2)[0]),
        (here.scale, there.scale),
    ]
    for known, found in same:
        assert isinstance(found, np.ndarray | float)
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-10)
    assert isinstance(there.take(S), DevicePencil)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("K", [2, 4])
def test_forward_takes_the_same_features(send: Send, criterion: str, K: int) -> None:
    here, there = pair(send, K, K=K)
    for constraints in ({}, {"include": [9, 200]}, {"exclude": [0, 3, 5], "include": [1]}):
        orders = [
            forward_pass(make_problem(pencil, 12, criterion, **constraints), Budget(), "greedy")[12]
            for pencil in (here, there)
        ]
        assert orders[0].tolist() == orders[1].tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_forward_with_blocks(send: Send, criterion: str) -> None:
    here, there = pair(send, 4, K=4)
    blocks = np.repeat([0, 1], [300, 320])
    sets = []
    for pencil in (here, there):
        pencil.blocks = blocks
        sets.append(forward_pass(make_problem(pencil, (2, 6), criterion), Budget(), "greedy")[8])
    assert sets[0].tolist() == sets[1].tolist()
    assert np.count_nonzero(blocks[sets[1]] == 0) == 2


def test_of_identical_columns_the_first_is_taken(send: Send) -> None:
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(20, 300)), 2, axis=1), np.arange(20) % 2
    pencil = es.lda_pencil(send(X), y)
    chosen = es.solve(pencil, 5, "greedy", direction="forward", swap=False).support
    second = chosen[chosen % 2 == 1]
    assert set(second - 1) <= set(chosen)  # the other one is worth something beside it, too
    assert second.size < chosen.size - 1


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("seed", range(4))
def test_swaps_are_the_same(send: Send, criterion: str, seed: int) -> None:
    here, there = pair(send, seed, K=2 + seed % 3)
    start = np.random.default_rng(seed).choice(620, 8, replace=False)
    include = start[:1].tolist()
    known, found = (
        swap_refine(make_problem(pencil, 8, criterion, include), start, Budget())
        for pencil in (here, there)
    )
    assert found[0].tolist() == known[0].tolist()
    assert found[1:] == known[1:]
    assert known[1] > 3  # there was something to do


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_bound_is_the_same(send: Send, criterion: str) -> None:
    here, there = pair(send, 1)
    found = es.solve(there, 6, criterion=criterion)
    problems = [make_problem(pencil, 6, criterion) for pencil in (here, there)]
    known, bound = (root_bound(problem, found.support) for problem in problems)
    assert bound == pytest.approx(known, rel=1e-9)
    assert bound >= found.objective
    assert problems[1].score(found.support) == pytest.approx(found.objective, rel=1e-12)
    found.verify(there)


def test_the_whole_fit(send: Send) -> None:
    X, y = table(2)
    here = es.SparseLDA(6).fit(X, y)
    there = es.SparseLDA(6).fit(send(X), y)
    assert there.solution_.support.tolist() == here.solution_.support.tolist()
    assert there.solution_.bound == pytest.approx(here.solution_.bound, rel=1e-9)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(there.predict(send(X)), here.predict(X))


def test_best_scored_is_best_with_its_gain(send: Send) -> None:
    here, there = pair(send, 3)
    for criterion in CRITERIA:
        for pencil in (here, there):
            problem = make_problem(pencil, 4, criterion)
            state = make_state(problem)
            for slot, j in enumerate((5, 17)):
                state.add(j, slot)
            candidates = np.array([30, 2, 400, 8])
            scores = np.array([problem.score([5, 17, j]) for j in candidates])
            winner, score = state.best_scored(candidates)
            assert winner == candidates[scores.argmax()] == state.best(candidates)
            old = 0.0 if criterion == "lambda_max" else problem.score([5, 17])
            assert score == pytest.approx(scores.max() - old, rel=1e-8)
            anyone, gain = state.best_scored()
            assert gain >= score
            assert anyone not in (5, 17)


def test_what_is_refused(send: Send) -> None:
    X, y = table(0)
    for bad in (np.nan, np.inf):
        with pytest.raises(PencilError, match="W has NaN or infinite"):
            DevicePencil(np.ones((1, 3)), send(np.array([[1.0, bad, 2.0]])), np.ones(3))
    with pytest.raises(PencilError, match="needs d > 0"):
        DevicePencil(np.ones((1, 2)), send(np.ones((1, 2))), np.array([1.0, 0.0]))
    X[3, 4] = np.nan
    with pytest.raises(InputError, match="NaN or infinity"):
        es.lda_pencil(send(X), y)


def test_rows_look_like_an_array(send: Send) -> None:
    R = np.random.default_rng(0).normal(size=(4, 9))
    there = DeviceRows(send(R))
    V, weights = np.arange(8.0).reshape(4, 2), np.linspace(1, 2, 9)
    np.testing.assert_allclose(there.T @ V, R.T @ V)
    np.testing.assert_allclose(V.T @ there, V.T @ R)
    np.testing.assert_allclose(there @ weights, R @ weights)
    np.testing.assert_allclose(there.gram(weights), (R * weights) @ R.T)
    np.testing.assert_allclose(there.gram(), R @ R.T)
    np.testing.assert_allclose((there / weights).squares(), np.square(R / weights).sum(axis=0))
    np.testing.assert_allclose(there.take(np.array([8, 0]))[:, :], R[:, [8, 0]])
