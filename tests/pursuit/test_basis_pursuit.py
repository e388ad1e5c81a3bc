"""Basis pursuit by the simplex method: the optimum of HiGHS, certificates, ties."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.pencil.solution import Status
from eigensieve.pursuit.simplex import Vertex
from tests.oracles import linear

Rng = np.random.Generator


def wide(rng: Rng, draw: Callable[[tuple[int, int]], np.ndarray]) -> np.ndarray:
    m, p = int(rng.integers(1, 15)), int(rng.integers(15, 40))
    return np.asarray(draw((m, p)), dtype=np.float64)


def copied(A: np.ndarray) -> np.ndarray:
    return np.hstack([A, A[:, ::2], -A[:, ::3]])


def dependent(A: np.ndarray, rng: Rng) -> np.ndarray:
    return np.vstack([A, rng.normal(size=(3, len(A))) @ A])


KINDS: dict[str, Callable[[Rng], np.ndarray]] = {
    "gaussian": lambda rng: wide(rng, lambda shape: rng.normal(size=shape)),
    "signs": lambda rng: wide(rng, lambda shape: rng.choice([-1, 1], size=shape)),
    "small integers": lambda rng: wide(rng, lambda shape: rng.integers(-2, 3, size=shape)),
    "zeros and ones": lambda rng: wide(rng, lambda shape: rng.integers(0, 2, size=shape)),
    "copies": lambda rng: copied(wide(rng, lambda shape: rng.normal(size=shape))),
    "copies of signs": lambda rng: copied(wide(rng, lambda s: rng.choice([-1, 1], size=s))),
    "hadamard": lambda rng: linalg.hadamard(32)[rng.permutation(32)[: rng.integers(1, 33)]] + 0.0,
    "dependent rows": lambda rng: dependent(rng.normal(size=(6, 20)), rng),
    "dependent integers": lambda rng: np.repeat(rng.integers(0, 2, size=(5, 20)), 2, axis=0) + 0.0,
    "one row": lambda rng: rng.normal(size=(1, int(rng.integers(2, 20)))),
    "one column": lambda rng: rng.normal(size=(int(rng.integers(1, 9)), 1)),
    "large": lambda rng: rng.normal(size=(40, 200)),
    "large signs": lambda rng: rng.choice([-1.0, 1.0], size=(30, 150)),
    "large zeros and ones": lambda rng: rng.integers(0, 2, size=(30, 150)) + 0.0,
}


def hidden(rng: Rng, p: int, seed: int) -> np.ndarray:
    """Dense, three non-zeros, or three whole numbers, in turn."""
    x = rng.normal(size=p)
    if seed % 3:
        x[rng.permutation(p)[3:]] = 0.0
    return np.ceil(2 * x) if seed % 3 == 2 else x


def solve_and_check(A: np.ndarray, b: np.ndarray, tol: float = 1e-12) -> es.PursuitSolution:
    """Certified, verified, not more non-zeros than the rank, and the norm that HiGHS finds."""
    found = es.basis_pursuit(A, b)
    found.verify(A, b)
    assert found.status is Status.OPTIMAL
    assert found.gap <= tol
    assert found.residual <= 1e-12
    assert found.support.size <= np.linalg.matrix_rank(A)
    assert found.objective == pytest.approx(linear.least_l1(A, b), rel=1e-9, abs=1e-12)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_highs(kind: str) -> None:
    """24 problems of each kind, 336 in all."""
    for seed in range(24):
        rng = np.random.default_rng([seed, len(kind)])
        A = KINDS[kind](rng)
        solve_and_check(A, A @ hidden(rng, A.shape[1], seed))


@pytest.mark.parametrize("extra", [0, 3])
def test_at_least_as_many_rows_as_columns_leave_no_choice(extra: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, extra])
        p = int(rng.integers(1, 9))
        A = np.vstack([np.eye(p) + 0.1 * rng.normal(size=(p, p)), rng.normal(size=(extra, p))])
        x = hidden(rng, p, seed)
        np.testing.assert_allclose(solve_and_check(A, A @ x).x, x, rtol=0, atol=1e-12)


def test_no_basis_is_better() -> None:
    """The minimum lies at a vertex: all of them are tried."""
    for seed in range(15):
        rng = np.random.default_rng([seed, 3])
        A, b = rng.normal(size=(3, 10)), rng.normal(size=3)
        best = linear.least_l1_of_bases(A, b)
        assert es.basis_pursuit(A, b).objective == pytest.approx(best, rel=1e-12)


def test_one_row_uses_the_largest_entry() -> None:
    found = es.basis_pursuit([[1.0, -4.0, 3.0]], [6.0])
    np.testing.assert_allclose(found.x, [0.0, -1.5, 0.0], rtol=1e-15)
    np.testing.assert_allclose(found.y, [0.25], rtol=1e-15)


@pytest.mark.parametrize("kind", ["gaussian", "signs", "zeros and ones"])
def test_few_planted_weights_come_back_with_exact_zeros_elsewhere(kind: str) -> None:
    """Fewer non-zeros than the rank: a degenerate vertex."""
    recovered = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 77])
        draws = {
            "gaussian": rng.normal(size=(20, 60)),
            "signs": rng.choice([-1.0, 1.0], size=(20, 60)),
            "zeros and ones": rng.integers(0, 2, size=(20, 60)) + 0.0,
        }
        A, x = draws[kind], np.zeros(60)
        x[rng.permutation(60)[:3]] = [1.0, -2.0, 0.5]
        found = solve_and_check(A, A @ x)
        if found.objective > 3.5 * (1 - 1e-9):  # otherwise another x has a smaller norm
            recovered += 1
            assert found.support.tolist() == np.flatnonzero(x).tolist()
            np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-12)
    assert recovered >= 15


def smooth_problem(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Cosines at neighbouring places, b of a few of them, and the least norm.

    The first row of A is 1 and the hidden weights are positive: no x has a smaller sum.
    """
    rng = np.random.default_rng([seed, 99])
    m = int(rng.integers(3, 16))
    p = int(rng.integers(m, 120))
    frequency, place = np.ogrid[:m, :p]
    A = np.cos(np.pi * frequency * (2 * place + 1) / (2 * p))
    x = np.zeros(p)
    x[rng.permutation(p)[:4]] = rng.integers(1, 3, size=min(4, p))
    return A, A @ x, float(x.sum())


