"""Model files: exact to the last bit, and what a model computes."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from eigensieve.errors import InputError, ModelFileError
from eigensieve.io.model import FORMAT_VERSION, LinearModel, load_model, save_model
from tests.io.models import make, tame

# ---------------------------------------------------------------- round trip


@pytest.mark.parametrize("fill", [None, np.array([-0.0, 5e-324, 0.1, 1 / 3])])
def test_round_trip_is_bit_exact(saved: Path, fill: np.ndarray | None) -> None:
    before = make(fill=fill, temperature=1 / 3)
    save_model(before, saved)
    after = load_model(saved)
    for field in fields(LinearModel):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if isinstance(old, np.ndarray):
            assert (new.dtype, new.shape) == (np.float64, old.shape)
            assert new.tobytes() == old.tobytes()
        else:
            assert new == old
    assert np.signbit(after.intercept[0])
    assert after.digest == before.digest
    assert load_model(str(saved)).digest == before.digest


def test_every_pattern_of_bits_survives(tmp_path: Path) -> None:
    bits = np.random.default_rng(0).integers(0, 2**64, size=3 * 2000, dtype=np.uint64)
    values = bits.view(np.float64)
    values[~np.isfinite(values)] = 0.1
    names = tuple(f"g{j}" for j in range(2000))
    many = make(
        features=names,
        coef=values.reshape(3, 2000),
        center=values[:2000],
        scale=np.maximum(np.abs(values[2000:4000]), 5e-324),
        scalings=values[2000:].reshape(2000, 2),
        fill=values[1000:3000],
    )
    save_model(many, tmp_path / "m.json")
    after = load_model(tmp_path / "m.json")
    assert after.coef.tobytes() == values.tobytes()
    assert after.center.tobytes() == values[:2000].tobytes()
    assert after.scalings.tobytes() == values[2000:].tobytes()
    assert after.fill is not None
    assert after.fill.tobytes() == values[1000:3000].tobytes()


def test_no_floor_and_empty_info(tmp_path: Path) -> None:
    save_model(make(log2_floor=None, info={}), tmp_path / "m.json")
    after = load_model(tmp_path / "m.json")
    assert after.log2_floor is None
    assert after.info == {}


def test_file_layout(saved: Path) -> None:
    document = json.loads(saved.read_text("ascii"))
    assert list(document) == ["format", "version", "digest", "model"]
    assert document["format"] == "eigensieve-model"
    assert document["version"] == FORMAT_VERSION == 4
    assert document["digest"] == make().digest
    assert document["digest"].startswith("sha256:")
    names = {field.name for field in fields(LinearModel)}
    assert set(document["model"]) == names - {"fill", "temperature"}
    save_model(make(fill=[1, 2, 3, 4], temperature=2.5), saved)
    assert set(json.loads(saved.read_text("ascii"))["model"]) == names


def test_digest_follows_content() -> None:
    digests = {make().digest, make(log2_floor=0.2).digest, make(info={}).digest}
    digests |= {make(fill=np.ones(4)).digest, make(fill=np.zeros(4)).digest}
    assert len(digests) == 5
    assert make(intercept=np.array([0.0, 0.1, 2.0])).digest not in digests  # 0.0 is not -0.0


def test_saving_replaces_in_one_step(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = saved.read_bytes()

    def crash(*args: object) -> None:
        raise OSError("disk on fire")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", crash)
        with pytest.raises(ModelFileError, match="disk on fire"):
            save_model(make(info={}), saved)
    assert saved.read_bytes() == old
    assert [path.name for path in saved.parent.iterdir()] == ["model.json"]
    save_model(make(info={}), saved)
    assert load_model(saved).info == {}
    assert [path.name for path in saved.parent.iterdir()] == ["model.json"]


def test_saved_file_has_ordinary_permissions(saved: Path) -> None:
    other = saved.parent / "other"
    other.write_text("x")
    assert saved.stat().st_mode == other.stat().st_mode


def test_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be written"):
        save_model(make(), tmp_path / "no" / "m.json")
    (tmp_path / "d").mkdir()
    with pytest.raises(ModelFileError, match="cannot be written"):
        save_model(make(), tmp_path / "d")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


# ---------------------------------------------------------------- what a model computes


def test_predictions_against_plain_formulas() -> None:
    model = tame()
    X = np.random.default_rng(0).normal(size=(7, 2))
    Z = (X - [1.0, 2.0]) / [2.0, 0.5]
    scores = Z @ model.coef.T + model.intercept
    np.testing.assert_allclose(model.standardize(X), Z, rtol=1e-15)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-13)
    weights = np.exp(scores)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, weights / weights.sum(axis=1)[:, None], rtol=1e-12)
    assert model.predict(X).tolist() == [model.classes[i] for i in scores.argmax(axis=1)]
    assert model.predict(X).dtype.kind == "U"
    np.testing.assert_allclose(model.transform(X), Z @ model.scalings - 0.25, rtol=1e-13)


def test_log2_floor() -> None:
    X = np.array([[8.0, -5.0], [0.0, 2.0]])
    np.testing.assert_allclose(
        tame(log2_floor=0.5).standardize(X), (np.array([[3, -1], [-1, 1]]) - [1, 2]) / [2, 0.5]
    )


def test_softmax_is_stable() -> None:
    proba = tame().predict_proba(np.array([[1e6, -1e6], [-1e6, 1e6]]))
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize("shape", [(2,), (3, 1), (3, 3), (2, 2, 2)])
def test_wrong_shape(shape: tuple[int, ...]) -> None:
    for method in ("standardize", "decision_function", "predict", "predict_proba", "transform"):
        with pytest.raises(InputError, match=r"needs \(n, 2\): the columns a, b"):
            getattr(tame(), method)(np.zeros(shape))


def test_missing_values_in_new_rows() -> None:
    with pytest.raises(InputError, match="missing or infinite"):
        tame().predict(np.array([[np.nan, 1.0]]))


def test_missing_values_are_filled() -> None:
    nan, model = np.nan, replace(tame(), fill=np.array([5.0, -7.0]))
    filled = tame().decision_function(np.array([[5.0, 1.0], [2.0, -7.0], [5.0, -7.0], [3.0, 4.0]]))
    X = np.array([[nan, 1.0], [2.0, nan], [nan, nan], [3.0, 4.0]])
    assert model.decision_function(X).tobytes() == filled.tobytes()
    assert np.isnan(X).sum() == 4  # the caller's array is not touched
    with pytest.raises(InputError, match="X has infinite values"):
        model.predict(np.array([[nan, np.inf]]))


def test_missing_values_are_filled_after_log2() -> None:
    model = replace(tame(log2_floor=0.5), fill=np.array([-9.0, 3.0]))
    X = np.array([[np.nan, 0.1], [8.0, np.nan]])
    expected = (np.array([[-9, -1], [3, 3]]) - [1, 2]) / [2, 0.5]
    np.testing.assert_allclose(model.standardize(X), expected, rtol=1e-15)


def test_arrays_are_copies_and_read_only() -> None:
    coef = np.ones((3, 4))
    model = make(coef=coef)
    coef[0, 0] = 9
    assert model.coef[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        model.coef[0, 0] = 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": "abcd"}, "features must be a list of strings"),
        ({"features": ("a", "a", "b", "c")}, "'a' more than once"),
        ({"features": ()}, "features has 0 entries"),
        ({"classes": ("u",)}, "classes has 1 entries"),
        ({"classes": ("u", "v", 3)}, "classes must be"),
        ({"classes": (0, 1, 2.0)}, "numbers of one kind"),
        ({"classes": (0, 1, True)}, "numbers of one kind"),
        ({"classes": (None, None, None)}, "numbers of one kind"),
        ({"classes": (0, 1, 10**30)}, "finite numbers of 64 bits"),
        ({"classes": (0, -1, 2**63)}, "finite numbers of 64 bits"),
        ({"classes": (0.0, 1.0, np.inf)}, "finite numbers of 64 bits"),
        ({"classes": (0, 1, 1)}, "two different labels"),
        ({"coef": np.ones((3, 3))}, "coef has shape (3, 3); expected (3, 4)"),
        ({"intercept": [1, 2]}, "intercept has shape"),
        ({"center": [np.nan, 1, 1, 1]}, "center has values that are not finite"),
        ({"scale": [0, 1, 1, 1]}, "scale must be positive"),
        ({"scale": ["x", 1, 1, 1]}, "scale must hold numbers"),
        ({"scalings": np.ones((4, 3))}, "scalings has shape"),
        ({"offset": [], "scalings": np.ones((4, 0))}, "none of them 0"),
        ({"log2_floor": 0.0}, "log2_floor is 0.0"),
        ({"log2_floor": np.inf}, "log2_floor"),
        ({"fill": [1, 2, 3]}, "fill has shape (3,); expected (4,)"),
        ({"fill": [1, 2, 3, np.nan]}, "fill has values that are not finite"),
        ({"fill": "abcd"}, "fill must hold numbers"),
        ({"info": []}, "info must be a dict"),
        ({"info": {"a": np.nan}}, "info must hold finite JSON"),
        ({"info": {"a": np.int64(1)}}, "info must hold finite JSON"),
        ({"info": {1: 2, "1": 3}}, "same key twice"),
    ],
)
def test_wrong_content(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        make(**changes)
    assert words in str(caught.value)


def test_info_is_what_a_reload_gives(tmp_path: Path) -> None:
    model = make(info={"ks": (1, 2), 3: "three"})
    save_model(model, tmp_path / "m.json")
    assert model.info == load_model(tmp_path / "m.json").info == {"ks": [1, 2], "3": "three"}


# ---------------------------------------------------------------- from a discriminant


def fitted(n_classes: int) -> tuple[LinearModel, SimpleNamespace, np.ndarray]:
    """scikit-learn's LDA on three of six features, dressed as a sparse one."""
    rng = np.random.default_rng(n_classes)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 6)) * 3 + 5 + y[:, None] * rng.normal(size=6)
    center, scale = X.mean(axis=0), X.std(axis=0)
    Z, support = (X - center) / scale, np.array([1, 3, 4])
    lda = LinearDiscriminantAnalysis().fit(Z[:, support] + 0.5, np.array(list("uvw"))[y])
    rows = len(lda.coef_)
    sparse = SimpleNamespace(
        get_support=lambda indices: support,
        classes_=lda.classes_,
        coef_=np.zeros((rows, 6)),
        intercept_=lda.intercept_,
        scalings_=np.zeros((6, lda.scalings_.shape[1])),
        xbar_=np.zeros(6),
    )
    sparse.coef_[:, support] = lda.coef_
    sparse.scalings_[support] = lda.scalings_
    sparse.xbar_[support] = lda.xbar_
    names = [f"g{j}" for j in range(6)]
    model = LinearModel.from_discriminant(sparse, names, center - 0.5 * scale, scale, None, {})
    sparse.lda, sparse.Z = lda, Z[:, support] + 0.5
    return model, sparse, X[:, support]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_from_discriminant_agrees_with_sklearn(n_classes: int) -> None:
    model, sparse, X = fitted(n_classes)
    lda, Z = sparse.lda, sparse.Z
    assert model.features == ("g1", "g3", "g4")
    assert model.classes == tuple("uvw"[:n_classes])
    np.testing.assert_allclose(model.predict_proba(X), lda.predict_proba(Z), rtol=1e-8, atol=1e-12)
    assert model.predict(X).tolist() == lda.predict(Z).tolist()
    m = n_classes - 1
    np.testing.assert_allclose(model.transform(X)[:, :m], lda.transform(Z), rtol=1e-8, atol=1e-10)


