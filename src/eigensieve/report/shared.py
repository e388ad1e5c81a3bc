"""What every page has: the template's settings, the cards, and the way to disk."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render_page(template: str, **content: Any) -> str:
    """The page as HTML; all text is escaped, and a word that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("eigensieve.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(content)


def card(label: str, value: str, *details: str) -> dict[str, Any]:
    """One of the numbers at the top."""
    return {"label": label, "value": value, "details": details}


def write_report(html: str, path: str | os.PathLike[str]) -> None:
    """Write the page; a crash leaves the old file or the new one, never half of one."""
    path = Path(path)
    temporary = path.with_name(f".eigensieve-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.write(html)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
