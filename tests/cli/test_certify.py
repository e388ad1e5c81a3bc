"""``eigensieve certify``: sentences, better sets, bad lists, Ctrl-C."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.cli import _common
from eigensieve.pencil.budget import Progress
from eigensieve.studies.running.runner import StageProgress
from tests.oracles import naive


@pytest.fixture
def wine_csv(wine: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "wine.csv"
    wine.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def optimum() -> tuple[float, list[str]]:
    """The best three columns of wine with SparseLDA's defaults, by brute force."""
    from eigensieve.datasets.loader import load_table

    table = load_table("wine")
    pencil = es.lda_pencil(table.X, table.y)
    best, support = naive.best(pencil.A, pencil.B, 3, "logdet")
    return best, [table.names[j] for j in support]


def certify(run, table: Path, names: list[str], *options: object, code: int = 0) -> dict:
    args = ["certify", table, "--target", "kind", "--features", ",".join(names), "--json"]
    return json.loads(run(*args, *options, code=code).stdout)


def test_the_best_set(run, wine_csv: Path, optimum) -> None:
    best, names = optimum
    result = run("certify", wine_csv, "--target", "kind", "--features", ",".join(names))
    said = "Proved: no other set of 3 features scores higher (within 0.0001 %)."
    assert said in result.stdout
    assert "optimal" in result.stdout
    assert all(f"  {name} " in result.stdout for name in names)
    assert result.stderr == "note: The column 'sample' was taken as row identifiers.\n"
    found = certify(run, wine_csv, names)
    assert found["objective"] == pytest.approx(best, rel=1e-9)
    assert found["criterion"] == "logdet"
    assert found["status"] == "optimal"
    assert found["better"] is None
    assert 0 <= found["gap"] <= 1e-6


def test_a_poor_set_is_told_so(run, wine_csv: Path, optimum) -> None:
    best, names = optimum
    poor = ["ash", "magnesium", "proanthocyanins"]
    result = run("certify", wine_csv, "--target", "kind", "--features", ",".join(poor))
    assert "A set of 3 features scores" in result.stdout
    assert f"% higher: {', '.join(names)} (proved the best)." in result.stdout
    assert " s; finished\n" in result.stdout
    assert result.stdout.startswith("3 of 13 features, 178 samples in 3 classes (")
    found = certify(run, wine_csv, poor, "--noun", "compounds")
    assert found["features"] == poor
    assert found["sentence"].startswith("a set of 3 compounds scores")
    assert found["better"]["features"] == names
    assert found["better"]["optimal"]
    assert found["bound"] == pytest.approx(best, rel=1e-5)
    assert found["bound"] >= best - 1e-12


def test_what_to_replace_is_told(run, wine: pd.DataFrame, wine_csv: Path, optimum) -> None:
    best, names = optimum
    poor = ["ash", "magnesium", "proanthocyanins"]
    swaps = certify(run, wine_csv, poor)["swaps"]
    pencil = es.lda_pencil(wine[wine.columns[1:-1]], wine["kind"])
    place = {name: j for j, name in enumerate(wine.columns[1:-1])}
    own, chosen, lines = (
        naive.score(pencil.A, pencil.B, [place[n] for n in poor], "logdet"),
        poor,
        [],
    )
    for swap in swaps:
        chosen = [swap["entering"] if name == swap["leaving"] else name for name in chosen]
        score = naive.score(pencil.A, pencil.B, [place[name] for name in chosen], "logdet")
        assert swap["objective"] == pytest.approx(score, rel=1e-8)
        change = f"+{100 * (score / own - 1):.3g} %{' in all' if lines else ''}"
        lines.append(f"  replace {swap['leaving']!r} by {swap['entering']!r} ({change})\n")
    assert sorted(chosen) == sorted(names)
    assert swaps[-1]["objective"] == pytest.approx(best)
    said = run("certify", wine_csv, "--target", "kind", "--features", ",".join(poor)).stdout
    assert f"(proved the best).\n\n{''.join(lines)}\nscore " in said
    assert certify(run, wine_csv, names)["swaps"] == []
    assert (
        "replace"
        not in run("certify", wine_csv, "--target", "kind", "--features", ",".join(names)).stdout
    )


def test_what_fit_chose_can_be_certified(run, wine_csv: Path) -> None:
    fitted = json.loads(run("fit", wine_csv, "--target", "kind", "--k", 3, "--json").stdout)
    found = certify(run, wine_csv, fitted["features"])
    assert found["objective"] == pytest.approx(fitted["objective"], rel=1e-8)
    assert found["shrinkage"] == pytest.approx(fitted["shrinkage"], rel=1e-8)


