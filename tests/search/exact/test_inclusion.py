"""The inclusion principle against SciPy's eigenvalues of random submatrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.linalg import eigh

import eigensieve as es
from eigensieve.search.exact.inclusion import criterion_bounds, spectrum
from tests.oracles import naive


def random_pencil(rng: np.random.Generator, n: int, rank: int, signs: int = 1) -> es.Pencil:
    H, W = rng.normal(size=(rank, n)), rng.normal(size=(2 * n, n))
    C = np.where(np.arange(rank) % 2 == 0, 1.0, signs)
    return es.Pencil(H.T @ (C[:, None] * H), W.T @ W / n)


def submatrix_values(pencil: es.Pencil, subset: list[int] | np.ndarray) -> np.ndarray:
    place = np.ix_(subset, subset)
    return eigh(pencil.A[place], pencil.B[place], eigvals_only=True)


PENCILS = {
    "full rank": lambda rng: random_pencil(rng, 7, 9),
    "rank one": lambda rng: random_pencil(rng, 7, 1),
    "indefinite": lambda rng: random_pencil(rng, 7, 5, signs=-1),
    "pca": lambda rng: es.pca_pencil(rng.normal(size=(20, 7))),
    "factors": lambda rng: es.FactorPencil(
        rng.normal(size=(3, 7)), rng.normal(size=(2, 7)), np.full(7, 0.2)
    ),
    "indefinite factors": lambda rng: es.FactorPencil(
        rng.normal(size=(3, 7)), rng.normal(size=(2, 7)), np.full(7, 0.2), core=np.diag([1, -2, 1])
    ),
    "more factors than features": lambda rng: es.FactorPencil(
        rng.normal(size=(9, 7)), None, rng.uniform(1, 2, size=7)
    ),
}


@pytest.fixture(params=PENCILS, ids=str)
def pencil(request: pytest.FixtureRequest) -> es.Pencil:
    return PENCILS[request.param](np.random.default_rng(3))


def test_the_spectrum_is_that_of_the_dense_pencil(pencil: es.Pencil) -> None:
    expected = submatrix_values(pencil, np.arange(pencil.size))
    np.testing.assert_allclose(spectrum(pencil), expected, atol=1e-10 * np.abs(expected).max())


def test_every_subset_lies_between_the_bounds(pencil: es.Pencil) -> None:
    n, values = pencil.size, submatrix_values(pencil, np.arange(pencil.size))
    curve = es.inclusion_bounds(pencil)
    tol = 1e-10 * np.abs(values).max()
    for k in range(1, n + 1):
        one = es.inclusion_bounds(pencil, k)
        assert one == pytest.approx((curve.lower[k - 1], curve.upper[k - 1]))
        assert one.lower == pytest.approx(values[k - 1], abs=tol)
        tops = [submatrix_values(pencil, S)[-1] for S in itertools.combinations(range(n), k)]
        assert one.lower <= min(tops) + tol
        assert max(tops) <= one.upper + tol
    assert curve.lower[-1] == curve.upper[-1]


@pytest.mark.parametrize("criterion", ["lambda_max", "trace", "logdet"])
def test_every_criterion_has_its_bounds(criterion: str) -> None:
    pencil = random_pencil(np.random.default_rng(5), 7, 9)
    values = submatrix_values(pencil, np.arange(7))
    for k in range(1, 8):
        lower, upper = criterion_bounds(values, k, criterion)
        sets = itertools.combinations(range(7), k)
        scores = [naive.score(pencil.A, pencil.B, list(S), criterion) for S in sets]
        assert lower <= min(scores) + 1e-9
        assert upper >= max(scores) - 1e-9
    # sharper than the score of all features together
    assert criterion == "lambda_max" or criterion_bounds(values, 1, criterion).upper < max(scores)


def test_a_chain_interlaces(pencil: es.Pencil) -> None:
    order = np.random.default_rng(0).permutation(pencil.size)
    subsets = [order[:4], order[:1], order[:6], order[:2]]
    chain = es.inclusion_bounds(pencil, chain=subsets)
    assert chain.sizes == [1, 2, 4, 6]
    everything = submatrix_values(pencil, np.arange(pencil.size))
    spectra = [submatrix_values(pencil, S) for S in chain.subsets] + [everything]
    tol = 1e-9 * np.abs(everything).max()
    for i, size in enumerate(chain.sizes):
        np.testing.assert_array_equal(chain.subsets[i], np.sort(order[:size]))
        np.testing.assert_allclose(chain.values[i], spectra[i], atol=tol)
        np.testing.assert_allclose(chain.lower[i], spectra[i + 1][:size], atol=tol)
        np.testing.assert_allclose(chain.upper[i], spectra[i + 1][-size:], atol=tol)
        assert np.all(chain.lower[i] <= chain.values[i] + tol)
        assert np.all(chain.values[i] <= chain.upper[i] + tol)


def test_a_chain_that_ends_with_everything() -> None:
    pencil = es.Pencil(np.diag([1.0, 2.0, 5.0]))
    chain = es.inclusion_bounds(pencil, chain=[[0, 1, 2], [2]])
    assert chain.lower[1].tolist() == chain.values[1].tolist() == chain.upper[1].tolist()


def test_wide_data_never_become_square() -> None:
    rng = np.random.default_rng(0)
    pencil = es.lda_pencil(rng.normal(size=(30, 40_000)), np.arange(30) % 3, shrinkage=0.5)
    curve = es.inclusion_bounds(pencil)
    assert curve.lower.shape == (40_000,)
    assert curve.lower[-1] == curve.upper[0] == pytest.approx(pencil.top()[0][0])
    assert curve.lower[-2] > 0.1
    assert abs(curve.lower[-3]) < 1e-9
    chain = es.inclusion_bounds(pencil, chain=[[7], [7, 9]])
    assert chain.lower[0][0] <= chain.values[0][0] <= chain.upper[0][0]


def test_too_wide_for_a_dense_matrix_is_refused() -> None:
    wide = es.FactorPencil(np.ones((1, 20_001)), None, np.ones(20_001))
    wide.H = np.broadcast_to(1.0, (20_001, 20_001))  # of full rank, or so it says
    with pytest.raises(es.errors.PencilError, match="refused"):
        es.inclusion_bounds(wide, 3)


WRONG = {
    "k 0": ({"k": 0}, "at least 1"),
    "k above n": ({"k": 4}, "k is 4; the pencil has 3"),
    "k pair": ({"k": (1, 1)}, "whole number"),
    "both": ({"k": 1, "chain": [[0]]}, "not both"),
    "empty": ({"chain": []}, "chain is empty"),
    "not nested": ({"chain": [[0], [1, 2]]}, "not nested: feature 0 of the subset of 1"),
    "equal size": ({"chain": [[0, 1], [1, 2]]}, "not nested"),
    "names": ({"chain": [["a"]]}, "feature indices"),
    "empty subset": ({"chain": [[]]}, "feature indices"),
    "outside": ({"chain": [[3]]}, r"names feature 3, outside 0\.\.2"),
    "no list": ({"chain": 5}, "must be a list of subsets"),
    "negative": ({"chain": [[-1]]}, r"outside 0\.\.2"),
    "twice": ({"chain": [[1, 1]]}, "names a feature twice"),
}


@pytest.mark.parametrize(("options", "said"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use(options: dict, said: str) -> None:
    with pytest.raises(es.errors.InputError, match=said):
        es.inclusion_bounds(es.Pencil(np.eye(3)), **options)


def test_no_pencil() -> None:
    with pytest.raises(es.errors.InputError, match="expected a Pencil, not ndarray"):
        es.inclusion_bounds(np.eye(3), 1)
