"""AnnData files: .X or a layer, genes from .var_names, labels from .obs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigensieve.errors import MissingExtraError, TableError

from ..pencil.names import hint_at, listed
from ._cells import texts_of
from ._sheet import Sheet


def read_h5ad(path: Path, labels: tuple[str, ...], layer: str | None) -> Sheet:
    """An .h5ad file; a sparse matrix stays sparse (csr)."""
    with _opened(path) as adata:
        names = [str(name) for name in adata.var_names]
        sheet = Sheet(names, _numbers(adata, layer), {}, [str(cell) for cell in adata.obs_names])
        for label in labels:
            sheet.texts[len(sheet.names)] = texts_of(_find(adata.obs, label))
            sheet.names.append(label)
    sheet.is_matrix = True
    return sheet


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The AnnData, its .X still on disk."""
    try:
        import anndata
    except ImportError:
        raise MissingExtraError("anndata", "anndata") from None
    try:
        with warnings.catch_warnings():
            # repeated names of genes are noted by the reader of tables, those of cells do no harm
            warnings.filterwarnings("ignore", ".*names are not unique", UserWarning)
            adata = anndata.read_h5ad(path, backed="r")
    except Exception as error:  # damaged bytes raise nearly anything
        raise TableError(
            f"not a readable .h5ad file ({str(error).splitlines()[0] if str(error) else error!r}); "
            "copy it again, or write it with adata.write_h5ad"
        ) from error
    try:
        yield adata
    finally:
        adata.file.close()


def _numbers(adata: Any, layer: str | None) -> Any:
    if layer is not None and layer not in adata.layers:
        known = [str(name) for name in adata.layers]
        there = f"there are {listed(known)}" if known else "there are none"
        raise TableError(f"no layer is named {layer!r}; {there}")
    X = None
    with suppress(KeyError):  # so says a file without X
        X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        layers = listed([str(name) for name in adata.layers])
        hint = f"name a layer: --layer {layers}" if layers else "it has no layers either"
        raise TableError(f"has no X; {hint}")
    if np.dtype(X.dtype).kind not in "biuf":
        raise TableError(f"{'X' if layer is None else layer} holds {X.dtype}; numbers are needed")
    if hasattr(X, "to_memory"):  # sparse, on disk
        X = X.to_memory()
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    return np.array(X, dtype=np.float64)


def _find(obs: Any, name: str) -> Any:
    if name in obs.columns:
        return obs[name]
    raise TableError(f".obs has no column {name!r}; {hint_at(name, obs.columns, 'it has none')}")
