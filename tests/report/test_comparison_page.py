"""The page of a comparison says who is best, and who cannot be told apart from it."""

from __future__ import annotations

import copy
import dataclasses
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import eigensieve as es
from eigensieve.plots import ComparisonDisplay
from eigensieve.report import write_comparison_report
from eigensieve.report.comparison import render_comparison
from eigensieve.studies.comparison import Comparison
from eigensieve.studies.cv_path import ONE_SE_BALANCED, OWN
from tests.report.pages import SVG, assert_opens_offline_and_fits, text_of
from tests.report.stand_ins import HOSTILE, SCRIPT

METHODS = ["sparse-lda", "anova", "snr"]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    data = load_breast_cancer()
    y = data.target_names[data.target]
    names = [str(name) for name in data.feature_names]
    return es.compare(data.data[::3], y[::3], METHODS, ks=(1, 4), names=names, target="diagnosis")


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    rng = np.random.default_rng(0)
    names = [*HOSTILE, "a", "b", "c"]
    X = rng.normal(size=(60, len(names)))
    y = np.array([SCRIPT, "b"])[np.arange(60) % 2]
    X[:, 0] += 3 * (np.arange(60) % 2)
    methods = {SCRIPT: es.RankedLDA("anova"), "x" * 300: es.RankedLDA("snr")}
    found = es.compare(X, y, methods, ks=(1, 5), names=names, target=SCRIPT)
    return dataclasses.replace(
        found, failures={SCRIPT: SCRIPT}, notes=(SCRIPT,), unfinished=(SCRIPT,)
    )


def with_mistakes(comparison: Comparison, wrong: dict[str, np.ndarray]) -> Comparison:
    """The same methods with other mistakes."""
    results = {}
    for name, study in comparison.results.items():
        honest = study.honest_error
        assert honest is not None
        estimate = dataclasses.replace(honest.estimate, error=float(wrong[name].mean()))
        changed = dataclasses.replace(honest, estimate=estimate, wrong=wrong[name])
        results[name] = dataclasses.replace(study, honest_error=changed)
    return dataclasses.replace(comparison, results=results)


def mistakes(n: int, *rows: int) -> np.ndarray:
    wrong = np.zeros(n)
    wrong[list(rows)] = 1.0
    return wrong


def test_table_holds_the_numbers(comparison: Comparison) -> None:
    said = text_of(render_comparison(comparison, command="eigensieve compare 'a b.csv'"))
    best = comparison.rows[0]
    assert f"Of 3 methods, {best['method']} has the smallest error on new samples:" in said
    for row in comparison.rows:
        numbers = f"{100 * row['error']:.1f} % {100 * row['low']:.1f} % to {100 * row['high']:.1f}"
        assert f"{row['method']} {row['title']} {numbers} %" in said
        study = comparison.results[row["method"]]
        for curve_row in study.rows:
            assert f"{100 * curve_row['error']:.1f} %" in said
    for fact in (
        "Reference sparse-lda", "nested 5-fold cross-validation", "Target diagnosis", "Seed 0",
        comparison.source.fingerprint, "Command eigensieve compare 'a b.csv'", "ranker='anova'",
        "sparse-lda sparse linear discriminant analysis (SparseLDA): ", "scikit-learn",
    ):  # fmt: skip
        assert fact in said


def test_overlap_counts_common_features(comparison: Comparison) -> None:
    said = text_of(render_comparison(comparison))
    sets = {name: {f.name for f in study.selected} for name, study in comparison.results.items()}
    order = [row["method"] for row in comparison.rows]
    for name in order:
        counts = " ".join(str(len(sets[name] & sets[other])) for other in order)
        assert f"{name} {counts} " in said
    common = set.intersection(*sets.values())
    for name in common:
        assert f"{name} 3 of 3 " in said


def test_who_cannot_be_told_apart(comparison: Comparison) -> None:
    n = comparison.results["anova"].n_samples
    # one sample differs: that is 1 standard error; twenty-five do: that is 5
    wrong = {
        "sparse-lda": mistakes(n, 0),
        "anova": mistakes(n, 0, 1),
        "snr": mistakes(n, *range(26)),
    }
    said = text_of(render_comparison(with_mistakes(comparison, wrong)))
    assert "sparse-lda has the smallest error" in said
    assert "It cannot be told apart from anova." in said
    assert "Not told apart from the best 2" in said
    assert "reference" in said
    points = 100 * 25 / n
    d = wrong["snr"] - wrong["sparse-lda"]
    assert f"+{points:.1f} ± {100 * d.std(ddof=1) / np.sqrt(n):.1f}" in said

    wrong["anova"] = mistakes(n, *range(27))
    said = text_of(render_comparison(with_mistakes(comparison, wrong)))
    assert "All others have clearly larger errors." in said
    wrong["snr"] = wrong["anova"] = mistakes(n, 0, 1)
    said = text_of(render_comparison(with_mistakes(comparison, wrong)))
    assert "None of the others can be told apart from it." in said


