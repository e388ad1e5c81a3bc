"""``certify`` compiles before its clock starts."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import sys
import numpy as np
from eigensieve.cli.certify import warm_up
from eigensieve.cli.warmup import find_kernels
from eigensieve.tables.builders import lda_pencil
from eigensieve.search.certify import certify

def ready():
    return {name for name, kernel in find_kernels().items() if kernel.signatures}

y = np.arange(60) % 3
p = int(sys.argv[1])
X = np.random.default_rng(0).normal(size=(60, p)) + 0.5 * np.eye(3, p)[y]
pencil = lda_pencil(X, y, shrinkage=0.3)
assert not ready()
proof = sys.argv[3] or None
warm_up(pencil, 4, sys.argv[2], proof is not None, lambda *args: None)
before = ready()
found = certify(pencil, [0, 1, 2, 5], sys.argv[2], 2.0, random_state=0, proof=proof)
print(found.solver, len(before) > 0, ready() - before)
"""


@pytest.mark.parametrize("with_proof", [False, True])
@pytest.mark.parametrize(
    ("p", "criterion", "solver"),
    [(40, "logdet", "leaps"), (300, "logdet", "perspective"), (60, "lambda_max", "levelset")],
)
def test_nothing_is_compiled_under_the_clock(
    p: int, criterion: str, solver: str, with_proof: bool, tmp_path: Path
) -> None:
    proof = str(tmp_path / "proof") if with_proof else ""
    args = [sys.executable, "-c", PROBE, str(p), criterion, proof]
    done = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert done.stdout == f"{solver} True set()\n", done.stderr


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
