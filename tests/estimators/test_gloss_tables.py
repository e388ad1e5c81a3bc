"""GroupLassoLDA on tables that are not arrays: what tests/contracts/test_tables.py has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from eigensieve import GroupLassoLDA, GroupLassoLDACV, ScoringProblem, gloss_path
from eigensieve.errors import InputError, OptionError
from eigensieve.scoring import group_lasso_columns
from tests.big_tables import as_kind, assert_same_fit, make_classes
from tests.oracles.group_lasso import second_differences

SHAPES = {"wide": (40, 150), "tall": (120, 30), "square": (50, 50)}
FITTED = (
    "support_", "scalings_", "xbar_", "means_", "priors_", "eigenvalues_", "alpha_", "lambda_max_",
    "coef_", "intercept_", "explained_variance_ratio_",
)  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "full": {"weights": "std"},
    "ridge": {"alpha": 0.2, "ridge": 0.1},
    "diagonal": {"within": "diagonal"},
}


@pytest.fixture
def small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Working sets so small that columns must join."""
    monkeypatch.setattr(group_lasso_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(group_lasso_columns, "MIN_COLUMNS", 6)


def assert_same(found: Any, wanted: Any, X: np.ndarray, tol: float = 1e-8) -> None:
    assert_same_fit(found, wanted, X, FITTED, tol)


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["csc", "dask tiles"])
def test_the_proof_holds_for_the_array(kind: str, options: str, shape: str, tmp_path: Path) -> None:
    X, y = make_classes(SHAPES[shape], 3, density=0.5)
    found = GroupLassoLDA(5, **OPTIONS[options]).fit(as_kind(X, kind, tmp_path), y)
    assert found.solution_.is_certified
    of_the_problem = {name: value for name, value in OPTIONS[options].items() if name != "alpha"}
    found.solution_.verify(ScoringProblem.from_data(X, y, **of_the_problem))


def test_equal_means_are_refused(tmp_path: Path) -> None:
    X, y = np.ones((40, 30)), np.arange(40) % 2
    for kind in ("csr", "dask tiles"):
        with pytest.raises(InputError, match="means are all equal"):
            GroupLassoLDA().fit(as_kind(X, kind, tmp_path), y)


def test_cross_validation_reads_a_mapped_table(tmp_path: Path) -> None:
    X, y = make_classes((40, 30), 2)
    mapped = as_kind(X, "memmap", tmp_path)  # what joblib gives to its processes
    lda = GroupLassoLDACV([0.5, 0.1], cv=3)
    assert_same(clone(lda).fit(mapped, y), clone(lda).fit(X, y), X, tol=1e-15)


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("kind", ["csc", "dask tiles"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_paths(kind: str, n_classes: int, tmp_path: Path) -> None:
    X, y = make_classes((36, 100), n_classes)
    alphas = [0.9, 0.4, 0.1]
    for ridge in (0.0, second_differences(100)):
        wanted = gloss_path(X, y, alphas, ridge=ridge)
        found = gloss_path(as_kind(X, kind, tmp_path), y, alphas, ridge=ridge)
        for a, b in zip(found.solutions, wanted.solutions, strict=True):
            assert np.array_equal(a.support, b.support)
            np.testing.assert_allclose(a.rows, b.rows, atol=1e-8 * np.abs(b.rows).max())
            a.verify(found.problem)
            a.verify(wanted.problem)
            assert a.is_certified


def test_columns_do_join(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classes((36, 200), 2)
    sizes = []
    begin = group_lasso_columns.ColumnSearch._begin

    def watch(self: Any, working: np.ndarray) -> None:
        sizes.append(working.size)
        begin(self, working)

    monkeypatch.setattr(group_lasso_columns.ColumnSearch, "_begin", watch)
    monkeypatch.setattr(group_lasso_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(group_lasso_columns, "MIN_COLUMNS", 4)
    GroupLassoLDA(15).fit(sparse.csr_array(X), y)
    assert sizes[0] == 4
    assert len(sizes) > 2
    assert sizes[-1] < 200


@pytest.mark.usefixtures("small_sets")
def test_the_first_of_copies_is_used() -> None:
    X, y = make_classes((40, 150), 2)
    X[:, [5, 60, 149]] = X[:, [0]]  # 0 enters first, and 60, or 149, may be in the set before it
    X[:, [0, 149]] = X[:, [149, 0]]
    used = GroupLassoLDA(alpha=0.1).fit(sparse.csc_array(X), y).get_support(indices=True)
    assert 0 in used
    assert not {5, 60, 149, 20} & set(used.tolist())


def test_time_limit_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classes((40, 400), 3)
    monkeypatch.setattr(group_lasso_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(group_lasso_columns, "MIN_COLUMNS", 2)
    lda = GroupLassoLDA(alpha=0.05, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="ended early"):
        lda.fit(sparse.csr_array(X), y)
    assert not lda.solution_.is_certified
    lda.solution_.verify(ScoringProblem.from_data(X, y))  # its figures are those of all columns


def test_a_class_of_one_and_too_many_features() -> None:
    X, y = make_classes((60, 28), 2)
    X, y[0] = X[:, :25], "z"  # without the constant column
    with pytest.warns(UserWarning, match="only 25 features"):
        wanted = GroupLassoLDA(99, ridge=0.1).fit(X, y)
    with pytest.warns(UserWarning, match="only 25 features") as caught:
        found = GroupLassoLDA(99, ridge=0.1).fit(sparse.csr_array(X), y)
    assert_same(found, wanted, X)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("rule", ["penalized", "lda", "centroid"])
@pytest.mark.parametrize("within", ["full", "diagonal"])
@pytest.mark.parametrize("kind", ["array", "csr", "dask tiles"])
def test_partial_fit(kind: str, within: str, rule: str, tmp_path: Path) -> None:
    X, y = make_classes((90, 30), 3)
    order = np.argsort(y, kind="stable")  # the first part has one class only
    X, y = X[order] + 1e4, y[order]
    lda = GroupLassoLDA(6, within=within, rule=rule)
    wanted, found = clone(lda).fit(X, y), clone(lda)
    for start, stop in ((0, 25), (25, 65), (65, 90)):
        part = X[start:stop]
        table = part if kind == "array" else as_kind(part, kind, tmp_path)
        found.partial_fit(table, y[start:stop], classes=["a", "b", "c"])
        if stop == 25:
            with pytest.raises(NotFittedError, match=r"one class only .* has come so far"):
                found.predict(X)
    assert_same(found, wanted, X)
    assert_same(found.fit(X[10:], y[10:]), clone(lda).fit(X[10:], y[10:]), X)
    found.partial_fit(X, y)  # begins anew
    assert_same(found, wanted, X)


def test_partial_fit_refuses() -> None:
    X, y = make_classes((60, 30), 2)
    with pytest.raises(OptionError, match="1-nn"):
        GroupLassoLDA(rule="1-nn").partial_fit(X, y)
    with pytest.raises(InputError, match=r"one class only.*announce all classes"):
        GroupLassoLDA().partial_fit(X[:10], np.full(10, "a"))
    lda = GroupLassoLDA(4).partial_fit(X[:40], y[:40], classes=["a", "b"])
    with pytest.raises(InputError, match="not one of classes"):
        lda.partial_fit(X[40:], np.full(20, "z"))
    with pytest.raises(ValueError, match="features"):
        lda.partial_fit(X[40:, 1:], y[40:])
    lda.partial_fit(X[40:], y[40:])  # what was refused did not count
    assert_same(lda, GroupLassoLDA(4).fit(X, y), X)
