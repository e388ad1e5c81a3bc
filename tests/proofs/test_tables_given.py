"""What ``check_proof`` takes: frames, names, labels; and what it says the problem is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from tests.proofs import naive_prover as naive
from tests.proofs.proof_files import write_proof

NAMES = list("abcd")


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(18, 4)), 2)
    X[:, 2] = X[:, 2] > 0
    X[:, 3] = np.arange(18) % 5
    return X, np.array(["u", "v", "w"])[np.arange(18) % 3]


@pytest.fixture
def proof(table: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> Path:
    problem = naive.lda_problem(*table, 2, "trace", shrinkage=0.25, ridge=0.5, exclude=(1,))
    return write_proof(tmp_path / "proof", naive.prove(problem, names=NAMES))


def make_frames(X: np.ndarray) -> dict[str, Any]:
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2] > 0, "d": X[:, 3].astype(np.int64)}
    frame = pd.DataFrame(columns)
    return {
        "pandas": frame,
        "objects": frame.astype({"c": object, "d": object}),
        "nullable": frame.convert_dtypes(),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
    }


@pytest.mark.parametrize("kind", ["pandas", "objects", "nullable", "polars", "pyarrow"])
def test_frames_with_a_column_of_bools(table: Any, proof: Path, kind: str) -> None:
    X, y = table
    verdict = es.check_proof(proof, make_frames(X)[kind], y)
    assert verdict.accepted, verdict.explain()
    assert verdict.names == tuple(NAMES[j] for j in verdict.support)


def test_names_are_those_of_the_table(table: Any, proof: Path) -> None:
    X, y = table
    assert es.check_proof(proof, X, y).names is None  # nobody has verified them
    verdict = es.check_proof(proof, X, y, names=NAMES)
    assert verdict.names == tuple(NAMES[j] for j in verdict.support)
    frame = pd.DataFrame(X, columns=NAMES)
    for other in (list("abdc"), ["a", "b", "c", "e"]):
        said = es.check_proof(proof, frame.set_axis(other, axis=1), y).reason
        assert "in the proof; is this the table" in said
        assert es.check_proof(proof, X, y, names=other).reason == said
    with pytest.raises(InputError, match="names has 3 entries, for 4 features"):
        es.check_proof(proof, X, y, names=NAMES[:3])
    with pytest.raises(InputError, match="not those of the table's columns"):
        es.check_proof(proof, frame, y, names=list("wxyz"))


def test_frames_that_cannot_be_used(table: Any, proof: Path) -> None:
    X, y = table
    frame = pd.DataFrame(X, columns=NAMES)
    for column, said in {
        "word": "column 'c' of X holds object, not real numbers",
        None: "column 'c' of X holds object",
        pd.NA: "column 'c' of X holds object",
        np.nan: "column 'c' of X has missing",
    }.items():
        kind = float if column is not None and column is np.nan else object
        with pytest.raises(InputError, match=said):
            es.check_proof(proof, frame.assign(c=pd.Series([column] * 18, dtype=kind)), y)
    with pytest.raises(InputError, match="no rows"):
        es.check_proof(proof, frame[:0], y[:0])


def lists(values: list[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([["u"]] * 18, "one label for each of 18"),
        ([["u"], ["v", "w"]] * 9, "no list of labels"),
        (lists([["u"]] * 18), "labels are texts or numbers"),
        (lists([np.ones(2)] * 18), "labels are texts or numbers"),
        (lists([("u",)] * 18), "labels are texts or numbers"),
        (lists([None] * 18), "missing"),
        (lists([pd.NA] * 18), "missing"),
    ],
)
def test_labels_that_cannot_be_used(table: Any, proof: Path, y: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        es.check_proof(proof, table[0], y)


def test_the_verdict_says_what_the_problem_is(table: Any, proof: Path) -> None:
    X, y = table
    problem = es.check_proof(proof, X, y, names=NAMES).problem
    assert problem == {
        "kind": "lda", "criterion": "trace", "k": [2], "n_features": 4, "n_samples": 18,
        "classes": [["u", 6], ["v", 6], ["w", 6]], "shrinkage": [0.25], "ridge": 0.5,
        "block_sizes": [4], "include": [], "exclude": [1], "include_names": [],
        "exclude_names": ["b"], "limits": [],
    }  # fmt: skip
    assert json.loads(json.dumps(problem)) == problem
    merged = np.where(y == "w", "v", y)  # rejected, and the problem is not known
    assert es.check_proof(proof, X, merged).problem is None
