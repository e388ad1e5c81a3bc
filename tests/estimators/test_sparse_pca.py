"""SparsePCA: cardinalities, deflations, variances, recovery."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.search.deflation import DEFLATIONS


def make_data(n: int = 80, p: int = 12, seed: int = 0) -> np.ndarray:
    """Two planted sparse components, columns 0-2 and 5-7."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, :3] += 4.0 * rng.normal(size=(n, 1))
    X[:, 5:8] += 3.0 * rng.normal(size=(n, 1))
    return X


def test_at_full_cardinality_it_is_pca() -> None:
    X = make_data()
    ours, theirs = es.SparsePCA(3, n_features_to_select=12).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8
    )
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-6)
    np.testing.assert_allclose(ours.adjusted_variance_, ours.explained_variance_, rtol=1e-8)
    total = theirs.explained_variance_ratio_.sum()
    assert ours.subspace_variance_ratio_[-1] == pytest.approx(total)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(X)),
        theirs.inverse_transform(theirs.transform(X)),
        atol=1e-6,
    )


@pytest.mark.parametrize("deflation", DEFLATIONS)
@pytest.mark.parametrize("p", [12, 700])
def test_planted_components(deflation: str, p: int) -> None:
    X = make_data(p=p)
    pca = es.SparsePCA(2, n_features_to_select=3, deflation=deflation).fit(X)
    assert np.flatnonzero(pca.components_[0]).tolist() == [0, 1, 2]
    assert np.flatnonzero(pca.components_[1]).tolist() == [5, 6, 7]
    np.testing.assert_allclose(np.linalg.norm(pca.components_, axis=1), 1.0)
    assert pca.get_support(indices=True).tolist() == [0, 1, 2, 5, 6, 7]
    pca.solution_.verify(es.pca_pencil(X))


def test_cardinality_per_component() -> None:
    X = make_data()
    pca = es.SparsePCA(3, n_features_to_select=(4, 2, 1)).fit(X)
    assert (pca.components_ != 0).sum(axis=1).tolist() == [4, 2, 1]
    assert len(pca.solutions_) == 3


def test_variances_are_those_of_the_scores() -> None:
    X = make_data()
    pca = es.SparsePCA(3, n_features_to_select=5).fit(X)
    scores = pca.transform(X)
    np.testing.assert_allclose(pca.explained_variance_, scores.var(axis=0, ddof=1))
    R = np.linalg.qr(scores - scores.mean(axis=0))[1]
    np.testing.assert_allclose(pca.adjusted_variance_, np.diag(R) ** 2 / (len(X) - 1))
    total = X.var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(pca.adjusted_variance_ratio_, pca.adjusted_variance_ / total)
    assert np.all(np.diff(pca.subspace_variance_) >= -1e-12)


def test_pit_props_six_components(data_dir) -> None:
    """(6,2,2,1,1,1): subspace variance 77.05 %, supports as published (notes)."""
    from eigensieve.search.deflation import deflate, explained_variances

    with np.load(data_dir / "pitprops.npz") as file:
        first = pencil = es.Pencil(file["corr"])
    vectors: list[np.ndarray] = []
    for k in (6, 2, 2, 1, 1, 1):
        vectors.append(es.solve(pencil, k).vectors[:, 0])
        pencil = deflate(pencil, np.column_stack(vectors), "projection")
    V = np.column_stack(vectors)
    assert explained_variances(first, V)[2][-1] / 13 == pytest.approx(0.7705, abs=1e-4)
    supports = [(np.flatnonzero(v) + 1).tolist() for v in vectors]
    assert supports[:3] == [[1, 2, 7, 8, 9, 10], [3, 4], [5, 6]]
    assert sorted(supports[3:]) == [[11], [12], [13]]  # equal variances: any order


def test_a_loading_may_be_zero() -> None:
    X = np.vstack([np.diag([5.0, 4, 3, 2]), -np.diag([5.0, 4, 3, 2])])
    pca = es.SparsePCA(1, n_features_to_select=3).fit(X)
    assert pca.get_support().sum() == 3
    assert np.count_nonzero(pca.components_) >= 1


def test_odd_data() -> None:
    X = make_data(6, 300)  # wide
    pca = es.SparsePCA(2, n_features_to_select=3).fit(X.astype(np.float32))
    assert pca.components_.dtype == np.float64
    X[:, 4] = 1.5
    assert not es.SparsePCA(2, n_features_to_select=20).fit(X).support_[4]
    with pytest.warns(UserWarning, match="finding 5"):
        assert len(es.SparsePCA(9, n_features_to_select=2).fit(X).components_) == 5
    with pytest.warns(UserWarning, match="selecting 300"):
        es.SparsePCA(1, n_features_to_select=301).fit(X)
    with pytest.raises(InputError, match="one for each of the 2"):
        es.SparsePCA(2, n_features_to_select=(1, 2, 3)).fit(X)
    with pytest.raises(InputError, match="deflation"):
        es.SparsePCA(deflation="air").fit(X)
    constant = es.SparsePCA(1, n_features_to_select=2).fit(np.ones((5, 4)))
    assert constant.explained_variance_.tolist() == [0.0]


