"""Group-lasso problems of many kinds, each also by plain matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from eigensieve import GroupLassoSolution, ScoringProblem
from eigensieve.pencil.budget import Budget
from eigensieve.scoring.gloss import make_search
from eigensieve.scoring.penalty_search import solve_at
from tests.oracles import group_lasso as oracle

TOLS = {"working-set": 1e-10, "dual": 1e-10, "variational": 1e-7}


@dataclass(frozen=True, eq=False)
class Case:
    """Data, options, and the same problem by plain matrices."""

    X: np.ndarray
    y: np.ndarray
    options: dict[str, Any]

    @property
    def plain(self) -> oracle.Regression:
        return oracle.Regression.of(self.X, self.y, **self.options)

    @property
    def problem(self) -> ScoringProblem:
        return ScoringProblem.from_data(self.X, self.y, **self.options)

    def solve(self, alpha: float, solver: str = "working-set") -> GroupLassoSolution:
        found = solve_at(make_search(self.problem, solver, TOLS[solver], Budget()), alpha)
        found.verify(self.problem)
        assert found.is_certified
        assert found.solver == solver
        return found

    def rows_in_plain_scores(self, found: GroupLassoSolution) -> np.ndarray:
        """B, turned from the problem's scores to those of the oracle."""
        plain, problem = self.plain, self.problem
        if problem.within == "full":
            cross = plain.T.T @ problem.target
        else:
            cross = plain.F @ problem.factor.T
        left, _, right = linalg.svd(cross)
        return np.asarray(found.coefficients @ (left @ right).T)


# name: sizes of the classes, columns, ridge (by name), whether weights differ
KINDS: dict[str, tuple[tuple[int, ...], int, str, bool]] = {
    "two classes": ((12, 18), 10, "none", False),
    "two classes, wide, weights": ((7, 9), 40, "none", True),
    "three classes, ridge": ((8, 8, 8), 30, "number", False),
    "four classes, smooth, weights": ((12, 4, 9, 7), 15, "sparse", True),
    "five classes, dense ridge": ((4, 6, 3, 5, 7), 20, "dense", False),
    "seven classes, ridge, weights": ((4,) * 7, 25, "number", True),
    "fourteen classes": ((3,) * 14, 12, "none", False),
}


WITHIN = ("full", "diagonal")


def make_ridge(name: str, p: int, rng: np.random.Generator) -> Any:
    if name == "dense":
        root = rng.normal(size=(3, p))
        return root.T @ root / p
    if name == "sparse":
        return oracle.second_differences(p)
    return {"none": 0.0, "number": 0.3}[name]


def make(kind: str, within: str, seed: int = 0) -> Case:
    counts, p, ridge, weighted = KINDS[kind]
    rng = np.random.default_rng([seed, len(kind)])
    X, y = oracle.random_classes(rng, counts, p)
    weights = rng.uniform(0.5, 2.0, size=p) if weighted else None
    ridge = make_ridge(ridge, p, rng)
    return Case(X, y, {"within": within, "ridge": ridge, "weights": weights})


def solvers_for(case: Case) -> list[str]:
    """The dual needs R diagonal and positive."""
    with_dual = np.ndim(case.options["ridge"]) == 0 and (
        case.options["within"] == "diagonal" or case.options["ridge"] > 0
    )
    return ["working-set", "dual", "variational"] if with_dual else ["working-set", "variational"]
