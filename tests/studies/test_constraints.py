"""A study keeps limits on sets in all its parts; rivals, prices and bounds by enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from tests.studies.test_near_optimal import logdet_scores
from tests.studies.whole import make_table

X, y = make_table(gaps=False)
NAMES = [f"gene {j}" for j in range(14)]
GROUPS = {"first": NAMES[:5], "second": NAMES[5:9], "third": NAMES[9:]}
ASKED: dict[str, Any] = {"groups": GROUPS, "at_most": 1}
FAST: dict[str, Any] = {"cv": 3, "n_repeats": 1, "names": NAMES}


def lda(**constraints: Any) -> es.SparseLDA:
    return es.SparseLDA(shrinkage=0.7, constraints=constraints)


def is_allowed(S: tuple[int, ...]) -> bool:
    family = [0 if j < 5 else 1 if j < 9 else 2 for j in S]
    return len(set(family)) == len(S)


@pytest.fixture(scope="module")
def study() -> es.Study:
    return es.study(X, y, lda(**ASKED), ks=(1, 2, 3, 4, 5), **FAST)


@pytest.fixture(scope="module")
def scores() -> dict[int, dict[tuple[int, ...], float]]:
    return {k: {S: v for S, v in logdet_scores(0.7, k).items() if is_allowed(S)} for k in (1, 2, 3)}


def test_sizes_without_a_set_are_left_out(study) -> None:
    assert study.ks == (1, 2, 3)


def test_every_set_is_the_best_allowed_one(study, scores) -> None:
    for k, solution in zip(study.path, study.optimality):
        S = tuple(solution.support.tolist())
        assert max(scores[k], key=scores[k].__getitem__) == S
        assert solution.is_certified
        assert solution.bound == pytest.approx(scores[k][S], rel=1e-5)


def test_models_of_the_folds_keep_them(study) -> None:
    """No two features of a group are ever selected together: their shares sum to at most 1."""
    shares = study.stability[3].to_numpy()
    assert all(shares[[NAMES.index(name) for name in own]].sum() <= 1 for own in GROUPS.values())
    assert shares.sum() == pytest.approx(3)


def test_the_claim_is_about_allowed_sets(study) -> None:
    assert study.has_constraints
    assert study.claim.startswith("No other allowed ")


def test_prices_and_other_sets_are_of_allowed_ones(study, scores) -> None:
    own = scores[study.best_k]
    best = max(own.values())
    for price in study.prices:
        without = max(value for S, value in own.items() if price.index not in S)
        assert price.loss >= (best - without) / best - 1e-9
        for stand_in in price.stand_ins:
            S = {f.index for f in study.selected} - {price.index} | {stand_in.index}
            assert is_allowed(tuple(S))
            assert stand_in.loss == pytest.approx((best - own[tuple(sorted(S))]) / best)
    near = {S for S, value in own.items() if value >= 0.99 * best}
    assert {tuple(S) for S in study.near_optimal.sets.tolist()} == near


def test_a_band_is_taken_whole_and_has_no_price() -> None:
    asked = {"groups": {"band": [3, 4, 5]}, "at_least": 1, "whole": True}
    study = es.study(X, y, lda(**asked), ks=(3, 4), k=4, cv=3, n_repeats=1)
    assert {3, 4, 5} <= {feature.index for feature in study.selected}
    assert {price.index for price in study.prices}.isdisjoint({3, 4, 5})
    assert len(study.prices) == 1


def test_excluded_features_and_limits_together(scores) -> None:
    estimator = lda(**ASKED).set_params(exclude=["gene 3"])
    study = es.study(X, y, estimator, ks=(2,), k=2, **FAST)
    rivals = {S: value for S, value in scores[2].items() if 3 not in S}
    assert tuple(study.solution.support.tolist()) == max(rivals, key=rivals.__getitem__)


def test_settings_of_a_list_keep_their_own() -> None:
    free = es.SparseLDA(shrinkage=0.7)
    costly = lda(costs=np.arange(14.0), max_cost=3)
    study = es.study(X, y, {"free": free, "cheap": costly}, ks=(1, 2), **FAST)
    for solution in study.optimality:
        assert study.setting == "free" or solution.support.sum() <= 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ks": (4, 5)}, "no set of 4 features keeps all limits.*at most 1 of 'first'"),
        ({"ks": (2,), "k": 5}, "no set of 5 features keeps all limits"),
        ({"ks": (2,), "k": 40}, "k is 40; this table allows 1 to 14"),
    ],
)
def test_sizes_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        es.study(X, y, lda(**ASKED), **FAST, **options)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"groups": {"a": ["gene 77"]}, "at_most": 1}, "there is no feature 'gene 77'"),
        (
            {"costs": np.ones(14), "max_cost": 0.5},
            "no set of features, whatever their number, keeps all limits",
        ),
    ],
)
def test_wishes_that_cannot_be_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        es.study(X, y, lda(**asked), ks=(1, 2), **FAST)
