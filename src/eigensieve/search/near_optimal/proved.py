"""A proof that a list of near-optimal sets is complete: every other set is below the threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...pencil.budget import Budget
from ...pencil.solution import Status
from ..proof.file import ProofFile
from ..proof.members import Members
from ..proof.proof import Claim, Prover
from .sets import TIE, NearOptimalSets


def prove_list(prover: Prover, found: NearOptimalSets, budget: Budget) -> NearOptimalSets:
    """Write the file; the list then claims to be as complete as the file shows, no more.

    Of a list that is not complete the proof is about the sets down to where it is. If that leaves
    none, or a limit ends the proof, the file shows a larger bound: in the end, one on all sets.
    """
    budget.allow(np.inf)  # as every proof this one counts towards the time, not the effort
    level, n_sets, room = _level(found)
    with budget.interruptible():
        if n_sets:
            claim = Claim(level, level - room, _best(found, n_sets))
            bound, stopped = _write(prover, found, claim, budget)
        else:
            shown = prover.prove(found.best, budget)
            bound, stopped = shown.bound, shown.status
    found = replace(found, seconds=budget.seconds)
    if found.is_complete and n_sets and bound == level:
        return found
    status = stopped or found.status
    return replace(
        found,
        is_complete=False,
        bound=max(bound, found.bound),
        status=Status.GAP_LIMIT if status is Status.OPTIMAL else status,
    )


def _best(found: NearOptimalSets, n_sets: int) -> Members:
    """The first sets of the list, strictly by their scores."""
    order = np.argsort(-found.scores, kind="stable")[:n_sets]
    return Members(found.sets[order], np.arange(n_sets), found.scores[order])


def _write(
    prover: Prover, found: NearOptimalSets, claim: Claim, budget: Budget
) -> tuple[float, Status | None]:
    """The bound that the file shows, and what ended its tree early."""
    listed = claim.members
    with ProofFile() as file:
        shown, stopped = prover.show(claim, found.best, budget, file)
        bound, n_left = _keep(listed.scores, max(claim.level, shown), file)
        best = replace(found.best, support=listed.sets[0], bound=max(bound, found.best.objective))
        header = prover.header(best) | {"bound": bound}
        if n_left:
            header["list"] = {
                "within": _share(found, float(listed.scores[0]), bound),
                "sets": listed.sets[:n_left].tolist(),
                "scores": listed.scores[:n_left].tolist(),
            }
        file.write(prover.request.path, header)
    return bound, stopped


def _level(found: NearOptimalSets) -> tuple[float, int, float]:
    """What no other set exceeds, how many sets are above it, and the room below for rounding."""
    unit, scores = max(abs(found.best.objective), found.best.scale), found.scores
    tie, room = TIE * unit, TIE * unit / 2
    if tie == 0.0:  # all sets score 0
        return 0.0, 0, 0.0
    if found.is_complete:
        return min(found.threshold - room, float(scores.min()) - tie / 10), scores.size, room
    scores, n_sets = np.sort(scores)[::-1], scores.size
    level = found.bound + room
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


def _share(found: NearOptimalSets, best: float, bound: float) -> float | None:
    """How far the bound is below the best score, as a share of it: what was asked for, if it is."""
    if abs(best - found.within * abs(best) - bound) <= 2.0 * TIE * abs(best):
        return found.within
    return (best - bound) / abs(best) if best else None
