"""The parameter ``constraints`` of SparseLDA, SparsePCA and SparseCCA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import eigensieve as es
from eigensieve.errors import InputError, OptionError

NAMES = [f"gene{j}" for j in range(20)]
FAMILIES = {"a": NAMES[:5], "b": NAMES[5:10]}
ONE_EACH = {"groups": FAMILIES, "at_most": 1}


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), np.arange(60) % 3
    X += 0.5 * rng.normal(size=(60, 1))
    X[y == 1, :4] += 1.2
    X[y == 2, 2:8] -= 0.9
    return pd.DataFrame(X, columns=NAMES), y


def counts(support: Any) -> tuple[int, int]:
    """How many of each family."""
    S = np.asarray(support)
    return int(np.count_nonzero(S < 5)), int(np.count_nonzero((S >= 5) & (S < 10)))


FORMS = [
    ONE_EACH,
    {"groups": {"a": range(5), "b": np.arange(5, 10)}, "at_most": {"a": 1, "b": 1}},
    {"groups": {"a": np.arange(20) < 5, "b": NAMES[5:10]}, "at_most": 1},
    {"groups": ["a"] * 5 + ["b"] * 5 + [None] * 10, "at_most": 1},
]


@pytest.mark.parametrize("constraints", FORMS)
def test_lda_keeps_its_limits(table: tuple[pd.DataFrame, np.ndarray], constraints: Any) -> None:
    X, y = table
    model = es.SparseLDA(4, solver="exhaustive", shrinkage=0.4, constraints=constraints).fit(X, y)
    assert max(counts(model.get_support(indices=True))) == 1
    pencil = es.lda_pencil(X, y, shrinkage=0.4)
    indices = {"groups": {"a": range(5), "b": range(5, 10)}, "at_most": 1}
    best = es.solve(pencil, 4, "exhaustive", **indices)
    np.testing.assert_array_equal(model.solution_.support, best.support)
    free = es.SparseLDA(4, shrinkage=0.4).fit(X, y)
    assert max(counts(free.solution_.support)) > 1
    assert model.solution_.objective < free.solution_.objective


@pytest.mark.parametrize("solver", ["auto", "greedy"])
def test_the_bound_is_no_less_than_the_best(
    table: tuple[pd.DataFrame, np.ndarray], solver: str
) -> None:
    X, y = table
    wishes: dict[str, Any] = {"shrinkage": 0.4, "constraints": ONE_EACH}
    best = es.SparseLDA(3, solver="exhaustive", **wishes).fit(X, y).solution_
    found = es.SparseLDA(3, solver=solver, **wishes).fit(X, y).solution_
    assert np.isfinite(found.bound)
    assert found.bound >= best.objective * (1 - 1e-9)
    assert max(counts(found.support)) == 1


def test_include_exclude_and_costs_together(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    constraints = {**ONE_EACH, "costs": dict(zip(NAMES, [2.0] * 10 + [1.0] * 10)), "max_cost": 5}
    model = es.SparseLDA(
        4, include=["gene1"], exclude=["gene7"], constraints=constraints, shrinkage=0.4
    ).fit(X, y)
    S = model.get_support(indices=True)
    assert 1 in S
    assert 7 not in S
    assert counts(S) == (1, 0)
    with pytest.raises(InputError, match=r"with the 1 included keeps all.*at most 0 of 'a'"):
        es.SparseLDA(
            4, include=["gene1"], constraints={"groups": FAMILIES, "at_most": {"a": 0}}
        ).fit(X, y)


def test_a_path_has_the_sizes_that_are_possible(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    model = es.SparseLDA(
        solver="greedy",
        shrinkage=0.4,
        include=["gene0"],
        constraints={"groups": FAMILIES, "whole": ["a", "b"], "at_least": {"b": 1}},
    )
    models = model.fit_path(X, y, [3, 6, 9, 10, 12])
    assert list(models) == [10, 12]
    assert all(counts(each.solution_.support) == (5, 5) for each in models.values())
    assert models[10].constraints is not None
    with pytest.raises(InputError, match="for no k of ks there is a set that keeps all"):
        model.fit_path(X, y, [3, 6])


def test_partial_fit_and_clones_keep_the_limits(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    model = es.SparseLDA(4, shrinkage=0.4, constraints=ONE_EACH)
    assert clone(model).get_params()["constraints"] == ONE_EACH
    whole = clone(model).fit(X, y)
    parts = clone(model)
    for part in (slice(0, 30), slice(30, 60)):
        parts.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(parts.solution_.support, whole.solution_.support)
    assert ONE_EACH == {"groups": FAMILIES, "at_most": 1}
    model.set_params(constraints=None).fit(X, y)
    assert max(counts(model.solution_.support)) > 1


def test_a_grid_may_compare_limits(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    grid = GridSearchCV(
        es.SparseLDA(3, solver="greedy", shrinkage=0.4),
        {"constraints": [None, ONE_EACH, {"groups": FAMILIES, "at_most": 0}]},
        cv=2,
    ).fit(X, y)
    assert len(grid.cv_results_["params"]) == 3


def test_every_principal_component_keeps_the_limits(
    table: tuple[pd.DataFrame, np.ndarray],
) -> None:
    X = table[0]
    pca = es.SparsePCA(3, n_features_to_select=4, constraints=ONE_EACH).fit(X)
    assert all(max(counts(s.support)) <= 1 for s in pca.solutions_)
    free = es.SparsePCA(3, n_features_to_select=4).fit(X)
    assert any(max(counts(s.support)) > 1 for s in free.solutions_)
    assert pca.solutions_[0].objective < free.solutions_[0].objective
    assert pca.solutions_[0].bound >= es.solve(
        es.pca_pencil(X.to_numpy()),
        4,
        "exhaustive",
        groups={"a": range(5), "b": range(5, 10)},
        at_most=1,
    ).objective * (1 - 1e-9)


def test_two_views_are_numbered_through(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X = table[0]
    first, second = X.iloc[:, :8], X.iloc[:, 8:]
    by_index = {"groups": {"both": [0, 1, 2, 3, 4, 5, 8, 9]}, "at_most": 1}
    by_name = {"groups": {"both": [*NAMES[:6], *NAMES[8:10]]}, "at_most": 1}
    best = es.SparseCCA(n_features_to_select=(2, 2), solver="exhaustive", constraints=by_index)
    best.fit(first.to_numpy(), second.to_numpy())
    S = best.solution_.support
    assert np.isin(S, by_index["groups"]["both"]).sum() <= 1
    named = es.SparseCCA(
        2, n_features_to_select=(2, 2), solver="exhaustive", constraints=by_name
    ).fit(first, second)
    np.testing.assert_array_equal(named.solution_.support, S)
    assert np.isin(named.solutions_[1].support, by_index["groups"]["both"]).sum() <= 1
    together = es.SparseCCA(n_features_to_select=4, together=True, constraints=by_name)
    together.fit(first, second)
    assert np.isin(together.solution_.support, by_index["groups"]["both"]).sum() <= 1
    second_again = second.rename(columns={"gene8": "gene0"})
    with pytest.raises(InputError, match="group 'both' has names, and the features have none"):
        named.fit(first, second_again)


def test_permuted_views_keep_the_limits(
    table: tuple[pd.DataFrame, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The null distribution is that of the same search."""
    from eigensieve.estimators import sparse_cca

    seen, solve = [], sparse_cca.solve

    def watched(*args: Any, **options: Any) -> Any:
        found = solve(*args, **options)
        seen.append(found.support)
        return found

    monkeypatch.setattr(sparse_cca, "solve", watched)
    X = table[0].to_numpy()
    cca = es.SparseCCA(
        n_features_to_select=(2, 2),
        solver="greedy",
        constraints={"groups": {"g": range(12)}, "at_most": 2},
    )
    cca.permutation_test(X[:, :8], X[:, 8:], n_permutations=5)
    assert len(seen) == 6
    assert all(np.count_nonzero(S < 12) <= 2 for S in seen)


