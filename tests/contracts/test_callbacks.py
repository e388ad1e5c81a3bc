"""Every estimator speaks scikit-learn's callback protocol, and so does every search."""

from __future__ import annotations

import pickle
import signal
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import eigensieve as es
from eigensieve.errors import OptionError
from tests.contracts.test_estimators import CLASSES

pytest.importorskip("sklearn.callback")
from sklearn.callback import ProgressBar, ScoringMonitor

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 30)), np.arange(60) % 3
X[:, :3] += Y[:, None]
HARD = es.Pencil(np.cov(RNG.normal(size=(30, 40)).T))  # 658,008 sets of 5: seconds
WATCHED = [model for model in CLASSES if not isinstance(model, es.PreparedClassifier)]


class Recorder:
    """Keeps what it hears, as (hook, task); in words, so that it can be pickled."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.lengths: dict[str, int | None] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        self.heard.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.heard.append(("begin", context.task_name))
        self.lengths[context.task_name] = context.max_subtasks

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.heard.append(("end", context.task_name))
        return self.answer(context)

    def teardown(self, estimator: Any, context: Any) -> None:
        self.heard.append(("teardown", context.task_name))

    def answer(self, context: Any) -> bool:
        return False

    def tasks(self, hook: str = "end") -> list[str]:
        return [name for heard, name in self.heard if heard == hook]


class Propagated(Recorder):
    max_propagation_depth = None


class Calling(Recorder):
    """Calls a function when a task whose name begins with these words has ended."""

    def __init__(self, name: str, call: Any) -> None:
        super().__init__()
        self.name, self.call = name, call

    def answer(self, context: Any) -> bool:
        return context.task_name.startswith(self.name) and self.call() is True


def fit(estimator: Any) -> Any:
    """Two views for the one that needs them."""
    return estimator.fit(X, X[:, ::-1] if isinstance(estimator, es.SparseCCA) else Y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", WATCHED, ids=lambda model: type(model).__name__)
def test_a_fit_is_a_task(model: Any) -> None:
    recorder = Recorder()
    watched = fit(clone(model).set_callbacks(recorder))
    assert recorder.heard[:2] == [("setup", "fit"), ("begin", "fit")]
    assert recorder.heard[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert sorted(recorder.tasks("begin")) == sorted(recorder.tasks("end"))
    alone = fit(clone(model).set_callbacks())
    assert set(vars(watched)) - set(vars(alone)) == {"_skl_callbacks"}
    np.testing.assert_array_equal(watched.get_support(), alone.get_support())


def test_the_phases_of_a_search_are_tasks_and_their_steps_too() -> None:
    recorder = Recorder()
    es.SparseLDA(10).set_callbacks(recorder).fit(X, Y)
    assert recorder.tasks()[-2:] == ["greedy forward", "fit"]
    assert 1 <= recorder.lengths["greedy forward"] <= 100
    assert recorder.lengths["fit"] is None  # how many phases there are turns out later


@pytest.mark.parametrize("model", [es.SparsePCA(2), es.SparseCCA(2)], ids=["pca", "cca"])
def test_components_are_tasks(model: Any) -> None:
    recorder = Recorder()
    fit(clone(model).set_params(solver="exact").set_callbacks(recorder))
    assert [name for name in recorder.tasks() if "component" in name] == [
        "component 1",
        "component 2",
    ]
    assert recorder.lengths["fit"] == 2


def test_components_that_are_found_together_are_no_tasks_each() -> None:
    recorder = Recorder()
    es.SparsePCA(2, n_features_to_select=3, solver="spca").set_callbacks(recorder).fit(X)
    assert "spca alternate" in recorder.tasks()
    assert "component 1" not in recorder.tasks()


def test_folds_are_steps() -> None:
    recorder = Recorder()
    es.GroupLassoLDACV(cv=3, n_jobs=2).set_callbacks(recorder).fit(X, Y)
    assert recorder.lengths["gloss folds"] == 3


def test_clone_and_pickle_keep_the_callbacks() -> None:
    recorder = Recorder()
    lda = es.SparseLDA(3).set_callbacks(recorder).fit(X, Y)
    assert clone(lda)._skl_callbacks == [recorder]
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_array_equal(again.predict(X), lda.predict(X))
    assert again._skl_callbacks[0].heard == recorder.heard


def test_a_grid_search_hands_its_callbacks_on() -> None:
    recorder = Propagated()
    grid = {"n_features_to_select": [2, 3]}
    search = GridSearchCV(es.SparseLDA(), grid, cv=2).set_callbacks(recorder).fit(X, Y)
    assert recorder.tasks().count("greedy forward") == 5  # four fits and the last one
    assert recorder.tasks("setup") == recorder.tasks("teardown") == ["fit"]
    assert not hasattr(search.best_estimator_, "_skl_callbacks")
    GridSearchCV(es.SparseLDA(), grid, cv=2, n_jobs=2).set_callbacks(ProgressBar()).fit(X, Y)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_a_callback_raises_is_the_callers(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    lda, recorder = es.SparseLDA(3), Calling("greedy forward", fail)
    with pytest.raises(error):
        lda.set_callbacks(recorder).fit(X, Y)
    assert recorder.heard[-1] == ("teardown", "fit")
    assert ("end", "fit") not in recorder.heard
    assert not {"_tasks", "_callback_fit_ctx"} & set(vars(lda))
    assert lda.set_callbacks().fit(X, Y).support_.sum() == 3


def test_a_callback_may_stop_the_search() -> None:
    """A step of the branch and bound that ends with True is its last one."""
    recorder = Calling("best", lambda: True)
    solution = es.solve(HARD, 5, "exhaustive", "lambda_max", callback=recorder)
    assert solution.status is es.Status.ITERATION_LIMIT
    solution.verify(HARD)
    pca = es.SparsePCA(1, n_features_to_select=5, solver="exhaustive").set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        pca.fit(RNG.normal(size=(60, 40)))
    assert pca.n_components_ == 1


def test_a_callback_may_leave_out_the_other_components() -> None:
    recorder = Calling("component 2", lambda: True)
    pca = es.SparsePCA(4, n_features_to_select=3).set_callbacks(recorder).fit(X)
    assert pca.n_components_ == 2


def test_ctrl_c_keeps_the_best_set_and_tears_down() -> None:
    once = iter([signal.SIGINT])
    recorder = Calling("best", lambda: [signal.raise_signal(sign) for sign in once])
    pca = es.SparsePCA(1, n_features_to_select=5, solver="exhaustive").set_callbacks(recorder)
    with pytest.raises(KeyboardInterrupt):
        pca.fit(RNG.normal(size=(60, 40)))
    assert pca.support_.sum() == 5
    assert recorder.heard[-1] == ("teardown", "fit")


def test_a_warning_points_to_the_line_of_the_user() -> None:
    for model in (es.SparseLDA(99), es.GroupLassoLDA(99), es.SparsePCA(1, n_features_to_select=99)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Y)
            model.set_callbacks(Recorder()).fit(X, Y)
        alone, watched = caught[: len(caught) // 2], caught[len(caught) // 2 :]
        assert [w.filename for w in watched] == [w.filename for w in alone]


def test_a_function_in_solver_options_hears_as_well() -> None:
    events: list[Any] = []
    recorder = Recorder()
    lda = es.SparseLDA(3, solver_options={"callback": events.append}).set_callbacks(recorder)
    lda.fit(X, Y)
    assert events
    assert "greedy forward" in recorder.tasks()
    with pytest.raises(ValueError, match="set all of them by set_callbacks"):
        lda.set_params(solver_options={"callback": Recorder()}).fit(X, Y)


def test_a_fitted_estimator_is_handed_over() -> None:
    monitor = ScoringMonitor(scoring="accuracy")
    lda = es.SparseLDA(3).set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs().data[-1]["accuracy"] == lda.score(X, Y)


PENCIL = es.lda_pencil(X, Y)
SEARCHES = {
    "solve": lambda callback: es.solve(PENCIL, 3, callback=callback),
    "solve_path": lambda callback: es.solve_path(PENCIL, [1, 2], callback=callback),
    "certify": lambda callback: es.certify(PENCIL, [0, 1, 2, 4], callback=callback),
    "gloss_path": lambda callback: es.gloss_path(X, Y, [0.5], callback=callback),
    "qalpha": lambda callback: es.qalpha(X, callback=callback),
    "basis_pursuit": lambda callback: es.basis_pursuit(X[:20], Y[:20], callback=callback),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_is_a_task(search: Any) -> None:
    recorder = Recorder()
    search(recorder)
    assert recorder.heard[:2] == [("setup", "search"), ("begin", "search")]
    assert recorder.heard[-2:] == [("end", "search"), ("teardown", "search")]
    assert len(recorder.lengths) > 2  # phases and steps
    search(ProgressBar())


def test_a_class_is_no_callback() -> None:
    with pytest.raises(OptionError, match=r"give an instance of it: Recorder\(\)"):
        es.solve(PENCIL, 3, callback=Recorder)


def test_many_steps_are_told_as_a_hundred() -> None:
    recorder = Recorder()
    es.solve(HARD, 5, "exhaustive", time_limit=1, callback=recorder)
    assert recorder.lengths["exhaustive search"] == 100
    steps = [name for name in recorder.tasks() if name.startswith("best")]
    assert len(steps) <= 100
