"""Pictures of what `eigensieve.tl` has written into an AnnData.

Every function draws on ``ax``, or on a figure of its own, and returns a display with ``ax_`` and
``figure_``. ``show=None`` shows the figure where matplotlib is interactive (as in a notebook),
``show=True`` always, ``show=False`` never.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .annotated.cell_table import open_cells
from .annotated.results import find_result
from .errors import InputError
from .tables.kinds.anndata_parts import find_column
from .tables.kinds.groups import read_groups
from .tables.named_columns import find_names

if TYPE_CHECKING:
    from .plots import (
        AlphaDisplay,
        DotsDisplay,
        GapDisplay,
        LoadingsDisplay,
        PanelsDisplay,
        ProjectionDisplay,
    )

__all__ = [
    "dotplot",
    "gloss",
    "loadings",
    "near_optimal",
    "path",
    "qalpha",
    "sparse_lda",
    "sparse_pca",
]

NO_GROUP = "no group"


def sparse_lda(
    adata: Any,
    color: str | None = None,
    *,
    key: str = "sparse_lda",
    ax: Any = None,
    show: bool | None = None,
) -> ProjectionDisplay:
    """The cells on the directions of `eigensieve.tl.sparse_lda`, by group.

    Parameters
    ----------
    adata : AnnData
    color : str, optional
        A column of .obs with groups; by default the one of the fit.
    key : str, the ``key_added`` of the fit
    ax : matplotlib axes, optional
    show : bool, optional

    Returns
    -------
    ProjectionDisplay

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(60, 9))
    >>> values[:20, 0] += 4
    >>> values[20:40, 1] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T", "NK"], 20)}, index=map(str, range(60)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_lda(adata, "type", 2)
    >>> es.pl.sparse_lda(adata, show=False).classes.tolist()
    ['B', 'NK', 'T']
    """
    return _project(adata, key, "sparse_lda", color, ax, show)


def gloss(
    adata: Any,
    color: str | None = None,
    *,
    key: str = "gloss",
    ax: Any = None,
    show: bool | None = None,
) -> ProjectionDisplay:
    """The cells on the directions of `eigensieve.tl.gloss`, by group.

    Parameters and result are those of `sparse_lda`.
    """
    return _project(adata, key, "gloss", color, ax, show)


def sparse_pca(
    adata: Any,
    color: str,
    *,
    key: str = "sparse_pca",
    ax: Any = None,
    show: bool | None = None,
) -> ProjectionDisplay:
    """The cells on the components of `eigensieve.tl.sparse_pca`, by the groups of a column.

    Parameters
    ----------
    adata : AnnData
    color : str
        A column of .obs with groups: components know of none.
    key : str, the ``key_added`` of the fit
    ax : matplotlib axes, optional
    show : bool, optional

    Returns
    -------
    ProjectionDisplay

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(60, 9))
    >>> values[:20, :2] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T", "NK"], 20)}, index=map(str, range(60)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_pca(adata, 2, n_features_to_select=2)
    >>> es.pl.sparse_pca(adata, "type", show=False).classes.tolist()
    ['B', 'NK', 'T']
    """
    return _project(adata, key, "sparse_pca", color, ax, show)


def loadings(
    adata: Any, key: str = "sparse_lda", *, ax: Any = None, show: bool | None = None
) -> LoadingsDisplay:
    """Bars of the loadings of the selected genes on the first two directions.

    Parameters
    ----------
    adata : AnnData
    key : str
        Of a result of `sparse_lda`, `gloss`, `sparse_pca` or `sparse_cca`.
    ax : matplotlib axes, optional; a pair for two directions
    show : bool, optional

    Returns
    -------
    LoadingsDisplay

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 9))
    >>> values[:20, :2] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 20)}, index=map(str, range(40)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_lda(adata, "type", 2)
    >>> sorted(es.pl.loadings(adata, show=False).names)
    ['0', '1']
    """
    from .plots import LoadingsDisplay

    found = find_result(adata, key, "sparse_lda")
    if key not in adata.varm:
        raise InputError(f".varm has no {key!r}: {found['method']} has no loadings to draw")
    names = _selected(adata, found)
    matrix = np.asarray(adata.varm[key])[find_names(names, adata.var_names, key)]
    return _present(LoadingsDisplay(names, matrix), ax, show)


def dotplot(
    adata: Any,
    genes: str | Sequence[str] = "sparse_lda",
    groupby: str | None = None,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    ax: Any = None,
    show: bool | None = None,
) -> DotsDisplay:
    """A dot for every gene and group: mean value by colour, share of expressing cells by area.

    Parameters
    ----------
    adata : AnnData
    genes : str or list of names
        The key of a result, whose selected genes are drawn, heaviest first; or the names.
    groupby : str, optional
        A column of .obs; by default the one of the result.
    layer, use_raw : where the values are; by default .X
    ax : matplotlib axes, optional
    show : bool, optional

    Returns
    -------
    DotsDisplay

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 9))
    >>> values[:20, :2] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 20)}, index=map(str, range(40)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_lda(adata, "type", 2)
    >>> es.pl.dotplot(adata, show=False).groups
    ['B', 'T']
    """
    from .plots import DotsDisplay

    found = find_result(adata, genes, "sparse_lda") if isinstance(genes, str) else None
    names = [str(name) for name in genes] if found is None else _names(found)
    if not names:
        raise InputError("there is no gene to draw; name at least one")
    column = groupby or (found or {}).get("params", {}).get("groupby")
    if column is None:
        raise InputError("say which groups to draw: groupby=..., a column of .obs")
    groups = read_groups(adata, column, least=1)
    part = adata.raw if use_raw and adata.raw is not None else adata
    find_names(names, part.var_names, "genes")
    cells = open_cells(adata, layer, use_raw, np.asarray(part.var_names.isin(names)))
    values = cells.values(groups.known)[:, find_names(names, cells.names, "genes")]
    display = DotsDisplay.from_data(values, groups.fitted, names, groups.classes)
    return _present(display, ax, show)


def qalpha(
    adata: Any, key: str = "qalpha", *, ax: Any = None, show: bool | None = None
) -> AlphaDisplay:
    """The sorted weights of `eigensieve.tl.qalpha`, with the null band if there is one.

    Parameters
    ----------
    adata : AnnData
    key : str, the ``key_added`` of the fit
    ax : matplotlib axes, optional
    show : bool, optional

    Returns
    -------
    AlphaDisplay

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 9))
    >>> values[:20, :2] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 20)}, index=map(str, range(40)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.qalpha(adata, 2)
    >>> int(es.pl.qalpha(adata, show=False).selected.sum())
    2
    """
    from .plots import AlphaDisplay

    found = find_result(adata, key, "qalpha")
    alpha = find_column(adata.var, f"{key}_alpha", ".var", "the column of weights").to_numpy()
    counted = ~np.isnan(alpha)
    null = found.get("null")
    band = () if null is None else (null["lower"], null["upper"], null["median"])
    if band and len(band[0]) != counted.sum():
        raise InputError(
            f".uns[{key!r}] is of {len(band[0])} genes, and {counted.sum()} are left; run "
            "eigensieve.tl.qalpha on these"
        )
    selected = adata.var[key].to_numpy()[counted]
    return _present(AlphaDisplay(alpha[counted], selected, *band), ax, show)


def path(
    adata: Any, key: str = "sparse_lda_path", *, ax: Any = None, show: bool | None = None
) -> GapDisplay:
    """Separation and its proved bound against the number of genes.

    Parameters
    ----------
    adata : AnnData
    key : str, the ``key_added`` of `eigensieve.tl.sparse_lda_path`
    ax : matplotlib axes, optional
    show : bool, optional

    Returns
    -------
    GapDisplay

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 9))
    >>> values[:20, :2] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 20)}, index=map(str, range(40)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_lda_path(adata, "type", ks=(1, 2))
    >>> es.pl.path(adata, show=False).ks
    (1, 2)
    """
    from .plots import GapDisplay

    found = find_result(adata, key, "sparse_lda_path")
    if "ks" not in found:
        raise InputError(f".uns[{key!r}] is no path; run eigensieve.tl.sparse_lda_path first")
    ks = [int(k) for k in found["ks"]]
    display = GapDisplay(ks, found["objective"], found["bound"], optimal=found["optimal"])
    return _present(display, ax, show)


def near_optimal(
    adata: Any, key: str = "near_optimal", *, ax: Any = None, show: bool | None = None
) -> PanelsDisplay:
    """Which genes are in which of the sets that are nearly as good as the best one.

    The parameters are those of `path`; ``key`` is that of `eigensieve.tl.near_optimal`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 9))
    >>> values[:20, :2] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 20)}, index=map(str, range(40)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> found = es.tl.near_optimal(adata, "type", 2)
    >>> es.pl.near_optimal(adata, show=False).names
    ['0', '1']
    """
    from .plots import PanelsDisplay

    found = find_result(adata, key, "near_optimal")
    if "sets" not in found:
        raise InputError(f".uns[{key!r}] is no list of sets; run eigensieve.tl.near_optimal")
    return _present(PanelsDisplay(found["names"], found["sets"], found["losses"]), ax, show)


def _project(
    adata: Any, key: str, method: str, color: str | None, ax: Any, show: bool | None
) -> ProjectionDisplay:
    from .plots import ProjectionDisplay

    found = find_result(adata, key, method)
    if f"X_{key}" not in adata.obsm:
        raise InputError(f".obsm has no {f'X_{key}'!r}; run eigensieve.tl.{method} again")
    column = color or found.get("params", {}).get("groupby")
    if column is None:
        raise InputError("say which groups to colour: color=..., a column of .obs")
    groups = read_groups(adata, column, least=1)
    labels = np.where(groups.known, groups.labels, NO_GROUP)
    display = ProjectionDisplay(adata.obsm[f"X_{key}"], labels, _colors(adata, column))
    return _present(display, ax, show)


def _colors(adata: Any, column: str) -> dict[str, str] | None:
    """The colours that scanpy keeps for the categories of a column, if it has."""
    colors, cells = adata.uns.get(f"{column}_colors"), adata.obs[column]
    if colors is None or not hasattr(cells, "cat") or len(colors) != len(cells.cat.categories):
        return None
    return {str(name): str(color) for name, color in zip(cells.cat.categories, colors)}


def _selected(adata: Any, found: dict[str, Any]) -> list[str]:
    """The selected genes that .var has: those of .raw may not be there."""
    names = _names(found)
    here = [name for name in names if name in adata.var_names]
    if not here:
        raise InputError("none of the selected genes is in .var_names of this AnnData")
    return here


def _names(found: dict[str, Any]) -> list[str]:
    if "ks" in found:
        raise InputError("a path has a set of genes for every k; give the names of one")
    return [str(name) for name in found["names"]]


def _present(display: Any, ax: Any, show: bool | None) -> Any:
    """Draw, and show the figure if that is wanted."""
    import matplotlib as mpl

    if show is None:
        show = ax is None and mpl.is_interactive()
    display.plot(ax)
    if not show:
        return display
    from matplotlib import pyplot as plt

    if ax is None:
        # the displays' own figures are not known to pyplot: the same again on one that is
        size = tuple(display.figure_.get_size_inches())
        figure = plt.figure(figsize=size, layout="constrained")
        n = len(getattr(display, "axes_", [display.ax_]))
        axes = figure.subplots(1, n, sharey=True, squeeze=False)[0]
        display.plot(list(axes) if n > 1 else axes[0])
    plt.show()
    return display
