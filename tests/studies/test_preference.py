"""The set that is preferred: by enumeration of all sets, in a double loop of our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.solution import Status
from eigensieve.studies import preference as module
from eigensieve.studies.plan import _code_of
from eigensieve.studies.running import runner
from tests.studies.intervals import ends
from tests.studies.test_nested import Loop, folds, make_data

LDA = es.SparseLDA(shrinkage=0.7, certificate="none")
NAMES = [f"f{j}" for j in range(12)]
COSTS = np.array([9.0, 1, 8, 2, 5, 5, 5, 5, 3, 3, 3, 3])
WITHIN = 0.2


def near_best(X: np.ndarray, y: np.ndarray, k: int) -> list[tuple[int, ...]]:
    """Every set within a share of the best log det(I + B^-1 A), the best one first."""
    Z = StandardScaler().fit_transform(X)
    labels = np.unique(y)
    own = np.array([Z[y == c].mean(axis=0) for c in labels])[np.searchsorted(labels, y)]
    within, between = (Z - own).T @ (Z - own), own.T @ own
    within = 0.3 * within + 0.7 * np.diag(np.diag(within))
    scores = {}
    for S in combinations(range(X.shape[1]), k):
        part = np.ix_(S, S)
        ratio = np.linalg.det(within[part] + between[part]) / np.linalg.det(within[part])
        scores[S] = float(np.log(ratio))
    best = max(scores.values())
    ordered = sorted(scores, key=lambda S: -scores[S])
    return [S for S in ordered if scores[S] >= (1 - WITHIN) * best]


def fit_on(X: np.ndarray, y: np.ndarray, S: Sequence[int]) -> Any:
    return make_pipeline(StandardScaler(), clone(LDA).set_params(
        n_features_to_select=len(S), include=list(S), effort=0
    )).fit(X, y)  # fmt: skip


@dataclass
class PreferringLoop(Loop):
    """In every outer fold the near-best sets of the training part, and the inner folds' choices."""

    rule: str = "stable"

    def run(self) -> PreferringLoop:
        self.predicted = self.y.copy()
        for train, test in self.parts(self.outer, np.arange(self.y.size)):
            setting, size = self.choose(train)
            self.chosen.append((setting, size))
            S = self.preferred(train, self.ks[size], list(self.parts(self.inner, train)))
            self.predicted[test] = fit_on(self.X[train], self.y[train], S).predict(self.X[test])
        return self

    def preferred(self, rows: np.ndarray, k: int, parts: list[Any]) -> tuple[int, ...]:
        sets = near_best(self.X[rows], self.y[rows], k)
        if self.rule == "cheap":
            return min(sets, key=lambda S: sum(COSTS[j] for j in S))
        counts = np.zeros(self.X.shape[1])
        for train, _ in parts:
            model = self.fit(train, 0, self.ks.index(k))[-1]
            counts[model.get_support(indices=True)] += 1
        return max(sets, key=lambda S: sum(counts[j] for j in S))


OPTIONS: dict[str, Any] = {"cv": 3, "n_repeats": 1, "within": WITHIN, "names": NAMES}


@pytest.mark.parametrize("rule", ["stable", "cheap"])
@pytest.mark.parametrize(("ks", "k"), [((1, 2, 4), "auto"), ((3,), 3)])
def test_the_nested_error_is_that_of_preferred_sets(rule: str, ks: Any, k: Any) -> None:
    X, y = make_data(5)
    loop = PreferringLoop(X, y, [LDA], folds(3), folds(3), ks=ks, rule=rule).run()
    costs = COSTS if rule == "cheap" else None
    study = es.study(X, y, LDA, ks, k=k, prefer=rule, costs=costs, **OPTIONS)
    found = study.honest_error
    assert found is not None
    np.testing.assert_array_equal(found.wrong, loop.predicted != y)
    assert found.chosen == (loop.chosen if k == "auto" else [])
    is_nested = k == "auto" or rule == "stable"
    assert found.how.endswith(
        "preferred set chosen inside" if is_nested else "a set preferred in every training part"
    )
    check_interval(found, loop, X, y, k)
    assert study.calibration is not None
    rows = np.arange(y.size)
    expected = loop.preferred(rows, study.best_k, list(loop.parts(folds(3), rows)))
    assert sorted(feature.index for feature in study.selected) == sorted(expected)
    assert study.near_optimal is not None
    assert study.near_optimal.n_sets == len(near_best(X, y, study.best_k))


