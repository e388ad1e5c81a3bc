"""The unit of a column does not matter, or the estimator is one of those that say that it does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

import eigensieve as es

# The same in any unit of any column ...
FREE = [
    es.SparseLDA(4),
    es.SparseLDA(4, solver="exact", shrinkage=0.5),
    es.SparseLDA(4, solver="dc"),
    *(es.RankedLDA(ranker, 4, random_state=0) for ranker in ("anova", "pearson", "snr")),
    *(es.RankedLDA(ranker, 4, random_state=0) for ranker in ("svm-rfe", "l1", "qalpha")),
    es.UncorrelatedLDA(),
    es.UncorrelatedLDA(1, rule="centroid"),
    es.UncorrelatedLDA(rule="1-nn"),
    es.PenalizedLDA(),
    es.PenalizedLDA(0.1, fusion=0.02, rule="lda"),
    es.GroupLassoLDA(4, weights="std"),
    es.GroupLassoLDA(4, weights="std", within="diagonal"),
    es.GroupLassoLDACV(weights="std", cv=3),
    es.SparseOptimalScoring(4, weights="std"),
    es.QAlphaSelector(4, n_clusters=3),
    es.QAlphaSelector(4, variant="supervised"),
    es.PreparedClassifier(),
    es.PreparedClassifier(es.GroupLassoLDA(4)),
    es.PreparedClassifier(es.SparseUncorrelatedLDA()),
]
# ... and only in another unit of the whole table: a penalty, or a variance, sees each column's.
BOUND = [
    es.SparsePCA(2, n_features_to_select=4),
    es.SparseUncorrelatedLDA(),
    es.SparseUncorrelatedLDA("l21"),
    es.GroupLassoLDA(4),
    es.GroupLassoLDA(4, within="diagonal"),
    es.GroupLassoLDACV(cv=3),
    es.SparseOptimalScoring(4),
]
BOUND_SOLVERS = [es.SparseLDA(4, solver=solver) for solver in ("threshold", "scotlass")]
POWERS = ["2", "1e30", "1e60"]
SHAPES = {"tall": (90, 10), "wide": (30, 60)}


def make_table(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    n, p = shape
    rng = np.random.default_rng(p)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)) / np.sqrt(p))
    X += 1.2 * np.equal.outer(y, np.arange(p) // 2)
    return X, y


def make_units(power: str, p: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    if power == "2":
        return np.ldexp(1.0, rng.integers(-30, 31, p))
    return float(power) ** rng.choice([-1.0, 1.0], p)


def fit(estimator: BaseEstimator, X: Any, y: np.ndarray) -> Any:
    return clone(estimator).fit(X, y)


def assert_same(one: Any, other: Any, X: Any, scaled: Any) -> None:
    """The same columns, scores and probabilities, whatever the unit."""
    np.testing.assert_array_equal(other.get_support(), one.get_support())
    if hasattr(one, "predict"):
        assert_near(other.predict_proba(scaled), one.predict_proba(X))
        assert_near_but_for_signs(other.transform(scaled), one.transform(X))


def assert_near(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def assert_near_but_for_signs(found: np.ndarray, expected: np.ndarray) -> None:
    """The largest weight of a direction is positive, and the unit says which is the largest."""
    assert_near(found * np.sign(np.sum(found * expected, axis=0)), expected)


def words(estimator: BaseEstimator) -> str:
    return "".join(repr(estimator).split())


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("estimator", FREE, ids=words)
def test_the_unit_of_a_column_does_not_matter(estimator, shape: str, power: str) -> None:
    X, y = make_table(SHAPES[shape])
    unit = make_units(power, X.shape[1])
    new = make_table(SHAPES[shape])[0][::-1] * 1.1
    plain, scaled = fit(estimator, X, y), fit(estimator, X * unit, y)
    assert_same(plain, scaled, new, new * unit)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "estimator", [model for model in FREE if get_tags(model).input_tags.sparse], ids=words
)
def test_the_unit_of_a_sparse_column_does_not_matter(estimator, shape: str, power: str) -> None:
    X, y = make_table(SHAPES[shape])
    X[np.abs(X) < 0.5] = 0.0
    unit = make_units(power, X.shape[1])
    plain = fit(estimator, sparse.csr_array(X), y)
    scaled = fit(estimator, sparse.csr_array(X * unit), y)
    assert_same(plain, scaled, sparse.csr_array(X), sparse.csr_array(X * unit))


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_units_of_two_views_do_not_matter(shape: str, power: str) -> None:
    X = make_table(SHAPES[shape])[0]
    Y = make_table((len(X), 12))[0] + X[:, :1]
    units = make_units(power, X.shape[1]), make_units(power, 12)
    cca = es.SparseCCA(2, n_features_to_select=(4, 3))
    plain = clone(cca).fit(X, Y)
    scaled = clone(cca).fit(X * units[0], Y * units[1])
    for expected, found in zip(plain.get_support(), scaled.get_support()):
        np.testing.assert_array_equal(found, expected)
    for expected, found in zip(plain.transform(X, Y), scaled.transform(X * units[0], Y * units[1])):
        assert_near_but_for_signs(found, expected)


@pytest.mark.filterwarnings("ignore:maximum number")
@pytest.mark.parametrize("unit", [2.0**-30, 1e30, 1e-60, 1e60])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("estimator", BOUND + BOUND_SOLVERS, ids=words)
def test_the_unit_of_the_table_does_not_matter(estimator, shape: str, unit: float) -> None:
    X, y = make_table(SHAPES[shape])
    plain, scaled = fit(estimator, X, y), fit(estimator, X * unit, y)
    assert_same(plain, scaled, X * 1.1, X * 1.1 * unit)


def test_every_estimator_is_of_one_kind_and_the_readme_says_which() -> None:
    public = {getattr(es, name) for name in es.__all__ if name[0].isupper()}
    estimators = {kind.__name__ for kind in public if issubclass(kind, BaseEstimator)}
    bound = {type(model).__name__ for model in BOUND}
    free = {type(model).__name__ for model in FREE if "weights" not in model.get_params()}
    assert free | bound | {"SparseCCA"} == estimators
    assert not free & bound
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    promise = readme[readme.index("- The scale of a column does not matter") :].split("\n- ")[0]
    assert {name for name in estimators if f"`{name}`" in promise} == bound
    assert all(f"`{model.solver}`" in promise for model in BOUND_SOLVERS)
