"""Q-alpha where a review broke it: searches cut short, extreme units, odd containers, sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import eigensieve as es
from eigensieve.errors import InputError, OptionError, VerificationError
from eigensieve.pencil import row_factor
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from eigensieve.q_alpha import ascent as qalpha_ascent
from eigensieve.q_alpha import kernels as feature_kernels
from eigensieve.q_alpha import relevance
from eigensieve.q_alpha.ascent import choose_starts
from eigensieve.q_alpha.options import QAlphaOptions
from eigensieve.q_alpha.problem import make_family, make_rows
from eigensieve.tables.kinds import big_table as tables
from tests.clock import stop_after


def table(n: int = 80, q: int = 30, seed: int = 0) -> np.ndarray:
    """Features x samples, in two groups that the first six features tell apart."""
    M = np.random.default_rng(seed).normal(size=(n, q))
    M[:6, : q // 2] += 3.0
    return M


@pytest.mark.parametrize("status", [Status.INTERRUPTED, Status.TIME_LIMIT])
def test_a_cut_in_the_last_start_is_told(monkeypatch: pytest.MonkeyPatch, status: Status) -> None:
    """The first start came to rest and is the best: the search is nevertheless not at its end."""
    once = es.qalpha(table().T, n_init=1)
    looks = [0]
    monkeypatch.setattr(Budget, "stop", lambda budget: looks.__setitem__(0, looks[0] + 1))
    es.qalpha(table().T, n_init=2, random_state=1)
    stop_after(monkeypatch, looks[0] - 3, status)
    found = es.qalpha(table().T, n_init=2, random_state=1)
    assert found.n_starts == 2
    assert found.status is status
    assert found.converged == once.converged
    np.testing.assert_array_equal(found.alpha, once.alpha)


def test_ctrl_c_in_the_permutations_of_a_fit_without_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    ascend = qalpha_ascent.ascend

    def interrupt_third(family: Any, options: Any, budget: Budget, rng: Any) -> Any:
        made.append(1)
        if len(made) == 3:
            budget._interrupted = True
        return ascend(family, options, budget, rng)

    monkeypatch.setattr("eigensieve.q_alpha.null.ascend", interrupt_third)
    selector = es.QAlphaSelector(n_permutations=50, max_iter=1, n_init=1)
    with pytest.raises(KeyboardInterrupt, match="permutations: 2"):
        selector.fit(table().T)
    assert selector.null_ is not None
    assert selector.null_.n_permutations == 2


def test_no_time_for_the_null_is_told_where_alpha_is_not_at_rest_either() -> None:
    selector = es.QAlphaSelector(n_permutations=500, max_iter=2, n_init=1, time_limit=0.2)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        selector.fit(table(3000).T)
    assert selector.null_ is None or selector.null_.n_permutations < 500


@pytest.mark.parametrize("unit", [1e200, 1e-200, 1.0])
@pytest.mark.parametrize("scale", [True, False])
def test_verify_in_any_unit(unit: float, scale: bool) -> None:
    M = table() * unit
    found = es.qalpha(M.T, scale=scale)
    found.verify(M.T)
    with pytest.raises(VerificationError):
        found.verify((table(seed=1) * unit).T)


@pytest.mark.parametrize("variant", ["standard", "basic", "laplacian"])
def test_verify_of_float32(variant: str) -> None:
    """Tables of 2,000 copies, of which the objective is in the thousands."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        M = np.repeat(rng.normal(size=(4, 30)), 500, axis=0) + 0.1 * rng.normal(size=(2000, 30))
        M = M.astype(np.float32)
        es.qalpha(M.T, variant=variant, n_init=1, eigensolver="single-step").verify(M.T)


@pytest.mark.parametrize("center", [True, np.True_])
def test_the_laplacian_never_centres(center: Any) -> None:
    with pytest.raises(OptionError, match="does not centre"):
        es.qalpha(table().T, variant="laplacian", center=center)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_every_sparse_format(form: str) -> None:
    M = np.where(table() > 0, table(), 0.0)
    found = es.qalpha(sparse.coo_array(M).asformat(form).T, n_init=1)
    np.testing.assert_allclose(found.alpha, es.qalpha(M.T, n_init=1).alpha, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"variant": "laplacian"}, {"kernel": "poly"}])
