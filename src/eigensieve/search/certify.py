"""`certify`: how far from optimal is a set of features that any tool has chosen?"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..errors import InputError, OptionError
from ..pencil.budget import Budget, Callback
from ..pencil.constraints import take_constraints
from ..pencil.limits import Limits
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem, make_problem
from ..pencil.solution import GIVEN, Solution, Status, relative_gap
from ..pencil.wording import ROUND_OFF
from ..tables.statistics import ClassWeight
from .certificate import CLOSED, Certificate
from .given_set import GivenSet, read_pencil_set, read_table_set
from .proof.proof import ProofRequest, Prover, as_request
from .quick_bound import root_bound
from .solve import check_shared, solve_problem
from .swaps import list_swaps

TIME_LIMIT = 10.0


def certify(
    pencil: Any,
    support: Any,
    features: Any = None,
    time_limit: float | None = TIME_LIMIT,
    include: Sequence[Any] = (),
    exclude: Sequence[Any] = (),
    gap_tol: float = 1e-6,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
    client: Any = None,
    proof: str | os.PathLike[str] | ProofRequest | None = None,
    *,
    criterion: str = "auto",
    names: Iterable[str] | None = None,
    shrinkage: float | str | None = None,
    ridge: float | None = None,
    class_weight: ClassWeight = None,
    layer: str | None = None,
    **constraints: Any,
) -> Certificate:
    """An upper bound and the gap for a set of features, whoever chose it.

    ``certify(X, y, features)`` is about columns of a table X with labels y, by name or index,
    ``certify(adata, "cell_type", features)`` about genes of an AnnData, and
    ``certify(pencil, support)`` about features of a pencil.

    An exact search starts from the given set; what it proves within the time limit holds for
    every set of as many features. Where the pencil has blocks (CCA) the rivals are the sets
    with as many features of each block.

    Parameters
    ----------
    pencil : Pencil; or a table X, any that `lda_pencil` takes, or an AnnData
    support : feature indices of the set, in any order, or names if the pencil was made of a table
        with names. Of a table, the labels y; of an AnnData, the name of a column of .obs: cells
        whose entry is missing do not count.
    features : names (or indices) of the set among the table's columns
        Of a pencil the third argument may be the criterion.
    criterion : "auto", "lambda_max", "trace" or "logdet"
        "auto" is the one that belongs to the pencil, ``pencil.criterion``: "logdet" for LDA,
        "lambda_max" for PCA, CCA and matrices. A set that was chosen by another one is judged by
        that one only if it is named here.
    time_limit : seconds, None for no limit; 0 gives the bound at the root of the search
    include, exclude : features that every rival must, or must not, have; the given set, too
        Indices, or names where the features have any.
    gap_tol, n_jobs, callback, random_state, client, proof : as in `solve`
    names : what all features are called, if table or pencil do not know it
    shrinkage, ridge, class_weight : as in `lda_pencil`, for a table; a pencil has its own
    layer : str, optional
        The layer of an AnnData that takes the place of .X.
    **constraints : groups, at_most, at_least, whole, costs, max_cost
        Limits that every rival must keep, as in `solve`; the given set, too.

    Returns
    -------
    Certificate
        Where a better set was found it is ``better``, and ``swaps`` lead to it.

    Examples
    --------
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> claim = es.certify(X, y, ["mean radius", "worst concave points"], shrinkage=0.5)
    >>> claim.explain()
    'a set of 2 features scores 5.84 % higher: worst radius, worst concave points (proved the best)'
    >>> claim.describe_swaps()
    ["replace 'mean radius' by 'worst radius' (+5.84 %)"]
    >>> pencil = es.lda_pencil(X, y, shrinkage=0.5)
    >>> es.certify(pencil, claim.better.support).is_certified
    True
    """
    if isinstance(features, str) and isinstance(pencil, Pencil):
        if criterion != "auto":
            raise OptionError(f"criterion was given twice: {features!r} and {criterion!r}")
        features, criterion = None, features
    settings = {
        "shrinkage": shrinkage, "ridge": ridge, "class_weight": class_weight, "layer": layer
    }  # fmt: skip
    settings = {name: value for name, value in settings.items() if value is not None}
    if features is None:
        given_set = read_pencil_set(pencil, support, include, exclude, names, settings)
    else:
        given_set = read_table_set(pencil, support, features, include, exclude, names, settings)
    given_set = _limited(given_set, constraints)
    return _certify(
        given_set, criterion, Budget(time_limit, gap_tol, callback), proof,
        check_shared(random_state, n_jobs, client),
    )  # fmt: skip


def _limited(given_set: GivenSet, options: dict[str, Any]) -> GivenSet:
    """The given set with what else the rivals must keep, by index."""
    asked = take_constraints(options)
    if options:
        raise OptionError(f"certify has no option {', '.join(sorted(options))}")
    if asked is None:
        return given_set
    return replace(given_set, constraints=asked.by_index(given_set.pencil.size, given_set.names))


def _certify(
    given_set: GivenSet,
    criterion: str,
    budget: Budget,
    proof: str | os.PathLike[str] | ProofRequest | None,
    shared: dict[str, Any],
) -> Certificate:
    include, exclude = given_set.include, given_set.exclude
    pencil, chosen = given_set.pencil.in_memory_if_small(), given_set.chosen
    request = None if proof is None else _request(proof, pencil, chosen)
    sizes = () if pencil.blocks is None else _sizes(pencil.blocks, chosen)
    pencil, k, unused = _cardinality(pencil, chosen)
    limits = _check_limits(given_set)
    problem = make_problem(
        pencil, k, criterion, include, [*exclude, *unused], given_set.constraints
    )
    _check_allowed(given_set)
    about = {
        "sizes": sizes,
        "is_constrained": len(include) + len(exclude) > 0 or limits is not None,
        "names": given_set.names,
    }
    given = problem.solution(
        problem.to_local(chosen), status=Status.FEASIBLE, solver=GIVEN, gap_tol=budget.gap_tol
    )
    if math.isfinite(given.bound):  # there is no other set
        if request is None:
            return _judge(given, given, given.bound, problem, about)
        given = replace(given, bound=math.inf)  # the file decides what can be said
    found = solve_problem(
        problem,
        "exact",
        budget,
        shared=shared,
        options={"start": chosen},
        prover=None if request is None else Prover(problem, pencil, request),
    )
    ceiling = problem.ceiling(problem.to_local(chosen))
    return _judge(given, _with_bound(found, problem), ceiling, problem, about)


def _request(
    proof: str | os.PathLike[str] | ProofRequest, pencil: Pencil, chosen: np.ndarray
) -> ProofRequest:
    """A proof about the given set, in which also the blocks that it leaves out are counted."""
    request, blocks = replace(as_request(proof), given=chosen), pencil.blocks
    if blocks is None or np.unique(blocks[chosen]).size == 1:
        return request
    return replace(request, sizes=list(_sizes(blocks, chosen)))


def _sizes(blocks: np.ndarray, chosen: np.ndarray) -> tuple[int, ...]:
    """How many of the features lie in each block."""
    return tuple(np.bincount(blocks[chosen], minlength=int(blocks.max()) + 1).tolist())


def _with_bound(found: Solution, problem: Problem) -> Solution:
    """A search that ended before its first node has no bound yet: that of the root."""
    if math.isfinite(found.bound):
        return found
    support = problem.to_local(found.support)
    return replace(found, bound=max(root_bound(problem, support), problem.ceiling(support)))


def _judge(
    given: Solution, found: Solution, ceiling: float, problem: Problem, about: dict[str, Any]
) -> Certificate:
    """The given set, with the bound that the search proved and the better set it found.

    ``ceiling`` is what the given set may be worth by itself, round-off included; ``about`` is what
    else the certificate says of the sets.
    """
    bound = min(given.bound, max(found.bound, ceiling))
    closed = relative_gap(given.objective, bound, given.scale) <= given.gap_tol
    early = found.status if found.status.is_early else Status.FEASIBLE
    claim = replace(
        given,
        bound=bound,
        status=Status.OPTIMAL if closed else early,
        solver=found.solver,
        n_nodes=found.n_nodes,
        n_iter=found.n_iter,
        seconds=found.seconds,
    )
    gain = relative_gap(given.objective, found.objective, given.scale)
    better = found if gain > (min(given.gap_tol, CLOSED) if closed else ROUND_OFF) else None
    swaps = () if better is None else list_swaps(problem, given, better)
    own = {f.name: getattr(claim, f.name) for f in fields(Solution)}
    return Certificate(**own, better=better, swaps=swaps, **about)


def _check_limits(given: GivenSet) -> Limits | None:
    """The limits that every rival keeps, as the given set does."""
    if given.constraints is None:
        return None
    limits = given.constraints.limits(given.pencil.size)
    broken = None if limits is None else limits.broken(given.chosen)
    if broken is not None:
        raise InputError(f"the given set does not keep a limit: {broken}")
    return limits


def _check_allowed(given: GivenSet) -> None:
    """What every rival must and must not have, the given set has and has not."""
    missing = np.setdiff1d(given.include, given.chosen)
    banned = np.intersect1d(given.exclude, given.chosen)
    if missing.size:
        raise InputError(
            f"feature {given.name_of(missing[0])} is in include, but not in the support"
        )
    if banned.size:
        raise InputError(f"feature {given.name_of(banned[0])} of the support is in exclude")


def _cardinality(pencil: Pencil, chosen: np.ndarray) -> tuple[Pencil, int | list[int], list[int]]:
    """How many features the rivals have, per block where there are blocks, and who is none.

    Rivals lie in the blocks that have features; the pencil comes back with those blocks only.
    """
    blocks = pencil.blocks
    if blocks is None:
        return pencil, int(chosen.size), []
    used, counts = np.unique(blocks[chosen], return_counts=True)
    unused = np.flatnonzero(~np.isin(blocks, used)).tolist()
    if used.size == 1:
        return pencil, int(chosen.size), unused
    if unused:  # they are excluded: it does not matter to which block they are counted
        pencil = copy(pencil)
        pencil.blocks = np.minimum(np.searchsorted(used, blocks), used.size - 1)
    return pencil, counts.tolist(), unused
