"""Sparse LDA of an AnnData for several numbers of genes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..estimators._shared import with_certificate
from ..estimators.sparse_lda import SparseLDA
from ..pencil.constraints import as_constraints
from ..tables.builders import lda_pencil
from ..tables.kinds.groups import read_groups
from .cell_table import check_options, open_cells
from .results import Results, check_writable, describe_run, describe_solution

SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
BY_SIZE = ("objective", "bound", "gap", "optimal")


def sparse_lda_path(
    adata: Any,
    groupby: str,
    ks: Iterable[int] = SIZES,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    key_added: str = "sparse_lda_path",
    copy: bool = False,
    **options: Any,
) -> Any:
    """`sparse_lda` for several numbers of genes, from one search: how the separation grows.

    Which k predicts new cells best is another question: see `eigensieve.study`.

    Parameters
    ----------
    adata, groupby, layer, use_raw, mask_var, key_added, copy, **options
        As in `sparse_lda`.
    ks : numbers of genes; those above the number of genes are left out

    Returns
    -------
    None, or the copy. With key = key_added:

    - ``.var[key]`` : the smallest k of ks whose set has the gene; 0 if none has
    - ``.uns[key]`` : dict with params, and arrays with an entry per k: ks, objective, bound, gap,
      optimal; names is a dict from "k=5" to the names of that set

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(60, 50))
    >>> values[:30, :3] += [4, 3, 2]
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 30)}, index=map(str, range(60)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_lda_path(adata, "type", ks=(1, 2, 3))
    >>> adata.var["sparse_lda_path"].head(4).tolist()
    [1, 2, 3, 0]
    """
    check_options(SparseLDA, options)
    check_writable(adata, key_added, copy, groupby)
    cells, groups = open_cells(adata, layer, use_raw, mask_var), read_groups(adata, groupby)
    table, labels = cells.table(groups.known), groups.fitted
    models = SparseLDA(**cells.find_constraints(options)).fit_path(table, labels, ks)
    first = next(iter(models.values()))
    pencil = lda_pencil(table, labels, first.shrinkage_, first.ridge, first.class_weight)
    restrictions = {
        "include": first.include, "exclude": first.exclude,
        "constraints": as_constraints(first.constraints),
    }  # fmt: skip
    found = [
        with_certificate(first.certificate, model.solution_, pencil, **restrictions)
        for model in models.values()
    ]
    entry = np.zeros(cells.names.size, dtype=int)
    for solution in reversed(found):
        entry[solution.support] = solution.k
    facts = [describe_solution(solution) for solution in found]
    run = describe_run("SparseLDA.fit_path", {"groupby": groupby} | cells.params, options)
    run |= {name: np.array([row[name] for row in facts]) for name in BY_SIZE}
    run |= {
        "ks": np.array([solution.k for solution in found]),
        "names": {f"k={solution.k}": cells.names[solution.support] for solution in found},
        "criterion": found[0].criterion,
    }
    results = Results(key_added, uns=run)
    results.var[key_added] = cells.to_var(entry, 0)
    return results.write(adata, copy)
