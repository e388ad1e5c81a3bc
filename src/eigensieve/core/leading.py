"""The leading eigenvector of a quadratic form that is known by its products only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from .relevance import Form
from .solution import Status

EIGENSOLVERS = ("auto", "lanczos", "gram", "single-step")
FEW_FEATURES = 64  # so few are faster by a dense eigen-solver
LANCZOS_TOL = 1e-12
Stop = Callable[[], Status | None]


class SearchStopped(Exception):
    """A limit was reached inside an eigen-solver."""

    def __init__(self, status: Status) -> None:
        super().__init__(str(status))
        self.status = status


def leading_eigenvector(form: Form, alpha: np.ndarray, method: str, stop: Stop) -> np.ndarray:
    """The next weights from the present ones: of unit norm, their sum not negative.

    "lanczos" and "gram" give the eigenvector of the largest eigenvalue of G, "single-step" one step
    of the power method towards it.
    """
    if method == "single-step":
        return point_up(form.apply(alpha))
    if form.n_features <= FEW_FEATURES:
        return point_up(_by_dense_solver(form))
    if method == "gram":
        return point_up(_by_small_gram(form))
    return point_up(_by_lanczos(form, alpha, stop))


def point_up(x: np.ndarray) -> np.ndarray:
    """A vector at unit length with a sum that is not negative; zero becomes equal weights."""
    norm = float(np.linalg.norm(x))
    if norm == 0.0:
        return np.full_like(x, 1.0 / np.sqrt(x.size))
    return x * ((-1.0 if x.sum() < 0 else 1.0) / norm)


def _by_dense_solver(form: Form) -> np.ndarray:
    G = np.column_stack([form.apply(e) for e in np.eye(form.n_features, dtype=form.dtype)])
    return linalg.eigh(0.5 * (G + G.T))[1][:, -1] * G.any(axis=0)


def _by_small_gram(form: Any) -> np.ndarray:
    """G = CC' has the nonzero eigenvalues of C'C (qk, qk), which is small if samples are few."""
    blocks = form.root_blocks()
    small = sum(root.T @ root for _, root in blocks)
    v = linalg.eigh(small.astype(np.float64))[1][:, -1].astype(form.dtype)
    out = np.empty(form.n_features, dtype=form.dtype)
    for where, root in form.root_blocks():
        out[where] = root @ v
    return out


def _by_lanczos(form: Form, alpha: np.ndarray, stop: Stop) -> np.ndarray:
    n = form.n_features

    def multiply(x: np.ndarray) -> np.ndarray:
        status = stop()
        if status is not None:
            raise SearchStopped(status)
        return form.apply(np.ravel(x))

    # never the present weights alone: they may be an eigenvector, and not the leading one
    mixed = alpha + np.random.default_rng(0).random(n) * (0.1 / np.sqrt(n))
    first = form.apply(mixed.astype(form.dtype))  # features without a part in G stay exactly 0
    if not first.any():
        return first
    operator = LinearOperator((n, n), matvec=multiply, dtype=form.dtype)
    tol = LANCZOS_TOL if form.dtype == np.float64 else 0.0
    return eigsh(operator, k=1, which="LA", v0=first, tol=tol)[1][:, 0]
