"""What single limits on sets decide of a node, as records of a proof."""

from __future__ import annotations

import math

import numpy as np

from ...pencil.limits import Limits
from ...pencil.problem import Problem
from ..target import FREE, IN, OUT
from .file import ProofFile


class LimitRecords:
    """Narrows the nodes of a tree by the limits on sets of k; ``features`` are those of the tree.

    A row decides what it decides of all sets of k, whatever the others say: the checker needs no
    more than its numbers.

    Attributes
    ----------
    number : how many limits every feature of the tree has a weight in
    """

    def __init__(self, problem: Problem, features: np.ndarray, file: ProofFile) -> None:
        self.k, self.features, self.file = problem.k, features, file
        self.limits = (problem.limits or Limits.none(problem.pencil.size)).take(features)
        self.number = np.diff(self.limits.columns.indptr)
        rows = self.limits.rows
        self._negative, self._is_negative = rows.minimum(0.0), (rows < 0.0).astype(float)
        self._is_member, sizes = (rows != 0.0).astype(float), abs(rows).max(axis=1)
        self._largest = np.asarray(sizes.toarray()).ravel()

    def narrow(self, state: np.ndarray) -> bool:
        """Write and note, in place, what the limits decide; False if they leave no set."""
        changed = True
        while changed:
            changed = False
            for c in self._telling(state):
                before = state.copy()
                if not self.limits.narrow_by(c, state, self.k):
                    self.file.leaf("limit", c)
                    return False
                must, cannot = ((before != state) & (state == choice) for choice in (IN, OUT))
                if must.any() or cannot.any():
                    self.file.obey(c, self.features[must], self.features[cannot])
                    changed = True
        return True

    def closes(self, state: np.ndarray) -> bool:
        """Whether a limit forbids the only set of a node, by however little; then it is written."""
        inside = np.flatnonzero(state == IN)
        if inside.size < self.k:
            inside = np.flatnonzero(state != OUT)
        sums = self.limits.sums(inside)
        for c in np.flatnonzero(sums > self.limits.most - self.limits.slack).tolist():
            features, weights = self.limits.row(c)
            if math.fsum(weights[np.isin(features, inside)]) > self.limits.most[c]:
                self.file.leaf("limit", c)
                return True
        return False

    def _telling(self, state: np.ndarray) -> list[int]:
        """Rows that may decide something: the others have room for any feature of theirs."""
        free, inside = (state == FREE).astype(float), (state == IN).astype(float)
        need, n_free = self.k - inside.sum(), free.sum()
        load = self.limits.rows @ inside + self._negative @ free
        n_negative, n_members = self._is_negative @ free, self._is_member @ free
        is_quiet = load + self._largest <= self.limits.most
        is_quiet &= (need > n_negative) & (n_free - n_members > need - n_negative)
        return [int(c) for c in np.flatnonzero(~is_quiet)]
