"""Q-alpha against the literal dense implementation, cycle by cycle; ascent; verify."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import OptionError, VerificationError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from eigensieve.q_alpha import relevance
from eigensieve.q_alpha.ascent import ascend
from eigensieve.q_alpha.options import ALLOWED, QAlphaOptions
from eigensieve.q_alpha.problem import make_family, make_rows
from eigensieve.q_alpha.variants import supervised as supervised_relevance
from eigensieve.tables.operators.table_rows import ArrayRows
from tests.oracles import qalpha as oracle

SHAPES = ((9, 24), (30, 11), (90, 14), (70, 100))  # above 64 features: no dense eigen-solver
PAIRS = [(variant, solver) for variant, solvers in ALLOWED.items() for solver in solvers]
NEAR = {"rtol": 0.0, "atol": 1e-8}


def make(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    """A table (n, q): two groups of samples on some features; two are the same, one is constant."""
    rng = np.random.default_rng([seed, *shape])
    n, q = shape
    M = rng.normal(size=shape) * rng.uniform(0.5, 3.0, size=(n, 1)) + rng.normal(size=(n, 1))
    M[: n // 3, : q // 3] += 3.0
    M[n // 2], M[n - 2] = M[1], 0.1
    return M


def classes(q: int, counts: int) -> np.ndarray:
    """Unbalanced classes, in no order: about 1/6, 1/3 and a half (or 1/3 and 2/3)."""
    parts = [0, 1, 1, 2, 2, 2] if counts == 3 else [0, 1, 1]
    return np.random.default_rng(q).permutation(np.resize(parts, q))


def literal(M: np.ndarray, k: int, variant: str, cycles: int, Q: Any = None, **more: Any) -> Any:
    """The oracle, from the start that `eigensieve.qalpha` documents if not from Q."""
    o = QAlphaOptions(k, variant, **{name: more[name] for name in more if name != "y"})
    rows = oracle.normalize_rows(M, o.shift, center=o.is_centred, scale=o.scale)
    if not o.scale:  # the largest has norm 1, so that no power of their size overflows
        rows /= np.linalg.norm(rows, axis=1).max()
    if variant == "supervised":
        parts = [rows[:, more["y"] == c] for c in np.unique(more["y"])]
        Q = oracle.supervised_start(parts, o.k_within, o.k_between) if Q is None else Q
        return oracle.literal_supervised(parts, Q, o.gamma, cycles)
    Q = oracle.svd_start(rows, k) if Q is None else Q
    if variant == "laplacian":
        return oracle.literal_laplacian(rows, Q, cycles)
    return oracle.literal_qalpha(rows, Q, cycles, variant)


def solve(M: Any, k: int = 2, variant: str = "standard", cycles: int = 3, **more: Any) -> Any:
    more = {"y": classes(M.shape[1], 2), "n_init": 1} | more
    return es.qalpha(M.T, k, variant=variant, tol=0.0, max_iter=cycles, **more)


def bases(Q: Any) -> dict[Any, np.ndarray]:
    return Q if isinstance(Q, dict) else {0: Q}


def assert_same(found: es.QAlphaSolution, expected: Any) -> None:
    alpha, Q, objectives = expected
    np.testing.assert_allclose(found.alpha, alpha, **NEAR)
    np.testing.assert_allclose(found.history, objectives, rtol=1e-8)
    assert found.objective == found.history[-1]
    ours, theirs = bases(found.Q), bases(Q)
    assert ours.keys() == theirs.keys()
    for pair, B in ours.items():
        assert B.shape == theirs[pair].shape
        np.testing.assert_allclose(B @ B.T, theirs[pair] @ theirs[pair].T, **NEAR)


class PowerStep:
    """In place of the oracle's eigenvector: one power step from the weights of before."""

    def __init__(self, n: int) -> None:
        self.alpha = np.full(n, n**-0.5)

    def __call__(self, form: np.ndarray) -> np.ndarray:
        x = form @ self.alpha
        self.alpha = oracle.upright(x / np.linalg.norm(x))
        return self.alpha


