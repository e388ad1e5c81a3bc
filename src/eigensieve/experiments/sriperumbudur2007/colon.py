"""Colon: cumulative variance and cardinality of five sparse components of 2,000 genes.

The slide is a figure without numbers; its text says that DC-PCA has better sparsity than SPCA. The
paper tells neither the scale of the data, nor the sparsity, nor the deflation, nor the measure of
variance. We chose: correlations of log2 intensities (floored at 1), k genes in each of five
components for several k, projection deflation (and Schur's beside it), SPCA with an infinite ridge
(its authors' version for genes). The claim is judged both ways: the variance of as many genes, and
the genes that DC-PCA needs for SPCA's variance. DSPCA is left out: it does not scale so far.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...core.builders import pca_pencil
from ...core.pencil import Pencil
from ...solvers.dispatch import solve, solve_components
from ..data import load_set
from ..values import Measured, Value
from ._components import MEASURES, PAPER, describe, sequential_components
from ._figure import draw_cumulative

JUDGED = ("adjusted", "subspace")  # plain variances count correlated scores twice
DC = {"DC-PCA": "projection", "DC-PCA, Schur": "schur"}


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One a number of genes, the largest first."""
    m, most = protocol["components"], protocol["polished_up_to"]
    ks = sorted(protocol["ks"], reverse=True)
    return [{"k": k, "components": m, "polish": k <= most} for k in ks]


def work(k: int, components: int, polish: bool) -> dict[str, Any]:
    """All methods with k genes a component."""
    pencil = _correlations()
    found: dict[str, Any] = {"SPCA": _spca(pencil, k, components)}
    for name, deflation in DC.items():
        found[name] = _dc(k, components, deflation)
    goal = {name: found["SPCA"][name][-1] for name in JUDGED}
    found["needed"] = {name: fewest_genes(goal[name], name, components) for name in JUDGED}
    if found["needed"]["subspace"] > 0:
        found["matched"] = _dc(found["needed"]["subspace"], components)["subspace"]
    if polish:
        solution = solve(pencil, k, "dc")
        solution.verify(pencil)
        found["polished"] = solution.objective
    pca = describe(pencil, pencil.top(components)[1])
    return {"k": k, "PCA": pca["subspace"], **found}


@cache
def _correlations() -> Pencil:
    """The pencil of the standardised log2 intensities."""
    X = np.log2(np.maximum(load_set("colon")[0], 1.0))
    return pca_pencil((X - X.mean(axis=0)) / X.std(axis=0))


def _spca(pencil: Pencil, k: int, m: int) -> dict[str, Any]:
    vectors, solutions = solve_components(pencil, [k] * m, "spca", ridge=np.inf)
    for solution in solutions:
        solution.verify(pencil)
    entry = _variances(vectors)
    entry["settled"] = not solutions[0].status.is_early
    return entry


@cache
def _dc(k: int, m: int, deflation: str = "projection") -> dict[str, Any]:
    return _variances(sequential_components(_correlations(), [k] * m, "dc", deflation, **PAPER))


def _variances(vectors: np.ndarray) -> dict[str, Any]:
    """Cumulative variances, and the plain variance of the first component, not in percent."""
    pencil = _correlations()
    entry = describe(pencil, vectors)
    del entry["supports"]
    return {**entry, "first": float(pencil.rayleigh(vectors[:, 0]))}


def fewest_genes(goal: float, measure: str, components: int) -> int:
    """The k at which DC-PCA's variance comes to the goal, by bisection; -1 if none does.

    The variance rises with k but for small steps back, so that the k found may not be the least.
    """
    low, high = 0, 1
    while _dc(high, components)[measure][-1] < goal:
        if high >= _correlations().size:
            return -1
        low, high = high, min(2 * high, _correlations().size)
    while high - low > 1:
        middle = (low + high) // 2
        if _dc(middle, components)[measure][-1] < goal:
            low = middle
        else:
            high = middle
    return high


def measure(protocol: dict[str, Any], found: list[dict[str, Any]]) -> Measured:
    """Variances at equal cardinality, and genes at equal variance."""
    cells = {}
    m, entries = protocol["components"], sorted(found, key=lambda entry: entry["k"])
    for entry in entries:
        for name in ("SPCA", *DC):
            row = f"{name}, k = {entry['k']}"
            for kind in MEASURES:
                cells[row, f"{kind}, %"] = Value(entry[name][kind][-1])
            if name != "SPCA":
                for kind in JUDGED:
                    ratio = entry[name][kind][-1] / entry["SPCA"][kind][-1]
                    cells[row, f"{kind}, of SPCA's"] = Value(ratio)
            if name == "DC-PCA":
                for kind in JUDGED:
                    each = entry["needed"][kind]
                    genes: float | str = float(m * each) if each > 0 else "no number of genes"
                    cells[row, f"genes for SPCA's {kind}"] = Value(genes)
            cells[row, "first component"] = Value(entry[name]["first"])
        if "polished" in entry:
            row = f"DC-PCA, exchanges, k = {entry['k']}"
            cells[row, "first component"] = Value(entry["polished"])
    unsettled = [str(entry["k"]) for entry in entries if not entry["SPCA"]["settled"]]
    notes = []
    if unsettled:
        at = ", ".join(unsettled)
        notes.append(f"SPCA's sets went round in circles at k = {at}; the last ones are taken.")
    return Measured(cells, _series(protocol, entries), notes)


def _series(protocol: dict[str, Any], entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The curves of one k; DC-PCA with the genes it needs, DC-PCA* with as many as SPCA."""
    m = protocol["components"]
    shown = next(entry for entry in entries if entry["k"] == protocol["shown"])
    k, fewer = shown["k"], shown["needed"]["subspace"]
    steps = np.arange(1, m + 1)
    variance = {"SPCA": shown["SPCA"]["subspace"], "DC-PCA*": shown["DC-PCA"]["subspace"]}
    cardinality = {"SPCA": (k * steps).tolist()}
    if fewer > 0:
        variance["DC-PCA"] = shown["matched"]
        cardinality["DC-PCA"] = (fewer * steps).tolist()
    variance["PCA"] = shown["PCA"]
    return {"variance": variance, "cardinality": cardinality}


def draw(series: dict[str, Any]) -> Figure:
    """Cumulative variance (of the subspace) and cumulative cardinality."""
    return draw_cumulative(series, "cumulative variance, subspace, %")
