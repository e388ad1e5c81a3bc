"""Pursuit, Q-alpha, GLOSS, D.C. paths, clusters and generators against what defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import eigensieve as es
from eigensieve.datasets import moghaddam2006, pictures, witten2011, wolf2005
from tests.fuzz.harness import Refused, attempt, cases
from tests.fuzz.strategies import (
    MILD,
    ODD,
    SEEDS,
    WILD,
    Drawn,
    Labelled,
    arrays,
    containers,
    labelled,
    labels,
    pencils,
    tiny_arrays,
)
from tests.oracles.linear import least_l1

DATA = st.data()


# ---------------------------------------------------------------- basis pursuit


@cases(36, 400)
@given(st.one_of(arrays(WILD, (1, 8), (1, 15)), tiny_arrays()), DATA)
def test_pursuit_of_any_matrix(A: np.ndarray, data: st.DataObject) -> None:
    """Verified, or refused; and never below what any solution of Ax = b must have."""
    rng = np.random.default_rng(data.draw(SEEDS))
    columns = data.draw(st.sampled_from([None, None, 1, 2]))
    shape = (A.shape[1],) if columns is None else (A.shape[1], columns)
    with np.errstate(all="ignore"):
        b = A @ rng.normal(size=shape)
    if data.draw(st.integers(0, 4)) == 0:
        b = data.draw(
            st.sampled_from([np.zeros_like(b), b[:-1], b + np.nan, rng.normal(size=b.shape)])
        )
    penalty = data.draw(st.sampled_from(["l1", "l1", "l21", "l2"]))
    solver = data.draw(st.sampled_from(["simplex", "simplex", "bregman", "other"]))
    limit = data.draw(st.sampled_from([None, None, 0.0, 60.0, -1.0]))
    tol = data.draw(st.sampled_from([1e-12, 1e-12, 0.0, 0.2, 1e-3]))
    found = attempt(
        es.basis_pursuit, A, b, penalty=penalty, solver=solver, time_limit=limit, rank_tol=tol
    )
    if isinstance(found, Refused):
        return
    found.verify(A, b)
    assert np.isfinite(found.x).all()
    assert repr(found)


@cases(20, 300)
@given(arrays(MILD, (1, 6), (1, 12)), SEEDS)
def test_pursuit_is_a_linear_program(A: np.ndarray, seed: int) -> None:
    b = A @ np.random.default_rng(seed).normal(size=A.shape[1])
    found = attempt(es.basis_pursuit, A, b)
    assume(not isinstance(found, Refused))  # a zero matrix
    assert found.gap <= 1e-6, repr(found)
    least = least_l1(A, b)
    assert abs(found.objective - least) <= 1e-6 * max(1.0, least)
    np.testing.assert_allclose(A @ found.x, b, atol=1e-7 * max(1.0, np.abs(b).max()))


# ---------------------------------------------------------------- Q-alpha

VARIANTS = ("standard", "basic", "ritz", "laplacian", "gap", "supervised")


@cases(44, 500)
@given(st.one_of(arrays(WILD, (2, 14), (1, 16)), tiny_arrays()), DATA)
def test_qalpha_of_any_table(X: np.ndarray, data: st.DataObject) -> None:
    good: dict[str, st.SearchStrategy] = {
        "variant": st.sampled_from(VARIANTS),
        "kernel": st.sampled_from(["linear", "rbf", "poly"]),
        "n_init": st.sampled_from([1, 3]),
        "center": st.booleans(),
        "scale": st.booleans(),
        "max_iter": st.sampled_from([1, 3, 100]),
        "time_limit": st.sampled_from([0.0, 60.0]),
        "gamma": st.sampled_from([0.5, 1.0, 0.0, -1.0]),
        "offset": st.sampled_from([0.0, 1.0, "auto", "x"]),
        "eigensolver": st.sampled_from(["auto", "dense", "lanczos", "other"]),
        "tol": st.sampled_from([1e-4, 1e-8, -1.0]),
    }
    names = data.draw(st.lists(st.sampled_from(sorted(good)), max_size=3, unique=True))
    options = {name: data.draw(good[name]) for name in names}
    k = data.draw(st.sampled_from([2, 2, 1, 3, 40, 0]))
    supervised = options.get("variant") == "supervised"
    y = data.draw(labels(len(X), odd=False)) if supervised else None
    table = data.draw(containers(X))
    found = attempt(es.qalpha, table, k, y=y, **options)
    if isinstance(found, Refused):
        return
    alpha = np.asarray(found.alpha, dtype=float)
    assert alpha.shape == (X.shape[1],)
    assert abs(np.linalg.norm(alpha) - 1) <= 1e-3 if alpha.any() else True
    if not isinstance(table, np.ndarray) or table.dtype != np.float64:
        return
    found.verify(table, y)


@cases(20, 200)
@given(arrays(MILD, (4, 14), (2, 14)), st.sampled_from(["standard", "basic"]), st.integers(1, 3))
def test_qalpha_climbs(X: np.ndarray, variant: str, k: int) -> None:
    """What is maximised never falls from cycle to cycle (the paper, section 3)."""
    found = attempt(es.qalpha, X, k, variant=variant, n_init=1)
    if isinstance(found, Refused):
        return
    if variant == "standard":
        assert np.all(np.diff(found.history) >= -1e-9 * np.abs(found.history[1:]))
    assert abs(np.linalg.norm(found.alpha) - 1) <= 1e-9
    assert found.alpha.sum() >= -1e-9


@cases(28, 250)
@given(st.one_of(arrays(WILD, (2, 20), (1, 6)), tiny_arrays()), DATA)
def test_clusters_of_any_table(X: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.sampled_from([1, 2, 3, 0, 30, "2"]))
    table = data.draw(containers(X))
    options = {name: data.draw(st.booleans()) for name in ("center", "scale")}
    found = attempt(es.spectral_clusters, table, k, n_init=1, at_door=True, **options)
    if isinstance(found, Refused):
        return
    assert found.shape == (len(X),)
    assert found[0] == 0
    assert set(found.tolist()) == set(range(found.max() + 1))
    first = [int(np.argmax(found == label)) for label in range(found.max() + 1)]
    assert first == sorted(first)


# ---------------------------------------------------------------- GLOSS, D.C.


@cases(28, 400)
@given(labelled(ODD, (6, 20), (1, 12)), DATA)
def test_gloss_paths_satisfy_their_conditions(case: Labelled, data: st.DataObject) -> None:
    alphas = data.draw(st.sampled_from([[0.9, 0.3], [1.0], [0.05], None, [], [2.0], "x"]))
    path = attempt(
        es.gloss_path, case.X, case.y, alphas,
        within=data.draw(st.sampled_from(["full", "diagonal", "other"])),
        ridge=data.draw(st.sampled_from([0.0, 0.0, 0.1, 1.0, -1.0])),
        solver=data.draw(st.sampled_from(["auto", "working-set", "dual", "variational"])),
        max_features=data.draw(st.sampled_from([None, None, 2, 0])),
        time_limit=data.draw(st.sampled_from([None, 0.0])),
    )  # fmt: skip
    if isinstance(path, Refused):
        return
    for i, solution in enumerate(path):
        solution.verify(path.problem)
        assert solution.bound <= solution.objective * (1 + 1e-9)
        V, values = path.directions(i)
        assert np.isfinite(V).all()
        assert np.isfinite(values).all()
        if solution.alpha >= 1:
            assert solution.support.size == 0


@cases(16, 150)
@given(labelled(MILD, (8, 20), (1, 8)), st.floats(0.05, 0.9), st.sampled_from([0.0, 0.3]))
def test_gloss_against_its_definition(case: Labelled, alpha: float, ridge: float) -> None:
    """Subgradients of the group lasso in the problem's own terms, computed here."""
    path = attempt(es.gloss_path, case.X, case.y, [alpha], ridge=ridge)
    if isinstance(path, Refused):
        return
    solution, problem = path[0], path.problem
    assume(solution.is_certified)
    # coordinates that are zero may become non-zero only against their penalty
    larger = attempt(es.gloss_path, case.X, case.y, [min(1.0, 1.05 * alpha)], ridge=ridge)
    assert larger[0].penalty >= solution.penalty
    norms = [float(np.linalg.norm(s.coefficients, axis=1) @ problem.weights)
             for s in (solution, larger[0])]  # fmt: skip
    assert norms[1] <= norms[0] * (1 + 1e-6) + 1e-9  # more penalty, less of what is penalised


