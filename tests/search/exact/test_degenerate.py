"""Tables that leave B next to nothing: constant, equal and dependent columns, no shrinkage.

Divisions by what is zero but for rounding, or exactly zero, must neither end a search nor make it
claim what brute force refutes.
"""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import eigensieve as es
from eigensieve.cli.main import cli
from eigensieve.search.exact.leaps.relax_kernel import MIN_WEIGHT, spread
from eigensieve.search.exact.perspective.moves_kernel import tune_diagonal
from eigensieve.search.solve import find_solvers
from tests.oracles.exact import Truth, judge
from tests.oracles.instances import CRITERIA, Instance

Rng = np.random.Generator


def instance(pencil: es.Pencil, k: int, criterion: str, seed: int = 0) -> Instance:
    return Instance(seed, "degenerate", pencil, k, criterion, (), ())


def constant_column(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(13, 30))
    X[:, 5] = 0
    return X, np.arange(13) % 2


@pytest.mark.parametrize("seed", range(10))
def test_a_constant_column_without_shrinkage(seed: int) -> None:
    X, y = constant_column(seed)
    found = es.SparseLDA(3, solver="exact", shrinkage=0.0).fit(X, y).solution_
    pencil = es.lda_pencil(X, y, 0.0)
    assert judge(instance(pencil, 3, found.criterion), found) == []
    assert es.certify(pencil, found.support, criterion=found.criterion).objective == (
        pytest.approx(found.objective, rel=1e-6)
    )


def test_a_constant_column_on_the_command_line(tmp_path) -> None:
    X, y = constant_column(0)
    names = [f"g{j}" for j in range(30)]
    lines = [",".join([*names, "class"])]
    lines += [",".join([*map(repr, row.tolist()), f"c{label}"]) for row, label in zip(X, y)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines))
    options = ["--target", "class", "--features", "g1,g2,g5", "--shrinkage", "0"]
    result = CliRunner().invoke(cli, ["certify", str(table), *options])
    assert result.exit_code == 0, result.output
    assert "g5" in result.output


def test_a_tuned_diagonal_stays_positive() -> None:
    X = np.round(np.random.default_rng(48).normal(size=(7, 17)))
    pencil = es.lda_pencil(X, np.arange(7) % 2, 0.0)
    found = es.solve(pencil, 4, "perspective", "trace")
    assert judge(instance(pencil, 4, "trace"), found) == []


def degenerate_table(rng: Rng, p: int) -> np.ndarray:
    X = rng.normal(size=(int(rng.integers(4, 12)), p))
    if rng.random() < 0.5:
        X = np.round(X * rng.choice([0.7, 1.0, 3.0]))
    if rng.random() < 0.6:
        X[:, rng.random(p) < rng.choice([0.2, 0.6])] = rng.choice([0.0, 1.0, 0.1, 1e6])
    for _ in range(rng.integers(0, 4)):
        i, j = rng.integers(p, size=2)
        X[:, j] = X[:, i] * rng.choice([1.0, -1.0, 0.1])
    if rng.random() < 0.2:
        i, j, m = rng.integers(p, size=3)
        X[:, m] = X[:, i] + X[:, j]
    if rng.random() < 0.05:
        X[:] = rng.choice([0.0, 1.0, 0.1])
    return X


def degenerate_instance(seed: int) -> Instance:
    rng = np.random.default_rng([seed, 25])
    p = int(rng.integers(3, 9))
    X, s = degenerate_table(rng, p), float(rng.choice([0.0, 0.0, 0.0, 1e-12, 0.1]))
    kind = rng.choice(["lda", "lda", "pca", "cca"])
    if kind == "lda":
        pencil = es.lda_pencil(X, rng.permutation(np.arange(len(X)) % rng.integers(2, 4)), s)
    else:
        half = p // 2
        pencil = es.pca_pencil(X) if kind == "pca" else es.cca_pencil(X[:, :half], X[:, half:], s)
    criterion = CRITERIA[rng.integers(3)] if pencil.is_psd else "lambda_max"
    return instance(pencil, int(rng.integers(1, p + 1)), criterion, seed)


def near_copies(seed: int) -> Instance:
    """Groups of columns with correlation 1 - 2^-m: differences are exact, and often exactly 0."""
    rng = np.random.default_rng([seed, 26])
    p = int(rng.integers(4, 9))
    B, group = np.eye(p), rng.integers(p // 2, size=p)
    same = (group[:, None] == group) & ~np.eye(p, dtype=bool)
    B[same] = 1 - 2.0 ** -int(rng.integers(20, 42))
    H = rng.integers(-2, 3, size=(int(rng.integers(1, 4)), p)).astype(float)
    if rng.random() < 0.5:
        H = H[:, group]
    if rng.random() < 0.4:
        H *= 2.0 ** rng.integers(-20, 20, size=p)
    pencil = es.Pencil(H.T @ H, B)
    return instance(pencil, int(rng.integers(1, 5)), CRITERIA[rng.integers(3)], seed)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("block", range(8))
@pytest.mark.parametrize("make", [degenerate_instance, near_copies])
def test_every_solver_survives_and_claims_nothing_false(make, block: int) -> None:
    for seed in range(20 * block, 20 * (block + 1)):
        problem = make(seed)
        truth = Truth(problem)
        for name in find_solvers():
            try:
                found = es.solve(problem.pencil, problem.k, name, problem.criterion)
            except es.errors.OptionError:
                continue  # not made for it
            assert judge(problem, found, truth) == [], (problem, name)


@pytest.mark.parametrize("gains", [[0.0, 1e5, 3e4, 2e9, 1e-3], [0.0] * 5, [1e-9, 0.0, 0.0, 0, 0]])
@pytest.mark.parametrize("need", [1, 2, 4])
def test_weights_sum_to_what_is_needed_whatever_the_gains(gains, need: int) -> None:
    w = np.array(gains)
    spread(w, np.array([0, 5]), np.array([need]))
    assert (w >= MIN_WEIGHT).all()
    assert (w <= 1).all()
    assert w.sum() == pytest.approx(need, abs=5 * MIN_WEIGHT)
    assert (np.diff(w[np.argsort(gains)]) >= 0).all()


def test_tuning_never_gives_up_more_than_it_says() -> None:
    """D >= .995 of what it was, also where steps are so much longer that a sum rounds it off."""
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        W = np.round(rng.normal(size=(4, 7)))
        S = W.T @ W + 1e-10 * np.eye(7)
        S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
        D = np.full(7, 1e-15)
        new = tune_diagonal(S, D, rng.exponential(size=7) * 10.0 ** rng.uniform(0, 12, size=7))
        found += new.size > 0
        assert (new >= 0.995 * D[: new.size]).all()
    assert found > 100
