"""`near_optimal`: every set of k features that is nearly as good as the best one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import InputError, OptionError
from ...pencil.budget import Budget, Callback
from ...pencil.checks import check_k, check_number
from ...pencil.constraints import take_constraints
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem, check_pencil, make_problem
from ...pencil.solution import Status
from ...tables.named_columns import find_columns
from ..auto import check_effort
from ..exact.perspective.prices import without_quota
from ..exact.perspective.relaxation import one_blas_thread
from ..exact.tree import Known, SearchOptions
from ..proof.proof import ProofRequest, Prover, as_request
from ..solve import check_shared, find_solvers, solve_problem
from ..solver import Solver
from ..target import Outcome
from .listing import ListTarget
from .proved import prove_list
from .sets import NearOptimalSets, check_names

# The search proves the best set, then takes this share of what is asked for, so that something is
# known if it has to end. Where so many of the sets that are wanted are found then it takes twice
# the share, and so on: a list that is to be cut needs no more.
FIRST_SHARE = 0.25
MANY = 0.02


def near_optimal(
    pencil: Pencil,
    k: int | Sequence[int],
    within: float = 0.01,
    max_sets: int = 1000,
    criterion: str = "auto",
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    time_limit: float | None = None,
    *,
    effort: float | str = "high",
    n_jobs: int | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
    client: Any = None,
    proof: str | os.PathLike[str] | ProofRequest | None = None,
    names: Iterable[str] | None = None,
    **constraints: Any,
) -> NearOptimalSets:
    """All sets of k features whose score is within a share of the best one's.

    "Which 10 genes?" seldom has one answer: the list shows every other choice that is nearly as
    good, which features all of them share, and which are in none; and it is proved to be complete,
    unless a limit ended the search.

    Parameters
    ----------
    pencil : Pencil
    k : int, or one int per block of the pencil (kx, ky)
    within : share of the best score, 0.01 is one percent
        Counted in the criterion: a log-determinant is not a trace.
    max_sets : int
        No more are listed. Where there are more, the best ones are, completely down to the score
        where they end: see ``complete_within``.
    criterion, include, exclude, time_limit, n_jobs, callback, random_state, client : as in `solve`
        Features may also be named, if they have names.
    effort : "quick", "normal", "high" (the default) or a number
        How much work the search may do, see `solve`; inf for until it is done.
    proof : path, optional
        A file to write that shows to anybody who has the table that no set is missing: see
        `check_proof`.
    names : what the features are called, if the pencil does not know it
    **constraints : groups, at_most, at_least, whole, costs, max_cost
        As in `solve`.

    Returns
    -------
    NearOptimalSets

    Examples
    --------
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = es.near_optimal(es.lda_pencil(X, y, shrinkage=0.5), 3, within=0.02)
    >>> found.n_sets, found.is_complete
    (4, True)
    """
    options = dict(constraints)
    asked = take_constraints(options)
    if options:
        raise OptionError(f"near_optimal has no option {', '.join(sorted(options))}")
    check_number(within, "within", 0.0, 1.0, "a share from 0 to 1; 0.01 is one percent")
    check_k(max_sets, "max_sets")
    pencil = check_pencil(pencil).in_memory_if_small()
    own = None if pencil.recipe is None else pencil.recipe.names
    called = own if names is None else check_names(names, pencil.size)
    about: dict[str, Any] = {
        "k": k,
        "criterion": criterion,
        "include": find_columns(include, called, "include"),
        "exclude": find_columns(exclude, called, "exclude"),
        "constraints": None if asked is None else asked.by_index(pencil.size, called),
    }
    problem = make_problem(pencil, **about)
    budget = Budget(time_limit, callback=callback)
    work = check_effort(effort)
    shared = check_shared(random_state, n_jobs, client)
    prover = None if proof is None else Prover(problem, pencil, as_request(proof))
    found = _find_all(problem, within, max_sets, work, budget, shared)
    if prover is not None:
        found = prove_list(prover, found, budget)
    return replace(found, names=called, problem=about)


def _find_all(
    problem: Problem, within: float, max_sets: int, work: float, budget: Budget,
    shared: dict[str, Any],
) -> NearOptimalSets:  # fmt: skip
    """All sets that reach the threshold, by a search from the best one that greedy search finds.

    ``work``: what the search may do, beside the greedy one.
    """
    own = {name: value for name, value in shared.items() if name == "random_state"}
    start = solve_problem(problem, "greedy", budget, shared=own, options={})
    support = np.searchsorted(problem.to_original, start.support)
    budget.allow(work)
    found = _prepare(problem, support, within, max_sets, budget)
    is_small = found.n_missing <= 1
    outcome = _try_each(found) if is_small else _search(found, budget, shared)
    return _result(problem, found, outcome, budget)


@dataclass(frozen=True, eq=False)
class _Ground:
    """The target of a search, which may be about some of the features, and where it starts."""

    target: ListTarget
    support: np.ndarray
    bound: float = np.inf

    @property
    def n_missing(self) -> int:
        """How many features are to be chosen; 0 if there is a single set."""
        problem = self.target.asked
        return 0 if problem.k == problem.pencil.size else problem.k - problem.include.size


def _prepare(
    problem: Problem, support: np.ndarray, within: float, max_sets: int, budget: Budget
) -> _Ground:
    """Of a table on disk only the columns that a set of the list may hold are searched."""
    if not _seeks_eigenvalue(problem):
        problem = without_quota(problem)
    target = ListTarget(problem, budget.gap_tol, within, max_sets, problem.score(support))
    if problem.pencil.in_memory:
        return _Ground(target, support)
    value = target.problem.score(support)
    screen = _solver(problem).screen
    assert screen is not None
    bound, left = screen(target.problem, support, target.cut(value), budget)
    streamed = problem.pencil.factors
    if not streamed.can_load(left.size):
        raise InputError(
            f"{left.size:,} columns may be in a set of the list, more than fit into memory; lower "
            "within or k, or give the table in memory"
        )
    part = problem.among(left, streamed.load(left))
    own = ListTarget(part, budget.gap_tol, within, max_sets, target.best)
    return _Ground(own, np.searchsorted(left, support), bound)


def _seeks_eigenvalue(problem: Problem) -> bool:
    return problem.criterion == "lambda_max" and not problem.pencil.is_rank_one


def _solver(problem: Problem) -> Solver:
    """The search that can list: by levels for the largest eigenvalue, else by the relaxation."""
    return find_solvers()["dominance" if _seeks_eigenvalue(problem) else "perspective"]


def _try_each(ground: _Ground) -> Outcome:
    """All sets, where one feature is missing at most."""
    target, problem = ground.target, ground.target.asked
    others = np.setdiff1d(problem.features, problem.include)
    sets = problem.features[None]
    if problem.k < problem.pencil.size:
        include = np.tile(problem.include, (others.size, 1))
        sets = np.sort(np.column_stack([include, others]), axis=1) if ground.n_missing else include
    allowed = np.unique([S for S in sets if problem.allows(S)], axis=0)
    target.collect(allowed)
    target.end(problem.features, [])
    value = target.problem.score(ground.support)
    return Outcome(ground.support, value, target.cut(value), len(allowed), None)


def _search(ground: _Ground, budget: Budget, shared: dict[str, Any]) -> Outcome:
    target = ground.target
    search = _solver(target.asked).search
    assert search is not None
    options = SearchOptions(known=Known(ground.support, ground.bound), **shared)
    asked, bound, share = target.within, np.inf, 0.0
    with budget.interruptible(), one_blas_thread():
        while True:
            target.aim(share * asked)
            outcome = search(target, budget, options)
            bound = outcome.bound = min(bound, outcome.bound)
            if share * asked == asked or outcome.stopped is not None or target.is_cut:
                break
            is_long = share == 0.0 or len(target.sets) > MANY * target.max_sets
            share = min(max(2 * share, FIRST_SHARE), 1.0) if is_long else 1.0
    target.aim(asked)
    return outcome


def _result(asked: Problem, ground: _Ground, outcome: Outcome, budget: Budget) -> NearOptimalSets:
    target = ground.target
    problem = target.asked
    # where the search had no time to meet it, or ended at its root
    target.collect(np.sort(outcome.support)[None])
    target.trim()
    order = target.order()
    sets, scores = problem.to_original[target.sets[order]], target.scores[order]
    bound = max(target.proved(outcome.bound), target.dropped)
    is_complete = bound < target.threshold - target.tie / 2
    status = Status.OPTIMAL if is_complete else outcome.stopped or Status.GAP_LIMIT
    best = asked.solution(
        np.searchsorted(asked.to_original, sets[0]),
        budget,
        status=Status.GAP_LIMIT if status is Status.OPTIMAL else status,
        solver=_solver(problem).name,
        bound=max(bound, float(scores[0])) if is_complete or np.isfinite(bound) else bound,
        n_nodes=outcome.n_nodes,
    )
    never, core = np.ones(asked.n_features, dtype=bool), np.zeros(asked.n_features, dtype=bool)
    never[problem.to_original[target.may_hold]] = False
    core[problem.to_original[target.holds]] = True
    return NearOptimalSets(
        sets=sets,
        scores=scores,
        best=best,
        within=target.within,
        threshold=target.threshold,
        level=target.known,
        bound=bound,
        is_complete=is_complete,
        is_capped=target.is_cut,
        status=status,
        never=np.flatnonzero(never),
        core=np.flatnonzero(core),
        seconds=budget.seconds,
        n_nodes=outcome.n_nodes,
    )
