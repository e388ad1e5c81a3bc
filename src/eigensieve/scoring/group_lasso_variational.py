"""The group lasso by reweighted ridge regressions: algorithm 1 of Sanchez Merchante et al. (2012).

The penalty lambda sum_j w_j |beta_j| is the least of the quadratic forms
lambda / 2 sum_j (w_j^2 |beta_j|^2 / tau_j + tau_j), reached at tau_j = w_j |beta_j|. With that tau
all columns of B are one linear system, (G + lambda diag(w_j / |beta_j|)) B = C on the active rows;
in turn they converge, linearly. Features join one at a time, the one that violates its condition
most. Kept as the reference: scoring/group_lasso.py is much faster.

Deviations from the paper: its (4b) is |slope_j| <= lambda w_j; a row that the iteration takes
towards zero, which it never reaches, is cut at a small length (and joins again if that was wrong);
while features are still to join, the active ones are not solved to the last digit (50,000 systems
did not suffice otherwise for 125 features of the paper's first simulation; 9,500 do now).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .group_lasso_base import GroupLassoMethod
from .scoring import row_lengths

MAX_SYSTEMS = 50_000  # in all
LOOSER = 2.0  # a feature joins that violates its condition by so much more than the active ones
TIGHTER = 0.1  # what becomes of the tolerance when none joins
VANISHED = 1e-10  # length, as a share of the longest row, below which a row is taken for zero


class VariationalSearch(GroupLassoMethod):
    """Linear systems in turn with the weights of their rows, one more feature at a time."""

    name = "variational"

    def _minimise(self, penalty: float) -> None:
        problem = self.problem
        loose = 1.0
        while self.n_iter < MAX_SYSTEMS:
            self._solve_active(penalty, loose)
            slope = problem.slope(self.S, self.rows)
            ratio = row_lengths(slope) / self.t
            ratio[self.S] = 0.0
            ratio[problem.is_redundant] = 0.0
            worst = int(np.argmax(ratio))
            allowed = self._allowed(penalty)
            is_last = loose <= allowed.min() / 2
            if ratio[worst] <= 1.0 + (allowed[worst] if is_last else LOOSER * loose):
                if is_last:
                    break
                loose *= TIGHTER
                continue
            if self.S.size > 0 and self.budget.stop() is not None:
                break
            self._add(worst, slope[worst])

    def _add(self, feature: int, slope: np.ndarray) -> None:
        """A new row, at the minimum over it alone."""
        length = float(np.linalg.norm(slope))
        row = slope * (1.0 - self.t[feature] / length) / self.problem.curvatures[feature]
        place = int(np.searchsorted(self.S, feature))
        self.S = np.insert(self.S, place, feature)
        self.rows = np.insert(self.rows, place, row, axis=0)

    def _solve_active(self, penalty: float, loose: float) -> None:
        """Reweighted systems on the active rows until condition (4a) holds, up to ``loose``."""
        G, C = self.problem.gram(self.S), self.problem.correlations[self.S]
        while self.S.size and self.n_iter < MAX_SYSTEMS and self.budget.stop() is None:
            self.n_iter += 1
            # by h^2 = |beta_j| / t_j, which may vanish where w_j / |beta_j| grows without bounds
            h = np.sqrt(row_lengths(self.rows) / self.t[self.S])
            M = h[:, None] * G * h
            M[np.diag_indices(h.size)] += 1.0
            rows = h[:, None] * linalg.solve(M, h[:, None] * C, assume_a="pos")
            sizes = row_lengths(rows)
            kept = sizes > VANISHED * sizes.max()
            self.rows = rows[kept]
            if not kept.all():
                self.S, G, C = self.S[kept], G[np.ix_(kept, kept)], C[kept]
            pull = (self.t[self.S] / sizes[kept])[:, None] * self.rows
            off = row_lengths(C - G @ self.rows - pull) / self.t[self.S]
            if np.all(off <= np.maximum(loose, self._allowed(penalty)[self.S] / 2)):
                break
