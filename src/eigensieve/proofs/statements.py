"""What a proof is about, in plain data: everything that defines the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .header import Header
from .records import refute
from .sources import ProofSource


def find_names(header: Header, source: ProofSource, given: Any) -> list[str] | None:
    """The names of the features, of the table or as given; those of the file must be the same.

    Names that stand in the file alone are not verified, and are not reported.
    """
    names = source.names
    if given is not None:
        told = [str(name) for name in given]
        if len(told) != header.n_features:
            raise InputError(f"names has {len(told)} entries, for {header.n_features} features")
        if names is not None and told != names:
            raise InputError("names are not those of the table's columns")
        names = told
    if names is not None and header.names is not None:
        for j, (here, there) in enumerate(zip(names, header.names)):
            if here != there:
                refute(f"column {j} is {here!r:.60}, and {there!r:.60} in the proof")
    return names


def describe_problem(
    header: Header, source: ProofSource, blocks: np.ndarray, names: list[str] | None
) -> dict[str, Any]:
    """The problem as JSON values; what does not apply to its kind is None."""
    recipe = source.recipe
    has_table, is_lda = recipe.kind != "matrices", recipe.kind == "lda"
    classes = None
    if is_lda:
        counts = source.counts.tolist()
        classes = [[_plain(label), count] for label, count in zip(source.classes, counts)]
    return {
        "kind": recipe.kind,
        "criterion": header.criterion,
        "k": list(header.k),
        "n_features": header.n_features,
        "n_samples": len(source.X) if has_table else None,
        "classes": classes,
        "shrinkage": list(recipe.shrinkage) or None,
        "ridge": recipe.ridge if is_lda else None,
        "block_sizes": np.bincount(blocks, minlength=len(header.k)).tolist(),
        "include": list(header.include),
        "exclude": list(header.exclude),
        "include_names": None if names is None else [names[j] for j in header.include],
        "exclude_names": None if names is None else [names[j] for j in header.exclude],
        "limits": [limit.as_plain(names) for limit in header.limits],
    }


def _plain(label: Any) -> Any:
    return label if isinstance(label, str | int | float | bool) else str(label)
