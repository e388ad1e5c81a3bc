"""Class statistics on a device: those of the same table in memory, in all their care."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.tables import dense_statistics
from eigensieve.tables.shrinkage import analytic_shrinkage
from tests.device_arrays import DEVICES, Send, sender


@pytest.fixture(params=DEVICES)
def send(request: pytest.FixtureRequest) -> Send:
    return sender(request.param)


def table(n: int, p: int, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([n, p])
    y = np.sort(np.arange(n) % 3)[rng.permutation(n)]
    return rng.normal(size=(n, p)) * rng.uniform(0.1, 5, p) + offset + y[:, None], y


@pytest.mark.parametrize(
    ("n", "p", "offset"), [(20, 40, 0), (50, 7, 1e8), (6, 600, -3e5), (3, 2, 0)]
)
@pytest.mark.parametrize("form", ["rows", "gram"])
def test_like_in_memory(send: Send, n: int, p: int, offset: float, form: str) -> None:
    X, y = table(n, p, offset)
    here = es.ClassStats.from_data(X, y, form=form)
    there = es.ClassStats.from_data(send(X), y, form=form)
    unit = np.abs(X).max(axis=0)
    assert (np.abs(there.means - here.means) <= 1e-12 * unit).all()
    exact = [np.array([X[y == c, j].sum() for j in range(p)]) for c in range(3)]
    assert there.counts.tolist() == [np.count_nonzero(y == c) for c in range(3)]
    np.testing.assert_allclose(there.means * there.counts[:, None], exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        there.within_variance(), here.within_variance(), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        there.within_scatter(), here.within_scatter(), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(
        there.between_factor(), here.between_factor(), rtol=1e-11, atol=1e-11
    )


def test_a_large_offset_costs_no_digits(send: Send) -> None:
    X, y = table(30, 10)
    plain = es.ClassStats.from_data(X, y, form="rows")
    moved = es.ClassStats.from_data(send(X + 2.0**30), y, form="rows")
    # adding 2^30 rounds every entry to 2^-22 / 2; the mean of what is left is exact
    rounded = es.ClassStats.from_data((X + 2.0**30) - 2.0**30, y, form="rows")
    np.testing.assert_allclose(np.asarray(moved.rows), rounded.rows, atol=1e-14)
    np.testing.assert_allclose(moved.means + moved.tails - 2.0**30, plain.means, atol=1e-6)


def test_constants_are_exactly_zero(send: Send) -> None:
    X, y = table(12, 5)
    X[:, 0], X[:, 1], X[:, 2] = 0.1, 0.0, 0.1 * (y + 1)
    stats = es.ClassStats.from_data(send(X), y, form="rows")
    assert not np.asarray(stats.rows)[:, :3].any()
    assert (stats.means[:, 0] == 0.1).all()
    assert not stats.between_factor()[:, :2].any()


def test_one_sample_in_a_class_and_one_class(send: Send) -> None:
    X = np.arange(12.0).reshape(4, 3)
    stats = es.ClassStats.from_data(send(X), ["a", "a", "b", "a"], form="rows")
    assert stats.classes.tolist() == ["a", "b"]
    assert not np.asarray(stats.rows)[2].any()
    assert stats.means[1].tolist() == X[2].tolist()
    alone = es.ClassStats.from_data(send(X), [0, 0, 0, 0], form="rows")
    np.testing.assert_allclose(alone.within_scatter(), np.cov(X.T, bias=True))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_other_numbers(send: Send, dtype: str) -> None:
    X, y = table(15, 6)
    numbers = (X * 3).astype(dtype)
    there = es.ClassStats.from_data(send(numbers), y, form="rows")
    here = es.ClassStats.from_data(numbers.astype(np.float64), y, form="rows")
    np.testing.assert_allclose(there.means, here.means, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(np.asarray(there.rows), here.rows, rtol=1e-13, atol=1e-13)


def test_the_table_is_not_changed(send: Send) -> None:
    X, y = table(15, 6)
    there = send(X)
    es.ClassStats.from_data(there, y, form="rows")
    np.testing.assert_array_equal(np.asarray(there), X)


def test_rows_are_centred_in_blocks(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(23, 6, 1e5)
    whole = es.ClassStats.from_data(send(X), y, form="rows")
    monkeypatch.setattr(dense_statistics, "DEVICE_BLOCK_ENTRIES", 24)
    blocks = es.ClassStats.from_data(send(X), y, form="rows")
    np.testing.assert_array_equal(np.asarray(blocks.rows), np.asarray(whole.rows))


@pytest.mark.parametrize(("n", "p"), [(20, 60), (60, 20)])
def test_the_shrinkage(send: Send, n: int, p: int) -> None:
    X, y = table(n, p)
    here = es.ClassStats.from_data(X, y, form="rows")
    there = es.ClassStats.from_data(send(X), y, form="rows")
    known = analytic_shrinkage(here.rows, 3)
    assert 0 < known < 1
    assert analytic_shrinkage(there.rows, 3) == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_weighted_classes(send: Send, weight: object) -> None:
    X, y = table(25, 600)
    X, y = X[3:], y[3:]
    here, there = (
        es.lda_pencil(X, y, class_weight=weight),
        es.lda_pencil(send(X), y, class_weight=weight),
    )
    np.testing.assert_allclose(there.diag_B, here.diag_B, rtol=1e-12)
    S = np.arange(8)
    np.testing.assert_allclose(there.restrict(S).A, here.restrict(S).A, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(there.restrict(S).B, here.restrict(S).B, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "NaN or infinity"), (-np.inf, "NaN or infinity"), (1e90, "rescale"), (1e-90, "resc")],
)
def test_what_is_refused(send: Send, value: float, message: str) -> None:
    X, y = table(9, 4)
    X[:, 2] = 0.0
    X[4, 2] = value
    with pytest.raises(InputError, match=message):
        es.ClassStats.from_data(send(X), y, form="rows")


def test_complex_numbers_are_refused(send: Send) -> None:
    with pytest.raises(InputError, match="real numbers"):
        es.ClassStats.from_data(send(np.ones((3, 2), dtype=complex)), [0, 1, 1], form="rows")
