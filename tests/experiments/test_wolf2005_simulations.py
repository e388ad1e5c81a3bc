"""The pieces of the simulations of Wolf & Shashua (2005), against arithmetic of their own."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import SVC

from eigensieve.datasets import wolf2005
from eigensieve.experiments.wolf2005 import (
    _common,
    bendor,
    figure2a,
    figure2b,
    figure3a,
    figure3b,
    figure6b,
)
from tests.oracles import qalpha as oracle


def test_weights_are_those_of_the_definitions() -> None:
    """A table small enough that 20 cycles by the definitions are quick; the same start."""
    X = wolf2005.clusters_in_noise(3, np.random.default_rng(0))[0][:, :20]
    M = oracle.normalize_rows(X.T)
    Q = oracle.svd_start(M, 3)
    alpha = np.zeros(20)
    for _ in range(20):
        G = (M @ M.T) * (M @ Q @ Q.T @ M.T)
        alpha = np.linalg.eigh(G)[1][:, -1]
        Q = np.linalg.qr((M.T * alpha) @ M @ Q)[0]
    alpha *= np.sign(alpha.sum())
    # stops where a cycle moves the weights by no more than 1e-4
    np.testing.assert_allclose(_common.weigh(X, 3), alpha, atol=1e-3)


# -- figure 2(a) -----------------------------------------------------------------------------


def test_positive_share_of_two_by_two() -> None:
    """Of a 2 x 2 matrix it is positive if and only if the entry beside the diagonal is."""
    part = figure2a.work("1/6", 2, 4000, 0)
    share = stats.norm.cdf(1 / np.sqrt(2))
    assert abs(part["hits"] / 4000 - share) < 4 * np.sqrt(share * (1 - share) / 4000)


def test_one_sign_is_positive_and_two_are_not() -> None:
    assert figure2a.is_positive(np.ones((3, 3)))
    v = np.array([1.0, 2.0, -0.1])
    assert not figure2a.is_positive(np.outer(v, v))


def test_size_from_which_the_share_stays_above() -> None:
    assert figure2a.first_above({2: 0.5, 3: 0.995, 4: 0.98, 5: 0.991, 6: 1.0}) == 5
    assert figure2a.first_above({2: 1.0, 3: 0.99}) == 0
    assert figure2a.first_above({2: 1.0, 3: 1.0}) == 2


# -- figure 2(b) -----------------------------------------------------------------------------


def test_sparsity_of_known_weights() -> None:
    one = figure2b.describe(np.eye(10)[0])
    assert (one["hoyer"], one["small"], one["most"], one["smallest"]) == (1.0, 90.0, 10.0, 0.0)
    equal = figure2b.describe(np.ones(16))
    assert equal["hoyer"] == pytest.approx(0.0)
    assert (equal["small"], equal["most"]) == (0.0, 93.75)  # 15 of 16: 90 % needs 14.4


def test_negative_weights_are_counted() -> None:
    mixed = figure2b.describe(np.array([4.0, -1.0, 3.0, 0.0]))
    assert mixed["smallest"] == -0.25
    assert mixed["negative"] == 12.5
    # Hoyer (2004) for 4 entries: (2 - 8 / sqrt 26) / (2 - 1)
    assert mixed["hoyer"] == pytest.approx(2 - 8 / np.sqrt(26))


def test_figures_of_figure_2b() -> None:
    run = {"smallest": 0.0, "negative": 0.0, "hoyer": 0.5, "small": 60.0, "most": 5.0, "hits": 0.5}
    runs = [run, {**run, "smallest": -0.005, "small": 30.0}]
    cells = figure2b.measure({}, [{"alpha": [1.0], "runs": runs}] * 2).cells
    least = cells["random matrix", "smallest weight of all runs, of the largest"]
    assert (least.value, least.n) == (-0.005, 2)
    assert cells["random matrix", "features below a tenth of the largest, %"].value == 45.0
    assert cells["random matrix", "runs without a negative weight"].value == 0.5


# -- figure 3 --------------------------------------------------------------------------------


@pytest.fixture
def labelled() -> wolf2005.Labelled:
    return wolf2005.weston_linear(31, np.random.default_rng(3))


def test_filters(labelled: wolf2005.Labelled) -> None:
    X, y, _ = labelled
    far = figure3a.distances(X, y)
    near = figure3a.correlations(X, y)
    fisher = figure3a.fisher_scores(X, y)
    for j in range(0, X.shape[1], 10):
        one, other = X[y == 1, j], X[y == -1, j]
        assert far[j] == pytest.approx(stats.ks_2samp(one, other).statistic)
        assert near[j] == pytest.approx(abs(stats.pearsonr(X[:, j], y).statistic))
        apart = (np.mean(one) - np.mean(other)) ** 2
        assert fisher[j] == pytest.approx(apart / (np.var(one) + np.var(other)))


def test_error_is_that_of_a_machine_on_standardised_features(labelled: wolf2005.Labelled) -> None:
    columns = np.array([1, 2, 4])
    test = wolf2005.weston_linear(200, np.random.default_rng(4))
    X, y = labelled[0][:, columns], labelled[1]
    center, width = X.mean(axis=0), X.std(axis=0)
    machine = SVC(kernel="linear", C=1.0).fit((X - center) / width, y)
    wrong = machine.predict((test[0][:, columns] - center) / width) != test[1]
    assert figure3a.error_of("linear", labelled, test, columns) == pytest.approx(wrong.mean())


def test_falling_behind() -> None:
    """The size with the largest difference; each problem has its own supervised variant."""
    protocol = {"sizes": [20, 50], "runs": 2, "tests": 10, "seed": 0}
    found = []
    for task in figure3a.tasks(protocol):
        errors = {name: [0.3, 0.1] for name in figure3a.ROWS}
        if task["problem"] == "non-linear" and task["q"] == 50:
            errors["supervised, offset 0"] = [0.26, 0.06]
            errors["unsupervised, one start"] = [0.5, 0.3]
        found.append(errors)
    measured = figure3a.measure(protocol, found)
    row = "non-linear: unsupervised less supervised"
    readings = measured.readings[row, figure3a.BEHIND]
    assert {name: round(value.value, 9) for name, value in readings.items()} == {
        "automatic starts": 0.04, "one start, 20 cycles": 0.24,
    }  # fmt: skip
    assert measured.cells[row, figure3a.BEHIND] == readings["automatic starts"]
    gap = measured.cells[row, "q = 50"]
    assert gap.se == pytest.approx(0.0)  # run by run: the spread of runs cancels
    assert measured.cells["linear: unsupervised less supervised", figure3a.BEHIND].value == 0.0


def test_sparsity_gap_by_hand() -> None:
    alpha = np.array([4.0, 2.0, 1.0, 0.0, 0.5])
    assert figure3b.sparsity_gap(alpha, np.array([True, True, False, False, False])) == 6.0


def test_choices_of_k_are_compared_over_few_and_many_clusters() -> None:
    means: dict[str, tuple[float, float]] = {
        "k = n_c": (9, 1), "k = n_c + 2": (8, 2), "k = n_c - 2": (7, 3), "k = n_c - 4": (99, 4),
    }  # fmt: skip
    # deviations of -w, 0, w are w; those of many clusters (n = 7) are half as large
    widths = {"k = n_c": 3.0, "k = n_c + 2": 2.0, "k = n_c - 2": 1.0, "k = n_c - 4": 50.0}
    gaps = {
        name: {
            n: (few if n <= 6 else many) + np.array([-1, 0, 1]) * widths[name] / (1 + (n > 6))
            for n in (2, 6, 7)
        }
        for name, (few, many) in means.items()
    }
    cells = figure3b.compare(gaps)
    found = {place: pytest.approx(value.value) for place, value in cells.items()}
    assert found == {
        ("few clusters", "mean gap, k = n_c less the best other"): 1.0,
        ("few clusters", "k = n_c - 2 less k = n_c"): -2.0,
        ("few clusters", "deviation less that for many"): 0.5,  # that of k = n_c - 2
        ("many clusters", "mean gap, k = n_c - 2 less the best other"): 1.0,
        ("many clusters", "k = n_c - 2 less k = n_c"): 2.0,
        ("many clusters", "mean gap, k = n_c - 4 less k = n_c - 2"): 1.0,
        ("many clusters", "deviation, k = n_c - 4 less k = n_c - 2"): 24.5,
        ("all", "deviation, k = n_c - 2 less the largest other"): -5 / 6 * 2,
        ("all", "deviation, k = n_c + 2 less the smallest other"): 5 / 6,
    }
    assert all(value.n == 3 or "less k = n_c" in place[1] for place, value in cells.items())


def test_the_error_of_a_comparison_is_that_of_paired_runs() -> None:
    rng = np.random.default_rng(5)
    shared = {n: rng.normal(size=30) for n in (2, 7)}
    gaps = {name: {n: shared[n] + i for n in shared} for i, name in enumerate(figure3b.SHIFTS)}
    place = ("many clusters", "mean gap, k = n_c - 4 less k = n_c - 2")
    assert figure3b.compare(gaps)[place].se == pytest.approx(0.0, abs=1e-12)
    apart = rng.normal(size=30)
    gaps["k = n_c - 4"] = {2: shared[2], 7: shared[7] + apart}
    found = figure3b.compare(gaps)[place]
    # k = n_c - 2 is shared + 2
    assert found.value == pytest.approx(np.mean(apart) - 2)
    assert found.se == pytest.approx(np.std(apart, ddof=1) / np.sqrt(30))


def test_figure_3b_is_measured_under_both_starts() -> None:
    found = [figure3b.work(n, 3, 0) for n in (2, 7)]
    measured = figure3b.measure({"clusters": [2, 7]}, found)
    for place in (("7 clusters", "k = n_c"), ("2 clusters", "runs above 1, k = n_c")):
        assert list(measured.readings[place]) == ["automatic starts", "one start, 20 cycles"]
        assert measured.cells[place] == measured.readings[place]["automatic starts"]
    X, _, relevant = wolf2005.clusters_in_noise(7, np.random.default_rng(0))
    alone = _common.weigh(X, 5, setting=_common.ONE_START)
    gap = found[1]["one start, 20 cycles"]["k = n_c - 2"][0]
    assert gap == pytest.approx(alone[relevant].mean() / alone[~relevant].mean())


def test_who_is_ahead_is_told_where_chance_is_ruled_out() -> None:
    """Differences of -2, 4 and 2 with standard errors of .5, .5 and 2."""
    equal = {n: np.zeros(2) for n in (2, 4, 7)}
    other = {2: np.array([-2.5, -1.5]), 4: np.array([3.5, 4.5]), 7: np.array([0.0, 4.0])}
    found = figure3b.describe_lead({"k = n_c": equal, "k = n_c - 2": other})
    assert found.endswith(
        "k = n_c - 2 is ahead for 4 clusters, and k = n_c is ahead for 2 clusters."
    )
    nobody = figure3b.describe_lead({"k = n_c": equal, "k = n_c - 2": equal})
    assert nobody.count("ahead for no number of clusters") == 2


# -- figure 6(b) -----------------------------------------------------------------------------


def test_signs_of_sessions_do_not_matter_to_kernel_and_squares() -> None:
    """They are hidden from both; the plain method is another one for every draw of them."""
    X = wolf2005.hidden_sessions(0.01, np.random.default_rng(0))[0]
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(15, 60))
    before = figure6b.weigh_all(X)
    after = figure6b.weigh_all(X * np.repeat(signs, 8, axis=0))
    np.testing.assert_allclose(before[0], after[0], atol=1e-9)
    np.testing.assert_allclose(before[1], after[1], atol=1e-9)
    assert np.abs(before[2] - after[2]).max() > 0.1


@pytest.mark.parametrize(("wrong", "success"), [(2, True), (3, False)])
def test_ten_of_twelve_are_a_success(
    wrong: int, success: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    alpha = np.zeros(60)
    alpha[wrong : wrong + 12] = 1.0  # the first 12 features are relevant
    monkeypatch.setattr(figure6b, "weigh_all", lambda X: (alpha, alpha, alpha))
    assert figure6b.work(0.01, 1, 0)["kernel"] == [success]


def test_every_success_of_the_plain_method_counts() -> None:
    protocol = {"spreads": [0.01, 0.02], "runs": 3, "seed": 0}
    part = {"kernel": [True] * 3, "squared": [True, False, True], "plain": [False] * 3}
    cells = figure6b.measure(protocol, [{**part, "plain": [True, False, True]}, part]).cells
    assert cells["lambda = 0.01", "successes, plain"].value == 2
    assert cells["lambda = 0.02", "successes, plain"].value == 0


# -- Ben-Dor ---------------------------------------------------------------------------------


def test_times_likelier_by_counting() -> None:
    """Three runs of 4 relevant among 10 features; 4, 3 and 2 of the chosen four are relevant."""
    chosen_relevant, chosen_other = 4 + 3 + 2, 0 + 1 + 2
    expected = (chosen_relevant / 12) / (chosen_other / 18)
    assert bendor.likelier([4, 3, 2], 4, 10) == pytest.approx(expected)
    assert bendor.likelier([4, 4], 4, 10) == pytest.approx(12.0)  # one wrong of 2 x 6 is counted


@pytest.mark.parametrize(("n_relevant", "n_features"), [(3, 600), (168, 600), (1, 5)])
def test_the_precision_of_a_factor(n_relevant: int, n_features: int) -> None:
    """By counting: with it, a relevant feature is 30 times likelier to be chosen than another."""
    precision = bendor.precision_of(30, n_relevant, n_features)
    chosen, wrong = precision * n_relevant, (1 - precision) * n_relevant
    assert chosen / n_relevant == pytest.approx(30 * wrong / (n_features - n_relevant))


def test_unit_norm_does_not_see_the_distance_of_the_means() -> None:
    """The same draw, relevant features 555 times as small: without unit norm, another choice."""
    usual, close = (bendor.work(setting, 3, 0)["hits"] for setting in ({}, {"d": 1.0}))
    for start in _common.STARTS:
        assert usual[start]["unit norm"] == close[start]["unit norm"]
        assert usual[start]["raw scale"] != close[start]["raw scale"]


def test_variance_alone_ranks_by_variance() -> None:
    X, _, relevant = wolf2005.ben_dor(np.random.default_rng(7), m=40, d=1.0)
    variances = [np.var(column) for column in X.T]
    order = sorted(range(40), key=lambda j: -variances[j])[: int(relevant.sum())]
    found = bendor.work({"m": 40, "d": 1.0}, 1, 7)
    for hits in found["hits"].values():
        assert hits["variance alone"] == [sum(relevant[j] for j in order)]


def test_rows_of_the_ben_dor_study() -> None:
    protocol: dict[str, Any] = {"m": [5], "d": [1], "e": [0.9], "s": [2], "runs": 2, "seed": 0}
    counts = itertools.count(1)
    found = [
        {"hits": {start: {name: [next(counts)] * 2 for name in bendor.LINES}
                  for start in _common.STARTS},
         "n_relevant": 100, "n_features": 200}
        for _ in bendor.tasks(protocol)
    ]  # fmt: skip
    measured = bendor.measure(protocol, found)
    assert measured.cells["defaults", "precision, unit norm"].value == 0.01
    # the third setting is d = 1: hits 13 to 18 where the defaults have 1 to 6
    change = measured.cells["d = 1", "precision less the default's, raw scale"]
    assert change.value == pytest.approx(0.12)
    assert measured.series["d"]["at"] == [1, 555]
    assert measured.series["d"]["unit norm"] == [0.13, 0.01]
    readings = measured.readings["d = 1", "precision, unit norm"]
    assert [(name, value.value) for name, value in readings.items()] == [
        ("automatic starts", 0.13), ("one start, 20 cycles", 0.16),
    ]  # fmt: skip


def test_a_single_start_misses_few_features_that_the_automatic_ones_find() -> None:
    """Three relevant features of 600, as in Ben-Dor's model; the start alone is another."""
    hits = bendor.work({"e": 0.995}, 2, 0)["hits"]
    assert hits["one start, 20 cycles"]["unit norm"] == [0, 0]
    assert hits["automatic starts"]["unit norm"] == [3, 3]
