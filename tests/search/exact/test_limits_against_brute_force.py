"""The exact solver under limits on groups and costs: every set is looked at beside it."""

from __future__ import annotations

import pytest

import eigensieve as es
from tests.oracles.limited import limited_instance

# Nearly singular instances are only as sharp as this.
SHARP = 1e-6


@pytest.mark.parametrize("block", range(8))
def test_exact_search_finds_the_optimum(block: int) -> None:
    compared = 0
    for seed in range(50 * block, 50 * block + 50):
        case = limited_instance(seed)
        if not case.sets:
            continue
        found = es.solve(case.instance.pencil, solver="exact", **case.arguments)
        best, value = case.best(), case.score(found.support)
        sharp = SHARP * max(abs(best), found.scale)
        assert found.support.tolist() in case.sets, case
        assert found.bound >= best - sharp, case
        if found.is_certified:
            assert value >= best - 2 * sharp, case
        compared += found.is_certified
    assert compared > 20
