"""What holds while an example of the gallery runs."""

from __future__ import annotations

import warnings
from typing import Any

_before: list[Any] = []


def warnings_are_errors(gallery_conf: dict[str, Any], fname: str, when: str) -> None:
    """An example that warns fails, as a test does; Sphinx itself may go on as ever."""
    if when == "before":
        _before.append(warnings.filters[:])
        warnings.simplefilter("error")
    elif _before:
        warnings.filters[:] = _before.pop()
