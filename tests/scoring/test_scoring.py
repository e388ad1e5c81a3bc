"""ScoringProblem: a penalised regression on scores solves a penalised LDA, by plain matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse

from eigensieve import ScoringProblem
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.scoring.gloss import make_search
from eigensieve.scoring.penalty_search import solve_at
from tests.oracles import group_lasso as oracle

# name: sizes of the classes, columns
SHAPES: dict[str, tuple[tuple[int, ...], int]] = {
    "two classes": ((20, 20), 12),
    "two classes, unbalanced": ((5, 31), 12),
    "three classes, wide": ((6, 6, 6), 40),
    "four classes, unbalanced": ((25, 3, 9, 14), 15),
    "five classes, unbalanced, wide": ((3, 8, 2, 5, 4), 50),
    "seven classes": ((9,) * 7, 20),
    "ten classes, wide": ((3,) * 10, 60),
    "fourteen classes, unbalanced": ((4, 9, 5, 3, 12, 7, 2, 6, 8, 3, 5, 4, 6, 10), 30),
}
RIDGES = ("none", "number", "dense", "sparse")
WITHIN = ("full", "diagonal")


def make_ridge(name: str, p: int, rng: np.random.Generator) -> Any:
    if name == "none":
        return 0.0
    if name == "number":
        return 0.2
    if name == "sparse":
        return oracle.second_differences(p)
    root = rng.normal(size=(3, p))
    return root.T @ root / p


def make(shape: str, ridge: str, weighted: bool) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    counts, p = SHAPES[shape]
    rng = np.random.default_rng([len(shape), len(ridge), weighted])
    X, y = oracle.random_classes(rng, counts, p)
    weights = rng.uniform(0.5, 2.0, size=p) if weighted else None
    return X, y, {"ridge": make_ridge(ridge, p, rng), "weights": weights}


def minimise(problem: ScoringProblem, alpha: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The features in use, their rows, and the penalty."""
    found = solve_at(make_search(problem, "working-set", 1e-13, Budget()), alpha)
    assert found.is_certified
    return found.support, found.rows, found.penalty


def penalised_scatters(
    X: np.ndarray,
    y: np.ndarray,
    within: str,
    options: dict[str, Any],
    support: np.ndarray,
    rows: np.ndarray,
    penalty: float,
) -> tuple[np.ndarray, np.ndarray]:
    """S_b, and S_w (or its diagonal) + ridge + lambda Omega / n, of the features in use."""
    n, p = X.shape
    S_w, S_b = oracle.scatters(X, y)
    w = np.ones(p) if options["weights"] is None else options["weights"]
    M = np.diag(np.diag(S_w)) if within == "diagonal" else S_w
    M = (M + oracle.dense(options["ridge"], p))[np.ix_(support, support)]
    M += penalty / n * np.diag(w[support] / np.linalg.norm(rows, axis=1))
    return S_b[np.ix_(support, support)], M


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_directions_are_those_of_the_penalised_lda(
    shape: str, within: str, ridge: str, weighted: bool
) -> None:
    X, y, options = make(shape, ridge, weighted)
    problem = ScoringProblem.from_data(X, y, within=within, **options)
    n_classes = np.unique(y).size
    for alpha in (0.6, 0.2):
        support, rows, penalty = minimise(problem, alpha)
        V, values = problem.discriminate(support, rows, penalty)
        S_b, M = penalised_scatters(X, y, within, options, support, rows, penalty)
        m = values.size
        assert V.shape == (support.size, m)
        assert 1 <= m <= min(n_classes - 1, support.size)
        np.testing.assert_allclose(V.T @ M @ V, np.eye(m), rtol=0, atol=1e-10)
        expected, vectors = linalg.eigh(S_b, M)
        expected, vectors = expected[::-1], vectors[:, ::-1]
        np.testing.assert_allclose(values, expected[:m], rtol=1e-9)
        assert np.all(expected[m:] <= 1e-6 * expected[0])
        for i in range(m):  # up to sign, as all eigenvalues are apart
            assert values[i] > expected[i + 1 : i + 2].max(initial=0.0) * (1 + 1e-4)
            unit = np.sign(V[:, i] @ M @ vectors[:, i]) * vectors[:, i]
            off = V[:, i] - unit
            assert off @ M @ off <= 1e-12
        fitted = problem.target.T @ problem.factor[:, support] @ rows
        s = linalg.eigvalsh((fitted + fitted.T) / 2)[::-1][:m]
        np.testing.assert_allclose(fitted, fitted.T, rtol=0, atol=1e-10)
        np.testing.assert_allclose(values, s / (1 - s), rtol=1e-9)


