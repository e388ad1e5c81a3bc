"""docs/api/estimators.md tells which estimator has which fitted attribute, and what they share."""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil.checks import as_seed

PAGE = (Path(__file__).parents[2] / "docs" / "api" / "estimators.md").read_text(encoding="utf-8")
DISCRIMINANTS = re.findall(r"`(\w+)`", PAGE.partition("eight classifiers:")[2].partition(".")[0])
ESTIMATORS = [*DISCRIMINANTS, "QAlphaSelector", "SparsePCA", "SparseCCA"]
COMMON = re.findall(r"`(\w+)`", PAGE.partition("All have")[2].partition(", which recomputes")[0])


@cache
def fitted(name: str) -> Any:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "SparseCCA":
            return es.SparseCCA(n_features_to_select=3).fit(X[:, :7], X[:, 7:])
        return getattr(es, name)().fit(X, y)


def attributes(name: str) -> set[str]:
    model = fitted(name)
    return {a for a in dir(model) if re.fullmatch(r"[a-zA-Z]\w*[a-z0-9]_", a) and hasattr(model, a)}


def documented() -> dict[str, set[str]]:
    """Attribute -> estimators, by the table."""
    table = {}
    for names, who in re.findall(r"^\| (`\w+_`(?:, `\w+_`)*) \| ([^|]+) \|", PAGE, re.MULTILINE):
        if who.startswith("all"):
            owners = set(ESTIMATORS) - set(who.removeprefix("all but ").split(", "))
        else:
            owners = set()
            for one in who.split(", "):
                owners |= set(DISCRIMINANTS) if one == "discriminants" else {one}
        table |= dict.fromkeys(re.findall(r"`(\w+)`", names), owners)
    return table


def test_every_estimator_is_on_the_page() -> None:
    public = {
        n for n in es.__all__ if isinstance(getattr(es, n), type) and hasattr(getattr(es, n), "fit")
    }
    assert public - {"PreparedClassifier"} == set(ESTIMATORS)


def test_the_table_tells_who_has_what() -> None:
    owners: dict[str, set[str]] = {}
    for name in ESTIMATORS:
        for attribute in attributes(name):
            owners.setdefault(attribute, set()).add(name)
    shared = {a: who for a, who in owners.items() if len(who) > 1}
    assert documented() == shared


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_docstring_names_every_attribute(name: str) -> None:
    doc = getattr(es, name).__doc__.partition("Attributes\n")[2]
    if name == "GroupLassoLDACV":  # "and all else : as in GroupLassoLDA"
        doc += es.GroupLassoLDA.__doc__.partition("Attributes\n")[2]
    missing = {a for a in attributes(name) if not re.search(rf"\b{a}(?!\w)", doc)}
    assert not missing


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "solution_" in attributes(n)])
def test_solutions_share_what_the_page_says(name: str) -> None:
    solution = fitted(name).solution_
    assert len(COMMON) == 9
    for field in COMMON:
        assert hasattr(solution, field), field
    assert solution.gap >= 0
    assert isinstance(solution.status, es.Status)
    sign = 1 if isinstance(solution, es.Solution) or name == "QAlphaSelector" else -1
    assert sign * (solution.bound - solution.objective) >= -1e-9 * abs(solution.objective)


@pytest.mark.parametrize(
    "name", [n for n in ESTIMATORS if "n_components" in getattr(es, n)().get_params()]
)
def test_too_many_components_are_clipped_with_a_warning(name: str) -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = getattr(es, name)(n_components=50)
    data = (X[:, :7], X[:, 7:]) if name == "SparseCCA" else (X, y)
    if name != "GroupLassoLDACV" and "n_features_to_select" in model.get_params():
        model.set_params(n_features_to_select=3)
    with pytest.warns(
        UserWarning, match=r"n_components is 50, but .* have at most \d+; finding \d+"
    ):
        model.fit(*data)
    most = {"SparsePCA": 13, "SparseCCA": 6}.get(name, 2)  # wine has three classes
    assert model.n_components_ == most
    assert model.transform(X[:, :7] if name == "SparseCCA" else X).shape[1] == most


