"""Figure 3: cross-validation error against k on Ionosphere (351 samples), with the exact ESLDA.

100 random 5-fold cross-validations, as for Figure 2; ESLDA gives the provable optimum of every
fold and k. One of the 34 variables is constant and left out (the paper counts 36).

The paper does not tell whether columns were scaled (here: not; only ST depends on it) nor where
the threshold lies (here: midway between the class means). GSLDA is not in the paper's figure;
it is measured to see how often it finds the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import load_set
from ..values import Measured, mean_value
from ._curves import draw_errors
from ._folds import (
    BIASED,
    ESLDA,
    FOLDS,
    GSLDA,
    PEARSON,
    ST,
    ST_DIRECT,
    TRAINING,
    CrossValidation,
    ErrorRates,
    count_errors,
    repetition_blocks,
)

N, P, HALF = 351, 33, 16
GAP, GAIN = "mean difference, points", "half minus all variables, points"
PROVED, REACHED = "proved optimal, %", "as good as the optimum, %"


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """Blocks of repetitions."""
    return repetition_blocks(protocol, "seed", "sizes", "exact")


def work(
    repetitions: list[int], seed: int, sizes: list[int], exact: list[int]
) -> list[dict[str, Any]]:
    """Per repetition: errors of every method and k, and what the exact search proved."""
    X, labels = load_set("ionosphere")
    validation = CrossValidation(X[:, np.ptp(X, axis=0) > 0], labels == "good", sizes, exact)
    found = []
    for repetition in repetitions:
        choices = validation.choose(seed, repetition)
        proved = 100 * np.mean([choice.proved for choice in choices])
        reached = 100 * np.mean([choice.reached for choice in choices])
        found.append({**count_errors(choices), "proved": proved, "reached": reached})
    return found


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Errors at some k, the text's comparisons, and the proofs."""
    repetitions = [one for block in found for one in block]
    rates, exact = ErrorRates.join(repetitions, N), protocol["exact"]
    cells = rates.cells([ESLDA, GSLDA, ST, ST_DIRECT, PEARSON, BIASED], [2, 8, HALF])
    cells |= rates.cells([ESLDA], [P])
    for other in (ST, ST_DIRECT, PEARSON, GSLDA):
        row = f"{other} minus ESLDA, all k"
        cells[row, GAP] = rates.mean_difference(other, ESLDA, exact)
    cells[ESLDA, GAIN] = mean_value(rates.at(ESLDA, HALF) - rates.at(ESLDA, P))
    cells[ESLDA, PROVED] = mean_value([one["proved"] for one in repetitions])
    cells[GSLDA, REACHED] = mean_value([one["reached"] for one in repetitions])
    worst = max(exact, key=lambda k: rates.at(ST, k).mean() - rates.at(ESLDA, k).mean())
    runs = FOLDS * len(repetitions)
    note = (
        f"ESLDA ran for {len(exact)} values of k in each of {runs} folds. The test error of ST "
        f"is furthest behind at k = {worst}: {rates.at(ST, worst).mean():.1f}\u00a0% against "
        f"{rates.at(ESLDA, worst).mean():.1f}\u00a0%."
    )
    curves = [rates.curve(method) for method in (ST, PEARSON, ESLDA)]
    return Measured(cells, {"curves": [*curves, rates.curve(ESLDA, TRAINING)]}, [note])


draw = draw_errors