@pytest.mark.parametrize("block", range(4))
def test_nearly_dependent_columns(block: int) -> None:
    """400 problems in all; 64 and 276 are the worst."""
    for seed in range(100 * block, 100 * block + 100):
        A, b, least = smooth_problem(seed)
        found = es.basis_pursuit(A, b)
        found.verify(A, b)
        assert found.is_certified, seed
        assert found.objective == pytest.approx(least, rel=1e-9)


def complete_bipartite(rows: int, columns: int) -> np.ndarray:
    edges = list(product(range(rows), range(rows, rows + columns)))
    return np.array([[float(node in edge) for edge in edges] for node in range(rows + columns)])


def complete_graph(n: int) -> np.ndarray:
    """Every edge leaves its first node (1) and enters its second (-1)."""
    edges = list(combinations(range(n), 2))
    return np.array([[(i == a) - float(i == b) for a, b in edges] for i in range(n)])


STRUCTURED = {
    "complete bipartite": complete_bipartite(6, 7),
    "complete graph": complete_graph(10),
    "identities": np.hstack([np.eye(12), -np.eye(12), np.eye(12)]),
    "ones": np.ones((5, 9)),
    "ones and an identity": np.ones((8, 20)) + np.eye(8, 20),
    "all subsets": np.array(list(product([0.0, 1.0], repeat=6))).T,
    "all signs": np.array(list(product([-1.0, 1.0], repeat=6))).T,
    "intervals": np.tril(np.ones((10, 10)))[:, ::-1],
    "hadamard and itself": np.hstack([linalg.hadamard(16), linalg.hadamard(16)])[:9] + 0.0,
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_ties_do_not_make_it_cycle(name: str) -> None:
    A = STRUCTURED[name]
    for seed in range(12):
        rng = np.random.default_rng([seed, 4])
        x = rng.integers(-1, 2, size=A.shape[1]) if seed % 2 else rng.integers(0, 3, A.shape[1])
        found = solve_and_check(A, A @ x)
        assert found.n_iter <= 50 * len(A)


def test_of_identical_columns_the_first_is_used() -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, 9])
        A = rng.normal(size=(6, 25))
        b = rng.normal(size=6)
        alone = es.basis_pursuit(A, b)
        twice = es.basis_pursuit(np.hstack([A, A]), b)
        negated = es.basis_pursuit(np.hstack([A, -A, A]), b)
        assert alone.support.size == 6
        assert twice.support.tolist() == negated.support.tolist() == alone.support.tolist()
        np.testing.assert_allclose(twice.x[:25], alone.x, rtol=0, atol=1e-12)


