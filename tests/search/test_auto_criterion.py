"""criterion="auto" is the one that belongs to the pencil, whoever asks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.datasets import load_wine

import eigensieve as es
from eigensieve.errors import InputError


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    return load_wine(return_X_y=True)


def wilks(pencil: es.Pencil, S: np.ndarray) -> float:
    """log det(A_S + B_S) - log det B_S."""
    A, B = pencil.A[np.ix_(S, S)], pencil.B[np.ix_(S, S)]
    return float(np.linalg.slogdet(A + B)[1] - np.linalg.slogdet(B)[1])


def test_what_the_estimator_proves_the_certificate_confirms(wine) -> None:
    X, y = wine
    pencil, model = es.lda_pencil(X, y), es.SparseLDA(4, solver="exact").fit(X, y)
    claim = es.certify(pencil, model.solution_.support)
    assert claim.is_certified
    assert claim.better is None
    assert claim.objective == pytest.approx(wilks(pencil, model.solution_.support))
    found = es.solve(pencil, 4, "exact")
    np.testing.assert_array_equal(found.support, model.solution_.support)
    path = es.solve_path(pencil, [4], "exact")
    np.testing.assert_array_equal(path[4].support, model.solution_.support)


def test_an_explicit_criterion_wins(wine) -> None:
    pencil = es.lda_pencil(*wine)
    found = es.solve(pencil, 4, "exact", "lambda_max")
    S = found.support
    top = linalg.eigh(pencil.A[np.ix_(S, S)], pencil.B[np.ix_(S, S)], eigvals_only=True)[-1]
    assert found.criterion == "lambda_max"
    assert found.objective == pytest.approx(top)
    assert es.certify(pencil, S, "lambda_max").is_certified
    assert not es.certify(pencil, S).is_certified  # the best by log-det is another set


def test_every_kind_of_pencil_has_its_own(wine) -> None:
    X, y = wine
    tables = {
        "logdet": [es.lda_pencil(X, y), es.lda_pencil(X, y, class_weight="balanced")],
        "lambda_max": [es.pca_pencil(X), es.cca_pencil(X[:, :5], X[:, 5:]), es.Pencil(X.T @ X)],
    }
    for criterion, pencils in tables.items():
        for pencil in pencils:
            assert pencil.criterion == criterion
            for part in (pencil.take(np.arange(5)), pencil.restrict(np.arange(5))):
                assert part.criterion == criterion
            k = (1, 1) if pencil.blocks is not None else 2
            assert es.solve(pencil, k).criterion == criterion
            assert es.solve(pencil, k, exclude=[3]).criterion == criterion
    wide = np.random.default_rng(0).normal(size=(9, 1500))  # kept as factors
    factors = es.lda_pencil(wide, np.arange(9) % 3)
    assert factors.take(np.arange(700)).criterion == "logdet"
    assert factors.restrict(np.arange(4)).criterion == "logdet"


@pytest.mark.parametrize("solver", ["dc", "scotlass", "levelset"])
def test_a_solver_of_one_direction_takes_lambda_max(wine, solver: str) -> None:
    pencil = es.lda_pencil(*wine)
    assert es.solve(pencil, 3, solver).criterion == "lambda_max"
    assert es.SparseLDA(3, solver=solver).fit(*wine).solution_.criterion == "lambda_max"
    with pytest.raises(ValueError, match="needs a rank-one A for criterion 'logdet'"):
        es.solve(pencil, 3, solver, "logdet")


def test_optimal_says_its_tolerance_where_it_is_not_the_usual_one(wine) -> None:
    X, y = wine
    pencil = es.lda_pencil(X, y)
    rough = es.solve(pencil, 4, "exact", gap_tol=0.5)
    assert rough.gap > 1e-6
    assert "status=optimal within gap_tol=0.5" in repr(rough)
    assert "status=optimal," in repr(es.solve(pencil, 4, "exact"))
    rough = es.GroupLassoLDA(alpha=0.3, tol=0.01).fit(X / X.std(axis=0), y).solution_
    assert rough.kkt > 1e-6
    assert "status=optimal within tol=0.01" in repr(rough)
    assert "status=optimal," in repr(es.GroupLassoLDA(alpha=0.3).fit(X, y).solution_)


def test_one_number_is_printed_once(wine) -> None:
    """Where the best set is known, the sentence says how much higher it scores, and nobody else."""
    pencil = es.lda_pencil(*wine)
    for S in ([0, 1], [3, 4], [1, 2, 7], [2, 3, 4, 7]):
        claim = es.certify(pencil, S)
        assert claim.is_better_best
        best = es.solve(pencil, len(S), "exhaustive").objective
        ratio = best / wilks(pencil, np.array(S))
        higher = f"{100 * (ratio - 1):.3g} % higher" if ratio < 10 else f"{ratio:.3g} times as much"
        assert f"scores {higher}" in claim.explain()
        assert claim.bound == pytest.approx(best, rel=1e-6)
        assert claim.describe_bound() == f"{claim.bound:.6g}, that of the better set"


def test_a_table_and_the_names_of_its_columns(wine) -> None:
    frame, y = load_wine(return_X_y=True, as_frame=True)
    names = ["alcohol", "flavanoids", "proline"]
    by_name = es.certify(frame, y, features=names)
    by_index = es.certify(es.lda_pencil(frame, y), frame.columns.get_indexer(names))
    assert (by_name.objective, by_name.bound) == (by_index.objective, by_index.bound)
    assert es.certify(*wine, features=by_name.support).objective == pytest.approx(
        by_name.objective, rel=1e-12
    )
    with pytest.raises(InputError, match="1 of 1 names not found: 'beer'"):
        es.certify(frame, y, features=["beer"])
    with pytest.raises(InputError, match="'alcohol' is a name, and the features have no names"):
        es.certify(*wine, features=names)
    with pytest.raises(InputError, match="must be a list"):
        es.certify(frame, y, features="alcohol")
