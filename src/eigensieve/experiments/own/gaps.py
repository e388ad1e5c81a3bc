"""How far from optimal are the genes that people choose? Certified gaps on three gene sets.

All samples of colon, leukemia and prostate; the separation of the two classes with B = (1-s) Sw +
s diag(Sw), s = .5. The exact search gives the best k genes with a proof; every other set of k genes
gets its share of that optimum and its gap: optimum / own - 1 (where nothing is proved, bound / own
- 1). With shrinkage "auto", the default, the gap that `SparseLDA` states after its greedy search
(root certificate) stands beside the one that the exact search leaves. Searches are limited by
nodes, not by seconds, so that every machine finds the same. Gene lists that others have published
are matched to the columns by name, and get a gap among all sets of as many genes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...datasets.loader import load_table
from ...estimators.sparse_lda import SparseLDA
from ...plots._style import legend_below, new_figure
from ...tables.builders import lda_pencil
from ..values import Measured, Place, Value
from ._common import (
    OPTIMUM,
    RIVALS,
    STYLES,
    choose,
    find_optimum,
    gap,
    limit_of,
    load,
    separation,
    title,
)

DEFAULT, ROOT, SEARCHED = "default s", "default s: root certificate", "default s: exact search"
MIN_SHOWN_PERCENT = 0.03  # per cent: where dots of gap 0 are drawn on the log axis


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """The defaults of a set at one k, the rivals, and the lists; the largest k first."""
    sizes = sorted(protocol["ks"], reverse=True)
    sets = protocol["sets"][::-1]
    nodes, few = protocol["max_nodes"], protocol["default_nodes"]
    parts = [("rivals", nodes), ("default", few)]
    found: list[dict[str, Any]] = [
        {"part": part, "name": name, "k": k, "max_nodes": limit, "s": protocol["shrinkage"]}
        for k in sizes
        for name in sets
        for part, limit in parts
    ]
    return found + [
        {"part": "list", "name": wanted["set"], "features": wanted["features"],
         "max_nodes": protocol["list_nodes"], "s": protocol["shrinkage"]}
        for wanted in _lists(protocol)
    ]  # fmt: skip


def _lists(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    return [wanted for wanted in protocol["lists"] if wanted["set"] in protocol["sets"]]


def work(
    part: str, name: str, max_nodes: int, s: float, k: int = 0, features: Sequence[str] = ()
) -> dict[str, Any]:
    """One of the three kinds of part."""
    if part == "rivals":
        return compare(name, k, s, max_nodes)
    if part == "default":
        return use_default(name, k, max_nodes)
    return judge_list(name, features, s, max_nodes)


def compare(name: str, k: int, s: float, max_nodes: int) -> dict[str, Any]:
    """The optimum, and what every rival reaches."""
    X, y = load(name)
    pencil = lda_pencil(X, y, shrinkage=s)
    best = find_optimum(pencil, k, max_nodes)
    sets = {rival: choose(X, y, pencil, [k], rival)[k] for rival in RIVALS}
    reached = {rival: separation(pencil, support) for rival, support in sets.items()}
    return {
        "own": {OPTIMUM: best.objective, **reached},
        "common": {
            rival: np.intersect1d(best.support, chosen).size for rival, chosen in sets.items()
        },
        "limit": limit_of(best),
        "proved": best.is_certified,
        "nodes": best.n_nodes,
    }


def use_default(name: str, k: int, max_nodes: int) -> dict[str, Any]:
    """A greedy SparseLDA with the bound it states, and an exact search with the same shrinkage.

    Its criterion is the log-det; with two classes lambda = exp(log-det) - 1, in which the gaps are.
    """
    X, y = load(name)
    model = SparseLDA(k, solver="greedy").fit(X, y)
    pencil = lda_pencil(X, y, shrinkage=model.shrinkage_)
    model.solution_.verify(pencil)
    best = find_optimum(pencil, k, max_nodes)
    return {
        "shrinkage": model.shrinkage_,
        "greedy": float(np.expm1(model.solution_.objective)),
        "root": float(np.expm1(model.solution_.bound)),
        "exact": best.objective,
        "limit": limit_of(best),
        "proved": best.is_certified,
        "nodes": best.n_nodes,
    }


def judge_list(name: str, features: Sequence[str], s: float, max_nodes: int) -> dict[str, Any]:
    """A published list: what of it is in the file, and its gap among all sets of that size."""
    X, y = load(name)
    chosen = find_columns(load_table(name).names, features)
    pencil = lda_pencil(X, y, shrinkage=s)
    best = find_optimum(pencil, chosen.size, max_nodes, start=chosen.tolist())
    own = separation(pencil, chosen)
    return {
        "listed": len(features),
        "found": int(chosen.size),
        "own": own,
        "best": best.objective,
        "limit": limit_of(best),
        "proved": best.is_certified,
    }


def find_columns(names: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """The columns of a list, sorted; those that the file has not are left out.

    A name is that of a column, its accession number (before the first "_"), or, where columns
    share a name, the name with .1 for the second, .2 for the third, as R tells them apart.
    """
    places: dict[str, int] = {}
    seen: dict[str, int] = {}
    for j, name in enumerate(str(name).strip() for name in names):
        n = seen[name] = seen.get(name, -1) + 1
        for key in (name if n == 0 else f"{name}.{n}", name.partition("_")[0]):
            places.setdefault(key, j)
    return np.unique([places[name] for name in wanted if name in places]).astype(np.intp)


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Gaps and shares by set, method and k; the default's gaps; the lists."""
    parts = list(zip(tasks(protocol), found))
    lists = [result for task, result in parts if task["part"] == "list"]
    by_part = {
        part: {(t["name"], t["k"]): r for t, r in parts if t["part"] == part}
        for part in ("rivals", "default")
    }
    cells: dict[Place, Value] = {}
    for name in protocol["sets"]:
        for k in sorted(protocol["ks"]):
            _fill_rivals(cells, name, k, by_part["rivals"][name, k])
            _fill_default(cells, name, k, by_part["default"][name, k])
    for wanted, result in zip(_lists(protocol), lists):
        _fill_list(cells, f"{title(wanted['set'])}: {wanted['name']}", result)
    order = [title(name) for name in protocol["sets"]]
    cells = dict(sorted(cells.items(), key=lambda cell: order.index(cell[0][0].partition(":")[0])))
    return Measured(cells, _series(protocol, by_part["rivals"]), _notes(protocol, by_part))


