"""Sparse components of DC-PCA, SPCA and DSPCA, and the variance they explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from ...errors import TableError
from ...pencil.pencil import Pencil
from ...search.deflation import deflate, explained_variances
from ...search.solve import solve
from ...search.sparse_pca_relaxation import Relaxation
from ..data import data_file

PAPER = {"swap": False, "n_starts": 0}  # solver "dc" as in the paper, weights recomputed
MEASURES = ("plain", "adjusted", "subspace")
# The relaxation is solved to six digits; smaller loadings than this are what is left of zeros.
STEPS, ZERO = 300, 1e-3


def pit_props() -> np.ndarray:
    """The 13 x 13 correlation matrix."""
    path = data_file("pitprops")
    try:
        # Opened here: np.load leaves the file open when the archive is damaged.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            corr = np.asarray(archive["corr"], dtype=np.float64)
    except Exception as error:  # damaged bytes raise nearly anything
        raise TableError(f"{path}: no .npz file with a readable array corr ({error})") from error
    if corr.shape != (13, 13):
        raise TableError(f"{path}: corr is {corr.shape}; it must be (13, 13)")
    return corr


def sequential_components(
    pencil: Pencil, ks: Sequence[int], solver: str, deflation: str = "projection", **options: Any
) -> np.ndarray:
    """One component after the other with so many features each, as columns."""
    vectors: list[np.ndarray] = []
    for k in ks:
        solution = solve(pencil, k, solver, **options)
        solution.verify(pencil)
        vectors.append(solution.vectors[:, 0])
        pencil = deflate(pencil, np.column_stack(vectors), deflation)
    return np.column_stack(vectors)


def relaxed_component(A: np.ndarray, k: int, steps: int = STEPS) -> np.ndarray:
    """DSPCA's own loadings: the leading eigenvector of X, which k does not cut to k entries."""
    if k == 1:  # X is diagonal; where variances tie any feature will do: the first
        return np.asarray(np.eye(len(A))[np.argmax(np.diag(A))])
    relaxation = Relaxation(A, k)
    for _ in range(steps):
        relaxation.step()
    x = linalg.eigh(relaxation.Z)[1][:, -1]
    x = np.where(np.abs(x) > ZERO, x, 0.0)
    return np.asarray(x / np.linalg.norm(x))


def relaxed_components(pencil: Pencil, ks: Sequence[int], steps: int = STEPS) -> np.ndarray:
    """DSPCA with Hotelling's deflation, as its authors do it."""
    vectors: list[np.ndarray] = []
    for k in ks:
        vectors.append(relaxed_component(pencil.A, k, steps))
        pencil = deflate(pencil, np.column_stack(vectors), "hotelling")
    return np.column_stack(vectors)


def describe(pencil: Pencil, vectors: np.ndarray) -> dict[str, Any]:
    """Cumulative variance in percent by every measure, and the (1-based) features."""
    plain, adjusted, subspace = explained_variances(pencil, vectors)
    cumulative = (np.cumsum(plain), np.cumsum(adjusted), subspace)
    percent = 100 / float(pencil.diag_A.sum())
    found: dict[str, Any] = {
        name: (percent * values).tolist() for name, values in zip(MEASURES, cumulative)
    }
    found["supports"] = [(np.flatnonzero(v) + 1).tolist() for v in vectors.T]
    return found


def cardinalities(found: dict[str, Any]) -> list[int]:
    """Features of every component."""
    return [len(support) for support in found["supports"]]
