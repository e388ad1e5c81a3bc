"""Model files that are not as they should be: clear about what is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve.errors import InputError, ModelFileError
from eigensieve.io import _model_file
from eigensieve.io.model import load_model, save_model
from tests.io.models import fails, forge, make


def test_unreadable(tmp_path: Path) -> None:
    fails(tmp_path / "none.json", "cannot be read", "No such file")
    fails(tmp_path, "cannot be read")


def test_too_large(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _model_file.MAX_BYTES == 64 * 2**20
    monkeypatch.setattr(_model_file, "MAX_BYTES", saved.stat().st_size)
    load_model(saved)
    monkeypatch.setattr(_model_file, "MAX_BYTES", saved.stat().st_size - 1)
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
            b'{"format": "eigensieve-model", "version": 5}',
            "written by a newer eigensieve (format 5); upgrade",
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
        (lambda m: m.update(fill=None), "fill does not have the shape"),
        (lambda m: m.update(fill=[1.0]), "fill does not have the shape"),
        (lambda m: m.update(fill=[1, 2, 3, None]), "fill must hold numbers only, found None"),
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


# Written by eigensieve when the version of the format was 1.
VERSION_1 = """
{"format": "eigensieve-model", "version": 1, "digest":
"sha256:ae7a0bfd7b46bee2434ca6a7fdd78c4b7d0264c0f35df1af38d53ad830d62861", "model": {"features":
["a", "b"], "classes": ["u", "v"], "coef": [[0.3333333333333333, -0.5], [-0.3333333333333333,
0.5]], "intercept": [0.1, -0.1], "center": [1.0, 2.0], "scale": [2.0, 0.5], "scalings": [[0.7],
[-1e-07]], "offset": [0.25], "log2_floor": 0.5, "info": {"k": 2}}}
"""


def test_a_file_of_version_1_still_works(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(VERSION_1)
    model = load_model(path)
    assert model.fill is None
    # log2 of 8 and 4 is 3 and 2: z is 1 and 0, the scores are 1/3 + 0.1 and the same below 0.
    odds = math.exp(2 * (1 / 3 + 0.1))
    np.testing.assert_allclose(
        model.predict_proba(np.array([[8.0, 4.0]])), [[odds / (1 + odds), 1 / (1 + odds)]]
    )
    with pytest.raises(InputError, match="missing or infinite"):
        model.predict(np.array([[np.nan, 4.0]]))
    assert model.digest == json.loads(VERSION_1)["digest"]
    save_model(model, path)
    document = json.loads(path.read_text())
    assert document == json.loads(VERSION_1) | {"version": 4}
    assert model.temperature == 1.0


@pytest.mark.parametrize("version", [1, 2])
def test_older_versions_know_no_temperature(tmp_path: Path, version: int) -> None:
    path = tmp_path / "m.json"
    path.write_text(VERSION_1.replace('"version": 1', f'"version": {version}'))
    assert load_model(path).temperature == 1.0
    forge(path, lambda m: m.update(temperature=2.0))
    fails(path, "missing or unknown: temperature")
    path.write_text(path.read_text().replace(f'"version": {version}', '"version": 3'))
    # the scores are 1/3 + 0.1 and the same below 0, see above: halved
    odds = math.exp(1 / 3 + 0.1)
    np.testing.assert_allclose(
        load_model(path).predict_proba(np.array([[8.0, 4.0]])),
        [[odds / (1 + odds), 1 / (1 + odds)]],
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_older_versions_know_no_labels_but_text(tmp_path: Path, version: int) -> None:
    path = tmp_path / "m.json"
    path.write_text(VERSION_1.replace('"version": 1', f'"version": {version}'))
    forge(path, lambda m: m.update(classes=[7, 9]))
    fails(path, "classes must be a list of strings")
    path.write_text(path.read_text().replace(f'"version": {version}', '"version": 4'))
    assert load_model(path).predict(np.array([[8.0, 4.0]])).tolist() == [7]


def test_version_1_knows_no_fill(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(VERSION_1)
    forge(path, lambda m: m.update(fill=[1.0, 2.0]))
    fails(path, "missing or unknown: fill")
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    fill = load_model(path).fill
    assert fill is not None
    assert fill.tolist() == [1.0, 2.0]
