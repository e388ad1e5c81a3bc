"""Dual witnesses: why no set of a subproblem has a larger trace or log-det.

With D > 0 and R = B - diag(D) semidefinite, every column h of A = HH' and any vector v give

    h_S' B_S^-1 h_S  <=  v'Rv + sum over i in S of (h_i - (Rv)_i)^2 / D_i

for every set S; the log-det lies below its tangent planes, each of which is such a trace. The
perspective relaxation (exact/perspective) finds good D and v, anyone can check them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from ...pencil.criteria import EPS
from ...pencil.limits import Limits
from ..exact.perspective.scaled_pencil import ScaledPencil
from ..target import decide_by_gains

# A value is claimed with this much room for rounding, relatively.
ROOM = 1e-11
# What a factor of A may miss of it, per pair of features, in units of the pencil's scale.
SLACK = 1e-15


@dataclass(frozen=True, eq=False)
class Witness:
    """offset + the sum of gains over a set bounds its criterion.

    Attributes
    ----------
    U : features that are IN or FREE, ascending
    gains : one per feature of U
    T, X : the features with v != 0, and v (t, c) for the columns of H
    L : (c, c), the slope of the criterion is LL'
    D : one per feature of U, or None for the diagonal part of B
    prices : of the limits, whose charges are taken off the gains; None for no charges
    """

    U: np.ndarray
    offset: float
    gains: np.ndarray
    T: np.ndarray
    X: np.ndarray
    L: np.ndarray
    D: np.ndarray | None
    prices: np.ndarray | None = None

    def charged(self, limits: Limits, prices: np.ndarray) -> Witness:
        """The same, where sets are charged for what they use of the limits."""
        charges = np.asarray(limits.columns[:, self.U].T @ prices).ravel()
        offset = self.offset + float(prices @ limits.most)
        return replace(self, offset=offset, gains=self.gains - charges, prices=prices)

    def value(self, inside: np.ndarray, need: int) -> float:
        """The bound for sets with all of ``inside`` (a mask of U) and ``need`` further features."""
        free = np.sort(self.gains[~inside])
        return self.offset + float(self.gains[inside].sum() + free[free.size - need :].sum())

    def decide(self, inside: np.ndarray, need: int, cut: float) -> tuple[np.ndarray, np.ndarray]:
        """Masks of U: features that a set above ``cut`` must have, and those it cannot have."""
        must, cannot = np.zeros_like(inside), np.zeros_like(inside)
        must[~inside], cannot[~inside] = decide_by_gains(
            self.gains[~inside], need, self.value(inside, need), cut
        )
        return must, cannot


def find_witness(
    rows: np.ndarray,
    H: np.ndarray,
    D: np.ndarray,
    U: np.ndarray,
    T: np.ndarray,
    w: np.ndarray,
    logdet: bool,
    explicit: bool,
    L: np.ndarray | None = None,
    slack: np.ndarray | float = 0.0,
) -> Witness:
    """The witness of weights w of T: ``rows`` is B[T][:, U], H is (c, |U|), D belongs to U.

    LL' is the slope of the log-det where it is to touch; by default at the weights. ``slack`` adds
    to the gains, see `Majorant`.
    """
    at = np.searchsorted(U, T)
    B_T = rows[:, at]
    M = B_T.copy()
    M.flat[:: len(M) + 1] += D[at] * (1.0 / w - 1.0)
    X = np.zeros((0, len(H)))
    if T.size:
        X = linalg.solve(M, H[:, at].T, assume_a="pos")
    R_T = B_T.copy()
    R_T.flat[:: len(R_T) + 1] -= D[at]
    rest = H.T - rows.T @ X
    rest[at] += D[at][:, None] * X
    if L is None:
        L = slope_at(H[:, at] @ X) if logdet else np.eye(len(H))
    Z = X @ L
    offset = float(np.sum(Z * (R_T @ Z)))
    if logdet:
        offset += float(np.sum(L * L)) - len(L) - 2.0 * float(np.linalg.slogdet(L)[1])
    gains = np.square(rest @ L).sum(axis=1) / D + slack
    # what rounding may hide: nothing, unless B is nearly singular and X is huge
    eps, slope = EPS * (T.size + 4), float(np.linalg.norm(L)) ** 2
    size = np.abs(rows).T @ np.abs(X)
    lost = eps * np.linalg.norm(size + np.abs(H.T), axis=1)
    gains += slope * lost * (2.0 * np.linalg.norm(rest, axis=1) + lost) / D
    offset += slope * eps * float(np.sum(np.abs(X) * size[at]))
    return Witness(U, offset, gains, T, X, L, D if explicit else None)


def slope_at(Q: np.ndarray) -> np.ndarray:
    """L with LL' = (I + Q)^-1, how fast log det(I + Q) grows; small slopes keep their digits."""
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    return vectors / np.sqrt(1.0 + np.maximum(values, 0.0))


