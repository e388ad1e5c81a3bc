"""Weights of classes, and equal priors: against dense formulas and against repeated rows."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.tables.shrinkage import analytic_shrinkage

WEIGHTS = {0: 2.0, 1: 0.5, 2: 7.0}
FITTED = ("support_", "priors_", "means_", "xbar_", "coef_", "intercept_")


def make_data(
    counts: tuple[int, ...] = (24, 12, 6), p: int = 15, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Classes of these sizes in any order, with spreads and means of their own."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(y.size, p)) * (1 + y[:, None]) + 5.0
    X[:, 1] += 0.8 * X[:, 0]
    X[np.arange(y.size), y] += 6.0
    return X, y


def dense_pencil(
    X: np.ndarray, y: np.ndarray, weights: dict[Any, float], s: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, the shares and the weighted mean, class by class."""
    classes = sorted(weights)
    pi = np.array([weights[c] * np.sum(y == c) for c in classes])
    pi = pi / pi.sum()
    means = [X[y == c].mean(axis=0) for c in classes]
    m = sum(share * mean for share, mean in zip(pi, means))
    A, Sw = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    for c, share, mean in zip(classes, pi, means):
        A += share * np.outer(mean - m, mean - m)
        Sw += share * np.cov(X[y == c].T, bias=True)
    return A, (1 - s) * Sw + s * np.diag(np.diag(Sw)), pi, m


def repeat_rows(X: np.ndarray, y: np.ndarray, times: dict[int, int]) -> tuple[np.ndarray, ...]:
    index = np.repeat(np.arange(y.size), [times[int(c)] for c in y])
    return X[index], y[index]


def assert_same_fit(a: es.SparseLDA, b: es.SparseLDA, rtol: float = 1e-7) -> None:
    for name in FITTED:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-9)


def balanced(y: np.ndarray) -> dict[Any, float]:
    return {c: 1.0 / np.sum(y == c) for c in np.unique(y)}


@pytest.mark.parametrize("p", [15, 700])
@pytest.mark.parametrize("counts", [(24, 12, 6), (9, 1, 5)])
@pytest.mark.parametrize("weight", ["balanced", WEIGHTS, {2: 3.0}])
def test_the_pencil_is_the_formula(weight: Any, counts: tuple[int, ...], p: int) -> None:
    X, y = make_data(counts, p)
    weights = balanced(y) if weight == "balanced" else {0: 1.0, 1: 1.0, **weight}
    A, B, _, _ = dense_pencil(X, y, weights, 0.3)
    pencil = es.lda_pencil(X, y, shrinkage=0.3, class_weight=weight)
    assert isinstance(pencil, es.FactorPencil) is (p == 700)
    np.testing.assert_allclose(pencil.A, A, rtol=1e-9, atol=1e-10 * A.max())
    np.testing.assert_allclose(pencil.B, B, rtol=1e-9, atol=1e-10 * B.max())


