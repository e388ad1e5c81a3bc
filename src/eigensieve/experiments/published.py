"""Published figures as they are printed, and whether ours agree with them.

``"83.87 (4.81)"`` is a number with its spread, ``">= 0.9"`` and ``"80 to 90"`` are claims, anything
else is a word. How far ours may be away is stated in the experiment's TOML file.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..errors import InputError
from .values import Value

_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PLAIN = re.compile(rf"~?\s*({_NUMBER})\s*(?:\(({_NUMBER})\))?")
_LIMIT = re.compile(rf"(>=|<=|>|<)\s*({_NUMBER})")
_RANGE = re.compile(rf"({_NUMBER})\s+to\s+({_NUMBER})")
_ERRORS = re.compile(rf"({_NUMBER}) se")
_SPREAD = re.compile(r"sd of (\d+)|se")
MIN_RUNS = 5  # runs from which on a standard error is taken seriously
_SLACK = 1e-9  # relative: what two sums of the same numbers may differ by


@dataclass(frozen=True)
class Published:
    """A figure of a paper: all that lies between ``low`` and ``high`` agrees with it.

    Attributes
    ----------
    text : str
        As it is printed.
    low, high : float
        The same number for a plain figure; one of them infinite for a limit.
    strict : bool
        Whether the limit itself is excluded.
    spread : float or None
        The number in brackets.
    rounding : float
        Half a unit of the last printed digit.
    word : str or None
        What is printed, where it is no number.
    """

    text: str
    low: float = math.nan
    high: float = math.nan
    strict: bool = False
    spread: float | None = None
    rounding: float = 0.0
    word: str | None = None

    @property
    def is_claim(self) -> bool:
        """A limit or a range: it has no sampling error of its own."""
        return self.low != self.high

    @property
    def decimals(self) -> int | None:
        """Printed digits after the point; unknown for a word."""
        return None if self.word is not None else _decimals(self.text)


def read_published(text: str) -> Published:
    """Parse one figure.

    Examples
    --------
    >>> from eigensieve.experiments.published import read_published
    >>> read_published("1,011.4 (681.2)").spread
    681.2
    >>> read_published(">= 0.9").low
    0.9
    """
    text = text.strip()
    if match := _LIMIT.fullmatch(text):
        sign, limit = match[1], _number(match[2])
        low, high = (limit, math.inf) if sign[0] == ">" else (-math.inf, limit)
        return Published(text, low, high, strict="=" not in sign)
    if match := _RANGE.fullmatch(text):
        return Published(text, _number(match[1]), _number(match[2]))
    if match := _PLAIN.fullmatch(text):
        value = _number(match[1])
        spread = None if match[2] is None else _number(match[2])
        return Published(text, value, value, spread=spread, rounding=_half_unit(match[1]))
    return Published(text, word=text)


@dataclass(frozen=True)
class Tolerance:
    """How far from a published figure ours may be: so much, or so many standard errors."""

    absolute: float = 0.0
    errors: float = 0.0

    @classmethod
    def read(cls, given: object) -> Tolerance:
        """``0.05`` or ``"2 se"``."""
        if isinstance(given, int | float) and not isinstance(given, bool) and given >= 0:
            return cls(absolute=float(given))
        if isinstance(given, str) and (match := _ERRORS.fullmatch(given.strip())):
            return cls(errors=_number(match[1]))
        raise InputError(f"a tolerance is a number >= 0 or like '2 se', not {given!r}")

    @property
    def text(self) -> str:
        """For readers."""
        if self.errors:
            return f"{self.errors:g} standard errors of the difference"
        return f"{self.absolute:g}" if self.absolute else "rounding"


@dataclass(frozen=True)
class Spread:
    """What a paper's bracketed numbers are: standard errors, or deviations of so many runs."""

    runs: int = 1

    @classmethod
    def read(cls, given: str) -> Spread:
        """``"sd of 10"`` or ``"se"``."""
        match = _SPREAD.fullmatch(given.strip())
        if match is None:
            raise InputError(f"a spread is 'sd of N' or 'se', not {given!r}")
        return cls(int(match[1] or 1))


def agrees(
    ours: Value, published: Published, tolerance: Tolerance, spread: Spread | None
) -> bool | None:
    """Whether a measured figure is what was published, within the tolerance; None: open.

    Where the paper prints no spread (or nobody knows what it is), its standard error is taken to
    be as large as ours. A limit is no estimate: it is kept, or broken beyond our own standard
    error, or the question is open. So it is with fewer than ``MIN_RUNS`` runs, whose standard error
    says little.
    """
    if published.word is not None or isinstance(ours.value, str):
        return str(ours.value) == published.word
    if not math.isfinite(ours.value):
        return False
    if tolerance.errors and ours.n is not None and ours.n < MIN_RUNS:
        return None
    if published.is_claim:
        return _keeps(ours.value, tolerance.errors * (ours.se or 0.0), published)
    se = theirs = ours.se or 0.0
    if spread is not None and published.spread is not None:
        theirs = published.spread / math.sqrt(spread.runs)
    room = tolerance.absolute + tolerance.errors * math.hypot(se, theirs) + published.rounding
    return abs(ours.value - published.low) <= room + _slack(ours.value, published)


def _keeps(value: float, room: float, claim: Published) -> bool | None:
    """Whether a figure keeps a limit; None where it breaks it by less than chance may."""
    slack = _slack(value, claim)
    inside = claim.low < value < claim.high
    if inside or (not claim.strict and claim.low - slack <= value <= claim.high + slack):
        return True
    return None if claim.low - room < value < claim.high + room else False


def _slack(value: float, published: Published) -> float:
    return _SLACK * max(abs(value), *(abs(x) for x in _limits(published)))


def _limits(published: Published) -> list[float]:
    return [x for x in (published.low, published.high) if math.isfinite(x)]


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _decimals(text: str) -> int:
    match = re.search(_NUMBER, text)
    mantissa = "" if match is None else re.split("[eE]", match[0])[0]
    return len(mantissa.partition(".")[2])


def _half_unit(text: str) -> float:
    mantissa, _, exponent = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - _decimals(mantissa))
