"""Table 1: errors, variables and directions of four methods in four simulations.

Every repetition draws 100 rows for training, 100 for validation and 1000 for testing from one of
the simulations of Witten & Tibshirani (2011): 500 features, of which 100 differ between the
classes. Penalty and number of directions are those of least error on the validation rows; ties go
to the larger penalty, then to fewer directions, which the paper does not tell. Repetition r draws
from default_rng(r).

GLOSS, GLOSS-D and SLDA: penalties lambda_max / 2, / 4, ..., / 128. The path of GLOSS ends at the
first penalty with 100 features or more, as 5.2 of the paper says; the row "GLOSS, whole path" is
without that end. PLDA: its largest useful penalty times 1, .9, ..., .1; the grid is not told, and
the number of variables depends on it: the row "PLDA, halving" is with halved penalties. The Bayes
errors are those of the true parameters on the test rows.

The paper tells of true and false positive rates in words only; the rows of differences are our
reading of these words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...datasets.witten2011 import RELEVANT, make_population
from ..values import Measured, Place, Value, mean_value
from ._models import (
    HALVES,
    Path,
    choose,
    convergence,
    count_unsettled,
    end_at,
    gloss_models,
    path_errors,
    plda_models,
    slda_models,
)

METHODS = ("PLDA", "SLDA", "GLOSS", "GLOSS-D")
COLUMNS = ("error, %", "variables", "directions", "TPR, %", "FPR, %")
ERROR, VARIABLES, _, TPR, FPR = range(5)
SEARCHES = ("SLDA", "GLOSS, whole path", "GLOSS-D")  # that may end at a limit
LONG_FIRST = (4, 1, 3, 2)
BEST, OTHERS = ("PLDA", "GLOSS-D"), ("SLDA", "GLOSS")  # the text says that the first predict best
LEAST = "error of PLDA or GLOSS-D less the best other's"


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One repetition of one simulation, with all methods."""
    first = protocol["seed"]
    return [
        {"simulation": s, "seed": seed, "sizes": protocol["sizes"]}
        for s in LONG_FIRST
        if s in protocol["simulations"]
        for seed in range(first, first + protocol["repetitions"])
    ]


def work(simulation: int, seed: int, sizes: list[int]) -> dict[str, Any]:
    """Figures of every method, in the order of COLUMNS."""
    rng = np.random.default_rng(seed)
    population = make_population(simulation, rng)
    (X, y), (X_valid, y_valid), (X_test, y_test) = [population.draw(n, rng) for n in sizes]
    paths = all_paths(X, y)
    found = {}
    for method, models in paths.items():
        i, m = choose([path_errors(models, X_valid, y_valid)])
        model = models[i].leading(m)
        used = model.selected
        found[method] = [
            100.0 * model.errors(X_test, y_test)[-1],
            used.sum(),
            model.directions.shape[1],
            100.0 * used[RELEVANT].mean(),
            100.0 * used[~RELEVANT].mean(),
        ]
    return {
        "simulation": simulation,
        "seed": seed,
        "methods": found,
        "bayes": 100.0 * np.mean(population.classify(X_test) != y_test),
        "unsettled": sum(count_unsettled(paths[method]) for method in SEARCHES),
    }


def all_paths(X: np.ndarray, y: np.ndarray) -> dict[str, Path]:
    """The models of every method, and of the variants."""
    gloss = gloss_models(X, y)
    return {
        "PLDA": plda_models(X, y),
        "SLDA": slda_models(X, y),
        "GLOSS": end_at(gloss, len(X)),
        "GLOSS-D": gloss_models(X, y, within="diagonal"),
        "GLOSS, whole path": gloss,
        "PLDA, halving": plda_models(X, y, 2.0 * HALVES),
    }


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Means over the repetitions, and the claims of the text."""
    cells: dict[Place, Value] = {}
    gaps = []
    for simulation in sorted(protocol["simulations"]):
        runs = [run for run in found if run["simulation"] == simulation]
        figures = {m: np.array([r["methods"][m] for r in runs]) for m in runs[0]["methods"]}
        row = f"Sim. {simulation}"
        for method, values in figures.items():
            for column, each in zip(COLUMNS, values.T):
                cells[f"{row}: {method}", column] = mean_value(each)
        cells[f"{row}: Bayes", COLUMNS[ERROR]] = mean_value([r["bayes"] for r in runs])
        for claim, points in claims(figures, best=simulation == 3).items():
            cells[f"{row}: {claim}", "difference"] = mean_value(points)
        gaps.append(figures["GLOSS"][:, TPR] - figures["SLDA"][:, TPR])
    cells["All: TPR of GLOSS less SLDA's", "difference"] = mean_value(np.mean(gaps, axis=0))
    fits = len(found) * len(SEARCHES) * HALVES.size
    slow = sum(run["unsettled"] for run in found)
    return Measured(cells, notes=[convergence(slow, fits)])


def least_error(errors: dict[str, np.ndarray], methods: tuple[str, ...]) -> np.ndarray:
    """Of the method with the smallest mean, in every repetition."""
    return min((errors[method] for method in methods), key=lambda each: float(each.mean()))


def claims(figures: dict[str, np.ndarray], best: bool) -> dict[str, np.ndarray]:
    """Differences in every repetition that the text tells the signs of.

    ``best``: PLDA is said to have the least false positive rate, not the largest.
    """

    def less_next(method: str, column: int, highest: bool) -> np.ndarray:
        others = [figures[m][:, column] for m in METHODS if m != method]
        rival = (max if highest else min)(others, key=np.mean)
        return np.asarray(figures[method][:, column] - rival)

    errors = {m: figures[m][:, ERROR] for m in METHODS}
    found = {
        LEAST: least_error(errors, BEST) - least_error(errors, OTHERS),
        "error of GLOSS less SLDA's": errors["GLOSS"] - errors["SLDA"],
        "variables of GLOSS less the fewest others": less_next("GLOSS", VARIABLES, highest=False),
        "TPR of PLDA less the best other": less_next("PLDA", TPR, highest=True),
    }
    if best:
        found["FPR of PLDA less the least other"] = less_next("PLDA", FPR, highest=False)
    else:
        found["FPR of PLDA less the largest other"] = less_next("PLDA", FPR, highest=True)
        found["FPR of GLOSS less the least other"] = less_next("GLOSS", FPR, highest=False)
    return found
