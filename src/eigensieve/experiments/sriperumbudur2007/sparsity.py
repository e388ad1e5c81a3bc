"""Controlling sparsity: the number of features against the penalty rho (DSPCA: against k).

The paper says that DC-PCA's and SPCA's rho is not straightforward to set for a wanted k, while
DSPCA takes k itself; it does not name its data. We chose the pit props and a random problem (a
covariance of independent Gaussian variables), first component. "Not straightforward" is no figure
that could be wrong, so it is not judged, but measured: of k = 1 .. n - 1, how many does a
logarithmic grid of 30 penalties over six decades miss? How many k have no rho at all, and how
narrow is the narrowest interval of rho that gives a k, found by halving between penalties with
different numbers until they agree to a millionth? SCoTLASS is there for the paper's other claim,
that at the same rho DC-PCA is at least as sparse; for it several random problems are drawn.

Near the end of an interval runs are slow: ended after 1,000 steps, the pit props seem to have a
narrow one for k = 4, but run on all of these drop to 3. Hence so many steps here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...errors import OptionError
from ...pencil.pencil import Pencil
from ...plots._style import FAINT, PALETTE, legend_below, new_figure
from ...search.relaxed.dc import N_RHOS, SMALLEST, dc_path
from ...search.solve import solve
from ..values import Measured, Value
from ._components import pit_props, relaxed_component
from ._figure import line_style

MAX_STEPS = 20_000
SOLVERS = {"DC-PCA": "dc", "SPCA": "spca", "SCoTLASS": "scotlass"}
METHODS = ("SPCA", "SCoTLASS", "DC-PCA", "DSPCA")
Counts = dict[float, int]


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One a problem and method."""
    shared = {name: protocol[name] for name in ("rows", "columns", "seed", "grid", "fine", "draws")}
    return [
        {"problem": problem, "method": method, **shared}
        for method in METHODS
        for problem in protocol["problems"]
    ]


def work(
    problem: str,
    method: str,
    rows: int,
    columns: int,
    seed: int,
    grid: int,
    fine: float,
    draws: int,
) -> dict[str, Any]:
    """The numbers of features, and the penalties they belong to."""
    if problem == "pit props":
        pencils = [Pencil(pit_props())]
    else:
        pencils = [Pencil(_random(rows, columns, seed + i)) for i in range(draws)]
    pencil = pencils[0]
    if method == "DSPCA":
        ks = list(range(1, pencil.size))
        counts = [int(np.count_nonzero(relaxed_component(pencil.A, k))) for k in ks]
        return {"n": pencil.size, "ks": ks, "counts": counts}
    count, top = _counter(pencil, method)
    coarse = [count(top * share) for share in np.geomspace(SMALLEST, 1.0, N_RHOS)]
    # the last one leaves nothing, and a point at it would be decided by round-off
    seen = refine(count, (top * np.geomspace(SMALLEST, 0.999, grid)).tolist(), fine)
    return {
        "n": pencil.size,
        "top": top,
        "coarse": coarse,
        "rhos": sorted(seen),
        "counts": [seen[rho] for rho in sorted(seen)],
        "beside": [_beside(p, grid) for p in pencils] if method == "DC-PCA" else None,
    }


