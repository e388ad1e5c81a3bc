"""What an exact solver must agree with: brute force, in doubles and in exact arithmetic.

`judge` compares a solution with all sets there are and says what is wrong with it. Where B is
ill-conditioned, doubles cannot tell which of two sets is better; then the values come from
rational arithmetic on the very entries of the matrices, and no tolerance is widened.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

import eigensieve as es
from eigensieve.errors import VerificationError
from eigensieve.pencil.solution import Solution
from tests.oracles.instances import Instance

EPS = float(np.finfo(float).eps)
# Beyond this condition of B (unit diagonal) times size of A values come from exact arithmetic.
DOUBTFUL = 1e7
# What a claim may be off by, in units of max(|optimum|, scale): the solvers' own floor.
SLACK = 1e-9


def all_sets(instance: Instance) -> np.ndarray:
    """Every set that may be chosen, one per row: k, include, exclude and quotas honoured."""
    n = instance.pencil.size
    allowed = np.setdiff1d(np.arange(n), [*instance.include, *instance.exclude])
    more = instance.cardinality - len(instance.include)
    combinations = list(itertools.combinations(allowed, more))
    rest = np.array(combinations, dtype=np.intp).reshape(len(combinations), more)
    forced = np.tile(np.array(instance.include, dtype=np.intp), (len(rest), 1))
    sets = np.sort(np.hstack([forced, rest]), axis=1)
    if isinstance(instance.k, int):
        return sets
    assert instance.pencil.blocks is not None
    blocks = instance.pencil.blocks[sets]
    fits = [np.sum(blocks == b, axis=1) == most for b, most in enumerate(instance.k)]
    return sets[np.all(fits, axis=0)]


def float_values(A: np.ndarray, B: np.ndarray, sets: np.ndarray, criterion: str) -> np.ndarray:
    """The criterion of every set, by batched eigenvalues; B must have a unit diagonal."""
    rows, columns = sets[:, :, None], sets[:, None, :]
    L = np.linalg.cholesky(B[rows, columns])
    half = np.linalg.solve(L, A[rows, columns])
    M = np.linalg.solve(L, np.swapaxes(half, 1, 2))
    values = np.linalg.eigvalsh((M + np.swapaxes(M, 1, 2)) / 2)
    if criterion == "lambda_max":
        return values[:, -1]
    values = np.maximum(values, 0.0)
    return values.sum(axis=1) if criterion == "trace" else np.log1p(values).sum(axis=1)


class ExactPencil:
    """The matrices of a pencil as integers over a power of two: nothing is ever rounded."""

    def __init__(self, pencil: es.Pencil) -> None:
        if isinstance(pencil, es.FactorPencil):  # the factors are the data, not their product
            H, W = rational(pencil.H), rational(pencil.W)
            c = len(H)
            C = rational(np.eye(c) if pencil.core is None else pencil.core)
            A = transposed_product(H, [[dot(row, column) for column in zip(*H)] for row in C])
            B = transposed_product(W, W, pencil.size)
            for j in range(pencil.size):
                B[j][j] += Fraction(float(pencil.d[j]))
        else:
            A, B = rational(pencil.A), rational(pencil.B)
        self.A, self.unit_A = integers(A)
        self.B, self.unit_B = integers(B)

    def value(self, support: np.ndarray, criterion: str, guess: float, scale: float) -> float:
        """The criterion of a set, rounded once (lambda_max: to 1e-12 of its size)."""
        if criterion == "trace":
            return float(self.trace(support))
        if criterion == "logdet":
            return math.log1p(float(self.det_ratio(support) - 1))
        return self.lambda_max(support, guess, scale)

    @property
    def is_definite(self) -> bool:
        """Whether B is positive definite, and A semidefinite but for less than B."""
        size = range(len(self.B))
        both = [
            [self.A[i][j] * self.unit_B + self.B[i][j] * self.unit_A for j in size] for i in size
        ]
        return last_minor([row.copy() for row in self.B]) > 0 and last_minor(both) > 0

    def trace(self, support: np.ndarray) -> Fraction:
        """tr(B_S^-1 A_S)."""
        S = [int(j) for j in support]
        M = [[self.B[i][j] for j in S] + [self.A[i][j] for j in S] for i in S]
        k, before = len(S), 1
        for i in range(k):  # Gauss-Jordan without fractions: the division is always exact
            for r in range(k):
                if r != i:
                    f = M[r][i]
                    M[r] = [(M[i][i] * a - f * b) // before for a, b in zip(M[r], M[i])]
            before = M[i][i]
        total = sum(M[i][k + i] for i in range(k))
        return Fraction(total * self.unit_B, before * self.unit_A)

    def det_ratio(self, support: np.ndarray) -> Fraction:
        """det(A_S + B_S) / det(B_S): exp of the log-det criterion."""
        S = [int(j) for j in support]
        b = [[self.B[i][j] * self.unit_A for j in S] for i in S]
        a = [[self.A[i][j] * self.unit_B for j in S] for i in S]
        both = [[x + y for x, y in zip(*rows)] for rows in zip(a, b)]
        return Fraction(last_minor(both), last_minor(b))

    def is_below(self, support: np.ndarray, level: float) -> bool:
        """Whether lambda_max(S) < level, decided by Sylvester's criterion on level B_S - A_S."""
        p, q = level.as_integer_ratio()
        b, a = p * self.unit_A, q * self.unit_B
        S = [int(j) for j in support]
        return last_minor([[b * self.B[i][j] - a * self.A[i][j] for j in S] for i in S]) > 0

    def lambda_max(self, support: np.ndarray, guess: float, scale: float) -> float:
        """The largest eigenvalue, by bisection with `is_below`."""
        step = 1e-12 * max(abs(guess), scale, 1e-300)
        goal, low, high = step, guess - step, guess + step
        while not self.is_below(support, high):
            low, step = high, 4 * step
            high += step
        step = max(goal, high - low)
        while self.is_below(support, low):
            high, step = low, 4 * step
            low -= step
        while high - low > 2 * goal:
            middle = (low + high) / 2
            if self.is_below(support, middle):
                high = middle
            else:
                low = middle
        return (low + high) / 2


