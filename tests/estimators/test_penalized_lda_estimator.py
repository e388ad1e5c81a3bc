"""PenalizedLDA: the paper's definitions written out, odd data."""

from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import eigensieve as es
from eigensieve import PenalizedLDA
from eigensieve.errors import InputError, OptionError
from tests.estimators.refusals import assert_wrong_data_is_refused
from tests.oracles.instances import shifted_classes as make

SHAPES = [(30, 12, 2), (45, 40, 3), (24, 120, 4)]  # samples, columns, classes


# --- the paper's definitions ---


def paper_scatters(
    X: np.ndarray, y: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """S_b^k = X'Y (Y'Y)^-1/2 P_k (Y'Y)^-1/2 Y'X / n and D: literally, with p x p matrices."""
    n = len(X)
    Xc = X - X.mean(axis=0)
    Y = np.equal.outer(y, np.unique(y)).astype(float)
    root = np.diag(1 / np.sqrt(Y.sum(axis=0))) @ Y.T @ Xc
    image = root @ before
    P = np.eye(Y.shape[1]) - image @ np.linalg.pinv(image)
    means = np.linalg.lstsq(Y, Xc, rcond=None)[0]
    D = np.diag(np.diag((Xc - Y @ means).T @ (Xc - Y @ means))) / n
    return root.T @ P @ root / n, D


@pytest.mark.parametrize("alpha", [0.0, "auto", 0.15])
@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_directions_belong_to_the_deflated_scatters_of_the_paper(
    n: int, p: int, K: int, alpha: float | str
) -> None:
    X, y = make(n, p, K)
    lda = PenalizedLDA(alpha, tol=1e-11, max_iter=20_000).fit(X, y)
    assert lda.scalings_.shape == (p, K - 1)
    total = 0.0
    for k, b in enumerate(lda.scalings_.T):
        S, D = paper_scatters(X, y, lda.scalings_[:, :k])
        s = np.sqrt(np.diag(D))
        top = linalg.eigvalsh(S / np.outer(s, s))[-1]
        assert b @ D @ b == pytest.approx(1.0, rel=1e-12)
        value = b @ S @ b - lda.alpha_ * top * np.abs(s * b).sum()
        assert lda.objective_[k] == pytest.approx(value, rel=1e-9)
        # stationary: the proximal step from S c leads back to c
        v = (S @ b) / s
        step = np.sign(v) * np.maximum(np.abs(v) - lda.alpha_ * top / 2, 0)
        np.testing.assert_allclose(step / np.linalg.norm(step), s * b, atol=1e-8)
        total += b @ S @ b
    S, D = paper_scatters(X, y, np.zeros((p, 0)))
    share = total / np.trace(S / np.diag(D))
    assert lda.explained_variance_ratio_.sum() == pytest.approx(share, rel=1e-9)
    assert share <= 1 + 1e-12


@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_without_penalty_the_generalized_eigenvectors(n: int, p: int, K: int) -> None:
    X, y = make(n, p, K)
    lda = PenalizedLDA(0.0).fit(X, y)
    S, D = paper_scatters(X, y, np.zeros((p, 0)))
    values, vectors = linalg.eigh(S, D)
    values, vectors = values[::-1][: K - 1], vectors[:, ::-1][:, : K - 1]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), range(K - 1)])
    np.testing.assert_allclose(lda.scalings_, vectors, atol=1e-8)
    np.testing.assert_allclose(lda.objective_, values, rtol=1e-10)
    np.testing.assert_allclose(lda.explained_variance_ratio_, values / values.sum(), rtol=1e-10)
    assert lda.sparsity_ == 0


