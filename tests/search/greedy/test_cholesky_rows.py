"""Cholesky rows: what a growing set leaves of every feature, against dense linear algebra."""

import numpy as np
import pytest
from scipy import sparse

from eigensieve.search.greedy.cholesky_rows import CholeskyRows
from eigensieve.search.greedy.sweep import Sweep
from eigensieve.tables.operators.any_rows import row_squares
from eigensieve.tables.operators.device_rows import DeviceRows
from eigensieve.tables.statistics import ClassStats
from tests.device_arrays import DEVICES, sender


def regression(M: np.ndarray, S: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """C = M[:, S] M_S^-1 and what is left of the diagonal, from scratch."""
    C = np.linalg.solve(M[np.ix_(S, S)], M[S]).T
    return C, np.diag(M) - np.einsum("ij,ij->i", C, M[:, S])


@pytest.mark.parametrize(("m", "p", "k"), [(6, 30, 5), (40, 12, 12), (1, 9, 4), (0, 5, 3)])
def test_like_the_dense_matrix(m: int, p: int, k: int) -> None:
    rng = np.random.default_rng([m, p])
    F, d = rng.normal(size=(m, p)), rng.uniform(0.1, 2, p)
    M = F.T @ F + np.diag(d)
    rows = CholeskyRows([F[: m // 2], F[m // 2 :]], d, np.diag(M).copy(), k)
    order = rng.permutation(p)[:k].tolist()
    for slot, j in enumerate(order):
        g = rows.add(j, slot)
        C, v = regression(M, order[: slot + 1])
        np.testing.assert_allclose(g, C[:, slot], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(rows.v, np.maximum(v, 0.0), rtol=1e-9, atol=1e-11)
        assert not rows.v[order[: slot + 1]].any()


def test_like_the_sweep_step_by_step() -> None:
    rng = np.random.default_rng(3)
    F, d = rng.normal(size=(20, 200)), rng.uniform(0.1, 2, 200)
    M = F.T @ F + np.diag(d)
    sweep = Sweep(lambda index: M[:, index], np.diag(M).copy(), 15)
    rows = CholeskyRows([F], d, np.diag(M).copy(), 15)
    for slot, j in enumerate(rng.permutation(200)[:15].tolist()):
        np.testing.assert_allclose(rows.add(j, slot), sweep.add(j, slot), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(rows.v, sweep.v, rtol=1e-9, atol=1e-11)


def test_nearly_dependent_columns_keep_their_digits() -> None:
    """Two copies of a column with d = 1e-10 of it: 2e-10 is left of the second, to nine digits."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(30, 1))
    F = np.hstack([w, w, rng.normal(size=(30, 3))])
    scale = float(w[:, 0] @ w[:, 0])
    d = np.full(5, 1e-10 * scale)
    rows = CholeskyRows([F], d, row_squares(F) + d, 2)
    rows.add(0, 0)
    assert rows.v[1] == pytest.approx(2e-10 * scale, rel=1e-4)
    g = rows.add(1, 1)
    # by symmetry both copies explain half of what one did
    want = (F.T @ w[:, 0])[2:] / (2 * scale)
    np.testing.assert_allclose(g[2:], want, rtol=1e-4)


def test_an_exactly_dependent_column_stays_finite() -> None:
    F = np.ones((2, 3))
    d = np.full(3, 1e-30)
    rows = CholeskyRows([F], d, row_squares(F) + d, 3)
    for slot in range(3):
        assert np.isfinite(rows.add(slot, slot)).all()
    assert (rows.v <= 1e-13 * 2).all()


@pytest.mark.parametrize("kind", DEVICES)
def test_on_a_device(kind: str) -> None:
    send = sender(kind)
    rng = np.random.default_rng(1)
    F, d = rng.normal(size=(7, 50)), rng.uniform(0.1, 2, 50)
    diagonal = row_squares(F) + d
    host = CholeskyRows([F], d, diagonal, 6)
    there = CholeskyRows([send(F)], send(d), send(diagonal), 6)
    for slot, j in enumerate([3, 49, 0, 17, 20, 8]):
        np.testing.assert_allclose(np.asarray(there.add(j, slot)), host.add(j, slot), rtol=1e-12)
        np.testing.assert_allclose(np.asarray(there.v), host.v, rtol=1e-12)
    np.testing.assert_array_equal(diagonal, row_squares(F) + d)  # what was given is not changed


def test_rows_that_are_no_array() -> None:
    table = sparse.random(25, 60, 0.2, format="csc", random_state=2)
    sparse_rows = ClassStats.from_data(table, np.zeros(25, dtype=int), form="rows").rows
    dense = ClassStats.from_data(table.toarray(), np.zeros(25, dtype=int), form="rows").rows
    d = np.full(60, 0.3)
    diagonal = row_squares(dense) + d
    forms = [CholeskyRows([F], d, diagonal, 4) for F in (dense, sparse_rows, DeviceRows(dense))]
    for slot, j in enumerate([5, 1, 44, 30]):
        first, *others = (rows.add(j, slot) for rows in forms)
        for g in others:
            np.testing.assert_allclose(g, first, rtol=1e-10, atol=1e-12)