def test_several_columns_are_solved_each_as_if_alone() -> None:
    for seed in range(10):
        rng = np.random.default_rng([seed, 21])
        A, B = rng.normal(size=(10, 50)), rng.normal(size=(10, 4))
        together = es.basis_pursuit(A, B)
        together.verify(A, B)
        assert together.is_certified
        alone = [es.basis_pursuit(A, b) for b in B.T]
        assert together.x.shape == (50, 4)
        assert together.y.shape == (10, 4)
        for x, one in zip(together.x.T, alone):
            assert np.flatnonzero(x).tolist() == one.support.tolist()
            np.testing.assert_allclose(x, one.x, rtol=0, atol=1e-12)
        least = sum(linear.least_l1(A, b) for b in B.T)
        assert together.objective == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("kind", ["gaussian", "signs", "copies"])
def test_a_similar_column_starts_from_the_last_vertex(kind: str) -> None:
    """Warm starts save pivots and change nothing else."""
    warm = cold = 0
    for seed in range(10):
        rng = np.random.default_rng([seed, 22])
        draw = rng.choice([-1.0, 1.0], (15, 80)) if kind == "signs" else rng.normal(size=(15, 80))
        A = copied(draw) if kind == "copies" else draw
        b = rng.normal(size=15)
        B = b[:, None] + 0.02 * rng.normal(size=(15, 6))
        B[:, 3] = 0.0  # in between
        B[:, 5] = -2.0 * B[:, 4]
        together = es.basis_pursuit(A, B)
        together.verify(A, B)
        assert together.gap <= 1e-12
        alone = [es.basis_pursuit(A, column) for column in B.T]
        for x, one, column in zip(together.x.T, alone, B.T):
            norm = np.abs(x).sum()
            assert norm == pytest.approx(one.objective, rel=1e-12)
            assert norm == pytest.approx(linear.least_l1(A, column), rel=1e-9)
        warm += together.n_iter
        cold += sum(one.n_iter for one in alone)
    assert warm < 0.7 * cold


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_zero_is_the_answer_to_zero(shape: tuple[int, ...]) -> None:
    A, b = np.random.default_rng(0).normal(size=(5, 9)), np.zeros(shape)
    found = es.basis_pursuit(A, b)
    found.verify(A, b)
    assert found.is_certified
    assert found.objective == found.bound == found.residual == found.gap == 0.0
    assert found.x.shape == (9, *shape[1:])
    assert not found.x.any()


def test_a_matrix_of_zeros() -> None:
    A = np.zeros((3, 5))
    found = es.basis_pursuit(A, np.zeros(3))
    found.verify(A, np.zeros(3))
    assert found.is_certified
    with pytest.raises(InputError, match="no x satisfies"):
        es.basis_pursuit(A, [0.0, 1.0, 0.0])


@pytest.mark.parametrize("scale", [1e-100, 1e-10, 1e10, 1e100])
def test_scales_of_A_and_b_and_of_single_rows_do_not_matter(scale: float) -> None:
    for seed in range(8):
        rng = np.random.default_rng([seed, 31])
        A, b = rng.normal(size=(5, 20)), rng.normal(size=5)
        norm = linear.least_l1(A, b)
        support = es.basis_pursuit(A, b).support.tolist()
        rows = np.ones(5)
        rows[seed % 5] = scale
        for changed, target, factor in (
            (A * scale, b, 1 / scale),
            (A, b * scale, scale),
            (A * scale, b * scale, 1.0),
            (A * rows[:, None], b * rows, 1.0),
        ):
            found = es.basis_pursuit(changed, target)
            found.verify(changed, target)
            assert found.is_certified
            assert found.objective == pytest.approx(norm * factor, rel=1e-9)
            assert found.support.tolist() == support


