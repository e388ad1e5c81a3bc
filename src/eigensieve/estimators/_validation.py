"""Validation: every kind of table comes in here, once, and is checked.

Dense tables become arrays, sparse ones stay sparse, tables on disk or on a cluster become a
`BigTable`, arrays of torch or cupy stay on their device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from ..errors import InputError
from ..pencil.checks import check_labels
from ..tables.kinds.arrays import (
    check_device_table,
    is_device_array,
    namespace,
    to_device,
    to_numpy,
)
from ..tables.kinds.big_table import BigTable
from ..tables.kinds.frames import plain_frame
from ..tables.kinds.mapped_table import is_mapped
from ..tables.kinds.opening import as_big_table
from ..tables.operators.device_rows import take_columns

FLOATS = [np.float64, np.float32]
FORMATS = ("csr", "csc")  # of sparse tables, that can be read by columns


def validate_table(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    device: Any = None,
    accept_sparse: bool = True,
    min_samples: int = 1,
    dtype: Any = FLOATS,
) -> Any:
    """X as an array, a csr or csc matrix, a `BigTable`, or an array on a device.

    Sets (``reset``) or checks the number and the names of the features.
    """
    if is_device_array(X):
        table = _check_device_array(X)
    else:
        big = as_big_table(X)
        if big is None:
            X = plain_frame(X)
            check_unique_names(X)
            table = validate_data(
                estimator, X, reset=reset, dtype=dtype, ensure_min_samples=min_samples,
                accept_sparse=FORMATS if accept_sparse else False,
            )  # fmt: skip
            return table if device is None else _send(table, device)
        table = big
    _check_shape(estimator, table, reset, min_samples)
    if device is None:
        return table
    if isinstance(table, BigTable):
        raise InputError(
            f"X is {table.kind}, which does not lie in memory: it cannot be sent to {device!r}"
        )
    return to_device(table, device)


def check_unique_names(X: Any) -> None:
    """Repeated column names (common in gene tables) get an error that can be understood."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return
    names, counts = np.unique(np.asarray([str(c) for c in columns]), return_counts=True)
    repeated = names[counts > 1]
    if repeated.size:
        raise InputError(
            f"{repeated.size} column names occur more than once ({str(repeated[0])!r} for one); "
            "make them unique, or pass X.to_numpy()"
        )


def require_in_memory(X: Any, who: str) -> Any:
    """X, if it is a table in memory (a mapped one is read); else say that ``who`` needs one."""
    if isinstance(X, np.ndarray):
        return np.array(X) if is_mapped(X) else X
    table = as_big_table(X)
    if table is None and not is_device_array(X):
        return X
    if table is not None:
        kind, loading = table.kind, table.loading
    else:
        kind = "an array on a device"
        loading = "X.cpu().numpy()" if hasattr(X, "cpu") else "X.get()"
    raise InputError(f"X is {kind}; {who} needs a table in memory: give {loading}, if that fits")


def take_labels(y: Any, n_samples: int, table: Any = None) -> np.ndarray:
    """Labels (n,) from wherever they are, checked; the table is for the messages."""
    hint = about_anndata(table, y)
    if y is None:
        raise InputError(
            f"y is missing: fit requires y to be passed, but the target y is None{hint}"
        )
    if isinstance(y, str):
        raise InputError(f"y is {y!r}; give the labels themselves, one per row{hint}")
    labels = labels_on_host(y)
    check_labels(np.asarray(labels))  # before scikit-learn, which stumbles over pandas' NA
    labels = np.asarray(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1 or labels.size != n_samples:
        raise InputError(f"y has shape {labels.shape}; X has {n_samples} samples")
    check_classification_targets(labels)
    return labels


def about_anndata(table: Any, y: Any) -> str:
    """Where the labels of an AnnData are, and which functions know it."""
    if getattr(table, "kind", None) != "an AnnData object":
        return ""
    column = y if isinstance(y, str) else "cell_type"
    return (
        f"; X is an AnnData: give fit(adata.X, adata.obs[{column!r}]), or call "
        f"eigensieve.tl.sparse_lda(adata, groupby={column!r}), which writes its results into it"
    )


def labels_on_host(y: Any) -> Any:
    """Labels as they came, but for those of dask, which are computed, and those of a device."""
    labels = y.compute() if hasattr(y, "compute") else y
    return to_numpy(labels) if is_device_array(labels) else labels


def read_columns(X: Any, index: np.ndarray) -> np.ndarray:
    """Some columns (n, m) in float64, of any table."""
    if isinstance(X, BigTable):
        if X.is_tall:
            return X.map_rows(lambda block: block[:, index].astype(np.float64))
        return X.columns(index).astype(np.float64, copy=False)
    if is_device_array(X):
        return to_numpy(take_columns(X, index)).astype(np.float64, copy=False)
    part = X[:, index]
    if sparse.issparse(part):
        part = part.toarray()
    return np.asarray(part, dtype=np.float64)


def _send(table: Any, device: Any) -> Any:
    if sparse.issparse(table):
        raise InputError(
            f"X is a sparse matrix; device={device!r} is for dense tables: leave it out, or give "
            "X.toarray()"
        )
    return to_device(table, device)


def _check_device_array(X: Any) -> Any:
    check_device_table(X, "X", "samples x features")
    xp = namespace(X)
    return X if xp.isdtype(X.dtype, "real floating") else xp.astype(X, xp.float64)


def _check_shape(estimator: Any, table: Any, reset: bool, min_samples: int) -> None:
    """What validate_data does with number and names of the features."""
    n, p = table.shape
    names = getattr(table, "names", None)
    if n < min_samples:
        raise InputError(f"X has {n} sample(s); at least {min_samples} are needed")
    if reset:
        estimator.n_features_in_ = int(p)
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            if np.unique(names.astype(str)).size < p:
                raise InputError("some column names occur more than once; make them unique")
            estimator.feature_names_in_ = names
        return
    if p != estimator.n_features_in_:
        raise InputError(
            f"X has {p} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and not np.array_equal(names, known):
        raise InputError(
            "the names of X's features are not those that the estimator was fitted on: "
            + _compare_names(names.tolist(), known.tolist())
        )


def _compare_names(given: list[Any], known: list[Any]) -> str:
    here, there = set(given), set(known)
    parts = {
        "missing": [name for name in known if name not in here],
        "unexpected": [name for name in given if name not in there],
    }
    found = [f"{word}: {_list_names(names)}" for word, names in parts.items() if names]
    return "; ".join(found) or "they are the same, in another order"


def _list_names(names: list[Any], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more