@pytest.mark.parametrize("within", WITHIN)
def test_equal_eigenvalues_share_their_span(within: str) -> None:
    """Three classes at the corners of a triangle, three features that change places with them."""
    block = np.random.default_rng(3).normal(size=(8, 3))
    block -= block.mean(axis=0)
    turns = [block[:, np.roll(np.arange(3), k)] + 2.0 * np.eye(3)[k] for k in range(3)]
    X, y = np.vstack(turns), np.repeat(np.arange(3), 8)
    problem = ScoringProblem.from_data(X, y, within=within)
    support, rows, penalty = minimise(problem, 0.5)
    V, values = problem.discriminate(support, rows, penalty)
    options = {"ridge": 0.0, "weights": None}
    S_b, M = penalised_scatters(X, y, within, options, support, rows, penalty)
    expected, vectors = linalg.eigh(S_b, M)
    assert values[0] == pytest.approx(values[1], rel=1e-9)  # else this tests nothing
    np.testing.assert_allclose(values, expected[:0:-1], rtol=1e-9)
    np.testing.assert_allclose(V @ V.T, vectors[:, 1:] @ vectors[:, 1:].T, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_are_orthonormal_contrasts(shape: str) -> None:
    X, y, _ = make(shape, "none", False)
    n_classes = np.unique(y).size
    full = ScoringProblem.from_data(X, y)
    np.testing.assert_allclose(full.factor, X - X.mean(axis=0), rtol=0, atol=1e-13)
    np.testing.assert_allclose(full.target.T @ full.target, np.eye(n_classes - 1), atol=1e-14)
    E = oracle.scores(y)
    np.testing.assert_allclose(full.target @ full.target.T, E @ E.T, rtol=0, atol=1e-14)
    small = ScoringProblem.from_data(X, y, within="diagonal")
    S_w, S_b = oracle.scatters(X, y)
    np.testing.assert_allclose(small.factor, full.target.T @ full.factor, rtol=0, atol=1e-12)
    np.testing.assert_allclose(small.factor.T @ small.factor, len(X) * S_b, rtol=0, atol=1e-11)
    np.testing.assert_allclose(small.target, np.eye(n_classes - 1))
    np.testing.assert_allclose(small.quadratic, len(X) * np.diag(S_w), rtol=1e-12)


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("within", WITHIN)
def test_products_are_those_of_the_dense_matrices(within: str, ridge: str) -> None:
    """slope (of all features and some), gram, curvatures, form, correlations, residual."""
    X, y, options = make("four classes, unbalanced", ridge, True)
    p, rng = X.shape[1], np.random.default_rng(1)
    problem = ScoringProblem.from_data(X, y, within=within, **options)
    R = X.shape[0] * oracle.dense(options["ridge"], p)
    if within == "diagonal":
        R = R + X.shape[0] * np.diag(np.diag(oracle.scatters(X, y)[0]))
    F, T = problem.factor, problem.target
    S = np.sort(rng.permutation(p)[:6])
    B = np.zeros((p, T.shape[1]))
    B[S] = rng.normal(size=(6, T.shape[1]))
    slope = F.T @ (T - F @ B) - R @ B
    near: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(problem.slope(S, B[S]), slope, **near)
    for columns in (S[::2], np.setdiff1d(np.arange(p), S), rng.permutation(p)[:9], np.arange(0)):
        np.testing.assert_allclose(problem.slope(S, B[S], columns), slope[columns], **near)
    np.testing.assert_allclose(problem.residual(S, B[S]), T - F @ B, **near)
    np.testing.assert_allclose(problem.gram(S), (F.T @ F + R)[np.ix_(S, S)], **near)
    np.testing.assert_allclose(problem.curvatures, np.diag(F.T @ F + R), **near)
    np.testing.assert_allclose(problem.quadratic_form(S, B[S]), B.T @ R @ B, **near)
    np.testing.assert_allclose(problem.correlations, F.T @ T, **near)


@pytest.mark.parametrize("weights", [None, "std", "random"])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("shape", SHAPES)
def test_lambda_max_is_where_the_first_feature_enters(
    shape: str, within: str, weights: str | None
) -> None:
    X, y, _ = make(shape, "none", False)
    X = X * np.random.default_rng(4).uniform(0.2, 5.0, size=X.shape[1])
    w: Any = np.random.default_rng(5).uniform(0.5, 2.0, X.shape[1]) if weights == "random" else None
    w = weights if weights == "std" else w
    numbers = X.std(axis=0) if weights == "std" else np.ones(X.shape[1]) if w is None else w
    problem = ScoringProblem.from_data(X, y, within=within, weights=w)
    _, S_b = oracle.scatters(X, y)
    reach = np.sqrt(len(X) * np.diag(S_b)) / numbers
    np.testing.assert_allclose(problem.weights, numbers, rtol=1e-12)
    assert problem.lambda_max == pytest.approx(reach.max(), rel=1e-12)
    for solver in ("working-set", "variational"):
        search = make_search(problem, solver, 1e-8, Budget())
        assert search.solve(problem.lambda_max).support.size == 0
        assert search.solve(1.001 * problem.lambda_max).support.size == 0
        assert search.solve(0.999 * problem.lambda_max).support.tolist() == [int(reach.argmax())]


def test_std_weights_are_one_for_constant_columns() -> None:
    X, y, _ = make("two classes", "none", False)
    X[:, 3] = 7.5
    for within in WITHIN:
        problem = ScoringProblem.from_data(X, y, within=within, weights="std")
        assert problem.weights[3] == 1.0
        np.testing.assert_allclose(np.delete(problem.weights, 3), np.delete(X.std(axis=0), 3))


def test_copies_are_redundant_only_without_a_quadratic_term() -> None:
    X, y, _ = make("two classes", "none", False)
    X = np.hstack([X[:, :4], -X[:, [1]], X[:, [1]], X[:, [0]]])  # copies: 1, 4, 5 and 0, 6
    p = X.shape[1]
    redundant = ScoringProblem.from_data(X, y).is_redundant
    assert np.flatnonzero(redundant).tolist() == [4, 5, 6]
    weights = np.ones(p)
    weights[5] = 0.5
    redundant = ScoringProblem.from_data(X, y, weights=weights).is_redundant
    assert np.flatnonzero(redundant).tolist() == [1, 4, 6]
    for options in ({"ridge": 0.1}, {"within": "diagonal"}, {"ridge": 0.1 * np.eye(p)}):
        assert not ScoringProblem.from_data(X, y, **options).is_redundant.any()


def test_the_data_are_not_changed() -> None:
    X, y, options = make("three classes, wide", "dense", True)
    before = X.copy(), y.copy(), options["ridge"].copy(), options["weights"].copy()
    for within in WITHIN:
        ScoringProblem.from_data(X, y, within=within, **options)
    for now, then in zip((X, y, options["ridge"], options["weights"]), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_matrices_of_a_number_are_the_number() -> None:
    X, y, _ = make("three classes, wide", "none", False)
    p = X.shape[1]
    for within in WITHIN:
        plain = ScoringProblem.from_data(X, y, within=within, ridge=0.3)
        S = np.arange(0, p, 3)
        for ridge in (0.3 * np.eye(p), 0.3 * sparse.eye_array(p), 0.3 * sparse.eye(p)):
            matrix = ScoringProblem.from_data(X, y, within=within, ridge=ridge)
            np.testing.assert_allclose(matrix.gram(S), plain.gram(S), rtol=1e-13)
            np.testing.assert_allclose(matrix.curvatures, plain.curvatures, rtol=1e-13)


def test_repr_says_what_it_is() -> None:
    X, y, _ = make("three classes, wide", "none", False)
    text = repr(ScoringProblem.from_data(X, y, within="diagonal"))
    assert text == "ScoringProblem(18 samples, 40 features, 2 scores, diagonal)"


# -- bad input -------------------------------------------------------------------------------


def refused(match: str, error: type[Exception] = OptionError, **options: Any) -> None:
    X, y, _ = make("two classes", "none", False)
    with pytest.raises(error, match=match):
        ScoringProblem.from_data(options.pop("X", X), options.pop("y", y), **options)


@pytest.mark.parametrize("within", ["diag", "", None, 1, ["full"], ("full",)])
def test_within_is_one_of_two_words(within: Any) -> None:
    refused("within", within=within)


@pytest.mark.parametrize(
    "weights",
    [
        np.ones(11),
        np.ones((12, 1)),
        np.ones((12, 12)),
        1.0,
        [],
        np.zeros(12),
        -np.ones(12),
        np.full(12, np.nan),
        np.full(12, np.inf),
        [1.0] * 11 + [0.0],
        "var",
        ["a"] * 12,
        [[1.0], [1.0, 2.0]],
        {"a": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("within", WITHIN)
def test_weights_are_positive_numbers(weights: Any, within: str) -> None:
    refused("weights", weights=weights, within=within)


def one_entry(value: float, i: int, j: int) -> np.ndarray:
    matrix = np.eye(12)
    matrix[i, j] = value
    return matrix


BAD_RIDGES: dict[str, Any] = {
    "negative": -0.1,
    "NaN": np.nan,
    "infinite": np.inf,
    "text": "much",
    "bool": True,
    "None": None,
    "complex": 1j,
    "one number per feature": np.ones(12),
    "too small": np.eye(11),
    "not square": np.ones((12, 3)),
    "NaN in a matrix": one_entry(np.nan, 2, 2),
    "infinity in a matrix": one_entry(np.inf, 2, 2),
    "not symmetric": one_entry(0.5, 2, 3),
    "not symmetric beside a large entry": one_entry(0.5, 2, 3) + np.diag([1e10] + [0.0] * 11),
    "a negative entry of the diagonal": one_entry(-0.5, 2, 2),
    "indefinite": np.eye(12) - 0.5 * np.ones((12, 12)),
    "slightly indefinite": one_entry(-1e-6, 2, 2),
    "indefinite, zero diagonal": np.kron(np.eye(6), [[0.0, 1.0], [1.0, 0.0]]),
    "a matrix of text": [["a"] * 12] * 12,
}


@pytest.mark.parametrize("name", BAD_RIDGES)
def test_ridge_is_a_number_or_a_semidefinite_matrix(name: str) -> None:
    for within in WITHIN:
        refused("ridge", ridge=BAD_RIDGES[name], within=within)


@pytest.mark.parametrize(
    "name", [name for name, value in BAD_RIDGES.items() if isinstance(value, np.ndarray)]
)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix, sparse.csc_array])
def test_sparse_ridges_are_looked_at_as_well(name: str, form: Any) -> None:
    if BAD_RIDGES[name].ndim == 2:
        refused("ridge", ridge=form(BAD_RIDGES[name]))


def test_singular_ridges_are_allowed() -> None:
    X, y, _ = make("two classes", "none", False)
    one = np.ones((12, 12))
    singular = (
        one,
        1e-30 * one,
        1e30 * one,
        np.zeros((12, 12)),
        sparse.csr_array((12, 12)),
        sparse.csr_array(one),
        sparse.coo_matrix(np.diag(np.arange(12.0))),
        oracle.second_differences(12),
        np.eye(12, dtype=int),
        one.tolist(),
    )
    for ridge in singular:
        problem = ScoringProblem.from_data(X, y, ridge=ridge)
        S = np.arange(12)
        expected = problem.factor.T @ problem.factor + len(X) * oracle.dense(ridge, 12)
        np.testing.assert_allclose(problem.gram(S), expected, rtol=1e-12, atol=1e-10)


def test_round_off_does_not_make_a_ridge_unsymmetric() -> None:
    X, y, _ = make("two classes", "none", False)
    noisy = np.eye(12) + 1e-12 * np.random.default_rng(0).normal(size=(12, 12))
    gram = ScoringProblem.from_data(X, y, ridge=noisy).gram(np.arange(12))
    np.testing.assert_array_equal(gram, gram.T)


def test_labels_of_one_class_are_refused() -> None:
    refused("one class only", InputError, y=np.zeros(40))


def test_missing_labels_are_refused() -> None:
    y = (np.arange(40) % 2).astype(float)
    y[3] = np.nan
    refused("y", InputError, y=y)
    text = np.array(["a", "b"] * 20, dtype=object)
    text[3] = None
    refused("y", InputError, y=text)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_must_be_finite(value: float) -> None:
    X, _, _ = make("two classes", "none", False)
    X[3, 4] = value
    refused("NaN or infinity", InputError, X=X)


def test_samples_must_be_a_matrix_of_numbers() -> None:
    refused("shape", InputError, X=np.ones(40))
    refused("shape", InputError, X=np.ones((39, 3)))
    refused("shape", InputError, X=np.ones((40, 0)))
    refused("numbers", InputError, X=np.full((40, 2), "a"))


EQUAL_MEANS = {
    "constant columns": np.full((20, 3), 2.5),
    "the same samples twice": np.tile(np.random.default_rng(0).normal(size=(10, 4)), (2, 1)),
}


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", EQUAL_MEANS)
def test_classes_with_equal_means_are_refused(name: str, within: str) -> None:
    X, y = EQUAL_MEANS[name], np.repeat([0, 1], 10)
    refused("class means are all equal", InputError, X=X, y=y, within=within)