def rational(M: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in row] for row in M]


def dot(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b)), Fraction(0))


def transposed_product(L: list, R: list, size: int | None = None) -> list[list[Fraction]]:
    """L'R; ``size`` is its width where L and R have no rows."""
    if not L:
        return [[Fraction(0)] * (size or 0) for _ in range(size or 0)]
    return [[dot(a, b) for b in zip(*R)] for a in zip(*L)]


def integers(M: list[list[Fraction]]) -> tuple[list[list[int]], int]:
    """M times the least common denominator, and that."""
    unit = math.lcm(*(x.denominator for row in M for x in row))
    return [[x.numerator * (unit // x.denominator) for x in row] for row in M], unit


def last_minor(M: list[list[int]]) -> int:
    """The determinant, or the first leading minor that is not positive (Bareiss)."""
    before = 1
    for i in range(len(M)):
        pivot = M[i][i]
        if pivot <= 0:
            return pivot
        for r in range(i + 1, len(M)):
            f = M[r][i]
            M[r] = [(pivot * a - f * b) // before for a, b in zip(M[r], M[i])]
        before = pivot
    return before


@dataclass
class Truth:
    """All sets of an instance and what they are worth."""

    instance: Instance

    def __post_init__(self) -> None:
        pencil = self.instance.pencil
        d = 1.0 / np.sqrt(pencil.diag_B)
        A, B = pencil.A * np.outer(d, d), pencil.B * np.outer(d, d)
        allowed = np.setdiff1d(np.arange(pencil.size), self.instance.exclude).astype(np.intp)
        self.scale = largest = float(np.abs(A[np.ix_(allowed, allowed)]).max())
        if self.instance.criterion == "logdet":  # in the unit of the criterion
            self.scale = float(np.log1p(self.scale))
        spectrum = np.linalg.eigvalsh(B)
        least = max(float(spectrum[0]), EPS)
        self.is_doubtful = float(spectrum[-1]) / least * max(largest, 1.0) > DOUBTFUL
        self.sets = all_sets(self.instance)
        self.values = self._values(A, B)
        k = self.instance.cardinality
        largest = max(float(np.linalg.norm(A, 2)), float(np.abs(self.values).max()))
        # how far a double can be from the value: k times over for sums of k eigenvalues
        self.error = 8 * k * k * EPS * largest / least

    def _values(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """What every set is worth; where doubles may fail, lambda_max is a guess."""
        criterion = self.instance.criterion
        if not self.is_doubtful:
            return float_values(A, B, self.sets, criterion)
        if criterion != "lambda_max":
            return np.array([self.exact.value(S, criterion, 0.0, 0.0) for S in self.sets])
        lifted = B + 64 * EPS * np.eye(len(B))  # rounding may have left it indefinite
        return float_values(A, lifted, self.sets, criterion)

    @cached_property
    def exact(self) -> ExactPencil:
        return ExactPencil(self.instance.pencil)

    def value(self, support: np.ndarray) -> float:
        """What a set is worth."""
        place = int(np.flatnonzero((self.sets == support).all(axis=1))[0])
        if not self.is_doubtful or self.instance.criterion != "lambda_max":
            return float(self.values[place])
        return self.exact.lambda_max(support, float(self.values[place]), self.scale)

    @cached_property
    def optimum(self) -> float:
        """The value of the best set."""
        order = np.argsort(-self.values)
        best = self.value(self.sets[order[0]])
        if self.is_doubtful and self.instance.criterion == "lambda_max":
            for i in order[1:]:
                if not self.exact.is_below(self.sets[i], best):
                    best = max(best, self.value(self.sets[i]))
        return best

    @property
    def rounding(self) -> float:
        """How far the values may be off: exact arithmetic leaves nothing open."""
        return 0.0 if self.is_doubtful else self.error


def judge(instance: Instance, solution: Solution, truth: Truth | None = None) -> list[str]:
    """What is wrong with a solution that claims to be good: nothing, if it is right."""
    truth = truth or Truth(instance)
    complaints = _breaches(instance, solution)
    try:
        solution.verify(instance.pencil)
    except VerificationError as error:
        complaints.append(f"verify: {error}")
    if complaints:
        return complaints
    optimum, own = truth.optimum, truth.value(solution.support)
    unit = max(abs(optimum), truth.scale)
    slack = SLACK * unit + truth.rounding
    # the objective is a double, so where B is ill-conditioned it may be off by truth.error
    if abs(solution.objective - own) > SLACK * unit + truth.error:
        complaints.append(f"objective {solution.objective!r} of a set worth {own!r}")
    if solution.bound < optimum - slack:
        complaints.append(f"bound {solution.bound!r} is below the optimum {optimum!r}")
    claim = solution.gap_tol * max(abs(own), truth.scale)
    if solution.is_certified and own < optimum - claim - slack:
        complaints.append(f"FALSE CERTIFICATE: {own!r}, the optimum is {optimum!r}")
    return complaints


def _breaches(instance: Instance, solution: Solution) -> list[str]:
    """Constraints that were not honoured."""
    chosen = set(solution.support.tolist())
    breaches = []
    if len(chosen) != instance.cardinality:
        breaches.append(f"{len(chosen)} features, not {instance.cardinality}")
    if not set(instance.include) <= chosen:
        breaches.append(f"include {instance.include} is not in {sorted(chosen)}")
    if set(instance.exclude) & chosen:
        breaches.append(f"{sorted(chosen)} has some of exclude {instance.exclude}")
    if not isinstance(instance.k, int):
        assert instance.pencil.blocks is not None
        blocks = instance.pencil.blocks[solution.support]
        counts = tuple(np.bincount(blocks, minlength=len(instance.k)).tolist())
        if counts != instance.k:
            breaches.append(f"blocks give {counts}, not {instance.k}")
    return breaches
