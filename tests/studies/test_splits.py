"""Training and test parts: scikit-learn's own, groups kept together, labels permuted fairly."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from eigensieve.errors import InputError, OptionError
from eigensieve.studies.splits import Splitter, permute_labels, usable_folds
from tests.studies.seeds import seed_of

Y = np.array(["a", "b", "c"])[np.array([0, 0, 1, 1, 2] * 8)]  # 16, 16, 8
BLANK = np.zeros((Y.size, 1))
GROUPS = np.array([f"g{i // 2}" for i in range(40)])  # pairs


def assert_same_parts(found: list, expected: Any) -> None:
    expected = list(expected)
    assert len(found) == len(expected)
    for (train, test), (a, b) in zip(found, expected):
        np.testing.assert_array_equal(train, a)
        np.testing.assert_array_equal(test, b)


@pytest.mark.parametrize("repeat", [0, 3])
def test_folds_are_those_of_scikit_learn(repeat: int) -> None:
    found = Splitter(4, None, 7).split(Y, repeat)
    plain = StratifiedKFold(4, shuffle=True, random_state=seed_of(7, repeat))
    assert_same_parts(found, plain.split(BLANK, Y))


def test_inner_folds_are_those_of_the_rows_alone() -> None:
    rows = np.array([1, 2, 3, 5, 8, 9, 11, 14, 15, 18, 20, 22, 24, 27, 30, 34, 37, 39])
    found = Splitter(3, None, 5).split_inside(Y, rows)
    plain = StratifiedKFold(3, shuffle=True, random_state=5)
    expected = ((rows[a], rows[b]) for a, b in plain.split(BLANK[rows], Y[rows]))
    assert_same_parts(found, expected)


def test_groups_are_never_on_both_sides() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        groups = rng.integers(0, 12, 60).astype(str)
        y = rng.integers(0, 2, 60)
        splitter = Splitter(4, groups, seed)
        parts = splitter.split(y)
        assert_same_parts(
            parts,
            StratifiedGroupKFold(4, shuffle=True, random_state=seed).split(
                np.zeros((60, 1)), y, groups
            ),
        )
        for train, test in parts:
            assert not set(groups[train]) & set(groups[test])
            for inner_train, inner_test in splitter.split_inside(y, train):
                assert not set(groups[inner_train]) & set(groups[inner_test])
                assert not set(groups[inner_train]) & set(groups[test])
        assert sorted(np.concatenate([test for _, test in parts])) == list(range(60))


def test_leave_one_out() -> None:
    parts = Splitter("loo", None, 0).split(Y)
    assert [test.tolist() for _, test in parts] == [[i] for i in range(40)]
    assert all(train.size == 39 and test[0] not in train for train, test in parts)
    with_groups = Splitter("loo", GROUPS, 0)
    assert_same_parts(with_groups.split(Y), LeaveOneGroupOut().split(BLANK, Y, GROUPS))
    assert with_groups.is_fixed
    assert [Splitter("loo", g, 0).describe(Y) for g in (None, GROUPS)] == [
        "leave-one-out",
        "leave-one-group-out",
    ]
    # inside: five stratified folds of what is left
    rows = parts[0][0]
    plain = StratifiedKFold(5, shuffle=True, random_state=0).split(BLANK[rows], Y[rows])
    assert_same_parts(
        Splitter("loo", None, 0).split_inside(Y, rows), ((rows[a], rows[b]) for a, b in plain)
    )


@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=2), None),
        (ShuffleSplit(6, test_size=0.25, random_state=1), None),
        (GroupKFold(5), GROUPS),
    ],
)
def test_a_splitter_is_taken_as_it_is(cv: Any, groups: np.ndarray | None) -> None:
    splitter = Splitter(cv, groups, 99)
    assert splitter.is_fixed
    assert splitter.describe(Y) == type(cv).__name__
    expected = list(cv.split(BLANK, Y, groups))
    assert_same_parts(splitter.split(Y), expected)
    assert_same_parts(splitter.split(Y, 4), expected)


def test_a_splitter_that_ignores_groups_is_refused() -> None:
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    with (
        pytest.warns(UserWarning, match="groups parameter is ignored"),
        pytest.raises(InputError, match="StratifiedKFold puts samples of one group on both sides"),
    ):
        Splitter(cv, GROUPS, 0).split(Y)


def test_the_smallest_class_limits_the_folds() -> None:
    y = np.array(["few"] * 3 + ["many"] * 20)
    assert usable_folds(y, 5) == 3
    assert usable_folds(y, 2) == 2
    assert len(Splitter(5, None, 0).split(y)) == 3
    assert Splitter(5, None, 0).describe(y) == "3-fold"
    groups = np.array(["p", "p", "q"] + [f"g{i % 9}" for i in range(20)])
    assert usable_folds(y, 5, groups) == 2
    assert Splitter(5, groups, 0).describe(y) == "grouped 2-fold"


def test_classes_that_are_too_small() -> None:
    y = np.array(["few"] + ["many"] * 20)
    with pytest.raises(InputError, match=r"class 'few' has one sample only.* takes 2 of each"):
        usable_folds(y, 5)
    y[1] = "few"
    with pytest.raises(InputError, match=r"class 'few' has 2 samples only.* takes 3 of each"):
        usable_folds(y, 5, least=3)
    with pytest.raises(InputError, match=r"class 'few' has one group only.* more groups"):
        usable_folds(y, 5, np.array(list("ppabcdefghijklmnopqrs")))
    with pytest.raises(InputError, match=r"one class only \('a'\)"):
        usable_folds(np.array(["a"] * 9), 3)


def test_training_parts_that_are_useless() -> None:
    y = np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="training part has 2 samples of 1 class"):
        Splitter("loo", y.astype(str), 0).split(y)
    with pytest.raises(InputError, match="2 samples of 2 class"):
        Splitter("loo", np.array(["p", "q", "p", "q"]), 0).split(y)


@pytest.mark.parametrize(
    ("cv", "groups", "said"),
    [
        ("loo", np.zeros(40, dtype=str), "LeaveOneGroupOut cannot split.*fewer than 2 unique"),
        (StratifiedKFold(30), None, "StratifiedKFold cannot split.*n_splits=30"),
        (GroupKFold(3), None, "GroupKFold cannot split.*groups"),
    ],
)
def test_what_the_splitter_cannot_do_is_an_input_error(cv: Any, groups: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Splitter(cv, groups, 0).split(Y)


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        (1, "cv is 1; at least two"),
        (0, "cv is 0"),
        (-3, "cv is -3"),
        (True, "cv is True"),
        (2.5, "cv is 2.5"),
        (None, "cv is None"),
        ("x", "cv is 'x'; it must be a number of folds, 'loo' or a splitter"),
        ([([0], [1])], "it must be a number of folds"),
        ((part for part in ()), "it must be a number of folds"),
        (StratifiedKFold, "it must be a number of folds"),
    ],
)
def test_wrong_cv(cv: Any, said: str) -> None:
    with pytest.raises((InputError, OptionError), match=said):
        Splitter(cv, None, 0)


def test_a_number_of_numpy_is_a_number() -> None:
    assert Splitter(np.int64(3), None, 0).cv == 3


# ---------------------------------------------------------------- labels


def counts(labels: np.ndarray) -> list[int]:
    return np.unique(labels, return_counts=True)[1].tolist()


def test_permuted_labels_keep_the_classes() -> None:
    rng = np.random.default_rng(0)
    drawn = [permute_labels(Y, None, rng) for _ in range(300)]
    assert all(counts(labels) == counts(Y) for labels in drawn)
    share = np.mean([labels == "a" for labels in drawn], axis=0)  # of 300: SE .028
    assert np.abs(share - 0.4).max() < 0.13


def test_groups_of_one_label_change_it_as_a_whole() -> None:
    y = np.array(["s", "s", "t"])[np.arange(40) // 2 % 3]
    groups = np.array([f"g{i // 2}" for i in range(40)])
    rng, seen = np.random.default_rng(0), set()
    for _ in range(50):
        labels = permute_labels(y, groups, rng)
        assert np.array_equal(labels[::2], labels[1::2])
        assert counts(labels) == counts(y)  # groups are of equal size here
        seen.add("".join(labels))
    assert len(seen) == 50


def test_whole_groups_of_unequal_size() -> None:
    groups = np.array(list("aaabbcdddd"))
    y = np.array([0, 0, 0, 1, 1, 0, 1, 1, 1, 1])
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels = permute_labels(y, groups, rng)
        of_group = [set(labels[groups == g].tolist()) for g in "abcd"]
        assert all(len(found) == 1 for found in of_group)
        assert sorted(found.pop() for found in of_group) == [0, 0, 1, 1]


def test_mixed_groups_exchange_labels_with_groups_of_their_size() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(20), [1] * 12 + [3] * 6 + [5] * 2).astype(str)
    y = rng.integers(0, 3, groups.size)
    drawn = [permute_labels(y, groups, rng) for _ in range(400)]
    sizes = {
        size: [g for g in np.unique(groups) if np.sum(groups == g) == size] for size in (1, 3, 5)
    }

    def bags(labels: np.ndarray, size: int) -> list[list[int]]:
        return sorted(sorted(labels[groups == g].tolist()) for g in sizes[size])

    for labels in drawn:
        assert all(bags(labels, size) == bags(y, size) for size in sizes)
    for alike in sizes.values():  # every sample of groups of a size is as likely as another
        rows = np.isin(groups, alike)
        share = np.mean([labels[rows] == 0 for labels in drawn], axis=0)
        assert np.abs(share - np.mean(y[rows] == 0)).max() < 0.12


def test_one_mixed_group_does_not_hold_the_others_fast() -> None:
    rng = np.random.default_rng(2)
    y, groups = np.repeat([0, 1], [20, 21]), np.arange(41).astype(str)
    groups[0] = groups[-1] = "both"
    same = [np.mean(permute_labels(y, groups, rng) == y) for _ in range(50)]
    assert np.mean(same) < 0.65
