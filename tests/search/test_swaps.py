"""The swaps of a certificate: they lead to the better set, and every figure of them is true."""

from __future__ import annotations

import dataclasses
import re
from itertools import combinations, product

import numpy as np
import pytest

import eigensieve as es
from eigensieve.search.certificate import Certificate
from eigensieve.search.swaps import SHORTLIST, Swap
from tests.oracles import naive

CHANGE = re.compile(
    r"replace (\d+) by (\d+) \((?:(no change)|([+-])([\de.+-]+) %|([\de.+-]+) times the score"
    r"|(?:then )?the score is ([\de.+-]+))( in all)?\)"
)


def sets_on_the_way(claim: Certificate) -> list[list[int]]:
    """The given set and what every swap makes of it."""
    S = set(claim.support.tolist())
    sets = [sorted(S)]
    for swap in claim.swaps:
        assert swap.leaving in S
        assert swap.entering not in S
        S = S - {swap.leaving} | {swap.entering}
        sets.append(sorted(S))
    return sets


def check_swaps(claim: Certificate, pencil: es.Pencil) -> list[float]:
    """Scores on the way, by scipy; each swap is held against them, and each line."""
    sets = sets_on_the_way(claim)
    scores = [naive.score(pencil.A, pencil.B, S, claim.criterion) for S in sets]
    if claim.better is None:
        assert claim.swaps == ()
        assert claim.describe_swaps() == []
        return scores
    target = claim.better.support.tolist()
    assert sets[-1] == target
    assert len(claim.swaps) == len(set(target) - set(sets[0])) > 0
    off = 1e-7 * claim.scale
    for swap, score in zip(claim.swaps, scores[1:]):
        assert swap.objective == pytest.approx(score, rel=1e-7, abs=off)
    assert claim.swaps[-1].objective == claim.better.objective
    for i, (line, score) in enumerate(zip(claim.describe_swaps(), scores[1:], strict=True)):
        swap, said = claim.swaps[i], CHANGE.fullmatch(line)
        assert said, line
        assert (int(said[1]), int(said[2])) == (swap.leaving, swap.entering)
        own, unit = scores[0], 1e-7 * claim.scale
        if said[7] is not None:
            assert min(own, score) <= unit
            assert float(said[7]) == pytest.approx(score, rel=1e-3, abs=unit)
            continue
        assert bool(said[8]) == (i > 0)
        if said[6] is not None:
            assert float(said[6]) == pytest.approx(score / own, rel=6e-3)
        elif said[3] is None:
            change = float(f"{said[4]}{said[5]}") / 100
            assert change == pytest.approx(score / own - 1, rel=6e-3, abs=unit / own)
        else:
            assert score == pytest.approx(own, rel=1e-6)
    return scores


