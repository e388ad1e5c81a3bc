"""What holds for every kernel: no array makes it crash, hang, or claim what it does not know.

The calls are real ones: small problems are solved, and the first call of every kernel is kept.
"""

from __future__ import annotations

import copy
import faulthandler
import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.datasets.moghaddam2006 import draw_pairs
from eigensieve.experiments.moghaddam2006._pairs_kernel import solve_pairs
from eigensieve.pursuit.basis_pursuit import basis_pursuit
from eigensieve.pursuit.simplex_kernel import repair
from eigensieve.scoring.penalized_lda import find_directions
from eigensieve.search.exact.direction.cones_kernel import relax_direction
from eigensieve.search.exact.leaps.node_kernel import CLOSED
from eigensieve.search.exact.leaps.relax_kernel import spread
from eigensieve.search.exact.perspective.limits_kernel import narrow_state
from eigensieve.search.exact.perspective.moves_kernel import improve_diagonal
from eigensieve.search.exact.perspective.tree_kernel import search_perspective
from eigensieve.search.exact.perspective.weights import LimitRows, WeightProblem
from eigensieve.search.linear_kernel import ratio_of_set
from eigensieve.search.solve import find_solvers
from tests.contracts.bank import problem_bank

PACKAGE = Path(es.__file__).parent
PROBLEMS = ("pca", "no shrinkage", "four classes", "two views", "factors", "diagonal")
SEARCHES = {  # and where in their arguments the matrices of the problem are
    "levelset.search_kernel.search_below": [(0, 0), (0, 1)],
    "leaps.node_kernel.visit": [(0, 1), (0, 2)],
    "perspective.tree_kernel.search_perspective": [(0, 0), (0, 1)],
}
Call = tuple[Callable[..., Any], tuple[Any, ...]]


