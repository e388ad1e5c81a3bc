"""Directions without groups: sparse PCA of one AnnData, sparse CCA of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimators.sparse_cca import SparseCCA
from ..estimators.sparse_pca import SparsePCA
from .cell_table import CellTable, check_options, open_cells
from .results import Results, check_writable, describe_run, describe_solution

FACTS = ("objective", "bound", "gap", "status", "optimal")


def sparse_pca(
    adata: Any,
    n_components: int = 2,
    *,
    n_features_to_select: int | Sequence[int] | None = 10,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    key_added: str = "sparse_pca",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Principal components of the cells that use k genes each.

    Genes are centred, not scaled, as in `scanpy.pp.pca`.

    Parameters
    ----------
    adata, layer, use_raw, mask_var, key_added, copy
        As in `sparse_lda`.
    n_components : int
    n_features_to_select : int, or one per component
    **options
        Of `eigensieve.SparsePCA`: solver, deflation, time_limit ...

    Returns
    -------
    None, or the copy. With key = key_added:

    - ``.var[key]`` : bool, used by any component
    - ``.varm[key]`` : loadings (n_vars, n_components)
    - ``.obsm["X_" + key]`` : scores of the cells
    - ``.uns[key]`` : dict with params, names, variance and variance_ratio (of each component's
      scores), adjusted_variance_ratio (what each adds to those before it), and, with an entry per
      component, objective, bound, gap, status and optimal

    Examples
    --------
    >>> import numpy as np, anndata, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(60, 30))
    >>> values[:, :3] += 3 * rng.normal(size=(60, 1))
    >>> adata = anndata.AnnData(values)
    >>> es.tl.sparse_pca(adata, 1, n_features_to_select=3)
    >>> np.flatnonzero(adata.var["sparse_pca"]).tolist(), adata.obsm["X_sparse_pca"].shape
    ([0, 1, 2], (60, 1))
    """
    check_options(SparsePCA, options)
    check_writable(adata, key_added, copy)
    cells = open_cells(adata, layer, use_raw, mask_var)
    table = cells.table()
    limited = cells.find_constraints(options)
    model = SparsePCA(n_components, n_features_to_select=n_features_to_select, **limited)
    scores = model.fit(table).transform(table)
    params = {"n_components": n_components, "n_features_to_select": n_features_to_select}
    run = describe_run("SparsePCA", params | cells.params, options)
    run |= _by_component(model.solutions_) | {
        "names": cells.names[model.support_],
        "variance": model.explained_variance_,
        "variance_ratio": model.explained_variance_ratio_,
        "adjusted_variance_ratio": model.adjusted_variance_ratio_,
    }
    results = Results(key_added, uns=run)
    _describe_genes(results, cells, model.support_, model.components_.T)
    results.obsm[f"X_{key_added}"] = scores
    return results.write(adata, copy)


def sparse_cca(
    first: Any,
    second: Any,
    n_components: int = 1,
    *,
    n_features_to_select: int | Sequence[int] | None = (10, 10),
    layer: str | None = None,
    mask_var: str | None = None,
    key_added: str = "sparse_cca",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Correlated programs of two modalities of the same cells, with k features each.

    Parameters
    ----------
    first, second : AnnData with the same .obs_names in the same order
        Genes and proteins, say; of a MuData ``mdata.mod["rna"], mdata.mod["prot"]``. In memory.
    n_components : int
    n_features_to_select : int, or a pair
        How many of each.
    layer, mask_var : str, optional
        A layer in place of .X, a column of .var with the features to choose from: for both.
    key_added : str
        The name of all results.
    copy : bool
        Write into copies and return the pair.
    **options
        Of `eigensieve.SparseCCA`: shrinkage, solver, time_limit ...

    Returns
    -------
    None, or the pair of copies. Each has, with key = key_added:

    - ``.var[key]`` : bool, used by any component
    - ``.varm[key]`` : weights (n_vars, n_components)
    - ``.obsm["X_" + key]`` : scores of the cells
    - ``.uns[key]`` : dict with params, names, correlations (of the training cells, hence
      optimistic), and, with an entry per component, objective, bound, gap, status and optimal

    Examples
    --------
    >>> import numpy as np, anndata, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> program = rng.normal(size=(100, 1))
    >>> X, Y = rng.normal(size=(100, 40)), rng.normal(size=(100, 20))
    >>> X[:, :3] += 2 * program
    >>> Y[:, 5:7] += 2 * program
    >>> rna, protein = anndata.AnnData(X), anndata.AnnData(Y)
    >>> es.tl.sparse_cca(rna, protein, n_features_to_select=(3, 2))
    >>> np.flatnonzero(rna.var["sparse_cca"]).tolist()
    [0, 1, 2]
    >>> np.flatnonzero(protein.var["sparse_cca"]).tolist()
    [5, 6]
    """
    check_options(SparseCCA, options)
    for adata in (first, second):
        check_writable(adata, key_added, copy)
        if adata.isbacked:
            raise InputError("sparse_cca needs both views in memory: give adata.to_memory()")
    if not first.obs_names.equals(second.obs_names):
        raise InputError(
            "the two AnnData have other cells, or the same in another order; align them first: "
            "both = first.obs_names.intersection(second.obs_names), then first[both], second[both]"
        )
    both = [open_cells(adata, layer, False, mask_var) for adata in (first, second)]
    tables = [cells.table() for cells in both]
    model = SparseCCA(n_components, n_features_to_select=n_features_to_select, **options)
    scores = model.fit(*tables).transform(*tables)
    params = {"n_components": n_components, "n_features_to_select": n_features_to_select}
    run = describe_run("SparseCCA", params | both[0].params, options)
    run |= _by_component(model.solutions_) | {"correlations": model.correlations_}
    copies = []
    parts = zip(both, model.support_, (model.x_weights_, model.y_weights_), scores)
    for cells, support, weights, own_scores in parts:
        results = Results(key_added, uns=run | {"names": cells.names[support]})
        _describe_genes(results, cells, support, weights)
        results.obsm[f"X_{key_added}"] = own_scores
        copies.append(results.write(cells.adata, copy))
    return tuple(copies) if copy else None


def _describe_genes(
    results: Results, cells: CellTable, support: np.ndarray, loadings: np.ndarray
) -> None:
    results.var[results.key] = cells.to_var(support, False)
    results.varm[results.key] = cells.to_var(loadings, 0.0)


def _by_component(solutions: Sequence[Any]) -> dict[str, list[Any]]:
    """What is known of each search, as columns."""
    rows = [describe_solution(solution) for solution in solutions]
    return {name: [row[name] for row in rows] for name in FACTS}
