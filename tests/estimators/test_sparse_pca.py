"""SparsePCA: cardinalities, deflations, variances, recovery."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import eigensieve as es
from eigensieve.core.deflation import DEFLATIONS
from eigensieve.errors import InputError


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
    from eigensieve.core.deflation import deflate, explained_variances

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
