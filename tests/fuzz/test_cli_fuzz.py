"""The command line: whatever is typed, one answer or one line, and an exit code that was told."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from eigensieve.cli.main import COMMANDS, cli
from tests.fuzz.files import csv_bytes
from tests.fuzz.harness import cases, new_folder, tally

FOLDER = new_folder()
DATA = st.data()


@cache
def prepare() -> dict[str, str]:
    """A table, a model of it, and names that lead nowhere."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 4))
    X[:, 1] += 2 * y
    rows = [",".join([*(f"{v:.4f}" for v in row), "uv"[k]]) for row, k in zip(X, y)]
    (FOLDER / "t.csv").write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n")
    (FOLDER / "broken.csv").write_bytes(b"a,b\n1,2,3\n\x00")
    (FOLDER / "names.txt").write_text("a\nb\n")
    quick = ["--k", "2", "--cv", "2", "--repeats", "1", "--jobs", "1"]
    result = run("fit", FOLDER / "t.csv", "--target", "kind", *quick, "--out", FOLDER / "out")
    assert result.exit_code == 0, result.output
    (FOLDER / "broken.json").write_text('{"format": "eigensieve-model"}')
    return {
        "table": str(FOLDER / "t.csv"),
        "model": str(FOLDER / "out" / "model.json"),
        "broken": str(FOLDER / "broken.csv"),
        "damaged": str(FOLDER / "broken.json"),
        "names": str(FOLDER / "names.txt"),
        "nowhere": str(FOLDER / "none.csv"),
        "folder": str(FOLDER),
    }


