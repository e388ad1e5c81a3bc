"""What a study tries: estimators by name, and sizes that the table allows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.studies.data import check_data
from eigensieve.studies.settings import (
    as_sizes,
    check_score,
    check_settings,
    resolve_constraints,
    usable_ks,
    usable_range,
)


def test_names() -> None:
    assert list(check_settings(None, 0)) == ["SparseLDA"]
    assert list(check_settings(es.GroupLassoLDA(), 0)) == ["GroupLassoLDA"]
    two = [es.SparseLDA(shrinkage=0.1), es.SparseLDA(shrinkage=0.2)]
    assert list(check_settings(two, 0)) == ["SparseLDA(shrinkage=0.1)", "SparseLDA(shrinkage=0.2)"]
    assert list(check_settings(tuple(two), 0)) == list(check_settings(two, 0))
    assert list(check_settings([es.SparseLDA()] * 3, 0)) == [
        "SparseLDA()", "SparseLDA() (2)", "SparseLDA() (3)"
    ]  # fmt: skip
    assert list(check_settings({"a": two[0], 5: two[1]}, 0)) == ["a", "5"]


def test_the_default_has_the_seed_of_the_study() -> None:
    assert check_settings(None, 7)["SparseLDA"].random_state == 7


def test_estimators_are_copied() -> None:
    mine = es.SparseLDA(include=["b"])
    settings = check_settings(mine, 0)
    data = check_data(np.eye(4)[:, :3], [0, 0, 1, 1], None, list("abc"), "error")
    resolved = resolve_constraints(settings, data)["SparseLDA"]
    assert list(resolved.include) == [1]
    assert mine.include == ["b"]


def test_a_selector_ranks() -> None:
    ranked = check_settings(es.QAlphaSelector(), 0)
    assert isinstance(ranked["QAlphaSelector"], es.RankedLDA)
    assert isinstance(ranked["QAlphaSelector"].ranker, es.QAlphaSelector)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (
            es.SparsePCA(),
            r"SparsePCA\(\) is no classifier that selects features \(it lacks predict",
        ),
        (es.SparseCCA(), "it lacks predict"),
        (LinearDiscriminantAnalysis(), "it lacks get_support.*; give SparseLDA"),
        (es.SparseLDA, "it lacks an instance"),
        ([es.SparseLDA], "it lacks an instance"),
        ("sparse-lda", "'sparse-lda' is no classifier"),
        (5, "5 is no classifier"),
        ([], "no estimator to try"),
        ({}, "no estimator to try"),
        ({"a": None}, "None is no classifier"),
        ({1: es.SparseLDA(), "1": es.RankedLDA()}, "two estimators have one name: 1, '1'"),
        (es.PreparedClassifier(), "give the classifier inside"),
    ],
)
def test_what_is_no_setting(estimator, words) -> None:
    with pytest.raises(InputError, match=words):
        check_settings(estimator, 0)


def test_sizes() -> None:
    plain, constraints = es.SparseLDA(), es.SparseLDA(include=[1, 2], exclude=[0])
    assert usable_range([plain], 6) == range(1, 7)
    assert usable_range([plain, constraints], 6) == range(2, 6)
    assert usable_ks([plain], [9, 3, 1, 3, np.int64(2)], 6) == [1, 2, 3]
    assert usable_ks([constraints], range(1, 10), 6) == [2, 3, 4, 5]
    with pytest.raises(InputError, match=r"no k of \[7, 8\] lies in 1..6"):
        usable_ks([plain], (7, 8), 6)
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(InputError, match="whole number, at least 1"):
            usable_ks([plain], [wrong], 6)


@pytest.mark.parametrize("ks", [5, "auto", None, 2.5])
def test_sizes_are_several(ks) -> None:
    with pytest.raises(InputError, match=r"ks is .*; it must be several whole numbers"):
        as_sizes(ks)


def test_sizes_may_be_a_generator() -> None:
    assert as_sizes(k for k in (1, 2)) == (1, 2)


@pytest.mark.parametrize("score", ["auc", None, 1])
def test_scores(score) -> None:
    with pytest.raises(OptionError, match="it must be one of error, balanced_error"):
        check_score(score)
