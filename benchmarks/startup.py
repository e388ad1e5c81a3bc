"""How long the first answer takes, in a fresh process.

``python -m benchmarks.startup``: CPU seconds (the best of three), and the ratio to
``import sklearn``, which any scikit-learn package pays. What is not installed is left out. Last
how large eigensieve is on the disk with all it needs, compiled Python files not counted.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from packaging.requirements import Requirement

TABLE = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=({n}, {p})), np.arange({n}) % 2
X[:, :3] += y[:, None]
"""
SMALL, WIDE = TABLE.format(n=100, p=50), TABLE.format(n=60, p=600)
SKLEARN = "import sklearn.base"
LDA = "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis"


def command(*words: str) -> str:
    """What runs a command in this process."""
    argv = ["eigensieve", *words]
    return f"import sys; sys.argv = {argv}; from eigensieve.cli.main import main; main()"


FIT = ("fit", "small.csv", "--target", "y", "--out", "out")
CERTIFY = ("certify", "wide.csv", "--target", "y", "--features", "f0,f1,f2")
# what is measured: the code, and the most CPU seconds it may take (None: a peer)
CASES: dict[str, tuple[str, float | None]] = {
    "python -c pass": ("pass", None),
    "import sklearn.base": (SKLEARN, None),
    "import eigensieve": ("import eigensieve", 0.15),
    "eigensieve --version": (command("--version"), 0.25),
    "eigensieve --help": (command("--help"), None),
    "SparseLDA().fit, 100 x 50": (f"{SMALL}import eigensieve as es; es.SparseLDA().fit(X, y)", 2.5),
    'SparseLDA(solver="exact").fit, 60 x 600': (
        f"{WIDE}import eigensieve as es; es.SparseLDA(5, solver='exact').fit(X, y)",
        2.5,
    ),
    "eigensieve certify wide.csv, 60 x 600": (command(*CERTIFY), 4.0),
    "eigensieve fit small.csv": (command(*FIT), None),
    "scikit-learn LDA().fit": (f"{SMALL}{LDA}; LinearDiscriminantAnalysis().fit(X, y)", None),
    "skglm Lasso().fit": (f"{SMALL}import skglm; skglm.Lasso(0.1).fit(X, y)", None),
}
PEERS = ("skglm",)
PACKAGE = Path(__file__).parents[1] / "src" / "eigensieve"


def cpu_seconds(code: str, folder: Path) -> float:
    """What a fresh process spends, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_there(code: str) -> bool:
    return all(find_spec(peer) is not None for peer in PEERS if f"import {peer}" in code)


def write_table(path: Path, code: str) -> None:
    names: dict[str, np.ndarray] = {}
    exec(code, names)
    X, y = names["X"], names["y"]
    lines = [",".join([*(f"f{j}" for j in range(X.shape[1])), "y"])]
    lines += [",".join([*map(str, row), "ab"[label]]) for row, label in zip(X, y)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def needed(name: str, found: set[str]) -> set[str]:
    """A distribution and all that it needs, without extras."""
    requirements = map(Requirement, distribution(name).requires or [])
    names = {r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})}
    found.add(name)
    for other in names - found:
        needed(other, found)
    return found


def megabytes(name: str) -> float:
    """What a distribution takes on the disk; one that is installed in place counts its sources."""
    if name == "eigensieve":
        files = [path for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts]
    else:
        listed = distribution(name).files or []
        files = [Path(f.locate()) for f in listed if f.suffix != ".pyc"]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "small.csv", SMALL)
        write_table(folder / "wide.csv", WIDE)
        spent = {
            what: min(cpu_seconds(code, folder) for _ in range(3))
            for what, (code, _) in CASES.items()
            if is_there(code)
        }
    unit = spent["import sklearn.base"]
    print(f"{'':42}{'CPU':>10}{'ratio':>9}")
    for what, seconds in spent.items():
        limit = CASES[what][1]
        asked = "" if limit is None else f"   {'under' if seconds < limit else 'ABOVE'} {limit:g} s"
        print(f"{what:42}{seconds:8.2f} s{seconds / unit:9.2f}{asked}")
    sizes = {name: megabytes(name) for name in needed("eigensieve", set())}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:6]
    print(f"installed: {sum(sizes.values()):.0f} MB in {len(sizes)} distributions; the largest:")
    print(", ".join(f"{name} {sizes[name]:.0f}" for name in largest))


if __name__ == "__main__":
    main()
