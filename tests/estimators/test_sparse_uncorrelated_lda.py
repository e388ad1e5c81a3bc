"""SparseUncorrelatedLDA: proofs recomputed from the samples, HiGHS, odd data, options."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import SparseUncorrelatedLDA, UncorrelatedFamily, UncorrelatedLDA
from eigensieve.errors import InputError, OptionError

PENALTIES = ["l1", "l21"]
# samples, columns, classes
WIDE = [(16, 40, 2), (21, 80, 3), (24, 300, 4), (30, 31, 5), (12, 100, 6), (20, 20, 3)]
Data = tuple[np.ndarray, np.ndarray]


def make(n: int = 24, p: int = 120, K: int = 3, seed: int = 0, shift: float = 3.0) -> Data:
    """K classes; column k has a shift for class k."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, p))
    X[np.arange(n), y] += shift
    return X, y


def centre(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


def least_l1(A: np.ndarray, b: np.ndarray) -> float:
    """min |x|_1 subject to Ax = b, by HiGHS."""
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        np.ones(2 * A.shape[1]),
        A_eq=np.hstack([A, -A]),
        b_eq=b,
        method="highs-ds",
        options=tight,
    )
    assert found.status == 0
    return float(found.fun)


def row_lengths(G: np.ndarray) -> np.ndarray:
    return np.linalg.norm(G, axis=1)


# --- optimality ---


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("n", "p", "K"), WIDE)
def test_the_solution_is_a_member_and_verified(n: int, p: int, K: int, penalty: str) -> None:
    X, y = make(n, p, K)
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    family = UncorrelatedFamily.from_data(X, y)
    lda.solution_.verify(family.rows, family.target, tol=1e-12)
    assert lda.solution_.is_certified
    assert lda.solution_.gap <= 1e-12
    assert lda.solution_.residual <= 1e-12
    assert family.contains(lda.scalings_)
    assert lda.rank_ == n - 1
    assert lda.scalings_.shape == (p, K - 1)


@pytest.mark.parametrize(("n", "p", "K"), WIDE)
def test_the_certificate_holds_for_the_centred_samples(n: int, p: int, K: int) -> None:
    X, y = make(n, p, K)
    Xc = centre(X)
    for penalty, largest, norm in (
        ("l1", lambda W: np.abs(W).max(), lambda G: np.abs(G).sum()),
        ("l21", lambda W: row_lengths(W).max(), lambda G: row_lengths(G).sum()),
    ):
        lda = SparseUncorrelatedLDA(penalty).fit(X, y)
        assert lda.dual_.shape == (n, K - 1)
        assert largest(Xc.T @ lda.dual_) <= 1 + 1e-10
        proved = np.sum(lda.dual_ * (Xc @ lda.scalings_))
        assert proved == pytest.approx(norm(lda.scalings_), rel=1e-10)
        assert lda.solution_.objective == pytest.approx(norm(lda.scalings_), rel=1e-12)


@pytest.mark.parametrize(("n", "p", "K"), WIDE)
def test_the_norm_is_the_one_that_highs_finds(n: int, p: int, K: int) -> None:
    X, y = make(n, p, K)
    G = SparseUncorrelatedLDA().fit(X, y).scalings_
    A = centre(X) / np.sqrt(n)
    best = [least_l1(A, scores) for scores in (A @ G).T]
    np.testing.assert_allclose(np.abs(G).sum(axis=0), best, rtol=1e-9)


