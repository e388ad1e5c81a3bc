"""`solve`, `solve_path`, `solve_components`, `available_solvers`: the door to every solver file."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np

from ..errors import InputError, OptionError
from ..pencil.budget import Budget, Callback
from ..pencil.checks import as_seed, check_k
from ..pencil.constraints import take_constraints
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem, check_pencil, make_problem
from ..pencil.solution import Solution, SolutionPath
from ..tables.cluster import check_client
from .on_disk import check_on_disk, solve_on_disk
from .proof.proof import ProofRequest, Prover, as_request
from .solver import Solver

# Arguments that every call may carry; a solver gets those it declares.
SHARED_OPTIONS = ("random_state", "n_jobs", "client")
# So many cardinalities a path has where none are named.
MAX_SIZES = 50
# Options that count something, wherever they occur, and the least they may be.
MIN_OPTION_VALUES = {"max_nodes": 1, "max_iter": 1, "n_starts": 0}


def solve(
    pencil: Pencil,
    k: int | Sequence[int] | None,
    solver: str = "auto",
    criterion: str = "auto",
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    time_limit: float | None = None,
    gap_tol: float = 1e-6,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
    client: Any = None,
    proof: str | os.PathLike[str] | ProofRequest | None = None,
    **solver_options: Any,
) -> Solution:
    """Choose k features of a pencil.

    Parameters
    ----------
    pencil : Pencil
    k : int, or one int per block of the pencil (kx, ky)
        None for as many as the penalty ``rho`` leaves, for solvers that have that option.
    solver : name, see `available_solvers`
        "auto" is greedy search, then an exact one that starts from its set and ends by ``effort``:
        "quick", "normal" (the default), "high" or a number. The solution is OPTIMAL or tells the
        gap that is left. The effort is counted in arithmetic, not in seconds, so that the result
        is the same on every machine; "normal" is about three seconds. Up to 40 features, which
        nearly always are proved in less than a second, have the effort "high" at least.
    criterion : "auto", "lambda_max", "trace" or "logdet"
        "auto" is the one that belongs to the pencil, ``pencil.criterion``: "logdet" for LDA,
        "lambda_max" for PCA, CCA and matrices; or "lambda_max" where the solver cannot take that
        one ("dc", "scotlass" and others seek a single direction). The solution names it.
    include, exclude : feature indices that must, or must not, be chosen
    time_limit : seconds; the best set so far is returned
    gap_tol : relative gap at which a certificate counts as closed
    n_jobs : threads, for solvers that use them; the result does not depend on it
    callback : called with progress events; if it returns an early `Status` the search ends with it
        Or a callback of scikit-learn's kind, such as `sklearn.callback.ProgressBar` (1.9 or later).
    random_state : seed, for solvers that use random starts; None is 0: no two calls differ
    client : dask.distributed.Client, optional
        Of a cluster whose workers share a long exact search; the result does not depend on it.
        Solvers that have no use for it ignore it, as they do n_jobs.
    proof : path, optional
        A file to write that shows the bound to anybody who has the table, see `check_proof` and
        docs/proofs.md. The solution then claims what the file shows, no more; writing it counts
        towards the time limit, not towards the effort.
    **solver_options : options of that solver; ``effort`` is one of "auto"
        And limits on the set, in any combination, for the solvers "auto", "greedy", "exact" and
        "exhaustive". Wishes that no set of k features fulfils are refused with the reason.

        groups : dict of name: features, by index, or by name where the table had names
            Or one label per feature, where None, NaN or "" is no group. Groups may overlap.
        at_most, at_least : how many features of a group a set may, or must, have
            One number for every group, or a dict of group name: number.
        whole : True for every group, or a list of group names
            Groups that are taken whole or not at all, such as the bands of a spectrum.
        costs : one number per feature, or a dict that names them all
            What each feature costs, 0 or more.
        max_cost : number
            What all features of a set may cost together.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(40, 6)) * [1, 3, 1, 3, 1, 1]
    >>> pencil = es.pca_pencil(X)
    >>> es.solve(pencil, k=2).support.tolist()
    [1, 3]

    No more than one of the first four, and the last two together or not at all:

    >>> groups = {"first": [0, 1, 2, 3], "last": [4, 5]}
    >>> es.solve(pencil, 3, groups=groups, at_most={"first": 1}, whole=["last"]).support.tolist()
    [3, 4, 5]
    >>> es.solve(pencil, 2, costs=[1, 9, 1, 5, 1, 2], max_cost=7).support.tolist()
    [0, 3]
    """
    pencil = check_pencil(pencil).in_memory_if_small()
    constraints = take_constraints(solver_options)
    if k is None:
        k = _most(pencil, exclude, constraints, solver_options)
    criterion = choose_criterion(criterion, pencil, solver)
    problem = make_problem(pencil, k, criterion, include, exclude, constraints)
    return solve_problem(
        problem,
        solver,
        Budget(time_limit, gap_tol, callback),
        shared=check_shared(random_state, n_jobs, client),
        options=solver_options,
        prover=None if proof is None else Prover(problem, pencil, as_request(proof)),
    )


def solve_problem(
    problem: Problem,
    solver: str,
    budget: Budget,
    *,
    shared: dict[str, Any],
    options: dict[str, Any],
    prover: Prover | None = None,
) -> Solution:
    """`solve` for a problem that is made already; ``shared`` is what `check_shared` gives."""
    chosen, known = _prepare(problem, solver, options, shared)
    if prover is not None and not chosen.certifies:
        raise OptionError(f"solver {solver!r} proves nothing, so there is no proof; use 'exact'")
    with budget.interruptible():
        found = _run(chosen, problem, budget, known)
        return found if prover is None else prover.prove(found, budget)


def solve_path(
    pencil: Pencil,
    ks: Iterable[int] | Iterable[Sequence[int]] | None = None,
    solver: str = "auto",
    criterion: str = "auto",
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    time_limit: float | None = None,
    gap_tol: float = 1e-6,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
    client: Any = None,
    **solver_options: Any,
) -> SolutionPath:
    """Solutions for several k; ``path[k]`` is the one with k features.

    ``ks`` defaults to the first 50 that are possible: 1, 2, ... With limits on groups or costs,
    which are those of `solve`, a k for which there is no set is left out there, and refused where
    it is named. For a pencil with blocks ``ks`` may list pairs, and ``path[kx, ky]`` is the
    solution with as many of each. The other parameters are those of `solve`; the time limit is for
    the whole path, and a k that was not reached is missing.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(40, 6))
    >>> path = es.solve_path(es.pca_pencil(X))
    >>> path.ks
    [1, 2, 3, 4, 5, 6]
    """
    pencil = check_pencil(pencil).in_memory_if_small()
    sizes = None if ks is None else _path_sizes(ks)
    first = None if sizes is None else sizes[0]
    criterion = choose_criterion(criterion, pencil, solver)
    constraints = take_constraints(solver_options)
    problem = make_problem(pencil, first, criterion, include, exclude, constraints)
    if sizes is None:
        sizes = _first_sizes(problem)
    problem = problem.with_k(sizes[-1])
    if not problem.is_free:  # pairs have no smallest and largest, limits gaps: look at each
        for k in sizes:
            problem.with_k(k)
    budget = Budget(time_limit, gap_tol, callback)
    shared = check_shared(random_state, n_jobs, client)
    chosen, options = _prepare(problem, solver, solver_options, shared)
    with budget.interruptible():
        if chosen.path is not None and problem.quota is None:
            solutions: dict[Any, Solution] = chosen.path(problem, sizes, budget, **options)
        else:
            solutions = {}
            for k in sizes:
                if solutions and budget.stop() is not None:
                    break
                part = problem.with_k(k)
                chosen, options = _prepare(part, solver, solver_options, shared)
                if solutions and chosen.warm_start:
                    options["start"] = solutions[max(solutions)].support
                solutions[k] = _run(chosen, part, budget, options)
    early = len(solutions) < len(sizes) or any(s.status.is_early for s in solutions.values())
    return SolutionPath(solutions, budget.stop() if early else None)


def _size(k: Any) -> int | tuple[int, ...]:
    """A cardinality, or one per block."""
    return (
        tuple(check_k(part) for part in k) if isinstance(k, Sequence | np.ndarray) else check_k(k)
    )


def _first_sizes(problem: Problem) -> list[int]:
    """The first cardinalities for which there are sets, from that of the problem on."""
    sizes: list[int] = []
    size: int | None = problem.k
    while size is not None and len(sizes) < MAX_SIZES:
        sizes.append(size)
        size = problem.next_size(size + 1)
    return sizes


def _most(pencil: Pencil, exclude: Sequence[int], limits: object, options: dict[str, Any]) -> int:
    """All features, where a penalty decides how many of them are taken."""
    if limits is not None:
        raise InputError("k is None; limits on groups or costs need the number of features")
    if options.get("rho") is None:
        raise InputError("k is None; say how many features, or give a solver's penalty rho")
    return max(1, pencil.size - np.unique(exclude).size)


def _path_sizes(ks: Iterable[Any]) -> list[Any]:
    """The cardinalities of a path, ascending."""
    try:
        sizes = sorted({_size(k) for k in ks})
    except TypeError:
        raise OptionError(
            f"ks is {ks!r}; it must list cardinalities, such as [5, 10], or pairs of them"
        ) from None
    if not sizes:
        raise OptionError("ks is empty: name at least one cardinality")
    return sizes


def finds_jointly(solver: str) -> bool:
    """Whether a solver finds all components at once."""
    found = find_solvers().get(solver)
    return found is not None and found.components is not None


def solve_components(
    pencil: Pencil,
    ks: Sequence[int | None],
    solver: str,
    time_limit: float | None = None,
    random_state: Any = None,
    callback: Callback | None = None,
    **solver_options: Any,
) -> tuple[np.ndarray, list[Solution]]:
    """The solver's own loadings (p, m), and a Solution for each component's features.

    ``ks`` has one entry per component: k, or None for as many as the penalty leaves. No component
    is taken out of the pencil, so that all Solutions are of the pencil as it is.
    """
    pencil = pencil.in_memory_if_small()
    problem = make_problem(pencil, max(pencil.size if k is None else k for k in ks))
    budget = Budget(time_limit, callback=callback)
    shared = check_shared(random_state)
    chosen, options = _prepare(problem, solver, solver_options, shared)
    assert chosen.components is not None
    with budget.interruptible():
        return chosen.components(problem, ks, budget, **options)


def available_solvers() -> dict[str, str]:
    """The solvers, each with a line that says what it is.

    Examples
    --------
    >>> import eigensieve as es
    >>> "greedy" in es.available_solvers()
    True
    """
    return {name: solver.summary for name, solver in find_solvers().items()}


def choose_criterion(criterion: str, pencil: Pencil, solver: str) -> str:
    """What "auto" means: the criterion of the pencil, or the one that every solver takes."""
    found = find_solvers().get(solver)
    if criterion != "auto" or found is None:  # an unknown solver is refused elsewhere
        return criterion
    serves = pencil.criterion in found.criteria and (
        found.refuses is None or found.refuses(make_problem(pencil, 1)) is None
    )
    return pencil.criterion if serves else "lambda_max"


@cache
def find_solvers() -> dict[str, Solver]:
    """Every module below this folder that declares a ``SOLVER``."""
    package = importlib.import_module(__package__ or "eigensieve.search")
    found = {}
    for module_info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        solver = getattr(importlib.import_module(module_info.name), "SOLVER", None)
        if solver is not None:
            found[solver.name] = solver
    return dict(sorted(found.items()))


def _prepare(
    problem: Problem,
    name: str,
    given: dict[str, Any],
    shared: dict[str, Any],
) -> tuple[Solver, dict[str, Any]]:
    """The solver, and the options it will be called with, checked."""
    solvers = find_solvers()
    if name not in solvers:
        raise OptionError(f"solver is {name!r}; it must be one of {', '.join(solvers)}")
    solver = solvers[name]
    if solver.choose is not None:
        solver = solvers[solver.choose(problem)]
    if problem.criterion not in solver.criteria:
        raise OptionError(
            f"solver {name!r} does not know criterion {problem.criterion!r}; "
            f"it knows {', '.join(solver.criteria)}"
        )
    if solver.max_features is not None and problem.pencil.size > solver.max_features:
        raise OptionError(
            f"solver {name!r} takes at most {solver.max_features} features, "
            f"and the pencil has {problem.pencil.size}"
        )
    if problem.limits is not None and not solver.takes_limits:
        raise OptionError(
            f"solver {name!r} cannot keep limits on groups or costs; "
            "use 'auto', 'greedy', 'exact' or 'exhaustive'"
        )
    reason = None if solver.refuses is None else solver.refuses(problem)
    if reason is not None:
        raise OptionError(f"solver {name!r} {reason}")
    if not problem.pencil.in_memory:
        check_on_disk(solver, problem, solvers)
    known = _options_of(solver)
    own = [option for option in known if option not in SHARED_OPTIONS]
    unknown = sorted(set(given) - set(own))
    if unknown:
        chosen = {n: solvers[s.choose(problem)] if s.choose else s for n, s in solvers.items()}
        others = [n for n, s in chosen.items() if {*unknown} <= {*_options_of(s)}]
        raise OptionError(
            f"solver {name!r} has no option {', '.join(unknown)}; "
            f"it has {', '.join(own) if own else 'none'}"
            + (f" (solver {' or '.join(map(repr, others))} knows it)" if others else "")
        )
    for option, least in MIN_OPTION_VALUES.items():
        value = given.get(option)
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if value is not None and not (is_whole and int(value) >= least):
            raise OptionError(
                f"{option} is {value!r}; it must be a whole number >= {least}, or None"
            )
    return solver, {**given, **{o: v for o, v in shared.items() if o in known}}


def check_shared(
    random_state: Any, n_jobs: int | None = None, client: Any = None
) -> dict[str, Any]:
    """The shared options, by name, checked."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral | None):
        raise OptionError(f"n_jobs is {n_jobs!r}; it must be a whole number or None")
    if n_jobs == 0:
        raise OptionError("n_jobs is 0; it must be a number of threads, or -1 for all cores")
    if client is not None:
        check_client(client)
    return dict(zip(SHARED_OPTIONS, (as_seed(random_state), n_jobs, client)))


def _options_of(solver: Solver) -> list[str]:
    assert solver.solve is not None
    parameters = inspect.signature(solver.solve).parameters.values()
    return [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]


def _run(solver: Solver, problem: Problem, budget: Budget, options: dict[str, Any]) -> Solution:
    assert solver.solve is not None
    if solver.warm_start and options.get("start") is not None:
        options = {**options, "start": problem.to_local(options["start"])}
    if not problem.pencil.in_memory:
        return solve_on_disk(solver, problem, budget, options)
    return solver.solve(problem, budget, **options)
