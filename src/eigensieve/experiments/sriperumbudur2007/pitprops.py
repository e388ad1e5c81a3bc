"""The pit props table and figure: six sparse components, their features and variance.

The variance of sparse components has three meanings, and the published table mixes two of them.
Here every row has all three. SPCA with the penalties of its authors, DSPCA with its own loadings
and the k (5, 2, 2, 1, 1, 1) that leave the published pattern, Hotelling's deflation; DC-PCA
with exactly k features, weights recomputed, projection
deflation. DC-PCA* is DC-PCA at SPCA's pattern. The paper does not name its deflation: the other
two have rows of their own, and so has the best that features chosen one component after the other
can have ("exact": every component's set is proved optimal).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...pencil.pencil import Pencil
from ...search.solve import solve_components
from ..values import Measured, Value
from ._components import (
    MEASURES,
    PAPER,
    cardinalities,
    describe,
    pit_props,
    relaxed_components,
    sequential_components,
)
from ._figure import draw_cumulative

SHOWN = ("SPCA", "DSPCA", "DC-PCA", "DC-PCA*", "PCA")


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One a row."""
    own, theirs = protocol["pattern"], protocol["spca_pattern"]
    rows: list[tuple[str, str, list[float], str]] = [
        ("PCA", "pca", theirs, ""),
        ("SPCA", "spca", protocol["spca_penalties"], ""),
        ("DSPCA", "dspca", protocol["dspca_k"], "hotelling"),
        ("DC-PCA", "dc", own, "projection"),
        ("DC-PCA*", "dc", theirs, "projection"),
        ("DC-PCA*, Hotelling", "dc", theirs, "hotelling"),
        ("DC-PCA*, Schur", "dc", theirs, "schur"),
        ("exact", "exact", own, "projection"),
        ("exact*", "exact", theirs, "projection"),
    ]
    names = ("row", "method", "settings", "deflation")
    return [dict(zip(names, row)) for row in rows]


def work(row: str, method: str, settings: list[Any], deflation: str) -> dict[str, Any]:
    """The components of one row; ``settings`` are cardinalities, for SPCA penalties."""
    pencil = Pencil(pit_props())
    if method == "pca":
        vectors = pencil.top(len(settings))[1]
    elif method == "spca":
        free = [None] * len(settings)
        vectors, solutions = solve_components(pencil, free, "spca", rho=settings, ridge=1e-6)
        for solution in solutions:
            solution.verify(pencil)
    elif method == "dspca":
        vectors = relaxed_components(pencil, settings)
    else:
        options = PAPER if method == "dc" else {}
        vectors = sequential_components(pencil, settings, method, deflation, **options)
    return {"row": row, **describe(pencil, vectors)}


def measure(protocol: dict[str, Any], found: list[dict[str, Any]]) -> Measured:
    """Pattern, cardinality, variance by every measure."""
    cells = {}
    for entry in found:
        row, counts = entry["row"], cardinalities(entry)
        if row != "PCA":
            cells[row, "pattern"] = Value(f"({','.join(map(str, counts))})")
            cells[row, "cardinality"] = Value(float(sum(counts)))
        for name in MEASURES:
            cells[row, f"{name}, %"] = Value(entry[name][-1])
        if row == "DC-PCA":
            cells[row, "supports"] = Value(show_supports(entry["supports"]))
    rows = {entry["row"]: entry for entry in found}
    series = {
        "variance": {name: rows[name]["subspace"] for name in SHOWN},
        "cardinality": {
            name: np.cumsum(cardinalities(rows[name])).tolist() for name in SHOWN if name != "PCA"
        },
    }
    best = max(
        (e for e in found if e["row"].startswith("DC-PCA*")), key=lambda e: e["subspace"][-1]
    )
    note = (
        f"Best of the three deflations at SPCA's pattern: {best['row']}, "
        f"{best['subspace'][-1]:.2f} % of the variance lies in the subspace."
    )
    return Measured(cells, series, [note])


def show_supports(supports: list[list[int]]) -> str:
    """The sets, largest first: the last three have equal variances, and any order is right."""
    ordered = sorted(supports, key=lambda s: (-len(s), s))
    return " ".join("{" + ",".join(map(str, s)) + "}" for s in ordered)


def draw(series: dict[str, Any]) -> Figure:
    """Cumulative variance (of the subspace) and cumulative cardinality."""
    return draw_cumulative(series, "cumulative variance, subspace, %")
