"""`es.compare`: the same folds for all, differences in pairs, and one failure stops nobody."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.studies.methods import METHODS
from eigensieve.studies.running import runner
from tests.studies.whole import as_bytes, make_table

X, y = make_table(45, 10, gaps=False)
QUICK: dict[str, Any] = {"ks": (1, 2), "cv": 3}
NAMES = ["anova", "pearson", "snr"]


@pytest.fixture(scope="module")
def found() -> es.Comparison:
    return es.compare(X, y, [*NAMES, "sparse-lda"], **QUICK)


class Failing(es.UncorrelatedLDA):
    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError("not today")


# ---------------------------------------------------------------- results


def test_every_method_is_a_study_of_its_own(found) -> None:
    assert list(found.results) == [*NAMES, "sparse-lda"]
    for name, study in found.results.items():
        alone = es.study(X, y, {name: METHODS[name].make(0)}, **QUICK, n_repeats=1)
        assert alone.honest_error is not None
        assert study.honest_error is not None
        np.testing.assert_array_equal(study.honest_error.wrong, alone.honest_error.wrong)
        assert study.best_k == alone.best_k
        assert study.table.equals(alone.table)
        assert [f.name for f in study.selected] == [f.name for f in alone.selected]
        assert list(study.path) == [study.best_k]


def test_the_same_folds_for_all(monkeypatch) -> None:
    keys: dict[str, list[str]] = {}
    run = runner.run_job

    def watched(job: Any, rows: Any, recipe: Any) -> Any:
        keys.setdefault(next(iter(recipe.settings)), []).append(job.key)
        return run(job, rows, recipe)

    monkeypatch.setattr(runner, "run_job", watched)
    es.compare(X, y, NAMES, **QUICK)
    assert keys["anova"] == keys["pearson"] == keys["snr"]
    assert len(keys["anova"]) == 3 + 9


def test_table(found) -> None:
    table = found.table
    assert list(table) == [
        "method", "title", "error", "low", "high", "difference", "difference_se",
        "balanced_error", "auc", "k", "n_features", "stability", "gap",
    ]  # fmt: skip
    assert sorted(table["method"]) == sorted(found.results)
    assert table["error"].is_monotonic_increasing
    for row in found.rows:
        study = found.results[row["method"]]
        assert study.honest_error is not None
        assert row["error"] == study.honest_error.error
        assert row["k"] == study.best_k
        assert row["features"] == [f.name for f in study.selected]
        assert row["title"] == METHODS[row["method"]].title
        assert row["gap"] == study.solution.gap


def test_differences_are_in_pairs(found) -> None:
    assert found.reference == "anova"
    base = found.results["anova"].honest_error
    assert base is not None
    for row in found.rows:
        other = found.results[row["method"]].honest_error
        assert other is not None
        each = other.wrong - base.wrong
        assert row["difference"] == pytest.approx(each.mean())
        assert row["difference_se"] == pytest.approx(each.std(ddof=1) / np.sqrt(45))


def test_differences_of_groups_by_hand() -> None:
    groups = np.arange(45) % 9
    found = es.compare(X, y, {"a": es.RankedLDA("anova"), "u": es.UncorrelatedLDA()}, **QUICK,
                       groups=groups)  # fmt: skip
    wrong = {}
    for name, study in found.results.items():
        assert study.honest_error is not None
        wrong[name] = study.honest_error.wrong
    each = wrong["u"] - wrong["a"]
    row = next(row for row in found.rows if row["method"] == "u")
    sums = [(each - each.mean())[groups == g].sum() for g in range(9)]
    assert row["difference"] == pytest.approx(each.mean())
    assert row["difference_se"] == pytest.approx(np.sqrt(9 / 8 * np.square(sums).sum()) / 45)
    assert found.how.startswith(("nested grouped 3-fold", "grouped 3-fold"))


def test_words_and_copies(found) -> None:
    assert repr(found) == "Comparison(anova, pearson, snr, sparse-lda)"
    assert found.how == "nested 3-fold cross-validation, k chosen inside"
    again = pickle.loads(pickle.dumps(found))
    assert again.table.equals(found.table)
    assert not found.unfinished
    assert not found.failures


def test_number_of_jobs_does_not_matter(found) -> None:
    other = es.compare(X, y, [*NAMES, "sparse-lda"], **QUICK, n_jobs=2)
    for name, study in found.results.items():
        assert as_bytes(study) == as_bytes(other.results[name])


def test_methods_that_choose_the_size() -> None:
    found = es.compare(X, y, ["plda", "anova"], **QUICK)
    rows = {row["method"]: row for row in found.rows}
    assert rows["plda"]["k"] == rows["plda"]["n_features"]
    assert found.reference == "plda"


def test_one_name_is_a_comparison_too() -> None:
    assert list(es.compare(X, y, "anova", **QUICK).results) == ["anova"]


# ---------------------------------------------------------------- failures


def test_one_failure_stops_nobody() -> None:
    methods = {"bad": Failing(), "good": es.RankedLDA("anova")}
    found = es.compare(X, y, methods, **QUICK)
    assert dict(found.failures) == {"bad": "not today"}
    assert list(found.results) == ["good"]
    assert found.reference == "good"
    assert found.table["method"].tolist() == ["good"]


def test_a_size_that_one_method_cannot_have() -> None:
    methods = {"all": es.SparseLDA(include=[0, 1, 2]), "anova": es.RankedLDA("anova")}
    found = es.compare(X, y, methods, **QUICK)
    assert "no k of [1, 2] lies in 3..10" in found.failures["all"]
    assert list(found.results) == ["anova"]


def test_nobody_succeeds() -> None:
    with pytest.raises(InputError, match="no method could be fitted; not today"):
        es.compare(X, y, {"bad": Failing()}, **QUICK)
    for options, words in (({"cv": 1}, "cv is 1"), ({"ks": (50,)}, r"no k of \[50\]"),
                           ({"score": "auc"}, "score is"), ({"n_repeats": 0}, "n_repeats"),
                           ({"ks": 3}, "ks is 3")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            es.compare(X, y, ["anova"], **{**QUICK, **options})


def test_names_of_methods() -> None:
    with pytest.raises(OptionError, match=r"no method is called 'sparse_lda'; close: sparse-lda"):
        es.compare(X, y, ["sparse_lda"])
    with pytest.raises(OptionError, match=r"no method is called 'x'; there are sparse-lda, gloss"):
        es.compare(X, y, ["x"])
    with pytest.raises(InputError, match="no method to compare"):
        es.compare(X, y, [])
    with pytest.raises(InputError, match="is no classifier"):
        es.compare(X, y, {"pca": es.SparsePCA()})


# ---------------------------------------------------------------- Ctrl-C and checkpoints


def press_at(stage: str, done: int) -> Any:
    def tell(*event: Any) -> None:
        if event[:2] == (stage, done):
            raise KeyboardInterrupt

    return tell


def test_ctrl_c() -> None:
    found = es.compare(X, y, NAMES, **QUICK, progress=press_at("pearson, cross-validation", 1))
    assert list(found.results) == ["anova"]
    assert list(found.unfinished) == ["pearson, snr not compared"]
    found = es.compare(X, y, NAMES, **QUICK, progress=press_at("pearson, nested check", 1))
    assert list(found.results) == ["anova", "pearson"]
    assert list(found.unfinished) == [
        "pearson: the error on new samples was not estimated", "snr not compared"
    ]  # fmt: skip
    last = found.rows[-1]
    assert (last["method"], last["error"], last["difference"]) == ("pearson", None, None)
    found = es.compare(X, y, NAMES, **QUICK, progress=press_at("snr, final models", 2))
    assert len(found.table) == 3
    assert [text.split(":")[0] for text in found.unfinished] == ["snr"]
    with pytest.raises(KeyboardInterrupt):
        es.compare(X, y, NAMES, **QUICK, progress=press_at("anova, cross-validation", 2))


def test_a_comparison_goes_on(tmp_path, found, monkeypatch) -> None:
    folder = tmp_path / "checkpoints"
    stop = press_at("snr, nested check", 4)
    names = [*NAMES, "sparse-lda"]
    assert es.compare(X, y, names, **QUICK, checkpoint=folder, progress=stop).unfinished
    again = es.compare(X, y, names, **QUICK, checkpoint=folder)
    for name, study in found.results.items():
        assert as_bytes(study) == as_bytes(again.results[name])
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{n}.jsonl" for n in names)
    monkeypatch.setattr(runner, "run_job", None)  # nothing is left to do
    es.compare(X, y, names, **QUICK, checkpoint=folder)


def test_checkpoints_that_cannot_be_used(tmp_path) -> None:
    es.compare(X, y, ["anova"], **QUICK, checkpoint=tmp_path)
    with pytest.raises(InputError, match=r"anova.jsonl: holds the results of another study"):
        es.compare(X + 1, y, ["pearson", "anova"], **QUICK, checkpoint=tmp_path)
    other = es.compare(X + 1, y, ["anova"], **QUICK, checkpoint=tmp_path, restart=True)
    assert list(other.results) == ["anova"]
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "no" / "where"):
        with pytest.raises(InputError, match="is no folder to write to"):
            es.compare(X, y, ["anova"], **QUICK, checkpoint=place)


def test_any_name_is_a_file(tmp_path) -> None:
    methods = {"a/b": es.RankedLDA("anova"), "..": es.RankedLDA("snr")}
    found = es.compare(X, y, methods, **QUICK, checkpoint=tmp_path)
    assert list(found.results) == ["a/b", ".."]
    assert len(list(tmp_path.iterdir())) == 2
