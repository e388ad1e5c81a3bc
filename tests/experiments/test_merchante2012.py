"""The pieces of Sanchez Merchante et al.'s tables and figure, each against other arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from scipy.spatial import distance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from eigensieve import GroupLassoLDA, GroupLassoLDACV, PenalizedLDA, SparseOptimalScoring
from eigensieve.datasets.witten2011 import make_population
from eigensieve.errors import InputError
from eigensieve.experiments.merchante2012 import _genes, _models, figure1, table1, table2

Rows = tuple[np.ndarray, np.ndarray]


def make_data(sizes: tuple[int, ...] = (18, 14, 10), p: int = 40, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(code.size, p))
    for k in range(len(sizes)):
        X[code == k, 4 * k : 4 * k + 4] += 1.2
    return X, code


def stub(features: int) -> _models.Model:
    """A model that uses so many features."""
    V = (np.arange(10) < features).astype(float)[:, None]
    return _models.Model(V, np.zeros(10), np.zeros((2, 10)), np.zeros(2))


# --- models along the penalties ---


@pytest.mark.parametrize("within", ["full", "diagonal"])
def test_gloss_models_classify_as_the_estimator(within: str) -> None:
    X, code = make_data()
    X_test, y_test = make_data((40, 40, 40), seed=1)
    models = _models.gloss_models(X, code, within)
    for alpha, model in zip(_models.HALVES[:4], models):
        for m in (1, 2):
            lda = GroupLassoLDA(alpha=alpha, within=within, n_components=m, rule="penalized").fit(
                X, code
            )
            assert model.errors(X_test, y_test)[m - 1] == pytest.approx(
                1 - lda.score(X_test, y_test)
            )
        assert model.selected.tolist() == lda.support_.tolist()
        assert model.settled


def last_useful_alpha(X: np.ndarray, code: np.ndarray) -> float:
    """The penalty beyond which the estimator refuses, because no feature is left."""
    low, high = 0.0, 2.0
    for _ in range(30):
        middle = (low + high) / 2
        try:
            PenalizedLDA(middle).fit(X, code)
            low = middle
        except InputError:
            high = middle
    return low


@pytest.mark.filterwarnings("ignore:the search ended early")  # it is slow where features vanish
def test_plda_models_are_nearest_means() -> None:
    X, code = make_data()
    X_test, y_test = make_data((40, 40, 40), seed=1)
    top = last_useful_alpha(X, code)
    models = _models.plda_models(X, code)
    assert len(models) == 10
    for share, model in zip(np.linspace(1.0, 0.1, 10), models):
        lda = PenalizedLDA(top * share).fit(X, code)
        assert model.selected.tolist() == lda.scalings_.any(axis=1).tolist()
        Z, Z_test = lda.transform(X), lda.transform(X_test)
        expected = [
            1 - NearestCentroid().fit(Z[:, :m], code).score(Z_test[:, :m], y_test)
            for m in range(1, Z.shape[1] + 1)
        ]
        assert model.errors(X_test, y_test).tolist() == pytest.approx(expected)
    assert models[0].selected.sum() < models[-1].selected.sum()


def test_slda_models_are_lda_in_the_space_of_the_first_directions() -> None:
    X, code = make_data()
    X_test, y_test = make_data((40, 40, 40), seed=1)
    for alpha, model in zip(_models.HALVES[:3], _models.slda_models(X, code)[:3]):
        slda = SparseOptimalScoring(alpha=alpha).fit(X, code)
        Z, Z_test = slda.transform(X), slda.transform(X_test)
        for m in (1, 2):
            lda = LinearDiscriminantAnalysis(solver="lsqr").fit(Z[:, :m], code)
            expected = 1 - lda.score(Z_test[:, :m], y_test)
            assert model.errors(X_test, y_test)[m - 1] == pytest.approx(expected, abs=1 / 120)


def test_choice_goes_to_the_larger_penalty_then_to_fewer_directions() -> None:
    first = np.array([[0.5, 0.4], [0.2, 0.2], [0.2, 0.1], [0.0, 0.0]])
    second = np.array([[0.5, 0.4], [0.4, 0.2], [0.2, 0.3]])  # this path ended
    assert _models.choose([first]) == (3, 1)
    assert _models.choose([first, second]) == (1, 2)  # .2, as at (2, 1) and (2, 2)


def test_path_ends_with_the_first_model_that_is_full() -> None:
    path = [stub(2), stub(5), stub(7), stub(9)]
    assert _models.end_at(path, 5) == path[:2]
    assert _models.end_at(path, 6) == path[:3]
    assert _models.end_at(path, 10) == path


def test_missing_directions_change_nothing() -> None:
    X, code = make_data()
    model = _models.gloss_models(X, code)[2]
    full, short = _models.path_errors([model, model.leading(1)], X, code)
    assert short.tolist() == [full[0], full[0]]


# --- table 1 ---


def test_figures_of_one_repetition() -> None:
    found = table1.work(simulation=3, seed=5, sizes=[40, 40, 100])
    rng = np.random.default_rng(5)
    population = make_population(3, rng)
    (X, y), (X_valid, y_valid), (X_test, y_test) = [population.draw(n, rng) for n in (40, 40, 100)]
    fits = [
        GroupLassoLDA(alpha=0.5**i, within="diagonal", n_components=m, rule="penalized").fit(X, y)
        for i in range(1, 8)
        for m in (1, 2, 3)
    ]
    best = max(fits, key=lambda lda: lda.score(X_valid, y_valid))  # the first of the best
    used = best.support_
    expected = [
        100 - 100 * best.score(X_test, y_test),
        used.sum(),
        best.n_components_,
        used[:100].sum(),
        used[100:].sum() / 4,
    ]
    assert found["methods"]["GLOSS-D"] == pytest.approx(expected)
    assert found["unsettled"] == 0


def test_claims_are_differences_to_the_next() -> None:
    table = {  # error, variables, directions, TPR, FPR; two repetitions
        "PLDA": [[10, 300, 3, 90, 60], [12, 320, 3, 94, 64]],
        "SLDA": [[30, 120, 3, 50, 20], [34, 130, 3, 60, 22]],
        "GLOSS": [[20, 100, 3, 45, 15], [22, 90, 3, 55, 14]],
        "GLOSS-D": [[11, 250, 3, 80, 40], [11, 260, 3, 86, 44]],
    }
    figures = {name: np.array(rows, dtype=float) for name, rows in table.items()}
    found = {name: values.tolist() for name, values in table1.claims(figures, best=False).items()}
    assert found == {
        # PLDA and GLOSS-D have the same mean: the first of equals; GLOSS is the best other
        "error of PLDA or GLOSS-D less the best other's": [-10, -10],
        "error of GLOSS less SLDA's": [-10, -12],
        "variables of GLOSS less the fewest others": [-20, -40],
        "TPR of PLDA less the best other": [10, 8],
        "FPR of PLDA less the largest other": [20, 20],
        "FPR of GLOSS less the least other": [-5, -8],
    }
    others = table1.claims(figures, best=True)
    assert others["FPR of PLDA less the least other"].tolist() == [45, 50]


# --- table 2 ---


def test_cross_validation_is_that_of_the_estimator() -> None:
    X, code = make_data((20, 16, 12), p=80, seed=3)
    splits = list(_genes.folds(code, 4))
    ours = _genes.cross_validate(_models.gloss_models, X, code, 4)
    i, m = _models.choose([errors for errors, _ in ours])
    lda = GroupLassoLDACV(_models.HALVES, cv=splits, rule="penalized").fit(X, code)
    theirs = np.moveaxis(lda.errors_, 2, 0)
    np.testing.assert_allclose([errors for errors, _ in ours], theirs)
    assert (_models.HALVES[i], m) == (lda.alpha_, lda.n_components_)


def test_claims_on_the_three_methods() -> None:
    table = {  # error, variables, directions; three splits
        "PLDA": [[10, 900, 4], [14, 800, 4], [12, 1000, 4]],
        "SLDA": [[20, 200, 4], [16, 260, 4], [21, 200, 4]],
        "GLOSS": [[15, 100, 4], [15, 120, 4], [12, 80, 4]],
        "GLOSS-D": [[1, 1, 4], [1, 1, 4], [1, 1, 4]],  # not of the table
    }
    found = table2.claims({name: np.array(rows, dtype=float) for name, rows in table.items()})
    assert found[table2.APART].value == pytest.approx(19 - 12)
    assert found[table2.APART].se == pytest.approx(np.std([10, 2, 9], ddof=1) / np.sqrt(3))
    assert found[table2.LESS].value == pytest.approx(14 - 12)
    assert found[table2.RATIO].value == pytest.approx(220 / 100)


def test_error_of_a_ratio_is_that_of_repeated_samples() -> None:
    rng = np.random.default_rng(0)
    below = rng.normal(100, 10, size=(4000, 25))
    above = 2 * below + rng.normal(0, 20, size=below.shape)
    values = [table2.ratio_value(a, b) for a, b in zip(above, below)]
    spread = np.std([float(value.value) for value in values])
    assert np.mean([value.se for value in values]) == pytest.approx(spread, rel=0.05)


def test_folds_share_out_every_class() -> None:
    _, code = make_data((23, 11, 9))
    left = [rows for _, rows in _genes.folds(code, 4)]
    assert sorted(np.concatenate(left).tolist()) == list(range(43))
    for k in range(3):
        counts = [np.count_nonzero(code[rows] == k) for rows in left]
        assert max(counts) - min(counts) <= 1
    for train, rows in _genes.folds(code, 4):
        assert sorted([*train, *rows]) == list(range(43))


def test_splits_have_as_many_test_rows_as_the_printed_errors_tell() -> None:
    code = np.repeat(np.arange(5), [15, 21, 15, 19, 16])  # Nakayama's classes
    splits = [_genes.split_rows(code, i, seed=0) for i in range(3)]
    for train, test in splits:
        assert (train.size, test.size) == (65, 21)
        assert sorted([*train, *test]) == list(range(86))
        assert np.bincount(code[test]).min() >= 3
    assert len({tuple(test) for _, test in splits}) == 3
    for printed, errors in ((20.95, 44), (25.71, 54), (20.48, 43)):
        assert round(100 * errors / 210, 2) == printed


def test_genes_are_standardised_by_the_training_rows() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(3.0, 2.0, (9, 4)), rng.normal(size=(5, 4))
    train[:, 2] = 1.0
    A, B = _genes.standardise(train, test)
    np.testing.assert_allclose(A.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(A.std(axis=0), [1, 1, 0, 1])
    np.testing.assert_allclose(B[:, 2], test[:, 2] - 1.0)
    np.testing.assert_allclose(B[:, 0], (test[:, 0] - train[:, 0].mean()) / train[:, 0].std())


def test_largest_classes_in_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.array(list("aaabbbccddddeeeefff"))
    X = np.arange(1.0, 1.0 + 2 * y.size).reshape(-1, 2)
    monkeypatch.setattr(_genes, "load_set", lambda name: (X, y))
    found, code, names = _genes.load_tumours("nakayama", genes=1)
    assert names == ["a", "b", "d", "e", "f"]
    np.testing.assert_allclose(2.0**found, X[y != "c", :1])
    assert [names[k] for k in code] == y[y != "c"].tolist()
    assert _genes.load_tumours("other")[2] == list("abcdef")


# --- figure 1 ---


def make_plane() -> Rows:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(5), [9, 8, 7, 6, 10])
    centres = np.array([[6.0, 0.0], [0.0, 6.0], [0.0, 0.0], [1.0, 0.5], [-0.5, 1.0]])
    return centres[group] + rng.normal(size=(group.size, 2)), group


def test_groups_are_numbered_by_their_distance() -> None:
    means = {"a": 0.0, "b": 30.0, "c": 1.0, "d": 2.5, "e": -20.0}
    code = np.repeat(np.arange(5), 2)
    X = np.array(list(means.values()))[code][:, None]
    group, names = figure1.number_groups(X, code, list(means))
    assert names == ["b", "e", "a", "c", "d"]
    assert [names[k] for k in group] == [list(means)[k] for k in code]


def test_separation_is_the_sum_of_the_eigenvalues() -> None:
    Z, group = figure1.among_the_rest(*make_plane())
    assert set(group) == {2, 3, 4}
    W, B = np.zeros((2, 2)), np.zeros((2, 2))
    for k in (2, 3, 4):
        own = Z[group == k]
        W += len(own) / len(Z) * np.cov(own.T, bias=True)
        B += len(own) / len(Z) * np.outer(d := own.mean(axis=0) - Z.mean(axis=0), d)
    assert figure1.separation(Z, group) == pytest.approx(linalg.eigvalsh(B, W).sum())


def test_measures_do_not_depend_on_the_axes() -> None:
    Z, group = make_plane()
    skewed = Z @ np.array([[3.0, 1.0], [-2.0, 0.1]]) + 5.0
    guesses = figure1.nearest(Z, group, Z)
    assert guesses.tolist() == figure1.nearest(skewed, group, skewed).tolist()
    assert figure1.separation(Z, group) == pytest.approx(figure1.separation(skewed, group))
    rest = np.concatenate([Z[group == k] - Z[group == k].mean(axis=0) for k in range(5)])
    means = [Z[group == k].mean(axis=0) for k in range(5)]
    apart = distance.cdist(Z, means, "mahalanobis", VI=np.linalg.inv(np.cov(rest.T)))
    assert guesses.tolist() == apart.argmin(axis=1).tolist()


def test_rows_that_are_wrong() -> None:
    group = np.array([0, 0, 1, 1, 2, 3, 4, 4])
    guesses = np.array([0, 1, 1, 4, 3, 3, 2, 4])
    assert figure1.confused(group, guesses) == pytest.approx(100 * 2 / 8)
    assert figure1.wrong_in_the_rest(group, guesses) == pytest.approx(100 * 2 / 4)


def test_every_penalty_is_a_reading() -> None:
    """SLDA's groups 3 to 5 lie together with the chosen penalty, and apart with another."""
    Z, group = make_plane()
    flat = Z.copy()
    flat[group >= 2] = np.random.default_rng(3).normal(size=(np.sum(group >= 2), 2))
    planes = {
        "GLOSS": dict.fromkeys(figure1.PENALTIES, Z),
        "SLDA": {name: flat if i == 0 else Z for i, name in enumerate(figure1.PENALTIES)},
    }
    found = [
        {
            "method": method, "alpha": 0.125, "group": group, "names": list("abcde"),
            "planes": {n: {"plane": plane, "variables": 9} for n, plane in shown.items()},
            "left out": [2.0, 50.0 if method == "SLDA" else 40.0],
        }
        for method, shown in planes.items()
    ]  # fmt: skip
    measured = figure1.measure({}, found)
    place = ("Nakayama: GLOSS less SLDA", figure1.SEPARATION)
    lead = figure1.separation(*figure1.among_the_rest(Z, group))
    lead -= figure1.separation(*figure1.among_the_rest(flat, group))
    assert [value.value for value in measured.readings[place].values()] == [lead, 0.0, 0.0]
    assert measured.cells[place].value == lead > 0
    assert measured.cells[place[0], "errors in 3 to 5, left out, %"].value == -10.0
    assert measured.series["SLDA"]["plane"] is flat
