"""A model on a set that was chosen already."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import eigensieve as es
from eigensieve.errors import InputError

X, y = load_wine(return_X_y=True, as_frame=True)
SET = ["ash", "proline", "hue"]
PLACES = sorted(X.columns.get_loc(name) for name in SET)


def within_and_between() -> tuple[np.ndarray, np.ndarray]:
    values = X.to_numpy()
    own = np.array([values[y == c].mean(axis=0) for c in range(3)])[y]
    within = (values - own).T @ (values - own) / len(y)
    centred = own - values.mean(axis=0)
    return 0.5 * within + 0.5 * np.diag(np.diag(within)), centred.T @ centred / len(y)


def score(S: Any) -> float:
    B, A = (matrix[np.ix_(S, S)] for matrix in within_and_between())
    return float(np.linalg.slogdet(A + B)[1] - np.linalg.slogdet(B)[1])


@pytest.mark.parametrize("features", [SET, PLACES, X.columns.isin(SET)])
def test_the_classifier_is_that_of_the_columns_alone(features: Any) -> None:
    lda = es.SparseLDA(shrinkage=0.0).fit_set(X, y, features)
    plain = LinearDiscriminantAnalysis(solver="lsqr").fit(X.iloc[:, PLACES], y)
    assert sorted(lda.selected_features_) == sorted(SET)
    np.testing.assert_allclose(
        lda.predict_proba(X), plain.predict_proba(X.iloc[:, PLACES]), atol=1e-9
    )
    assert lda.transform(X).shape == (len(y), 2)


def test_the_solution_says_what_the_set_is_worth() -> None:
    solution = es.SparseLDA(shrinkage=0.5).fit_set(X, y, SET).solution_
    assert solution.objective == pytest.approx(score(PLACES))
    assert solution.bound >= max(score(S) for S in combinations(range(13), 3))
    assert not solution.is_certified
    solution.verify(es.lda_pencil(X, y, shrinkage=0.5))
    assert es.SparseLDA(certificate="none").fit_set(X, y, SET).solution_.bound == np.inf


def test_parameters_play_no_part_and_are_not_changed() -> None:
    lda = es.SparseLDA(7, solver="exact")
    params = lda.get_params()
    assert list(lda.fit_set(X, y, SET).selected_features_) == list(X.columns[PLACES])
    assert lda.get_params() == params


@pytest.mark.parametrize(
    ("options", "features", "words"),
    [
        ({}, ["ashes"], "no feature is called 'ashes'"),
        ({}, [], "features is empty"),
        ({"exclude": ["ash"]}, SET, "include and exclude"),
        ({"include": ["magnesium"]}, SET, "include and exclude"),
        ({"constraints": {"groups": {"g": ["ash", "hue"]}, "at_most": 1}}, SET, "at most 1 of 'g'"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], features: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        es.SparseLDA(**options).fit_set(X, y, features)