def test_the_null_does_not_fill_in_a_sparse_table(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # (products of rows with more entries are formed of dense blocks of features)
    X = sparse.random_array((30, 400), density=0.08, rng=np.random.default_rng(0), format="csr")
    filled: list[tuple[int, ...]] = []

    def watched(fill: Any) -> Any:
        return lambda self, *a, **more: (filled.append(self.shape), fill(self, *a, **more))[1]

    for kind in (sparse.csc_array, sparse.csr_array, sparse.coo_array):
        monkeypatch.setattr(kind, "toarray", watched(kind.toarray))
    es.QAlphaSelector(n_permutations=1, n_init=1, max_iter=500, **options).fit(X)
    # affinities of the samples, kernels of the features, limits: never samples x features
    assert filled
    assert not [shape for shape in filled if 30 in shape and shape[0] != shape[1]]


def test_the_null_of_a_mapped_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permuted in blocks and on disk: the same numbers as in memory."""
    np.save(tmp_path / "table.npy", table().T)
    fit = es.QAlphaSelector(n_permutations=2, n_init=1, max_iter=500).fit
    whole = fit(table().T).null_
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 200)
    monkeypatch.setattr(row_factor, "FEATURE_ENTRIES", 200)
    mapped = fit(np.load(tmp_path / "table.npy", mmap_mode="r")).null_
    assert whole is not None
    assert mapped is not None
    np.testing.assert_allclose(mapped.p_values, whole.p_values, atol=1e-12)
    np.testing.assert_allclose(mapped.upper, whole.upper, atol=1e-8)


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(InputError, match="masked"):
        es.qalpha(np.ma.masked_greater(table(), 1.0).T)


def test_huge_offsets() -> None:
    """Then nothing but the offset is left, and the weights of all are equal."""
    alpha = es.qalpha(table().T, offset=1e200, n_init=1).alpha
    np.testing.assert_allclose(alpha, 80**-0.5, atol=1e-12)


def test_too_many_samples_for_the_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "MAX_SAMPLES", 20)
    with pytest.raises(InputError, match="30 x 30"):
        es.qalpha(sparse.csr_array(table()).T, variant="gap")
    M = table(15)
    es.qalpha(M.T, variant="gap", n_init=1).verify(M.T)  # rotated to 15 coordinates


def test_a_null_that_is_too_large_is_refused_before_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feature_kernels, "MAX_FEATURES", 100)
    monkeypatch.setattr(
        "eigensieve.estimators.qalpha_selector.ascend", lambda *a: pytest.fail("searched")
    )
    with pytest.raises(InputError, match="160 x 160"):
        es.QAlphaSelector(kernel="rbf", n_permutations=1).fit(table().T)


def test_a_linear_kernel_of_many_sparse_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_kernels, "MAX_FEATURES", 50)
    M = sparse.csr_array(table())
    found = es.qalpha(M.T, kernel="linear", n_init=1)
    np.testing.assert_allclose(found.alpha, es.qalpha(M.T, n_init=1).alpha, atol=1e-10)


def test_starts_are_several_where_that_is_quick() -> None:
    """Races where there are single steps, a few starts where there are none."""
    assert choose_starts(QAlphaOptions(), 5_000_000) == (2, True)
    assert choose_starts(QAlphaOptions(), 5_000_001) == (1, False)
    assert choose_starts(QAlphaOptions(variant="gap"), 500_000) == (6, False)
    assert choose_starts(QAlphaOptions(variant="gap"), 500_001) == (1, False)
    assert choose_starts(QAlphaOptions(n_init=3), 10**9) == (3, False)


def test_a_race_finds_what_one_start_misses() -> None:
    """In noise, which has many local optima; the first start is among those that go to the end."""
    once, raced = [], []
    for seed in range(10):
        M = np.random.default_rng(seed).normal(size=(300, 30))
        options: dict[str, Any] = {"eigensolver": "single-step", "max_iter": 500}
        once.append(es.qalpha(M.T, n_init=1, **options).objective)
        raced.append(es.qalpha(M.T, **options).objective)
    assert (np.array(raced) >= np.array(once) - 1e-12).all()
    assert np.sum(np.array(raced) > 1.001 * np.array(once)) >= 2


def test_the_null_finds_a_few_strong_features_among_many() -> None:
    """Beside their copies, too, the best optimum has to be found, else all look like noise."""
    found = []
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(60, 1000))
        X[:30, :10] += 3.0
        selector = es.QAlphaSelector(10, n_permutations=3, max_iter=500).fit(X)
        assert selector.null_ is not None
        found.append(selector.support_[:10].all() and selector.null_.p_values[:10].max() < 0.001)
    assert sum(found) >= 4


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 80 * 30 * 2),
        ({"variant": "basic"}, 80 * 30 * 30),
        ({"variant": "gap"}, 80 * 30 * 30),
        ({"variant": "supervised"}, 80 * 30 * 4),
        ({"kernel": "rbf"}, 80 * 80 * 2),
    ],
)
def test_the_cost_of_a_cycle(options: dict[str, Any], expected: int) -> None:
    chosen = QAlphaOptions(**options)
    rows = make_rows(table().T, chosen)
    family = make_family(rows, chosen, np.arange(30) % 3, np.random.default_rng(0))
    assert family.cost == expected


def test_features_that_hardly_vary_verify() -> None:
    """Found by fuzzing: 1000 and 1000.00000001 leave five digits, and verify asked for six."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        M = np.vstack([1e3 + 1e-8 * rng.normal(size=6), rng.normal(size=(2, 6))])
        es.qalpha(M.T, 2).verify(M.T)
