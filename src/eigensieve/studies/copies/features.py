"""Selected features that are copies of each other: the same evidence, counted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...pencil.magnitudes import ROUND_OFF
from ...pencil.row_factor import feature_slices

ALIKE = 1 - 1e-9  # a correlation from here on is that of a copy
MAX_COPIES_NAMED = 5


@dataclass(frozen=True)
class FeatureCopy:
    """A selected feature that is another one, up to scale and shift.

    Attributes
    ----------
    name, index : the feature
    original, original_index : the one it is a copy of, which comes first in the table
    sign : 1, or -1 where one goes up as the other goes down
    """

    name: str
    index: int
    original: str
    original_index: int
    sign: int


def find_copies(
    columns: np.ndarray, indices: Sequence[int], names: Sequence[str]
) -> list[FeatureCopy]:
    """The copies among some columns (n, m), whose places in the table are ``indices``.

    Constant columns are copies of nothing.
    """
    order = np.argsort(indices, kind="stable")
    places = np.asarray(indices, dtype=np.intp)[order].tolist()
    units = _units(columns[:, order])
    copies = []
    for part in feature_slices(len(places), len(places)):  # some at a time: they may be thousands
        correlations = units.T @ units[:, part]
        # only what comes before: every copy is told by the first of its kind
        alike = np.triu(np.abs(correlations) >= ALIKE, 1 - part.start)
        for j in np.flatnonzero(alike.any(axis=0)).tolist():
            first, own = int(alike[:, j].argmax()), places[part.start + j]
            other, sign = places[first], 1 if correlations[first, j] > 0 else -1
            copies.append(FeatureCopy(str(names[own]), own, str(names[other]), other, sign))
    return copies


def _units(columns: np.ndarray) -> np.ndarray:
    """The columns centred and of length 1; 0 where nothing but round-off varies."""
    magnitude = np.abs(columns).max(axis=0, initial=0.0)
    scaled = columns / np.where(magnitude > 0, magnitude, 1.0)
    centred = scaled - scaled.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    varies = lengths > ROUND_OFF * np.sqrt(len(columns))
    return np.asarray(np.divide(centred, lengths, out=np.zeros_like(centred), where=varies))


def describe_copies(copies: Sequence[FeatureCopy]) -> list[str]:
    """One sentence about all of them, the first few by name; none if there are none."""
    if not copies:
        return []
    pairs = [
        f"{copy.name!r} is a copy of {copy.original!r} (correlation {copy.sign})"
        for copy in copies[:MAX_COPIES_NAMED]
    ]
    if len(copies) > MAX_COPIES_NAMED:
        pairs.append(f"and so on, {len(copies):,} copies in all")
    tells = "a copy tells nothing new, but with shrinkage it counts as more evidence"
    return [f"{'; '.join(pairs)}: {tells}. Keep one of its kind and fit again."]
