"""A prover in plain numpy, written from the format alone: brute force and blunt witnesses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.proofs.proof_files import Lines, make_header

LEAST = 1e-10


@dataclass
class Problem:
    """A pencil in doubles, and the arrays that ``check_proof`` takes for it."""

    A: np.ndarray
    B: np.ndarray
    pencil: dict[str, Any]
    given: dict[str, Any]
    k: list[int]
    criterion: str
    columns: np.ndarray | None = None
    weights: np.ndarray = field(default_factory=lambda: np.ones(0))
    slack: np.ndarray | None = None
    blocks: np.ndarray | None = None
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    limits: list[dict[str, Any]] = field(default_factory=list)
    floor: np.ndarray | None = None
    scores: dict[tuple[int, ...], float] = field(default_factory=dict)

    @property
    def p(self) -> int:
        return len(self.A)

    @property
    def block(self) -> np.ndarray:
        return np.zeros(self.p, dtype=int) if self.blocks is None else self.blocks

    def score(self, S: tuple[int, ...]) -> float:
        if S not in self.scores:
            self.scores[S] = self._score(S)
        return self.scores[S]

    def _score(self, S: tuple[int, ...]) -> float:
        block = np.ix_(S, S)
        values = np.linalg.eigvals(np.linalg.solve(self.B[block], self.A[block])).real
        if self.criterion == "lambda_max":
            return float(values.max())
        if self.criterion == "trace":
            return float(values.sum())
        return float(np.log1p(values).sum())

    def sets(self) -> Iterator[tuple[int, ...]]:
        """All admissible sets."""
        for S in itertools.combinations(range(self.p), sum(self.k)):
            sizes = np.bincount(self.block[list(S)], minlength=len(self.k)).tolist()
            if sizes == self.k and set(self.include) <= set(S) and not set(self.exclude) & set(S):
                yield S

    def keeps(self, S: tuple[int, ...], row: dict[str, Any]) -> bool:
        """Whether a set keeps a limit, in exact numbers."""
        weight = dict(zip(row["features"], map(Fraction, row["weights"])))
        return sum(weight.get(j, Fraction(0)) for j in S) <= Fraction(row["most"])

    def allowed(self) -> Iterator[tuple[int, ...]]:
        """The admissible sets that keep all limits."""
        return (S for S in self.sets() if all(self.keeps(S, row) for row in self.limits))

    def best(self) -> tuple[float, tuple[int, ...]]:
        return max((self.score(S), S) for S in self.allowed())


def lda_problem(
    X: np.ndarray, y: np.ndarray, k: int, criterion: str, *, shrinkage: float, ridge: float = 0.0,
    **limits: Any,
) -> Problem:  # fmt: skip
    members = [int(np.flatnonzero(y == label)[0]) for label in dict.fromkeys(y.tolist())]
    means = np.stack([X[y == y[i]].mean(axis=0) for i in members])
    weights = np.array([(y == y[i]).mean() for i in members])
    delta = (means - weights @ means).T
    centred = X.copy()
    for i, mean in zip(members, means):
        centred[y == y[i]] -= mean
    A = (delta * weights) @ delta.T
    within = centred.T @ centred / len(X)
    s = max(shrinkage, LEAST)
    w, total = within.diagonal(), within.diagonal() + A.diagonal()
    d = np.where(np.ptp(X, axis=0) == 0, 1.0, np.maximum(s * w + ridge, LEAST * total))
    recipe = {"kind": "lda", "shrinkage": shrinkage, "ridge": ridge, "members": members}
    B = (1 - s) * within + np.diag(d)
    return Problem(
        A, B, recipe, {"X": X, "y": y}, [k], criterion, delta, weights, floor=d, **limits
    )  # fmt: skip


def pca_problem(X: np.ndarray, k: int, criterion: str = "lambda_max", **limits: Any) -> Problem:
    centred = X - X.mean(axis=0)
    n, p = X.shape
    A = centred.T @ centred / n
    given = {"X": X}
    return Problem(
        A, np.eye(p), {"kind": "pca"}, given, [k], criterion, centred.T, np.full(n, 1 / n), **limits
    )


def cca_problem(
    X: np.ndarray, Y: np.ndarray, k: tuple[int, int], shrinkage: tuple[float, float], **limits: Any
) -> Problem:
    q = X.shape[1]
    both = np.hstack([X - X.mean(axis=0), Y - Y.mean(axis=0)])
    C = both.T @ both / len(X)
    blocks = np.repeat([0, 1], [q, Y.shape[1]])
    s = np.maximum(np.array(shrinkage), LEAST)[blocks]
    same = blocks[:, None] == blocks
    B = np.where(same, (1 - s) * C, 0.0)
    B += np.diag(np.where(np.ptp(np.hstack([X, Y]), axis=0) == 0, 1.0, s * C.diagonal()))
    recipe = {"kind": "cca", "shrinkage": list(shrinkage)}
    given = {"X": X, "Y": Y}
    return Problem(
        np.where(same, 0.0, C), B, recipe, given, list(k), "lambda_max", blocks=blocks, **limits
    )


def matrix_problem(
    A: np.ndarray, B: np.ndarray | None, k: int | list[int], criterion: str, **limits: Any
) -> Problem:
    """Matrices; with a factor and a slack unless the criterion is lambda_max of any A."""
    p = len(A)
    given: dict[str, Any] = {"A": A, "B": B, "blocks": limits.get("blocks")}
    problem = Problem(
        A, np.eye(p) if B is None else B, {"kind": "matrices"}, given,
        [k] if isinstance(k, int) else k, criterion, **limits,
    )  # fmt: skip
    if criterion != "lambda_max":
        values, vectors = np.linalg.eigh(A)
        keep = values > 1e-12 * values[-1]
        problem.columns = vectors[:, keep] * np.sqrt(values[keep])
        problem.weights = np.ones(int(keep.sum()))
        problem.slack = np.full(p, 1e-9 * values[-1])
        problem.pencil |= {
            "factor": problem.columns.tolist(),
            "slack": problem.slack.tolist(),
            "least": 0.0,
        }
    return problem


# ---------------------------------------------------------------- witnesses


def prove(problem: Problem, room: float = 1e-7, **header: Any) -> Lines:
    """Header and tree; the bound is the brute-force optimum and a little room."""
    best, support = problem.best()
    bound = best + room * abs(best)
    first = make_header(
        problem.p, problem.k, problem.criterion,
        **{
            "pencil": problem.pencil, "include": list(problem.include),
            "exclude": list(problem.exclude), "support": list(support), "objective": best,
            "bound": bound,
        } | header,
    )  # fmt: skip
    free = sorted(set(range(problem.p)) - set(problem.include) - set(problem.exclude))
    return [first, *_subtree(problem, first["bound"], list(problem.include), free)]


def _subtree(problem: Problem, bound: float, inside: list[int], free: list[int]) -> Lines:
    need = [k - sum(problem.block[j] == b for j in inside) for b, k in enumerate(problem.k)]
    there = [sum(problem.block[j] == b for j in free) for b in range(len(need))]
    if any(n < 0 or n > t for n, t in zip(need, there)):
        return [{"leaf": "empty"}]
    kinds = {} if problem.columns is None else {"dual": _dual}
    if problem.criterion == "lambda_max":
        kinds["level"] = _level
    for kind, find in kinds.items():
        witness = find(problem, bound, inside, free, need)
        if witness is not None:
            return [{"leaf": kind, kind: witness}]
    if problem.columns is not None:
        fixed = _fix(problem, bound, inside, free, need)
        if fixed is not None:
            return fixed
    j = max(free, key=lambda j: abs(problem.A[j, j]) / problem.B[j, j])
    left = [i for i in free if i != j]
    return [
        {"branch": j},
        *_subtree(problem, bound, inside, left),
        *_subtree(problem, bound, sorted([*inside, j]), left),
    ]


def _heaviest(problem: Problem, free: list[int], weights: Any, need: list[int]) -> float:
    total = 0.0
    for b, n in enumerate(need):
        mine = sorted((w for j, w in zip(free, weights) if problem.block[j] == b), reverse=True)
        total += sum(mine[:n])
    return total


def _fix(
    problem: Problem, bound: float, inside: list[int], free: list[int], need: list[int]
) -> Lines | None:
    """Features that one dual witness puts out or in, and the subtree that is left."""
    witness, base, g = _dual_sum(problem, inside, free, need)
    limit = bound - 1e-9 * abs(bound)

    def score(j: int, is_in: bool) -> float:
        left = [i for i in free if i != j]
        wanted = [n - (is_in and problem.block[j] == b) for b, n in enumerate(need)]
        there = [sum(problem.block[i] == b for i in left) for b in range(len(need))]
        if any(n < 0 or n > t for n, t in zip(wanted, there)):
            return -math.inf
        return base + is_in * g[j] + _heaviest(problem, left, [g[i] for i in left], wanted)

    out = [j for j in free if score(j, True) < limit]
    to_in = [j for j in free if j not in out and score(j, False) < limit]
    if not out and not to_in:
        return None
    left = [j for j in free if j not in out]
    fix: dict[str, Any] = {"out": out} if len(out) % 2 else {"keep": left}
    if to_in:
        fix["in"] = to_in
    rest = [j for j in left if j not in to_in]
    subtree = _subtree(problem, bound, sorted([*inside, *to_in]), rest)
    return [{"fix": fix, "dual": witness}, *subtree]


def _dual(
    problem: Problem, bound: float, inside: list[int], free: list[int], need: list[int]
) -> dict[str, Any] | None:
    witness, base, g = _dual_sum(problem, inside, free, need)
    value = base + _heaviest(problem, free, [g[j] for j in free], need)
    value += 1e-9 * abs(value)
    return witness | {"value": value} if value <= bound else None


def _dual_sum(
    problem: Problem, inside: list[int], free: list[int], need: list[int]
) -> tuple[dict[str, Any], float, dict[int, float]]:
    """A witness without its value; the offset with the features that are in; all terms."""
    U = sorted([*inside, *free])
    T = U if sum(need) else sorted(inside)
    block = np.ix_(U, U)
    B, unit = problem.B[block], np.sqrt(problem.B[block].diagonal())
    least = float(np.linalg.eigvalsh(B / unit[:, None] / unit)[0])
    D = (1 - 1e-6) * least * unit**2
    R = B - np.diag(D)
    assert problem.columns is not None
    Z, weights = problem.columns[U], problem.weights
    K = len(weights)
    offset, Q = 0.0, None
    if problem.criterion == "logdet":
        at = [U.index(t) for t in T]
        root = np.sqrt(weights)
        inner = problem.columns[T].T @ np.linalg.solve(B[np.ix_(at, at)], problem.columns[T])
        P = np.linalg.inv(np.eye(K) + root[:, None] * inner * root)
        Q = np.linalg.cholesky(root[:, None] * P * root)
        offset = float((np.square(Q).sum(axis=1) / weights).sum()) - K
        offset += math.log(np.prod(weights)) - 2 * math.log(abs(np.linalg.det(Q)))
        Z, weights = Z @ Q, np.ones(K)
    V = np.zeros(Z.shape)
    places = [U.index(t) for t in T]
    V[places] = np.linalg.solve(B[np.ix_(places, places)], Z[places])
    offset += float((weights * np.einsum("ic,ic->c", V, R @ V)).sum())
    extra = 0.0 if problem.slack is None else problem.slack[U]
    g = ((Z - R @ V) ** 2 @ weights + extra) / D
    terms = dict(zip(U, g.tolist()))
    witness: dict[str, Any] = {"value": 0.0, "D": D.tolist(), "rows": T, "V": V[places].tolist()}
    if Q is not None:
        witness["Q"] = Q.tolist()
    return witness, offset + sum(terms[j] for j in inside), terms


def _level(
    problem: Problem, bound: float, inside: list[int], free: list[int], need: list[int]
) -> dict[str, Any] | None:
    U = sorted([*inside, *free]) if sum(need) else sorted(inside)
    N = (bound * problem.B - problem.A)[np.ix_(U, U)]
    unit = np.sqrt(problem.B.diagonal()[U])
    if np.linalg.eigvalsh(N / unit[:, None] / unit)[0] > 1e-10 * abs(bound):
        return {"E": None}
    if not inside:
        M, diagonal = N / unit[:, None] / unit, np.eye(len(U))
        grid = np.abs(np.linalg.eigvalsh(M)).max() * 2.0 ** np.arange(-12, 2)
        for size in [abs(bound), *grid]:
            values, vectors = np.linalg.eigh(size * diagonal - M)
            Y = (vectors * np.maximum(values + 1e-10, 0)) @ vectors.T
            if _heaviest(problem, free, Y.diagonal() / size, need) < 1 - 1e-6:
                return {"E": (size * unit**2).tolist()}
    return None
