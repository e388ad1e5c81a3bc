"""Every pencil made from the rows of a table knows it: its proofs are checked against the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.tables.builders import lda_problem, pca_problem

RNG = np.random.default_rng(0)
Y = np.arange(24) % 3
X = RNG.normal(size=(24, 8)) + Y[:, None] * RNG.normal(size=8)
FRAME = pd.DataFrame(X, columns=list("abcdefgh"))


def mapped(table: np.ndarray, folder: Path) -> Any:
    np.save(folder / "X.npy", table)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("criterion", ["logdet", "lambda_max"])
@pytest.mark.parametrize("table", [X, FRAME])
def test_sparse_lda(table: Any, criterion: str, tmp_path: Path) -> None:
    options = {"proof": tmp_path / "proof"}
    lda = es.SparseLDA(3, solver="exact", criterion=criterion, ridge=0.1, solver_options=options)
    lda.fit(table, Y)
    verdict = es.check_proof(tmp_path / "proof", table, Y)
    assert verdict.accepted, verdict.explain()
    assert verdict.problem["kind"] == "lda"
    assert verdict.support == tuple(lda.solution_.support.tolist())
    assert verdict.names == (None if table is X else tuple(lda.selected_features_))


def test_sparse_pca_and_cca(tmp_path: Path) -> None:
    options = {"solver": "exact", "solver_options": {"proof": tmp_path / "proof"}}
    es.SparsePCA(1, n_features_to_select=3, **options).fit(FRAME)
    verdict = es.check_proof(tmp_path / "proof", FRAME)
    assert verdict.accepted
    assert verdict.problem["kind"] == "pca"
    views = FRAME[list("abcd")], FRAME[list("efgh")]
    es.SparseCCA(1, n_features_to_select=(2, 1), **options).fit(*views)
    verdict = es.check_proof(tmp_path / "proof", views[0], Y=views[1])
    assert verdict.accepted
    assert verdict.problem["kind"] == "cca"


def test_one_file_is_the_proof_of_one_search(tmp_path: Path) -> None:
    options = {"solver": "exact", "solver_options": {"proof": tmp_path / "proof"}}
    with pytest.raises(OptionError, match=r"'proof': .* one search, and there are 2 here"):
        es.SparsePCA(2, n_features_to_select=3, **options).fit(X)
    cca = es.SparseCCA(2, n_features_to_select=2, **options)
    with pytest.raises(OptionError, match="there are 2 here"):
        cca.fit(X[:, :4], X[:, 4:])
    with pytest.raises(OptionError, match="there are 6 here"):
        cca.set_params(n_components=1).permutation_test(X[:, :4], X[:, 4:], n_permutations=5)
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize("shape", [(24, 8), (24, 30)])
def test_tables_on_disk(shape: tuple[int, int], tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=shape)
    file, proof = mapped(table, tmp_path), tmp_path / "proof"
    for pencil, given in ((es.pca_pencil(file), {}), (es.lda_pencil(file, Y), {"y": Y})):
        es.solve(pencil, 2, "exact", "lambda_max", proof=proof)
        verdict = es.check_proof(proof, table, **given)
        assert verdict.accepted, verdict.explain()


def test_what_the_checker_could_not_recompute_has_no_recipe() -> None:
    stats = es.ClassStats.from_data(X, Y)
    for problem in (lda_problem(X, Y, class_weight="balanced"), lda_problem(stats, shrinkage=0.5)):
        assert problem.pencil.recipe is None
    assert pca_problem(es.ClassStats.from_data(X, np.zeros(24))).pencil.recipe is None
    assert es.lda_pencil(X, Y).restrict([0, 1]).recipe is None
