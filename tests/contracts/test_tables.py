"""A table of any kind gives what the same numbers in memory give: every estimator, every kind.

The tables are small; blocks and working sets are made smaller still, so that all of them come in
many pieces. What is peculiar to one estimator is in its own files.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.estimators._rankers import RANKERS
from eigensieve.pursuit import pursuit_columns
from eigensieve.scoring import group_lasso_columns
from eigensieve.tables.kinds import big_table
from eigensieve.tables.operators import centred_rows, streamed_rows
from tests.big_tables import KINDS, SPARSE, WITH_NAMES, as_kind, make_classes, names_of

SHAPES = {"tall": (75, 27), "wide": (24, 66), "square": (30, 30)}
TWO_SHAPES = ("tall", "wide")
SEARCH: dict[str, Any] = {"n_clusters": 3, "n_init": 1, "tol": 0.0, "max_iter": 2}

# These read any table in blocks; each with its options as they are, on every kind.
READERS: dict[str, BaseEstimator] = {
    "SparseLDA": es.SparseLDA(3),
    "SparsePCA": es.SparsePCA(2, n_features_to_select=3),
    "GroupLassoLDA": es.GroupLassoLDA(5),
    "PenalizedLDA": es.PenalizedLDA(0.1),
    "UncorrelatedLDA": es.UncorrelatedLDA(),
    "SparseUncorrelatedLDA": es.SparseUncorrelatedLDA(),
    "QAlphaSelector": es.QAlphaSelector(5, **SEARCH, eigensolver="single-step"),
}

# Options that change what is computed of a table: on one sparse kind and on one in blocks.
FURTHER: dict[str, BaseEstimator] = {
    "lda ridge": es.SparseLDA(3, shrinkage=0.2, ridge=0.05),
    "lda balanced": es.SparseLDA(3, class_weight="balanced"),
    "lda weights": es.SparseLDA(3, class_weight={"a": 4.0}, shrinkage=0.3),
    "lda exact": es.SparseLDA(3, solver="exact", criterion="trace", shrinkage=0.9),
    "lda include": es.SparseLDA(3, include=[0], exclude=[5], priors="balanced"),
    "pca schur": es.SparsePCA(2, n_features_to_select=3, deflation="schur"),
    "pca hotelling": es.SparsePCA(2, n_features_to_select=(4, 2), deflation="hotelling"),
    "pca orthogonal": es.SparsePCA(
        2, n_features_to_select=3, deflation="orthogonalized-hotelling", certificate="none"
    ),
    "gloss lda": es.GroupLassoLDA(5, rule="lda", weights="std"),
    "gloss 1-nn": es.GroupLassoLDA(5, rule="1-nn"),
    "gloss ridge": es.GroupLassoLDA(alpha=0.2, ridge=0.1, rule="centroid"),
    "gloss diagonal": es.GroupLassoLDA(5, within="diagonal"),
    "gloss diagonal lda": es.GroupLassoLDA(5, within="diagonal", rule="lda", priors="balanced"),
    "plda fused": es.PenalizedLDA(0.05, fusion=0.02, ridge=0.1),
    "plda 1-nn": es.PenalizedLDA(rule="1-nn", n_components=1, ridge=0.1),
    "ulda centroid": es.UncorrelatedLDA(1, rule="centroid"),
    "sulda l21": es.SparseUncorrelatedLDA("l21", rule="lda"),
    "sulda 1-nn": es.SparseUncorrelatedLDA(rule="1-nn"),
    "qalpha classes": es.QAlphaSelector(5, **SEARCH, variant="supervised"),
    "qalpha lanczos": es.QAlphaSelector(5, **SEARCH, eigensolver="lanczos"),
    "qalpha gram": es.QAlphaSelector(5, **SEARCH, eigensolver="gram"),
    "qalpha no centre": es.QAlphaSelector(5, **SEARCH, eigensolver="single-step", center=False),
    "qalpha no scale": es.QAlphaSelector(5, **SEARCH, eigensolver="single-step", scale=False),
    "qalpha basic": es.QAlphaSelector(5, **SEARCH, variant="basic"),
    "qalpha gap": es.QAlphaSelector(5, **SEARCH, variant="gap"),
    "qalpha ritz": es.QAlphaSelector(5, **SEARCH, variant="ritz"),
    "qalpha laplacian": es.QAlphaSelector(5, **SEARCH, variant="laplacian"),
    "qalpha offset": es.QAlphaSelector(5, **SEARCH, variant="supervised", offset=0.0),
}

# These need the table in memory: sparse it may be, and a mapped one is read.
IN_MEMORY: dict[str, BaseEstimator] = {
    "SparseOptimalScoring": es.SparseOptimalScoring(5),
    "sos ridge": es.SparseOptimalScoring([4, 2], ridge=0.1, weights="std"),
    "sos alpha": es.SparseOptimalScoring(alpha=0.4, rule="centroid"),
    "ranked balanced": es.RankedLDA("anova", 4, class_weight="balanced"),
    **{f"ranked {ranker}": es.RankedLDA(ranker, 4) for ranker in RANKERS},
    "GroupLassoLDACV": es.GroupLassoLDACV([0.5, 0.1], cv=3, rule="lda"),
}
MODELS = READERS | FURTHER | IN_MEMORY
ANSWERS = ("predict", "decision_function", "predict_proba", "transform")


@pytest.fixture(autouse=True)
def many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables take the way of large ones."""
    for module in (big_table, streamed_rows):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 600)
    monkeypatch.setattr(centred_rows, "MAX_DENSE_ENTRIES", 0)
    monkeypatch.setattr(group_lasso_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(group_lasso_columns, "MIN_COLUMNS", 6)
    monkeypatch.setattr(pursuit_columns, "SET_ENTRIES", 1)
    monkeypatch.setattr(pursuit_columns, "MIN_COLUMNS", 1)


@cache
def numbers(shape: str, dtype: str = "float64", offset: float = 0.0) -> tuple[Any, np.ndarray]:
    """Three classes; half of the numbers are zero, or as large as the offset."""
    X, y = make_classes(SHAPES[shape], 3, density=0.5)
    if dtype != "float64":
        X = np.round(64 * X)
    X = (X + offset).astype(dtype)
    X.setflags(write=False)
    return X, y


def fit(model: BaseEstimator, X: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the search ended early")
        warnings.filterwarnings("ignore", ".*features", UserWarning)
        return clone(model).fit(X, y)


@cache
def in_memory(name: str, *table: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """What a model finds in the array, and what it says of it."""
    X, y = numbers(*table)
    model = fit(MODELS[name], X, y)
    return model, answers(model, X)


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    return {name: as_array(getattr(model, name)(X)) for name in ANSWERS if hasattr(model, name)}


def as_array(values: Any) -> np.ndarray:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def assert_same(found: Any, wanted: Any, name: str = "", tol: float = 1e-8) -> None:
    """Values of fitted attributes and of methods: numbers to eight digits, all else alike."""
    if hasattr(wanted, "objective"):  # a solution
        for part in ("support", "objective", "bound", "alpha"):
            if part == "bound" and isinstance(wanted, es.Solution):
                assert_a_bound(found, wanted)
            elif hasattr(wanted, part):
                assert_same(getattr(found, part), getattr(wanted, part), f"{name}.{part}", tol)
    elif isinstance(wanted, list | tuple):
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other, name, tol)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted), name
        for key, value in wanted.items():
            assert_same(found[key], value, f"{name}[{key}]", tol)
    elif isinstance(wanted, BaseEstimator):
        assert_same_model(found, wanted, tol)
    elif wanted is None:
        assert found is None, name
    else:
        one, other = np.asarray(found), np.asarray(wanted)
        if other.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=tol, atol=tol, err_msg=name)
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)


