"""The report of a Q-alpha selector says what it holds, and what the null says of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from eigensieve import QAlphaSelector
from eigensieve.errors import InputError
from eigensieve.report import words
from eigensieve.report.selector import MAX_ROWS, render_selector_report
from tests.report.stand_ins import HISTORY, SCRIPT, make_selector, said_of, text_of


def test_summary_comes_first_and_in_words() -> None:
    said = said_of(make_selector())
    assert said.startswith(
        "Features selected by Q-alpha 5 of 60 features were selected for 3 clusters in 80 samples, "
        "without labels. All 5 stand out from permuted features."
    )
    assert (
        "p ≤ 0.05 after Benjamini and Hochberg, over 60 features and with 20 permutations" in said
    )
    assert "no evidence" not in said
    assert "More than chance 5 of 5 selected" in said


def test_supervised_selection_speaks_of_classes() -> None:
    classes = np.array(["healthy", SCRIPT])
    said = said_of(make_selector(n_clusters_=None, classes_=classes))
    assert "5 of 60 features were selected to tell 2 classes apart in 80 samples." in said
    assert f"Classes healthy, {SCRIPT[:17]}" in said
    assert "Clusters" not in said
    many = np.arange(100)
    assert "10, 11 and 88 more" in said_of(make_selector(n_clusters_=None, classes_=many))


def test_without_a_null_it_says_so_and_how_to_get_one() -> None:
    said = said_of(make_selector(n_permutations=0))
    assert "Whether they are more than chance was not tested." in said
    assert "A sparse profile is no evidence of signal" in said
    assert "QAlphaSelector(n_permutations=20)" in said
    assert "There is no null band" in said
    for absent in ("Null band", "p-value", "Adjusted", "Benjamini", "In grey"):
        assert absent not in said
    assert "was selected" in said_of(make_selector(k=1, n_permutations=0))
    assert "Whether it is more than chance" in said_of(make_selector(k=1, n_permutations=0))


def test_a_null_that_could_not_be_made() -> None:
    late = said_of(make_selector(null_=None))
    assert "The time was over before" in late
    assert "QAlphaSelector(n_permutations=20)" not in late
    matrix = said_of(make_selector(n_permutations=0, kernel="precomputed"))
    assert "5 of 60 features were selected for 3 clusters, by a kernel matrix" in matrix
    assert "Features cannot be permuted in a kernel matrix" in matrix
    assert "Samples unknown in 3 clusters" in matrix
    assert "80" not in matrix[: matrix.index("Versions")]


def test_noise_is_called_noise() -> None:
    selector = make_selector(signal=0.0, cut_="given")
    selector.null_ = replace(selector.null_, upper=selector.null_.upper + 0.1)
    said = said_of(selector)
    assert "No feature stands out from permuted features." in said
    assert "the profile is what noise gives" in said
    assert "Selected values above it: 0 of 5." in said
    assert "The number of features was given by the user." in said


def test_values_above_the_band_are_not_called_noise() -> None:
    selector = make_selector()
    selector.null_ = replace(selector.null_, p_values=np.full(60, 0.2))
    ranked = np.sort(selector.alpha_)[::-1]
    selector.null_ = replace(selector.null_, upper=ranked * np.where(np.arange(60) < 3, 0.9, 1.1))
    said = said_of(selector)
    assert "No feature stands out" in said
    assert "Selected values above it: 3 of 5." in said
    assert "speaks for signal in the group" in said
    assert "what noise gives" not in said
    selector.null_ = replace(selector.null_, upper=ranked * np.where(np.arange(60) < 2, 0.9, 1.1))
    assert "what noise gives" in said_of(selector)


@pytest.mark.parametrize(
    ("passing", "expected", "warned"),
    [
        ([0, 1, 2, 3, 4], "All 5 stand out from permuted features.", False),
        ([0, 1, 2], "3 of the 5 stand out from permuted features.", False),
        ([0, 1], "2 of the 5 stand out from permuted features.", True),
        ([0], "1 of the 5 stands out from permuted features.", True),
        ([50], "None of the selected ones stands out from permuted features.", True),
    ],
)
def test_few_that_stand_out_are_a_warning(passing: list[int], expected: str, warned: bool) -> None:
    selector = make_selector()
    selector.null_ = replace(selector.null_, p_values=np.full(60, 0.5))
    selector.null_.p_values[passing] = 1e-6
    said = said_of(selector)
    assert expected in said
    assert ("Fewer than half of the selected features stand out" in said) == warned
    assert ("1 further feature stands out but was not selected." in said) == (50 in passing)
    assert f"More than chance {len(set(passing) & set(range(5)))} of 5 selected" in said
    assert ("In grey" in said) == (len(passing) < 5)


@pytest.mark.parametrize("seed", range(20))
def test_benjamini_hochberg_agrees_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p_values = np.round(rng.beta(0.3, 2.0, size=80), 3)  # with ties
    p_values[rng.integers(80)] = 1.0
    selector = make_selector(80, 30)
    selector.null_ = replace(selector.null_, p_values=p_values)
    rates = false_discovery_control(p_values)
    n = int(np.sum((rates <= 0.05) & selector.support_))
    assert f"More than chance {n} of 30 selected" in said_of(selector)


def test_nothing_selected() -> None:
    said = said_of(make_selector(k=0, cut_="null"))
    assert "0 of 60 features were selected" in said
    assert "No feature stands out" in said
    assert "No feature was selected." in said
    assert "The number of features is that of the features that stand out" in said


def test_a_single_feature() -> None:
    selector = make_selector(p=30, k=1)
    assert "1 of 30 features was selected" in said_of(selector)
    assert "It stands out from permuted features." in said_of(selector)
    assert "1 of 1 feature was selected" in said_of(make_selector(p=1, k=1))


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ("ratio", "the ratio of two neighbouring values is largest."),
        ("otsu", "splits the values best into two groups (Otsu)."),
        ("energy", "the fewest features with a given share"),
    ],
)
def test_the_cut_is_told(cut: str, expected: str) -> None:
    said = said_of(make_selector(cut_=cut))
    assert expected in said
    assert f"choice of k {cut}" in said.lower()


def test_an_unfitted_selector_is_refused() -> None:
    with pytest.raises(InputError, match="fitted"):
        render_selector_report(QAlphaSelector())


def test_when_nearly_all_stand_out_that_is_no_wonder() -> None:
    selector = make_selector()
    selector.null_.p_values[:40] = 1e-6
    assert "More than half of all features stand out" in said_of(selector)
    assert "More than half of all features" not in said_of(make_selector())


def test_runs_of_the_null_without_rest_are_told() -> None:
    selector = make_selector()
    selector.null_ = replace(selector.null_, n_unfinished=3)
    assert "In 3 runs of them alpha was not at rest" in said_of(selector)


def test_no_convergence_is_told() -> None:
    assert "not converged" not in said_of(make_selector())
    solution = SimpleNamespace(history=HISTORY, seconds=1.0, status="iteration limit")
    said = said_of(make_selector(converged_=False, solution_=solution))
    assert (
        "The weights have not converged: the search stopped after 3 cycles (iteration limit)"
        in said
    )
    assert "Cycles 3; not converged" in said


def test_table_has_the_selected_features_by_alpha() -> None:
    selector = make_selector(signal=6.0)
    names = [f"gene {j}" for j in range(60)]
    said = said_of(selector, names=names)
    rates = false_discovery_control(selector.null_.p_values)
    order = np.argsort(-selector.alpha_)[:5]
    assert set(order) == set(np.flatnonzero(selector.support_))
    null = selector.null_
    for i, j in enumerate(order):
        band = f"{null.lower[i]:#.3g} to {null.upper[i]:#.3g}"
        p_values = f"{null.p_values[j]:#.2g} {rates[j]:#.2g}".replace("-", "\u2212")
        row = f"{i + 1} gene {j} {selector.alpha_[j]:#.3g} {band} {p_values}"
        assert row in said


def test_long_tables_end_with_a_count() -> None:
    said = said_of(make_selector(p=2000, k=MAX_ROWS + 1300))
    assert f"{MAX_ROWS} feature" in said
    assert f"{MAX_ROWS + 1} feature" not in said
    assert "1,300 more selected features have a smaller alpha and are not listed." in said
    assert "not listed" not in said_of(make_selector(p=2000, k=MAX_ROWS))


def test_course_and_methods_are_complete() -> None:
    said = said_of(make_selector())
    for fact in (
        "The objective went from 1.50000 to 2.50000 in 3 cycles; the best of 6 starts.",
        "1 1.5000000 2 2.2500000 3 2.5000000", "Variant standard", "Kernel linear", "Clusters 3",
        "Eigensolver lanczos", "Starts 6", "Cycles 3; converged", "Objective 2.50000",
        "Number of features ratio gap", "Null 20 runs beside permuted copies of all features",
        "Samples 80", "Features 60", "n_clusters=3, random_state=7, metric=<built-in function len>",
        "numpy", "scipy",
    ):  # fmt: skip
        assert fact in said
    once = said_of(make_selector(n_init_=1, kernel=None))
    assert "in 3 cycles." in once
    assert "Kernel none" in once
    assert "was kept" not in once


def test_words_are_explained() -> None:
    said = said_of(make_selector())
    explained = said[said.index("How to read this") :]
    for word in ("Alpha", "Clusters", "Null band", "p-value", "Adjusted p", "Objective"):
        assert word in explained
    bare = said_of(make_selector(n_permutations=0))
    assert "Null band" not in bare[bare.index("How to read this") :]


def test_names_of_the_table_are_used_and_others_are_counted() -> None:
    names = np.array([f"column {j}" for j in range(60)], dtype=object)
    assert "column 0" in said_of(make_selector(feature_names_in_=names))
    assert "feature 0" in said_of(make_selector())
    with pytest.raises(InputError, match="3 names for 60 features"):
        render_selector_report(make_selector(), names=["a", "b", "c"])


@pytest.mark.parametrize("variant", ["standard", "supervised"])
def test_a_fitted_selector(variant: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 20)
    X = rng.normal(size=(40, 100))
    X[:20, :10] += 3
    selector = QAlphaSelector(10, variant=variant, n_permutations=3, random_state=0).fit(X, y)
    html = render_selector_report(selector, names=[f"gene {j}" for j in range(100)])
    said = text_of(html)
    groups = "for 2 clusters in" if variant == "standard" else "to tell 2 classes apart in"
    assert f"10 of 100 features were selected {groups} 40 samples" in said
    assert "All 10 stand out from permuted features." in said
    for rank, j in enumerate(np.argsort(-selector.alpha_)[:10], 1):
        assert f"{rank} gene {j} {selector.alpha_[j]:#.3g}" in said
    assert f"Cycles {selector.n_iter_}; converged" in said
    assert f"{selector.n_iter_} {words.significant(selector.objective_, 8)} Methods" in said
    assert "random_state=0" in said
    assert html == render_selector_report(selector, names=[f"gene {j}" for j in range(100)])


def test_a_fitted_selector_on_noise_and_without_convergence() -> None:
    X = np.random.default_rng(0).normal(size=(30, 200))
    selector = QAlphaSelector(n_permutations=3, random_state=0, max_iter=1, n_init=1)
    with pytest.warns(UserWarning, match="not at rest with max_iter = 1"):
        selector.fit(X)
    said = said_of(selector)
    assert "No feature stands out from permuted features." in said
    assert "have not converged: the search stopped after 1 cycle (" in said
