"""Which claim of a proof is false, by brute force in plain numpy.

Only clear cases count: a claim is called false if it misses by more than ``CLEAR``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.proofs.naive_prover import Problem
from tests.proofs.proof_files import Lines

CLEAR = 1e-8


class FalseClaim(Exception):
    """What is wrong with a proof."""


def find_false(problem: Problem, lines: Lines) -> str | None:
    """A claim that is clearly false, or None; ``problem`` has the sets of the header."""
    try:
        _judge_header(problem, lines[0])
        tree = _Tree(problem, lines)
        start = sorted(set(range(problem.p)) - set(problem.include) - set(problem.exclude))
        tree.judge(sorted(problem.include), start)
        if tree.at < len(lines):
            return "records after the end of the tree"
        if len(tree.met) < len(lines[0].get("list", {"sets": []})["sets"]):
            return "a listed set is never met"
    except FalseClaim as error:
        return str(error)
    return None


def scale_of(problem: Problem) -> float:
    unit = np.sqrt(problem.B.diagonal())
    scale = float(np.abs(problem.A / unit[:, None] / unit).max())
    return math.log1p(scale) if problem.criterion == "logdet" else scale


def _judge_header(problem: Problem, header: dict[str, Any]) -> None:
    sets = list(problem.allowed())
    support = tuple(sorted(header["support"]))
    if support not in sets:
        raise FalseClaim("the support is not admissible")
    unit = max(abs(header["objective"]), scale_of(problem))
    if problem.score(support) < header["objective"] - 2e-9 * unit:
        raise FalseClaim("the objective is too high")
    listed = _judge_list(problem, header, sets, unit) if "list" in header else set()
    rest = [problem.score(S) for S in sets if S not in listed]
    if rest and max(rest) > header["bound"] + CLEAR * unit:
        raise FalseClaim("the bound is below the optimum")
    gap = (header["bound"] - header["objective"]) / unit
    if header["status"] == "optimal" and gap > header["gap_tol"] + 1e-9:
        raise FalseClaim("the gap is too wide")


def _judge_list(
    problem: Problem, header: dict[str, Any], sets: list[tuple[int, ...]], unit: float
) -> set[tuple[int, ...]]:
    claim = header["list"]
    listed = [tuple(sorted(S)) for S in claim["sets"]]
    if len(set(listed)) < len(listed) or len(claim["scores"]) != len(listed):
        raise FalseClaim("a set twice, or another number of scores")
    if not set(listed) <= set(sets):
        raise FalseClaim("a listed set is not allowed")
    if listed[0] != tuple(sorted(header["support"])):
        raise FalseClaim("the support is not the first")
    scores = np.array(claim["scores"])
    if np.abs(scores - [problem.score(S) for S in listed]).max() > CLEAR * unit:
        raise FalseClaim("a listed score is wrong")
    if (np.diff(scores) > CLEAR * unit).any():
        raise FalseClaim("not in order")
    if scores.min() < header["bound"]:
        raise FalseClaim("a listed set is below the bound")
    if claim["within"] is not None:
        threshold = scores[0] - claim["within"] * abs(scores[0])
        if claim["within"] < 0 or abs(threshold - header["bound"]) > CLEAR * unit:
            raise FalseClaim("the bound is not the threshold")
    return set(listed)


@dataclass
class _Tree:
    problem: Problem
    lines: Lines
    at: int = 1
    met: set[int] = field(default_factory=set)

    def judge(self, inside: list[int], free: list[int]) -> None:
        if self.at >= len(self.lines):
            raise FalseClaim("a subtree is missing")
        record = self.lines[self.at]
        self.at += 1
        node = _Node(self.problem, self.lines[0]["bound"], inside, free)
        if record.get("leaf") == "listed":
            self.meet(node, record["set"])
        elif "leaf" in record:
            node.judge_leaf(record)
        elif "branch" in record:
            j = record["branch"]
            if j not in free:
                raise FalseClaim("a branch on what is not free")
            left = [i for i in free if i != j]
            self.judge(inside, left)
            self.judge(sorted([*inside, j]), left)
        else:
            out, to_in = node.judge_fix(record)
            left = [i for i in free if i not in out and i not in to_in]
            self.judge(sorted([*inside, *to_in]), left)

    def meet(self, node: _Node, i: int) -> None:
        sets = self.lines[0].get("list", {"sets": []})["sets"]
        if i in self.met or not i < len(sets) or node.sets != [tuple(sorted(sets[i]))]:
            raise FalseClaim("a leaf is not that of a listed set")
        self.met.add(i)


class _Node:
    def __init__(self, problem: Problem, bound: float, inside: list[int], free: list[int]) -> None:
        self.problem, self.bound, self.inside, self.free = problem, bound, inside, free
        rest = set(inside) | set(free)
        self.sets = [S for S in problem.sets() if set(inside) <= set(S) <= rest]
        self.U = sorted(rest)

    def judge_leaf(self, record: dict[str, Any]) -> None:
        kind = record["leaf"]
        if kind == "empty" and self.sets:
            raise FalseClaim("a leaf is not empty")
        if kind == "limit":
            self.judge_limit(record["limit"], self.sets)
        if kind == "level":
            self.judge_sets(self.sets)
        if kind == "rows":
            self.judge_rows(record["rows"], self.sets)
        if kind == "dual":
            value = record["dual"]["value"]
            if value > self.bound:
                raise FalseClaim("a leaf is above the bound")
            self.judge_dual(record["dual"], self.sets, value)

    def judge_fix(self, record: dict[str, Any]) -> tuple[list[int], list[int]]:
        fix = record["fix"]
        to_in = fix.get("in", [])
        out = (
            [j for j in self.free if j not in fix["keep"]] if "keep" in fix else fix.get("out", [])
        )
        if not {*out, *to_in} <= set(self.free) or set(out) & set(to_in):
            raise FalseClaim("a fix of what is not free")
        excluded = [S for S in self.sets if set(out) & set(S) or not set(to_in) <= set(S)]
        if "limit" in record:
            self.judge_limit(record["limit"], excluded)
        elif "level" in record:
            self.judge_sets(excluded)
        elif "rows" in record:
            self.judge_rows(record["rows"], excluded)
        else:
            self.judge_dual(record["dual"], excluded, self.bound)
        return out, to_in

    def judge_sets(self, sets: list[tuple[int, ...]]) -> None:
        unit = max(abs(self.bound), scale_of(self.problem))
        if any(self.problem.score(S) > self.bound + CLEAR * unit for S in sets):
            raise FalseClaim("a set of a node beats the bound")

    def judge_limit(self, c: int, sets: list[tuple[int, ...]]) -> None:
        if not c < len(self.problem.limits):
            raise FalseClaim("there is no such limit")
        if any(self.problem.keeps(S, self.problem.limits[c]) for S in sets):
            raise FalseClaim("a set of a node keeps the limit")

    def judge_rows(self, rows: dict[str, Any], sets: list[tuple[int, ...]]) -> None:
        """Within every set to be judged every row must pass; Q must be below what is left of N."""
        self.judge_sets(sets)
        if not self.sets:
            return
        free = open_features(self.problem, self.inside, self.free)
        if len(rows["weights"]) != len(free) or (free and min(rows["weights"]) <= 0.0):
            raise FalseClaim("weights do not fit the node")
        M = what_is_left(self.problem, self.bound, self.inside, free)
        if rows["Q"] is not None:
            Q = matrix_of(rows["Q"])
            if len(Q) != len(free) or min(rows["Q"]["scales"]) <= 0.0:
                raise FalseClaim("Q does not fit the node")
            unit = np.sqrt(np.abs(M.diagonal()))
            if np.linalg.eigvalsh((M - Q) / unit[:, None] / unit)[0] < -CLEAR:
                raise FalseClaim("Q is not below what is left")
            s = np.array(rows["Q"]["scales"])
            M = Q / s[:, None] / s
        for S in sets:
            T = [free.index(j) for j in S if j not in self.inside]
            if row_excess(M, np.array(rows["weights"]), T) > CLEAR:
                raise FalseClaim("a row of a set fails")

    def judge_dual(self, dual: dict[str, Any], sets: list[tuple[int, ...]], limit: float) -> None:
        """The form must be PSD where it is used, and the sum at most the limit."""
        if not self.sets:
            return
        problem, U = self.problem, self.U
        T, rows = dual["rows"], np.array(dual["V"], dtype=float)
        own = dual["D"]
        if own is None:
            assert problem.floor is not None
            own = problem.floor[U].tolist()
        if len(own) != len(U) or not set(T) <= set(U) or len(rows) != len(T):
            raise FalseClaim("a witness does not fit its node")
        D = dict(zip(U, own))
        if min(D.values()) <= 0.0:
            raise FalseClaim("D is not positive")
        few = sum(problem.k) - len(self.inside) <= 1
        for index in [sorted({*S, *T}) for S in self.sets] if few else [U]:
            B = problem.B[np.ix_(index, index)]
            unit = np.sqrt(B.diagonal())
            R = (B - np.diag([D[j] for j in index])) / unit[:, None] / unit
            if np.linalg.eigvalsh(R)[0] < -CLEAR:
                raise FalseClaim("B - diag(D) is not PSD")
        offset, terms = self._terms(dual, D, rows)
        for S in sets:
            total = offset + sum(terms[j] for j in S)
            if total > limit + CLEAR * max(abs(total), abs(limit)):
                raise FalseClaim("a witness does not show its value")

    def _terms(self, dual: dict[str, Any], D: dict[int, float], rows: np.ndarray) -> tuple:
        problem, U = self.problem, self.U
        assert problem.columns is not None
        Z, weights, offset = problem.columns[U], problem.weights, 0.0
        if "Q" in dual:
            Q = np.array(dual["Q"])
            if np.linalg.matrix_rank(Q) < len(Q):
                raise FalseClaim("Q is singular")
            offset = float((np.square(Q).sum(axis=1) / weights).sum()) - len(Q)
            offset += float(np.log(weights).sum()) - 2 * np.linalg.slogdet(Q)[1]
            Z, weights = Z @ Q, np.ones(len(Q))
        R = problem.B[np.ix_(U, U)] - np.diag([D[j] for j in U])
        V = np.zeros(Z.shape)
        if len(rows):
            V[[U.index(t) for t in dual["rows"]]] = rows
        offset += float((weights * np.einsum("ic,ic->c", V, R @ V)).sum())
        own = np.array([D[j] for j in U])
        g = (Z - R @ V) ** 2 @ weights / own
        if problem.slack is not None:
            least = problem.pencil["least"] * problem.B.diagonal()[U]
            g += problem.slack[U] / np.maximum(own, least)
        for c, price in dual.get("prices", []):
            if price < 0.0 or not c < len(problem.limits):
                raise FalseClaim("a price is negative, or of no limit")
            row = problem.limits[c]
            charge = dict(zip(row["features"], row["weights"]))
            g -= price * np.array([charge.get(j, 0.0) for j in U])
            offset += price * row["most"]
        return offset, dict(zip(U, g.tolist()))


# ---------------------------------------------------------------- rows


def open_features(problem: Problem, inside: list[int], free: list[int]) -> list[int]:
    """Free features of the blocks of which a set needs more."""
    taken = [sum(problem.block[j] == b for j in inside) for b in range(len(problem.k))]
    return [j for j in free if taken[problem.block[j]] < problem.k[problem.block[j]]]


def what_is_left(problem: Problem, bound: float, inside: list[int], free: list[int]) -> np.ndarray:
    """M: bound B - A on the free features after the others are eliminated."""
    N = bound * problem.B - problem.A
    side = N[np.ix_(inside, free)]
    return N[np.ix_(free, free)] - side.T @ np.linalg.solve(N[np.ix_(inside, inside)], side)


def matrix_of(Q: dict[str, Any]) -> np.ndarray:
    """The matrix that a witness writes as scales and an upper triangle."""
    n = len(Q["scales"])
    if len(Q["upper"]) != n * (n + 1) // 2:
        raise FalseClaim("the triangle of Q has another size")
    q, entries = np.zeros((n, n)), iter(Q["upper"])
    for i in range(n):
        for j in range(i, n):
            q[i, j] = q[j, i] = next(entries)
    return q * np.outer(Q["scales"], Q["scales"])


def row_excess(M: np.ndarray, weights: np.ndarray, T: list[int]) -> float:
    """By how much the worst row of a set exceeds its diagonal, relatively; -1 for no row."""
    worst = -1.0
    for i in T:
        total = sum(abs(M[i, j]) * weights[j] for j in T if j != i)
        limit = M[i, i] * weights[i]
        worst = max(worst, (total - limit) / max(total, abs(limit), 1e-300))
    return worst
