"""The permuted-features null of `QAlphaSelector`: p-values of noise and others, and a band."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import false_discovery_control
from sklearn.exceptions import ConvergenceWarning

import eigensieve as es
from eigensieve import QAlphaSelector
from eigensieve.pencil.budget import Budget
from eigensieve.q_alpha.null import compare_with_permuted
from eigensieve.q_alpha.options import QAlphaOptions
from eigensieve.tables.operators.table_rows import ArrayRows
from tests.oracles.qalpha import normalize_rows

SETS, FEATURES, RUNS, PLANTED = 20, 40, 5, 6
QUICK: dict[str, Any] = {"n_init": 1, "tol": 1e-3, "max_iter": 1000}
Fits = list[QAlphaSelector]


@cache
def fits(kind: str, runs: int = RUNS) -> Fits:
    """Independent tables of one kind, each with its null: more of them where a run is short."""
    found = []
    for seed in range(SETS if runs > 1 else 5 * SETS):
        rng = np.random.default_rng([seed, 7])
        shape = (30, FEATURES)
        X = rng.standard_t(1.5, shape) if kind == "tails" else rng.normal(size=shape)
        if kind == "planted":
            X[:, :PLANTED] += 3.0 * (np.arange(30) % 2)[:, None]
        found.append(QAlphaSelector(n_permutations=runs, random_state=seed, **QUICK).fit(X))
    return found


def shares(found: Fits, first: int = 0, level: float = 0.05) -> tuple[float, float]:
    """The mean share of the noise features with p <= level, and a deviation of that mean.

    Were the p-values of a table independent, the share of one table of 40 would have the binomial
    deviation sqrt(.05 .95 / 40) = .034. They are not, since features compete for one norm: the
    deviation over the tables is taken where it is larger. The mean of m tables has 1 / sqrt(m) of
    that; chance passes three of those upwards once in 700 times.
    """
    each = [float(np.mean(f.null_.p_values[first:] <= level)) for f in found]
    binomial = np.sqrt(level * (1 - level) / FEATURES)
    return float(np.mean(each)), max(np.std(each, ddof=1), binomial) / np.sqrt(len(found))


@pytest.mark.parametrize(("kind", "first"), [("normal", 0), ("tails", 0), ("planted", PLANTED)])
def test_a_run_is_a_fair_game(kind: str, first: int) -> None:
    """Noise is exchangeable with its permuted copies: of one run, the share is 5 %, not less."""
    for level in (0.05, 0.5):
        share, deviation = shares(fits(kind, 1), first, level)
        assert abs(share - level) <= 3 * deviation


@pytest.mark.parametrize(("kind", "first"), [("normal", 0), ("tails", 0), ("planted", PLANTED)])
def test_more_runs_do_not_make_noise_significant(kind: str, first: int) -> None:
    share, deviation = shares(fits(kind), first)
    assert share <= 0.05 + 3 * deviation
    if kind == "planted":  # in noise alone every run has other winners, and the mean is cautious
        assert share >= 0.05 - 3 * deviation


@pytest.mark.parametrize("kind", ["normal", "tails"])
def test_noise_alone_rarely_passes(kind: str) -> None:
    """At a rate of 5 % one table in twenty may have a discovery; P(more than 4 of 20) = .003."""
    passed = [np.any(false_discovery_control(f.null_.p_values) <= 0.05) for f in fits(kind)]
    assert sum(passed) <= 4


def test_planted_features_pass() -> None:
    for f in fits("planted"):
        rates = false_discovery_control(f.null_.p_values)
        assert (rates[:PLANTED] <= 0.05).all()
        assert f.null_.p_values[:PLANTED].max() <= 0.02
    false = [np.count_nonzero(false_discovery_control(f.null_.p_values)[PLANTED:] <= 0.05)
             for f in fits("planted")]  # fmt: skip
    assert np.mean([n / (n + PLANTED) for n in false]) <= 0.1


@pytest.mark.parametrize("kind", ["normal", "tails", "planted"])
def test_p_values_are_shares_and_bands_fall(kind: str) -> None:
    for f in fits(kind):
        null = f.null_
        assert isinstance(null, es.QAlphaNull)
        assert null.n_permutations == RUNS
        assert null.p_values.shape == (FEATURES,)
        assert ((null.p_values > 0) & (null.p_values <= 1)).all()
        np.testing.assert_array_less(1 / (2 + RUNS * FEATURES), null.p_values)
        assert (null.lower <= null.median).all()
        assert (null.median <= null.upper).all()
        for curve in (null.lower, null.median, null.upper):
            assert (np.diff(curve) <= 0).all()


def test_the_curve_of_noise_is_in_its_band() -> None:
    """At fewer than half of the ranks above it; that of planted features at the first ones."""
    above = [np.sort(f.alpha_)[::-1] > f.null_.upper for f in fits("normal")]
    assert np.mean(above) < 0.5
    for f in fits("planted"):
        curve = np.sort(f.alpha_)[::-1]
        assert (curve[:PLANTED] > 1.5 * f.null_.upper[:PLANTED]).all()


def rank_share(real: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """How many permuted features have at least the weight of each one."""
    return np.array([sum(1 for other in noise if other >= weight) for weight in real])


def test_p_values_are_those_of_the_definition() -> None:
    """Permuted copies beside the features, the method on all of them, and a count: by hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 12))
    X[:10, :3] += 2.0
    M = normalize_rows(X.T)
    options = QAlphaOptions(**QUICK)
    null = compare_with_permuted(
        ArrayRows(M.T), None, options, 4, Budget(), np.random.default_rng(5)
    )
    assert null is not None
    again, reached, curves = np.random.default_rng(5), np.zeros(12), []
    for _ in range(4):
        order = np.random.default_rng(int(again.integers(2**62)))
        copy = order.permuted(M.T, axis=0)
        np.testing.assert_array_equal(np.sort(copy, axis=0), np.sort(M.T, axis=0))
        alpha = es.qalpha(np.hstack([M.T, copy]), eigensolver="single-step", **QUICK).alpha
        reached += rank_share(alpha[:12], alpha[12:])
        curves.append(np.sort(alpha[12:])[::-1] / np.linalg.norm(alpha[:12]))
    np.testing.assert_allclose(null.p_values, (1 + reached) / (1 + 4 * 12), atol=1 / 49 + 1e-9)
    assert np.mean(null.p_values == (1 + reached) / (1 + 4 * 12)) > 0.8
    for ours, level in ((null.lower, 2.5), (null.median, 50), (null.upper, 97.5)):
        np.testing.assert_allclose(ours, np.percentile(curves, level, axis=0), atol=1e-6)


