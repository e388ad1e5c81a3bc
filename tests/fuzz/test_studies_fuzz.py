"""Studies of small tables keep to their ranges, and every figure can be drawn."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import eigensieve as es
from eigensieve import plots
from tests.fuzz.harness import Refused, attempt, cases, new_folder
from tests.fuzz.strategies import (
    MILD,
    ODD,
    SEEDS,
    WILD,
    Labelled,
    arrays,
    containers,
    labelled,
    labels,
)

DATA = st.data()
FOLDER = new_folder()


def drawn(display: Any) -> None:
    """The display plots, and the figure can be rendered."""
    shown = attempt(display.plot)
    if not isinstance(shown, Refused):
        attempt(shown.figure_.canvas.draw)
    plt.close("all")


def check_study(study: es.Study, p: int) -> None:
    table = study.table
    assert table["k"].tolist() == sorted(table["k"].tolist())
    for column in ("error", "balanced_error"):
        assert table[column].between(0, 1).all()
    assert (table["se"].isna() | (table["se"] >= 0)).all()
    assert (table["auc"].isna() | table["auc"].between(0, 1)).all()
    assert table["n_features"].between(0, p).all()  # a penalty may leave more than k
    if study.honest_error is not None:
        honest = study.honest_error
        assert 0 <= honest.low <= honest.error <= honest.high <= 1
        assert honest.confusion.sum() <= study.n_samples + 1e-9
    assert np.all((study.frequency >= 0) & (study.frequency <= 1))  # empty where cv is None
    assert study.best_k in study.ks
    assert len(study.selected) <= p
    assert {feature.index for feature in study.selected} <= set(range(p))
    for solution in study.optimality:
        assert solution.bound >= solution.objective * (1 - 1e-8)
    if study.null is not None:
        assert 0 < study.null.p_value <= 1


@cases(3, 25)
@given(labelled(MILD, (12, 24), (2, 6)), DATA)
def test_studies_keep_to_their_ranges(case: Labelled, data: st.DataObject) -> None:
    estimator = data.draw(
        st.sampled_from([None, None, es.RankedLDA(), es.PenalizedLDA(), es.GroupLassoLDA()])
    )
    study = attempt(
        es.study, case.X, case.y, estimator, ks=data.draw(st.sampled_from([(1,), (1, 2), (2, 9)])),
        cv=2, n_repeats=1,
        n_permutations=data.draw(st.sampled_from([0, 0, 0, 2])),
        score=data.draw(st.sampled_from(["error", "balanced_error"])),
    )  # fmt: skip
    if isinstance(study, Refused):
        return
    check_study(study, case.X.shape[1])
    if estimator is None or isinstance(estimator, es.RankedLDA):  # exactly k
        assert (study.table["n_features"] <= study.table["k"] + 1e-9).all()
        assert len(study.selected) <= study.best_k
    found = study.final_estimator.predict(case.X)
    assert set(found.tolist()) <= set(np.unique(case.y).tolist())
    for name in ("CVPathDisplay", "GapDisplay", "LoadingsDisplay", "ProjectionDisplay",
                 "CorrelationCircleDisplay", "StabilityDisplay"):  # fmt: skip
        drawn(getattr(plots, name).from_study(study))


@cases(12, 80)
@given(st.one_of(arrays(ODD, (12, 20), (1, 6)), arrays(WILD, (4, 14), (1, 6))), DATA)
def test_any_table_is_studied_or_refused(X: np.ndarray, data: st.DataObject) -> None:
    y = data.draw(labels(len(X), odd=data.draw(st.sampled_from([False, False, True]))))
    study = attempt(
        es.study, data.draw(containers(X)), y,
        ks=data.draw(st.sampled_from([(1,), (1, 2)] * 3 + [(), (0,), "12", (99,)])),
        cv=data.draw(st.sampled_from([2, 2, 2, 2, 3, "loo", 1, 50])), n_repeats=1,
        missing=data.draw(st.sampled_from(["error", "median", "median", "other"])),
    )  # fmt: skip
    if isinstance(study, Refused):
        return
    check_study(study, X.shape[1])
    for name in ("CVPathDisplay", "StabilityDisplay"):  # need folds, which few samples do not give
        display = attempt(getattr(plots, name).from_study, study)
        assert isinstance(display, Refused) == (study.cv is None)


@cases(1, 5)
@given(labelled(MILD, (12, 20), (2, 5)), SEEDS)
def test_comparisons_and_reports(case: Labelled, seed: int) -> None:
    comparison = attempt(
        es.compare, case.X, case.y, ["sparse-lda", "anova"], ks=(1, 2), cv=2, random_state=seed % 99
    )
    if isinstance(comparison, Refused):
        return
    for row in comparison.rows:
        assert row["error"] is None or 0 <= row["low"] <= row["error"] <= row["high"] <= 1
    drawn(plots.ComparisonDisplay.from_comparison(comparison))
    study = es.study(case.X, case.y, ks=(1, 2), cv=2, n_repeats=1)
    path = FOLDER / "report.html"
    attempt(study.report, path)
    assert "</html>" in path.read_text("utf-8")


NAMES = st.lists(st.text(max_size=12), min_size=6, max_size=6)


@cases(15, 100)
@given(DATA, NAMES, st.integers(1, 6))
def test_figures_of_odd_results(data: st.DataObject, names: list[str], n: int) -> None:
    """Nothing but zeros, one point, bounds that are infinite, names with anything in them."""

    def values(low: float = 0.0, high: float = 1.0) -> np.ndarray:
        return np.array(data.draw(st.lists(st.floats(low, high), min_size=n, max_size=n)))

    names, ks = names[:n], list(range(1, n + 1))
    kind = data.draw(st.sampled_from(sorted(plots.__all__)))
    if kind == "AlphaDisplay":
        drawn(plots.AlphaDisplay(values(-1), values() > 0.5))
    elif kind == "CVPathDisplay":
        drawn(plots.CVPathDisplay(ks, values(), values(), values(), data.draw(st.sampled_from(ks))))
    elif kind == "ComparisonDisplay":
        error = values()
        drawn(plots.ComparisonDisplay(names, error, error / 2, (1 + error) / 2))
    elif kind == "CorrelationCircleDisplay":
        drawn(plots.CorrelationCircleDisplay(names, np.column_stack([values(-1), values(-1)])))
    elif kind == "GapDisplay":
        objective = values(0, 1e3)
        bound = objective + values() * data.draw(st.sampled_from([0.0, 1.0, 1e6, np.inf]))
        bound = np.where(np.isnan(bound), np.inf, bound)
        drawn(plots.GapDisplay(ks, objective, bound, 1, values() > 0.5))
    elif kind == "LoadingsDisplay":
        drawn(plots.LoadingsDisplay(names, np.column_stack([values(-1), values(-9, 9)])))
    elif kind == "ProjectionDisplay":
        columns = data.draw(st.integers(1, 3))
        scores = np.column_stack([values(-1e6, 1e6) for _ in range(columns)])
        drawn(plots.ProjectionDisplay(scores, np.array(names)))
    else:
        drawn(plots.StabilityDisplay(names, values(), values() > 0.5))


@cases(4, 30)
@given(labelled(ODD, (8, 20), (1, 6)), st.sampled_from(["lda", "pca", "gloss"]))
def test_figures_of_fitted_estimators(case: Labelled, kind: str) -> None:
    models: dict[str, Any] = {
        "lda": es.SparseLDA(2),
        "pca": es.SparsePCA(2, n_features_to_select=2),
        "gloss": es.GroupLassoLDA(2),
    }
    model = attempt(models[kind].fit, case.X, case.y, at_door=True)
    if isinstance(model, Refused):
        return
    drawn(plots.LoadingsDisplay.from_estimator(model))
    drawn(plots.ProjectionDisplay.from_estimator(model, case.X, case.y))
    if kind == "lda":
        drawn(plots.CorrelationCircleDisplay.from_estimator(model, case.X))


@cases(20, 400)
@given(arrays(WILD, (2, 40), (1, 30)), SEEDS, DATA)
def test_copies_of_rows(X: np.ndarray, seed: int, data: st.DataObject) -> None:
    """Equal rows are of one group or each of its own; containers and units do not matter."""
    rng = np.random.default_rng(seed)
    X[rng.integers(len(X), size=len(X) // 4)] = X[rng.integers(len(X), size=len(X) // 4)]
    groups = attempt(es.copy_groups, X)
    if isinstance(groups, Refused):
        return
    assert groups.shape == (len(X),)
    assert groups.max() < len(X)
    _, first, member = np.unique(X, axis=0, return_index=True, return_inverse=True)
    for kind in range(first.size):
        own = groups[member.ravel() == kind]
        assert np.unique(own).size in (1, own.size)
    again = attempt(es.copy_groups, data.draw(containers(X, refusable=False)))
    assert isinstance(again, Refused) or np.array_equal(again, groups)
    scaled = attempt(es.copy_groups, X * np.ldexp(1.0, rng.integers(-20, 20, X.shape[1])))
    assert isinstance(scaled, Refused) or np.array_equal(scaled, groups)
