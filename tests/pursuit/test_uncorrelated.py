"""UncorrelatedFamily: theorem 1 of Chu and Zhang (2013), against scatter matrices made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from eigensieve import SparseUncorrelatedLDA, UncorrelatedFamily
from eigensieve.errors import InputError, OptionError

Data = tuple[np.ndarray, np.ndarray]

# name: classes' sizes, columns, rank of the noise
SHAPES = {
    "tall, two classes": ((35, 25), 8, 8),
    "tall, six classes": ((15,) * 6, 10, 10),
    "wide, two classes": ((7, 8), 40, 40),
    "wide, four classes": ((4, 5, 3, 4), 40, 40),
    "wide, six classes": ((3,) * 6, 60, 60),
    "as many samples as columns": ((7, 7, 6), 20, 20),
    "as many columns as the rank": ((7, 7, 6), 19, 19),
    "low rank, tall": ((10, 9, 8, 7), 20, 6),
    "low rank, wide": ((10, 9, 8, 7), 90, 6),
    "unbalanced": ((25, 8, 4, 2, 1), 10, 10),
    "fewer columns than classes": ((9, 8, 8, 9, 8, 9), 3, 3),
    "a single column": ((9, 11), 1, 1),
}


def make(name: str, seed: int = 0) -> Data:
    counts, p, rank = SHAPES[name]
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    latent = rng.normal(size=(y.size, rank)) + rng.normal(size=(len(counts), rank))[y]
    return latent @ (np.eye(p) if rank == p else rng.normal(size=(rank, p))) + 5.0, y


def scatters(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S_t and S_b, p x p, as the textbook has them."""
    n, centre = len(X), X.mean(axis=0)
    total = sum(np.outer(x - centre, x - centre) for x in X) / n
    between = np.zeros_like(total)
    for label in np.unique(y):
        shift = X[y == label].mean(axis=0) - centre
        between += np.mean(y == label) * np.outer(shift, shift)
    return total, between


