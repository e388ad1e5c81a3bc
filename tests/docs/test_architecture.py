"""The ways of a table that docs/develop/architecture.md tells are those of the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "develop" / "architecture.md").read_text(encoding="utf-8")
WAYS = PAGE.partition("## The way of one table")[2].partition("\n## ")[0]
STOPS = re.findall(r"`([\w/]+/\w+\.py)` (`[\w.]+`(?:, `[\w.]+`)*)", WAYS)


def test_every_way_has_at_most_twelve_stops() -> None:
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", WAYS, flags=re.MULTILINE)]
    assert numbers.count(1) == 4  # pencil, scoring, pursuit, Q-alpha
    assert max(numbers) <= 12


@pytest.mark.parametrize(("file", "names"), STOPS, ids=[file for file, _ in STOPS])
def test_a_stop_is_there(file: str, names: str) -> None:
    source = (ROOT / "src" / "eigensieve" / file).read_text(encoding="utf-8")
    for name in re.findall(r"[\w.]+", names):
        assert re.search(rf"(def|class) {name.rpartition('.')[2]}\b", source), f"{name} of {file}"
