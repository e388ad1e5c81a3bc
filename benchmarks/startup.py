"""How long the first answer takes, in a fresh process.

``python -m benchmarks.startup``: CPU seconds (the best of three; a cold cache once), and the ratio
to ``import sklearn``, which any scikit-learn package pays. A cold cache is an empty
NUMBA_CACHE_DIR: kernels are compiled. What is not installed is left out.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

TABLE = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(100, 50)), np.arange(100) % 2
X[:, :3] += y[:, None]
"""
SKLEARN = "import sklearn.base"
LDA = "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis"
COMMAND = (
    "import sys; sys.argv = ['eigensieve', {args}]; from eigensieve.cli.main import main; main()"
)
VERSION = COMMAND.format(args="'--version'")
FIT = COMMAND.format(args="'fit', 'small.csv', '--target', 'y', '--out', 'out'")
# what is measured: the code, and the most CPU seconds it may take (None: a peer)
WARM: dict[str, tuple[str, float | None]] = {
    "python -c pass": ("pass", None),
    "import sklearn.base": (SKLEARN, None),
    "import eigensieve": ("import eigensieve", None),
    "eigensieve --version": (VERSION, 0.25),
    "SparseLDA().fit, 100 x 50": (f"{TABLE}import eigensieve as es; es.SparseLDA().fit(X, y)", 3.0),
    "eigensieve fit small.csv": (FIT, None),
    "scikit-learn LDA().fit": (f"{TABLE}{LDA}; LinearDiscriminantAnalysis().fit(X, y)", None),
    "skglm Lasso().fit": (f"{TABLE}import skglm; skglm.Lasso(0.1).fit(X, y)", None),
}
COLD: dict[str, float | None] = {
    "SparseLDA().fit, 100 x 50": 20.0,
    "eigensieve fit small.csv": 20.0,
    "skglm Lasso().fit": None,
}
PEERS = ("skglm",)


def cpu_seconds(code: str, folder: Path, cache: Path) -> float:
    """What a fresh process spends, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    env = os.environ | threads | {"NUMBA_CACHE_DIR": str(cache)}
    subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_there(code: str) -> bool:
    return all(find_spec(peer) is not None for peer in PEERS if f"import {peer}" in code)


def write_table(path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 50)), np.arange(100) % 2
    X[:, :3] += y[:, None]
    lines = [",".join([*(f"f{j}" for j in range(50)), "y"])]
    lines += [",".join([*map(str, row), "ab"[label]]) for row, label in zip(X, y)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def show(name: str, seconds: float, unit: float, limit: float | None) -> None:
    asked = "" if limit is None else f"   {'under' if seconds < limit else 'ABOVE'} {limit:g} s"
    print(f"{name:34}{seconds:8.2f} s{seconds / unit:9.2f}{asked}")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "small.csv")
        here = {what: case for what, case in WARM.items() if is_there(case[0])}
        cold = {what: limit for what, limit in COLD.items() if what in here}
        spent = {
            what: cpu_seconds(here[what][0], folder, folder / f"cache {i}")
            for i, what in enumerate(cold)
        }
        warm = {
            what: min(cpu_seconds(code, folder, folder / "cache 1") for _ in range(3))
            for what, (code, _) in here.items()
        }
    unit = warm["import sklearn.base"]
    print(f"{'':34}{'CPU':>10}{'ratio':>9}")
    for what, seconds in warm.items():
        show(what, seconds, unit, here[what][1])
    print("with an empty kernel cache")
    for what, seconds in spent.items():
        show(what, seconds, unit, cold[what])


if __name__ == "__main__":
    main()
