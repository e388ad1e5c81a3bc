"""The words of the report that a reader may not know, in plain language."""

from __future__ import annotations

import numpy as np

from ..pencil.solution import Solution, Status
from ..studies.result import Study
from .facts import chosen_index, chosen_solution, inner_model

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
_BALANCED = (
    "The mean of the error rates of the classes: a class of 10 samples counts as much as one "
    "of 1,000."
)
_AUC = (
    "Area under the ROC curve, from 0 to 1: how well the scores rank samples of a class above "
    "others. 1 is perfect, 0.5 is guessing. With several classes: the mean over the classes, each "
    "against the rest."
)
_INTERVAL = (
    "The values of the true error that agree with the counts. The fewer samples there are, the "
    "wider it is."
)
_RECALL = "The share of the samples of a class that were recognised as such."
_LOADING = (
    "The loading says how far the score of a sample moves when the feature rises by one standard "
    "deviation, and its sign to which side. "
)
_WEIGHT = "The weight is the size of all loadings of a feature, and gives its rank. "
_LARGE = "A feature that hardly varies within the classes has very large ones."
_SELECTED_AGAIN = (
    "The share of the training parts of the cross-validation in which the feature was selected, "
    "for the same k."
)
_STABILITY = (
    "Nogueira\u2019s index compares the sets that were selected in the training parts: 1 if they "
    "are all the same, about 0 if they have no more in common than sets drawn by lot. Above 0.75 "
    "is read as good, below 0.4 as poor."
)
_PRICE = (
    "The share of the class separation that the best set found without the feature lacks. A better "
    "one may exist, so the true price is at most this. It says nothing of the error on new samples."
)
_STAND_IN = (
    "A feature that could take the place of a selected one, all others unchanged, and what that "
    "costs in class separation."
)
_P_VALUE = (
    "The labels were shuffled and everything was done again, with the choice of k if there was "
    "one. The p-value is about the share of shuffles that came out as well as the true labels."
)
_SHRINKAGE = (
    "Among few samples many correlations between features are mere chance. Shrinkage weakens "
    "them: 0 takes them as measured, 1 leaves them out."
)
_COMPARED = "Class separation, the number by which sets of features are compared here. "
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
    Status.FEASIBLE: (
        "The set was not chosen by this criterion, or not searched further: another may be better."
    ),
}
_LIMIT = (
    "A computed upper limit for the class separation of every set of as many features. It does "
    "not mean that a better set exists, and says nothing of the error on new samples."
)
Rows = list[tuple[str, str]]


def explain_words(study: Study) -> Rows:
    """Those words that the page of this study uses, as (word, meaning)."""
    rows = _error_words(study)
    if study.selected and len(study.selected[0].loadings) > 1:
        rows.append(("Loading and weight", _LOADING + _WEIGHT + _LARGE))
    else:
        rows.append(("Loading", _LOADING + _LARGE))
    if len(study.frequency):
        rows.append(("Selected again", _SELECTED_AGAIN))
    if chosen_index(study) is not None:
        rows.append(("Stability index", _STABILITY))
    if study.prices:
        rows += [("Price", _PRICE), ("Stand-in", _STAND_IN)]
    if hasattr(inner_model(study), "shrinkage_"):
        rows.append(("Shrinkage", _SHRINKAGE))
    solution = chosen_solution(study)
    return rows if solution is None else rows + _set_words(solution)


def _error_words(study: Study) -> Rows:
    if study.cv is None:
        return []
    nested = study.honest_error is not None and study.honest_error.chosen
    rows = [("Cross-validation", _CROSS_VALIDATION + (_NESTED if nested else ""))]
    if study.chose_k:
        rows.append(("1-SE rule", _ONE_SE))
    rows += [("Balanced error", _BALANCED), ("AUC", _AUC)]
    if study.honest_error is not None:
        rows += [("95\u00a0% interval", _INTERVAL), ("Recall", _RECALL)]
    return [*rows, ("p-value", _P_VALUE)] if study.null is not None else rows


def _set_words(solution: Solution) -> Rows:
    rows = []
    if solution.criterion in _CRITERIA:
        text = _COMPARED + _CRITERIA[solution.criterion]
        rows.append((CRITERION_NAMES[solution.criterion], text))
    if np.isfinite(solution.bound) and not solution.is_certified:
        rows.append(("Proved", _LIMIT))
    if solution.status in _ENDS:
        rows.append((f"Status: {solution.status}", _ENDS[solution.status]))
    return rows


def explain_comparison(has_difference: bool) -> Rows:
    """The words of a comparison."""
    difference = (
        "The mean, over the samples, of one method\u2019s mistakes less the other\u2019s. Both "
        "predict the same samples, so this is more precise than the two intervals. Less than two "
        "standard errors from 0 it may well be chance; of many methods a few differ by chance."
    )
    return [
        ("Cross-validation", _CROSS_VALIDATION + _NESTED),
        ("95\u00a0% interval", _INTERVAL),
        ("Balanced error", _BALANCED),
        ("AUC", _AUC),
        *([("Difference", difference)] if has_difference else []),
        ("Stability index", _STABILITY),
        ("Room", _LIMIT),
    ]
