"""The report of a study says what the study holds."""

from __future__ import annotations

import copy
import dataclasses
import re
from html import unescape
from typing import Any

import numpy as np
import pytest

from eigensieve.pencil.solution import Status
from eigensieve.report import words
from eigensieve.report.facts import CRITERION_NAMES
from eigensieve.report.page import render_study
from eigensieve.studies.estimates import ErrorEstimate
from eigensieve.studies.result import Study
from tests.report.pages import text_of

pytestmark = pytest.mark.usefixtures("no_figures")


def said_of(study: Study, **options: Any) -> str:
    return text_of(render_study(study, **options))


def with_solution(study: Study, **changes: Any) -> Study:
    """The same study with another solution for the chosen k, which is not proved the best."""
    place = list(study.path).index(study.best_k)
    found = list(study.optimality)
    found[place] = dataclasses.replace(found[place], **{"status": Status.CONVERGED} | changes)
    return dataclasses.replace(study, optimality=found)


def with_model(study: Study, **changes: Any) -> Study:
    """The same study whose final classifier has other parameters."""
    model = copy.copy(study.final_estimator)
    model.estimator_ = copy.copy(model.estimator_)
    for name, value in changes.items():
        setattr(model.estimator_, name, value)
    return dataclasses.replace(study, path={**study.path, study.best_k: model})


def with_error(study: Study, error: float, low: float, high: float, **changes: Any) -> Study:
    assert study.honest_error is not None
    estimate = ErrorEstimate(error, low, high, study.n_samples, "test")
    honest = dataclasses.replace(study.honest_error, estimate=estimate, **changes)
    return dataclasses.replace(study, honest_error=honest)


def without_error(study: Study) -> Study:
    """As after Ctrl-C in the nested check: then there is no temperature either."""
    return dataclasses.replace(study, honest_error=None, calibration=None)


def test_summary_comes_in_words_and_with_the_numbers_of_the_study(two: Study) -> None:
    said, error = said_of(two), two.honest_error
    assert error is not None
    assert f"{two.best_k} of 30 features separate 2 classes in 569 samples." in said
    assert (
        f"Error on new samples: {100 * error.error:.1f} % (95 % interval {100 * error.low:.1f} % "
        f"to {100 * error.high:.1f} %), by nested 5-fold cross-validation with k chosen inside."
    ) in said
    assert "Always guessing the largest class would be wrong for 37.3 %" in said
    assert f"k = {two.best_k} is the {two.k_rule}." in said
    title = f"“diagnosis”: {two.best_k} features that tell benign from malignant "
    assert said.startswith(title)


def test_tables_hold_the_path_and_the_features(two: Study) -> None:
    said = said_of(two)
    for row in two.rows:
        numbers = [f"{100 * row[c]:.1f} %" for c in ("error", "se", "balanced_error")]
        mark = " (chosen)" if row["k"] == two.best_k else ""
        assert " ".join([f"{row['k']}{mark}", *numbers, f"{row['auc']:.3f}"]) in said
    shares = two.stability[two.best_k]
    for feature in two.selected:
        values = [words.number(v) for v in feature.loadings]  # of one direction: no weight
        (price,) = [one for one in two.prices if one.name == feature.name]
        stand_in = price.stand_ins[0]
        row = [str(feature.rank), feature.name, *values, f"{100 * shares[feature.name]:.0f} %"]
        row += [f"{100 * price.loss:.1f} %", stand_in.name, f"({100 * stand_in.loss:.1f} %)"]
        assert " ".join(row) in said


def test_methods_are_complete(two: Study) -> None:
    said = said_of(two, command="eigensieve fit 'a b.csv'")
    shrinkage = f"{two.final_estimator.estimator_.shrinkage_:.4f} (chosen from the data)"
    for fact in (
        "(SparseLDA)", "logdet", shrinkage, "leaps; status: optimal", "centred and scaled",
        "5-fold, repeated 2 times", "Seed 0", two.source.fingerprint, "scikit-learn",
        "Command eigensieve fit 'a b.csv'", "Target diagnosis", "tried: 1, 3, 10; score: error",
        "Permutations 6;", "Missing values none",
        "Interval Wilson, 95 %, with the variance of the training sets (Nadeau and Bengio);",
        "; wider on the side of the cross-validated error of the final choice of k Probabilities",
    ):  # fmt: skip
        assert fact in said
    assert "anew in every training part, there by greedy search alone, without the proof Er" in said
    assert "greedy search alone" not in said_of(with_model(two, effort=0))
    assert "Command" not in said_of(two)
    for absent in ("Groups", "Class weights", "Settings tried", "Kept in", "Transformation"):
        assert f"{absent} " not in said[said.index("Methods and parameters") :]