class Statement:
    """Witnesses in the words of a proof file: of the table's own columns, in the user's units."""

    def __init__(self, criterion: str, scaled: ScaledPencil) -> None:
        self.criterion, self.scaled, recipe = criterion, scaled, scaled.pencil.recipe
        self._turn, self._root = np.eye(len(scaled.H)), np.ones(len(scaled.H))
        self._majorant, self._recipe = None, None
        # with more classes than features H has been made smaller, and is not that of the classes
        if recipe is not None and recipe.priors is not None and recipe.priors.size <= scaled.size:
            self._turn, self._root = _class_basis(recipe.priors)
            self._recipe = recipe
        else:
            self._majorant = Majorant.of(scaled)

    @property
    def slack(self) -> np.ndarray:
        """What is to be added to the gain of every feature."""
        return np.zeros(self.scaled.size) if self._majorant is None else self._majorant.gains

    def diagonal(self) -> tuple[np.ndarray, bool]:
        """D for all features, scaled, and whether it is the diagonal part of B."""
        pencil = self.scaled.pencil
        if self._recipe is not None and pencil.factors:
            return pencil.factors.d / pencil.diag_B, True
        return self.scaled.D, False

    def about(self) -> dict[str, Any]:
        """What the header says of the pencil."""
        if self._majorant is not None:
            return {"kind": "matrices", **self._majorant.as_plain()}
        assert self._recipe is not None
        return self._recipe.as_plain()

    def plain(self, witness: Witness, value: float, tangent: float | None) -> dict[str, Any]:
        """The witness as JSON values; ``tangent``: where the log touches, if A has rank one.

        ``value`` is what it shows, in the criterion of the search.
        """
        pencil, L, c = self.scaled.pencil, witness.L, witness.X.shape[1]
        X = witness.X * self.scaled.scale(witness.T)[:, None]
        D = None if witness.D is None else (witness.D * pencil.diag_B[witness.U]).tolist()
        plain: dict[str, Any] = {"rows": witness.T.tolist(), "D": D}
        slope = 1.0
        if self.criterion == "logdet":
            if tangent is not None:
                slope = 1.0 / (1.0 + tangent)
                value = slope * (1.0 + value) - 1.0 - math.log(slope)
                L = np.full((1, 1), math.sqrt(slope))
            V, Q = X @ L, self._root[:, None] * (self._turn.T @ L)
            if self._root.size > c:  # no column of H: the classes' means have a mean of 0
                V, Q = np.c_[V, np.zeros(len(V))], np.c_[Q, np.square(self._root)]
            plain |= {"V": V.tolist(), "Q": Q.tolist()}
        else:
            plain["V"] = (X @ self._turn / self._root).tolist()
        if witness.prices is not None:
            paid = slope * witness.prices
            plain["prices"] = [[int(c), float(paid[c])] for c in np.flatnonzero(paid > 0.0)]
        return {"value": value + ROOM * abs(value), **plain}


def _class_basis(priors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How the rows of H are made of the classes (see `ClassStats.between_factor`), sqrt(priors)."""
    root = np.sqrt(priors)
    v = root.copy()
    v[0] += 1.0
    reflection = np.eye(root.size) - np.outer(v, v) * (2.0 / (v @ v))
    return reflection[1:], root


@dataclass(frozen=True, eq=False)
class Majorant:
    """For a proof about plain matrices: A <= FF' + diag(slack), and least diag(B) <= B.

    A factor that was computed misses A by some rounding. With ``least`` it is known how little
    that can be worth to any set.
    """

    factor: np.ndarray
    slack: np.ndarray
    least: float
    gains: np.ndarray  # what the slack of a feature adds to its gain at most

    @classmethod
    def of(cls, scaled: ScaledPencil) -> Majorant:
        diag_B = scaled.pencil.diag_B
        smallest = float(linalg.eigvalsh(scaled.block(np.arange(scaled.size)))[0])
        least = max(0.9 * smallest, 0.0)
        missed = scaled.pencil.A / np.sqrt(np.outer(diag_B, diag_B)) - scaled.H.T @ scaled.H
        share = SLACK * scaled.size * (scaled.size + 8) * scaled.pencil.scale
        slack = 2.0 * np.abs(missed).sum(axis=1) + share  # by Gershgorin
        gains = np.divide(slack, least, out=np.full(slack.size, np.inf), where=least > 0)
        factor = (scaled.H * np.sqrt(diag_B)).T
        return cls(factor, slack * diag_B, least, np.where(slack > 0, gains, 0.0))

    def as_plain(self) -> dict[str, Any]:
        """As the header of a proof has it."""
        return {
            "factor": self.factor.tolist(),
            "slack": self.slack.tolist(),
            "least": self.least,
        }
