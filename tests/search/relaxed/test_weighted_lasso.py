"""The inner problem of D.C. programming, against a cone solver."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.search.relaxed.weighted_lasso import (
    DenseLasso,
    DiagonalLasso,
    FactorLasso,
    make_lasso,
)
from tests.oracles import cone

FORMS = {
    "identity": (lambda rng, p: es.Pencil(np.eye(p)), DiagonalLasso),
    "diagonal": (
        lambda rng, p: es.FactorPencil(np.ones((1, p)), None, rng.uniform(0.1, 3, p)),
        DiagonalLasso,
    ),
    "dense": (lambda rng, p: es.Pencil(np.eye(p), gram(rng.normal(size=(p + 3, p)))), DenseLasso),
    "factor": (
        lambda rng, p: es.FactorPencil(
            np.ones((1, p)), rng.normal(size=(5, p)), rng.uniform(0.01, 1, p)
        ),
        FactorLasso,
    ),
}


def gram(M: np.ndarray) -> np.ndarray:
    return M.T @ M


@pytest.mark.parametrize("form", FORMS)
def test_value_and_conditions_on_random_problems(form: str) -> None:
    """25 problems of each form, 100 in all: objective and KKT to 1e-8."""
    make, kind = FORMS[form]
    some_zero = some_not = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, len(form)])
        p = int(rng.integers(2, 40))
        pencil = make(rng, p)
        lasso = make_lasso(pencil)
        assert isinstance(lasso, kind)
        g, t = rng.normal(size=p), rng.uniform(0.0, 1.2, p)
        u = lasso.solve(g, t)
        B = pencil.B
        nu = float(np.sqrt(u @ B @ u))
        best, x = cone.inner_problem(B, g, t)
        assert nu == pytest.approx(best, abs=1e-8)
        gradient = g - B @ u
        active = u != 0
        np.testing.assert_allclose(gradient[active], (t * np.sign(u))[active], rtol=0, atol=1e-8)
        assert np.all(np.abs(gradient[~active]) <= t[~active] + 1e-8)
        if nu > 0:
            np.testing.assert_allclose(u / nu, x, atol=1e-4)
        some_zero += int((~active).sum())
        some_not += int(active.sum())
    assert some_zero > 50  # the thresholds matter
    assert some_not > 50


@pytest.mark.parametrize("form", ["dense", "factor"])
def test_scales_do_not_matter(form: str) -> None:
    rng = np.random.default_rng(3)
    p, units = 12, np.geomspace(1e-8, 1e8, 12)
    W, d = rng.normal(size=(5, p)), rng.uniform(0.1, 1, p)
    g, t = rng.normal(size=p), rng.uniform(0, 0.7, p)
    plain = es.FactorPencil(np.ones((1, p)), W, d)
    scaled = es.FactorPencil(np.ones((1, p)), W * units, d * units**2)
    if form == "dense":
        plain, scaled = es.Pencil(np.eye(p), plain.B), es.Pencil(np.eye(p), scaled.B)
    u = make_lasso(plain).solve(g, t)
    v = make_lasso(scaled).solve(g * units, t * units)
    assert 0 < np.count_nonzero(u) < p
    np.testing.assert_allclose(v * units, u, rtol=1e-9)


def test_forms_agree_and_a_start_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    W, d = rng.normal(size=(30, 200)), rng.uniform(0.01, 0.1, 200)
    factor = es.FactorPencil(np.ones((1, 200)), W, d)
    g, t = rng.normal(size=200), rng.uniform(0, 1, 200)
    u = make_lasso(factor).solve(g, t)
    v = make_lasso(es.Pencil(np.eye(200), factor.B)).solve(g, t, start=rng.normal(size=200))
    assert 10 < np.count_nonzero(u) < 190
    np.testing.assert_array_equal(u != 0, v != 0)
    np.testing.assert_allclose(u, v, atol=1e-9)


def test_nearly_singular_matrix() -> None:
    """Duplicate columns leave the minimiser open; the conditions must hold all the same."""
    rng = np.random.default_rng(1)
    M = rng.normal(size=(6, 8))
    W = np.hstack([M, M + 1e-7 * rng.normal(size=(6, 8))])
    pencil = es.FactorPencil(np.ones((1, 16)), W, np.full(16, 1e-9))
    g, t = W.T @ rng.normal(size=6), np.full(16, 0.5)
    for B in (pencil, es.Pencil(np.eye(16), pencil.B)):
        lasso = make_lasso(B)
        u = lasso.solve(g, t)
        assert lasso.violation(u, g - pencil.B @ u, t) <= 1e-6 * np.abs(g).max()


@pytest.mark.parametrize("share", [0.0, 1e-3, 0.05, 0.3])
def test_ill_conditioned_matrices(share: float) -> None:
    """Half as many rows as columns and a small ridge, condition 6e4: signs change on the way."""
    rng = np.random.default_rng(5)
    X, g = rng.normal(size=(150, 300)) / np.sqrt(150), rng.normal(size=300)
    pencil = es.FactorPencil(np.ones((1, 300)), X, np.full(300, 1e-4))
    t = np.full(300, share * np.abs(g).max())
    for form in (pencil, es.Pencil(np.eye(300), pencil.B)):
        u = make_lasso(form).solve(g, t)
        gradient = g - pencil.B @ u
        off = np.where(u != 0, np.abs(gradient - t * np.sign(u)), np.abs(gradient) - t)
        assert off.max() <= 1e-8 * np.abs(g).max()
        if share == 0:
            np.testing.assert_allclose(u, np.linalg.solve(pencil.B, g), rtol=1e-6)
