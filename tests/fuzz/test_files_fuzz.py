"""Tables and models on disk: read as they were written, or refused; nothing between."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import eigensieve as es
from eigensieve.io.model import LinearModel, load_model, save_model
from eigensieve.io.tables import read_table
from tests.fuzz.files import CleanFile, clean_files, csv_bytes, json_values
from tests.fuzz.harness import Refused, attempt, cases, new_folder
from tests.fuzz.strategies import MILD, SEEDS, Labelled, labelled
from tests.io.mutants import content, damaged, digest
from tests.io.test_model_mutations import VARIANTS, file_of, model_of, predictions, says_the_same

FOLDER = new_folder()
DATA = st.data()


def written(data: bytes, suffix: str) -> Path:
    path = FOLDER / f"file{suffix}"
    path.write_bytes(data)
    return path


# ---------------------------------------------------------------- tables


@cases(72, 800)
@given(csv_bytes(), DATA)
def test_any_text_is_read_or_refused(data: bytes, draws: st.DataObject) -> None:
    path = written(data, draws.draw(st.sampled_from([".csv"] * 6 + [".tsv", ".txt", ".csv.gz"])))
    table = attempt(
        read_table, path, draws.draw(st.sampled_from([None, None, "y", "y", " y", "a", ""])),
        transpose=draws.draw(st.sampled_from([False] * 5 + [True])),
        ignore=draws.draw(st.sampled_from([()] * 6 + [("a",), ("",)])),
        missing=draws.draw(st.sampled_from(["error", "keep"] * 5 + ["other"])),
        groups=draws.draw(st.sampled_from([None] * 9 + ["b", "y"])),
    )  # fmt: skip
    if isinstance(table, Refused):
        assert "\n" not in str(table.error), "one line for the command line"
        return
    n, p = table.X.shape
    assert table.X.dtype == np.float64
    assert not np.isinf(table.X).any()
    assert len(table.names) == len(set(table.names)) == p
    assert len(table.rows) == n
    assert table.target is None or len(table.target) == n
    assert table.groups is None or len(table.groups) == n


@cases(36, 500)
@given(clean_files())
def test_what_was_written_is_read(case: CleanFile) -> None:
    """To the last bit, whatever delimiter, quotes, line ends, mark or compression."""
    table = attempt(read_table, written(case.data, case.suffix), "target")
    assert not isinstance(table, Refused), table.error
    assert table.names == case.names
    assert table.X.tobytes() == case.X.tobytes()
    assert table.target.tolist() == case.y


@cases(16, 150)
@given(st.binary(max_size=60), st.sampled_from([".csv", ".npz", ".parquet", ".h5ad", ".x", ".gz"]))
def test_bytes_are_no_table(data: bytes, suffix: str) -> None:
    table = attempt(read_table, written(data, suffix))
    assert isinstance(table, Refused) or np.isfinite(table.X).all()


# ---------------------------------------------------------------- models

RUNS_CODE = {"exec", "compile", "os.system", "subprocess.Popen", "pickle.find_class"}
_events: list[str] = []
_listening = False


def _listen(event: str, _: Any) -> None:
    if _listening and event in RUNS_CODE:
        _events.append(event)


sys.addaudithook(_listen)


def load(path: Path) -> Any:
    """Load a model, and see to it that no code is run."""
    global _listening
    _events.clear()
    _listening = True
    try:
        return attempt(load_model, path)
    finally:
        _listening = False
        assert _events == []


def documents() -> list[bytes]:
    return [file_of(variant, FOLDER / "model.json") for variant in VARIANTS]


DOCUMENTS = documents()
EXPECTED = [predictions(model_of(*variant[1:])) for variant in VARIANTS]


@cases(56, 500)
@given(st.integers(0, len(VARIANTS) - 1), SEEDS, st.integers(1, 3))
def test_damaged_models(number: int, seed: int, times: int) -> None:
    """Refused, or the very same model."""
    rng, data = np.random.default_rng(seed), DOCUMENTS[number]
    for _ in range(times):
        data = damaged(data, rng) if len(data) > 300 else data
    model = load(written(data, ".json"))
    if isinstance(model, Refused):
        assert not says_the_same(data, DOCUMENTS[number])
    else:
        assert predictions(model) == EXPECTED[number]


@cases(56, 700)
@given(st.integers(0, len(VARIANTS) - 1), DATA, json_values(), st.booleans())
def test_forged_models(number: int, draws: st.DataObject, value: Any, sealed: bool) -> None:
    """Any value in any place, with a digest that fits or not: no model, or one that works."""
    document = json.loads(DOCUMENTS[number])
    inner = copy.deepcopy(document)
    parent: Any = inner if draws.draw(st.integers(0, 3)) == 0 else inner["model"]
    for _ in range(2):
        key = draws.draw(st.sampled_from(list(parent) if isinstance(parent, dict) else [0]))
        if not isinstance(parent[key], dict | list) or not parent[key] or draws.draw(st.booleans()):
            break
        parent = parent[key]
        key = next(iter(parent)) if isinstance(parent, dict) else 0
    parent[key] = value
    if sealed:
        inner["digest"] = digest(inner.get("model"))
    data = json.dumps(inner).encode()
    model = load(written(data, ".json"))
    if isinstance(model, Refused):
        return
    assert sealed or content(data) == content(DOCUMENTS[number]), "an unsealed change was taken"
    path = FOLDER / "again.json"
    save_model(model, path)
    again = load_model(path)
    assert again.digest == model.digest
    k = len(model.features)
    rows = np.random.default_rng(0).uniform(0.5, 3, size=(4, k))
    found = attempt(model.predict, rows)
    assert set(found.tolist()) <= set(model.classes)
    assert found.tolist() == again.predict(rows).tolist()


@cases(28, 150)
@given(st.one_of(st.binary(max_size=40), st.text(max_size=20).map(str.encode), json_values()))
def test_anything_is_no_model(value: Any) -> None:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    assert isinstance(load(written(data, ".json")), Refused)


LINEAR = [es.SparseLDA(2), es.RankedLDA("anova", 2), es.GroupLassoLDA(2), es.UncorrelatedLDA()]


@cases(16, 100)
@given(st.sampled_from(LINEAR), labelled(MILD), SEEDS)
def test_a_model_file_says_what_the_estimator_says(model: Any, case: Labelled, seed: int) -> None:
    fitted = attempt(clone(model).fit, case.X, case.y)
    if isinstance(fitted, Refused):
        return
    p = case.X.shape[1]
    rng = np.random.default_rng(seed)
    center, scale = rng.normal(size=p), 2.0 ** rng.integers(-3, 4, size=p)
    names = [f"β {j}" for j in range(p)]
    kept = LinearModel.from_discriminant(fitted, names, center, scale, None, {"seed": seed})
    path = FOLDER / "fitted.json"
    save_model(kept, path)
    model = load_model(path)
    raw = (case.X * scale + center)[:, fitted.get_support()]
    np.testing.assert_allclose(model.transform(raw), fitted.transform(case.X), atol=1e-8)
    np.testing.assert_allclose(
        model.predict_proba(raw), fitted.predict_proba(case.X), atol=1e-7
    )  # fmt: skip
    assert model.digest == kept.digest