def _random(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.asarray(np.cov(np.random.default_rng(seed).normal(size=(rows, columns)).T))


def _counter(pencil: Pencil, method: str) -> tuple[Callable[[float], int], float]:
    """The number of non-zeros as a function of rho, and the rho from which on it is zero."""
    if method == "DC-PCA":
        top = dc_path(pencil, [0.0], max_iter=1).rho_max
        return lambda rho: _count_dc(pencil, rho), top
    top = 2 * float(np.abs(pencil.apply_A(pencil.leading()[:, 0])).max())

    def count(rho: float) -> int:
        try:
            solution = solve(pencil, None, SOLVERS[method], rho=rho, max_iter=MAX_STEPS)
        except OptionError:  # this rho leaves nothing
            return 0
        solution.verify(pencil)
        return solution.k

    return count, top


def _count_dc(pencil: Pencil, rho: float) -> int:
    return int(dc_path(pencil, [rho], max_iter=MAX_STEPS).cardinalities[0])


def _beside(pencil: Pencil, grid: int) -> dict[str, list[int]]:
    """Non-zeros of DC-PCA and SCoTLASS at the same penalties."""
    counters = {method: _counter(pencil, method) for method in ("DC-PCA", "SCoTLASS")}
    top = counters["DC-PCA"][1]
    rhos = top * np.geomspace(SMALLEST, 0.999, grid)
    return {method: [count(rho) for rho in rhos] for method, (count, _) in counters.items()}


def refine(count: Callable[[float], int], rhos: list[float], fine: float) -> Counts:
    """Count at every penalty, and between neighbours that differ until they are equal to fine."""
    seen = {rho: count(rho) for rho in rhos}
    gaps = list(pairwise(rhos))
    while gaps:
        low, high = gaps.pop()
        if seen[low] == seen[high] or high <= low * (1 + fine):
            continue
        middle = float(np.sqrt(low * high))
        seen[middle] = count(middle)
        gaps += [(low, middle), (middle, high)]
    return seen


def widths(rhos: list[float], counts: list[int]) -> dict[int, float]:
    """Of every number of features, the widest interval of rho that gives it, in percent of rho.

    Examples
    --------
    >>> from eigensieve.experiments.sriperumbudur2007.sparsity import widths
    >>> widths([1.0, 1.5, 2.0, 2.1], [3, 3, 1, 1]) == {3: 50.0, 1: 100 * (2.1 / 2.0 - 1)}
    True
    """
    widest: dict[int, float] = {}
    start = 0
    for i, count in enumerate(counts):
        if count != counts[start]:
            start = i
        width = 100 * (rhos[i] / rhos[start] - 1)
        widest[count] = max(widest.get(count, 0.0), width)
    return widest


def measure(protocol: dict[str, Any], found: list[dict[str, Any]]) -> Measured:
    """What is missed, what is skipped, and how narrow the intervals are."""
    cells, series, notes = {}, {}, []
    for task, entry in zip(tasks(protocol), found):
        row = f"{task['problem']}: {task['method']}"
        ks = range(1, entry["n"])
        if task["method"] == "DSPCA":
            wrong = sum(k != count for k, count in zip(entry["ks"], entry["counts"]))
            cells[row, "k with other than k features"] = Value(float(wrong))
            series[row] = {"x": entry["ks"], "count": entry["counts"]}
            continue
        known = widths(entry["rhos"], entry["counts"])
        skipped = [k for k in ks if k not in known]
        narrow = sorted((k for k in ks if k in known), key=lambda k: known[k])
        cells[row, "k missed by 30 penalties"] = Value(
            float(sum(k not in entry["coarse"] for k in ks))
        )
        cells[row, "k without a penalty"] = Value(float(len(skipped)))
        cells[row, "narrowest interval, %"] = Value(known[narrow[0]])
        cells[row, "two narrowest k"] = Value(", ".join(map(str, sorted(narrow[:2]))))
        if entry["beside"] is not None:
            shares = [_sparser(each) for each in entry["beside"]]
            n = len(shares) if task["problem"] == "random" else None
            cells[row, "share with at most SCoTLASS's"] = Value(float(np.mean(shares)), n=n)
        if skipped:
            notes.append(f"{row}: no penalty gives k = {', '.join(map(str, skipped))}.")
        of_top = (np.array(entry["rhos"]) / entry["top"]).tolist()
        series[row] = {"x": of_top, "count": entry["counts"]}
    return Measured(cells, series, notes)


def _sparser(beside: dict[str, list[int]]) -> float:
    """The share of penalties at which DC-PCA leaves no more features than SCoTLASS."""
    ours, theirs = np.array(beside["DC-PCA"]), np.array(beside["SCoTLASS"])
    return float((ours <= theirs)[ours > 0].mean())


def draw(series: dict[str, Any]) -> Figure:
    """A panel for every problem over rho, and one over DSPCA's k."""
    problems = list(dict.fromkeys(row.split(":")[0] for row in series))
    figure = new_figure(2.4 * (len(problems) + 1) + 0.4)
    panels = figure.subplots(len(problems) + 1, 1)
    for ax, problem in zip(panels, problems):
        _over_rho(ax, problem, series)
    last = panels[-1]
    for i, problem in enumerate(problems):
        curve = series[f"{problem}: DSPCA"]
        marks = {"marker": "DX"[i], "color": PALETTE[2], "ls": "-:"[i], "ms": 4, "lw": 1.2}
        last.plot(curve["x"], curve["count"], label=f"DSPCA, {problem}", **marks)
    most = last.get_xlim()[1]
    last.plot([1, most], [1, most], color=FAINT, lw=0.8, label="as many as k")
    last.set_xlabel("k of DSPCA")
    last.set_ylabel("features")
    for axis in (last.xaxis, last.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    handles = [*panels[0].get_legend_handles_labels()[0], *last.get_legend_handles_labels()[0]]
    legend_below(last, handles, [str(handle.get_label()) for handle in handles])
    return figure


def _over_rho(ax: Axes, problem: str, series: dict[str, Any]) -> None:
    for method in SOLVERS:
        curve = series[f"{problem}: {method}"]
        colour = PALETTE[4] if method == "SCoTLASS" else line_style(method)["color"]
        ax.step(curve["x"], curve["count"], where="post", color=colour, lw=1.3, label=method)
    ax.set_xscale("log")
    ax.set_xlabel(f"penalty, of the one that leaves nothing ({problem})")
    ax.set_ylabel("features")
    ax.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.grid(axis="y")
