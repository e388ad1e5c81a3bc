"""Results kept by content: what a task found, under a digest of all that it depends on.

The digest covers the task's arguments, the module that runs it, the package's sources below the
experiments, the versions of the numerical libraries, and the bytes of the data files. What is only
shown (published figures, tolerances, words, plots) is not in it: judging again costs nothing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..io.replacing import replace_file
from .data import data_file
from .protocol import Experiment

_PACKAGE = Path(__file__).parent.parent
# What only shows, reads files or checks proofs has no part in what a task finds.
_OUTSIDE = ("annotated", "cli", "experiments", "io", "plots", "proofs", "report")
SOURCES = {".py", ".pyx", ".pxd", ".hpp"}
LIBRARIES = ("numpy", "scipy", "scikit-learn")


class CacheError(OSError):
    """Nothing can be kept: the disk is full, or the folder cannot be written to."""


@dataclass(frozen=True)
class TaskResult:
    """What a task found, and what it cost."""

    found: Any
    seconds: float


@dataclass(frozen=True)
class Cache:
    """A folder with one small file per finished task; a fresh one does not look at them."""

    folder: Path
    fresh: bool = False

    def get(self, experiment: Experiment, key: str) -> TaskResult | None:
        """What was found earlier; a file that cannot be read counts as none."""
        if self.fresh:
            return None
        try:
            record = json.loads(self._path(experiment, key).read_text(encoding="utf-8"))
            return TaskResult(record["found"], float(record["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(
        self, experiment: Experiment, key: str, task: Mapping[str, Any], outcome: TaskResult
    ) -> None:
        """Keep it: the whole file or none."""
        path = self._path(experiment, key)
        record = {"task": task, "seconds": outcome.seconds, "found": outcome.found}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, json.dumps(record))
        except OSError as error:
            raise CacheError(error.errno, error.strerror, str(path)) from error

    def _path(self, experiment: Experiment, key: str) -> Path:
        return self.folder / experiment.name.replace("/", "-") / f"{key}.json"


def task_key(experiment: Experiment, task: Mapping[str, Any]) -> str:
    """The name under which a task's result is kept."""
    parts = [
        engine_digest(),
        _module_digest(experiment.module),
        json.dumps(task, sort_keys=True),
        *(_file_digest(data_file(name)) for name in experiment.data),
    ]
    if experiment.alone:
        parts.append(platform.node())  # seconds of this machine
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


@cache
def engine_digest() -> str:
    """Of all that an experiment may call: solvers, estimators, generators, libraries."""
    rooms = sorted(room for room in _PACKAGE.iterdir() if room.name not in _OUTSIDE)
    paths = [path for room in rooms for path in _sources(room)]
    paths.append(_PACKAGE / "experiments" / "data.py")
    versions = " ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return hashlib.sha256(versions.encode() + _contents(paths)).hexdigest()


@cache
def _module_digest(module: str) -> str:
    """Of the experiment's module and of the helpers in its folder."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{module}: its TOML file has no module beside it")
    path = Path(spec.origin)
    return hashlib.sha256(_contents([path, *_sources(path.parent, "_*")])).hexdigest()


def _sources(folder: Path, names: str = "*") -> list[Path]:
    """Python, and what kernels are made of."""
    return sorted(p for p in folder.rglob(names) if p.suffix in SOURCES)


@cache
def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _contents(paths: Iterable[Path]) -> bytes:
    return b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in paths)


def as_plain(found: Any) -> Any:
    """Numbers, texts, lists and dicts only: what comes out of the cache is what went in."""
    return json.loads(json.dumps(found, default=_convert))


def _convert(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a task returned a {type(value).__name__}; plain values only")
