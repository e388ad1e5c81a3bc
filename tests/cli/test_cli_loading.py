"""Ctrl-C while modules load: the import comes to its end, and the exit code is 130."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import eigensieve.cli
from eigensieve.cli import main
from eigensieve.cli._interrupt import WholeImports
from eigensieve.datasets import loader

NAME = "pressed_while_loading"
# As an extension module does whose parts are imported in C: the reason for the failure is lost.
SOURCE = """
import signal
try:
    signal.raise_signal(signal.SIGINT)
    for _ in range(1000):
        pass
except BaseException:
    raise ImportError("numpy._core.multiarray failed to import") from None
is_whole = True
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module that gets Ctrl-C while it is loaded, and does not bear it."""
    (tmp_path / f"{NAME}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop(NAME, None)


def test_the_library_fails_when_it_is_cut_in_two(library) -> None:
    with pytest.raises(ImportError, match="multiarray"):
        importlib.import_module(NAME)


@pytest.mark.parametrize("rest_s", [60.0, 0.0])
def test_a_library_that_a_command_loads(run, library, monkeypatch, rest_s: float) -> None:
    """Whether much is left to do when it is loaded, or nothing."""
    plain = loader.load_table

    def load_more(name: str) -> object:
        importlib.import_module(NAME)
        time.sleep(rest_s)
        return plain(name)

    monkeypatch.setattr(loader, "load_table", load_more)
    began = time.monotonic()
    result = run("data", "show", "iris", code=130)
    assert result.stderr == "interrupted: nothing was written\n"
    assert sys.modules[NAME].is_whole
    assert time.monotonic() - began < 30
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_library_that_the_module_of_a_command_loads(run, library, monkeypatch, tmp_path) -> None:
    command = (
        "import click, time\nimport {}\n\n@click.command()\ndef late_command(): time.sleep(60)\n"
    )
    (tmp_path / "late.py").write_text(command.format(NAME))
    monkeypatch.setitem(main.COMMANDS, "late", "")
    monkeypatch.setattr(eigensieve.cli, "__path__", [*eigensieve.cli.__path__, str(tmp_path)])
    try:
        assert run("late", code=130).stderr == "interrupted: nothing was written\n"
    finally:
        sys.modules.pop("eigensieve.cli.late", None)


def test_an_import_that_fails_by_itself_is_told_as_ever(run, monkeypatch) -> None:
    def fail(name: str) -> object:
        raise ImportError("no such thing")

    monkeypatch.setattr(loader, "load_table", fail)
    assert "failed: ImportError: no such thing" in run("data", "show", "iris", code=1).stderr


def press(then: Callable[[], object]) -> None:
    signal.raise_signal(signal.SIGINT)
    then()


def test_elsewhere_it_is_raised_at_once() -> None:
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt), WholeImports():
        press(lambda: done.append(1))
    assert done == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_calls_the_program_may_be_an_import(library, tmp_path: Path) -> None:
    """Only what is loaded within counts: else Ctrl-C would wait for the end of the program."""
    within = "from eigensieve.cli._interrupt import WholeImports\nimport signal\n"
    within += "with WholeImports():\n    signal.raise_signal(signal.SIGINT)\n"
    (tmp_path / f"{NAME}.py").write_text(within)
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module(NAME)


def test_the_handler_of_somebody_else_stays() -> None:
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        with WholeImports():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert pressed == [1]


def test_a_thread_of_the_user_runs_commands() -> None:
    done: list[int] = []

    def use() -> None:
        with WholeImports():
            done.append(1)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert done == [1]


def test_in_a_process_of_its_own(library, tmp_path: Path) -> None:
    code = (
        "import importlib, time\nfrom eigensieve.datasets import loader\n"
        f"def load(name):\n    importlib.import_module({NAME!r})\n    time.sleep(60)\n"
        "loader.load_table = load\nfrom eigensieve.cli.main import main\nmain()\n"
    )
    line = [sys.executable, "-c", code, "data", "show", "iris"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (130, "interrupted: nothing was written\n")
