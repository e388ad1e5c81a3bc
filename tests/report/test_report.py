"""The report says what the result holds, whatever the names, and opens in a real browser."""

from __future__ import annotations

import copy
import dataclasses
import re
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from eigensieve.core.solution import Status
from eigensieve.plots import LoadingsDisplay, ProjectionDisplay
from eigensieve.plots._style import shorten
from eigensieve.report import words
from eigensieve.report.figures import inline_svg
from eigensieve.report.glossary import CRITERION_NAMES, explain_words
from eigensieve.report.page import render_report
from eigensieve.report.shared import write_report
from eigensieve.studies.cv_path import ErrorEstimate
from eigensieve.studies.fitting import FitResult, fit_study
from tests.report.pages import SVG, assert_opens_offline_and_fits, text_of

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [SCRIPT, "a&b", '"q"', "x" * 300, "温度 β ☃", "$x_1$", "50 $", "bad\x00\x1b\u202ename"]
HOSTILE += ["#24292f", "'; --></style><img src=x onerror=alert(1)>"]


@pytest.fixture(scope="module")
def two() -> FitResult:
    data = load_breast_cancer()
    y = data.target_names[data.target]
    names = list(data.feature_names)
    return fit_study(data.data, y, names, target="diagnosis", ks=(1, 3, 10), n_jobs=1)


@pytest.fixture(scope="module")
def three() -> FitResult:
    data = load_iris()
    y = data.target_names[data.target]
    return fit_study(data.data, y, data.feature_names, target="species", k=3, ks=(1,), n_jobs=1)


@pytest.fixture(scope="module")
def hostile() -> FitResult:
    rng = np.random.default_rng(0)
    names = HOSTILE + [f"f{i}" for i in range(50 - len(HOSTILE))]
    X = rng.normal(size=(80, len(names)))
    y = np.array([SCRIPT, "$\\frac{1$", "_hidden & 'co'", "z" * 300])[np.arange(80) % 4]
    X[:, 0] += np.arange(80) % 4
    return fit_study(X, y, names, target=SCRIPT, k=50, ks=(1, 10), n_jobs=1)


