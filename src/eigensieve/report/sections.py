"""The figures of a study's page, each with its words for those who cannot see it."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ..plots import (
    AlphaDisplay,
    CorrelationCircleDisplay,
    CVPathDisplay,
    GapDisplay,
    LoadingsDisplay,
    ProjectionDisplay,
    ReliabilityDisplay,
    StabilityDisplay,
)
from ..plots._style import FAINT, PALETTE, house_style, legend_above, new_figure
from ..studies.null import PermutationNull
from ..studies.result import Study
from .facts import frequencies, inner_model, is_balanced, mark_of_k, n_classes, solutions
from .figures import drawn
from .words import percent

MIN_FEATURES_ON_A_LINE = 3  # features, for a figure of their correlations with one score
MIN_PERMUTATIONS = 5  # permutations that are worth a picture
MAX_BINS = 24


def draw_all(study: Study) -> dict[str, Markup | None]:
    """Every figure by its name, None where there is nothing to draw."""
    return {
        "curve": curve(study),
        "loadings": loadings(study),
        "circle": circle(study),
        "alpha": alpha(study),
        "samples": samples(study),
        "reliability": reliability(study),
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


def reliability(study: Study) -> Markup | None:
    """How often predictions are right, against how sure they were."""
    if study.calibration is None:
        return None
    label = (
        "The share of right predictions against the probability of the predicted class, for "
        f"{study.calibration.n_samples} samples left out. The numbers are in the table."
    )
    return drawn(ReliabilityDisplay.from_study(study), "reliability", label)


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


class NullDisplay:
    """A histogram, with a line at the error of the true labels.

    Parameters
    ----------
    null : PermutationNull
    score : str
        The name of the error.

    Attributes
    ----------
    figure_ : where it was drawn
    """

    def __init__(self, null: PermutationNull, score: str = "error") -> None:
        self.null, self.score = null, score

    def plot(self) -> NullDisplay:
        """Draw on a new figure."""
        errors, observed = self.null.errors, self.null.observed
        low, high = (float(f([*errors, observed])) for f in (np.min, np.max))
        margin = 0.06 * (high - low) or 0.01
        n_bins = int(np.clip(2 * np.sqrt(errors.size), 8, MAX_BINS))
        bins = np.linspace(float(errors.min()), float(errors.max()) + 1e-9, n_bins + 1)
        with house_style():
            self.figure_ = new_figure(2.4)
            ax = self.figure_.add_subplot()
            heights, _ = np.histogram(errors, bins)
            bars = ax.bar(bins[:-1], heights, np.diff(bins), align="edge", color=FAINT)
            line = ax.axvline(observed, color=PALETTE[1], lw=2.0)
            ax.set_xlim(low - margin, high + margin)
            ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
            ax.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
            ax.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
            ax.set_xlabel(f"Cross-validated {self.score}")
            ax.set_ylabel("Permutations")
            legend_above(ax, [line, bars], ["true labels", "permuted labels"])
        return self
