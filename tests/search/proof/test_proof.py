"""Proofs as they are written: what is refused, what a limit leaves, what the header says.

Whether they hold is judged by the checker, in tests/proofs.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.problem import make_problem


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "best.proof"


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 12)), np.arange(40) % 3
    X[:, 2] += y
    X[:, 7] -= y == 1
    return X, y


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("criterion", ["lambda_max", "trace", "logdet"])
def test_the_solution_claims_what_the_file_does(file: Path, data, criterion: str) -> None:
    pencil = es.lda_pencil(*data, shrinkage=0.4)
    plain = es.solve(pencil, 3, "exact", criterion)
    shown = es.solve(pencil, 3, "exact", criterion, proof=file)
    shown.verify(pencil)
    assert shown.is_certified
    assert shown.support.tolist() == plain.support.tolist()
    header = read(file)[0]
    assert header["bound"] == shown.bound
    assert header["objective"] == pytest.approx(shown.objective, rel=1e-12)
    assert header["support"] == shown.support.tolist()
    assert header["status"] == "optimal"
    score = make_problem(pencil, 3, criterion).score
    assert shown.bound >= max(score(list(S)) for S in combinations(range(12), 3))


def test_the_digest_is_that_of_all_lines_before(file: Path, data) -> None:
    es.solve(es.lda_pencil(*data), 3, "exact", "logdet", proof=file)
    lines = file.read_bytes().splitlines(keepends=True)
    expected = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    assert json.loads(lines[-1]) == {"digest": expected}


def test_a_tree_is_whole(file: Path, data) -> None:
    es.solve(es.lda_pencil(*data, shrinkage=0.01), 4, "exact", "trace", proof=file)
    open_nodes = 1
    for record in read(file)[1:-1]:
        assert open_nodes > 0
        open_nodes += {"branch": 1, "fix": 0, "leaf": -1}[next(iter(record))]
    assert open_nodes == 0


@pytest.mark.parametrize("criterion", ["lambda_max", "trace", "logdet"])
def test_a_time_limit_leaves_a_proof_of_less(file: Path, data, criterion: str) -> None:
    pencil = es.lda_pencil(*data, shrinkage=0.0)
    best = es.solve(pencil, 4, "exact", criterion)
    shown = es.solve(pencil, 4, "exact", criterion, time_limit=0, proof=file)
    shown.verify(pencil)
    assert best.objective <= shown.bound < np.inf
    assert shown.status is es.Status.TIME_LIMIT or shown.is_certified
    assert read(file)[0]["bound"] == shown.bound
    assert es.check_proof(file, *data).accepted


@pytest.mark.parametrize("seconds", [0, 0.001, 0.02])
def test_any_moment_will_do(file: Path, seconds: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pencil = es.lda_pencil(X, y, shrinkage=0.0)
    for criterion in ("trace", "logdet"):
        es.solve(pencil, 5, "exact", criterion, time_limit=seconds, proof=file)
        es.check_proof(file, X, y).raise_if_rejected()


def test_excluded_features_do_not_set_the_scale(file: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 6))
    X[:, 1] += y
    X[:, 0] = y  # separates the classes without an error
    for criterion in ("lambda_max", "trace", "logdet"):
        pencil = es.lda_pencil(X, y, shrinkage=0.5)
        assert es.solve(pencil, 2, "exact", criterion, exclude=[0], proof=file).is_certified
        es.check_proof(file, X, y).raise_if_rejected()


def test_class_means_on_a_line(file: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    column = rng.normal(size=(30, 1)) + y[:, None]
    X = column * [1.0, 2.0, 3.0, 0.5]
    for criterion in ("lambda_max", "trace", "logdet"):
        es.solve(es.lda_pencil(X, y, shrinkage=0.5), 2, "exact", criterion, proof=file)
        es.check_proof(file, X, y).raise_if_rejected()


@pytest.mark.parametrize("scales", [[1.0, 0.0, -0.0], [1.0, 2.0, 0.5]])
def test_components_of_a_table_on_a_line(file: Path, scales: list[float]) -> None:
    """A covariance of rank one: the proof is about the table, as of any other rank."""
    X = np.random.default_rng(25).normal(size=(8, 1)) * scales
    best = max(X.var(axis=0))
    shown = es.solve(es.pca_pencil(X), 1, "exact", "lambda_max", proof=file)
    verdict = es.check_proof(file, X=X)
    verdict.raise_if_rejected()
    assert verdict.bound == shown.bound >= best
    assert shown.objective == pytest.approx(best, rel=1e-9)


def test_a_set_of_some_blocks(file: Path) -> None:
    W = np.random.default_rng(0).normal(size=(9, 7))
    A = W.T @ W
    pencil = es.Pencil(A, blocks=[0, 1, 2, 0, 1, 2, 2])
    for chosen in ([0, 1], [3, 5, 6], [2, 5]):
        es.certify(pencil, chosen, time_limit=None, proof=file)
        es.check_proof(file, A=A, blocks=pencil.blocks).raise_if_rejected()


def test_one_is_written_where_there_is_no_choice(file: Path, data) -> None:
    pencil = es.lda_pencil(*data)
    assert es.solve(pencil, 12, "exact", "logdet", proof=file).is_certified
    claim = es.certify(pencil, np.arange(12), "logdet", proof=file)
    assert claim.is_certified
    assert claim.bound == read(file)[0]["bound"]
    assert read(file)[0]["support"] == list(range(12))


def test_certify_speaks_of_the_given_set(file: Path, data) -> None:
    pencil = es.lda_pencil(*data, shrinkage=0.4)
    claim = es.certify(pencil, [0, 1, 3], "logdet", proof=file)
    header = read(file)[0]
    assert header["support"] == [0, 1, 3]
    assert header["objective"] == pytest.approx(claim.objective, rel=1e-12)
    assert header["bound"] == claim.bound
    assert header["status"] == "feasible"
    assert claim.better is not None


def test_wishes_are_in_the_header_by_the_users_numbers(file: Path, data) -> None:
    pencil = es.lda_pencil(*data, shrinkage=0.4)
    found = es.solve(pencil, 4, "exact", "logdet", include=[5], exclude=[2, 0], proof=file)
    header = read(file)[0]
    assert (header["include"], header["exclude"]) == ([5], [0, 2])
    assert 5 in found.support
    assert not {0, 2} & set(found.support)


def test_classes_are_named_by_a_sample(file: Path, data) -> None:
    X, y = data
    labels = np.array(["ten", "two", "a"])[y]
    es.solve(es.lda_pencil(X, labels), 3, "exact", "logdet", proof=file)
    members = read(file)[0]["pencil"]["members"]
    assert [labels[i] for i in members] == sorted(set(labels))


def test_what_cannot_be_proved_is_refused(file: Path, data, tmp_path: Path) -> None:
    X, y = data
    pencil = es.lda_pencil(X, y)
    with pytest.raises(OptionError, match="proves nothing"):
        es.solve(pencil, 3, "greedy", proof=file)
    with pytest.raises(OptionError, match="path of a file"):
        es.solve(pencil, 3, "exact", proof=7)
    with pytest.raises(InputError, match="folder must exist"):
        es.solve(pencil, 3, "exact", proof=tmp_path / "nowhere" / "x.proof")
    with pytest.raises(InputError, match="no file that could be written"):
        es.solve(pencil, 3, "exact", proof=tmp_path)
    views = es.Pencil(np.eye(4), blocks=[0, 0, 1, 1])
    with pytest.raises(OptionError, match="per block"):
        es.solve(views, (1, 1), "exact", "trace", proof=file)
    wide = sparse.random(30, 900, 0.1, random_state=0, format="csr")
    with pytest.raises(OptionError, match="dense array"):
        es.solve(es.lda_pencil(wide, np.arange(30) % 2), 3, "exact", "trace", proof=file)
    many = es.cca_pencil(*np.random.default_rng(0).normal(size=(2, 20, 300)))
    with pytest.raises(OptionError, match="at most 500 features"):
        es.solve(many, 3, "exact", proof=file)
    assert not file.exists()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no file that could be written"):
        es.solve(pencil, 3, "exact", proof=pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_failed_write_leaves_the_old_file(file: Path, data, monkeypatch) -> None:
    pencil = es.lda_pencil(*data)
    es.solve(pencil, 3, "exact", "logdet", proof=file)
    before = file.read_bytes()

    def break_off(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "replace", break_off)
    with pytest.raises(OSError, match="disk is full"):
        es.solve(pencil, 4, "exact", "logdet", proof=file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]
