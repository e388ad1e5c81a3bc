"""SparseUncorrelatedLDA: proofs recomputed from the samples, HiGHS, rules, options."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import SparseLDA, SparseUncorrelatedLDA, UncorrelatedFamily, UncorrelatedLDA
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.solution import Status
from eigensieve.pursuit.solution import judge
from tests.oracles import linear
from tests.oracles.instances import shifted_classes as make

PENALTIES = ["l1", "l21"]
# samples, columns, classes
WIDE = [(16, 40, 2), (21, 80, 3), (24, 300, 4), (30, 31, 5), (12, 100, 6), (20, 20, 3)]
Data = tuple[np.ndarray, np.ndarray]


def centre(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


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
    best = [linear.least_l1(A, scores) for scores in (A @ G).T]
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
    best = [linear.least_l1(A, b) for b in (A @ G).T]
    np.testing.assert_allclose(np.abs(G).sum(axis=0), best, rtol=1e-9)


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


def test_an_open_gap_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = partial(judge, gap_tol=0.0)
    monkeypatch.setattr("eigensieve.estimators.sparse_uncorrelated_lda.judge", strict)
    with pytest.warns(ConvergenceWarning, match="not proved"):
        lda = SparseUncorrelatedLDA().fit(*make())
    assert lda.solution_.status is Status.FEASIBLE


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


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("classifier", [SparseUncorrelatedLDA(), UncorrelatedLDA(), SparseLDA()])
def test_missing_labels(missing: object, classifier: ClassifierMixin) -> None:
    X, y = make(K=2)
    labels = np.array(["a", "b"], dtype=object)[y]
    labels[3] = missing
    with pytest.raises(InputError, match="missing labels"):
        clone(classifier).fit(X, labels)
    with pytest.raises(InputError, match="missing labels"):
        clone(classifier).fit(X, np.where(np.arange(24) == 3, np.nan, y))
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(classifier).fit(X, None)
