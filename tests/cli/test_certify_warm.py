"""``certify`` compiles before its clock starts."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

# Each case in a process of its own, in which nothing was compiled or loaded before.
PROBE = """
import os
import sys
import numpy as np
from eigensieve.cli.certify import warm_up
from eigensieve.cli.warmup import find_kernels
from eigensieve.tables.builders import lda_pencil
from eigensieve.search.certify import certify

kernels = find_kernels()

def ready():
    return {name for name, kernel in kernels.items() if kernel.signatures}

def probe(p, criterion, proof):
    y = np.arange(60) % 3
    X = np.random.default_rng(0).normal(size=(60, p)) + 0.5 * np.eye(3, p)[y]
    pencil = lda_pencil(X, y, shrinkage=0.3)
    assert not ready()
    warm_up(pencil, 4, criterion, proof is not None, lambda *args: None)
    before = ready()
    found = certify(pencil, [0, 1, 2, 5], criterion, 2.0, random_state=0, proof=proof)
    print(found.solver, proof is not None, len(before) > 0, ready() - before, flush=True)

for p, criterion in ((40, "logdet"), (300, "logdet"), (60, "lambda_max")):
    for proof in (None, f"{sys.argv[1]}/{p}"):
        child = os.fork()
        if child == 0:
            probe(p, criterion, proof)
            os._exit(0)
        os.waitpid(child, 0)
"""


def test_nothing_is_compiled_under_the_clock(tmp_path: Path) -> None:
    args = [sys.executable, "-c", PROBE, str(tmp_path)]
    done = subprocess.run(args, capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines() == [
        f"{solver} {with_proof} True set()"
        for solver in ("leaps", "perspective", "levelset")
        for with_proof in (False, True)
    ], done.stderr


def test_ctrl_c_while_it_compiles(run, noise_npz: Path, monkeypatch) -> None:
    from eigensieve.search import solve as dispatch

    find = dispatch.solve

    def press(pencil, *args: object, **options: object) -> object:
        if pencil.size < 50:  # a small problem of the warm-up
            options["callback"] = lambda event: signal.raise_signal(signal.SIGINT)
        return find(pencil, *args, **options)

    monkeypatch.setattr(dispatch, "solve", press)
    args = ["certify", noise_npz, "--target", "y", "--features", "column_1,column_2"]
    result = run(*args, code=130)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == "interrupted: nothing is proved yet"
