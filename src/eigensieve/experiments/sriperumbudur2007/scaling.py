"""Scalability: time of one sparse component against the number of variables.

Random problems A = X'X/n of a square Gaussian X. Each method solves one problem from the matrix, at
one setting: DC-PCA with rho = .3 of the rho that leaves nothing, SPCA (elastic net, default ridge)
with the same share of its own largest penalty, DSPCA with k = n / 10 and to three digits (it is
limited to 200 variables). Processor time, the fastest of several runs of a problem, the geometric
mean over problems. The exponent is the slope of a line through log time against log n. The paper
tells neither penalties, nor tolerances, nor the distribution.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...pencil.pencil import Pencil
from ...pencil.solution import Solution
from ...plots._style import legend_below, new_figure
from ...search.solve import solve
from ..values import Measured, Value, jackknife_value
from ._figure import line_style

SHARE = 0.3  # of the penalty from which on nothing is left
MIN_SECONDS = 0.05  # seconds: quicker problems are run again, so that the clock can tell
MAX_RUNS = 20
METHODS = {"DC-PCA": "dc", "SPCA": "spca", "DSPCA": "dspca"}


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One a method and size."""
    return [
        {"method": method, "n": n, "seeds": [protocol["seed"] + i for i in range(count)]}
        for method in METHODS
        for n, count in zip(protocol[f"{METHODS[method]}_sizes"], protocol["problems"])
    ]


def work(method: str, n: int, seeds: list[int]) -> list[float]:
    """Seconds of every problem."""
    _solve(method, random_problem(10, 0))  # what is imported is not timed
    return [fastest(method, random_problem(n, seed)) for seed in seeds]


def random_problem(n: int, seed: int) -> np.ndarray:
    """A covariance matrix of n rows and n variables that have nothing to do with one another."""
    X = np.random.default_rng([n, seed]).normal(size=(n, n))
    X -= X.mean(axis=0)
    return np.asarray(X.T @ X / n)


def fastest(method: str, A: np.ndarray) -> float:
    """Seconds of processor time of the quickest run."""
    best, spent, runs = np.inf, 0.0, 0
    while runs == 0 or (spent < MIN_SECONDS and runs < MAX_RUNS):
        start = time.process_time()
        solution = _solve(method, A)
        seconds = time.process_time() - start
        best, spent, runs = min(best, seconds), spent + seconds, runs + 1
    solution.verify(Pencil(A))
    return best


def _solve(method: str, A: np.ndarray) -> Solution:
    """One component; a new pencil each time, as a pencil remembers its eigenvectors."""
    pencil = Pencil(A)
    if method == "DSPCA":
        return solve(pencil, max(2, len(A) // 10), "dspca", tol=1e-3)
    x = pencil.leading()[:, 0]
    slope = np.abs(pencil.apply_A(x))
    if method == "DC-PCA":
        slope *= np.abs(x)
    rho = SHARE * 2 * float(slope.max())
    return solve(pencil, None, METHODS[method], rho=rho, tol=1e-6)


def measure(protocol: dict[str, Any], found: list[list[float]]) -> Measured:
    """Exponents over all sizes and over the larger ones, and times beside DC-PCA's."""
    logs: dict[str, dict[int, np.ndarray]] = {method: {} for method in METHODS}
    for task, seconds in zip(tasks(protocol), found):
        logs[task["method"]][task["n"]] = np.log(seconds)
    times = {
        method: {n: float(np.exp(each.mean())) for n, each in points.items()}
        for method, points in logs.items()
    }
    cells = {}
    for method, points in times.items():
        least = protocol["large"][METHODS[method]]
        large = {n: seconds for n, seconds in points.items() if n >= least}
        cells[method, "exponent"] = Value(exponent(points), n=_problems(logs[method], points))
        if len(large) > 1:
            n_large = _problems(logs[method], large)
            cells[method, "exponent, large n"] = Value(exponent(large), n=n_large)
        top = max(points)
        cells[method, "largest n"] = Value(float(top))
        cells[method, "seconds there"] = Value(points[top])
        shared = max(points.keys() & times["DC-PCA"].keys())
        if method != "DC-PCA":
            cells[method, "time there, of DC-PCA's"] = jackknife_value(
                lambda ours, dc: float(np.exp(np.mean(ours - dc))),
                logs[method][shared],
                logs["DC-PCA"][shared],
            )
    series = {
        method: {"n": list(points), "seconds": list(points.values())}
        for method, points in times.items()
    }
    return Measured(cells, series)


def _problems(logs: dict[int, np.ndarray], points: dict[int, float]) -> int:
    return sum(logs[n].size for n in points)


def exponent(points: dict[int, float]) -> float:
    """The slope of log seconds against log n.

    Examples
    --------
    >>> from eigensieve.experiments.sriperumbudur2007.scaling import exponent
    >>> round(exponent({10: 1.0, 20: 4.0, 40: 16.0}), 6)
    2.0
    """
    log_n, log_s = np.log(list(points)), np.log(list(points.values()))
    return float(np.polyfit(log_n, log_s, 1)[0])


def draw(series: dict[str, Any]) -> Figure:
    """Seconds against n, both logarithmic."""
    figure = new_figure(4.0)
    ax = figure.subplots()
    for method, curve in series.items():
        ax.loglog(curve["n"], curve["seconds"], label=method, **line_style(method))
    ax.set_xlabel("number of variables, n")
    ax.set_ylabel("processor time, s")
    ax.grid()
    legend_below(ax, *ax.get_legend_handles_labels())
    return figure