def squared_correlations(total: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Eigenvalues of S_b v = lambda S_t v on the range of S_t, descending."""
    values, vectors = linalg.eigh(total)
    basis = vectors[:, values > 1e-10 * values[-1]]
    return linalg.eigh(basis.T @ between @ basis, basis.T @ total @ basis, eigvals_only=True)[::-1]


def is_uncorrelated(G: np.ndarray, total: np.ndarray) -> bool:
    return bool(np.abs(G.T @ total @ G - np.eye(G.shape[1])).max() < 1e-10)


def random_orthonormal(rng: np.random.Generator, off: np.ndarray, size: int) -> np.ndarray:
    """Orthonormal columns that are orthogonal to the orthonormal ones of ``off``."""
    noise = rng.normal(size=(len(off), size))
    for _ in range(2):
        noise = linalg.qr(noise - off @ (off.T @ noise), mode="economic")[0]
    return noise


def random_member(family: UncorrelatedFamily, size: int, rng: np.random.Generator) -> np.ndarray:
    p = family.rows.shape[1]
    M2 = np.zeros((p, size))
    if p > family.rank:
        M2 = random_orthonormal(rng, family.rows.T, p - family.rank)
        M2 = M2 @ rng.normal(size=(p - family.rank, size))
    return family.member(
        M1=random_orthonormal(rng, family.P, size - family.least_dimension),
        M2=M2,
        Z=linalg.qr(rng.normal(size=(size, size)))[0],
    )


@pytest.mark.parametrize("name", SHAPES)
def test_the_smallest_member_solves_the_problem(name: str) -> None:
    X, y = make(name)
    total, between = scatters(X, y)
    G = UncorrelatedFamily.from_data(X, y).member()
    assert is_uncorrelated(G, total)
    best = np.trace(linalg.pinvh(total, rtol=1e-10) @ between)
    assert np.trace(G.T @ between @ G) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_every_member_solves_the_problem(name: str) -> None:
    X, y = make(name)
    total, between = scatters(X, y)
    best = np.trace(linalg.pinvh(total, rtol=1e-10) @ between)
    family, rng = UncorrelatedFamily.from_data(X, y), np.random.default_rng(1)
    for size in range(family.least_dimension, family.rank + 1):
        for G in (family.member(size), random_member(family, size, rng)):
            assert G.shape == (X.shape[1], size)
            assert is_uncorrelated(G, total)
            assert np.trace(G.T @ between @ G) == pytest.approx(best, rel=1e-9)
            assert family.contains(G)


@pytest.mark.parametrize("name", SHAPES)
def test_ranks_and_correlations_are_those_of_the_eigenproblem(name: str) -> None:
    X, y = make(name)
    total, between = scatters(X, y)
    family = UncorrelatedFamily.from_data(X, y)
    assert family.rank == np.linalg.matrix_rank(total, rtol=1e-10, hermitian=True)
    assert family.least_dimension == np.linalg.matrix_rank(between, rtol=1e-10, hermitian=True)
    assert family.least_dimension <= np.unique(y).size - 1
    squares = squared_correlations(total, between)
    np.testing.assert_allclose(
        family.correlations**2, squares[: family.least_dimension], rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(squares[family.least_dimension :], 0, atol=1e-10)


@pytest.mark.parametrize("name", ["tall, two classes", "tall, six classes", "unbalanced"])
def test_the_solution_of_the_eigenproblem_is_a_member(name: str) -> None:
    X, y = make(name)
    total, between = scatters(X, y)
    family = UncorrelatedFamily.from_data(X, y)
    vectors = linalg.eigh(between, total)[1][:, ::-1]
    for size in range(family.least_dimension, family.rank + 1):
        assert family.contains(vectors[:, :size])
    distinct = vectors[
        :, : family.least_dimension
    ]  # the correlations differ: signs are all that is free
    cosines = np.abs(np.sum(family.member() * (total @ distinct), axis=0))
    np.testing.assert_allclose(cosines, 1, atol=1e-9)


@pytest.mark.parametrize("name", ["tall, six classes", "wide, four classes", "low rank, wide"])
def test_what_is_no_solution_is_told(name: str) -> None:
    X, y = make(name)
    total, between = scatters(X, y)
    family, rng = UncorrelatedFamily.from_data(X, y), np.random.default_rng(2)
    G, best = family.member(), np.sum(family.correlations**2)
    assert not family.contains(2 * G)
    assert not family.contains(G + 1e-6 * rng.normal(size=G.shape))
    assert not family.contains(G[:, :-1])
    assert not family.contains(np.column_stack([G, G]))
    wide = family.member(family.rank)
    assert not family.contains(np.column_stack([wide, wide[:, :1]]))
    late = family.member(family.least_dimension + 1)[
        :, 1:
    ]  # uncorrelated, but it lacks a direction
    assert is_uncorrelated(late, total)
    assert np.trace(late.T @ between @ late) < best - 0.01
    assert not family.contains(late)


def test_the_tolerance_of_contains_is_the_one_given() -> None:
    family = UncorrelatedFamily.from_data(*make("wide, four classes"))
    G = family.member() * (1 + 1e-6)
    assert family.contains(G, tol=1e-5)
    assert not family.contains(G, tol=1e-7)


@pytest.mark.parametrize("name", SHAPES)
def test_target_and_scores_belong_to_the_member(name: str) -> None:
    X, y = make(name)
    family = UncorrelatedFamily.from_data(X, y)
    G = family.member()
    np.testing.assert_allclose(family.rows @ G, family.target, atol=1e-10)
    np.testing.assert_allclose((X - X.mean(axis=0)) @ G, family.scores, atol=1e-9)
    np.testing.assert_allclose(family.mean, X.mean(axis=0), rtol=1e-14)
    assert np.all(np.diff(family.singular_values) <= 0)
    assert np.all(np.diff(family.correlations) <= 1e-8)


@pytest.mark.parametrize("name", ["tall, six classes", "wide, four classes", "low rank, wide"])
def test_a_dual_in_terms_of_samples(name: str) -> None:
    X, y = make(name)
    family = UncorrelatedFamily.from_data(X, y)
    dual = np.random.default_rng(3).normal(size=(family.rank, family.least_dimension))
    weights = family.to_samples(dual)
    np.testing.assert_allclose((X - X.mean(axis=0)).T @ weights, family.rows.T @ dual, atol=1e-9)


def test_the_smallest_member_has_the_least_norm() -> None:
    family, rng = (
        UncorrelatedFamily.from_data(*make("wide, four classes")),
        np.random.default_rng(0),
    )
    least = np.linalg.norm(family.member())
    for _ in range(5):
        assert np.linalg.norm(random_member(family, family.least_dimension, rng)) > least


def test_directions_beyond_the_smallest_are_principal_components_of_what_is_left() -> None:
    """Their scores explain most of the columns once the discriminating scores are taken out."""
    X, y = make("wide, four classes")
    family = UncorrelatedFamily.from_data(X, y)
    centred = X - X.mean(axis=0)
    more = family.member(family.rank)[:, family.least_dimension :]
    rest = centred - family.scores @ (family.scores.T @ centred) / len(X)
    components = np.sqrt(len(X)) * linalg.svd(rest, full_matrices=False)[0][:, : more.shape[1]]
    cosines = np.abs(np.sum(components * (centred @ more), axis=0)) / len(X)
    np.testing.assert_allclose(cosines, 1, atol=1e-9)


def test_wrong_parameters_of_a_member_are_refused() -> None:
    family = UncorrelatedFamily.from_data(*make("wide, four classes"))
    g, q, p = family.rank, family.least_dimension, 40
    rng = np.random.default_rng(0)
    good = random_orthonormal(rng, family.P, 2)
    for size in (q - 1, g + 1):
        with pytest.raises(InputError, match=f"solutions have {q} to {g} directions"):
            family.member(size)
    for size in (0, 2.5, True, "three"):
        with pytest.raises(InputError, match="whole number"):
            family.member(size)
    with pytest.raises(InputError, match="M1 is not orthogonal to P"):
        family.member(M1=random_orthonormal(rng, np.empty((g, 0)), 2))
    with pytest.raises(InputError, match="M1 is not orthonormal"):
        family.member(M1=2 * good)
    with pytest.raises(InputError, match=r"M1 has shape \(15, 2\); it must be \(15, 1\)"):
        family.member(q + 1, M1=good)
    with pytest.raises(InputError, match="M2 is not orthogonal to U"):
        family.member(M2=rng.normal(size=(p, q)))
    with pytest.raises(InputError, match="M2 has shape"):
        family.member(M2=np.zeros((p, q + 1)))
    with pytest.raises(InputError, match="Z is not orthogonal"):
        family.member(Z=np.ones((q, q)))
    with pytest.raises(InputError, match="Z has shape"):
        family.member(q + 2, M1=good, Z=np.eye(q))
    with pytest.raises(InputError, match="off by nan"):
        family.member(M1=np.full((g, 1), np.nan))


def test_what_cannot_be_separated_is_refused() -> None:
    rng = np.random.default_rng(0)
    block = rng.normal(size=(10, 30))
    with pytest.raises(InputError, match="class means are all equal"):
        UncorrelatedFamily.from_data(np.vstack([block, block]), np.repeat([0, 1], 10))
    with pytest.raises(InputError, match="no column varies"):
        UncorrelatedFamily.from_data(np.full((20, 5), 0.1), np.repeat([0, 1], 10))
    with pytest.raises(InputError, match="one class only"):
        UncorrelatedFamily.from_data(block, np.zeros(10))
    with pytest.raises(InputError, match="NaN"):
        UncorrelatedFamily.from_data(np.where(block > 0, block, np.nan), np.arange(10))
    for tol in (-1e-3, 1.5, np.nan, "small", True, None):
        with pytest.raises(OptionError, match="rank_tol is"):
            UncorrelatedFamily.from_data(block, np.arange(10) % 2, rank_tol=tol)


# --- rank decisions ---


def planted(n: int, p: int, K: int, seed: int, *, shift: float = 3.0) -> Data:
    """K classes; 10 columns each have a shift for one class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, p))
    for k in range(K):
        X[y == k, 10 * k : 10 * k + 10] += shift
    return X, y


