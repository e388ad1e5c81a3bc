"""How results are written into an AnnData, and found again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError
from ..pencil.names import listed
from .cell_table import check_adata


@dataclass(eq=False)
class Results:
    """What is to be written, by the name it gets; nothing is written before all of it is there."""

    key: str
    var: dict[str, np.ndarray] = field(default_factory=dict)
    varm: dict[str, np.ndarray] = field(default_factory=dict)
    obs: dict[str, Any] = field(default_factory=dict)
    obsm: dict[str, np.ndarray] = field(default_factory=dict)
    uns: dict[str, Any] = field(default_factory=dict)

    def write(self, adata: Any, copy: bool) -> Any:
        """Into the AnnData itself (returns None), or into a copy, which is returned.

        Names that an earlier run of the same method left under this key are taken out first.
        """
        from anndata import ImplicitModificationWarning

        with warnings.catch_warnings():
            # a view becomes an AnnData of its own: that is what is wanted
            warnings.simplefilter("ignore", ImplicitModificationWarning)
            target = adata.copy() if copy else adata
            if self.uns:
                forget(target, self.key)
            for name, column in self.var.items():
                target.var[name] = column
            for name, column in self.obs.items():
                target.obs[name] = column
            target.varm.update(self.varm)
            target.obsm.update(self.obsm)
            if self.uns:
                target.uns[self.key] = plain(self.uns | {"written": self._written()})
        return target if copy else None

    def _written(self) -> dict[str, list[str]]:
        parts = {"var": self.var, "varm": self.varm, "obs": self.obs, "obsm": self.obsm}
        return {place: list(part) for place, part in parts.items() if part}


def forget(adata: Any, key: str) -> None:
    """Take out what an earlier result of this key has written."""
    old = adata.uns.get(key)
    written = old.get("written") if isinstance(old, Mapping) else None
    if not isinstance(written, Mapping):
        return
    for place in ("var", "varm", "obs", "obsm"):
        part = getattr(adata, place)
        for name in written.get(place, ()):
            # a file may say anything: what has another name is not ours
            is_ours = name in (key, f"X_{key}") or str(name).startswith(f"{key}_")
            if is_ours and name in part:
                del part[name]


def check_writable(adata: Any, key: str, copy: bool, groupby: str | None = None) -> None:
    """Said before the work begins."""
    check_adata(adata)
    if key == groupby:
        raise InputError(
            f"key_added is {key!r}, as groupby: predictions would replace the groups in .obs; "
            "choose another"
        )
    if not isinstance(key, str) or not key or "/" in key:
        raise InputError(f"key_added is {key!r}; it must be a name without a slash")
    if adata.isbacked and (copy or adata.is_view):
        what = "copy=True" if copy else "a view"
        raise InputError(
            f"the AnnData is backed by a file, and {what} would copy the file; give "
            "adata.to_memory(), or write into the backed AnnData itself (in memory only: the "
            "file does not change)"
        )


def describe_run(method: str, params: Mapping[str, Any], options: Mapping[str, Any]) -> dict:
    """The first lines of .uns[key]: what was asked for; options that are None are left out."""
    return {
        "method": method,
        "eigensieve": __version__,
        "params": {**params, **options},
    }


def describe_solution(solution: Any) -> dict[str, Any]:
    """Objective, bound, gap and status of a search."""
    return {
        "objective": float(solution.objective),
        "bound": float(solution.bound),
        "gap": float(solution.gap),
        "status": str(solution.status),
        "optimal": bool(solution.is_certified),
        "solver": str(solution.solver),
    }


def plain(value: Any) -> Any:
    """What .h5ad and zarr can hold: dicts, text, numbers, arrays; the rest as text.

    None is left out of dicts. A slash in a key would be a folder of the file.
    """
    if isinstance(value, Mapping) and not any("/" in str(name) for name in value):
        return {str(name): plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return array
        return np.array([str(each) for each in array.ravel()], dtype=object)
    return repr(value)


def find_result(adata: Any, key: str, method: str | None = None) -> dict[str, Any]:
    """.uns[key] of an earlier run; ``method`` is the function that writes it."""
    check_adata(adata)
    found = adata.uns.get(key)
    if isinstance(found, Mapping) and "method" in found and "eigensieve" in found:
        return dict(found)
    ours = [
        name
        for name, each in adata.uns.items()
        if isinstance(each, Mapping) and {"method", "eigensieve"} <= set(each)
    ]
    hint = f"there are {listed(ours)}" if ours else "there is none"
    run = f"; run eigensieve.tl.{method}(adata, ...) first" if method else ""
    raise InputError(f".uns[{key!r}] is no result of eigensieve; {hint}{run}")
