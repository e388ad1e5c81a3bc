"""Lists whose length the notes give (notes/panels.md), on the published gene tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eigensieve as es


def standardized(load_data: Callable[[str], Any], name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load_data(name)
    X = np.asarray(data.X, dtype=np.float64)
    if name == "colon":
        X = np.log2(np.maximum(X, 1.0))
    return (X - X.mean(axis=0)) / X.std(axis=0), data.y


@pytest.mark.parametrize(
    ("name", "shrinkage", "k", "within", "n_sets", "n_core"),
    [
        ("prostate", 0.7, 10, 0.005, 11, 6),
        ("prostate", 0.7, 10, 0.01, 67, 5),
        ("prostate", 0.5, 5, 0.02, 17, 2),
        ("colon", 0.7, 10, 0.005, 3, 9),
        ("colon", 0.7, 10, 0.01, 10, 6),
        ("colon", 0.7, 10, 0.02, 141, 3),
    ],
)
def test_lists_of_the_notes(
    load_data: Callable[[str], Any], name: str, shrinkage: float, k: int, within: float,
    n_sets: int, n_core: int,
) -> None:  # fmt: skip
    X, y = standardized(load_data, name)
    pencil = es.lda_pencil(X, y, shrinkage=shrinkage)
    found = es.near_optimal(pencil, k, within, criterion="trace")
    assert found.is_complete
    assert found.n_sets == n_sets
    assert found.core.size == n_core
    assert found.never.size == pencil.size - n_core - found.shared.size
    found.verify(pencil)


@pytest.mark.parametrize("name", ["srbct83", "lymphoma", "brain"])
def test_many_classes_are_listed_completely(load_data: Callable[[str], Any], name: str) -> None:
    X, y = standardized(load_data, name)
    pencil = es.lda_pencil(X, y)
    found = es.near_optimal(pencil, 5, 0.01)
    assert found.criterion == "logdet"
    assert found.is_complete
    found.verify(pencil)