@pytest.mark.parametrize("label", ["the same label", "the opposite label"])
@pytest.mark.parametrize("distance", [0.0, 1e-9])
@pytest.mark.parametrize("K", [2, 3])
def test_near_duplicate_samples_define_no_direction(label: str, distance: float, K: int) -> None:
    X, y = planted(24, 100, K, seed=0)
    rng = np.random.default_rng(1)
    X = np.vstack([X, X[:2] + distance * np.linalg.norm(X[0]) * rng.normal(size=(2, 100)) / 10])
    y = np.append(y, y[:2] if label == "the same label" else y[:2][::-1])
    family = UncorrelatedFamily.from_data(X, y)
    assert family.rank == 23  # of 26 samples
    assert family.least_dimension == K - 1
    separable = label == "the same label"
    assert (family.correlations.min() > 1 - 1e-8) == separable
    G = family.member()
    assert np.isfinite(G).all()
    assert np.abs(G).max() < 1.0
    held_out = planted(300, 100, K, seed=2)
    for penalty in ("l1", "l21"):
        model = SparseUncorrelatedLDA(penalty).fit(X, y)
        assert model.rank_ == 23
        assert np.abs(model.scalings_).max() < 2.0
        assert model.score(*held_out) > 0.85  # chance: 1 / K


