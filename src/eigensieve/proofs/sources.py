"""What a proof is about: a table (or two matrices) and the recipe of its pencil."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError, VerificationError
from .frames import as_doubles, exact_doubles

MIN_SHRINKAGE = 1e-10  # also the least share of a column's total variance in the ridge
IS_IT_THE_TABLE = "is this the table that the proof was made from?"


@dataclass(frozen=True)
class TableRecipe:
    """How the header says that the pencil comes from the table."""

    kind: str
    shrinkage: tuple[float, ...] = ()
    ridge: float = 0.0
    members: tuple[int, ...] = ()
    factor: np.ndarray | None = None
    slack: np.ndarray | None = None
    least: float = 0.0


@dataclass(frozen=True, eq=False)
class ProofSource:
    """The doubles that define the pencil exactly.

    ``X`` has the columns of both tables for "cca" (``view`` says whose), ``codes`` the class of
    every row for "lda" (``classes`` their labels); "matrices" has ``A`` and ``B`` instead (no B:
    the identity).
    """

    recipe: TableRecipe
    n_features: int
    X: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    codes: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    view: np.ndarray | None = None
    A: np.ndarray | None = None
    B: np.ndarray | None = None
    names: list[str] | None = None  # of the columns of X, where the table has names
    classes: tuple[Any, ...] = ()

    @property
    def counts(self) -> np.ndarray:
        """Rows per class."""
        return np.bincount(self.codes)

    @property
    def weights(self) -> list[Fraction]:
        """The weights of the columns in A = sum of w_c z_c z_c'."""
        if self.recipe.kind == "lda":
            return [Fraction(int(count), len(self.X)) for count in self.counts]
        if self.recipe.kind == "pca":
            return [Fraction(1, len(self.X))] * len(self.X)
        columns = 0 if self.recipe.factor is None else self.recipe.factor.shape[1]
        return [Fraction(1)] * columns

    def shrinkage_of(self, features: np.ndarray) -> np.ndarray:
        """The share of the diagonal, never below the least one."""
        shares = np.maximum(np.array(self.recipe.shrinkage), MIN_SHRINKAGE)
        view = np.zeros(self.n_features, dtype=np.intp) if self.view is None else self.view
        return np.asarray(shares[view[features]])

    def is_constant(self, features: np.ndarray) -> np.ndarray:
        """Columns whose variance is exactly zero."""
        X = self.X[:, features]
        return np.asarray((X[:1] == X).all(axis=0))


def make_source(recipe: TableRecipe, n_features: int, given: dict[str, Any]) -> ProofSource:
    """Put table and recipe together, and see that they agree."""
    if recipe.kind == "matrices":
        return _from_matrices(recipe, n_features, given)
    X, names = _table(given, "X")
    if recipe.kind == "cca":
        Y, others = _table(given, "Y")
        if len(X) != len(Y):
            raise InputError(f"X has {len(X)} rows and Y has {len(Y)}; they must have the same")
        view = np.repeat([0, 1], [X.shape[1], Y.shape[1]])
        X = np.hstack([X, Y])
        _check_width(X.shape[1], n_features)
        names = None if names is None or others is None else names + others
        return ProofSource(recipe, n_features, X, view=view, names=names)
    _check_width(X.shape[1], n_features)
    if recipe.kind == "pca":
        return ProofSource(recipe, n_features, X, names=names)
    codes, classes = _classes(recipe, given.get("y"), len(X))
    return ProofSource(recipe, n_features, X, codes, names=names, classes=classes)


def _table(given: dict[str, Any], name: str) -> tuple[np.ndarray, list[str] | None]:
    if given.get(name) is None:
        raise InputError(f"the proof is about a table: pass it as {name}")
    return as_doubles(given[name], name)


def _check_width(found: int, wanted: int) -> None:
    if found != wanted:
        raise VerificationError(
            f"the proof is about {wanted} features, and {found} were given; {IS_IT_THE_TABLE}"
        )


def _classes(recipe: TableRecipe, y: Any, n: int) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The class of every row, that of the member which the recipe lists for it; and its label."""
    if y is None:
        raise InputError("the proof is about classes: pass the labels as y")
    labels = _labels(y, n)
    last = max(recipe.members, default=0)
    if last >= n:
        raise VerificationError(f"the proof lists row {last} of {n}; {IS_IT_THE_TABLE}")
    known = {labels[row]: c for c, row in enumerate(recipe.members)}
    if len(known) < len(recipe.members) or not set(labels) <= set(known):
        raise VerificationError(
            f"the proof lists one row of each of {len(recipe.members)} classes; the labels have "
            f"{len(set(labels))} classes, and not one in each; {IS_IT_THE_TABLE}"
        )
    codes = np.array([known[label] for label in labels], dtype=np.intp)
    return codes, tuple(labels[row] for row in recipe.members)


def _labels(y: Any, n: int) -> list[Any]:
    """One text or number for each row."""
    try:
        given = np.asarray(y)
    except ValueError as error:  # lists of unequal length
        raise InputError(f"y is no list of labels; one for each of {n} rows is needed") from error
    if given.shape != (n,):
        raise InputError(f"y has the shape {given.shape}; one label for each of {n} rows is needed")
    labels = given.tolist()
    for label in labels:
        if not isinstance(label, Hashable) or isinstance(label, tuple):
            raise InputError(f"y has the label {label!r:.40}; labels are texts or numbers")
        if label is None or not _equals_itself(label):
            raise InputError("y has missing labels")
    return labels


def _equals_itself(label: Any) -> bool:
    try:
        return bool(label == label)
    except TypeError:  # pandas.NA
        return False


def _from_matrices(recipe: TableRecipe, p: int, given: dict[str, Any]) -> ProofSource:
    if given.get("A") is None:
        raise InputError("the proof is about matrices: pass A, and B unless it is the identity")
    A = _square(given["A"], "A", p)
    B = None if given.get("B") is None else _square(given["B"], "B", p)
    return ProofSource(recipe, p, A=A, B=B)


def _square(values: Any, name: str, p: int) -> np.ndarray:
    square = np.asarray(values)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise InputError(f"{name} has the shape {square.shape}; a square matrix is needed")
    _check_width(len(square), p)
    doubles = exact_doubles(square, name)
    if (doubles != doubles.T).any():
        raise InputError(f"{name} is not symmetric; pass ({name} + {name}.T) / 2")
    return doubles
