"""Arrays on a device are told from others, and go there and back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from eigensieve.backends.arrays import (
    is_device_array,
    largest_values,
    like,
    namespace,
    scatter,
    to_device,
    to_numpy,
)
from eigensieve.errors import MissingExtraError, OptionError


def torch_array(values: np.ndarray) -> Any:
    return pytest.importorskip("torch").asarray(values)


def strict_array(values: np.ndarray) -> Any:
    return pytest.importorskip("array_api_strict").asarray(values)


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
    torch = pytest.importorskip("torch")
    sent = to_device(np.eye(2)[:, ::-1], "cpu")
    assert isinstance(sent, torch.Tensor)
    np.testing.assert_array_equal(to_numpy(sent), np.eye(2)[:, ::-1])


def test_unknown_devices_are_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(OptionError, match="device is 'moon'"):
        to_device(np.eye(2), "moon")
    if not torch.cuda.is_available():
        with pytest.raises(OptionError, match="finds no such device"):
            to_device(np.eye(2), "cuda")


def test_what_is_missing_is_named_with_the_pip_line(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eigensieve\[gpu\]'"):
        to_device(np.eye(2), "cuda")


def test_the_array_api_is_named_with_the_pip_line(array, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(MissingExtraError, match=r"array-api-compat is not installed.*\[gpu\]"):
        namespace(array)
