"""What the report says: numbers and sentences, plain text throughout."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import __version__
from ..core.solution import Solution
from ..core.wording import rounded_up
from ..plots._style import printable
from ..studies.cv_path import ErrorEstimate
from ..studies.fitting import GIVEN, ONE_SE, FitResult
from .glossary import CRITERION_NAMES

HELD_OUT = "held-out samples"
WORSE = 1.25  # a balanced error so many times the error, and so much above it, is put in words
WORSE_BY = 0.03


def percent(fraction: float) -> str:
    """0.0439 -> '4.4 %' (with a space that does not break)."""
    return f"{100 * fraction:.1f}\u00a0%"


def number(value: float) -> str:
    """Three decimals, or powers of ten where these would say nothing; a true minus sign."""
    size = abs(value)
    text = f"{value:.3f}" if size == 0 or 5e-4 <= size < 1e4 else f"{value:.1e}"
    return text.replace("-", "\u2212")


def count(n: int, noun: str, plural: str | None = None) -> str:
    """'1 feature', '3 features', '1,024 classes'."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def interval(estimate: ErrorEstimate) -> str:
    """The 95 % interval in words."""
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def class_counts(result: FitResult) -> list[tuple[str, int, str]]:
    """Name, number of samples and share of every class."""
    classes, counts = np.unique(result.labels, return_counts=True)
    n = result.n_samples
    return [(printable(c), int(m), percent(m / n)) for c, m in zip(classes, counts)]


def summary(result: FitResult, held_out: ErrorEstimate | None = None) -> list[str]:
    """The findings, most important first."""
    sentences = [found_sentence(result), error_sentence(result)]
    if held_out is not None:
        sentences.append(held_out_sentence(held_out))
    sentences.append(baseline_sentence(result))
    if small_classes_fare_worse(result):
        sentences.append(balanced_sentence(result))
    return [*sentences, choice_sentence(result), *optimality(result)]


def found_sentence(result: FitResult) -> str:
    """What was found; "separate" only where the error is surely below that of a guess."""
    features = f"{result.k:,} of {count(len(result.names), 'feature')}"
    classes = count(len(result.estimator.classes_), "class", "classes")
    samples = f"in {count(result.n_samples, 'sample')}"
    if separates(result):
        return f"{features} {'separates' if result.k == 1 else 'separate'} {classes} {samples}."
    selected = f"{features} {'was' if result.k == 1 else 'were'} selected to tell {classes} apart"
    if result.error is None:
        return f"{selected} {samples}."
    if result.error.low > baseline(result):
        return f"{selected}; the error is larger than that of guessing."
    return f"{selected}; the error cannot be told from guessing."


def separates(result: FitResult) -> bool:
    """Whether the whole interval of the error lies below the error of a guess."""
    return result.error is not None and result.error.high < baseline(result)


def baseline(result: FitResult) -> float:
    """The error of always guessing the largest class."""
    return 1 - max(n for _, n, _ in class_counts(result)) / result.n_samples


def error_sentence(result: FitResult) -> str:
    """The error with its interval, or why there is none."""
    if result.error is None:
        return why_no_error(result)
    how = printable(result.error.how).replace(", k ", " with k ")
    return (
        f"Error on new samples: {percent(result.error.error)} "
        f"(95\u00a0% interval {interval(result.error)}), by {how}."
    )


def why_no_error(result: FitResult) -> str:
    """The note of the study that says so."""
    reasons = [note for note in result.notes if note.startswith("No error estimate")]
    return printable(reasons[0]) if reasons else "No error estimate was made."


def held_out_sentence(held_out: ErrorEstimate) -> str:
    """The error on samples that were never shown to the study."""
    how = "" if held_out.how in ("", HELD_OUT) else f"; {printable(held_out.how)}"
    return (
        f"Error on {count(held_out.n_samples, 'held-out sample')}: {percent(held_out.error)} "
        f"(95\u00a0% interval {interval(held_out)}){how}."
    )


def baseline_sentence(result: FitResult) -> str:
    """An error means little without the error of a guess."""
    rate = percent(baseline(result))
    return f"Always guessing the largest class would be wrong for {rate} of these samples."


def small_classes_fare_worse(result: FitResult) -> bool:
    """Whether the balanced error is clearly above the error."""
    if result.error is None or result.balanced_error is None:
        return False
    error, balanced = result.error.error, result.balanced_error
    return balanced > WORSE * error and balanced >= error + WORSE_BY


def balanced_sentence(result: FitResult) -> str:
    """The error in which a small class counts as much as a large one."""
    assert result.balanced_error is not None
    return (
        "Small classes fare worse: the balanced error, in which every class counts alike, is "
        f"{percent(result.balanced_error)} (cross-validation)."
    )