def test_other_types_of_numbers() -> None:
    A = np.random.default_rng(3).integers(-3, 4, size=(4, 12))
    b = A @ np.arange(12)
    expected = es.basis_pursuit(A.astype(float), b.astype(float)).x
    for types in (np.int64, np.int8, np.float32, np.longdouble):
        target = b.astype(np.int64 if types is np.int8 else types)
        found = es.basis_pursuit(A.astype(types), target)
        assert found.x.dtype == np.float64
        np.testing.assert_array_equal(found.x, expected)
    np.testing.assert_array_equal(es.basis_pursuit(A.tolist(), b.tolist()).x, expected)


def test_the_shape_of_x_follows_that_of_b() -> None:
    A, b = np.random.default_rng(1).normal(size=(4, 9)), np.ones(4)
    flat, column = es.basis_pursuit(A, b), es.basis_pursuit(A, b[:, None])
    assert flat.x.shape == (9,)
    assert flat.y.shape == (4,)
    assert column.x.shape == (9, 1)
    assert column.y.shape == (4, 1)
    np.testing.assert_array_equal(column.x[:, 0], flat.x)
    assert column.support.tolist() == flat.support.tolist()


def test_the_input_is_left_alone() -> None:
    A, b = np.random.default_rng(2).normal(size=(4, 9)), np.ones(4)
    before = A.copy(), b.copy()
    es.basis_pursuit(A, b)
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(b, before[1])


def test_round_off_in_A_does_not_change_the_support() -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, 55])
        A, b = rng.normal(size=(15, 300)), rng.normal(size=15)
        support = es.basis_pursuit(A, b).support.tolist()
        for _ in range(3):
            noisy = A * (1 + 1e-13 * rng.normal(size=A.shape))
            assert es.basis_pursuit(noisy, b).support.tolist() == support


def test_the_repr_says_what_was_found() -> None:
    text = repr(es.basis_pursuit([[1.0, -4.0, 3.0]], [6.0]))
    assert text.startswith("PursuitSolution(1 of 3 non-zero, l1 norm=1.5, gap=")
    assert "status=optimal, solver='simplex'" in text


def test_bounds_are_moved_apart_where_steps_of_length_zero_follow_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = []
    move = Vertex._move_bounds

    def watched(vertex: Vertex) -> None:
        before = vertex.bounds.copy()
        move(vertex)
        moved.append(np.unique(vertex.bounds).size > len(vertex.basis))
        assert np.array_equal(vertex.bounds[vertex.basis], before[vertex.basis])
        assert (vertex.bounds >= before).all()

    monkeypatch.setattr(Vertex, "_move_bounds", watched)
    A, b, least = smooth_problem(8)
    found = es.basis_pursuit(A, b)
    assert moved == [True]
    assert found.is_certified
    assert found.objective == pytest.approx(least, rel=1e-9)


def test_an_ill_conditioned_matrix_gets_no_false_certificate() -> None:
    """Condition 1e11: what is claimed stands up to verify, and to extended precision."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        left = linalg.qr(rng.normal(size=(10, 10)))[0] * np.geomspace(1, 1e-11, 10)
        A = left @ linalg.qr(rng.normal(size=(40, 10)), mode="economic")[0].T
        b = A @ rng.normal(size=40)
        found = es.basis_pursuit(A, b)
        found.verify(A, b)
        precise = A.astype(np.longdouble), b.astype(np.longdouble), found.y.astype(np.longdouble)
        steepest, bound = np.abs(precise[0].T @ precise[2]).max(), precise[1] @ precise[2]
        assert steepest <= 1 + 1e-12
        if found.is_certified:
            assert abs(bound - found.objective) <= 1e-9 * found.objective


@pytest.mark.parametrize("distance", [1e-6, 1e-9, 1e-11])
def test_nearly_identical_columns(distance: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(18, 50))
        A = np.hstack([A, A + distance * rng.normal(size=A.shape), -A])
        found = es.basis_pursuit(A, A[:, :3] @ rng.normal(size=3))
        assert found.gap <= 1e-7
        assert found.residual <= 1e-12


def test_of_identical_columns_the_first_is_used_in_ill_conditioned_data_too() -> None:
    rng = np.random.default_rng(0)
    A = (linalg.qr(rng.normal(size=(30, 30)))[0] * np.geomspace(1, 1e-5, 30)) @ rng.normal(
        size=(30, 100)
    )
    assert es.basis_pursuit(np.hstack([A, A]), A @ rng.normal(size=100)).support.max() < 100
