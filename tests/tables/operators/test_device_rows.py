"""Scaled rows on a device: torch and array-api-strict against the rows of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eigensieve.errors import InputError
from eigensieve.q_alpha.options import QAlphaOptions
from eigensieve.q_alpha.passes import equal_weights, project_and_turn, turn, weigh, weigh_and_turn
from eigensieve.q_alpha.problem import make_rows
from eigensieve.tables.kinds.arrays import is_device_array, to_numpy
from eigensieve.tables.operators import device_rows, scaling
from eigensieve.tables.operators.device_rows import DeviceRows

Q, N = 12, 30


def to_torch(X: np.ndarray) -> Any:
    return pytest.importorskip("torch").from_numpy(X)


def to_strict(X: np.ndarray) -> Any:
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("array_api_strict").asarray(X)


KINDS = pytest.mark.parametrize("send", [to_torch, to_strict])


def table(dtype: str) -> np.ndarray:
    """A zero column, a constant one, copies, a large mean."""
    X = np.random.default_rng(1).standard_normal((Q, N))
    X[:, 3], X[:, 4], X[:, 20] = 0, 7, X[:, 8]
    X[:, 5] += 1e4
    return (X * 100 if dtype == "int64" else X).astype(dtype)


@pytest.mark.parametrize(("entries", "piece"), [(2**27, 10**5), (3 * Q, 7)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@KINDS
def test_products(
    send: Any, dtype: str, entries: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_rows, "PIECE", piece)
    for module in (device_rows, scaling):
        monkeypatch.setattr(module, "DEVICE_ENTRIES", entries)
    X = table(dtype)
    for options in ({}, {"offset": 0.5}, {"center": False}, {"scale": False}):
        chosen = QAlphaOptions(**options)
        rows, host = make_rows(send(X), chosen), make_rows(X, chosen)
        assert isinstance(rows, DeviceRows)
        assert rows.dtype == host.dtype
        assert_alike(rows, host)
        samples = np.array([7, 2, 9, 3])
        assert_alike(rows.of_rows(samples), host.of_rows(samples))
        assert_alike(rows.permuted(3), host.permuted(3))
        assert_alike(rows.beside(rows.permuted(3)), host.beside(host.permuted(3)))


def assert_alike(rows: Any, host: Any) -> None:
    """Every product; what has a row per feature stays on the device, the rest comes as numpy."""
    n, q = host.n_features, host.n_samples
    assert (rows.n_features, rows.n_samples, rows.n_entries) == (n, q, host.n_entries)
    rng = np.random.default_rng(2)
    B, W, w = (rng.standard_normal(s).astype(host.dtype) for s in ((q, 3), (n, 3), n))
    far, weights = rows.place(W), rows.place(w)
    there = {
        "rmatmat": (rows.rmatmat(B), host.rmatmat(B)),
        "weigh": (weigh(rows, far, B), weigh(host, W, B)),
        "equal weights": (equal_weights(rows), equal_weights(host)),
        "weigh_and_turn": (weigh_and_turn(rows, far, B)[0], weigh(host, W, B)),
    }
    here = {
        "matmat": (rows.matmat(far), host.matmat(W)),
        "turn": (turn(rows, weights, far), turn(host, w, W)),
        "project_and_turn": (project_and_turn(rows, B, weights)[1], turn(host, w, host.rmatmat(B))),
        "weigh_and_turn": (weigh_and_turn(rows, far, B)[1], weigh_and_turn(host, W, B)[1]),
        "gram": (rows.gram(weights), host.gram(w)),
        "equal gram": (rows.gram(), host.gram()),
        "R.T @": (rows.T @ B, host.T @ B),
        "R @": (rows @ W, host @ W),
        "blocks": (np.hstack([b for _, b in rows.column_blocks()]), host[:, :]),
        "squares": (rows.squares().astype(host.dtype), host.squares()),
    }
    near = 1e-11 if host.dtype == np.float64 else 1e-5
    for name, (ours, plain) in (there | here).items():
        assert to_numpy(ours).dtype == host.dtype, name
        size = max(1.0, float(np.abs(plain).max()))
        np.testing.assert_allclose(to_numpy(ours), plain, rtol=0, atol=near * size, err_msg=name)
    assert all(is_device_array(ours) for ours, _ in there.values())
    assert all(type(ours) is np.ndarray for ours, _ in here.values())


@KINDS
def test_many_samples_are_rotated(send: Any) -> None:
    X = np.random.default_rng(0).standard_normal((40, 6))
    rows = make_rows(send(X), QAlphaOptions())
    few = rows.reduced()
    assert few.n_samples == 6
    np.testing.assert_allclose(few.gram().trace(), 6.0)
    C = np.random.default_rng(1).standard_normal((6, 2))
    basis = few.matmat(few.place(C))
    np.testing.assert_allclose(few.express(basis), rows.matmat(C), atol=1e-12)


@KINDS
def test_constant_features_and_extremes(send: Any) -> None:
    x = np.random.default_rng(3).standard_normal(40)
    columns = [x, x * 1e200, x * 1e-200, 1e6 + 1e-11 * x, np.full(40, 0.1), np.zeros(40)]
    X = np.column_stack([*columns, np.full(40, -1e-300), x + 1e8])
    M = to_numpy(make_rows(send(X), QAlphaOptions()).array).T
    np.testing.assert_array_equal(np.flatnonzero(~M.any(axis=1)), [3, 4, 5, 6])
    host = make_rows(X, QAlphaOptions()).array.T
    np.testing.assert_allclose(M[:7], host[:7], atol=1e-13)
    np.testing.assert_allclose(M[7], host[7], atol=1e-7)  # of a mean of 1e8 eight digits are lost
    with pytest.raises(InputError, match="constant"):
        make_rows(send(X[:, 3:7]), QAlphaOptions())
    with pytest.raises(InputError, match="1e\\+290"):
        make_rows(send(X[:, :1] * 1e295), QAlphaOptions())


@pytest.mark.parametrize(
    "options",
    [{"variant": v} for v in ("gap", "ritz", "laplacian")] + [{"kernel": "rbf"}],
)
def test_what_does_not_run_there(options: dict) -> None:
    with pytest.raises(InputError, match="does not run on a device; variants standard, basic"):
        make_rows(to_torch(table("float64")), QAlphaOptions(**options))
