"""What the report of a Q-alpha selector says: numbers and sentences, plain text throughout."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from ..plots._style import printable, shorten
from ..q_alpha.null import LEVEL
from .words import MAX_VALUE_CHARACTERS, count, parameters, versions, without_address

ENOUGH_FOR_A_BAND = 20  # permutations
MAX_CLASSES = 12

_CUTS = {
    "given": "was given by the user",
    "ratio": (
        "was read off alpha: the cut is where the ratio of two neighbouring values is largest"
    ),
    "otsu": "was read off alpha: the cut splits the values best into two groups (Otsu)",
    "energy": "was read off alpha: the fewest features with a given share of its squares",
    "null": "is that of the features that stand out from permuted ones",
}
_CUT_NAMES = {
    "given": "given",
    "ratio": "ratio gap",
    "otsu": "Otsu",
    "energy": "energy",
    "null": "null test",
}
_UNTESTED = "A sparse profile is no evidence of signal, as pure noise gives one that is as sparse."
_HOW_TO_TEST = "QAlphaSelector(n_permutations=20) compares alpha with that of permuted features."
_NO_TIME = "The time was over before the first comparison with permuted features was."
_NO_COPIES = "Features cannot be permuted in a kernel matrix: give the table instead to test them."
_FEW = (
    "Fewer than half of the selected features stand out: the others may well be chance, however "
    "sparse the profile looks."
)
_NOISE = (
    "As far as this test can tell, the profile is what noise gives: a sparse one is no evidence "
    "of signal."
)
_NEARLY_ALL = (
    "More than half of all features stand out: they vary together with others, as genes and "
    "wavelengths do. That does not make each of them matter; how many to take is a choice."
)
_ONLY_THE_BAND = (
    "Half of the selected values or more lie above the null band of their rank. That speaks for "
    "signal in the group, but does not say which of its features carry it."
)


def significant(value: float, digits: int = 3) -> str:
    """So many digits, those at the end that are 0 included, and a true minus sign."""
    return f"{value:#.{digits}g}".rstrip(".").replace("-", "\u2212")


def adjusted(selector: Any) -> np.ndarray:
    """P-values after Benjamini and Hochberg; there has to be a null."""
    from scipy.stats import false_discovery_control  # slow to import

    return np.asarray(false_discovery_control(selector.null_.p_values))


def lead(selector: Any) -> list[str]:
    """What was found, and whether it is more than chance."""
    return [found_sentence(selector), evidence_sentence(selector)]


def findings(selector: Any) -> list[str]:
    """What else to know, most important first."""
    sentences = [_untested(selector)] if selector.null_ is None else _warnings(selector)
    sentences.append(f"The number of features {decided(selector)}.")
    if not selector.converged_:
        status = printable(selector.solution_.status)
        sentences.append(
            f"The weights have not converged: the search stopped after {cycles(selector)} "
            f"({status}), and alpha might still change."
        )
    return sentences


def _untested(selector: Any) -> str:
    """What the lack of a null means, and what to do about it."""
    if is_kernel_matrix(selector):
        return f"{_UNTESTED} {_NO_COPIES}"
    return f"{_UNTESTED} {_NO_TIME if selector.n_permutations else _HOW_TO_TEST}"


def found_sentence(selector: Any) -> str:
    """How many features of how many, and for what."""
    p, k = selector.n_features_in_, n_selected(selector)
    features = f"{k:,} of {count(p, 'feature')} {'was' if k == 1 else 'were'} selected"
    if is_kernel_matrix(selector):
        return f"{features} for {groups(selector)}, by a kernel matrix and without labels."
    samples = count(selector.n_samples_, "sample")
    if is_supervised(selector):
        return f"{features} to tell {groups(selector)} apart in {samples}."
    return f"{features} for {groups(selector)} in {samples}, without labels."


def n_selected(selector: Any) -> int:
    """How many features were selected."""
    return int(np.sum(selector.support_))


def evidence_sentence(selector: Any) -> str:
    """How many of the selected features stand out from permuted ones."""
    k = n_selected(selector)
    if selector.null_ is None:
        return f"Whether {'it is' if k == 1 else 'they are'} more than chance was not tested."
    mask = selector.null_.passing()
    n = int(np.sum(mask & selector.support_))
    if not mask.any():
        who = "No feature"
    elif n == 0:
        who = "None of the selected ones"
    elif k == 1:
        who = "It"
    else:
        who = f"All {k:,}" if n == k else f"{n:,} of the {k:,}"
    return f"{who} {'stands' if n < 2 else 'stand'} out from permuted features."


def n_above(selector: Any) -> int:
    """How many of the selected values lie above the null band of their rank."""
    largest = np.sort(selector.alpha_[selector.support_])[::-1]
    return int(np.sum(largest > selector.null_.upper[: largest.size]))


def _warnings(selector: Any) -> list[str]:
    """What the comparison with permuted features means."""
    mask = selector.null_.passing()
    k, n = n_selected(selector), int(np.sum(mask & selector.support_))
    sentences = []
    if not mask.any():
        # noise puts 2.5 % of the values above the band: half of them in 1 case of 20 at most, if
        # the runs are enough to know such a point
        known = selector.null_.n_permutations >= ENOUGH_FOR_A_BAND
        above = known and 2 * n_above(selector) >= k > 0
        sentences.append(_ONLY_THE_BAND if above else _NOISE)
    elif 2 * n < k:
        sentences.append(_FEW)
    if 2 * np.sum(mask) > mask.size > 1:
        sentences.append(_NEARLY_ALL)
    sentences.append(
        f"To stand out is to have p\u00a0≤\u00a0{LEVEL:g} after Benjamini and Hochberg, over "
        f"{count(mask.size, 'feature')} and with "
        f"{count(selector.null_.n_permutations, 'permutation')}."
    )
    if selector.null_.n_unfinished:
        sentences.append(
            f"In {count(selector.null_.n_unfinished, 'run')} of them alpha was not at rest: the "
            "comparison is a fair one, but may miss features; raise max_iter."
        )
    further = int(np.sum(mask & ~selector.support_))
    if further:
        verbs = ("stands", "was") if further == 1 else ("stand", "were")
        who = count(further, "further feature")
        sentences.append(f"{who} {verbs[0]} out but {verbs[1]} not selected.")
    return sentences


def decided(selector: Any) -> str:
    """How the number of features was decided, to follow 'The number of features'."""
    return _CUTS[selector.cut_]


def cut_name(selector: Any) -> str:
    """The same in a word or two."""
    return _CUT_NAMES[selector.cut_]


def is_supervised(selector: Any) -> bool:
    """Whether there were labels."""
    return selector.n_clusters_ is None


def is_kernel_matrix(selector: Any) -> bool:
    """Whether it was given a kernel matrix of the features, which does not show the samples."""
    return isinstance(selector.kernel, str) and selector.kernel == "precomputed"


def groups(selector: Any) -> str:
    """'3 classes' or '3 clusters'."""
    if is_supervised(selector):
        return count(len(selector.classes_), "class", "classes")
    return count(selector.n_clusters_, "cluster")


def cycles(selector: Any) -> str:
    """'1 cycle', '12 cycles'."""
    return count(int(selector.n_iter_), "cycle")


def methods(selector: Any) -> list[tuple[str, str]]:
    """Everything needed to do it again, as (term, value)."""
    converged = "converged" if selector.converged_ else "not converged"
    rows: list[tuple[str, str | None]] = [
        ("Method", "Q-alpha (Wolf and Shashua, 2005; QAlphaSelector)"),
        ("Variant", printable(selector.variant)),
        ("Kernel", _kernel(selector)),
        ("Classes", _classes(selector) if is_supervised(selector) else None),
        ("Clusters", None if is_supervised(selector) else f"{selector.n_clusters_:,}"),
        ("Eigensolver", printable(selector.eigensolver_)),
        ("Starts", _starts(selector)),
        ("Cycles", f"{selector.n_iter_:,}; {converged}"),
        ("Objective", significant(selector.objective_, 6)),
        ("Number of features", cut_name(selector)),
        ("Null", _null(selector)),
        ("Samples", None if is_kernel_matrix(selector) else f"{selector.n_samples_:,}"),
        ("Features", f"{selector.n_features_in_:,}"),
        ("Parameters", parameters(selector)),
        ("Versions", f"{versions()}, scipy {version('scipy')}"),
    ]
    return [(term, value) for term, value in rows if value is not None]


def _classes(selector: Any) -> str:
    names = [shorten(c) for c in selector.classes_[:MAX_CLASSES]]
    more = len(selector.classes_) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _kernel(selector: Any) -> str:
    if selector.kernel is None:
        return "none"
    return shorten(without_address(str(selector.kernel)), MAX_VALUE_CHARACTERS)


def _starts(selector: Any) -> str:
    kept = "; the one with the largest objective was kept" if selector.n_init_ > 1 else ""
    return f"{selector.n_init_:,}{kept}"


def _null(selector: Any) -> str:
    if selector.null_ is None:
        return "none"
    return f"{count(selector.null_.n_permutations, 'run')} beside permuted copies of all features"
