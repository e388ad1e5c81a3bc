"""The table of a study, checked once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError
from ..estimators._validation import require_in_memory
from ..pencil.checks import check_labels
from ..pencil.magnitudes import refuse_extremes
from ..tables.kinds.frames import plain_frame
from .copies.rows import describe_row_copies, find_row_copies, join_rows
from .standardize import check_missing, refuse_gaps, stored_numbers


@dataclass(frozen=True, eq=False)
class StudyData:
    """Rows (n, p), labels (n,), names (p,) and, if there are any, groups (n,).

    The rows are an array, or a csr matrix. ``columns`` are the names that the table itself has, as
    scikit-learn sees them: text. ``missing`` says what is done about missing values, and ``target``
    is the name of the labels. ``rows`` are the names of the rows, if they have any.
    """

    X: Any
    y: np.ndarray
    names: list[str]
    groups: np.ndarray | None
    columns: list[str] | None = None
    missing: str = "error"
    target: str = "target"
    rows: list[str] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the data."""
        X = self.X
        parts = [X.indptr, X.indices, X.data] if sparse.issparse(X) else [X]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
        groups = None if self.groups is None else self.groups.tolist()
        # repr tells 1 from "1": as classes they come in another order
        digest.update(repr([self.names, self.y.tolist(), groups]).encode())
        return digest.hexdigest()[:16]

    @cached_property
    def about_rows(self) -> tuple[str, ...]:
        """What a user should know about rows that are copies of each other."""
        return tuple(describe_row_copies(find_row_copies(self.X), self.groups, self.rows))

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        return int(np.isnan(stored_numbers(self.X)).sum())


def check_data(
    X: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike | None,
    names: Sequence[str] | None,
    missing: str,
    target: str | None = None,
    rows: Sequence[str] | None = None,
) -> StudyData:
    """Numbers, labels, names and groups that fit together, or an error that says what does not."""
    X = plain_frame(X)
    matrix = _matrix(X)
    n, p = matrix.shape
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InputError(f"X has {n} rows and y the shape {labels.shape}; one label per row")
    labels = _check_classes(labels)
    refuse_gaps(matrix, check_missing(missing))
    data = StudyData(
        matrix, labels, _names(X, names, p), _groups(groups, n), _columns(X), missing,
        target or "target", _row_names(X) if rows is None else list(rows),
    )  # fmt: skip
    high, low = column_extent(matrix)
    refuse_extremes(np.maximum(high, -low), data.names)
    if np.all(high == low):
        raise InputError("no column varies: there is nothing to select")
    return data


def copy_groups(X: Any, groups: ArrayLike | None = None) -> np.ndarray:
    """Groups by which rows that are copies of each other stay on one side of every split.

    Copies are rows that are equal, or, among up to 2,000 rows, five times nearer to each other than
    to any other row, and than rows usually are: one sample, measured again. In a table of few
    columns, or of few different values, such rows are ordinary, and not told as copies: at most one
    in a hundred of the pairs is expected to be chance.

    Parameters
    ----------
    X : array, DataFrame or scipy.sparse matrix (n, p)
        Missing values may be NaN.
    groups : array (n,), optional
        Groups to be kept together as well; those that share a copy become one.

    Returns
    -------
    array (n,) of int
        The same number for rows that belong together, for ``study(..., groups=...)``.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(6, 100))
    >>> es.copy_groups(np.vstack([X, X[:2]])).tolist()
    [0, 1, 2, 3, 4, 5, 0, 1]
    """
    matrix = _matrix(plain_frame(X))
    refuse_gaps(matrix, "median")
    high, low = column_extent(matrix)
    refuse_extremes(np.maximum(high, -low))
    n = matrix.shape[0]
    pairs = find_row_copies(matrix).pairs
    labels = _groups(groups, n)
    if labels is not None:
        _, first, member = np.unique(labels, return_index=True, return_inverse=True)
        pairs = np.concatenate([pairs, np.column_stack([first[member], np.arange(n)])])
    return join_rows(n, pairs)


def _matrix(X: Any) -> Any:
    require_in_memory(X, "a study")
    try:
        if np.iscomplexobj(X):  # numpy would drop a part of them
            raise TypeError("it has complex ones")
        matrix = _numbers(X)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold numbers only: {error}") from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"X has shape {matrix.shape}; need (n, p), rows and columns")
    return matrix


def _numbers(X: Any) -> Any:
    if sparse.issparse(X):
        matrix = sparse.csr_array(X, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        return matrix
    return np.asarray(X, dtype=np.float64)


def _check_classes(labels: np.ndarray) -> np.ndarray:
    check_labels(labels)
    if labels.dtype == object and all(isinstance(label, int | np.integer) for label in labels):
        labels = np.array(labels.tolist())  # whole numbers in a column of objects
    try:
        check_classification_targets(labels)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"y holds no classes; make the labels text or whole numbers ({error})"
        ) from error
    return labels


def column_extent(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Largest and smallest value of every column; 0 for a column of gaps."""
    if sparse.issparse(X):
        ends = (getattr(X, end)(axis=0).toarray().ravel() for end in ("nanmax", "nanmin"))
        high, low = map(np.nan_to_num, ends)
        return high, low
    gaps = np.isnan(X)
    if not gaps.any():
        return X.max(axis=0), X.min(axis=0)
    high = np.where(gaps, -np.inf, X).max(axis=0)
    low = np.where(gaps, np.inf, X).min(axis=0)
    empty = gaps.all(axis=0)
    return np.where(empty, 0.0, high), np.where(empty, 0.0, low)


def _names(X: Any, names: Sequence[str] | None, p: int) -> list[str]:
    if names is None:
        names = getattr(X, "columns", [f"x{j}" for j in range(p)])
    texts = [str(name) for name in names]
    if len(texts) != p:
        raise InputError(f"there are {len(texts)} names for {p} columns; give one for each")
    for name, times in Counter(texts).items():
        if times > 1:
            raise InputError(f"the name {name!r} occurs more than once; make the names unique")
    return texts


def _row_names(X: Any) -> list[str] | None:
    """The index of a frame of pandas, where it is text."""
    index = getattr(X, "index", None)
    names = [] if index is None or callable(index) else list(index)
    return names if names and all(isinstance(name, str) for name in names) else None


def _columns(X: Any) -> list[str] | None:
    columns = list(getattr(X, "columns", ()))
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def _groups(groups: ArrayLike | None, n: int) -> np.ndarray | None:
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.shape != (n,):
        raise InputError(f"groups has shape {array.shape}; X has {n} rows: one group per row")
    try:
        check_labels(array)
    except InputError as error:
        raise InputError("groups has missing values; give every row a group") from error
    return array.astype(np.str_)
