"""The nested error against a double loop of scikit-learn pieces, sample by sample."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score
from sklearn.model_selection import (
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.studies.nested import HonestError
from tests.studies.intervals import ends
from tests.studies.seeds import seed_of

KS = (1, 2, 5)
LDA = es.SparseLDA(certificate="none")
TUNED = tuple(es.SparseLDA(shrinkage=s, certificate="none") for s in (0.05, 0.9))
PAIR = es.SparseLDA(2, certificate="none")


@dataclass
class Loop:
    """A literal double loop; ``outer`` and ``inner`` are splitters of scikit-learn."""

    X: np.ndarray
    y: np.ndarray
    models: Sequence[Any]
    outer: Any
    inner: Any
    ks: Sequence[int] = KS
    balanced: bool = False
    groups: np.ndarray | None = None
    predicted: np.ndarray = field(init=False)
    chosen: list[tuple[int, int]] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)

    def run(self) -> "Loop":
        self.predicted = self.y.copy()
        for train, test in self.parts(self.outer, np.arange(self.y.size)):
            setting, size = self.choose(train)
            self.chosen.append((setting, size))
            model = self.fit(train, setting, size)
            self.predicted[test] = model.predict(self.X[test])
            if np.unique(self.y[test]).size == 2:
                member = self.y[test] == model.classes_[1]
                self.areas.append(roc_auc_score(member, model.decision_function(self.X[test])))
        return self

    def parts(self, cv: Any, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        groups = None if self.groups is None else self.groups[rows]
        for train, test in cv.split(self.X[rows], self.y[rows], groups):
            yield rows[train], rows[test]

    def fit(self, rows: np.ndarray, setting: int, size: int) -> Any:
        model = self.models[setting].set_params(n_features_to_select=self.ks[size])
        return make_pipeline(StandardScaler(), model).fit(self.X[rows], self.y[rows])

    def wrong(self, train: np.ndarray, test: np.ndarray, setting: int, size: int) -> np.ndarray:
        return np.asarray(self.fit(train, setting, size).predict(self.X[test]) != self.y[test])

    def weights(self, rows: np.ndarray) -> np.ndarray:
        """1 for every sample, or what makes every class of these rows count alike."""
        if not self.balanced:
            return np.ones(self.y.size)
        labels = self.y[rows]
        counts = np.array([max(1, np.sum(labels == label)) for label in self.y])
        return rows.size / (np.unique(labels).size * counts)

    def choose(self, rows: np.ndarray, cv: Any = None) -> tuple[int, int]:
        """Least error of the settings for every k, each sample counted once; then the 1-SE rule."""
        parts, weights = list(self.parts(cv or self.inner, rows)), self.weights(rows)
        n = np.array([test.size for _, test in parts])
        path = []
        for size in range(len(self.ks)):
            folds = [
                np.array([
                    float((weights[test] * self.wrong(train, test, setting, size)).mean())
                    for train, test in parts
                ])
                for setting in range(len(self.models))
            ]  # fmt: skip
            means = [round(float((n * fold).sum() / n.sum()), 12) for fold in folds]
            setting = int(np.argmin(means))
            off = n / n.mean() * (folds[setting] - means[setting])
            se = np.sqrt(np.square(off).sum() / (len(parts) - 1) / len(parts))
            path.append((means[setting], se, setting))
        least = min(range(len(path)), key=lambda i: path[i][0])
        limit = path[least][0] + path[least][1] + 1e-11
        size = next(i for i, (mean, _, _) in enumerate(path) if mean <= limit)
        return path[size][2], size

    def check(self, found: HonestError) -> None:
        """Predictions, error, confusion and choices are the same."""
        wrong = self.predicted != self.y
        np.testing.assert_array_equal(found.wrong, wrong)
        assert found.error == pytest.approx(wrong.mean())
        assert found.n_samples == self.y.size
        np.testing.assert_allclose(found.confusion, confusion_matrix(self.y, self.predicted))
        expected = 1 - balanced_accuracy_score(self.y, self.predicted)
        assert found.balanced_error == pytest.approx(expected)
        assert found.chosen == self.chosen
        if self.areas:
            assert found.auc == pytest.approx(np.mean(self.areas))

    def check_interval(self, found: HonestError) -> None:
        """Wilson's, with the training sets, and as far off as the choice on all samples is."""
        rows = np.arange(self.y.size)
        final, parts = self.choose(rows, self.outer), list(self.parts(self.outer, rows))
        target = np.concatenate([self.wrong(train, test, *final) for train, test in parts]).mean()
        n_train = np.mean([train.size for train, _ in parts])
        expected = ends(found.error, rows.size, [n_train], target - found.error)
        assert (found.low, found.high) == pytest.approx(expected)


def make_data(seed: int, n: int = 45) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of which one is smaller, and a signal that several features share."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, "rare", "common")
    X = rng.normal(size=(n, 12)) * 3 + 50
    X[y == "rare", :4] += np.array([3.0, 2.5, 2.0, 2.0])
    return X, y


def folds(n: int) -> StratifiedKFold:
    return StratifiedKFold(n, shuffle=True, random_state=0)


def run(X: np.ndarray, y: np.ndarray, models: Any, **options: Any) -> HonestError:
    found = es.study(X, y, models, **{"ks": KS, "n_repeats": 1, "cv": 4, **options}).honest_error
    assert found is not None
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_k_is_chosen_inside(seed: int) -> None:
    X, y = make_data(seed)
    loop = Loop(X, y, [LDA], folds(4), folds(4)).run()
    found = run(X, y, LDA, n_repeats=2)  # further repeats do not enter
    loop.check(found)
    loop.check_interval(run(X, y, LDA))
    assert "nested 4-fold" in found.how
    assert float(found) == found.error


