"""The cross-validations behind Moghaddam's Figures 2 to 4, against plain arithmetic."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from eigensieve.experiments.moghaddam2006 import _folds, figure2, figure3, figure4
from eigensieve.experiments.moghaddam2006._two_classes import DIRECT, WHITENED, TwoClasses
from eigensieve.search.solve import solve

SHAPES = [(40, 7), (14, 30)]  # more samples than variables, and fewer


def make_data(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns of different scales; the first ones differ between the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    X[:, :3] += y[:, None]
    return X * rng.uniform(0.5, 3.0, size=p), y


def pooled(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return sum(np.cov(X[y == c].T, bias=True) * np.mean(y == c) for c in (False, True))


def regularized(X: np.ndarray, y: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    B = pooled(X, y)
    values = linalg.eigvalsh(B)
    alpha = share * values[values > 1e-12 * values[-1]][0]
    return B + alpha * np.eye(len(B)), X[y].mean(axis=0) - X[~y].mean(axis=0)


class TestTwoClasses:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("share", [1e-3, 1.0])
    def test_covariance_and_ridge(self, shape, share):
        X, y = make_data(*shape)
        training = TwoClasses(X, y, share)
        B, d = regularized(X, y, share)
        np.testing.assert_allclose(training.pencil.B, B, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(training.difference, d)
        np.testing.assert_allclose(training.pencil.A, np.outer(d, d) / 4, atol=1e-12)

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize(("power", "vector"), [(WHITENED, "y"), (DIRECT, "x")])
    def test_threshold_is_the_solvers(self, shape, power, vector):
        X, y = make_data(*shape)
        training = TwoClasses(X, y, 1.0)
        order = training.threshold_order(power)
        B, d = regularized(X, y, 1.0)
        root = np.real(linalg.fractional_matrix_power(B, power))
        np.testing.assert_array_equal(order, np.argsort(-np.abs(root @ d)))
        for k in (1, 3, 6):
            solution = solve(training.pencil, k, solver="threshold", vector=vector)
            assert set(order[:k]) == set(solution.support)

    def test_rule_is_lda_with_equal_priors(self):
        X, y = make_data(60, 8)
        new, truth = make_data(200, 8, seed=1)
        support = np.array([1, 2, 5])
        lda = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.5])
        wrong = lda.fit(X[:, support], y).predict(new[:, support]) != truth
        found = TwoClasses(X, y, 1e-9).misclassified(new, truth, support)
        np.testing.assert_array_equal(found, wrong)
        assert 0 < wrong.sum() < 100


class TestFolds:
    def test_every_sample_is_tested_once(self):
        folds = _folds.cut_folds(33, seed=0, repetition=4)
        assert sorted(np.concatenate(folds)) == list(range(33))
        assert {len(fold) for fold in folds} == {6, 7}
        again = _folds.cut_folds(33, seed=0, repetition=4)
        assert all(map(np.array_equal, folds, again))
        assert not np.array_equal(folds[0], _folds.cut_folds(33, seed=0, repetition=5)[0])
        assert not np.array_equal(folds[0], _folds.cut_folds(33, seed=1, repetition=4)[0])

    def test_selection_sees_the_training_part_only(self):
        """The optimum, the greedy sets and the ranking of every fold, by brute force."""
        X, y = make_data(50, 6)
        choices = _folds.CrossValidation(X, y, [1, 3], [1, 3]).choose(0, 0)
        for fold, choice in zip(_folds.cut_folds(50, 0, 0), choices, strict=True):
            rest = np.setdiff1d(np.arange(50), fold)
            B, d = regularized(X[rest], y[rest], 1e-3)

            def score(S, B=B, d=d):
                S = list(S)
                return d[S] @ np.linalg.solve(B[np.ix_(S, S)], d[S])

            best = max(combinations(range(6), 3), key=score)
            assert tuple(choice.sets["ESLDA"][3]) == best
            assert choice.proved == [True, True]
            assert choice.reached[1] == (score(choice.sets["GSLDA"][3]) > 0.999999 * score(best))
            r = [abs(np.corrcoef(X[rest, j], y[rest])[0, 1]) for j in range(6)]
            np.testing.assert_array_equal(choice.sets["P-corr"][3], np.argsort(-np.array(r))[:3])
            np.testing.assert_array_equal(choice.held_out[0], X[fold])

    def test_counts(self):
        X, y = make_data(50, 6)
        choices = _folds.CrossValidation(X, y, [2, 6], []).choose(0, 0)
        counts = _folds.count_errors(choices)
        test = training = 0
        for fold in _folds.cut_folds(50, 0, 0):  # with all six variables: plain LDA
            rest = np.setdiff1d(np.arange(50), fold)
            B, d = regularized(X[rest], y[rest], 1e-3)
            middle = (X[rest][y[rest]].mean(axis=0) + X[rest][~y[rest]].mean(axis=0)) / 2
            wrong = ((X - middle) @ np.linalg.solve(B, d) > 0) != y
            test, training = test + wrong[fold].sum(), training + wrong[rest].sum()
        for method in ("ST", "ST on x", "P-corr", "GSLDA", _folds.BIASED):
            assert counts["sizes"][method] == [2, 6]
            assert counts["test"][method][1] == test
            assert counts["training"][method][1] == training

    def test_rates(self):
        one = {"sizes": {"a": [1, 2], "b": [1, 2]}, "training": {"a": [8, 4], "b": [0, 0]}}
        repetitions = [
            {**one, "test": {"a": [5, 4], "b": [3, 2]}},
            {**one, "test": {"a": [6, 4], "b": [2, 4]}},
        ]
        rates = _folds.ErrorRates.join(repetitions, 20)
        np.testing.assert_allclose(rates.at("a", 1), [25.0, 30.0])
        np.testing.assert_allclose(rates.at("a", 1, _folds.TRAINING), [10.0, 10.0])
        gap = rates.mean_difference("a", "b", [1, 2])  # (10 + 10)/2 and (20 + 0)/2
        assert gap.value == pytest.approx(10.0)
        assert gap.se == pytest.approx(0.0)
        curve = rates.curve("b")
        np.testing.assert_allclose(curve["error"], [12.5, 15.0])
        np.testing.assert_allclose(curve["se"], [2.5, 5.0])

    def test_blocks(self):
        tasks = _folds.repetition_blocks({"repetitions": 5, "block": 2, "seed": 3}, "seed")
        assert [task["repetitions"] for task in tasks] == [[0, 1], [2, 3], [4]]
        assert {task["seed"] for task in tasks} == {3}


def test_band_of_the_dropped():
    """Sonar: 60 variables, of which GSLDA keeps 30."""
    low, high = np.arange(30), np.arange(30, 60)
    keeps = [low, high, np.concatenate([low[:15], high[:15]])]
    choices = [_folds.Choice(None, (), {"GSLDA": {30: keep}}, [], []) for keep in keeps]
    assert figure2.dropped_above(choices) == pytest.approx(50.0)
    assert figure2.dropped_above(choices[:1]) == 100.0


def test_proofs_are_reported():
    methods = ["ST", "ST on x", "P-corr", "GSLDA", _folds.BIASED, "ESLDA"]
    sizes = {method: [2, 16, 33] for method in methods}
    errors = {method: [0, 0, 0] for method in methods} | {"ESLDA": [0, 39, 78]}
    one = {"sizes": sizes, "test": errors, "training": errors}
    found = [[{**one, "proved": 100.0, "reached": 50.0}], [{**one, "proved": 0.0, "reached": 0.0}]]
    cells = figure3.measure({"exact": [2, 16, 33]}, found).cells
    assert cells["ESLDA", figure3.PROVED].value == 50.0
    assert cells["GSLDA", figure3.REACHED].value == 25.0
    assert cells["ESLDA", figure3.GAIN].value == pytest.approx(-100 * 39 / 351)
    assert cells["ST minus ESLDA, all k", figure3.GAP].value == pytest.approx(-100 * 39 / 351)


class TestLeaveOneOut:
    def test_halving(self):
        X, y = make_data(30, 13)
        sets = figure4.halve_by_svm(TwoClasses(X, y, 1.0), [1, 2, 8])
        alive = np.arange(13)
        for k in (8, 4, 2, 1):  # one round of scikit-learn's RFE each
            rfe = RFE(SVC(kernel="linear", C=100), n_features_to_select=k, step=alive.size - k)
            alive = alive[rfe.fit(X[:, alive], y).support_]
            if k in sets:
                np.testing.assert_array_equal(sets[k], alive)
        assert list(sets) == [1, 2, 8]

    def test_choosing_on_all_samples_flatters(self, monkeypatch):
        """Pure noise: the biased protocol finds structure, the honest one none."""
        X = np.power(10.0, np.random.default_rng(0).normal(size=(24, 400)))
        y = np.where(np.arange(24) % 2 == 0, "tumour", "normal")
        monkeypatch.setattr(figure4, "load_set", lambda name: (X, y))
        protocol = {"samples": 24, "block": 12, "sizes": [1, 4, 8]}
        found = [figure4.work(**task) for task in figure4.tasks(protocol)]
        cells = figure4.measure(protocol, found).cells
        for method in ("P-corr, %", "GSLDA, %", "GSLDA, large alpha, %"):
            assert cells["biased, k = 8", method].value <= 15
            assert cells["honest, k = 8", method].value >= 30

    def test_measure(self):
        def block(gslda, rfe=None):
            own = {"GSLDA": gslda, "ST": gslda, "P-corr": gslda}
            own |= {"RFE-SVM": rfe} if rfe else {}
            return {"biased": own, "honest": own}

        protocol = {"sizes": [1, 16]}
        small = [block([[1, 0]], [[0, 0]]), block([[1, 0]], [[1, 1]])]
        cells = figure4.measure(protocol, [*small, block([[0, 0]]), block([[0, 1]])]).cells
        assert cells["biased, k = 1", "GSLDA, %"].value == 100
        assert cells["biased, k = 16", "RFE-SVM, %"].value == 50
        assert cells["honest, k = 16", "GSLDA, large alpha, %"].value == 50
        assert cells["RFE-SVM, biased", figure4.LOWEST].value == 50
        assert cells["GSLDA minus RFE-SVM, biased", figure4.AT_ONE].value == 50
        assert cells["GSLDA minus RFE-SVM, biased", figure4.AT_FEW].value == 50
