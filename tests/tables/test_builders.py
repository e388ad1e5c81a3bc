"""Builders, class statistics and shrinkage against plain formulas."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.tables.shrinkage import analytic_shrinkage


def make_data(n: int = 30, p: int = 8, K: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * np.geomspace(0.1, 10, p) + 3.0, rng.permutation(n) % K


def plain_scatters(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, m = len(X), X.mean(axis=0)
    A, Sw = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    for c in np.unique(y):
        rows = X[y == c]
        shift = rows.mean(axis=0) - m
        A += len(rows) / n * np.outer(shift, shift)
        Sw += (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) / n
    return A, Sw


@pytest.mark.parametrize("p", [8, 700])
@pytest.mark.parametrize(("s", "ridge"), [(0.3, 0.0), (0.0, 0.01), (1.0, 0.5)])
def test_lda_pencil_is_the_formula(p: int, s: float, ridge: float) -> None:
    X, y = make_data(p=p)
    A, Sw = plain_scatters(X, y)
    pencil = es.lda_pencil(X, y, shrinkage=s, ridge=ridge)
    assert isinstance(pencil, es.FactorPencil) is (p == 700)
    np.testing.assert_allclose(pencil.A, A, atol=1e-10 * A.max())
    B = (1 - s) * Sw + s * np.diag(np.diag(Sw)) + ridge * np.eye(p)
    np.testing.assert_allclose(pencil.B, B, rtol=1e-9, atol=1e-9 * B.max())


def literal_shrinkage(X: np.ndarray, y: np.ndarray) -> float:
    """Schaefer-Strimmer on pooled within-class correlations, pair by pair."""
    n, K = len(X), np.unique(y).size
    R = np.vstack([X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)])
    R = R / np.sqrt((R**2).sum(axis=0) / (n - K))
    p = R.shape[1]
    variance = squares = 0.0
    for i in range(p):
        for j in range(p):
            if i != j:
                w = R[:, i] * R[:, j]
                variance += n / (n - 1) ** 3 * ((w - w.mean()) ** 2).sum()
                squares += (w.sum() / (n - K)) ** 2
    return float(np.clip(variance / squares, 0, 1))


@pytest.mark.parametrize(("n", "p", "K"), [(20, 6, 2), (12, 30, 3), (40, 40, 1)])
def test_auto_shrinkage_is_the_root_of_the_analytic_value(n: int, p: int, K: int) -> None:
    X, y = make_data(n, p, K, seed=1)
    X[:, 1:4] += 2 * X[:, :1] / X[:, 0].std()  # some correlation to find
    expected = literal_shrinkage(X, y)
    rows = np.vstack([X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)])
    assert 0 < expected < 1
    assert analytic_shrinkage(rows, K) == pytest.approx(expected, rel=1e-10)
    if K > 1:
        auto = es.lda_pencil(X, y)
        by_hand = es.lda_pencil(X, y, shrinkage=np.sqrt(expected))
        np.testing.assert_allclose(auto.B, by_hand.B, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
@pytest.mark.parametrize("form", ["rows", "gram"])
def test_statistics_merge(form: str, offset: float) -> None:
    X, y = make_data(40, 6, 4, seed=2)
    X += offset
    whole = es.ClassStats.from_data(X, y, form=form)
    parts = [es.ClassStats.from_data(X[i::3], y[i::3], form=form) for i in range(3)]
    merged = parts[0] + (parts[1] + parts[2])
    np.testing.assert_array_equal(merged.classes, whole.classes)
    np.testing.assert_array_equal(merged.counts, whole.counts)
    np.testing.assert_allclose(merged.means, whole.means, rtol=1e-12)
    scale = np.abs(whole.within_scatter()).max()
    difference = np.abs(merged.within_scatter() - whole.within_scatter()).max()
    assert difference <= 1e-12 * scale
    _, Sw = plain_scatters(X - X.mean(axis=0), y)
    np.testing.assert_allclose(whole.within_scatter(), Sw, atol=1e-12 * scale)


def test_statistics_merge_with_missing_classes() -> None:
    X, y = make_data(12, 3, 2, seed=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    cut = int((y == 0).sum())
    merged = es.ClassStats.from_data(X[:cut], y[:cut]) + es.ClassStats.from_data(X[cut:], y[cut:])
    whole = es.ClassStats.from_data(X, y)
    np.testing.assert_allclose(merged.within_scatter(), whole.within_scatter(), atol=1e-12)
    pencil = es.lda_pencil(merged, shrinkage=0.2)
    np.testing.assert_allclose(pencil.B, es.lda_pencil(X, y, shrinkage=0.2).B, atol=1e-12)
    with pytest.raises(OptionError, match="merged statistics"):
        es.lda_pencil(merged)


def test_constant_columns_are_worth_nothing() -> None:
    X, y = make_data(20, 5, 2)
    X[:, 1] = 0.1  # not representable: naive centring leaves 1e-17
    X[:, 3] = np.where(y == 0, 0.3, 0.7)  # constant within the classes
    pencil = es.lda_pencil(X, y, shrinkage=0.5)
    assert pencil.diag_A[1] == 0.0
    ratio = pencil.diag_A / pencil.diag_B
    assert np.argmax(ratio) == 3
    assert np.isfinite(ratio).all()
    solution = es.solve(pencil, 4, criterion="logdet")
    assert 1 not in solution.support
    solution.verify(pencil)


@pytest.mark.parametrize("value", [0.1, 0.3, -0.7, 1e8 + 0.1])
def test_constants_are_worth_nothing_whatever_the_class_sizes(value: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        n, K = int(rng.integers(8, 30)), int(rng.integers(2, 6))
        y = np.append(np.arange(K), rng.integers(0, K, n - K))
        X = rng.normal(size=(n, 4))
        X[:, 2] = value
        cut = int(rng.integers(1, n))
        whole = es.ClassStats.from_data(X, y)
        merged = es.ClassStats.from_data(X[:cut], y[:cut]) + es.ClassStats.from_data(
            X[cut:], y[cut:]
        )
        for stats in (whole, merged):
            pencil = es.lda_pencil(stats, shrinkage=0.4)
            assert pencil.diag_A[2] == 0.0
            assert pencil.diag_B[2] == 1.0


def test_statistics_refuse_what_cannot_be_merged_or_read() -> None:
    X, y = make_data(10, 3, 2)
    numbers, words = es.ClassStats.from_data(X, y), es.ClassStats.from_data(X, y.astype(str))
    for a, b in ((numbers, words), (words, numbers)):
        with pytest.raises(InputError, match="text"):
            a + b
    with pytest.raises(InputError, match="3 and 2 features"):
        numbers + es.ClassStats.from_data(X[:, :2], y)
    with pytest.raises(InputError, match="NaN"):
        es.ClassStats.from_data(X * np.nan, y)


def test_large_offset_float32_and_integers() -> None:
    X, y = make_data(30, 6, 2, seed=4)
    exact = es.lda_pencil(X, y, shrinkage=0.3)
    shifted = es.lda_pencil(X + 1e6, y, shrinkage=0.3)
    np.testing.assert_allclose(shifted.B, exact.B, rtol=1e-6, atol=1e-8)
    single = es.lda_pencil(X.astype(np.float32), y, shrinkage=0.3)
    assert single.B.dtype == np.float64
    np.testing.assert_allclose(single.B, exact.B, rtol=1e-4, atol=1e-6)
    whole = (X * 10).astype(int)
    np.testing.assert_allclose(
        es.lda_pencil(whole, y, shrinkage=0.3).A, es.lda_pencil(whole.astype(float), y, 0.3).A
    )


def test_pca_pencil_wide_and_tall() -> None:
    rng = np.random.default_rng(5)
    for shape in ((50, 6), (8, 700)):
        X = rng.normal(size=shape) + 5
        pencil = es.pca_pencil(X)
        assert isinstance(pencil, es.FactorPencil) is (shape[1] == 700)
        np.testing.assert_allclose(pencil.A, np.cov(X.T, bias=True), atol=1e-12)
        assert pencil.has_identity_B


@pytest.mark.parametrize("sizes", [(4, 3), (400, 300)])
def test_cca_pencil_is_the_formula(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(6)
    X, Y = (rng.normal(size=(25, p)) for p in sizes)
    pencil = es.cca_pencil(X, Y, shrinkage=0.25)
    joint = np.cov(np.hstack([X, Y]).T, bias=True)
    px = sizes[0]
    A, B = joint.copy(), joint.copy()
    A[:px, :px] = A[px:, px:] = 0
    B[:px, px:] = B[px:, :px] = 0
    B = 0.75 * B + 0.25 * np.diag(np.diag(B))
    np.testing.assert_allclose(pencil.A, A, atol=1e-12)
    np.testing.assert_allclose(pencil.B, B, atol=1e-12)
    assert np.bincount(pencil.blocks).tolist() == list(sizes)
    assert not pencil.is_psd


def test_cca_recovers_the_canonical_correlation() -> None:
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    Qx, Qy = (np.linalg.qr(V - V.mean(axis=0))[0] for V in (X, Y))
    expected = np.linalg.svd(Qx.T @ Qy)[1][0]
    values, _ = es.cca_pencil(X, Y, shrinkage=0.0).top()
    assert values[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda X, y: es.lda_pencil(X, np.zeros(len(X))), "one class only"),
        (lambda X, y: es.lda_pencil(X, np.arange(len(X))), "one sample only"),
        (lambda X, y: es.lda_pencil(X), "labels"),
        (lambda X, y: es.lda_pencil(X, y[:-1]), "shape"),
        (lambda X, y: es.lda_pencil(X, y, shrinkage=1.5), "0..1"),
        (lambda X, y: es.lda_pencil(X, y, shrinkage="much"), "0..1"),
        (lambda X, y: es.lda_pencil(X, y, ridge=-1.0), ">= 0"),
        (lambda X, y: es.lda_pencil(X * np.nan, y), "NaN"),
        (lambda X, y: es.pca_pencil(X[:1]), "one row"),
        (lambda X, y: es.pca_pencil(X[0]), "samples x features"),
        (lambda X, y: es.pca_pencil(X.astype(str)), "real numbers"),
        (lambda X, y: es.cca_pencil(X, X[:-1]), "share their rows"),
    ],
)
def test_bad_input(call, says: str) -> None:
    X, y = make_data(10, 4, 2)
    with pytest.raises(InputError, match=says):
        call(X, y)


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (np.array([0, "0", 1, "1"], dtype=object), "several types"),
        (np.array([0.0, 1.0, 0.0, np.nan]), "missing labels"),
        (np.array(["a", "b", "a", None], dtype=object), "missing labels"),
    ],
)
def test_labels_that_are_no_classes(y: np.ndarray, says: str) -> None:
    """Found by fuzzing: a TypeError of numpy; a missing label was a class of its own."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.raises(InputError, match=says):
        es.lda_pencil(X, y)
    with pytest.raises(InputError, match=says):
        es.ClassStats.from_data(X, y)


def test_sizes_far_apart_give_no_warning() -> None:
    """Found by fuzzing: an overflow in the secular equation of greedy search."""
    X = np.zeros((3, 4))
    X[2, 2:] = 2e16, 3e38
    pencil = es.pca_pencil(X)
    solution = es.solve(pencil, 2)
    solution.verify(pencil)
    assert 3 in solution.support
