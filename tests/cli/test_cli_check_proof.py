"""``eigensieve check-proof``: what it says, what it reads, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import eigensieve as es
from eigensieve.cli.main import cli
from eigensieve.errors import VerificationError
from eigensieve.search.proof.proof import ProofRequest
from tests.proofs import naive_prover as naive
from tests.proofs.proof_files import read_proof, write_proof

HOW = {"target": "kind", "transpose": False, "log2_floor": None, "ignore": []}


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 5)) + np.outer(y, [2.0, 1.0, 0.0, 0.0, 0.5])
    return pd.DataFrame(X, columns=list("abcde")).assign(kind=np.where(y, "sick", "well"))


@pytest.fixture
def proof(frame: pd.DataFrame, tmp_path: Path) -> Path:
    """A proof about the first table, that knows how it was read."""
    X, y = frame[list("abcde")].to_numpy(), frame["kind"].to_numpy()
    problem = naive.lda_problem(X, y, 2, "trace", shrinkage=0.1)
    lines = naive.prove(problem, names=list("abcde"), table=HOW)
    return write_proof(tmp_path / "proof.jsonl", lines)


@pytest.fixture
def table(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_no_option_is_needed(run, proof: Path, table: Path) -> None:
    lines = run("check-proof", proof, table).stdout.splitlines()
    assert lines[0].startswith("Proved: no set of 2 of the 5 features has a trace above ")
    said = dict(line.split(maxsplit=1) for line in lines[2:])
    assert said["set"] == "a, d"
    assert said["bound"].endswith(", 1.1e-05 % above the score")


def test_the_problem_is_printed(run, frame: pd.DataFrame, tmp_path: Path) -> None:
    """The file chooses it: whoever checks must see what was chosen."""
    path = tmp_path / "table.csv"
    frame.assign(note="x").to_csv(path, index=False)
    X, y = np.log2(np.maximum(frame[list("abcde")], 0.5)).to_numpy(), frame["kind"].to_numpy()
    problem = naive.lda_problem(
        X, y, 2, "trace", shrinkage=0.125, ridge=0.25, include=(1,), exclude=(0, 4)
    )
    told = HOW | {"log2_floor": 0.5, "ignore": ["note"]}
    proof = write_proof(
        tmp_path / "proof.jsonl", naive.prove(problem, names=list("abcde"), table=told)
    )
    lines = run("check-proof", proof, path).stdout.splitlines()
    assert lines[2:8] == [
        "problem lda, trace, k = 2; 20 samples, 5 features",
        "classes well (10), sick (10)",
        "set by  shrinkage 0.125, ridge 0.25",
        "include b",
        "exclude a, e",
        "table   target kind, not transposed, log2 of 0.5 and more, ignored: note",
    ]
    found = json.loads(run("check-proof", proof, path, "--json").stdout)
    assert found["table"] == told
    assert found["problem"]["classes"] == [["well", 10], ["sick", 10]]
    assert found["problem"]["exclude_names"] == ["a", "e"]
    header, *tree = read_proof(proof)
    write_proof(proof, [header | {"bound": 0.9 * header["bound"]}, *tree])
    said = run("check-proof", proof, path, code=1).stdout  # also if it is rejected
    assert "lda, trace, k = 2; 20 samples, 5 features" in said
    other = tmp_path / "other.npz"
    np.savez(other, X=X, y=y.astype(str), names=np.array(list("abcde")))
    plain = write_proof(tmp_path / "plain", [header | {"table": None, "names": None}, *tree])
    assert "table   target y, not transposed" in run("check-proof", plain, other).stdout


@pytest.fixture
def list_proof(frame: pd.DataFrame, tmp_path: Path) -> Path:
    """A proof that a list is complete, with a limit on two of the features."""
    X, y = frame[list("abcde")], frame["kind"]
    path = tmp_path / "list.proof"
    es.near_optimal(
        es.lda_pencil(X, y, shrinkage=0.1), 2, 0.2, criterion="trace", groups={"both": ["a", "b"]},
        at_most=2, proof=ProofRequest(path, list("abcde"), HOW),
    )  # fmt: skip
    return path


def test_a_list(run, list_proof: Path, table: Path, frame: pd.DataFrame) -> None:
    X, y = frame[list("abcde")].to_numpy(), frame["kind"].to_numpy()
    problem = naive.lda_problem(X, y, 2, "trace", shrinkage=0.1)
    best = problem.best()[0]
    near = [S for S in problem.sets() if problem.score(S) > 0.8 * best]
    lines = run("check-proof", list_proof, table).stdout.splitlines()
    among = "of all sets of 2 of the 5 features, among those within the limits,"
    assert lines[0].startswith(
        f"Proved: {among} exactly the {len(near)} listed have a trace above "
    )
    assert ", 20 % below the best of them; the best has at least " in lines[0]
    said = dict(line.split(maxsplit=1) for line in lines[2:])
    assert said["limit"] == """at most 2 of a, b ("at most 2 of 'both'" in the file)"""
    assert said["bound"] == f"{0.8 * best:.6g}; no set that is not listed scores more"
    in_all = set(range(5)).intersection(*near)
    in_any = set().union(*near)
    features = "feature" if len(in_all) == 1 else "features"
    assert said["list"] == (
        f"{len(near)} sets: {len(in_all)} {features} in all of them, {len(in_any)} in any"
    )
    plain = json.loads(run("check-proof", list_proof, table, "--json").stdout)
    assert sorted(map(tuple, plain["sets"])) == sorted(near)
    assert (plain["n_sets"], plain["within"]) == (len(near), 0.2)


def test_a_list_with_a_set_removed(run, list_proof: Path, table: Path) -> None:
    lines = read_proof(list_proof)
    del lines[0]["list"]["sets"][-1], lines[0]["list"]["scores"][-1]
    result = run("check-proof", write_proof(list_proof, lines), table, code=1)
    assert result.stdout.startswith("Not proved: line ")


@pytest.mark.parametrize("error", [RuntimeError("broken"), MemoryError(), VerificationError("no")])
def test_a_failure_is_no_rejection(
    run, proof: Path, table: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("eigensieve.proofs.checker.check_proof", fail)
    result = run("check-proof", proof, table, code=3)
    assert result.stderr.startswith("failed: ")
    assert result.stdout == ""
    told = CliRunner().invoke(cli, ["--debug", "check-proof", str(proof), str(table)])
    assert "Traceback" in told.stderr


def test_json(run, proof: Path, table: Path) -> None:
    found = json.loads(run("check-proof", proof, table, "--json").stdout)
    header = read_proof(proof)[0]
    assert found["accepted"] is True
    assert found["features"] == ["a", "d"]
    assert found["support"] == header["support"]
    assert found["bound"] == header["bound"]
    assert found["n_nodes"] == len(read_proof(proof)) - 1
    assert found["reason"] is found["line"] is None


def test_columns_are_found_by_name(run, proof: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "turned.tsv"
    frame[["kind", *"edcba"]].to_csv(path, index=False, sep="\t")
    run("check-proof", proof, path)


def test_a_transposed_table(run, proof: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    turned = frame.T
    turned.columns = [f"s{i}" for i in range(len(frame))]
    turned.to_csv(path, index_label="name")
    run("check-proof", proof, path, "--transpose")


def test_logarithms_as_the_proof_says(run, frame: pd.DataFrame, tmp_path: Path) -> None:
    X = np.exp2(np.round(frame[list("abcde")].to_numpy(), 3))
    kept, y = np.log2(np.maximum(X, 0.75)), frame["kind"].to_numpy()
    problem = naive.lda_problem(kept, y, 2, "logdet", shrinkage=0.2)
    told = HOW | {"log2_floor": 0.75, "ignore": ["note"]}
    lines = naive.prove(problem, names=list("abcde"), table=told)
    proof = write_proof(tmp_path / "proof.jsonl", lines)
    path = tmp_path / "raw.csv"
    raw = pd.DataFrame(X, columns=list("abcde")).assign(note="x", kind=y)
    raw.to_csv(path, index=False, float_format="%.17g")
    run("check-proof", proof, path)
    untold = write_proof(tmp_path / "untold.jsonl", [lines[0] | {"table": None}, *lines[1:]])
    options = ("--target", "kind", "--log2", "--log2-floor", "0.75", "--ignore", "note")
    run("check-proof", untold, path, *options)
    run("check-proof", untold, path, *options[:2], "--ignore", "note", code=1)


def test_archives(run, frame: pd.DataFrame, tmp_path: Path) -> None:
    X, y = frame[list("abcde")].to_numpy(), frame["kind"].to_numpy().astype(str)
    A, B = X.T @ X, np.eye(5) + 0.1
    A = (A + A.T) / 2
    cases = {
        "lda": (naive.lda_problem(X, y, 2, "trace", shrinkage=0.1), {"X": X, "y": y}),
        "pca": (naive.pca_problem(X, 2), {"X": X}),
        "cca": (naive.cca_problem(X[:, :2], X[:, 2:], (1, 1), (0.1, 0.1)),
                {"X": X[:, :2], "Y": X[:, 2:]}),
        "matrices": (naive.matrix_problem(A, B, 2, "trace"), {"A": A, "B": B}),
    }  # fmt: skip
    for name, (problem, arrays) in cases.items():
        proof = write_proof(tmp_path / f"{name}.jsonl", naive.prove(problem))
        np.savez(tmp_path / f"{name}.npz", **arrays)
        run("check-proof", proof, tmp_path / f"{name}.npz")
    wrong = run("check-proof", tmp_path / "cca.jsonl", tmp_path / "pca.npz", code=2)
    assert "has no array Y; an .npz file with the arrays X and Y is needed" in wrong.stderr
    wrong = run("check-proof", tmp_path / "matrices.jsonl", tmp_path / "cca.jsonl", code=2)
    assert "is not a readable .npz file" in wrong.stderr


def test_two_tables(run, frame: pd.DataFrame, tmp_path: Path) -> None:
    X = frame[list("abcde")]
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, part in zip(paths, (X[["a", "b"]], X[["c", "d", "e"]])):
        part.to_csv(path, index=False)
    problem = naive.cca_problem(X[["a", "b"]].to_numpy(), X[["c", "d", "e"]].to_numpy(), (1, 2),
                                (0.1, 0.1))  # fmt: skip
    proof = write_proof(tmp_path / "proof.jsonl", naive.prove(problem, names=list("abcde")))
    run("check-proof", proof, paths[0], "--second", paths[1])
    wrong = run("check-proof", proof, paths[1], "--second", paths[0], code=2)
    assert "not those of the proof" in wrong.stderr


def test_a_false_proof(run, proof: Path, table: Path) -> None:
    header, *tree = read_proof(proof)
    write_proof(proof, [header | {"bound": 0.99 * header["bound"], "objective": 0.0}, *tree])
    result = run("check-proof", proof, table, code=1)
    assert result.stdout.startswith("Not proved: line ")
    found = json.loads(run("check-proof", proof, table, "--json", code=1).stdout)
    assert found["accepted"] is False
    assert found["bound"] is None
    assert found["line"] >= 1


def test_a_damaged_proof(run, proof: Path, table: Path) -> None:
    proof.write_bytes(proof.read_bytes().replace(b"optimal", b"feasible"))
    assert "the digest does not fit" in run("check-proof", proof, table, code=1).stdout


def test_wrong_use(run, proof: Path, table: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    assert "is no proof file" in run("check-proof", table, table, code=2).stderr
    assert "No such file" in run("check-proof", "none.jsonl", table, code=2).stderr
    assert "none.csv" in run("check-proof", proof, "none.csv", code=2).stderr
    assert "--second is for a CCA" in run(
        "check-proof", proof, table, "--second", table, code=2
    ).stderr  # fmt: skip
    frame.rename(columns={"b": "other"}).to_csv(tmp_path / "renamed.csv", index=False)
    said = run("check-proof", proof, tmp_path / "renamed.csv", code=2).stderr
    assert "has not the features of the proof" in said
    header, *tree = read_proof(proof)
    untold = write_proof(tmp_path / "untold.jsonl", [header | {"table": None}, *tree])
    assert "add --target" in run("check-proof", untold, table, code=2).stderr
