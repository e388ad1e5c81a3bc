"""The rows of Q-alpha on a device (torch, cupy): what has a row per feature never leaves it.

A cycle of single steps is four products at the speed of the device's memory; a few numbers per
sample come to the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...pencil.feature_blocks import DEVICE_ENTRIES, feature_slices
from ...tables.kinds.arrays import is_device_array, like, namespace, to_numpy
from ..scaling import working_dtype
from .feature_rows import DenseRows, FeatureRows

# Features of which a product is summed up by itself.
PIECE = 100_000


class DeviceRows(DenseRows):
    """M of an array on a device; ``data`` is M' (q, n), already scaled."""

    is_remote = True

    def __init__(self, data: Any, rotation: Any = None) -> None:
        self.data, self.rotation = data, rotation
        self.n_samples, self.n_features = data.shape
        self.dtype = working_dtype(data)
        self.xp = namespace(data)

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        for where in feature_slices(self.n_features, self.n_samples, DEVICE_ENTRIES):
            yield where, self.data[:, where].T

    def of_samples(self, samples: np.ndarray) -> DeviceRows:
        return DeviceRows(self.xp.take(self.data, like(samples, self.data), axis=0))

    def reduced(self) -> DeviceRows:
        if self.n_samples <= self.n_features:
            return self
        rotation, R = self.xp.linalg.qr(self.data)
        return DeviceRows(R, rotation)

    def express(self, basis: np.ndarray) -> np.ndarray:
        if self.rotation is None:
            return basis
        return to_numpy(self.rotation @ self.place(basis))

    def permuted(self, seed: int) -> DeviceRows:
        """In the memory of the host, in the same orders as there."""
        data = np.empty(self.data.shape, dtype=self.dtype)
        DenseRows(to_numpy(self.data))._permute_into(data, seed)
        return DeviceRows(self.place(data))

    def beside(self, other: FeatureRows) -> DeviceRows:
        assert isinstance(other, DeviceRows)
        return DeviceRows(self.xp.concat([self.data, other.data], axis=1))

    def place(self, W: Any) -> Any:
        return W if is_device_array(W) else like(W, self.data, self.dtype)

    def equal_weights(self) -> Any:
        return self.xp.full_like(self.data[0, :], self.n_features**-0.5)

    def join(self, parts: Sequence[Any]) -> Any:
        return self.xp.concat(list(parts), axis=1)

    def row_products(self, U: Any, V: Any) -> Any:
        return self.xp.sum(U * V, axis=1)

    def times(self, B: np.ndarray) -> Any:
        # the columns of the result in one piece each, as `times_transposed` likes them
        return (self.place(B).T @ self.data).T

    def times_transposed(self, W: Any) -> np.ndarray:
        """In pieces side by side: one sum over millions of features uses little of a device."""
        q, k, count = self.n_samples, W.shape[1], self.n_features // PIECE
        whole = count * PIECE
        total = self.data[:, whole:] @ W[whole:, :]
        if count:
            xp = self.xp
            rows = xp.reshape(self.data[:, :whole], (q, count, PIECE))
            columns = xp.reshape(W.T[:, :whole], (k, count, PIECE))
            parts = xp.permute_dims(columns, (1, 0, 2)) @ xp.permute_dims(rows, (1, 2, 0))
            total = total + xp.sum(parts, axis=0).T
        return to_numpy(total)

    def affinity(self, weights: Any = None) -> np.ndarray:
        if weights is None:
            return to_numpy(self.data @ self.data.T)
        parts = ((rows * weights[where, None]).T @ rows for where, rows in self.blocks())
        return to_numpy(sum(parts))
