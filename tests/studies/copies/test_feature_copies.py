"""Copies among the selected features: found by scale and sign, told in notes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.studies.copies.features import (
    MAX_COPIES_NAMED,
    FeatureCopy,
    describe_copies,
    find_copies,
)
from eigensieve.tables.builders import lda_pencil

rng = np.random.default_rng(0)
y = np.repeat(["a", "b"], 30)
GENE = rng.normal(size=60) + 1.5 * (y == "b")
NOISE = rng.normal(size=60)


def found_in(*columns) -> list[tuple[int, int, int]]:
    """(copy, original, sign) among columns that are all selected."""
    names = [f"x{j}" for j in range(len(columns))]
    copies = find_copies(np.column_stack(columns), range(len(columns)), names)
    assert all((c.name, c.original) == (f"x{c.index}", f"x{c.original_index}") for c in copies)
    return [(c.index, c.original_index, c.sign) for c in copies]


def correlated(r: float) -> np.ndarray:
    """A column whose correlation with GENE is r."""
    u = GENE - GENE.mean()
    v = NOISE - NOISE.mean()
    v -= u * (u @ v) / (u @ u)
    return r * u / np.linalg.norm(u) + np.sqrt(1 - r * r) * v / np.linalg.norm(v)


@pytest.mark.parametrize("scale", [1.0, 1000.0, -1.0, -1e-60, 1e60, 0.1])
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_scale_sign_and_shift_do_not_matter(scale: float, shift: float) -> None:
    assert found_in(GENE, NOISE, scale * (GENE + shift)) == [(2, 0, int(np.sign(scale)))]


def test_single_precision_does_not_matter() -> None:
    assert found_in(GENE, (7 * GENE).astype(np.float32)) == [(1, 0, 1)]


@pytest.mark.parametrize("r", [0.999, -0.999, 0.999999, 1 - 1e-8])
def test_much_alike_is_no_copy(r: float) -> None:
    assert np.corrcoef(GENE, correlated(r))[0, 1] == pytest.approx(r, abs=1e-12)
    assert found_in(GENE, correlated(r)) == []


def test_constant_columns_are_copies_of_nothing() -> None:
    flat = np.full(60, 0.1)
    jitter = flat.copy()
    jitter[::7] = np.nextafter(0.1, 1)  # round-off only
    zeros = np.zeros(60)
    assert found_in(flat, flat, jitter, jitter, zeros, zeros, 1e60 * flat, GENE) == []


def test_nearly_constant_columns() -> None:
    near = 1.0 + 1e-6 * GENE
    assert found_in(near, 1.0 + 1e-6 * NOISE) == []
    assert found_in(near, -3 * near) == [(1, 0, -1)]
    once, other = np.zeros(60), np.zeros(60)
    once[3], other[4] = 1.0, 1.0
    assert found_in(once, other, 2 - once) == [(2, 0, -1)]


def test_one_feature_and_none() -> None:
    assert found_in(GENE) == []
    assert find_copies(np.zeros((60, 0)), [], []) == []


def test_every_copy_names_the_first_of_its_kind() -> None:
    columns = np.column_stack([-NOISE, GENE, 2 * GENE, NOISE, GENE])
    copies = find_copies(columns, [9, 4, 2, 0, 7], [f"x{j}" for j in range(10)])
    found = [(c.name, c.original, c.sign) for c in copies]
    assert found == [("x4", "x2", 1), ("x7", "x2", 1), ("x9", "x0", -1)]


def test_thousands_of_features_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    many = np.random.default_rng(1).normal(size=(20, 40))
    many[:, [5, 17, 38]] = many[:, [4]] * [1, -2, 3]
    whole = found_in(*many.T)
    assert whole == [(5, 4, 1), (17, 4, -1), (38, 4, 1)]
    monkeypatch.setattr("eigensieve.pencil.row_factor.FEATURE_ENTRIES", 120)  # 3 at a time
    assert found_in(*many.T) == whole


def test_in_words() -> None:
    copies = [FeatureCopy(f"c{j}", j, "g", 0, 1) for j in range(1, 9)]
    assert describe_copies([]) == []
    (one,) = describe_copies(copies[:1])
    assert one.startswith("'c1' is a copy of 'g' (correlation 1): a copy tells nothing new")
    (few,) = describe_copies(copies[:MAX_COPIES_NAMED])
    assert "'c5'" in few
    assert "in all" not in few
    (many,) = describe_copies(copies)
    assert "'c6'" not in many
    assert "and so on, 8 copies in all: " in many


# ---------------------------------------------------------------- in a study


def table() -> np.ndarray:
    X = np.random.default_rng(2).normal(size=(60, 20))
    X[:, 3] = GENE
    return np.c_[X, GENE, -1000 * GENE]


def studied(X, **options) -> es.Study:
    settings = {"estimator": es.SparseLDA(shrinkage=1.0), "k": 3, "cv": 3, "n_repeats": 1}
    return es.study(X, y, **(settings | options))


def test_a_study_names_them() -> None:
    study = studied(table())
    assert [(c.name, c.original, c.sign) for c in study.copies] == [
        ("x20", "x3", 1),
        ("x21", "x3", -1),
    ]
    (note,) = study.notes
    assert note.startswith(
        "'x20' is a copy of 'x3' (correlation 1); 'x21' is a copy of 'x3' (correlation -1): "
    )


def test_copies_that_were_not_selected_are_not_named_but_stand_in_for_nothing() -> None:
    study = studied(table(), k=1)
    assert study.copies == []
    assert study.notes == ()
    (price,) = study.prices
    assert {one.name for one in price.stand_ins[:2]} == {"x3", "x20", "x21"} - {price.name}
    assert [one.loss for one in price.stand_ins[:2]] == pytest.approx([0, 0], abs=1e-12)


def test_sparse_tables() -> None:
    X = table() * (np.arange(60) % 3 > 0)[:, None]
    found, dense = (studied(T) for T in (sparse.csr_array(X), X))
    assert found.copies == dense.copies
    assert len(found.copies) == 2


def test_gaps_are_filled_first() -> None:
    X = table()
    X[::5, [3, 20, 21]] = np.nan
    for T in (X, sparse.csr_array(X)):
        copies = studied(T, missing="median").copies
        assert [(c.index, c.original_index, c.sign) for c in copies] == [(20, 3, 1), (21, 3, -1)]
    X = table()
    X[::5, 20] = np.nan  # filled, it is another column
    assert 20 not in [c.index for c in studied(X, missing="median", k=3).copies]


def test_a_comparison_tells_it_once() -> None:
    methods = {"lda": es.SparseLDA(shrinkage=1.0), "filter": es.RankedLDA("anova")}
    notes = es.compare(table(), y, methods, ks=[3], cv=3).notes
    assert len([note for note in notes if "is a copy of" in note]) == 1


@pytest.mark.parametrize("shrinkage", [0.0, 0.5, 1.0])
def test_what_copies_are_worth(shrinkage: float) -> None:
    """The formula of the page on SparseLDA."""
    columns = np.column_stack([GENE, GENE, -5 * GENE])
    pencil = lda_pencil(columns, y, shrinkage, 1e-12)
    A, B = pencil.A, pencil.B
    one = A[0, 0] / B[0, 0]
    for m in (2, 3):
        worth = np.trace(np.linalg.pinv(B[:m, :m], rcond=1e-9) @ A[:m, :m])
        assert worth == pytest.approx(m * one / (1 + (m - 1) * (1 - shrinkage)), rel=1e-6)
