"""Table 2: errors and numbers of variables on tumours, ten splits of 75 % and 25 %.

Nakayama: the 86 samples of the five largest classes. Ramaswamy: 190 samples, 1,363 genes, 14
classes, a filtered version and not the paper's 198 samples and 16,063 genes. Sun is not to be had.

Expressions are in log2 and standardised by the training rows. Penalty and number of directions have
the least error in ten-fold cross-validation of the training rows; ties go to the larger penalty,
then to fewer directions. Penalties: lambda_max / 2, / 4, ..., / 128 for GLOSS and GLOSS-D, tenths
of the largest useful one for PLDA. SLDA is slow: it has lambda_max / 2, ..., / 16 only, and five
folds. The paper tells neither logarithms, nor scaling, nor the penalties of the rivals.

GLOSS follows its whole path here: the paper's 129 and 372 variables are far more than the 65 and
149 training rows at which 5.2 says it ends. The row "GLOSS, n features" is with that end.

The text's claims are rows of their own, for PLDA, SLDA and GLOSS: how far the largest mean error is
from the smallest, GLOSS's from the smaller of the others, and the ratio of the fewest variables of
the others to GLOSS's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values import Measured, Place, Value, mean_value
from ._genes import Fit, cross_validate, load_tumours, slda_fit, split_rows, standardise
from ._models import choose, convergence, count_unsettled, end_at, gloss_models, plda_models

TITLES = {"nakayama": "Nakayama", "ramaswamy_filtered": "Ramaswamy, filtered"}
METHODS = ("SLDA", "GLOSS", "PLDA", "GLOSS-D")  # long ones first
ROWS = ("PLDA", "SLDA", "GLOSS", "GLOSS-D", "GLOSS, n features")
COLUMNS = ("error, %", "variables", "directions")
RIVALS = ("PLDA", "SLDA")  # of GLOSS, in the table
APART, LESS = "largest difference of errors, points", "error of GLOSS less the best other's, points"
RATIO = "variables of the next sparsest, of GLOSS's"


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One split of one data set, with one method."""
    same = {name: protocol[name] for name in ("seed", "genes", "folds", "slda_folds", "penalties")}
    return [
        {"data": data, "method": method, "split": split, **same}
        for method in METHODS
        for data in protocol["sets"]
        for split in range(protocol["splits"])
    ]


def work(
    data: str,
    method: str,
    split: int,
    seed: int,
    genes: int,
    folds: int,
    slda_folds: int,
    penalties: int,
) -> dict[str, Any]:
    """Error in percent, variables and directions; of GLOSS also with the end of the path."""
    X, code, _ = load_tumours(data, genes)
    train, test = split_rows(code, split, seed)
    A, B = standardise(X[train], X[test])
    fit = fit_of(method, penalties)
    errors, ends = zip(
        *cross_validate(fit, A, code[train], slda_folds if method == "SLDA" else folds)
    )
    models = fit(A, code[train])
    choices = {method: (models, choose(errors))}
    if method == "GLOSS":
        ended = [fold[:end] for fold, end in zip(errors, ends)]
        choices["GLOSS, n features"] = end_at(models, train.size), choose(ended)
    found = {}
    for name, (path, (i, m)) in choices.items():
        model = path[min(i, len(path) - 1)].leading(m)  # all rows may end before the folds do
        error = 100.0 * model.errors(B, code[test])[-1]
        found[name] = [error, model.selected.sum(), model.directions.shape[1]]
    fits = {"fits": len(models), "unsettled": count_unsettled(models)}
    return {"data": data, "methods": found, **fits}


def fit_of(method: str, penalties: int) -> Fit:
    """How a method makes its path of models."""
    fits: dict[str, Fit] = {
        "PLDA": plda_models,
        "SLDA": slda_fit(penalties),
        "GLOSS": gloss_models,
        "GLOSS-D": lambda X, code: gloss_models(X, code, within="diagonal"),
    }
    return fits[method]


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Means over the splits, and the claims of the text."""
    cells: dict[Place, Value] = {}
    for data in protocol["sets"]:
        figures = {}
        for method in ROWS:
            runs = [r["methods"] for r in found if r["data"] == data and method in r["methods"]]
            figures[method] = np.array([run[method] for run in runs])
            for column, values in zip(COLUMNS, figures[method].T):
                cells[f"{TITLES[data]}: {method}", column] = mean_value(values)
        for column, value in claims(figures).items():
            cells[f"{TITLES[data]}: the three methods", column] = value
    slow, fits = (sum(run[name] for run in found) for name in ("unsettled", "fits"))
    return Measured(cells, notes=[convergence(slow, fits)])


def claims(figures: dict[str, np.ndarray]) -> dict[str, Value]:
    """What the text says of PLDA, SLDA and GLOSS, split by split."""
    errors, counts = ({m: figures[m][:, i] for m in ("GLOSS", *RIVALS)} for i in (0, 1))
    ordered = sorted(errors.values(), key=np.mean)
    rival = min((errors[m] for m in RIVALS), key=np.mean)
    fewest = min((counts[m] for m in RIVALS), key=np.mean)
    return {
        APART: mean_value(ordered[-1] - ordered[0]),
        LESS: mean_value(errors["GLOSS"] - rival),
        RATIO: ratio_value(fewest, counts["GLOSS"]),
    }


def ratio_value(above: np.ndarray, below: np.ndarray) -> Value:
    """The ratio of two means, with the standard error of its linearisation."""
    ratio = float(above.mean() / below.mean())
    rest = mean_value((above - ratio * below) / below.mean())
    return Value(ratio, rest.se, rest.n)
