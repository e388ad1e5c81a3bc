"""The pieces of Chu & Zhang's tables and figure, each against other arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from eigensieve import PenalizedLDA, SparseOptimalScoring, SparseUncorrelatedLDA
from eigensieve.errors import InputError
from eigensieve.experiments.chu2013 import _common, _plda, figure1, table2
from eigensieve.experiments.values import Value


def make_data(counts: tuple[int, ...], p: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(list("abcd")[: len(counts)], counts)
    X = rng.normal(size=(y.size, p))
    for i, label in enumerate(np.unique(y)):
        X[y == label, 3 * i : 3 * i + 3] += 1.5
    return X, y


# --- the measures of table 2 ---


def test_orthogonality_is_that_of_the_matrices() -> None:
    X, _ = make_data((8, 9, 7))
    G = np.random.default_rng(1).normal(size=(60, 2))
    S_t = np.cov(X, rowvar=False, bias=True)
    M = G.T @ S_t @ G - np.eye(2)
    expected = np.sqrt(np.sum(M * M) / 2)
    assert _common.orthogonality(X, G) == pytest.approx(expected, rel=1e-10)


def test_columns_of_the_table() -> None:
    X, y = make_data((8, 9, 7))
    X_test, y_test = make_data((20, 20, 20), seed=1)
    lda = _common.fit_sulda(X, y)
    row = _common.describe(lda, X, X_test, y_test)
    G = lda.scalings_
    # S_w projects to zero, hence 1-NN is the nearest of the three class points
    nearest = KNeighborsClassifier(1).fit(X @ G, y).score(X_test @ G, y_test)
    assert row["accuracy, %"] == pytest.approx(100 * nearest)
    zeros = sum(value == 0 for value in G.ravel())
    assert row["sparsity, %"] == pytest.approx(100 * zeros / G.size)
    assert row["variables"] == len({j for j, _ in np.argwhere(G)})
    assert row["orthogonality"] < 1e-12


def test_bregman_stops_at_the_absolute_epsilon() -> None:
    X, y = make_data((8, 9))
    exact, slow = (
        _common.fit_sulda(X, y),
        _common.fit_bregman(X, y, mu=200.0, epsilon=1e-5, max_iter=100_000),
    )
    assert _common.has_converged(slow)
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][: len(X) - 1]
    off = np.linalg.norm(U @ (slow.scalings_ - exact.scalings_))
    assert 1e-7 < off <= 1.000001e-5
    assert not _common.has_converged(_common.fit_bregman(X, y, 200.0, 1e-5, max_iter=3))


def test_slda_has_as_many_features_as_sulda_and_a_ridge_in_units_of_the_variance() -> None:
    X, y = make_data((8, 9, 7))
    sulda = SparseUncorrelatedLDA().fit(X, y)
    found = _common.fit_slda(X, y, sulda, ridge=0.5)
    sizes = [int(np.count_nonzero(column)) for column in sulda.scalings_.T]
    assert [support.size for support in found.supports_] == sizes
    other = SparseOptimalScoring(sizes, ridge=0.5 * np.mean(np.var(X, axis=0))).fit(X, y)
    np.testing.assert_allclose(found.scalings_, other.scalings_)
    # units do not matter, as both penalties have them
    scaled = _common.fit_slda(10 * X, y, SparseUncorrelatedLDA().fit(10 * X, y), ridge=0.5)
    np.testing.assert_allclose(10 * scaled.scalings_, found.scalings_, rtol=1e-4, atol=1e-6)


def test_wins_are_strict_and_over_all_rivals() -> None:
    column = "accuracy, %"
    accuracy = {"A": (1.0, 2.0, 3.0), "B": (1.0, 3.0, 3.0 + 1e-14), "C": (5.0, 2.0, 3.0)}
    cells = {
        (f"{data}: {method}", column): Value(value)
        for data, values in accuracy.items()
        for method, value in zip(("PLDA", "SLDA", "SULDA"), values)
    }
    sparsity = {"PLDA": 50.0, "SLDA": 98.0, "SULDA": 99.0}
    cells |= {(f"A: {method}", "sparsity, %"): Value(v) for method, v in sparsity.items()}
    assert table2.sets_won(cells, "SULDA", ("SLDA", "PLDA")) == ["A"]
    assert table2.sets_won(cells, "SLDA", ("PLDA",)) == ["A", "B"]
    assert table2.sets_won(cells, "SULDA", ("SLDA",), "sparsity, %") == ["A"]
    assert table2.sets_won(cells, "PLDA", ("SLDA",), "sparsity, %") == []


def test_claims_count_sets_and_the_notes_name_the_others() -> None:
    def part(data: str, figures: dict[str, tuple[float, float]], told: dict[str, float]) -> dict:
        names = ("accuracy, %", "sparsity, %")
        columns = {m: {**dict(zip(names, f)), "orthogonality": 0.0} for m, f in figures.items()}
        return {"data": data, "columns": columns, "told": told}

    found = [
        part("A", {"PLDA": (90.0, 99.5)}, {"directions": 1}),
        part("B", {"PLDA": (95.0, 50.0)}, {"directions": 1}),
        part("A", {"SLDA": (91.0, 98.0), "SULDA": (92.0, 99.0)}, {"shared": 0.5}),
        part("B", {"SLDA": (90.0, 99.0), "SULDA": (94.0, 99.0)}, {"shared": 0.5}),
    ]
    measured = table2.measure({"sets": ["A", "B"], "max_iter": 5}, found)
    counts = {place: v.value for place, v in measured.cells.items() if place[0].startswith("All")}
    assert counts == {
        ("All sets: SULDA", "sets where it is the most accurate"): 1,
        ("All sets: SLDA", "sets where it is more accurate than PLDA"): 1,
        ("All sets: SULDA", "sets where it is sparser than SLDA"): 1,
        ("All sets: SULDA", "sets where it is sparser than PLDA"): 1,
        ("All sets: SLDA", "sets where it is sparser than PLDA"): 1,
    }
    told = [note for note in measured.notes if "at least as accurate" in note]
    assert told == ["PLDA is at least as accurate as SULDA on B."]


# --- the cross-validation of PLDA ---


def test_folds_are_balanced_within_the_classes() -> None:
    _, y = make_data((23, 8, 12, 20))
    dealt = _plda.deal(y, 10, seed=3)
    assert np.ptp(np.bincount(dealt, minlength=10)) <= 1
    for label in np.unique(y):
        assert np.ptp(np.bincount(dealt[y == label], minlength=10)) <= 1
    assert (dealt != _plda.deal(y, 10, seed=4)).any()


def test_errors_of_so_many_directions_are_those_of_nearest_centroids() -> None:
    X, y = make_data((12, 15, 9, 11))
    X_out, y_out = make_data((30, 30, 30, 30), seed=1)
    expected = []
    for m in (1, 2, 3):
        lda = PenalizedLDA(1.0 / np.sqrt(60), n_components=m).fit(X, y)
        rule = NearestCentroid().fit(lda.transform(X), y)
        expected.append(np.sum(rule.predict(lda.transform(X_out)) != y_out))
    assert len(set(expected)) > 1
    assert _plda.count_wrong(X, y, X_out, y_out, 1.0, 3).tolist() == expected


def test_a_penalty_that_leaves_nothing_counts_as_wrong() -> None:
    X, y = make_data((10, 10))
    assert _plda.fit_or_none(X, y, 100.0) is None
    assert _plda.count_wrong(X, y, X[:7], y[:7], 100.0, 1).tolist() == [7]
    with pytest.raises(InputError, match="class means are all equal"):
        _plda.fit_or_none(np.vstack([X, X]), np.repeat(["a", "b"], 20), 0.5)


def test_the_chosen_penalty_and_directions_have_the_fewest_errors() -> None:
    X, y = make_data((12, 15, 9), p=40, seed=2)
    multiples, folds = [0.0, 1.0, 1.5, 2.0, 100.0], 5
    dealt = _plda.deal(y, folds, 7)
    errors = {}
    for c in multiples[:-1]:  # the last leaves nothing
        for m in (1, 2):
            wrong = 0
            for fold in range(folds):
                train = dealt != fold
                lda = PenalizedLDA(c / np.sqrt(40), n_components=m).fit(X[train], y[train])
                wrong += np.sum(lda.predict(X[~train]) != y[~train])
            errors[c, m] = wrong
    best = min(errors, key=lambda at: (errors[at], -at[0], at[1]))
    found = _plda.fit_plda(X, y, multiples, folds, 7)
    assert (found.alpha * np.sqrt(40), found.n_components) == pytest.approx(best)
    assert _plda.fit_plda(X, y, multiples, folds, 7, n_components=1).n_components_ == 1


# --- figure 1 ---


def test_spread_of_the_training_samples() -> None:
    Z = np.array([[0, 0], [2, 0], [0, 3], [0, 3], [9, 9], [9, 9], [0, -9], [0, -9]], dtype=float)
    y = np.repeat(figure1.CLASSES, 2)
    # the first class lies 1 from its mean (1, 0); the closest means are (1, 0) and (0, 3)
    assert figure1.training_spread(Z, y) == pytest.approx(1 / np.sqrt(10))


def test_mixed_samples_by_hand() -> None:
    # on a line: EWS at 0, 1, with an RMS at 1.4; NB at 10, 11; BL at 20, 21; RMS at 30, 31
    Z = np.array([0, 1, 1.4, 10, 11, 20, 21, 30, 31])[:, None] * np.array([0.6, 0.8])
    y = np.array(["EWS", "EWS", "RMS", "NB", "NB", "BL", "BL", "RMS", "RMS"])
    # nearest of EWS at 1 is the RMS beside it, and the other way round
    counts = {figure1.MIXED: 2, "1 with 4": 2, "3 with 4": 0}
    assert figure1.count_mixed(Z, y) == counts


def test_ties_of_the_fewest_are_told() -> None:
    measures = {"training spread": 0.0, figure1.MIXED: 3}
    part = {
        "train": [],
        "test": [],
        "planes": {},
        "measures": {"PLDA": {**measures, figure1.MIXED: 4}, "SLDA": measures, "SULDA": measures},
    }
    found = figure1.measure({}, [part, part])
    assert found.cells["fewest samples in another class", "method"].value == "SLDA and SULDA"
