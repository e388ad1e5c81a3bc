"""SparseCCA: against scipy and brute force, planted truth, tables of every kind, bad input."""

from __future__ import annotations

import signal
import warnings
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.estimators import sparse_cca

SOLVERS = [s for s in ("greedy", "exact", "dc") if s in es.available_solvers()]


def planted(
    n: int = 80, p: int = 12, q: int = 9, seed: int = 0, true: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """A latent in the first columns of X and the last of Y, and a weaker one beside it."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    z, w = rng.normal(size=(2, n, 1))
    X[:, :true] += 2 * z
    Y[:, -true:] += 2 * z
    X[:, true : 2 * true] += w
    Y[:, :true] += w
    return X, Y


def frames(**options: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    X, Y = planted(**options)
    rows = [f"s{i}" for i in range(len(X))]
    return (
        pd.DataFrame(X, rows, [f"gene {i}" for i in range(X.shape[1])]),
        pd.DataFrame(Y, rows, [f"protein {i}" for i in range(Y.shape[1])]),
    )


def plain_pencil(X: np.ndarray, Y: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    """A and B by the formula."""
    p = X.shape[1]
    S = np.cov(np.hstack([X, Y]).T, bias=True)
    A, B = S.copy(), S.copy()
    A[:p, :p] = A[p:, p:] = 0
    B[:p, p:] = B[p:, :p] = 0
    return A, (1 - s) * B + s * np.diag(np.diag(B))


def best_sets(A: np.ndarray, B: np.ndarray, sets: list[list[int]]) -> tuple[float, list[int]]:
    """The largest eigenvalue over the sets, by scipy."""
    values = [linalg.eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True)[-1] for S in sets]
    return max(values), sets[int(np.argmax(values))]


def pearson(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(a.shape[1])])


# -- what is found -----------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(6, 4), (3, 7)])
def test_at_full_cardinality_it_is_classical_cca(sizes: tuple[int, int]) -> None:
    X, Y = planted(400, *sizes, true=1)
    m = min(sizes)
    cca = es.SparseCCA(m, n_features_to_select=sizes, shrinkage=0.0).fit(X, Y)
    values = linalg.eigh(*plain_pencil(X, Y, 0.0), eigvals_only=True)[::-1][:m]
    np.testing.assert_allclose(cca.correlations_, values, atol=1e-8)
    scores = np.hstack(cca.transform(X, Y))
    expected = np.eye(2 * m)
    expected[:m, m:] = expected[m:, :m] = np.diag(values)
    np.testing.assert_allclose(np.cov(scores.T, bias=True), expected, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_brute_force(solver: str, seed: int) -> None:
    """Exact finds the best sets of (2, 2); the others a set of that size, no better than it."""
    X, Y = planted(25, 6, 5, seed, true=1)
    A, B = plain_pencil(X, Y, 0.3)
    sets = [
        [*a, *(6 + j for j in b)]
        for a in combinations(range(6), 2)
        for b in combinations(range(5), 2)
    ]
    best, support = best_sets(A, B, sets)
    cca = es.SparseCCA(n_features_to_select=2, solver=solver, shrinkage=0.3).fit(X, Y)
    assert [mask.sum() for mask in cca.support_] == [2, 2]
    assert cca.solution_.objective <= best * (1 + 1e-9)
    assert cca.solution_.bound >= best * (1 - 1e-9)
    assert cca.solution_.objective >= best * (1 - 1e-9 if solver == "exact" else 0.9)
    if solver == "exact":
        assert cca.solution_.support.tolist() == support
        assert cca.solution_.is_certified
    cca.solution_.verify(es.Pencil(A, B))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_brute_force_together(solver: str, seed: int) -> None:
    X, Y = planted(25, 5, 4, seed, true=1)
    A, B = plain_pencil(X, Y, 0.2)
    best, support = best_sets(A, B, [list(S) for S in combinations(range(9), 4)])
    cca = es.SparseCCA(n_features_to_select=4, together=True, solver=solver, shrinkage=0.2)
    cca.fit(X, Y)
    assert sum(mask.sum() for mask in cca.support_) == 4
    assert cca.solution_.bound >= best * (1 - 1e-9)
    assert cca.solution_.objective <= best * (1 + 1e-9)
    if solver == "exact":
        assert cca.solution_.support.tolist() == support


def test_the_second_component_is_that_of_the_projected_pencil() -> None:
    """A without each view's own direction, by the formula; then brute force again."""
    X, Y = planted(40, 6, 5, true=2)
    A, B = plain_pencil(X, Y, 0.2)
    cca = es.SparseCCA(2, n_features_to_select=2, solver="exact", shrinkage=0.2).fit(X, Y)
    u, v = np.zeros(11), np.zeros(11)
    u[:6], v[6:] = cca.x_weights_[:, 0], cca.y_weights_[:, 0]
    u, v = u / np.sqrt(u @ B @ u), v / np.sqrt(v @ B @ v)
    P = np.eye(11) - np.outer(u, u @ B) - np.outer(v, v @ B)
    A = P.T @ A @ P
    assert np.abs(A[:6, :6]).max() < 1e-12
    sets = [
        [*a, *(6 + j for j in b)]
        for a in combinations(range(6), 2)
        for b in combinations(range(5), 2)
    ]
    best, support = best_sets(A, B, sets)
    assert cca.solutions_[1].objective == pytest.approx(best)
    assert cca.solutions_[1].support.tolist() == support
    assert cca.solutions_[1].support.tolist() != cca.solution_.support.tolist()


@pytest.mark.parametrize("seed", range(2))
def test_planted_features_of_wide_views(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(2, 200, 2000))
    z = rng.normal(size=(200, 1))
    X[:, :10] += z
    Y[:, 50:60] += z
    cca = es.SparseCCA().fit(X, Y)
    assert [s.tolist() for s in cca.get_support(indices=True)] == [
        list(range(10)),
        list(range(50, 60)),
    ]
    # ten columns of latent plus unit noise a side: at best 10/11
    fresh = rng.normal(size=(2, 500, 2000))
    z = rng.normal(size=(500, 1))
    fresh[0, :, :10] += z
    fresh[1, :, 50:60] += z
    assert cca.correlations(*fresh)[0] > 0.87


@pytest.mark.parametrize("p", [12, 700])
def test_two_planted_components(p: int) -> None:
    X, Y = planted(150, p, 9)
    cca = es.SparseCCA(2, n_features_to_select=3).fit(X, Y)
    x, y = cca.x_weights_, cca.y_weights_
    assert [np.flatnonzero(w).tolist() for w in x.T] == [[0, 1, 2], [3, 4, 5]]
    assert [np.flatnonzero(w).tolist() for w in y.T] == [[6, 7, 8], [0, 1, 2]]
    assert [m.sum() for m in cca.support_] == [6, 6]


# -- what is said of it ------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, (0.5, "auto")])
def test_scores_signs_and_correlations(shrinkage: object) -> None:
    X, Y = planted(seed=3)
    X, Y = X * np.geomspace(1, 1e3, 12) + 5, -1e-3 * Y  # the largest weights are those of Y
    cca = es.SparseCCA(3, n_features_to_select=(4, 3), shrinkage=shrinkage).fit(X, Y)
    a, b = cca.transform(X, Y)
    for scores in (a, b):
        np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(scores.var(axis=0), 1)
    np.testing.assert_allclose(cca.correlations_, pearson(a, b))
    assert np.all(cca.correlations_ >= 0)
    assert np.all(cca.x_weights_.max(axis=0) == np.abs(cca.x_weights_).max(axis=0))
    np.testing.assert_allclose(cca.correlations(X, Y), cca.correlations_)
    assert cca.score(X, Y) == pytest.approx(pearson(a, b).mean())
    half = slice(0, 40)
    np.testing.assert_allclose(cca.correlations(X[half], Y[half]), pearson(a[half], b[half]))


def test_the_scale_of_a_column_does_not_matter() -> None:
    X, Y = planted()
    plain = es.SparseCCA(n_features_to_select=3).fit(X, Y)
    scaled = es.SparseCCA(n_features_to_select=3).fit(X * np.geomspace(1e-4, 1e4, 12) - 7, Y)
    assert plain.solution_.support.tolist() == scaled.solution_.support.tolist()
    np.testing.assert_allclose(plain.correlations_, scaled.correlations_)


def test_shrinkage_of_each_view() -> None:
    X, Y = planted()
    auto = es.SparseCCA(n_features_to_select=2).fit(X, Y)
    mixed = es.SparseCCA(n_features_to_select=2, shrinkage=("auto", 0.25)).fit(X, Y)
    assert mixed.shrinkage_ == (auto.shrinkage_[0], 0.25)
    B = es.cca_pencil(X, Y, shrinkage=(0.5, 0.1)).B
    np.testing.assert_allclose(B[:12, :12], plain_pencil(X, Y, 0.5)[1][:12, :12])
    np.testing.assert_allclose(B[12:, 12:], plain_pencil(X, Y, 0.1)[1][12:, 12:])


def test_certificates() -> None:
    X, Y = planted(60, 30, 20)
    none = es.SparseCCA(2, n_features_to_select=3, certificate="none").fit(X, Y)
    assert [s.bound for s in none.solutions_] == [np.inf, np.inf]
    root = es.SparseCCA(2, n_features_to_select=3).fit(X, Y)
    exact = es.SparseCCA(1, n_features_to_select=3, solver="exact").fit(X, Y)
    assert exact.solution_.is_certified
    assert root.solution_.bound >= exact.solution_.objective * (1 - 1e-9)
    assert all(np.isfinite(s.bound) and s.bound >= s.objective for s in root.solutions_)


def test_time_limit() -> None:
    X, Y = planted(60, 60, 50)
    cca = es.SparseCCA(2, n_features_to_select=8, time_limit=0.0, solver="exact", shrinkage=0.01)
    with pytest.warns(ConvergenceWarning, match="best so far"):
        cca.fit(X, Y)
    assert [s.k for s in cca.solutions_] == [16, 16]
    assert cca.transform(X).shape == (60, 2)


def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*args: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(sparse_cca, "solve", partial(es.solve, callback=press))
    X, Y = planted()
    cca = es.SparseCCA(3, n_features_to_select=4)
    with pytest.raises(KeyboardInterrupt, match="best so far"):
        cca.fit(X, Y)
    assert cca.transform(X, Y)[1].shape == (80, 1)  # no second search after Ctrl-C
    assert cca.solution_.bound == np.inf
    with pytest.raises(KeyboardInterrupt):
        cca.permutation_test(X, Y, n_permutations=2)


def test_permutations() -> None:
    X, Y = planted(60)
    cca = es.SparseCCA(3, n_features_to_select=2)
    test = cca.permutation_test(X, Y, n_permutations=19, n_jobs=2, random_state=1)
    assert not hasattr(cca, "solutions_")
    assert test.p_values[:2].tolist() == [0.05, 0.05]  # both planted ones, as small as can be
    assert np.all(np.diff(test.p_values) >= 0)
    np.testing.assert_allclose(test.statistics, [s.objective for s in cca.fit(X, Y).solutions_])
    again = cca.permutation_test(X, Y, n_permutations=19, random_state=1)
    np.testing.assert_array_equal(test.null, again.null)
    expected = (1 + (test.null >= test.statistics[:, None]).sum(axis=1)) / 20
    np.testing.assert_allclose(test.p_values, np.maximum.accumulate(expected))


def test_p_values_count_and_never_fall() -> None:
    found = [SimpleNamespace(objective=value) for value in (2.5, 1.0, 3.5)]
    null = [SimpleNamespace(objective=value) for value in (0.5, 1.0 - 1e-12, 2.0, 3.0)]
    test = es.PermutationTest.of(found, null)
    assert test.p_values.tolist() == [2 / 5, 4 / 5, 4 / 5]  # alone the last would have 1/5


@pytest.mark.parametrize("p", [12, 600])
def test_a_permutation_is_a_fit_on_permuted_rows(p: int) -> None:
    """The null's shortcut (only A changes) against fits from scratch."""
    X, Y = planted(40, p)
    cca = es.SparseCCA(n_features_to_select=2)
    null = cca.permutation_test(X, Y, n_permutations=3, random_state=5).null
    seeds = np.random.RandomState(5).randint(2**31 - 1, size=3)
    orders = [np.random.default_rng(seed).permutation(40) for seed in seeds]
    fits = [clone(cca).fit(X, Y[order]).solution_.objective for order in orders]
    np.testing.assert_allclose(null, fits)
    assert np.ptp(null) > 0


def test_p_values_of_noise_are_not_small() -> None:
    """Over 20 data sets without any link: about one in ten at 0.1, the least there can be."""
    p_values = []
    for seed in range(20):
        X, Y = np.random.default_rng(seed).normal(size=(2, 20, 8))
        cca = es.SparseCCA(n_features_to_select=2, solver="greedy", solver_options={"swap": False})
        p_values.append(cca.permutation_test(X, Y, n_permutations=9).p_values[0])
    assert sum(p <= 0.1 for p in p_values) <= 6  # a binomial (20, 0.1) exceeds 6 once in 400
    assert 0.25 < np.mean(p_values) < 0.75


# -- tables ------------------------------------------------------------------------


def anndata(frame: pd.DataFrame, matrix: object = None) -> SimpleNamespace:
    """What an AnnData shows of itself."""
    X = frame.to_numpy() if matrix is None else matrix
    return SimpleNamespace(X=X, var_names=frame.columns, obs_names=frame.index)


def test_frames() -> None:
    X, Y = frames()
    cca = es.SparseCCA(n_features_to_select=3).fit(X, Y)
    genes, proteins = cca.selected_features_
    assert list(genes) == ["gene 0", "gene 1", "gene 2"]
    assert list(proteins) == ["protein 6", "protein 7", "protein 8"]
    assert cca.view_names_ == ("X", "Y")
    assert list(cca.feature_names_in_) == list(X.columns)
    assert list(cca.y_feature_names_in_) == list(Y.columns)
    cca.set_output(transform="pandas")
    a, b = cca.transform(X, Y)
    assert list(a.columns) == list(b.columns) == ["sparsecca0"]
    assert a.index.equals(X.index)
    assert b.index.equals(Y.index)
    assert not hasattr(cca.fit(X.to_numpy(), Y.to_numpy()), "y_feature_names_in_")


def test_views_by_name() -> None:
    same = np.testing.assert_allclose  # a table in another memory order differs by round-off
    X, Y = frames()
    plain = es.SparseCCA(n_features_to_select=(3, 2)).fit(X, Y)
    mods = {"rna": anndata(X, sparse.csr_array(X)), "protein": anndata(Y)}
    for views in ({"rna": X, "protein": Y}, mods, SimpleNamespace(mod=mods)):
        cca = es.SparseCCA(n_features_to_select={"protein": 2, "rna": 3}).fit(views)
        assert cca.view_names_ == ("rna", "protein")
        same(cca.x_weights_, plain.x_weights_)
        same(cca.y_weights_, plain.y_weights_)
        assert list(cca.selected_features_[1]) == list(plain.selected_features_[1])
        scores = cca.transform({"protein": Y, "rna": X})  # the order does not matter
        same(scores["rna"], plain.transform(X))
        same(scores["protein"], plain.transform(X, Y)[1])
        same(cca.transform(X), plain.transform(X))
        both = clone(cca).set_output(transform="pandas").fit_transform(views)
        assert both["protein"].index.equals(Y.index)
        same(both["protein"], scores["protein"])
        assert cca.score(views) == pytest.approx(plain.score(X, Y))
    test = plain.permutation_test(X, Y, n_permutations=4)
    named = cca.permutation_test(views, n_permutations=4)
    same(test.null, named.null)


def test_one_column_and_other_types() -> None:
    X, Y = planted(true=2)
    cca = es.SparseCCA(n_features_to_select=(2, 1)).fit(X, Y[:, -1])
    assert cca.y_weights_.shape == (1, 1)
    assert cca.y_weights_[0, 0] == pytest.approx(1 / Y[:, -1].std())
    series = pd.Series(Y[:, -1], name="age")
    assert list(clone(cca).fit(X, series).y_feature_names_in_) == ["age"]
    whole = np.round(X * 10).astype(int), np.round(Y * 10).astype(np.float32)
    fit = es.SparseCCA(n_features_to_select=2).fit(*whole)
    assert fit.x_weights_.dtype == fit.y_weights_.dtype == np.float64
    expected = es.SparseCCA(n_features_to_select=2).fit(*(w.astype(float) for w in whole))
    np.testing.assert_allclose(fit.x_weights_, expected.x_weights_)


def test_grid_search() -> None:
    X, Y = planted(120)
    grid = {"n_features_to_select": [1, 3], "shrinkage": [0.0, "auto"]}
    search = GridSearchCV(es.SparseCCA(), grid, cv=4).fit(X, Y)
    assert search.best_params_["n_features_to_select"] == 3
    named = GridSearchCV(es.SparseCCA(), grid, cv=4).fit(*frames(n=120))
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )


