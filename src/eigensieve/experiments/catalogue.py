"""The experiments there are: found by their TOML files, so that none can be forgotten."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..errors import InputError
from .protocol import Experiment, read_experiment

_HERE = Path(__file__).parent
OWN = "own"  # not a paper: our own questions


@cache
def experiments() -> tuple[Experiment, ...]:
    """All of them, the oldest paper first, our own last."""
    paths = sorted(_HERE.glob("*/*.toml"), key=_order)
    return tuple(read_experiment(path) for path in paths)


def _order(path: Path) -> tuple[bool, str, str, str]:
    paper = path.parent.name
    return paper == OWN, paper[-4:], paper, path.stem


@cache
def paper_title(paper: str) -> str:
    """Authors, title and year: the first line of the folder's docstring."""
    tree = ast.parse((_HERE / paper / "__init__.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or paper).splitlines()[0].rstrip(".")


def find_experiments(names: Iterable[str]) -> list[Experiment]:
    """Those named, by ``paper/name`` or by ``paper``; all, if none is named.

    Examples
    --------
    >>> from eigensieve.experiments.catalogue import find_experiments
    >>> [experiment.name for experiment in find_experiments(["chu2013/table1"])]
    ['chu2013/table1']
    """
    there = experiments()
    wanted = [name.strip().strip("/") for name in names]
    known = {e.name for e in there} | {e.paper for e in there}
    for name in wanted:
        if name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=3)
            hint = f"close: {', '.join(close)}" if close else "see: eigensieve reproduce --list"
            raise InputError(f"no experiment is named {name!r}; {hint}")
    return [e for e in there if not wanted or e.name in wanted or e.paper in wanted]
