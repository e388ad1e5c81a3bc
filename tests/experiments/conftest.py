"""A small paper of our own making, to try the machinery on."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import eigensieve.experiments
from eigensieve.experiments import cache
from eigensieve.experiments.protocol import Experiment, read_experiment

MODULE = '''
"""Powers of numbers."""
from eigensieve.experiments.values import Measured, Value

CALLS = []

def tasks(protocol):
    return [{"base": base, "power": protocol["power"]} for base in protocol["bases"]]

def work(base, power):
    CALLS.append(base)
    return {"value": float(base) ** power}

def measure(protocol, found):
    cells = {(f"base {b}", "power"): Value(f["value"]) for b, f in zip(protocol["bases"], found)}
    return Measured(cells, {"y": [f["value"] for f in found]}, ["all is well <b>"])

def draw(series):
    from eigensieve.plots._style import new_figure
    figure = new_figure(2.0)
    figure.add_subplot().plot(series["y"])
    return figure
'''

TOML = """
title = "Table 1: powers"
about = "Numbers, raised."
[protocol]
bases = [2, 3, 4]
power = 2
[quick]
bases = [2, 3]
[tolerance]
default = 0
[published."base 2"]
power = "4"
[published."base 3"]
power = "10"
[published."base 9"]
power = "81"
[checked."base 3"]
power = "9"
[why]
"base 3" = "a slip of the pen"
[cannot_be_had]
"base 9" = "nine is not available"
"""

Write = Callable[..., Experiment]


@pytest.fixture
def write_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put an experiment ``made/one`` where the package looks for its modules."""
    folder = tmp_path / "papers" / "made"
    folder.mkdir(parents=True)
    path = [*eigensieve.experiments.__path__, str(folder.parent)]
    monkeypatch.setattr(eigensieve.experiments, "__path__", path)

    def write(toml: str = TOML, module: str = MODULE) -> Experiment:
        for name in [
            name for name in sys.modules if name.startswith("eigensieve.experiments.made")
        ]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        cache._module_digest.cache_clear()
        (folder / "__init__.py").write_text('"""Made up."""\n', encoding="utf-8")
        (folder / "one.py").write_text(module, encoding="utf-8")
        (folder / "one.toml").write_text(toml, encoding="utf-8")
        return read_experiment(folder / "one.toml")

    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions within one second
    return write
