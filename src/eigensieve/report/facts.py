"""What the pages ask of a study, whatever its method is and wherever Ctrl-C ended it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..pencil.constraints import as_constraints
from ..pencil.solution import GIVEN as GIVEN_SET
from ..pencil.solution import Solution
from ..plots._style import printable, shorten
from ..studies.comparison import Comparison
from ..studies.cv_path import GIVEN, ONLY, OWN
from ..studies.result import Provenance, SelectedFeature, Study
from ..studies.stability import StabilityIndex
from .words import excess, listed, percent

CRITERION_NAMES = {
    "logdet": "logdet (Wilks)",
    "trace": "trace (sum of the separations)",
    "lambda_max": "lambda_max (largest separation)",
}


WORSE = 1.25  # a balanced error so many times the error, and so much above it, is put in words
WORSE_BY = 0.03
OFTEN = 0.8
FAR = 1.0  # room for more than twice the class separation: the number itself says nothing
SURE = 0.05  # the largest p-value that speaks against chance
FREE = 0.01  # a stand-in that costs less is as good as the feature itself
MAX_CONSTRAINTS_NAMED = 12
MAX_FREQUENT_ROWS = 30


def inner_model(study: Study) -> Any:
    """The fitted classifier of standardised columns."""
    return study.final_estimator.estimator_


def is_proved_at_the_end(study: Study) -> bool:
    """Whether only the final models are searched for a proof, see docs/study.md."""
    model = inner_model(study)
    searches = getattr(model, "effort", 0) != 0 and getattr(model, "certificate", "none") != "none"
    return searches and getattr(model, "solver", None) == "auto"


def n_allowed(study: Study) -> int:
    """How many features may be selected."""
    return len(study.names) - len(getattr(inner_model(study), "exclude", ()))


def n_classes(study: Study) -> int:
    """Number of classes."""
    return len(study.final_estimator.classes_)


def n_used(study: Study) -> int:
    """Number of features of the final model; some methods cannot have exactly k."""
    return len(study.selected)


def solutions(study: Study) -> dict[int, Solution]:
    """The judged set of every k that has one."""
    return dict(zip(study.path, study.optimality))


def chosen_solution(study: Study) -> Solution | None:
    """The judged set of the chosen k; None if Ctrl-C came first."""
    return solutions(study).get(study.best_k)


def chosen_index(study: Study) -> StabilityIndex | None:
    """The stability index at the chosen k; None where it is not known."""
    for index in study.indices:
        if index.k == study.best_k and not np.isnan(index.index):
            return index
    return None


def frequencies(study: Study, k: int) -> np.ndarray | None:
    """How often every feature was selected at k, as a share; None if that is not known."""
    if k not in study.ks or not len(study.frequency):
        return None
    return np.asarray(study.frequency[study.ks.index(k)])


def class_counts(study: Study) -> list[tuple[str, int, str]]:
    """Name, number of samples and share of every class."""
    classes, counts = np.unique(study.labels, return_counts=True)
    n = study.n_samples
    return [(printable(c), int(m), percent(m / n)) for c, m in zip(classes, counts)]


def baseline(study: Study) -> float:
    """The error of always guessing the largest class."""
    return 1 - max(n for _, n, _ in class_counts(study)) / study.n_samples


def lies_below(study: Study, share: float) -> bool:
    """Whether the whole interval of the error lies below that share of the error of a guess."""
    found = study.honest_error
    return found is not None and found.high < share * baseline(study)


def interval_rule(study: Study) -> str | None:
    """How the interval of a cross-validated error came about; None without an error."""
    found = study.honest_error
    if found is None:
        return None
    rule = "Wilson, 95\u00a0%, with the variance of the training sets (Nadeau and Bengio)"
    if not found.chosen:
        rule += " and of the final model"
    if study.source.groups is not None:
        rule += "; widened where samples of a group are right or wrong together"
    if found.chosen:
        rule += "; wider on the side of the cross-validated error of the final choice of "
        rule += what_was_chosen(study)
    return rule


def seems_chance(study: Study) -> bool:
    """Whether permuted labels were predicted as well, and not just once in a while."""
    null = study.null
    return null is not None and null.p_value > SURE and null.n_as_good > 0


def beats_guess(study: Study) -> bool:
    """Whether the error is below that of a guess, and permutations do not speak against it."""
    return lies_below(study, 1.0) and not seems_chance(study)


def separates(study: Study) -> bool:
    """Whether it is well below: under half of the error of a guess."""
    return lies_below(study, 0.5) and not seems_chance(study)


def mark_of_k(study: Study) -> str:
    """What the k of the final set is called beside the others; "" where nothing is to be said."""
    if study.chose_k:
        return "chosen"
    return "given" if study.k_rule == GIVEN else ""


def is_balanced(study: Study) -> bool:
    """Whether k was chosen by the balanced error."""
    return study.score == "balanced_error"


def limits(study: Study) -> list[str]:
    """The limits on groups and costs that every set keeps, rule by rule."""
    asked = as_constraints(getattr(inner_model(study), "constraints", None))
    return [] if asked is None else asked.by_index(len(study.names), study.names).in_words()


def is_forced(study: Study) -> bool:
    """Whether the user kept in every selected feature: then nothing was left to select."""
    kept = {int(j) for j in getattr(inner_model(study), "include", ())}
    return bool(study.selected) and all(one.index in kept for one in study.selected)


def aims_at_separation(study: Study) -> bool:
    """Whether the method seeks the class separation by which its sets are judged."""
    return hasattr(inner_model(study), "criterion")


def how_chosen(study: Study) -> str:
    """Who chose k: "rule", "given", "own" (the method), "only" (one k) or "other"."""
    if study.chose_k:
        return "rule"
    return {GIVEN: "given", OWN: "own", ONLY: "only"}.get(study.k_rule, "other")


def is_largest_k(study: Study) -> bool:
    """Whether the largest k that was tried is taken, and there are more features."""
    return study.best_k == max(study.ks) < len(study.names) and len(study.ks) > 1


def is_worse_balanced(study: Study) -> bool:
    """Whether the balanced error says something that the error does not."""
    found = study.honest_error
    if found is None:
        return False
    return found.balanced_error > max(WORSE * found.error, found.error + WORSE_BY - 1e-12)


def why_no_error(study: Study) -> str:
    """The note of the study that says so."""
    reasons = [note for note in study.notes if note.startswith("No error estimate")]
    return printable(reasons[0]) if reasons else "No error estimate was made."


def count_frequent(study: Study) -> tuple[int, int]:
    """How many of the selected features come back nearly always, and how many there are."""
    shares = frequencies(study, study.best_k)
    assert shares is not None
    own = shares[[feature.index for feature in study.selected]]
    return int(np.sum(own >= OFTEN)), own.size


def count_exchangeable(study: Study) -> int:
    """How many features have a stand-in whose price, as it is printed, is below `FREE`."""
    cheapest = [one.stand_ins[0].loss for one in study.prices if one.stand_ins]
    return sum(round(100 * loss, 1) < 100 * FREE for loss in cheapest)


def what_was_chosen(study: Study) -> str:
    """What cross-validation chose: k, the setting, or both."""
    several = len(study.settings) > 1
    return " and ".join([*["k"][: study.chose_k], *["the setting"][:several]])


def chosen_anew(study: Study) -> str:
    """What was chosen anew in every outer part: the preferred set as well."""
    parts = [*filter(None, what_was_chosen(study).split(" and "))]
    return listed([*parts, *["the preferred set"][: study.preferred is not None]])


def has_standard_error(study: Study) -> bool:
    """Whether the errors have one: a single test part tells nothing of it."""
    return study.cv is not None and study.cv.shares.size > 1


def is_centred(study: Study) -> bool:
    """Whether the columns were centred: those of a sparse table are scaled only."""
    return bool(np.any(study.final_estimator.standardizer_.center))


def is_far(solution: Solution | None) -> bool:
    """Whether the bound lies so far above that its number would only puzzle in a summary."""
    if solution is None or solution.objective <= 0 or np.isinf(solution.bound):
        return False
    return bool(solution.bound > (1 + FAR) * solution.objective)


def room(solution: Solution | None, constrained: bool = False) -> tuple[str, str]:
    """Room for a better set: in a word or two, and what that means."""
    if solution is None:
        return "unknown", "not computed"
    if np.isinf(solution.bound):
        return "unknown", "no bound was computed"
    if solution.is_certified:
        return "none", "proved best"
    if solution.objective <= 0:
        return "unknown", "no class separation"
    return (
        f"at most {excess(solution)}",
        f"proved for every {'allowed ' if constrained else ''}set of this size",
    )


def short_room(solution: Solution | None) -> str:
    """Room for a better set, in a cell of a table."""
    value, meaning = room(solution)
    return meaning if value == "none" else value.replace("at most", "≤")


def solver_of(model: Any) -> str | None:
    """The solver and how it ended."""
    solution = getattr(model, "solution_", None)
    solver, status = (getattr(solution, name, None) for name in ("solver", "status"))
    if solver is None:
        return None
    if solver == GIVEN_SET:
        return "none: the set was taken from the list of those nearly as good as the best"
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


def constrained(study: Study, constraint: str) -> str | None:
    """The features that the user kept in, or out."""
    columns = list(getattr(inner_model(study), constraint, ()))
    if not columns:
        return None
    shown = ", ".join(shorten(study.names[j]) for j in columns[:MAX_CONSTRAINTS_NAMED])
    more = len(columns) - MAX_CONSTRAINTS_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def n_groups(source: Provenance) -> int:
    """Number of groups of samples."""
    return int(np.unique(np.asarray(source.groups)).size)


def unweighted(comparison: Comparison) -> list[str]:
    """The methods of a comparison whose classes have no weights in the fit."""
    models = {name: inner_model(study) for name, study in comparison.results.items()}
    return [shorten(name, 40) for name, model in models.items() if class_weights(model) is None]


def has_other_sizes(study: Study) -> bool:
    """Whether the method does not always use exactly k features."""
    return any(row["n_features"] != row["k"] for row in study.rows)


def has_other_sets(study: Study) -> bool:
    """The same of the sets that are judged."""
    return any(solution.k != k for k, solution in solutions(study).items())


def most_frequent(study: Study) -> list[int]:
    """The features that were selected most often."""
    shares = frequencies(study, study.best_k)
    assert shares is not None
    order = np.argsort(-shares, kind="stable")[:MAX_FREQUENT_ROWS]
    return [j for j in order.tolist() if shares[j] > 0]


def null_quantiles(study: Study) -> list[tuple[str, float]]:
    """The errors of permuted labels in three numbers."""
    assert study.null is not None
    shares = (("smallest", 0.0), ("median", 0.5), ("largest", 1.0))
    return [(name, float(np.quantile(study.null.errors, share))) for name, share in shares]


def annotation_texts(study: Study, feature: SelectedFeature) -> list[str]:
    """What the annotation file says of a feature, one text a column."""
    texts = study.source.annotations.get(feature.name, ())
    columns = len(study.source.annotation_columns)
    return [*texts, *[""] * columns][:columns]


def label_of(study: Study, k: int) -> str:
    """A k as the heading of its panel."""
    mark = mark_of_k(study) if k == study.best_k else ""
    return f"k\u00a0=\u00a0{k}{f' ({mark})' if mark else ''}"


def selecting(sets: Mapping[str, set[str]], feature: str) -> list[str]:
    """The methods whose sets have the feature."""
    return [method for method, features in sets.items() if feature in features]
