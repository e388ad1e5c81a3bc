"""How a pencil was made from a table, so that a proof about it can be checked against the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Recipe:
    """The table's part of a pencil's definition; docs/proofs.md has the formulas.

    Attributes
    ----------
    kind : "lda", "pca" or "cca"
    settings : what else the formulas need, as JSON values
    names : of the features, where the table has any
    priors : shares of the classes, in the order in which the pencil's factor has them
    """

    kind: str
    settings: dict[str, Any]
    names: tuple[str, ...] | None = None
    priors: np.ndarray | None = None

    def as_plain(self) -> dict[str, Any]:
        """As the header of a proof file has it."""
        return {"kind": self.kind, **self.settings}


def lda_recipe(
    y: ArrayLike, shrinkage: float, ridge: float, names: tuple[str, ...] | None = None
) -> Recipe:
    """That of `lda_pencil` without weights.

    A class is named by its first sample: labels may be read from a file as other types than they
    had, and then sort otherwise.
    """
    _, members, counts = np.unique(np.asarray(y), return_index=True, return_counts=True)
    settings = {"shrinkage": float(shrinkage), "ridge": float(ridge), "members": members.tolist()}
    return Recipe("lda", settings, names, counts / counts.sum())
