"""What an experiment's TOML file says: protocol, published figures, tolerances."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .published import Published, Spread, Tolerance, read_published
from .values import Place

LEVELS = ("full", "quick", "smoke")
KINDS = ("reproduction", "analogue", "own")
_TEXTS = ("title", "about", "kind", "spread")
_TABLES = ("protocol", "quick", "smoke", "tolerance", "digits", "published", "checked",
           "cannot_be_had", "why")  # fmt: skip
_KEYS = {*_TEXTS, *_TABLES, "data", "alone"}
DEFAULT_TOLERANCE = "2 se"


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper: where it is measured, and what is published.

    Attributes
    ----------
    name : str
        ``paper/name``; the module ``eigensieve.experiments.paper.name`` measures it.
    title, about, kind : str
    data : tuple of str
        Data sets that it needs.
    alone : bool
        Whether its tasks are timed, and run one after the other.
    protocols : dict
        The parameters of every level.
    published, checked : dict
        Figures by (row, column).
    cannot_be_had, why : dict
        Reasons by ``row``, ``row | column`` or ``| column``.
    """

    name: str
    title: str
    about: str
    kind: str
    data: tuple[str, ...]
    alone: bool
    protocols: Mapping[str, Mapping[str, Any]]
    tolerances: Mapping[str, Tolerance]
    digits: Mapping[str, int]
    published: Mapping[Place, Published]
    checked: Mapping[Place, Published]
    cannot_be_had: Mapping[str, str]
    why: Mapping[str, str]
    spread: Spread | None

    @property
    def paper(self) -> str:
        """The folder it lies in."""
        return self.name.partition("/")[0]

    @property
    def module(self) -> str:
        """The module that measures it."""
        return f"{__package__}.{self.name.replace('/', '.')}"

    def tolerance(self, column: str) -> Tolerance:
        """How far a figure of this column may be from the published one."""
        return self.tolerances.get(column, self.tolerances["default"])


def read_experiment(path: Path) -> Experiment:
    """Read one TOML file; a key that means nothing is an error, not a silence."""
    name = f"{path.parent.name}/{path.stem}"
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        return _make(name, given)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, InputError) as error:
        raise InputError(f"{path.name} of {path.parent.name}: {error}") from error


def _make(name: str, given: dict[str, Any]) -> Experiment:
    unknown = sorted(given.keys() - _KEYS)
    if unknown:
        raise InputError(f"unknown: {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    kind = given.get("kind", "reproduction")
    if kind not in KINDS:
        raise InputError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    protocol = given["protocol"]
    for level in LEVELS[1:]:
        strange = sorted(given.get(level, {}).keys() - protocol.keys())
        if strange:
            raise InputError(f"[{level}] overrides what [protocol] has not: {', '.join(strange)}")
    tolerance = {"default": DEFAULT_TOLERANCE, **given.get("tolerance", {})}
    return Experiment(
        name=name,
        title=given["title"],
        about=_one_line(given["about"]),
        kind=kind,
        data=tuple(given.get("data", ())),
        alone=given.get("alone", False),
        protocols={level: protocol | given.get(level, {}) for level in LEVELS},
        tolerances={column: Tolerance.read(value) for column, value in tolerance.items()},
        digits=given.get("digits", {}),
        published=_figures(given.get("published", {})),
        checked=_figures(given.get("checked", {})),
        cannot_be_had=_texts(given.get("cannot_be_had", {})),
        why=_texts(given.get("why", {})),
        spread=Spread.read(given["spread"]) if "spread" in given else None,
    )


def _texts(given: Mapping[str, str]) -> dict[str, str]:
    return {key: _one_line(text) for key, text in given.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _figures(given: Mapping[str, Mapping[str, str]]) -> dict[Place, Published]:
    return {
        (row, column): read_published(text)
        for row, columns in given.items()
        for column, text in columns.items()
    }