@pytest.fixture(autouse=True)
def hangs_are_loud() -> Iterator[None]:
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def find_kernels() -> dict[str, Callable[..., Any]]:
    """Every function that Python can call in a compiled module, by the end of its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*_kernel.pyx")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for value in vars(importlib.import_module(name)).values():
            if type(value).__name__ == "cython_function_or_method":
                found[".".join([*name.split(".")[-2:], value.__name__])] = value
    return found


KERNELS = find_kernels()


def run_all() -> None:
    """Something that calls every kernel but those called below by hand."""
    rng = np.random.default_rng(0)
    bank = problem_bank()
    for problem in PROBLEMS:
        pencil, k = bank[problem], (2, 2) if problem == "two views" else 4
        for name, solver in find_solvers().items():
            for criterion in solver.criteria:
                with suppress(es.errors.InputError):  # not made for such a pencil
                    es.solve(pencil, k, name, criterion, time_limit=5, random_state=0)
        for criterion in ("lambda_max", "logdet"):
            with tempfile.TemporaryDirectory() as folder, suppress(es.errors.InputError):
                es.solve(pencil, k, "exact", criterion, proof=f"{folder}/proof")
    es.gloss_path(rng.normal(size=(24, 30)), np.arange(24) % 3, [0.5, 0.1])
    find_directions(rng.normal(size=(2, 30)), 2, alpha=0.01, fusion=0.01)
    basis_pursuit(rng.normal(size=(8, 30)), rng.normal(size=(8, 2)))


def calls_by_hand() -> Iterator[Call]:
    """Those that only tests, experiments or hard problems make."""
    A, B = draw_pairs(2, np.random.default_rng(0), n=6)
    yield solve_pairs, (A, B, np.tile(np.arange(6), (2, 1, 1)))
    yield ratio_of_set, (A[0], B[0], np.arange(3))
    yield spread, (np.array([0.5, 0.2, 0.0]), np.array([0, 3]), np.array([2]))
    pull = np.array([0.5, 0.2, 0.0])
    yield improve_diagonal, (2.0 * np.eye(3), np.full(3, 0.5), np.full(3, 0.1), pull, 0.05)
    rows, one = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]), np.ones(2)
    problem = WeightProblem(
        B[0],
        A[0][:1].copy(),
        np.full(6, 0.1),
        np.array([0]),
        np.arange(1, 6),
        2,
        False,
        np.zeros(1),
    )
    limits = LimitRows(np.array([0, 2]), np.array([0, 3]), np.array([1.0, -2.0]), np.array([0.5]))
    yield narrow_state, (limits, np.zeros(6, dtype=np.int8), 3)
    yield relax_direction, (problem, np.full(5, 0.4), 0.0, 10, 1e-6, 0.1)
    yield repair, (rows, one, np.arange(2), one, np.eye(2), one.copy(), one @ rows, 0.0, 9)


@pytest.fixture(scope="module")
def calls() -> dict[str, Call]:
    found: dict[str, Call] = {}

    def keep(label: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            found.setdefault(label, (kernel, copy.deepcopy(args)))
            return kernel(*args)

        return call

    find_solvers()
    labels = {id(kernel): label for label, kernel in KERNELS.items()}
    with pytest.MonkeyPatch.context() as patch:
        for module in [m for name, m in sys.modules.items() if name.startswith("eigensieve")]:
            for name, value in list(vars(module).items()):
                if id(value) in labels:
                    patch.setattr(module, name, keep(labels[id(value)], value))
        run_all()
    for kernel, args in calls_by_hand():
        found.setdefault(labels[id(kernel)], (kernel, args))
    return found


def arrays_in(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from arrays_in(part, (*path, i))
    elif isinstance(value, np.ndarray):
        yield path, value


def replaced(value: Any, path: tuple[int, ...], array: np.ndarray) -> Any:
    """The arguments with another array at a place."""
    if not path:
        return array
    parts = list(value)
    parts[path[0]] = replaced(value[path[0]], path[1:], array)
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def poisoned(array: np.ndarray) -> Iterator[np.ndarray]:
    """With NaN or infinity in one place, or in all."""
    for bad in (np.nan, np.inf, -np.inf):
        yield np.full_like(array, bad)
        one = array.copy()
        one.flat[one.size // 2 : one.size // 2 + 1] = bad
        yield one


def test_every_kernel_is_met(calls: dict[str, Call]) -> None:
    assert len(KERNELS) > 20
    assert set(calls) == set(KERNELS)


@pytest.mark.parametrize("label", KERNELS)
def test_other_arrays_are_refused(label: str, calls: dict[str, Call]) -> None:
    """Of another type, number of dimensions, or order: a kernel would read other memory."""
    kernel, args = calls[label]
    for path, array in arrays_in(args):
        every_other = np.repeat(array[..., None], 2, axis=-1)[..., 0]
        other = np.complex128 if array.dtype.kind == "f" else np.float32
        for wrong in (array.astype(other), array[None], every_other):
            if wrong is every_other and array.size < 2:
                continue  # one number has no order
            with pytest.raises((TypeError, ValueError)):
                kernel(*replaced(args, path, wrong))


@pytest.mark.parametrize("label", KERNELS)
def test_numbers_that_are_not_finite_do_no_harm(label: str, calls: dict[str, Call]) -> None:
    """It ends; where indices are checked none is out of bounds; what it cannot do it says."""
    kernel, args = calls[label]
    for path, array in arrays_in(args):
        if array.dtype == np.float64 and array.size:
            for bad in poisoned(array):
                with suppress(ValueError):
                    kernel(*copy.deepcopy(replaced(args, path, bad)))


@pytest.mark.parametrize("label", SEARCHES)
def test_a_search_proves_nothing_of_nan(label: str, calls: dict[str, Call]) -> None:
    """It is not over without a set that is looked at again, a node left open, or an error."""
    kernel, args = calls[label]
    for path in SEARCHES[label]:
        given = copy.deepcopy(args)
        bad = replaced(given, path, np.full_like(dict(arrays_in(args))[path], np.nan))
        try:
            found = kernel(*bad)
        except ValueError:
            continue
        if label.endswith("visit"):
            assert found[0] != CLOSED or bad[1].best.any() or found[1] > bad[1].record[0]
        else:
            left, members = (
                (found[1], found[2]) if "levelset" in label else (found[-1][0], found[1])
            )
            assert len(left) or members.size


def test_memory_that_cannot_be_had_is_an_error(calls: dict[str, Call]) -> None:
    label = "perspective.tree_kernel.search_perspective"
    *args, _ = calls[label][1]
    for max_nodes in (2**45, 2**61):  # more than there is, and than can be counted
        with pytest.raises(MemoryError):
            search_perspective(*copy.deepcopy(args), max_nodes)
