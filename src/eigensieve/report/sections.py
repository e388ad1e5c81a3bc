"""The figures of a study's page, each with its words for those who cannot see it."""

from __future__ import annotations

from markupsafe import Markup

from ..plots import (
    AlphaDisplay,
    CorrelationCircleDisplay,
    CVPathDisplay,
    GapDisplay,
    LoadingsDisplay,
    ProjectionDisplay,
    StabilityDisplay,
)
from ..studies.result import Study
from .facts import frequencies, inner_model, is_balanced, mark_of_k, n_classes, solutions
from .figures import drawn
from .null_figure import MIN_PERMUTATIONS, NullDisplay
from .words import percent

MIN_FEATURES_ON_A_LINE = 3  # features, for a figure of their correlations with one score


def draw_all(study: Study) -> dict[str, Markup | None]:
    """Every figure by its name, None where there is nothing to draw."""
    return {
        "curve": curve(study),
        "loadings": loadings(study),
        "circle": circle(study),
        "alpha": alpha(study),
        "samples": samples(study),
        "stability": stability(study),
        "null": null(study),
        "gap": gap(study),
    }


def curve(study: Study) -> Markup | None:
    """Error against k."""
    if study.cv is None or len(study.ks) < 2:
        return None
    label = (
        f"Cross-validated error against the number of features, from {study.ks[0]} to "
        f"{study.ks[-1]}; {mark_of_k(study) or 'taken'}: {study.best_k}. The numbers are in "
        "the table below."
    )
    return drawn(CVPathDisplay.from_study(study), "path", label)


def loadings(study: Study) -> Markup | None:
    """Bars of the loadings."""
    if not study.selected:
        return None
    label = "Bars of the loadings of the selected features. The numbers are in the table."
    return drawn(LoadingsDisplay.from_study(study), "loadings", label)


def circle(study: Study) -> Markup | None:
    """Correlations; one or two with a single score say nothing that the loadings do not."""
    several = bool(study.selected) and len(study.selected[0].loadings) > 1
    if len(study.selected) < MIN_FEATURES_ON_A_LINE and not several:
        return None
    label = "Correlations of the selected features with the discriminant scores."
    return drawn(CorrelationCircleDisplay.from_study(study), "circle", label)


def alpha(study: Study) -> Markup | None:
    """The weights of Q-alpha, where it ranked the features."""
    ranker = getattr(inner_model(study), "ranker_", None)
    if not study.selected or not hasattr(ranker, "alpha_"):
        return None
    label = "The sorted weights alpha of all features."
    return drawn(AlphaDisplay.from_estimator(ranker), "alpha", label)


def samples(study: Study) -> Markup:
    """The training samples on the selected features."""
    label = (
        f"The {study.n_samples} training samples of {n_classes(study)} classes, by their scores."
    )
    return drawn(ProjectionDisplay.from_study(study), "samples", label)


def stability(study: Study) -> Markup | None:
    """How often the features come back."""
    if frequencies(study, study.best_k) is None:
        return None
    label = (
        "Bars: how often the features were selected in training parts. "
        "The numbers are in the table."
    )
    return drawn(StabilityDisplay.from_study(study), "stability", label)


def null(study: Study) -> Markup | None:
    """The errors of permuted labels."""
    null = study.null
    if null is None or null.n_permutations < MIN_PERMUTATIONS:
        return None
    label = (
        f"Errors of {null.n_permutations} permutations of the labels, from "
        f"{percent(null.errors.min())} to {percent(null.errors.max())}; with the "
        f"true labels: {percent(null.observed)}."
    )
    score = "balanced error" if is_balanced(study) else "error"
    return drawn(NullDisplay(null, score), "null", label)


def gap(study: Study) -> Markup | None:
    """Class separation and bound against k."""
    if len(solutions(study)) < 2:
        return None
    label = (
        "Class separation of the selected set and its proved upper bound, for every k. "
        "The numbers are in the table."
    )
    return drawn(GapDisplay.from_study(study), "gap", label)
