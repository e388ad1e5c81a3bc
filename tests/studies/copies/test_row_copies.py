"""Copies among the rows: found whether equal or nearly so, told, and kept together by groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.datasets.loader import load_table
from eigensieve.errors import InputError
from eigensieve.studies.copies import rows as row_copies
from eigensieve.studies.copies.rows import describe_row_copies, find_row_copies

rng = np.random.default_rng(0)


def noise(n: int, p: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, p))


def twice(X: np.ndarray, jitter: float = 0.0, seed: int = 1) -> np.ndarray:
    """Every row twice, one after the other."""
    doubled = np.repeat(X, 2, axis=0)
    return doubled + jitter * np.random.default_rng(seed).normal(size=doubled.shape)


def pairs_in(X: Any) -> list[tuple[int, int]]:
    return sorted(map(tuple, find_row_copies(X).pairs.tolist()))


def neighbours(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(0, n, 2)]


# --- what is found ---


@pytest.mark.parametrize("jitter", [0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("unit", [1.0, 1e-60, 1e60])
def test_every_row_twice(jitter: float, unit: float) -> None:
    X = twice(noise(30, 200), jitter) * unit
    X[:, 3] *= 1e5
    assert pairs_in(X) == neighbours(60)
    assert find_row_copies(X).is_near.tolist() == [jitter > 0] * 30


def test_a_single_copy_among_many() -> None:
    X = noise(200, 30)
    X[150] = X[20]
    X[7] = X[90] + 0.02 * noise(1, 30, 5)[0]
    assert pairs_in(X) == [(7, 90), (20, 150)]


def test_several_copies_of_one_sample() -> None:
    X = np.repeat(noise(20, 100), 3, axis=0) + 0.05 * noise(60, 100, 1)
    X[[0, 1, 2]] = X[0]
    np.testing.assert_array_equal(find_row_copies(X).groups, np.arange(60) // 3)


def test_negative_zero_and_missing_values_are_equal_to_themselves() -> None:
    X = noise(20, 60)
    X[:, 5] = 0.0
    X[4] = X[11]
    X[4, 5] = -0.0
    X[[4, 11], 9] = np.nan
    assert pairs_in(X) == [(4, 11)]


def test_copies_with_gaps_of_their_own_are_nearly_equal() -> None:
    X = twice(noise(30, 50))
    X[rng.random(X.shape) < 0.1] = np.nan
    assert pairs_in(X) == neighbours(60)


@pytest.mark.parametrize("jitter", [0.0, 0.05])
def test_sparse_rows_are_like_dense_ones(jitter: float) -> None:
    X = noise(30, 300) * (np.random.default_rng(2).random((30, 300)) < 0.2)
    X = np.where(np.repeat(X, 2, axis=0) != 0, twice(X, jitter), 0.0)
    X[5, 7] = X[20, 9] = np.nan
    table = sparse.csr_array(np.where(X == 0, np.inf, X))
    table.data[np.isinf(table.data)] = 0.0  # stored zeros are zeros
    assert pairs_in(sparse.csr_array(X)) == pairs_in(table) == pairs_in(X) == neighbours(60)


def test_known_tables() -> None:
    """One row of ionosphere is there twice; iris has two equal flowers in four rounded columns."""
    assert pairs_in(load_table("iris").X) == []
    assert pairs_in(load_table("wine").X) == []
    assert pairs_in(load_table("digits").X) == []


@pytest.mark.usefixtures("data_dir")
def test_known_tables_of_the_data_folder() -> None:
    """SRBCT has samples measured twice; no other of the gene tables has."""
    X = load_table("ionosphere").X
    (pair,) = pairs_in(X)
    np.testing.assert_array_equal(*X[list(pair)])
    assert pairs_in(load_table("srbct83").X) == [(9, 72), (17, 18)]
    for name in ("colon", "leukemia", "prostate", "lymphoma", "brain", "sonar"):
        assert pairs_in(load_table(name).X) == []


# --- what is not a copy ---

ORDINARY = {
    "normal": lambda r, n, p: r.normal(size=(n, p)),
    "heavy tails": lambda r, n, p: r.standard_cauchy(size=(n, p)),
    "whole numbers": lambda r, n, p: r.integers(0, 5, size=(n, p)),
    "rare symptoms": lambda r, n, p: r.random((n, p)) < 0.1,
    "counts": lambda r, n, p: r.poisson(0.2, size=(n, p)),
    "one number, else yes or no": lambda r, n, p: np.c_[r.random((n, p)) < 0.5, r.normal(size=n)],
    "a questionnaire": lambda r, n, p: np.clip(
        np.round(r.normal(size=(n, 1)) + 0.4 * r.normal(size=(n, p))), -2, 2
    ),
    "rounded": lambda r, n, p: np.round(r.normal(size=(n, p)), 1),
    "one factor": lambda r, n, p: r.normal(size=(n, 1)) + 0.5 * r.normal(size=(n, p)),
    "rows of different size": lambda r, n, p: (
        r.normal(size=(n, p)) * np.exp(1.5 * r.normal(size=(n, 1)))
    ),
    "two far classes": lambda r, n, p: r.normal(size=(n, p)) + 10 * (np.arange(n) % 2)[:, None],
    "two far rows": lambda r, n, p: r.normal(size=(n, p)) + 20 * (np.arange(n) < 2)[:, None],
    "families": lambda r, n, p: (
        np.repeat(r.normal(size=(n // 2, p)), 2, axis=0) + r.normal(size=(n // 2 * 2, p))
    ),
    "empty rows": lambda r, n, p: (
        np.exp(r.normal(size=(n, p))) * (r.random((n, p)) < 0.1) * (r.random((n, 1)) < 0.8)
    ),
}


@pytest.mark.parametrize("shape", [(20, 5), (40, 3), (100, 4), (100, 10), (60, 100)])
@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_rows_are_no_copies(kind: str, shape: tuple[int, int]) -> None:
    for seed in range(10):
        X = np.asarray(ORDINARY[kind](np.random.default_rng(seed), *shape), dtype=np.float64)
        assert pairs_in(X) == []


def test_chance_is_told_from_copies_by_the_number_of_columns() -> None:
    """Four columns of five values: equal rows are ordinary. Twenty of them: they are copies."""
    many = np.random.default_rng(0).integers(0, 5, size=(100, 20)).astype(float)
    many[50:] = many[:50]
    few = many[:, :2]
    assert pairs_in(many) == [(i, 50 + i) for i in range(50)]
    assert pairs_in(few) == []


def test_rows_with_little_in_common_are_not_compared() -> None:
    X = noise(60, 50)
    X[:20][rng.random((20, 50)) < 0.9] = np.nan
    assert pairs_in(X) == []


@pytest.mark.parametrize(
    "X", [np.ones((5, 3)), np.zeros((2, 1)), noise(1, 4), np.full((4, 2), np.nan)]
)
def test_tables_that_tell_nothing(X: np.ndarray) -> None:
    assert pairs_in(X) == []


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.45])
def test_distances_are_those_of_the_definition(gaps: float) -> None:
    """Pair by pair: mean squared differences of standardised columns that both rows have."""
    X = noise(12, 30) * np.geomspace(1e-20, 1e20, 30)
    X[np.random.default_rng(1).random(X.shape) < gaps] = np.nan
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    both = ~np.isnan(Z[:, None]) & ~np.isnan(Z)
    expected = np.array([
        [np.mean((Z[i] - Z[j])[both[i, j]] ** 2) if both[i, j].any() else 0 for j in range(12)]
        for i in range(12)
    ])  # fmt: skip
    shared = both.sum(axis=2)
    expected[(2 * shared <= shared.max()) | np.eye(12, dtype=bool)] = np.inf
    found = row_copies._square_distances(X)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


# --- large tables ---


def test_many_rows_are_only_looked_at_for_equal_ones(monkeypatch) -> None:
    monkeypatch.setattr(row_copies, "MAX_ROWS", 100)
    X = noise(120, 20)
    X[100], X[110] = X[3], X[4] + 1e-9
    copies = find_row_copies(X)
    assert copies.pairs.tolist() == [[3, 100]]
    notes = describe_row_copies(copies, None, None)
    assert "4 and 101" in notes[0]
    assert notes[1] == (
        "Rows that are equal were looked for, not rows that are nearly equal: there are more than "
        "100."
    )


def test_many_columns_are_looked_at_in_part(monkeypatch) -> None:
    X = twice(noise(20, 500), 0.05)
    monkeypatch.setattr(row_copies, "MAX_PRODUCTS", 40**2 * 100)
    monkeypatch.setattr(row_copies, "SAMPLE", 30)
    assert pairs_in(X) == neighbours(40)


# --- groups ---


def test_groups_of_copies() -> None:
    X = noise(8, 40)
    X[6], X[7] = X[1], X[2]
    np.testing.assert_array_equal(es.copy_groups(X), [0, 1, 2, 3, 4, 5, 1, 2])
    frame = pd.DataFrame(X).add_prefix("gene ")
    np.testing.assert_array_equal(es.copy_groups(frame), es.copy_groups(sparse.csr_array(X)))
    patients = ["a", "a", "b", "b", "c", "c", "d", "d"]
    np.testing.assert_array_equal(es.copy_groups(X, patients), [0, 0, 0, 0, 1, 1, 0, 0])


def test_groups_of_what_is_no_table() -> None:
    with pytest.raises(InputError, match="one group per row"):
        es.copy_groups(noise(5, 3), [1, 2])
    with pytest.raises(InputError, match="infinite"):
        es.copy_groups(np.array([[1.0, np.inf], [0.0, 1.0]]))
    with pytest.raises(InputError, match="numbers only"):
        es.copy_groups([["a", "b"]])


# --- what a study says ---

QUICK: dict[str, Any] = {"ks": (2, 5), "n_repeats": 1}
LABELS = np.repeat(["a", "b"] * 10, 2)


def test_a_study_tells_of_copies_and_what_to_do() -> None:
    X = twice(noise(20, 30))
    notes = [note for note in es.study(X, LABELS, **QUICK).notes if "copies" in note]
    assert " ".join(notes) == (
        "40 rows are copies of each other (equal): 1 and 2, 3 and 4, 5 and 6, and so on. With one "
        "in a training part and its copy in the test part the error comes out too small. Keep "
        "copies together: groups=es.copy_groups(X), or --group-copies on the command line."
    )
    study = es.study(X, LABELS, groups=es.copy_groups(X), **QUICK)
    assert not any("copies" in note for note in study.notes)


def test_names_of_rows_and_groups_that_do_not_hold_copies_together() -> None:
    X = noise(40, 30)
    X[1] = X[0] + 0.01 * noise(1, 30, 3)[0]
    X[9] = X[5]
    frame = pd.DataFrame(X, index=[f"S{i}" for i in range(40)]).add_prefix("gene ")
    patients = np.arange(40)
    patients[9] = 5
    notes = es.study(frame, LABELS, groups=patients, **QUICK).notes
    (note,) = (note for note in notes if "copies" in note)
    assert note.startswith(
        "2 rows are copies of each other (nearly equal), and the groups do not keep them together: "
        "'S0' and 'S1'."
    )
    assert "groups=es.copy_groups(X, groups)" in note
    (note,) = (note for note in es.study(X, LABELS, **QUICK).notes if "copies" in note)
    assert note.startswith(
        "4 rows are copies of each other (equal, or nearly so): 6 and 10, 1 and 2. With one in"
    )


def test_a_comparison_tells_it_once() -> None:
    found = es.compare(twice(noise(20, 30)), LABELS, ["sparse-lda", "anova"], ks=(2,))
    assert sum("copies of each other" in note for note in found.notes) == 1


def test_groups_by_copies_make_the_error_of_noise_that_of_guessing() -> None:
    """Every row twice: without groups the copy in the training part gives the label away."""
    errors = np.empty((2, 40))
    for seed in range(40):
        X = twice(noise(20, 40, seed))
        for i, groups in enumerate((None, es.copy_groups(X))):
            study = es.study(X, LABELS, k=5, ks=(5,), n_repeats=1, groups=groups, random_state=seed)
            errors[i, seed] = study.honest_error.error
    assert errors[0].mean() < 0.4
    assert abs(errors[1].mean() - 0.5) < 3 * errors[1].std(ddof=1) / np.sqrt(40)
