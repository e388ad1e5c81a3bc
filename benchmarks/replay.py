"""Do the kernels give the same numbers as those of another version, call by call?

    python -m benchmarks.replay record FOLDER [WHAT ...]    # in the tree of the former version
    python -m benchmarks.replay compare FOLDER              # in the tree of the new one

``record`` runs tests (WHAT goes to pytest; by default those of the searches) and searches on the
gene sets of EIGENSIEVE_DATA, and writes what Python handed to every kernel and what it got back:
results, and arrays that were changed in place. ``compare`` makes the same calls again and counts
those that agree to the last bit, those within 1e-12, and the others. How fast they are:
benchmarks.former.
"""

from __future__ import annotations

import argparse
import copy
import functools
import importlib
import os
import pickle
import sys
import time
import types
from collections import Counter, namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

EXACT = "eigensieve.search.exact"
KERNELS = {
    f"{EXACT}.perspective.tree_kernel": ["search_perspective", "refill"],
    f"{EXACT}.perspective.relax_kernel": ["relax", "relax_in_parts"],
    f"{EXACT}.perspective.moves_kernel": ["choose_branch", "schur", "tune_diagonal"],
    f"{EXACT}.levelset.search_kernel": ["search_below"],
    f"{EXACT}.start_kernel": ["climb"],
    f"{EXACT}.levelset.fixing_kernel": ["trace_sum"],
    f"{EXACT}.leaps.node_kernel": ["visit"],
    "eigensieve.search.greedy.small_kernel": ["climb"],
    "eigensieve.search.greedy.downdate_kernel": ["delete_from_inverse"],
    "eigensieve.search.relaxed.lasso_kernel": ["descend_dense", "descend_factor"],
    "eigensieve.scoring.group_lasso_kernel": ["descend_rows"],
    "eigensieve.scoring.total_variation_kernel": ["merge_neighbours"],
    "eigensieve.pursuit.simplex_kernel": ["reach_vertex", "improve", "repair"],
    "eigensieve.experiments.moghaddam2006._pairs_kernel": ["solve_pairs"],
}
MAX_MEGABYTES = 60  # for each kernel, of the gene sets and of the tests
TESTS = [
    *("tests/contracts/test_solvers.py", "tests/search", "tests/proofs", "tests/scoring"),
    *("tests/pursuit", "tests/experiments"),
]
CLOSE = 1e-12


