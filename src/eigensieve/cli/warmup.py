"""``eigensieve warmup``: fill the numba cache."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ._common import echo_table

if TYPE_CHECKING:
    from ..pencil.pencil import Pencil


LIMITS: dict[str, Any] = {
    "time_limit": 2.0,
    "random_state": 0,
}  # small, but no one waits for proofs


@click.command("warmup")
def warmup_command() -> None:
    """Compile the numba kernels now, so that the first fit does not wait."""
    start = time.perf_counter()
    kernels = find_kernels()
    run_small_problems()
    rows = []
    for module, names in groupby(kernels, key=lambda name: name.rpartition(".")[0]):
        group = [kernels[name] for name in names]
        rows.append([module, str(len(group)), *count_compiled(group)])
    echo_table(["kernels", "functions", "compiled now", "from the cache"], rows, left={0})
    seconds = time.perf_counter() - start
    click.echo(f"\n{len(kernels)} kernel(s) ready after {seconds:.1f} s")


def find_kernels() -> dict[str, Any]:
    """The compiled functions of every kernel module of the package."""
    from numba.core.dispatcher import Dispatcher

    package = Path(__file__).parents[1]
    found = {}
    for path in sorted(package.rglob("*_kernel.py")):
        home = ".".join(path.relative_to(package).with_suffix("").parts)
        module = importlib.import_module(f"..{home}", __package__)
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                found[f"{home}.{name}"] = value
    return found


def find_unreached() -> list[str]:
    """The kernels that are not ready to run, by now.

    One that another kernel calls is a part of that one: where the caller came from the cache,
    numba never compiled it by itself.
    """
    kernels = find_kernels()
    names = {id(kernel): name for name, kernel in kernels.items()}
    ready = {name for name, kernel in kernels.items() if kernel.signatures}
    waiting = list(ready)
    while waiting:
        function = kernels[waiting.pop()].py_func
        inner = (function.__globals__.get(word) for word in function.__code__.co_names)
        new = {names[id(value)] for value in inner if id(value) in names} - ready
        ready |= new
        waiting += new
    return [name for name in kernels if name not in ready]


def count_compiled(kernels: Iterable[Any]) -> list[str]:
    """For how many kinds of argument kernels were compiled, and read from the cache."""
    stats = [kernel.stats for kernel in kernels]
    counts = ([s.cache_misses for s in stats], [s.cache_hits for s in stats])
    return [str(sum(sum(counter.values()) for counter in group)) for group in counts]


def run_small_problems() -> None:
    """Every solver and criterion, on every kind of pencil; and what is no solver of pencils."""
    for run in small_problems():
        run()


def small_problems() -> list[Callable[[], None]]:
    """What compiles every kernel, in parts that processes may share: the longest come first.

    Last are those that only call kernels of others.
    """
    from ..search.solve import find_solvers

    first, last = ["perspective", "leaps", "levelset"], ["exact"]
    others = [name for name in find_solvers() if name not in (*first, *last)]
    parts = [run_small_pairs, run_small_pursuit, run_small_penalized_lda, run_small_group_lasso]
    return [
        *(partial(run_solver, name) for name in first),
        *parts,
        *(partial(run_solver, name) for name in (*others, *last)),
        run_small_proofs,
    ]


def run_solver(name: str) -> None:
    """A solver with each of its criteria, on every kind of pencil."""
    from ..search.solve import find_solvers, solve, solve_path

    solver = find_solvers()[name]
    for pencil, k in small_pencils():
        if pencil.size > (solver.max_features or pencil.size):
            continue
        for criterion in solver.criteria:
            with suppress(InputError):  # a solver may not be made for this kind of pencil
                solve(pencil, k, name, criterion, **LIMITS)
                if isinstance(k, int):
                    solve_path(pencil, [2, 3], name, criterion, **LIMITS)


def run_small_proofs() -> None:
    """The kernels that a proof calls one by one."""
    from tempfile import TemporaryDirectory

    from ..search.solve import solve

    with TemporaryDirectory() as folder:
        for pencil, k in small_pencils():
            for criterion in ("lambda_max", "logdet"):
                with suppress(InputError):
                    solve(pencil, k, "exact", criterion, proof=f"{folder}/proof", **LIMITS)


def run_small_pairs() -> None:
    """The Monte Carlo of Moghaddam et al."""
    import numpy as np

    from ..datasets.moghaddam2006 import draw_pairs
    from ..experiments.moghaddam2006._pairs_kernel import solve_pairs

    A, B = draw_pairs(2, np.random.default_rng(0), n=6)
    solve_pairs(A, B, np.tile(np.arange(6), (2, 1, 1)))


def run_small_group_lasso() -> None:
    """A path of group-lasso optimal scoring."""
    import numpy as np

    from ..estimators.gloss_path import gloss_path

    gloss_path(np.random.default_rng(0).normal(size=(24, 30)), np.arange(24) % 3, [0.5, 0.1])


def run_small_penalized_lda() -> None:
    """Penalized LDA with fusion, the part of it that is compiled."""
    import numpy as np

    from ..scoring.penalized_lda import find_directions

    find_directions(np.random.default_rng(0).normal(size=(2, 30)), 2, alpha=0.01, fusion=0.01)


def run_small_pursuit() -> None:
    """Basis pursuit, and the primal steps of its simplex, which easy problems do not need."""
    import numpy as np

    from ..pursuit.basis_pursuit import basis_pursuit
    from ..pursuit.simplex_kernel import repair

    rng = np.random.default_rng(0)
    basis_pursuit(rng.normal(size=(8, 30)), rng.normal(size=(8, 2)))
    rows, one = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]), np.ones(2)
    repair(rows, one, np.arange(2), one.copy(), np.eye(2), one.copy(), one @ rows, 0.0, 9)


def small_pencils() -> list[tuple[Pencil, int | tuple[int, int]]]:
    """Matrices and data factors; two classes and three; with and without shrinkage; two views."""
    import numpy as np

    from ..pencil.factor_pencil import FactorPencil
    from ..pencil.pencil import Pencil
    from ..tables.builders import lda_pencil, pca_pencil
    from ..tables.view_builders import cca_pencil

    rng = np.random.default_rng(0)
    X, two, three = rng.normal(size=(24, 12)), np.arange(24) % 2, np.arange(24) % 3
    wide = rng.normal(size=(12, 20))
    tall = lda_pencil(X, three)
    return [
        (Pencil(tall.A, tall.B), 3),
        (Pencil(tall.A), 3),
        (lda_pencil(X, two, shrinkage=0.0), 5),
        (lda_pencil(X, three, shrinkage=0.0), 5),
        (FactorPencil(wide[:2], wide[2:6], np.full(20, 0.5)), 4),
        (FactorPencil(wide[:1], wide[2:6], np.full(20, 0.01)), 4),
        (pca_pencil(wide), 3),
        (cca_pencil(X[:, :6], X[:, 6:], shrinkage=0.2), (2, 2)),
    ]
