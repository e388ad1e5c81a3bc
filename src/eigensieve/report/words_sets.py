"""What the pages say of the selected set: how stable, how close to the best, what it costs."""

from __future__ import annotations

import numpy as np

from ..pencil.solution import Solution
from ..pencil.wording import rounded_up
from ..plots._style import shorten
from ..studies.result import Study
from .facts import aims_at_separation, chosen_index, chosen_solution, frequencies, has_constraints
from .words import count, decimals, number, percent

# after Fleiss, as Nogueira, Sechidis and Brown (2018) read their index
STABLE, LOOSE = 0.75, 0.4
OFTEN = 0.8
FREE = 0.01  # a price below this share of the class separation is called next to nothing
SMALL = 5e-4  # a share that is shown as 0
FAR = 1.0  # room for more than twice the class separation: the number itself says nothing
_NO_LOSS = (
    "Each selected feature can be left out without loss: sets without it were found that have at "
    "least as much class separation. This set was not chosen by that measure alone."
)
FORCED = (
    "Every selected feature was kept in by the user: that the same ones are always selected, and "
    "that no other allowed set is better, goes without saying."
)
ALL_KEPT = "all kept in by the user"


def stability_sentence(study: Study) -> str:
    """The index at the chosen k in words; "" where it is not known."""
    index = chosen_index(study)
    if index is None:
        return ""
    if index.index >= STABLE:
        what = "Mostly the same features are selected when some samples are left out"
    elif index.index >= LOOSE:
        what = "The selected features change in part when some samples are left out"
    else:
        what = "The selected features change a lot when some samples are left out"
    value = f"stability index {decimals(index.index, 2)}, 95\u00a0% interval {_ends(index)}"
    return f"{what} ({value}; 1 is always the same, 0 is chance)."


def _ends(index: object) -> str:
    low, high = (decimals(getattr(index, end), 2) for end in ("low", "high"))
    return f"{low} to {high}"


def often_sentence(study: Study) -> str:
    """How many of the selected features come back nearly always."""
    shares = frequencies(study, study.best_k)
    if shares is None:
        return ""
    own = shares[[feature.index for feature in study.selected]]
    n = int(np.sum(own >= OFTEN))
    verb = "was" if n == 1 else "were"
    return (
        f"{n:,} of the {count(own.size, 'selected feature')} {verb} also selected in at least "
        f"{OFTEN:.0%} of the training parts.".replace("%", "\u00a0%")
    )


def optimality(study: Study) -> list[str]:
    """What is known of the best set with as many features."""
    solution = chosen_solution(study)
    if solution is None:
        return ["How close the set is to the best one was not computed."]
    if is_far(solution):
        sentences = [_far_sentence(study)]
    else:
        sentences = [bound_sentence(solution, has_constraints(study))]
    if solution.status.is_early:
        sentences.append(f"The search stopped before its end ({solution.status}).")
    return sentences


def is_far(solution: Solution | None) -> bool:
    """Whether the bound lies so far above that its number would only puzzle in a summary."""
    if solution is None or solution.objective <= 0 or np.isinf(solution.bound):
        return False
    return bool(solution.bound > (1 + FAR) * solution.objective)


def _far_sentence(study: Study) -> str:
    if aims_at_separation(study):
        return (
            "How close this set is to the best class separation possible is open: the proved bound "
            "lies far above it."
        )
    return (
        "This set may be far from the best class separation possible (the method does not aim at "
        "it)."
    )


def optimality_details(study: Study) -> list[str]:
    """What the section adds to the summary."""
    solution = chosen_solution(study)
    if solution is None:
        return optimality(study)
    if is_far(solution):
        return [bound_sentence(solution, has_constraints(study))]
    value, meaning = room(solution)
    return [f"Room for a better set of {count(solution.k, 'feature')}: {value} ({meaning})."]


def bound_sentence(solution: Solution, constrained: bool = False) -> str:
    """How much better another set of as many features could be."""
    if np.isinf(solution.bound):
        return "No bound on the optimum was computed for this set."
    rivals = f"{'allowed ' if constrained else ''}set of {count(solution.k, 'feature')}"
    if solution.is_certified:
        return (
            f"Proved optimal: no {rivals} separates the classes better by the criterion "
            f"(tolerance {solution.gap_tol:g})."
        )
    if solution.objective <= 0:
        return (
            f"Proved: no {rivals} can have a class separation above {number(solution.bound)}; "
            f"this one has {number(solution.objective)}."
        )
    return (
        f"Proved: no {rivals} can have a class separation more than {excess(solution)} above "
        "that of this one."
    )


def excess(solution: Solution) -> str:
    """By how much the bound lies above the objective, which is positive."""
    # not solution.gap: its unit may be larger than the objective itself
    return f"{rounded_up(100 * (solution.bound / solution.objective - 1))}\u00a0%"


def room(solution: Solution | None) -> tuple[str, str]:
    """Room for a better set: in a word or two, and what that means."""
    if solution is None:
        return "unknown", "not computed"
    if np.isinf(solution.bound):
        return "unknown", "no bound was computed"
    if solution.is_certified:
        return "none", "proved optimal"
    if solution.objective <= 0:
        return "unknown", "no class separation"
    return f"at most {excess(solution)}", "proved for every set of this size"


def price(loss: float) -> str:
    """What leaving a feature out costs, as a share of the class separation."""
    return percent(loss) if abs(loss) >= SMALL else percent(0.0)


def price_sentences(study: Study) -> list[str]:
    """The dearest feature, the cheapest one, and those that have a stand-in for next to nothing."""
    if not study.prices:
        return []
    by_loss = sorted(study.prices, key=lambda one: -one.loss)
    dearest, cheapest = by_loss[0], by_loss[-1]
    if dearest.loss < SMALL:
        return [_NO_LOSS]
    hardest = (
        f"Hardest to do without: {shorten(dearest.name, 60)}. The best set found without it has "
        f"{price(dearest.loss)} less class separation."
    )
    sentences = [hardest]
    if len(by_loss) > 1:
        less = f"{price(cheapest.loss)} less" if cheapest.loss >= SMALL else "no less"
        sentences.append(
            f"Easiest to replace: {shorten(cheapest.name, 60)}, without which a set with {less} "
            "class separation was found."
        )
    free = [one for one in study.prices if one.stand_ins and one.stand_ins[0].loss < FREE]
    if free:
        sentences.append(
            f"{count(len(free), 'selected feature')} could be exchanged for another one at a cost "
            f"of less than {FREE:.0%}".replace("%", "\u00a0%")
            + ": do not read such a feature as the only one that matters."
        )
    if cheapest.loss <= -SMALL:
        sentences.append("A negative price: the set found without the feature separates better.")
    return sentences
