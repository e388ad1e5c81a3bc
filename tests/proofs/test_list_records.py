"""Files of lists that are malformed or incomplete are rejected with a reason."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from tests.proofs.proof_files import Lines, read_proof, write_proof
from tests.proofs.test_lists import chosen
from tests.proofs.test_records import STRANGE, places


def small(tmp_path: Path) -> tuple[Lines, np.ndarray]:
    """The two best of four sets of one feature, 4 and 3; the others score 2 and 1."""
    A = np.diag([4.0, 3.0, 2.0, 1.0])
    pencil = es.Pencil(A, np.eye(4))
    es.near_optimal(pencil, 1, 0.25, criterion="lambda_max", proof=tmp_path / "p")
    return read_proof(tmp_path / "p"), A


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ([], "the list is not an object"),
        ({"sets": []}, "the list has no sets"),
        ({"sets": [[0, 1], [1]]}, "a set that is not of 1 features"),
        ({"sets": [[0], [0]]}, "has a set twice"),
        ({"sets": [[1], [0]], "scores": [3.0, 4.0]}, "the support is not the first set"),
        ({"sets": [[0], [4]]}, "from 0 to 3"),
        ({"scores": [4.0]}, "not a list of 2 numbers"),
        ({"scores": [4.0, 3.1]}, "set 1 of the list does not score the 3.1"),
        ({"scores": [4.0, 3.0 - 1e-8]}, "a set below the bound"),
        ({"scores": [3.5, 3.0]}, "the bound is not 0.25 of the best score below it"),
        ({"scores": [3.5, 3.0], "within": 0.5 / 3.5}, "set 0 of the list scores more than the 3.5"),
        ({"within": 0.24}, "the bound is not 0.24 of the best score below it"),
        ({"within": -0.25}, "within is negative"),
        ({"within": "1 %"}, "within is not a number"),
        ({"note": 1}, "unknown key 'note'"),
        ({"sets": [[0], [2]], "scores": [4.0, 3.0]}, "set 1 of the list does not score the 3"),
        ({"sets": [[0], [1], [2]], "scores": [4.0, 3.0, 3.0]}, "set 2 of the list does not score"),
        ({"sets": [[0]], "scores": [4.0]}, "number of the listed set"),
    ],
)
def test_a_list_must_be_well_made(tmp_path: Path, change: Any, said: str) -> None:
    lines, A = small(tmp_path)
    assert es.check_proof(write_proof(tmp_path / "p", lines), A=A).n_sets == 2
    lines[0]["list"] = lines[0]["list"] | change if isinstance(change, dict) else change
    verdict = es.check_proof(write_proof(tmp_path / "p", lines), A=A)
    assert not verdict.accepted
    assert said in verdict.reason


def test_every_listed_set_is_met_once(tmp_path: Path) -> None:
    """A set in the middle of a subtree that is closed otherwise is not met."""
    lines, A = small(tmp_path)
    header = lines[0] | {"list": {"within": None, "sets": [[0], [1]], "scores": [4.0, 3.0]}}
    level, one, two = {"leaf": "level", "level": {"E": None}}, listed(0), listed(1)
    good = [{"branch": 0}, {"branch": 1}, level, two, one]
    for tree, said in (
        (good, None),
        ([{"branch": 0}, {"branch": 1}, level, one, two], "the leaf's set is not set 0"),
        ([{"branch": 0}, {"branch": 1}, level, two, two], "the leaf's set is not set 1"),
        ([{"branch": 0}, two, one], "said to have one set only"),
        ([{"branch": 0}, {"branch": 1}, level, listed(2), one], "from 0 to 1"),
        ([{"branch": 0}, {"branch": 1}, level, level, one], "bound B - A"),
    ):
        verdict = es.check_proof(write_proof(tmp_path / "p", [header, *tree]), A=A)
        assert verdict.accepted is (said is None)
        assert said is None or said in verdict.reason
    forgotten = [header | {"bound": 3.0}, {"branch": 0}, level, one]
    verdict = es.check_proof(write_proof(tmp_path / "p", forgotten), A=A)
    assert verdict.reason == "the tree does not come to 1 of the listed sets"


def listed(number: int) -> dict[str, Any]:
    return {"leaf": "listed", "set": number}


def test_any_value_anywhere_in_a_list(tmp_path: Path) -> None:
    """Whatever stands in a file, the result is a verdict (or it is no proof at all)."""
    rng = np.random.default_rng(0)
    for problem, lines in list(chosen(tmp_path))[:4]:
        spots = list(places(lines))
        for _ in range(60):
            changed = copy.deepcopy(lines)
            spot = spots[rng.integers(len(spots))]
            inner: Any = changed
            for key in spot[:-1]:
                inner = inner[key]
            inner[spot[-1]] = STRANGE[rng.integers(len(STRANGE))]
            try:
                verdict = es.check_proof(write_proof(tmp_path / "p", changed), **problem.given)
            except InputError:
                continue
            assert verdict.accepted or (verdict.reason and verdict.line)
