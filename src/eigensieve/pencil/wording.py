"""Numbers in words: a proved limit must stay true when it is rounded."""

from __future__ import annotations

import math


def rounded_up(value: float) -> str:
    """Two digits, never less than the value."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    # the small allowance keeps round-off from turning 25 into 26
    return f"{math.ceil(value * 10.0**digits - 1e-9) / 10.0**digits:.6g}"


def rounded_down(value: float) -> str:
    """Two digits, never more than the value: what was found, not what is hoped for."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    return f"{math.floor(value * 10.0**digits + 1e-9) / 10.0**digits:.6g}"
