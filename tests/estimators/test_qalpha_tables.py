"""`QAlphaSelector` on disk, of dask and of torch: what tests/contracts/test_tables.py has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from eigensieve import QAlphaSelector
from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables

WIDE, TALL = (30, 400), (500, 12)


def make(shape: tuple[int, int], dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Three classes, the first of which some columns tell apart; a constant column, a copy."""
    rng = np.random.default_rng(shape[1])
    X, y = rng.standard_normal(shape) + 20.0, np.arange(shape[0]) % 3
    X[y == 0, :4] += 2.0
    X[:, 6], X[:, 7] = 5.0, X[:, 2]
    return X.astype(dtype), y


def mapped(X: np.ndarray, path: Path) -> Any:
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode="r")


def dask(X: np.ndarray, path: Path) -> Any:
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(max(2, len(X) // 3), max(2, X.shape[1] // 3)))


def parquet(X: np.ndarray, path: Path) -> Any:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"g{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(pa.table(columns), path / "X.parquet", row_group_size=7)
    return pq.ParquetFile(path / "X.parquet")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 900)


def assert_same(found: QAlphaSelector, whole: QAlphaSelector, atol: float = 1e-8) -> None:
    np.testing.assert_allclose(found.alpha_, whole.alpha_, rtol=0, atol=atol)
    np.testing.assert_array_equal(found.support_, whole.support_)
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e3 * atol)
    pairs = whole.Q_ if isinstance(whole.Q_, dict) else {0: whole.Q_}
    others = found.Q_ if isinstance(found.Q_, dict) else {0: found.Q_}
    for pair, Q in pairs.items():  # the same subspace
        np.testing.assert_allclose(others[pair] @ others[pair].T, Q @ Q.T, atol=100 * atol)


SEARCH: dict[str, Any] = {"n_clusters": 3, "n_init": 1, "tol": 0.0, "max_iter": 3}
IGNORE = pytest.mark.filterwarnings("ignore:the search ended early")


@IGNORE
@pytest.mark.parametrize("store", [mapped, dask])
def test_the_columns_of_a_table(store: Any, tmp_path: Path) -> None:
    X, _ = make(WIDE)
    table = store(X, tmp_path)
    whole, found = (QAlphaSelector(5, **SEARCH).fit(t) for t in (X, table))
    chosen = found.transform(table)
    assert type(chosen) is np.ndarray
    np.testing.assert_array_equal(chosen, X[:, whole.support_])
    np.testing.assert_array_equal(whole.transform(table), chosen)
    found.set_params(weight=True)
    if store is mapped:
        np.testing.assert_array_equal(found.transform(table), X * found.alpha_)
    else:
        with pytest.raises(InputError, match="alpha_"):
            found.transform(table)


@IGNORE
@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("shape", [(5, 300), (300, 8)])
@pytest.mark.parametrize(
    "options",
    [
        {"eigensolver": "lanczos"},
        {"eigensolver": "gram"},
        {"eigensolver": "single-step", "center": False},
        {"eigensolver": "single-step", "scale": False},
        {"variant": "basic"},
        {"variant": "gap"},
        {"variant": "ritz"},
        {"variant": "laplacian"},
        {"variant": "supervised", "offset": 0.0},
    ],
    ids=str,
)
def test_every_variant(options: dict, shape: tuple[int, int], dtype: str, tmp_path: Path) -> None:
    X, y = make(shape, dtype)
    table = mapped(X, tmp_path)
    whole, found = (QAlphaSelector(2, **SEARCH, **options).fit(t, y) for t in (X, table))
    assert found.alpha_.dtype == whole.alpha_.dtype
    assert_same(found, whole, 1e-8 if dtype != "float32" else 2e-5)


@IGNORE
@pytest.mark.parametrize("store", [mapped, dask])
def test_starts(store: Any, tmp_path: Path) -> None:
    for shape in (WIDE, TALL):
        X, _ = make(shape)
        whole, found = (
            QAlphaSelector(5, **SEARCH | {"n_init": 3}, random_state=3).fit(t)
            for t in (X, store(X, tmp_path))
        )
        assert_same(found, whole)


def test_a_small_table_is_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 2**22)
    for shape in (WIDE, TALL):
        X, _ = make(shape)
        whole, found = (
            QAlphaSelector(n_init=1, max_iter=500).fit(t) for t in (X, dask(X, tmp_path))
        )
        np.testing.assert_array_equal(found.alpha_, whole.alpha_)


@IGNORE
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "block", lambda a, b: (a @ b.T) ** 2])
def test_kernels(kernel: Any, tmp_path: Path) -> None:
    for shape in ((20, 30), (40, 12)):
        X, _ = make(shape)
        options = SEARCH | {"kernel": kernel, "max_iter": 2}
        whole, found = (QAlphaSelector(3, **options).fit(t) for t in (X, mapped(X, tmp_path)))
        np.testing.assert_allclose(found.alpha_, whole.alpha_, atol=1e-8)


