"""A result that has a page. What writes it lies above, and is named by the face of the package."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ClassVar


class Reported:
    """A result with a report; ``_write`` is set in ``eigensieve/__init__.py``, which sees all."""

    _write: ClassVar[Callable[..., None]]

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write the report: one self-contained HTML file."""
        type(self)._write(self, path, title)
