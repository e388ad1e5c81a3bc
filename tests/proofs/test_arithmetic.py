"""Numbers that are too large, too small or too long: rejected or refused, never a traceback."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import VerificationError
from eigensieve.proofs import balls, checker, rational
from tests.proofs.proof_files import Lines, make_header, write_proof

LEAF = {"leaf": "level", "level": {"E": None}}


@pytest.mark.parametrize("size", [1e290, 1e300, 1.7e308])
def test_a_logdet_of_large_numbers(tmp_path: Path, size: float) -> None:
    root = math.sqrt(size) * 1.01
    pencil = {"kind": "matrices", "factor": [[root]], "slack": [0.0], "least": 0.0}
    score = math.log(size)
    claim = {"support": [0], "objective": score, "bound": score + 1.0, "status": "feasible"}
    header = make_header(1, 1, "logdet", pencil=pencil, **claim)
    leaf = {"value": score + 1.0, "D": None, "rows": [], "V": [], "Q": [[1.0 / root]]}
    lines = [header, {"leaf": "dual", "dual": leaf}]
    verdict = es.check_proof(write_proof(tmp_path / "proof", lines), A=np.array([[size]]))
    assert verdict.accepted, verdict.explain()


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, ValueError])
def test_any_error_of_arithmetic_is_a_rejection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*_: object) -> None:
        raise error("integer division result too large for a float")

    monkeypatch.setattr(checker, "check_level", fail)
    header = make_header(1, 1, "lambda_max", support=[0], objective=1.0, bound=1.0)
    verdict = es.check_proof(write_proof(tmp_path / "proof", [header, LEAF]), A=np.eye(1))
    assert not verdict.accepted
    assert verdict.explain().startswith("not proved: line 2 is too large for the checker's arith")


FLUSHED = """
import sys, numpy as np, torch, eigensieve as es
assert torch.set_flush_denormal(True)
print(es.check_proof(sys.argv[1], np.array([[1e-165], [-1e-165]])).accepted)
"""


def test_numbers_that_are_flushed_to_zero(tmp_path: Path) -> None:
    """The variance is 1e-330, which is no double; with a bound of zero the proof is false."""
    pytest.importorskip("torch")
    claim = {"support": [0], "objective": 0.0, "bound": 0.0}
    header = make_header(1, 1, "lambda_max", pencil={"kind": "pca"}, **claim)
    path = write_proof(tmp_path / "proof", [header, LEAF])
    assert balls.keeps_subnormals()
    assert not es.check_proof(path, np.array([[1e-165], [-1e-165]])).accepted
    call = [sys.executable, "-c", FLUSHED, str(path)]
    flushed = subprocess.run(call, capture_output=True, text=True, check=False)
    assert flushed.returncode != 0
    assert "InputError: this process flushes subnormal numbers to zero" in flushed.stderr


# ---------------------------------------------------------------- exact numbers that take long


def equalities(X: np.ndarray, count: int) -> Lines:
    """A proof about traces in which every leaf is as low as it can be: only fractions decide."""
    n, p = X.shape
    columns = [[Fraction(x) for x in column] for column in X.T.tolist()]
    means = [sum(column) / n for column in columns]
    variances = [sum((x - m) ** 2 for x in c) / n for c, m in zip(columns, means)]
    order = sorted(range(p), key=variances.__getitem__)

    def leaf(one: int, other: int) -> dict:
        value = variances[one] + variances[other]
        double = (
            float(value) if Fraction(float(value)) >= value else math.nextafter(value, math.inf)
        )
        return {"leaf": "dual", "dual": {"value": double, "D": None, "rows": [], "V": []}}

    best = leaf(*order[-2:])
    bound = best["dual"]["value"]
    claim = {"support": sorted(order[-2:]), "objective": bound, "bound": bound}
    header = make_header(p, 2, "trace", pencil={"kind": "pca"}, **claim)
    out = order[:count]
    branches = [{"branch": j} for j in out]
    return [header, *branches, best, *(leaf(j, order[-1]) for j in reversed(out))]


def test_exact_work_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12)) * 10.0 ** np.linspace(5, 10, 12)
    path = write_proof(tmp_path / "proof", equalities(X, 9))
    start = time.process_time()
    verdict = es.check_proof(path, X)
    assert verdict.accepted, verdict.explain()
    assert verdict.n_exact == 10
    assert time.process_time() - start < 2.0
    monkeypatch.setattr(checker, "limited_work", lambda: rational.limited_work(2e4))
    verdict = es.check_proof(path, X)
    assert verdict.reason == "too close to decide: the exact numbers of the file take too long"
    assert verdict.line > 11


def test_work_is_refused_before_it_begins() -> None:
    rng = np.random.default_rng(0)
    Q = rational.fraction_rows((rng.normal(size=(200, 200)) * 2.0**20).tolist())
    start = time.process_time()
    with pytest.raises(VerificationError, match="take too long"), rational.limited_work():
        rational.determinant(Q)
    assert time.process_time() - start < 5.0


def test_a_trace_without_fractions() -> None:
    rng = np.random.default_rng(1)
    G, H = rng.normal(size=(2, 5, 5))
    A, B = (M @ M.T + np.diag(10.0 ** np.arange(-2, 3)) for M in (G, H))
    exact = rational.trace_of_quotient(*(rational.fraction_rows(M.tolist()) for M in (A, B)))
    assert float(exact) == pytest.approx(np.trace(np.linalg.solve(B, A)), rel=1e-10)
    assert rational.trace_of_quotient([], []) == 0