def test_figures_of_the_fit() -> None:
    X, y = make(45, 40, 3)
    lda = PenalizedLDA(0.3).fit(X, y)
    np.testing.assert_array_equal(lda.support_, (lda.scalings_ != 0).any(axis=1))
    assert 3 <= lda.support_.sum() < 40
    assert lda.get_support(indices=True).tolist() == lda.selected_features_.tolist()
    assert lda.sparsity_ == np.mean(lda.scalings_ == 0)
    assert lda.n_iter_.shape == lda.objective_.shape == (2,)
    assert lda.alpha_ == 0.3
    assert PenalizedLDA().fit(X, y).alpha_ == pytest.approx(1 / np.sqrt(40))
    np.testing.assert_allclose(lda.xbar_, X.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(lda.means_[1], X[y == 1].mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(lda.transform(X), (X - X.mean(axis=0)) @ lda.scalings_, atol=1e-12)
    largest = np.abs(lda.scalings_).argmax(axis=0)
    assert (lda.scalings_[largest, [0, 1]] > 0).all()


def test_more_penalty_fewer_features() -> None:
    X, y = make(60, 300, 3)
    sizes = [PenalizedLDA(alpha).fit(X, y).support_.sum() for alpha in (0, 0.05, 0.1, 0.15)]
    assert sizes[0] == 300
    assert np.diff(sizes).max() < 0
    assert sizes[-1] < 100


def test_fusion_gives_neighbours_equal_weights() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 60))
    X[100:, 20:40] += 1.5
    X *= np.geomspace(0.01, 100, 60)  # equal in units of the within-class deviations
    lda = PenalizedLDA(0.1, fusion=0.4).fit(X, y)
    assert lda.get_support(indices=True).tolist() == list(range(20, 40))
    deviations = np.sqrt(np.diag(paper_scatters(X, y, np.zeros((60, 0)))[1]))
    weights = (deviations * lda.scalings_[:, 0])[20:40]
    np.testing.assert_allclose(weights, weights[0], rtol=1e-12)
    assert np.ptp(PenalizedLDA(0.05).fit(X, y).scalings_[20:40, 0] * deviations[20:40]) > 1e-3


# --- number of directions ---


def test_fewer_components_are_the_leading_ones() -> None:
    X, y = make(40, 60, 4)
    every = PenalizedLDA().fit(X, y)
    first = PenalizedLDA(n_components=2).fit(X, y)
    assert every.scalings_.shape == (60, 3)
    np.testing.assert_array_equal(first.scalings_, every.scalings_[:, :2])
    assert first.predict(X).shape == (40,)


def test_more_components_than_there_are() -> None:
    X, y = make(40, 60, 3)
    with pytest.warns(UserWarning, match="n_components is 5, but these class means have at most 2"):
        lda = PenalizedLDA(n_components=5).fit(X, y)
    assert lda.transform(X).shape == (40, 2)
    with pytest.warns(UserWarning, match="finding 1"):  # three classes, but one column
        assert PenalizedLDA(n_components=2).fit(X[:, :1], y).scalings_.shape == (1, 1)


