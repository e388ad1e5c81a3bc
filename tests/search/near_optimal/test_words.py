"""What a list says in sentences, case by case; and against every set of small tables."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.constraints import Constraints
from eigensieve.search.near_optimal import words
from tests.search.near_optimal.lists import make_list

ABC = ("abc", "abd", "ace")
CUT: dict[str, Any] = {"complete": False, "never": [7], "core": [0]}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (make_list("abc"), "No other panel of 3 features is within 1 % of the best: proved."),
        (
            make_list("abc", exclude=[7]),
            "No other allowed panel of 3 features is within 1 % of the best: proved.",
        ),
        (
            make_list("abc", constraints=Constraints()),
            "No other panel of 3 features is within 1 % of the best: proved.",
        ),
        (
            make_list("abc", constraints=Constraints(groups={"g": [0, 1]}, at_most=2)),
            "No other allowed panel of 3 features is within 1 % of the best: proved.",
        ),
        (
            make_list("a", within=0.0),
            "No other panel of 1 feature is as good as the best: proved.",
        ),
        (
            make_list(*ABC),
            "3 panels of 3 features are within 1 % of the best, the best included: proved.",
        ),
        (
            make_list(*ABC, losses=[0, 0, 0.001], within=0.0025),
            (
                "3 panels of 3 features are within 0.25 % of the best, the best included: proved. "
                "The first 2 are equally good."
            ),
        ),
        (
            make_list(*ABC, losses=[0, 0, 0], within=0.0),
            "3 panels of 3 features are equally good, and none is better: proved.",
        ),
        (
            make_list(*ABC, losses=[0, 0, 0], bound=0.995, complete=False),
            (
                "At least 3 panels of 3 features are within 1 % of the best, the best included; "
                "none that loses less than 0.5 % is missing. All are equally good."
            ),
        ),
        (
            make_list(*ABC, **CUT),
            (
                "At least 3 panels of 3 features are within 1 % of the best, the best included; "
                "none is better than the first."
            ),
        ),
        (
            make_list(*ABC, bound=1.2, **CUT),
            (
                "At least 3 panels of 3 features are within 1 % of the best found, itself "
                "included; there may be more, and better ones."
            ),
        ),
        (
            make_list("abc", bound=1.2, **CUT),
            (
                "No other panel of 3 features is known to be within 1 % of the best found; there "
                "may be some, and better ones."
            ),
        ),
        (
            make_list(*ABC, bound=0.997, level=0.997, capped=True, **CUT),
            (
                "More than 3 panels of 3 features are within 1 % of the best, of which the best 3 "
                "found are listed; none that loses less than 0.3 % is missing."
            ),
        ),
        (
            make_list("abc", bound=0.997, **CUT),
            (
                "No other panel of 3 features is known to be within 1 % of the best; none that "
                "loses less than 0.3 % is missing."
            ),
        ),
        (
            make_list("abc", bound=0.997, capped=True, **CUT),
            (
                "More than 1 panel of 3 features is within 1 % of the best, of which the best one "
                "found is listed; none that loses less than 0.3 % is missing."
            ),
        ),
        (
            make_list("abc", bound=1.2, capped=True, **CUT),
            (
                "More than 1 panel of 3 features is within 1 % of the best found, itself "
                "included; there may be more, and better ones."
            ),
        ),
    ],
)
def test_how_many(found, expected) -> None:
    assert words.how_many(found) == expected
    assert words.describe(found)[0] == expected
    assert len(words.describe(found)) <= 5


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (make_list("abc"), ""),
        (make_list("abc", **CUT), "1 of the 8 features is in no panel within 1 % of the best: pr"),
        (make_list("abc", **CUT | {"never": []}), ""),
        (make_list(*ABC), "5 of the 8 features occur in them, the other 3 are in none: proved."),
        (make_list(*ABC, p=6), "5 of the 6 features occur in them, the other one is in none: "),
        (make_list(*ABC, p=5), "Every feature occurs in at least one of them."),
        (make_list(*ABC, p=5, **CUT | {"never": []}), "5 of the 5 features occur in those listed."),
        (
            make_list(*ABC, **CUT | {"never": []}),
            "5 of the 8 features occur in those listed; whether others could is not known.",
        ),
        (
            make_list(*ABC, **CUT),
            (
                "5 of the 8 features occur in those listed; 1 is in none within 1 % of the best: "
                "proved. Of the other 2 it is not known."
            ),
        ),
        (
            make_list(*ABC, **CUT | {"never": [5, 6, 7]}),
            (
                "5 of the 8 features occur in those listed; the other 3 are in none within 1 % of "
                "the best: proved."
            ),
        ),
    ],
)
def test_which_occur(found, expected) -> None:
    assert words.which_occur(found).startswith(expected)
    assert bool(words.which_occur(found)) == bool(expected)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (make_list("abc"), ""),
        (
            make_list("abc", **CUT),
            "1 feature is in every panel within 1 % of the best: a (proved).",
        ),
        (make_list("abc", **CUT | {"core": []}), ""),
        (make_list("ab", "cd"), "No feature is in all of them."),
        (make_list("ab", "cd", **CUT | {"core": []}), "No feature is in all of those listed."),
        (make_list(*ABC), "1 feature is in all of them: a."),
        (make_list(*ABC, include=[0]), "1 feature is in all of them (kept in by the user): a."),
        (
            make_list("abc", "abd", include=np.array([1])),
            "2 features are in all of them (1 of them kept in by the user): a, b.",
        ),
        (
            make_list("abc", "abd", **CUT),
            (
                "2 features are in all of those listed: a, b; proved for every panel within 1 % of "
                "the best: a."
            ),
        ),
        (
            make_list("abc", "abd", **CUT | {"core": [0, 1]}),
            (
                "2 features are in all of those listed: a, b; proved for every panel within 1 % of "
                "the best."
            ),
        ),
        (
            make_list("abc", "abd", **CUT | {"core": []}),
            "2 features are in all of those listed: a, b.",
        ),
    ],
)
def test_which_are_in_all(found, expected) -> None:
    assert words.which_in_all(found) == expected


def test_many_names_are_cut() -> None:
    found = make_list("abcdefghijklmno", "abcdefghijklmnp", p=26)
    assert words.which_in_all(found).endswith("j, k, l and 2 more.")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (make_list("abc"), ""),
        (make_list("ab", "cd"), ""),
        (make_list("abc", "abd"), "Features that take each other's place: c and d (1 pair of p"),
        (
            make_list("ab", "ac", "ad", "bc", names=None),
            "Features that take each other's place, for example: 0 and 1 (1 pair of panels); ",
        ),
    ],
)
def test_exchanges(found, expected) -> None:
    said = words.which_exchanged(found)
    assert said.startswith(expected)
    assert bool(said) == bool(expected)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (make_list("abc"), ""),
        (
            make_list("abc", "abd", "ade", losses=[0, 0.0012, 0.008]),
            (
                "2 features of the best panel can be replaced, one at a time, at a loss of 0.12 % "
                "to 0.80 %; the other one is in all panels."
            ),
        ),
        (
            make_list("abc", "abd", losses=[0, 0.0012], **CUT),
            (
                "1 feature of the best panel can be replaced at a loss of 0.12 %; the other 2 are "
                "in all panels listed."
            ),
        ),
        (
            make_list("ab", "cd", losses=[0, 0]),
            "2 features of the best panel can be replaced, one at a time, without loss.",
        ),
        (
            make_list("ab", "ac", "bd", losses=[0, 0, 0.00002]),
            (
                "2 features of the best panel can be replaced, one at a time, at a loss of 0 to "
                "0.002 %."
            ),
        ),
    ],
)
def test_what_can_be_spared(found, expected) -> None:
    assert words.what_is_spared(found) == expected


def test_without_a_feature() -> None:
    found = make_list("abc", "abd", "ade", losses=[0, 0.0012, 0.008])
    assert words.without(found, 0) == "No panel within 1 % of the best does without a: proved."
    assert words.without(found, 1) == (
        "1 of the 3 panels does without b; it is number 3 and loses 0.80 %."
    )
    assert words.without(found, 2) == (
        "2 of the 3 panels do without c; the best of them is number 2 and loses 0.12 %."
    )
    assert words.without(found, 4) == "2 of the 3 panels do without e, the best one among them."
    kept = make_list("abc", "abd", include=[0])
    assert words.without(kept, 0) == "a was kept in by the user."
    cut = make_list("abc", "abd", **CUT)
    assert words.without(cut, 0) == "No panel within 1 % of the best does without a: proved."
    assert words.without(cut, 1) == "None of the panels listed does without b."


def test_proofs_of_a_list_that_was_cut_reach_down_to_where_it_was_cut() -> None:
    """``never`` and ``core`` are about panels above the level, which is 0.4 % below the best."""
    options: dict[str, Any] = CUT | {"level": 0.996, "bound": 0.996, "losses": [0, 0.001, 0.004]}
    found = make_list(*ABC, **options)
    near = "that loses less than 0.4 %"
    assert f"1 is in none {near}: proved." in words.which_occur(found)
    assert words.which_in_all(found).endswith(f"a; proved for every panel {near}.")
    assert words.without(found, 0) == f"No panel {near} does without a: proved."
    level = make_list(*ABC, **options | {"level": 1.0, "bound": 1.0, "losses": [0, 0, 0]})
    said = " ".join(words.describe(level)[1:]) + words.without(level, 0)
    assert "proved" not in said


def test_place_of_a_set() -> None:
    found = make_list("abc", "abd")
    assert words.place_of(found, [3, 1, 0]) == 1
    assert words.place_of(found, [0, 1]) is None
    assert words.place_of(found, [0, 1, 5]) is None


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("within", [0.0, 0.02, 0.2])
def test_the_numbers_are_those_of_all_sets(seed, within) -> None:
    """Scores from the scatters by their definition; the sentences are read back."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 7)), np.arange(40) % 2
    X[y == 1, :3] += 0.7
    if seed % 3 == 0:
        X[:, 6] = X[:, 0]  # ties
    diff = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    rest = X - np.where(y[:, None] == 1, X[y == 1].mean(axis=0), X[y == 0].mean(axis=0))
    W = rest.T @ rest / len(X)
    W = 0.5 * W + 0.5 * np.diag(np.diag(W))
    scores = {}
    for S in map(list, combinations(range(7), 3)):
        scores[tuple(S)] = 0.25 * diff[S] @ np.linalg.solve(W[np.ix_(S, S)], diff[S])
    best = max(scores.values())
    near = [set(S) for S, score in scores.items() if score >= (1 - within) * best * (1 - 1e-10)]
    pencil = es.lda_pencil(X, y, shrinkage=0.5)
    found = es.near_optimal(pencil, 3, within, criterion="trace")
    assert found.n_sets == len(near)
    said = words.how_many(found)
    assert said.startswith(f"{len(near)} panels" if len(near) > 1 else "No other panel")
    n_in = len(set.union(*near))
    if len(near) > 1 and n_in < 7:
        assert words.which_occur(found).startswith(f"{n_in} of the 7 features occur in them")
    core = sorted(set.intersection(*near))
    if len(near) > 1:
        listed = re.findall(r"\b\d\b", words.which_in_all(found).partition(":")[2])
        assert [int(j) for j in listed] == core
    for j in range(7):
        n = sum(j not in S for S in near)
        assert words.without(found, j).startswith(
            f"{n} of the {len(near)} panels" if n else "No panel"
        )


def test_where_nothing_is_left_to_choose() -> None:
    pencil = es.Pencil(np.diag([3.0, 2.0, 1.0]))
    every = es.near_optimal(pencil, 3)
    assert words.describe(every) == ["There is no other panel of 3 features."]
    kept = es.near_optimal(pencil, 2, include=[0, 2])
    assert words.describe(kept) == ["There is no other allowed panel of 2 features."]
    one_left = es.near_optimal(pencil, 2, exclude=[1])
    assert words.describe(one_left) == ["There is no other allowed panel of 2 features."]