@pytest.mark.parametrize("p", [15, 700])
def test_the_classifier_is_the_gaussian_rule_of_the_weighted_scatter(p: int) -> None:
    X, y = make_data(p=p)
    lda = es.SparseLDA(4, shrinkage=0.3, class_weight=WEIGHTS).fit(X, y)
    A, B, pi, m = dense_pencil(X, y, WEIGHTS, 0.3)
    lda.solution_.verify(es.Pencil(A, B))
    np.testing.assert_allclose(lda.priors_, pi, rtol=1e-12)
    np.testing.assert_allclose(lda.xbar_, m, rtol=1e-12)
    S = lda.get_support(indices=True)
    log_density = np.empty((y.size, 3))
    for c in range(3):
        r = X[:, S] - X[y == c][:, S].mean(axis=0)
        solved = np.linalg.solve(B[np.ix_(S, S)], r.T).T
        log_density[:, c] = np.log(pi[c]) - 0.5 * np.einsum("ij,ij->i", r, solved)
    expected = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(lda.predict_proba(X), expected, atol=1e-9)
    # the directions are orthonormal in the weighted scatter, and measured from the weighted mean
    V = lda.scalings_[S]
    np.testing.assert_allclose(V.T @ B[np.ix_(S, S)] @ V, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(lda.transform(X), (X - m)[:, S] @ V, atol=1e-9)


def test_a_search_of_the_weighted_problem_finds_its_best_set() -> None:
    X, y = make_data((30, 6), p=8, seed=3)
    A, B, _, _ = dense_pencil(X, y, balanced(y), 0.2)
    lda = es.SparseLDA(3, solver="exact", shrinkage=0.2, class_weight="balanced").fit(X, y)
    worth = {
        (i, j, k): np.linalg.eigvals(
            np.linalg.solve(B[np.ix_([i, j, k], [i, j, k])], A[np.ix_([i, j, k], [i, j, k])])
        ).real.max()
        for i in range(8)
        for j in range(i)
        for k in range(j)
    }
    best = max(worth, key=lambda S: worth[S])
    assert sorted(best) == lda.get_support(indices=True).tolist()
    assert lda.solution_.is_certified
    assert lda.solution_.objective == pytest.approx(np.log1p(worth[best]), rel=1e-9)


@pytest.mark.parametrize("p", [15, 700])
def test_weights_are_repeated_rows(p: int) -> None:
    X, y = make_data(p=p)
    options = {"n_features_to_select": 4, "shrinkage": 0.3}
    for weight, times in (("balanced", {0: 1, 1: 2, 2: 4}), ({0: 3, 2: 2}, {0: 3, 1: 1, 2: 2})):
        ours = es.SparseLDA(**options, class_weight=weight).fit(X, y)
        repeated = es.SparseLDA(**options).fit(*repeat_rows(X, y, times))
        assert_same_fit(ours, repeated)
        assert ours.solution_.objective == pytest.approx(repeated.solution_.objective, rel=1e-9)


def test_only_ratios_of_weights_matter() -> None:
    X, y = make_data()
    a = es.SparseLDA(4, class_weight=WEIGHTS).fit(X, y)
    b = es.SparseLDA(4, class_weight={c: 1e5 * w for c, w in WEIGHTS.items()}).fit(X, y)
    assert_same_fit(a, b)
    c = es.SparseLDA(4, class_weight="balanced").fit(X, y)
    d = es.SparseLDA(4, class_weight=balanced(y)).fit(X, y)
    assert_same_fit(c, d)


@pytest.mark.parametrize("p", [15, 700])
def test_no_weights_and_equal_weights(p: int) -> None:
    X, y = make_data((14, 14, 14), p)
    none = es.SparseLDA(4).fit(X, y)
    assert_same_fit(es.SparseLDA(4, class_weight="balanced").fit(X, y), none)
    X, y = make_data(p=p)
    none = es.SparseLDA(4).fit(X, y)
    assert_same_fit(es.SparseLDA(4, class_weight={0: 2, 1: 2, 2: 2}).fit(X, y), none)
    np.testing.assert_allclose(none.priors_, np.array([24, 12, 6]) / 42)


def test_auto_shrinkage_does_not_know_the_weights() -> None:
    X, y = make_data(p=40)
    residuals = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    s = np.sqrt(analytic_shrinkage(residuals, 3))
    assert 0 < s < 1
    lda = es.SparseLDA(4, class_weight="balanced").fit(X, y)
    assert lda.shrinkage_ == pytest.approx(s, rel=1e-9)
    _, B, _, _ = dense_pencil(X, y, balanced(y), s)
    np.testing.assert_allclose(es.lda_pencil(X, y, class_weight="balanced").B, B, atol=1e-9)


def test_weights_help_the_small_class() -> None:
    # means 1.5 sd apart: with 15 to 1 the threshold lies .75 + log(15)/1.5 sd from the large
    # class, which finds 15 % of the small one; half way between them it finds 77 % of both
    rng = np.random.default_rng(1)
    y, y_new = np.repeat([0, 1], [600, 40]), np.repeat([0, 1], 400)
    X, X_new = (rng.normal(size=(labels.size, 10)) for labels in (y, y_new))
    X[:, 0] += 1.5 * y
    X_new[:, 0] += 1.5 * y_new
    plain = es.SparseLDA(2).fit(X, y).predict(X_new)
    weighted = es.SparseLDA(2, class_weight="balanced").fit(X, y).predict(X_new)
    gain = balanced_accuracy_score(y_new, weighted) - balanced_accuracy_score(y_new, plain)
    assert gain > 0.1


def test_a_path_uses_the_weights() -> None:
    X, y = make_data()
    models = es.SparseLDA(shrinkage=0.3, class_weight=WEIGHTS).fit_path(X, y, [2, 4])
    A, B, pi, _ = dense_pencil(X, y, WEIGHTS, 0.3)
    for k, model in models.items():
        assert model.support_.sum() == k
        model.solution_.verify(es.Pencil(A, B))
        np.testing.assert_allclose(model.priors_, pi)


def test_names_of_classes_are_keys() -> None:
    X, y = make_data()
    names = np.array(["low", "mid", "top"])
    ours = es.SparseLDA(4, class_weight={"top": 4, "mid": 2}).fit(X, names[y])
    assert_same_fit(ours, es.SparseLDA(4, class_weight="balanced").fit(X, y))


@pytest.mark.parametrize("p", [15, 700])
def test_statistics_with_rows_take_weights_also_when_merged(p: int) -> None:
    X, y = make_data(p=p)
    # the halves do not have the same classes: their indices change in the union
    first = y != 0
    first[np.flatnonzero(y == 2)[:3]] = False
    parts = [es.ClassStats.from_data(X[r], y[r], form="rows") for r in (first, ~first)]
    A, B, pi, m = dense_pencil(X, y, WEIGHTS, 0.3)
    merged = parts[0] + parts[1]
    stats = merged.weighted(WEIGHTS)
    np.testing.assert_allclose(stats.priors, pi)
    np.testing.assert_allclose(stats.mean, m)
    for pencil in (es.lda_pencil(stats, shrinkage=0.3),
                   es.lda_pencil(merged, shrinkage=0.3, class_weight=WEIGHTS)):  # fmt: skip
        np.testing.assert_allclose(pencil.A, A, rtol=1e-9, atol=1e-10 * A.max())
        np.testing.assert_allclose(pencil.B, B, rtol=1e-9, atol=1e-10 * B.max())
    np.testing.assert_allclose(stats.weighted(None).mean, X.mean(axis=0))
    with pytest.raises(InputError, match="cannot merge weighted"):
        stats + parts[0]
    with pytest.raises(InputError, match="cannot merge weighted"):
        parts[0] + stats


def test_pooled_statistics_refuse_weights() -> None:
    stats = es.ClassStats.from_data(*make_data(), form="gram")
    with pytest.raises(InputError, match="form='rows'"):
        es.lda_pencil(stats, shrinkage=0.3, class_weight="balanced")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("auto", "class_weight is 'auto'"),
        (3.0, "class_weight is 3.0"),
        ([1, 2, 3], r"class_weight is \[1, 2, 3\]"),
        ({0: 0.0}, "class_weight of class 0 is 0.0"),
        ({1: -1}, "class_weight of class 1 is -1"),
        ({1: np.nan}, "class_weight of class 1 is nan"),
        ({1: np.inf}, "class_weight of class 1 is inf"),
        ({1: "2"}, "class_weight of class 1 is '2'"),
        ({0: 1, 9: 1}, "names the class 9; the classes are 0, 1, 2"),
    ],
)
def test_wrong_weights(weight: Any, message: str) -> None:
    X, y = make_data()
    with pytest.raises((InputError, OptionError), match=message):
        es.SparseLDA(3, class_weight=weight).fit(X, y)
    with pytest.raises((InputError, OptionError), match=message):
        es.lda_pencil(X, y, class_weight=weight)


@pytest.mark.parametrize(
    "lda",
    [
        es.SparseLDA(3),
        es.SparseLDA(3, class_weight={0: 5.0}),
        es.GroupLassoLDA(3),
        es.GroupLassoLDACV(cv=3),
        es.PenalizedLDA(rule="lda"),
        es.SparseOptimalScoring(3),
        es.UncorrelatedLDA(rule="lda"),
        es.SparseUncorrelatedLDA(rule="lda"),
    ],
    ids=lambda lda: type(lda).__name__,
)
def test_balanced_priors_are_equal_priors(lda: Any) -> None:
    X, y = make_data()
    by_name = lda.set_params(priors="balanced").fit(X, y)
    np.testing.assert_allclose(by_name.priors_, np.full(3, 1 / 3))
    chances = by_name.predict_proba(X)
    np.testing.assert_allclose(chances, lda.set_params(priors=[1, 1, 1]).fit(X, y).predict_proba(X))
    with pytest.raises(InputError, match="'balanced'; given was 'equal'"):
        lda.set_params(priors="equal").fit(X, y)
