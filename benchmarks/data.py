"""The open data sets as the notes on generalization use them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

RAW = {"colon": 1.0, "ramaswamy_filtered": 1.0, "dlbcl_fl": 20.0}


def data_folder() -> Path:
    """The folder named by EIGENSIEVE_DATA; ends the program if there is none."""
    folder = os.environ.get("EIGENSIEVE_DATA")
    if not folder:
        sys.exit("set EIGENSIEVE_DATA to the folder with the .npz data sets")
    return Path(folder)


def load_open_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y; raw intensities are taken to log2, floored at 1 (20 where there are negatives)."""
    with np.load(data_folder() / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    if name in RAW:
        X = np.log2(np.maximum(X, RAW[name]))
    return X, y