def _fill_rivals(cells: dict[Place, Value], name: str, k: int, result: dict[str, Any]) -> None:
    for method, own in result["own"].items():
        row = f"{title(name)}: {method}"
        cells[row, f"gap, k = {k}, %"] = Value(gap(result["limit"], own))
        cells[row, f"share, k = {k}, %"] = Value(100 * own / result["own"][OPTIMUM])
    for method, common in result["common"].items():
        cells[f"{title(name)}: {method}", f"genes in common, k = {k}"] = Value(common)
    row = f"{title(name)}: {OPTIMUM}"
    cells[row, f"proof, k = {k}"] = Value(_word(result))
    cells[row, f"nodes, k = {k}"] = Value(result["nodes"])


def _fill_default(cells: dict[Place, Value], name: str, k: int, result: dict[str, Any]) -> None:
    cells[f"{title(name)}: {DEFAULT}", "s"] = Value(result["shrinkage"])
    row = f"{title(name)}: {ROOT}"
    cells[row, f"gap, k = {k}, %"] = Value(gap(result["root"], result["greedy"]))
    cells[row, f"share, k = {k}, %"] = Value(100 * result["greedy"] / result["exact"])
    row = f"{title(name)}: {SEARCHED}"
    cells[row, f"gap, k = {k}, %"] = Value(gap(result["limit"], result["exact"]))
    cells[row, f"proof, k = {k}"] = Value(_word(result))
    cells[row, f"nodes, k = {k}"] = Value(result["nodes"])