def test_the_reference_need_not_be_the_best(comparison: Comparison) -> None:
    n = comparison.results["anova"].n_samples
    wrong = {
        "sparse-lda": mistakes(n, *range(30)),
        "anova": mistakes(n, 0),
        "snr": mistakes(n, 0, 1),
    }
    said = text_of(render_comparison(with_mistakes(comparison, wrong)))
    assert "anova has the smallest error" in said
    assert "It cannot be told apart from snr." in said
    assert "Differences are to sparse-lda" in said


def test_without_errors_and_with_failures(comparison: Comparison) -> None:
    results = {
        name: dataclasses.replace(study, honest_error=None)
        for name, study in comparison.results.items()
    }
    bare = dataclasses.replace(
        comparison, results=results, failures={"plda": "no such luck"}, unfinished=("l1 left",)
    )
    said = text_of(render_comparison(bare))
    assert "3 methods were tried, but no error could be estimated." in said
    assert "plda has no result: no such luck." in said
    assert said.index("L1 left") < said.index("3 methods were tried")


def test_a_choice_by_the_balanced_error_is_told(comparison: Comparison) -> None:
    plain = text_of(render_comparison(comparison))
    assert "Number of features smallest k whose cross-validated error is within" in plain
    assert "chosen by the balanced error" not in plain
    changes = {"score": "balanced_error", "k_rule": ONE_SE_BALANCED}
    results = {n: dataclasses.replace(s, **changes) for n, s in comparison.results.items()}
    results["snr"] = dataclasses.replace(results["snr"], k_rule=OWN)
    found = dataclasses.replace(comparison, results=results)
    said = text_of(render_comparison(found))
    assert "The numbers of features were chosen by the balanced error" in said
    rule = "smallest k whose cross-validated balanced error is within one standard error of the"
    assert (
        f"sparse-lda and anova: {rule} smallest; snr: the method's own number of features" in said
    )
    for row in results["anova"].rows:  # the curves are those of the error that chose
        assert f"{100 * row['balanced_error']:.1f} %" in said


def test_methods_without_class_weights_are_named(comparison: Comparison) -> None:
    assert "class weights" not in text_of(render_comparison(comparison)).lower()
    study = comparison.results["sparse-lda"]
    model = copy.copy(study.final_estimator)
    model.estimator_ = copy.copy(model.estimator_)
    model.estimator_.class_weight = "balanced"
    weighted = dataclasses.replace(study, path={**study.path, study.best_k: model})
    results = {**comparison.results, "sparse-lda": weighted}
    said = text_of(render_comparison(dataclasses.replace(comparison, results=results)))
    assert "Without class weights in the fit, unlike the others: anova and snr." in said
    assert "Class weights sparse-lda: balanced: every class counts alike" in said


def test_hostile_names_are_text(hostile: Comparison) -> None:
    html = render_comparison(hostile, title=SCRIPT, command=SCRIPT)
    assert html == render_comparison(hostile, title=SCRIPT, command=SCRIPT)
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert not re.search(r"(?:src|href)=\"(?!#)|url\((?!#)|@import", html)
    for source in SVG.findall(html):
        assert ElementTree.fromstring(source).attrib["role"] == "img"


def test_public_entry_writes_the_page(comparison: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "compare.html"
    write_comparison_report(comparison, path, title="Trial 7")
    assert path.read_text(encoding="utf-8") == render_comparison(comparison, title="Trial 7")


def test_display_draws_the_smallest_error_on_top() -> None:
    display = ComparisonDisplay(["a", "$b$"], [0.3, 0.1], [0.2, 0.05], [0.4, 0.2], [False, True])
    display.plot()
    assert display.names == ["$b$", "a"]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["$b$", "a"]
    low, high = display.ax_.get_ylim()
    assert low > high  # row 0 is on top
    for row, (bar, ends) in enumerate(zip(display.errorbars_, [(0.05, 0.2), (0.2, 0.4)])):
        line, _, (bars,) = bar
        assert line.get_ydata()[0] == row
        np.testing.assert_allclose(bars.get_segments()[0][:, 0], ends)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["comparison", "hostile"])
def test_page_opens_offline_and_fits(
    name: str, browser: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "compare.html"
    write_comparison_report(request.getfixturevalue(name), path)
    assert_opens_offline_and_fits(browser, path)


@pytest.mark.browser
def test_all_columns_are_seen_on_a_screen_and_scroll_on_a_phone(
    comparison: Comparison, browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "compare.html"
    titles = dict.fromkeys(METHODS, "sparse uncorrelated linear discriminant analysis, in full")
    results = {
        name: dataclasses.replace(
            study,
            optimality=[
                dataclasses.replace(s, objective=1.0, bound=38.0) for s in study.optimality
            ],
        )
        for name, study in comparison.results.items()
    }
    write_comparison_report(dataclasses.replace(comparison, titles=titles, results=results), path)
    for width, is_cut in ((1280, False), (390, True)):
        page = browser.new_context(viewport={"width": width, "height": 800}).new_page()
        page.goto(path.as_uri())
        table = page.get_by_label("Methods side by side")
        assert table.evaluate("one => one.scrollWidth > one.clientWidth") == is_cut
        assert page.locator(".hint.phone").is_visible() == is_cut
        page.context.close()
