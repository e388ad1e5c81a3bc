"""Figure 1: Monte Carlo evaluation of simple thresholding, greedy and exact sparse LDA (n = 16).

Random pairs (A, B) of covariances; at every cardinality k the largest generalized eigenvalue that
ST and GSLDA capture, against the optimum, which is proved for every pair and every k (ESLDA). In
(a) the quotients are divided by that of all features, in (b) by the optimum; means over the pairs.

The paper draws from "Brownian processes of various degrees of smoothness" and tells no more: see
`datasets.moghaddam2006` for what we draw. How many paths make a covariance decides what comes out,
so that several numbers are run: 64, and in `readings` fewer. The paper thresholds the eigenvector y
of B^-1/2 A B^-1/2; x is that of the pencil itself. A of rank one, which is the case of two classes,
is not in the paper, nor are the passes of GSLDA alone and its sets after exchanges. The two kinds
of A share B. Covariances of few paths may be nearly singular: pairs whose B has a condition number
above a million are left out, and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from ...datasets.moghaddam2006 import draw_pairs
from ...errors import InputError, VerificationError
from ...plots._style import INK, PALETTE, legend_below, new_figure
from ..values import Measured, Place, Value
from ._pairs_kernel import BACKWARD, FORWARD, OPTIMUM, SWAP, solve_pairs

KINDS = ("Full rank", "Rank one")
PAPER = "Full rank"
ST, ST_X, GSLDA, ESLDA = "ST", "ST on x", "GSLDA", "ESLDA"
RANKINGS = (ST, ST_X)
SEARCHES = {
    "forward alone": FORWARD,
    "backward alone": BACKWARD,
    "GSLDA + swaps": SWAP,
    ESLDA: OPTIMUM,
}
METHODS = (ST, ST_X, GSLDA, *SEARCHES)
# The figure's markers and colours.
STYLES = {ST: ("s", PALETTE[0]), GSLDA: ("D", PALETTE[1]), ESLDA: ("o", INK)}
JUDGED = ("worst mean ratio", "worst suboptimality, %", "worst k")
SUMS = ("pairs", "score", "ratio", "ratio2", "share", "share2")
SAME = 1e-9  # relative: a value this near to the optimum is the optimum
CONDITION = 1e6  # of B, at most: values are then good to about 1e-10, well below SAME
FARTHEST = 1e290  # from 1: how large (or small) A may be in units of B


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """Parts of equal size."""
    size = protocol["part"]
    settings = [(kind, protocol["paths"], protocol["pairs"]) for kind in KINDS]
    settings += [(PAPER, paths, protocol["reading_pairs"]) for paths in protocol["readings"]]
    return [
        {
            "kind": kind,
            "paths": paths,
            "n": protocol["n"],
            "pairs": min(size, pairs - start),
            "seed": [protocol["seed"], start],
        }
        for kind, paths, pairs in settings
        for start in range(0, pairs, size)
    ]


def work(kind: str, paths: int, n: int, pairs: int, seed: list[int]) -> dict[str, Any]:
    """Sums over some pairs: quotients, ratios to the optimum, and how often it was found."""
    rng = np.random.default_rng(seed)
    A, B = draw_pairs(pairs, rng, n, rank_one=kind == "Rank one", paths=paths)
    safe = np.linalg.cond(B) <= 0.99 * CONDITION
    values = solve_methods(A[safe], B[safe])
    best = values[:, [METHODS.index(ESLDA)]]
    ratio = values / best
    share = np.mean(ratio[:, :, :-1] >= 1.0 - SAME, axis=2)  # at k = n there is no choice
    return {
        "kind": kind,
        "paths": paths,
        "pairs": int(safe.sum()),
        "left_out": int(pairs - safe.sum()),
        "score": np.sum(values / best[:, :, -1:], axis=0),
        "ratio": np.sum(ratio, axis=0),
        "ratio2": np.sum(ratio**2, axis=0),
        "share": np.sum(share, axis=0),
        "share2": np.sum(share**2, axis=0),
        "least": np.min(ratio, axis=(0, 2)),
    }


def solve_methods(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The quotient of every method at every k: array (pairs, methods, n).

    A must be positive semidefinite and not 0, B safely positive definite. The compiled search knows
    no scale: it gets matrices whose largest entry is 1.
    """
    (A, a), (B, b) = _unit("A", A), _unit("B", B)
    _refuse(np.linalg.eigvalsh(A)[:, 0] < -SAME, "A is not positive semidefinite")
    spectrum = np.linalg.eigvalsh(B)
    _refuse(
        spectrum[:, -1] > CONDITION * spectrum[:, 0],
        f"B is not positive definite with a condition number of at most {CONDITION:g}",
    )
    with np.errstate(over="ignore", under="ignore"):
        scale = a / b
    _refuse((scale < 1 / FARTHEST) | (scale > FARTHEST), "A is too large or too small beside B")
    values = _search(A, B)
    best = values[:, [METHODS.index(ESLDA)]]
    if np.any(values > best * (1 + SAME)):
        raise VerificationError("a heuristic is above the optimum: the search has missed a set")
    return values * scale[:, None, None]


