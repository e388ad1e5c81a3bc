"""Genes that tell groups of cells apart: sparse LDA and GLOSS on an AnnData."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OptionError
from ..estimators._validation import read_columns
from ..estimators.group_lasso_lda import GroupLassoLDA
from ..estimators.sparse_lda import SparseLDA
from ..io.model import LinearModel
from ..tables.kinds.groups import Groups, read_groups
from .cell_table import CellTable, check_options, open_cells
from .prediction import describe_cells, keep_model
from .results import Results, check_writable, describe_run, describe_solution


def sparse_lda(
    adata: Any,
    groupby: str,
    n_features_to_select: int | None = 10,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    key_added: str = "sparse_lda",
    copy: bool = False,
    **options: Any,
) -> Any:
    """The k genes that separate the groups of cells best, a bound on how good k genes can be, and
    a classifier on them.

    Parameters
    ----------
    adata : AnnData
        In memory, a view (which becomes an AnnData of its own) or backed: .X is then read in
        blocks. .X may be dense or sparse, of floats or integers; sparse ones stay sparse.
        Log-normalised values, as for `scanpy.tl.rank_genes_groups`, are a good choice.
    groupby : str
        The column of .obs that holds the groups: categories, text, whole numbers or booleans.
        Cells whose entry is missing have no part in the fit; they are projected and predicted
        like the others. Categories without cells do not count.
    n_features_to_select : int, default 10
        k, how many genes.
    layer : str, optional
        A layer to use in place of .X.
    use_raw : bool
        Use .raw. What is known of genes that are in .raw only is in .uns alone.
    mask_var : str or mask (n_vars,), optional
        The genes to choose from: a column of .var, such as "highly_variable", or a mask. All
        genes by default.
    key_added : str
        The name of all results.
    copy : bool
        Write into a copy and return it.
    **options
        Of `eigensieve.SparseLDA`: solver="exact", shrinkage, class_weight="balanced",
        time_limit ...; ``include``, ``exclude`` and ``constraints`` take names of genes.

    Returns
    -------
    None, or the copy. With key = key_added:

    - ``.var[key]`` : bool, selected or not
    - ``.var[key + "_weight"]`` : the norm of the gene's loadings, each times the deviation of the
      gene, a direction counting by its share of the separation; 0 for all others
    - ``.varm[key]`` : loadings (n_vars, m)
    - ``.obsm["X_" + key]`` : cells projected on the m directions
    - ``.obs[key]``, ``.obs[key + "_probability"]`` : the predicted group, and its probability.
      On cells that were in the fit this is no estimate of the error on others.
    - ``.uns[key]`` : dict with params, names (heaviest first), classes, objective, bound, gap,
      status, optimal, criterion, shrinkage, and the model, which `predict` uses

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(1.0, size=(90, 200)).astype(np.float32)
    >>> counts[:30, :2] += 4
    >>> counts[30:60, 2:4] += 4
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T", "NK"], 30)}, index=map(str, range(90)))
    >>> genes = pd.DataFrame(index=[f"gene{j}" for j in range(200)])
    >>> adata = anndata.AnnData(counts, obs=cells, var=genes)
    >>> es.tl.sparse_lda(adata, "type", 4)
    >>> adata.var_names[adata.var["sparse_lda"]].tolist()
    ['gene0', 'gene1', 'gene2', 'gene3']
    >>> adata.obsm["X_sparse_lda"].shape, adata.uns["sparse_lda"]["status"]
    ((90, 2), 'optimal')
    """
    check_options(SparseLDA, options)
    check_writable(adata, key_added, copy, groupby)
    cells, groups = open_cells(adata, layer, use_raw, mask_var), read_groups(adata, groupby)
    model = SparseLDA(n_features_to_select, **cells.find_constraints(options))
    model.fit(cells.table(groups.known), groups.fitted)
    params = {"groupby": groupby, "n_features_to_select": n_features_to_select}
    run = describe_run("SparseLDA", params | cells.params, options)
    run |= describe_solution(model.solution_)
    run |= {"criterion": model.solution_.criterion, "shrinkage": float(model.shrinkage_)}
    return _finish(cells, groups, model, Results(key_added, uns=run)).write(adata, copy)


def gloss(
    adata: Any,
    groupby: str,
    n_features_to_select: int = 10,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    key_added: str = "gloss",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Genes and directions by a group lasso (GLOSS): the convex companion of `sparse_lda`.

    Parameters
    ----------
    adata, groupby, n_features_to_select, layer, use_raw, mask_var, key_added, copy
        As in `sparse_lda`.
    **options
        Of `eigensieve.GroupLassoLDA`: weights="std", within="diagonal", alpha, priors ...;
        rule "1-nn" keeps all training cells and is not for an AnnData.

    Returns
    -------
    None, or the copy. The names are those of `sparse_lda`; in ``.uns[key]``, objective and bound
    are those of the convex problem, and alpha is the penalty as a share of the largest.

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(60, 50))
    >>> values[:30, :3] += 3
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 30)}, index=map(str, range(60)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.gloss(adata, "type", 3)
    >>> np.flatnonzero(adata.var["gloss"]).tolist()
    [0, 1, 2]
    """
    check_options(GroupLassoLDA, options)
    check_writable(adata, key_added, copy, groupby)
    if options.get("rule") == "1-nn":
        raise OptionError("rule='1-nn' needs all training cells; take 'lda' or 'centroid'")
    cells, groups = open_cells(adata, layer, use_raw, mask_var), read_groups(adata, groupby)
    model = GroupLassoLDA(n_features_to_select, **options)
    model.fit(cells.table(groups.known), groups.fitted)
    params = {"groupby": groupby, "n_features_to_select": n_features_to_select}
    run = describe_run("GroupLassoLDA", params | cells.params, options)
    run |= describe_solution(model.solution_) | {"alpha": float(model.alpha_)}
    return _finish(cells, groups, model, Results(key_added, uns=run)).write(adata, copy)


def _finish(cells: CellTable, groups: Groups, model: Any, results: Results) -> Results:
    """What a fitted discriminant says of genes and cells."""
    key, p = results.key, cells.names.size
    S = model.get_support(indices=True)
    columns = read_columns(cells.table(), S)  # of all cells, dense
    loadings = np.asarray(model.scalings_)
    spread = loadings[S] * columns[groups.known].std(axis=0)[:, None]
    weight = np.zeros(p)
    weight[S] = np.sqrt(np.square(spread) @ model.explained_variance_ratio_)
    results.var[key] = cells.to_var(np.asarray(model.get_support()), False)
    results.var[f"{key}_weight"] = cells.to_var(weight, 0.0)
    results.varm[key] = cells.to_var(loadings, 0.0)
    rule = LinearModel.from_estimator(model, cells.names.tolist(), info={})
    describe_cells(results, rule, columns, groups.classes)
    results.uns |= {
        "names": cells.names[S[np.argsort(-weight[S], kind="stable")]],
        "classes": groups.classes,
        "n_obs": int(groups.known.sum()),
        "n_vars": p,
        "variance_ratio": model.explained_variance_ratio_,
        "model": keep_model(rule),
    }
    return results