def path_caption(result: FitResult) -> str:
    """What to know of the curve; where k was chosen, why it is not the error above."""
    caption = (
        "The balanced error counts every class alike. Features were selected anew in every "
        "training part."
    )
    if result.k_rule == GIVEN:
        return caption
    kind = "The curve helped to choose k, so its value at the chosen k is a little kind"
    if result.error is None:
        return f"{caption} {kind}."
    honest = "the error above comes from samples that had no part in the choice"
    return f"{caption} {kind}; {honest}."


def choice_sentence(result: FitResult) -> str:
    """How k was chosen."""
    if result.k_rule == ONE_SE:
        return f"k\u00a0=\u00a0{result.k} is the {ONE_SE}."
    if result.k_rule == GIVEN:
        return f"k\u00a0=\u00a0{result.k} was {GIVEN}."
    return f"k\u00a0=\u00a0{result.k}: {printable(result.k_rule)}."


def optimality(result: FitResult) -> list[str]:
    """What is known of the best set with as many features."""
    solution = result.estimator.solution_
    sentences = [_bound_sentence(solution, _has_constraints(result.estimator))]
    if solution.status.is_early:
        sentences.append(f"The search stopped before its end ({solution.status}).")
    return sentences


def _has_constraints(estimator: Any) -> bool:
    return len(estimator.include) > 0 or len(estimator.exclude) > 0


def _bound_sentence(solution: Solution, constrained: bool) -> str:
    if np.isinf(solution.bound):
        return "No bound on the optimum was computed for this set."
    rivals = f"{'allowed ' if constrained else ''}set of {count(solution.k, 'feature')}"
    if solution.is_certified:
        return (
            f"Proved optimal: no {rivals} scores higher on the selection criterion "
            f"(tolerance {solution.gap_tol:g})."
        )
    if solution.objective <= 0:
        return (
            f"Proved: no {rivals} can score more than {number(solution.bound)} on the selection "
            f"criterion; this one scores {number(solution.objective)}."
        )
    # not solution.gap: its unit may be larger than the score itself
    excess = 100 * (solution.bound / solution.objective - 1)
    return (
        f"Proved: no {rivals} can score more than {rounded_up(excess)}\u00a0% above this one "
        "on the selection criterion."
    )


def methods(
    result: FitResult, command: str | None = None, held_out: ErrorEstimate | None = None
) -> list[tuple[str, str]]:
    """Everything needed to do it again, as (term, value)."""
    model = result.estimator
    solution = model.solution_
    rows: list[tuple[str, str | None]] = [
        ("Method", "sparse linear discriminant analysis (SparseLDA)"),
        ("Criterion", CRITERION_NAMES.get(solution.criterion, solution.criterion)),
        ("Shrinkage", f"{model.shrinkage_:.4f} ({_shrinkage_origin(model)})"),
        ("Ridge", f"{model.ridge:g}"),
        ("Solver", f"{solution.solver}; status: {solution.status}"),
        ("Transformation", _transformation(result)),
        ("Standardisation", "every column centred and scaled, anew in every training part"),
        ("Target", printable(result.target)),
        ("Cross-validation", _folds(result)),
        ("Error estimate", "none" if result.error is None else printable(result.error.how)),
        ("Interval", _interval_method(result, held_out)),
        ("Seed", str(result.seed)),
        ("Data fingerprint", result.fingerprint or "none"),
        ("Versions", versions()),
        ("Command", printable(command) if command else None),
    ]
    return [(term, value) for term, value in rows if value is not None]


def _transformation(result: FitResult) -> str | None:
    if result.log2_floor is None:
        return None
    return f"log2, values below {result.log2_floor:g} raised to it"


def _interval_method(result: FitResult, held_out: ErrorEstimate | None) -> str | None:
    if result.error is None and held_out is None:
        return None
    return "Wilson, 95\u00a0%; it counts the samples as independent"


def _shrinkage_origin(model: Any) -> str:
    return "chosen from the data" if model.shrinkage == "auto" else "given"


def _folds(result: FitResult) -> str:
    if result.cv is None:
        return "none"
    repeats = count(result.cv.n_repeats, "repeat")
    return f"{result.cv.n_folds} stratified folds, {repeats}; features selected inside the fold"


def versions() -> str:
    """The versions that bear on the numbers."""
    return (
        f"eigensieve {__version__}, Python {platform.python_version()}, "
        f"numpy {version('numpy')}, scikit-learn {version('scikit-learn')}"
    )
