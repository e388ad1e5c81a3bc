"""What was not tested for want of something is said at the end of the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = "tests/tables/kinds/test_arrays.py"


def run_without(module: str, folder: Path) -> str:
    """The output of pytest where a module cannot be imported."""
    (folder / f"{module}.py").write_text("raise ModuleNotFoundError('not here', name=__name__)\n")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", TESTS],
        env=os.environ | {"PYTHONPATH": path, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_session_without_torch_says_so(tmp_path) -> None:
    said = run_without("torch", tmp_path)
    assert "library tests SKIPPED" in said
    assert "NO TORCH: nothing on devices was tested" in said
    assert "pip install torch==2.13.0" in said


def test_a_session_without_the_array_api_says_so(tmp_path) -> None:
    said = run_without("array_api_strict", tmp_path)
    assert "library tests SKIPPED" in said
    assert "NO ARRAY-API-STRICT" in said
    assert "NO TORCH" not in said