def assert_a_bound(found: es.Solution, wanted: es.Solution) -> None:
    """What proves it depends on what there is: the whole covariance, or passes over columns."""
    assert (found.bound is None) == (wanted.bound is None)
    if wanted.bound is not None:
        assert min(found.bound, wanted.bound) >= found.objective * (1 - 1e-9)


# of the search, not of the result (a ranking is long, and its end is round-off); subspaces are
# compared as such, names where there are names
NOT_COMPARED = {
    "n_iter_", "ranking_", "Q_", "feature_names_in_", "selected_features_",
}  # fmt: skip


def fitted(model: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name not in NOT_COMPARED
    }


def assert_same_model(found: Any, wanted: Any, tol: float = 1e-8) -> None:
    assert fitted(found).keys() == fitted(wanted).keys()
    for name, value in fitted(wanted).items():
        assert_same(getattr(found, name), value, name, tol)
    if hasattr(wanted, "Q_"):
        assert_same(subspaces(found.Q_), subspaces(wanted.Q_), "Q_", 100 * tol)


def subspaces(Q: Any) -> Any:
    return {k: q @ q.T for k, q in Q.items()} if isinstance(Q, dict) else Q @ Q.T


def assert_as_in_memory(name: str, kind: str, table: tuple[Any, ...], folder: Path) -> Any:
    X, y = numbers(*table)
    there = as_kind(X, kind, folder)
    model = fit(MODELS[name], there, y)
    wanted, said = in_memory(name, *table)
    single = X.dtype == np.float32 and isinstance(model, es.QAlphaSelector)  # computed so, too
    assert_same_model(model, wanted, 3e-6 if single else 1e-8)
    if table[0] == "tall" and hasattr(wanted, "solution_"):
        proved = [getattr(m.solution_, "bound", None) for m in (model, wanted)]
        assert_same(*proved, "bound")
    assert_same(answers(model, there), said)
    if sparse.issparse(there):
        np.testing.assert_array_equal(there.toarray(), X)  # as it was
    if is_classifier(model):
        assert model.score(there, y) == np.mean(said["predict"] == y)
    return model


