"""Our own question: choices, gaps, paired errors and verdicts, against plain arithmetic."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import f_oneway

from eigensieve import lda_pencil
from eigensieve.experiments.catalogue import find_experiments
from eigensieve.experiments.own import _common, gaps, payoff
from eigensieve.experiments.values import Value

S = 0.5


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    """Two classes; correlated features of which a few differ."""
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b"], [18, 14])
    X = rng.normal(size=(32, 9)) @ (np.eye(9) + 0.6 * rng.normal(size=(9, 9)))
    X[y == "b", :4] += [1.5, 1.0, 0.8, 0.5]
    return X, y


def score(X: np.ndarray, y: np.ndarray, chosen: tuple[int, ...] | np.ndarray, s: float) -> float:
    """d'B^-1 d of the chosen columns, B shrunk, A = the between-class scatter over n."""
    Z = X[:, list(chosen)]
    one, other = Z[y == "a"], Z[y == "b"]
    n = len(Z)
    W = ((one - one.mean(0)).T @ (one - one.mean(0))) + (other - other.mean(0)).T @ (
        other - other.mean(0)
    )
    B = (1 - s) * W / n + s * np.diag(np.diag(W / n))
    d = one.mean(0) - other.mean(0)
    return float(len(one) * len(other) / n**2 * d @ np.linalg.solve(B, d))


def best_of_all(X: np.ndarray, y: np.ndarray, k: int, s: float) -> tuple[float, set[int]]:
    value, chosen = max((score(X, y, c, s), c) for c in combinations(range(X.shape[1]), k))
    return value, set(chosen)


def test_the_optimum_is_that_of_brute_force(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    pencil = lda_pencil(X, y, shrinkage=S)
    for k in (2, 3, 5):
        value, chosen = best_of_all(X, y, k, S)
        found = _common.find_optimum(pencil, k, 10_000)
        assert set(found.support.tolist()) == chosen
        assert _common.limit_of(found) == pytest.approx(value, rel=1e-9)


def test_the_bound_stands_in_where_nothing_is_proved() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 60)), np.repeat(["a", "b"], 20)
    found = _common.find_optimum(lda_pencil(X, y, shrinkage=0.1), 8, 1)
    assert not found.is_certified
    assert _common.limit_of(found) == found.bound > found.objective


