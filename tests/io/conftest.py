"""Files of tables and of models, and the careful reader alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eigensieve.io import _text
from eigensieve.io.model import save_model
from tests.io.models import make
from tests.io.reading import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return _write


@pytest.fixture
def careful(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def switch() -> None:
        def refuse(*args: object) -> None:
            raise ValueError

        monkeypatch.setattr(_text, "_loadtxt", refuse)

    return switch


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_model(make(), tmp_path / "model.json")
    return tmp_path / "model.json"
