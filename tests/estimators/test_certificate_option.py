"""What a fitted estimator says of the optimum: ``certificate`` and ``solver="exact"``."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

import eigensieve as es
from eigensieve.estimators import _shared
from eigensieve.pencil.solution import Status
from eigensieve.search.deflation import deflate
from tests.oracles import naive

CRITERIA = ("lambda_max", "trace", "logdet")


def make_data(n: int = 60, p: int = 12, K: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, p))
    X[np.arange(n), y] += 1.0
    return X, y


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("K", [2, 3])
def test_a_greedy_fit_has_a_valid_bound(criterion: str, K: int) -> None:
    X, y = make_data(K=K)
    lda = es.SparseLDA(4, solver="greedy", criterion=criterion, shrinkage=0.4).fit(X, y)
    pencil = es.lda_pencil(X, y, shrinkage=0.4)
    best, _ = naive.best(pencil.A, pencil.B, 4, criterion)
    lda.solution_.verify(pencil)
    assert best * (1 - 1e-9) <= lda.solution_.bound < math.inf
    assert lda.solution_.gap < 1
    none = es.SparseLDA(4, criterion=criterion, shrinkage=0.4, certificate="none").fit(X, y)
    assert none.solution_.bound == math.inf
    np.testing.assert_array_equal(none.support_, lda.support_)
    np.testing.assert_array_equal(none.coef_, lda.coef_)


def test_the_bound_is_that_of_the_allowed_sets() -> None:
    X, y = make_data()
    constraints = {"include": [7], "exclude": [0, 1]}
    lda = es.SparseLDA(3, shrinkage=0.4, **constraints).fit(X, y)
    pencil = es.lda_pencil(X, y, shrinkage=0.4)
    rest = [j for j in range(12) if j not in (0, 1, 7)]
    pairs = [(7, a, b) for a in rest for b in rest if a < b]
    best = max(naive.score(pencil.A, pencil.B, sorted(S), "logdet") for S in pairs)
    free = naive.best(pencil.A, pencil.B, 3, "logdet")[0]
    assert best * (1 - 1e-9) <= lda.solution_.bound < free


def test_what_is_proved_already_is_not_bounded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: object) -> float:
        raise AssertionError("a root bound was computed")

    monkeypatch.setattr(_shared, "root_bound", forbidden)
    X, y = make_data()
    assert es.SparseLDA(3, solver="exhaustive").fit(X, y).solution_.is_certified
    es.SparseLDA(3, certificate="none").fit(X, y)
    es.SparsePCA(2, n_features_to_select=3, certificate="none").fit(X)
    models = es.SparseLDA(solver="greedy").fit_path(X, y, ks=[2, 5])
    assert [model.solution_.bound for model in models.values()] == [math.inf, math.inf]
    with pytest.raises(AssertionError, match="a root bound was computed"):
        es.SparseLDA(3, solver="greedy").fit(X, y)


def test_a_bound_that_closes_the_gap_is_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data()
    plain = es.SparseLDA(3, solver="greedy", certificate="none").fit(X, y).solution_
    assert plain.status is Status.CONVERGED
    for share, status in ((1e-9, Status.OPTIMAL), (-1e-9, Status.OPTIMAL), (0.1, plain.status)):
        bound = plain.objective * (1 + share)
        monkeypatch.setattr(_shared, "root_bound", lambda problem, support, b=bound: b)
        found = es.SparseLDA(3, solver="greedy").fit(X, y).solution_
        assert found.status is status
        assert found.bound == pytest.approx(max(bound, plain.objective), rel=1e-12)


def test_after_ctrl_c_nothing_more_is_computed() -> None:
    X, y = make_data()
    pencil = es.lda_pencil(X, y, shrinkage=0.4)
    cut = dataclasses.replace(es.solve(pencil, 3), status=Status.INTERRUPTED)
    assert _shared.with_certificate("root", cut, pencil) is cut


@pytest.mark.parametrize("deflation", ["projection", "hotelling"])
def test_every_component_has_the_bound_of_its_own_problem(deflation: str) -> None:
    X = make_data()[0]
    pca = es.SparsePCA(3, n_features_to_select=(4, 3, 2), deflation=deflation).fit(X)
    pencil = es.pca_pencil(X)
    for i, solution in enumerate(pca.solutions_):
        solution.verify(pencil)
        best, _ = naive.best(pencil.A, pencil.B, solution.k, "lambda_max")
        assert best * (1 - 1e-9) <= solution.bound < 3 * best
        pencil = deflate(pencil, pca.components_[: i + 1].T, deflation)


@pytest.mark.parametrize("value", ["leaf", None, True, 1])
def test_other_certificates_are_refused(value: object) -> None:
    X, y = make_data()
    for estimator in (es.SparseLDA(3, certificate=value), es.SparsePCA(certificate=value)):
        with pytest.raises(es.errors.OptionError, match="it must be one of root, none"):
            estimator.fit(X, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_exact_lda_with_threads(criterion: str) -> None:
    X, y = make_data(K=3)
    options = {"n_jobs": 2}
    lda = es.SparseLDA(
        4, solver="exact", criterion=criterion, shrinkage=0.4, time_limit=60, solver_options=options
    ).fit(X, y)
    pencil = es.lda_pencil(X, y, shrinkage=0.4)
    best, support = naive.best(pencil.A, pencil.B, 4, criterion)
    assert lda.solution_.is_certified
    assert lda.get_support(indices=True).tolist() == support
    assert lda.solution_.objective == pytest.approx(best)


def test_exact_pca() -> None:
    X = make_data()[0]
    pca = es.SparsePCA(2, n_features_to_select=4, solver="exact", time_limit=60).fit(X)
    pencil = es.pca_pencil(X)
    for solution in pca.solutions_:
        _, support = naive.best(pencil.A, pencil.B, 4, "lambda_max")
        assert solution.is_certified
        assert solution.support.tolist() == support
        pencil = deflate(pencil, pca.components_[:1].T)


def test_a_time_limit_keeps_the_best_set_with_its_bound() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), np.arange(40) % 3
    lda = es.SparseLDA(20, solver="exact", shrinkage=0.1, time_limit=0.0)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        lda.fit(X, y)
    assert lda.solution_.status is Status.TIME_LIMIT
    assert lda.solution_.objective < lda.solution_.bound < math.inf
    assert lda.predict(X).shape == (40,)


def test_an_exact_path_is_certified_throughout() -> None:
    X, y = load_wine(return_X_y=True)
    models = es.SparseLDA(solver="exact").fit_path(X, y, ks=[1, 3, 6])
    pencil = es.lda_pencil(X, y)
    for k, model in models.items():
        assert model.solution_.is_certified
        best, _ = naive.best(pencil.A, pencil.B, k, "logdet")
        assert model.solution_.objective == pytest.approx(best, rel=1e-6)
