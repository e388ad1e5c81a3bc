"""Shared fixtures, and the rule that no test skips in silence.

Where EIGENSIEVE_SKIPPED names a file, it gets the tests that missed a library or a browser, a line
each: ``pytest @FILE`` runs them again.

A test that needs the data folder asks for ``data_dir`` or ``load_data``. The marker ``data`` then
comes by itself; other tests do not see the folder, as where there is none. A test that needs a
browser carries ``@pytest.mark.browser``; a test that needs a library asks for it by
``importorskip``. Where EIGENSIEVE_REQUIRE_DATA is set (CI), a skipped data test fails the session.
"""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Dataset = tuple[np.ndarray, np.ndarray, np.ndarray]
Report = pytest.CollectReport | pytest.TestReport

NEEDS = ("data", "browser")
# Reasons of tests that miss a library: pytest's own words, and those of this suite.
MISSING_LIBRARY = re.compile(r"could not import '(\w+)|NO [A-Z-]+: [\w.\[\]-]+ is not installed")


def data_required() -> bool:
    return os.environ.get("EIGENSIEVE_REQUIRE_DATA", "0") not in ("", "0")


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_works() -> None:
    """A shell starts background jobs with Ctrl-C ignored: tests that press it would never end."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_data_unasked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What passes beside the data folder passes without it, too."""
    if "data_dir" not in request.fixturenames:
        monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The data folder; without one the test skips, or fails where data are required."""
    given = os.environ.get("EIGENSIEVE_DATA")
    if given and Path(given).is_dir():
        return Path(given)
    reason = f"EIGENSIEVE_DATA names no folder ({given})" if given else "EIGENSIEVE_DATA is not set"
    if data_required():
        pytest.fail(f"{reason}, and EIGENSIEVE_REQUIRE_DATA is set", pytrace=False)
    pytest.skip(f"NO DATA: {reason}")


@pytest.fixture(scope="session")
def load_data(data_dir: Path) -> Callable[[str], Dataset]:
    """``load_data("colon")`` gives X (float64), y (labels) and the feature names."""

    def load(name: str) -> Dataset:
        with np.load(data_dir / f"{name}.npz") as file:
            return file["X"].astype(np.float64), file["y"], file["feature_names"]

    return load


@pytest.hookimpl(tryfirst=True)  # before pytest applies -m, which must see the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        # Properties travel with the reports from xdist's workers; markers do not.
        item.user_properties += [("needs", need) for need in NEEDS if item.get_closest_marker(need)]


def skipped_reasons(config: pytest.Config, need: str) -> Counter[str]:
    """Why tests that need ``need`` were skipped, and how many for each reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker of xdist: only the controller judges the session
        return Counter()
    skipped = (r for r in reporter.stats.get("skipped", []) if need in needs(r))
    return Counter(skip_reason(report) for report in skipped)


def skip_reason(report: Report) -> str:
    return str(report.longrepr[2]).removeprefix("Skipped: ")


def needs(report: Report) -> list[object]:
    """What a skipped test would have needed."""
    marked = [value for name, value in properties(report) if name == "needs"]
    return marked or ["library"] * bool(MISSING_LIBRARY.match(skip_reason(report)))


def properties(report: Report) -> list[tuple[str, object]]:
    return [tuple(pair) for pair in getattr(report, "user_properties", ())]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    keep_skipped(session.config)
    if (
        session.exitstatus == pytest.ExitCode.OK
        and data_required()
        and skipped_reasons(session.config, "data")
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def keep_skipped(config: pytest.Config) -> None:
    """Write down what can be run again as soon as what it misses is there."""
    file = os.environ.get("EIGENSIEVE_SKIPPED")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if file and reporter:
        skipped = (
            r for r in reporter.stats.get("skipped", []) if {"library", "browser"} & {*needs(r)}
        )
        Path(file).write_text("".join(f"{report.nodeid}\n" for report in skipped), encoding="utf-8")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for need in (*NEEDS, "library"):
        reasons = skipped_reasons(config, need)
        if not reasons:
            continue
        count = reasons.total()
        terminalreporter.section(f"{count} {need} tests SKIPPED", yellow=True, bold=True)
        for reason, times in reasons.most_common():
            terminalreporter.line(f"{times} x {reason}")
        if need == "library" and any("torch" in reason for reason in reasons):
            terminalreporter.line("NO TORCH: nothing on devices was tested", red=True, bold=True)
            terminalreporter.line("pip install torch==2.13.0")
        if need == "data" and data_required():
            terminalreporter.line(
                f"FAILED: EIGENSIEVE_REQUIRE_DATA is set, yet {count} data tests were skipped",
                red=True,
                bold=True,
            )