@pytest.fixture(scope="module")
def crowd() -> FitResult:
    """Fifty classes, and a feature that does not vary within them."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 3)
    X = rng.normal(size=(150, 12)) + 3 * rng.normal(size=(50, 12))[y]
    X[:, 5] = y % 7
    classes = np.array([f"population {i} of the northern highlands" for i in range(50)])
    names = [f"marker {j}" for j in range(12)]
    return fit_study(X, classes[y], names, k=8, ks=(1,), n_jobs=1)


@pytest.fixture(scope="module")
def lonely() -> FitResult:
    """A class of one sample: no cross-validation, no error."""
    X = np.random.default_rng(0).normal(size=(21, 5))
    X[:10, 2] += 5
    X[:, 4] = 1.0
    y = np.array(["a"] * 10 + ["b"] * 10 + ["solo"])
    return fit_study(X, y, list("pqrst"), k=1, n_jobs=1)


def with_solution(result: FitResult, **changes: Any) -> FitResult:
    model = copy.copy(result.estimator)
    model.solution_ = dataclasses.replace(model.solution_, **changes)
    return dataclasses.replace(result, estimator=model)


# -- what it says --------------------------------------------------------------------


def test_summary_comes_in_words_and_with_the_numbers_of_the_result(two: FitResult) -> None:
    said, error = text_of(render_report(two)), two.error
    assert error is not None
    assert f"{two.k} of 30 features separate 2 classes in 569 samples." in said
    assert (
        f"Error on new samples: {100 * error.error:.1f} % (95 % interval {100 * error.low:.1f} % "
        f"to {100 * error.high:.1f} %), by nested 5-fold cross-validation with k chosen inside."
    ) in said
    assert "Always guessing the largest class would be wrong for 37.3 %" in said
    assert f"k = {two.k} is the {two.k_rule}." in said
    assert "benign 357 62.7 %" in said


def test_tables_hold_the_path_and_the_loadings(two: FitResult) -> None:
    said = text_of(render_report(two))
    assert two.cv is not None
    for row in two.cv.table():
        numbers = [f"{100 * row[c]:.1f} %" for c in ("error", "se", "balanced_error")]
        mark = " (chosen)" if row["k"] == two.k else ""
        assert " ".join([f"{row['k']}{mark}", *numbers]) in said
    for feature in two.selected:
        values = [words.number(v) for v in (*feature.loadings, feature.weight)]
        assert " ".join([str(feature.rank), feature.name, *values]) in said


def test_methods_are_complete(two: FitResult) -> None:
    said = text_of(render_report(two, command="eigensieve fit 'a b.csv'"))
    shrinkage = f"{two.estimator.shrinkage_:.4f} (chosen from the data)"
    for fact in (
        "SparseLDA", "logdet", shrinkage, "greedy; status: converged", "centred and scaled",
        "5 stratified folds, 5 repeats", "Seed 0", two.fingerprint, "scikit-learn",
        "Command eigensieve fit 'a b.csv'", "Target diagnosis",
    ):  # fmt: skip
        assert fact in said
    assert "Command" not in text_of(render_report(two))


def test_several_directions_and_a_given_k(three: FitResult) -> None:
    said = text_of(render_report(three))
    assert "3 of 4 features separate 3 classes in 150 samples." in said
    assert "k = 3 was given by the user." in said
    assert "Loading 1 Loading 2 Weight" in said
    assert "5-fold cross-validation with k fixed." in said


def test_held_out_error_and_title(two: FitResult) -> None:
    held_out = ErrorEstimate(0.051, 0.02, 0.11, 100, "table new.csv")
    html = render_report(two, title="Trial 7 & 8", held_out=held_out)
    assert "<h1>Trial 7 &amp; 8</h1>" in html
    expected = (
        "Error on 100 held-out samples: 5.1 % (95 % interval 2.0 % to 11.0 %); table new.csv."
    )
    assert expected in text_of(html)


def test_held_out_samples_are_called_so_once(two: FitResult) -> None:
    held_out = ErrorEstimate(0.051, 0.02, 0.11, 190, "held-out samples")
    said = text_of(render_report(two, held_out=held_out))
    assert "Error on 190 held-out samples: 5.1 % (95 % interval 2.0 % to 11.0 %). " in said


def test_interval_is_explained_where_there_is_one(two: FitResult, lonely: FitResult) -> None:
    held_out = ErrorEstimate(0.051, 0.02, 0.11, 190, "held-out samples")
    assert "Interval Wilson, 95 %" in text_of(render_report(two))
    assert "Interval Wilson, 95 %" in text_of(render_report(lonely, held_out=held_out))


def test_transformation_is_a_part_of_the_methods(two: FitResult) -> None:
    assert "Transformation" not in text_of(render_report(two))
    said = text_of(render_report(dataclasses.replace(two, log2_floor=0.5)))
    assert "Transformation log2, values below 0.5 raised to it" in said


def test_the_curve_is_told_from_the_error_only_where_k_was_chosen(
    two: FitResult, three: FitResult
) -> None:
    expected = (
        "The curve helped to choose k, so its value at the chosen k is a little kind; "
        "the error above comes from samples that had no part in the choice."
    )
    assert expected in text_of(render_report(two))
    assert "is a little kind." in text_of(render_report(dataclasses.replace(two, error=None)))
    assert "a little kind" not in text_of(render_report(three))


@pytest.mark.parametrize(
    ("error", "balanced", "worse"),
    [(0.35, 0.61, True), (0.10, 0.12, False), (0.01, 0.035, False), (0.5, 0.6, False)],
)
def test_balanced_error_is_shown_and_said(
    two: FitResult, error: float, balanced: float, worse: bool
) -> None:
    assert two.cv is not None
    estimate = ErrorEstimate(error, error / 2, 1.5 * error, 569, "test")
    cv = dataclasses.replace(two.cv, fold_balanced_errors=0 * two.cv.fold_errors + balanced)
    said = text_of(render_report(dataclasses.replace(two, error=estimate, cv=cv)))
    assert f"balanced: {100 * balanced:.1f} %" in said
    sentence = (
        "Small classes fare worse: the balanced error, in which every class counts alike, is "
        f"{100 * balanced:.1f} % (cross-validation)."
    )
    assert (sentence in said) == worse


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.30, 0.37, "{} of 30 features separate 2 classes in 569 samples."),
        (0.30, 0.38, "were selected to tell 2 classes apart; the error cannot be told from"),
        (0.40, 0.48, "selected to tell 2 classes apart; the error is larger than that of guessing"),
    ],
)
def test_classes_are_separated_only_if_the_error_beats_a_guess(
    two: FitResult, low: float, high: float, expected: str
) -> None:
    estimate = ErrorEstimate((low + high) / 2, low, high, 569, "test")
    said = text_of(render_report(dataclasses.replace(two, error=estimate)))
    assert expected.format(two.k) in said
    assert said.startswith("Features that separate") == (high < 0.373)
    assert ("separate" in said) == (high < 0.373)


def test_words_are_explained(two: FitResult, three: FitResult) -> None:
    said = text_of(render_report(two))
    explained = said[said.index("How to read this") :]
    for word in (
        "Cross-validation", "Nested:", "1-SE rule", "Loading and weight", "Shrinkage",
        "logdet (Wilks)", "Status: converged No exchange of one selected feature for another",
        "That is no proof that it is the best set.",
    ):  # fmt: skip
        assert word in explained
    assert "Nested:" not in text_of(render_report(three))
    for criterion in CRITERION_NAMES:
        explained = [word for word, _ in explain_words(with_solution(two, criterion=criterion))]
        assert explained[-3].startswith(criterion)
        assert explained[-2:] == ["Proved", "Status: converged"]
    unknown = explain_words(with_solution(two, bound=np.inf))
    assert "Proved" not in [word for word, _ in unknown]
    assert explain_words(with_solution(two, status=Status.OPTIMAL))[-1][0] == "logdet (Wilks)"


def test_without_an_error_it_says_why(lonely: FitResult) -> None:
    said = text_of(render_report(lonely))
    selected = "1 of 5 features was selected to tell 3 classes apart in 21 samples."
    assert f"{selected} No error estimate: class" in said
    assert "separate" not in said
    assert "Wilson" not in said
    assert "balanced:" not in said
    assert "1-SE rule" not in said
    assert "There is no such curve. No error estimate" in said
    assert all(note in said for note in lonely.notes)
    assert "Cross-validation none" in said
    bare = dataclasses.replace(lonely, notes=[])
    assert "No error estimate was made." in text_of(render_report(bare))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bound": np.inf}, "No bound on the optimum was computed for this set."),
        ({"bound": 1.25, "objective": 1.0}, "can score more than 25 % above this one"),
        ({"bound": 1.2541, "objective": 1.0}, "can score more than 26 % above this one"),
        ({"bound": 0.5, "objective": 0.0}, "score more than 0.500 on the selection criterion"),
        ({"bound": 1.0, "objective": 1.0, "status": Status.OPTIMAL}, "Proved optimal: no set of"),
        ({"status": Status.TIME_LIMIT}, "The search stopped before its end (time limit)."),
    ],
)
def test_optimality_in_words(two: FitResult, changes: dict[str, Any], expected: str) -> None:
    assert expected in text_of(render_report(with_solution(two, **changes)))


def test_a_fit_reports_its_own_gap(two: FitResult) -> None:
    solution = two.estimator.solution_
    assert solution.objective <= solution.bound < np.inf
    said = text_of(render_report(two))
    assert "Proved" in said
    assert "No bound on the optimum" not in said


def test_bound_under_constraints_speaks_of_allowed_sets(two: FitResult) -> None:
    changed = with_solution(two, bound=1.25, objective=1.0)
    changed.estimator.exclude = (0,)
    assert "no allowed set of" in words.optimality(changed)[0]


def test_another_rule_for_k_is_shown_as_it_is(two: FitResult) -> None:
    said = text_of(render_report(dataclasses.replace(two, k_rule="smallest error")))
    assert f"k = {two.k}: smallest error." in said


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.000"),
        (-1.5, "\u22121.500"),
        (1e-9, "1.0e\u221209"),
        (9999.0, "9999.000"),
        (-1e5, "\u22121.0e+05"),
        (2.5e8, "2.5e+08"),
        (0.0012, "0.001"),
    ],
)
def test_numbers(value: float, shown: str) -> None:
    assert words.number(value) == shown


# -- how it is made ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two", "three", "hostile", "crowd", "lonely"])
def test_same_result_same_bytes_and_nothing_active(
    name: str, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue(name)
    html = render_report(result)
    assert html == render_report(result)
    assert "<script" not in html.lower()
    # the namespace of SVG is a name: nothing is fetched from it
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert "default-src 'none'" in html
    assert 'lang="en"' in html


def test_settings_of_the_user_do_not_change_the_page(two: FitResult) -> None:
    html = render_report(two)
    settings = {"savefig.bbox": "tight", "font.size": 20, "svg.fonttype": "path", "axes.grid": True}
    with matplotlib.rc_context(settings):
        assert render_report(two) == html


@pytest.mark.parametrize("name", ["two", "three", "hostile", "crowd", "lonely"])
def test_figures_are_well_formed_and_their_ids_are_their_own(
    name: str, request: pytest.FixtureRequest
) -> None:
    figures = SVG.findall(render_report(request.getfixturevalue(name)))
    assert len(figures) == (2 if name == "lonely" else 3)
    ids: list[str] = []
    for source in figures:
        root = ElementTree.fromstring(source)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == root[0].text
        own = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', source)
        assert set(used) <= set(own)
        ids += own
    assert len(ids) == len(set(ids))


def test_hostile_names_are_text(hostile: FitResult) -> None:
    html = render_report(hostile, title=SCRIPT, command=SCRIPT)
    assert "<script" not in html
    assert "<img" not in html
    for name in HOSTILE[:-3]:
        assert str(escape(name)).replace("&quot;", "&#34;") in html
    assert "bad���name" in html
    html.encode("utf-8")


def test_hostile_names_in_a_figure_are_text() -> None:
    display = LoadingsDisplay(HOSTILE, np.ones(len(HOSTILE))).plot()
    figure = inline_svg(display.figure_, "bars", SCRIPT)
    shown = {e.text for e in ElementTree.fromstring(figure).iter() if e.tag.endswith("}text")}
    assert {shorten(name) for name in HOSTILE} <= shown  # "#24292f" is a name here, no colour
    assert "<script" not in figure
    assert "<img" not in figure


def test_colours_follow_the_page(two: FitResult) -> None:
    figures = "".join(SVG.findall(render_report(two)))
    assert "currentColor" in figures
    assert "var(--axis)" in figures
    assert "#24292f" not in figures


def test_many_samples_become_a_small_picture() -> None:
    scores = np.random.default_rng(0).normal(size=(5000, 2))
    display = ProjectionDisplay(scores, np.arange(5000) % 3).plot()
    first = inline_svg(display.figure_, "s", "scores")
    assert "data:image/png;base64," in first
    assert len(first) < 500_000
    assert first == inline_svg(display.figure_, "s", "scores")


def test_writing_replaces_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report("old", path)
    write_report("größer\n", path)
    assert path.read_bytes() == "größer\n".encode()
    with pytest.raises(UnicodeEncodeError):
        write_report("\ud800", path)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.read_bytes() == "größer\n".encode()


# -- in a browser --------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 380, 320])
@pytest.mark.parametrize("name", ["two", "three", "hostile", "crowd", "lonely"])
def test_page_opens_offline_and_fits(
    name: str, width: int, browser: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "report.html"
    write_report(render_report(request.getfixturevalue(name)), path)
    assert_opens_offline_and_fits(browser, path, width)


@pytest.mark.browser
def test_dark_and_light_are_both_readable(browser: Any, tmp_path: Path, two: FitResult) -> None:
    path = tmp_path / "report.html"
    write_report(render_report(two), path)
    papers = {}
    for scheme in ("light", "dark"):
        page = browser.new_context(offline=True, color_scheme=scheme).new_page()
        page.goto(path.as_uri())
        paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        ink = luminance(page.evaluate("getComputedStyle(document.body).color"))
        label = page.locator("figure svg text").first
        drawn = luminance(label.evaluate("text => getComputedStyle(text).fill"))
        for colour in (ink, drawn):
            assert (max(paper, colour) + 0.05) / (min(paper, colour) + 0.05) > 7  # WCAG, AAA
        papers[scheme] = paper
        page.context.close()
    assert papers["light"] > 0.8
    assert papers["dark"] < 0.1


def luminance(colour: str) -> float:
    """Relative luminance (WCAG) of a colour as browsers write it, ``rgb(1, 2, 3)``."""
    channels = np.array([int(c) for c in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
