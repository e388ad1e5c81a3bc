"""Over 2,000 model files that went wrong: refused, or the very same model; nothing between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eigensieve.errors import ModelFileError
from eigensieve.io.model import LinearModel, load_model, save_model
from tests.io.mutants import content, damaged, digest, forgeries, rewritten

# version, log2, fill, temperature, classes that are numbers
Variant = tuple[int, bool, bool, bool, bool]
VARIANTS: list[Variant] = [
    (1, False, False, False, False),
    (1, True, False, False, False),
    (2, False, False, False, False),
    (2, True, False, False, False),
    (2, False, True, False, False),
    (2, True, True, False, False),
    (3, False, True, False, False),
    (3, True, False, True, False),
    (3, True, True, True, False),
    (4, False, False, False, True),
    (4, True, True, True, True),
]
N_DAMAGED = 250


def model_of(log2: bool, fill: bool, temperature: bool, numbers: bool) -> LinearModel:
    rng = np.random.default_rng(5)
    return LinearModel(
        features=("β-actin", 'a,"b"'),
        classes=(-1, 0, 10) if numbers else ("u", "v", "w"),
        coef=rng.normal(size=(3, 2)),
        intercept=rng.normal(size=3),
        center=np.array([1 / 3, -0.0]),
        scale=np.array([0.1, 1e-3]),
        scalings=rng.normal(size=(2, 2)),
        offset=np.array([1e-300, 12.0]),
        log2_floor=0.1 if log2 else None,
        info={"method": "sparse-lda", "nested": {"b": [1, None, True, 0.1]}},
        fill=np.array([0.7, 1e-5]) if fill else None,
        temperature=2.5 if temperature else 1.0,
    )


def file_of(variant: Variant, path: Path) -> bytes:
    save_model(model_of(*variant[1:]), path)
    document = json.loads(path.read_text("ascii")) | {"version": variant[0]}
    assert document["digest"] == digest(document["model"])
    return json.dumps(document).encode() + b"\n"


def predictions(model: LinearModel) -> bytes:
    X = np.random.default_rng(0).uniform(-1, 3, size=(20, 2))
    if model.fill is not None:
        X[::3, 0] = X[1::4, 1] = np.nan
    labels = repr(model.predict(X).tolist()).encode()
    return labels + model.predict_proba(X).tobytes() + model.transform(X).tobytes()


def damages(data: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    """Different files, none of them the original."""
    seen = {data}
    while len(seen) <= N_DAMAGED:
        mutant = damaged(data, rng)
        if mutant not in seen:
            seen.add(mutant)
            yield mutant


def says_the_same(mutant: bytes, data: bytes) -> bool:
    """The same content; a version that knows all of it says the same as another one."""
    said, meant = content(mutant), content(data)
    least = 3 if b'"temperature"' in data else 2 if b'"fill"' in data else 1
    least = 4 if b'"classes": ["u"' not in data else least
    same = {
        meant.replace(f'["version", {old}]', f'["version", {new}]')
        for old in (1, 2, 3, 4)
        for new in range(least, 5)
        if meant is not None
    }
    return said is not None and said in {meant, *same}


def refuses(path: Path, mutant: bytes) -> None:
    path.unlink()  # a new file is written faster than one that is replaced
    path.write_bytes(mutant)
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_there_are_over_2000_different_files(tmp_path: Path) -> None:
    every = set[bytes]()
    for number, variant in enumerate(VARIANTS):
        data = file_of(variant, tmp_path / "m.json")
        every.update(damages(data, np.random.default_rng(number)))
        every.update(forgeries(json.loads(data)))
    assert len(every) > 2000


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_damaged_files(tmp_path: Path, variant: Variant) -> None:
    path = tmp_path / "m.json"
    data = file_of(variant, path)
    expected = predictions(model_of(*variant[1:]))
    refused = 0
    for mutant in damages(data, np.random.default_rng(VARIANTS.index(variant))):
        if says_the_same(mutant, data):
            path.write_bytes(mutant)
            assert predictions(load_model(path)) == expected
        else:
            refuses(path, mutant)
            refused += 1
    assert refused > 0.9 * N_DAMAGED


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_forged_files(tmp_path: Path, variant: Variant) -> None:
    data = file_of(variant, tmp_path / "m.json")
    mutants = set(forgeries(json.loads(data)))
    assert len(mutants) > 500
    for mutant in mutants:
        refuses(tmp_path / "m.json", mutant)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_same_content_in_another_layout(tmp_path: Path, variant: Variant) -> None:
    path = tmp_path / "m.json"
    data = file_of(variant, path)
    original = model_of(*variant[1:])
    rng = np.random.default_rng(1)
    files = {data, *(rewritten(data, rng) for _ in range(30))}
    assert len(files) > 25
    for mutant in files:
        assert says_the_same(mutant, data)
        path.write_bytes(mutant)
        model = load_model(path)
        assert model.digest == original.digest
        assert predictions(model) == predictions(original)
