"""The spectral bound is above every set, and what it screens out is in no better one."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search import spectral_bound as module
from eigensieve.search.spectral_bound import TraceBound, spectral_upper_bound
from tests.contracts.bank import problem_bank
from tests.oracles import naive

BANK = problem_bank()


@pytest.mark.parametrize("name", BANK)
@pytest.mark.parametrize("dense_limit", [500, 0])
def test_bound_holds_for_every_set(
    name: str, dense_limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DENSE_LIMIT", dense_limit)
    pencil = BANK[name]
    A, B = pencil.A, pencil.B
    for k in sorted({1, min(2, pencil.size), min(4, pencil.size), pencil.size}):
        for include in ([], [0]):
            problem = make_problem(pencil, k, include=include)
            sets = [S for S in itertools.combinations(range(pencil.size), k) if {*include} <= {*S}]
            values = np.array([naive.score(A, B, list(S), "lambda_max") for S in sets])
            bound = spectral_upper_bound(problem)
            # what an eigen-solve itself is off by where B is near-singular
            error = 1e-15 * np.linalg.cond(B / np.sqrt(np.outer(pencil.diag_B, pencil.diag_B)))
            assert bound >= values.max() - max(error, 1e-12) * max(1.0, abs(values.max()))
            top = float(np.abs(pencil.top()[0][0]))
            slack = 1e-8 + 10 * error
            assert bound <= top + slack * max(top, pencil.scale) or name == "zero A"
            assert spectral_upper_bound(problem, float(values.max())) >= values.max()
            middle = float(np.median(values))
            mask = TraceBound(problem).may_exceed(middle)
            above = {j for S, v in zip(sets, values) if v > middle for j in S}
            assert above <= set(np.flatnonzero(mask).tolist())


def test_negative_definite_A() -> None:
    rng = np.random.default_rng(1)
    M = rng.normal(size=(8, 8))
    A = -(M @ M.T) - np.eye(8)
    best, _ = naive.best(A, np.eye(8), 3, "lambda_max")
    bound = spectral_upper_bound(make_problem(es.Pencil(A), 3))
    assert best <= bound < 0


def test_quotas_count_per_view() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25, 4))
    pencil = es.cca_pencil(X, X @ rng.normal(size=(4, 5)) + rng.normal(size=(25, 5)), shrinkage=1.0)
    bound = spectral_upper_bound(make_problem(pencil, (1, 2)))
    values = [
        naive.score(pencil.A, pencil.B, [i, *j], "lambda_max")
        for i in range(4)
        for j in itertools.combinations(range(4, 9), 2)
    ]
    assert max(values) <= bound + 1e-12
    assert bound <= spectral_upper_bound(make_problem(pencil, 3)) + 1e-6


def test_wide_data_are_quick_and_tight() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6000))
    X[:, :20] += 4 * rng.normal(size=(100, 1))
    problem = make_problem(es.pca_pencil(X), 10)
    began = time.perf_counter()
    bound = spectral_upper_bound(problem)
    assert time.perf_counter() - began < 3.0  # .1 s where nothing else runs
    value = problem.score(np.argsort(-np.abs(problem.pencil.top()[1][:, 0]))[:10])
    assert value <= bound <= 1.2 * value
    assert np.count_nonzero(TraceBound(problem).may_exceed(value)) < 100
