"""What the estimators share: cardinality, names, statuses."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import InputError, OptionError
from ..pencil.checks import as_seed, check_choice, check_k
from ..pencil.constraints import NAMES as LIMITS
from ..pencil.constraints import Constraints, as_constraints
from ..pencil.pencil import Pencil
from ..pencil.problem import make_problem
from ..pencil.solution import Solution, Status, relative_gap
from ..search.near_optimal.near_optimal import near_optimal
from ..search.near_optimal.sets import NearOptimalSets
from ..search.quick_bound import root_bound
from ..search.solve import solve
from ._callbacks import listener_of

CERTIFICATES = ("root", "none")
# What `solve` takes beside the options of a solver, and solver_options may say, too.
OF_A_RUN = {"n_jobs", "client", "callback", "proof"}
NOT_OF_A_SOLVER = {"effort", *LIMITS, *inspect.signature(solve).parameters} - OF_A_RUN


def clip_k(k: Any, p: int, of: str = "", stacklevel: int = 3) -> int:
    """k as an int, at most p; more is clipped with a warning that says of what (" of view 'Y'")."""
    number = check_k(k, "n_features_to_select")
    if p == 0:
        raise InputError("exclude leaves no feature to select")
    if number > p:
        warnings.warn(
            f"n_features_to_select is {number}, but only {p} features{of} may be chosen; "
            f"selecting {p}",
            UserWarning,
            stacklevel=stacklevel,
        )
    return min(number, p)


def clip_components(wanted: Any, most: int, what: str, stacklevel: int = 3) -> int:
    """n_components: all there are for None, and no more than that; a warning says of what."""
    if wanted is None:
        return most
    m = check_k(wanted, "n_components")
    if m > most:
        warnings.warn(
            f"n_components is {m}, but {what} have at most {most}; finding {most}",
            UserWarning,
            stacklevel=stacklevel,
        )
    return min(m, most)


def feature_indices(wanted: Any, names: np.ndarray | None, p: int, what: str) -> np.ndarray:
    """Sorted indices of features given by index, by mask or, if X had names, by name."""
    array = np.asarray(wanted if wanted is not None else ())
    if array.ndim != 1:
        raise InputError(f"{what} must be a list of features, not {wanted!r}")
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype == bool:
        if array.size != p:
            raise InputError(f"{what} is a mask of {array.size} features; X has {p}")
        return np.flatnonzero(array)
    if array.dtype.kind in "iu":
        if array.min() < 0 or array.max() >= p:
            raise InputError(f"{what} has an index outside 0..{p - 1}")
        return np.unique(array).astype(np.intp)
    if names is None:
        raise InputError(f"{what} has names, but X has none; give column indices")
    place = {name: i for i, name in enumerate(names)}
    missing = [w for w in wanted if w not in place]
    if missing:
        raise InputError(f"{what}: no feature is called {missing[0]!r}")
    return np.unique([place[w] for w in wanted]).astype(np.intp)


def limits_by_index(wanted: Any, names: np.ndarray | None, p: int) -> Constraints:
    """What ``constraints`` asks for, with indices in the place of names."""
    known = None if names is None else [str(name) for name in names]
    return (as_constraints(wanted) or Constraints()).by_index(p, known)


def check_solver_options(options: Any) -> dict[str, Any]:
    """Options of the solver only: what is a parameter of the estimator is set there."""
    if not isinstance(options, Mapping | None):
        raise OptionError(f"solver_options is {options!r}; it must be a dict, or None")
    given = dict(options or {})
    taken = sorted(set(given) & NOT_OF_A_SOLVER)
    if taken:
        advice = "set it on the estimator, if it has that parameter"
        if taken[0] == "gap_tol":
            advice = "every estimator says optimal at the same gap; eigensieve.solve takes another"
        if taken[0] in LIMITS:
            advice = "set constraints on the estimator, if it has that parameter"
        raise OptionError(
            f"solver_options has {taken[0]!r}, which is not an option of a solver; {advice}"
        )
    return given


def search_options(estimator: Any, n_searches: int = 1) -> dict[str, Any]:
    """What an estimator that selects k features says to `solve`, whatever its problem."""
    own = check_solver_options(estimator.solver_options)
    if estimator.solver == "auto":
        own["effort"] = 0 if estimator.certificate == "none" else estimator.effort
    if n_searches > 1 and own.get("proof") is not None:
        raise OptionError(
            f"solver_options has 'proof': a file is the proof of one search, and there are "
            f"{n_searches} here; use eigensieve.solve"
        )
    return {
        "solver": estimator.solver,
        "time_limit": estimator.time_limit,
        "random_state": as_seed(estimator.random_state),
        **own,
        **listener_of(estimator, own.get("callback")),
    }


def list_near_optimal(
    estimator: Any, pencil: Pencil, k: Any, asked: dict[str, Any], options: dict[str, Any]
) -> NearOptimalSets:
    """The near-optimal sets of an estimator's problem.

    ``asked`` is what the estimator asks of a set; ``options`` are the caller's for the search.
    """
    taken = sorted({"k", "names", *asked} & options.keys())
    if taken:
        raise OptionError(f"near_optimal has no option {taken[0]!r} here; the estimator decides")
    if k is None:
        raise InputError("n_features_to_select is None; a list of sets needs a number")
    run = {"time_limit": estimator.time_limit, "random_state": as_seed(estimator.random_state)}
    return near_optimal(pencil, k, **{**run, **asked, **options})


def is_left_to_penalty(k: Any, options: Any) -> bool:
    """Whether a penalty decides the number of features: k is None, and there is a rho."""
    if k is None and check_solver_options(options).get("rho") is None:
        raise InputError(
            "n_features_to_select is None; say how many features, or give a solver's penalty: "
            "solver_options={'rho': ...}"
        )
    return k is None


def check_certificate(value: Any) -> None:
    """Raise unless the certificate is one that can be asked for."""
    check_choice(value, "certificate", CERTIFICATES)


def with_certificate(
    wanted: str, solution: Solution, pencil: Pencil, **restrictions: Any
) -> Solution:
    """The solution, with a bound on the optimum if it has none and one is wanted.

    ``restrictions`` are those of `make_problem`: include, exclude, constraints, and k where it is
    one per block: the bound is then on the sets that fill the blocks like that.

    The bound is that of an exact search before its first branch: it costs about as much as the
    greedy search itself. After Ctrl-C nothing more is computed.
    """
    if wanted == "none" or np.isfinite(solution.bound) or solution.status is Status.INTERRUPTED:
        return solution
    about = {"k": solution.k, "criterion": solution.criterion, **restrictions}
    problem = make_problem(pencil, **about)
    support = problem.to_local(solution.support)
    bound = max(root_bound(problem, support), problem.ceiling(support))
    gap = relative_gap(solution.objective, bound, solution.scale)
    status = Status.OPTIMAL if gap <= solution.gap_tol else solution.status
    return replace(solution, bound=bound, status=status)


def warn_or_reraise(status: Status | None, kept: object, stacklevel: int = 3) -> None:
    """The one place where a status becomes a warning, or goes on as Ctrl-C.

    Called when the estimator is fitted: the best so far is kept either way. After Ctrl-C the
    loop around the fit (a grid search, say) must end too.
    """
    if status is None or not status.is_early:
        return
    text = f"the search ended early ({status}); the best so far is kept: {kept}"
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt(text)
    warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel)
