"""What the report says of the selected set: optimality, prices, stability, chance, mistakes."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

from eigensieve.pencil.solution import Status
from eigensieve.report.page import list_mistakes, render_study
from eigensieve.report.words import tally
from eigensieve.studies.copies.features import FeatureCopy, describe_copies
from eigensieve.studies.null import PermutationNull
from eigensieve.studies.result import Study
from eigensieve.studies.stability import StabilityIndex
from tests.report.pages import text_of
from tests.report.stand_ins import make_selector
from tests.report.test_study_words import said_of, with_solution

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bound": np.inf}, "No bound on the optimum was computed for this set."),
        ({"bound": 1.25, "objective": 1.0}, "separates the classes more than 25 % better: proved."),
        ({"bound": 1.2541, "objective": 1.0}, "the classes more than 26 % better: proved."),
        ({"bound": 0.5, "objective": 0.0}, "can have a class separation above 0.500; this one has"),
        ({"bound": 1.0, "objective": 1.0, "status": Status.OPTIMAL}, "the classes better: proved."),
        ({"status": Status.TIME_LIMIT}, "The search stopped before its end (time limit)."),
    ],
)
def test_optimality_in_words(two: Study, changes: dict[str, Any], expected: str) -> None:
    assert expected in said_of(with_solution(two, **changes))


def test_a_study_reports_its_own_gap(two: Study) -> None:
    assert two.solution.objective <= two.solution.bound < np.inf
    said = said_of(two)
    assert "Proved" in said
    assert "No bound on the optimum" not in said
    for k, solution in zip(two.path, two.optimality):
        mark = " (chosen)" if k == two.best_k else ""
        assert f"{k}{mark} {solution.objective:.3f} {solution.bound:.3f}" in said


def test_dear_and_cheap_features_are_named(two: Study) -> None:
    said = said_of(two)
    losses = {one.name: one.loss for one in two.prices}
    dear, cheap = (f(losses, key=losses.__getitem__) for f in (max, min))
    assert f"Hardest to do without: {dear}. The best set found without it has" in said
    assert f"{100 * losses[dear]:.1f} % less class separation" in said
    assert f"Easiest to replace: {cheap}, without which" in said


def test_copies_are_named_beside_the_features_and_only_there(two: Study) -> None:
    first, second = (feature.name for feature in two.selected[:2])
    copies = [FeatureCopy(second, 1, first, 0, -1)]
    notes = (*describe_copies(copies), "Another note.")
    said = said_of(dataclasses.replace(two, copies=copies, notes=notes))
    told = f"'{second}' is a copy of '{first}' (correlation -1): a copy tells nothing new"
    assert said.count(told) == 1
    features = said.index("Loadings are those of standardised columns")
    assert features < said.index(told) < said.index("Rank Feature")
    assert "Notes Another note." in said
    assert "is a copy of" not in said_of(two)


def test_a_set_that_was_chosen_otherwise_may_lose_nothing(two: Study) -> None:
    prices = [dataclasses.replace(one, loss=-0.1) for one in two.prices]
    said = said_of(dataclasses.replace(two, prices=prices))
    assert "Each selected feature can be left out without loss" in said
    assert "Hardest to do without" not in said
    prices[0] = dataclasses.replace(prices[0], loss=0.2)
    said = said_of(dataclasses.replace(two, prices=prices))
    assert f"Hardest to do without: {prices[0].name}." in said
    assert "without which a set with no less class separation was found" in said
    assert "A negative price" in said


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0.75, "Mostly the same features"),
        (0.74, "change in part"),
        (0.39, "little more in common than chance"),
    ],
)
def test_stability_in_words(two: Study, index: float, expected: str) -> None:
    indices = [StabilityIndex(k, index, index - 0.1, index + 0.1) for k in two.ks]
    said = said_of(dataclasses.replace(two, indices=indices))
    assert expected in said
    interval = f"95 % interval {index - 0.1:.2f} to {index + 0.1:.2f}"
    assert f"(stability index {index:.2f}, {interval};" in said
    assert "New samples may change more." in said


def test_often_selected_features_are_counted(two: Study) -> None:
    shares = two.stability[two.best_k]
    n = sum(shares[feature.name] >= 0.8 for feature in two.selected)
    expected = f"{n} of the {len(two.selected)} selected features were also selected in at least"
    assert expected in said_of(two)
    top = shares.idxmax()
    assert f"{top} {100 * shares[top]:.0f} % yes" in said_of(two)


@pytest.mark.parametrize(
    ("n", "better", "expected"),
    [
        (
            99,
            0,
            "More than chance (p = 0.01, the smallest that 99 permutations can give): ",
        ),
        (9, 0, "9 permutations are too few to be sure (p = 0.1, the smallest that 9 permutations"),
        (1, 0, "but 1 permutation is too few to be sure (p = 0.5, the smallest that 1 permutation"),
        (99, 1, "More than chance (p = 0.02): permuted labels were predicted as well in 1 of 99"),
        (19, 4, "Not surely more than chance (p = 0.25)"),
    ],
)
def test_chance_in_words(two: Study, n: int, better: int, expected: str) -> None:
    errors = np.full(n, 0.4)
    errors[:better] = 0.1
    said = said_of(dataclasses.replace(two, null=PermutationNull(0.2, errors)))
    assert expected in said
    assert "True labels 20.0 %" in said
    assert f"Permuted labels, largest {'40.0 %'}" in said
    assert "Could it be chance?" not in said_of(dataclasses.replace(two, null=None))


def test_confusion_matrix_has_true_classes_in_rows(two: Study) -> None:
    assert two.honest_error is not None
    confusion = np.array([[300.0, 57.0], [0.0, 212.0]])
    honest = dataclasses.replace(two.honest_error, confusion=confusion)
    said = said_of(dataclasses.replace(two, honest_error=honest))
    assert "True class benign malignant Samples Recall" in said
    assert "benign 300 57 357 84.0 % malignant · 212 212 100.0 %" in said
    assert "means over repeats" not in said


def test_many_classes_have_a_list_instead_of_a_matrix(crowd: Study) -> None:
    assert crowd.honest_error is not None
    confusion = np.eye(50) * 2
    confusion[0, 7] = 1.5
    honest = dataclasses.replace(crowd.honest_error, confusion=confusion)
    changed = dataclasses.replace(crowd, honest_error=honest)
    found = list_mistakes(changed)
    assert found is not None
    assert not found["is_matrix"]
    taken_for = str(honest.classes[7])
    assert f"{honest.classes[0]} 3.5 57.1 % {taken_for} (1.5)" in said_of(changed)
    assert "where a sample was predicted several times, its mean is counted" in said_of(changed)


@pytest.mark.parametrize(
    ("n", "shown"),
    [
        (0.0, "·"),
        (3.0, "3"),
        (2.4, "2.4"),
        (1234.0, "1,234"),
        (22 - 4e-15, "22"),
        (0.1 * 3 + 0.7, "1"),
    ],
)
def test_tally(n: float, shown: str) -> None:
    assert tally(n) == shown


def test_what_the_outer_parts_chose(two: Study) -> None:
    assert two.honest_error is not None
    honest = dataclasses.replace(two.honest_error, chosen=[(0, 1), (0, 2), (0, 1)])
    said = said_of(dataclasses.replace(two, honest_error=honest))
    assert "The 3 outer parts of the nested check chose k = 3 (2 times) and k = 10 (once);" in said
    assert "how much the choice depends on the samples" in said
    honest = dataclasses.replace(two.honest_error, chosen=[(0, 0)] * 4)
    said = said_of(dataclasses.replace(two, honest_error=honest, best_k=1))
    expected = "k = 1 (4 times); the final model has k = 1. They agree: the choice does not hinge"
    assert expected in said


def test_annotations_stand_beside_the_features(two: Study) -> None:
    first = two.selected[0].name
    source = dataclasses.replace(
        two.source,
        annotation_columns=("gene", "chromosome"),
        annotations={first: ("TP53", "17")},
    )
    said = said_of(dataclasses.replace(two, source=source))
    assert "Rank Feature gene chromosome Loading" in said
    assert f"1 {first} TP53 17 " in said


def test_a_method_that_chooses_the_number_itself(own: Study) -> None:
    said = said_of(own)
    assert f"{len(own.selected)} features: the method's own number of features." in said
    assert "penalized linear discriminant analysis (PenalizedLDA)" in said
    assert "by which the sets of all methods are judged; not the method\u2019s own" in said
    assert "Features used" in said or own.rows[0]["n_features"] == own.best_k
    assert "Every k" not in said
    assert "Shrinkage" not in said


def test_a_ranking_is_judged_like_other_sets(ranked: Study) -> None:
    said = said_of(ranked)
    assert "then linear discriminant analysis on the first k (RankedLDA)" in said
    assert "ranker='anova'" in said
    assert "Status: feasible" in said


def test_a_ranking_by_alpha_shows_its_profile(ranked: Study) -> None:
    assert "Alpha by rank" not in said_of(ranked)
    model = copy.copy(ranked.final_estimator)
    model.estimator_ = copy.copy(model.estimator_)
    model.estimator_.ranker_ = make_selector(p=30)
    changed = dataclasses.replace(ranked, path={**ranked.path, ranked.best_k: model})
    assert "Alpha by rank" in said_of(changed)


def test_what_ctrl_c_left_undone_comes_first(two: Study) -> None:
    left = {two.best_k: two.final_estimator}
    cut = dataclasses.replace(
        two, path=left, optimality=(), prices=(), honest_error=None, null=None, indices=(),
        calibration=None,
        unfinished=("bounds and prices of the features were not computed",),
    )  # fmt: skip
    said = said_of(cut)
    notice = said.index("Bounds and prices of the features were not computed")
    assert notice < said.index("features were selected to tell 2 classes apart")
    assert "How close the set is to the best one was not computed." in said
    assert "The features of this k were not computed." in said
    assert "interrupted" not in said_of(two)


def test_features_beyond_the_table_are_counted(two: Study) -> None:

    many = [two.selected[0]] * (200 + 1300)
    correlations = np.repeat(two.correlations[:1], len(many), axis=0)
    html = render_study(dataclasses.replace(two, selected=many, correlations=correlations))
    assert "1,300 more selected features have a smaller weight" in text_of(html)