@contextmanager
def elsewhere() -> Iterator[None]:
    """In an empty folder: a command may write to where it is called."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run(*args: Any) -> Any:
    with elsewhere(), warnings.catch_warnings():
        warnings.simplefilter("error")
        return CliRunner().invoke(cli, [str(arg) for arg in args])


def check(result: Any) -> None:
    """0, or 2 with one line; 1 and a traceback are for what nobody thought of."""
    assert result.exit_code in (0, 2), f"{result.exit_code}: {result.output}"
    tally("refused" if result.exit_code else "answered")
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if result.exit_code == 2 and not result.output.startswith("Usage"):
        last = result.stderr.splitlines()[-1]
        assert last.startswith("error: "), result.output
        assert len(last) > 20


# By command: its arguments, and options with values, good ones and bad ones.
COLUMNS = ["kind"] * 12 + ["a", "none", ""]
SHARED: dict[str, list[str]] = {"--target": COLUMNS, "--transpose": [], "--json": []}
# Where to write: also to what is an input of this command or of others, and to nowhere.
WHERE = ["new", "table", "model", "names", "/nowhere/p.csv", ""]
OPTIONS: dict[str, dict[str, list[str]]] = {
    "predict": {"--out": WHERE, "--transpose": [], "--json": [], "--force": []},
    "export": {"--float32": [], "--json": [], "--force": []},
    "evaluate": SHARED,
    "certify": {
        **SHARED,
        "--features": ["a,b", "a", "b,c", "a,b,c,d", "a,b", "b", "a,a", "zz", ""],
        "--criterion": ["auto", "trace", "logdet", "lambda_max", "x"],
        "--shrinkage": ["0.5", "auto", "0", "1", "2", "x", "nan"],
        "--time-limit": ["1", "0", "-1", "x", "inf"],
        "--ignore": ["a", "d", "none"],
        "--log2": [],
        "--log2-floor": ["1", "0", "-1"],
        "--jobs": ["1", "0"],
        "--features-file": ["names", "nowhere"],
        "--noun": ["genes", ""],
        "--proof": WHERE,
        "--force": [],
    },
    "data": {"list": [], "show": ["iris", "none", ""], "other": []},
    "reproduce": {"--list": []},
    "fit": {
        "--k": ["2", "1", "auto", "9", "0", "x"],
        "--method": ["sparse-lda", "gloss", "anova", "plda", "other"],
        "--solver": ["greedy", "exact", "other"],
        "--criterion": ["trace", "x"],
        "--shrinkage": ["0.5", "auto", "2"],
        "--include": ["a", "none", "a,b,c"],
        "--exclude": ["d", "none", "a,b,c,d"],
        "--balanced": [],
        "--seed": ["1", "-1"],
        "--groups": ["a", "none"],
        "--log2": [],
        "--json": [],
        "--missing": ["median", "error", "x"],
        "--time-limit": ["60", "0", "x"],
    },
}
ARGUMENTS = {"predict": ["model", "table"], "evaluate": ["model", "table"], "export": ["model"],
             "certify": ["table"], "fit": ["table"], "data": [], "reproduce": []}  # fmt: skip


ROLES = ["table", "model", "broken", "damaged", "names", "nowhere", "folder"]


def in_full(line: list[str]) -> list[str]:
    files = prepare()
    return [files.get(word, word) for word in line]


@st.composite
def command_lines(draw: Any, names: tuple[str, ...]) -> list[str]:
    """A command with its arguments, mostly the right ones, and some of its options.

    Files are named by their role; `in_full` puts their paths.
    """
    name = draw(st.sampled_from(names))
    line = [name]
    for role in ARGUMENTS[name]:
        good = draw(st.integers(0, 19))
        line.append(role if good else draw(st.sampled_from(ROLES)))
    if name == "export":
        line.append(draw(st.sampled_from(WHERE)))
    known = OPTIONS[name]
    chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=2, unique=True))
    must = {"certify": ["--target", "--features"], "evaluate": ["--target"]}.get(name, [])
    for option in [*(m for m in must if draw(st.integers(0, 19)) and m not in chosen), *chosen]:
        line.append(option)
        if known[option]:
            line.append(draw(st.sampled_from(known[option])))
    if name == "fit":
        line += [
            "--target",
            draw(st.sampled_from(COLUMNS)),
            "--cv",
            "2",
            "--repeats",
            "1",
        ]
        line += ["--jobs", "1", "--ks", "1,2", "--out", "out"]
    if draw(st.integers(0, 19)) == 19:
        line.insert(draw(st.integers(0, len(line))), draw(st.text(max_size=5)))
    return line


@contextmanager
def no_file_lost(line: list[str]) -> Iterator[None]:
    """Files are replaced by --force only, and those that the command reads not even then."""
    before = {path: path.read_bytes() for path in map(Path, prepare().values()) if path.is_file()}
    yield
    for path, content in before.items():
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
            tally("replaced by force")
            assert "--force" in line, f"{path} was replaced"
            assert is_only_destination(path, line), f"{path} was read and replaced"


def is_only_destination(path: Path, line: list[str]) -> bool:
    """The file is named once, as what is to be written."""
    places = [i for i, word in enumerate(in_full(line)) if word == str(path)]
    if len(places) != 1:
        return False
    return line[places[0] - 1] in ("--out", "--proof") or (line[0], *places) == ("export", 2)


@cases(36, 250)
@given(command_lines(("predict", "evaluate", "certify", "data", "reproduce", "export")))
def test_commands_answer_or_refuse(line: list[str]) -> None:
    if "reproduce" in line and "--list" not in line:
        return  # would run every experiment
    with no_file_lost(line):
        check(run(*in_full(line)))


@cases(4, 20)
@given(command_lines(("fit",)))
def test_fit_answers_or_refuses(line: list[str]) -> None:
    check(run(*in_full(line)))


@cases(36, 200)
@given(csv_bytes(), st.sampled_from(["predict", "evaluate", "certify"]))
def test_commands_on_any_file(data: bytes, name: str) -> None:
    files, path = prepare(), FOLDER / "any.csv"
    path.write_bytes(data)
    line = [name, *([files["model"]] if name != "certify" else []), str(path)]
    line += ["--target", "y"] * (name != "predict") + ["--features", "a"] * (name == "certify")
    check(run(*line))


WORDS = [*COMMANDS, "--help", "-h", "--version", "--json", "--k", "--target", "-", "--", "list"]


@cases(56, 250)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=4))
def test_any_words(words: list[str]) -> None:
    costly = {"demo", "reproduce"} & set(words)
    if costly and not {"--help", "-h"} & set(words):
        words = [word for word in words if word not in costly]
    check(run(*words))