@pytest.mark.parametrize(("n", "p", "K"), WIDE)
def test_no_direction_uses_more_features_than_the_rank(n: int, p: int, K: int) -> None:
    lda = SparseUncorrelatedLDA().fit(*make(n, p, K))
    assert np.count_nonzero(lda.scalings_, axis=0).max() <= lda.rank_
    assert lda.support_.sum() <= (K - 1) * lda.rank_


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("n", "p", "K"), WIDE)
def test_figures_of_the_fit(n: int, p: int, K: int, penalty: str) -> None:
    X, y = make(n, p, K)
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    G = lda.scalings_
    S_t = np.cov(X, rowvar=False, bias=True)
    error = np.linalg.norm(G.T @ S_t @ G - np.eye(K - 1)) / np.sqrt(K - 1)
    assert error < 1e-12
    assert lda.orthogonality_error_ == pytest.approx(error, abs=1e-13)
    assert lda.sparsity_ == pytest.approx(1 - np.count_nonzero(G) / G.size, rel=1e-12)
    np.testing.assert_array_equal(lda.support_, np.abs(G).sum(axis=1) > 0)
    np.testing.assert_allclose(lda.canonical_correlations_, 1, atol=1e-12)
    Z = lda.transform(X)
    np.testing.assert_allclose(Z, centre(X) @ G, atol=1e-11)
    assert max(np.ptp(Z[y == k], axis=0).max() for k in range(K)) < 1e-11


@pytest.mark.parametrize(("n", "p", "K"), [shape for shape in WIDE if shape[2] > 2])
def test_rows_are_shared_with_the_row_penalty(n: int, p: int, K: int) -> None:
    """Whatever the rotation: the answers of "l1" are solutions too, and none has shorter rows."""
    X, y = make(n, p, K)
    shared = SparseUncorrelatedLDA("l21").fit(X, y)
    length = row_lengths(shared.scalings_).sum()
    alone = SparseUncorrelatedLDA("l1").fit(X, y)
    assert length <= row_lengths(alone.scalings_).sum() * (1 + 1e-12)
    assert length <= row_lengths(UncorrelatedLDA().fit(X, y).scalings_).sum()
    assert np.abs(alone.scalings_).sum() <= np.abs(shared.scalings_).sum() * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("K", [3, 4, 5])
def test_the_row_penalty_needs_fewer_features(K: int, seed: int) -> None:
    X, y = make(30, 400, K, seed)
    shared, alone = (SparseUncorrelatedLDA(penalty).fit(X, y) for penalty in ("l21", "l1"))
    assert shared.support_.sum() < alone.support_.sum()


@pytest.mark.parametrize("shape", [(16, 40), (40, 8)])
def test_for_two_classes_the_penalties_are_one(shape: tuple[int, int]) -> None:
    X, y = make(*shape, K=2)
    shared, alone = (SparseUncorrelatedLDA(penalty).fit(X, y) for penalty in ("l21", "l1"))
    np.testing.assert_allclose(shared.scalings_, alone.scalings_, rtol=1e-12)
    np.testing.assert_array_equal(shared.support_, alone.support_)
    assert shared.solution_.objective == pytest.approx(alone.solution_.objective, rel=1e-14)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("K", [2, 4])