def test_k_and_setting_are_chosen_inside() -> None:
    X, y = make_data(2)
    loop = Loop(X, y, TUNED, folds(3), folds(3)).run()
    found = run(X, y, list(TUNED), cv=3)
    loop.check(found)
    loop.check_interval(found)
    assert len(set(loop.chosen)) > 1


def test_setting_is_chosen_inside_for_a_given_k() -> None:
    X, y = make_data(3)
    loop = Loop(X, y, TUNED, folds(3), folds(3), ks=(2,)).run()
    found = run(X, y, list(TUNED), cv=3, ks=(2,), k=2)
    loop.check(found)
    loop.check_interval(found)
    wide = run(X, y, list(TUNED), cv=3, k=2)  # other ks are shown, and not chosen
    np.testing.assert_array_equal(wide.wrong, found.wrong)


def test_balanced_error_chooses() -> None:
    differs = False
    for seed in (10, 11):
        X, y = make_data(seed)
        loop = Loop(X, y, [LDA], folds(3), folds(3), balanced=True).run()
        found = run(X, y, LDA, cv=3, score="balanced_error")
        loop.check(found)
        loop.check_interval(found)
        differs |= loop.chosen != Loop(X, y, [LDA], folds(3), folds(3)).run().chosen
    assert differs  # the score matters


def test_groups_stay_together_inside_and_outside() -> None:
    X, y = make_data(6, 60)
    groups = np.array([f"p{i}" for i in np.random.default_rng(0).integers(0, 20, 60)])
    cv = StratifiedGroupKFold(3, shuffle=True, random_state=0)
    loop = Loop(X, y, [LDA], cv, cv, groups=groups).run()
    found = run(X, y, LDA, cv=3, groups=groups)
    loop.check(found)
    assert "grouped 3-fold" in found.how


def test_leave_one_group_out() -> None:
    X, y = make_data(7, 48)
    groups = np.repeat(np.arange(8), 6).astype(str)
    inner = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    loop = Loop(X, y, [LDA], LeaveOneGroupOut(), inner, groups=groups).run()
    loop.check(run(X, y, LDA, cv="loo", groups=groups))


def test_a_given_k_has_the_error_of_plain_repeats() -> None:
    """Every sample is predicted twice; its error is the mean of both."""
    X, y = make_data(8)
    found = run(X, y, LDA, k=2, n_repeats=2)
    wrong, confusion = np.zeros(45), np.zeros((2, 2))
    for seed in (0, seed_of(0, 1)):
        guess = y.copy()
        for train, test in StratifiedKFold(4, shuffle=True, random_state=seed).split(X, y):
            model = make_pipeline(StandardScaler(), clone(PAIR)).fit(X[train], y[train])
            guess[test] = model.predict(X[test])
        wrong += (guess != y) / 2
        confusion += confusion_matrix(y, guess) / 2
    np.testing.assert_allclose(found.wrong, wrong)
    np.testing.assert_allclose(found.confusion, confusion)
    assert found.error == pytest.approx(wrong.mean())
    assert (found.chosen, found.n_samples) == ([], 45)
    assert found.how == "2 times 4-fold cross-validation, k fixed"
    assert (found.low, found.high) == pytest.approx(ends(found.error, 45, [45 * 3 / 4, 90]))


def test_interval_of_leave_one_out() -> None:
    X, y = make_data(12)
    found = run(X, y, LDA, k=2, cv="loo")
    assert (found.low, found.high) == pytest.approx(ends(found.error, 45, [44, 45]))


def test_interval_counts_groups_that_go_together_once() -> None:
    """Every sample three times: what three copies say is what one says (k fixed, no errors)."""
    X, y = make_data(13, 24)
    X[y == "rare"] += 100.0
    groups = np.repeat(np.arange(24), 3).astype(str)
    found = run(np.repeat(X, 3, axis=0), np.repeat(y, 3), LDA, k=2, groups=groups)
    assert found.error == 0.0
    assert (found.low, found.high) == pytest.approx(ends(0.0, 24, [18, 24]))


@pytest.mark.parametrize(
    "cv",
    [
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(5, test_size=0.3, random_state=0),
    ],
    ids=["repeated", "shuffled"],
)
def test_every_sample_counts_once_whatever_the_splitter(cv: Any) -> None:
    X, y = make_data(9)
    found = run(X, y, LDA, k=2, cv=cv)
    guesses: list[list[str]] = [[] for _ in y]
    for train, test in cv.split(X, y):
        model = make_pipeline(StandardScaler(), clone(PAIR)).fit(X[train], y[train])
        for i, guess in zip(test, model.predict(X[test])):
            guesses[i].append(guess)
    wrong = [np.mean(np.array(own) != label) for own, label in zip(guesses, y) if own]
    assert found.n_samples == len(wrong)
    assert found.error == pytest.approx(np.mean(wrong))
    np.testing.assert_array_equal(np.isnan(found.wrong), [not own for own in guesses])
    expected = np.zeros((2, 2))
    for own, label in zip(guesses, y):
        for guess in own:
            expected[int(label == "rare"), int(guess == "rare")] += 1 / len(own)
    np.testing.assert_allclose(found.confusion, expected)
    off = expected.sum() - np.trace(expected)
    assert found.error == pytest.approx(off / expected.sum())
    n_train = np.mean([train.size for train, _ in cv.split(X, y)])
    interval = ends(found.error, len(wrong), [n_train, sum(map(len, guesses))])
    assert (found.low, found.high) == pytest.approx(interval)
