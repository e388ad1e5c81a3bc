"""All sets of genes that separate the groups nearly as well as the best one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..estimators.sparse_lda import SparseLDA
from ..search.near_optimal.sets import NearOptimalSets
from ..search.near_optimal.words import describe
from ..tables.kinds.groups import read_groups
from .cell_table import check_options, open_cells
from .results import Results, check_writable, describe_run, describe_solution

OF_THE_SEARCH = ("effort", "n_jobs", "callback", "client", "proof", "time_limit")


def near_optimal(
    adata: Any,
    groupby: str,
    n_features_to_select: int = 10,
    within: float = 0.01,
    max_sets: int = 1000,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    key_added: str = "near_optimal",
    **options: Any,
) -> NearOptimalSets:
    """Which sets of k genes separate the groups of cells nearly as well as the best one?

    It shows which genes all of them share, which take each other's place, and which are in none;
    the list is proved to be complete, unless a limit ended the search.

    Parameters
    ----------
    adata, groupby, n_features_to_select, layer, use_raw, mask_var
        As in `sparse_lda`.
    within : share of the best score, 0.01 is one percent
    max_sets : int, how many are listed at most
    key_added : str
        The name of all results.
    **options
        Of `eigensieve.SparseLDA`: shrinkage, criterion, include and exclude (names of genes) ...;
        and of `eigensieve.near_optimal`: effort, time_limit, n_jobs, proof ...

    Returns
    -------
    NearOptimalSets
        Its features are positions among the genes that count. With key = key_added, this is
        written:

    - ``.var[key]`` : the share of the sets that the gene is in, from 0 to 1
    - ``.var[key + "_core"]``, ``.var[key + "_never"]`` : bool, proved to be in every set that is
      near, or in none; of a list cut by max_sets, above the score where it is cut
    - ``.uns[key]`` : dict with params, names (of the genes that occur, the most frequent first),
      sets (n_sets, k; places in names), scores, losses, within, n_sets, is_complete, sentences,
      and of the best set objective, bound, gap, status and optimal

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(60, 8))
    >>> values[:30, :3] += [2, 1, 3]
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 30)}, index=map(str, range(60)))
    >>> adata = anndata.AnnData(values, obs=cells, var=pd.DataFrame(index=list("abcdefgh")))
    >>> found = es.tl.near_optimal(adata, "type", 3, within=0.1)
    >>> found.n_sets, [found.name_of(j) for j in found.core]
    (6, ['a', 'c'])
    >>> adata.var["near_optimal"].head(2).round(2).tolist()
    [1.0, 0.17]
    """
    search = {name: options.pop(name) for name in OF_THE_SEARCH if name in options}
    check_options(SparseLDA, options)
    check_writable(adata, key_added, copy=False)
    cells, groups = open_cells(adata, layer, use_raw, mask_var), read_groups(adata, groupby)
    model = SparseLDA(n_features_to_select, **cells.find_constraints(options))
    table = cells.table(groups.known)
    found = model.near_optimal(table, groups.fitted, within, max_sets, **search)
    found = replace(found, names=tuple(cells.names.tolist()))
    params = {
        "groupby": groupby, "n_features_to_select": n_features_to_select, "within": within,
        "max_sets": max_sets,
    }  # fmt: skip
    run = describe_run("near_optimal", params | cells.params, options | search)
    run |= describe_solution(found.best) | _describe_sets(found)
    results = Results(key_added, uns=run)
    results.var[key_added] = cells.to_var(found.frequency, 0.0)
    for name, genes in (("core", found.core), ("never", found.never)):
        marked = np.isin(np.arange(found.n_features), genes)
        results.var[f"{key_added}_{name}"] = cells.to_var(marked, False)
    results.write(adata, copy=False)
    return found


def _describe_sets(found: NearOptimalSets) -> dict[str, Any]:
    """The list, by names: positions of genes change when some are taken out."""
    order = np.argsort(-found.frequency, kind="stable")
    used = order[: np.count_nonzero(found.frequency)]
    place = np.zeros(found.n_features, dtype=int)
    place[used] = np.arange(used.size)
    assert found.names is not None
    return {
        "names": [found.names[j] for j in used.tolist()],
        "sets": place[found.sets],
        "scores": found.scores,
        "losses": found.losses,
        "within": found.within,
        "n_sets": found.n_sets,
        "is_complete": found.is_complete,
        "criterion": found.criterion,
        "sentences": describe(found),
    }
