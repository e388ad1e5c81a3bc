"""The leading eigenvector of a quadratic form that is known by its products only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from ..pencil.solution import Status
from ..tables.kinds.arrays import like, to_numpy
from .relevance import Form, length, point_up

EIGENSOLVERS = ("auto", "lanczos", "gram", "single-step")
MAX_DENSE_FEATURES = 64  # so few are faster by a dense eigen-solver
LANCZOS_TOL = 1e-12
Stop = Callable[[], Status | None]
Multiply = Callable[[np.ndarray], np.ndarray]


class SearchStopped(Exception):
    """A limit was reached inside an eigen-solver."""

    def __init__(self, status: Status) -> None:
        super().__init__(str(status))
        self.status = status


def leading_eigenvector(form: Form, alpha: Any, method: str, stop: Stop) -> Any:
    """The next weights from the present ones: of unit norm, their sum not negative.

    "lanczos" and "gram" give the eigenvector of the largest eigenvalue of G, "single-step" one step
    of the power method towards it.
    """
    if method == "single-step":
        return form.step(alpha)
    if form.n_features <= MAX_DENSE_FEATURES:
        return point_up(_by_dense_solver(form, alpha))
    if method == "gram":
        return point_up(_by_small_gram(form))
    first = form.apply(_mix(alpha, form.dtype))  # features without a part in G stay exactly 0
    if length(first) == 0.0:
        return point_up(first)
    if form.iterates_on_samples:
        return point_up(_by_lanczos_on_samples(form, first, stop))
    return point_up(_by_lanczos(form, first, stop))


def _mix(alpha: Any, dtype: np.dtype) -> Any:
    """Never the present weights alone: they may be an eigenvector, and not the leading one."""
    n = alpha.shape[0]
    noise = np.random.default_rng(0).random(n) * (0.1 / np.sqrt(n))
    return alpha + like(noise, alpha, dtype)


def _by_dense_solver(form: Form, alpha: Any) -> Any:
    units = np.eye(form.n_features, dtype=form.dtype)
    G = np.column_stack([to_numpy(form.apply(like(e, alpha))) for e in units])
    return like(linalg.eigh(0.5 * (G + G.T))[1][:, -1] * G.any(axis=0), alpha)


def _by_small_gram(form: Any) -> Any:
    """G = CC' has the nonzero eigenvalues of C'C (qk, qk), which is small if samples are few."""
    small = to_numpy(sum(root.T @ root for _, root in form.root_blocks()))
    v = linalg.eigh(small.astype(np.float64))[1][:, -1].astype(form.dtype)
    return form.weigh(v.reshape(form.Q.shape))


def _by_lanczos_on_samples(form: Any, first: Any, stop: Stop) -> Any:
    """The leading eigenvector v of C'C (qk, qk), known by its products; C v is that of G."""
    shape = form.Q.shape

    def multiply(v: np.ndarray) -> np.ndarray:
        _go_on(stop)
        return form.weigh_and_turn(v.reshape(shape))[1].ravel()

    start = form.turned(first).ravel()
    return form.weigh(_search(multiply, start, form.dtype).reshape(shape))


def _by_lanczos(form: Form, first: Any, stop: Stop) -> Any:
    def multiply(x: np.ndarray) -> np.ndarray:
        _go_on(stop)
        return to_numpy(form.apply(like(np.ravel(x), first)))

    return like(_search(multiply, to_numpy(first), form.dtype), first)


def _go_on(stop: Stop) -> None:
    status = stop()
    if status is not None:
        raise SearchStopped(status)


def _search(multiply: Multiply, start: np.ndarray, dtype: np.dtype) -> np.ndarray:
    operator = LinearOperator((start.size, start.size), matvec=multiply, dtype=dtype)
    tol = LANCZOS_TOL if dtype == np.float64 else 0.0
    return eigsh(operator, k=1, which="LA", v0=start, tol=tol)[1][:, 0]
