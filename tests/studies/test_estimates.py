"""Error rates and how sure they are: Wilson's interval, samples in groups, classes alike."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score

from eigensieve.studies.estimates import (
    balanced,
    cross_validated_size,
    effective_size,
    error_estimate,
)
from tests.studies.intervals import ends


@pytest.mark.parametrize(("wrong", "n"), [(0, 7), (1, 7), (7, 7), (5, 50), (37, 102), (250, 500)])
def test_wilson_interval(wrong: int, n: int) -> None:
    found = error_estimate(wrong, n, "by hand")
    expected = binomtest(wrong, n).proportion_ci(0.95, method="wilson")
    assert found.error == pytest.approx(wrong / n)
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)
    assert (found.n_samples, found.how) == (n, "by hand")
    assert 0.0 <= found.low <= found.error <= found.high <= 1.0


def test_fewer_independent_samples_make_it_wider() -> None:
    """10 of 40 that are worth 8: the interval of 2 of 8 around the same rate."""
    found = error_estimate(10, 40, "", n_effective=8.0)
    expected = binomtest(2, 8).proportion_ci(0.95, method="wilson")
    assert (found.error, found.n_samples) == (0.25, 40)
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_five_folds_are_worth_four_ninths_of_new_samples() -> None:
    """Nadeau and Bengio's 1/J + n_test/n_train, of J = 5 test parts of 20: .45 instead of .2."""
    assert cross_validated_size(100, 100, 80) == pytest.approx(100 / (0.45 / 0.2))
    assert cross_validated_size(100, 100, 99, 100) == pytest.approx(100 / (1 + 100 / 99 + 1))
    assert cross_validated_size(30, 20, 80) == pytest.approx(30 / 1.25)  # a single test part


@pytest.mark.parametrize("shift", [0.0, -0.1, 0.1, -0.5, 0.9])
@pytest.mark.parametrize(("wrong", "n"), [(0, 30), (30, 30), (1, 30), (12.4, 60), (75, 150)])
def test_a_shift_widens_its_side(wrong: float, n: int, shift: float) -> None:
    size = cross_validated_size(n, n, 0.8 * n)
    found = error_estimate(wrong, n, "", n_effective=size, shift=shift)
    expected = ends(wrong / n, n, [0.8 * n], shift)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    plain = error_estimate(wrong, n, "", n_effective=size)
    assert found.low == plain.low if shift >= 0 else found.low <= plain.low
    assert found.high == plain.high if shift <= 0 else found.high >= plain.high
    assert 0.0 <= found.low <= found.error <= found.high <= 1.0


def test_no_end_is_inside_the_error_by_round_off() -> None:
    """Of errors only, or none: one end is 1 or 0, whatever the samples are worth."""
    rng = np.random.default_rng(0)
    for n in range(1, 400):
        size, shift = n * rng.random() + 1e-6, rng.random()
        assert error_estimate(n, n, "", n_effective=size, shift=-shift).high == 1.0
        assert error_estimate(0, n, "", n_effective=size, shift=shift).low == 0.0


def test_the_errors_may_be_a_mean_over_repeats() -> None:
    q, n, z = 2.5 / 20, 20, 1.959964
    found = error_estimate(2.5, n, "")
    root = z * np.sqrt(q * (1 - q) / n + z**2 / (4 * n**2))
    assert found.low == pytest.approx((q + z**2 / (2 * n) - root) / (1 + z**2 / n), abs=1e-6)
    assert found.high == pytest.approx((q + z**2 / (2 * n) + root) / (1 + z**2 / n), abs=1e-6)


def mean_size(draw_groups: np.ndarray, rate: float, together: bool) -> float:
    """1 / mean(1 / size) over many draws: it is the variance that must be right on average."""
    rng = np.random.default_rng(0)
    names, member = np.unique(draw_groups, return_inverse=True)
    sizes = []
    for _ in range(400):
        outcome = rng.random(names.size if together else member.size) < rate
        wrong = (outcome[member] if together else outcome).astype(float)
        size = effective_size(wrong, draw_groups)
        assert size is not None
        sizes.append(size)
    return float(1 / np.mean(1 / np.array(sizes)))


def test_groups_that_go_together_count_once() -> None:
    groups = np.repeat(np.arange(40), 5).astype(str)
    assert mean_size(groups, 0.3, together=True) == pytest.approx(40, rel=0.1)


def test_groups_that_do_not_matter() -> None:
    """Independent samples: about n, a little less as the size is never taken above n."""
    groups = np.repeat(np.arange(40), 5).astype(str)
    assert 0.75 * 200 < mean_size(groups, 0.3, together=False) <= 200


def test_unequal_groups_have_the_size_of_kish() -> None:
    """(sum n_g)^2 / sum n_g^2, where the samples of a group go together."""
    sizes = np.arange(1, 61) % 6 + 1
    groups = np.repeat(np.arange(60), sizes).astype(str)
    kish = sizes.sum() ** 2 / np.square(sizes).sum()
    assert mean_size(groups, 0.4, together=True) == pytest.approx(kish, rel=0.12)


def test_effective_size_without_anything_to_learn_from() -> None:
    groups = np.array(["a", "a", "b", "c"])
    assert effective_size(np.zeros(4), groups) == 3.0
    assert effective_size(np.ones(4), groups) == 3.0
    assert effective_size(np.array([0.0, 1.0, 1.0, 0.0]), None) is None
    assert effective_size(np.array([0.0, 1.0]), np.array(["a", "a"])) == 1.0
    # every group has the same share of errors: no sign of dependence, but never more than n
    assert effective_size(np.array([0.0, 1.0, 0.0, 1.0]), np.array(["a", "a", "b", "b"])) == 4.0


def test_a_group_each_is_about_no_groups() -> None:
    """Each sample its own group: n - 1 instead of n, and Student's t instead of the normal."""
    wrong = np.array([1.0] * 7 + [0.0] * 23)
    student = 2.0452296421327034  # the 97.5 % point of t with 29 degrees of freedom, from a table
    expected = 29 * (1.959963984540054 / student) ** 2
    assert effective_size(wrong, np.arange(30).astype(str)) == pytest.approx(expected)


def test_balanced_error() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.choice(["a", "b", "c"], size=17, p=[0.6, 0.3, 0.1])
        predicted = rng.choice(np.unique(y), size=17)
        expected = 1 - balanced_accuracy_score(y, predicted)
        assert balanced(predicted != y, y) == pytest.approx(expected)
