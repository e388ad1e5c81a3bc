"""``eigensieve warmup``: fill the numba cache."""

from __future__ import annotations

import importlib
import pkgutil
import time
from contextlib import suppress
from typing import Any

import click

from ..errors import InputError
from ._common import echo_table


@click.command("warmup")
def warmup_command() -> None:
    """Compile the numba kernels now, so that the first fit does not wait."""
    start = time.perf_counter()
    kernels = find_kernels()
    run_small_problems()
    rows = [[name, *count_compiled(kernel)] for name, kernel in kernels.items()]
    echo_table(["kernel", "compiled now", "from the cache"], rows, left={0})
    seconds = time.perf_counter() - start
    click.echo(f"\n{len(kernels)} kernel(s) ready after {seconds:.1f} s")


def find_kernels() -> dict[str, Any]:
    """The compiled functions of every module in eigensieve.kernels."""
    from numba.core.dispatcher import Dispatcher

    from .. import kernels as package

    found = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                found[f"{info.name}.{name}"] = value
    return found


def count_compiled(kernel: Any) -> list[str]:
    """For how many kinds of argument a kernel was compiled, and read from the cache."""
    return [str(sum(c.values())) for c in (kernel.stats.cache_misses, kernel.stats.cache_hits)]


def run_small_problems() -> None:
    """Every solver and criterion, on a pencil of matrices and on one of data factors."""
    import numpy as np

    from ..core.builders import lda_pencil, pca_pencil
    from ..core.pencil import Pencil
    from ..solvers.dispatch import find_solvers, solve, solve_path

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 8)), np.repeat([0, 1, 2], 4)
    wide = rng.normal(size=(12, 20))
    tall = lda_pencil(X, y)
    dense = Pencil(tall.A, tall.B)
    pencils = (dense, Pencil(dense.A), lda_pencil(wide, y), pca_pencil(wide))
    for name, solver in find_solvers().items():
        for pencil in pencils:
            if pencil.size > (solver.max_features or pencil.size):
                continue
            for criterion in solver.criteria:
                with suppress(InputError):  # a solver may not be made for this kind of pencil
                    solve(pencil, 3, name, criterion, random_state=0)
                    solve_path(pencil, [2, 3], name, criterion, random_state=0)
