"""Uncorrelated LDA in use: shares of directions, lost digits, model files, plots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from eigensieve import SparseUncorrelatedLDA, UncorrelatedFamily, UncorrelatedLDA
from eigensieve.errors import InputError
from eigensieve.io.model import LinearModel, load_model, save_model
from eigensieve.plots import LoadingsDisplay, ProjectionDisplay
from tests.oracles.instances import shifted_classes


def test_shares_of_the_directions_in_the_separation() -> None:
    X, y = shifted_classes(60, 5, 4)
    correlations = UncorrelatedFamily.from_data(X, y).correlations
    shares = np.square(correlations) / np.square(correlations).sum()
    for m, expected in ((None, shares), (1, shares[:1]), (3, shares)):
        lda = UncorrelatedLDA(m).fit(X, y)
        np.testing.assert_allclose(lda.explained_variance_ratio_, expected, atol=1e-14)
    S_b = np.cov(lda.means_.T, aweights=np.bincount(y), ddof=0)
    traces = np.einsum("ij,ij->j", lda.scalings_, S_b @ lda.scalings_)
    np.testing.assert_allclose(traces / traces.sum(), lda.explained_variance_ratio_, atol=1e-12)


def test_units_that_cost_digits_are_told_of() -> None:
    X, y = shifted_classes(40, 200, 2)
    X[:, 7] *= 1e13
    with pytest.warns(UserWarning, match="uncorrelated only up to .* scales of the columns"):
        lda = SparseUncorrelatedLDA().fit(X, y)
    assert lda.rank_ == 39
    SparseUncorrelatedLDA().fit(X / [1e13 if j == 7 else 1.0 for j in range(200)], y)  # no warning


@pytest.mark.parametrize("power", [30, 60])
def test_units_that_cost_all_digits_are_refused(power: int) -> None:
    """More samples than columns: the solution needs the small columns, too."""
    X, y = shifted_classes(60, 6, 3)
    unit = 10.0 ** (power * np.array([1, -1, 1, -1, 1, -1]))
    with pytest.raises(InputError, match="scales of the columns differ too much; standardise"):
        SparseUncorrelatedLDA().fit(X * unit, y)


@pytest.mark.parametrize("p", [6, 100])
def test_the_solution_is_that_of_smallest_norm_for_standardised_columns(p: int) -> None:
    """By the pseudo-inverse: of all G with the same scores of the training rows."""
    X, y = shifted_classes(40, p, 3)
    X *= np.geomspace(1e-3, 1e3, p)
    lda = UncorrelatedLDA().fit(X, y)
    deviation = X.std(axis=0)
    G = np.linalg.pinv((X - X.mean(axis=0)) / deviation) @ lda.transform(X)
    np.testing.assert_allclose(lda.scalings_ * deviation[:, None], G, rtol=0, atol=1e-10)
    family = UncorrelatedFamily.from_data(X, y)
    assert family.contains(lda.scalings_, tol=1e-6)
    assert UncorrelatedFamily.from_data(X, y, standardize=True).contains(lda.scalings_)


def test_rows_too_nearly_dependent_are_told_of() -> None:
    X, y = shifted_classes(40, 200, 2)
    X[0] = X[1] + 1e-11 * X[0]  # of two classes
    with pytest.warns(UserWarning, match="uncorrelated only up to .* rank_tol"):
        UncorrelatedLDA(rank_tol=0.0).fit(X, y)
    UncorrelatedLDA().fit(X, y)  # no warning


def test_lda_probabilities_where_a_class_is_a_point() -> None:
    """Two classes of equal size lie at -1 and 1; the variance within counts as 1e-6."""
    X, y = shifted_classes(20, 50, 2)
    lda = UncorrelatedLDA(rule="lda").fit(X, y)
    odds = np.diff(lda.predict_log_proba(X[:1] + 1e-7 * X[1:2]), axis=1)
    z = lda.transform(X[:1] + 1e-7 * X[1:2])[:, 0]
    np.testing.assert_allclose(odds[:, 0], 2 * z / 1e-6, rtol=1e-9)


@pytest.mark.parametrize("estimator", [UncorrelatedLDA(), SparseUncorrelatedLDA("l21")])
@pytest.mark.parametrize("K", [2, 3])
def test_a_model_file_predicts_the_same(estimator, K: int, tmp_path: Path) -> None:
    X, y = shifted_classes(24, 40, K)
    lda = clone(estimator).fit(X, y)
    names = [f"gene {j}" for j in range(40)]
    model = LinearModel.from_discriminant(lda, names, np.zeros(40), np.ones(40), None, {})
    save_model(model, tmp_path / "model.json")
    again, S = load_model(tmp_path / "model.json"), lda.get_support(indices=True)
    fresh = shifted_classes(30, 40, K, seed=1)[0]
    assert list(again.features) == [names[j] for j in S]
    assert again.predict(fresh[:, S]).tolist() == lda.predict(fresh).tolist()
    np.testing.assert_allclose(again.predict_proba(fresh[:, S]), lda.predict_proba(fresh))
    np.testing.assert_allclose(again.transform(fresh[:, S]), lda.transform(fresh), atol=1e-12)


def test_a_model_file_holds_linear_rules_only() -> None:
    lda = UncorrelatedLDA(rule="1-nn").fit(*shifted_classes(24, 5, 2))
    with pytest.raises(InputError, match="linear rules only"):
        LinearModel.from_discriminant(lda, list("abcde"), np.zeros(5), np.ones(5), None, {})


def test_loadings_are_drawn_of_features_that_the_drawn_directions_use() -> None:
    X, y = shifted_classes(30, 60, 5)
    lda = SparseUncorrelatedLDA().fit(X, y)
    display = LoadingsDisplay.from_estimator(lda)
    used = np.count_nonzero(lda.scalings_[:, :2].any(axis=1))
    assert display.loadings[:used, :2].any(axis=1).all()
    assert ProjectionDisplay.from_estimator(lda, X, y).plot().ax_ is not None
