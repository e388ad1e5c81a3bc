"""Q-alpha with Ritz acceleration (definition 4, corrected).

The basis is rotated to the Ritz vectors of a recomputed alpha. A rotation leaves QQ', and with it
G, as it was: the weights are exactly those of the standard method, at twice the cost. (As printed,
step 4 omits m_i'm_j, and half of alpha is negative.) What is gained are ordered basis vectors.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..leading import leading_eigenvector
from ..relevance import Standard, StandardForm


class RitzForm(StandardForm):
    """The standard form; the next basis consists of Ritz vectors."""

    def turn(self, alpha: np.ndarray) -> np.ndarray:
        Q = super().turn(alpha)
        following = StandardForm(self.rows, Q)
        weights = leading_eigenvector(following, alpha, "lanczos", lambda: None)
        S = following.U.T @ (weights[:, None] * following.U)  # Q'A Q with A = M' diag(weights) M
        values, rotation = linalg.eigh(0.5 * (S + S.T))
        return Q @ rotation[:, np.argsort(-np.abs(values), kind="stable")]


class Ritz(Standard):
    """Definition 4."""

    form = RitzForm
