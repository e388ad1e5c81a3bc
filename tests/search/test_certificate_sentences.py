"""Every sentence of a certificate, read back and held against the scores of all sets."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import eigensieve as es
from tests.oracles import naive

NUMBER = r"(-?[\d.]+(?:e[-+]\d+)?)"


def awkward_pencil(rng: np.random.Generator, seed: int) -> es.Pencil:
    """Few features, of any size: copies, classes far apart or all alike; or a matrix below zero."""
    p, K = int(rng.integers(2, 8)), int(rng.integers(2, 5))
    if seed % 5 == 0:
        A = rng.normal(size=(p, p))
        return es.Pencil((A + A.T) / 2 - 5 * (seed % 2) * np.eye(p))
    n = int(rng.integers(p + 6, 30))
    X, y = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4), np.arange(n) % K
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]
    elif seed % 3 == 1:
        X += y[:, None] * 10.0 ** rng.integers(-6, 3)
    return es.lda_pencil(X, y, shrinkage=float(rng.choice([0.1, 0.5, 1.0])))


def reading(sentence: str, own: float) -> dict[str, float]:
    """The scores that it speaks of, as numbers; the given set scores ``own``."""
    found = {}
    for name, words in (("better", "scores"), ("limit", "can score more than")):
        said = re.search(rf"{words} {NUMBER}( %| times)?", sentence.partition("; the given")[0])
        if said is not None:
            value = float(said[1])
            shares = {None: value, " %": own * (1 + value / 100), " times": own * value}
            found[name] = shares[said[2]]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_is_true(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pencil = awkward_pencil(rng, seed)
    k = int(rng.integers(1, pencil.size + 1))
    S = np.sort(rng.choice(pencil.size, k, replace=False)).tolist()
    include = S[:1] if rng.random() < 0.3 else []
    exclude = [j for j in range(pencil.size) if j not in S][:1] if rng.random() < 0.3 else []
    claim = es.certify(
        pencil, S, include=include, exclude=exclude, time_limit=float(rng.choice([0, 20]))
    )
    sentence = claim.explain()

    rivals = [
        list(T)
        for T in itertools.combinations(range(pencil.size), k)
        if set(include) <= set(T) and not set(exclude) & set(T)
    ]
    own, *scores = (naive.score(pencil.A, pencil.B, T, claim.criterion) for T in (S, *rivals))
    best, said = max(scores), reading(sentence, own)
    off = 1e-6 * max(abs(best), claim.scale)  # what "optimal" leaves open
    assert ("allowed" in sentence) == bool(include or exclude)
    assert best <= claim.bound + 1e-9 * abs(best)
    if sentence.startswith("proved"):
        assert best <= own + off
    elif sentence.startswith("there is no other"):
        assert rivals == [S]
    else:
        assert said
    if "limit" in said:
        assert best <= said["limit"] + 1e-9 * abs(best)
    if "better" in said:
        named = [int(j) for j in re.search(r": ([\d, ]+)", sentence)[1].split(",")]
        score = scores[rivals.index(named)]
        digits = abs(score) if own <= 0 else abs(score - own)  # four digits, or three
        assert said["better"] == pytest.approx(score, abs=5.1e-3 * digits + 1e-9 * abs(score))
        assert ("proved the best" in sentence) <= (best <= score + off)
