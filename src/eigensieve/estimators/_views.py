"""Two views of the same rows: from what the user has to two arrays, and scores back."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import check_array, check_is_fitted

from ..errors import InputError
from ..search.deflation import NOTHING
from ..tables.kinds.frames import plain_frame
from ._projected import project_rows
from ._validation import FLOATS, FORMATS, check_unique_names, require_in_memory, validate_table

PLAIN_NAMES = ("X", "Y")


@dataclass(frozen=True, eq=False)
class NamedSparse:
    """A sparse table with names of rows and columns, as a frame has them."""

    matrix: Any
    index: Any
    columns: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return tuple(self.matrix.shape)

    def without_columns(self) -> Any:
        """A frame of the row names alone."""
        import pandas as pd

        return pd.DataFrame(index=self.index)


@dataclass(frozen=True, eq=False)
class Views:
    """Two tables (arrays, frames, or sparse) and the names of the views.

    ``is_mapping`` says that they came as name -> table, and answers go back that way. The
    second table is None where the caller gave one view only.
    """

    first: Any
    second: Any
    names: tuple[Any, Any]
    is_mapping: bool


def split_views(X: Any, y: Any, names: tuple[Any, Any] | None = None) -> Views:
    """The two views of (X, y), of a mapping name -> table, or of a MuData.

    ``names`` are those of a fitted model: a mapping is then read in that order.
    """
    views = _mapping_of(X)
    if views is None:
        if _mapping_of(y) is not None:
            raise InputError("y is a mapping; give both views as one mapping, X, and no y")
        return Views(_table(X, "X"), _column_table(y, "y"), names or PLAIN_NAMES, False)
    if y is not None:
        raise InputError("X is a mapping of both views; y must then be None")
    if names is None and len(views) == 2:
        first, second = views
        names = first, second
    if names is None or set(views) != set(names):
        wanted = "exactly two views" if names is None else f"the views {list(names)}"
        raise InputError(f"X has the views {list(views)}; give {wanted}")
    for name in names:
        if views[name] is None:
            raise InputError(f"view {name!r} is None; give a table")
    x, y = (views[name] for name in names)
    return Views(
        _table(x, f"view {names[0]!r}"), _column_table(y, f"view {names[1]!r}"), names, True
    )


def _mapping_of(X: Any) -> Mapping[Any, Any] | None:
    if isinstance(X, Mapping) and not sparse.issparse(X):  # a dok_matrix is a dict
        return X
    parts = getattr(X, "mod", None)  # MuData; the ``mod`` of a frame is a method
    return parts if isinstance(parts, Mapping) else None


def _table(view: Any, name: str) -> Any:
    """The view itself, a frame of numbers, or the matrix of an AnnData with its names."""
    view = plain_frame(view, name)
    if hasattr(view, "columns") or not (hasattr(view, "X") and hasattr(view, "var_names")):
        return view
    import pandas as pd

    index: Any = getattr(view, "obs_names", None)
    if sparse.issparse(view.X):
        return NamedSparse(view.X, None if index is None else pd.Index(index), view.var_names)
    return pd.DataFrame(np.asarray(view.X), index=index, columns=view.var_names, copy=False)


def _column_table(view: Any, name: str) -> Any:
    """The same for the second view, which may be a single column (n,)."""
    table = _table(view, name)
    if table is None:
        return None
    if not hasattr(table, "shape"):
        table = np.asarray(table)
    if len(table.shape) != 1:
        return table
    if hasattr(table, "to_frame"):
        return plain_frame(table.to_frame(), name)
    return np.reshape(table, (-1, 1))


def check_row_labels(views: Views) -> None:
    """Frames whose rows have names in common must have the same rows, in the same order.

    Numbers are counters more often than names: only the same ones in another order are an error.
    """
    x, y = (getattr(table, "index", None) for table in (views.first, views.second))
    if x is None or not hasattr(x, "equals") or not hasattr(y, "equals") or x.equals(y):
        return
    common = Counter(x) & Counter(y)
    shared = sum(common.values())
    if shared == len(x) or any(isinstance(label, str) for label in common):
        raise InputError(
            f"views {views.names[0]!r} and {views.names[1]!r} have {shared} of {len(x)} row labels "
            "in common, and not in the same places; align them first, "
            "rows = X.index.intersection(Y.index) and X.loc[rows], Y.loc[rows]"
        )


def column_names(table: Any) -> np.ndarray | None:
    """The names of the columns if all are text, as scikit-learn has it; else None."""
    columns = getattr(table, "columns", None)
    if columns is None or not all(isinstance(c, str) for c in columns):
        return None
    return np.asarray(list(columns), dtype=object)


@contextmanager
def naming(view: Any, if_missing: str = "") -> Iterator[None]:
    """Errors about a table say which view it is, and what to do about missing values."""
    try:
        yield
    except ValueError as error:
        text = str(error).rstrip(".")
        advice = if_missing if "NaN" in text else ""
        raise InputError(f"view {view!r}: {text}{advice}") from error
    except TypeError as error:
        raise TypeError(f"view {view!r}: {error}") from error


def check_second_view(table: Any, name: Any, least_rows: int) -> Any:
    """The second view as an array of real numbers, or sparse; the first has validate_data."""
    with naming(name, "; drop those rows from both views, or impute them"):
        return check_array(
            _numbers_of(table),
            dtype=FLOATS,
            accept_sparse=FORMATS,
            ensure_min_samples=least_rows,
            input_name=str(name),
        )


def _numbers_of(table: Any) -> Any:
    """What scikit-learn is to look at."""
    if isinstance(table, NamedSparse):
        return table.matrix
    return require_in_memory(table, "SparseCCA")


def check_names(table: Any, fitted: np.ndarray | None, name: Any) -> None:
    """What scikit-learn checks of the names of a frame in new data, for other tables."""
    given = column_names(table)
    if given is None or fitted is None:
        if given is not fitted:
            now, then = ("no ", "") if given is None else ("", "no ")
            text = f"view {name!r} has {now}column names; it had {then}names when fitted"
            warnings.warn(text, UserWarning, stacklevel=5)
        return
    wrong = np.flatnonzero(given != fitted)
    if wrong.size:
        raise InputError(
            f"view {name!r}: column {wrong[0]} is {given[wrong[0]]!r}, and it was "
            f"{fitted[wrong[0]]!r} when the model was fitted; names and order must be the same"
        )


def per_view(value: Any, names: tuple[Any, Any], what: str) -> tuple[Any, Any]:
    """One value per view from one for both, a pair, or a mapping name -> value."""
    if isinstance(value, Mapping):
        if set(value) != set(names):
            raise InputError(f"{what} is {dict(value)!r}; it must name the views {list(names)}")
        return value[names[0]], value[names[1]]
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return value, value
    if len(value) != 2:
        raise InputError(f"{what} is {value!r}; it must be one number, or a pair, one per view")
    return value[0], value[1]


class TwoViews:
    """Tables in and scores out, for an estimator of two views (a mixin).

    scikit-learn would wrap a ``transform`` of the estimator's own class for set_output by itself,
    but of a pair only the first part, and of a mapping nothing: here each table is wrapped.
    """

    view_names_: tuple[Any, Any]
    support_: tuple[np.ndarray, np.ndarray]
    x_weights_: np.ndarray
    y_weights_: np.ndarray
    x_mean_: np.ndarray
    y_mean_: np.ndarray

    fit: Callable[..., Any]  # of the estimator

    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of the rows on the components.

        Returns
        -------
        array (n, n_components) of X alone, a pair of them if y is given, or for a mapping of
        views a dict name -> array.
        """
        check_is_fitted(self, "x_weights_")
        views = self._open(X, y)
        scores = self._scores(views)
        tables = (
            table.without_columns() if isinstance(table, NamedSparse) else table
            for table in (views.first, views.second)
        )
        wrapped = tuple(
            _wrap_data_with_container("transform", own, table, self)
            for own, table in zip(scores, tables)
        )
        if views.is_mapping:
            return dict(zip(views.names, wrapped))
        return wrapped if len(wrapped) == 2 else wrapped[0]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then the scores of X (for a mapping, those of both views).

        In a pipeline y, the second view, belongs to the fit and X goes on to the next step:
        for the scores of both views of a pair use ``fit(X, y).transform(X, y)``.
        """
        return self.fit(X, y).transform(X)

    def _open(self, X: Any, y: Any) -> Views:
        return split_views(X, y, self.view_names_)

    def _require_both(self, views: Views) -> None:
        if views.second is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; "
                "give the second view as y, or both views as a dict"
            )

    def _validate(self, views: Views, *, reset: bool) -> tuple[Any, ...]:
        """The views, dense or sparse, checked: both, or the first if there is no second."""
        rows = 2 if reset else 1
        x_name, y_name = views.names
        with naming(x_name) if views.is_mapping else nullcontext():
            first = self._check_first(views, rows, reset)
        if views.second is None:
            return (first,)
        with naming(y_name):
            check_unique_names(views.second)
        second = check_second_view(views.second, y_name, rows)
        self._check_second(views, second, reset)
        n, other = first.shape[0], second.shape[0]
        if n != other:
            raise InputError(
                f"view {x_name!r} has {n} rows and view {y_name!r} {other}; "
                "they must share their rows"
            )
        check_row_labels(views)
        return first, second

    def _check_first(self, views: Views, rows: int, reset: bool) -> Any:
        table, known = views.first, getattr(self, "feature_names_in_", None)
        with warnings.catch_warnings():
            if isinstance(table, NamedSparse):  # its names come below
                check_unique_names(table)
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            first = validate_table(self, _numbers_of(table), reset=reset, min_samples=rows)
        if isinstance(table, NamedSparse):
            names = column_names(table)
            if not reset:
                check_names(table, known, views.names[0])
            elif names is not None:
                self.feature_names_in_ = names
        return first

    def _check_second(self, views: Views, second: Any, reset: bool) -> None:
        """Remember the columns of the second view, or compare them with those remembered."""
        if reset:
            self.__dict__.pop("y_feature_names_in_", None)
            names = column_names(views.second)
            if names is not None:
                self.y_feature_names_in_ = names
            return
        name, p = views.names[1], self.y_mean_.size
        if second.shape[1] != p:
            raise InputError(
                f"view {name!r} has {second.shape[1]} features, but {type(self).__name__} was "
                f"fitted with {p}"
            )
        check_names(views.second, getattr(self, "y_feature_names_in_", None), name)

    def _scores(self, views: Views) -> list[np.ndarray]:
        """Scores (n, n_components) of one view or both."""
        weights, means = (self.x_weights_, self.y_weights_), (self.x_mean_, self.y_mean_)
        tables = self._validate(views, reset=False)
        return [
            project_rows(table, np.flatnonzero(S), mean[S], W[S])
            for table, S, mean, W in zip(tables, self.support_, means, weights)
        ]


def unit_variance(rows: Any, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights whose scores have unit variance (zero if they do not vary), and those scores."""
    scores = rows @ weights
    sizes = np.linalg.norm(scores, axis=0)
    factors = np.where(sizes > NOTHING, 1.0 / np.where(sizes > NOTHING, sizes, 1.0), 0.0)
    return weights * factors, scores * factors


def names_of_both(names: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """What the features of both views are called; None if that does not tell them apart."""
    if any(own is None for own in names):
        return None
    both = np.concatenate([np.asarray(own, dtype=object) for own in names])
    return both if len(set(both.tolist())) == both.size else None


def pearson(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Correlations of corresponding columns; 0 where one of them is constant."""
    units = []
    for scores in (first, second):
        centred = scores - scores.mean(axis=0)
        sizes = np.linalg.norm(centred, axis=0)
        round_off = 1e-13 * np.sqrt(len(scores)) * np.abs(scores).max(axis=0)
        units.append(np.where(sizes > round_off, centred / np.maximum(sizes, 1e-300), 0.0))
    return np.clip(np.einsum("ij,ij->j", *units), -1.0, 1.0)