# -- odd data, bad input -----------------------------------------------------------


def test_constant_and_duplicate_columns() -> None:
    X, Y = planted()
    X[:, 8], Y[:, 4] = 3.0, -1.5
    X[:, 9] = X[:, 0]
    cca = es.SparseCCA(n_features_to_select=(5, 8)).fit(X, Y)
    assert not cca.support_[0][8]
    assert not cca.support_[1][4]
    single = es.SparseCCA(n_features_to_select=1, shrinkage=0.0).fit(X[:, [9, 0]], Y)
    assert single.get_support(indices=True)[0].tolist() == [0]
    everything = es.SparseCCA(n_features_to_select=(12, 9), shrinkage=0.0).fit(X, Y)
    assert np.isfinite(everything.x_weights_).all()
    assert everything.correlations_[0] <= 1


@pytest.mark.parametrize("together", [False, True])
def test_no_correlation_at_all(together: bool) -> None:
    X, Y = planted()
    cca = es.SparseCCA(2, n_features_to_select=2, together=together).fit(X, np.ones((80, 3)))
    assert cca.correlations_.tolist() == [0, 0]
    assert not cca.y_weights_.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cca.correlations(X, Y[:, :3]).tolist() == [0, 0]
    orthogonal = np.array([1.0, 1, -1, -1])[:, None], np.array([1.0, -1, 1, -1])[:, None]
    cca = es.SparseCCA(n_features_to_select=1, together=together).fit(*orthogonal)
    assert cca.correlations_ == pytest.approx([0])


