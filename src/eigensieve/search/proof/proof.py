"""A proof that no set exceeds a bound, written to a file that others can check.

The tree is that of a second search, made to be checked: its nodes are closed by witnesses that
need no trust in how they were found (docs/proofs.md), where the compiled searches close theirs by
tests whose reasons would be lost. It starts from the optimum and has little left to find.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, OptionError
from ...pencil.budget import Budget
from ...pencil.constraints import Constraints
from ...pencil.limits import Limits
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem, make_problem
from ...pencil.row_factor import RowFactor
from ...pencil.solution import Solution, Status, relative_gap
from ..exact.perspective.scaled_pencil import ScaledPencil
from ..target import FREE, IN, OUT, Target
from .dual import DualProof
from .file import ProofFile
from .level import LevelProof
from .members import Members
from .wide import WideRoot
from .witness import Statement

# Trees for the largest eigenvalue take dense matrices.
MAX_DENSE_FEATURES = 500
# Where B is diagonal, sums of rows leave most of so many features out; then trees take more.
MAX_WIDE_FEATURES, MAX_LEFT = 8000, 1500
# So do proofs about pencils that do not come from a table.
MAX_MATRIX_FEATURES = 2000


@dataclass(frozen=True)
class ProofRequest:
    """Where a proof goes, and what its header says beside the mathematics.

    Attributes
    ----------
    path : the file
    names : of the features, or None
    table : how the table was read from its file, as JSON values, or None
    given : the set that the proof is to be about, if it is not the one that was found
    sizes : features of every block, where some that have none were left out of the problem
    """

    path: Path
    names: list[str] | None = None
    table: dict[str, Any] | None = None
    given: np.ndarray | None = None
    sizes: list[int] | None = None


def as_request(proof: str | os.PathLike[str] | ProofRequest) -> ProofRequest:
    """The request itself, or that of a path; its folder must be there."""
    if isinstance(proof, str | os.PathLike):
        proof = ProofRequest(Path(proof))
    if not isinstance(proof, ProofRequest):
        raise OptionError(f"proof is {proof!r}; it must be the path of a file to write")
    is_other = proof.path.exists() and not proof.path.is_file()  # a folder, a pipe, a device
    if is_other or not proof.path.absolute().parent.is_dir():
        raise InputError(f"{proof.path}: is no file that could be written; its folder must exist")
    return proof


@dataclass(frozen=True, eq=False)
class Claim:
    """What a tree is to show: no set but the listed ones exceeds the level.

    Attributes
    ----------
    level : what is to be shown
    value : the best score that is known of the sets that are not listed, or a little more
    members : the listed sets
    """

    level: float
    value: float
    members: Members


class Prover:
    """One problem and what a proof of it is about."""

    def __init__(self, problem: Problem, pencil: Pencil, request: ProofRequest) -> None:
        # excluded features are OUT of the tree: the file speaks of the table as it is
        self.asked, self.problem, self.request = problem, problem.on_all(pencil), request
        self.state = np.full(pencil.size, OUT, dtype=np.int8)
        self.state[problem.to_original] = FREE
        self.state[self.problem.include] = IN
        recipe = pencil.recipe
        # duals know no table but that of classes: levels, if there is one of a single component
        is_component = recipe is not None and recipe.kind != "lda"
        self.most = MAX_WIDE_FEATURES if pencil.has_diagonal_B else MAX_DENSE_FEATURES
        by_dual = pencil.is_rank_one and not (is_component and pencil.size <= self.most)
        self.by_level = problem.criterion == "lambda_max" and not by_dual
        self.has_table = recipe is not None and (self.by_level or recipe.kind == "lda")
        self.about = {"kind": "matrices"} if recipe is None else recipe.as_plain()
        self._refuse()

    def _refuse(self) -> None:
        pencil = self.problem.pencil
        if self.problem.quota is not None and not self.by_level:
            raise OptionError(
                "a proof for k per block needs criterion='lambda_max' and an A of rank above one"
            )
        most = self.most if self.by_level else MAX_MATRIX_FEATURES
        if pencil.size > most and (self.by_level or not self.has_table):
            reason = "for the largest eigenvalue" if self.by_level else "of a pencil of no table"
            more = f" ({MAX_WIDE_FEATURES:,} where B is the identity)" if self.by_level else ""
            raise OptionError(
                f"a proof {reason} takes at most {most:,} features{more}, not {pencil.size:,}"
            )
        if pencil.factors and isinstance(pencil.factors.W, RowFactor):
            raise OptionError(
                "a proof needs the table in memory as a dense array; give X.toarray() or "
                "np.asarray(X) if memory allows"
            )

    def prove(self, found: Solution, budget: Budget) -> Solution:
        """Write the file; the solution then claims what the file shows, no more."""
        with ProofFile() as file:
            claim = Claim(self._level(found, budget), found.objective, Members.none())
            bound, stopped = self.show(claim, found, budget, file)
            bound = max(bound, found.objective)
            shown = replace(
                found,
                bound=bound,
                status=_status(found.objective, bound, found.scale, stopped or found.status, found),
                seconds=budget.seconds,
            )
            file.write(self.request.path, self.header(shown))
        return shown

    def _level(self, found: Solution, budget: Budget) -> float:
        """What is to be shown of the best set."""
        target = Target(self.asked, budget.gap_tol)
        level = target.outward(target.cut(target.inward(found.objective)))
        # a search that was stopped may know no more than its bound
        return max(level, found.bound) if np.isfinite(found.bound) else level

    def show(
        self, claim: Claim, best: Solution, budget: Budget, file: ProofFile
    ) -> tuple[float, Status | None]:
        """Write the tree; what it shows, and what ended it early, if anything did."""
        if self.by_level:
            return self._by_level(file, claim, best.objective, budget)
        return self._by_duals(file, claim, best, budget)

    def _by_level(
        self, file: ProofFile, claim: Claim, best: float, budget: Budget
    ) -> tuple[float, Status | None]:
        unit = self.asked.pencil.scale
        if unit == 0:
            file.leaf("level", {"E": None})
            return 0.0, None
        about = self.problem, self.state, unit, file, budget
        if self.problem.pencil.size > MAX_DENSE_FEATURES:
            return self._by_rows(WideRoot(*about), claim, best)
        proof = LevelProof(*about, claim.members)
        if proof.write(claim.level):
            return claim.level, None
        file.clear()
        return proof.write_root(best), budget.stop() or Status.GAP_LIMIT

    def _by_rows(self, root: WideRoot, claim: Claim, best: float) -> tuple[float, Status | None]:
        root.narrow(claim.level)
        if root.is_closed:
            return claim.level, None
        if root.n_free <= MAX_LEFT:
            about = self.problem, root.state, root.unit, root.file, root.budget
            if LevelProof(*about, claim.members).write(claim.level):
                return claim.level, None
        root.file.clear()
        return root.write_root(best), root.budget.stop() or Status.GAP_LIMIT

    def _by_duals(
        self, file: ProofFile, claim: Claim, best: Solution, budget: Budget
    ) -> tuple[float, Status | None]:
        # for a log-det A's factor may be turned; the proof speaks of the one that the classes make
        scaled = ScaledPencil(replace(self.problem, criterion="trace"))
        statement = Statement(self.problem.criterion, scaled)
        self.about = statement.about()
        # as a trace a log-det of rank one is known better; slack and more columns speak of the log
        target, problem = Target(self.asked, budget.gap_tol), self.problem
        value, level = claim.value, claim.level
        as_trace = len(statement.scaled.H) == 1 and not statement.slack.any()
        if as_trace:
            problem = replace(problem, criterion=target.problem.criterion)
            value, level = target.inward(value), target.inward(level)
        proof = DualProof(problem, self.state, value, level, statement, file, budget, claim.members)
        try:
            proof.write(best.support)
        except np.linalg.LinAlgError:
            raise OptionError(
                "no proof: in units of B the features of A differ in size by more than double "
                "precision can relate; rescale the columns, or leave the largest out"
            ) from None
        if proof.worst == level:  # as it was asked for, to the last digit
            return claim.level, proof.stopped
        return target.outward(proof.worst) if as_trace else proof.worst, proof.stopped

    def _names(self) -> list[str] | None:
        recipe, request = self.problem.pencil.recipe, self.request
        if request.names is not None or recipe is None or recipe.names is None:
            return request.names
        return list(recipe.names) if len(recipe.names) == self.problem.pencil.size else None

    def header(self, shown: Solution) -> dict[str, Any]:
        """The first line of the file, for what it shows of a set."""
        from ... import __version__

        problem, quota, request = self.problem, self.problem.quota, self.request
        support, status = shown.support, shown.status
        if request.given is not None:
            support, status = request.given, Status.FEASIBLE
        score = problem.score(support)
        value = score - (problem.ceiling(support) - score)  # what rounding cannot take away
        # a file may be read without the scale of the pencil: "optimal" is relative to the score
        status = _status(value, shown.bound, 0.0, status, shown)
        sizes = [problem.k] if quota is None else [quota[b] for b in sorted(quota)]
        limits = {} if problem.limits is None else {"limits": _plain_limits(problem.limits)}
        return {
            "pencil": self.about,
            "n_features": problem.pencil.size,
            "names": self._names(),
            "k": sizes if request.sizes is None else request.sizes,
            "criterion": problem.criterion,
            "include": problem.include.tolist(),
            "exclude": np.flatnonzero(self.state == OUT).tolist(),
            "support": support.tolist(),
            "objective": value,
            "bound": shown.bound,
            "gap_tol": shown.gap_tol,
            "status": str(status),
            "table": request.table,
            "made_by": f"eigensieve {__version__}",
            **limits,
        }


def _plain_limits(limits: Limits) -> list[dict[str, Any]]:
    """The rows as the header has them."""
    rows = [limits.row(c) for c in range(limits.most.size)]
    return [
        {"features": features.tolist(), "weights": weights.tolist(), "most": most, "says": says}
        for (features, weights), most, says in zip(rows, limits.most.tolist(), limits.names)
    ]


def prove_known(
    pencil: Pencil,
    known: Solution,
    include: Sequence[int],
    exclude: Sequence[int],
    budget: Budget,
    request: ProofRequest,
    constraints: Constraints | None = None,
) -> Solution:
    """Write a proof about a set that was found before, up to the bound that is known already."""
    pencil = pencil.in_memory_if_small()
    problem = make_problem(pencil, known.k, known.criterion, include, exclude, constraints)
    support = problem.to_local(known.support)
    found = problem.solution(
        support, budget, status=known.status, solver=known.solver, bound=known.bound
    )
    with budget.interruptible():
        return Prover(problem, pencil, request).prove(found, budget)


def _status(value: float, bound: float, scale: float, otherwise: Status, found: Solution) -> Status:
    if relative_gap(value, bound, scale) <= found.gap_tol:
        return Status.OPTIMAL
    return Status.GAP_LIMIT if otherwise is Status.OPTIMAL else otherwise