def test_a_given_k_with_settings_groups_and_gaps(three: Study) -> None:
    said = said_of(three)
    assert "3 of 4 features separate 3 classes in 150 samples." in said
    assert "k = 3 was given by the user." in said
    assert "Loading 1 Loading 2 Weight" in said
    assert "cross-validation with setting chosen inside." in said
    assert "Settings tried weak; strong. Taken: weak" in said
    assert "Groups 75 groups; samples of one group are never on both sides" in said
    assert "Missing values 1, filled with the median" in said
    assert "; widened where samples of a group are right or wrong together; wider on" in said
    assert "error of the final choice of the setting Probabilities" in said
    assert "Balanced error, in which every class counts alike:" in said
    assert "(guessing: 66.7 %)" in said
    assert "score: balanced error" in said


def test_class_weights_and_wishes_are_told(two: Study) -> None:
    model = copy.copy(two.final_estimator)
    model.estimator_ = copy.copy(model.estimator_)
    model.estimator_.class_weight = {"benign": 1.0, "malignant": 2.5}
    model.estimator_.include, model.estimator_.exclude = [0], list(range(5, 25))
    said = said_of(dataclasses.replace(two, path={**two.path, two.best_k: model}))
    assert "Class weights benign: 1, malignant: 2.5" in said
    assert "Kept in mean radius" in said
    assert "Left out mean compactness, " in said
    assert "and 8 more" in said
    assert "no allowed set of" in said


def test_held_out_error_and_title(two: Study) -> None:
    held_out = ErrorEstimate(0.051, 0.02, 0.11, 100, "table new.csv")
    html = render_study(two, title="Trial 7 & 8", held_out=held_out)
    assert "<h1>Trial 7 &amp; 8</h1>" in html
    expected = (
        "Error on 100 held-out samples: 5.1 % (95 % interval 2.0 % to 11.0 %); table new.csv."
    )
    assert expected in text_of(html)


def test_held_out_samples_are_called_so_once(two: Study, lonely: Study) -> None:
    held_out = ErrorEstimate(0.051, 0.02, 0.11, 190, "held-out samples")
    expected = "Error on 190 held-out samples: 5.1 % (95 % interval 2.0 % to 11.0 %). "
    assert expected in said_of(two, held_out=held_out)
    for study, own in ((two, 1), (lonely, 0)):  # new samples: nothing but their number counts
        said = said_of(study, held_out=held_out)
        assert "Interval, held out Wilson, 95 %; it counts the samples as independent" in said
        assert said.count("Interval Wilson, 95 %, with the variance of the training") == own


def test_transformation_is_a_part_of_the_methods(two: Study) -> None:
    changed = dataclasses.replace(two, source=dataclasses.replace(two.source, log2_floor=0.5))
    assert "Transformation log2, values below 0.5 raised to it" in said_of(changed)


def test_the_curve_is_told_from_the_error_only_where_k_was_chosen(two: Study, three: Study) -> None:
    expected = (
        "The curve helped to choose k, so its value at the chosen k is a little kind; "
        "the error at the top is that of choices made without the samples that were predicted."
    )
    assert expected in said_of(two)
    assert "is a little kind." in said_of(without_error(two))
    assert "a little kind" not in said_of(three)


