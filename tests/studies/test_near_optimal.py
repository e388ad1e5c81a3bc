"""The other sets of a study: the enumerated ones, of the study's own problem; their stability."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.solution import Status
from eigensieve.studies import near_optimal as module
from eigensieve.studies.near_optimal import with_known_bound
from eigensieve.studies.standardize import Standardizer
from tests.studies.whole import make_table

X, y = make_table(gaps=False)
FAST: dict[str, Any] = {"ks": (1, 2, 3), "cv": 3, "n_repeats": 1, "k": 3}


@pytest.fixture(scope="module")
def study() -> es.Study:
    return es.study(X, y, es.SparseLDA(shrinkage=0.7), **FAST)


def logdet_scores(shrinkage: float, k: int) -> dict[tuple[int, ...], float]:
    """log det(I + B^-1 A) of every set, from the scatters by their definition."""
    Z = Standardizer.fit(X).apply(X)
    means = np.array([Z[y == c].mean(axis=0) for c in "abc"])
    own = means[np.searchsorted(["a", "b", "c"], y)]
    within, between = (Z - own).T @ (Z - own) / len(y), (own - Z.mean(0)).T @ (own - Z.mean(0))
    between /= len(y)
    within = (1 - shrinkage) * within + shrinkage * np.diag(np.diag(within))
    scores = {}
    for S in combinations(range(X.shape[1]), k):
        part = np.ix_(S, S)
        scores[S] = float(np.linalg.slogdet(within[part] + between[part])[1])
        scores[S] -= float(np.linalg.slogdet(within[part])[1])
    return scores


def test_the_sets_are_those_of_the_final_problem(study) -> None:
    scores = logdet_scores(0.7, 3)
    best = max(scores.values())
    expected = sorted(S for S, score in scores.items() if score >= 0.99 * best)
    found = study.near_optimal
    assert found.is_complete
    assert sorted(map(tuple, found.sets.tolist())) == expected
    np.testing.assert_allclose(found.scores[0], best, rtol=1e-9)
    assert found.names == tuple(study.names)
    assert found.within == 0.01


def test_stability_of_a_set(study) -> None:
    shares = study.stability[3].to_numpy()
    by_hand = [np.mean([shares[j] for j in S]) for S in study.near_optimal.sets]
    np.testing.assert_allclose(study.near_stability, by_hand)
    assert 0 <= study.near_stability.min() <= study.near_stability.max() <= 1


def test_the_users_constraints_hold() -> None:
    asked = es.SparseLDA(shrinkage=0.7, include=[0], exclude=[3])
    found = es.study(X, y, asked, **FAST).near_optimal
    allowed = {S: v for S, v in logdet_scores(0.7, 3).items() if 0 in S and 3 not in S}
    best = max(allowed.values())
    expected = sorted(S for S, score in allowed.items() if score >= 0.99 * best)
    assert sorted(map(tuple, found.sets.tolist())) == expected


def test_the_users_limits_hold() -> None:
    limits = {"groups": {"pair": [3, 7]}, "at_most": 1}
    asked = es.SparseLDA(shrinkage=0.7, constraints=limits)
    found = es.study(X, y, asked, **FAST).near_optimal
    allowed = {S: v for S, v in logdet_scores(0.7, 3).items() if len({3, 7} & set(S)) < 2}
    best = max(allowed.values())
    assert best < max(logdet_scores(0.7, 3).values())
    expected = sorted(S for S, score in allowed.items() if score >= 0.99 * best)
    assert sorted(map(tuple, found.sets.tolist())) == expected


@pytest.mark.parametrize(
    "estimator", [es.RankedLDA("anova"), es.GroupLassoLDA(rule="lda"), es.PenalizedLDA(0.1)]
)
def test_other_methods_have_no_list(estimator) -> None:
    options = FAST if not isinstance(estimator, es.PenalizedLDA) else {"cv": 3, "n_repeats": 1}
    assert es.study(X, y, estimator, **options).near_optimal is None


def test_nothing_to_choose_from() -> None:
    kept = es.SparseLDA(include=[1, 2, 3])
    assert es.study(X, y, kept, **FAST | {"ks": (3,)}).near_optimal is None
    whole = es.study(X[:, :3], y, es.SparseLDA(), **FAST)
    assert whole.best_k == 3
    assert whole.near_optimal is None


def test_without_cross_validation_there_is_no_stability() -> None:
    lonely = np.where(np.arange(len(y)) == 0, "solo", y)
    study = es.study(X, lonely, es.SparseLDA(), k=2, ks=(2,))
    assert study.near_optimal is not None
    assert study.near_stability is None


def test_a_longer_search_may_know_more(study) -> None:
    """A list that was cut short takes over the proof that its first set is the best."""
    whole = study.near_optimal
    cut = replace(
        whole, is_complete=False, bound=1.5 * whole.scores[0], status=Status.ITERATION_LIMIT,
        best=replace(whole.best, bound=1.5 * whole.scores[0], status=Status.ITERATION_LIMIT),
    )  # fmt: skip
    assert cut.complete_within is None
    known = with_known_bound(cut, study.solution)
    assert known.complete_within == 0
    assert known.best.is_certified
    assert not known.is_complete
    open_ = replace(study.solution, status=Status.ITERATION_LIMIT, bound=np.inf)
    assert with_known_bound(cut, open_) is cut
    assert with_known_bound(whole, study.solution) is whole


def test_ctrl_c_in_the_list(monkeypatch) -> None:
    def press(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "near_optimal", press)
    study = es.study(X, y, es.SparseLDA(), **FAST)
    assert list(study.unfinished) == ["the search for other sets as good was interrupted"]
    assert study.near_optimal is None
    assert study.prices
    assert list(study.path) == [1, 2, 3]
