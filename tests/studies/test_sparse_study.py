"""Studies of sparse tables: what they find in the same tables as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.studies.data import check_data
from eigensieve.studies.standardize import Standardizer
from tests.oracles.sparse_tables import awkward_table, separated_table


def tables(seed: int = 3) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    X, y = separated_table(60, 40, 0.2, seed=seed)
    X[:, 20], X[:, 21] = 0.0, 3.0
    return sparse.csr_array(X), X, np.array(["a", "b", "c"])[y]


def test_a_study() -> None:
    table, X, y = tables()
    options = {"ks": [2, 4], "cv": 3, "n_repeats": 1, "n_permutations": 3}
    found, dense = (es.study(T, y, **options) for T in (table, X))
    assert [f.name for f in found.selected] == [f.name for f in dense.selected]
    assert found.best_k == dense.best_k
    assert found.honest_error.error == dense.honest_error.error
    np.testing.assert_array_equal(found.stability.to_numpy(), dense.stability.to_numpy())
    np.testing.assert_allclose(found.scores, dense.scores, atol=1e-8)
    np.testing.assert_allclose(found.correlations, dense.correlations, atol=1e-8)
    assert found.null.p_value == dense.null.p_value
    assert found.notes == dense.notes
    assert "2 columns are constant" in " ".join(found.notes)
    assert [price.name for price in found.prices] == [price.name for price in dense.prices]
    new, _ = separated_table(20, 40, 0.2, seed=9)
    expected = dense.final_estimator.predict(new).tolist()
    for form in (new, sparse.csc_matrix(new)):
        assert found.final_estimator.predict(form).tolist() == expected


@pytest.mark.parametrize(
    "make", [es.SparseLDA, es.GroupLassoLDA, es.PenalizedLDA, lambda: es.RankedLDA("pearson")]
)
def test_a_prepared_classifier(make) -> None:
    table, X, y = tables()
    found, dense = (es.PreparedClassifier(make()).fit(T, y) for T in (table, X))
    np.testing.assert_array_equal(found.get_support(), dense.get_support())
    np.testing.assert_allclose(found.transform(X), dense.transform(X), atol=1e-7)
    np.testing.assert_allclose(found.predict_proba(table), dense.predict_proba(X), atol=1e-7)
    assert not found.standardizer_.center.any()
    np.testing.assert_allclose(found.standardizer_.scale, dense.standardizer_.scale)
    with pytest.raises(InputError, match=r"X\.toarray\(\)"):
        dense.predict(table)


def test_a_comparison() -> None:
    table, X, y = tables()
    methods = {"lda": es.SparseLDA(), "filter": es.RankedLDA("snr")}
    found, dense = (es.compare(T, y, methods, ks=[3], cv=3) for T in (table, X))
    assert not found.failures
    assert [row["error"] for row in found.rows] == [row["error"] for row in dense.rows]


def test_gaps_are_filled_with_medians() -> None:
    _, X, y = tables()
    X[::7, 8] = np.nan
    X[:50, 9] = np.nan
    table = sparse.csr_array(X)
    with pytest.raises(InputError, match="59 missing values"):
        es.study(table, y, ks=[2])
    found, dense = (Standardizer.fit(T, "median") for T in (table, X))
    np.testing.assert_array_equal(found.fill, dense.fill)
    np.testing.assert_allclose(found.scale, dense.scale)
    centred = found.apply(table).toarray() - dense.center / dense.scale
    np.testing.assert_allclose(centred, dense.apply(X), atol=1e-12)
    both = [es.PreparedClassifier(es.SparseLDA(3), missing="median").fit(T, y) for T in (table, X)]
    np.testing.assert_array_equal(*(model.get_support() for model in both))
    assert both[0].predict(table).tolist() == both[1].predict(X).tolist()


def test_what_is_known_of_the_data() -> None:
    X, y = awkward_table(30, 12, 0.2), np.arange(30) % 3
    data = check_data(sparse.coo_matrix(X), y, None, None, "error")
    assert sparse.issparse(data.X)
    same = check_data(sparse.csc_array(X), y, None, None, "error")
    assert data.fingerprint == same.fingerprint
    X[0, 7] += 1.0
    assert data.fingerprint != check_data(sparse.csr_array(X), y, None, None, "error").fingerprint
    X[1, 1] = np.inf
    with pytest.raises(InputError, match="infinite"):
        check_data(sparse.csr_array(X), y, None, None, "median")
    with pytest.raises(InputError, match="no column varies"):
        check_data(sparse.csr_array((30, 12)), y, None, None, "error")
    with pytest.raises(InputError, match="complex"):
        check_data(sparse.csr_array(X).astype(complex), y, None, None, "error")


def test_scales_are_those_of_the_array() -> None:
    X = awkward_table(30, 12, 0.3)
    found, dense = (Standardizer.fit(T) for T in (sparse.csr_array(X), X))
    np.testing.assert_allclose(found.scale, dense.scale, rtol=1e-9)
    assert found.scale[:2].tolist() == [1.0, 1.0]