def make(kind: Any = np.asarray) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(3)
    X, y = rng.uniform(0.0, 2.0, size=(40, 30)), np.arange(40) % 2
    X[:, :5] *= 4.0 * y[:, None]
    return kind(X * (X > 0.5)), y


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "options",
    [
        {"variant": "basic"},
        {"variant": "gap"},
        {"variant": "ritz"},
        {"variant": "supervised"},
        {"eigensolver": "single-step"},
        {"kernel": "poly"},
        {"kernel": "rbf"},
        {"kernel": "linear", "kernel_params": {"landmarks": 50}},
    ],
)
def test_every_method_has_a_null(options: dict, kind: Any) -> None:
    X, y = make(kind)
    selector = QAlphaSelector(5, n_permutations=4, **QUICK, **options).fit(X, y)
    p = selector.null_.p_values
    assert p[:5].max() <= 0.05
    assert 0.2 < np.mean(p[5:]) < 0.8
    np.testing.assert_array_equal(selector.get_support(indices=True), np.arange(5))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_laplacian_has_a_null(kind: Any) -> None:
    X, _ = make(kind)
    selector = QAlphaSelector(variant="laplacian", n_permutations=3, **QUICK).fit(X)
    p = selector.null_.p_values
    assert ((p > 0) & (p <= 1)).all()
    assert 0.2 < np.mean(p[5:]) < 0.8


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("variant", ["standard", "gap", "supervised"])
def test_constant_features_have_a_p_value_of_one(variant: str, kind: Any) -> None:
    X, y = make()
    X[:, [7, 20]] = 1.0
    X[:, 8] = 0.0
    selector = QAlphaSelector(variant=variant, n_permutations=3, **QUICK).fit(kind(X), y)
    np.testing.assert_array_equal(selector.null_.p_values[[7, 8, 20]], 1)
    assert not selector.support_[[7, 8, 20]].any()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_zero_feature_has_no_laplacian(kind: Any) -> None:
    """Without centring, zero is what constant is with it: d I must not stand in for L_i."""
    X, _ = make()
    X[:, 8] = 0.0
    selector = QAlphaSelector(variant="laplacian", n_permutations=3, **QUICK).fit(kind(X))
    assert selector.alpha_[8] == 0
    assert selector.null_.p_values[8] == 1
    plain = QAlphaSelector(variant="laplacian", **QUICK).fit(kind(np.delete(X, 8, axis=1)))
    np.testing.assert_allclose(np.delete(selector.alpha_, 8), plain.alpha_, atol=1e-2)


def test_seeds() -> None:
    X, _ = make()
    first, again, other = (
        QAlphaSelector(n_permutations=3, random_state=seed, **QUICK).fit(X) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.null_.p_values, again.null_.p_values)
    np.testing.assert_array_equal(first.null_.upper, again.null_.upper)
    assert (first.null_.p_values != other.null_.p_values).any()
    np.testing.assert_allclose(first.alpha_, other.alpha_, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_the_cut_selects_what_passes(seed: int) -> None:
    """Strong and weak features, so that weights and p-values need not have the same order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 40))
    X[:, :8] += np.linspace(1.5, 3.0, 8) * (np.arange(30) % 2)[:, None]
    selector = QAlphaSelector(cut="null", n_permutations=6, random_state=seed, **QUICK).fit(X)
    passed = false_discovery_control(selector.null_.p_values) <= 0.05
    assert 3 <= passed.sum() <= 14
    np.testing.assert_array_equal(selector.support_, passed)


def test_the_cut_selects_nothing_of_noise() -> None:
    X = np.random.default_rng(1).normal(size=(30, 40))
    selector = QAlphaSelector(cut="null", n_permutations=3, **QUICK)
    with pytest.warns(UserWarning, match="no feature passes the permuted-features null") as told:
        selector.fit(X)
    assert [w.filename for w in told] == [__file__]
    assert not selector.support_.any()
    assert selector.selected_features_.size == 0


def test_without_time_for_the_null_nothing_passes() -> None:
    with pytest.warns(ConvergenceWarning, match="time limit"):
        selector = QAlphaSelector(cut="null", n_permutations=3, time_limit=0).fit(make()[0])
    assert selector.null_ is None
    assert not selector.support_.any()
