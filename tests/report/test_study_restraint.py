"""The page of a study claims no more than the study shows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from eigensieve.report.page import render_study
from eigensieve.report.sections import circle
from eigensieve.studies.cv_path import GIVEN, ONE_SE_BALANCED, ONLY
from eigensieve.studies.null import PermutationNull
from eigensieve.studies.result import Study
from tests.report.pages import text_of
from tests.report.test_study_words import said_of, with_model, with_solution, without_error

pytestmark = pytest.mark.usefixtures("no_figures")


def with_choices(study: Study, chosen: list[tuple[int, int]], **changes: Any) -> Study:
    assert study.honest_error is not None
    honest = dataclasses.replace(study.honest_error, chosen=chosen)
    return dataclasses.replace(study, honest_error=honest, **changes)


def summary_of(said: str) -> str:
    """What comes before the cards."""
    return said[: said.index("Features selected ")]


def section_of(said: str, start: str, end: str) -> str:
    """The text between two headings; the glossary and the contents come after, or before."""
    first = said.rindex(start)
    return said[first : said.index(end, first)]


# -- how k came about ----------------------------------------------------------------


def test_a_given_k_is_not_called_chosen(two: Study) -> None:
    given = dataclasses.replace(two, k_rule=GIVEN)
    said = said_of(given)
    assert f"k = {two.best_k} (given)" in said
    assert f"k = {two.best_k} was given by the user." in said
    for absent in (
        "(chosen)",
        "helped to choose",
        "1-SE",
        "with the choice of k in it",
        "features, k and",
    ):
        assert absent not in said
    assert f"given: {two.best_k}." in " ".join(labels_of(given))
    assert f"chosen: {two.best_k}." in " ".join(labels_of(two))


def labels_of(study: Study) -> list[str]:
    """What is said of the figures to those who do not see them."""
    from eigensieve.report import sections

    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "drawn", lambda _, __, label: said.append(label))
        sections.curve(study)
    return said


def test_the_only_k_has_a_table_and_no_curve(two: Study, own: Study) -> None:
    assert two.cv is not None
    cells = {
        name: getattr(two.cv, name)[:, :, :1]
        for name in ("fold_errors", "fold_balanced_errors", "fold_aucs", "fold_sizes")
    }
    cv = dataclasses.replace(two.cv, ks=two.ks[:1], **cells)
    one = dataclasses.replace(
        two, cv=cv, ks=two.ks[:1], best_k=two.ks[0], k_rule=ONLY, frequency=two.frequency[:1],
        indices=two.indices[:1], selected=two.features_at(two.ks[0]), prices=(),
        correlations=two.correlations[:1], path={1: two.path[1]}, optimality=two.optimality[:1],
    )  # fmt: skip
    said = said_of(one)
    assert "k = 1: the only k that was tried." in said
    for each in (said, said_of(own)):
        assert "Error in cross-validation" in each
        for absent in ("Error against", "(chosen)", "helped to choose", "for every k", "1-SE"):
            assert absent not in each


def test_the_balanced_rule_is_told_as_it_is(two: Study) -> None:
    said = said_of(dataclasses.replace(two, k_rule=ONE_SE_BALANCED, score="balanced_error"))
    rule = "smallest k whose cross-validated balanced error is within one standard error of"
    assert f"k = {two.best_k} is the {rule} the smallest." in said
    assert "Choice of k 1-SE rule by the balanced error: fewest" in said
    assert f"k = {two.best_k} (chosen)" in said
    assert "The curve helped to choose k" in said
    assert "Labels Cross-validated balanced error" in said


@pytest.mark.parametrize(
    ("size", "n_ks", "expected"),
    [
        (0, 3, "They agree: the choice does not hinge on the samples of a single part."),
        (2, 3, "They agree on the largest k that was tried, so more features might do better."),
        (0, 2, "They agree, but there was little to choose from."),
    ],
)
def test_agreement_is_read_with_care(two: Study, size: int, n_ks: int, expected: str) -> None:
    from eigensieve.report.page import outer_choices

    k = two.ks[size]
    study = with_choices(two, [(0, size)] * 5, ks=two.ks[:n_ks], best_k=k)
    said = outer_choices(study).replace("\u00a0", " ")
    assert said.endswith(f"chose k = {k} (5 times); the final model has k = {k}. {expected}")


def test_agreement_is_with_the_final_choice_too(two: Study) -> None:
    from eigensieve.report.page import outer_choices

    study = with_choices(two, [(0, 2)] * 5, best_k=two.ks[0])
    assert outer_choices(study).replace("\u00a0", " ") == (
        "The 5 outer parts of the nested check chose k = 10 (5 times); the final model has k = 1. "
        "They agree, but differ from the final choice, which saw all samples: the error is that of "
        "the procedure, not of models like the final one."
    )
    loose = with_choices(two, [(0, 2), (0, 1)], best_k=two.ks[0])
    assert outer_choices(loose).endswith(
        "That they differ, and that none made the final choice, shows how much the choice "
        "depends on the samples."
    )
    one = with_choices(two, [(0, 0)], best_k=two.ks[0])
    assert outer_choices(one).replace("\u00a0", " ") == (
        "The outer part of the nested check chose k = 1 (once); the final model has k = 1. It "
        "agrees with the final choice."
    )


def test_outer_parts_of_a_given_k_chose_a_setting_only(three: Study) -> None:
    said = said_of(with_choices(three, [(0, 1), (0, 1), (1, 1)]))
    expected = "nested check chose weak (2 times) and strong (once); the final model has weak."
    assert expected in said


# -- errors --------------------------------------------------------------------------


def test_error_of_the_true_labels_is_told_from_the_error_above(two: Study, own: Study) -> None:
    said = said_of(two)
    assert (
        "Here the true labels, too, have the error of one plain cross-validation with the choice "
        "of k in it, not nested: it need not be the error on new samples at the top."
    ) in said
    null = PermutationNull(0.2, np.full(9, 0.4))
    assert "of one plain cross-validation: it" in said_of(dataclasses.replace(own, null=null))
    assert "at the top" not in said_of(without_error(two))


def test_titles_of_many_classes(crowd: Study, lonely: Study) -> None:
    assert said_of(crowd).startswith("“target”: 8 features that tell 50 classes apart ")
    assert said_of(lonely).startswith("“target”: 1 feature selected to tell 3 classes apart ")


def test_class_sizes_stand_in_one_table(two: Study) -> None:
    assert "62.7 %" not in section_of(said_of(two), "The samples on the sel", "Stability of the")
    bare = said_of(dataclasses.replace(two, honest_error=None, calibration=None))
    assert "benign 357 62.7 %" in bare


# -- the set -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ranked", "This set may be far from the best class separation possible (the method does"),
        ("two", "How close this set is to the best class separation possible is open: the proved"),
    ],
)
def test_an_absurd_room_is_put_in_words(
    name: str, expected: str, request: pytest.FixtureRequest
) -> None:
    study = with_solution(request.getfixturevalue(name), objective=0.1, bound=3.8)
    said = said_of(study)
    assert expected in summary_of(said)
    assert "roved." not in summary_of(said)
    assert "Room for a better set unknown the proved bound lies far above" in said
    section = section_of(said, "Could another set be better?", "Methods and parameters")
    assert "can have a class separation more than 3700 % above" in section
    near = with_solution(study, objective=1.0, bound=1.99)
    assert "the classes more than 99 % better: proved." in summary_of(said_of(near))


def test_a_set_kept_in_as_a_whole_proves_nothing(two: Study) -> None:
    columns = [feature.index for feature in two.selected]
    said = said_of(with_model(two, include=columns))
    told = "Every selected feature was kept in by the user: that the same ones are always selected"
    assert told in summary_of(said)
    for absent in ("Proved", "Mostly the same features", "change in part"):
        assert absent not in summary_of(said)
    assert "Room for a better set none all kept in by the user" in said
    assert told not in said_of(with_model(two, include=columns[:-1]))


def test_sections_do_not_repeat_the_summary(two: Study) -> None:
    said = said_of(two)
    for begin in ("Mostly the same features", "change in part", "Proved: no set", "More than ch"):
        assert said.count(begin) <= 1
    sentences = summary_of(said).split(". ")
    assert len(sentences) > 5
    rest = said[len(summary_of(said)) :]
    assert [one for one in sentences if len(one) > 40 and one in rest] == []


def test_signs_are_tied_to_a_class(two: Study, three: Study) -> None:
    means = {label: two.scores[two.labels == label].mean() for label in ("benign", "malignant")}
    high = max(means, key=means.__getitem__)
    low = min(means, key=means.__getitem__)
    assert f"Positive: towards {high}; negative: towards {low}." in said_of(two)
    turned = dataclasses.replace(two, scores=-two.scores)
    assert f"Positive: towards {low}; negative: towards {high}." in said_of(turned)
    assert "towards" not in said_of(three)
    assert "Loading Selected again" in said_of(two)


@pytest.mark.parametrize(("n", "shown"), [(2, False), (3, True)])
def test_correlations_with_one_score_need_three_features(two: Study, n: int, shown: bool) -> None:
    few = dataclasses.replace(two, selected=two.selected[:n], correlations=two.correlations[:n])
    assert len(few.selected) == n
    assert (circle(few) is not None) == shown
    assert ("Which features go together" in said_of(few)) == shown


@pytest.mark.parametrize(("n", "hint"), [(12, False), (13, True)])
def test_a_long_table_says_how_long_it_is(two: Study, n: int, hint: bool) -> None:
    many = [two.selected[0]] * n
    correlations = np.repeat(two.correlations[:1], n, axis=0)
    html = render_study(dataclasses.replace(two, selected=many, correlations=correlations))
    assert (f"{n} rows: scroll inside the table" in text_of(html)) == hint
