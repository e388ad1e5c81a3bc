"""Arrays on a device are told from others, and go there and back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from eigensieve.errors import InputError, MissingExtraError, OptionError
from eigensieve.tables.kinds.arrays import (
    all_finite,
    check_device_table,
    is_device_array,
    largest_values,
    like,
    namespace,
    scatter,
    to_device,
    to_numpy,
)
from tests.device_arrays import library


def torch_array(values: np.ndarray) -> Any:
    return library("torch").asarray(values)


def strict_array(values: np.ndarray) -> Any:
    return library("array_api_strict").asarray(values)


@pytest.fixture(params=[torch_array, strict_array])
def array(request: pytest.FixtureRequest) -> Any:
    return request.param(np.arange(6.0).reshape(2, 3))


def test_numpy_needs_nothing() -> None:
    X = np.ones((2, 2))
    assert not is_device_array(X)
    assert not is_device_array([[1.0]])
    assert namespace(X) is np
    assert to_numpy(X) is X
    assert to_device(X, None) is X


def test_there_and_back(array) -> None:
    assert is_device_array(array)
    back = to_numpy(array)
    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, np.arange(6.0).reshape(2, 3))


def test_the_namespace_serves_the_array(array) -> None:
    xp = namespace(array)
    assert xp is not np
    np.testing.assert_array_equal(to_numpy(xp.sum(array, axis=0)), [3.0, 5.0, 7.0])


def test_values_of_the_host_join_the_array(array) -> None:
    column = like([[1.0], [2.0]], array)
    np.testing.assert_array_equal(to_numpy(array * column)[1], [6.0, 8.0, 10.0])
    assert like([1, 2], np.zeros(1), np.float32).dtype == np.float32


@pytest.mark.parametrize("send", [np.array, torch_array, strict_array])
def test_vectors_anywhere(send) -> None:
    vector = send(np.array([3.0, 1.0, 5.0, 5.0, -np.inf]))
    scatter(vector, np.array([1, 4]), np.array([9.0, 2.0]))
    np.testing.assert_array_equal(to_numpy(vector), [3.0, 9.0, 5.0, 5.0, 2.0])
    scatter(vector, np.empty(0, dtype=np.intp), np.empty(0))
    for count in range(6):
        found = largest_values(vector, count)
        assert type(found) is np.ndarray
        assert sorted(found) == [2.0, 3.0, 5.0, 5.0, 9.0][5 - count :]


def test_a_table_is_sent_to_a_device() -> None:
    torch = library("torch")
    sent = to_device(np.eye(2)[:, ::-1], "cpu")
    assert isinstance(sent, torch.Tensor)
    np.testing.assert_array_equal(to_numpy(sent), np.eye(2)[:, ::-1])


def test_unknown_devices_are_refused() -> None:
    torch = library("torch")
    with pytest.raises(OptionError, match="device is 'moon'"):
        to_device(np.eye(2), "moon")
    if not torch.cuda.is_available():
        with pytest.raises(OptionError, match=r"no such device.*leave device out, or install"):
            to_device(np.eye(2), "cuda")
    for place in ("mps", "meta"):
        with pytest.raises(OptionError, match=f"device is '{place}'; it must be 'cuda'"):
            to_device(np.eye(2), place)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch) -> None:
    torch = library("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(OptionError, match="device is 'cuda:2', but there are 2"):
        to_device(np.eye(2), "cuda:2")


@pytest.fixture(params=[np.asarray, torch_array, strict_array])
def send(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_finite_numbers(send) -> None:
    for dtype in (np.float32, np.float64):
        top = np.finfo(dtype).max
        assert all_finite(send(np.array([[top, top], [1.0, 2.0]], dtype=dtype)))  # its sum is not
        for bad in (np.nan, np.inf, -np.inf):
            assert not all_finite(send(np.array([[bad, 1.0], [1.0, 2.0]], dtype=dtype)))
    assert not all_finite(send(np.array([np.inf, -np.inf])))
    assert all_finite(np.array([2**62, 2**62, 2**62]))


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (np.array([1.0, 2.0]), r"M has shape \(2,\); it must be a x b"),
        (np.zeros((0, 3)), r"M has shape \(0, 3\)"),
        (np.array([[1j]]), "M holds .*complex128; it must hold real numbers"),
        (np.array([[1.0, np.nan]]), "M contains NaN or infinity"),
    ],
)
def test_bad_tables_on_a_device(bad, said) -> None:
    for kind in (torch_array, strict_array):
        with pytest.raises(InputError, match=said):
            check_device_table(kind(bad), "M", "a x b")


def test_good_tables_on_a_device() -> None:
    for dtype in (np.float32, np.float64, np.int32, bool):
        for kind in (torch_array, strict_array):
            check_device_table(kind(np.ones((2, 3), dtype=dtype)), "M", "a x b")


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor:UserWarning")
def test_sparse_tensors_are_refused() -> None:
    X = torch_array(np.eye(3))
    for table in (X.to_sparse(), X.to_sparse_csr()):
        with pytest.raises(InputError, match=r"sparse tensor; give .*X.to_dense\(\)"):
            check_device_table(table, "X", "samples x features")


def test_what_is_missing_is_named_with_the_pip_line(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eigensieve\[gpu\]'"):
        to_device(np.eye(2), "cuda")


def test_the_array_api_is_named_with_the_pip_line(array, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(MissingExtraError, match=r"array-api-compat is not installed.*\[gpu\]"):
        namespace(array)


def test_odd_arrays_go_there_and_back() -> None:
    torch = pytest.importorskip("torch")
    frozen = np.eye(2)
    frozen.flags.writeable = False  # as joblib hands them over; torch would warn
    np.testing.assert_array_equal(to_numpy(to_device(frozen, "cpu")), np.eye(2))
    half = torch.ones(2, dtype=torch.bfloat16)
    np.testing.assert_array_equal(to_numpy(half), [1.0, 1.0])
