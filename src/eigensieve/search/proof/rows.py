"""Rows witnesses: weights with which sums of rows close a node, or leave out most of its features.

The tests are those of the dominance search (exact/dominance/rows.py and absorb.py), of numbers
that were rounded to a few digits before: a proof file stays short.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..exact.dominance.absorb import absorb, remainder
from ..exact.dominance.node import FIXING, STEPS, TUNING
from ..exact.dominance.rows import Rows, decide, decide_with, tune
from ..sparse_pca_relaxation import State

# Digits of weights; the largest entry of Q outside its diagonal as a whole number.
DIGITS, LARGEST = 5, 999
# How far Q stays below what is left of N, where that has a unit diagonal.
BELOW = 1e-9


class Found(NamedTuple):
    """A witness and what it decides.

    Attributes
    ----------
    kind : the name of the witness in the file
    features : those that it is about
    closes : whether no set of the node exceeds the level
    must, cannot : masks of the features: what every set above the level has, and none of them has
    promise : where nothing is decided the feature with the largest one is to be branched on
    """

    kind: str
    witness: dict[str, Any]
    features: np.ndarray
    closes: bool
    must: np.ndarray
    cannot: np.ndarray
    promise: np.ndarray

    @property
    def decides(self) -> bool:
        return bool(self.must.any() or self.cannot.any())


def find_rows(
    rows: Rows, features: np.ndarray, units: np.ndarray, weights: np.ndarray, is_root: bool
) -> tuple[Found, np.ndarray]:
    """Weights in the units of the file and what they decide; those that are best for a bound."""
    first = 0 if is_root else 1
    tuned = tune(rows, weights / weights.max(), TUNING[first])
    x = tuned.weights if tuned.passes else decide(rows, tuned.weights, FIXING[first]).weights
    plain = shorten(x * units)
    said = decide_with(rows, plain / units)
    witness = {"weights": plain[np.argsort(features)].tolist(), "Q": None}
    closes, must = said.n_failing == 0, said.must & ~said.cannot
    found = Found("rows", witness, features, closes, must, said.cannot, said.ratios)
    return found, tuned.weights


def shorten(values: np.ndarray) -> np.ndarray:
    """A multiple of some positive numbers, to a few digits."""
    return np.array([float(f"{value:.{DIGITS}g}") for value in (values / values.max()).tolist()])


class NodeRows:
    """The rows of M on some features of a node, which stand block by block here.

    ``units`` is s where diag(s) M diag(s) is what is left of N in the units of the file.
    """

    def __init__(
        self, M: np.ndarray, features: np.ndarray, blocks: np.ndarray, needs: np.ndarray,
        units: np.ndarray,
    ) -> None:  # fmt: skip
        order = np.argsort(blocks, kind="stable")
        self.features, self.needs = features[order], needs
        self.d = np.sqrt(np.diag(M))[order]
        self.M = M[np.ix_(order, order)] / np.outer(self.d, self.d)
        self.starts = np.append(0, np.cumsum(np.bincount(blocks, minlength=needs.size)))
        self.scales = units[order] * self.d

    def _rows(self, M: np.ndarray) -> Rows:
        return Rows.of(M, np.ones(len(M)), self.starts, self.needs)

    def find(self, weights: np.ndarray, is_root: bool) -> Found:
        """What the rows of M decide; the ``weights`` of all features are improved."""
        here = self.features
        found, best = find_rows(
            self._rows(self.M), here, 1.0 / self.scales, weights[here] * self.d, is_root
        )
        weights[here] = best / self.d
        return found

    def absorb(self, state: State | None, margin: float) -> tuple[Found, State]:
        """What the rows of a Q decide, and where the relaxation stands.

        M is known up to ``margin``.
        """
        m, n_steps = int(self.needs.sum()), STEPS[0 if state is None else 1]
        nothing = np.zeros(len(self.M), dtype=bool)
        absorbed = absorb(self.M, m, state, n_steps)
        q, unit = _whole_numbers(self.M, absorbed.Q, margin / np.square(self.d))
        if np.diag(q).min() > 0.0:
            found = self._look(q, unit)
            if found.closes or found.decides:
                return found, absorbed.state
        found = Found("rows", {}, self.features, False, nothing, nothing, absorbed.shares)
        return found, absorbed.state

    def _look(self, q: np.ndarray, unit: float) -> Found:
        one, place = np.ones(len(q)), np.argsort(self.features)
        found, _ = find_rows(self._rows(q), self.features, one, one, is_root=False)
        upper = q[np.ix_(place, place)][np.triu_indices(len(q))].astype(np.int64)
        scales = (np.sqrt(unit) * self.scales)[place]
        found.witness["Q"] = {"scales": scales.tolist(), "upper": upper.tolist()}
        return found


def _whole_numbers(M: np.ndarray, Q: np.ndarray, margin: np.ndarray) -> tuple[np.ndarray, float]:
    """q and a unit such that unit q is about Q, and M - unit q is semidefinite."""
    outside = Q - np.diag(np.diag(Q))
    unit = max(float(np.abs(outside).max()), BELOW) / LARGEST
    q = np.rint(Q / unit)
    rest = remainder(np.eye(len(M)) - M, -unit * q)  # its diagonal takes up what rounding changes
    np.fill_diagonal(q, np.floor((np.diag(rest) - BELOW - margin) / unit))
    return q, unit
