"""The permutation null: counted by hand, with the choice inside, and able to see a signal."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.studies import estimation
from eigensieve.studies.null import PermutationNull
from eigensieve.studies.splits import permute_labels


def make_data(shift: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 10))
    X[y == 1, 0] += shift
    return X, y


@pytest.mark.parametrize(
    ("observed", "errors", "expected"),
    [
        (0.1, [0.3, 0.2, 0.4], 1 / 4),
        (0.2, [0.3, 0.2, 0.4], 2 / 4),  # as good counts
        (0.1 + 0.2, [0.3, 0.5, 0.6], 2 / 4),  # but for round-off
        (0.9, [0.3, 0.2, 0.4], 1.0),
    ],
)
def test_p_value_counts_permutations_that_are_as_good(
    observed: float, errors: list[float], expected: float
) -> None:
    null = PermutationNull(observed, np.array(errors))
    assert null.p_value == pytest.approx(expected)
    assert null.n_permutations == 3


def chosen_error(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """The cross-validated error at the k of the 1-SE rule, by hand."""
    errors = np.zeros((3, 2))
    folds = StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y)
    for i, (train, test) in enumerate(folds):
        scaler = StandardScaler().fit(X[train])
        for j, k in enumerate((1, 4)):
            model = es.SparseLDA(k).fit(scaler.transform(X[train]), y[train])
            errors[i, j] = np.mean(model.predict(scaler.transform(X[test])) != y[test])
    mean, se = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(3)
    is_first = mean[0] <= mean[1] or mean[0] <= mean[1] + se[1]
    return float(mean[0] if is_first else mean[1])


def test_null_is_the_recipe_on_permuted_labels() -> None:
    X, y = make_data(0.8)
    null = es.study(X, y, ks=(1, 4), cv=3, n_repeats=2, random_state=5, n_permutations=6).null
    assert null is not None
    assert null.observed == pytest.approx(chosen_error(X, y, 5))
    rng = np.random.default_rng(5)
    expected = [chosen_error(X, permute_labels(y, None, rng), 5) for _ in range(6)]
    np.testing.assert_allclose(null.errors, expected)


def test_a_signal_has_the_least_p_value() -> None:
    X, y = make_data(4.0)
    null = es.study(X, y, ks=(1, 4), cv=3, n_repeats=1, n_permutations=19).null
    assert null is not None
    assert null.p_value == pytest.approx(0.05)
    assert null.observed < 0.1 < null.errors.min()


def test_no_permutations_no_null() -> None:
    X, y = make_data(4.0)
    assert es.study(X, y, ks=(1,), cv=3, n_repeats=1).null is None


def test_ctrl_c_before_the_first_repeat_is_done(monkeypatch) -> None:
    """On a cluster another repeat, and the permutations, may be done before."""
    run = estimation.run_stages

    def cut_short(stages, *rest, **options):
        found, _ = run(stages, *rest, **options)
        first = stages[0].jobs[0].key
        return {key: outcome for key, outcome in found.items() if key != first}, True

    monkeypatch.setattr(estimation, "run_stages", cut_short)
    X, y = make_data(2.0)
    study = es.study(X, y, ks=(1, 2), cv=3, n_repeats=2, n_permutations=3)
    assert study.interrupted
    assert study.null is None
    assert list(study.unfinished) == [
        "1 of 2 repeats of the cross-validation is done",
        "the error on new samples was not estimated",
        "the first repeat, with which permutations are compared, is not done",
    ]
