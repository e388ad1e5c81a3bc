"""The group: help, exit codes, and the one place that decides them."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from eigensieve.cli.main import COMMANDS, cli, explain
from eigensieve.errors import InputError, MissingExtraError, ModelFileError, VerificationError
from tests.cli.files import CHECKPOINT, without_progress

SCRIPT = [sys.executable, "-c", "from eigensieve.cli.main import main; main()"]


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_the_group_is_that_of_the_commands(name: str) -> None:
    stem = name.replace("-", "_")
    module = importlib.import_module(f"eigensieve.cli.{stem}")
    command: click.Command = getattr(module, f"{stem}_command")
    first = " ".join((command.help or "").split("\n\n")[0].split())
    assert COMMANDS[name] == first.replace("from TABLE", "from a table")
    assert command.name == name


def test_help_lists_every_command(run) -> None:
    stdout = run("--help").stdout
    assert all(f"\n  {name} " in stdout for name in COMMANDS)


@pytest.mark.parametrize("name", [*COMMANDS, "data list", "data show"])
def test_help_of_commands(run, name: str) -> None:
    assert "Usage:" in run(*name.split(), "--help").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_loads_nothing_heavy(name: str) -> None:
    probe = (
        "import sys\nfrom eigensieve.cli.main import main\n"
        f"sys.argv = ['eigensieve', '{name}', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'sklearn', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("[]\n"), done.stderr


def test_unknown_command_gets_a_hint(run) -> None:
    result = run("fti", code=2)
    assert "Did you mean fit?" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("k is\n 0"), 2, "error: k is 0"),
        (MissingExtraError("pyarrow", "parquet"), 2, "error: pyarrow is not installed"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.csv"), 2, "error: a.csv: No such file"),
        (OSError("odd"), 2, "error: odd"),
        (OSError(errno.ENOSPC, "No space", "a.csv"), 1, "failed: a.csv: No space"),
        (OSError(errno.EDQUOT, "Quota"), 1, "failed: Quota"),
        (caused_by(ModelFileError("m: full"), OSError(errno.EIO, "IO")), 1, "failed: m: full"),
        (caused_by(ModelFileError("m: bad"), OSError(errno.EACCES, "No")), 2, "error: m: bad"),
        (VerificationError("off"), 1, "failed: VerificationError: off"),
        (ZeroDivisionError("by zero"), 1, "failed: ZeroDivisionError: by zero"),
        (MemoryError(), 1, "failed: not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted: nothing was written"),
        (KeyboardInterrupt("half done"), 130, "interrupted: half done"),
    ],
)
def test_every_kind_of_exception_has_its_code(error: BaseException, code: int, line: str) -> None:
    found, said = explain(error)
    assert (found, said[: len(line)]) == (code, line)
    assert "\n" not in said


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("eigensieve.datasets.loader.load_table", fail)


@pytest.mark.usefixtures("broken")
def test_an_unexpected_error_is_one_line(run) -> None:
    result = run("data", "show", "iris", code=1)
    assert result.stderr.startswith("failed: ZeroDivisionError: inside")
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("by", ["option", "variable"])
def test_debug_shows_the_traceback(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "variable":
        monkeypatch.setenv("EIGENSIEVE_DEBUG", "1")
    args = ["--debug"] if by == "option" else []
    result = CliRunner().invoke(cli, [*args, "data", "show", "iris"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_a_closed_pipe_is_no_drama(wine_model: Path) -> None:
    table = wine_model.parents[1] / "train.csv"
    args = [*SCRIPT, "predict", str(wine_model), str(table)]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(args, stdout=closed, stderr=subprocess.PIPE, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("out", ["stdout", "file"])
def test_a_full_disk_is_a_failure(wine_model: Path, out: str) -> None:
    args = [*SCRIPT, "predict", str(wine_model), str(wine_model.parents[1] / "train.csv")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            args if out == "stdout" else [*args, "--out", "/dev/full"],
            stdout=full if out == "stdout" else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("failed: ")
    assert Path("/dev/full").is_char_device()


def test_names_the_terminal_cannot_show(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = "".join(f"{i},{i % 3},{'ab'[i > 9]}\n" for i in range(20))
    table.write_text("größe,數,y\n" + rows, encoding="utf-8")
    done = subprocess.run(
        [*SCRIPT, "fit", str(table), "--target", "y", "--k", "2", "--out", str(tmp_path / "o")],
        capture_output=True,
        timeout=60,
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
    )
    assert done.returncode == 0, done.stderr
    assert "größe".encode("latin-1") in done.stdout
    assert rb"\u6578" in done.stdout


def test_ctrl_c_ends_a_fit_with_130(noise_npz: Path) -> None:
    out = noise_npz.parent / "out"
    args = [*SCRIPT, "fit", str(noise_npz), "--target", "y", "--out", str(out)]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        assert job.stderr.readline().startswith("note:")  # cross-validation begins
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        stdout, stderr = job.communicate(timeout=60)
    assert job.returncode == 130, stderr
    assert stdout == ""
    (line,) = without_progress(stderr)
    assert line.startswith("interrupted: ")
    assert [path.name for path in out.iterdir()] == [CHECKPOINT]


def test_ctrl_c_never_aborts_the_interpreter(noise_npz: Path) -> None:
    """At whatever moment: 130, or 0 if it was too late. A thread in compiled code would abort."""
    codes = []
    for i in (0, 1, 3, 5):
        out = noise_npz.parent / f"out{i}"
        args = [*SCRIPT, "fit", str(noise_npz), "--target", "y", "--jobs", "2", "--out", str(out)]
        with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
            assert job.stderr is not None
            job.stderr.readline()  # the work begins
            time.sleep(0.3 * i)
            job.send_signal(signal.SIGINT)
            job.communicate(timeout=60)
        codes.append(job.returncode)
    assert set(codes) <= {0, 130}, codes
    assert 130 in codes
