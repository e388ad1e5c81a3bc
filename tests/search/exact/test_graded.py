"""Graded problems: features of very different size. The oracle has hundreds of digits."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import PencilError, VerificationError
from eigensieve.pencil.factor_pencil import FactorPencil
from eigensieve.pencil.grading import align, cancellation, graded_eigh
from eigensieve.pencil.problem import make_problem
from eigensieve.search.quick_bound import root_bound

EXACT = ("exact", "leaps", "perspective", "interlacing", "exhaustive")
KINDS = (
    "dense",
    "dense with B",
    "rank 2",
    "pca",
    "wide pca",
    "factors",
    "diagonal",
    "lda",
    "lda s",
)
SIZES = ("one large", "two large", "some small", "many", "extreme")


def exactly(M: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in row] for row in M]


def gram(rows: np.ndarray) -> list[list[Fraction]]:
    columns = list(zip(*exactly(rows)))
    return [[sum(a * b for a, b in zip(u, v)) for v in columns] for u in columns]


def exact_pair(pencil: es.Pencil) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """A and B without any rounding."""
    if not isinstance(pencil, FactorPencil):
        return exactly(pencil.A), exactly(pencil.B)
    B = exactly(np.diag(pencil.d))
    if len(pencil.W):
        B = plus(B, gram(pencil.W))
    return gram(pencil.H), B


def plus(A: list[list[Fraction]], B: list[list[Fraction]]) -> list[list[Fraction]]:
    return [[a + b for a, b in zip(u, v)] for u, v in zip(A, B)]


def part(M: list[list[Fraction]], S: tuple[int, ...]) -> list[list[Fraction]]:
    return [[M[i][j] for j in S] for i in S]


def eliminate(M: list[list[Fraction]], right: list[list[Fraction]]) -> Fraction:
    """The determinant of a positive definite M; ``right`` becomes M^-1 right."""
    n, determinant = len(M), Fraction(1)
    M = [[*row, *more] for row, more in zip(M, right)]
    for j in range(n):
        determinant *= M[j][j]
        M[j] = [x / M[j][j] for x in M[j]]
        for i in range(n):
            if i != j and M[i][j]:
                M[i] = [x - M[i][j] * y for x, y in zip(M[i], M[j])]
    for row, solved in zip(right, M):
        row[:] = solved[n:]
    return determinant


def true_value(A: list[list[Fraction]], B: list[list[Fraction]], criterion: str) -> float:
    if criterion == "trace":
        eliminate(B, X := [row.copy() for row in A])
        return float(sum(X[i][i] for i in range(len(X))))
    ratio = eliminate(plus(A, B), [[] for _ in A]) / eliminate(B, [[] for _ in B])
    with localcontext(prec=60) as context:
        context.Emax, context.Emin = 10**6, -(10**6)
        return float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())


def all_values(pencil: es.Pencil, k: int, criterion: str) -> dict[tuple[int, ...], float]:
    A, B = exact_pair(pencil)
    sets = itertools.combinations(range(pencil.size), k)
    return {S: true_value(part(A, S), part(B, S), criterion) for S in sets}


def draw_sizes(rng: np.random.Generator, p: int, kind: str) -> np.ndarray:
    sizes = np.ones(p)
    some = rng.permutation(p)
    if kind == "one large":
        sizes[some[0]] = 10.0 ** rng.integers(4, 26)
    elif kind == "two large":
        sizes[some[:2]] = 10.0 ** rng.integers(3, 13, size=2)
    elif kind == "some small":
        sizes[some[:3]] = 10.0 ** rng.integers(-12, -2, size=3)
    else:
        reach = 9 if kind == "many" else 50
        sizes = 10.0 ** rng.uniform(-reach, reach, size=p)
    return sizes


def correlations(rng: np.random.Generator, p: int) -> np.ndarray:
    return np.corrcoef(rng.normal(size=(3 * p, p)), rowvar=False)


def draw(kind: str, sizes: str, seed: int) -> es.Pencil:
    rng = np.random.default_rng([seed, KINDS.index(kind), SIZES.index(sizes)])
    p = 6
    s = draw_sizes(rng, p, sizes)
    if kind == "dense":
        return es.Pencil(correlations(rng, p) * np.outer(s, s))
    if kind == "dense with B":
        t = 10.0 ** rng.uniform(-4, 4, size=p)
        return es.Pencil(
            correlations(rng, p) * np.outer(s, s), correlations(rng, p) * np.outer(t, t)
        )
    if kind == "rank 2":
        rows = rng.normal(size=(2, p)) * s
        return es.Pencil(rows.T @ rows)
    if kind == "pca":
        return es.pca_pencil(rng.normal(size=(30, p)) * s)
    if kind == "wide pca":
        return es.pca_pencil(rng.normal(size=(4, p)) * s)
    if kind == "factors":
        return FactorPencil(rng.normal(size=(3, p)) * s, rng.normal(size=(2, p)), np.full(p, 0.3))
    if kind == "diagonal":
        return FactorPencil(rng.normal(size=(7, p)), rng.normal(size=(2, p)) * s, s**2)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, p)) + np.outer(y == 1, rng.normal(size=p))
    return es.lda_pencil(X * s, y, shrinkage=0.0 if kind == "lda" else 0.5)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_with_all_digits_agrees(kind: str, sizes: str) -> None:
    pencil, k = draw(kind, sizes, 0), 2 + (KINDS.index(kind) + SIZES.index(sizes)) % 2
    for criterion in ("logdet", "trace"):
        values = all_values(pencil, k, criterion)
        best = max(values.values())
        for solver in (*EXACT, "greedy"):
            found = es.solve(pencil, k, solver, criterion)
            own = values[tuple(found.support.tolist())]
            assert found.objective == pytest.approx(own, rel=1e-8), solver
            assert found.bound >= best * (1 - 1e-9), solver
            if found.is_certified:
                assert own >= best * (1 - 2e-6), solver
            found.verify(pencil)
        assert es.solve(pencil, k, "interlacing", criterion).is_certified
        problem = make_problem(pencil, k, criterion)
        assert root_bound(problem, found.support) >= best * (1 - 1e-9)


@pytest.mark.parametrize("solver", EXACT)
def test_a_large_feature_does_not_hide_the_others(solver: str) -> None:
    found = es.solve(es.Pencil(np.diag([1e20, 1e2, 1e3])), 2, solver, "logdet")
    assert found.support.tolist() == [0, 2]
    assert found.is_certified
    assert found.objective == pytest.approx(np.log1p(1e20) + np.log1p(1e3), rel=1e-14)
    np.testing.assert_allclose(found.values, [1e20, 1e3])


@pytest.mark.parametrize("size", [1e7, 1e9, 1e20, 1e50])
def test_a_column_in_other_units(size: float) -> None:
    """In the limit the others are chosen as if the large one were given."""
    X = np.random.default_rng(0).normal(size=(50, 6))
    X[:, 0] *= size
    pencil = es.pca_pencil(X)
    for solver in EXACT:
        found = es.solve(pencil, 3, solver, "logdet")
        assert found.support.tolist() == [0, 2, 3]
        assert found.is_certified
        found.verify(pencil)
    claim = es.certify(pencil, [0, 3, 4], "logdet")
    assert not claim.is_certified
    assert claim.better is not None
    assert claim.better.support.tolist() == [0, 2, 3]


def test_verify_finds_a_wrong_value_beside_a_large_one() -> None:
    pencil = es.Pencil(np.diag([1e20, 1e2, 1e3]))
    found = es.solve(pencil, 2, "exact", "logdet")
    with pytest.raises(VerificationError, match="objective"):
        replace(found, objective=found.values[0], bound=1e21).verify(pencil)
    with pytest.raises(VerificationError, match="objective"):
        replace(found, objective=float(np.log1p(1e20))).verify(pencil)
    with pytest.raises(VerificationError, match="eigenvalues do not make"):
        replace(found, values=found.values[:1], loadings=found.loadings[:, :1]).verify(pencil)


def test_what_is_negative_beside_a_large_feature_is_negative() -> None:
    with pytest.raises(PencilError, match="positive semidefinite"):
        es.solve(es.Pencil(np.diag([1e20, -5.0, 1.0])), 2, "exact", "logdet")


def test_rank_one_whatever_the_sizes() -> None:
    a = np.array([1e10, 1e-3, 1.0, -1e5])
    assert FactorPencil(a[None], None, np.ones(4)).is_rank_one
    # of a product that was rounded it is not known: the second eigenvalue may be 1e-16 of 1e20
    assert not es.Pencil(np.outer(a, a)).is_rank_one
    assert es.Pencil(np.outer(a[1:], a[1:]) / 1e3).is_rank_one
    assert not es.Pencil(np.outer(a, a) + np.diag([0, 1.0, 0, 0])).is_rank_one
    assert not es.Pencil(np.diag([1e20, 1.0])).is_rank_one


def test_a_backward_pass_says_what_it_cannot_see() -> None:
    pencil = es.Pencil(np.diag([1e20, 1e2, 1e3]))
    with pytest.raises(PencilError, match="direction='forward'"):
        es.solve(pencil, 2, "greedy", "logdet", direction="backward")


def test_graded_eigenvalues_keep_their_digits() -> None:
    """Those of D C D and B: the product is known, and B-orthonormal vectors diagonalise."""
    rng = np.random.default_rng(3)
    d = np.array([1e-3, 1e12, 1.0, 1e5, 1e8])
    A, B = correlations(rng, 5) * np.outer(d, d), correlations(rng, 5)
    values, vectors = graded_eigh(A, B)
    product = np.linalg.slogdet(A / np.outer(d, d))[1] - np.linalg.slogdet(B)[1]
    assert np.log(values).sum() == pytest.approx(product + 2 * np.log(d).sum(), rel=1e-13)
    np.testing.assert_allclose(vectors.T @ B @ vectors, np.eye(5), atol=1e-10)
    assert np.all(np.diff(values) < 0)


def test_blur_is_about_what_lies_across() -> None:
    assert cancellation(np.diag([1e10, 1.0, 1e5])) == 1.0
    assert cancellation(np.full((2, 3), 1e3)) == pytest.approx(2e6)
    H = np.random.default_rng(0).normal(size=(4, 6)) * np.array([1e9, 1, 1, 1, 1, 1])
    assert cancellation(H) > 1e12
    assert cancellation(align(H)) < 1e3
    np.testing.assert_allclose(align(H).T @ align(H), H.T @ H, rtol=1e-12, atol=1e-12 * 1e9)


def test_round_off_that_hides_the_order_of_sets_is_in_the_bound() -> None:
    """A of rank two and sizes 1e50 apart: beside the others a third feature is below an ulp."""
    rng = np.random.default_rng(7)
    for span in (3, 6, 8, 25, 50):
        h = rng.normal(size=(2, 6)) * 10.0 ** rng.uniform(-span, span, size=6)
    A = h.T @ h
    found = es.solve(es.Pencil((A + A.T) / 2), 3, "exhaustive", "logdet")
    assert not found.is_certified
    assert found.bound > 239.9127  # that of {0, 1, 2} in exact fractions, A as it is rounded
