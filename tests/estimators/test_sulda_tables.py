"""Uncorrelated LDA on tables that are not arrays: what tests/contracts/test_tables.py has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from eigensieve import SparseUncorrelatedLDA, UncorrelatedFamily, UncorrelatedLDA
from eigensieve.errors import InputError, OptionError
from eigensieve.pursuit import pursuit_columns
from tests.big_tables import as_kind, assert_same_fit, make_classes
from tests.device_arrays import sender

SHAPES = {"wide": (40, 150), "tall": (120, 30), "square": (50, 50)}
FITTED = (
    "support_", "scalings_", "xbar_", "means_", "priors_", "canonical_correlations_", "rank_",
    "coef_", "intercept_", "explained_variance_ratio_", "dual_",
)  # fmt: skip


@pytest.fixture
def small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Working sets so small that columns must join."""
    monkeypatch.setattr(pursuit_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(pursuit_columns, "MIN_COLUMNS", 1)


def assert_same(found: Any, wanted: Any, X: np.ndarray, tol: float = 1e-8) -> None:
    assert_same_fit(found, wanted, X, FITTED, tol)
    assert found.orthogonality_error_ < 1e-12


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("penalty", ["l1", "l21"])
@pytest.mark.parametrize("kind", ["csc", "dask tiles"])
def test_the_proof_holds_and_copies_are_not_used(
    kind: str, penalty: str, shape: str, tmp_path: Path
) -> None:
    X, y = make_classes(SHAPES[shape], 3, density=0.5)
    table = as_kind(X, kind, tmp_path)
    found = SparseUncorrelatedLDA(penalty).fit(table, y)
    family = UncorrelatedFamily.from_data(table, y)
    found.solution_.verify(family.rows, family.target)
    assert found.solution_.is_certified
    assert found.orthogonality_error_ < 1e-12
    assert not found.scalings_[25].any()  # constant
    if penalty == "l1":
        assert not found.scalings_[20].any() or shape == "tall"  # a copy of column 3


def test_constant_columns_are_refused(tmp_path: Path) -> None:
    X, y = np.ones((40, 30)), np.arange(40) % 2
    for kind in ("csr", "dask tiles"):
        for lda in (UncorrelatedLDA(), SparseUncorrelatedLDA()):
            with pytest.raises(InputError, match="no column varies"):
                lda.fit(as_kind(X, kind, tmp_path), y)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_the_certificate_holds_for_all_columns(penalty: str, shape: str) -> None:
    X, y = make_classes(SHAPES[shape], 3)
    lda = SparseUncorrelatedLDA(penalty).fit(sparse.csr_array(X), y)
    Xc = X - X.mean(axis=0)
    steps = Xc.T @ lda.dual_
    sizes = np.abs(steps).max(axis=1) if penalty == "l1" else np.linalg.norm(steps, axis=1)
    assert sizes.max() <= 1 + 1e-9
    G = lda.scalings_
    norm = np.abs(G).sum() if penalty == "l1" else np.linalg.norm(G, axis=1).sum()
    assert np.sum(lda.dual_ * (Xc @ G)) == pytest.approx(norm, rel=1e-9)


def test_columns_do_join(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classes((30, 300), 2)
    sizes: list[int] = []
    make = pursuit_columns.OrthonormalForm.of

    def watch(A: np.ndarray, b: np.ndarray, rank_tol: float) -> Any:
        sizes.append(A.shape[1])
        return make(A, b, rank_tol)

    monkeypatch.setattr(pursuit_columns.OrthonormalForm, "of", watch)
    monkeypatch.setattr(pursuit_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(pursuit_columns, "MIN_COLUMNS", 1)
    SparseUncorrelatedLDA().fit(sparse.csr_array(X), y)
    assert len(sizes) > 2
    assert sizes[0] < sizes[-1] < 300


@pytest.mark.usefixtures("small_sets")
def test_columns_that_few_samples_have() -> None:
    # the columns that matter most do not reach all samples: others must
    rng = np.random.default_rng(3)
    X, y = np.zeros((24, 100)), np.arange(24) % 2
    X[:12, :76] = 5 * rng.normal(size=(12, 76))
    X[np.arange(12, 24), np.arange(76, 88)] = 1.0 + rng.random(12)
    wanted = SparseUncorrelatedLDA().fit(X, y)
    assert_same(SparseUncorrelatedLDA().fit(sparse.csr_array(X), y), wanted, X)


@pytest.mark.parametrize("condition", [1e2, 1e4])
@pytest.mark.parametrize("shape", [(40, 300), (300, 30)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_digits_that_a_gram_matrix_loses(
    condition: float, shape: tuple[int, int], offset: float, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    k = min(shape)
    turn = np.linalg.qr(rng.normal(size=(shape[1], k)))[0]
    X = rng.normal(size=(shape[0], k)) * np.geomspace(1, 1 / condition, k) @ turn.T + offset
    y = np.arange(len(X)) % 3
    for lda in (UncorrelatedLDA(), SparseUncorrelatedLDA()):
        found = clone(lda).fit(as_kind(X, "dask tiles", tmp_path), y)
        wanted = clone(lda).fit(X, y)
        assert found.orthogonality_error_ < 1e-11
        assert np.array_equal(found.support_, wanted.support_)
        unit = np.abs(wanted.scalings_).max()
        np.testing.assert_allclose(found.scalings_, wanted.scalings_, atol=1e-8 * unit)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_device_that_was_asked_for(shape: str) -> None:
    sender("torch")
    X, y = make_classes(SHAPES[shape], 2)
    found = SparseUncorrelatedLDA(device="cpu").fit(X, y)
    assert_same(found, SparseUncorrelatedLDA().fit(X, y), X)
    with pytest.raises(InputError, match="sparse matrix; device"):
        SparseUncorrelatedLDA(device="cpu").fit(sparse.csr_array(X), y)


@pytest.mark.filterwarnings("ignore:the scores are uncorrelated only")  # two labels for a sample
def test_a_duplicate_sample_with_another_label() -> None:
    X, y = make_classes((30, 100), 2)
    X[1], X[3] = X[0], X[2] * (1 + 1e-9)
    X[:, 25] = 5.0  # constant again
    for lda in (UncorrelatedLDA(), SparseUncorrelatedLDA()):
        wanted, found = clone(lda).fit(X, y), clone(lda).fit(sparse.csr_array(X), y)
        assert found.rank_ == wanted.rank_ == 27
        assert np.array_equal(found.support_, wanted.support_)
        np.testing.assert_allclose(found.scalings_, wanted.scalings_, atol=1e-8)


def test_bregman_needs_an_array() -> None:
    X, y = make_classes((30, 100), 2)
    with pytest.raises(OptionError, match="'bregman' needs a dense table in memory"):
        SparseUncorrelatedLDA(solver="bregman").fit(sparse.csr_array(X), y)


def test_time_limit_claims_nothing() -> None:
    X, y = make_classes((30, 400), 2)
    lda = SparseUncorrelatedLDA(time_limit=1e-9)
    with pytest.warns(ConvergenceWarning):
        lda.fit(sparse.csr_array(X), y)
    assert not lda.solution_.is_certified
    family = UncorrelatedFamily.from_data(X, y)
    assert np.abs(family.rows.T @ (family.rows @ (X - X.mean(0)).T @ lda.dual_)).max() <= 1 + 1e-9
    assert lda.orthogonality_error_ < 1e-9  # a solution all the same


def test_columns_of_very_different_scale_are_refused() -> None:
    rng, y = np.random.default_rng(0), np.arange(30) % 3
    X = rng.normal(size=(30, 12)) * np.logspace(-50, 50, 12)
    with pytest.raises(InputError, match="scales of the columns differ too much"):
        SparseUncorrelatedLDA().fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("K", [3, 4])
def test_the_best_rotation_of_a_table_that_is_not_in_memory(
    K: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pursuit_columns, "SET_ENTRIES", 1)  # columns must join the working set
    X, y = make_classes((24, 150), K, density=0.5)
    wanted = SparseUncorrelatedLDA(rotation="best").fit(X, y)
    lda = SparseUncorrelatedLDA(rotation="best").fit(sparse.csr_array(X), y)
    family = UncorrelatedFamily.from_data(sparse.csr_array(X), y)
    lda.solution_.verify(family.rows, family.target)
    bound = lda.solution_.bound_any_rotation
    assert bound == pytest.approx(wanted.solution_.bound_any_rotation, rel=1e-9)
    if K > 3:  # a search that ends at gains of 1e-4, and may end elsewhere
        assert lda.solution_.objective == pytest.approx(wanted.solution_.objective, rel=1e-3)
        return
    assert lda.solution_.objective == pytest.approx(bound, rel=1e-9)
    np.testing.assert_array_equal(lda.support_, wanted.support_)
    np.testing.assert_allclose(lda.predict_proba(X), wanted.predict_proba(X), atol=1e-8)
