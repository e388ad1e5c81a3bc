"""Numbers and matrices that users give: one place for their limits and their error messages."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from ..errors import InputError, OptionError, PencilError
from .magnitudes import LARGEST

SYMMETRY_TOL = 1e-8
# Of sums that cancel, as a share of the largest of them.
ROUND_OFF = 100 * float(np.finfo(float).eps)
# B with unit diagonal and an eigenvalue below this is singular to working precision.
SINGULAR = 1e-13
# Entries are squares of data, as it were; their own squares and quotients must not overflow.
MAX_SIZE, MIN_SIZE = 100 * LARGEST**2, 1e-200


def check_number(value: Any, name: str, low: float, high: float, allowed: str) -> float:
    """The value as a float if it is a real number in [low, high]; ``allowed`` in words."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | np.number):
        raise OptionError(f"{name} is {value!r}; it must be {allowed}")
    number = float(value)
    if not low <= number <= high:
        raise OptionError(f"{name} is {value!r}; it must be {allowed}")
    return number


def check_choice(value: Any, name: str, known: Collection[str]) -> str:
    """The value if it is one of the names that are known."""
    if not isinstance(value, str) or value not in known:
        raise OptionError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    return value


def check_flag(value: Any, name: str) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name} is {value!r}; it must be True or False")


def as_seed(random_state: Any) -> int:
    """A seed: a number is the seed itself, None is 0, and a generator draws one.

    So that estimators and functions of this package agree, and no two calls differ.
    """
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    is_whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not is_whole or random_state < 0:
        raise OptionError(
            f"random_state is {random_state!r}; it must be a whole number >= 0, a RandomState or "
            "Generator of numpy, or None"
        )
    return int(random_state)


def check_labels(labels: np.ndarray) -> None:
    """Refuse missing labels, which would otherwise be a class of their own, and mixed types."""
    if labels.ndim == 0:
        return  # no y at all: what validates it says so
    if any(map(_is_missing, labels.ravel())) if labels.dtype.kind == "O" else _has_nan(labels):
        raise InputError("y has missing labels; drop those rows first")
    if labels.dtype.kind == "O":
        try:
            np.unique(labels)
        except TypeError as error:  # they cannot be put in order
            raise InputError("y has labels of several types; make all of them text") from error


def _has_nan(labels: np.ndarray) -> bool:
    return labels.dtype.kind == "f" and bool(np.isnan(labels).any())


def _is_missing(label: Any) -> bool:
    """None, NaN, or pandas' NA, which is not even unequal to itself."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:
        return True


def check_k(k: Any, name: str = "k") -> int:
    """A cardinality, or another count, as an int >= 1."""
    wrong = InputError(f"{name} is {k!r}; it must be a whole number, at least 1")
    if isinstance(k, bool | np.bool_):
        raise wrong
    try:
        number = operator.index(k)
    except TypeError:
        raise wrong from None
    if number < 1:
        raise wrong
    return number


def finite(value: ArrayLike, name: str) -> np.ndarray:
    """The value as an array of finite numbers."""
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PencilError(f"{name} must hold numbers only: {error}") from error
    if not np.isfinite(array).all():
        bad = int(np.size(array) - np.isfinite(array).sum())
        raise PencilError(f"{name} has {bad} NaN or infinite entries; remove or impute them first")
    return array


def symmetric(value: ArrayLike, name: str) -> np.ndarray:
    """The value as a symmetric matrix that is not empty."""
    M = finite(value, name)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise PencilError(f"{name} must be a square matrix; it has shape {M.shape}")
    if M.shape[0] == 0:
        raise PencilError(f"{name} is empty: a pencil needs at least one feature")
    size = float(np.abs(M).max())
    if size > MAX_SIZE:
        raise PencilError(
            f"{name} has entries of size {size:.1e}; rescale it: at most {MAX_SIZE:.0e}"
        )
    off = asymmetry(M)
    if off > 0:
        raise PencilError(
            f"{name} is not symmetric: |{name} - {name}'| reaches {off:.3g}; "
            f"use ({name} + {name}.T) / 2 if that is round-off"
        )
    return (M + M.T) / 2


def asymmetry(M: Any, tol: float = SYMMETRY_TOL) -> float:
    """The largest |M_ij - M_ji| that is more than round-off, 0 if none is; M may be sparse.

    An entry is measured by its own two features, however large others are: it may be off by
    ``tol`` of itself, by 1e-8 of sqrt(|M_ii M_jj|), or by what rounding leaves of sums as
    large as the largest entry in its row and column.
    """
    rows, columns = (M != M.T).nonzero()
    if rows.size == 0:
        return 0.0
    there, back = np.asarray(M[rows, columns]).ravel(), np.asarray(M[columns, rows]).ravel()
    largest = abs(M).max(axis=1)
    largest = largest.toarray().ravel() if sparse.issparse(M) else largest
    diagonal = np.sqrt(abs(M.diagonal()))
    allowed = np.maximum.reduce(
        [
            tol * np.maximum(abs(there), abs(back)),
            SYMMETRY_TOL * diagonal[rows] * diagonal[columns],
            ROUND_OFF * np.maximum(largest[rows], largest[columns]),
        ]
    )
    off = abs(there - back)
    return float(off[off > allowed].max(initial=0.0))


def require_positive_definite(B: np.ndarray) -> None:
    """Raise unless B is, with some digits to spare."""
    diagonal = np.diag(B)
    if 0 < diagonal.min() < MIN_SIZE:
        raise PencilError(
            f"B has {diagonal.min():.1e} on its diagonal; rescale it to {MIN_SIZE:.0e} at least"
        )
    if diagonal.min() > 0:
        d = 1.0 / np.sqrt(diagonal)
        scaled = B * np.outer(d, d)
        smallest = float(linalg.eigvalsh(scaled, subset_by_index=[0, 0])[0])
        if smallest > SINGULAR:
            return
    smallest = float(linalg.eigvalsh(B, subset_by_index=[0, 0])[0])
    raise PencilError(
        f"B must be positive definite, and its smallest eigenvalue is {smallest:.3g}; "
        "add a ridge (B + 1e-6 * mean(diag B) * I) or shrink B towards its diagonal"
    )


def check_blocks(blocks: Sequence[int] | None, p: int) -> np.ndarray | None:
    """The block of each of p features, numbered 0, 1, ..."""
    if blocks is None:
        return None
    array = np.asarray(blocks)
    if array.shape != (p,):
        raise PencilError(f"blocks must name the block of each of the {p} features")
    return np.unique(array, return_inverse=True)[1].astype(np.intp)
