"""`QAlphaSelector` on data and with options that are wrong, odd or too large; and its limits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from eigensieve import QAlphaSelector
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.solution import Status
from tests.clock import stop_after


def spoilt(X: np.ndarray) -> np.ndarray:
    return np.arange(X.size).reshape(X.shape) == 23


def make(n: int = 30, p: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that the first four columns tell apart."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    X[:, :4] += 4.0 * y[:, None]
    return X, y


NUMBER = "whole number, at least"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"variant": "Standard"}, "variant is 'Standard'.*standard, basic, laplacian, ritz, gap"),
        ({"variant": None}, "variant is None.*standard"),
        ({"variant": ["gap"]}, "variant is.*standard"),
        ({"eigensolver": "power"}, "eigensolver is 'power'.*auto, lanczos, gram, single-step"),
        ({"cut": "gap"}, "cut is 'gap'.*otsu, ratio, energy, null"),
        ({"cut": None}, "cut is None.*otsu"),
        ({"kernel": "sigmoid"}, "kernel is 'sigmoid'.*linear, poly, rbf, block, precomputed"),
        ({"kernel": 3}, "kernel is 3"),
        ({"kernel": "rbf", "kernel_params": {"degree": 2}}, "'degree'.*gamma, landmarks"),
        ({"kernel": "rbf", "kernel_params": {"gamma": -1}}, "gamma is -1"),
        ({"kernel": "rbf", "kernel_params": {"gamma": True}}, "gamma is True"),
        ({"kernel": "rbf", "kernel_params": 5}, "kernel_params is 5"),
        ({"kernel": "rbf", "kernel_params": "gamma"}, "kernel_params is 'gamma'"),
        ({"kernel_params": {"gamma": 1}}, "kernel_params are given, but kernel is None"),
        ({"offset": "half"}, "offset is 'half'.*'auto'"),
        ({"offset": True}, "offset is True"),
        ({"offset": np.nan}, "offset is nan"),
        ({"gamma": True}, "gamma is True.*>= 0"),
        ({"gamma": -0.1}, "gamma is -0.1.*>= 0"),
        ({"center": "yes"}, "center is 'yes'.*True, False or 'auto'"),
        ({"center": 1}, "center is 1"),
        ({"scale": 1}, "scale is 1.*True or False"),
        ({"energy": 1.1}, r"energy is 1.1.*\[0, 1\]"),
        ({"energy": True}, "energy is True"),
        ({"n_permutations": -1}, f"n_permutations is -1.*{NUMBER} 0"),
        ({"n_permutations": 2.0}, f"n_permutations is 2.0.*{NUMBER} 0"),
        ({"n_permutations": True}, f"n_permutations is True.*{NUMBER} 0"),
        ({"weight": "yes"}, "weight is 'yes'.*True or False"),
        ({"tol": -1e-9}, "tol is -1e-09.*>= 0"),
        ({"tol": None}, "tol is None"),
        ({"tol": np.inf}, "tol is inf"),
        ({"time_limit": -1}, "time_limit is -1.*seconds"),
        ({"time_limit": "1 s"}, "time_limit is '1 s'"),
        ({"time_limit": True}, "time_limit is True"),
        ({"variant": "laplacian", "center": True}, "'laplacian' does not centre.*'standard'"),
        ({"offset": 0.5, "scale": False}, "offset is 0.5.*scale=True"),
        ({"offset": 0.5, "center": False}, "offset is 0.5.*center=True"),
        ({"variant": "gap", "eigensolver": "gram"}, "'gram'; variant 'gap' allows auto, lanczos"),
        ({"variant": "ritz", "eigensolver": "single-step"}, "variant 'ritz' allows auto, lanczos"),
        ({"variant": "supervised", "eigensolver": "single-step"}, "'supervised' allows auto"),
        ({"kernel": "rbf", "eigensolver": "gram"}, "a kernel allows auto, lanczos, single-step"),
        ({"kernel": "rbf", "variant": "gap"}, "variant 'gap' has no kernel form"),
        ({"cut": "null"}, "cut 'null' needs permutations"),
        ({"kernel": "precomputed", "n_permutations": 2}, "cannot be permuted"),
    ],
)
def test_wrong_options(options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        QAlphaSelector(**options).fit(*make())


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True, [2]])
@pytest.mark.parametrize(
    "name", ["n_features_to_select", "n_clusters", "k_within", "k_between", "max_iter", "n_init"]
)
def test_wrong_counts(name: str, value: Any) -> None:
    """Refused before any work is done."""
    selector = QAlphaSelector(**{name: value})
    with pytest.raises(InputError, match=rf"{name} is .*it must be a {NUMBER} 1"):
        selector.fit(*make())
    assert not hasattr(selector, "alpha_")


def test_wrong_seed() -> None:
    with pytest.raises(ValueError, match="random_state is 'x'"):
        QAlphaSelector(random_state="x").fit(make()[0])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda X: np.where(spoilt(X), np.nan, X), "NaN"),
        (lambda X: np.where(spoilt(X), np.inf, X), "infinity"),
        (lambda X: sparse.csr_array(np.where(spoilt(X), np.nan, X)), "NaN"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, :0], "0 feature"),
        (lambda X: X[:1], "1 sample"),
        (lambda X: X[0], "1D array"),
        (lambda X: X.astype(complex), "Complex data"),
        (lambda X: np.full(X.shape, "a"), "could not convert|numeric"),
        (lambda X: np.full(X.shape, np.datetime64("2005-01-01")), "real numbers|numeric|dtype"),
        (lambda X: np.full(X.shape, 0.1), "every feature is constant"),
        (lambda X: sparse.csr_array(X.shape), "every feature is constant"),
        (lambda X: pd.DataFrame(X[:, :3], columns=["a", "b", "a"]), "more than once .'a' for one"),
    ],
)
def test_wrong_tables(spoil: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        QAlphaSelector().fit(spoil(make()[0]))


Y = np.arange(30) % 2


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (None, "y is missing"),
        (Y[:-1], r"y has shape \(29,\); X has 30 samples"),
        (np.zeros(30), "one class only"),
        (np.where(Y, None, "a"), "missing labels"),
        (np.where(Y, np.nan, 1.0), "missing labels"),
        (pd.Series(Y).where(Y > 0).astype("Int64"), "missing labels"),
        (pd.Series(np.where(Y, "a", None), dtype="string"), "missing labels"),
        (pd.Categorical(["a" if label else None for label in Y]), "missing labels"),
        (np.linspace(0, 1, 30), "continuous"),
        (np.column_stack([Y, Y]), r"y has shape \(30, 2\)"),
    ],
)
def test_wrong_labels(y: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        QAlphaSelector(variant="supervised").fit(make()[0], y)


def test_labels_do_not_matter_without_supervision() -> None:
    X, _ = make()
    plain = QAlphaSelector().fit(X)
    for y in (np.linspace(0, 1, 30), np.where(Y, None, "a")):
        np.testing.assert_array_equal(QAlphaSelector().fit(X, y).alpha_, plain.alpha_)


def test_kernel_matrices() -> None:
    X, _ = make()
    with pytest.raises(InputError, match=r"X has shape \(30, 20\).*features"):
        QAlphaSelector(kernel="precomputed").fit(X)
    with pytest.raises(InputError, match="not symmetric"):
        QAlphaSelector(kernel="precomputed").fit(X[:20])
    with pytest.raises(InputError, match="zero"):
        QAlphaSelector(kernel="precomputed").fit(np.zeros((4, 4)))
    with pytest.raises(InputError, match="kernel function gave shape"):
        QAlphaSelector(kernel=lambda a, b: a).fit(X)
    M = (X - X.mean(axis=0)) / (X.std(axis=0) * np.sqrt(30))
    matrix = QAlphaSelector(kernel="precomputed", tol=1e-8).fit(M.T @ M)
    np.testing.assert_allclose(matrix.alpha_, QAlphaSelector(tol=1e-8).fit(X).alpha_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:the search ended early")  # supervised may go round and round
@pytest.mark.filterwarnings("ignore:n_clusters is 50")
@pytest.mark.parametrize("variant", ["standard", "gap", "laplacian", "supervised"])
@pytest.mark.parametrize("shape", [(2, 1), (2, 2), (3, 1), (2, 40), (6, 300), (500, 3)])
def test_shapes_at_the_edge(variant: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(1, 2, size=shape), np.arange(shape[0]) % 2
    selector = QAlphaSelector(variant=variant, n_clusters=50, n_init=2).fit(X, y)
    assert np.linalg.norm(selector.alpha_) == pytest.approx(1, abs=1e-12)
    assert 1 <= selector.support_.sum() <= shape[1]
    if variant != "supervised":
        assert selector.n_clusters_ == min(shape) == selector.Q_.shape[1]


def test_more_clusters_than_samples() -> None:
    X, _ = make(6, 20)
    with pytest.warns(UserWarning, match="n_clusters is 7.* 6 x 20; looking for 6") as said:
        QAlphaSelector(n_clusters=7).fit(X)
    assert said[0].filename == __file__


def test_a_class_of_one_sample() -> None:
    X, y = make()
    y = np.where(np.arange(30) == 7, 5, y)
    selector = QAlphaSelector(4, variant="supervised", max_iter=500).fit(X, y)
    assert selector.Q_[5, 5].shape == (1, 1)
    assert selector.Q_[0, 0].shape == (15, 2)
    np.testing.assert_array_equal(selector.get_support(indices=True), np.arange(4))


@pytest.mark.parametrize("variant", ["standard", "basic", "ritz", "gap", "supervised"])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_constant_columns_take_no_part(variant: str, constant: float) -> None:
    X, y = make()
    wide = np.insert(X, [0, 10, 20], constant, axis=1)  # 0, 11 and 22
    options = {"variant": variant, "max_iter": 500, "tol": 1e-6}
    selector, plain = (QAlphaSelector(**options).fit(table, y) for table in (wide, X))
    np.testing.assert_allclose(selector.alpha_[[0, 11, 22]], 0, atol=1e-12)
    np.testing.assert_allclose(np.delete(selector.alpha_, [0, 11, 22]), plain.alpha_, atol=1e-5)
    assert not selector.support_[[0, 11, 22]].any()


def test_of_copies_none_is_left_out() -> None:
    X, _ = make()
    selector = QAlphaSelector(tol=1e-8).fit(np.hstack([X, X]))
    plain = QAlphaSelector(tol=1e-8).fit(X)
    np.testing.assert_allclose(selector.alpha_, np.tile(plain.alpha_, 2) / np.sqrt(2), atol=1e-5)
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 3, 20, 21, 22, 23])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("variant", ["standard", "laplacian", "supervised"])
def test_units_do_not_matter(variant: str, kind: Any) -> None:
    X, y = make()
    X = np.abs(X)
    units = np.array([1e200, 1e-200, 1e-100, 1.0])[np.arange(20) % 4]
    options = {"variant": variant, "max_iter": 1000, "n_init": 1}
    selector, plain = (QAlphaSelector(4, **options).fit(kind(t), y) for t in (X * units, X))
    np.testing.assert_allclose(selector.alpha_, plain.alpha_, atol=1e-8)
    np.testing.assert_allclose(selector.objective_, plain.objective_, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_without_scaling_a_common_unit_does_not_matter(scale: float) -> None:
    X, _ = make()
    selector, plain = (QAlphaSelector(scale=False).fit(t) for t in (X * scale, X))
    np.testing.assert_allclose(selector.alpha_, plain.alpha_, atol=1e-8)
    with pytest.raises(InputError, match="another unit"):
        QAlphaSelector().fit(X * 1e300)
    with pytest.raises(InputError, match="every feature is zero"):
        QAlphaSelector(variant="laplacian").fit(np.zeros((5, 4)))


def is_sound(selector: QAlphaSelector, X: np.ndarray) -> bool:
    k = int(selector.support_.sum())
    norm = float(np.linalg.norm(selector.alpha_))
    return norm == pytest.approx(1) and selector.transform(X).shape == (len(X), k) and k > 0


def test_cycles_that_do_not_end_are_told_of() -> None:
    X, _ = make()
    with pytest.warns(ConvergenceWarning, match="limit.*not at rest with max_iter = 2") as told:
        selector = QAlphaSelector(max_iter=2, tol=0.0).fit(X)
    assert [w.filename for w in told] == [__file__]
    assert not selector.converged_
    assert selector.n_iter_ == 2
    assert is_sound(selector, X)


@pytest.mark.parametrize("variant", ["standard", "basic", "ritz", "gap", "laplacian", "supervised"])
@pytest.mark.parametrize("time_limit", [0, 1e-9, 0.01])
def test_short_limits(variant: str, time_limit: float) -> None:
    X, y = make(60, 400)
    selector = QAlphaSelector(variant=variant, time_limit=time_limit, n_permutations=5, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="time limit.*permutations: 0") as told:
        selector.fit(np.abs(X), y)
    assert [w.filename for w in told] == [__file__]
    assert is_sound(selector, X)
    assert selector.null_ is None
    assert selector.solution_.seconds < 5


@pytest.mark.parametrize("looks", [0, 1, 3, 10, 40])
@pytest.mark.parametrize("options", [{}, {"variant": "supervised"}, {"kernel": "rbf"}])
def test_ctrl_c_goes_on(monkeypatch: pytest.MonkeyPatch, options: dict, looks: int) -> None:
    """What was found until then can be used, though the loop around the fit ends too."""
    X, y = make(30, 80)
    stop_after(monkeypatch, looks, Status.INTERRUPTED)
    selector = QAlphaSelector(4, **options)
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        selector.fit(X, y)
    assert is_sound(selector, X)


@pytest.mark.parametrize("status", [Status.INTERRUPTED, Status.TIME_LIMIT])
def test_permutation_runs_that_were_made_are_kept(
    monkeypatch: pytest.MonkeyPatch, status: Status
) -> None:
    X, _ = make()
    kept = set()
    for looks in range(8, 120, 4):
        stop_after(monkeypatch, looks, status)
        selector = QAlphaSelector(n_permutations=4, n_init=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((KeyboardInterrupt, ConvergenceWarning), match=str(status)):
                selector.fit(X)
        assert is_sound(selector, X)
        kept.add(0 if selector.null_ is None else selector.null_.n_permutations)
        if kept >= {0, 1, 2, 3}:
            return
    raise AssertionError(f"the clock never stopped within the runs: {kept}")
