"""Every mutation that makes a claim false is rejected, its digest recomputed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import eigensieve as es
from tests.proofs import naive_prover as naive
from tests.proofs.mutations import CHANGES, Change, apply
from tests.proofs.oracle import find_false
from tests.proofs.proof_files import Lines, write_proof
from tests.proofs.test_checker import PROBLEMS


def judge_mutations(
    problem: naive.Problem, lines: Lines, folder: Path, count: int, seed: int = 0,
    changes: Sequence[Change] = CHANGES,
) -> Counter[str]:  # fmt: skip
    """Make so many false proofs of a true one; each must be rejected. What was changed, counted."""
    rng = np.random.default_rng(seed)
    path = folder / "proof.jsonl"
    found: Counter[str] = Counter()
    for i in range(20 * count):
        if found.total() == count:
            break
        change = changes[i % len(changes)]
        changed = apply(change, problem, lines, rng)
        if changed is None:
            continue
        wrong = find_false(*changed)
        if wrong is None:
            continue
        verdict = es.check_proof(write_proof(path, changed[1]), **problem.given)
        assert not verdict.accepted, f"{change.__name__}: {wrong}"
        found[change.__name__] += 1
    assert found.total() == count
    return found


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_oracle_finds_nothing_wrong_with_true_proofs(name: str) -> None:
    assert find_false(PROBLEMS[name], naive.prove(PROBLEMS[name])) is None


def test_false_proofs_are_rejected(tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed, problem in enumerate(PROBLEMS.values()):
        found += judge_mutations(problem, naive.prove(problem), tmp_path, 21, seed)
    assert found.total() >= 500
    assert set(found) == {change.__name__ for change in CHANGES}
