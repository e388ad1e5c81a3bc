"""One table in every form that estimators take: sparse, in blocks, on a device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tests.big_tables import MAKERS
from tests.device_arrays import DEVICES, sender

SPARSE = ("csr", "csc")


def as_kind(X: np.ndarray, kind: str, folder: Path) -> Any:
    """X as a table of another kind; a test whose library is missing is skipped."""
    if kind == "csr":
        return sparse.csr_array(X)
    if kind == "csc":
        return sparse.csc_matrix(X)
    return sender(kind)(X) if kind in DEVICES else MAKERS[kind](X, folder)


def make_classes(
    shape: tuple[int, int], n_classes: int, density: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Classes that differ in eight columns; column 20 is a copy of 3, and 25 is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < density)
    y = np.array(list("abcdef"))[np.arange(shape[0]) % n_classes]
    X[y == "a", :5] += 2.0
    X[y == "b", 3:8] -= 1.5
    X[:, 20] = X[:, 3]
    X[:, 25] = 5.0
    return X, y


def assert_same_fit(
    found: Any, wanted: Any, X: np.ndarray, fitted: Sequence[str], tol: float
) -> None:
    """The fitted attributes of these names, the projection and the predictions agree."""
    for name in fitted:
        assert hasattr(found, name) == hasattr(wanted, name), name
        if hasattr(wanted, name):
            a, b = np.asarray(getattr(found, name)), np.asarray(getattr(wanted, name))
            np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1, np.abs(b).max()))
    np.testing.assert_allclose(found.transform(X), wanted.transform(X), atol=100 * tol)
    assert np.array_equal(found.predict(X), wanted.predict(X))
