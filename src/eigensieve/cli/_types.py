"""Kinds of option values that click does not have."""

from __future__ import annotations

import math
from typing import Any

import click


class WholeOr(click.ParamType):
    """A word, or a whole number of at least so many."""

    def __init__(self, word: str, least: int = 1) -> None:
        self.word, self.least = word, least
        self.name = f"N|{word}"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> int | str:
        if value == self.word or isinstance(value, int):
            return value
        try:
            number = int(value)
        except ValueError:
            number = self.least - 1
        if number < self.least:
            allowed = f"a whole number of at least {self.least}"
            self.fail(f"{value!r} is neither {self.word} nor {allowed}.", param, ctx)
        return number


class NumberOr(click.ParamType):
    """One of some words, or a finite number of at least 0."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.name = "|".join((*words, "N"))

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float | str:
        if value in self.words:
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            words = ", ".join(self.words)
            self.fail(
                f"{value!r} is none of {words}, and no finite number of at least 0.", param, ctx
            )
        return number


class ShareOrAuto(click.ParamType):
    """``auto``, or a number from 0 to 1."""

    name = "0..1|auto"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float | str:
        if value == "auto":
            return "auto"
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number <= 1:
            self.fail(f"{value!r} is neither auto nor a number from 0 to 1.", param, ctx)
        return number


class Shares(ShareOrAuto):
    """One or several of ``auto`` and numbers from 0 to 1, separated by commas."""

    name = "S[,S]"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Any:
        if isinstance(value, list):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        return list(dict.fromkeys(super(Shares, self).convert(part, param, ctx) for part in parts))


class Percent(click.ParamType):
    """``1%``, or the share 0.01; whole numbers need the sign, as 1 could be either."""

    name = "P%"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        is_percent = text.endswith("%")
        try:
            number = float(text.rstrip("% ")) / (100 if is_percent else 1)
        except ValueError:
            number = math.nan
        if not 0 <= number <= 1 or (number == 1 and not is_percent):
            self.fail(f"{value!r} is neither a percentage such as 1% nor a share such as 0.01.")
        return number


class WholeNumbers(click.ParamType):
    """Whole numbers of at least one, separated by commas."""

    name = "N,N"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> list[int]:
        if isinstance(value, list):
            return value
        try:
            numbers = [int(part) for part in str(value).split(",")]
        except ValueError:
            numbers = [0]
        if min(numbers) < 1:
            self.fail(f"{value!r} is no list such as 1,2,5 (whole numbers from 1 on).", param, ctx)
        return sorted(set(numbers))


class NumberOfGroup(click.ParamType):
    """``2`` for each group, or ``kinases=2`` for one: a pair of a name, or None, and a number."""

    name = "N|GROUP=N"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> tuple[str | None, int]:
        if isinstance(value, tuple):
            return value
        group, sign, number = str(value).rpartition("=")
        if not number.strip().isdecimal() or (sign and not group.strip()):
            allowed = "a whole number of at least 0, nor one after a group, as in kinases=2"
            self.fail(f"{value!r} is neither {allowed}.", param, ctx)
        return group.strip() or None, int(number)


class Positive(click.ParamType):
    """A finite number above 0 (click's own range lets nan pass)."""

    name = "number"
    allowed = "a number above 0"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not self.allows(number):
            self.fail(f"{value!r} is not {self.allowed}.", param, ctx)
        return number

    def allows(self, number: float) -> bool:
        return 0 < number < math.inf


class NotNegative(Positive):
    """A finite number of at least 0."""

    allowed = "a number of at least 0"

    def allows(self, number: float) -> bool:
        return 0 <= number < math.inf
