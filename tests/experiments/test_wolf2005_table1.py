"""Table 1's pieces against scikit-learn's pipelines and own arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from eigensieve.experiments.wolf2005 import table1


@pytest.fixture
def cohort(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """30 samples and 60 genes, of which five tell a little; a gene is constant but for one."""
    rng = np.random.default_rng(0)
    code = np.repeat([0, 1], [18, 12])
    X = rng.normal(size=(30, 60))
    X[code == 1, :5] += 1.0
    X[:, 59] = 0.0
    X[0, 59] = 1.0
    monkeypatch.setattr(table1, "load_set", lambda name: (X, np.array(["a", "b"])[code]))
    return X, code


def left_out_errors(model: object, X: np.ndarray, code: np.ndarray) -> int:
    found = cross_val_predict(model, X, code, cv=LeaveOneOut())
    return int(np.sum(found != code))


def rank_by_ratio(X: np.ndarray, code: np.ndarray) -> np.ndarray:
    """|difference of means| / (sum of deviations), the largest first, column by column."""
    one, two = X[code == 0], X[code == 1]
    ratios = [
        abs(a.mean() - b.mean()) / (a.std() + b.std()) if a.std() + b.std() > 0 else -1.0
        for a, b in zip(one.T, two.T)
    ]
    return np.argsort(-np.array(ratios), kind="stable")


def ratio_is_wrong(
    X: np.ndarray, code: np.ndarray, train: np.ndarray, test: np.ndarray, count: int
) -> np.ndarray:
    genes = rank_by_ratio(X[train], code[train])[:count]
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    model.fit(X[np.ix_(train, genes)], code[train])
    return np.asarray(model.predict(X[np.ix_(test, genes)]) != code[test])


def test_raw_and_components_are_those_of_a_pipeline(
    cohort: tuple[np.ndarray, np.ndarray],
) -> None:
    X, code = cohort
    found = table1.work("breast met.", "PCA", genes=60, every=1, seed=0, components=[2, 8])
    raw = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    assert found["errors"]["RAW"] == left_out_errors(raw, X, code)
    for count in (2, 8):
        some = make_pipeline(StandardScaler(), PCA(count), SVC(kernel="linear"))
        assert found["errors"][f"PCA{count}"] == left_out_errors(some, X, code)
    assert found["errors"]["larger class always"] == 12
    assert found["turns"] == 30


def test_supervised_counts_by_hand(cohort: tuple[np.ndarray, np.ndarray]) -> None:
    X, code = cohort
    counts = [2, 5, 40]
    options: dict[str, Any] = {"genes": 60, "every": 3, "seed": 3, "counts": counts, "folds": 3}
    blocks = [table1.work("breast met.", "SNR", block=b, **options) for b in range(table1.BLOCKS)]
    errors, honest = np.zeros(3, dtype=int), 0
    for i in range(0, 30, 3):
        train = np.delete(np.arange(30), i)
        wrong = [ratio_is_wrong(X, code, train, np.array([i]), c)[0] for c in counts]
        inner = np.zeros(3)
        for fit, check in StratifiedKFold(3, shuffle=True, random_state=3).split(
            train, code[train]
        ):
            inner += [ratio_is_wrong(X, code, train[fit], train[check], c).sum() for c in counts]
        errors += wrong
        honest += wrong[int(np.argmin(inner))]
    assert np.sum([b["errors"] for b in blocks], axis=0).tolist() == errors.tolist()
    assert sum(b["honest"] for b in blocks) == honest
    assert sum(b["turns"] for b in blocks) == 10


def test_qalpha_sees_no_label_and_permutes_them(cohort: tuple[np.ndarray, np.ndarray]) -> None:
    X, code = cohort
    options: dict[str, Any] = {"genes": 60, "every": 1, "seed": 0, "counts": [60], "clusters": 2}
    found = table1.work("breast met.", "Q-alpha", labels=[0, 1, 2], **options)
    parts = [table1.work("breast met.", "Q-alpha", labels=[i], **options) for i in (0, 1, 2)]
    assert found["errors"] == [part["errors"][0] for part in parts]
    assert len({part["auto"] for part in parts}) == 1
    # all 60 genes: the true labels give RAW's errors
    raw = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    assert found["errors"][0][0] == left_out_errors(raw, X, code)
    assert found["errors"][1] != found["errors"][0]


def test_brain_is_floored_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[-5.0, 64.0, 7.0], [1024.0, 20.0, 8.0]])
    monkeypatch.setattr(table1, "load_set", lambda name: (X, np.array(["x", "y"])))
    found, code = table1.read("brain", 2)
    np.testing.assert_allclose(found, [[np.log2(20), 6.0], [10.0, np.log2(20)]])
    assert code.tolist() == [0, 1]
    np.testing.assert_array_equal(table1.read("breast met.", 3)[0], X)


@pytest.mark.usefixtures("data_dir")
def test_data_are_those_of_the_paper() -> None:
    X, code = table1.read("brain", 7129)
    assert (X.shape, sorted(np.bincount(code).tolist())) == ((60, 7129), [21, 39])
    X, code = table1.read("breast met.", 7129)
    assert (X.shape, sorted(np.bincount(code).tolist())) == ((78, 7000), [34, 44])


def test_counts_have_binomial_errors() -> None:
    found = table1.count_value(3, 12, 60)
    assert found.value == 15.0
    assert found.se == pytest.approx(60 * np.sqrt(0.25 * 0.75 / 12))


def test_measure_takes_the_fewest_errors(cohort: tuple[np.ndarray, np.ndarray]) -> None:
    protocol = {
        "genes": 60, "every": 1, "seed": 0, "counts": [2, 5, 5000], "components": [2],
        "clusters": 2, "supervised": ["SNR"], "folds": 0, "permutations": 3,
    }  # fmt: skip
    found = [
        {"errors": [4, 3], "honest": 0, "turns": 6} if task["method"] == "SNR"
        else {"errors": {"RAW": 9, "PCA2": 8}, "turns": 30} if task["method"] == "PCA"
        else {"errors": [[6, 5, 7], [9, 4, 7], [9, 9, 8], [8, 6, 6]], "auto": 9, "turns": 30}
        for task in table1.tasks(protocol)
    ]  # fmt: skip
    measured = table1.measure(protocol, found)
    cells = measured.cells
    assert cells["SNR", "brain"].value == 15  # five blocks of 3
    assert cells["Q-alpha", "brain"].value == 7
    assert cells["Q-alpha, best count", "brain"].value == 5
    assert cells["Q-alpha", "brain, p"].value == 3 / 4  # 7, 7 and 6 are as few
    assert cells["Q-alpha, best count", "brain, p"].value == 2 / 4  # 5 and 4
    less = cells["Q-alpha less the best of RAW and PCA", "brain, difference"]
    assert less.value == 7 - 8
    assert less.se == pytest.approx(np.sqrt(7 * 23 / 30 + 8 * 22 / 30))  # n p (1 - p), both
    assert ("SNR", "brain, honest") not in cells
    for place, values in {
        ("Q-alpha", "brain"): (7, 5),
        ("Q-alpha less the best of RAW and PCA", "brain, difference"): (7 - 8, 5 - 8),
    }.items():
        readings = {name: value.value for name, value in measured.readings[place].items()}
        assert readings == dict(zip(("the rule's count", "the best count"), values))
