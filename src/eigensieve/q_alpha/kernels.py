"""Kernels between features, as a matrix (n, n) or as rows of explicit features.

============ ================================================== =========================
linear       m_i'm_j
poly         (m_i'm_j + coef0)^degree                           degree = 2, coef0 = 0
rbf          exp(-gamma ||m_i - m_j||^2)                        gamma = 1
block        sum over sessions of (m_i^s'm_j^s)^2               size = 8 samples a session
a function   kernel(M1, M2) -> (n1, n2), rows are features
============ ================================================== =========================

Where a polynomial kernel has fewer explicit features than there are rows, Q-alpha runs on them;
with ``landmarks``, on the Nystroem features of so many rows drawn at random.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ..errors import InputError, OptionError
from ..pencil.checks import asymmetry, check_k, check_number
from ..pencil.criteria import EPS
from ..tables.operators.table_rows import TableRows

KERNELS = ("linear", "poly", "rbf", "block", "precomputed")
DEFAULTS: dict[str, dict[str, Any]] = {
    "linear": {},
    "poly": {"degree": 2, "coef0": 0.0},
    "rbf": {"gamma": 1.0},
    "block": {"size": 8},
    "callable": {},
    "precomputed": {},
}
MAX_FEATURES = 30_000  # a matrix of 7 GB
BIGGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class FeatureKernel:
    """A kernel with its parameters; ``landmarks`` is None without a Nystroem map."""

    name: str
    params: Mapping[str, Any]
    landmarks: int | None
    function: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    @classmethod
    def of(cls, kernel: Any, params: Mapping[str, Any] | None) -> FeatureKernel:
        """From what users give: a name or a function, and its parameters."""
        name = "callable" if callable(kernel) else kernel
        if not isinstance(name, str) or name not in DEFAULTS:
            known = ", ".join(KERNELS)
            raise OptionError(
                f"kernel is {kernel!r}; it must be None, a function or one of {known}"
            )
        if not isinstance(params, Mapping | None):
            raise OptionError(f"kernel_params is {params!r}; it must be a dict, or None")
        given = dict(params or {})
        landmarks = given.pop("landmarks", None)
        if landmarks is not None:
            landmarks = check_k(landmarks, "landmarks")
        unknown = sorted(set(given) - set(DEFAULTS[name]))
        if unknown or (landmarks is not None and name == "precomputed"):
            own = ", ".join([*DEFAULTS[name], *(["landmarks"] if name != "precomputed" else [])])
            wrong = unknown[0] if unknown else "landmarks"
            raise OptionError(
                f"kernel_params has {wrong!r}; kernel {name!r} has {own or 'no parameters'}"
            )
        values = DEFAULTS[name] | given
        _check_params(values)
        return cls(name, values, landmarks, kernel if callable(kernel) else None)

    def n_explicit(self, q: int) -> int | None:
        """How many explicit features the kernel has; None if there is no such number."""
        if self.name == "linear":
            return q
        if self.name == "poly":
            degree = self.params["degree"]
            return math.comb(q + degree - (self.params["coef0"] == 0), degree)
        if self.name == "block":
            return sum(math.comb(len(session) + 1, 2) for session in self.sessions(q))
        return None

    def sessions(self, q: int) -> Iterator[np.ndarray]:
        """The samples of each session, in turn; the last one may be shorter."""
        size = self.params["size"]
        return (np.arange(first, min(first + size, q)) for first in range(0, q, size))

    def choose_route(self, n: int, q: int, is_sparse: bool) -> str:
        """What Q-alpha runs on: "nystroem", "rows" (linear), "explicit" features, or a "matrix"."""
        explicit = self.n_explicit(q)
        if self.landmarks is not None and self.landmarks < n:
            return "nystroem"
        if explicit is not None and explicit < n and (self.name == "linear" or not is_sparse):
            return "rows" if self.name == "linear" else "explicit"
        if n > MAX_FEATURES:
            raise InputError(
                f"kernel {self.name!r} needs a matrix of {n:,} x {n:,}; give "
                "kernel_params={'landmarks': 500} for a Nystroem map, or fewer columns"
            )
        return "matrix"

    def matrix(self, rows: TableRows) -> np.ndarray:
        """The kernel of every two features (n, n)."""
        if self.name == "block":
            return sum(np.square(rows.of_rows(s).inner()) for s in self.sessions(rows.n_samples))
        if self.function is not None:
            M = _dense(rows)
            return self._call(M, M)
        S = rows.inner().astype(np.float64)
        return self._of_products(S, np.diag(S).copy(), np.diag(S).copy())

    def explicit(self, rows: TableRows) -> np.ndarray:
        """The explicit features of a polynomial kernel: rows (n_explicit, n)."""
        M = _dense(rows)
        if self.name == "block":
            parts = [_monomials(M[:, s], 2, 0.0) for s in self.sessions(M.shape[1])]
            return np.vstack(parts)
        return _monomials(M, self.params["degree"], self.params["coef0"])

    def nystroem(self, rows: TableRows, rng: np.random.Generator) -> np.ndarray:
        """Features (m, n) whose products approximate the kernel, from rows drawn at random."""
        varying = np.flatnonzero(~is_zero(rows))
        wanted = min(self.landmarks or varying.size, varying.size)
        picks = np.sort(rng.choice(varying, wanted, replace=False))
        C = self._cross(rows, picks)
        values, vectors = linalg.eigh(0.5 * (C[picks] + C[picks].T))
        kept = values > len(values) * EPS * values[-1]
        return (C @ (vectors[:, kept] / np.sqrt(values[kept]))).T

    def _cross(self, rows: TableRows, picks: np.ndarray) -> np.ndarray:
        """The kernel of every feature with the picked ones (n, m)."""
        L = rows.columns(picks).T.astype(np.float64)
        if self.function is not None:
            return self._call(_dense(rows), L)
        if self.name == "block":
            sessions = self.sessions(rows.n_samples)
            return sum(np.square(rows.of_rows(s).rmatmat(L[:, s].T)) for s in sessions)
        S = rows.rmatmat(L.T).astype(np.float64)
        return self._of_products(S, rows.squares(), np.square(L).sum(axis=1))

    def _of_products(self, S: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The kernel from inner products and squared norms."""
        if self.name == "poly":
            return (S + self.params["coef0"]) ** self.params["degree"]
        if self.name == "rbf":
            distances = np.maximum(left[:, None] + right - 2.0 * S, 0.0)
            return np.exp(-self.params["gamma"] * distances)
        return S

    def _call(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        assert self.function is not None
        found = np.asarray(self.function(left, right), dtype=np.float64)
        if found.shape != (len(left), len(right)):
            raise InputError(
                f"the kernel function gave shape {found.shape} for features {left.shape} and "
                f"{right.shape}; it must give {(len(left), len(right))}: kernel(M1, M2), rows are "
                "features"
            )
        return check_kernel_matrix(found) if left is right else found


def check_kernel_matrix(V: np.ndarray) -> np.ndarray:
    """The matrix as float64, made exactly symmetric; an error if it is no kernel."""
    V = np.asarray(V, dtype=np.float64)
    if V.ndim != 2 or V.shape[0] != V.shape[1]:
        raise InputError(f"a kernel matrix has a row and a column per feature; got {V.shape}")
    if not np.isfinite(V).all():
        raise InputError("the kernel matrix has entries that are not finite")
    if asymmetry(V, tol=1e-6) > 0:
        raise InputError("the kernel matrix is not symmetric")
    if not V.any():
        raise InputError("the kernel matrix is zero: there is nothing to weigh")
    return 0.5 * (V + V.T)


def is_zero(rows: TableRows) -> np.ndarray:
    """Mask of the constant features: they take no part, whatever the kernel says of two zeros."""
    least, most = rows.limits()
    return (least == 0) & (most == 0)


def _check_params(values: Mapping[str, Any]) -> None:
    for name in ("degree", "size"):
        if name in values:
            check_k(values[name], name)
    if "coef0" in values:
        check_number(values["coef0"], "coef0", 0.0, BIGGEST, "a number >= 0")
    if "gamma" in values:
        check_number(values["gamma"], "gamma", 0.0, BIGGEST, "a number >= 0")


def _dense(rows: TableRows) -> np.ndarray:
    """M itself (n, q)."""
    if rows.is_sparse:
        raise InputError("this kernel needs all entries of X; X.toarray() makes an array of X")
    return np.vstack([block.T for _, block in rows.column_blocks()]).astype(np.float64, copy=False)


def _monomials(M: np.ndarray, degree: int, coef0: float) -> np.ndarray:
    """Features (D, n) with products (m_i'm_j + coef0)^degree: weighted monomials."""
    if coef0 > 0:
        M = np.column_stack([M, np.full(len(M), math.sqrt(coef0))])
    features = []
    for choice in itertools.combinations_with_replacement(range(M.shape[1]), degree):
        counts = np.bincount(choice, minlength=M.shape[1])
        ways = math.factorial(degree) // math.prod(math.factorial(c) for c in counts.tolist())
        features.append(math.sqrt(ways) * np.prod(M[:, choice], axis=1))
    return np.array(features)
