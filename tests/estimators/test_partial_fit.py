"""partial_fit over parts is fit on the whole."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.big_tables import assert_same_lda, dask_tiles

PARTS = {"one": [], "halves": [45], "odd": [1, 2, 11, 40, 41], "rows": [*range(1, 20), 50]}


def make_data(n: int = 90, p: int = 12, K: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = rng.permutation(n) % K
    X = rng.gamma(2.0, size=(n, p)) * np.geomspace(0.1, 10, p)
    X[:, [2, 5, 7]] += np.outer(y, [0.4, 1.5, -2.0]) * X.std(axis=0)[[2, 5, 7]]
    return X, y


def in_parts(lda: Any, X: Any, y: np.ndarray, cuts: list[int]) -> Any:
    classes = np.unique(y)
    for rows in np.split(np.arange(len(y)), cuts):
        lda.partial_fit(X[rows], y[rows], classes=classes)
    return lda


@pytest.mark.parametrize("cuts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shrinkage": 0.2},
        {"class_weight": "balanced"},
        {"class_weight": {0: 5.0}, "shrinkage": 0.4, "ridge": 0.1},
    ],
)
def test_lda_in_parts_is_lda_of_the_whole(cuts: list[int], options: dict[str, Any]) -> None:
    X, y = make_data()
    lda = es.SparseLDA(3, **options)
    assert_same_lda(in_parts(clone(lda), X, y, cuts), clone(lda).fit(X, y))


@pytest.mark.parametrize("make", [sparse.csr_array, np.float32, lambda X: X + 1e6])
def test_parts_of_other_kinds(make) -> None:
    X, y = make_data()
    X = make(np.round(np.where(X < 0.5, 0, X), 3))
    ours, plain = in_parts(es.SparseLDA(3), X, y, [30, 31, 70]), es.SparseLDA(3).fit(X, y)
    assert_same_lda(ours, plain)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))


def test_parts_from_different_places(tmp_path: Path) -> None:
    X, y = make_data()
    lda = es.SparseLDA(3)
    lda.partial_fit(dask_tiles(X[:50], tmp_path), y[:50])
    lda.partial_fit(sparse.csc_array(X[50:60]), y[50:60]).partial_fit(X[60:], y[60:])
    assert_same_lda(lda, es.SparseLDA(3).fit(X, y))


@pytest.mark.parametrize("p", [60, 600])
def test_fewer_rows_than_columns_so_far(p: int) -> None:
    X, y = make_data(40, p)
    lda = es.SparseLDA(2, certificate="none")
    for stop in (9, 20, 40):
        start = {9: 0, 20: 9, 40: 20}[stop]
        lda.partial_fit(X[start:stop], y[start:stop])
        assert_same_lda(lda, es.SparseLDA(2, certificate="none").fit(X[:stop], y[:stop]))


def test_not_fitted_before_a_second_class_has_come() -> None:
    X, y = make_data()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    first, second = int((y == 0).sum()), int((y <= 1).sum())
    lda = es.SparseLDA(3).partial_fit(X[:first], y[:first], classes=[0, 1, 2])
    for ask in (lambda: lda.predict(X), lambda: lda.get_support()):
        with pytest.raises(NotFittedError, match=r"one class only \('0'\) has come so far"):
            ask()
    lda.partial_fit(X[first:second], y[first:second])
    assert_same_lda(lda, es.SparseLDA(3).fit(X[:second], y[:second]))
    lda.partial_fit(X[second:], y[second:])
    assert_same_lda(lda, es.SparseLDA(3).fit(X, y))
    announce = r"announce all classes: partial_fit\(X, y, classes=\[...\]\)"
    with pytest.raises(InputError, match=r"one class only \('0'\).*" + announce):
        es.SparseLDA(3).partial_fit(X[:first], y[:first])
    ends = [0, first, second]  # one sample of every class
    with pytest.raises(InputError, match="one sample only of every class.*" + announce):
        es.SparseLDA(3).partial_fit(X[ends], y[ends])
    # a model that was fitted before says nothing of the new samples
    again = es.SparseLDA(3).fit(X, y).partial_fit(X[:first, :5], y[:first], classes=[0, 1])
    with pytest.raises(NotFittedError):
        again.predict(X[:, :5])


def test_fit_starts_afresh() -> None:
    X, y = make_data()
    lda = es.SparseLDA(3).partial_fit(X[:50], y[:50]).fit(X[50:, :8], y[50:])
    assert_same_lda(lda, es.SparseLDA(3).fit(X[50:, :8], y[50:]))
    assert_same_lda(lda.partial_fit(X, y), es.SparseLDA(3).fit(X, y))
    assert not hasattr(clone(lda), "_partial")


def test_a_pickled_estimator_goes_on() -> None:
    X, y = make_data()
    half = pickle.loads(pickle.dumps(es.SparseLDA(3).partial_fit(X[:40], y[:40])))
    assert_same_lda(half.partial_fit(X[40:], y[40:]), es.SparseLDA(3).fit(X, y))


def test_refusals() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    lda = es.SparseLDA(3).partial_fit(frame[:40], y[:40], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="11 features"):
        es.SparseLDA(3).partial_fit(X, y).partial_fit(X[:, :11], y)
    with pytest.raises(ValueError, match="feature names"):
        lda.partial_fit(frame[40:].rename(columns=str.upper), y[40:])
    with pytest.raises(InputError, match="class '7', which is not one of classes"):
        lda.partial_fit(frame[40:], np.where(y[40:] == 2, 7, y[40:]))
    with pytest.raises(InputError, match=r"classes is \[0, 1\]"):
        lda.partial_fit(frame[40:], y[40:], classes=[0, 1])
    with pytest.raises(InputError, match="text"):
        es.SparseLDA(3).partial_fit(X, y).partial_fit(X, y.astype(str))
    # what was refused was not counted
    lda.partial_fit(frame[40:], y[40:])
    assert_same_lda(lda, es.SparseLDA(3).fit(frame, y))


@pytest.mark.parametrize(
    ("first", "then", "name"),
    [
        ({"shrinkage": 0.1}, {"shrinkage": "auto"}, "shrinkage='auto'"),
        ({"shrinkage": 0.1, "class_weight": {0: 2.0}}, {"shrinkage": "auto"}, "shrinkage='auto'"),
        ({"shrinkage": 0.1}, {"class_weight": "balanced"}, "class_weight"),
    ],
)
def test_options_that_come_too_late(first: Any, then: Any, name: str) -> None:
    X, y = make_data()
    lda = es.SparseLDA(3, **first).partial_fit(X[:40], y[:40]).set_params(**then)
    with pytest.raises(OptionError, match=f"^{name} must be set before the first partial_fit"):
        lda.partial_fit(X[40:], y[40:])
    again = clone(lda).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    assert_same_lda(again, es.SparseLDA(3, **{**first, **then}).fit(X, y))


def test_options_that_need_less_may_come_and_go() -> None:
    X, y = make_data()
    lda = es.SparseLDA(3).partial_fit(X[:40], y[:40])
    lda.set_params(shrinkage=0.3).partial_fit(X[40:60], y[40:60])
    assert_same_lda(lda, es.SparseLDA(3, shrinkage=0.3).fit(X[:60], y[:60]))
    lda.set_params(shrinkage="auto", class_weight="balanced").partial_fit(X[60:], y[60:])
    assert_same_lda(lda, es.SparseLDA(3, class_weight="balanced").fit(X, y))


@pytest.mark.parametrize("shrinkage", ["auto", 0.2])
def test_parts_are_sent_to_the_device(shrinkage: Any) -> None:
    pytest.importorskip("torch")
    X, y = make_data()
    lda = es.SparseLDA(3, shrinkage=shrinkage, device="cpu")
    assert_same_lda(in_parts(lda, X, y, [40]), es.SparseLDA(3, shrinkage=shrinkage).fit(X, y))
    with pytest.raises(InputError, match="device='cpu' is for dense tables"):
        es.SparseLDA(3, device="cpu").partial_fit(sparse.csr_array(X), y)
    with pytest.raises((InputError, OptionError), match="no-such-device"):
        es.SparseLDA(3, device="no-such-device").partial_fit(X, y)


def test_warnings_name_the_line_that_fits() -> None:
    X, y = make_data()
    for method in (es.SparseLDA(99).fit, es.SparseLDA(99).partial_fit):
        with pytest.warns(UserWarning, match="only 12 features") as caught:
            method(X, y)
        assert caught[0].filename == __file__


# -- SparsePCA ---------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[], [45], [2, 11, 40, 41]])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, np.float32])
def test_pca_in_parts_is_pca_of_the_whole(cuts: list[int], make) -> None:
    X = make(make_data()[0] + (0 if make is sparse.csr_array else 1e3))
    ours, plain = (es.SparsePCA(2, n_features_to_select=3, certificate="none") for _ in "ab")
    with pytest.warns(UserWarning, match="at most 1") if 2 in cuts else nullcontext():
        for rows in np.split(np.arange(90), cuts):
            ours.partial_fit(X[rows])
    plain.fit(X)
    assert ours.n_samples_ == 90
    np.testing.assert_array_equal(ours.support_, plain.support_)
    for name in ("components_", "mean_", "explained_variance_", "subspace_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(plain, name), rtol=1e-8, atol=1e-8)


def test_pca_of_a_single_sample_is_not_fitted() -> None:
    X = make_data()[0]
    pca = es.SparsePCA(1, n_features_to_select=3).partial_fit(X[:1])
    with pytest.raises(NotFittedError, match="one sample only has come so far"):
        pca.transform(X)
    pca.partial_fit(X[1:])
    plain = es.SparsePCA(1, n_features_to_select=3).fit(X)
    np.testing.assert_allclose(pca.transform(X), plain.transform(X), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="5 features"):
        pca.partial_fit(X[:, :5])


@pytest.mark.parametrize(
    ("model", "wrong", "right"),
    [
        (es.SparseLDA(2, solver="nonsense"), "solver", "greedy"),
        (es.SparsePCA(1, n_features_to_select=0), "n_features_to_select", 2),
        (es.GroupLassoLDA(0), "n_features_to_select", 2),
    ],
)
def test_a_call_that_was_refused_has_not_counted(model, wrong, right) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), np.arange(60) % 2
    X[:, 0] += 2 * y
    first = clone(model).set_params(**{wrong: right}).partial_fit(X[:30], y[:30])
    first.set_params(**{wrong: getattr(model, wrong)})
    with pytest.raises(es.errors.InputError):
        first.partial_fit(X[30:], y[30:])
    first.set_params(**{wrong: right}).partial_fit(X[30:], y[30:])
    whole = clone(first).fit(X, y)
    np.testing.assert_array_equal(first.support_, whole.support_)
    assert first._partial.stats.n_samples == 60
