"""SampleFactors against numpy's SVD, the factors that are read, and how often they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from eigensieve.errors import InputError
from eigensieve.pencil.row_factor import RowFactor, column_squares, weighted_gram
from eigensieve.pursuit.sample_factors import SampleFactors
from eigensieve.pursuit.spanned_rows import Scores, SpannedRows
from eigensieve.tables.kinds.opening import as_big_table
from eigensieve.tables.operators.column_passes import column_parts, gather_columns, largest
from tests.big_tables import as_kind
from tests.device_arrays import DEVICES

KINDS = ("array", "csr", "dask tiles", "memmap", *DEVICES)
SHAPES = [(20, 90), (90, 20), (30, 30)]


def make(shape: tuple[int, int], condition: float = 10.0) -> np.ndarray:
    rng = np.random.default_rng(shape)
    k = min(shape)
    turn = np.linalg.qr(rng.normal(size=(shape[1], k)))[0]
    X = (rng.normal(size=(shape[0], k)) * np.geomspace(1, 1 / condition, k)) @ turn.T
    X[:, 3], X[:, 7] = 2.0, X[:, 1]  # a constant, and a copy
    return X


def open_kind(X: np.ndarray, kind: str, folder: Path) -> Any:
    if kind == "array":
        return X
    table = as_kind(X, kind, folder)
    return table if as_big_table(table) is None else as_big_table(table)


def dense(rows: Any, width: int) -> np.ndarray:
    return rows @ np.eye(width)


@pytest.mark.parametrize("condition", [10.0, 1e4])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_they_are_the_centred_samples(
    kind: str, shape: tuple[int, int], condition: float, tmp_path: Path
) -> None:
    X = make(shape, condition)
    n, code = len(X), np.arange(len(X)) % 3
    found = SampleFactors.of(open_kind(X, kind, tmp_path), code, 1e-6)
    Xc = (X - X.mean(axis=0)) / np.sqrt(n)
    sizes = np.linalg.svd(Xc, compute_uv=False)
    g = int(np.sum(sizes > 1e-9 * sizes[0]))
    np.testing.assert_allclose(found.sizes, sizes[:g], rtol=1e-9)
    left, rows = dense(found.left, g), dense(found.rows, X.shape[1])
    # round-off times the condition, not its square
    allowed = 20 * np.finfo(float).eps * sizes[0] / sizes[g - 1]
    np.testing.assert_allclose(left.T @ left, np.eye(g), rtol=0, atol=allowed)
    np.testing.assert_allclose(rows @ rows.T, np.eye(g), rtol=0, atol=allowed)
    np.testing.assert_allclose(left * found.sizes @ rows, Xc, rtol=0, atol=allowed)
    assert not rows[:, 3].any()
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-14)
    means = np.stack([X[code == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(found.means, means, atol=1e-14)
    member = np.equal.outer(code, np.arange(3)) / np.sqrt(np.bincount(code))
    reach = np.linalg.norm(left.T @ (member - member.mean(axis=0)), "fro")
    assert np.linalg.norm(found.reach, "fro") == pytest.approx(reach, abs=1e-9)


def test_kinds_of_factors(tmp_path: Path) -> None:
    for shape in SHAPES:
        X, code = make(shape), np.arange(shape[0]) % 2
        found = SampleFactors.of(sparse.csr_array(X), code, 1e-6)
        is_wide = shape[0] < shape[1]
        assert isinstance(found.rows, SpannedRows if is_wide else np.ndarray)
        assert isinstance(found.left, np.ndarray if is_wide else Scores)


@pytest.mark.parametrize(("condition", "passes"), [(1.0, 2), (1e4, 3)])
def test_a_pass_more_only_where_digits_are_lost(
    condition: float, passes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(20, 900))
    X[:, :10] *= condition
    table = open_kind(X, "dask tiles", tmp_path)
    count = []
    read = type(table).column_blocks
    monkeypatch.setattr(type(table), "column_blocks", lambda self: (count.append(1), read(self))[1])
    SampleFactors.of(table, np.arange(20) % 2, 1e-6)
    assert len(count) == passes


def test_scales_that_are_too_far_apart(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 90))
    X[:, 0] *= 1e20
    with pytest.raises(InputError, match="standardise"):
        SampleFactors.of(open_kind(X, "dask tiles", tmp_path), np.arange(20) % 2, 1e-6)


@pytest.mark.parametrize("kind", ["csr", "dask tiles", "torch"])
def test_spanned_rows_are_rows(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    found = SampleFactors.of(open_kind(make((20, 90)), kind, tmp_path), np.arange(20) % 2, 1e-6)
    R = found.rows
    W, weights = dense(R, 90), rng.random(90)
    assert R.shape == W.shape
    V, X = rng.normal(size=(len(W), 2)), rng.normal(size=(90, 3))
    close = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(R.T @ V, W.T @ V, **close)
    np.testing.assert_allclose(V.T @ R, V.T @ W, **close)
    np.testing.assert_allclose(R @ X, W @ X, **close)
    np.testing.assert_allclose(R[:, [5, 2, 5]], W[:, [5, 2, 5]], **close)
    np.testing.assert_allclose(column_squares(R), np.square(W).sum(axis=0), **close)
    np.testing.assert_allclose(weighted_gram(R, weights), (W * weights) @ W.T, **close)
    np.testing.assert_allclose((R * weights).T @ V, (W * weights).T @ V, **close)
    few = R.take(np.array([1, 4, 80]))
    np.testing.assert_allclose(few if isinstance(few, np.ndarray) else few[:, :], W[:, [1, 4, 80]],
                               **close)  # fmt: skip
    copies = R[:, [1, 7]]
    assert np.array_equal(copies[:, 0], copies[:, 1])


@pytest.mark.parametrize("kind", ["csr", "dask tiles", "torch"])
def test_passes_over_columns(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eigensieve.pencil.row_factor.FEATURE_ENTRIES", 20 * 11)
    X = make((20, 200))
    rows = SampleFactors.of(open_kind(X, kind, tmp_path), np.arange(20) % 2, 1e-6).rows.samples
    Xc = X - X.mean(axis=0)
    seen = []
    for where, part in column_parts(rows):
        assert isinstance(part, np.ndarray | RowFactor)
        np.testing.assert_allclose(part.T @ np.eye(20), Xc[:, where].T, atol=1e-14)
        seen.extend(range(200)[where])
    assert seen == list(range(200))
    for index in (np.arange(0, 200, 2), np.array([3, 190])):
        np.testing.assert_allclose(gather_columns(rows, index), Xc[:, index], atol=1e-14)


def test_the_largest() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0, 3.0, 0.0])
    assert largest(values, 2).tolist() == [0, 2]  # of equal ones the first
    assert largest(values, 4).tolist() == [0, 2, 3, 4]
    assert largest(values, 9).tolist() == [0, 1, 2, 3, 4, 5]
