"""``eigensieve fit`` killed in the middle: the same command ends with the same files."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.cli.files import CHECKPOINT, FILES, contents

COMMAND = [
    sys.executable, "-c", "from eigensieve.cli.main import main; main()",
    "fit", "../noise.npz", "--target", "y", "--ks", "1,2,5", "--permutations", "3",
]  # fmt: skip


def start(folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        COMMAND, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def results_in(checkpoint: Path) -> int:
    return checkpoint.read_bytes().count(b"\n") if checkpoint.exists() else 0


def test_killed_runs_end_with_the_same_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "noise.npz", X=rng.normal(size=(60, 200)), y=np.repeat(["a", "b"], 30))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    with start(whole) as job:
        assert job.wait(timeout=120) == 0
    checkpoint = killed / "eigensieve-out" / CHECKPOINT
    for n_results in (2, 30):
        with start(killed) as job:
            while results_in(checkpoint) < n_results and job.poll() is None:
                time.sleep(0.01)
            job.kill()
        assert job.returncode == -9
        assert contents(killed / "eigensieve-out") == {CHECKPOINT}
    with start(killed) as job:
        _, said = job.communicate(timeout=120)
    assert job.returncode == 0
    assert "from an earlier run" in said
    assert contents(killed / "eigensieve-out") == FILES
    for name in FILES:
        one, other = (folder / "eigensieve-out" / name for folder in (whole, killed))
        assert one.read_bytes() == other.read_bytes(), name