@pytest.mark.parametrize(
    "name", [n for n in DISCRIMINANTS if "n_components" in getattr(es, n)().get_params()]
)
@pytest.mark.parametrize("wanted", [2, None])
def test_fewer_directions_than_asked_for_are_told(name: str, wanted: int | None) -> None:
    """Three classes whose means lie on a line, or one column: one direction is all there is."""
    if name == "SparseLDA":
        X, model = load_wine().data[:, :5], es.SparseLDA(1)
        y = load_wine().target
    else:
        y, X = np.arange(60) % 3, np.random.default_rng(0).normal(size=(60, 5))
        for k in range(3):
            X[y == k] -= X[y == k].mean(axis=0)
        X[:, 0] += y
        model = getattr(es, name)()
        if "n_features_to_select" in model.get_params():
            model.set_params(n_features_to_select=2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.set_params(n_components=wanted).fit(X, y)
    assert model.n_components_ == 1
    told = [str(w.message) for w in said if "n_components is 2, but" in str(w.message)]
    assert len(told) == (0 if wanted is None else 1)


def test_a_size_for_each_direction_goes_with_n_components() -> None:
    """More directions than there are: the sizes of those that there are."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for name in ("SparseOptimalScoring", "SparsePCA"):
        model = getattr(es, name)(n_components=20, n_features_to_select=[2, 3] + 18 * [4])
        with pytest.warns(UserWarning, match="n_components is 20, but"):
            model.fit(X, y)
        assert [s.support.size for s in model.solutions_][:2] == [2, 3]
        with (
            pytest.warns(match="clip|is 20"),
            pytest.raises(ValueError, match=r"each of (the )?20"),
        ):
            model.set_params(n_features_to_select=[2, 3]).fit(X, y)


@pytest.mark.parametrize(
    "name", ["SparseLDA", "SparsePCA", "SparseCCA", "QAlphaSelector", "RankedLDA"]
)
def test_none_is_seed_zero_and_a_number_is_the_seed_itself(name: str) -> None:
    assert (as_seed(None), as_seed(0), as_seed(np.int64(7))) == (0, 0, 7)
    assert as_seed(np.random.RandomState(3)) == as_seed(np.random.RandomState(3))
    assert as_seed(np.random.default_rng(3)) == as_seed(np.random.default_rng(3))
    model = getattr(es, name)(random_state=-1)
    if name == "RankedLDA":
        model.set_params(ranker="qalpha")
    elif name == "SparseCCA":
        model.set_params(n_features_to_select=3)
    X, y = load_wine(return_X_y=True)
    data = (X[:, :7], X[:, 7:]) if name == "SparseCCA" else (X, y)
    with pytest.raises(OptionError, match="random_state is -1"):
        model.fit(*data)


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "a"])
def test_functions_and_estimators_refuse_the_same(wrong: Any) -> None:
    X = np.random.default_rng(0).normal(size=(20, 6))
    pencil = es.pca_pencil(X)
    for call in (
        lambda: es.solve(pencil, 2, random_state=wrong),
        lambda: es.solve_path(pencil, [2], random_state=wrong),
        lambda: es.certify(pencil, [0, 1], random_state=wrong),
        lambda: es.qalpha(X, random_state=wrong),
        lambda: es.spectral_clusters(X, 2, random_state=wrong),
        lambda: es.QAlphaSelector(2, random_state=wrong).fit(X),
        lambda: es.SparsePCA(1, n_features_to_select=2, random_state=wrong).fit(X),
    ):
        with pytest.raises(OptionError, match=r"random_state is .*>= 0, a RandomState"):
            call()


def test_a_generator_draws_the_seed_for_functions_and_estimators_alike() -> None:
    X = np.random.default_rng(0).normal(size=(30, 40))
    drawn = int(np.random.RandomState(5).randint(2**31 - 1))
    wanted = es.qalpha(X, 2, random_state=drawn).alpha
    for made in (
        es.qalpha(X, 2, random_state=np.random.RandomState(5)).alpha,
        es.QAlphaSelector(3, random_state=np.random.RandomState(5)).fit(X).solution_.alpha,
    ):
        np.testing.assert_array_equal(made, wanted)
    pencil, options = es.pca_pencil(X), {"n_starts": 3, "max_iter": 1}
    np.testing.assert_array_equal(
        es.solve(pencil, 4, "greedy", random_state=np.random.RandomState(5), **options).support,
        es.solve(pencil, 4, "greedy", random_state=drawn, **options).support,
    )


def test_an_estimator_and_solve_draw_the_same_starts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 200))
    options = {"n_starts": 3, "max_iter": 1, "swap": True}
    for seed in range(4):
        ours = es.SparsePCA(
            1, n_features_to_select=8, solver="greedy", solver_options=options, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours.fit(X)
        theirs = es.solve(es.pca_pencil(X), 8, "greedy", random_state=seed, **options)
        assert ours.solution_.support.tolist() == theirs.support.tolist()