def _fill_list(cells: dict[Place, Value], row: str, result: dict[str, Any]) -> None:
    cells[row, "genes listed"] = Value(result["listed"])
    cells[row, "genes found"] = Value(result["found"])
    cells[row, "share of the best found, %"] = Value(100 * result["own"] / result["best"])
    cells[row, "gap, %"] = Value(gap(result["limit"], result["own"]))
    cells[row, "best found"] = Value(_word(result))


def _word(result: dict[str, Any]) -> str:
    return "proved" if result["proved"] else "node limit"


def _series(protocol: dict[str, Any], rivals: dict[Any, Any]) -> dict[str, Any]:
    sizes = sorted(protocol["ks"])
    return {
        "ks": sizes,
        "gaps": {
            title(name): {
                rival: [gap(rivals[name, k]["limit"], rivals[name, k]["own"][rival]) for k in sizes]
                for rival in RIVALS
            }
            for name in protocol["sets"]
        },
    }


def _notes(protocol: dict[str, Any], by_part: dict[str, Any]) -> list[str]:
    rivals, defaults = by_part["rivals"].values(), by_part["default"].values()
    proved = sum(part["proved"] for part in rivals)
    notes = [f"Optima proved with s = {protocol['shrinkage']:g}: {proved} of {len(rivals)}."]
    for rival in RIVALS:
        gaps = np.array([gap(part["limit"], part["own"][rival]) for part in rivals])
        notes.append(
            f"{rival}: proved optimal {np.sum(gaps == 0)} of {gaps.size} times; gaps of "
            f"{gaps.min():.1f} to {gaps.max():.1f} %, median {np.median(gaps):.1f} %."
        )
    left = [100 * (part["limit"] / part["exact"] - 1) for part in defaults]
    stated = [100 * (part["root"] / part["greedy"] - 1) for part in defaults]
    closed = sum(part["proved"] for part in defaults)
    notes.append(
        f"Optima proved with the default shrinkage, within about {protocol['default_nodes']:,} "
        f"nodes: {closed} of {len(left)}. The exact search leaves a gap of {max(left):.2g} % at "
        f"most, the bounds that SparseLDA states with its greedy sets {max(stated):.2g} %."
    )
    return notes


def draw(series: dict[str, Any]) -> Figure:
    """Gaps of every method, one panel a set, on a log axis."""
    gaps = series["gaps"]
    figure = new_figure(1.0 + 1.5 * len(gaps))
    panels: np.ndarray = figure.subplots(len(gaps), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (name, by_rival) in zip(panels, gaps.items()):
        _draw_set(panel, series["ks"], by_rival)
        panel.set_title(name, loc="left", fontsize=10)
    panels[-1].set_xlabel("genes, k")
    panels[len(panels) // 2].set_ylabel("gap, % (0: proved optimal)")
    legend_below(panels[-1], *panels[-1].get_legend_handles_labels())
    return figure


def _draw_set(panel: Axes, ks: list[int], by_rival: dict[str, list[float]]) -> None:
    for i, (rival, values) in enumerate(by_rival.items()):
        color, marker = STYLES[rival]
        # side by side, so that dots at 0 do not hide each other
        where = np.arange(len(ks)) + 0.09 * (i - (len(by_rival) - 1) / 2)
        heights = np.maximum(values, MIN_SHOWN_PERCENT)
        panel.plot(where, heights, marker, color=color, label=rival, markersize=5)
    panel.set_yscale("log")
    panel.set_ylim(MIN_SHOWN_PERCENT / 1.6, 200)
    panel.set_yticks([MIN_SHOWN_PERCENT, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    panel.set_xticks(range(len(ks)), [str(k) for k in ks])
    panel.grid(axis="y")
