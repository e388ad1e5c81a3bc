"""Random problems with limits, and all of their sets: scores by scipy, rules by counting."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg

import eigensieve as es

CRITERIA = ("trace", "logdet", "lambda_max")


@dataclass(frozen=True, eq=False)
class LimitedProblem:
    """A pencil, and all that is asked of a set."""

    pencil: es.Pencil
    k: int
    criterion: str
    include: list[int] = field(default_factory=list)
    exclude: list[int] = field(default_factory=list)
    rules: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        """For `solve` and `near_optimal`."""
        return {
            "criterion": self.criterion,
            "include": self.include,
            "exclude": self.exclude,
            **self.rules,
        }

    def allows(self, S: tuple[int, ...]) -> bool:
        """Whether a set keeps all that is asked, by counting."""
        chosen, rules = set(S), self.rules
        if not set(self.include) <= chosen or chosen & set(self.exclude):
            return False
        for name, members in rules.get("groups", {}).items():
            count = len(chosen & set(np.asarray(members).tolist()))
            most, least = (_of(rules.get(rule), name) for rule in ("at_most", "at_least"))
            if (most is not None and count > most) or (least is not None and count < least):
                return False
            if name in rules.get("whole", []) and count not in (0, len(members)):
                return False
        return "costs" not in rules or rules["costs"][list(S)].sum() <= rules["max_cost"] + 1e-9

    def sets(self) -> list[tuple[float, tuple[int, ...]]]:
        """All allowed sets with their scores."""
        A, B = np.asarray(self.pencil.A), np.asarray(self.pencil.B)
        every = itertools.combinations(range(self.pencil.size), self.k)
        return [(_score(A, B, S, self.criterion), S) for S in every if self.allows(S)]


def _of(rule: Any, name: str) -> int | None:
    return rule.get(name) if isinstance(rule, dict) else rule


def _score(A: np.ndarray, B: np.ndarray, S: tuple[int, ...], criterion: str) -> float:
    place = np.ix_(S, S)
    values = linalg.eigh(A[place], B[place], eigvals_only=True)
    if criterion == "lambda_max":
        return float(values[-1])
    return float(values.sum() if criterion == "trace" else np.log1p(values.clip(0)).sum())


def random_limited_problem(seed: int, limited: bool | None = None) -> LimitedProblem:
    """LDA, PCA or matrices, with ties and copies of columns; with limits or without."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 13))
    k = int(rng.integers(1, min(p, 6)))
    criterion = str(rng.choice(CRITERIA))
    pencil = _random_pencil(rng, p, criterion)
    wanted = rng.random() < 0.6 if limited is None else limited
    rules = _random_rules(rng, p, k) if wanted else {}
    include = [int(rng.integers(p))] if rng.random() < 0.15 and k > 1 else []
    exclude = [j for j in [int(rng.integers(p))] if j not in include and p > k + 2]
    return LimitedProblem(
        pencil, k, criterion, include, exclude if rng.random() < 0.15 else [], rules
    )


def _random_pencil(rng: np.random.Generator, p: int, criterion: str) -> es.Pencil:
    kind, n = rng.integers(5), int(rng.integers(max(6, p // 2), 3 * p))
    X = rng.normal(size=(n, p)).round(int(rng.integers(0, 4)))
    for _ in range(int(rng.integers(0, 3))):
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if (X.std(axis=0) == 0).any():
        X += rng.normal(size=X.shape)
    if kind <= 2:
        y = np.arange(n) % int(rng.integers(2, 5))
        X = X + rng.random() * rng.normal(size=(5, p))[y]
        shrinkage, ridge = float(rng.choice([0.1, 0.3, 0.5, 1.0])), float(rng.choice([0, 0.1]))
        return es.lda_pencil(X, y, shrinkage=shrinkage, ridge=ridge)
    if kind == 3:
        return es.pca_pencil(X)
    M, W = rng.normal(size=(p, p)), rng.normal(size=(p, p + 2))
    A = M + M.T if criterion == "lambda_max" and rng.random() < 0.5 else M @ M.T
    return es.Pencil(A, W @ W.T / p + 0.2 * np.eye(p))


def _random_rules(rng: np.random.Generator, p: int, k: int) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    if rng.random() < 0.75:
        sizes = rng.integers(1, max(2, p // 2 + 1), size=int(rng.integers(1, 4)))
        groups = {f"g{i}": np.sort(rng.choice(p, m, replace=False)) for i, m in enumerate(sizes)}
        last = list(groups)[-1]
        kinds: list[dict[str, Any]] = [
            {"at_most": int(rng.integers(1, 3))},
            {"at_least": {"g0": 1}},
            {"whole": ["g0"]},
            {"at_most": {"g0": 1}, "at_least": {last: 1}},
        ]
        rules = {"groups": groups, **kinds[int(rng.choice(4, p=[0.4, 0.2, 0.2, 0.2]))]}
    if not rules or rng.random() < 0.25:
        rules["costs"] = rng.integers(0, 6, size=p).astype(float)
        rules["max_cost"] = float(rng.integers(k, 4 * k + 2))
    return rules
