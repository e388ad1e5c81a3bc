"""Code blocks of the README and the docs are tests, and tests use all cores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
).pytest()


@pytest.hookimpl(tryfirst=True)  # before xdist counts its workers
def pytest_cmdline_main(config: pytest.Config) -> None:
    """``pytest``, and ``pytest FOLDER``, use every core; files that are named run in one process.

    ``-n`` says otherwise, and so does a debugger. Workers leave the cores to one another.
    """
    option = config.option
    inside = hasattr(config, "workerinput") or "PYTEST_XDIST_WORKER" in os.environ
    if inside or option.usepdb or not hasattr(option, "numprocesses"):  # there is no xdist
        return
    named = [Path(arg.partition("::")[0]) for arg in option.file_or_dir]
    if option.numprocesses is None and not (named and all(path.is_file() for path in named)):
        option.numprocesses = count_cores()
    if option.numprocesses:
        for library in ("OPENBLAS", "OMP", "MKL"):
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def count_cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With several workers the tests of a file stay together: the blocks of a page build on one
    another, and what a file shares (a cluster, a browser, a fitted study) is made once.

    In the order of collection, which ends with small files: all workers are busy to the end.
    """
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)