def test_from_discriminant_keeps_the_fill_of_the_selected() -> None:
    _, sparse, X = fitted(3)
    fill = np.array([np.nan, 1.5, np.nan, -2.0, 0.25, np.inf])
    ones = np.ones(6)
    model = LinearModel.from_discriminant(sparse, list("abcdef"), 0 * ones, ones, None, {}, fill)
    assert model.fill is not None
    assert model.fill.tolist() == [1.5, -2.0, 0.25]
    gaps = X.copy()
    gaps[::2, 1] = np.nan
    X[::2, 1] = -2.0
    assert model.predict(gaps).tolist() == sparse.lda.predict(X).tolist()
    fill[3] = np.nan
    with pytest.raises(InputError, match="fill has values that are not finite"):
        LinearModel.from_discriminant(sparse, list("abcdef"), 0 * ones, ones, None, {}, fill)


def test_from_discriminant_survives_the_file(tmp_path: Path) -> None:
    model, _, X = fitted(3)
    save_model(model, tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_from_discriminant_refuses_weights_outside_the_support() -> None:
    _, sparse, _ = fitted(3)
    sparse.coef_[0, 0] = 1e-3
    with pytest.raises(InputError, match="outside get_support"):
        LinearModel.from_discriminant(sparse, list("abcdef"), np.zeros(6), np.ones(6), None, {})


def test_replace_keeps_the_checks() -> None:
    with pytest.raises(InputError, match="scale must be positive"):
        replace(tame(), scale=np.array([1.0, -1.0]))
