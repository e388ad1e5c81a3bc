"""One self-contained HTML page.

The names are loaded on first use (PEP 562): matplotlib is imported with the first page.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {"write_selector_report": "selector"}

__all__ = ["write_selector_report"]

if TYPE_CHECKING:
    from .selector import write_selector_report


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
