"""`es.study`: every estimator, every kind of table, every wrong option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.studies.whole import make_table

X, y = make_table(30, 10, gaps=False)
NAMES = [f"gene {j}" for j in range(10)]
FRAME = pd.DataFrame(X, columns=NAMES)


def quick(X: Any = X, y: Any = y, estimator: Any = None, **options: Any) -> es.Study:
    usual = {"ks": (1, 2), "cv": 3, "n_repeats": 1}
    return es.study(X, y, estimator or es.RankedLDA("anova"), **{**usual, **options})


# ---------------------------------------------------------------- estimators


SIZED = [
    es.SparseLDA(), es.GroupLassoLDA(), es.QAlphaSelector(n_init=1), es.RankedLDA("anova"),
    es.RankedLDA("snr"),
]  # fmt: skip
OWN = [es.SparseUncorrelatedLDA(), es.UncorrelatedLDA(), es.PenalizedLDA()]


@pytest.mark.parametrize("estimator", SIZED, ids=repr)
def test_estimators_that_are_told_the_size(estimator) -> None:
    study = quick(estimator=estimator)
    assert study.ks == (1, 2)
    assert study.best_k in (1, 2)
    assert study.k_rule.startswith("smallest k")
    assert study.settings == (type(estimator).__name__,)
    assert study.final_estimator.get_support().sum() == study.best_k
    assert study.honest_error is not None
    assert study.honest_error.how == "nested 3-fold cross-validation, k chosen inside"


def test_sparse_optimal_scoring() -> None:
    study = quick(estimator=es.SparseOptimalScoring(), ks=(2,), k=2, cv=2)
    assert study.best_k == 2
    assert study.honest_error is not None


@pytest.mark.parametrize("estimator", OWN, ids=repr)
def test_estimators_that_choose_the_size(estimator) -> None:
    study = quick(estimator=estimator)
    n = int(study.final_estimator.get_support().sum())
    assert study.ks == (n,)
    assert study.best_k == n
    assert study.k_rule == "the method's own number of features"
    assert study.honest_error is not None
    assert study.honest_error.how == "3-fold cross-validation, nothing chosen"
    with pytest.raises(InputError, match=r"k is 2, but .* chooses the number of features itself"):
        quick(estimator=estimator, k=2)


def test_several_estimators() -> None:
    options = [es.SparseLDA(shrinkage=s) for s in (0.05, 0.9)]
    study = quick(estimator=options)
    assert study.settings == ("SparseLDA(shrinkage=0.05)", "SparseLDA(shrinkage=0.9)")
    assert study.setting in study.settings
    assert set(study.table["setting"]) <= set(study.settings)
    assert study.honest_error is not None
    assert study.honest_error.how.endswith("k and setting chosen inside")
    named = quick(estimator={"weak": options[0], "strong": options[1]})
    assert named.settings == ("weak", "strong")
    np.testing.assert_array_equal(named.table["error"], study.table["error"])
    given = quick(estimator=options, k=2)
    assert given.honest_error is not None
    assert given.honest_error.how.endswith("setting chosen inside")
    with pytest.raises(InputError, match=r"cannot be tuned along with others; compare them"):
        quick(estimator=[es.SparseLDA(), es.PenalizedLDA()])


def test_wishes_by_name() -> None:
    constraints = es.SparseLDA(include=["gene 5"], exclude=["gene 3", "gene 7"])
    study = quick(FRAME, estimator=constraints, ks=(1, 2, 9))
    assert study.ks == (1, 2)
    for model in study.path.values():
        assert model.get_support()[5]
        assert not model.get_support()[[3, 7]].any()
    assert (study.stability.loc["gene 5"] == 1).all()
    assert (study.stability.loc[["gene 3", "gene 7"]] == 0).all(axis=None)
    with pytest.raises(InputError, match="no feature is called 'gene 77'"):
        quick(FRAME, estimator=es.SparseLDA(include=["gene 77"]))
    with pytest.raises(InputError, match="k is 1; this table allows 2 to 10"):
        quick(estimator=es.SparseLDA(include=[0, 1]), k=1)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    "labels",
    [np.repeat([2, 10, 7], 10), np.repeat([True, False, True], 10), pd.Categorical(y),
     pd.Series(y, dtype="string"), np.repeat([1.0, 2.0, 3.0], 10)],
)  # fmt: skip
def test_labels_of_any_kind(labels) -> None:
    study = quick(y=labels)
    assert set(study.final_estimator.predict(X)) <= set(np.asarray(labels))
    assert study.honest_error is not None
    assert study.honest_error.classes.tolist() == sorted(set(np.asarray(labels)))
    assert study.honest_error.confusion.sum() == pytest.approx(30)


def test_a_column_of_a_table_as_labels() -> None:
    table = FRAME.assign(kind=y)
    study = quick(table.drop(columns="kind"), table["kind"])
    assert study.names == NAMES
    assert study.labels.tolist() == y.tolist()


@pytest.mark.parametrize("shape", [(12, 2000), (300, 3), (12, 1)])
def test_shapes(shape) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], shape[0] // 2)
    rows = rng.normal(size=shape) + 3 * labels[:, None] * (np.arange(shape[1]) == 0)
    study = quick(rows, labels, ks=(1, 2, 50))
    assert study.ks == tuple(k for k in (1, 2, 50) if k <= shape[1])
    assert study.selected[0].index == 0


def test_single_precision_is_widened() -> None:
    narrow = quick(X.astype(np.float32))
    wide = quick(X.astype(np.float32).astype(float))
    assert narrow.source.fingerprint == wide.source.fingerprint
    np.testing.assert_array_equal(narrow.scores, wide.scores)


def test_constant_columns_and_labels_in_disguise_are_noted() -> None:
    study = quick(np.c_[X, np.ones(30), np.repeat([1.0, 2.0, 3.0], 10)])
    assert any("1 column is constant" in note for note in study.notes)
    assert any("'x11' does not vary within the classes" in note for note in study.notes)


def test_gaps_are_filled_from_the_training_part_only() -> None:
    holes, labels = make_table(60, 10)
    estimator = es.RankedLDA("anova", 2)
    study = quick(holes, labels, estimator, k=2, cv=4, missing="median")
    assert study.honest_error is not None
    pipeline = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), estimator)
    wrong = np.zeros(60)
    for train, test in StratifiedKFold(4, shuffle=True, random_state=0).split(holes, labels):
        wrong[test] = pipeline.fit(holes[train], labels[train]).predict(holes[test]) != labels[test]
    np.testing.assert_array_equal(study.honest_error.wrong, wrong)
    assert any("15 missing values in 2 columns" in note for note in study.notes)
    assert study.source.n_missing == np.isnan(holes).sum() == 15
    whole = pipeline.fit(holes, labels)
    np.testing.assert_array_equal(study.final_estimator.predict(holes), whole.predict(holes))


# ---------------------------------------------------------------- small classes


def test_classes_of_one_and_two_samples() -> None:
    one, two = y.astype("U4"), y.astype("U4")
    one[0], two[:2] = "rare", "rare"
    for labels in (one, two):
        with pytest.raises(InputError, match=r"class 'rare' has .* only, .*a given k needs none"):
            quick(y=labels)
    study = quick(y=one, k=2)
    assert study.honest_error is None
    assert study.splitting == ""
    assert any("No error estimate: class 'rare' has one sample only" in n for n in study.notes)
    assert study.stability_index.empty
    study = quick(y=two, k=2)
    assert study.splitting == "2-fold"
    assert "2 folds instead of 3: class 'rare' has 2 samples." in study.notes
    with pytest.raises(InputError, match="'rare' has one sample only"):
        quick(y=two, cv="loo")
    assert quick(y=two, cv="loo", k=2).splitting == "leave-one-out"


def test_one_class() -> None:
    for k in ("auto", 1):
        with pytest.raises(InputError, match="one class only"):
            quick(y=np.zeros(30, int), k=k)


def test_very_few_rows() -> None:
    rows = [0, 1, 10, 11]
    study = quick(X[rows], y[rows], k=1)
    assert study.honest_error is None
    assert study.n_samples == 4
    with pytest.raises(InputError, match="two samples"):
        quick(X[[0, 10]], y[[0, 10]], k=1)


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, r"k is 0; it must be a whole number, at least 1"),
        ({"k": 11}, r"k is 11; this table allows 1 to 10"),
        ({"k": "best"}, r"k is 'best'; it must be 'auto' or a whole number"),
        ({"k": 2.0}, r"k is 2.0; it must be"),
        ({"k": True}, r"k is True; it must be"),
        ({"ks": ()}, r"no k of \[\] lies in 1..10"),
        ({"ks": (11, 50)}, r"no k of \[11, 50\] lies in 1..10"),
        ({"ks": 5}, r"ks is 5; it must be several"),
        ({"n_repeats": 0}, r"n_repeats is 0; it must be"),
        ({"n_repeats": 1.5}, r"n_repeats is 1.5; it must be"),
        ({"random_state": None}, r"random_state is None; a study needs a whole number"),
        ({"random_state": -1}, r"random_state is -1"),
        ({"random_state": True}, r"random_state is True"),
        ({"random_state": np.random.RandomState(0)}, r"random_state is RandomState"),
        ({"n_permutations": -1}, r"n_permutations is -1"),
        ({"cv": 1}, r"cv is 1; at least two folds"),
        ({"cv": 0}, r"cv is 0"),
        ({"cv": "x"}, r"cv is 'x'; it must be a number of folds, 'loo' or a splitter"),
        ({"score": "auc"}, r"score is 'auc'"),
        ({"missing": "mean"}, r"missing is 'mean'"),
        ({"groups": np.zeros(30)}, r"class 'a' has one group only"),
        ({"estimator": es.SparsePCA()}, r"is no classifier that selects features"),
    ],
)
def test_wrong_options(options, words) -> None:
    with pytest.raises((InputError, OptionError), match=words):
        quick(**options)


def test_options_of_numpy() -> None:
    study = quick(k=np.int64(2), ks=np.array([1, 2]), n_permutations=np.int64(0),
                  random_state=np.int64(3), n_repeats=np.int64(1), cv=np.int64(3))  # fmt: skip
    assert study.best_k == 2
    assert study.source.seed == 3
    assert study.null is None


@pytest.mark.parametrize(
    ("cv", "groups", "words"),
    [
        (2, None, "2-fold"),
        (1000, None, "10-fold"),
        ("loo", None, "leave-one-out"),
        ("loo", np.arange(30) % 5, "leave-one-group-out"),
        (3, np.arange(30) % 5, "grouped 3-fold"),
        (StratifiedShuffleSplit(3, test_size=0.3, random_state=0), None, "StratifiedShuffleSplit"),
    ],
)
def test_ways_to_split(cv, groups, words) -> None:
    study = quick(cv=cv, groups=groups, k=2, n_repeats=2)
    assert study.splitting == words
    assert study.honest_error is not None
    assert words in study.honest_error.how