def pit_props_rows(data_dir) -> np.ndarray:
    """Rows whose covariance is exactly the published 13 x 13 correlation matrix."""
    with np.load(data_dir / "pitprops.npz") as file:
        C = file["corr"]
    Q = np.random.default_rng(0).normal(size=(180, 13))
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    return np.sqrt(180) * Q @ np.linalg.cholesky(C).T


@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_pit_props_spca_as_published(data_dir, ridge: float) -> None:
    """Zou et al.: (7,4,4,1,1,1) features, 75.8 % adjusted variance."""
    penalties = (0.06, 0.16, 0.1, 0.5, 0.5, 0.5)
    options = {"rho": penalties, "ridge": ridge, "tol": 1e-10}
    pca = es.SparsePCA(6, n_features_to_select=None, solver="spca", solver_options=options)
    pca.fit(pit_props_rows(data_dir))
    assert (pca.components_ != 0).sum(axis=1).tolist() == [7, 4, 4, 1, 1, 1]
    assert 100 * pca.adjusted_variance_ratio_.sum() == pytest.approx(75.762, abs=1e-3)
    assert 100 * pca.subspace_variance_ratio_[-1] == pytest.approx(80.227, abs=1e-3)


def test_pit_props_spca_of_exact_cardinality(data_dir) -> None:
    """The least penalties that leave (7,4,4,1,1,1) features; scikit-learn's LARS agrees."""
    X = pit_props_rows(data_dir)
    ks, options = (7, 4, 4, 1, 1, 1), {"ridge": 1e-6}
    pca = es.SparsePCA(6, n_features_to_select=ks, solver="spca", solver_options=options).fit(X)
    assert (pca.components_ != 0).sum(axis=1).tolist() == [7, 4, 4, 1, 1, 1]
    assert 100 * pca.adjusted_variance_ratio_.sum() == pytest.approx(75.769, abs=1e-3)
    assert 100 * pca.subspace_variance_ratio_[-1] == pytest.approx(80.207, abs=1e-3)


def test_all_components_at_once() -> None:
    X = make_data()
    pca = es.SparsePCA(2, n_features_to_select=3, solver="spca").fit(X)
    assert np.flatnonzero(pca.components_[0]).tolist() == [0, 1, 2]
    assert np.flatnonzero(pca.components_[1]).tolist() == [5, 6, 7]
    np.testing.assert_allclose(np.linalg.norm(pca.components_, axis=1), 1.0)
    pencil = es.pca_pencil(X)
    for x, solution in zip(pca.components_, pca.solutions_):
        solution.verify(pencil)  # nothing was taken out
        assert pencil.rayleigh(x) < solution.objective <= solution.bound < np.inf
    scores = pca.transform(X)
    np.testing.assert_allclose(pca.explained_variance_, scores.var(axis=0, ddof=1))
    other = es.SparsePCA(2, n_features_to_select=3, solver="spca", deflation="schur").fit(X)
    np.testing.assert_array_equal(other.components_, pca.components_)


def test_penalties_instead_of_cardinalities() -> None:
    X = make_data()
    one, two = (
        es.SparsePCA(2, n_features_to_select=None, solver="spca", solver_options={"rho": rho})
        .fit(X)
        .components_
        for rho in (3.0, (3.0, 3.0))
    )
    np.testing.assert_array_equal(one, two)
    assert 0 < np.count_nonzero(one) < 24
    most = es.SparsePCA(2, n_features_to_select=2, solver="spca", solver_options={"rho": 3.0})
    assert (most.fit(X).components_ != 0).sum(axis=1).max() <= 2
    with pytest.raises(InputError, match="penalty"):
        es.SparsePCA(2, n_features_to_select=None).fit(X)
    with pytest.raises(InputError, match="one for each of the 2"):
        es.SparsePCA(2, solver="spca", solver_options={"rho": (1.0, 2.0, 3.0)}).fit(X)
    with pytest.raises(InputError, match="no option rho"):
        es.SparsePCA(2, n_features_to_select=None, solver_options={"rho": 1.0}).fit(X)


def test_a_search_that_ends_early_says_so() -> None:
    from sklearn.exceptions import ConvergenceWarning

    early = es.SparsePCA(2, n_features_to_select=3, solver="spca", solver_options={"max_iter": 1})
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        early.fit(make_data())


def test_a_penalty_too_large_for_a_later_component_says_which() -> None:
    X = make_data()
    options = {"solver": "dc", "solver_options": {"rho": (0.5, 1e4)}}
    with pytest.raises(OptionError, match="component 2: rho is 10000 and leaves no feature"):
        es.SparsePCA(2, n_features_to_select=None, **options).fit(X)
