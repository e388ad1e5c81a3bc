"""`certify`: what is proved of a set that somebody else chose, and how it is said."""

from __future__ import annotations

import dataclasses
import itertools
import math
import signal
import time

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.solution import Status
from eigensieve.search.certificate import Certificate
from tests.oracles import naive

CRITERIA = ("lambda_max", "trace", "logdet")


@pytest.fixture(scope="module")
def pencil() -> es.Pencil:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 10))
    X[:, :4] += 0.6 * (np.arange(40) % 3)[:, None]
    X[:, 8] -= np.arange(40) % 2
    return es.lda_pencil(X, np.arange(40) % 3, shrinkage=0.4)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_best_set_is_proved_best(pencil: es.Pencil, criterion: str) -> None:
    best, support = naive.best(pencil.A, pencil.B, 3, criterion)
    claim = es.certify(pencil, support[::-1], criterion)
    claim.verify(pencil)
    assert isinstance(claim, Certificate)
    assert claim.support.tolist() == support
    assert claim.status is Status.OPTIMAL
    assert claim.better is None
    assert claim.objective == pytest.approx(best)
    assert best <= claim.bound <= best * (1 + 1e-6)
    assert claim.explain() == "proved: no other set of 3 features scores higher (within 0.0001 %)"


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_better_set_is_shown(pencil: es.Pencil, criterion: str) -> None:
    best, support = naive.best(pencil.A, pencil.B, 3, criterion)
    given = [0, 1, 2]
    assert given != support
    claim = es.certify(pencil, given, criterion)
    claim.verify(pencil)
    assert claim.support.tolist() == given
    assert claim.status is Status.FEASIBLE
    assert claim.objective == pytest.approx(naive.score(pencil.A, pencil.B, given, criterion))
    assert claim.bound == pytest.approx(best, rel=1e-5)
    gap = (best - claim.objective) / max(claim.objective, pencil.scale)
    assert claim.gap == pytest.approx(gap, rel=1e-5)
    assert claim.better is not None
    claim.better.verify(pencil)
    assert claim.better.support.tolist() == support
    said = claim.explain("genes", names=[f"g{j}" for j in range(10)])
    assert said.startswith("a set of 3 genes scores ")
    assert said.endswith(f"% higher: {', '.join(f'g{j}' for j in support)} (proved the best)")


def test_rivals_keep_to_include_and_exclude(pencil: es.Pencil) -> None:
    _, support = naive.best(pencil.A, pencil.B, 3, "trace")
    others = [j for j in range(10) if j not in support]
    kept = pencil.take(np.array(others))
    best, place = naive.best(kept.A, kept.B, 3, "trace")
    claim = es.certify(pencil, [others[j] for j in place], "trace", exclude=support)
    assert claim.is_certified
    assert claim.bound == pytest.approx(best, rel=1e-5)
    assert not es.certify(pencil, claim.support, "trace").is_certified
    claim = es.certify(pencil, [0, 1, 2], "trace", include=[0, 1, 2])
    assert claim.is_certified
    assert claim.gap <= 1e-12


def test_rivals_have_as_many_features_of_each_block() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 8))
    X[:, 4:] += X[:, :4]
    pencil = es.cca_pencil(X[:, :4], X[:, 4:], shrinkage=0.3)
    pairs = [(i, j) for i in range(4) for j in range(4, 8)]
    best = max(pairs, key=lambda pair: naive.score(pencil.A, pencil.B, list(pair), "lambda_max"))
    claim = es.certify(pencil, best)
    claim.verify(pencil)
    assert claim.is_certified
    poor = next(pair for pair in pairs if not set(pair) & set(best))
    better = es.certify(pencil, poor).better
    assert tuple(better.support.tolist()) == best


def test_a_set_within_one_block() -> None:
    """All such sets are worth 0: no percentage makes sense."""
    rng = np.random.default_rng(2)
    pencil = es.cca_pencil(rng.normal(size=(30, 4)), rng.normal(size=(30, 3)), shrinkage=0.3)
    claim = es.certify(pencil, [0, 1])
    claim.verify(pencil)
    assert claim.objective == pytest.approx(0, abs=1e-12)
    assert claim.is_certified
    assert claim.bound < 1e-5 * pencil.scale


def wide_pencil() -> es.Pencil:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 600)), np.arange(40) % 2
    X[:, :5] += y[:, None]
    return es.lda_pencil(X, y, shrinkage=0.3)


def test_no_time_gives_the_first_bound_at_once() -> None:
    pencil = wide_pencil()
    start = time.perf_counter()
    claim = es.certify(pencil, np.arange(20), "logdet", time_limit=0)
    assert time.perf_counter() - start < 3
    claim.verify(pencil)
    assert claim.status is Status.TIME_LIMIT
    assert math.isfinite(claim.bound)
    greedy = es.solve(pencil, 20, criterion="logdet")
    assert claim.bound >= greedy.objective
    assert "can score more than" in claim.explain()