def check_interval(found: Any, loop: PreferringLoop, X: np.ndarray, y: np.ndarray, k: Any) -> None:
    """As far off as the choice of k is: for best sets, in the outer folds and on all samples."""
    parts = list(loop.parts(folds(3), np.arange(y.size)))
    n_train = np.mean([train.size for train, _ in parts])
    if k != "auto":
        expected = ends(found.error, y.size, [n_train, y.size])
    else:
        plain = Loop(X, y, [LDA], folds(3), folds(3), ks=loop.ks).run()
        final = plain.choose(np.arange(y.size), folds(3))
        target = np.concatenate([plain.wrong(train, test, *final) for train, test in parts]).mean()
        expected = ends(found.error, y.size, [n_train], target - np.mean(plain.predicted != y))
    assert (found.low, found.high) == pytest.approx(expected)


def test_the_preferred_model_is_a_model_like_any_other(tmp_path) -> None:
    X, y = make_data(5)
    study = es.study(X, y, LDA, (3,), k=3, prefer="cheap", costs=COSTS, **OPTIONS)
    S = near_best(X, y, 3)
    cheapest = min(S, key=lambda one: COSTS[list(one)].sum())
    assert cheapest != S[0]
    plain = fit_on(X, y, cheapest)
    np.testing.assert_array_equal(study.predict(X), plain.predict(X))
    study.save_model(tmp_path / "model.json")
    loaded = es.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X[:, sorted(cheapest)]), study.predict(X))
    solution, found = study.solution, study.near_optimal
    assert found is not None
    assert not solution.is_certified
    assert solution.bound == pytest.approx(found.scores[0], rel=1e-6)
    paid, best = COSTS[list(cheapest)].sum(), COSTS[list(S[0])].sum()
    text = study.preferred.describe()
    assert text.startswith(f"Of all {len(S)} panels within 20 % of the best, the cheapest one")
    assert f"it costs {paid:g}, the best one {best:g}" in text
    assert text.endswith(
        f"loses {100 * found.losses[study.preferred.place]:.2f} % of the class separation."
    )


def test_a_function_of_names() -> None:
    X, y = make_data(5)

    def late(features: list[str]) -> float:
        return abs(sum(int(name[1:]) for name in features) - 11.0)

    study = es.study(X, y, LDA, (3,), k=3, prefer=late, **OPTIONS)
    expected = min(near_best(X, y, 3), key=lambda S: abs(sum(S) - 11))
    assert expected != near_best(X, y, 3)[0]
    assert sorted(feature.index for feature in study.selected) == sorted(expected)
    assert f"its value is {abs(sum(expected) - 11)}, that of" in study.preferred.describe()


def test_the_best_one_may_be_preferred_and_there_may_be_no_other() -> None:
    X, y = make_data(5)
    options = {**OPTIONS, "within": 0.0}
    study = es.study(X, y, LDA, (3,), k=3, prefer="stable", **options)
    assert "there was nothing to prefer" in study.preferred.describe()
    assert study.solution.is_certified
    costs = np.ones(12)
    study = es.study(X, y, LDA, (3,), k=3, prefer="cheap", costs=costs, **OPTIONS)
    assert "the best one itself is the cheapest one: it costs 3." in study.preferred.describe()
    assert tuple(sorted(f.index for f in study.selected)) == near_best(X, y, 3)[0]