def test_correlations_of_constant_scores() -> None:
    X, Y = planted()
    cca = es.SparseCCA(n_features_to_select=3).fit(X, Y)
    assert cca.correlations(np.repeat(X[:1] + 0.1, 7, axis=0), Y[:7]).tolist() == [0]


def test_clipping_is_told() -> None:
    X, Y = planted()
    with pytest.warns(UserWarning, match=r"only 9 features of view 'Y'.*selecting 9"):
        cca = es.SparseCCA(n_features_to_select=(3, 10)).fit(X, Y)
    assert [m.sum() for m in cca.support_] == [3, 9]
    with pytest.warns(UserWarning, match="finding 2"):
        cca = es.SparseCCA(5, n_features_to_select=2).fit(X, Y[:, :2])
    assert cca.correlations_.shape == (2,)
    with pytest.warns(UserWarning, match="21 features of both views"):
        es.SparseCCA(n_features_to_select=99, together=True).fit(X, Y)


def holed(table: np.ndarray) -> np.ndarray:
    table = table.copy()
    table[3, 1] = np.nan
    return table


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, Y: (holed(X), Y), "Input X contains NaN"),
        (lambda X, Y: (X, holed(Y)), "Input Y contains NaN"),
        (lambda X, Y: ({"rna": holed(X), "dna": Y}, None), "view 'rna': .*NaN"),
        (lambda X, Y: ({"rna": X, "dna": holed(Y)}, None), "Input dna contains NaN"),
        (lambda X, Y: (X[:1], Y[:1]), "1 sample"),
        (lambda X, Y: (X, Y[:-1]), "view 'X' has 80 rows and view 'Y' 79"),
        (lambda X, Y: (X, None), "requires y"),
        (lambda X, Y: (X, Y[:, :0]), "view 'Y': .*0 feature"),
        (lambda X, Y: ({"a": X, "b": Y}, Y), "must then be None"),
        (lambda X, Y: ({"a": X}, None), "exactly two"),
        (lambda X, Y: ({"a": X, "b": Y, "c": Y}, None), "exactly two"),
        (lambda X, Y: (X, np.full(80, "high")), "view 'Y': .*high"),
    ],
)
def test_bad_tables(make, message: str) -> None:
    views = make(*planted())
    with pytest.raises(ValueError, match=message):
        es.SparseCCA(n_features_to_select=1).fit(*views)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_features_to_select": 0}, InputError, "at least 1"),
        ({"n_features_to_select": (2, 0)}, InputError, "at least 1"),
        ({"n_features_to_select": (2, 2, 2)}, InputError, "one per view"),
        ({"n_features_to_select": 2.5}, InputError, "whole number"),
        ({"n_features_to_select": {"rna": 2, "Y": 2}}, InputError, "must name the views"),
        ({"n_features_to_select": (2, 2), "together": True}, OptionError, "one number for both"),
        ({"together": "yes"}, OptionError, "together"),
        ({"n_components": 0}, InputError, "n_components"),
        ({"shrinkage": 1.5}, OptionError, "0..1"),
        ({"shrinkage": "some"}, OptionError, "auto"),
        ({"shrinkage": (0.1, 0.2, 0.3)}, OptionError, "one per view"),
        ({"shrinkage": (0.1, -0.2)}, OptionError, "0..1"),
        ({"certificate": "no"}, OptionError, "certificate"),
        ({"solver": "magic"}, OptionError, "magic"),
        ({"solver_options": {"time_limit": 1}}, OptionError, "time_limit"),
    ],
)
def test_bad_options(options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        es.SparseCCA(**{"n_features_to_select": 2, **options}).fit(*planted())


def test_rows_in_another_order() -> None:
    X, Y = frames()
    with pytest.raises(InputError, match="80 of 80 row labels in common"):
        es.SparseCCA(n_features_to_select=2).fit(X, Y.iloc[::-1])
    cca = es.SparseCCA(n_features_to_select=2).fit(X, Y)
    with pytest.raises(InputError, match="align them first"):
        cca.score(X, Y.sample(frac=1, random_state=0))
    with pytest.raises(InputError, match="'rna' and 'dna'"):
        es.SparseCCA(n_features_to_select=2).fit({"rna": anndata(X), "dna": anndata(Y[::-1])})
    other = es.SparseCCA(n_features_to_select=2).fit(X, Y.reset_index(drop=True))
    # pandas may have turned the table in memory: the last digit is not the same
    np.testing.assert_allclose(other.y_weights_, cca.y_weights_, rtol=1e-12)


def test_new_data_are_checked() -> None:
    X, Y = frames()
    cca = es.SparseCCA(n_features_to_select=2)
    with pytest.raises(NotFittedError):
        cca.transform(X)
    cca.fit(X, Y)
    x, y = X.to_numpy(), Y.to_numpy()
    bad = [
        ((X.iloc[:, 1:], Y), "feature names"),
        ((X.rename(columns={"gene 1": "gene x"}), Y), "feature names"),
        ((X, Y.iloc[:, 1:]), "view 'Y' has 8 features"),
        ((X, Y.rename(columns={"protein 4": "p"})), "column 4 is 'p'.*'protein 4'"),
        ((X, Y.iloc[:, ::-1]), "names and order"),
        ((X, holed(y)), "Input Y contains NaN"),
        (({"X": X, "other": Y}, None), r"give the views \['X', 'Y'\]"),
    ]
    for views, message in bad:
        with pytest.raises(ValueError, match=message):
            cca.transform(*views)
    with pytest.raises(InputError, match="requires y"):
        cca.correlations(X)
    with pytest.warns(UserWarning, match="view 'Y' has no column names"):
        cca.transform(X, y)
    nameless = clone(cca).fit(x, y)
    with pytest.warns(UserWarning, match="it had no names"):
        nameless.transform(x, Y)
    repeated = Y.set_axis(["a"] * 9, axis=1)
    with pytest.raises(InputError, match=r"view 'Y': .*more than once"):
        clone(cca).fit(X, repeated)


def test_rows_that_are_shared_in_part() -> None:
    X, Y = frames()
    with pytest.raises(InputError, match=r"60 of 70 row labels in common.*align"):
        es.SparseCCA().fit(X.iloc[:70], Y.iloc[10:])
    es.SparseCCA(n_features_to_select=2).fit(X, Y.add_suffix(" of another cohort", axis=0))


def test_a_penalty_instead_of_cardinalities() -> None:
    X, Y = planted()
    dc = {"solver": "dc", "solver_options": {"rho": 0.1}}
    model = es.SparseCCA(n_features_to_select=None, **dc).fit(X, Y)
    counts = [int(mask.sum()) for mask in model.get_support()]
    assert min(counts) >= 1
    assert sum(counts) < 21
    most = es.SparseCCA(n_features_to_select=1, **dc).fit(X, Y)
    assert [int(mask.sum()) for mask in most.get_support()] == [1, 1]
    # the certificate is about as many features as there are, not as were allowed
    wide = es.SparseCCA(n_features_to_select=9, **dc).fit(X, Y)
    counts = tuple(int(mask.sum()) for mask in wide.get_support())
    assert counts != (9, 9)
    best = es.solve(es.cca_pencil(X, Y), counts, solver="exact")
    exact = es.SparseCCA(n_features_to_select=counts).fit(X, Y)
    assert best.objective <= wide.solution_.bound == pytest.approx(exact.solution_.bound, rel=0.05)
    with pytest.raises(InputError, match="n_features_to_select is None"):
        es.SparseCCA(n_features_to_select=None).fit(X, Y)


def test_a_penalty_that_leaves_one_view_alone() -> None:
    rng = np.random.default_rng(0)
    Z, X, Y = (rng.normal(size=(60, p)) for p in (1, 80, 50))
    X[:, :4] += Z
    Y[:, 3:6] += Z
    with pytest.raises(OptionError, match="no feature of one view"):
        es.SparseCCA(solver="dc", solver_options={"rho": 0.5}).fit(X, Y)


def test_a_failed_fit_leaves_no_model() -> None:
    X = planted()[0]
    model = es.SparseCCA(n_features_to_select=2)
    with pytest.raises(InputError, match=r"view 'Y'.*NaN.*both views"):
        model.fit(X, np.full(len(X), np.nan))
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_one_row_has_no_correlation() -> None:
    X, Y = planted()
    model = es.SparseCCA(n_features_to_select=2).fit(X, Y)
    with pytest.raises(InputError, match="two rows"):
        model.score(X[:1], Y[:1])


def test_shrinkage_by_name() -> None:
    X, Y = frames()
    model = es.SparseCCA(n_features_to_select=2, shrinkage={"b": 0.2, "a": 0.1})
    assert model.fit({"a": X, "b": Y}).shrinkage_ == (0.1, 0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "greedy"}, "'solver'.*estimator"),
        ({"k": 3}, "'k'.*estimator"),
        (5, "must be a dict"),
    ],
)
@pytest.mark.parametrize("estimator", [es.SparseCCA(n_features_to_select=1), es.SparsePCA()])
def test_options_that_are_the_estimators(estimator, options, message: str) -> None:
    X, Y = planted()
    with pytest.raises(OptionError, match=message):
        clone(estimator).set_params(solver_options=options).fit(X, (Y[:, 0] > 0).astype(int))


@pytest.mark.parametrize("solver", ["greedy", "dc"])
def test_planted_features_beside_strong_factors_of_each_view(solver: str) -> None:
    """Forty other columns of each view share a factor that the other view knows nothing of."""
    rng = np.random.default_rng(0)
    X, Y, z = rng.normal(size=(200, 800)), rng.normal(size=(200, 800)), rng.normal(size=(200, 1))
    for view in (X, Y):
        view[:, :10] += 0.7 * z
        view[:, 10:50] += 1.5 * rng.normal(size=(200, 1))
    found = es.SparseCCA(solver=solver, certificate="none").fit(X, Y).get_support(indices=True)
    assert [s.tolist() for s in found] == [list(range(10))] * 2
