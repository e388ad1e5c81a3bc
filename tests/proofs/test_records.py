"""A malformed or hostile file is rejected with a reason; nothing else is raised."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from tests.proofs import naive_prover as naive
from tests.proofs.proof_files import Lines, make_header, write_proof, write_text

A = np.diag([2.0, 3.0])
LEAF = {"leaf": "level", "level": {"E": None}}


def header(**other: Any) -> dict[str, Any]:
    claim = {"support": [1], "objective": 3.0, "bound": 3.1, "status": "feasible"}
    return make_header(2, 1, "lambda_max", **claim | other)


def check(tmp_path: Path, lines: Lines, **given: Any) -> es.Verdict:
    path = write_proof(tmp_path / "proof.jsonl", lines)
    return es.check_proof(path, **({"A": A} | given))


def test_the_good_one(tmp_path: Path) -> None:
    assert check(tmp_path, [header(), LEAF]).accepted


MATRICES = {"kind": "matrices", "factor": [[1], [1]], "slack": [0.0, 0.0], "least": 0.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_features": -1}, "n_features"),
        ({"n_features": 2**40}, "n_features"),
        ({"n_features": 2.0}, "n_features"),
        ({"n_features": 2**30}, "is this the table"),
        ({"names": ["a"]}, "names"),
        ({"names": ["a", 1]}, "names"),
        ({"k": []}, "k is not"),
        ({"k": 1}, "k is not"),
        ({"k": [3]}, "a size in k"),
        ({"k": [0]}, "k asks for 0 of 2 features"),
        ({"k": [2, 2]}, "k asks for 4 of 2 features"),
        ({"k": [True]}, "a size in k"),
        ({"k": [2]}, "the support has [1] features, and k is [2]"),
        ({"criterion": "best"}, "the criterion"),
        ({"include": [0]}, "lacks a feature of include"),
        ({"exclude": [1]}, "has a feature of exclude"),
        ({"include": [1], "exclude": [1]}, "in include and in exclude"),
        ({"support": [0, 1]}, "the support has [2]"),
        ({"support": [0]}, "does not score"),
        ({"support": [1, 1]}, "an index twice"),
        ({"support": [2]}, "from 0 to 1"),
        ({"objective": "3"}, "objective is not a number"),
        ({"objective": True}, "objective is not a number"),
        ({"objective": 10**400}, "objective is no double"),
        ({"objective": 2**60 + 1}, "no finite double"),
        ({"bound": None}, "bound is not a number"),
        ({"gap_tol": -1e-6}, "gap_tol is negative"),
        ({"status": ["optimal"]}, "status is not a text"),
        ({"criterion": ["trace"]}, "the criterion"),
        ({"made_by": 1}, "made_by"),
        ({"pencil": {"kind": "other"}}, "the pencil's kind"),
        ({"pencil": {"kind": ["lda"]}}, "the pencil's kind"),
        ({"pencil": {"kind": "pca", "ridge": 1.0}}, "unknown key 'ridge'"),
        ({"pencil": {"kind": "lda", "shrinkage": 0.1, "ridge": 0.0}}, "no 'members'"),
        (
            {"pencil": {"kind": "lda", "shrinkage": 1.1, "ridge": 0.0, "members": [0, 1]}},
            "not between 0 and 1",
        ),
        (
            {"pencil": {"kind": "lda", "shrinkage": 0.1, "ridge": -1.0, "members": [0, 1]}},
            "ridge is negative",
        ),
        ({"pencil": {"kind": "cca", "shrinkage": 0.1}}, "not a pair"),
        ({"pencil": MATRICES | {"factor": [[1.0]]}}, "factor"),
        ({"pencil": MATRICES | {"factor": [1, 2]}}, "factor"),
        ({"pencil": MATRICES | {"slack": [0.0, -1.0]}}, "negative"),
        ({"pencil": MATRICES | {"least": -0.1}}, "least is negative"),
        ({"table": {"sheet": 1}}, "unknown key 'sheet'"),
        ({"table": {"target": 1}}, "target"),
        ({"table": {"transpose": 1}}, "transpose"),
        ({"table": {"log2_floor": 0.0}}, "log2_floor"),
        ({"table": {"ignore": "a"}}, "ignore"),
        ({"table": []}, "table is not an object"),
    ],
    ids=str,
)  # fmt: skip
def test_a_header_that_is_malformed(tmp_path: Path, change: dict, said: str) -> None:
    verdict = check(tmp_path, [header() | change, LEAF])
    assert not verdict.accepted
    assert said in verdict.reason
    assert verdict.line == 1


@pytest.mark.parametrize("key", sorted(set(make_header(2, 1, "trace")) - {"format", "version"}))
def test_every_field_is_needed(tmp_path: Path, key: str) -> None:
    claim = header()
    del claim[key]
    assert check(tmp_path, [claim, LEAF]).reason == f"the header has no {key!r}"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({}, "neither a branch"),
        ({"leaf": "good"}, "none of empty"),
        ({"leaf": ["empty"]}, "none of empty"),
        ({"leaf": "level"}, "no 'level'"),
        ({"leaf": "level", "level": {}}, "no 'E'"),
        ({"leaf": "level", "level": {"E": [1.0]}}, "E is not a list of 2"),
        ({"leaf": "level", "level": {"E": [1.0, 0.0]}}, "not positive"),
        ({"leaf": "level", "level": {"E": None}, "note": "x"}, "unknown key 'note'"),
        ({"leaf": "empty", "level": {"E": None}}, "unknown key 'level'"),
        ({"leaf": "dual", "dual": {"value": 1, "D": None, "rows": [], "V": []}}, "needs A = F F'"),
        ({"branch": 2}, "from 0 to 1"),
        ({"branch": 0, "leaf": "empty"}, "unknown key 'branch'"),
        ({"branch": 1.0}, "from 0 to 1"),
        ({"fix": {"out": [0]}}, "no 'dual'"),
        ({"fix": {"out": [0]}, "dual": {}, "level": {}}, "unknown key 'dual'"),
        ({"digest": "x"}, "neither a branch"),
    ],
    ids=str,
)  # fmt: skip
def test_a_record_that_is_malformed(tmp_path: Path, record: dict, said: str) -> None:
    verdict = check(tmp_path, [header(), record])
    assert said in verdict.reason
    assert verdict.line == 2


@pytest.mark.parametrize(
    "line",
    [
        '{"leaf": "level", "level": {"E": [NaN, 1.0]}}',
        '{"leaf": "level", "level": {"E": [1e999, 1.0]}}',
        '{"leaf": "level", "level": {"E": [Infinity, 1.0]}}',
        '{"leaf": "level", "leaf": "level", "level": {"E": null}}',
        '{"leaf": "level", "level": {"E": null}',
        '[{"leaf": "level", "level": {"E": null}}]',
        "null",
        "",
        "[" * 100_000,
        '{"branch": ' + "9" * 5000 + "}",
        '{"leaf": "\udcff"}',
    ],
    ids=range(11),
)
def test_lines_that_are_no_records(tmp_path: Path, line: str) -> None:
    path = tmp_path / "proof.jsonl"
    text = json.dumps(header()) + "\n" + line + "\n"
    write_text(path, text.encode("utf-8", "surrogateescape").decode("latin-1"))
    verdict = es.check_proof(path, A=A)
    assert not verdict.accepted
    assert verdict.line == 2


def test_a_damaged_file(tmp_path: Path) -> None:
    path = write_proof(tmp_path / "proof.jsonl", [header(), LEAF])
    good = path.read_bytes()
    path.write_bytes(good.replace(b"3.1", b"3.2"))
    assert es.check_proof(path, A=A).reason == (
        "the digest does not fit: the file was damaged or changed"
    )
    path.write_bytes(b"\n".join(good.split(b"\n")[:2]) + b"\n")
    assert "cut off" in es.check_proof(path, A=A).reason
    path.write_bytes(good + b"{}\n")
    assert "cut off" in es.check_proof(path, A=A).reason
    path.write_bytes(good + b"\xff\xfe")
    assert not es.check_proof(path, A=A).accepted


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\x89PNG\r\n", b'{"model": 1}\n', b"{"])
def test_no_proof_at_all(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.file"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is no proof file"):
        es.check_proof(path, A=A)


def test_a_file_that_is_not_there_or_newer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        es.check_proof(tmp_path / "none", A=A)
    with pytest.raises(InputError, match="directory"):
        es.check_proof(tmp_path, A=A)
    path = write_proof(tmp_path / "proof.jsonl", [header(version=2), LEAF])
    with pytest.raises(InputError, match="has version 2; this checker reads 1"):
        es.check_proof(path, A=A)


STRANGE = [
    None, True, -1, 0, 10**30, 1e308, -1e308, 5e-324, 0.5, "x", "", [], [[]], {}, {"E": 1},
    [None], [1e308, -1e308], [[1.0, 2.0]], "NaN", [0, 1, 2, 3, 4, 5, 6, 7],
]  # fmt: skip


def places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """The way to every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


@pytest.mark.parametrize("kind", ["lda", "cca", "matrices"])
def test_any_value_anywhere(tmp_path: Path, kind: str) -> None:
    """Whatever stands in a file, the result is a verdict (or it is no proof at all)."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4)), np.arange(12) % 2
    problem = {
        "lda": lambda: naive.lda_problem(X, y, 2, "logdet", shrinkage=0.1),
        "cca": lambda: naive.cca_problem(X[:, :2], X[:, 2:], (1, 1), (0.1, 0.1)),
        "matrices": lambda: naive.matrix_problem(np.cov(X.T), np.eye(4), 2, "trace"),
    }[kind]()
    lines = naive.prove(problem)
    spots = list(places(lines))
    for _ in range(150):
        changed = copy.deepcopy(lines)
        spot = spots[rng.integers(len(spots))]
        inner: Any = changed
        for key in spot[:-1]:
            inner = inner[key]
        inner[spot[-1]] = STRANGE[rng.integers(len(STRANGE))]
        path = write_proof(tmp_path / "proof.jsonl", changed)
        try:
            verdict = es.check_proof(path, **problem.given)
        except InputError:
            continue
        assert verdict.accepted or (verdict.reason and verdict.line)