BAD = [
    (5, "constraints is 5; it must be a dict of groups, at_most"),
    ({"group": {}}, "it must be a dict of groups, at_most"),
    ({"groups": FAMILIES}, "no limit on them"),
    ({"groups": {"a": ["nobody"]}, "at_most": 1}, "group 'a': there is no feature 'nobody'"),
    ({"groups": {"a": [99]}, "at_most": 1}, r"group 'a' has an index outside 0\.\.19"),
    ({"groups": FAMILIES, "at_least": 3}, "no set of 4 features keeps all limits"),
    ({"costs": [-1.0] * 20, "max_cost": 1}, "negative, infinite or missing"),
]


@pytest.mark.parametrize(("constraints", "says"), BAD)
def test_bad_wishes_are_refused(
    table: tuple[pd.DataFrame, np.ndarray], constraints: Any, says: str
) -> None:
    X, y = table
    with pytest.raises((InputError, OptionError), match=says):
        es.SparseLDA(4, constraints=constraints).fit(X, y)
    with pytest.raises((InputError, OptionError), match=says):
        es.SparsePCA(1, n_features_to_select=4, constraints=constraints).fit(X)


def test_where_limits_do_not_go(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    with pytest.raises(OptionError, match="set constraints on the estimator"):
        es.SparseLDA(4, solver_options=ONE_EACH).fit(X, y)
    with pytest.raises(OptionError, match="solver 'leaps' cannot keep limits"):
        es.SparseLDA(4, solver="leaps", constraints=ONE_EACH).fit(X, y)
    with pytest.raises(OptionError, match="solver 'spca' cannot keep constraints"):
        es.SparsePCA(2, n_features_to_select=4, solver="spca", constraints=ONE_EACH).fit(X)
    with pytest.raises(InputError, match="k is None; limits on groups or costs need the number"):
        es.SparsePCA(
            1,
            n_features_to_select=None,
            solver="dc",
            solver_options={"rho": 0.1},
            constraints=ONE_EACH,
        ).fit(X)


def test_genes_of_an_anndata_are_limited_by_name() -> None:
    cells = pytest.importorskip("tests.annotated.cells")
    adata = cells.make_cells()
    wishes = {"groups": {"high in B": ["gene0", "gene1", "gene2"]}, "at_most": 1}
    es.tl.sparse_lda(adata, "type", 4, constraints=wishes)
    chosen = set(adata.var_names[adata.var["sparse_lda"]])
    assert len(chosen & {"gene0", "gene1", "gene2"}) == 1
    es.tl.sparse_pca(adata, 1, n_features_to_select=4, constraints=wishes)
    chosen = set(adata.var_names[adata.var["sparse_pca"]])
    assert len(chosen & {"gene0", "gene1", "gene2"}) <= 1
