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
    relative = _common.fit_bregman(X, y, 200.0, 1e-5, 100_000, relative=True)
    size = np.linalg.norm(U @ exact.scalings_)  # |C|: U'G = C
    off = np.linalg.norm(U @ (relative.scalings_ - exact.scalings_)) / size
    assert 1e-7 < off <= 1.000001e-5
    assert abs(size - 1) > 0.1


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


def test_leads_are_over_the_better_rival_split_by_split() -> None:
    runs = {"PLDA": [1.0, 5.0, 6.0], "SLDA": [4.0, 4.0, 7.0], "SULDA": [5.0, 6.0, 5.0]}
    figures = {method: {"accuracy, %": {"": values}} for method, values in runs.items()}
    found = table2.lead(figures, "SULDA", ("SLDA", "PLDA"), "accuracy, %")
    # SLDA has the larger mean: differences of 1, 2, -2
    assert found.value == pytest.approx(1 / 3)
    assert found.se == pytest.approx(np.std([1, 2, -2], ddof=1) / np.sqrt(3))
    assert found.n == 3


def test_readings_of_the_table_stand_side_by_side() -> None:
    def part(data: str, arrays: str, seed: int, figures: dict, **told: object) -> dict:
        return {"data": data, "arrays": arrays, "seed": seed, "figures": figures, "told": told}

    def of(accuracy: float, sparsity: float, **orthogonality: float) -> dict:
        lengths = orthogonality or {"": 0.0}
        return {
            "accuracy, %": {"": accuracy},
            "sparsity, %": {"": sparsity},
            "orthogonality": lengths,
        }

    found = []
    for i, arrays in enumerate(table2.ARRAYS["Colon"]):
        for seed in (1, 0):  # in any order
            plda = of(90.0 + i, 50.0, long=2.0 + i, short=7.0)
            both = {"SLDA": of(91.0, 98.0), "SULDA": of(92.0 + 2 * seed, 99.0)}
            found.append(part("Colon", arrays, seed, {"PLDA": plda}, directions=1))
            found.append(part("Colon", arrays, seed, both, shared=0.5))
    measured = table2.measure({"sets": ["Colon"], "max_iter": 5}, found)
    place = ("Colon: PLDA", "orthogonality")
    z = "log10, z-scored arrays"
    assert {name: v.value for name, v in measured.readings[place].items()} == {
        "log10, long": 2.0, "log10, short": 7.0, f"{z}, long": 3.0, f"{z}, short": 7.0,
    }  # fmt: skip
    assert measured.cells[place].value == 2.0
    row = "Colon: SULDA less the better of SLDA and PLDA"
    leads = measured.readings[row, "accuracy, points"]
    assert {name: v.value for name, v in leads.items()} == {"log10": 2.0, z: 2.0}
    assert measured.cells["Colon: SULDA less PLDA", "sparsity, points"].value == 49.0


def test_lengths_of_plda_directions() -> None:
    X, y = make_data((8, 9, 7))
    X[:, 1] *= 3.0
    lda = PenalizedLDA(0.1).fit(X, y)
    found = table2.plda_orthogonalities(X, y, lda.scalings_)
    within = np.mean([X[y == c].var(axis=0) * np.sum(y == c) for c in np.unique(y)], axis=0)
    D = within * 3 / len(X)
    S = np.cov(X, rowvar=False, bias=True)
    scaled = np.sqrt(D)[:, None] * lda.scalings_
    for name, G in zip(
        table2.LENGTHS,
        (lda.scalings_, lda.scalings_ / np.sqrt((lda.scalings_**2).sum(axis=0)),
         scaled / np.sqrt((scaled**2).sum(axis=0))),
    ):  # fmt: skip
        M = G.T @ S @ G - np.eye(2)
        assert found[name] == pytest.approx(np.sqrt(np.sum(M * M) / 2))
    assert len({round(value, 6) for value in found.values()}) == 3


def test_lengths_of_slda_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data((8, 9, 7))
    monkeypatch.setattr(table2, "read_halves", lambda *_, **__: (X, y, X, y))
    found = table2.work("SULDA", "Brain", "", 0, ridge=1e-3)["figures"]["SLDA"]["orthogonality"]
    G = _common.fit_slda(X, y, _common.fit_sulda(X, y), 1e-3).scalings_
    for name, size in (("scores of variance 1", np.ones(2)), ("|b| = 1", np.sqrt((G**2).sum(0)))):
        M = (G / size).T @ np.cov(X, rowvar=False, bias=True) @ (G / size) - np.eye(2)
        assert found[name] == pytest.approx(np.sqrt(np.sum(M * M) / 2))
    assert found["|b| = 1"] > 2 * found["scores of variance 1"]


def test_arrays_are_z_scored_sample_by_sample() -> None:
    X, _ = make_data((5, 5))
    Z = _common.z_scored(X)
    for i in range(10):
        np.testing.assert_allclose(Z[i], (X[i] - np.mean(X[i])) / np.std(X[i]))


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


def test_means_over_the_splits_are_judged() -> None:
    def part(*mixed: int) -> dict:
        measures = {m: {"training spread": 0.0, figure1.MIXED: n} for m, n in zip(METHODS, mixed)}
        return {"train": [], "test": [], "planes": {}, "measures": measures}

    METHODS = figure1.METHODS
    cells = figure1.measure({}, [part(4, 3, 1), part(6, 2, 2), part(5, 1, 0)]).cells
    assert cells["PLDA", figure1.MIXED].value == 5.0
    assert cells["PLDA, the split drawn", figure1.MIXED] == Value(4.0, n=1)
    lead = cells["SULDA less the better of PLDA and SLDA", figure1.MIXED]
    assert lead.value == pytest.approx(-1.0)  # of SLDA: -2, 0, -1
    assert lead.se == pytest.approx(1 / np.sqrt(3))
