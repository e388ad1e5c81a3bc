"""Model files: exact, safe, and clear about what is wrong with a bad one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from eigensieve.errors import InputError, ModelFileError
from eigensieve.io import model as model_module
from eigensieve.io.model import FORMAT_VERSION, LinearModel, load_model, save_model

AWKWARD = [0.1, 1e-300, -0.0, 5e-324, 1 / 3, 1.7976931348623157e308]


def make(**changes: Any) -> LinearModel:
    content: dict[str, Any] = {
        "features": ("β-actin", 'a,"b"', "g\ud800", "<b>"),
        "classes": ("u", "v", "w"),
        "coef": np.resize(AWKWARD, (3, 4)),
        "intercept": np.array([-0.0, 0.1, 2.0]),
        "center": np.array(AWKWARD[:4]),
        "scale": np.array([0.1, 1e-300, 5e-324, 1.0]),
        "scalings": np.resize(AWKWARD, (4, 2)),
        "offset": np.array([1e22, -1e-7]),
        "log2_floor": 0.1,
        "info": {"method": "sparse-lda", "k": 4, "x": 0.1, "nested": {"b": [1, None, True]}},
    }
    return LinearModel(**(content | changes))


def tame(log2_floor: float | None = None) -> LinearModel:
    rng = np.random.default_rng(3)
    return LinearModel(
        features=("a", "b"),
        classes=("u", "v", "w"),
        coef=rng.normal(size=(3, 2)),
        intercept=rng.normal(size=3),
        center=np.array([1.0, 2.0]),
        scale=np.array([2.0, 0.5]),
        scalings=rng.normal(size=(2, 1)),
        offset=np.array([0.25]),
        log2_floor=log2_floor,
        info={},
    )


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_model(make(), tmp_path / "model.json")
    return tmp_path / "model.json"


def fails(path: Path, *words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    for word in (str(path), *words):
        assert word in str(caught.value)


# ---------------------------------------------------------------- round trip


def test_round_trip_is_bit_exact(saved: Path) -> None:
    before, after = make(), load_model(saved)
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


def test_no_floor_and_empty_info(tmp_path: Path) -> None:
    save_model(make(log2_floor=None, info={}), tmp_path / "m.json")
    after = load_model(tmp_path / "m.json")
    assert after.log2_floor is None
    assert after.info == {}


def test_file_layout(saved: Path) -> None:
    document = json.loads(saved.read_text("ascii"))
    assert list(document) == ["format", "version", "digest", "model"]
    assert document["format"] == "eigensieve-model"
    assert document["version"] == FORMAT_VERSION == 1
    assert document["digest"] == make().digest
    assert document["digest"].startswith("sha256:")
    assert set(document["model"]) == {field.name for field in fields(LinearModel)}


def test_digest_follows_content() -> None:
    digests = {make().digest, make(log2_floor=0.2).digest, make(info={}).digest}
    assert len(digests) == 3
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
        tame().predict([[np.nan, 1.0]])  # type: ignore[arg-type]


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
        ({"coef": np.ones((3, 3))}, "coef has shape (3, 3); expected (3, 4)"),
        ({"intercept": [1, 2]}, "intercept has shape"),
        ({"center": [np.nan, 1, 1, 1]}, "center has values that are not finite"),
        ({"scale": [0, 1, 1, 1]}, "scale must be positive"),
        ({"scale": ["x", 1, 1, 1]}, "scale must hold numbers"),
        ({"scalings": np.ones((4, 3))}, "scalings has shape"),
        ({"offset": [], "scalings": np.ones((4, 0))}, "none of them 0"),
        ({"log2_floor": 0.0}, "log2_floor is 0.0"),
        ({"log2_floor": np.inf}, "log2_floor"),
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


# ---------------------------------------------------------------- bad files


def test_unreadable(tmp_path: Path) -> None:
    fails(tmp_path / "none.json", "cannot be read", "No such file")
    fails(tmp_path, "cannot be read")


def test_too_large(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_module.MAX_BYTES == 64 * 2**20
    monkeypatch.setattr(model_module, "MAX_BYTES", saved.stat().st_size)
    load_model(saved)
    monkeypatch.setattr(model_module, "MAX_BYTES", saved.stat().st_size - 1)
    fails(saved, "larger than")
    with pytest.raises(ModelFileError, match="at most"):
        save_model(make(), saved)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"{", "not valid JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"1" * 5000, "not valid JSON"),
        (b'{"format": NaN}', "NaN is not allowed"),
        (b'{"format": 1, "format": 2}', "same key twice"),
        (b"[]", "not an eigensieve model"),
        (b"null", "not an eigensieve model"),
        (b'{"format": "other"}', "not an eigensieve model"),
        (b'{"format": "eigensieve-model"}', "unknown format version None"),
        (b'{"format": "eigensieve-model", "version": true}', "unknown format version True"),
        (b'{"format": "eigensieve-model", "version": 0}', "unknown format version 0"),
        (
            b'{"format": "eigensieve-model", "version": 2}',
            "written by a newer eigensieve (format 2); upgrade",
        ),
        (b'{"format": "eigensieve-model", "version": 1}', "must have exactly"),
        (
            b'{"format": "eigensieve-model", "version": 1, "digest": "", "model": []}',
            "must have exactly",
        ),
        (
            b'{"format": "eigensieve-model", "version": 1, "digest": "", "model": {"a": 1e999}}',
            "no model has",
        ),
        (
            b'{"format": "eigensieve-model", "version": 1, "digest": "sha256:", "model": {}}',
            "digest does not match",
        ),
    ],
)
def test_bad_envelope(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(data)
    fails(path, words)


def forge(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit the content and give the file a digest that fits."""
    document = json.loads(path.read_text())
    change(document["model"])
    document["digest"] = model_module._digest(document["model"])
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.pop("coef"), "missing or unknown: coef"),
        (lambda m: m.update(extra=1), "missing or unknown: extra"),
        (lambda m: m.update(features="abcd"), "features must be a list"),
        (lambda m: m.update(features=[["a"], "b", "c", "d"]), "features must be a list of strings"),
        (lambda m: m.update(features=["a", "a", "b", "c"]), "'a' more than once"),
        (lambda m: m.update(classes=["u", "u", "v"]), "'u' more than once"),
        (lambda m: m.update(classes={"u": 1}), "classes must be a list"),
        (lambda m: m.update(features=[], coef=[[], [], []]), "shape"),
        (lambda m: m["coef"].pop(), "coef does not have the shape"),
        (lambda m: m["coef"][0].pop(), "coef does not have the shape"),
        (lambda m: m["coef"].__setitem__(0, 1.0), "coef does not have the shape"),
        (lambda m: m["intercept"].__setitem__(0, "1.5"), "numbers only, found '1.5'"),
        (lambda m: m["intercept"].__setitem__(0, None), "numbers only, found None"),
        (lambda m: m["intercept"].__setitem__(0, True), "numbers only, found True"),
        (lambda m: m["intercept"].__setitem__(0, 10**400), "intercept must hold numbers"),
        (lambda m: m["scale"].__setitem__(0, 0), "scale must be positive"),
        (lambda m: m["scale"].__setitem__(0, -1.0), "scale must be positive"),
        (lambda m: m.update(offset=[]), "scalings does not have the shape"),
        (lambda m: m.update(log2_floor="1"), "log2_floor must hold numbers"),
        (lambda m: m.update(log2_floor=[1]), "log2_floor must hold numbers"),
        (lambda m: m.update(log2_floor=-1), "it must be positive"),
        (lambda m: m.update(info=[]), "info must be a dict"),
    ],
)
def test_forged_content(
    saved: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    forge(saved, change)
    fails(saved, words)


def test_integers_are_numbers_too(saved: Path) -> None:
    forge(saved, lambda m: m["intercept"].__setitem__(0, 3))
    assert load_model(saved).intercept[0] == 3.0


def test_digest_of_another_model(saved: Path) -> None:
    text = saved.read_text()
    assert "0.1" in text
    saved.write_text(text.replace("1e-300", "1e-299", 1))
    fails(saved, "damaged or edited")


def test_white_space_does_not_matter(saved: Path) -> None:
    saved.write_text(json.dumps(json.loads(saved.read_text()), indent=3))
    assert load_model(saved).digest == make().digest


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """One random change: a byte set, bytes cut out, repeated, or put in."""
    i, j = sorted(rng.integers(0, len(data), size=2))
    pieces = [b'"', b"{", b"[", b"NaN", b"1e999", b"9" * 500, b"\xff", b"\\ud800", b"null", b"-"]
    piece = pieces[rng.integers(len(pieces))]
    byte = bytes([rng.integers(256)])
    return [
        data[:i] + byte + data[i + 1 :],
        data[:i] + data[j:],
        data[:j] + data[i:],
        data[:i] + piece + data[i:],
        data[:i] + piece + data[i + 1 :],
    ][rng.integers(5)]


def test_mutations_raise_nothing_else(saved: Path) -> None:
    """A mutant is refused, or it still is the same model (a blank turned to a tab, say)."""
    data, digest = saved.read_bytes(), make().digest
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        saved.write_bytes(mutate(data, rng))
        try:
            assert load_model(saved).digest == digest
        except ModelFileError:
            refused += 1
    assert refused > 350


def test_truncations_raise_nothing_else(saved: Path) -> None:
    data = saved.read_bytes()
    for size in range(0, len(data) - 1, 7):  # the last byte is a line end
        saved.write_bytes(data[:size])
        fails(saved)


@pytest.mark.parametrize("name", [field.name for field in fields(LinearModel)])
def test_forged_mutations_raise_nothing_else(saved: Path, name: str) -> None:
    """Odd values under a good digest: the checks of the fields stand alone."""
    original = saved.read_text()
    values: list[Any] = [
        None,
        True,
        "x",
        -1,
        10**400,
        1e308,
        [],
        {},
        [[]],
        [1.0],
        "\ud800",
        {"a": [1]},
    ]
    refused = 0
    for value in values:
        for whole in (True, False):
            saved.write_text(original)
            forge(saved, partial(put, name=name, value=value, whole=whole))
            try:
                load_model(saved)
            except ModelFileError:
                refused += 1
    assert refused >= 15


def put(content: dict[str, Any], name: str, value: Any, whole: bool) -> None:
    if whole or not isinstance(content[name], list):
        content[name] = value
    else:
        content[name][0] = value


def test_replace_keeps_the_checks() -> None:
    with pytest.raises(InputError, match="scale must be positive"):
        replace(tame(), scale=np.array([1.0, -1.0]))
