"""The set that `certify` is asked about: indices of a pencil, or names of a table's columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..pencil.constraints import Constraints
from ..pencil.pencil import Pencil
from ..tables.builders import lda_problem
from ..tables.kinds.groups import labelled_cells
from ..tables.kinds.opening import is_anndata
from ..tables.named_columns import feature_names, find_columns


@dataclass(frozen=True, eq=False)
class GivenSet:
    """A set of features, and the pencil by which it is judged.

    Attributes
    ----------
    pencil : Pencil
    chosen : array of feature indices, sorted
    include, exclude : feature indices
    names : what all features are called, if that is known
    constraints : limits on groups and costs, by index, or None
    """

    pencil: Pencil
    chosen: np.ndarray
    include: Sequence[int]
    exclude: Sequence[int]
    names: tuple[str, ...] | None
    constraints: Constraints | None = None

    def name_of(self, feature: int) -> str:
        """For messages: the name in quotes, or the index."""
        return str(feature) if self.names is None else repr(self.names[feature])


def read_pencil_set(
    pencil: Any,
    support: Any,
    include: Sequence[Any],
    exclude: Sequence[Any],
    names: Iterable[str] | None,
    settings: dict[str, Any],
) -> GivenSet:
    """A set of a pencil's features; those of a table may have given it names."""
    if not isinstance(pencil, Pencil):
        raise InputError(
            f"expected a Pencil, not {type(pencil).__name__}; of a table, also name the features "
            "of the set: certify(X, y, features)"
        )
    if settings:
        raise InputError(
            f"{', '.join(settings)}: for a table only, a pencil is what it is; make it with them "
            "(see lda_pencil), or give certify(X, y, features)"
        )
    own = None if pencil.recipe is None else pencil.recipe.names
    known = own if names is None else tuple(str(name) for name in names)
    return _find_set(pencil, support, "support", include, exclude, known)


def read_table_set(
    X: Any,
    y: Any,
    features: Any,
    include: Sequence[Any],
    exclude: Sequence[Any],
    names: Iterable[str] | None,
    settings: dict[str, Any],
) -> GivenSet:
    """A set of a table's columns, with the pencil of that table and its labels."""
    if isinstance(X, Pencil):
        raise InputError(
            "features belong to a table; of a pencil, give indices: certify(pencil, support)"
        )
    recipe = dict(settings)
    layer = recipe.pop("layer", None)
    if is_anndata(X):
        X, y, own = labelled_cells(X, y, layer)
        names = own if names is None else names
    elif layer is not None:
        raise InputError(f"layer is {layer!r}, but X is no AnnData: no other table has layers")
    elif isinstance(y, str):
        raise InputError(f"y is {y!r}; give the labels themselves, one per row")
    if names is None:
        _refuse_number_names(X, {"features": features, "include": include, "exclude": exclude})
    known = feature_names(X, names)
    pencil = lda_problem(X, y, names=known, **recipe).pencil
    return _find_set(pencil, features, "features", include, exclude, known)


def _find_set(
    pencil: Pencil,
    wanted: Any,
    what: str,
    include: Sequence[Any],
    exclude: Sequence[Any],
    names: tuple[str, ...] | None,
) -> GivenSet:
    if names is not None and len(names) != pencil.size:
        raise InputError(f"names has {len(names)} entries, and there are {pencil.size} features")
    chosen = _check_indices(find_columns(wanted, names, what), pencil.size, what, names)
    inside = find_columns(include, names, "include")
    outside = find_columns(exclude, names, "exclude")
    return GivenSet(pencil, chosen, inside, outside, names)


def _refuse_number_names(X: Any, lists: dict[str, Sequence[Any]]) -> None:
    """Where columns are called by numbers other than their positions, a number is no clear name."""
    labels = getattr(X, "columns", None)
    if labels is None or callable(labels):
        return
    odd = [name for j, name in enumerate(labels) if isinstance(name, Integral) and name != j]
    for what, wanted in lists.items():
        if odd and not all(isinstance(each, str) for each in wanted):
            raise InputError(
                f"{what} has numbers, and columns of X are called by numbers that are not their "
                f"positions; give names as text: {str(odd[0])!r}"
            )


def _check_indices(
    given: ArrayLike, size: int, what: str, names: Sequence[str] | None
) -> np.ndarray:
    """The indices, sorted, each once."""
    chosen = np.asarray(given)
    if chosen.dtype == bool and chosen.ndim == 1:
        raise InputError(f"{what} must list feature indices, not a mask: use np.flatnonzero(mask)")
    if chosen.shape == (0,):
        raise InputError(f"{what} is empty: name at least one feature")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError(f"{what} must list feature indices (whole numbers), not {given!r}")
    if chosen.min() < 0 or chosen.max() >= size:
        wrong = chosen[(chosen < 0) | (chosen >= size)][0]
        raise InputError(f"{what} names feature {wrong}, outside 0..{size - 1}")
    values, counts = np.unique(chosen, return_counts=True)
    if values.size < chosen.size:
        twice = int(values[np.argmax(counts)])
        name = twice if names is None else repr(names[twice])
        raise InputError(f"{what}: {name} is there more than once")
    return values.astype(np.intp)
