"""The oracles agree with each other: two ways of brute force."""

import numpy as np
import pytest

from tests.oracles import naive


@pytest.mark.parametrize("seed", range(5))
def test_schur_enumeration_is_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, G = rng.normal(size=7), rng.normal(size=(9, 7))
    B = G.T @ G
    values = naive.all_rank_one(d, B)
    for k in range(1, 8):
        expected, _ = naive.best(np.outer(d, d), B, k, "lambda_max")
        assert values[k] == pytest.approx(expected, rel=1e-10)
