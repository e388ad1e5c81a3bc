"""Q-alpha: spectral weights of features (Wolf & Shashua 2005)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..pencil.budget import Budget, Callback
from ..pencil.checks import check_labels
from .ascent import ascend
from .input import take_transposed
from .options import QAlphaOptions
from .problem import make_family, make_precomputed, make_rows
from .relevance import Family
from .rows.feature_rows import FeatureRows
from .solution import QAlphaSolution


def weigh_features(
    M: Any,
    n_clusters: int = 2,
    *,
    y: ArrayLike | None = None,
    variant: str = "standard",
    kernel: Any = None,
    kernel_params: Mapping[str, Any] | None = None,
    eigensolver: str = "auto",
    n_init: int | str = "auto",
    offset: float | str = "auto",
    gamma: float = 0.5,
    k_within: int = 2,
    k_between: int = 1,
    center: bool | str = "auto",
    scale: bool = True,
    tol: float = 1e-4,
    max_iter: int = 100,
    time_limit: float | None = None,
    callback: Callback | None = None,
    random_state: int | None = None,
    device: Any = None,
) -> QAlphaSolution:
    """Weights of the features of M (n features x q samples: the transpose of scikit-learn's X).

    Maximises trace(Q'A^2 Q), A = sum_i alpha_i m_i m_i', over weights alpha of unit norm and
    orthonormal Q (q, k): features get large weights if the samples form k coherent clusters on
    them. `eigensieve.QAlphaSelector` is the same as a scikit-learn selector; the meaning of the
    options is told there.

    Parameters
    ----------
    M : array (n, q), numpy (in memory or mapped from a file), scipy.sparse, torch or cupy
        float32 stays float32; arrays of torch and cupy stay on their device. With
        kernel="precomputed": the kernel matrix of the features (n, n).
    n_clusters : int, the k above
    y : array (q,), labels of the samples, for variant="supervised"; else not used
    time_limit : seconds; the best so far is returned
    callback : called with `Progress`
    random_state : seed of the random starts and landmarks; None is 0: no two calls differ
    device : "cuda", "cuda:1" or "cpu": where to compute (by torch), for numpy arrays

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> M = rng.normal(size=(50, 30))                     # 50 features, 30 samples
    >>> M[:5, :15] += 4                                   # five features tell two groups apart
    >>> found = es.qalpha(M, 2, random_state=0)
    >>> np.sort(np.argsort(-found.alpha)[:5]).tolist()
    [0, 1, 2, 3, 4]
    >>> found.verify(M)
    """
    options = QAlphaOptions(
        n_clusters, variant, kernel, kernel_params, eigensolver, n_init, offset, gamma,
        k_within, k_between, center, scale, tol, max_iter,
    )  # fmt: skip
    budget = Budget(time_limit=time_limit, callback=callback)
    X = take_transposed(M, device)
    code = check_classes(y, X.shape[0], options)
    return solve_table(X, code, options, budget, np.random.default_rng(random_state or 0))


def solve_table(
    X: Any,
    code: np.ndarray | None,
    options: QAlphaOptions,
    budget: Budget,
    rng: np.random.Generator,
) -> QAlphaSolution:
    """Q-alpha of a table (samples, features) that has been checked."""
    with budget.interruptible():
        if options.is_precomputed:
            return _solve(make_precomputed(X, options), options, budget, rng)
        return solve_rows(make_rows(X, options, code), code, options, budget, rng)


def solve_rows(
    rows: FeatureRows,
    code: np.ndarray | None,
    options: QAlphaOptions,
    budget: Budget,
    rng: np.random.Generator,
) -> QAlphaSolution:
    """Q-alpha of rows that are scaled."""
    family = make_family(rows, options, code, rng)
    return _solve(family, options, budget, rng)


def _solve(
    family: Family, options: QAlphaOptions, budget: Budget, rng: np.random.Generator
) -> QAlphaSolution:
    found = ascend(family, options, budget, rng)
    return QAlphaSolution(
        alpha=found.alpha,
        Q=family.express(found.basis),
        objective=found.history[-1],
        history=np.array(found.history),
        converged=found.converged,
        status=found.status,
        eigensolver=found.eigensolver,
        n_starts=found.n_starts,
        seconds=budget.seconds,
        options=options,
    )


def check_classes(y: ArrayLike | None, n_samples: int, options: QAlphaOptions) -> np.ndarray | None:
    """The class of every sample as 0 ... K - 1 for "supervised"; None for the others."""
    if options.variant != "supervised":
        return None
    if y is None:
        raise InputError("variant 'supervised' needs y, the class of every sample")
    labels = np.asarray(y)
    check_labels(labels)
    if labels.shape != (n_samples,):
        raise InputError(f"y has shape {labels.shape}; there are {n_samples} samples")
    classes, code = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise InputError("y has one class only; variant 'supervised' needs two or more")
    return code