def test_a_direction_that_vanishes() -> None:
    """Class 2 stands out in one column, classes 0 and 1 differ a little in many."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 200))
    X[y == 2, 0] += 12
    X[y == 1] += 0.3
    assert PenalizedLDA().fit(X, y).scalings_.shape == (200, 2)
    lda = PenalizedLDA(0.5).fit(X, y)
    assert lda.scalings_.shape == (200, 1)
    assert lda.selected_features_.tolist() == [0]
    with pytest.warns(UserWarning, match="n_components is 2; finding 1: alpha = 0.5 leaves"):
        PenalizedLDA(0.5, n_components=2).fit(X, y)


def test_an_alpha_that_leaves_nothing_is_told_with_the_limit() -> None:
    X, y = make(60, 300, 3)
    with pytest.raises(InputError, match=r"alpha is 3: no feature is left.*about 0") as error:
        PenalizedLDA(3).fit(X, y)
    limit = float(str(error.value).split()[-1])
    assert PenalizedLDA(limit).fit(X, y).support_.any()
    with pytest.raises(InputError, match="no feature is left"):
        PenalizedLDA(1.2 * limit).fit(X, y)
    centred = np.hstack([X, -X])  # weights sum to zero: fusion of all leaves nothing
    with pytest.raises(InputError, match=r"fusion is 1e\+20: no feature is left, whatever alpha"):
        PenalizedLDA(fusion=1e20).fit(centred, y)


# --- classification ---


def test_the_rules_are_those_of_scikit_learn_on_the_projection() -> None:
    X, y = make(60, 80, 3)
    new, labels = make(300, 80, 3, seed=1)
    lda = PenalizedLDA().fit(X, y)
    theirs = NearestCentroid().fit(lda.transform(X), y)
    np.testing.assert_array_equal(lda.predict(new), theirs.predict(lda.transform(new)))
    np.testing.assert_allclose(
        lda.decision_function(new), new @ lda.coef_.T + lda.intercept_, atol=1e-10
    )
    assert lda.score(new, labels) > 0.8
    np.testing.assert_allclose(lda.predict_proba(new).sum(axis=1), 1)
    nearest = PenalizedLDA(rule="1-nn").fit(X, y)
    theirs = KNeighborsClassifier(1).fit(nearest.transform(X), y)
    np.testing.assert_array_equal(nearest.predict(new), theirs.predict(nearest.transform(new)))
    tilted = PenalizedLDA(rule="lda", priors=[1, 1, 1e6]).fit(X, y)
    assert np.mean(tilted.predict(new) == 2) > 0.5


def test_search_names_plots_pickles() -> None:
    X, y = make(60, 80, 3)
    frame = pd.DataFrame(X).add_prefix("gene ")
    search = GridSearchCV(PenalizedLDA(), {"alpha": [0.0, 0.1, 0.2]}).fit(frame, y)
    assert search.best_params_["alpha"] > 0
    lda = search.best_estimator_
    assert {"gene 0", "gene 1", "gene 2"} <= set(lda.selected_features_)
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_array_equal(again.predict(frame), lda.predict(frame))
    np.testing.assert_array_equal(clone(lda).fit(frame, y).scalings_, lda.scalings_)
    from eigensieve.plots.loadings import LoadingsDisplay

    assert LoadingsDisplay.from_estimator(lda).names[0] in {"gene 0", "gene 1", "gene 2"}
    assert es.PenalizedLDA is PenalizedLDA


# --- odd data ---


def test_scales_offsets_and_kinds_of_numbers_do_not_matter() -> None:
    X, y = make(45, 40, 3)
    plain = PenalizedLDA().fit(X, y)
    scale = np.ones(40)
    scale[[0, 5, 7]] = 1e60, 1e-60, 1e-8
    extreme = PenalizedLDA().fit(X * scale, y)
    np.testing.assert_array_equal(extreme.support_, plain.support_)
    Z, signs = (
        plain.transform(X),
        np.sign(np.sum(extreme.transform(X * scale) * plain.transform(X), 0)),
    )
    np.testing.assert_allclose(extreme.transform(X * scale) * signs, Z, atol=1e-10)
    np.testing.assert_array_equal(extreme.predict(X * scale), plain.predict(X))
    moved = PenalizedLDA().fit(X + 1e6, y)
    np.testing.assert_allclose(moved.scalings_, plain.scalings_, atol=1e-6)
    small = X.astype(np.float32)
    single = PenalizedLDA().fit(small, y.astype(np.int8))
    np.testing.assert_array_equal(
        single.scalings_, PenalizedLDA().fit(small.astype(float), y).scalings_
    )
    assert single.classes_.dtype == np.int8
    with pytest.raises(InputError, match="column 2 has values of size"):
        PenalizedLDA().fit(X * np.where(np.arange(40) == 2, 1e160, 1.0), y)


def test_constant_columns_are_never_used() -> None:
    X, y = make(45, 40, 3)
    wide = np.insert(X, [0, 10, 40], 0.1, axis=1)  # 0, 11 and 42
    for options in ({}, {"ridge": 0.5}, {"fusion": 0.2, "ridge": 0.5}):
        lda, plain = PenalizedLDA(**options).fit(wide, y), PenalizedLDA(**options).fit(X, y)
        assert not lda.support_[[0, 11, 42]].any()
        np.testing.assert_allclose(
            np.delete(lda.scalings_, [0, 11, 42], axis=0), plain.scalings_, atol=1e-12
        )
        assert lda.alpha_ == plain.alpha_
    with pytest.raises(InputError, match="no column varies"):
        PenalizedLDA().fit(np.full((45, 4), 0.1), y)


def test_a_column_that_varies_between_the_classes_only() -> None:
    X, y = make(45, 40, 3)
    X[:, 7] = np.array([1.0, 2.0, 2.0])[y]
    with pytest.raises(InputError, match=r"column 7 does not vary within.*drop it.*ridge > 0"):
        PenalizedLDA().fit(X, y)
    with pytest.raises(InputError, match="column 'gene 7' does not vary"):
        PenalizedLDA().fit(pd.DataFrame(X).add_prefix("gene "), y)
    lda = PenalizedLDA(ridge=0.01).fit(X, y)
    assert lda.support_[7]
    b, (_, D) = lda.scalings_, paper_scatters(X, y, np.zeros((40, 0)))
    np.testing.assert_allclose(np.diag(b.T @ (D + 0.01 * np.eye(40)) @ b), 1, rtol=1e-12)


def test_small_classes() -> None:
    X, y = make(30, 40, 2)
    y[-1] = 2
    lda = PenalizedLDA().fit(X, y)
    assert lda.scalings_.shape == (40, 2)
    assert set(lda.predict(X)) <= {0, 1, 2}
    with pytest.raises(InputError, match="column 0 does not vary within"):
        PenalizedLDA().fit(X[:4], np.arange(4))
    assert PenalizedLDA(ridge=1.0).fit(X[:4], np.arange(4)).score(X[:4], np.arange(4)) == 1


def test_copies_of_a_column_get_equal_weights() -> None:
    X, y = make(45, 40, 3)
    X[:, 9] = X[:, 0]
    lda = PenalizedLDA().fit(X, y)
    np.testing.assert_allclose(lda.scalings_[9], lda.scalings_[0], rtol=1e-9)
    assert lda.support_[0]


def test_one_column() -> None:
    X, y = make(30, 40, 2)
    lda = PenalizedLDA().fit(X[:, :1], y)
    assert lda.alpha_ == 1.0
    np.testing.assert_allclose(lda.explained_variance_ratio_, [1.0])
    theirs = NearestCentroid().fit(X[:, :1], y)
    np.testing.assert_array_equal(lda.predict(X[:, :1]), theirs.predict(X[:, :1]))


def test_wrong_data() -> None:
    assert_wrong_data_is_refused(PenalizedLDA(), *make(45, 40, 3))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alpha": -0.1}, "alpha is -0.1; it must be a number >= 0, or 'auto'"),
        ({"alpha": "much"}, "alpha is 'much'"),
        ({"alpha": None}, "alpha is None"),
        ({"alpha": np.nan}, "alpha is nan"),
        ({"alpha": True}, "alpha is True"),
        ({"fusion": -1}, "fusion is -1; it must be a number >= 0"),
        ({"fusion": np.inf}, "fusion is inf"),
        ({"ridge": -1}, "ridge is -1"),
        ({"tol": 0}, "tol is 0; it must be a positive number"),
        ({"rule": "2-nn"}, "rule is '2-nn'"),
        ({"priors": [1, 1, 1]}, "priors are for rule 'lda'"),
    ],
)
def test_wrong_options(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        PenalizedLDA(**options).fit(*make())


@pytest.mark.parametrize("name", ["max_iter", "n_components"])
def test_wrong_counts(name: str) -> None:
    for value in (0, 1.5, "all"):
        with pytest.raises(InputError, match=f"{name} is {value!r}"):
            PenalizedLDA(**{name: value}).fit(*make())


def test_an_iteration_limit_is_told_of() -> None:
    X, y = make(45, 40, 3)
    with pytest.warns(ConvergenceWarning, match="iteration limit.*direction 0 after 1 steps"):
        lda = PenalizedLDA(max_iter=1).fit(X, y)
    assert lda.n_iter_.tolist() == [1, 1]
    assert lda.score(X, y) > 0.5


def test_fifty_thousand_columns_in_a_blink() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 50_000)), np.arange(60) % 4
    X[np.arange(60), y] += 5
    start = time.perf_counter()
    lda = PenalizedLDA().fit(X, y)
    assert time.perf_counter() - start < 20  # a matrix of p x p would be 20 GB
    assert lda.support_[:4].all()
    assert 4 <= lda.support_.sum() < 50_000


def test_the_automatic_penalty_is_safe_without_fusion_only() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), np.repeat([0, 1, 2], 20)
    X[:20, ::17] += 1
    assert PenalizedLDA().fit(X, y).support_.any()
    with pytest.raises(InputError, match="no feature is left"):
        PenalizedLDA(fusion=0.3).fit(X, y)
