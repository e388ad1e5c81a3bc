"""Parts of an AnnData: a matrix, a column of .obs or .var, names that are all different."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...pencil.names import hint_at, listed
from .opening import matrix_of


def find_matrix(adata: Any, layer: str | None) -> Any:
    """.X, or a layer."""
    if layer is not None and layer not in adata.layers:
        raise InputError(f"no layer is called {layer!r}; {hint_at(layer, adata.layers)}")
    matrix = matrix_of(adata) if layer is None else adata.layers[layer]
    if matrix is None:
        raise InputError(
            f"the AnnData has no .X; name one of its layers: layer=...; {hint_at('', adata.layers)}"
        )
    return matrix


def find_column(frame: Any, name: str, where: str, what: str) -> Any:
    """A column of .obs or .var; an error has the names that look alike."""
    if not isinstance(name, str):
        raise InputError(f"{what} is {name!r}; it must be the name of a column of {where}")
    if name not in frame.columns:
        hint = hint_at(name, frame.columns)
        raise InputError(f"{what} is {name!r}, but {where} has no such column; {hint}")
    return frame[name]


def refuse_repeated(names: np.ndarray, where: str) -> None:
    """Raise unless every name of a gene is there once."""
    values, counts = np.unique(names.astype(str), return_counts=True)
    repeated = values[counts > 1]
    if repeated.size:
        raise InputError(
            f"{repeated.size} name(s) occur more than once in {where} ({listed(repeated.tolist())})"
            ": a model could not say which gene it means; call adata.var_names_make_unique() first"
        )
