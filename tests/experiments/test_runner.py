"""Tasks are run once, kept by content, and the same on any number of processes."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from eigensieve.experiments.cache import Cache, CacheError, as_plain
from eigensieve.experiments.catalogue import find_experiments
from eigensieve.experiments.judge import Verdict
from eigensieve.experiments.runner import Result, run_experiment
from tests.experiments.conftest import MODULE, TOML, Write


def calls() -> list[int]:
    return importlib.import_module("eigensieve.experiments.made.one").CALLS


def figures(result: Result) -> list[tuple[str, str, object]]:
    return [(cell.row, cell.column, cell.ours) for cell in result.cells]


def test_a_second_run_takes_what_was_kept(write_experiment: Write, tmp_path: Path) -> None:
    experiment, cache = write_experiment(), Cache(tmp_path / "cache")
    first = run_experiment(experiment, "quick", cache=cache, n_jobs=1)
    assert (first.n_tasks, first.n_cached, calls()) == (2, 0, [2, 3])
    second = run_experiment(experiment, "full", cache=cache, n_jobs=1)
    assert (second.n_tasks, second.n_cached, calls()) == (3, 2, [2, 3, 4])
    assert [cell.verdict for cell in second.cells].count(Verdict.MATCHES) == 1
    assert second.n_confirmed == (1, 1)


@pytest.mark.parametrize(
    ("toml", "module", "n_cached"),
    [
        (TOML.replace('power = "10"', 'power = "9"'), MODULE, 3),  # only judged anew
        (TOML.replace("power = 2", "power = 3"), MODULE, 0),
        (TOML, MODULE.replace("** power", "** power + 1"), 0),
    ],
)
def test_what_matters_makes_a_new_key(
    write_experiment: Write, tmp_path: Path, toml: str, module: str, n_cached: int
) -> None:
    cache = Cache(tmp_path / "cache")
    run_experiment(write_experiment(), cache=cache, n_jobs=1)
    again = run_experiment(write_experiment(toml, module), cache=cache, n_jobs=1)
    assert again.n_cached == n_cached


def test_a_damaged_file_is_run_again(write_experiment: Write, tmp_path: Path) -> None:
    experiment, cache = write_experiment(), Cache(tmp_path / "cache")
    first = run_experiment(experiment, cache=cache, n_jobs=1)
    paths = sorted(cache.folder.rglob("*.json"))
    assert len(paths) == 3
    for path, text in zip(paths, ("", '{"found": 1}', '["a list"]')):
        path.write_text(text, encoding="utf-8")
    again = run_experiment(experiment, cache=cache, n_jobs=1)
    assert again.n_cached == 0
    assert figures(again) == figures(first)
    assert all("found" in json.loads(path.read_text(encoding="utf-8")) for path in paths)


def test_a_fresh_run_keeps_what_others_need(write_experiment: Write, tmp_path: Path) -> None:
    experiment, cache = write_experiment(), Cache(tmp_path / "cache")
    run_experiment(experiment, "full", cache=cache, n_jobs=1)
    fresh = Cache(cache.folder, fresh=True)
    assert run_experiment(experiment, "quick", cache=fresh, n_jobs=1).n_cached == 0
    assert calls() == [2, 3, 4, 2, 3]
    assert run_experiment(experiment, "full", cache=cache, n_jobs=1).n_cached == 3


def test_a_folder_that_cannot_be_written_to_is_no_fault_of_the_experiment(
    write_experiment: Write, tmp_path: Path
) -> None:
    (tmp_path / "cache").touch()
    with pytest.raises(CacheError, match="cache"):
        run_experiment(write_experiment(), cache=Cache(tmp_path / "cache"), n_jobs=1)


def test_an_error_is_part_of_the_result(write_experiment: Write, tmp_path: Path) -> None:
    broken = MODULE.replace("    CALLS.append(base)", "    if base == 3: raise ValueError('three')")
    cache = Cache(tmp_path / "cache")
    result = run_experiment(write_experiment(TOML, broken), cache=cache, n_jobs=1)
    assert result.trouble == "ValueError: three"
    assert "in work" in result.details
    assert result.measured is None
    assert {cell.verdict for cell in result.cells} == {Verdict.NOT_RUN, Verdict.CANNOT}
    assert len(list(cache.folder.rglob("*.json"))) == 1  # what was done before is kept


def test_ctrl_c_keeps_what_is_done(write_experiment: Write, tmp_path: Path) -> None:
    pressed = MODULE.replace("    CALLS.append(base)", "    if base == 4: raise KeyboardInterrupt")
    experiment, cache = write_experiment(TOML, pressed), Cache(tmp_path / "cache")
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, cache=cache, n_jobs=1)
    assert len(list(cache.folder.rglob("*.json"))) == 2


def test_without_its_data_nothing_is_run(
    write_experiment: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    experiment = write_experiment('data = ["sonar", "colon"]\n' + TOML)
    result = run_experiment(experiment, n_jobs=1)
    assert result.missing == ("sonar.npz", "colon.npz")
    assert {cell.verdict for cell in result.cells} == {Verdict.CANNOT}
    (tmp_path / "sonar.npz").touch()
    assert run_experiment(experiment, n_jobs=1).missing == ("colon.npz",)
    monkeypatch.delenv("EIGENSIEVE_DATA")
    assert run_experiment(experiment, n_jobs=1).missing == ("sonar.npz", "colon.npz")


def test_other_data_make_a_new_key(
    write_experiment: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "cache")
    for name, content, n_cached in (("a", b"1", 0), ("b", b"2", 0), ("c", b"1", 3)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "colon.npz").write_bytes(content)
        monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path / name))
        experiment = write_experiment('data = ["colon"]\n' + TOML)
        assert run_experiment(experiment, cache=cache, n_jobs=1).n_cached == n_cached


def test_progress_is_told(write_experiment: Write) -> None:
    told: list[tuple[str, int, int]] = []
    run_experiment(write_experiment(), n_jobs=1, progress=lambda *news: told.append(news))
    assert told == [("made/one", done, 3) for done in range(4)]


def test_two_processes_find_the_same() -> None:
    (experiment,) = find_experiments(["wolf2005/figure2a"])
    one, two = (run_experiment(experiment, "smoke", n_jobs=n) for n in (1, 2))
    assert one.trouble == two.trouble == ""
    assert figures(one) == figures(two)


def test_plain_values_only() -> None:
    assert as_plain({"a": np.arange(2), "b": (np.float64(1.5), "x")}) == {
        "a": [0, 1],
        "b": [1.5, "x"],
    }
    with pytest.raises(TypeError, match="plain values only"):
        as_plain({1, 2})
