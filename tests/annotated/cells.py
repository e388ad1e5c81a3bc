"""Small AnnData with known structure, in memory and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

anndata = pytest.importorskip("anndata")

TYPES = ["B", "T", "NK"]


def make_cells(
    n: int = 20, p: int = 30, form: Any = np.asarray, dtype: Any = np.float32, seed: int = 0
) -> Any:
    """3n cells: genes 0-2 are high in B, 3-5 in T, the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, size=(3 * n, p))
    X[:n, :3] += rng.poisson(4.0, size=(n, 3))
    X[n : 2 * n, 3:6] += rng.poisson(4.0, size=(n, 3))
    types = pd.Categorical(np.repeat(TYPES, n), categories=["NK", "T", "unused", "B"])
    cells = pd.DataFrame({"type": types}, index=[f"cell{i}" for i in range(3 * n)])
    genes = pd.DataFrame({"variable": np.arange(p) < p // 2}, index=[f"gene{j}" for j in range(p)])
    return anndata.AnnData(form(X.astype(dtype)), obs=cells, var=genes)


def backed(adata: Any, folder: Path) -> Any:
    adata.write_h5ad(folder / "cells.h5ad")
    return anndata.read_h5ad(folder / "cells.h5ad", backed="r")


def separation(X: np.ndarray, labels: np.ndarray, shrinkage: float) -> tuple[np.ndarray, ...]:
    """Class means, their covariance A and the shrunk covariance within B, in plain numpy."""
    X = np.asarray(X, dtype=np.float64)
    groups = np.unique(labels)
    means = np.array([X[labels == g].mean(axis=0) for g in groups])
    shares = np.array([(labels == g).mean() for g in groups])
    centred = means - X.mean(axis=0)
    A = (centred.T * shares) @ centred
    rest = X - means[np.searchsorted(groups, labels)]
    within = rest.T @ rest / len(X)
    B = (1 - shrinkage) * within + shrinkage * np.diag(np.diag(within))
    return means, shares, A, B
