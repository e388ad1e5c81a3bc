"""Run commands in this process, and small tables to run them on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from markupsafe import Markup

from eigensieve.cli.main import cli
from eigensieve.datasets.loader import load_table

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("fit", path, ..., code=2)`` in an empty folder; the exit code is checked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EIGENSIEVE_DEBUG", raising=False)

    def _run(*args: object, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, [str(arg) for arg in args])
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.stderr
        return result

    return _run


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures have tests of their own; commands that run in a process of their own draw them."""
    monkeypatch.setattr("eigensieve.report.sections.drawn", lambda *_: Markup("<svg></svg>"))


def as_frame(name: str) -> pd.DataFrame:
    """A table of scikit-learn as a user would have it: sample, features, class."""
    table = load_table(name)
    frame = pd.DataFrame(table.X, columns=table.names)
    frame.insert(0, "sample", [f"s{i}" for i in range(len(frame))])
    return frame.assign(kind=table.y)


@pytest.fixture(scope="session")
def iris() -> pd.DataFrame:
    return as_frame("iris")


@pytest.fixture(scope="session")
def wine() -> pd.DataFrame:
    return as_frame("wine")


@pytest.fixture
def iris_csv(iris: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "iris.csv"
    iris.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def wine_model(wine: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of three features, fitted on every other row of wine."""
    folder = tmp_path_factory.mktemp("wine")
    wine.iloc[::2].to_csv(folder / "train.csv", index=False)
    args = ["fit", folder / "train.csv", "--target", "kind", "--k", 3, "--out", folder / "out"]
    result = CliRunner().invoke(cli, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return folder / "out" / "model.json"


@pytest.fixture
def noise_npz(tmp_path: Path) -> Path:
    """A table whose cross-validation takes long."""
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.npz"
    np.savez(path, X=rng.normal(size=(80, 1500)), y=np.repeat(["a", "b"], 40))
    return path