def test_options_reach_the_pencil(run, wine: pd.DataFrame, wine_csv: Path) -> None:
    names = ["alcohol", "proline"]
    X, y = wine[wine.columns[1:-1]], wine["kind"]
    for criterion in ("lambda_max", "trace"):
        found = certify(run, wine_csv, names, "--criterion", criterion, "--shrinkage", 0.25)
        pencil = es.lda_pencil(X, y, shrinkage=0.25)
        place = [list(X.columns).index(name) for name in names]
        expected = naive.score(pencil.A, pencil.B, place, criterion)
        assert found["objective"] == pytest.approx(expected)
        assert found["shrinkage"] == 0.25
    logged = certify(run, wine_csv, names, "--log2", "--log2-floor", 2, "--shrinkage", 0.25)
    pencil = es.lda_pencil(np.log2(np.maximum(X, 2)), y, shrinkage=0.25)
    assert logged["objective"] == pytest.approx(naive.score(pencil.A, pencil.B, place, "logdet"))
    fewer = certify(run, wine_csv, names, "--ignore", "ash,magnesium")
    assert fewer["n_features"] == 11


def test_transpose_and_a_file_of_names(run, wine: pd.DataFrame, wine_csv: Path) -> None:
    wine.set_index("sample").T.to_csv("wide.csv", index_label="feature")
    Path("genes.txt").write_text("\ufeffalcohol\n\n  proline \r\n", encoding="utf-8")
    args = ["certify", "wide.csv", "--transpose", "--target", "kind", "--json"]
    found = json.loads(run(*args, "--features-file", "genes.txt").stdout)
    assert found["features"] == ["alcohol", "proline"]
    assert found["objective"] == certify(run, wine_csv, ["alcohol", "proline"])["objective"]
    both = json.loads(run(*args, "--features-file", "genes.txt", "--features", "ash").stdout)
    assert both["features"] == ["alcohol", "ash", "proline"]


def test_a_name_given_twice_counts_once(run, wine_csv: Path) -> None:
    result = run("certify", wine_csv, "--target", "kind", "--features", "ash,alcohol,ash", "--json")
    assert "'ash' is named more than once; the set has 2 features" in result.stderr
    assert json.loads(result.stdout)["k"] == 2


def test_one_name_given_twice(run, wine_csv: Path) -> None:
    result = run("certify", wine_csv, "--target", "kind", "--features", "ash,ash")
    assert "the set has 1 feature.\n" in result.stderr


def test_names_with_commas_are_quoted(run, wine: pd.DataFrame) -> None:
    wine.rename(columns={"ash": "ash, total"}).to_csv("w.csv", index=False)
    Path("list.txt").write_text('"ash, total"\nproline\n', encoding="utf-8")
    args = ["certify", "w.csv", "--target", "kind", "--json"]
    found = json.loads(run(*args, "--features", '"ash, total",proline').stdout)
    assert found["features"] == ["ash, total", "proline"]
    assert json.loads(run(*args, "--features-file", "list.txt").stdout)["k"] == 2


def test_all_features(run, wine: pd.DataFrame, wine_csv: Path) -> None:
    names = ",".join(wine.columns[1:-1])
    result = run("certify", wine_csv, "--target", "kind", "--features", names)
    assert "There is no other set of 13 features to choose.\n" in result.stdout
    assert "search  not needed\n" in result.stdout


def test_no_time_and_no_shrinkage_still_give_a_bound(run, wine_csv: Path) -> None:
    found = certify(run, wine_csv, ["ash", "magnesium"], "--shrinkage", 0, "--time-limit", 0)
    assert found["bound"] is not None


def test_one_feature(run, wine_csv: Path) -> None:
    result = run("certify", wine_csv, "--target", "kind", "--features", "ash", "--noun", "genes")
    assert "A set of 1 gene scores" in result.stdout
    assert "100.0 %" in result.stdout


def test_no_time_still_gives_a_bound(run, noise_npz: Path) -> None:
    names = [f"x{j + 1}" for j in range(12)]
    args = ["certify", noise_npz, "--target", "y", "--shrinkage", 0.3, "--time-limit", 0]
    with np.load(noise_npz) as file:
        X, y = file["X"], file["y"]
    np.savez(noise_npz, X=X, y=y, feature_names=np.array([f"x{j + 1}" for j in range(1500)]))
    result = run(*args, "--features", ",".join(names), "--json")
    found = json.loads(result.stdout)
    assert found["status"] == "time limit"
    assert found["bound"] > found["objective"]
    best = es.solve(es.lda_pencil(X, y, shrinkage=0.3), 12, criterion="logdet").objective
    assert found["bound"] >= best


