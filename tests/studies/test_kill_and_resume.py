"""A study that is killed again and again ends with the same bytes as one that is left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies.whole import as_bytes, plain_study

KILLS = 12
LONGEST = 0.5  # seconds until a kill

if not hasattr(os, "fork"):
    pytest.skip("processes are not forked here", allow_module_level=True)


class Server:
    """Starts studies and kills them: see killed_run.py."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.checkpoint, self.result = folder / "study.jsonl", folder / "result.json"

    def run(self, **end: Any) -> str:
        files = {"checkpoint": str(self.checkpoint), "result": str(self.result)}
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps({**files, 'n_jobs': 1, **end})}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().strip()
        return self._answer() if answer == "ready" else answer

    def finish(self) -> bytes:
        """What the study says when it is left alone at last."""
        assert self.run() == "done"
        return self.result.read_bytes()


@pytest.fixture(scope="module")
def process() -> Iterator[subprocess.Popen[str]]:
    root = Path(__file__).parents[2]
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_run.py"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:  # fmt: skip
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def undisturbed() -> bytes:
    return as_bytes(plain_study())


def test_killed_at_random_moments(process, tmp_path, undisturbed) -> None:
    server = Server(process, tmp_path)
    rng = np.random.default_rng(0)
    delays = [0.0, 0.001, 0.005, 0.02, *rng.uniform(0.02, LONGEST, size=400).tolist()]
    kills = 0
    for i, delay in enumerate(delays):
        if server.run(delay=delay, n_jobs=1 + i % 2) == "killed":
            kills += 1
        else:
            assert server.result.read_bytes() == undisturbed
            server.checkpoint.unlink()  # it came to its end: from the beginning
        if kills == KILLS:
            break
    assert kills == KILLS
    assert server.finish() == undisturbed


def test_killed_while_writing(process, tmp_path, undisturbed) -> None:
    server = Server(process, tmp_path)
    for line in (0, 0, 1, 2, 5, 9):
        assert server.run(tear=line) == "killed"
    before = server.checkpoint.read_bytes()
    assert len(before.splitlines()) > 10
    assert not before.endswith(b"\n")
    assert server.finish() == undisturbed
    assert server.checkpoint.read_bytes().endswith(b"\n")


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_the_same_for_any_number_of_jobs(n_jobs, undisturbed) -> None:
    assert as_bytes(plain_study(n_jobs=n_jobs)) == undisturbed


def test_bytes_tell_studies_apart(undisturbed) -> None:
    assert as_bytes(plain_study(random_state=1)) != undisturbed
    assert as_bytes(plain_study(k=2)) != undisturbed
