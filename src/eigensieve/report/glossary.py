"""Which words of a page are explained; glossary.html.j2 has what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pencil.solution import Solution, Status
from ..studies.result import Study
from .facts import CRITERION_NAMES, chosen_index, chosen_solution, inner_model

# the other ways to end are told in the summary
_EXPLAINED_ENDS = (Status.CONVERGED, Status.FEASIBLE)
# a word as the page has it, and the entries of the glossary that explain it
Rows = list[tuple[str, list[str]]]


def explain_words(study: Study) -> Rows:
    """Those words that the page of this study uses."""
    rows = _error_words(study)
    if study.selected and len(study.selected[0].loadings) > 1:
        rows.append(("Loading and weight", ["loading", "weight", "large loadings"]))
    else:
        rows.append(("Loading", ["loading", "large loadings"]))
    if len(study.frequency):
        rows.append(("Selected again", ["selected again"]))
    if chosen_index(study) is not None:
        rows.append(("Stability index", ["stability"]))
    if study.prices:
        rows += [("Price", ["price"]), ("Stand-in", ["stand-in"])]
    if hasattr(inner_model(study), "shrinkage_"):
        rows.append(("Shrinkage", ["shrinkage"]))
    solution = chosen_solution(study)
    return rows if solution is None else rows + _set_words(solution)


def _error_words(study: Study) -> Rows:
    if study.cv is None:
        return []
    nested = study.honest_error is not None and study.honest_error.chosen
    rows = [("Cross-validation", ["cross-validation", *(["nested"] if nested else [])])]
    if study.chose_k:
        rows.append(("1-SE rule", ["one-se"]))
    rows += [("Balanced error", ["balanced"]), ("AUC", ["auc"])]
    if study.honest_error is not None:
        rows += [("95\u00a0% interval", ["interval"]), ("Recall", ["recall"])]
    return [*rows, ("p-value", ["chance"])] if study.null is not None else rows


def _set_words(solution: Solution) -> Rows:
    rows = []
    if solution.criterion in CRITERION_NAMES:
        name = CRITERION_NAMES[solution.criterion]
        rows.append((name, ["separation", solution.criterion]))
    if np.isfinite(solution.bound) and not solution.is_certified:
        rows.append(("Proved", ["bound"]))
    if solution.status in _EXPLAINED_ENDS:
        rows.append((f"Status: {solution.status}", [str(solution.status)]))
    return rows


def explain_comparison(has_difference: bool) -> Rows:
    """The words of a comparison."""
    return [
        ("Cross-validation", ["cross-validation", "nested"]),
        ("95\u00a0% interval", ["interval"]),
        ("Balanced error", ["balanced"]),
        ("AUC", ["auc"]),
        *([("Difference", ["difference"])] if has_difference else []),
        ("Stability index", ["stability"]),
        ("Room", ["bound"]),
    ]


def explain_selector(selector: Any) -> Rows:
    """The words of the page of a Q-alpha selector."""
    supervised = selector.n_clusters_ is None
    rows = [("Alpha", ["alpha of classes" if supervised else "alpha"])]
    if not supervised:
        rows.append(("Clusters", ["clusters"]))
    if selector.null_ is not None:
        rows += [
            ("Null band", ["null band"]),
            ("p-value", ["permuted copies"]),
            ("Adjusted p", ["adjusted"]),
        ]
    return [*rows, ("Objective", ["objective"])]
