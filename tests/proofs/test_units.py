"""What gaps and tolerances are relative to: nothing that no admissible set can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from tests.proofs.proof_files import make_header, write_proof

LEAF = {"leaf": "level", "level": {"E": None}}
HUGE = 1e12


def check(tmp_path: Path, A: np.ndarray, k: Any, support: list[int], **other: Any) -> es.Verdict:
    """A proof that claims 2 for a set, and 2 as the bound."""
    blocks = other.pop("blocks", None)
    claim = {"objective": 2.0, "bound": 2.0, "gap_tol": 0.0, "support": support} | other
    header = make_header(len(A), k, "lambda_max", **claim)
    return es.check_proof(write_proof(tmp_path / "proof", [header, LEAF]), A=A, blocks=blocks)


CASES: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
    "excluded": (np.diag([HUGE, 1.0, 2.0]), {"k": 1, "exclude": [0]}),
    "a block without features": (
        np.diag([HUGE, 1.0, 2.0]),
        {"k": [0, 1], "blocks": np.array([0, 1, 1])},
    ),
    "negative": (np.diag([-HUGE, 1.0, 2.0]), {"k": 1}),
    "off the diagonal": (
        np.array([[0.0, 0.0, HUGE], [0.0, 1.0, 0.0], [HUGE, 0.0, 2.0]]),
        {"k": 1},
    ),
    "no pair can score it": (
        np.array([[-HUGE, HUGE, 0, 0], [HUGE, -HUGE, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2.0]]),
        {"k": 1},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_false_objective(tmp_path: Path, name: str) -> None:
    A, problem = CASES[name]
    worse, best = len(A) - 2, len(A) - 1
    verdict = check(tmp_path, A, support=[worse], **problem)
    assert verdict.reason is not None
    assert "does not score the 2 that is claimed" in verdict.reason
    # the truth about it is not optimal
    verdict = check(tmp_path, A, support=[worse], objective=1.0, **problem)
    assert verdict.reason == 'the status is "optimal", and the gap is above gap_tol'
    verdict = check(tmp_path, A, support=[worse], objective=1.0, status="feasible", **problem)
    assert verdict.accepted
    assert verdict.gap == pytest.approx(0.5)
    assert verdict.unit == pytest.approx(2.0)
    assert check(tmp_path, A, support=[best], **problem).accepted


def test_what_include_leaves_no_room_for(tmp_path: Path) -> None:
    A = np.diag([HUGE, 1.0, 2.0])
    verdict = check(tmp_path, A, 1, [1], include=[1], objective=1.0)
    assert verdict.reason == 'the status is "optimal", and the gap is above gap_tol'


def test_a_pair_counts_where_both_can_be_chosen(tmp_path: Path) -> None:
    """The diagonal is zero, and two features score 3: a gap of 3e-7 is one of 1e-7."""
    A = np.array([[0.0, 3.0], [3.0, 0.0]])
    claim: dict[str, Any] = {"bound": 3.0 + 3e-7, "objective": 3.0, "status": "feasible"}
    verdict = check(tmp_path, A, 2, [0, 1], **claim)
    assert verdict.gap == pytest.approx(1e-7, rel=1e-2)
    zero = check(tmp_path, A, 1, [0], objective=0.0, bound=1.0, status="feasible")
    assert zero.unit < 1e-300  # nothing can be scored
    assert zero.gap == np.inf


def test_the_scale_is_never_above_the_bound(tmp_path: Path) -> None:
    """For the trace of an indefinite A a feature may score what no set of two does."""
    A = np.diag([1e14, -1e14, 3.0 - 1e14])
    factor = {"kind": "matrices", "factor": [[1e7], [0.0], [0.0]], "slack": [0.0] * 3, "least": 0.0}
    claim: dict[str, Any] = {"objective": 0.0, "bound": 1e14, "gap_tol": 1e-6}
    header = make_header(3, 2, "trace", pencil=factor, support=[0, 1], **claim)
    witness = {"value": 1e14, "D": None, "rows": [], "V": []}
    lines = [header, {"leaf": "dual", "dual": witness}]
    verdict = es.check_proof(write_proof(tmp_path / "proof", lines), A=A)
    assert verdict.reason == 'the status is "optimal", and the gap is above gap_tol'
    verdict = es.check_proof(
        write_proof(tmp_path / "proof", [header | {"status": "feasible"}, lines[1]]), A=A
    )
    assert verdict.accepted
    assert verdict.unit <= verdict.bound
    assert verdict.gap >= 1.0 - 1e-6
