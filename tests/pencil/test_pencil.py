"""Pencils: one interface, two forms, clear refusals."""

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh

import eigensieve as es
from eigensieve.errors import PencilError


def make_pair(seed: int = 0, *, indefinite: bool = False) -> tuple[es.FactorPencil, es.Pencil]:
    rng = np.random.default_rng(seed)
    H, W, d = rng.normal(size=(3, 9)), rng.normal(size=(5, 9)), rng.uniform(0.1, 1, 9)
    core = np.diag([1.0, -2.0, 0.5]) if indefinite else None
    C = np.eye(3) if core is None else core
    dense = es.Pencil(H.T @ C @ H, W.T @ W + np.diag(d))
    return es.FactorPencil(H, W, d, core=core), dense


@pytest.mark.parametrize("indefinite", [False, True])
def test_both_forms_are_the_same_pencil(indefinite: bool) -> None:
    factor, dense = make_pair(indefinite=indefinite)
    assert factor.size == dense.size == 9
    np.testing.assert_allclose(factor.A, dense.A, atol=1e-12)
    np.testing.assert_allclose(factor.B, dense.B, atol=1e-12)
    np.testing.assert_allclose(factor.diag_A, np.diag(dense.A))
    np.testing.assert_allclose(factor.diag_B, np.diag(dense.B))
    for index in (4, [1, 7, 2]):
        np.testing.assert_allclose(factor.columns_A(index), dense.A[:, index], atol=1e-12)
        np.testing.assert_allclose(factor.columns_B(index), dense.B[:, index], atol=1e-12)
    S, x = [0, 3, 8], np.linspace(-1, 1, 9)
    np.testing.assert_allclose(factor.restrict(S).A, dense.A[np.ix_(S, S)], atol=1e-12)
    np.testing.assert_allclose(factor.restrict(S).B, dense.B[np.ix_(S, S)], atol=1e-12)
    expected = (x @ dense.A @ x) / (x @ dense.B @ x)
    assert factor.rayleigh(x) == pytest.approx(expected)
    assert dense.rayleigh(3 * x) == pytest.approx(expected)
    np.testing.assert_allclose(factor.apply_A(x), dense.A @ x, atol=1e-12)
    np.testing.assert_allclose(factor.apply_B(x), dense.B @ x, atol=1e-12)
    assert factor.is_psd is dense.is_psd is (not indefinite)


@pytest.mark.parametrize("indefinite", [False, True])
def test_top_eigenpairs_are_scipys(indefinite: bool) -> None:
    factor, dense = make_pair(1, indefinite=indefinite)
    expected = eigh(dense.A, dense.B, eigvals_only=True)[::-1]
    for pencil in (factor, dense):
        values, X = pencil.top(2)
        np.testing.assert_allclose(values, expected[:2], rtol=1e-10)
        np.testing.assert_allclose(X.T @ dense.B @ X, np.eye(2), atol=1e-9)
        np.testing.assert_allclose(dense.A @ X, dense.B @ X * values, atol=1e-8)
        assert np.all(X[np.abs(X).argmax(axis=0), [0, 1]] > 0)


def test_spectral_factor_rebuilds_A() -> None:
    for pencil in make_pair(2, indefinite=True):
        H, signs = pencil.spectral_factor
        np.testing.assert_allclose(H.T @ (signs[:, None] * H), pencil.A, atol=1e-10)


def test_identity_B() -> None:
    pencil = es.Pencil(np.diag([3.0, 1.0]))
    assert pencil.has_identity_B
    np.testing.assert_array_equal(pencil.B, np.eye(2))
    np.testing.assert_array_equal(pencil.columns_B([1]), [[0.0], [1.0]])


