"""SparseLDA on tables that are not arrays: what tests/contracts/test_tables.py has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.operators import streamed_rows
from tests.big_tables import assert_same_lda, dask_rows, memmap


def make_data(n: int = 90, p: int = 12, K: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    code = rng.permutation(n) % K
    X = rng.gamma(2.0, size=(n, p)) * np.geomspace(0.1, 10, p)
    X[:, [2, 5, 7]] += np.outer(code, [0.4, 1.5, -2.0]) * X.std(axis=0)[[2, 5, 7]]
    return X, np.array(["one", "two", "three", "four"])[code]


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tables, streamed_rows):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 500)


def assert_same_answers(ours: es.SparseLDA, table: Any, plain: es.SparseLDA, X: np.ndarray) -> None:
    np.testing.assert_array_equal(ours.predict(table), plain.predict(X))
    for name in ("decision_function", "predict_proba", "predict_log_proba", "transform"):
        found, expected = getattr(ours, name)(table), getattr(plain, name)(X)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("shape", [(90, 12), (24, 130)])
def test_paths(shape: tuple[int, int], tmp_path: Path) -> None:
    X, y = make_data(*shape)
    plain = es.SparseLDA().fit_path(X, y, [1, 3, 4])
    for table in (dask_rows(X, tmp_path), sparse.csr_array(X)):
        path = es.SparseLDA().fit_path(table, y, [1, 3, 4])
        assert list(path) == [1, 3, 4]
        for k, model in path.items():
            assert_same_lda(model, plain[k])


def test_a_large_offset(tmp_path: Path) -> None:
    X, y = make_data()
    X = np.round(X, 3)
    exact = es.SparseLDA(3).fit(X, y)
    shifted = es.SparseLDA(3).fit(memmap(X + 1e6, tmp_path), y)
    np.testing.assert_array_equal(shifted.solution_.support, exact.solution_.support)
    np.testing.assert_allclose(shifted.coef_, exact.coef_, rtol=1e-6, atol=1e-8)


def test_labels_from_dask_and_names_from_a_frame(tmp_path: Path) -> None:
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    big = dd.from_pandas(frame, npartitions=4)
    code = np.unique(y, return_inverse=True)[1]
    labels = dask_rows(code[:, None], tmp_path)[:, 0]
    ours, plain = es.SparseLDA(3).fit(big, labels), es.SparseLDA(3).fit(frame, code)
    assert_same_lda(ours, plain)
    assert list(ours.selected_features_) == list(plain.selected_features_)
    assert ours.score(big, labels) == plain.score(frame, code)
    with pytest.raises(InputError, match="names"):
        ours.predict(big.rename(columns=str.upper))


@pytest.mark.parametrize("shape", [(90, 12), (30, 600)])
def test_device_arrays(shape: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    X, y = make_data(*shape)
    plain = es.SparseLDA(3).fit(X, y)
    for lda, table in (
        (es.SparseLDA(3), torch.asarray(X)),
        (es.SparseLDA(3, device="cpu"), X),
        (es.SparseLDA(3, class_weight=dict.fromkeys(np.unique(y), 2.0)), torch.asarray(X)),
    ):
        assert_same_lda(lda.fit(table, y), plain)
        assert_same_answers(lda, table, plain, X)


def test_refusals(tmp_path: Path) -> None:
    X, y = make_data()
    with pytest.raises(InputError, match="cannot be sent to 'cpu'"):
        es.SparseLDA(3, device="cpu").fit(memmap(X, tmp_path), y)
    with pytest.raises(InputError, match="sparse"):
        es.SparseLDA(3, device="cpu").fit(sparse.csr_array(X), y)
    with pytest.raises(InputError, match="90 samples"):
        es.SparseLDA(3).fit(memmap(X, tmp_path), y[1:])
    with pytest.raises(InputError, match="one class only"):
        es.SparseLDA(3).fit(memmap(X, tmp_path), np.zeros(90))
    ours = es.SparseLDA(3).fit(memmap(X, tmp_path), y)
    with pytest.raises(ValueError, match="11 features"):
        ours.predict(sparse.csr_array(X[:, :11]))
    with pytest.raises(InputError, match="11 features"):
        ours.predict(dask_rows(X[:, :11], tmp_path))
