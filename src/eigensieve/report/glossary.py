"""The words of the report that a reader may not know, in plain language."""

from __future__ import annotations

import numpy as np

from ..core.solution import Status
from ..studies.fitting import GIVEN, FitResult

CRITERION_NAMES = {
    "logdet": "logdet (Wilks)",
    "trace": "trace (sum of the separations)",
    "lambda_max": "lambda_max (largest separation)",
}

_CROSS_VALIDATION = (
    "A part of the samples is put aside, features and classifier are found on the others, and "
    "the errors are counted on that part; then the next part is put aside."
)
_NESTED = " Nested: k, too, is chosen without that part."
_ONE_SE = (
    "Every point of the curve is uncertain by about its standard error (SE). The rule takes the "
    "smallest k whose error lies at most one SE above the smallest error (the dashed line): fewer "
    "features for an error that is hardly larger."
)
_LOADING = (
    "The loading says how far the score of a sample moves when the feature rises by one standard "
    "deviation, and its sign to which side. The weight is the size of all loadings of a feature, "
    "and gives its rank. A feature that hardly varies within the classes has very large ones."
)
_SHRINKAGE = (
    "Among few samples many correlations between features are mere chance. Shrinkage weakens "
    "them: 0 takes them as measured, 1 leaves them out."
)
_COMPARED = "The number by which sets of features are compared. "
_CRITERIA = {
    "logdet": (
        "It is large where the classes lie far apart compared with the spread within them, over "
        "all directions together. Without shrinkage it is the logarithm of one over Wilks\u2019 "
        "lambda."
    ),
    "trace": (
        "It adds up, over all directions, how far apart the classes lie compared with the spread "
        "within them."
    ),
    "lambda_max": (
        "It says how far apart the classes lie compared with the spread within them, in the one "
        "direction where they lie farthest apart."
    ),
}
# the other ways to end are told in the summary
_ENDS = {
    Status.CONVERGED: (
        "No exchange of one selected feature for another improves the set. That is no proof that "
        "it is the best set."
    ),
    Status.FEASIBLE: "A set was found without a search for better ones: another may be better.",
}
_LIMIT = (
    "A computed upper limit for the criterion of every set of as many features. It does not mean "
    "that a better set exists, and says nothing of the error on new samples."
)


def explain_words(result: FitResult) -> list[tuple[str, str]]:
    """Those words that the page of this result uses, as (word, meaning)."""
    solution = result.estimator.solution_
    criterion, status = solution.criterion, solution.status
    rows = []
    if result.cv is not None:
        nested = "" if result.k_rule == GIVEN else _NESTED
        rows += [("Cross-validation", _CROSS_VALIDATION + nested), ("1-SE rule", _ONE_SE)]
    rows += [("Loading and weight", _LOADING), ("Shrinkage", _SHRINKAGE)]
    if criterion in _CRITERIA:
        rows.append((CRITERION_NAMES[criterion], _COMPARED + _CRITERIA[criterion]))
    if np.isfinite(solution.bound) and not solution.is_certified:
        rows.append(("Proved", _LIMIT))
    if status in _ENDS:
        rows.append((f"Status: {status}", _ENDS[status]))
    return rows