def test_without_the_tolerance_near_duplicates_would_rule() -> None:
    X, y = planted(24, 100, 2, seed=0)
    X, y = np.vstack([X, X[0] + 1e-9]), np.append(y, y[1])
    trusting = UncorrelatedFamily.from_data(X, y, rank_tol=1e-13)
    assert trusting.rank == 24
    assert np.abs(trusting.member()).max() > 1e6
    assert np.abs(UncorrelatedFamily.from_data(X, y).member()).max() < 1.0


def test_the_units_of_the_columns_do_not_decide_the_rank() -> None:
    X, y = make("tall, two classes")
    assert UncorrelatedFamily.from_data(X * np.geomspace(1e-5, 1e4, 8), y).rank == 8


def test_labels_of_any_kind_in_any_order() -> None:
    X, y = make("wide, four classes")
    family = UncorrelatedFamily.from_data(X, y)
    for names in (["a", "b", "c", "d"], [-3.0, 0.0, 1.0, 10.0], [2, 4, 6, 8]):
        other = UncorrelatedFamily.from_data(X.tolist(), np.array(names)[y])
        np.testing.assert_allclose(other.scores, family.scores, atol=1e-12)


# --- the rotation, where correlations are equal ---


def perturbed(X: np.ndarray, seed: int) -> np.ndarray:
    return X * (1 + 1e-13 * np.random.default_rng(seed).normal(size=X.shape))


@pytest.mark.parametrize(
    "name", ["wide, two classes", "wide, four classes", "wide, six classes", "low rank, wide"]
)
def test_scores_do_not_depend_on_round_off(name: str) -> None:
    X, y = make(name)
    scores = UncorrelatedFamily.from_data(X, y).scores
    for seed in range(3):
        again = UncorrelatedFamily.from_data(perturbed(X, seed), y).scores
        np.testing.assert_allclose(again, scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "name",
    ["wide, two classes", "wide, four classes", "wide, six classes", "as many samples as columns"],
)
def test_with_correlations_of_one_the_scores_are_contrasts_of_the_classes(name: str) -> None:
    X, y = make(name)
    family = UncorrelatedFamily.from_data(X, y)
    np.testing.assert_allclose(family.correlations, 1, atol=1e-12)
    scores = family.scores
    means = np.array([scores[y == k].mean(axis=0) for k in np.unique(y)])
    np.testing.assert_allclose(scores, means[y], rtol=0, atol=1e-10)
    # other data with the same labels have the same scores
    other = np.random.default_rng(9).standard_t(3, size=X.shape)
    np.testing.assert_allclose(
        UncorrelatedFamily.from_data(other, y).scores, scores, rtol=0, atol=1e-9
    )