# -- the literal implementation --------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("variant", "solver"), PAIRS)
def test_every_cycle_is_that_of_the_definition(
    variant: str, solver: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if variant == "laplacian" and shape[1] > 50:
        shape = (70, 40)  # the oracle keeps a matrix per feature
    for k in (1, 2, 3, 4):
        M, cycles = make(shape, seed=k), (1, 2, 4, 7)[k - 1]
        more: dict[str, Any] = {}
        if variant == "supervised":
            more = {"y": classes(shape[1], 2 + k % 2), "k_within": k % 3 + 1, "gamma": 0.3 * k}
            more |= {"k_between": 1 + (k == 4 and shape[1] > 20)}
        if solver == "single-step":
            monkeypatch.setattr(oracle, "leading", PowerStep(shape[0]))
        expected = literal(M, k, variant, cycles, **more)
        found = solve(M, k, variant, cycles, eigensolver=solver, **more)
        assert_same(found, expected)
        assert (found.n_iter, found.eigensolver, found.n_starts) == (cycles, solver, 1)
        if variant != "laplacian":
            assert found.alpha[shape[0] - 2] == pytest.approx(0.0, abs=1e-15)
        found.verify(M.T, more.get("y"))


OPTIONS: list[dict[str, Any]] = [{"offset": c} for c in (0.0, 0.5, -0.7)]
OPTIONS += [{"center": False}, {"scale": False}, {"center": False, "scale": False}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("variant", list(ALLOWED))
def test_scaling(variant: str, options: dict[str, Any]) -> None:
    if variant == "laplacian" and options.get("offset"):
        with pytest.raises(OptionError, match="offset"):
            solve(make((9, 24)), variant=variant, **options)
        return
    for shape in SHAPES[:3]:
        M, y = make(shape, seed=5), classes(shape[1], 3)
        found = solve(M, 2, variant, 4, y=y, **options)
        assert_same(found, literal(M, 2, variant, 4, y=y, **options))
        found.verify(M.T, y)


def our_start(M: np.ndarray, k: int, variant: str, y: np.ndarray) -> Any:
    options = QAlphaOptions(k, variant)
    family = make_family(make_rows(M.T, options), options, y, np.random.default_rng())
    Q = family.express(family.start(None))
    if variant != "supervised":  # not exactly the leading vectors, but not far from them
        rows = oracle.normalize_rows(M, center=options.is_centred)
        best = np.square(np.linalg.svd(rows)[1][:k]).sum()
        assert 0.95 * best <= np.square(rows @ Q).sum() <= best * (1 + 1e-12)
    return Q


@pytest.mark.parametrize("variant", list(ALLOWED))
def test_many_samples(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 1000 samples no affinity is formed for its eigenvectors; here also beyond 5."""
    shapes = [((30, 12), 1), ((90, 14), 3), ((12, 40), 2), ((70, 30), 2)]
    shapes += [((70, 1100), 2)] if variant in ("standard", "supervised") else []
    for shape, k in shapes:
        for module in (relevance, supervised_relevance):
            monkeypatch.setattr(module, "DENSE_SAMPLES", 5 if shape[1] < 1000 else 1000)
        M, y = make(shape, seed=8), classes(shape[1], 3)
        Q = our_start(M, k, variant, y)
        assert_same(solve(M, k, variant, 3, y=y), literal(M, k, variant, 3, Q, y=y))


@pytest.mark.parametrize("limit", [5, 1000])
def test_eigenvalues_count_by_size(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "DENSE_SAMPLES", limit)
    rows, w = oracle.normalize_rows(make((30, 12))), np.sin(np.arange(30.0)) - 0.4
    Q = relevance.leading_samples(ArrayRows(rows.T), 2, w)  # of negative eigenvalues
    best = oracle.by_size(oracle.affinity(w, rows, rows))[:, :2]
    np.testing.assert_allclose(Q @ Q.T, best @ best.T, **NEAR)


@pytest.mark.parametrize("shape", SHAPES)
def test_ritz_has_the_weights_of_the_standard_method(shape: tuple[int, int]) -> None:
    M = make(shape, seed=10)
    for cycles in range(1, 8):
        plain, ritz = (solve(M, 3, variant, cycles) for variant in ("standard", "ritz"))
        np.testing.assert_allclose(ritz.alpha, plain.alpha, **NEAR)
        np.testing.assert_allclose(ritz.history, plain.history, rtol=1e-8)
        np.testing.assert_allclose(ritz.Q @ ritz.Q.T, plain.Q @ plain.Q.T, **NEAR)
    # what is gained: the basis diagonalises Q'AQ for weights computed anew
    rows = oracle.normalize_rows(M)
    anew = oracle.affinity(oracle.leading(oracle.form(rows, rows, ritz.Q)), rows, rows)
    S = ritz.Q.T @ anew @ ritz.Q
    np.testing.assert_allclose(S, np.diag(np.diag(S)), atol=1e-8 * np.abs(S).max())


def test_the_laplacian_does_not_centre() -> None:
    M = make((30, 11), seed=11)
    M[28] = np.arange(11.0)  # no constant row: centred, it would vanish for one of them only
    assert np.abs(solve(M, variant="laplacian").alpha - solve(M).alpha).max() > 0.01
    M -= M.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(solve(M, variant="laplacian").alpha, solve(M).alpha, **NEAR)
    with pytest.raises(OptionError, match="does not centre"):
        solve(M, variant="laplacian", center=True)


# -- ascent and starts -----------------------------------------------------------------------


class RandomStart:
    """A family that starts at random, and remembers where."""

    cost = 1

    def __init__(self, M: np.ndarray, options: QAlphaOptions, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.family = make_family(make_rows(M.T, options), options, None, self.rng)
        self.at, self.express = self.family.at, self.family.express

    def start(self, rng: np.random.Generator | None) -> Any:
        self.first = self.express(basis := self.family.start(self.rng))
        return basis


def climb(
    M: np.ndarray, solver: str, seed: int, **more: Any
) -> tuple[es.QAlphaSolution, RandomStart]:
    options = QAlphaOptions(eigensolver=solver, n_init=1, tol=0.0, **more)
    start = RandomStart(M, options, seed)
    return ascend(start, options, Budget(), start.rng), start


@pytest.mark.parametrize(("variant", "solver"), [p for p in PAIRS if p[0] in ("standard", "basic")])
def test_the_objective_never_falls(variant: str, solver: str) -> None:
    for seed in range(40):
        shape = SHAPES[seed % 3]
        noise = np.random.default_rng(seed).standard_normal(shape)
        M = noise if seed % 2 else make(shape, seed=seed + 20)
        found, _ = climb(M, solver, seed, variant=variant, n_clusters=1 + seed % 4, max_iter=25)
        assert found.status is Status.CONVERGED or len(found.history) == 25
        assert np.diff(found.history).min() >= -1e-12 * found.history[-1], seed
        assert found.history[-1] > found.history[0] * 1.001, seed


@pytest.mark.parametrize("solver", ["lanczos", "gram", "single-step"])
def test_random_starts_against_the_literal_ones(solver: str) -> None:
    for seed in range(10):
        M = make(SHAPES[seed % 3], seed=seed)
        found, start = climb(M, solver, seed, max_iter=4)
        run = oracle.literal_single_step if solver == "single-step" else oracle.literal_qalpha
        alpha, Q, objectives = run(oracle.normalize_rows(M), start.first, 4)
        np.testing.assert_allclose(found.Q, Q, **NEAR)
        np.testing.assert_allclose([*found.alpha, *found.history], [*alpha, *objectives], **NEAR)


@pytest.mark.parametrize("variant", list(ALLOWED))
def test_starts_and_seeds(variant: str) -> None:
    for shape in SHAPES[1:3]:
        M = make(shape, seed=12)
        one, many, again, other = (
            solve(M, 3, variant, 10, n_init=n, random_state=seed)
            for n, seed in ((1, 0), (4, 0), (4, 0), (4, 1))
        )
        assert (one.n_starts, many.n_starts) == (1, 4)
        assert min(many.objective, other.objective) >= one.objective
        assert np.array_equal(many.alpha, again.alpha)
        for found in (one, many, other):
            assert found.alpha.sum() >= 0
            assert np.linalg.norm(found.alpha) == pytest.approx(1.0, rel=1e-12)
            found.verify(M.T, classes(shape[1], 2))


def test_convergence_is_when_the_weights_rest() -> None:
    M = make((30, 11), seed=13)
    found = es.qalpha(M.T, 2, n_init=1, tol=1e-5, eigensolver="single-step")
    assert found.converged
    last, before, earlier = (
        solve(M, cycles=found.n_iter - back, eigensolver="single-step").alpha for back in range(3)
    )
    assert np.array_equal(found.alpha, last)
    assert np.linalg.norm(last - before) <= 1e-5 < np.linalg.norm(before - earlier)


@pytest.mark.parametrize(("variant", "solver"), PAIRS)
def test_float32_stays(variant: str, solver: str) -> None:
    for shape in SHAPES[:3]:
        M = make(shape, seed=15).astype(np.float32)
        single, double = (solve(X, 2, variant, eigensolver=solver) for X in (M, M.astype(float)))
        assert {B.dtype for B in (single.alpha, *bases(single.Q).values())} == {np.dtype("f4")}
        np.testing.assert_allclose(single.alpha, double.alpha, rtol=0, atol=1e-4)
        assert single.objective == pytest.approx(double.objective, rel=1e-5)
        assert np.abs(single.alpha - double.alpha).max() > 0  # it was not computed in float64
        single.verify(M.T, classes(shape[1], 2))


@pytest.mark.parametrize("variant", list(ALLOWED))
def test_verify_finds_what_is_wrong(variant: str) -> None:
    M, y = make((30, 11), seed=16), classes(11, 2)
    found = solve(M, 2, variant)
    history = found.history * np.array([1, 1, 1 + 1e-4])
    longer = {pair: B * 1.001 for pair, B in bases(found.Q).items()}
    turned = {pair: np.roll(B, 1, axis=0) for pair, B in bases(found.Q).items()}
    wrong: list[dict[str, Any]] = [
        {"alpha": np.roll(found.alpha, 1)},
        {"alpha": -found.alpha},
        {"alpha": found.alpha * 1.001},
        {"objective": found.objective * 1.001},
        {"objective": history[-1], "history": history},
        {"Q": longer if variant == "supervised" else longer[0]},
        {"Q": turned if variant == "supervised" else turned[0]},
    ]
    for change in wrong:
        with pytest.raises(VerificationError):
            replace(found, **change).verify(M.T, y)
    found.verify(M.T, y)


def test_the_laplacian_is_near_chance_where_standard_finds_all() -> None:
    """As the page of the method says: 20 of 500 features, two groups 2 deviations apart."""
    shares = {"standard": 0.0, "laplacian": 0.0}
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((40, 500))
        X[:20, :20] += 2.0
        for variant in shares:
            alpha = es.qalpha(X, 2, variant=variant, n_init=1, max_iter=300).alpha
            shares[variant] += np.mean(np.argsort(-alpha)[:20] < 20) / 3
    assert shares["standard"] > 0.9
    assert shares["laplacian"] < 0.4


def test_rows_are_samples() -> None:
    X = np.random.default_rng(0).standard_normal((30, 50))
    found = es.qalpha(X)
    assert found.alpha.shape == (50,)
    assert found.Q.shape == (30, 2)
    selector = es.QAlphaSelector(5).fit(X)
    np.testing.assert_allclose(found.alpha, selector.alpha_, atol=1e-12)


def test_verify_tells_a_table_the_wrong_way_round() -> None:
    X = np.random.default_rng(0).normal(size=(20, 12))
    found = es.qalpha(X, 2)
    found.verify(X)
    with pytest.raises(VerificationError, match="weights of 12 features, not of 20"):
        found.verify(X.T)
    assert repr(found).startswith("QAlphaSolution(12 of 12 features have weight, n_clusters=2, ")
