"""Class statistics of tables that are read in blocks, against those of the same array."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.kinds.big_table import BigTable
from eigensieve.tables.kinds.opening import as_big_table
from eigensieve.tables.moments import MAX_FEATURES
from eigensieve.tables.statistics import BlockStats, ClassStats
from tests.big_tables import MAKERS, dask_tiles, memmap


def make_data(n: int = 90, p: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.array(["b", "a", "c"])[np.minimum(rng.integers(0, 12, n) // 4, 2)]
    X = rng.gamma(2.0, size=(n, p)) + 5.0 + np.equal.outer(y, ["a"]) * np.linspace(0, 2, p)
    return X, y


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 200)


def big(X: Any, kind: str, folder: Path) -> BigTable:
    table = as_big_table(MAKERS[kind](X, folder))
    assert table is not None
    return table


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("form", ["gram", "grams", "moments"])
def test_statistics_of_blocks(kind: str, form: str, tmp_path: Path) -> None:
    X, y = make_data()
    ours = ClassStats.from_table(big(X, kind, tmp_path), y, form=form)
    plain = ClassStats.from_data(X, y, form=form)
    np.testing.assert_array_equal(ours.classes, plain.classes)
    np.testing.assert_array_equal(ours.counts, plain.counts)
    np.testing.assert_allclose(ours.means, plain.means, rtol=1e-13)
    np.testing.assert_allclose(ours.within_scatter(), plain.within_scatter(), atol=1e-13)
    np.testing.assert_allclose(ours.between_factor(), plain.between_factor(), atol=1e-13)
    weight = None if form == "gram" else {"a": 3.0}
    auto = "auto" if form == "moments" else 0.25
    pencils = [es.lda_pencil(s, shrinkage=auto, class_weight=weight) for s in (ours, plain)]
    np.testing.assert_allclose(pencils[0].B, pencils[1].B, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_whatever_is_stored_sums_are_float64(dtype: Any, tmp_path: Path) -> None:
    X, y = make_data()
    X = (20 * X).astype(dtype) if dtype is not bool else X > 7
    ours = ClassStats.from_table(big(X, "memmap", tmp_path), y, form="moments")
    plain = ClassStats.from_data(X.astype(np.float64), y, form="moments")
    for a, b in zip(vars(ours.moments).values(), vars(plain.moments).values()):
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * np.abs(b).max())


def test_a_large_offset_costs_no_digits(tmp_path: Path) -> None:
    X, y = make_data()
    X = np.round(X * 2**20) / 2**20
    exact = es.lda_pencil(X, y)
    shifted = es.lda_pencil(memmap(X + 1e6, tmp_path), y)
    for ours, plain in ((shifted.A, exact.A), (shifted.B, exact.B)):
        np.testing.assert_allclose(ours, plain, rtol=1e-8, atol=1e-8 * np.abs(plain).max())


def test_constants_stay_worth_nothing(tmp_path: Path) -> None:
    X, y = make_data()
    X[:, 2] = 0.1  # no number of the machine
    X[:, 4] = np.where(y == "a", 0.3, 0.7)  # constant in every class
    pencil = es.lda_pencil(memmap(X, tmp_path), y, shrinkage=0.4)
    assert pencil.diag_A[2] == 0.0
    assert pencil.diag_B[2] == 1.0
    assert np.argmax(pencil.diag_A / pencil.diag_B) == 4


@pytest.mark.parametrize("kind", MAKERS)
def test_pencils_of_tall_tables(kind: str, tmp_path: Path) -> None:
    X, y = make_data()
    table = MAKERS[kind](X, tmp_path)
    np.testing.assert_allclose(es.lda_pencil(table, y).B, es.lda_pencil(X, y).B, atol=1e-12)
    np.testing.assert_allclose(es.pca_pencil(table).A, np.cov(X.T, bias=True), atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 9), (12, 700)])
def test_pca_pencil_of_sparse_tables(shape: tuple[int, int]) -> None:
    X, _ = make_data(*shape)
    X[X < 7] = 0.0
    pencil = es.pca_pencil(sparse.csr_array(X))
    assert isinstance(pencil, es.FactorPencil) is (shape[1] == 700)
    np.testing.assert_allclose(pencil.A, np.cov(X.T, bias=True), atol=1e-12)
    assert pencil.has_identity_B


@pytest.mark.parametrize("weight", [None, {"b": 4.0}])
@pytest.mark.parametrize("shape", [(60, 9), (20, 700)])
def test_lda_pencil_of_sparse_tables(shape: tuple[int, int], weight: Any) -> None:
    X, y = make_data(*shape)
    X[X < 7] = 0.0
    ours = es.lda_pencil(sparse.csc_array(X), y, class_weight=weight)
    plain = es.lda_pencil(X, y, class_weight=weight)
    np.testing.assert_allclose(ours.A, plain.A, atol=1e-11)
    np.testing.assert_allclose(ours.B, plain.B, atol=1e-11)


def test_a_worker_gets_the_labels_of_its_rows_only() -> None:
    code = np.arange(10_000, dtype=np.uint16) % 3
    make = BlockStats(code, "gram")
    part = pickle.loads(pickle.dumps(make.of_rows(slice(100, 130))))
    assert len(pickle.dumps(part)) < 1000 < len(pickle.dumps(make))
    X = np.random.default_rng(1).normal(size=(20, 4))
    where = slice(105, 125)
    np.testing.assert_array_equal(part(where, X).gram, make(where, X).gram)
    np.testing.assert_array_equal(make(where, X).counts, np.bincount(code[where]))


def test_refusals(tmp_path: Path) -> None:
    X, y = make_data()
    table = big(X, "memmap", tmp_path)
    with pytest.raises(InputError, match=r"y \(89,\)"):
        ClassStats.from_table(table, y[:-1])
    for form in ("rows", "auto", "cubes"):
        with pytest.raises(InputError, match="one of gram, grams, moments"):
            ClassStats.from_table(table, y, form=form)
    huge = as_big_table(np.memmap(tmp_path / "huge", np.int8, "w+", shape=(3, MAX_FEATURES + 1)))
    assert huge is not None
    with pytest.raises(InputError, match="at most 20000 features"):
        ClassStats.from_table(huge, [0, 1, 0])
    X[3, 3] = np.nan
    with pytest.raises(InputError, match="NaN"):
        ClassStats.from_table(as_big_table(dask_tiles(X, tmp_path)), y)
