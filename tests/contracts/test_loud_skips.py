"""What was not tested for want of something is said at the end of the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
from tests.device_arrays import library

def test_here():
    library("json")

def test_there():
    library("{missing}")
"""


def run_without(missing: str, folder: Path) -> tuple[str, str]:
    """The output of a session one test of which misses a module, and what it wrote down."""
    file, skipped = folder / "test_needs.py", folder / "skipped.txt"
    file.write_text(TESTS.format(missing=missing))
    own = {"EIGENSIEVE_SKIPPED": str(skipped), "PYTEST_ADDOPTS": ""}
    plugins = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    home = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *home, str(file)],
        env=os.environ | own,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 skipped" in done.stdout
    assert "1 library tests SKIPPED" in done.stdout
    return done.stdout, skipped.read_text()


@pytest.fixture
def no_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('not here', name=__name__)\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.mark.usefixtures("no_torch")
def test_a_session_without_torch_says_so(tmp_path: Path) -> None:
    said, skipped = run_without("torch", tmp_path)
    assert "NO TORCH: nothing on devices was tested" in said
    assert "pip install torch==2.13.0" in said
    assert skipped == "test_needs.py::test_there\n"


def test_a_session_without_another_library_says_so(tmp_path: Path) -> None:
    said, skipped = run_without("array_api_lax", tmp_path)
    assert "NO ARRAY-API-LAX" in said
    assert "NO TORCH" not in said
    assert skipped == "test_needs.py::test_there\n"
