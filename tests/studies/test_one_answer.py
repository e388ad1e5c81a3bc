"""One answer, never two: figures that say the same thing are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.studies.cv_path import GIVEN, ONE_SE, ONE_SE_BALANCED, ONLY, OWN


def make_data(n: int = 62, p: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), (np.arange(n) % 3 == 0).astype(int)
    X[y == 1, 0] += 1
    return X, y


@pytest.mark.parametrize("cv", [5, "loo"])
def test_the_table_and_the_honest_error_of_a_given_k(cv: int | str) -> None:
    """Folds of 12 and 13 samples: every sample counts alike in both."""
    X, y = make_data()
    study = es.study(X, y, ks=(2, 5), k=5, cv=cv, n_repeats=2)
    found, row = study.honest_error, study.rows[1]
    assert found is not None
    assert row["error"] == pytest.approx(found.error, abs=1e-12)
    assert row["balanced_error"] == pytest.approx(found.balanced_error, abs=1e-12)


def test_balanced_error_of_parts_of_very_different_sizes() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [96, 4])
    X = rng.normal(size=(100, 10))
    groups = np.r_[np.repeat([0, 1, 2], 32), [3, 4, 5, 6]]
    study = es.study(X, y, ks=(3,), cv="loo", groups=groups, score="balanced_error")
    assert study.honest_error is not None
    assert study.rows[0]["balanced_error"] == pytest.approx(study.honest_error.balanced_error)
    assert 0 <= study.rows[0]["balanced_error"] <= 1


def test_the_rule_says_what_chose() -> None:
    X, y = make_data()
    options = {"n_repeats": 1, "cv": 3}
    assert es.study(X, y, ks=(1, 2), **options).k_rule == ONE_SE
    balanced = es.study(X, y, ks=(1, 2), score="balanced_error", **options)
    assert balanced.k_rule == ONE_SE_BALANCED
    assert "balanced error" in balanced.k_rule
    assert es.study(X, y, ks=(2,), **options).k_rule == ONLY
    assert es.study(X, y, ks=(1, 2), k=2, **options).k_rule == GIVEN
    assert es.study(X, y, es.SparseUncorrelatedLDA(), **options).k_rule == OWN


def test_one_patient_with_two_labels_leaves_the_null_its_power() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [20, 21])
    X = rng.normal(size=(41, 20))
    X[:, 0] += 4 * y
    groups = np.arange(41)
    groups[0] = groups[-1] = 999
    study = es.study(X, y, ks=(1, 2), groups=groups, n_repeats=1, n_permutations=19)
    assert study.null is not None
    assert study.null.p_value == pytest.approx(1 / 20)


def test_groups_that_leave_few_permutations_are_told() -> None:
    """Five groups of five sizes, and only one of them, of two samples, has both labels."""
    groups = np.repeat(np.arange(5), [2, 5, 6, 7, 8])
    y = np.repeat([0, 1, 0, 1, 0, 1], [1, 1, 5, 6, 7, 8])
    X = np.random.default_rng(0).normal(size=(28, 5))
    study = es.study(X, y, ks=(1,), cv=2, groups=groups, n_repeats=1, n_permutations=20)
    assert study.null is not None
    assert any("permutations gave every sample its own label again" in n for n in study.notes)


def test_neighbouring_seeds_share_no_folds_but_their_own() -> None:
    from eigensieve.studies.splits import Splitter

    _, y = make_data()
    tests = {
        (seed, repeat): {tuple(test) for _, test in Splitter(5, None, seed).split(y, repeat)}
        for seed in range(3)
        for repeat in range(3)
    }
    pairs = [(a, b) for a in tests for b in tests if a < b]
    assert not any(tests[a] & tests[b] for a, b in pairs)


def first_ones(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.arange(X.shape[1])


def last_ones(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.arange(X.shape[1])[::-1]


def test_a_function_that_was_edited_is_another_study(tmp_path: Path) -> None:
    X, y = make_data()
    last_ones.__name__ = last_ones.__qualname__ = "first_ones"
    options = {"ks": (1,), "cv": 2, "n_repeats": 1, "checkpoint": tmp_path / "c"}
    es.study(X, y, es.RankedLDA(first_ones), **options)
    original = globals()["first_ones"]
    globals()["first_ones"] = last_ones  # as if the module had been edited
    try:
        with pytest.raises(InputError, match="another study"):
            es.study(X, y, es.RankedLDA(last_ones), **options)
    finally:
        globals()["first_ones"] = original


def test_whole_numbers_in_a_column_of_objects() -> None:
    X, y = make_data()
    plain = es.study(X, y, ks=(1,), cv=2, n_repeats=1)
    boxed = es.study(X, y.astype(object), ks=(1,), cv=2, n_repeats=1)
    assert plain.honest_error is not None
    assert boxed.honest_error is not None
    assert plain.honest_error.error == boxed.honest_error.error
    with pytest.raises(InputError, match="make the labels text"):
        es.study(X, np.array([b"a", b"b"])[y], ks=(1,))


def test_the_best_single_feature_is_the_bound_of_one_feature() -> None:
    X, y = make_data(60, 50)
    y = np.arange(60) % 4
    X[y == 1, 7] += 3
    for estimator in (es.SparseLDA(), es.RankedLDA(lambda X, y: np.arange(X.shape[1]))):
        study = es.study(X, y, estimator, ks=(1,), cv=2, n_repeats=1)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        pencil = es.lda_pencil(Z, y)
        best = max(es.solve(pencil, 1, "exhaustive", "logdet").objective, 0.0)
        assert study.solution.bound == pytest.approx(best, rel=1e-9)


def test_a_device_is_no_checkpoint() -> None:
    X, y = make_data()
    for name in ("/dev/null", "/dev/full"):
        with pytest.raises(InputError, match="no plain file"):
            es.study(X, y, ks=(1,), cv=2, n_repeats=1, checkpoint=name)
