"""How the pages write numbers, counts and parameters."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np

from .. import __version__
from ..pencil import wording
from ..pencil.solution import Solution
from ..plots._style import printable, shorten

count = wording.counted
UNKNOWN = "\u2013"  # a dash
MAX_VALUE_CHARACTERS = 60  # characters


class Interval(Protocol):
    """What has an interval: an ErrorEstimate, a HonestError, a StabilityIndex."""

    @property
    def low(self) -> float:
        """Lower end."""

    @property
    def high(self) -> float:
        """Upper end."""


class Permuted(Protocol):
    """What a p-value comes from."""

    @property
    def p_value(self) -> float:
        """(1 + permutations as good) / (1 + permutations)."""

    @property
    def n_as_good(self) -> int:
        """How many permutations were as good."""

    @property
    def n_permutations(self) -> int:
        """How many there were."""


def percent(fraction: float) -> str:
    """0.0439 -> '4.4 %' (with a space that does not break, and a true minus sign)."""
    return wording.percent(fraction).replace(" ", "\u00a0").replace("-", "\u2212")


def percent_or_dash(fraction: float | None) -> str:
    """The same, or a dash where there is no number."""
    return UNKNOWN if is_unknown(fraction) else percent(float(fraction or 0.0))


def whole_percent(fraction: float) -> str:
    """0.8667 -> '87 %'."""
    return f"{100 * fraction:.0f}\u00a0%"


def number(value: float) -> str:
    """Three decimals, or powers of ten where these would say nothing; a true minus sign."""
    size = abs(value)
    text = f"{value + 0.0:.3f}" if size == 0 or 5e-4 <= size < 1e4 else f"{value:.1e}"
    return text.replace("-", "\u2212")


def decimals(value: float | None, digits: int = 3) -> str:
    """So many decimals, or a dash where there is no number."""
    if is_unknown(value):
        return UNKNOWN
    return f"{value:.{digits}f}".replace("-", "\u2212")


def is_unknown(value: float | None) -> bool:
    """Whether it is None or NaN."""
    return value is None or bool(np.isnan(value))


def interval(estimate: Interval) -> str:
    """The 95 % interval of an error in words."""
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def less(loss: float) -> str:
    """How much less class separation a set has: 'no less', '0.3 % less'."""
    return "no less" if loss <= wording.ROUND_OFF else f"{percent(loss)} less"


def p_value(null: Permuted) -> str:
    """'p = 0.0476', and that no smaller one could be had."""
    text = f"p\u00a0=\u00a0{null.p_value:.3g}"
    if null.n_as_good:
        return text
    return f"{text}, the smallest that {count(null.n_permutations, 'permutation')} can give"


def excess(solution: Solution) -> str:
    """By how much the bound lies above the objective, which is positive."""
    # not solution.gap: its unit may be larger than the objective itself
    return f"{wording.rounded_up(100 * (solution.bound / solution.objective - 1))}\u00a0%"


def listed(items: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def upper_first(text: str) -> str:
    """The same as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def parameters(estimator: Any) -> str:
    """All parameters as in a call."""
    return ", ".join(
        f"{name}={shorten(without_address(repr(value)), MAX_VALUE_CHARACTERS)}"
        for name, value in estimator.get_params(deep=False).items()
    )


def without_address(text: str) -> str:
    """Where an object lies in memory differs from run to run."""
    return printable(re.sub(r" at 0x[0-9A-Fa-f]+", "", " ".join(text.split())))


def significant(value: float, digits: int = 3) -> str:
    """So many digits, those at the end that are 0 included, and a true minus sign."""
    return f"{value:#.{digits}g}".rstrip(".").replace("-", "\u2212")


def kernel_name(selector: Any) -> str:
    """The kernel of a Q-alpha selector."""
    if selector.kernel is None:
        return "none"
    return shorten(without_address(str(selector.kernel)), MAX_VALUE_CHARACTERS)


def versions(*others: str) -> str:
    """The versions that bear on the numbers."""
    libraries = [f"{name} {version(name)}" for name in ("numpy", "scikit-learn", *others)]
    python = platform.python_version()
    return f"eigensieve {__version__}, Python {python}, {', '.join(libraries)}"


def difference(row: dict[str, Any], reference: str) -> str:
    """The difference from the reference in percentage points, with its standard error."""
    if row["method"] == reference:
        return "reference"
    if row["difference"] is None or row["difference_se"] is None:
        return UNKNOWN
    points = f"{round(100 * row['difference'], 1) + 0.0:+.1f}".replace("-", "\u2212")
    return f"{points}\u00a0± {100 * row['difference_se']:.1f}"


def tally(n: float) -> str:
    """A count, with a decimal if it is a mean over repeats; 0 as a dot that does not shout."""
    if n == 0:
        return "·"
    return f"{n:,.0f}" if is_whole(n) else f"{n:,.1f}"


def is_whole(n: float) -> bool:
    """Sums of thirds and fifths are whole but for rounding."""
    return abs(n - round(n)) < 1e-9
