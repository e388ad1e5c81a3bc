"""Leading eigenvectors by iteration, for searches that need somewhere to start."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .criteria import fix_signs, generalized_eigh


def lanczos(A: np.ndarray, B: np.ndarray | None, m: int) -> np.ndarray:
    """The leading eigenvectors (p, m) of a dense pair, to some digits."""
    options: dict[str, Any] = {}
    scale = np.ones(len(A))
    if B is not None:
        scale = 1.0 / np.sqrt(np.diag(B))
        A, B = A * np.outer(scale, scale), B * np.outer(scale, scale)
        factor = linalg.cho_factor(B, lower=True)
        solve = LinearOperator(B.shape, lambda x: linalg.cho_solve(factor, x), dtype=B.dtype)
        options = {"M": B, "Minv": solve}
    v0 = np.random.default_rng(0).normal(size=len(A))  # the same call gives the same answer
    try:
        values, vectors = eigsh(A, m, which="LA", v0=v0, tol=1e-6, **options)
    except ArpackError:  # eigenvalues too close to each other, or A = 0
        values, vectors = generalized_eigh(A, B)
    leading = np.argsort(-values, kind="stable")[:m]
    return fix_signs(vectors[:, leading] * scale[:, None])
