"""matplotlib displays, each usable alone and in the report.

The names are loaded on first use (PEP 562): matplotlib is imported with the first display.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "AlphaDisplay": "alpha",
    "CVPathDisplay": "cv_path",
    "ComparisonDisplay": "comparison",
    "CorrelationCircleDisplay": "correlation_circle",
    "DotsDisplay": "dots",
    "GapDisplay": "gap",
    "LoadingsDisplay": "loadings",
    "PanelsDisplay": "panels",
    "ProjectionDisplay": "projection",
    "ReliabilityDisplay": "reliability",
    "StabilityDisplay": "stability",
}

__all__ = [
    "AlphaDisplay",
    "CVPathDisplay",
    "ComparisonDisplay",
    "CorrelationCircleDisplay",
    "DotsDisplay",
    "GapDisplay",
    "LoadingsDisplay",
    "PanelsDisplay",
    "ProjectionDisplay",
    "ReliabilityDisplay",
    "StabilityDisplay",
]

if TYPE_CHECKING:
    from .alpha import AlphaDisplay
    from .comparison import ComparisonDisplay
    from .correlation_circle import CorrelationCircleDisplay
    from .cv_path import CVPathDisplay
    from .dots import DotsDisplay
    from .gap import GapDisplay
    from .loadings import LoadingsDisplay
    from .panels import PanelsDisplay
    from .projection import ProjectionDisplay
    from .reliability import ReliabilityDisplay
    from .stability import StabilityDisplay


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