def test_with_more_samples_than_columns_there_is_one_solution(K: int, penalty: str) -> None:
    X, y = make(80, 9, K, shift=1.0)
    sparse = SparseUncorrelatedLDA(penalty, rule="lda").fit(X, y)
    dense = UncorrelatedLDA(rule="lda").fit(X, y)
    np.testing.assert_allclose(sparse.scalings_, dense.scalings_, rtol=1e-9, atol=1e-12)
    assert sparse.support_.all()
    assert sparse.sparsity_ == 0
    assert sparse.solution_.is_certified
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(sparse.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_classes_that_are_not_separable_though_there_are_many_columns() -> None:
    """Rank 10, 60 samples, 50 columns: sparse, and short of correlations of one."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = (rng.normal(size=(60, 10)) + rng.normal(size=(3, 10))[y]) @ rng.normal(size=(10, 50))
    for penalty in PENALTIES:
        lda = SparseUncorrelatedLDA(penalty).fit(X, y)
        assert lda.rank_ == 10
        assert lda.canonical_correlations_.max() < 0.99
        assert lda.solution_.gap <= 1e-12
        assert lda.orthogonality_error_ < 1e-12
        assert lda.support_.sum() <= 20
        np.testing.assert_allclose(
            lda.transform(X), UncorrelatedLDA().fit(X, y).transform(X), atol=1e-10
        )
    G = SparseUncorrelatedLDA().fit(X, y).scalings_
    A = UncorrelatedFamily.from_data(X, y).rows  # the samples are dependent: HiGHS wants a basis
    best = [least_l1(A, b) for b in (A @ G).T]
    np.testing.assert_allclose(np.abs(G).sum(axis=0), best, rtol=1e-9)


# --- columns ---


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_column_that_is_the_label_is_all_it_takes(penalty: str) -> None:
    """Provided that nothing is shorter; the column must be long enough for that."""
    X, y = make(20, 100, 2, shift=0.0)
    X[:, 37] = 10.0 * y
    A = centre(X) / np.sqrt(20)
    contrast = np.where(y == 1, 1.0, -1.0) / np.sqrt(20)
    assert least_l1(A, contrast) == pytest.approx(0.2, rel=1e-9)  # 1 / sd of that column
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    assert lda.get_support(indices=True).tolist() == [37]
    assert lda.scalings_[37, 0] == pytest.approx(0.2, rel=1e-12)
    assert lda.solution_.gap <= 1e-12
    assert lda.score(*make_labelled(seed=1)) == 1.0


def make_labelled(seed: int) -> Data:
    X, y = make(50, 100, 2, seed, shift=0.0)
    X[:, 37] = 10.0 * y
    return X, y


def test_a_short_column_that_is_the_label_is_not_all_it_takes() -> None:
    X, y = make(20, 100, 2, shift=0.0)
    X[:, 37] = 0.1 * y
    A = centre(X) / np.sqrt(20)
    best = least_l1(A, np.where(y == 1, 1.0, -1.0) / np.sqrt(20))
    assert best < 19  # alone it would need 20
    lda = SparseUncorrelatedLDA().fit(X, y)
    assert lda.solution_.objective == pytest.approx(best, rel=1e-9)
    assert lda.support_.sum() > 1


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("left_out", [1, 0])
@pytest.mark.parametrize("K", [3, 5])
def test_columns_that_indicate_the_classes_are_all_it_takes(
    K: int, left_out: int, penalty: str
) -> None:
    """With one class left out, as in regression, or all: these are dependent once centred."""
    X, y = make(30, 100, K, shift=0.0)
    indicators = np.arange(50, 50 + K - left_out)
    X[:, indicators] = 10.0 * np.equal.outer(y, np.arange(K - left_out))
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    G = lda.scalings_
    assert set(lda.get_support(indices=True)) <= set(indicators)
    assert lda.solution_.is_certified
    assert lda.orthogonality_error_ < 1e-12
    if left_out:  # only one set of weights gives the scores
        assert lda.solution_.gap <= 1e-12
    if penalty == "l1":
        A = centre(X) / np.sqrt(30)
        np.testing.assert_allclose(
            np.abs(G).sum(axis=0), [least_l1(A, b) for b in (A @ G).T], rtol=1e-9
        )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("shape", [(24, 120), (60, 12)])
def test_constant_columns_are_never_used(shape: tuple[int, int], penalty: str) -> None:
    X, y = make(*shape)
    X[:, [0, 5, 11]] = 0.1, -1e5, 0.0
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    assert not lda.support_[[0, 5, 11]].any()
    assert lda.support_[1:5].any()


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("K", [2, 3])
def test_of_identical_columns_the_first_is_used(K: int, sign: float, penalty: str) -> None:
    X, y = make(K=K)
    G = SparseUncorrelatedLDA(penalty).fit(X, y).scalings_
    chosen = np.flatnonzero(G.any(axis=1))
    behind = SparseUncorrelatedLDA(penalty).fit(np.hstack([X, sign * X[:, chosen]]), y)
    np.testing.assert_allclose(behind.scalings_[:120], G, rtol=1e-8, atol=1e-12)
    assert not behind.support_[120:].any()
    before = SparseUncorrelatedLDA(penalty).fit(np.hstack([sign * X[:, chosen], X]), y)
    np.testing.assert_allclose(
        sign * before.scalings_[: chosen.size], G[chosen], rtol=1e-8, atol=1e-12
    )
    assert not before.support_[chosen.size :].any()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_order_of_rows_and_columns_does_not_matter(penalty: str) -> None:
    X, y = make(K=4)
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other = SparseUncorrelatedLDA(penalty).fit(X[rows][:, columns], y[rows])
    np.testing.assert_array_equal(other.support_, lda.support_[columns])
    np.testing.assert_allclose(other.scalings_, lda.scalings_[columns], atol=1e-10)


# --- odd data ---


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("size", [1e60, 1e-60])
def test_the_scale_of_the_data_does_not_matter(size: float, penalty: str) -> None:
    X, y = make()
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    scaled = SparseUncorrelatedLDA(penalty).fit(X * size, y)
    np.testing.assert_array_equal(scaled.support_, lda.support_)
    np.testing.assert_allclose(scaled.scalings_ * size, lda.scalings_, rtol=1e-8, atol=1e-12)
    assert scaled.solution_.is_certified


@pytest.mark.parametrize("penalty", PENALTIES)
def test_float32_with_a_large_offset_loses_nothing(penalty: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, size=(24, 120)).astype(np.float64), np.arange(24) % 3
    single = (X + 1e6).astype(np.float32)
    np.testing.assert_array_equal(single.astype(np.float64) - 1e6, X)
    plain = SparseUncorrelatedLDA(penalty).fit(X, y)
    offset = SparseUncorrelatedLDA(penalty).fit(single, y)
    np.testing.assert_array_equal(offset.support_, plain.support_)
    np.testing.assert_allclose(offset.scalings_, plain.scalings_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(offset.transform(single), plain.transform(X), atol=1e-9)
    assert offset.orthogonality_error_ < 1e-9
    new = rng.integers(-9, 10, size=(50, 120)).astype(np.float64)
    np.testing.assert_array_equal(
        offset.predict((new + 1e6).astype(np.float32)), plain.predict(new)
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("counts", [(8, 8, 1), (1, 9), (1, 1, 1, 1)])
def test_classes_with_one_sample(counts: tuple[int, ...], penalty: str) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(y.size, 50))
    for rule in ("centroid", "1-nn", "lda"):
        lda = SparseUncorrelatedLDA(penalty, rule=rule).fit(X, y)
        np.testing.assert_array_equal(lda.predict(X), y)
        assert lda.scalings_.shape == (50, len(counts) - 1)
        assert lda.orthogonality_error_ < 1e-12


@pytest.mark.parametrize(
    "names",
    [[10, 20], ["no", "yes"], [False, True], [-1.0, 1.0], np.array(["a", "b"], dtype=object)],
    ids=["integers", "strings", "booleans", "floats", "objects"],
)
def test_labels_of_any_kind(names: list) -> None:
    X, y = make(K=2)
    names = np.asarray(names)
    lda = SparseUncorrelatedLDA().fit(X, names[y])
    assert lda.classes_.tolist() == names.tolist()
    assert lda.predict(X).dtype == names.dtype
    np.testing.assert_array_equal(lda.predict(X), names[y])
    np.testing.assert_array_equal(lda.support_, SparseUncorrelatedLDA().fit(X, y).support_)
    listed = SparseUncorrelatedLDA().fit(X.tolist(), names[y].tolist())
    np.testing.assert_allclose(listed.scalings_, lda.scalings_, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_data_with_many_ties(penalty: str) -> None:
    """Columns of 0, 1, 2 as in genotypes: many columns are equal, bounds are met together."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(14, 500)).astype(np.float64), np.arange(14) % 3
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    assert lda.solution_.gap <= 1e-12
    assert lda.orthogonality_error_ < 1e-12
    if penalty == "l1":
        A = centre(X) / np.sqrt(14)
        best = [least_l1(A, b) for b in (A @ lda.scalings_).T]
        np.testing.assert_allclose(np.abs(lda.scalings_).sum(axis=0), best, rtol=1e-9)


def test_the_data_are_never_changed() -> None:
    X, y = make()
    for order in ("C", "F"):
        given = np.array(X, order=order)
        given.flags.writeable = False
        SparseUncorrelatedLDA("l21").fit(given, y).predict(given)
        np.testing.assert_array_equal(given, X)


# --- classification ---


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("K", [2, 4])
def test_the_rules_are_those_of_scikit_learn_on_the_projection(K: int, penalty: str) -> None:
    X, y = make(30, 200, K)
    new, labels = make(400, 200, K, seed=1)
    nearest = SparseUncorrelatedLDA(penalty, rule="1-nn").fit(X, y)
    theirs = KNeighborsClassifier(1).fit(nearest.transform(X), y)
    # rows of a class are one point up to round-off: any of them is the nearest
    np.testing.assert_array_equal(nearest.predict(new), theirs.predict(nearest.transform(new)))
    centroid = SparseUncorrelatedLDA(penalty).fit(X, y)
    means = NearestCentroid().fit(centroid.transform(X), y)
    np.testing.assert_array_equal(centroid.predict(new), means.predict(centroid.transform(new)))
    np.testing.assert_allclose(
        centroid.decision_function(new),
        np.squeeze(new @ centroid.coef_.T + centroid.intercept_),
        atol=1e-10,
    )
    assert np.flatnonzero(centroid.coef_.any(axis=0)).tolist() == (
        centroid.get_support(indices=True).tolist()
    )
    assert not hasattr(nearest, "coef_")
    assert centroid.score(new, labels) > 1.5 / K


def test_in_a_pipeline_with_cross_validation_and_search() -> None:
    X, y = make(60, 200, 3, shift=6.0)
    frame = pd.DataFrame(X * np.geomspace(0.1, 10, 200), columns=[f"gene {i}" for i in range(200)])
    pipeline = make_pipeline(StandardScaler(), SparseUncorrelatedLDA("l21"))
    assert cross_val_score(pipeline, frame, y, cv=5).mean() > 0.9
    search = GridSearchCV(SparseUncorrelatedLDA(), {"penalty": PENALTIES, "rule": ["1-nn", "lda"]})
    assert search.fit(X, y).best_score_ > 0.9
    pipeline.set_output(transform="pandas").fit(frame, y)
    scores = pipeline.transform(frame)
    assert list(scores.columns) == ["sparseuncorrelatedlda0", "sparseuncorrelatedlda1"]
    chosen = pipeline[-1].selected_features_
    assert {"gene 0", "gene 1", "gene 2"} <= set(chosen)
    assert [f"gene {i}" for i in pipeline[-1].get_support(indices=True)] == list(chosen)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_pickles_and_clones(penalty: str) -> None:
    X, y = make()
    lda = SparseUncorrelatedLDA(penalty, rule="lda", priors=[1, 1, 2]).fit(X, y)
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_allclose(again.predict_proba(X), lda.predict_proba(X), rtol=1e-12)
    assert again.solution_.status == lda.solution_.status
    fresh = clone(lda)
    assert fresh.get_params() == lda.get_params()
    np.testing.assert_allclose(fresh.fit(X, y).scalings_, lda.scalings_, rtol=1e-9, atol=1e-13)


# --- the Bregman iteration, time limits ---


@pytest.mark.parametrize("K", [2, 3])
def test_the_bregman_iteration_approximates(K: int) -> None:
    X, y = make(K=K)
    exact = SparseUncorrelatedLDA().fit(X, y)
    errors = []
    for tol in (1e-3, 1e-5, 1e-8):
        options = {"tol": tol, "max_iter": 200_000}
        lda = SparseUncorrelatedLDA(solver="bregman", solver_options=options).fit(X, y)
        assert lda.solution_.residual <= tol
        assert lda.orthogonality_error_ < 10 * tol
        errors.append(np.abs(lda.scalings_ - exact.scalings_).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6
    np.testing.assert_array_equal(lda.support_, exact.support_)
    new, _ = make(200, 120, K, seed=1)
    assert np.mean(lda.predict(new) == exact.predict(new)) > 0.99


def test_the_bregman_iteration_says_when_it_did_not_converge() -> None:
    X, y = make()
    options = {"max_iter": 5}
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        lda = SparseUncorrelatedLDA(solver="bregman", solver_options=options).fit(X, y)
    assert not lda.solution_.is_certified
    assert lda.predict(X).shape == (24,)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"penalty": "l21"}, {"solver": "bregman"}], ids=["l1", "l21", "bregman"]
)
def test_after_a_time_limit_directions_are_solutions_all_the_same(options: dict, K: int) -> None:
    X, y = make(K=K)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        lda = SparseUncorrelatedLDA(time_limit=0, **options).fit(X, y)
    G = lda.scalings_
    S_t = np.cov(X, rowvar=False, bias=True)
    np.testing.assert_allclose(G.T @ S_t @ G, np.eye(K - 1), atol=1e-11)
    assert not lda.solution_.is_certified
    assert lda.score(X, y) == 1.0
    family = UncorrelatedFamily.from_data(X, y)
    assert family.contains(G)
    lda.solution_.verify(family.rows, family.target)
    full = SparseUncorrelatedLDA(options.get("penalty", "l1")).fit(X, y).solution_
    assert lda.solution_.bound <= full.objective <= lda.solution_.objective