class Recorded:
    """A kernel that hands each call on to be written down; all else is asked of the kernel."""

    def __init__(self, kernel: Callable[..., Any], record: Callable[..., Any]) -> None:
        self.kernel, self.record = kernel, record

    def __call__(self, *args: Any) -> Any:
        return self.record(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


class Recorder:
    """A module of kernels that writes down its calls; among themselves kernels do not meet it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_bytes: Counter[str] = Counter()
        for home, names in KERNELS.items():
            module = importlib.import_module(home)
            stand_in = types.ModuleType(home)
            stand_in.__dict__.update(vars(module))
            for name in names:
                setattr(stand_in, name, self.wrap(f"{home}:{name}", getattr(module, name)))
            sys.modules[home] = stand_in
            package, _, stem = home.rpartition(".")
            setattr(sys.modules[package], stem, stand_in)

    def wrap(self, label: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        path = self.folder / f"{label.replace(':', '.')}-{os.getpid()}.pickle"

        def record(*args: Any) -> Any:
            if self.n_bytes[label] > MAX_MEGABYTES * 1e6:
                return kernel(*args)
            before = pickle.dumps(plain(args))
            result = kernel(*args)
            call = pickle.dumps((label, before, plain(args), plain(result)))
            self.n_bytes[label] += len(call)
            with path.open("ab") as file:
                file.write(call)
            return result

        return Recorded(kernel, record)


def plain(value: Any) -> Any:
    """Named tuples as (fields, values), so that no class has to be where it was."""
    if isinstance(value, tuple):
        return (getattr(value, "_fields", ()), [plain(part) for part in value])
    return value


def named(value: Any) -> Any:
    """The way back from `plain`."""
    if not isinstance(value, tuple):
        return value
    fields, parts = tuple(value[0]), [named(part) for part in value[1]]
    return make_class(fields)(*parts) if fields else tuple(parts)


@functools.cache  # a compiler of kernels may work once for every class that it meets
def make_class(fields: tuple[str, ...]) -> Callable[..., Any]:
    return namedtuple("Fields", fields)


def run_genes() -> None:
    """Searches on the gene sets at hand, by every solver that has kernels."""
    import eigensieve as es

    folder = Path(os.environ["EIGENSIEVE_DATA"])
    for name in ("leukemia", "prostate", "srbct83", "colon", "lymphoma", "brain"):
        with np.load(folder / f"{name}.npz") as table:
            X, y = table["X"].astype(float), table["y"]
        few = np.argsort(-X.var(axis=0), kind="stable")[:40]
        for shrinkage in (0.5, "auto"):
            wide = es.lda_pencil(X, y, shrinkage=shrinkage)
            for criterion in ("trace", "logdet"):
                es.solve(wide, 5, "perspective", criterion, max_nodes=500, audit=True)
            small = es.lda_pencil(X[:, few], y, shrinkage=shrinkage)
            for solver in ("leaps", "levelset", "perspective"):
                for criterion in ("trace", "logdet", "lambda_max"):
                    try:
                        es.solve(small, 6, solver, criterion, max_nodes=2000, audit=True)
                    except es.errors.EigensieveError:
                        continue  # not for this solver
            es.solve(wide, 10, "dc", "lambda_max")
        es.solve(es.pca_pencil(X[:, few]), 6, "levelset", max_nodes=2000, audit=True)
        es.gloss_path(X, y)
        es.SparseUncorrelatedLDA().fit(X, y)


def record(folder: Path, what: list[str]) -> int:
    import pytest

    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(folder)
    start = time.perf_counter()
    if os.environ.get("EIGENSIEVE_DATA"):
        run_genes()
    print(f"genes: {time.perf_counter() - start:.0f} s")
    recorder.n_bytes.clear()
    return int(pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", *(what or TESTS)]))


def calls(folder: Path) -> Iterator[tuple[str, Any, Any, Any]]:
    """What was recorded: label, arguments before and after, and the result."""
    for path in sorted(folder.glob("*.pickle")):
        with path.open("rb") as file:
            while True:
                try:
                    label, before, after, result = pickle.load(file)
                except EOFError:
                    break
                yield label, pickle.loads(before), after, result


def judge(old: Any, new: Any) -> str:
    """ "equal" to the last bit, "close", or "different"."""
    if isinstance(old, tuple | list):
        old, new = list(old), list(new)
        if len(old) != len(new):
            return "different"
        found = {judge(a, b) for a, b in zip(old, new)}
        return next((word for word in ("different", "close") if word in found), "equal")
    if isinstance(old, str):
        return "equal"  # the name of a field
    a, b = np.asarray(old), np.asarray(new)
    if a.shape != b.shape:
        return "different"
    if np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return "equal"
    if a.dtype.kind == "f" and np.allclose(a, b, CLOSE, CLOSE, equal_nan=True):
        return "close"
    return "different"


def compare(folder: Path) -> int:
    verdicts: dict[str, Counter[str]] = {}
    for label, before, after, result in calls(folder):
        home, name = label.split(":")
        kernel = getattr(importlib.import_module(home), name)
        args = named(copy.deepcopy(before))
        try:
            found = kernel(*args)
            word = judge((after, result), (plain(args), plain(found)))
        except Exception as error:
            word = f"{type(error).__name__}: {error}"
        verdicts.setdefault(label, Counter())[word] += 1
    for label, words in verdicts.items():
        print(f"{label.removeprefix('eigensieve.'):60} {dict(words)}")
    total = sum(verdicts.values(), Counter())
    print(f"{'all':60} {dict(total)}")
    return int(set(total) != {"equal"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("what", nargs="*", help="for pytest")
    options = parser.parse_args()
    if options.action == "record":
        return record(options.folder, options.what)
    return compare(options.folder)


if __name__ == "__main__":
    sys.exit(main())