@cases(28, 300)
@given(pencils(8), DATA)
def test_dc_paths(drawn: Drawn, data: st.DataObject) -> None:
    pencil = drawn.pencil
    rhos = data.draw(
        st.sampled_from([None, [0.0], [1e-3, 0.1], [1e9], [], [-1.0], [np.nan], "x", [[0.1]]])
    )
    options: dict[str, Any] = {
        "warm": data.draw(st.booleans()),
        "eps": data.draw(st.sampled_from([0.0, 0.0, 1e-3, -1.0])),
        "max_iter": data.draw(st.sampled_from([1000, 1000, 1, 0])),
        "time_limit": data.draw(st.sampled_from([None, None, 0.0])),
    }
    path = attempt(es.dc_path, pencil, rhos, **options)
    if isinstance(path, Refused):
        return
    assert np.isfinite(path.vectors).all()
    for x, count, value in zip(path.vectors.T, path.cardinalities, path.values):
        assert np.count_nonzero(x) == count
        if count == 0:
            continue
        spread = np.abs(x) @ np.abs(pencil.B) @ np.abs(x)
        assert abs(x @ pencil.apply_B(x) - 1) <= 1e-6 + 1e-12 * spread
        size = np.abs(x) @ np.abs(pencil.A) @ np.abs(x)
        slack = 1e-6 + 1e-14 * spread  # B nearly singular: x is long, and x'Bx cancels
        assert abs(x @ pencil.apply_A(x) - value) <= slack * max(size, pencil.scale)