def test_all_features_leave_nothing_to_prefer() -> None:
    X, y = make_data(5)
    study = es.study(X[:, :3], y, LDA, (3,), k=3, prefer="stable", cv=3, n_repeats=1)
    assert study.preferred is None
    assert study.honest_error is not None


def test_results_do_not_depend_on_processes_and_a_checkpoint_goes_on(tmp_path) -> None:
    X, y = make_data(5)

    def run(**more: Any) -> es.Study:
        return es.study(X, y, LDA, (1, 2, 4), prefer="stable", **OPTIONS, **more)

    first = run(checkpoint=tmp_path / "file")
    kept = (tmp_path / "file").read_bytes()
    again = run(checkpoint=tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == kept  # nothing was fitted anew
    other = run(n_jobs=2)
    for study in (again, other):
        np.testing.assert_array_equal(study.honest_error.wrong, first.honest_error.wrong)
        assert [f.index for f in study.selected] == [f.index for f in first.selected]
    with pytest.raises(InputError, match="another"):
        es.study(X, y, LDA, (1, 2, 4), checkpoint=tmp_path / "file", **OPTIONS)


def test_ctrl_c_among_preferred_sets_leaves_no_error_estimate(monkeypatch) -> None:
    X, y = make_data(5)
    run_job = runner.run_job

    def interrupted(job: Any, *rest: Any) -> Any:
        if job.choice is not None:
            raise KeyboardInterrupt
        return run_job(job, *rest)

    monkeypatch.setattr(runner, "run_job", interrupted)
    study = es.study(X, y, LDA, (1, 2, 4), prefer="stable", **OPTIONS)
    assert study.honest_error is None
    assert "the error on new samples was not estimated" in study.unfinished


def test_ctrl_c_in_the_last_list_keeps_the_best_set(monkeypatch) -> None:
    X, y = make_data(5)
    plain = es.study(X, y, LDA, (3,), k=3, **OPTIONS)

    def interrupted(*args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    found = es.study(X, y, LDA, (3,), k=3, prefer="stable", **OPTIONS).honest_error
    monkeypatch.setattr("eigensieve.studies.final.take_preferred", interrupted)
    study = es.study(X, y, LDA, (3,), k=3, prefer="stable", **OPTIONS)
    assert study.unfinished == ("the search for other sets as good was interrupted",)
    assert [f.index for f in study.selected] == [f.index for f in plain.selected]
    assert study.honest_error.error == found.error


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"prefer": "nice"}, OptionError, "must be 'stable', 'cheap' or a function"),
        ({"prefer": "cheap"}, OptionError, "costs belong together"),
        ({"prefer": "stable", "costs": COSTS}, OptionError, "belong together"),
        ({"costs": COSTS}, OptionError, "costs are for prefer='cheap'"),
        ({"prefer": "cheap", "costs": COSTS[:5]}, InputError, "must have 12 numbers"),
        ({"prefer": "cheap", "costs": {"f0": 1}}, InputError, "costs names 1 features"),
        ({"prefer": "stable", "within": 2}, OptionError, "within is 2"),
        ({"prefer": lambda features: float("nan")}, InputError, "must give a finite number"),
        ({"prefer": "stable", "estimator": es.GroupLassoLDA()}, InputError, "has none"),
        ({"prefer": lambda features: None}, InputError, "it gave None"),
        ({"prefer": lambda features: "3"}, InputError, "it gave '3'"),
        ({"prefer": np.ones(3)}, OptionError, "must be 'stable', 'cheap' or a function"),
        ({"prefer": "stable", "cv": 3, "y": "small"}, InputError, "which set is stable"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options: dict[str, Any], error: Any, words: str) -> None:
    X, y = make_data(5)
    given = {"estimator": LDA, **OPTIONS, **options}
    if given.pop("y", None) == "small":  # two samples of a class, in one group: no folds
        y = np.where(np.arange(y.size) < 2, "rare", "common")
        given["groups"] = np.maximum(np.arange(y.size), 1)
    with pytest.raises(error, match=words):
        es.study(X, y, ks=(3,), k=3, **given)


