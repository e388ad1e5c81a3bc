"""Tables that outgrow memory: growth of time and memory, and against tables in memory.

``python -m benchmarks.scale [--only tall wide workers] [--least 3] [--most 7] [--folder F]`` writes
tables of 10^3 to 10^most rows (200 columns, float64, zarr) and columns (100 rows, float32, .npy) to
a temporary folder, fits them where they lie, and (as long as they fit) in memory. Every fit has
a process of its own, whose peak memory is told; the process itself, with scikit-learn
loaded, is the line "nothing". Ratios, not seconds, are the result.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

COLUMNS, ROWS = 200, 100
CHUNK = 20_000
RELEVANT = 20
FITS_MEMORY = 2e9  # bytes of float64 that are fitted in memory as well


# ---------------------------------------------------------------- the tables


def tall_table(folder: Path, n: int) -> Path:
    """n x 200 in a zarr array, two classes, with a shift on the first 20 columns."""
    import zarr

    path = folder / f"tall-{n}.zarr"
    chunk = min(CHUNK, n)
    store = zarr.create_array(
        path, shape=(n, COLUMNS), chunks=(chunk, COLUMNS), dtype="float64", compressors=None
    )
    for start in range(0, n, chunk):
        rng = np.random.default_rng(start)
        block = rng.standard_normal((min(chunk, n - start), COLUMNS), dtype=np.float32)
        block[(start + np.arange(len(block))) % 2 == 1, :RELEVANT] += np.linspace(1, 0.05, RELEVANT)
        store[start : start + len(block)] = block
    return path


def wide_table(folder: Path, p: int) -> Path:
    """100 x p in an .npy file, two classes, with a shift on 20 columns."""
    path = folder / f"wide-{p}.npy"
    data = np.lib.format.open_memmap(path, "w+", np.float32, (ROWS, p))
    rng = np.random.default_rng(0)
    for i in range(ROWS):
        data[i] = rng.standard_normal(p, dtype=np.float32)
        if i % 2:
            data[i, :: p // RELEVANT][:RELEVANT] += 1.5
    data.flush()
    return path


# ---------------------------------------------------------------- what is measured


def open_tall(path: str) -> tuple[Any, np.ndarray]:
    import zarr

    X = zarr.open_array(path, mode="r")
    return X, np.arange(X.shape[0]) % 2


def open_wide(path: str) -> tuple[Any, np.ndarray]:
    return np.load(path, mmap_mode="r"), np.arange(ROWS) % 2


def fit_lda(X: Any, y: np.ndarray) -> np.ndarray:
    from eigensieve import SparseLDA

    return SparseLDA(20).fit(X, y).get_support(indices=True)


def fit_pca(X: Any, y: np.ndarray) -> np.ndarray:
    from eigensieve import SparsePCA

    return SparsePCA(1, n_features_to_select=20).fit(X).get_support(indices=True)


def fit_gloss(X: Any, y: np.ndarray) -> np.ndarray:
    from eigensieve import GroupLassoLDA

    return GroupLassoLDA(20, within="diagonal").fit(X, y).get_support(indices=True)


def fit_qalpha(X: Any, y: np.ndarray) -> np.ndarray:
    from eigensieve import QAlphaSelector

    # ten cycles, as in benchmarks.qalpha
    model = QAlphaSelector(20, eigensolver="single-step", n_init=1, max_iter=10, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that they are not at rest
        return model.fit(X).get_support(indices=True)


def fit_nothing(X: Any, y: np.ndarray) -> np.ndarray:
    """What a process needs before there is any table."""
    small = np.random.default_rng(0).normal(size=(20, 30))
    fit_lda(small, np.arange(20) % 2)
    return np.empty(0, dtype=int)


FITS: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "nothing": fit_nothing,
    "SparseLDA": fit_lda,
    "SparsePCA": fit_pca,
    "GroupLassoLDA": fit_gloss,
    "QAlphaSelector": fit_qalpha,
}


def measure_here(name: str, path: str, where: str) -> None:
    """One fit in this process; its figures as a line of JSON."""
    X, y = (open_tall if path.endswith(".zarr") else open_wide)(path)
    if where == "memory":
        X = np.array(X[:])
    start = time.perf_counter()
    support = FITS[name](X, y)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "peak": peak_memory(), "support": support.tolist()}))


def peak_memory() -> int:
    """Bytes; not ru_maxrss, which begins with that of the process that started this one."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def measure(name: str, path: Path, where: str) -> dict[str, Any]:
    """The same in a process of its own."""
    call = f"from benchmarks.scale import measure_here as m; m({name!r}, {str(path)!r}, {where!r})"
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# ---------------------------------------------------------------- the sections


def report(names: list[str], path: Path, size: float, label: str) -> None:
    """Time and peak memory of fits of one table, on disk and in memory."""
    for name in names:
        disk = measure(name, path, "disk")
        line = f"  {label:>12}  {name:15s} {disk['seconds']:8.2f} s  {disk['peak'] / 1e6:7.0f} MB"
        if size <= FITS_MEMORY:
            memory = measure(name, path, "memory")
            same = "same features" if disk["support"] == memory["support"] else "OTHER FEATURES"
            line += (
                f"   in memory: {memory['seconds']:7.2f} s  {memory['peak'] / 1e6:6.0f} MB"
                f"   time x {disk['seconds'] / memory['seconds']:.2f},"
                f" memory x {disk['peak'] / memory['peak']:.2f}, {same}"
            )
        print(line, flush=True)


def sizes(given: argparse.Namespace, folder: Path, width: int, width_bytes: int) -> Iterator[int]:
    """10^least to 10^most, as far as the disk goes."""
    for power in range(given.least, given.most + 1):
        needed = 10**power * width * width_bytes * 1.1
        if shutil.disk_usage(folder).free < needed:
            print(f"  10^{power} needs {needed / 1e9:.0f} GB of disk: left out")
            return
        yield 10**power


def tall(given: argparse.Namespace, folder: Path) -> None:
    """Rows: one pass of statistics."""
    print(f"n x {COLUMNS} float64, zarr on disk, k = 20")
    for n in sizes(given, folder, COLUMNS, 8):
        path = tall_table(folder, n)
        report(given.fits, path, 8.0 * n * COLUMNS, f"n = {n:,}")
        shutil.rmtree(path)


def wide(given: argparse.Namespace, folder: Path) -> None:
    """Columns: blocks of them, a working set, and passes that verify."""
    print(f"{ROWS} x p float32, .npy on disk, k = 20")
    for p in sizes(given, folder, ROWS, 4):
        path = wide_table(folder, p)
        report(given.fits, path, 8.0 * p * ROWS, f"p = {p:,}")
        path.unlink()


def workers(given: argparse.Namespace, folder: Path) -> None:
    """One against two processes of a dask cluster."""
    from .scale_workers import workers as compare_workers

    compare_workers()


SECTIONS = {"tall": tall, "wide": wide, "workers": workers}


def main() -> None:
    """Run the sections that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--least", type=int, default=3, help="the smallest table has 10^least")
    parser.add_argument("--most", type=int, default=7, help="the largest table has 10^most")
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--folder", help="where the tables are written, and removed again")
    given = parser.parse_args()
    with TemporaryDirectory(dir=given.folder) as folder:
        for name in given.only:
            SECTIONS[name](given, Path(folder))


if __name__ == "__main__":
    main()
