"""Genes on which the cells cluster: Q-alpha on an AnnData."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators._validation import read_columns
from ..estimators.clustering import spectral_clusters
from ..estimators.qalpha_selector import QAlphaSelector
from ..tables.kinds.groups import read_groups
from .cell_table import CellTable, check_options, open_cells
from .results import Results, check_writable, describe_run


def qalpha(
    adata: Any,
    n_features_to_select: int | str = "auto",
    *,
    n_clusters: int = 2,
    groupby: str | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    key_added: str = "qalpha",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Weights of the genes on which the cells fall into clusters, without labels.

    Parameters
    ----------
    adata, layer, use_raw, mask_var, key_added, copy
        As in `sparse_lda`.
    n_features_to_select : int or "auto"
        How many genes are marked as selected; "auto": as many as the option ``cut`` says.
    n_clusters : int
        How many clusters of cells are looked for.
    groupby : str, optional
        A column of .obs: the genes on which these groups are coherent (variant "supervised").
        Cells without a group have no part in it.
    **options
        Of `eigensieve.QAlphaSelector`: n_permutations (for p-values), variant, cut,
        random_state ...

    Returns
    -------
    None, or the copy. With key = key_added:

    - ``.var[key]`` : bool, selected or not
    - ``.var[key + "_alpha"]`` : the weights; NaN for genes that mask_var leaves out
    - ``.var[key + "_p_value"]`` : with n_permutations only
    - ``.obs[key]`` : the cluster of every cell on the selected genes, a category "0", "1", ...; not
      with groupby, and not where no gene is selected
    - ``.obsm["X_" + key]`` : Q, the coordinates of the cells (n_obs, n_clusters); not with groupby
      or a kernel
    - ``.uns[key]`` : dict with params, names (largest weight first), objective, status, cut,
      n_iter, and, with n_permutations, null: the band of sorted weights of permuted genes

    Examples
    --------
    >>> import numpy as np, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 300))
    >>> values[:20, :10] += 3
    >>> adata = anndata.AnnData(values)
    >>> es.tl.qalpha(adata, n_clusters=2)
    >>> np.flatnonzero(adata.var["qalpha"]).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> adata.obs["qalpha"].iloc[[0, 19, 20, 39]].tolist()
    ['0', '0', '1', '1']
    """
    check_options(QAlphaSelector, options)
    check_writable(adata, key_added, copy, groupby)
    cells = open_cells(adata, layer, use_raw, mask_var)
    params = {
        "groupby": groupby, "n_clusters": n_clusters, "n_features_to_select": n_features_to_select
    }  # fmt: skip
    if groupby is None:
        known, labels = None, None
    else:
        groups = read_groups(adata, groupby)
        known, labels = groups.known, groups.fitted
        options = {"variant": "supervised"} | options
    model = QAlphaSelector(n_features_to_select, n_clusters=n_clusters, **options)
    model.fit(cells.table(known), labels)
    run = describe_run("QAlphaSelector", params | cells.params, options) | _describe_weights(
        model, cells
    )
    results = Results(key_added, uns=run)
    results.var[key_added] = cells.to_var(model.support_, False)
    results.var[f"{key_added}_alpha"] = cells.to_var(model.alpha_, np.nan)
    if model.null_ is not None:
        results.var[f"{key_added}_p_value"] = cells.to_var(model.null_.p_values, np.nan)
    if isinstance(model.Q_, np.ndarray):
        results.obsm[f"X_{key_added}"] = model.Q_
    if groupby is None and model.support_.any():
        results.obs[key_added] = _clusters(model, cells)
    return results.write(adata, copy)


def _describe_weights(model: Any, cells: CellTable) -> dict[str, Any]:
    ranked = np.argsort(-model.alpha_, kind="stable")
    facts: dict[str, Any] = {
        "names": cells.names[ranked[model.support_[ranked]]],
        "objective": float(model.objective_),
        "status": str(model.solution_.status),
        "n_iter": int(model.n_iter_),
        "cut": model.cut_,
    }
    if model.null_ is not None:
        null = model.null_
        facts["null"] = {"lower": null.lower, "median": null.median, "upper": null.upper}
    return facts


def _clusters(model: Any, cells: CellTable) -> Any:
    """The cells clustered on the selected genes."""
    import pandas as pd

    columns = read_columns(cells.table(), np.flatnonzero(model.support_))
    m = min(model.n_clusters_, columns.shape[1] + 1)
    found = spectral_clusters(columns, m)
    return pd.Categorical(found.astype(str), categories=[str(i) for i in range(found.max() + 1)])