def test_rivals_choose_as_they_say(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    pencil = lda_pencil(X, y, shrinkage=S)
    F = [f_oneway(x[y == "a"], x[y == "b"]).statistic for x in X.T]
    ranked = _common.choose(X, y, pencil, [2, 4], "ANOVA")
    assert set(ranked[4].tolist()) == set(np.argsort(F)[-4:].tolist())
    forward: list[int] = []
    for _ in range(4):
        rest = [j for j in range(9) if j not in forward]
        forward.append(max(rest, key=lambda j: score(X, y, (*forward, j), S)))
    found = _common.choose(X, y, pencil, [2, 4], _common.FORWARD)
    assert set(found[4].tolist()) == set(forward)
    assert set(found[2].tolist()) == set(forward[:2])
    for rival in _common.RIVALS:
        chosen = _common.choose(X, y, pencil, [3], rival)[3]
        assert _common.separation(pencil, chosen) == pytest.approx(score(X, y, chosen, S))


def test_select_gives_gaps_to_the_best_set(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    supports, found = payoff.select(X, y, [2, 3], S, 10_000)
    assert found.shape == (len(payoff.METHODS), 2)
    for row, values in zip(supports, found):
        for k, chosen, value in zip((2, 3), row, values):
            expected = 100 * (best_of_all(X, y, k, S)[0] / score(X, y, chosen, S) - 1)
            assert value == pytest.approx(expected, abs=1e-4)
    assert found[1:].max() > 1  # a rival that is not optimal: the comparison can fail


def test_a_gap_is_a_percentage_and_round_off_is_none() -> None:
    assert _common.gap(3.0, 2.0) == pytest.approx(50.0)
    assert _common.gap(2.0 * (1 + 1e-7), 2.0) == 0.0
    assert _common.gap(2.0 * (1 + 1e-5), 2.0) == pytest.approx(1e-3)


def test_the_default_states_its_gap_in_eigenvalues(
    table: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaps, "load", lambda name: table)
    found = gaps.use_default("any", 3, 10_000)
    best, _ = best_of_all(*table, 3, found["shrinkage"])
    assert found["exact"] == pytest.approx(best, rel=1e-6)
    assert found["greedy"] <= best * (1 + 1e-9) <= found["root"] * (1 + 2e-9)


def test_columns_are_found_by_name_accession_and_number() -> None:
    names = ["A1_at", "B2_rna1_s_at", "H.7", "C3_at", "H.7", "H.7  "]
    found = gaps.find_columns(names, ["H.7.2", "B2", "C3_at", "H.7", "missing"])
    assert found.tolist() == [1, 2, 3, 5]


def test_lists_have_as_many_genes_as_their_names_say() -> None:
    (experiment,) = find_experiments(["own/gaps"])
    lists = experiment.protocols["full"]["lists"]
    assert lists
    for wanted in lists:
        count = int(wanted["name"].split(",")[1].split()[0])
        assert len(set(wanted["features"])) == len(wanted["features"]) == count


def test_paired_errors_are_corrected_for_shared_samples() -> None:
    found = payoff.paired(np.array([1.0, 2.0, 6.0]), 0.8)
    assert found.value == pytest.approx(3.0)
    assert found.se == pytest.approx(np.sqrt((1 / 3 + 0.8) * 7.0))
    assert payoff.paired(np.array([4.0]), 0.8) == Value(4.0)
    whole = payoff.pool([Value(1.0, 3.0), Value(2.0, 4.0)])
    assert (whole.value, whole.se) == (pytest.approx(1.5), pytest.approx(2.5))


@pytest.mark.parametrize(
    ("value", "se", "expected"),
    [
        (2.1, 1.0, "better"),
        (-2.1, 1.0, "worse"),
        (1.9, 1.0, "cannot be told"),
        (0.2, 0.3, "equal"),
        (0.0, 0.6, "cannot be told"),
        (5.0, None, "cannot be told"),
    ],
)
def test_verdicts(value: float, se: float | None, expected: str) -> None:
    assert payoff.verdict(Value(value, se), 1.0) == expected


def test_correlation_of_gap_and_error_at_equal_k() -> None:
    rng = np.random.default_rng(1)
    found_gaps, errors = rng.normal(size=(6, 5, 2)), rng.normal(size=(6, 5, 2))
    errors[:, :, 1] += 100  # what all methods share at a k must not count

    def plain(keep: list[int]) -> float:
        parts = [a[keep].mean(0) - a[keep].mean(0).mean(0) for a in (found_gaps, errors)]
        return float(np.corrcoef(parts[0].ravel(), parts[1].ravel())[0, 1])

    left = np.array([plain([j for j in range(6) if j != i]) for i in range(6)])
    found = payoff.correlation(found_gaps, errors)
    assert found.value == pytest.approx(plain(list(range(6))))
    assert found.se == pytest.approx(np.sqrt(5 / 6 * np.sum((left - left.mean()) ** 2)))


def test_the_nested_error_is_that_of_the_k_chosen_inside() -> None:
    protocol = {
        "sets": ["colon"], "ks": [5, 10], "splits": 2, "seed": 0, "folds": 2, "shrinkage": S,
        "max_nodes": 1, "margin": 1.0,
    }  # fmt: skip
    m = len(payoff.METHODS)
    errors = [[[0.1, 0.2]] + [[0.3, 0.5]] * (m - 1), [[0.2, 0.4]] + [[0.4, 0.6]] * (m - 1)]
    inner = [[[0.2, 0.1]] * m, [[0.1, 0.1]] * m]  # k = 10, then k = 5, the smaller of equals
    found = [
        {"errors": e, "gaps": [[0.0, 0.0]] + [[2.0, 0.0]] * (m - 1), "inner": i, "ratio": 1.0}
        for e, i in zip(errors, inner)
    ]
    cells = payoff.measure(protocol, found).cells
    assert cells["Colon: optimum", "nested error, %"].value == pytest.approx(20.0)
    assert cells["Colon: lasso", "nested error, %"].value == pytest.approx(45.0)
    assert cells["Colon: lasso", payoff.GAIN].value == pytest.approx((25 + 20) / 2)
    assert cells["All sets: lasso", payoff.NESTED_GAIN].value == pytest.approx(25.0)
    assert cells["Colon: lasso", "k chosen"].value == pytest.approx(7.5)
    assert cells["Colon: lasso", "gap, %"].value == pytest.approx(1.0)
    # one of two k in either split: over splits, which are alike, there is no spread
    assert cells["Colon: lasso", "optimal, %"].value == pytest.approx(50.0)
    assert cells["Colon: lasso", "optimal, %"].se == pytest.approx(0.0)
    assert cells["All sets: lasso", "optimum is"].value == payoff.OPEN  # two splits are too few


def test_errors_are_shares_of_the_test_samples(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    X = X.copy()
    X[:, 0] = np.where(y == "a", -10.0, 10.0) + 0.1 * X[:, 0]
    test = np.arange(0, 32, 2)
    train = np.setdiff1d(np.arange(32), test)
    labels = y.copy()
    labels[test[:4]] = np.where(y[test[:4]] == "a", "b", "a")
    found = payoff.errors_of(X, labels, train, test, [[np.array([0]), np.array([0, 5])]])
    assert found == pytest.approx(np.array([[0.25, 0.25]]))
