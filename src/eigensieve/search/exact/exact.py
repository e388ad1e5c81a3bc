"""The exact solver: chooses the branch and bound that is made for the problem at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...pencil.criteria import EPS
from ...pencil.grading import align, cancellation, is_graded
from ...pencil.problem import Problem
from ..solver import Solver
from .direction.direction import MAX_RANK

# Up to this many features the compiled nodes of the level-set search are quicker than fewer ones.
MAX_LEVELSET_FEATURES = 55
# Up to this many features leaps and bounds needs no better bound.
MAX_TINY_FEATURES = 45
# Up to this many it may be worth trying.
SMALL = 120
# With few classes and the largest eigenvalue more than this many go by directions.
WIDE = 500
# With two classes, from so many features to so many, and a diagonal that carries no more than this
# share of B (but this much, if they are not few), the search for the largest eigenvalue closes what
# the perspective bound leaves open.
MIN_TIGHT_FEATURES, MAX_TIGHT_FEATURES = 60, 250
WEAK_DIAGONAL, HOPELESS_DIAGONAL = 0.12, 0.05
# The share of B that a diagonal can carry, below which the perspective bound is too weak.
MIN_DIAGONAL_SHARE = 0.03
# Of a class separation below this leaps and bounds sees too few digits.
FAINT = 1e-4
# Where features differ more than this (`cancellation`), with log-det, they see too few, too; up to
# so many features the plain branch and bound, which sees them, takes their place.
GRADED = 1e9
MAX_GRADED_FEATURES = 40


def choose_algorithm(problem: Problem) -> str:
    """For the largest eigenvalue "dominance", otherwise "perspective", without shrinkage "leaps".

    Of few features "levelset" is quicker than "dominance"; of many columns and few classes,
    "direction" is.

    A log-det of few features of very different size is left to "interlacing".
    With a rank-one A (two classes) all criteria order the sets alike, and the largest
    eigenvalue counts as a trace. Only the first two keep limits on groups and costs.
    """
    pencil = problem.pencil
    if problem.limits is not None:  # the two that keep them
        by_level = problem.criterion == "lambda_max" and not pencil.is_rank_one
        return "dominance" if by_level else "perspective"
    if _has_cancellation(problem):
        return "interlacing"
    if problem.criterion == "lambda_max" and not pencil.is_rank_one:
        if _has_few_directions(problem):
            return "direction"
        return "levelset" if pencil.size <= MAX_LEVELSET_FEATURES else "dominance"
    if problem.quota is not None:
        return "leaps"
    if pencil.size > MAX_TIGHT_FEATURES:
        return "perspective"
    if problem.criterion == "logdet" and pencil.scale < FAINT:
        return "perspective"  # it keeps the digits of a log-det near zero
    if pencil.size <= MAX_TINY_FEATURES:
        return "leaps"
    d = 1.0 / np.sqrt(pencil.diag_B)
    smallest = np.linalg.eigvalsh(pencil.B * np.outer(d, d))[0]
    least = 0.0 if pencil.size <= SMALL else HOPELESS_DIAGONAL
    is_tight = pencil.is_rank_one and pencil.size > MIN_TIGHT_FEATURES
    if is_tight and least <= smallest <= WEAK_DIAGONAL:
        return "dominance"
    return "perspective" if smallest >= MIN_DIAGONAL_SHARE or pencil.size > SMALL else "leaps"


def _has_few_directions(problem: Problem) -> bool:
    """Whether A has a small rank, and B a diagonal that carries a good share of it."""
    pencil = problem.pencil
    if problem.quota is not None or pencil.size <= WIDE or not pencil.in_memory:
        return False
    if pencil.has_diagonal_B:
        return False  # sums of rows say more
    few = pencil.factors is not None and pencil.max_rank <= MAX_RANK
    return few and pencil.least_B >= MIN_DIAGONAL_SHARE and pencil.is_psd


def _has_cancellation(problem: Problem) -> bool:
    """Whether A is too graded for the others, and interlacing quick enough."""
    pencil = problem.pencil
    if problem.criterion != "logdet" or pencil.is_rank_one or pencil.size > MAX_GRADED_FEATURES:
        return False
    if not is_graded(pencil.diag_A, pencil.diag_B):
        return False
    H: Any = pencil.spectral_factor[0]
    if not isinstance(H, np.ndarray):
        return False
    hidden = cancellation(align(H / np.sqrt(pencil.diag_B))) / pencil.least_B
    return max(hidden, pencil.left_out("logdet") / EPS) > GRADED


SOLVER = Solver(
    name="exact",
    summary="provably optimal (ESLDA and beyond): picks the search for the problem",
    choose=choose_algorithm,
    certifies=True,
)
