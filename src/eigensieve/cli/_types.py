"""Kinds of option values that click does not have."""

from __future__ import annotations

import math
from typing import Any

import click


class WholeOrAuto(click.ParamType):
    """``auto``, or a whole number of at least one."""

    name = "N|auto"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> int | str:
        if value == "auto" or isinstance(value, int):
            return value
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r} is neither auto nor a whole number of at least 1.", param, ctx)
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


class FoldsOrLoo(click.ParamType):
    """``loo``, or a whole number of at least two."""

    name = "N|loo"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> int | str:
        if value == "loo" or isinstance(value, int):
            return value
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 2:
            self.fail(f"{value!r} is neither loo nor a whole number of at least 2.", param, ctx)
        return number


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
