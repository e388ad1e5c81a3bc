"""Who may import whom: the rules of docs/develop/architecture.md, read off the syntax trees.

Every import counts: relative or absolute, inside a function or under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import eigensieve

FACE = "__init__"  # the front door, eigensieve/__init__.py
ENGINE = {"errors", "kernels", "core", "backends", "solvers"}
MODELS = ENGINE | {"estimators", "io", "datasets"}
RESULTS = MODELS | {"studies"}

MAY_IMPORT = {
    "errors": set(),
    "_version": set(),  # written when the package is built
    "kernels": {"errors"},
    "backends": {"errors"},
    "core": {"errors", "kernels", "backends"},
    "solvers": {"errors", "kernels", "core"},
    "io": {"errors", "core"},
    "datasets": {"errors", "core"},
    "proofs": {"errors"},  # the checker shares no code with what it checks
    "estimators": MODELS,
    "studies": MODELS,
    "plots": RESULTS,
    "annotated": MODELS,
    "tl": {"annotated"},
    "pl": {"errors", "annotated", "plots"},
    "experiments": RESULTS | {"plots"},
    "report": RESULTS | {"plots", "experiments"},
    "cli": RESULTS | {"plots", "experiments", "report", "proofs", FACE},
    "__main__": {"cli"},
    FACE: RESULTS | {"plots", "report", "proofs", "tl", "pl", "_version"},
}
SKLEARN_ROOMS = {"estimators", "studies", "datasets", "experiments", "cli"}
NOT_IN_CORE = {"sklearn", "pandas", "numba", "matplotlib"}
# files of solvers/ that bring algorithms together, and are none
DOORS = {
    f"eigensieve.solvers{door}"
    for door in ("", ".base", ".certificate", ".dispatch", ".gloss", ".pursuit", ".streamed")
}
ENTRY_POINT = "eigensieve.cli.main"  # its function is called main, as in every console script
STANDARD = {"__future__", "collections", "contextlib", "functools", "hashlib", "logging", "pathlib"}
IN_KERNELS = STANDARD | {"numpy", "numba", "math", "typing"}
IN_PROOFS = sys.stdlib_module_names | {"numpy"}


@dataclass(frozen=True)
class Import:
    """The module ``target`` is imported whole, or (with ``name``) one name out of it."""

    target: str
    name: str | None
    line: int


@dataclass(frozen=True)
class Module:
    """One source file, named by its place in the package: ``eigensieve.core.pencil``."""

    name: str
    is_package: bool
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def room(self) -> str:
        return room_of(self.name)

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


House = dict[str, Module]


def room_of(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else FACE


def read_house(root: Path) -> House:
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        files[".".join(parts[:-1] if is_package else parts)] = (path, is_package)
    house = {}
    for name, (path, is_package) in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        package = name if is_package else name.rpartition(".")[0]
        house[name] = Module(name, is_package, tree, tuple(read_imports(tree, package, set(files))))
    return house


def read_imports(tree: ast.Module, package: str, known: set[str]) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            source = absolute(node, package)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                is_module = inner in known
                target, name = (inner, None) if is_module else (source, alias.name)
                yield Import(target, name, node.lineno)


def absolute(node: ast.ImportFrom, package: str) -> str:
    if node.level == 0:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def inner_imports(house: House) -> Iterator[tuple[Module, Import]]:
    """The imports of one file of the house by another."""
    for module in house.values():
        for item in module.imports:
            if is_inner(module, item) and item.target != module.name:
                yield module, item


def is_inner(module: Module, item: Import) -> bool:
    return item.target.split(".")[0] == module.name.split(".")[0]


def rooms_keep_their_order(house: House) -> Iterator[str]:
    for module in house.values():
        if module.room not in MAY_IMPORT:
            yield f"{module.name}: the room {module.room!r} has no rule in MAY_IMPORT"
    for module, item in inner_imports(house):
        room = room_of(item.target)
        is_version = room == FACE and item.name == "__version__"
        allowed = MAY_IMPORT.get(module.room, set()) | {module.room}
        if room not in allowed and not is_version:
            yield f"{module.name}:{item.line} imports {item.target} ({module.room} -> {room})"


def libraries_stay_in_their_rooms(house: House) -> Iterator[str]:
    for module in house.values():
        for item in module.imports:
            library = item.target.split(".")[0]
            if not is_inner(module, item) and not may_use(module.room, library):
                yield f"{module.name}:{item.line} imports {library}, not allowed in {module.room}"


def may_use(room: str, library: str) -> bool:
    if room == "kernels":
        return library in IN_KERNELS
    if room == "proofs":
        return library in IN_PROOFS
    if library == "sklearn":
        return room in SKLEARN_ROOMS
    return not (room == "core" and library in NOT_IN_CORE)


def solvers_stand_alone(house: House) -> Iterator[str]:
    algorithms = {m.name for m in house.values() if m.room == "solvers"} - DOORS
    for module, item in inner_imports(house):
        if module.name in algorithms and item.target in algorithms:
            yield f"{module.name}:{item.line} imports the solver {item.target}"


def estimators_stand_alone(house: House) -> Iterator[str]:
    for module, item in inner_imports(house):
        if module.room == room_of(item.target) == "estimators" and not module.is_package:
            shared = any(part.startswith("_") for part in item.target.split("."))
            if not shared:
                yield f"{module.name}:{item.line} imports {item.target}, another estimator"


def functions_do_not_hide_modules(house: House) -> Iterator[str]:
    """``from .solve import solve`` makes the module unreachable: the names must differ."""
    for module in house.values():
        for name in functions(module) | (reexports(module) if module.is_package else set()):
            beside = f"{module.package}.{name}"
            is_entry = module.name == beside == ENTRY_POINT
            if beside in house and not name.startswith("_") and not is_entry:
                yield f"{module.name} has a function {name}, and {beside} is a module beside it"


def functions(module: Module) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in module.tree.body if isinstance(node, kinds)}


def reexports(module: Module) -> set[str]:
    return {item.name for item in module.imports if item.name}


RULES: tuple[Callable[[House], Iterator[str]], ...] = (
    rooms_keep_their_order,
    libraries_stay_in_their_rooms,
    solvers_stand_alone,
    estimators_stand_alone,
    functions_do_not_hide_modules,
)


def violations(root: Path) -> list[str]:
    house = read_house(root)
    return [line for rule in RULES for line in rule(house)]


@pytest.fixture(scope="module")
def house() -> House:
    return read_house(Path(eigensieve.__file__).parent)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_its_rules(house: House, rule: Callable[[House], Iterator[str]]) -> None:
    assert list(rule(house)) == []


def test_the_whole_house_is_read(house: House) -> None:
    assert {module.room for module in house.values()} >= set(MAY_IMPORT) - {"backends"}


def build(folder: Path, files: dict[str, str]) -> Path:
    """A small package named like ours, with every room in it."""
    root = folder / "eigensieve"
    rooms = {f"{room}/__init__.py": "" for room in MAY_IMPORT if room not in (FACE, "errors")}
    for name, source in ({"__init__.py": "", "errors.py": ""} | rooms | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


LAWFUL = {
    "__init__.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from .solvers.dispatch import solve\n"
    ),
    "core/pencil.py": "import numpy as np\nfrom ..errors import PencilError\n",
    "kernels/_jit.py": "import numba\n",
    "kernels/swap.py": "import math\nimport numpy as np\nfrom ._jit import jit\n",
    "solvers/base.py": "class Solver: ...\n",
    "solvers/dispatch.py": "import importlib\nfrom . import base\ndef solve(): ...\n",
    "solvers/greedy.py": (
        "from eigensieve.kernels.swap import scan\nfrom .base import Solver\nSOLVER = Solver()\n"
    ),
    "estimators/_shared.py": "import sklearn\n",
    "estimators/sparse_lda.py": "from . import _shared\nfrom ._shared import door\n",
    "report/page.py": "from .. import __version__\nfrom ..plots import display\n",
    "proofs/checker.py": "import json\nimport numpy as np\nfrom ..errors import InputError\n",
    "cli/main.py": "def main():\n    import eigensieve as es\n    from ..report import page\n",
}


def test_a_lawful_house_passes(tmp_path: Path) -> None:
    assert violations(build(tmp_path, LAWFUL)) == []


UNLAWFUL = {
    "relative": ("core/a.py", "from ..solvers import greedy\n", "core -> solvers"),
    "absolute": ("core/a.py", "import eigensieve.estimators.x\n", "core -> estimators"),
    "absolute from": ("io/a.py", "from eigensieve import solvers\n", "io -> solvers"),
    "in a function": ("core/a.py", "def f():\n    from ..solvers import swap\n", "a:2 imports"),
    "type checking": (
        "solvers/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..estimators import x\n",
        "solvers -> estimators",
    ),
    "by the front door": ("io/a.py", "from eigensieve import SparseLDA\n", "io -> __init__"),
    "room's own file": ("plots/__init__.py", "from ..report import page\n", "plots -> report"),
    "cli": ("report/a.py", "from ..cli.main import main\n", "report -> cli"),
    "cli from the face": ("__init__.py", "from .cli import main\n", "__init__ -> cli"),
    "unknown room": ("attic/a.py", "", "'attic' has no rule"),
    "solver in the checker": ("proofs/a.py", "from ..core import pencil\n", "proofs -> core"),
    "checker in a solver": ("solvers/a.py", "from ..proofs import checker\n", "solvers -> proofs"),
    "scipy in the checker": ("proofs/a.py", "def f():\n    import scipy.linalg\n", "imports scipy"),
    "sklearn in a solver": ("solvers/a.py", "from sklearn.base import clone\n", "imports sklearn"),
    "pandas in core": ("core/a.py", "def f():\n    import pandas as pd\n", "imports pandas"),
    "scipy in a kernel": ("kernels/a.py", "from scipy.linalg import eigh\n", "imports scipy"),
    "solver to solver": (
        "solvers/a.py",
        "from .greedy import solve_greedy\nSOLVER: object = 1\n",
        "imports the solver eigensieve.solvers.greedy",
    ),
    "estimator to estimator": ("estimators/a.py", "from . import sparse_lda\n", "another"),
    "estimator by its room": ("estimators/a.py", "from . import SparseLDA\n", "another"),
    "function named as its module": ("solvers/a.py", "def a(): ...\n", "has a function a,"),
    "function named as a neighbour": ("solvers/a.py", "def greedy(): ...\n", "a function greedy,"),
    "entry point in its room": ("cli/__init__.py", "from .main import main\n", "function main,"),
    "public name as a room": ("__init__.py", "from .studies.x import report\n", "function report,"),
}


@pytest.mark.parametrize(("path", "source", "said"), UNLAWFUL.values(), ids=UNLAWFUL.keys())
def test_a_violation_is_found(tmp_path: Path, path: str, source: str, said: str) -> None:
    (found,) = violations(build(tmp_path, LAWFUL | {path: source}))
    assert said in found