# ---------------------------------------------------------------- generators


@cases(3, 30)
@given(SEEDS, st.integers(1, 20), st.integers(1, 4))
def test_generators(seed: int, n: int, number: int) -> None:
    """Shapes as told, finite numbers, the same seed the same table."""

    def draw() -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        population = witten2011.make_population(number, rng)
        made = [*moghaddam2006.draw_pairs(n, rng, 2 + n, rank_one=bool(seed % 2))]
        made += [*population.draw(n, rng)]
        made += [population.classify(made[2])]
        made += [*wolf2005.weston_linear(n, rng), *wolf2005.weston_nonlinear(n, rng)]
        made += [*wolf2005.clusters_in_noise(number, rng)]
        if n == 1:
            made += [*pictures.animal_pictures(1, number - 1, rng)]
        return made

    first, second = draw(), draw()
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
        assert np.isfinite(one).all()
    A, B, X, y, guesses, linear, sides = first[:7]
    assert A.shape == B.shape == (n, 2 + n, 2 + n)
    assert np.linalg.eigvalsh(B).min() > 0
    assert X.shape == (n, 500)
    assert y.shape == guesses.shape == (n,)
    assert linear.shape == (n, 202)
    assert set(sides.tolist()) <= {-1, 1}


@cases(16, 40)
@given(st.one_of(st.integers(), st.text(max_size=3), st.none(), st.floats()))
def test_unknown_simulations_are_refused(number: Any) -> None:
    found = attempt(witten2011.make_population, number, np.random.default_rng(0))
    assert isinstance(found, Refused) == (number not in (1, 2, 3, 4))