def test_two_classes_have_the_contrast_of_the_textbook() -> None:
    X, y = make("wide, two classes")
    n0, n1 = np.bincount(y)
    expected = np.where(y == 1, np.sqrt(n0 / n1), -np.sqrt(n1 / n0))
    np.testing.assert_allclose(
        UncorrelatedFamily.from_data(X, y).scores[:, 0], expected, atol=1e-10
    )
    tall, label = make("tall, two classes")
    score = UncorrelatedFamily.from_data(tall, label).scores[:, 0]
    assert score[label == 1].mean() > 0 > score[label == 0].mean()


def exactly_separated(K: int, exact: int, seed: int = 0) -> Data:
    """Tall data: ``exact`` columns are constant within the classes, the others are not."""
    rng = np.random.default_rng(seed)
    y = np.arange(20 * K) % K
    blurred = rng.normal(size=(y.size, K + 2)) + rng.normal(size=(K, K + 2))[y]
    X = np.column_stack([rng.normal(size=(K, exact))[y], blurred])
    return X @ rng.normal(size=(X.shape[1],) * 2), y


@pytest.mark.parametrize(("K", "exact"), [(3, 1), (4, 2), (5, 2), (6, 4)])
def test_partly_equal_correlations_are_stable_too(K: int, exact: int) -> None:
    X, y = exactly_separated(K, exact)
    family = UncorrelatedFamily.from_data(X, y)
    assert np.count_nonzero(family.correlations > 1 - 1e-8) == exact
    assert family.least_dimension == K - 1
    for seed in range(3):
        again = UncorrelatedFamily.from_data(perturbed(X, seed), y)
        np.testing.assert_allclose(again.scores, family.scores, rtol=0, atol=1e-9)
    # nor do the scores depend on the coordinates of the columns
    turn = linalg.qr(np.random.default_rng(5).normal(size=(X.shape[1],) * 2))[0]
    turned = UncorrelatedFamily.from_data(X @ turn, y)
    np.testing.assert_allclose(turned.scores, family.scores, rtol=0, atol=1e-9)


def test_equal_correlations_below_one_are_stable_too() -> None:
    """A balanced design: two factors, one column for each, the same distribution."""
    levels = np.array(np.meshgrid([0, 1], [0, 1], [-1, 1], [-1, 1])).reshape(4, -1).T
    X, y = levels[:, :2] + 0.7 * levels[:, 2:], 2 * levels[:, 0] + levels[:, 1]
    family = UncorrelatedFamily.from_data(X, y)
    # the variance of a column is 1/4 between its two levels and 0.49 within
    np.testing.assert_allclose(family.correlations, np.sqrt(0.25 / 0.74), atol=1e-12)
    for seed in range(5):
        again = UncorrelatedFamily.from_data(perturbed(X, seed), y)
        np.testing.assert_allclose(again.scores, family.scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
@pytest.mark.parametrize("K", [2, 4])
def test_the_features_do_not_depend_on_round_off(penalty: str, K: int) -> None:
    X, y = planted(32, 200, K, seed=4)
    chosen = SparseUncorrelatedLDA(penalty).fit(X, y).support_
    for seed in range(3):
        again = SparseUncorrelatedLDA(penalty).fit(perturbed(X, seed), y).support_
        np.testing.assert_array_equal(again, chosen)


@pytest.mark.parametrize("size", [1e60, 1e-60])
def test_scale_does_not_matter(size: float) -> None:
    X, y = make("wide, four classes")
    family, scaled = UncorrelatedFamily.from_data(X, y), UncorrelatedFamily.from_data(X * size, y)
    assert scaled.rank == family.rank
    np.testing.assert_allclose(scaled.correlations, family.correlations, atol=1e-12)
    np.testing.assert_allclose(scaled.member() * size, family.member(), rtol=1e-7, atol=1e-12)
