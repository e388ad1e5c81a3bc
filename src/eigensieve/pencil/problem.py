"""A problem: a pencil, how many features, by which criterion, with which constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, PencilError
from .allowed import check_allowed, next_size
from .budget import Budget
from .checks import check_choice, check_k
from .constraints import Constraints
from .criteria import (
    CRITERIA,
    count_positive,
    criterion_unit,
    factor_eigenvalues,
    factor_rounding,
    fix_signs,
    score_values,
    surely_below,
    value_rounding,
)
from .grading import graded_eigh, graded_rounding, is_graded
from .limits import Limits
from .pencil import Pencil, distance
from .solution import GAP_TOL, Solution, Status, relative_gap


@dataclass(frozen=True, eq=False)
class Problem:
    """Choose k features of the pencil; build it with `make_problem`, which validates.

    Attributes
    ----------
    pencil : Pencil
    k : int
    criterion : str
    include : array of feature indices
    quota : dict block -> number of features, or None
        For a pencil with blocks and k = (kx, ky).
    to_original, n_features : array, int
        Where the pencil's features stand among those that the user has: excluded ones are
        taken out beforehand, so that solvers never meet them. `solution` translates back.
    limits : Limits or None
        On groups of features and on costs; of the problem's pencil.
    """

    pencil: Pencil
    k: int
    criterion: str
    include: np.ndarray
    quota: dict[int, int] | None
    to_original: np.ndarray
    n_features: int
    limits: Limits | None = None

    @cached_property
    def features(self) -> np.ndarray:
        """Indices of the features that may be chosen: all of the problem's pencil."""
        return np.arange(self.pencil.size)

    @cached_property
    def unit(self) -> float:
        """The unit in which a gap near zero is measured."""
        return criterion_unit(self.pencil.scale, self.criterion)

    @property
    def working_criterion(self) -> str:
        """The cheapest criterion that orders the sets alike: with a rank-one A, the trace."""
        return "trace" if self.pencil.is_rank_one else self.criterion

    def with_k(self, k: int | Sequence[int]) -> Problem:
        """The same problem with another cardinality, or another one per block."""
        if isinstance(k, int | np.integer):
            _check_size(int(k), self.pencil.size, self.n_features)
            problem = replace(self, k=int(k))
        else:
            quota = _quota(self.pencil, k)
            problem = replace(self, k=sum(quota.values()), quota=quota)
        _check_feasible(problem)
        return problem

    def on_all(self, pencil: Pencil) -> Problem:
        """The same problem on the user's pencil, where excluded features are still there."""
        check_criterion(self.criterion, pencil)
        return replace(
            self,
            pencil=pencil,
            include=self.to_original[self.include],
            to_original=np.arange(pencil.size),
            limits=None
            if self.limits is None
            else self.limits.spread(self.to_original, pencil.size),
        )

    def among(self, columns: np.ndarray, pencil: Pencil) -> Problem:
        """The problem with some of its features only; no set has any of the others."""
        return replace(
            self,
            pencil=pencil,
            include=np.searchsorted(columns, self.include),
            to_original=self.to_original[columns],
            limits=None if self.limits is None else self.limits.take(columns),
        )

    def to_local(self, support: Sequence[int] | np.ndarray) -> np.ndarray:
        """The user's feature indices, as indices of the problem's pencil; excluded ones go."""
        wanted = _indices(support, self.n_features, "start")
        place = np.minimum(np.searchsorted(self.to_original, wanted), self.to_original.size - 1)
        return place[self.to_original[place] == wanted]

    def allows(self, support: Sequence[int] | np.ndarray) -> bool:
        """Whether a set of k features keeps the quotas and the limits."""
        S = np.asarray(support, dtype=np.intp)
        return self.fills_quota(S) and (self.limits is None or self.limits.allows(S))

    def may_replace(self, support: np.ndarray, slot: int) -> np.ndarray:
        """A mask of the features that may take the slot of an allowed set."""
        mask = np.ones(self.pencil.size, dtype=bool)
        mask[support] = False
        if self.quota is not None:
            mask &= self.open_blocks(np.delete(support, slot))
        if self.limits is not None:
            mask &= self.limits.may_replace(support, slot)
        return mask

    def next_size(self, k: int) -> int | None:
        """The least cardinality, k or more, for which there is a set; None if there is none."""
        if self.limits is not None:
            return next_size(self.limits, k, self.include)
        return k if k <= self.pencil.size else None

    @cached_property
    def all_limits(self) -> Limits:
        """The limits, with those that are given as a number per block."""
        limits = self.limits or Limits.none(self.pencil.size)
        if self.quota is None:
            return limits
        blocks, needs = self.blocks_and_needs()
        for block, need in enumerate(needs.tolist()):
            own = np.flatnonzero(blocks == block)
            limits = limits.exactly(own, need, f"{need} features of block {block}")
        return limits

    @property
    def is_free(self) -> bool:
        """Whether any set of k features that holds the included ones is allowed."""
        return self.quota is None and self.limits is None

    def open_blocks(self, support: Sequence[int] | np.ndarray) -> np.ndarray:
        """A mask of the features whose block can still take one more."""
        if self.quota is None:
            return np.ones(self.pencil.size, dtype=bool)
        return (self.lacks(support) > 0)[self.pencil.blocks]

    def fills_quota(self, support: np.ndarray) -> bool:
        """Whether every block holds exactly its number of features."""
        return self.quota is None or not self.lacks(support).any()

    def blocks_and_needs(self) -> tuple[np.ndarray, np.ndarray]:
        """The block of every feature, and how many each block gives; one block without quotas."""
        if self.quota is None:
            needs = np.array([self.k], dtype=np.int64)
            return np.zeros(self.pencil.size, dtype=np.int64), needs
        assert self.pencil.blocks is not None
        needs = np.zeros(max(self.quota) + 1, dtype=np.int64)
        for block, most in self.quota.items():
            needs[block] = most
        return self.pencil.blocks.astype(np.int64), needs

    def lacks(self, support: Sequence[int] | np.ndarray) -> np.ndarray:
        """How many features each block still needs beside those of a set."""
        blocks, needs = self.blocks_and_needs()
        return needs - np.bincount(blocks[np.asarray(support, np.intp)], minlength=needs.size)

    def score(self, support: Sequence[int] | np.ndarray) -> float:
        """The criterion of a set, from scratch."""
        return self._examine(support)[0]

    def ceiling(self, support: Sequence[int] | np.ndarray) -> float:
        """The criterion of a set, plus what round-off may hide of it."""
        score, rounding = self._examine(support)
        return score + rounding()

    def _examine(self, support: Sequence[int] | np.ndarray) -> tuple[float, Callable[[], float]]:
        """The criterion, and what tells how far round-off may put it off."""
        small = self.pencil.restrict(support)
        d = 1.0 / np.sqrt(small.diag_B)
        B = small.B * np.outer(d, d)
        if self.criterion == "logdet" and is_graded(small.diag_A, small.diag_B):
            A = small.A * np.outer(d, d)
            score = score_values(graded_eigh(A, B)[0], self.criterion)
            return score, lambda: graded_rounding(A, B)
        if self.criterion != "lambda_max":
            H, error = self._factor(support, small.A * np.outer(d, d), d)
            values = factor_eigenvalues(H, B)
            score = score_values(values, self.criterion)
            return score, lambda: factor_rounding(values, self._least(B), self.criterion, error)
        values, _ = small.eigh()
        A = small.A * np.outer(d, d)
        return float(values[0]), lambda: value_rounding(
            values, A, B, self.criterion, self._least(B)
        )

    def _least(self, B: np.ndarray) -> float:
        """No eigenvalue of B, that of a set in units of its diagonal, is smaller."""
        return surely_below(B) or self.pencil.least_B  # which factors know, whatever was rounded

    def _factor(
        self, support: Sequence[int] | np.ndarray, A: np.ndarray, d: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """H with H'H = A, that of a set in units of d, and how far they differ."""
        if self.pencil.is_factored:
            return self.pencil.spectral_factor[0][:, np.asarray(support, dtype=np.intp)] * d, 0.0
        values, vectors = np.linalg.eigh(A)  # its own: beside others it would lose digits
        H = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return H, distance(A, H)

    def solution(
        self,
        support: Sequence[int] | np.ndarray,
        budget: Budget | None = None,
        *,
        status: Status,
        solver: str,
        bound: float = np.inf,
        gap_tol: float = GAP_TOL,
        **details: Any,
    ) -> Solution:
        """The full `Solution` of a set: eigenvectors, values and objective from scratch.

        The budget is that of the search, if there was one. ``bound`` is what was proved of the
        other sets; the rounding of this one is added here, and here alone it is decided whether
        the solution is OPTIMAL.
        """
        if budget is not None:
            gap_tol, details = budget.gap_tol, {"seconds": budget.seconds, **details}
        S = np.sort(np.asarray(support, dtype=np.intp))
        objective, rounding = self._examine(S)
        if S.size in (self.pencil.size, self.include.size):  # there is no other choice
            status, bound = Status.GAP_LIMIT, objective
        if np.isfinite(bound):
            bound = max(bound, objective + rounding())
        if relative_gap(objective, bound, self.unit) <= gap_tol:
            status = Status.OPTIMAL
        values, vectors = self._eigenvectors(S)
        return Solution(
            support=_frozen(self.to_original[S]),
            loadings=_frozen(fix_signs(vectors)),
            values=_frozen(values),
            objective=objective,
            status=status,
            criterion=self.criterion,
            solver=solver,
            n_features=self.n_features,
            scale=self.unit,
            bound=bound,
            gap_tol=gap_tol,
            **details,
        )

    def _eigenvectors(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The eigenvalues that make the criterion, and their vectors."""
        small = self.pencil.restrict(S)
        if self.criterion != "lambda_max" and is_graded(small.diag_A, small.diag_B):
            return graded_eigh(small.A, small.B)
        values, vectors = small.eigh()
        m = 1 if self.criterion == "lambda_max" else count_positive(values)
        return values[:m], vectors[:, :m]


def make_problem(
    pencil: Pencil,
    k: int | Sequence[int] | None,
    criterion: str = "auto",
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    constraints: Constraints | None = None,
) -> Problem:
    """Validate the constraints and build the `Problem`; criterion "auto" is the pencil's own.

    k is None for the least number for which there is a set.
    """
    inside = _indices(include, check_pencil(pencil).size, "include")
    outside = _indices(exclude, pencil.size, "exclude")
    both = np.intersect1d(inside, outside)
    if both.size:
        raise InputError(f"features {both.tolist()} are both in include and in exclude")
    quota = _quota(pencil, k) if isinstance(k, Sequence | np.ndarray) and np.ndim(k) else None
    is_open, k = k is None, max(1, inside.size) if k is None else k
    number = check_k(k if quota is None else sum(quota.values()))
    allowed = np.ones(pencil.size, dtype=bool)
    allowed[outside] = False
    to_original = np.flatnonzero(allowed)
    _check_size(number, to_original.size, pencil.size)
    part = pencil.take(to_original) if outside.size else pencil
    criterion = pencil.criterion if criterion == "auto" else criterion
    check_criterion(criterion, part)
    place = np.searchsorted(to_original, inside)
    limits = None
    if constraints is not None:
        names = None if pencil.recipe is None else pencil.recipe.names
        limits = constraints.limits(pencil.size, names)
    if limits is not None and outside.size:
        limits = limits.take(to_original)
    problem = Problem(part, number, criterion, place, quota, to_original, pencil.size, limits)
    if is_open:
        problem = replace(problem, k=problem.next_size(number) or number)
    _check_feasible(problem)
    return problem


def check_criterion(criterion: str, pencil: Pencil) -> None:
    """Raise unless the criterion is known and makes sense for the pencil."""
    check_choice(criterion, "criterion", ("auto", *CRITERIA))
    if criterion != "lambda_max" and not pencil.is_psd:
        raise PencilError(
            f"criterion {criterion!r} needs a positive semidefinite A, and this A has negative "
            "eigenvalues; use criterion='lambda_max'"
        )


def check_pencil(pencil: Any) -> Pencil:
    """The pencil, if it is one."""
    if not isinstance(pencil, Pencil):
        raise InputError(f"expected a Pencil, not {type(pencil).__name__}; see pca_pencil etc.")
    return pencil


def _check_size(k: int, allowed: int, p: int) -> None:
    if k > allowed:
        raise InputError(f"k is {k}, but only {allowed} of {p} features may be chosen")


def _check_feasible(problem: Problem) -> None:
    if problem.k < problem.include.size:
        raise InputError(f"k is {problem.k}, but include names {problem.include.size} features")
    if problem.limits is not None:
        check_allowed(problem.all_limits, problem.k, problem.include)
    if problem.quota is None:
        return
    short, rest = problem.lacks(problem.include), problem.lacks(problem.features)
    for block, most in problem.quota.items():
        forced, there = most - short[block], most - rest[block]
        if not forced <= most <= there:
            raise InputError(
                f"block {block} is to give {most} features, but {forced} are in include "
                f"and {there} may be chosen"
            )


def _quota(pencil: Pencil, k: Sequence[int]) -> dict[int, int]:
    if pencil.blocks is None:
        raise InputError(
            f"k is {k!r}, one per block, but the pencil has no blocks (see cca_pencil)"
        )
    labels = np.unique(pencil.blocks)
    if len(k) != labels.size:
        raise InputError(f"k is {k!r}; the pencil has {labels.size} blocks")
    return {int(block): check_k(most) for block, most in zip(labels, k)}


def _indices(values: Sequence[int] | np.ndarray, p: int, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InputError(f"{name} must list feature indices (whole numbers), not {values!r}")
    if array.min() < 0 or array.max() >= p:
        raise InputError(f"{name} has an index outside 0..{p - 1}")
    return np.unique(array).astype(np.intp)


def _frozen(array: np.ndarray) -> np.ndarray:
    """The array, read-only: nobody changes a solution by accident."""
    array = array.copy()
    array.flags.writeable = False
    return array
