"""Who may import whom, and where a module lives: the rules of docs/develop/architecture.md."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import eigensieve
from tests.contracts.house import (
    FACE,
    House,
    Module,
    find_cycles,
    importers,
    inner_imports,
    is_inner,
    lowest_package,
    read_house,
    room_of,
)

PROBLEMS = {"search", "scoring", "pursuit", "q_alpha"}
ENGINE = {"errors", "pencil", "tables"} | PROBLEMS
MODELS = ENGINE | {"estimators", "io", "datasets"}
RESULTS = MODELS | {"studies"}

MAY_IMPORT = {
    "errors": set(),
    "_version": set(),  # written when the package is built
    "pencil": {"errors"},
    "tables": {"errors", "pencil"},
    **{problem: {"errors", "pencil", "tables"} for problem in PROBLEMS},
    "io": {"errors", "pencil", "tables"},
    "datasets": {"errors", "pencil"},
    "proofs": {"errors"},  # the checker shares no code with what it checks
    "estimators": ENGINE,
    "studies": ENGINE | {"estimators", "io"},
    "plots": RESULTS,
    "annotated": MODELS,
    "tl": {"annotated"},
    "pl": {"errors", "tables", "annotated", "plots"},
    "experiments": RESULTS | {"plots"},
    "report": RESULTS | {"plots", "experiments"},
    "cli": RESULTS | {"plots", "experiments", "report", "proofs", FACE},
    "__main__": {"cli"},
    FACE: RESULTS | {"plots", "report", "proofs", "tl", "pl", "_version"},
}
# Rooms that compute: what serves one of them alone lives there. The others (files, data sets,
# pictures, pages, commands) are each about one subject, whoever uses it.
COMPUTING = ENGINE | {"estimators", "studies", "annotated"}
SKLEARN_ROOMS = {"estimators", "studies", "datasets", "experiments", "cli"}
# where callbacks of scikit-learn listen: imported when one is given, and it is loaded anyway
SKLEARN_CALLBACKS = ("eigensieve.pencil.tasks", "sklearn.callback")
TABLE_LIBRARIES = {"pandas", "polars", "pyarrow", "dask", "distributed", "zarr", "h5py", "anndata"}
DEVICE_LIBRARIES = {"torch", "cupy", "array_api_compat"}
# Kernels run without the GIL: of the libraries they know NumPy's arrays, BLAS and LAPACK.
IN_KERNELS = {"libc", "libcpp", "cpython", "numpy", "scipy"}
IN_PROOFS = sys.stdlib_module_names | {"numpy"}
MAX_MODULES_IN_A_FOLDER = 25


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
            callbacks = (module.name, item.target) == SKLEARN_CALLBACKS
            if not (is_inner(module, item) or callbacks or may_use(module, library)):
                yield f"{module.name}:{item.line} imports {library}, not allowed there"


def may_use(module: Module, library: str) -> bool:
    if module.is_kernel:
        return library in IN_KERNELS
    if module.room == "proofs":
        return library in IN_PROOFS
    if library == "sklearn":
        return module.room in SKLEARN_ROOMS
    if library in TABLE_LIBRARIES | DEVICE_LIBRARIES and module.room in ENGINE:
        return module.room == "tables"
    return not (module.room in ENGINE and library == "matplotlib")


def modules_live_where_they_are_used(house: House) -> Iterator[str]:
    """A module lies in the lowest package that contains all its importers.

    Entry modules are excepted: those that the public face names, and solvers, which are found. What
    an entry module of another room uses is as public as that: an estimator is the face of a method
    that lives elsewhere.
    """
    public = public_modules(house)
    for name, users in importers(house).items():
        module = house[name]
        if module.is_package or name in public or "SOLVER" in assigned(module):
            continue
        near = {user for user in users if house[user].room == module.room}
        if module.room not in COMPUTING:
            users = near
        if not users or users & public - near:
            continue
        home = lowest_package(house, users)
        if not f"{module.package}.".startswith(f"{home}."):
            yield f"{name} serves {home} alone: it belongs there"


def public_modules(house: House) -> set[str]:
    """What the public face imports (under ``TYPE_CHECKING``: it is lazy)."""
    (face,) = (module for module in house.values() if module.room == FACE)
    return {item.target for item in face.imports}


def assigned(module: Module) -> set[str]:
    targets = [t for node in module.tree.body if isinstance(node, ast.Assign) for t in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def nothing_goes_round_in_circles(house: House) -> Iterator[str]:
    """Neither modules nor packages beside each other."""
    modules, packages = defaultdict(set), defaultdict(set)
    for module, item in inner_imports(house):
        if module.room == FACE or item.target not in house or item.is_text:
            continue
        modules[module.name].add(item.target)
        mine, theirs = module.package.split("."), house[item.target].package.split(".")
        depth = next((i for i, (a, b) in enumerate(zip(mine, theirs)) if a != b), None)
        if depth is not None:
            packages[".".join(mine[: depth + 1])].add(".".join(theirs[: depth + 1]))
    for cycle in find_cycles(modules) + find_cycles(packages):
        yield f"a circle of imports: {', '.join(cycle)}"


def folders_stay_small(house: House) -> Iterator[str]:
    sizes = Counter(module.package for module in house.values() if not module.is_package)
    for package, size in sizes.items():
        if size > MAX_MODULES_IN_A_FOLDER:
            yield f"{package} has {size} modules"


def estimators_stand_alone(house: House) -> Iterator[str]:
    for module, item in inner_imports(house):
        if module.room == room_of(item.target) == "estimators" and not module.is_package:
            shared = any(part.startswith("_") for part in item.target.split("."))
            if not shared:
                yield f"{module.name}:{item.line} imports {item.target}, another estimator"


def packages_do_not_hide_their_modules(house: House) -> Iterator[str]:
    """``from .solve import solve`` in a package makes the module unreachable."""
    for module in house.values():
        for name in (
            {item.name for item in module.imports if item.name} if module.is_package else ()
        ):
            if f"{module.name}.{name}" in house and not name.startswith("_"):
                yield f"{module.name} has a name {name}, and {module.name}.{name} is a module"


RULES: tuple[Callable[[House], Iterator[str]], ...] = (
    rooms_keep_their_order,
    libraries_stay_in_their_rooms,
    modules_live_where_they_are_used,
    nothing_goes_round_in_circles,
    folders_stay_small,
    estimators_stand_alone,
    packages_do_not_hide_their_modules,
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
    assert {module.room for module in house.values()} >= set(MAY_IMPORT)


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
        "if TYPE_CHECKING:\n"
        "    from .search.solve import solve\n    from .estimators.sparse_lda import SparseLDA\n"
    ),
    "pencil/pencil.py": "import numpy as np\nfrom ..errors import PencilError\n",
    "pencil/views.pyx": "from libc.math cimport sqrt\nimport numpy as np\n",
    "pencil/views.pxd": "",
    "tables/builders.py": "from ..pencil.pencil import Pencil\n",
    "search/solver.py": "from ..pencil import pencil\nfrom ..tables import builders\n",
    "search/solve.py": "import importlib\nfrom . import solver\ndef solve(): ...\n",
    "search/greedy/__init__.py": "",
    "search/greedy/swap_kernel.pyx": (
        "from scipy.linalg.cython_blas cimport dgemm\n"
        "from ...pencil.views cimport (\n    Matrix,\n)\n"
    ),
    "search/greedy/greedy.py": (
        "from eigensieve.search.greedy.swap_kernel import scan\n"
        "from ..solver import Solver\nSOLVER = Solver()\n"
    ),
    "scoring/path.py": "from ..tables import builders\nfrom . import path_kernel\n",
    "scoring/path_kernel.pyx": "from ..pencil.views cimport Matrix\n",
    "estimators/_shared.py": "import sklearn\n",
    "estimators/sparse_lda.py": "from . import _shared\nfrom ..scoring.path import path\n",
    "report/page.py": "from .. import __version__\nfrom ..plots import display\n",
    "proofs/checker.py": "import json\nimport numpy as np\nfrom ..errors import InputError\n",
    "cli/main.py": "def main():\n    import eigensieve as es\n    from ..report import page\n",
}


def test_a_lawful_house_passes(tmp_path: Path) -> None:
    assert violations(build(tmp_path, LAWFUL)) == []


UNLAWFUL = {
    "relative": ("pencil/a.py", "from ..search import greedy\n", "pencil -> search"),
    "absolute": ("tables/a.py", "import eigensieve.estimators.x\n", "tables -> estimators"),
    "absolute from": ("io/a.py", "from eigensieve import search\n", "io -> search"),
    "in a function": ("pencil/a.py", "def f():\n    from ..search import swap\n", "a:2 imports"),
    "type checking": (
        "search/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..estimators import x\n",
        "search -> estimators",
    ),
    "problem to problem": ("scoring/a.py", "from ..search import x\n", "scoring -> search"),
    "by a text": ("io/a.py", 'HOME = "search.solve:solve"\n', "io -> search"),
    "by the front door": ("io/a.py", "from eigensieve import SparseLDA\n", "io -> __init__"),
    "room's own file": ("plots/__init__.py", "from ..report import page\n", "plots -> report"),
    "cli": ("report/a.py", "from ..cli.main import main\n", "report -> cli"),
    "cli from the face": ("__init__.py", "from .cli import main\n", "__init__ -> cli"),
    "unknown room": ("attic/a.py", "", "'attic' has no rule"),
    "search in the checker": ("proofs/a.py", "from ..pencil import x\n", "proofs -> pencil"),
    "checker in a search": ("search/a.py", "from ..proofs import checker\n", "search -> proofs"),
    "scipy in the checker": ("proofs/a.py", "def f():\n    import scipy.linalg\n", "imports scipy"),
    "sklearn in a search": ("search/a.py", "from sklearn.base import clone\n", "imports sklearn"),
    "pandas in the waist": ("pencil/a.py", "def f():\n    import pandas as pd\n", "imports pandas"),
    "dask outside tables": ("search/a.py", "def f():\n    import dask\n", "imports dask"),
    "pandas in a kernel": ("tables/a_kernel.pyx", "import pandas\n", "imports pandas"),
    "kernel to problem": ("scoring/a.pxd", "from ..search.b cimport x\n", "scoring -> search"),
    "estimator to estimator": ("estimators/a.py", "from . import sparse_lda\n", "another"),
    "estimator by its room": ("estimators/a.py", "from . import SparseLDA\n", "another"),
    "public name as a room": ("__init__.py", "from .studies.x import report\n", "name report,"),
    "name as a module": ("search/__init__.py", "from .solve import solve\n", "a name solve,"),
}
MISPLACED = {
    "serves another room": (
        {
            "pencil/a.py": "",
            "search/b.py": "from ..pencil.a import x\n",
            "search/c.py": "from . import b\n",
        },
        "eigensieve.pencil.a serves eigensieve.search alone",
    ),
    "serves one folder": (
        {
            "search/a.py": "",
            "search/greedy/b.py": "from ..a import x\n",
            "search/greedy/greedy.py": "from . import b\nSOLVER = 1\n",
        },
        "eigensieve.search.a serves eigensieve.search.greedy alone",
    ),
    "modules in a circle": (
        {"search/a.py": "from .b import x\n", "search/b.py": "from .a import y\n"},
        "a circle of imports: eigensieve.search.a, eigensieve.search.b",
    ),
    "packages in a circle": (
        {
            "search/one/__init__.py": "",
            "search/two/__init__.py": "",
            "search/one/a.py": "from ..two.b import x\n",
            "search/two/b.py": "",
            "search/two/c.py": "from ..one.d import x\n",
            "search/one/d.py": "",
        },
        "a circle of imports: eigensieve.search.one, eigensieve.search.two",
    ),
    "a crowd": (
        {f"search/a{i}.py": "" for i in range(MAX_MODULES_IN_A_FOLDER)},
        "eigensieve.search has",
    ),
}


@pytest.mark.parametrize(("path", "source", "said"), UNLAWFUL.values(), ids=UNLAWFUL.keys())
def test_a_violation_is_found(tmp_path: Path, path: str, source: str, said: str) -> None:
    assert any(said in line for line in violations(build(tmp_path, LAWFUL | {path: source})))


@pytest.mark.parametrize(("files", "said"), MISPLACED.values(), ids=MISPLACED.keys())
def test_a_misplaced_module_is_found(tmp_path: Path, files: dict[str, str], said: str) -> None:
    assert any(said in line for line in violations(build(tmp_path, LAWFUL | files)))