def test_of_a_list_that_is_not_complete_it_says_what_is_known() -> None:
    X, y = make_data(5)
    study = es.study(X, y, LDA, (3,), k=3, prefer="stable", **OPTIONS)
    cut = replace(study.near_optimal, is_complete=False)
    assert (
        "panels within 20 % of the best that were found"
        in replace(study.preferred, found=cut).describe()
    )


def test_a_small_class_is_enough_for_what_needs_no_resamples() -> None:
    X, y = make_data(5)
    y = np.where(np.arange(y.size) < 2, "rare", "common")
    options = {**OPTIONS, "cv": 2}
    study = es.study(X, y, LDA, (3,), k=3, prefer="cheap", costs=COSTS, **options)
    assert study.honest_error is not None
    with pytest.raises(InputError, match="which set is stable"):
        es.study(X, y, LDA, (3,), k=3, prefer="stable", **options)


def test_ctrl_c_inside_a_list_ends_the_fold(monkeypatch) -> None:
    """The list takes it for a limit; a fold that preferred among a part of it would be wrong."""
    X, y = make_data(5)
    listed = module.list_near_optimal

    def cut(*args: Any) -> Any:
        return replace(listed(*args), is_complete=False, status=Status.INTERRUPTED)

    monkeypatch.setattr(module, "list_near_optimal", cut)
    study = es.study(X, y, LDA, (1, 2, 4), prefer="stable", **OPTIONS)
    assert study.honest_error is None
    assert "the error on new samples was not estimated" in study.unfinished


def test_it_is_said_where_nothing_was_preferred_or_figures_are_of_other_sets() -> None:
    X, y = make_data(5)
    every = es.study(X[:, :3], y, LDA, (3,), k=3, prefer="stable", cv=3, n_repeats=1)
    assert any(note.startswith("No set was preferred") for note in every.notes)
    other = es.study(X, y, LDA, (3,), k=3, prefer="cheap", costs=COSTS, **OPTIONS)
    assert any("are those of the best set of every k" in note for note in other.notes)
    assert "allowed" not in other.preferred.describe()
    kept = LDA.set_params(include=["f0"])
    try:
        forced = es.study(X, y, kept, (3,), k=3, prefer="cheap", costs=COSTS, **OPTIONS)
    finally:
        kept.set_params(include=())
    assert " allowed panels within 20 % of the best" in forced.preferred.describe()


def test_very_small_values_are_told_apart() -> None:
    X, y = make_data(5)
    study = es.study(X, y, LDA, (3,), k=3, prefer="cheap", costs=1e-13 * COSTS, **OPTIONS)
    cheapest = min(near_best(X, y, 3), key=lambda S: COSTS[list(S)].sum())
    assert sorted(feature.index for feature in study.selected) == sorted(cheapest)


def test_a_report_names_what_was_chosen_anew(tmp_path) -> None:
    X, y = make_data(5)
    study = es.study(X, y, LDA, (2, 3, 4), k=3, prefer="cheap", costs=COSTS, **OPTIONS)
    study.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the preferred set was chosen anew in each training part" in page
    assert "The selected set was preferred to better ones" in page
    assert "final choice of<" not in page


CODE = "def rule(names):\n    return sum(len(name) * {factor} for name in names)\n"


def test_a_function_is_known_again_by_what_it_does() -> None:
    """Not by where its parts lie in memory; edited, it is another one, also inside an object."""

    def hashed(factor: int) -> str:
        space: dict[str, Any] = {}
        exec(CODE.format(factor=factor), space)
        return repr(_code_of(space["rule"]))

    assert hashed(1) == hashed(1) != hashed(2)
    assert _code_of(partial(len, [1])) != _code_of(partial(len, [2]))

    class Rule:
        def __call__(self, names: list[str]) -> float:
            return float(len(names))

    assert _code_of(Rule()) is not None
