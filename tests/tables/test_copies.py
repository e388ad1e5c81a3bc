"""Copies of columns: found, and made equal to the last digit."""

from __future__ import annotations

import numpy as np

from eigensieve.tables.copies import first_copies, unify_copies


def test_copies_are_equal_up_to_sign_and_round_off() -> None:
    rng = np.random.default_rng(5)
    u, v = rng.normal(size=(2, 6))
    near, far = u + 1e-14 * v, u + 1e-8 * v
    rows = np.column_stack([u, v, -u, near, far, 2 * u, np.zeros(6), u])
    assert first_copies(rows).tolist() == [0, 1, 0, 0, 4, 5, 6, 0]


def test_copies_at_any_scale() -> None:
    rows = np.random.default_rng(5).normal(size=(4, 6))
    rows[:, 5] = -rows[:, 1]
    for scale in (1e-30, 1e30):
        assert first_copies(scale * rows).tolist() == [0, 1, 2, 3, 4, 1]


def test_copies_are_made_equal_to_the_last_digit() -> None:
    rows = np.random.default_rng(5).normal(size=(4, 6))
    rows[:, 5], rows[:, 4] = -rows[:, 1] * (1 + 1e-15), rows[:, 1] * (1 - 1e-15)
    unify_copies(rows, rows)
    assert np.array_equal(rows[:, 4], rows[:, 1])
    assert np.array_equal(rows[:, 5], -rows[:, 1])
