"""Cross-validated paths: the rule, the honest error, no leak."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import eigensieve as es
from eigensieve.errors import InputError, TimeLimitError
from eigensieve.studies.cv_path import CVPath, cross_validate_path, error_estimate, nested_error
from eigensieve.studies.standardize import Standardizer


def make_data(n: int = 60, p: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b"])[np.arange(n) % 2]
    X = rng.normal(size=(n, p))
    X[y == "b", :2] += 2.5
    return X, y


def path_with(errors: list[float], se: float) -> CVPath:
    spread = se * np.array([[1.0], [-1.0]])  # sd(ddof=1) / sqrt(2 folds) = se
    folds = np.array(errors) + spread
    return CVPath((1, 2, 5, 10), folds, folds, 2, 1)


def test_one_se_rule() -> None:
    cv = path_with([0.30, 0.12, 0.11, 0.10], se=0.03)
    np.testing.assert_allclose(cv.standard_error, 0.03)
    assert cv.best_k == 2
    assert path_with([0.30, 0.12, 0.11, 0.10], se=0.015).best_k == 5
    assert path_with([0.30, 0.12, 0.11, 0.10], se=0.0).best_k == 10


def test_finds_the_planted_cardinality() -> None:
    X, y = make_data()
    cv = cross_validate_path(es.SparseLDA(), X, y, ks=(1, 2, 5, 10, 1000), n_repeats=2)
    assert cv.ks == (1, 2, 5, 10)
    assert cv.fold_errors.shape == (10, 4)
    assert cv.best_k in (1, 2)
    assert [row["k"] for row in cv.table()] == [1, 2, 5, 10]


def test_errors_are_those_of_a_plain_loop() -> None:
    """The same folds by hand: scale, fit, predict."""
    from sklearn.model_selection import StratifiedKFold

    X, y = make_data(40)
    cv = cross_validate_path(es.SparseLDA(), X, y, ks=(2, 6), n_repeats=1, random_state=3)
    folds = StratifiedKFold(5, shuffle=True, random_state=3).split(X, y)
    for i, (train, test) in enumerate(folds):
        mean, sd = X[train].mean(axis=0), X[train].std(axis=0)
        for j, k in enumerate((2, 6)):
            lda = es.SparseLDA(k).fit((X[train] - mean) / sd, y[train])
            wrong = np.mean(lda.predict((X[test] - mean) / sd) != y[test])
            assert cv.fold_errors[i, j] == pytest.approx(wrong)


def test_result_does_not_depend_on_n_jobs() -> None:
    X, y = make_data()
    a, b = (
        cross_validate_path(es.SparseLDA(), X, y, ks=(1, 4), n_repeats=1, n_jobs=j) for j in (1, 2)
    )
    np.testing.assert_array_equal(a.fold_errors, b.fold_errors)


def test_nested_error_is_at_chance_on_noise() -> None:
    """Selection inside the fold: over 12 noise sets the mean error is 1/2 within 3 SE."""
    rng = np.random.default_rng(0)
    errors = []
    for seed in range(12):
        X, y = rng.normal(size=(40, 300)), rng.permutation(np.arange(40) % 2)
        errors.append(nested_error(es.SparseLDA(), X, y, ks=(1, 5), random_state=seed).error)
    # 480 predictions at chance have a standard error of .023, more for the folds' dependence;
    # leaving samples out of a balanced class tips the priors against it: a bit above .5
    assert 0.42 <= np.mean(errors) <= 0.62


def test_tiny_classes() -> None:
    X, y = make_data(20)
    y = y.astype("U5")
    y[:3] = "few"
    cv = cross_validate_path(es.SparseLDA(), X, y, ks=(2,), n_repeats=1)
    assert cv.n_folds == 3
    y[1:3] = "a"
    with pytest.raises(InputError, match="'few' has one sample"):
        cross_validate_path(es.SparseLDA(), X, y, ks=(2,))
    with pytest.raises(InputError, match="one class only"):
        cross_validate_path(es.SparseLDA(), X, np.zeros(20), ks=(2,))
    with pytest.raises(InputError, match="no k"):
        cross_validate_path(es.SparseLDA(), X, make_data(20)[1], ks=(50,))


def test_wishes_of_the_estimator_are_respected() -> None:
    X, y = make_data(40, 12)
    cv = cross_validate_path(
        es.SparseLDA(include=[4, 5], exclude=[0, 1, 2]), X, y, ks=(1, 2, 9, 10)
    )
    assert cv.ks == (2, 9)
    with pytest.raises(TimeLimitError, match="before k = 12"), pytest.warns(ConvergenceWarning):
        cross_validate_path(es.SparseLDA(time_limit=0.0), X, y, ks=(4, 12), n_jobs=1)


def test_wilson_interval() -> None:
    estimate = error_estimate(5, 50, "test")
    assert estimate.error == 0.1
    # Wilson's formula, z = 1.959964
    z, n, q = 1.959964, 50, 0.1
    centre, half = q + z**2 / (2 * n), z * np.sqrt(q * (1 - q) / n + z**2 / (4 * n**2))
    assert estimate.low == pytest.approx((centre - half) / (1 + z**2 / n), abs=1e-6)
    assert estimate.high == pytest.approx((centre + half) / (1 + z**2 / n), abs=1e-6)


def test_standardizer_leaves_constants_alone() -> None:
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0) + 1e8])
    scaler = Standardizer.fit(X)
    Z = scaler.apply(X)
    assert scaler.scale[0] == 1.0
    np.testing.assert_allclose(Z[:, 0], 0.0, atol=1e-15)
    assert Z[:, 1].std() == pytest.approx(1.0)
