"""What an analysis reads from an AnnData: a matrix, the names of its genes, groups of cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError, OptionError
from ..estimators._validation import read_columns
from ..pencil.constraints import as_constraints
from ..pencil.names import close_names, listed
from ..tables.kinds.anndata_parts import find_column, find_matrix, refuse_repeated
from ..tables.kinds.selected_table import select
from ..tables.named_columns import find_names


def check_options(estimator: type, options: Iterable[str]) -> None:
    """Raise for what the estimator does not have, before anything is read."""
    known = list(signature(estimator).parameters)
    for name in options:
        if name in known:
            continue
        if name == "k":
            hint = "the number of genes is n_features_to_select (ks for a path)"
        elif close := close_names(name, known):
            hint = f"close: {listed(close)}"
        else:
            hint = f"there are {', '.join(known)}"
        raise OptionError(f"{estimator.__name__} has no option {name!r}; {hint}")


def check_adata(adata: Any, name: str = "adata") -> None:
    """Raise unless it is an AnnData."""
    try:
        from anndata import AnnData
    except ImportError:
        raise MissingExtraError("anndata", "anndata") from None
    if not isinstance(adata, AnnData):
        raise InputError(
            f"{name} is of type {type(adata).__name__}; it must be an AnnData (of a MuData give "
            "one modality: mdata.mod['rna'])"
        )


@dataclass(frozen=True, eq=False)
class CellTable:
    """One matrix (cells, genes) of an AnnData, and those of its genes that count.

    Attributes
    ----------
    adata : AnnData
    matrix : .X, a layer, or .raw.X, as it is stored
    chosen : array (p,), sorted: the columns of the matrix that count
    names : array (p,) of their names, all different
    places : array (p,) of their positions in .var; -1 for a gene that is in .raw only
    params : dict, how it was asked for
    """

    adata: Any
    matrix: Any
    chosen: np.ndarray
    names: np.ndarray
    places: np.ndarray
    params: dict[str, Any]

    def table(self, cells: np.ndarray | None = None) -> Any:
        """The genes that count, of some cells (a mask) or of all; not read if it is on disk."""
        return select(self.matrix, cells, self.chosen)

    def values(self, cells: np.ndarray | None = None) -> np.ndarray:
        """The same in memory, dense: for few genes."""
        return read_columns(self.table(cells), np.arange(self.chosen.size))

    def to_var(self, values: np.ndarray, others: Any) -> np.ndarray:
        """Values of the genes that count as values of all of .var; ``others`` for the rest."""
        values = np.asarray(values)
        full = np.full((self.adata.n_vars, *values.shape[1:]), others, dtype=values.dtype)
        known = self.places >= 0
        full[self.places[known]] = values[known]
        return full

    def find(self, genes: Any, what: str) -> np.ndarray:
        """Positions of some genes among those that count; they are given by name."""
        wanted = [genes] if isinstance(genes, str) else list(genes)
        if not all(isinstance(gene, str) for gene in wanted):
            raise InputError(f"{what} must hold names of genes, as in .var_names; not {genes!r}")
        return find_names(wanted, self.names, what)

    def find_constraints(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options of an estimator, with positions in place of names of genes."""
        lists = {"include", "exclude"} & options.keys()
        found = options | {name: self.find(options[name], name).tolist() for name in lists}
        limits = as_constraints(options.get("constraints"))
        if limits is not None:
            found["constraints"] = limits.by_index(
                self.names.size, self.names.tolist()
            ).as_options()
        return found


def open_cells(adata: Any, layer: str | None, use_raw: bool, mask_var: Any) -> CellTable:
    """The matrix that was asked for, with checks that say what to do."""
    check_adata(adata)
    if use_raw and layer is not None:
        raise InputError(f"use_raw=True and layer={layer!r} were given; take one of the two")
    if use_raw and adata.raw is None:
        raise InputError("use_raw=True, but the AnnData has no .raw; leave use_raw out")
    part = adata.raw if use_raw else adata
    matrix = part.X if use_raw else find_matrix(adata, layer)
    chosen = np.flatnonzero(_mask(part, mask_var))
    if chosen.size == 0:
        raise InputError("mask_var leaves no gene; choose at least one")
    names = np.asarray(part.var_names, dtype=object)[chosen]
    refuse_repeated(names, ".raw.var_names" if use_raw else ".var_names")
    is_name = mask_var is None or isinstance(mask_var, str)
    params = {"layer": layer, "use_raw": use_raw, "mask_var": mask_var if is_name else "given"}
    if not use_raw:
        return CellTable(adata, matrix, chosen, names, chosen, params)
    refuse_repeated(np.asarray(adata.var_names, dtype=object), ".var_names")
    return CellTable(adata, matrix, chosen, names, adata.var_names.get_indexer(names), params)


def _mask(part: Any, mask_var: Any) -> np.ndarray:
    """Which genes count: all, a column of .var, or a mask."""
    p = part.var.shape[0]
    if mask_var is None:
        return np.ones(p, dtype=bool)
    is_name = isinstance(mask_var, str)
    given = find_column(part.var, mask_var, ".var", "mask_var") if is_name else mask_var
    mask = np.asarray(given)
    if mask.dtype != bool or mask.shape != (p,):
        raise InputError(
            f"mask_var has type {mask.dtype} and shape {mask.shape}; it must be a mask (bool) of "
            f"the {p} genes, or the name of such a column of .var"
        )
    return mask
