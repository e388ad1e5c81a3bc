"""The models that an AnnData keeps, and their use on other cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimators._validation import read_columns
from ..io.model import LinearModel
from ..tables.named_columns import find_names
from .cell_table import open_cells
from .results import Results, check_writable, find_result

KEPT = ("features", "classes", "coef", "intercept", "center", "scale", "scalings", "offset")


def get_model(adata: Any, key: str = "sparse_lda") -> LinearModel:
    """The classifier that `sparse_lda` or `gloss` has left in an AnnData.

    Parameters
    ----------
    adata : AnnData, perhaps read from a file
    key : str, the ``key_added`` of the fit

    Returns
    -------
    LinearModel
        On the selected genes, by name. `eigensieve.save_model` writes it for
        ``eigensieve predict``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> values = np.random.default_rng(0).normal(size=(40, 9))
    >>> values[:20, 4] += 5
    >>> cells = pd.DataFrame({"type": np.repeat(["B", "T"], 20)}, index=map(str, range(40)))
    >>> adata = anndata.AnnData(values, obs=cells)
    >>> es.tl.sparse_lda(adata, "type", 1)
    >>> model = es.tl.get_model(adata)
    >>> model.features, model.classes
    (('4',), ('B', 'T'))
    """
    found = find_result(adata, key, "sparse_lda")
    kept = found.get("model")
    if not isinstance(kept, Mapping) or not set(KEPT) <= set(kept):
        raise InputError(
            f".uns[{key!r}] is a result of {found['method']}, which is no classifier; name one of "
            "sparse_lda or gloss"
        )
    params = found.get("params")
    info: dict[str, Any] = {"method": str(found["method"])}
    if isinstance(params, Mapping):  # where the values of new cells are to be found
        for name, place in (("target", "groupby"), ("layer", "layer")):
            if isinstance(params.get(place), str):
                info[name] = params[place]
        if params.get("use_raw"):
            info["use_raw"] = True
    parts: dict[str, Any] = {name: np.asarray(kept[name]) for name in KEPT}
    for name in ("features", "classes"):
        parts[name] = tuple(map(str, kept[name]))
    return LinearModel(**parts, log2_floor=None, info=info)


def keep_model(model: LinearModel) -> dict[str, Any]:
    """A model as .uns can hold it; `get_model` is the way back."""
    return {f.name: getattr(model, f.name) for f in fields(model) if f.name in KEPT}


def predict(
    adata: Any,
    model: str | LinearModel = "sparse_lda",
    reference: Any = None,
    *,
    layer: str | None = None,
    key_added: str = "prediction",
    copy: bool = False,
) -> Any:
    """Groups of new cells, by a model that was fitted on others.

    The genes are found by their names, in any order; all that the model needs must be there. The
    values must be made as those of the fit were: the same normalisation, the same layer.

    Parameters
    ----------
    adata : AnnData, the new cells
    model : str or LinearModel
        The key of a result of `sparse_lda` or `gloss` in ``reference``; or a model, as `get_model`
        gives it or `eigensieve.load_model` reads it.
    reference : AnnData, optional
        The one that was fitted; by default ``adata`` itself.
    layer : str, optional
        Where the values are; by default where they were in the fit: .X, a layer, or .raw. "X" is
        .X in any case.
    key_added : str
        The name of all results.
    copy : bool
        Write into a copy and return it.

    Returns
    -------
    None, or the copy. With key = key_added:

    - ``.obs[key]`` : the predicted group, a category
    - ``.obs[key + "_probability"]`` : its probability under the model
    - ``.obsm["X_" + key]`` : the cells projected on the directions of the model

    Examples
    --------
    >>> import numpy as np, pandas as pd, anndata, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> def draw(n):
    ...     values = rng.normal(size=(2 * n, 9))
    ...     values[:n, 4] += 8
    ...     cells = pd.DataFrame({"type": np.repeat(["B", "T"], n)}, index=map(str, range(2 * n)))
    ...     return anndata.AnnData(values, obs=cells)
    >>> old, new = draw(20), draw(3)
    >>> es.tl.sparse_lda(old, "type", 1)
    >>> es.tl.predict(new[:, ::-1], reference=old, copy=True).obs["prediction"].tolist()
    ['B', 'B', 'B', 'T', 'T', 'T']
    """
    check_writable(adata, key_added, copy)
    rule, order = _find_rule(adata if reference is None else reference, model)
    use_raw = layer is None and bool(rule.info.get("use_raw"))
    if layer is None and not use_raw:
        layer = rule.info.get("layer")
    part = adata.raw if use_raw and adata.raw is not None else adata
    what = f"the model {model!r}" if isinstance(model, str) else "the model"
    chosen = _mask_of(rule.features, np.asarray(part.var_names, dtype=object), what)
    cells = open_cells(adata, None if layer == "X" else layer, use_raw, chosen)
    places = find_names(rule.features, cells.names, what)
    results = Results(key_added)
    describe_cells(results, rule, read_columns(cells.table(), places), order)
    return results.write(adata, copy)


def describe_cells(
    results: Results, model: LinearModel, columns: np.ndarray, order: Sequence[str]
) -> None:
    """Predicted groups, their probabilities and the projection of cells.

    ``columns`` are the selected genes (n, k); ``order`` is that of the categories.
    """
    import pandas as pd

    key = results.key
    chances = model.predict_proba(columns)
    results.obs[key] = pd.Categorical(model.predict(columns), categories=list(order))
    results.obs[f"{key}_probability"] = chances.max(axis=1)
    results.obsm[f"X_{key}"] = model.transform(columns)


def _find_rule(reference: Any, model: str | LinearModel) -> tuple[LinearModel, Sequence[str]]:
    """The model, and its groups in the order of the column they come from."""
    if isinstance(model, LinearModel):
        return model, model.classes
    if not isinstance(model, str):
        raise InputError(
            f"model is of type {type(model).__name__}; give the key of a result, or what get_model "
            "or load_model returns"
        )
    rule = get_model(reference, model)
    order = [str(name) for name in reference.uns[model].get("classes", rule.classes)]
    return rule, order if set(order) == set(rule.classes) else rule.classes


def _mask_of(features: Sequence[str], names: np.ndarray, what: str) -> np.ndarray:
    """The genes that the model needs: names that repeat elsewhere do no harm."""
    find_names(features, names, what)
    return np.isin(names.astype(str), np.array(features, dtype=str))