def test_no_time_gives_a_bound_without_shrinkage() -> None:
    """Leaps and bounds knows none before its first node."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 40)), np.arange(90) % 2
    pencil = es.lda_pencil(X, y, shrinkage=0.0)
    best = es.solve(pencil, 8, solver="exact", criterion="logdet")
    claim = es.certify(pencil, np.arange(8), "logdet", time_limit=0)
    claim.verify(pencil)
    assert best.objective <= claim.bound < math.inf


def test_a_wide_tolerance_hides_no_better_set(pencil: es.Pencil) -> None:
    claim = es.certify(pencil, [5, 6, 7], "trace", gap_tol=100.0)
    assert claim.is_certified
    assert claim.better is not None
    assert claim.better.objective > claim.objective
    assert "proved" not in claim.explain()
    assert "no set can score more than" in claim.explain()


def test_ctrl_c_keeps_what_is_proved() -> None:
    pencil = wide_pencil()

    def press(event: object) -> None:
        signal.raise_signal(signal.SIGINT)

    claim = es.certify(pencil, np.arange(20), "logdet", time_limit=60, callback=press)
    claim.verify(pencil)
    assert claim.status is Status.INTERRUPTED
    assert claim.seconds < 20


def test_the_whole_set_has_no_rival(pencil: es.Pencil) -> None:
    claim = es.certify(pencil, range(10), "logdet")
    assert claim.is_certified
    assert claim.gap <= 1e-12
    assert claim.explain("genes") == "there is no other set of 10 genes to choose"


# ---------------------------------------------------------------- words


@pytest.fixture(scope="module")
def claim() -> Certificate:
    pencil = es.Pencil(np.diag([4.0, 3.0, 2.0, 1.0]), np.eye(4))
    return es.certify(pencil, [0, 1])


def better(claim: Certificate, objective: float, **changes: object) -> es.Solution:
    fields = {f.name: getattr(claim, f.name) for f in dataclasses.fields(es.Solution)}
    return es.Solution(**fields | {"objective": objective} | changes)


SENTENCES = {
    "open": (
        {"objective": 1.0, "bound": 1.0401},
        "no set of 2 features can score more than 4.1 % above the given one",
    ),
    "rounded up": (
        {"objective": 1.0, "bound": 1.25},
        "no set of 2 features can score more than 25 % above the given one",
    ),
    "far": (
        {"objective": 0.001, "bound": 1.0},
        "no set of 2 features can score more than 1000 times the given one",
    ),
    "unknown": ({"bound": math.inf}, "nothing is proved of the best set of 2 features"),
    "zero": (
        {"objective": 0.0, "bound": 0.5},
        "no set of 2 features can score more than 0.5; the given one scores 0",
    ),
    "negative": (
        {"objective": -2.0, "bound": -1.5},
        "no set of 2 features can score more than -1.5; the given one scores -2",
    ),
}


@pytest.mark.parametrize(("changes", "said"), SENTENCES.values(), ids=SENTENCES.keys())
def test_sentences(claim: Certificate, changes: dict, said: str) -> None:
    changed = dataclasses.replace(claim, status=Status.TIME_LIMIT, better=None, **changes)
    assert changed.explain() == said


def test_sentences_with_a_better_set(claim: Certificate) -> None:
    found = better(claim, 1.0325, status=Status.TIME_LIMIT)
    changed = dataclasses.replace(
        claim, objective=1.0, bound=1.05, status=Status.TIME_LIMIT, better=found
    )
    assert changed.explain("genes", ["TP53", "MYC", "c", "d"]) == (
        "a set of 2 genes scores 3.25 % higher: TP53, MYC; "
        "no set can score more than 5 % above the given one"
    )
    far = dataclasses.replace(changed, objective=0.01, bound=1.0325)
    assert far.explain().startswith("a set of 2 features scores 103 times as much: 0, 1; no set ")
    below = dataclasses.replace(changed, objective=-1.0, better=better(claim, 0.5))
    assert below.explain() == (
        "a set of 2 features scores 0.5: 0, 1 (proved the best); the given one scores -1"
    )
    open_one = dataclasses.replace(changed, objective=-1.0, bound=0.50001)
    assert open_one.explain() == (  # rounded up: the bound itself is above 0.5
        "a set of 2 features scores 1.032: 0, 1; no set can score more than 0.5001; "
        "the given one scores -1"
    )
    thousand = dataclasses.replace(changed, objective=1.0325 / 999.7, bound=math.inf)
    assert "scores 1000 times as much" in thousand.explain()


def test_round_off_makes_no_set_better() -> None:
    """The same columns in other units: their scores are equal but for the last digits."""
    ties = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 150)), np.arange(60) % 3
        both = np.hstack([X, X * rng.uniform(0.1, 9, 150) + 5 * rng.normal(size=150)])
        pencil = es.lda_pencil(both, y, shrinkage=0.3)
        copies = (es.solve(pencil, 8).support + 150) % 300
        claim = es.certify(pencil, copies, time_limit=0.05)
        gain = 1 if claim.better is None else claim.better.objective / claim.objective - 1
        assert gain > 1e-9
        ties += claim.better is None
    assert ties


def test_the_sentence_says_who_is_no_rival() -> None:
    """Rivals that include, exclude or blocks rule out may score more: nothing is proved of them."""
    pencil = es.Pencil(np.diag([4.0, 3.0, 2.0, 1.0]))
    claim = es.certify(pencil, [1, 2], exclude=[0])
    assert claim.is_certified
    assert es.solve(pencil, 2, "exhaustive").objective > claim.bound
    assert claim.explain() == (
        "proved: no other allowed set of 2 features scores higher (within 0.0001 %)"
    )
    worse = es.certify(pencil, [2, 3], exclude=[0], include=[3])
    assert worse.explain() == (
        "an allowed set of 2 features scores 50 % higher: 1, 3 (proved the best allowed)"
    )
    alone = es.certify(pencil, [2, 3], include=[2, 3])
    assert alone.explain() == "there is no other allowed set of 2 features to choose"
    X = np.random.default_rng(0).normal(size=(40, 7))
    views = es.cca_pencil(X[:, :4], X[:, 4:], shrinkage=0.3)
    assert (
        "no other set of 2 + 1 features"
        in es.certify(views, es.solve(views, (2, 1), "exhaustive").support).explain()
    )


def test_the_tolerance_is_one_of_the_score(claim: Certificate) -> None:
    small = dataclasses.replace(claim, objective=0.01, scale=1.0, bound=0.01)
    assert small.explain() == "proved: no other set of 2 features scores higher (within 0.01 %)"
    nothing = dataclasses.replace(claim, objective=0.0, scale=0.0, bound=0.0)
    assert nothing.explain() == "proved: no other set of 2 features scores higher"
    zero = dataclasses.replace(claim, objective=0.0, scale=1.0, bound=0.0)
    assert zero.explain() == "proved: no other set of 2 features scores higher (within 1e-06)"


def test_one_feature_is_no_plural() -> None:
    claim = es.certify(es.Pencil(np.diag([4.0, 3.0]), np.eye(2)), [0])
    assert "set of 1 gene scores" in claim.explain("genes")


# ---------------------------------------------------------------- wrong use


WRONG = {
    "empty": ([], {}, "support is empty: name at least one"),
    "names": (["a"], {}, "support must list"),
    "fractions": ([0.5], {}, "support must list"),
    "mask": ([True, False], {}, "not a mask: use np.flatnonzero"),
    "nested": ([[0, 1]], {}, "support must list"),
    "twice": ([1, 2, 1], {}, "support: 1 is there more than once"),
    "outside": ([3, 10], {}, r"names feature 10, outside 0\.\.9"),
    "negative": ([-1], {}, r"names feature -1, outside 0\.\.9"),
    "include": ([0, 1], {"include": [5]}, "feature 5 is in include, but not in the support"),
    "exclude": ([0, 1], {"exclude": [1]}, "feature 1 of the support is in exclude"),
    "criterion": ([0, 1], {"criterion": "magic"}, "criterion is 'magic'"),
    "time": ([0, 1], {"time_limit": -1}, "time_limit is -1"),
}


@pytest.mark.parametrize(("support", "options", "said"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use(pencil: es.Pencil, support: list, options: dict, said: str) -> None:
    with pytest.raises(es.errors.InputError, match=said):
        es.certify(pencil, support, **options)


def test_no_pencil() -> None:
    with pytest.raises(es.errors.InputError, match="expected a Pencil, not ndarray"):
        es.certify(np.eye(3), [0])


def test_names_are_those_of_all_features(claim: Certificate) -> None:
    with pytest.raises(es.errors.InputError, match="names has 1 entries; the pencil has 4"):
        claim.explain(names=["a"])


def test_blocks_without_features_of_the_set() -> None:
    """Found by fuzzing: a set in two of three blocks was refused, as k = (1, 1, 0)."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(7, 7))
    A = A @ A.T
    pencil = es.Pencil(A, blocks=[0, 1, 2, 0, 1, 2, 2])
    for blocks, support in (([0, 1], [0, 1]), ([0, 2], [3, 5, 6]), ([1, 2], [1, 2])):
        claim = es.certify(pencil, support, time_limit=None)
        counts = [np.sum(pencil.blocks[support] == b) for b in blocks]
        rivals = [
            S for S in itertools.combinations(range(7), len(support))
            if [np.sum(pencil.blocks[list(S)] == b) for b in blocks] == counts
        ]  # fmt: skip
        best = max(naive.score(A, np.eye(7), list(S), "lambda_max") for S in rivals)
        assert claim.bound == pytest.approx(best, rel=1e-5)
        assert pencil.blocks.tolist() == [0, 1, 2, 0, 1, 2, 2]