WRONG = {
    "unknown": (["--features", "alcohl,ash"], "no feature is named 'alcohl'; close: 'alcohol'"),
    "strange": (["--features", "zzz"], "no feature is named 'zzz'; see the table's header"),
    "other case": (["--features", "ASH"], "no feature is named 'ASH'; close: 'ash'"),
    "no file": (["--features-file", "none.txt"], "none.txt: No such file"),
    "target": (["--features", "ash,kind"], "'kind' is the target, not a feature; leave it out"),
}


@pytest.mark.parametrize(("options", "said"), WRONG.values(), ids=WRONG.keys())
def test_bad_lists(run, wine_csv: Path, options: list[str], said: str) -> None:
    result = run("certify", wine_csv, "--target", "kind", *options, code=2)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("error: ")
    assert said in result.stderr


def test_a_list_that_is_no_text(run, wine_csv: Path) -> None:
    Path("list.bin").write_bytes(b"\xff\xfe\x00")
    args = ["certify", wine_csv, "--target", "kind", "--features-file", "list.bin"]
    assert "is not a text file in UTF-8" in run(*args, code=2).stderr


USAGE = {
    "nothing named": [],
    "empty": ["--features", " , "],
    "time": ["--features", "ash", "--time-limit", "-1"],
    "time nan": ["--features", "ash", "--time-limit", "nan"],
    "shrinkage": ["--features", "ash", "--shrinkage", "2"],
    "criterion": ["--features", "ash", "--criterion", "magic"],
    "noun": ["--features", "ash", "--noun", " "],
    "floor alone": ["--features", "ash", "--log2-floor", "2"],
}


@pytest.mark.parametrize("options", USAGE.values(), ids=USAGE.keys())
def test_wrong_use(run, wine_csv: Path, options: list[str]) -> None:
    result = run("certify", wine_csv, "--target", "kind", *options, code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.endswith(" (see eigensieve certify --help)\n")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_one_class_is_an_error(run) -> None:
    Path("t.csv").write_text("a,b,y\n1,2,u\n2,1,u\n3,5,u\n4,4,u\n")
    result = run("certify", "t.csv", "--target", "y", "--features", "a", code=2)
    assert "one class only" in result.stderr


# ---------------------------------------------------------------- progress and Ctrl-C


def test_ctrl_c_prints_what_is_proved(run, noise_npz: Path, monkeypatch) -> None:
    stages = []

    def press(stage: str, done: int, total: int) -> None:
        stages.append(stage)
        signal.raise_signal(signal.SIGINT)

    @contextmanager
    def bar() -> Iterator[StageProgress]:
        yield press

    monkeypatch.setattr(_common, "progress_bar", bar)
    with np.load(noise_npz) as file:
        X, y = file["X"], file["y"]
    names = np.array([f"x{j}" for j in range(1500)])
    np.savez(noise_npz, X=X, y=y, feature_names=names)
    args = ["certify", noise_npz, "--target", "y", "--features", ",".join(names[:20])]
    result = run(*args, "--time-limit", 60, "--shrinkage", 0.3, code=130)
    assert result.stderr.splitlines()[-1].startswith("interrupted: what was proved")
    assert "interrupted" in result.stdout
    assert "can score more than" in result.stdout
    assert stages


def test_progress_says_incumbent_bound_gap_and_nodes() -> None:
    seen = []
    show = _common.show_search(lambda *stage: seen.append(stage))
    show(Progress("perspective", "search", 1234, objective=2.0, bound=2.1, n_nodes=1234))
    show(Progress("greedy", "forward", 3, total=10))
    show(Progress("levelset", "search", 5, objective=-1.0, bound=0.5, n_nodes=5))
    show(Progress("levelset", "search", 5, objective=1.0, bound=float("inf")))
    show(Progress("leaps", "search", 5, objective=1.0, bound=3.0))
    assert seen == [
        ("perspective search: best 2, bound 2.1, gap 5 %, 1,234 nodes", 1234, 0),
        ("greedy forward", 3, 10),
        ("levelset search: best -1, bound 0.5, 5 nodes", 5, 0),
        ("levelset search: best 1", 5, 0),
        ("leaps search: best 1, bound 3, gap 200 %", 5, 0),
    ]


def test_the_bar_is_drawn_on_a_terminal(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with _common.progress_bar() as progress:
        progress("cross-validation", 2, 10)
        progress("exact: best 1, bound 2", 7, 0)
        progress("exact: best 1, bound 1.5", 9, 0)
    shown = capsys.readouterr().err
    assert "exact: best 1, bound 1.5" in shown
    assert "9/?" in shown
    assert "2/10" in shown
