"""fit_study: one model, one error, and the truth about what is missing."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.studies.fitting import GIVEN, ONE_SE, fit_study


def make_data(n: int = 60, p: int = 15, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    X = rng.normal(size=(n, p))
    X[y == "b", 0] += 3
    X[y == "c", 1] += 3
    return X, y, [f"g{j}" for j in range(p)]


def test_auto_and_given_k() -> None:
    X, y, names = make_data()
    auto = fit_study(X, y, names)
    assert auto.k_rule == ONE_SE
    assert auto.cv is not None
    assert auto.k == auto.cv.best_k
    assert {s.name for s in auto.selected} >= {"g0", "g1"}
    assert [s.rank for s in auto.selected] == list(range(1, auto.k + 1))
    given = fit_study(X, y, names, k=4)
    assert given.k_rule == GIVEN
    assert given.estimator.support_.sum() == 4
    # one figure: the headline is the curve's own value
    assert given.cv is not None
    assert given.error is not None
    assert given.error.error == pytest.approx(given.cv.error[given.cv.ks.index(4)])
    assert given.balanced_error == pytest.approx(given.cv.balanced_error[given.cv.ks.index(4)])


def test_scores_are_those_of_the_model_on_standardised_columns() -> None:
    X, y, names = make_data()
    result = fit_study(X, y, names, k=3)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    direct = es.SparseLDA(3, random_state=0).fit(Z, y)
    np.testing.assert_allclose(result.scores, direct.transform(Z), atol=1e-10)
    assert [s.index for s in result.selected] == [int(s.name[1:]) for s in result.selected]


def test_small_classes() -> None:
    X, y, names = make_data()
    y = y.astype("U4")
    y[y == "c"] = "b"
    y[:3] = "rare"
    result = fit_study(X, y, names, k=2)
    assert any("3 folds instead of 5: class 'rare' has 3 samples" in note for note in result.notes)
    y[0] = "b"
    with pytest.raises(InputError, match="'rare' has 2 samples only"):
        fit_study(X, y, names)
    y[1] = "b"
    single = fit_study(X, y, names, k=2)
    assert single.cv is None
    assert single.error is None
    assert any(note.startswith("No error estimate: class 'rare'") for note in single.notes)


def test_time_limit() -> None:
    X, y, names = make_data()
    estimator = es.SparseLDA(time_limit=0.0)
    with pytest.warns(match="time limit"):
        result = fit_study(X, y, names, k=3, estimator=estimator, n_jobs=1)
    assert result.error is None
    assert result.estimator.support_.sum() == 3
    with pytest.warns(match="time limit"), pytest.raises(InputError, match="a given k does"):
        fit_study(X, y, names, estimator=estimator, n_jobs=1)


def test_columns_that_need_a_word() -> None:
    X, y, names = make_data()
    X[:, 5] = 2.0
    X[:, 6] = np.where(y == "a", 1.0, 7.0)
    result = fit_study(X, y, names, k=2)
    assert "1 column is constant and worth nothing." in result.notes
    assert any(note.startswith("'g6' does not vary within the classes") for note in result.notes)
    with pytest.raises(InputError, match="no column varies"):
        fit_study(np.ones((9, 2)), y[:9], names[:2])
    X[:, 7] *= 1e200
    with pytest.raises(InputError, match="column 'g7' has values of size"):
        fit_study(X, y, names, k=2)


@pytest.mark.parametrize("k", [0, 16, 2.5, "many"])
def test_wrong_k(k: object) -> None:
    with pytest.raises(InputError, match="k is"):
        fit_study(*make_data(), k=k)
