"""What can be proved of a list of marker genes, whoever chose it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..search.certificate import Certificate
from ..search.certify import TIME_LIMIT
from ..search.certify import certify as certify_set
from ..tables.kinds.anndata_parts import find_column
from ..tables.kinds.groups import read_groups
from .cell_table import CellTable, open_cells
from .results import Results, check_writable, describe_run, describe_solution


def certify(
    adata: Any,
    groupby: str,
    genes: str | Sequence[str],
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    criterion: str = "auto",
    shrinkage: float | str = "auto",
    time_limit: float | None = TIME_LIMIT,
    key_added: str = "certificate",
    **options: Any,
) -> Certificate:
    """How far from optimal is a list of genes that any tool has chosen?

    The rivals are all sets of as many genes (of those that mask_var leaves); the score is the
    separation of the groups that `sparse_lda` maximises. How well a classifier does on new cells is
    another question.

    Parameters
    ----------
    adata, groupby, layer, use_raw, mask_var
        As in `sparse_lda`.
    genes : names, or one str
        The names of the genes; or the name of a boolean column of .var that marks them, such as
        "sparse_lda".
    criterion, shrinkage
        As in `eigensieve.SparseLDA`; the defaults are the same.
    time_limit : seconds for the search; 0 gives the first bound only
    key_added : str
        The name of the result in .uns.
    **options
        Of `eigensieve.certify`: include and exclude (names of genes), class_weight, n_jobs ...

    Returns
    -------
    Certificate
        Its features are positions among the genes that count. The same is written to
        ``.uns[key_added]`` as a dict: sentence, names, criterion, objective, bound, gap, status,
        optimal, and, where a better set was found, better_names, better_objective and swaps: of
        each gene to replace (leaving) the one to take (entering) and the score after that
        (objective), in order; lines has the same in words.

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(60, 8))
    >>> values[:30, :3] += [2, 1, 3]
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 30)}, index=map(str, range(60)))
    >>> adata = anndata.AnnData(values, obs=cells, var=pd.DataFrame(index=list("abcdefgh")))
    >>> found = es.tl.certify(adata, "type", ["a", "b"])
    >>> found.is_certified, adata.uns["certificate"]["better_names"].tolist()
    (False, ['a', 'c'])
    >>> found.describe_swaps()
    ["replace 'b' by 'c' (+39.5 %)"]
    >>> es.tl.certify(adata, "type", ["a", "c"]).explain("genes")
    'proved: no other set of 2 genes scores higher (within 0.0001 %)'
    """
    check_writable(adata, key_added, copy=False)
    cells, groups = open_cells(adata, layer, use_raw, mask_var), read_groups(adata, groupby)
    chosen = _find_set(cells, genes)
    found = certify_set(
        cells.table(groups.known), groups.fitted, features=chosen, names=cells.names,
        criterion=criterion, shrinkage=shrinkage, time_limit=time_limit, **options,
    )  # fmt: skip
    params = {
        "groupby": groupby, "criterion": criterion, "shrinkage": shrinkage, "time_limit": time_limit
    }  # fmt: skip
    run = describe_run("certify", params | cells.params, options) | describe_solution(found)
    run |= {
        "criterion": found.criterion,
        "names": cells.names[found.support],
        "sentence": found.explain("genes"),
    }
    if found.better is not None:
        run["better_names"] = cells.names[found.better.support]
        run["better_objective"] = float(found.better.objective)
        run["swaps"] = {
            "leaving": cells.names[[swap.leaving for swap in found.swaps]],
            "entering": cells.names[[swap.entering for swap in found.swaps]],
            "objective": [swap.objective for swap in found.swaps],
            "lines": found.describe_swaps(),
        }
    Results(key_added, uns=run).write(adata, copy=False)
    return found


def _find_set(cells: CellTable, genes: Any) -> np.ndarray:
    """Positions of the genes of the list, each once."""
    if isinstance(genes, str):
        column = find_column(cells.adata.var, genes, ".var", "genes")
        mask = np.asarray(column)
        if mask.dtype != bool:
            raise InputError(
                f".var[{genes!r}] holds {mask.dtype}; a column that marks genes holds booleans "
                "(a single gene is given as a list)"
            )
        genes = cells.adata.var_names[mask].tolist()
    found = np.unique(cells.find(genes, "genes"))
    if found.size == 0:
        raise InputError("genes names no gene; give at least one")
    return found
