"""`certify` with limits on groups and costs: the rivals are the sets that keep them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.oracles import naive

CRITERIA = ("lambda_max", "trace", "logdet")
NAMES = [f"gene{j}" for j in range(9)]
GROUPS = {"first": NAMES[:4], "last": NAMES[6:]}


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 9)), np.arange(40) % 3
    X[:, :4] += 0.7 * y[:, None]
    return pd.DataFrame(X, columns=NAMES), y


@pytest.fixture(scope="module")
def pencil(table: tuple[pd.DataFrame, np.ndarray]) -> es.Pencil:
    return es.lda_pencil(*table, shrinkage=0.4)


def rivals(k: int) -> list[list[int]]:
    """Sets with no more than one of the first four."""
    every = map(list, itertools.combinations(range(9), k))
    return [S for S in every if sum(j < 4 for j in S) <= 1]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_rival_keeps_the_limits(pencil: es.Pencil, criterion: str) -> None:
    scores = [naive.score(pencil.A, pencil.B, S, criterion) for S in rivals(3)]
    best = rivals(3)[int(np.argmax(scores))]
    free = naive.best(pencil.A, pencil.B, 3, criterion)[0]
    assert free > max(scores) * 1.01  # without the limit there are better ones
    for S, score in zip(rivals(3)[::7], scores[::7]):
        claim = es.certify(pencil, S, criterion, groups={"first": [0, 1, 2, 3]}, at_most=1)
        assert claim.objective == pytest.approx(score)
        assert claim.bound == pytest.approx(max(scores), rel=1e-5)
        assert claim.is_constrained
        if best == S:
            assert claim.explain() == (
                "proved: no other allowed set of 3 features scores higher (within 0.0001 %)"
            )
            continue
        assert claim.better is not None
        assert claim.better.support.tolist() == best
        assert claim.explain().startswith("an allowed set of 3 features scores")
        assert claim.explain().endswith("(proved the best allowed)")


def test_names_are_known(table: tuple[pd.DataFrame, np.ndarray], pencil: es.Pencil) -> None:
    X, y = table
    wishes = {"groups": GROUPS, "at_most": 1}
    by_table = es.certify(X, y, ["gene0", "gene4", "gene5"], shrinkage=0.4, **wishes)
    by_pencil = es.certify(pencil, [0, 4, 5], **wishes)
    plain = es.lda_pencil(X.to_numpy(), y, shrinkage=0.4)
    by_given_names = es.certify(plain, ["gene0", "gene4", "gene5"], names=NAMES, **wishes)
    costs = dict(zip(NAMES, [5.0] * 4 + [1.0] * 5))
    by_costs = es.certify(plain, [0, 4, 5], names=NAMES, costs=costs, max_cost=7)
    for claim in (by_table, by_pencil, by_given_names):
        assert claim.better.support.tolist() == by_table.better.support.tolist()
    scores = [naive.score(pencil.A, pencil.B, S, "logdet") for S in rivals(3)]
    assert max(by_costs.bound, by_costs.objective) == pytest.approx(max(scores), rel=1e-5)


def test_blocks_keep_their_numbers_and_the_limits() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 9)) + 0.8 * rng.normal(size=(60, 1))
    pencil = es.cca_pencil(Z[:, :5], Z[:, 5:], shrinkage=0.3)
    groups = {"both": [0, 1, 5, 6]}
    best = max(
        naive.score(pencil.A, pencil.B, [*x, *y], "lambda_max")
        for x in itertools.combinations(range(5), 2)
        for y in itertools.combinations(range(5, 9), 2)
        if len({*x, *y} & {0, 1, 5, 6}) <= 1
    )
    claim = es.certify(pencil, [2, 3, 7, 8], groups=groups, at_most=1)
    assert claim.sizes == (2, 2)
    assert claim.bound == pytest.approx(best, rel=1e-5)
    alone = es.certify(pencil, [2, 3], groups=groups, at_most=1)  # the other view has no part
    assert alone.is_constrained


def test_swaps_keep_the_limits_where_they_can(pencil: es.Pencil) -> None:
    for S in rivals(4)[::5]:
        claim = es.certify(pencil, S, groups={"first": [0, 1, 2, 3]}, at_most=1)
        chosen = set(S)
        for swap in claim.swaps:
            chosen = (chosen - {swap.leaving}) | {swap.entering}
            assert sum(j < 4 for j in chosen) <= 1
            score = naive.score(pencil.A, pencil.B, sorted(chosen), "logdet")
            assert swap.objective == pytest.approx(score)
        if claim.better is not None:
            assert sorted(chosen) == claim.better.support.tolist()


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ({"groups": {"g": [0, 1]}, "at_most": 1}, "does not keep a limit: at most 1 of 'g'"),
        ({"groups": {"g": [7, 8]}, "at_least": 1}, "does not keep a limit: at least 1 of 'g'"),
        ({"groups": {"g": [1, 8]}, "whole": True}, "does not keep a limit: all or none of 'g'"),
        ({"costs": [1.0] * 9, "max_cost": 2.5}, "does not keep a limit: cost at most 2.5 in all"),
    ],
)
def test_a_set_that_breaks_a_limit_is_refused(pencil: es.Pencil, wishes: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        es.certify(pencil, [0, 1, 2], **wishes)


def test_unknown_options_are_refused(pencil: es.Pencil) -> None:
    with pytest.raises(OptionError, match="certify has no option group, solver"):
        es.certify(pencil, [0, 1, 2], solver="exact", group={"g": [0]})
    with pytest.raises(InputError, match="group 'g': there is no feature 'gene99'"):
        es.certify(pencil, [0, 1, 2], groups={"g": ["gene99"]}, at_most=1)


def test_without_limits_nothing_is_said_of_them(pencil: es.Pencil) -> None:
    assert not es.certify(pencil, [0, 1, 2], groups=None, max_cost=None).is_constrained
