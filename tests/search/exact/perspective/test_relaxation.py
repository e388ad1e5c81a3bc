"""The perspective relaxation: its parts by definition, its bound against every set."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, sparse

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.factor_pencil import FactorPencil
from eigensieve.pencil.problem import Problem, make_problem
from eigensieve.search.exact.perspective import relaxation as perspective
from eigensieve.search.exact.perspective.relax_kernel import relax
from eigensieve.search.exact.perspective.relaxation import (
    Relaxation,
    WorkingSet,
    largest_places,
    relax_all,
)
from eigensieve.search.exact.perspective.scaled_pencil import ScaledPencil
from eigensieve.search.exact.perspective.tree_kernel import refill
from eigensieve.search.exact.perspective.weights import WeightProblem
from eigensieve.search.target import FREE, IN, OUT, start_state
from eigensieve.tables.device_pencil import DevicePencil
from tests.device_arrays import DEVICES, sender


def factors(seed: int, p: int = 12, c: int = 2, m: int = 5) -> FactorPencil:
    rng = np.random.default_rng([seed, 11])
    scale = rng.uniform(0.1, 10, p)
    H, W = rng.normal(size=(c, p)) * scale, rng.normal(size=(m, p)) * scale
    return FactorPencil(H, W, rng.uniform(0.5, 3, p) * scale**2)


def value_of(pencil: es.Pencil, w: np.ndarray, logdet: bool) -> float:
    """f(w) by its definition, D a little below d; w > 0."""
    B, D = pencil.B, pencil.d * (1 - 1e-9)
    Q = pencil.H @ np.linalg.solve(B + np.diag(D * (1 / w - 1)), pencil.H.T)
    return float(np.linalg.slogdet(np.eye(len(Q)) + Q)[1] if logdet else np.trace(Q))


def part_of(pencil: es.Pencil, k: int, logdet: bool) -> WeightProblem:
    scaled = ScaledPencil(make_problem(pencil, k, "trace"))
    every = np.arange(pencil.size)
    work = np.zeros(1)
    return WeightProblem(scaled.block(every), scaled.H, scaled.D, every[:0], every, k, logdet, work)


def evaluate(part: WeightProblem, w: np.ndarray) -> tuple[float, float, np.ndarray]:
    """The bound, f(w) and its gradient, without a step."""
    return relax(part, w.copy(), np.inf, 1, 0.0, 0.0)[:3]


@pytest.mark.parametrize("logdet", [False, True])
def test_value_and_gradient(logdet: bool) -> None:
    pencil = factors(0)
    part, w = part_of(pencil, 4, logdet), np.random.default_rng(0).uniform(0.1, 0.9, 12)
    _, value, g = evaluate(part, w)
    assert value == pytest.approx(value_of(pencil, w, logdet), rel=1e-9)
    numeric = optimize.approx_fprime(w, lambda x: value_of(pencil, x, logdet), 1e-7)
    np.testing.assert_allclose(g, numeric, rtol=1e-4, atol=1e-6)
    # weights of zero: the one-sided slope
    w[3] = 0.0
    _, value, g = evaluate(part, w)
    assert g[3] == pytest.approx(
        (evaluate(part, w + 1e-7 * np.eye(12)[3])[1] - value) / 1e-7, rel=1e-4
    )


@pytest.mark.parametrize("seed", range(60))
def test_weights_become_the_nearest_that_sum_to_k(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u = int(rng.integers(2, 15))
    k = int(rng.integers(1, u))
    v = rng.uniform(0.01, 1, size=u) * 10 ** rng.uniform(-3, 3)
    if seed % 3 == 0:
        v = np.ceil(v)
    x = v.copy()
    refill(x, np.zeros(u), k)
    assert x.min() >= 0
    assert x.max() <= 1
    assert x.sum() == pytest.approx(k, abs=1e-9 * max(1.0, v.max()))
    # nearest: no mass wants to move from a larger v - x to a smaller one
    gain = v - x
    high, low = gain[x < 1 - 1e-9], gain[x > 1e-9]
    if high.size and low.size:
        assert high.max() <= low.min() + 1e-9 * max(1.0, v.max())


@pytest.mark.parametrize("logdet", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_maximum_is_reached(seed: int, logdet: bool) -> None:
    """By an independent solver, and by the bound on how much more there could be."""
    pencil, k = factors(seed), 4
    part = part_of(pencil, k, logdet)
    start = np.zeros(12)
    start[:k] = 1.0
    w = perspective.maximise(part, start, -np.inf, 1e-6, Budget())
    assert w.sum() == pytest.approx(k)
    bound, value, g = evaluate(part, w)
    assert bound == pytest.approx(value + np.sort(g)[-k:].sum() - g @ w)
    assert bound <= value * (1 + 1.01e-6)
    best = optimize.minimize(
        lambda x: -value_of(pencil, x, logdet), np.full(12, k / 12), method="SLSQP",
        bounds=[(1e-8, 1.0)] * 12, constraints={"type": "eq", "fun": lambda x: x.sum() - k},
        options={"ftol": 1e-10, "maxiter": 500},
    )  # fmt: skip
    assert value == pytest.approx(-best.fun, rel=1e-4)


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("seed", range(6))
def test_bound_and_fixings_against_every_set(seed: int, criterion: str) -> None:
    pencil, k = factors(seed, p=10), 3
    problem = make_problem(pencil, k, criterion, include=[seed] if seed % 2 else [])
    scores = {S: problem.score(S) for S in combinations(range(10), k) if not seed % 2 or seed in S}
    best = max(scores.values())
    weights = np.zeros(10)
    weights[[*range(seed, seed + 3)]] = 1.0
    relaxation = relax_all(problem, ScaledPencil(problem), start_state(problem), weights)
    assert best <= relaxation.bound <= 1.5 * best
    cut = best * (1 - 1e-9)
    state = relaxation.fixed(cut, start_state(problem), k)
    for S, score in scores.items():
        if score > cut:
            assert (state[list(S)] != OUT).all()
            assert set(np.flatnonzero(state == IN)) <= set(S)


def test_columns_on_demand_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 900)) + rng.normal(size=(40, 4)) @ rng.normal(size=(4, 900))
    y = np.arange(40) % 4
    X[:, :20] += 0.3 * y[:, None]
    pencil = es.lda_pencil(X, y)
    problem = make_problem(pencil, 8, "logdet")
    weights = np.zeros(900)
    weights[-8:] = 1.0
    args = problem, ScaledPencil(problem), start_state(problem), weights
    monkeypatch.setattr(perspective, "WORKING_SET", 900)
    whole = relax_all(*args).bound
    rounds = []
    price = WorkingSet.price
    monkeypatch.setattr(WorkingSet, "price", lambda *a: rounds.append(0) or price(*a))
    for few in (20, 60):
        monkeypatch.setattr(perspective, "WORKING_SET", few)
        monkeypatch.setattr(perspective, "JOIN", few)
        assert relax_all(*args).bound == pytest.approx(whole, rel=3e-6)
    assert len(rounds) > 2


def test_nothing_left_to_choose() -> None:
    problem = make_problem(factors(0), 2, "trace", include=[3, 4])
    weights = np.zeros(12)
    weights[[3, 4]] = 1.0
    found = relax_all(problem, ScaledPencil(problem), start_state(problem), weights)
    assert found.bound == pytest.approx(problem.score([3, 4]), rel=1e-8)


def test_more_rows_than_features() -> None:
    """A factor with more rows than columns is made square."""
    pencil = factors(2, p=6, c=9)
    weights = np.zeros(6)
    weights[:2] = 1.0
    dense = make_problem(pencil, 2, "trace")
    found = relax_all(dense, ScaledPencil(dense), start_state(dense), weights)
    best = max(dense.score(S) for S in combinations(range(6), 2))
    assert best <= found.bound <= 1.5 * best
    assert len(ScaledPencil(dense).H) == 6


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
def test_sparse_rows_give_the_same(criterion: str) -> None:
    rng = np.random.default_rng(1)
    X = sparse.random(30, 700, 0.1, format="csr", random_state=1)
    y = np.arange(30) % 3
    bounds = []
    for table in (X.toarray(), X):
        problem = make_problem(es.lda_pencil(table, y, shrinkage=0.3), 5, criterion)
        weights = np.zeros(700)
        weights[rng.choice(700, 5, replace=False)] = 1.0
        scaled = ScaledPencil(problem)
        bounds.append(relax_all(problem, scaled, start_state(problem), weights).bound)
    assert bounds[1] == pytest.approx(bounds[0], rel=3e-6)


@pytest.mark.parametrize("kind", [None, *DEVICES])
def test_leading(kind: str | None) -> None:
    send = np.array if kind is None else sender(kind)
    values = np.array([3.0, 5.0, 5.0, -1.0, 5.0, 4.0])
    values[1] = -np.inf
    index, found = largest_places(send(values), 3)
    assert index.tolist() == [2, 4, 5]
    assert found.tolist() == [5.0, 5.0, 4.0]
    assert largest_places(send(values), 1)[0].tolist() == [2]  # of equals the first
    assert largest_places(send(values), 99)[0].tolist() == [2, 4, 5, 0, 3]
    assert largest_places(send(np.full(4, -np.inf)), 2)[0].size == 0


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("kind", DEVICES)
def test_a_device_gives_the_same(
    kind: str, criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bound, weights and gradient, with columns on demand and a feature forced in."""
    pencil, send = factors(4, p=600, c=3, m=12), sender(kind)
    there = DevicePencil(pencil.H, send(pencil.W), pencil.d)
    weights = np.zeros(600)
    weights[[5, *range(100, 105)]] = 1.0
    problems = [make_problem(each, 6, criterion, include=[5]) for each in (pencil, there)]

    def solved(problem: Problem) -> Relaxation:
        return relax_all(problem, ScaledPencil(problem), start_state(problem), weights)

    with monkeypatch.context() as patch:
        patch.setattr(perspective, "maximise", lambda _, w, *__: w)
        on_host, on_device = map(solved, problems)
    assert on_device.bound == pytest.approx(on_host.bound, rel=1e-9)
    np.testing.assert_array_equal(on_host.weights, weights)
    np.testing.assert_array_equal(on_device.weights, weights)
    np.testing.assert_allclose(on_device.gradient, on_host.gradient, rtol=1e-9, atol=1e-9)
    on_host, on_device = map(solved, problems)
    assert on_device.bound == pytest.approx(on_host.bound, rel=1e-6)
    assert on_device.weights[5] == 1.0
    assert on_device.weights.sum() == pytest.approx(6)
    assert type(on_device.gradient) is np.ndarray
    # the end points need not agree: the maximum is flat, and the iteration ends at a small gap
    np.testing.assert_allclose(on_device.weights, on_host.weights, atol=1e-2)
    np.testing.assert_allclose(on_device.gradient, on_host.gradient, rtol=1e-2, atol=1e-3)


def test_start_state_is_free_but_for_the_included() -> None:
    state = start_state(make_problem(factors(0), 3, "trace", include=[2]))
    assert (state == FREE).sum() == 11
    assert state[2] == IN
