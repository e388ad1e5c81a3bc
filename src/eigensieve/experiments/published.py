"""Published figures as they are printed, and whether ours agree with them.

``"83.87 (4.81)"`` is a number with its spread, ``">= 0.9"`` and ``"80 to 90"`` are claims, anything
else is a word. Where a paper has words and we read a number into them, both are shown:
``'"much better", read as > 5'``. How far ours may be away is stated in the experiment's TOML file.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from ..errors import InputError
from .values import Value

_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PLAIN = re.compile(rf"~?\s*({_NUMBER})\s*(?:\(({_NUMBER})\))?")
_LIMIT = re.compile(rf"(>=|<=|>|<)\s*({_NUMBER})")
_RANGE = re.compile(rf"({_NUMBER})\s+to\s+({_NUMBER})")
_READ = re.compile(r'"[^"]+", read as (.+)')
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
        As it is printed, with our reading where the paper has words only.
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
        return self.word is None and not self.is_figure

    @property
    def is_figure(self) -> bool:
        """A number that ours is compared with."""
        return self.low == self.high

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
    >>> read_published('"nearly all", read as >= 0.9').low
    0.9
    """
    text = text.strip()
    if match := _READ.fullmatch(text):
        reading = read_published(match[1])
        if not reading.is_claim:
            raise InputError(f"words are read as a limit or a range, not as {match[1]!r}")
        return replace(reading, text=text)
    if match := _LIMIT.fullmatch(text):
        sign, limit = match[1], _number(match[2])
        low, high = (limit, math.inf) if sign[0] == ">" else (-math.inf, limit)
        return Published(text, low, high, strict="=" not in sign)
    if match := _RANGE.fullmatch(text):
        low, high = _number(match[1]), _number(match[2])
        if not low < high:
            raise InputError(f"{text!r}: a range goes from the smaller number to the larger one")
        return Published(text, low, high)
    if match := _PLAIN.fullmatch(text):
        value = _number(match[1])
        if text.startswith("~") and value == 0:
            raise InputError(f"{text!r} has no digit that tells how near is near: give a range")
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

    def describe(self, published: Published | None) -> str:
        """For readers: what it means for such a figure."""
        if published is not None and published.word is not None:
            return "the same word"
        if published is not None and published.is_claim:
            clear = f"clear of the limit by {self.errors:g} standard errors"
            return clear if self.errors else "kept or broken as it stands"
        rounding = "half a unit of the last printed digit"
        if self.errors:
            return f"{self.errors:g} standard errors of the difference, and {rounding}"
        return f"{self.absolute:g}, and {rounding}" if self.absolute else rounding


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
    """Whether ours is what is published; None if that cannot be told.

    Fewer than ``MIN_RUNS`` runs tell nothing. A figure has a sampling error of its own: the paper's
    spread where it prints one and its meaning is known, else it is taken to be as large as ours. A
    limit has none: it is kept, or broken, only by a value that is clear of it by so many of our
    standard errors. With a tolerance that is no number of standard errors it holds as it stands.
    """
    if ours.n is not None and ours.n < MIN_RUNS:
        return None
    if published.word is not None or isinstance(ours.value, str):
        return str(ours.value) == published.word
    if not math.isfinite(ours.value):
        return False
    se = theirs = ours.se or 0.0
    if published.is_claim:
        return _keeps(ours.value, tolerance.errors * se, published)
    if spread is not None and published.spread is not None:
        theirs = published.spread / math.sqrt(spread.runs)
    room = tolerance.absolute + tolerance.errors * math.hypot(se, theirs) + published.rounding
    return abs(ours.value - published.low) <= room + _slack(ours.value, published)


def _keeps(value: float, room: float, claim: Published) -> bool | None:
    """Whether a limit is kept; None where the value is not clear of it by this room."""
    margin = min(value - claim.low, claim.high - value)
    if abs(margin) <= _slack(value, claim):
        margin = 0.0
    if margin >= room and (margin > 0 or not claim.strict):
        return True
    return False if -margin >= room else None


def same_figure(one: Value, other: Value, tolerance: Tolerance) -> bool:
    """Whether two of our own figures are the same, by the tolerance of a published one."""
    if isinstance(one.value, str) or isinstance(other.value, str):
        return one.value == other.value
    room = tolerance.absolute + tolerance.errors * math.hypot(one.se or 0.0, other.se or 0.0)
    return math.isclose(one.value, other.value, rel_tol=_SLACK, abs_tol=room)


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
