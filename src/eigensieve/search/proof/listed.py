"""A proof that a list of near-optimal sets is complete: every other set is below the threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...pencil.budget import Budget
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem
from ...pencil.solution import Status
from ..near_optimal.sets import TIE, NearOptimalSets
from .file import ProofFile
from .members import Members
from .proof import Claim, ProofRequest, Prover


def prove_list(
    problem: Problem,
    pencil: Pencil,
    found: NearOptimalSets,
    budget: Budget,
    request: ProofRequest,
) -> NearOptimalSets:
    """Write the file; the list then claims to be as complete as the file shows, no more.

    Of a list that is not complete the proof is about the sets down to where it is. If that leaves
    none, or a limit ends the proof, the file shows a larger bound: in the end, one on all sets.
    """
    prover = Prover(problem, pencil, request)
    level, n_sets, room = _level(found, problem)
    if n_sets == 0:
        shown = prover.prove(found.best, budget)
        return _weaken(found, shown.bound, shown.status)
    claim = Claim(level, level - room, Members(found.sets[:n_sets], np.arange(n_sets)))
    with ProofFile() as file:
        shown_level, stopped = prover.show(claim, found.best, budget, file)
        bound, n_left = _keep(found.scores[:n_sets], max(level, shown_level), file)
        best = replace(found.best, bound=max(bound, found.best.objective))
        header = prover.header(best) | {"bound": bound}
        if n_left:
            header["list"] = _plain_list(found, n_left, bound)
        file.write(request.path, header)
    if bound == level and found.is_complete:
        return found
    return _weaken(found, bound, stopped or found.status)


def _level(found: NearOptimalSets, problem: Problem) -> tuple[float, int, float]:
    """What no other set exceeds, how many sets are above it, and the room below for rounding."""
    unit, scores = max(abs(found.best.objective), problem.unit), found.scores
    tie, room = TIE * unit, TIE * unit / 2
    if tie == 0.0:  # all sets score 0
        return 0.0, 0, 0.0
    if found.is_complete:
        return min(found.threshold - room, float(scores.min()) - tie / 10), scores.size, room
    level, n_sets = found.bound + room, scores.size
    while n_sets and scores[n_sets - 1] < level + tie / 10:  # too near to those that are missing
        level = max(level, float(scores[n_sets - 1]) + room)
        n_sets -= 1
    return level, n_sets, room


def _keep(scores: np.ndarray, bound: float, file: ProofFile) -> tuple[float, int]:
    """The bound, and how many of the sets are above it; the others need not be listed."""
    n_left = scores.size
    while n_left and scores[n_left - 1] < bound:
        n_left -= 1
        bound = max(bound, file.unlist(n_left))
    return bound, n_left


def _plain_list(found: NearOptimalSets, n_sets: int, bound: float) -> dict[str, Any]:
    """The list as the header has it; ``within`` is the share of the best score."""
    best = float(found.scores[0])
    within: float | None = found.within
    if abs(best - found.within * abs(best) - bound) > 2.0 * TIE * abs(best):
        within = (best - bound) / abs(best) if best else None
    return {
        "within": within,
        "sets": found.sets[:n_sets].tolist(),
        "scores": found.scores[:n_sets].tolist(),
    }


def _weaken(found: NearOptimalSets, bound: float, status: Status) -> NearOptimalSets:
    """The list with what is proved of the missing sets."""
    return replace(found, is_complete=False, bound=max(bound, found.bound), status=status)
