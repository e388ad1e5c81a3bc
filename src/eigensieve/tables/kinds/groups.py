"""The groups of cells that a column of .obs names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...pencil.names import listed
from .anndata_parts import find_column, find_matrix, refuse_repeated
from .selected_table import select


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of the cells, as text.

    Attributes
    ----------
    labels : array (n_obs,) of str; "" for cells without a group
    known : mask (n_obs,) of the cells that have a group
    classes : list of str, the groups that have cells, in the order of the column
    """

    labels: np.ndarray
    known: np.ndarray
    classes: list[str]

    @property
    def fitted(self) -> np.ndarray:
        """The labels of the cells that have one."""
        return self.labels[self.known]


def read_groups(adata: Any, groupby: str, *, least: int = 2, what: str = "groupby") -> Groups:
    """A column of categories, text, whole numbers or booleans; missing entries are no group."""
    column = find_column(adata.obs, groupby, ".obs", what)
    known = column.notna().to_numpy()
    texts = np.full(len(column), "", dtype=object)
    texts[known] = [_text(value, groupby) for value in column[known].tolist()]
    order = _order(column, known)
    classes = list(dict.fromkeys(_text(value, groupby) for value in order))
    if len(classes) < least:
        found = f"one group ({classes[0]!r})" if classes else "no group"
        raise InputError(
            f".obs[{groupby!r}] has {found} in {len(column)} cells; at least {least} are needed"
        )
    if least > 1 and len(classes) == len(column):
        raise InputError(
            f"every cell has a group of its own in .obs[{groupby!r}]: {listed(classes)}; name a "
            "column of groups"
        )
    return Groups(texts.astype(str), known, classes)


def labelled_cells(
    adata: Any, groupby: Any, layer: str | None
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The cells that have a group, their groups, and the names of the genes.

    ``groupby`` is a column of .obs, or holds the groups of all cells itself.
    """
    names = np.asarray(adata.var_names, dtype=object)
    refuse_repeated(names, ".var_names")
    matrix = find_matrix(adata, layer)
    if not isinstance(groupby, str):
        return matrix, groupby, names
    groups = read_groups(adata, groupby, what="y")
    return select(matrix, groups.known, np.arange(names.size)), groups.fitted, names


def _order(column: Any, known: np.ndarray) -> list[Any]:
    """The groups that occur, categories in their own order, others sorted."""
    values = column[known]
    if hasattr(values, "cat"):
        return list(values.cat.remove_unused_categories().cat.categories)
    return sorted(values.unique().tolist(), key=lambda value: (str(type(value)), value))


def _text(value: Any, groupby: str) -> str:
    """A group as text; 1.0 is what pandas makes of 1 where others are missing."""
    if isinstance(value, float):
        if not value.is_integer():
            raise InputError(
                f".obs[{groupby!r}] holds numbers such as {value!r}, not groups; name a column of "
                "groups, or cut it into some: pandas.cut(...)"
            )
        return str(int(value))
    return str(value)