@pytest.mark.parametrize(
    ("error", "balanced", "worse"),
    [(0.35, 0.61, True), (0.10, 0.12, False), (0.01, 0.035, False), (0.5, 0.6, False)],
)
def test_balanced_error_is_shown_and_said(
    two: Study, error: float, balanced: float, worse: bool
) -> None:
    said = said_of(with_error(two, error, error / 2, 1.5 * error, balanced_error=balanced))
    assert f"balanced: {100 * balanced:.1f} %" in said
    sentence = (
        "Small classes fare worse: the balanced error, in which every class counts alike, is "
        f"{100 * balanced:.1f} %."
    )
    assert (sentence in said) == worse


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.10, 0.18, "{} of 30 features separate 2 classes in 569 samples."),
        (0.10, 0.19, "{} of 30 features predict the 2 classes better than guessing, in 569"),
        (0.30, 0.37, "{} of 30 features predict the 2 classes better than guessing, in 569"),
        (0.30, 0.38, "were selected to tell 2 classes apart; the error cannot be told from"),
        (0.40, 0.48, "selected to tell 2 classes apart; the error is larger than that of guessing"),
    ],
)
def test_classes_are_separated_only_if_the_error_beats_a_guess(
    two: Study, low: float, high: float, expected: str
) -> None:
    said = said_of(with_error(two, (low + high) / 2, low, high))
    assert expected.format(two.best_k) in said
    assert ("features that tell benign from malignant" in said) == (high < 0.373 / 2)
    assert ("features that help to tell benign" in said) == (0.373 / 2 < high < 0.373)
    assert ("features selected to tell benign from" in said) == (high > 0.373)
    assert ("separate 2 classes" in said) == (high < 0.373 / 2)


def explained(study: Study) -> list[str]:
    """The words that the glossary of a page explains."""
    page = render_study(study)
    return [
        unescape(word) for word in re.findall("<dt>(.*?)</dt>", page[page.index('h-words">') :])
    ]


def test_words_are_explained(two: Study, three: Study) -> None:
    said = said_of(two)
    glossary = said[said.index("How to read this") :]
    for word in (
        "Cross-validation", "Nested:", "1-SE rule", "Loading", "Shrinkage", "Price",
        "Stand-in", "Stability index", "AUC", "Recall", "p-value", "Selected again",
        "logdet (Wilks)", "Temperature", "Log-loss", "Brier score",
    ):  # fmt: skip
        assert word in glossary
    for status, meaning in (
        (Status.CONVERGED, "The search came to its end. That is no proof that it found the best"),
        (Status.GAP_LIMIT, "The search ended when it had done as much work as it was given."),
    ):
        assert f"Status: {status} {meaning}" in said_of(with_solution(two, status=status))
    assert "p-value" not in explained(three)
    assert "Loading and weight" in explained(three)
    assert "Loading and weight" not in glossary
    for criterion in CRITERION_NAMES:
        explained_words = explained(with_solution(two, criterion=criterion))
        assert explained_words[-3].startswith(criterion)
        assert explained_words[-2:] == ["Proved", "Status: converged"]
    assert "Proved" not in explained(with_solution(two, bound=np.inf))
    assert explained(with_solution(two, status=Status.OPTIMAL))[-1] == "logdet (Wilks)"


def test_without_an_error_it_says_why(lonely: Study) -> None:
    said = said_of(lonely)
    selected = "1 of 5 features was selected to tell 3 classes apart in 21 samples."
    assert f"{selected} No error estimate: class" in said
    for absent in ("separate ", "Wilson", "balanced:", "1-SE rule", "Recall", "Stability index"):
        assert absent not in said
    assert "Error in cross-validation No error estimate" in said
    assert "a 10 47.6 %" in said  # no mistakes are counted: the sizes have a table of their own
    assert all(note in said for note in lonely.notes)
    assert "Cross-validation none" in said
    bare = dataclasses.replace(lonely, notes=())
    assert "No error estimate was made." in said_of(bare)


def test_the_largest_k_that_was_tried_is_told(two: Study) -> None:
    told = "It is the largest that was tried: more features might do better."
    assert told not in said_of(two)
    assert told in said_of(dataclasses.replace(two, best_k=two.ks[-1]))


def test_another_rule_for_k_is_shown_as_it_is(two: Study) -> None:
    said = said_of(dataclasses.replace(two, k_rule="smallest error"))
    assert f"k = {two.best_k}: smallest error." in said


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
