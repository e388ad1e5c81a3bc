"""Bounds, prices and stand-ins of a study, against all sets of a small table."""

import dataclasses
import itertools
import re
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.pencil import Pencil
from eigensieve.pencil.solution import Status
from eigensieve.studies.result import Study
from eigensieve.tables.builders import lda_pencil
from tests.oracles import naive

P = 9


def make_data(n_classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(40) % n_classes
    X = rng.normal(size=(40, P)) @ (np.eye(P) + 0.5 * rng.normal(size=(P, P)))
    X += 0.7 * rng.normal(size=(n_classes, P))[y]
    return 10 + 4 * X, y


def run(X: np.ndarray, y: np.ndarray, model: Any = None, **options: Any) -> Study:
    defaults: dict[str, Any] = {"cv": 2, "n_repeats": 1, "ks": (1, 3)}
    return es.study(X, y, model, **{**defaults, **options})


def measure(X: np.ndarray, y: np.ndarray, shrinkage: float | str = "auto") -> Pencil:
    return lda_pencil((X - X.mean(axis=0)) / X.std(axis=0), y, shrinkage)


def score(pencil: Pencil, S: Any, criterion: str = "logdet") -> float:
    return naive.score(np.asarray(pencil.A), np.asarray(pencil.B), list(S), criterion)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bounds_hold_for_every_set(n_classes: int) -> None:
    X, y = make_data(n_classes)
    ks = tuple(range(1, P + 1))
    study = run(X, y, ks=ks)
    pencil = measure(X, y)
    for k, found in zip(ks, study.optimality):
        assert found.k == k
        assert found.objective == pytest.approx(score(pencil, found.support))
        best = max(score(pencil, S) for S in itertools.combinations(range(P), k))
        assert best <= found.bound * (1 + 1e-9)
        if found.is_certified:
            assert found.objective == pytest.approx(best, rel=1e-5)
        found.verify(pencil)


def test_exhaustive_search_is_its_own_bound() -> None:
    X, y = make_data()
    study = run(X, y, es.SparseLDA(solver="exhaustive"), ks=(2, 4))
    pencil = measure(X, y)
    for k, found in zip((2, 4), study.optimality):
        best, _ = naive.best(np.asarray(pencil.A), np.asarray(pencil.B), k, "logdet")
        assert found.objective == pytest.approx(best)
        assert found.bound == pytest.approx(best)
        assert found.is_certified


@pytest.mark.parametrize(
    "models",
    [
        [es.SparseLDA(shrinkage=0.01), es.SparseLDA(shrinkage=0.95)],
        [es.SparseLDA(criterion="trace"), es.SparseLDA(class_weight={0: 1.5})],
        [es.SparseLDA(include=[8]), es.SparseLDA(exclude=[8])],
        [es.SparseLDA(shrinkage=0.7), es.RankedLDA("anova")],
    ],
    ids=["shrinkage", "criterion and weight", "constraints", "methods"],
)
def test_all_sets_are_judged_by_one_measure(models: list[Any]) -> None:
    """Other k may have other settings: their own figures would be by another measure."""
    n_mixed = 0
    for seed in range(4):
        X, y = make_data(2, seed)
        ks = (1, 2, 3, 4, 5, 6)
        study = run(X, y, dict(zip("ab", models)), ks=ks)
        assert study.cv is not None
        n_mixed += len(set(study.cv.best_settings.tolist())) > 1
        chosen = models["ab".index(study.setting)]
        own = chosen if isinstance(chosen, es.SparseLDA) else es.SparseLDA()
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        pencil = lda_pencil(Z, y, own.shrinkage, class_weight=own.class_weight)
        for k, found in zip(ks, study.optimality):
            found.verify(pencil)
            assert found.support.tolist() == study.path[k].get_support(indices=True).tolist()
            assert found.bound >= found.objective * (1 - 1e-9)
    assert n_mixed > 0


# ---------------------------------------------------------------- prices


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("k", [1, 3])
def test_prices_and_stand_ins(n_classes: int, k: int) -> None:
    """Stand-ins: all single exchanges. The price: between the best exchange and the best set."""
    X, y = make_data(n_classes, 1)
    study = run(X, y, k=k)
    pencil, S = measure(X, y), study.solution.support.tolist()
    whole = score(pencil, S)
    assert [price.index for price in study.prices] == S
    for price in study.prices:
        rest = [j for j in S if j != price.index]
        outside = [j for j in range(P) if j not in S]
        losses = sorted((1 - score(pencil, [*rest, j]) / whole, j) for j in outside)
        assert price.name == f"x{price.index}"
        assert [one.index for one in price.stand_ins] == [j for _, j in losses[:3]]
        found = [one.loss for one in price.stand_ins]
        np.testing.assert_allclose(found, [loss for loss, _ in losses[:3]], atol=1e-9)
        assert [one.name for one in price.stand_ins] == [f"x{j}" for _, j in losses[:3]]
        without = (j for j in range(P) if j != price.index)
        best = max(score(pencil, T) for T in itertools.combinations(without, k))
        assert 1 - best / whole - 1e-9 <= price.loss <= losses[0][0] + 1e-9


def test_a_price_may_be_less_than_any_single_exchange() -> None:
    """Without a feature another pair may be best: exchanges go on until none helps."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    shift = np.where(y == 1, 1.0, -1.0)
    X = rng.normal(size=(200, 5))
    X[:, 0] += 0.9 * shift
    common = rng.normal(size=200)  # two pairs of features whose difference tells the class
    X[:, 1], X[:, 2] = common * 3 + shift, common * 3 - shift + 0.3 * rng.normal(size=200)
    common = rng.normal(size=200)
    X[:, 3], X[:, 4] = common * 3 + 0.9 * shift, common * 3 - shift + 0.4 * rng.normal(size=200)
    study = run(X, y, es.SparseLDA(solver="exhaustive", shrinkage=0.01), k=2)
    assert study.solution.support.tolist() == [1, 2]
    price = study.prices[0]
    pencil = measure(X, y, 0.01)
    best = max(score(pencil, T) for T in itertools.combinations([0, 2, 3, 4], 2))
    assert price.loss >= 1 - best / score(pencil, [1, 2]) - 1e-9
    assert price.loss <= price.stand_ins[0].loss + 1e-12


def test_wishes_have_no_price() -> None:
    X, y = make_data()
    study = run(X, y, es.SparseLDA(include=[4], exclude=[0, 1]), k=3)
    assert 4 in study.solution.support
    assert [price.index for price in study.prices] == [
        j for j in study.solution.support.tolist() if j != 4
    ]
    entering = {one.index for price in study.prices for one in price.stand_ins}
    assert entering
    assert not entering & {0, 1, 4}


def test_all_features_have_no_price() -> None:
    X, y = make_data()
    assert run(X, y, k=P).prices == []
    assert run(X, y, es.SparseLDA(exclude=[3]), k=P - 1).prices == []


def test_a_copy_costs_nothing_and_a_constant_is_worth_nothing() -> None:
    X, y = make_data()
    X[:, 0] += 12 * y
    X[:, 7] = 5 - X[:, 0]
    X[:, 8] = 1.0
    study = run(X, y, k=2)
    prices = {price.index: price for price in study.prices}
    assert 0 in prices
    assert prices[0].stand_ins[0].index == 7
    assert prices[0].loss == pytest.approx(0.0, abs=1e-9)
    assert 8 not in {one.index for price in study.prices for one in price.stand_ins}


def test_where_only_dependent_features_are_left() -> None:
    """Nothing can come in: the price is what the set loses without the feature."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    X[:, 2] = X[:, 0]
    study = run(X, y, es.SparseLDA(shrinkage=0.0), k=2)
    assert study.solution.support.tolist() == [0, 1]
    pencil = measure(X, y, 0.0)
    price = study.prices[1]
    assert price.index == 1
    assert price.loss == pytest.approx(1 - score(pencil, [0]) / score(pencil, [0, 1]), rel=1e-4)


def test_other_methods_are_judged_by_the_default_measure() -> None:
    X, y = make_data()
    study = run(X, y, es.RankedLDA("anova"), k=3)
    pencil, found = measure(X, y), study.solution
    found.verify(pencil)
    assert found.solver == "given"
    assert found.objective == pytest.approx(score(pencil, found.support))
    best = max(score(pencil, S) for S in itertools.combinations(range(P), 3))
    assert best <= found.bound * (1 + 1e-9)
    assert all(price.stand_ins for price in study.prices)


# -- what is claimed -----------------------------------------------------------------


def test_the_claim_is_true_of_every_set() -> None:
    """Methods of all kinds; the words against brute force."""
    X, y = make_data()
    pencil = measure(X, y)
    proved = 0
    for model in (None, es.SparseLDA(effort=0), es.RankedLDA("anova"), es.GroupLassoLDA()):
        for k in (1, 3, 5):
            study = run(X, y, model, k=k, ks=(k,))
            own = score(pencil, study.solution.support)
            best = max(score(pencil, S) for S in itertools.combinations(range(P), k))
            words = re.fullmatch(
                r"No other (feature of the 9|set of (\d) of the 9 features) separates the classes"
                r" (better|more than (.*) % better)",
                str(study.claim),
            )
            assert words is not None
            assert words[2] == (None if k == 1 else str(k))
            excess = 0.0 if words[4] is None else float(words[4])
            assert best <= own * (1 + excess / 100) * (1 + 2e-6)
            assert study.solution.is_certified == (words[4] is None)
            proved += words[4] is None
    assert proved >= 3  # the default's at least


@pytest.mark.parametrize(
    ("options", "k", "claim"),
    [
        ({"include": [0]}, 2, "No other allowed set of 2 of the 9 features separates the classes"),
        ({"exclude": [0]}, 1, "No other allowed feature of the 9 separates the classes"),
        ({}, P, None),  # in what follows there is no other set
        ({"include": [0, 3]}, 2, None),
        ({"exclude": [0, 3]}, P - 2, None),
    ],
)
def test_a_claim_is_about_other_sets(options: dict[str, Any], k: int, claim: str | None) -> None:
    study = run(*make_data(), es.SparseLDA(**options), k=k, ks=(k,))
    assert study.claim is None if claim is None else str(study.claim).startswith(claim)


def test_a_bound_far_above_is_no_claim() -> None:
    study = run(*make_data(), k=2, ks=(2,))
    for bound, says in ((1.9, "more than 90 % better"), (2.1, None), (np.inf, None)):
        far = dataclasses.replace(
            study.solution, objective=1.0, bound=bound, status=Status.GAP_LIMIT
        )
        found = dataclasses.replace(study, optimality=[far]).claim
        assert found is None if says is None else str(found).endswith(says)
