"""Everything needed to do a study again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..pencil.solution import Solution
from ..plots._style import printable, shorten
from ..studies.estimates import ErrorEstimate
from ..studies.result import Provenance, Study
from .facts import aims_at_separation, chosen_solution, inner_model, is_balanced
from .glossary import CRITERION_NAMES
from .words import count, parameters, versions

TITLES = {
    "SparseLDA": "sparse linear discriminant analysis",
    "GroupLassoLDA": "group-lasso optimal scoring",
    "PenalizedLDA": "penalized linear discriminant analysis",
    "SparseOptimalScoring": "sparse optimal scoring",
    "SparseUncorrelatedLDA": "sparse uncorrelated discriminant analysis",
    "UncorrelatedLDA": "uncorrelated discriminant analysis",
    "RankedLDA": "ranking of the features, then linear discriminant analysis on the first k",
}
MAX_CONSTRAINTS_NAMED = 12
Rows = list[tuple[str, str]]


def methods(
    study: Study, command: str | None = None, held_out: ErrorEstimate | None = None
) -> Rows:
    """As (term, value)."""
    model = inner_model(study)
    rows: list[tuple[str, str | None]] = [
        ("Method", method_title(model)),
        ("Settings tried", _settings(study)),
        ("Shrinkage", _shrinkage(model)),
        ("Solver", _solver(model)),
        ("Class weights", class_weights(model)),
        ("Kept in", _constraints(model, "include", study.names)),
        ("Left out", _constraints(model, "exclude", study.names)),
        ("Parameters", parameters(model)),
        ("Class separation", _criterion(study)),
        ("Number of features", _choice(study)),
        ("Cross-validation", _folds(study)),
        ("Error estimate", _estimate(study)),
        ("Interval", _interval_method(study, held_out)),
        ("Permutations", _permutations(study)),
        *about_data(study.source),
        *how_made(study.source, command),
    ]
    return [(term, value) for term, value in rows if value is not None]


def about_data(source: Provenance) -> Rows:
    """What was done to the table, and with its rows."""
    rows: list[tuple[str, str | None]] = [
        ("Target", printable(source.target)),
        ("Groups", _groups(source)),
        ("Missing values", _missing(source)),
        ("Transformation", _transformation(source)),
        ("Standardisation", "every column centred and scaled, anew in every training part"),
    ]
    return [(term, value) for term, value in rows if value is not None]


def how_made(source: Provenance, command: str | None) -> Rows:
    """Seed, fingerprint, versions and command."""
    rows = [
        ("Seed", str(source.seed)),
        ("Data fingerprint", source.fingerprint or "none"),
        ("Versions", versions()),
    ]
    return [*rows, ("Command", printable(command))] if command else rows


def method_title(model: Any) -> str:
    """The method in words, with the name of its class."""
    name = type(model).__name__
    return f"{TITLES[name]} ({name})" if name in TITLES else printable(name)


def _settings(study: Study) -> str | None:
    if len(study.settings) < 2:
        return None
    tried = "; ".join(shorten(name, 80) for name in study.settings)
    return f"{tried}. Taken: {shorten(study.setting, 80)}"


def _shrinkage(model: Any) -> str | None:
    value = getattr(model, "shrinkage_", None)
    if value is None:
        return None
    given = isinstance(getattr(model, "shrinkage", "auto"), int | float)
    return f"{value:.4f} ({'given' if given else 'chosen from the data'})"


def _solver(model: Any) -> str | None:
    solution = getattr(model, "solution_", None)
    solver, status = (getattr(solution, name, None) for name in ("solver", "status"))
    if solver is None:
        return None
    own = "" if isinstance(solution, Solution) else " (of the problem that it solves)"
    return printable(solver if status is None else f"{solver}; status: {status}{own}")


def class_weights(model: Any) -> str | None:
    """How the classes were weighted in the fit; None where they were not."""
    weight, priors = getattr(model, "class_weight", None), getattr(model, "priors", None)
    if isinstance(weight, Mapping):
        return ", ".join(f"{shorten(name)}: {value:g}" for name, value in weight.items())
    if weight is not None:
        return "balanced: every class counts alike in the fit"
    if isinstance(priors, str):
        return "balanced: equal prior probabilities for all classes"
    if priors is not None:
        return "prior probabilities " + ", ".join(f"{p:.3g}" for p in np.asarray(priors).tolist())
    return None


def _constraints(model: Any, constraint: str, names: Sequence[str]) -> str | None:
    columns = list(getattr(model, constraint, ()))
    if not columns:
        return None
    shown = ", ".join(shorten(names[j]) for j in columns[:MAX_CONSTRAINTS_NAMED])
    more = len(columns) - MAX_CONSTRAINTS_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _criterion(study: Study) -> str | None:
    solution = chosen_solution(study)
    if solution is None:
        return None
    name = CRITERION_NAMES.get(solution.criterion, solution.criterion)
    if aims_at_separation(study):
        return f"{name}, the criterion of the method"
    return f"{name}, by which the sets of all methods are judged; not the method\u2019s own"


def _choice(study: Study) -> str:
    rule = printable(study.k_rule)
    if len(study.ks) < 2 or study.cv is None:
        return rule
    tried = ", ".join(map(str, study.ks))
    by = "balanced error" if is_balanced(study) else "error"
    return f"{rule}; tried: {tried}; score: {by}"


def _folds(study: Study) -> str:
    if study.cv is None:
        return "none"
    repeats = "" if study.cv.n_repeats == 1 else f", repeated {study.cv.n_repeats} times"
    kind = printable(study.splitting)
    return f"{kind}{repeats}; features selected anew in every training part"


def _estimate(study: Study) -> str:
    return "none" if study.honest_error is None else printable(study.honest_error.how)


def _interval_method(study: Study, held_out: ErrorEstimate | None) -> str | None:
    if study.honest_error is None and held_out is None:
        return None
    if study.source.groups is not None:
        return "Wilson, 95\u00a0%, widened where samples of a group are right or wrong together"
    return "Wilson, 95\u00a0%; it counts the samples as independent"


def _permutations(study: Study) -> str | None:
    if study.null is None:
        return None
    same = "with the same choice of k" if study.chose_k else "with the same k"
    return (
        f"{study.null.n_permutations:,}; one cross-validation each, {same}; "
        "p\u00a0=\u00a0(1 + as good ones) / (1 + permutations)"
    )


def _groups(source: Provenance) -> str | None:
    if source.groups is None:
        return None
    n = np.unique(source.groups).size
    return f"{count(n, 'group')}; samples of one group are never on both sides of a split"


def _missing(source: Provenance) -> str:
    if source.n_missing == 0:
        return "none"
    return f"{source.n_missing:,}, filled with the median of the column in the training part"


def _transformation(source: Provenance) -> str | None:
    if source.log2_floor is None:
        return None
    return f"log2, values below {source.log2_floor:g} raised to it"