def test_a_generous_time_limit_changes_nothing() -> None:
    X, y = make()
    np.testing.assert_allclose(
        SparseUncorrelatedLDA(time_limit=600).fit(X, y).scalings_,
        SparseUncorrelatedLDA().fit(X, y).scalings_,
        rtol=1e-9,
        atol=1e-13,
    )


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"penalty": "l2"}, "penalty is 'l2'; it must be one of l1, l21"),
        ({"penalty": 1}, "penalty is 1"),
        ({"solver": "newton"}, "solver is 'newton'; it must be one of simplex, bregman"),
        ({"solver": None}, "solver is None"),
        ({"solver": "bregman", "penalty": "l21"}, "'bregman' is for penalty 'l1'"),
        ({"rule": "2-nn"}, "rule is '2-nn'"),
        ({"priors": [1, 1, 1]}, "priors are for rule 'lda'"),
        ({"solver_options": {"mu": 1.0}}, "'simplex' has no option mu; it has none"),
        ({"solver": "bregman", "solver_options": {"nu": 1}}, "no option nu; it has mu, delta"),
        ({"solver": "bregman", "solver_options": {"mu": -1}}, "mu is -1"),
        ({"solver": "bregman", "solver_options": {"tau": 2}}, r"tau \* delta is 1.8"),
        ({"solver_options": {"time_limit": 1}}, "set it on the estimator"),
        ({"solver_options": ["mu"]}, "must be a dict"),
        ({"rank_tol": 2}, "rank_tol is 2"),
        ({"rank_tol": None}, "rank_tol is None"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"time_limit": "long"}, "time_limit is 'long'"),
    ],
)
def test_wrong_options(options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        SparseUncorrelatedLDA(**options).fit(*make())


def test_wrong_data() -> None:
    X, y = make()
    for bad, says in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoilt = X.copy()
        spoilt[2, 3] = bad
        with pytest.raises(ValueError, match=says):
            SparseUncorrelatedLDA().fit(spoilt, y)
    with pytest.raises(InputError, match=r"one class only.*'all'"):
        SparseUncorrelatedLDA().fit(X, np.full(24, "all"))
    with pytest.raises(InputError, match="no column varies"):
        SparseUncorrelatedLDA().fit(np.full((24, 4), 0.1), y)
    with pytest.raises(InputError, match="class means are all equal"):
        SparseUncorrelatedLDA().fit(np.vstack([X, X]), np.repeat(["a", "b"], 24))
    with pytest.raises(ValueError, match="continuous"):
        SparseUncorrelatedLDA().fit(X, X[:, 0])
    with pytest.raises(InputError, match="'g' for one"):
        SparseUncorrelatedLDA().fit(pd.DataFrame(X[:, :3], columns=["g", "h", "g"]), y)
    with pytest.raises(InputError, match="column 2 has values of size"):
        SparseUncorrelatedLDA().fit(X * np.where(np.arange(120) == 2, 1e160, 1.0), y)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels(missing: object) -> None:
    X, y = make(K=2)
    labels = np.array(["a", "b"], dtype=object)[y]
    labels[3] = missing
    with pytest.raises(ValueError, match=r"missing labels|NaN"):
        SparseUncorrelatedLDA().fit(X, labels)
