"""The data sets of the papers, as the experiments use them."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..datasets.loader import VARIABLE, load_table


def data_file(name: str) -> Path:
    """Where a data set should lie; it need not be there."""
    return Path(os.environ.get(VARIABLE, "")) / f"{name}.npz"


def missing_files(names: tuple[str, ...]) -> list[str]:
    """The files that are not there."""
    folder = os.environ.get(VARIABLE)
    return [f"{n}.npz" for n in names if not folder or not data_file(n).is_file()]


@lru_cache(maxsize=4)
def load_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y as they are in the file; read once a process, and not to be changed."""
    table = load_table(name)
    for array in (table.X, table.y):
        array.flags.writeable = False
    return table.X, table.y


def half_split(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Stratified half and half: ceil(n_i / 2) of every class for training, the rest for testing."""
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    train = np.sort(np.concatenate([part[: -(-part.size // 2)] for part in parts]))
    return train, np.setdiff1d(np.arange(len(y)), train)
