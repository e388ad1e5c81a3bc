"""Frames of pandas, polars and pyarrow give what the array of their numbers gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import eigensieve as es
from eigensieve.errors import InputError

from .frames import FRAMES, LABELS, NAMES, NEW, X, Y

ESTIMATORS = {
    "SparseLDA": es.SparseLDA(3, certificate="none"),
    "RankedLDA": es.RankedLDA("anova", 3),
    "GroupLassoLDA": es.GroupLassoLDA(alpha=0.4),
    "GroupLassoLDACV": es.GroupLassoLDACV(alphas=[0.5, 0.3], cv=3),
    "UncorrelatedLDA": es.UncorrelatedLDA(),
    "SparseUncorrelatedLDA": es.SparseUncorrelatedLDA(rule="lda"),
    "PenalizedLDA": es.PenalizedLDA(0.1),
    "SparseOptimalScoring": es.SparseOptimalScoring(alpha=0.3),
    "SparsePCA": es.SparsePCA(2, n_features_to_select=3, certificate="none"),
    "QAlphaSelector": es.QAlphaSelector(3, n_clusters=2),
    "QAlphaSelector weights": es.QAlphaSelector(3, n_clusters=2, weight=True),
    "PreparedClassifier": es.PreparedClassifier(es.SparseLDA(2, certificate="none")),
}


SOME_KINDS = ("pandas nullable", "polars", "arrow")


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in ESTIMATORS for kind in FRAMES if kind in SOME_KINDS]
    + [("SparseLDA", kind) for kind in FRAMES if kind not in SOME_KINDS],
)
def test_estimators(name: str, kind: str) -> None:
    frame, new = FRAMES[kind](X), FRAMES[kind](NEW)
    model = clone(ESTIMATORS[name]).fit(frame, Y)
    plain = clone(ESTIMATORS[name]).fit(X, Y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.get_support(), plain.get_support())
    np.testing.assert_allclose(model.transform(new), plain.transform(NEW), rtol=1e-9, atol=1e-12)
    if hasattr(model, "predict"):
        assert model.predict(new).tolist() == plain.predict(NEW).tolist()
        chances = plain.predict_proba(NEW)
        np.testing.assert_allclose(model.predict_proba(new), chances, rtol=1e-9, atol=1e-12)
    for library, module in (("pandas", "pandas"), ("polars", "polars")):
        out = model.set_output(transform=library).transform(new)
        assert type(out).__module__.startswith(module)
        assert list(out.columns) == model.get_feature_names_out().tolist()
        np.testing.assert_allclose(out.to_numpy(), plain.transform(NEW), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", FRAMES)
def test_names_in_another_order_are_refused(kind: str) -> None:
    model = es.SparseLDA(2, certificate="none").fit(FRAMES[kind](X), Y)
    shuffled = FRAMES["pandas"](NEW)[NAMES[::-1]]
    other = {"pandas": shuffled, "polars": pl.from_pandas(shuffled)}.get(
        kind.split()[0], pa.Table.from_pandas(shuffled, preserve_index=False)
    )
    with pytest.raises(ValueError, match="same order as they were in fit"):
        model.predict(other)


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind: str) -> None:
    labels = LABELS[kind](Y)
    expected = es.SparseLDA(3, certificate="none").fit(X, Y)
    for model in (es.SparseLDA(3, certificate="none"), es.GroupLassoLDA(alpha=0.4)):
        model.fit(X, labels)
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert model.score(X, labels) == pytest.approx(np.mean(model.predict(X) == Y))
    pencil = es.lda_pencil(X, labels)
    np.testing.assert_array_equal(pencil.A, es.lda_pencil(X, Y).A)
    prepared = es.PreparedClassifier(es.SparseLDA(3, certificate="none")).fit(X, labels)
    assert prepared.classes_.tolist() == ["a", "b", "c"]
    assert prepared.get_support().tolist() == expected.get_support().tolist()


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "boolean"])
def test_nullable_labels_keep_their_type(dtype: str) -> None:
    codes = pd.Series((Y == "a").astype(int), dtype=dtype)
    lda = es.SparseLDA(2, certificate="none")
    for model in (lda, es.PreparedClassifier(lda)):
        model.fit(X, codes)
        assert model.classes_.dtype.kind == ("b" if dtype == "boolean" else "i")


@pytest.mark.parametrize(
    "labels",
    [
        pl.Series([None, *Y[1:]]),
        pl.Series([None, *range(44)]),
        pa.array([None, *Y[1:]]),
        pd.Series([None, *Y[1:]], dtype="category"),
        pd.Series([None, *np.arange(44) % 2], dtype="Int64"),
    ],
    ids=["polars", "polars ints", "arrow", "pandas category", "pandas Int64"],
)
def test_missing_labels_are_refused(labels: Any) -> None:
    for ask in (
        lambda: es.SparseLDA(2).fit(X, labels),
        lambda: es.PreparedClassifier().fit(X, labels),
        lambda: es.lda_pencil(X, labels),
        lambda: es.study(X, labels, ks=(1,), cv=3),
    ):
        with pytest.raises(InputError, match="y has missing labels"):
            ask()


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_pencils_and_functions(kind: str) -> None:
    frame = FRAMES[kind](X)
    for ask in (
        lambda table: es.lda_pencil(table, Y).A,
        lambda table: es.lda_pencil(table, Y, shrinkage=0.3).B,
        lambda table: es.pca_pencil(table).A,
        lambda table: es.gloss_path(table, Y, alphas=[0.5]).coefs,
        lambda table: es.spectral_clusters(table, 2),
        lambda table: es.ClassStats.from_data(table, Y).means,
    ):
        np.testing.assert_allclose(ask(frame), ask(X), rtol=1e-9, atol=1e-12)
    both = es.cca_pencil(frame, FRAMES[kind](X[:, ::-1]), shrinkage=0.2)
    plain = es.cca_pencil(X, X[:, ::-1], shrinkage=0.2)
    np.testing.assert_allclose(both.A, plain.A, rtol=1e-9, atol=1e-12)
    judged = es.certify(es.lda_pencil(frame, Y), [0, 2, 4])
    assert judged.bound == pytest.approx(es.certify(es.lda_pencil(X, Y), [0, 2, 4]).bound)
    weights = es.qalpha(frame, 2).alpha
    np.testing.assert_allclose(weights, es.qalpha(X, 2).alpha, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_two_views(kind: str) -> None:
    def views(rows: np.ndarray) -> tuple[Any, Any]:
        frame = FRAMES[kind](rows)
        return _drop(frame, NAMES[5:]), _drop(frame, NAMES[:5])

    model = es.SparseCCA(1, n_features_to_select=(2, 1), certificate="none").fit(*views(X))
    plain = clone(model).fit(X[:, :5], X[:, 5:])
    assert model.feature_names_in_.tolist() == NAMES[:5]
    assert model.y_feature_names_in_.tolist() == NAMES[5:]
    np.testing.assert_allclose(model.correlations_, plain.correlations_, rtol=1e-9)
    named = dict(zip(("rna", "protein"), views(NEW)))
    scores = clone(model).fit(dict(zip(("rna", "protein"), views(X)))).transform(named)
    for own, expected in zip(scores.values(), plain.transform(NEW[:, :5], NEW[:, 5:])):
        np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-12)


def _drop(frame: Any, names: list[str]) -> Any:
    if isinstance(frame, pd.DataFrame):
        return frame.drop(columns=names)
    return frame.drop(names)


def test_a_column_as_second_view() -> None:
    plain = es.SparseCCA(1, n_features_to_select=(2, 1)).fit(X[:, 1:], X[:, :1])
    for column in (pl.Series("z", X[:, 0]), pa.array(X[:, 0]), pd.Series(X[:, 0], name="z")):
        model = clone(plain).fit(FRAMES["polars"](X).drop(NAMES[0]), column)
        np.testing.assert_allclose(model.correlations_, plain.correlations_, rtol=1e-9)


def test_the_view_with_text_is_named() -> None:
    text = pl.DataFrame({"u": ["x"] * 45})
    with pytest.raises(InputError, match=r"^view 'protein' must hold numbers only: column 'u'"):
        es.SparseCCA().fit({"rna": FRAMES["polars"](X), "protein": text})
    with pytest.raises(InputError, match=r"^y must hold numbers only: column 'u'"):
        es.SparseCCA().fit(FRAMES["polars"](X), text)


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_studies_and_comparisons(kind: str) -> None:
    frame, y = FRAMES[kind](X), LABELS["arrow" if kind == "arrow" else "polars"](Y)
    groups = np.arange(45) % 9
    own_groups = pl.Series(groups) if kind == "polars" else pd.Series(groups, dtype="category")
    options = {"ks": (1, 3), "cv": 3, "n_repeats": 1}
    found = es.study(frame, y, groups=own_groups, **options)
    plain = es.study(X, Y, groups=groups, names=NAMES, **options)
    assert found.final_estimator.feature_names_in_.tolist() == NAMES
    pd.testing.assert_frame_equal(found.table, plain.table)
    pd.testing.assert_frame_equal(found.stability, plain.stability)
    assert found.final_estimator.predict(FRAMES[kind](NEW)).tolist() == (
        plain.final_estimator.predict(NEW).tolist()
    )
    compared = es.compare(frame, y, methods=["anova"], **options).table
    expected = es.compare(X, Y, names=NAMES, methods=["anova"], **options).table
    pd.testing.assert_frame_equal(
        compared.drop(columns="seconds", errors="ignore"),
        expected.drop(columns="seconds", errors="ignore"),
    )


def test_tables_of_a_study_go_to_polars_and_arrow() -> None:
    found = es.study(FRAMES["polars"](X), pl.Series(Y), ks=(1, 3), cv=3, n_repeats=1)
    table = pl.from_pandas(found.table)
    assert table["k"].to_list() == [1, 3]
    assert table["error"].to_list() == found.table["error"].tolist()
    assert pa.Table.from_pandas(found.table)["k"].to_pylist() == [1, 3]
    often = pl.from_pandas(found.stability.rename_axis("feature").reset_index())
    assert often["feature"].to_list() == NAMES


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_missing_values_are_filled_or_refused(kind: str) -> None:
    gaps = X.copy()
    gaps[::6, 0] = np.nan
    rows = pd.DataFrame(gaps, columns=NAMES)
    frame = {
        "polars": lambda: pl.from_pandas(rows),  # nulls, not NaN
        "arrow": lambda: pa.Table.from_pandas(rows),
        "pandas nullable": lambda: rows.convert_dtypes(),
    }[kind]()
    inner = es.SparseLDA(3, certificate="none")
    model = es.PreparedClassifier(inner, missing="median").fit(frame, Y)
    plain = es.PreparedClassifier(inner, missing="median").fit(gaps, Y)
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(gaps), rtol=1e-9)
    with pytest.raises(ValueError, match="NaN"):
        es.SparseLDA(2).fit(frame, Y)
    with pytest.raises(InputError, match="NaN"):
        es.lda_pencil(frame, Y)


def test_repeated_names_are_refused() -> None:
    twice = pa.table([pa.array(X[:, 0]), pa.array(X[:, 1])], names=["TP53", "TP53"])
    with pytest.raises(InputError, match=r"occur more than once .'TP53'"):
        es.SparseLDA(1).fit(twice, Y)
    with pytest.raises(InputError, match="'TP53' occurs more than once"):
        es.study(twice, Y, ks=(1,), cv=3)


def test_parts_and_paths() -> None:
    frame = FRAMES["polars"](X)
    parts = es.SparseLDA(3, certificate="none")
    parts.partial_fit(frame[::2], Y[::2]).partial_fit(frame[1::2], Y[1::2])
    whole = es.SparseLDA(3, certificate="none").fit(X, Y)
    assert parts.selected_features_.tolist() == [NAMES[j] for j in whole.selected_features_]
    path = es.SparseLDA(certificate="none").fit_path(FRAMES["arrow"](X), pa.array(Y), [2, 3])
    assert path[3].selected_features_.tolist() == parts.selected_features_.tolist()
    chosen = es.SparseLDA(3, include=pl.Series([NAMES[7]]), certificate="none").fit(frame, Y)
    assert NAMES[7] in chosen.selected_features_