def test_round_off_in_a_covariance_is_accepted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 40)) * 1e3
    C = np.cov(X.T)
    assert np.linalg.eigvalsh(C)[0] < 0  # rank 4 of 40: round-off
    assert es.Pencil(C).is_psd
    es.solve(es.Pencil(C), 3, criterion="trace")


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_scale_does_not_matter(scale: float) -> None:
    _, dense = make_pair(3)
    d = np.geomspace(scale, 1 / scale, 9)
    scaled = es.Pencil(dense.A * np.outer(d, d), dense.B * np.outer(d, d))
    for criterion in ("lambda_max", "trace", "logdet"):
        a = es.solve(dense, 4, criterion=criterion)
        b = es.solve(scaled, 4, criterion=criterion)
        b.verify(scaled)
        np.testing.assert_array_equal(a.support, b.support)
        assert a.objective == pytest.approx(b.objective, rel=1e-8)
    assert scaled.scale == pytest.approx(dense.scale)


@pytest.mark.parametrize(
    ("A", "B", "says"),
    [
        ([[1.0, 2.0], [0.0, 1.0]], None, "not symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], None, "2 NaN or infinite"),
        ([[1.0, 0.0, 0.0]], None, "square"),
        (np.empty((0, 0)), None, "empty"),
        (np.eye(2), np.diag([1.0, -0.25]), "smallest eigenvalue is -0.25"),
        (np.eye(2), np.ones((2, 2)), "add a ridge"),
        (np.eye(2), np.eye(3), "must agree"),
        ([["a", "b"], ["c", "d"]], None, "numbers only"),
    ],
)
def test_bad_matrices_are_refused(A: object, B: object, says: str) -> None:
    with pytest.raises(PencilError, match=says):
        es.Pencil(A, B)


LOPSIDED = np.array([[1.0, 0.5], [-0.5, 1.0]])


@pytest.mark.parametrize("size", [1.0, 1e8, 1e20, 1e100])
def test_an_asymmetry_is_not_hidden_by_a_large_entry(size: float) -> None:
    M = block_diag(size, LOPSIDED)
    for arguments in ((M, None), (np.eye(3), M)):
        with pytest.raises(PencilError, match=r"is not symmetric: .* reaches 1;"):
            es.Pencil(*arguments)
    with pytest.raises(PencilError, match="core is not symmetric"):
        es.FactorPencil(np.ones((3, 5)), None, np.ones(5), core=M)


@pytest.mark.parametrize("seed", range(20))
def test_asymmetry_is_measured_by_the_two_features(seed: int) -> None:
    """In units of any size: 1e-10 of an entry is round-off, 1e-6 is not."""
    rng = np.random.default_rng(seed)
    R, d = np.corrcoef(rng.normal(size=(6, 4))), 10.0 ** rng.uniform(-3, 3, size=6)
    i, j = rng.choice(6, 2, replace=False)
    for share, allowed in ((1e-10, True), (1e-6, False)):
        M = R * np.outer(d, d)
        M[i, j] += share * d[i] * d[j]
        assert _is_taken(M) == allowed


def test_round_off_of_sums_is_no_asymmetry() -> None:
    """Of a constant column and of an A with a zero diagonal nothing is left but round-off."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 5)), np.full(40, 3.1)])
    centring = np.eye(40) - 1 / 40
    C = X.T @ (centring @ X)
    assert (C != C.T).any()
    assert _is_taken(C)
    graph = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    values, Q = np.linalg.eigh(graph)
    again = (Q * values) @ Q.T
    assert (again != again.T).any()
    assert _is_taken(again)


def _is_taken(M: np.ndarray) -> bool:
    try:
        es.Pencil(M)
    except PencilError:
        return False
    return True


def test_bad_factors_are_refused() -> None:
    with pytest.raises(PencilError, match="d > 0"):
        es.FactorPencil(np.ones((1, 3)), None, [1.0, 0.0, 1.0])
    with pytest.raises(PencilError, match="must agree"):
        es.FactorPencil(np.ones((1, 3)), np.ones((2, 4)), np.ones(3))
    with pytest.raises(PencilError, match="dense matrix"):
        _ = es.FactorPencil(np.ones((1, 20_001)), None, np.ones(20_001)).A


def test_top_of_a_negative_A() -> None:
    rng = np.random.default_rng(5)
    wide = es.FactorPencil(rng.normal(size=(2, 5)), None, np.ones(5), core=-np.eye(2))
    square = es.FactorPencil(rng.normal(size=(3, 3)), None, np.ones(3), core=-np.eye(3))
    for pencil in (wide, square):
        values, X = pencil.top()
        expected = np.linalg.eigvalsh(pencil.A)[-1]
        assert values[0] == pytest.approx(expected, abs=1e-10)
        assert pencil.rayleigh(X[:, 0]) == pytest.approx(expected, abs=1e-10)


def test_blocks_may_have_any_labels() -> None:
    pencil = es.Pencil(np.eye(4) + 0.1, blocks=["b", "a", "b", "a"])
    assert pencil.blocks.tolist() == [1, 0, 1, 0]
    assert es.solve(pencil, (1, 2)).k == 3
    with pytest.raises(PencilError, match="each of the 4"):
        es.Pencil(np.eye(4), blocks=[0, 1])


def test_criteria_need_a_semidefinite_A() -> None:
    for pencil in make_pair(4, indefinite=True):
        with pytest.raises(PencilError, match="lambda_max"):
            es.solve(pencil, 2, criterion="trace")
        es.solve(pencil, 2, criterion="lambda_max").verify(pencil)


@pytest.mark.parametrize("has_B", [False, True])
def test_leading_eigenvectors_of_a_large_matrix(has_B: bool) -> None:
    """Above 500 features they are found by iteration."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 600)) * np.linspace(1, 3, 600)
    W = rng.normal(size=(900, 600)) * np.geomspace(1e-4, 1e4, 600)
    A, B = X.T @ X, W.T @ W if has_B else None
    d = 1.0 if B is None else np.sqrt(np.diag(B))
    pencil = es.Pencil(A * np.outer(d, d), B) if has_B else es.Pencil(A)
    found, (values, vectors) = pencil.leading(3), pencil.top(3)
    assert found.shape == (600, 3)
    quotients = [pencil.rayleigh(x) for x in found.T]
    np.testing.assert_allclose(quotients, values, rtol=1e-6)
    scaled = [v * np.broadcast_to(d, 600)[:, None] for v in (found, vectors)]
    np.testing.assert_allclose(np.abs(scaled[0]), np.abs(scaled[1]), atol=1e-3 * scaled[1].max())


def test_semidefinite_or_not() -> None:
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    for least, expected in ((0.0, True), (-1e-12, True), (-1e-6, False), (-1.0, False)):
        values = np.append(rng.uniform(0, 1, 28), [1.0, least])
        assert es.Pencil((Q * values) @ Q.T).is_psd is expected
        H = Q.T
        assert es.FactorPencil(H, None, np.ones(30), core=np.diag(values)).is_psd is expected


@pytest.mark.parametrize(("A", "B"), [(1.0, 1e-314), (0.03, 1e-214), (1e300, None), (1.0, 1e300),
                                      (1e-300, None), (1e-150, 1e100)])  # fmt: skip
def test_sizes_whose_squares_overflow_are_refused(A: float, B: float | None) -> None:
    """Found by fuzzing: a bare ValueError of scipy, or warnings of overflow from a solver."""
    with pytest.raises(PencilError, match="rescale"):
        es.Pencil([[A]], None if B is None else [[B]])


@pytest.mark.parametrize(("H", "W", "d"), [(1e300, 1.0, 1.0), (1.0, 1e300, 1.0), (1.0, 1.0, 1e-300),
                                           (1.0, 1.0, 1e300)])  # fmt: skip
def test_extreme_factors_are_refused(H: float, W: float, d: float) -> None:
    with pytest.raises(PencilError, match="rescale"):
        es.FactorPencil([[H]], [[W]], [d])


def test_allowed_sizes_are_solved_without_a_warning() -> None:
    for A, B in ((1e140, None), (1.0, 1e-130), (1e130, 1e-9), (1e-150, None)):
        pencil = es.Pencil(A * np.eye(3), None if B is None else B * np.eye(3))
        es.solve(pencil, 2).verify(pencil)
