"""Q-alpha on arrays of torch and of array-api-strict: as on numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.tables.operators.test_device_rows import KINDS, to_torch

CASES = [
    {"eigensolver": "single-step"},
    {"eigensolver": "lanczos"},
    {"eigensolver": "gram"},
    {"variant": "basic", "eigensolver": "single-step"},
    {"variant": "basic", "eigensolver": "lanczos"},
    {"variant": "supervised"},
]


def table(n: int, q: int, dtype: str) -> np.ndarray:
    """Features x samples: a group of relevant features, a copy, a constant one, odd units."""
    rng = np.random.default_rng(n)
    M = rng.standard_normal((n, q)) + 5.0
    M[:6, : q // 2] += 3.0
    M[8], M[9] = M[1], 4.0
    M[10:14] *= 1000.0
    return M.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(300, 24), (30, 70), (90, 31)])
@pytest.mark.parametrize("options", CASES, ids=str)
@KINDS
def test_as_numpy(send: Any, options: dict, shape: tuple[int, int], dtype: str) -> None:
    M, y = table(*shape, dtype), np.arange(shape[1]) % 3
    cycles = 6 if dtype == "float64" else 2  # from a random start rounding grows with them
    search = {"y": y, "n_init": 2, "tol": 0.0, "max_iter": cycles, **options}
    host, found = es.qalpha(M.T, 3, **search), es.qalpha(send(M).T, 3, **search)
    atol = 1e-8 if dtype == "float64" else 1e-6
    assert type(found.alpha) is np.ndarray
    assert found.alpha.dtype == host.alpha.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found.alpha, host.alpha, rtol=0, atol=atol)
    np.testing.assert_allclose(found.history, host.history, rtol=1e-8 if atol < 1e-7 else 1e-4)
    assert set(np.argsort(-found.alpha)[:7]) == set(np.argsort(-host.alpha)[:7])
    assert found.alpha[9] == 0.0
    assert (found.eigensolver, found.n_starts) == (host.eigensolver, host.n_starts)
    found.verify(M.T, y)


@KINDS
def test_layouts_and_the_table_is_not_changed(send: Any) -> None:
    M = table(200, 20, "float32")
    before = M.copy()
    search = {"n_init": 1, "tol": 0.0, "max_iter": 4}
    expected = es.qalpha(M.T, **search).alpha
    for given in (send(M), send(np.ascontiguousarray(M.T)).T):
        np.testing.assert_allclose(es.qalpha(given.T, **search).alpha, expected, atol=1e-6)
    np.testing.assert_array_equal(M, before)


def test_sent_there_by_name() -> None:
    pytest.importorskip("torch")
    M, y = table(90, 31, "float64"), np.arange(31) % 2
    for variant in ("standard", "supervised"):
        host, sent = (
            es.qalpha(M.T, y=y, variant=variant, device=device, n_init=1, tol=0.0, max_iter=3)
            for device in (None, "cpu")
        )
        np.testing.assert_allclose(sent.alpha, host.alpha, atol=1e-8)
    with pytest.raises(OptionError, match="device is 'attic'"):
        es.qalpha(M.T, device="attic")
    with pytest.raises(InputError, match="sparse; device='cpu' is for arrays in memory"):
        es.qalpha(sparse.csr_array(M).T, device="cpu")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda M: np.where(M > 6, np.nan, M), "NaN or infinity"),
        (lambda M: np.where(M > 6, np.inf, M), "NaN or infinity"),
        (lambda M: M[:0], "none of them 0"),
        (lambda M: M[0], "samples x features"),
        (lambda M: M.astype(complex), "real numbers"),
        (lambda M: np.ones_like(M), "every feature is constant"),
    ],
)
def test_tables_that_cannot_be_used(spoil: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        es.qalpha(to_torch(spoil(table(20, 30, "float64")).T))


def test_a_time_limit() -> None:
    found = es.qalpha(to_torch(table(300, 24, "float64")).T, time_limit=0.0)
    assert str(found.status) == "time limit"
    assert np.linalg.norm(found.alpha) == pytest.approx(1.0)
