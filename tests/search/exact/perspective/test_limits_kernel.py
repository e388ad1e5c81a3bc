"""What single limits decide: kernel, NumPy and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse

from eigensieve.pencil.limits import IN, OUT, Limits
from eigensieve.search.exact.perspective.limits_kernel import narrow_state
from eigensieve.search.exact.perspective.weights import LimitRows

COUNT = 2000


def test_narrowing_loses_no_set_and_agrees_with_numpy() -> None:
    rng = np.random.default_rng(0)
    decided = closed = 0
    for _ in range(COUNT):
        p, m = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        k = int(rng.integers(1, p + 1))
        W = rng.integers(-2, 4, size=(m, p)) * (rng.random((m, p)) < 0.6)
        most = rng.integers(-2, 5, size=m).astype(float)
        limits = Limits(sparse.csr_array(W.astype(float)), most, ("a", "b", "c")[:m])
        state = rng.choice([0, 0, 0, IN, OUT], size=p).astype(np.int8)
        inside, outside = set(np.flatnonzero(state == IN)), set(np.flatnonzero(state == OUT))
        sets = [
            set(S)
            for S in itertools.combinations(range(p), k)
            if np.all(W[:, S].sum(axis=1) <= most) and inside <= set(S) and not outside & set(S)
        ]
        narrowed, now = limits.narrow(state, k), state.copy()
        is_left = narrow_state(LimitRows.of(limits), now, k)
        assert is_left == (narrowed is not None)
        if narrowed is None:
            assert not sets
            closed += 1
            continue
        np.testing.assert_array_equal(narrowed, now)
        assert all(set(np.flatnonzero(narrowed == IN)) <= S for S in sets)
        assert not any(set(np.flatnonzero(narrowed == OUT)) & S for S in sets)
        decided += int(np.any(narrowed != state))
    assert decided > COUNT / 20
    assert closed > COUNT / 20
