"""Numbers in words: a proved limit must stay true when it is rounded."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context

ROUND_OFF = 1e-9  # a share this small is 0
MAX_RATIO_IN_PERCENT = 10.0  # from there on percentages are hard to read


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """'1 feature', '3 features', '1,024 classes'."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def percent(fraction: float) -> str:
    """One decimal, 4.4 %; more where that would read 0 or 100 and is neither: 0.03 %, 99.97 %."""
    value = 100 * fraction
    away = min(abs(value), abs(100 - value))  # from 0, or from 100
    digits = 1
    if 100 * ROUND_OFF < away < 0.05:
        digits = -math.floor(math.log10(away))
    return f"{value + 0.0 if abs(value) > 100 * ROUND_OFF else 0.0:.{digits}f} %"


def rounded_up(value: float) -> str:
    """Two digits, never less than the value."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    # the small allowance keeps round-off from turning 25 into 26
    return f"{math.ceil(value * 10.0**digits - 1e-9) / 10.0**digits:.6g}"


def above(bound: float, score: float) -> str:
    """How far a bound is above a positive score: '4.1 % above the score', '15 times the score'."""
    ratio = bound / score
    if ratio > MAX_RATIO_IN_PERCENT:
        return f"{rounded_up(ratio)} times the score"
    return f"{rounded_up(100 * (ratio - 1))} % above the score"


def rounded(value: float) -> str:
    """Three digits, to the nearest: what is known, no limit."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def at_least(value: float) -> str:
    """Four digits, never less than the value, which may be negative."""
    above = Context(prec=4, rounding=ROUND_CEILING).create_decimal_from_float(value + 0.0)
    return f"{float(above):.4g}"


def rounded_down(value: float) -> str:
    """Two digits, never more than the value: what was found, not what is hoped for."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    return f"{math.floor(value * 10.0**digits + 1e-9) / 10.0**digits:.6g}"