@IGNORE
def test_odd_tall_tables(tmp_path: Path) -> None:
    """Huge means, other units, a class of one sample, features that depend on each other."""
    X, y = make(TALL)
    X[:, 1] += 1e6
    X[:, 3] *= 1e30
    X[:, 8] *= 1e-30
    X[:, 9] = X[:, 10] + X[:, 11]
    y[7] = 5
    for options in ({}, {"variant": "supervised"}):
        whole, found = (
            QAlphaSelector(4, **SEARCH, **options).fit(t, y) for t in (X, mapped(X, tmp_path))
        )
        assert_same(found, whole, 1e-8)
        assert found.alpha_[6] == 0.0
    with pytest.raises(InputError, match="every feature is constant"):
        QAlphaSelector().fit(mapped(np.full(TALL, 0.1), tmp_path))


@IGNORE
def test_the_null(tmp_path: Path) -> None:
    X, _ = make(WIDE)
    options = SEARCH | {"n_permutations": 2}
    whole, found = (QAlphaSelector(**options).fit(t) for t in (X, mapped(X, tmp_path)))
    np.testing.assert_allclose(found.null_.p_values, whole.null_.p_values, atol=1e-12)
    with pytest.raises(InputError, match=r"tall table on disk.*n_permutations=0"):
        QAlphaSelector(**options).fit(mapped(make(TALL)[0], tmp_path))


def test_names_and_widths(tmp_path: Path) -> None:
    X, _ = make(TALL)
    selector = QAlphaSelector(3, n_init=1).fit(parquet(X, tmp_path))
    assert selector.selected_features_.tolist() == [
        f"g{j}" for j in np.flatnonzero(selector.support_)
    ]
    with pytest.raises(InputError, match="expecting 12 features"):
        selector.transform(mapped(X[:, :5], tmp_path))
    with pytest.raises(InputError, match="cannot be sent to 'cpu'"):
        QAlphaSelector(device="cpu").fit(mapped(X, tmp_path))


def test_passes_over_a_wide_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in a cycle of single steps; the scaling, the start and the first U take one each."""
    X, _ = make(WIDE)
    passes = []
    blocks = tables.BigTable.column_blocks

    def counted(self: Any) -> Any:
        passes.append(1)
        return blocks(self)

    monkeypatch.setattr(tables.BigTable, "column_blocks", counted)
    table = mapped(X, tmp_path)
    counts = []
    for cycles in (1, 2, 7):
        passes.clear()
        options = SEARCH | {"max_iter": cycles, "eigensolver": "single-step"}
        with pytest.warns(UserWarning, match="ended early"):
            QAlphaSelector(5, **options).fit(table)
        counts.append(len(passes))
    assert counts[1] - counts[0] == 2
    assert counts[2] - counts[1] == 10
    assert counts[0] <= 6


# -- devices ---------------------------------------------------------------------------------


@IGNORE
@pytest.mark.parametrize("variant", ["standard", "basic", "supervised"])
def test_arrays_of_torch(variant: str) -> None:
    torch = pytest.importorskip("torch")
    for dtype, atol in (("float64", 1e-8), ("float32", 3e-6)):
        X, y = make(WIDE, dtype)
        whole = QAlphaSelector(5, **SEARCH, variant=variant).fit(X, y)
        there = torch.from_numpy(X)
        found = QAlphaSelector(5, **SEARCH, variant=variant).fit(there, torch.from_numpy(y))
        sent = QAlphaSelector(5, **SEARCH, variant=variant, device="cpu").fit(X, y)
        for selector in (found, sent):
            np.testing.assert_allclose(selector.alpha_, whole.alpha_, atol=atol)
            np.testing.assert_array_equal(selector.support_, whole.support_)
            assert type(selector.alpha_) is np.ndarray
        chosen = found.transform(there)
        assert isinstance(chosen, torch.Tensor)
        np.testing.assert_array_equal(chosen.numpy(), X[:, whole.support_])
        weighted = found.set_params(weight=True).transform(there)
        assert weighted.dtype == there.dtype
        np.testing.assert_array_equal(weighted.numpy(), X * found.alpha_)


@IGNORE
def test_the_null_of_torch() -> None:
    torch = pytest.importorskip("torch")
    X, _ = make(WIDE)
    options = SEARCH | {"n_permutations": 2}
    whole, found = (QAlphaSelector(**options).fit(t) for t in (X, torch.from_numpy(X)))
    np.testing.assert_allclose(found.null_.p_values, whole.null_.p_values, atol=1e-12)


def test_sparse_tables_and_devices() -> None:
    pytest.importorskip("torch")
    X, _ = make(WIDE)
    with pytest.raises(InputError, match="sparse"):
        QAlphaSelector(device="cpu").fit(sparse.csr_array(X))
    table = sparse.csr_array(np.where(np.abs(X - 20) > 1, X, 0.0))
    selector = QAlphaSelector(5, n_init=1, max_iter=500).fit(table)
    np.testing.assert_array_equal(
        selector.transform(table).toarray(), table.toarray()[:, selector.support_]
    )
    weighted = selector.set_params(weight=True).transform(table)
    np.testing.assert_allclose(weighted.toarray(), table.toarray() * selector.alpha_)
