"""The checkpoint of a study: whatever happens to the file, never a wrong result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.studies.jobs import run_job
from eigensieve.studies.running.checkpoint import Checkpoint
from tests.studies.whole import as_bytes, make_table

OUTCOME = [[{"predicted": [0, 1], "auc": 0.1 + 0.2, "support": [3], "early": False}]]


def small_study(path: Path | None = None, **options: Any) -> es.Study:
    X, y = make_table(24, 10, gaps=False)
    usual = {"estimator": es.RankedLDA("anova"), "ks": (1, 2), "cv": 2, "n_repeats": 2, "k": 2}
    return es.study(X, y, checkpoint=path, **{**usual, **options})


@pytest.fixture(scope="module")
def expected() -> bytes:
    return as_bytes(small_study())


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "study.jsonl"
    small_study(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "study.jsonl"


# ---------------------------------------------------------------- what is kept


def test_one_line_per_job(whole_file) -> None:
    head, *lines = [json.loads(line)["content"] for line in whole_file.splitlines()]
    assert head["format"] == "eigensieve-checkpoint"
    assert len(lines) == len({line["key"] for line in lines}) == 4  # two folds, twice
    for line in lines:
        for finding in line["outcome"][0]:
            assert len(finding["predicted"]) == 12


def test_results_come_back_to_the_last_bit(path) -> None:
    with Checkpoint(path, "mine") as file:
        file.add("a", OUTCOME)
    with Checkpoint(path, "mine") as file:
        assert file.found == {"a": OUTCOME}


def test_jobs_that_are_done_are_not_run_again(path, whole_file, monkeypatch, expected) -> None:
    path.write_bytes(whole_file)
    monkeypatch.setattr("eigensieve.studies.running.runner.run_job", None)  # any job would fail
    assert as_bytes(small_study(path)) == expected
    assert path.read_bytes() == whole_file


# ---------------------------------------------------------------- damage


def test_cut_at_every_byte(path) -> None:
    with Checkpoint(path, "mine") as file:
        for key in ("a", "b", "c"):
            file.add(key, OUTCOME)
    whole = path.read_bytes()
    ends = [i + 1 for i in range(len(whole)) if whole[i : i + 1] == b"\n"]
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        n_whole = sum(end <= size for end in ends)
        with Checkpoint(path, "mine") as file:
            assert list(file.found) == ["a", "b", "c"][: max(0, n_whole - 1)]
        assert path.read_bytes() == whole[: ends[max(0, n_whole - 1)]]


def test_a_study_from_a_file_that_was_cut(path, whole_file, expected) -> None:
    rng = np.random.default_rng(0)
    for size in rng.integers(len(whole_file), size=25).tolist():
        path.write_bytes(whole_file[:size])
        assert as_bytes(small_study(path)) == expected
        assert sorted(path.read_bytes().splitlines()) == sorted(whole_file.splitlines())


def test_flipped_bits_never_change_a_result(path) -> None:
    with Checkpoint(path, "mine") as file:
        file.add("a", OUTCOME)
        file.add("b", OUTCOME)
    whole = path.read_bytes()
    head = whole.index(b"\n") + 1
    for place in range(len(whole)):
        for bit in (0, 6):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            if place < head:
                with pytest.raises(InputError, match=r"checkpoint|another study"):
                    Checkpoint(path, "mine").__enter__()
                assert path.read_bytes() == damaged
                continue
            with Checkpoint(path, "mine") as file:
                assert list(file.found) in ([], ["a"], ["a", "b"])
                assert all(outcome == OUTCOME for outcome in file.found.values())


def test_a_study_from_a_damaged_file(path, whole_file, expected) -> None:
    rng = np.random.default_rng(1)
    head = whole_file.index(b"\n") + 1
    for place in rng.integers(head, len(whole_file), size=20).tolist():
        damaged = bytearray(whole_file)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        assert as_bytes(small_study(path)) == expected


@pytest.mark.parametrize(
    "garbage",
    [b"x", b"\n", b"\n\n", b"\0" * 5000, b"[" * 100_000 + b"\n", b"\xff\xfe\n", b"{}\n", b"[1]\n",
     b'{"digest": "', b'{"digest": "0", "content": 5}\n'],
)  # fmt: skip
def test_garbage_at_the_end(path, whole_file, expected, garbage) -> None:
    path.write_bytes(whole_file + garbage)
    assert as_bytes(small_study(path)) == expected
    assert path.read_bytes() == whole_file


def test_two_files_in_one(path, whole_file, expected) -> None:
    path.write_bytes(whole_file * 2)
    assert as_bytes(small_study(path)) == expected
    assert path.read_bytes() == whole_file


# ---------------------------------------------------------------- other studies, other files


OTHERS = {
    "ks": {"ks": (1, 2, 3)},
    "parameter": {"estimator": es.RankedLDA("anova", priors="balanced")},
    "method": {"estimator": es.RankedLDA("pearson")},
    "missing": {"missing": "median"},
    "names": {"names": list("abcdefghij")},
    "groups": {"groups": np.arange(24)},
    "name": {"estimator": {"mine": es.RankedLDA("anova")}},
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_study_is_refused_or_replaced(path, whole_file, other) -> None:
    path.write_bytes(whole_file)
    with pytest.raises(InputError, match=r"study.jsonl: holds the results of another study.*dele"):
        small_study(path, **OTHERS[other])
    assert path.read_bytes() == whole_file
    found = small_study(path, **OTHERS[other], restart=True)
    assert as_bytes(found) == as_bytes(small_study(**OTHERS[other]))
    assert path.read_bytes() != whole_file
    found = small_study(path, **OTHERS[other])  # now it is this study's file
    assert as_bytes(found) == as_bytes(small_study(**OTHERS[other]))


def test_other_data_are_refused(path) -> None:
    X, y = make_table(24, 10, gaps=False)
    one = X.copy()
    one[3, 2] = np.nextafter(one[3, 2], np.inf)
    options: dict[str, Any] = {"cv": 2, "n_repeats": 1, "k": 1, "ks": (1,), "checkpoint": path}
    es.study(X, y, es.RankedLDA(), **options)
    for rows, labels in ((one, y), (X, np.roll(y, 1)), (X[::-1], y), (X[:, ::-1], y)):
        with pytest.raises(InputError, match="another study"):
            es.study(rows, labels, es.RankedLDA(), **options)


def test_numbers_and_texts_are_other_labels(path) -> None:
    # as numbers 2 comes before 10, as texts after it: what was predicted would change sides
    X, y = make_table(24, 10, gaps=False)
    numbers = np.where(y == "a", 2, 10)
    options: dict[str, Any] = {"cv": 2, "n_repeats": 1, "k": 1, "ks": (1,), "checkpoint": path}
    error = es.study(X, numbers, es.RankedLDA(), **options).honest_error
    with pytest.raises(InputError, match="another study"):
        es.study(X, numbers.astype(str), es.RankedLDA(), **options)
    texts = es.study(X, numbers.astype(str), es.RankedLDA(), **options, restart=True).honest_error
    assert error is not None
    assert texts is not None
    assert texts.error == error.error


def test_more_of_the_same_study_uses_what_is_there(path, whole_file, monkeypatch) -> None:
    # splits are no part of what the file belongs to: only new ones are run
    ran = []

    def watched(*order: Any) -> Any:
        ran.append(order)
        return run_job(*order)

    monkeypatch.setattr("eigensieve.studies.running.runner.run_job", watched)
    path.write_bytes(whole_file)
    found = small_study(path, n_repeats=3)
    assert len(ran) == 2  # the folds of one more repeat
    monkeypatch.undo()
    assert as_bytes(found) == as_bytes(small_study(n_repeats=3))
    found = small_study(path, random_state=100)
    assert as_bytes(found) == as_bytes(small_study(random_state=100))


@pytest.mark.parametrize(
    "content",
    [b"a,b\n1,2\n", b"\n", b"{}\n", b'{"digest": 1}', b'{"digest": "x"}\n', b"no newline"],
)
@pytest.mark.parametrize("restart", [False, True])
def test_a_file_that_is_no_checkpoint_is_not_touched(path, content, restart) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"study.jsonl: is no checkpoint of a study; name another"):
        small_study(path, restart=restart)
    assert path.read_bytes() == content


def test_an_empty_file_is_used(path, whole_file, expected) -> None:
    path.touch()
    assert as_bytes(small_study(path)) == expected
    assert path.read_bytes() == whole_file


def test_a_file_in_use_is_left_alone(path, expected) -> None:
    with Checkpoint(path, "other"):
        held = path.read_bytes()
        with pytest.raises(InputError, match="another run is writing to it"):
            small_study(path, restart=True)
        assert path.read_bytes() == held
    assert as_bytes(small_study(path, restart=True)) == expected


def test_a_file_is_free_again_after_an_error(path) -> None:
    def fail(*event: Any) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        small_study(path, progress=fail)
    with Checkpoint(path, "other", replace=True):
        pass


@pytest.mark.parametrize("place", ["missing/study.jsonl", ".", "/proc/study.jsonl"])
def test_places_that_cannot_be_written(tmp_path, place) -> None:
    with pytest.raises(InputError, match=r"cannot be written \((No such file|Is a directory)"):
        small_study(tmp_path / place)


def test_functions_without_a_name_have_no_checkpoint(path) -> None:
    estimator = es.RankedLDA(lambda X, y: np.arange(X.shape[1]))
    with pytest.raises(InputError, match=r"has a function without a name.*without a checkpoint"):
        small_study(path, estimator=estimator)
    assert not path.exists()
    assert [f.index for f in small_study(estimator=estimator, k=1).selected] == [0]
