"""`near_optimal`: every set of k features that is nearly as good as the best one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import OptionError
from ...pencil.budget import Budget, Callback
from ...pencil.checks import check_k, check_number
from ...pencil.constraints import take_constraints
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem, check_pencil, make_problem
from ...pencil.solution import Status
from ..auto import check_effort
from ..proof.listed import prove_list
from ..proof.proof import ProofRequest, as_request
from ..solve import check_shared
from .sets import TIE, NearOptimalSets


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
    (2, True)
    """
    options = dict(constraints)
    asked = take_constraints(options)
    if options:
        raise OptionError(f"near_optimal has no option {', '.join(sorted(options))}")
    check_number(within, "within", 0.0, 1.0, "a share from 0 to 1; 0.01 is one percent")
    check_k(max_sets, "max_sets")
    pencil = check_pencil(pencil).in_memory_if_small()
    about = {
        "k": k, "criterion": criterion, "include": include, "exclude": exclude,
        "constraints": asked,
    }  # fmt: skip
    problem = make_problem(pencil, **about)
    budget = Budget(time_limit, callback=callback)
    budget.allow(check_effort(effort))
    check_shared(random_state, n_jobs, client)
    own = None if pencil.recipe is None else pencil.recipe.names
    called = own if names is None else tuple(map(str, names))
    request = None if proof is None else as_request(proof)
    found = _list_by_enumeration(problem, within, max_sets, budget)
    if request is not None:
        found = prove_list(problem, pencil, found, budget, request)
    return replace(found, names=called, problem=about)


def _list_by_enumeration(
    problem: Problem, within: float, max_sets: int, budget: Budget
) -> NearOptimalSets:
    """Stands in until the search is there: every set."""
    import itertools

    every = [
        (problem.score(S), S)
        for S in itertools.combinations(range(problem.pencil.size), problem.k)
        if set(problem.include) <= set(S) and problem.allows(S)
    ]
    every.sort(key=lambda pair: (-pair[0], pair[1]))
    best = problem.solution(every[0][1], budget, status=Status.OPTIMAL, solver="exhaustive")
    best = replace(best, bound=best.objective, status=Status.OPTIMAL)
    unit = max(abs(best.objective), problem.unit)
    threshold = best.objective - within * unit
    listed = [pair for pair in every if pair[0] >= threshold - TIE * unit]
    kept = listed[:max_sets]
    sets = problem.to_original[np.array([S for _, S in kept])]
    counts = np.bincount(sets.ravel(), minlength=problem.n_features)
    return NearOptimalSets(
        sets=sets,
        scores=np.array([score for score, _ in kept]),
        best=best,
        within=within,
        threshold=threshold,
        bound=threshold if kept == listed else listed[max_sets][0],
        is_complete=kept == listed,
        status=Status.OPTIMAL if kept == listed else Status.ITERATION_LIMIT,
        never=np.flatnonzero(counts == 0),
        core=np.flatnonzero(counts == len(kept)),
    )