@pytest.mark.parametrize("shape", TWO_SHAPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
def test_every_kind(name: str, kind: str, shape: str, tmp_path: Path) -> None:
    model = assert_as_in_memory(name, kind, (shape,), tmp_path)
    if kind in WITH_NAMES:
        assert list(model.feature_names_in_) == names_of(numbers(shape)[0])
    else:
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("kind", ["csr", "hdf5"])
@pytest.mark.parametrize("name", READERS)
def test_as_many_rows_as_columns(name: str, kind: str, tmp_path: Path) -> None:
    assert_as_in_memory(name, kind, ("square",), tmp_path)


@pytest.mark.parametrize("shape", TWO_SHAPES)
@pytest.mark.parametrize("kind", ["csc", "hdf5"])
@pytest.mark.parametrize("name", FURTHER)
def test_further_options(name: str, kind: str, shape: str, tmp_path: Path) -> None:
    assert_as_in_memory(name, kind, (shape,), tmp_path)


@pytest.mark.parametrize("shape", TWO_SHAPES)
@pytest.mark.parametrize("kind", [*SPARSE, "memmap"])
@pytest.mark.parametrize("name", IN_MEMORY)
def test_what_needs_memory(name: str, kind: str, shape: str, tmp_path: Path) -> None:
    assert_as_in_memory(name, kind, (shape,), tmp_path)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in SPARSE and kind != "memmap"]
)
def test_what_needs_memory_says_so(kind: str, tmp_path: Path) -> None:
    X, y = numbers("tall")
    table = as_kind(X, kind, tmp_path)
    for model in (*IN_MEMORY.values(), es.PreparedClassifier()):
        with pytest.raises(InputError, match="needs a table in memory"):
            clone(model).fit(table, y)


@pytest.mark.parametrize("name", MODELS)
def test_sparse_tables_are_declared(name: str) -> None:
    assert get_tags(MODELS[name]).input_tags.sparse


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("kind", ["csr", "hdf5", "torch"])
@pytest.mark.parametrize("name", READERS)
def test_numbers_of_other_types(name: str, kind: str, dtype: str, tmp_path: Path) -> None:
    for shape in TWO_SHAPES:
        assert_as_in_memory(name, kind, (shape, dtype, 1e4), tmp_path)


@pytest.mark.parametrize("kind", ["csr", "dask tiles", "memmap", "torch"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    model = READERS[name]
    X, y = numbers("tall")
    fitted_model = fit(model, X, y)
    narrow = as_kind(X[:, 1:], kind, tmp_path)
    with pytest.raises(ValueError, match="26 features"):
        fitted_model.transform(narrow)
    for bad, says in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoilt = X.copy()
        spoilt[1, 1] = bad
        with pytest.raises(ValueError, match=says):
            fit(model, as_kind(spoilt, kind, tmp_path), y)
    if is_classifier(model):
        there = as_kind(X, kind, tmp_path)
        with pytest.raises(InputError, match="one class only"):
            fit(model, there, np.full(len(y), "a"))
        with pytest.raises(InputError, match="X has 75 samples"):
            fit(model, there, y[1:])
