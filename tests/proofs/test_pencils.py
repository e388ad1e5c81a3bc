"""Enclosures and exact pencils against the definitions, in fractions written out here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from eigensieve.errors import InputError, VerificationError
from eigensieve.proofs.balls import Ball
from eigensieve.proofs.exact_pencils import exact_pencil
from eigensieve.proofs.pencils import Pencil, enclose
from eigensieve.proofs.sources import ProofSource, TableRecipe, make_source

Rows = list[list[Fraction]]
LEAST = Fraction(1e-10)


def exact_rows(X: np.ndarray) -> Rows:
    return [[Fraction(x) for x in row] for row in X.tolist()]


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def covariance(rows: Rows) -> Rows:
    n, p = len(rows), len(rows[0])
    m = [mean([row[j] for row in rows]) for j in range(p)]
    return [
        [sum(((r[i] - m[i]) * (r[j] - m[j]) for r in rows), Fraction(0)) / n for j in range(p)]
        for i in range(p)
    ]


def lda_by_definition(X: np.ndarray, y: list, s: float, r: float) -> tuple[Rows, Rows]:
    rows, n, p = exact_rows(X), len(X), X.shape[1]
    A = [[Fraction(0)] * p for _ in range(p)]
    W = [[Fraction(0)] * p for _ in range(p)]
    m = [mean([row[j] for row in rows]) for j in range(p)]
    for label in dict.fromkeys(y):
        mine = [row for row, one in zip(rows, y) if one == label]
        share, C = Fraction(len(mine), n), covariance(mine)
        shift = [mean([row[j] for row in mine]) - m[j] for j in range(p)]
        for i in range(p):
            for j in range(p):
                A[i][j] += share * shift[i] * shift[j]
                W[i][j] += share * C[i][j]
    t = max(Fraction(s), LEAST)
    B = [[(1 - t) * w for w in row] for row in W]
    for j in range(p):
        total = W[j][j] + A[j][j]
        B[j][j] += max(t * W[j][j] + Fraction(r), LEAST * total) if total else 1
    return A, B


def cca_by_definition(X: np.ndarray, Y: np.ndarray, s: tuple[float, float]) -> tuple[Rows, Rows]:
    C, q = covariance(exact_rows(np.hstack([X, Y]))), X.shape[1]
    p = len(C)
    A = [[C[i][j] * ((i < q) != (j < q)) for j in range(p)] for i in range(p)]
    B = [[Fraction(0)] * p for _ in range(p)]
    for i in range(p):
        t = max(Fraction(s[i >= q]), LEAST)
        for j in range(p):
            if (i < q) == (j < q):
                B[i][j] = (1 - t) * C[i][j]
        B[i][i] += t * C[i][i] if C[i][i] else 1
    return A, B


def contains(ball: Ball, exact: Rows, pencil: Pencil, index: Sequence[int]) -> None:
    """Entry by entry, with the powers of two of the enclosures taken back."""
    for a, i in enumerate(index):
        for b, j in enumerate(index):
            unit = Fraction(2) ** int(pencil.exponents[i] + pencil.exponents[j])
            error = abs(Fraction(float(ball.mid[a, b])) - exact[i][j] * unit)
            assert error <= Fraction(float(ball.rad[a, b])), (i, j)


def what_two_can_score(A: Rows, B: Rows, i: int, j: int) -> float:
    """|A_ij| / sqrt(B_ii B_jj), less what negative diagonals take away."""
    size = math.sqrt(A[i][j] ** 2 / (B[i][i] * B[j][j]))
    alone = [float(A[m][m] / B[m][m]) for m in (i, j)]
    return size - max(-sum(alone) / 2, 0.0)


def compare(source: ProofSource, A: Rows, B: Rows, widest: float = 1e-9) -> None:
    p = source.n_features
    with np.errstate(all="ignore"):
        pencil = enclose(source)
        for index in (list(range(p)), [p - 1, 0]):
            at = np.array(index)
            contains(pencil.a_block(at, at), A, pencil, index)
            contains(pencil.b_block(at, at), B, pencil, index)
            assert pencil.b_block(at, at).rad.max() < widest
            exact = exact_pencil(source, at)
            assert [[A[i][j] for j in index] for i in index] == exact.A
            assert [[B[i][j] for j in index] for i in index] == exact.B
        scale = max(what_two_can_score(A, B, i, j) for i in range(p) for j in range(p))
        found = pencil.scale(np.arange(p), np.arange(p))
        assert scale * (1 - 1e-6) <= found <= scale * (1 + 1e-14)


def nasty(n: int, seed: int = 0) -> np.ndarray:
    """Offsets, tiny and huge units, whole numbers, constants, an outlier."""
    rng = np.random.default_rng(seed)
    columns = [
        1e9 + rng.normal(size=n),
        1e-150 * rng.normal(size=n),
        1e150 * rng.normal(size=n),
        rng.integers(-3, 4, size=n).astype(float),
        np.full(n, 0.1),
        np.r_[1e6, rng.normal(size=n - 1)],
    ]
    return np.column_stack(columns)


LABELS = ["a", "b", "a", "c", "b", "b", "c", "a", "a"]


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_lda(shrinkage: float, ridge: float) -> None:
    X = nasty(9)
    recipe = TableRecipe("lda", (shrinkage,), ridge, members=(4, 0, 3))
    source = make_source(recipe, X.shape[1], {"X": X, "y": LABELS})
    compare(source, *lda_by_definition(X, LABELS, shrinkage, ridge))
    assert source.counts.tolist() == [3, 4, 2]


def test_lda_of_columns_that_are_constant_within_the_classes() -> None:
    X = np.column_stack([[1.0, 2.0, 1.0, 5.0, 2.0, 2.0, 5.0, 1.0, 1.0], np.arange(9.0)])
    recipe = TableRecipe("lda", (0.2,), 0.0, members=(0, 1, 3))
    source = make_source(recipe, 2, {"X": X, "y": LABELS})
    compare(source, *lda_by_definition(X, LABELS, 0.2, 0.0))


def test_lda_columns_and_weights_make_a() -> None:
    X = nasty(9)[:, [0, 3, 5]]
    source = make_source(TableRecipe("lda", (0.1,), 0.0, (0, 1, 3)), 3, {"X": X, "y": LABELS})
    exact = exact_pencil(source, np.arange(3))
    for i in range(3):
        for j in range(3):
            terms = zip(exact.weights, exact.columns[i], exact.columns[j])
            assert exact.A[i][j] == sum(w * a * b for w, a, b in terms)


def test_pca() -> None:
    X = nasty(8)[:, [0, 3, 4, 5]]
    A = covariance(exact_rows(X))
    one = [[Fraction(int(i == j)) for j in range(4)] for i in range(4)]
    compare(make_source(TableRecipe("pca"), 4, {"X": X}), A, one)


def test_cca() -> None:
    X, Y = nasty(7)[:, :3], nasty(7, seed=1)[:, 2:]
    source = make_source(TableRecipe("cca", (0.0, 0.4)), 7, {"X": X, "Y": Y})
    compare(source, *cca_by_definition(X, Y, (0.0, 0.4)))


@pytest.mark.parametrize("with_b", [False, True])
def test_matrices(with_b: bool) -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    A = A + A.T
    unit = np.array([1.0, 1e-150, 1e120, 3.0])
    B = unit[:, None] * (np.eye(4) + 0.1) * unit
    A = A * unit[:, None] * unit if with_b else A
    B = (B + B.T) / 2
    given = {"A": (A + A.T) / 2, "B": B if with_b else None}
    exact = exact_rows(B) if with_b else exact_rows(np.eye(4))
    compare(make_source(TableRecipe("matrices"), 4, given), exact_rows(given["A"]), exact)


def test_products_without_the_block_agree_with_it() -> None:
    X = nasty(9)
    source = make_source(TableRecipe("lda", (0.3,), 0.0, (0, 1, 3)), 6, {"X": X, "y": LABELS})
    pencil = enclose(source)
    some, others = np.array([0, 2, 5]), np.array([1, 2, 3])
    V = Ball.exact(np.random.default_rng(0).normal(size=(3, 2)))
    short, long = pencil.g_times(some, others, V), pencil.g_block(some, others) @ V
    assert (np.abs(short.mid - long.mid) <= short.rad + long.rad).all()
    assert short.rad.max() < 1e-9


GOOD = {"X": np.eye(3), "y": [0, 1, 1]}


@pytest.mark.parametrize(
    ("recipe", "given", "said"),
    [
        (TableRecipe("lda", (0.1,), 0.0, (0, 1)), {"X": np.eye(3)}, "pass the labels"),
        (TableRecipe("lda", (0.1,), 0.0, (0, 1)), GOOD | {"y": [0, 1]}, "one label for each of 3"),
        (TableRecipe("lda", (0.1,), 0.0, (0, 1)), GOOD | {"y": [0, 1, np.nan]}, "missing labels"),
        (TableRecipe("pca"), {}, "pass it as X"),
        (TableRecipe("pca"), {"X": np.full((3, 3), np.nan)}, "missing or infinite"),
        (TableRecipe("pca"), {"X": np.ones(3)}, "rows and columns"),
        (TableRecipe("pca"), {"X": np.array([["a", "b", "c"]])}, "not real numbers"),
        (TableRecipe("pca"), {"X": np.array([[2**53 + 1, 0, 0]])}, "no doubles"),
        (TableRecipe("cca", (0.1, 0.1)), {"X": np.eye(3)}, "pass it as Y"),
        (
            TableRecipe("cca", (0.1, 0.1)),
            {"X": np.eye(3), "Y": np.ones((2, 1))},
            "3 rows and Y has 2",
        ),
        (TableRecipe("matrices"), {}, "pass A"),
        (TableRecipe("matrices"), {"A": np.ones((2, 3))}, "square"),
        (TableRecipe("matrices"), {"A": np.arange(9.0).reshape(3, 3)}, "not symmetric"),
    ],
)
def test_arrays_that_cannot_be_used(recipe: TableRecipe, given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make_source(recipe, 3, given)


@pytest.mark.parametrize(
    ("members", "y", "said"),
    [
        ((0, 7), [0, 1, 1], "row 7 of 3"),
        ((0, 1), [0, 1, 2], "the labels have 3 classes"),
        ((1, 2), [0, 1, 1], "2 classes"),
    ],
)
def test_classes_that_are_not_those_of_the_proof(members: tuple, y: list, said: str) -> None:
    with pytest.raises(VerificationError, match=said):
        make_source(TableRecipe("lda", (0.1,), 0.0, members), 3, {"X": np.eye(3), "y": y})


def test_another_number_of_features() -> None:
    with pytest.raises(VerificationError, match="about 4 features, and 3 were given"):
        make_source(TableRecipe("pca"), 4, {"X": np.eye(3)})
