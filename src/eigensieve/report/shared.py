"""What every page has: the template's settings, the cards, and the way to disk."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ..io.replacing import replace_file
from ..plots._style import printable, shorten
from . import words

_FILTERS = {
    "class_name": lambda value: type(value).__name__,
    "commas": "{:,}".format,
    "count": words.count,
    "decimals": words.decimals,
    "difference": words.difference,
    "excess": words.excess,
    "interval": words.interval,
    "less": words.less,
    "kernel_name": words.kernel_name,
    "listed": words.listed,
    "number": words.number,
    "parameters": words.parameters,
    "percent": words.percent,
    "percent_or_dash": words.percent_or_dash,
    "p_value": words.p_value,
    "printable": printable,
    "shorten": shorten,
    "significant": words.significant,
    "tally": words.tally,
    "whole_percent": words.whole_percent,
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render_page(template: str, *, scripts: Sequence[str] = (), **content: Any) -> str:
    """The page as HTML; all text is escaped, and a word that is missing is an error.

    ``scripts`` names files of this folder. They are put into the page as they are, without any
    data, and the page's policy allows exactly this text to run, nothing else.
    """
    environment = _environment()
    assert environment.loader is not None
    source = "".join(environment.loader.get_source(environment, name)[0] for name in scripts)
    policy = f"{_POLICY}; script-src {_digest(source)}" if source else _POLICY
    return environment.get_template(template).render(
        content, script=Markup(source), policy=Markup(policy)
    )


@cache
def _environment() -> Environment:
    """Where templates are compiled: once, which takes longer than to fill them in."""
    environment = Environment(
        loader=PackageLoader("eigensieve.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    environment.globals |= {"infinity": math.inf, "versions": words.versions}
    return environment


def _digest(source: str) -> str:
    """The script as a content security policy names it."""
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def card(label: str, value: str, *details: str) -> dict[str, Any]:
    """One of the numbers at the top."""
    return {"label": label, "value": value, "details": details}


def write_report(html: str, path: str | os.PathLike[str]) -> None:
    """Write the page; a crash leaves the old file or the new one, never half of one."""
    replace_file(Path(path), html)