def _unit(name: str, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrices divided by their largest entries, and these."""
    largest = np.abs(M).max(axis=(1, 2))
    _refuse(~np.isfinite(largest), f"{name} has an entry that is not finite")
    _refuse(largest == 0, f"{name} is 0")
    return M / largest[:, None, None], largest


def _refuse(bad: np.ndarray, why: str) -> None:
    """An error that names the first bad pair."""
    if bad.any():
        raise InputError(f"pair {int(np.argmax(bad))}: {why}; leave it out, or draw another")


def _search(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    orders = np.ascontiguousarray(rankings(A, B))
    found = solve_pairs(np.ascontiguousarray(A), np.ascontiguousarray(B), orders)
    values = {name: found[:, i] for i, name in enumerate(RANKINGS)}
    values |= {name: found[:, len(RANKINGS) + i] for name, i in SEARCHES.items()}
    values[GSLDA] = np.maximum(values["forward alone"], values["backward alone"])
    return np.stack([values[name] for name in METHODS], axis=1)


def rankings(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Features by the size of their entries in y and in x = B^-1/2 y: array (pairs, 2, n)."""
    b, U = np.linalg.eigh(B)
    root = (U / np.sqrt(b)[:, None, :]) @ U.transpose(0, 2, 1)
    y = np.linalg.eigh(root @ A @ root)[1][:, :, -1:]
    sizes = np.abs(np.concatenate([y, root @ y], axis=2)).transpose(0, 2, 1)
    return np.argsort(-sizes, axis=2, kind="stable")


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """The worst k of every method, the share of optima, and the curves."""
    cells: dict[Place, Value] = {}
    series: dict[str, Any] = {"k": list(range(1, protocol["n"] + 1))}
    notes = []
    for kind in KINDS:
        parts = [p for p in found if p["kind"] == kind and p["paths"] == protocol["paths"]]
        total = {key: _total(parts, key) for key in SUMS}
        least = np.min([part["least"] for part in parts], axis=0)
        mean, _ = _moments(total["ratio"], total["ratio2"], total["pairs"])
        for i, name in enumerate(METHODS):
            series[f"{kind}: {name}"] = {
                "score": (total["score"][i] / total["pairs"]).tolist(),
                "ratio": mean[i].tolist(),
            }
            if name != ESLDA:
                cells |= _cells(f"{kind}: {name}", total, i)
        g, half = METHODS.index(GSLDA), protocol["n"] // 2
        notes.append(
            f"{kind}: GSLDA is {100 * (1 - mean[g][half - 1]):.1f}\u00a0% below the optimum at "
            f"k = {half}, in the mean over {int(total['pairs']):,} pairs; on a single pair, at the "
            f"worst k, by up to {100 * (1 - least[g]):.0f}\u00a0%."
        )
    readings = _readings(protocol, found)
    for place, values in readings.items():
        cells[place] = next(iter(values.values()))
    return Measured(cells, series, [*notes, *_left_out(protocol, found)], readings)


def _readings(protocol: dict[str, Any], found: list[Any]) -> dict[Place, dict[str, Value]]:
    """What the paper says of GSLDA, for every number of paths."""
    row, readings = f"{PAPER}: {GSLDA}", {}
    for paths in [protocol["paths"], *protocol["readings"]]:
        parts = [p for p in found if p["kind"] == PAPER and p["paths"] == paths]
        total = {key: _total(parts, key) for key in SUMS}
        own = _cells(row, total, METHODS.index(GSLDA))
        worst = own[row, "worst mean ratio"]
        se = None if worst.se is None else 100 * worst.se
        loss = Value(100 * (1 - float(worst.value)), se, worst.n)
        own[row, "worst suboptimality, %"] = loss
        readings[f"{paths} paths"] = own
    return {
        (row, column): {name: own[row, column] for name, own in readings.items()}
        for column in JUDGED
    }


def _left_out(protocol: dict[str, Any], found: list[Any]) -> list[str]:
    notes = []
    for paths in [protocol["paths"], *protocol["readings"]]:
        parts = [p for p in found if p["kind"] == PAPER and p["paths"] == paths]
        lost, kept = (int(_total(parts, key)) for key in ("left_out", "pairs"))
        if lost:
            notes.append(
                f"Covariances of {paths} paths: {lost:,} of {lost + kept:,} pairs are left out, as "
                "their B is nearly singular."
            )
    return notes


def _total(parts: list[dict[str, Any]], key: str) -> np.ndarray:
    return np.sum([part[key] for part in parts], axis=0)


def _moments(total: np.ndarray, squares: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    """Means and their standard errors."""
    mean = total / n
    variance = np.maximum(squares - n * mean**2, 0.0) / np.maximum(n - 1, 1)
    return mean, np.sqrt(variance / n)


def _cells(row: str, total: dict[str, np.ndarray], i: int) -> dict[Place, Value]:
    """Of the i-th method: the k with the lowest mean ratio, that ratio, and the share of optima."""
    pairs = int(total["pairs"])
    mean, se = (each[i] for each in _moments(total["ratio"], total["ratio2"], total["pairs"]))
    share, share_se = (
        float(each[i]) for each in _moments(total["share"], total["share2"], total["pairs"])
    )
    worst = int(np.argmin(mean))
    return {
        (row, "worst mean ratio"): Value(float(mean[worst]), float(se[worst]), pairs),
        (row, "worst k"): Value(float(worst + 1), n=pairs),
        (row, "optimal sets, %"): Value(100 * share, 100 * share_se, pairs),
    }


def draw(series: dict[str, Any]) -> Figure:
    """The two panels of the paper, for its kind of pairs."""
    figure = new_figure(5.6)
    panels = figure.subplots(2, 1, sharex=True)
    labels = {"score": "(a) mean quotient R(k) / R(n)", "ratio": "(b) mean ratio to the optimum"}
    for ax, (key, label) in zip(panels, labels.items()):
        for name, (marker, color) in STYLES.items():
            ax.plot(
                series["k"],
                series[f"{PAPER}: {name}"][key],
                color=color,
                marker=marker,
                markerfacecolor="none",
                linewidth=1.0,
            )
        ax.set_ylabel(label)
        ax.grid(axis="y")
    panels[1].set_xlabel("number of features k")
    panels[1].xaxis.set_major_locator(MultipleLocator(2))
    legend_below(panels[1], panels[1].get_lines(), list(STYLES))
    return figure
