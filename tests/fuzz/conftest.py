"""Profiles of the fuzz suite (see harness.py), and the count of cases at the end of a session.

``pytest tests/fuzz`` runs the profile "quick"; ``EIGENSIEVE_FUZZ=long pytest tests/fuzz`` (or
HYPOTHESIS_PROFILE=long) the long one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.fuzz.harness import PROFILE, TALLIES


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Counts travel with the reports, also from xdist's workers."""
    TALLIES.clear()
    try:
        return (yield)
    finally:
        item.user_properties += [("fuzz", (name, dict(n))) for name, n in TALLIES.items()]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tallies: dict[str, Counter[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for kind, value in report.user_properties:
                if kind == "fuzz":
                    tallies.setdefault(value[0], Counter()).update(value[1])
    if not tallies or (PROFILE == "quick" and terminalreporter.verbosity <= 0):
        return
    total = sum(tallies.values(), Counter[str]())
    terminalreporter.section(f"fuzz: {total['cases']:,} cases, profile {PROFILE}")
    for name, n in [*sorted(tallies.items()), ("all", total)]:
        counts = f"{n['cases']:6d} cases {n['answered']:7d} answered {n['refused']:6d} refused"
        terminalreporter.line(f"{name:70s} {counts}")