def class_pencil(seed: int, p: int = 12) -> es.Pencil:
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, p)) @ rng.normal(size=(p, p))
    X[:, : p // 2] += rng.normal(size=(3, p // 2))[y]
    return es.lda_pencil(X, y, shrinkage=0.1)


@pytest.mark.parametrize("criterion", ["lambda_max", "trace", "logdet"])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_swap_comes_first(seed: int, criterion: str) -> None:
    """Few features: at every step no other pair scores more."""
    pencil = class_pencil(seed)
    claim = es.certify(pencil, [6, 8, 10, 11], criterion)
    _, best = naive.best(pencil.A, pencil.B, 4, criterion)
    assert claim.better.support.tolist() == best
    scores = check_swaps(claim, pencil)
    for S, score in zip(sets_on_the_way(claim), scores[1:]):
        out, into = set(S) - set(best), set(best) - set(S)
        rivals = (sorted({*S} - {i} | {j}) for i, j in product(out, into))
        most = max(naive.score(pencil.A, pencil.B, T, criterion) for T in rivals)
        assert score == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_more_features_than_are_tried(seed: int) -> None:
    pencil = class_pencil(seed, 40)
    claim = es.certify(pencil, np.arange(30, 40), time_limit=5)
    assert len(claim.swaps) > SHORTLIST
    scores = check_swaps(claim, pencil)
    half = scores[len(scores) // 2]
    assert half - scores[0] > 0.5 * (scores[-1] - scores[0])  # most is gained early


def test_very_many_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eigensieve.search.swaps.MANY", 7)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 50))
    X[:, 40:] += X[:, :10]
    pencil = es.cca_pencil(X[:, :25], X[:, 25:], shrinkage=0.2)
    claim = es.certify(pencil, [*range(15, 20), *range(25, 30)], time_limit=1)
    assert len(claim.swaps) > 7
    check_swaps(claim, pencil)


def test_the_score_may_fall_in_between() -> None:
    """Two features that are worth something together only: the figures say so."""
    falls = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        root, d = rng.normal(size=(6, 6)), rng.normal(size=6)
        pencil = es.Pencil(np.outer(d, d), root @ root.T + 0.01 * np.eye(6))
        for S in combinations(range(6), 2):
            claim = es.certify(pencil, S)
            scores = check_swaps(claim, pencil)
            if min(scores) < scores[0]:
                falls += 1
                assert " (-" in claim.describe_swaps()[0]
    assert falls > 3


@pytest.mark.parametrize("seed", range(6))
def test_swaps_keep_to_their_block(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 12))
    X[:, 6:9] += X[:, :3]
    pencil = es.cca_pencil(X[:, :6], X[:, 6:], shrinkage=0.2)
    claim = es.certify(pencil, [3, 4, 5, 9, 10])
    assert claim.swaps
    check_swaps(claim, pencil)
    assert all((swap.leaving < 6) == (swap.entering < 6) for swap in claim.swaps)


def test_swaps_of_two_of_three_blocks() -> None:
    A = np.random.default_rng(0).normal(size=(9, 9))
    blocks = np.arange(9) % 3
    pencil = es.Pencil(A @ A.T, blocks=blocks)
    for S in ([0, 1, 3], [1, 2, 4], [0, 3]):
        claim = es.certify(pencil, S)
        check_swaps(claim, pencil)
        for swap in claim.swaps:
            assert blocks[swap.leaving] == blocks[swap.entering]


def test_swaps_touch_neither_include_nor_exclude() -> None:
    pencil = class_pencil(3)
    claim = es.certify(pencil, [6, 8, 10, 11], include=[10], exclude=[0, 1])
    check_swaps(claim, pencil)
    assert claim.swaps
    assert not {0, 1, 10} & {j for swap in claim.swaps for j in (swap.leaving, swap.entering)}


def test_scores_that_have_no_percentage() -> None:
    below = es.Pencil(np.diag([-1.0, -2.0, -3.0]))
    claim = es.certify(below, [2])
    check_swaps(claim, below)
    assert claim.describe_swaps() == ["replace 2 by 0 (the score is -1)"]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    labels = np.arange(40) % 2
    X[:, 0] += 3 * labels
    X[:, 2] = np.tile([1.0, 1.0, -1.0, -1.0], 10)  # its means are alike: worth nothing
    pencil = es.lda_pencil(X, labels, shrinkage=0.5)
    claim = es.certify(pencil, [2])
    (line,) = claim.describe_swaps()
    assert claim.objective == pytest.approx(0, abs=1e-12)
    assert line.startswith("replace 2 by 0 (")
    signs = es.Pencil(np.diag([5.0, -1.0, 1e-3, -2.0]))
    claim = es.certify(signs, [2])
    assert claim.describe_swaps() == ["replace 2 by 0 (5000 times the score)"]


def words(objective: float, *scores: float) -> list[str]:
    """Lines of a made-up certificate: three swaps, or fewer."""
    claim = es.certify(es.Pencil(np.diag([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])), [3, 4, 5])
    swaps = tuple(Swap(i, i + 3, score) for i, score in enumerate(scores))
    changed = dataclasses.replace(claim, objective=objective, swaps=swaps)
    return [line.partition("(")[2] for line in changed.describe_swaps()]


def test_figures_in_words() -> None:
    assert words(2.0, 2.024, 3.0) == ["+1.2 %)", "+50 % in all)"]
    assert words(2.0, 1.0, 2.0, 30.0) == [
        "-50 %)",
        "no change in all)",
        "15 times the score in all)",
    ]
    assert words(0.0, 0.0, 0.5) == ["the score is 0)", "then the score is 0.5)"]
    assert words(-2.0, -3.0, -1.0) == ["the score is -3)", "then the score is -1)"]
    assert words(1.0, -0.5, 1.5) == ["the score is -0.5)", "+50 % in all)"]


def test_features_are_named_as_they_are_called() -> None:
    pencil = es.Pencil(np.diag([4.0, 3.0, 2.0]))
    plain = es.certify(pencil, [2])
    assert plain.names is None
    assert plain.describe_swaps() == ["replace 2 by 0 (+100 %)"]
    assert plain.describe_swaps(["a", "b", "c"]) == ["replace 'c' by 'a' (+100 %)"]
    named = es.certify(pencil, [2], names=np.array(["a", "it's", "c"]))
    assert named.names == ("a", "it's", "c")
    assert named.describe_swaps() == plain.describe_swaps(["a", "b", "c"])
    assert named.explain() == "a set of 1 feature scores 100 % higher: a (proved the best)"
    assert named.explain(names=["x", "y", "z"]).endswith("higher: x (proved the best)")
    with pytest.raises(es.errors.InputError, match="names has 1 entries; the pencil has 3"):
        named.describe_swaps(["a"])
    with pytest.raises(es.errors.InputError, match="names has 2 entries, and there are 3 features"):
        es.certify(pencil, [2], names=["a", "b"])
