"""Q-alpha: spectral weights of features (Wolf & Shashua 2005)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..errors import InputError
from ..pencil.budget import Budget, Callback
from ..pencil.checks import as_seed, check_labels
from ..tables.kinds.arrays import all_finite, check_device_table, is_device_array, to_device
from ..tables.kinds.frames import plain_frame
from ..tables.kinds.opening import as_big_table
from .ascent import ascend
from .options import QAlphaOptions
from .problem import make_family, make_rows
from .solution import QAlphaSolution


def qalpha(
    X: Any,
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
    random_state: Any = None,
    device: Any = None,
) -> QAlphaSolution:
    """Weights of the features of X (q samples x n features, rows are samples).

    Maximises trace(Q'A^2 Q), A = sum_i alpha_i m_i m_i', over weights alpha of unit norm and
    orthonormal Q (q, k), with m_i the column of feature i, scaled: features get large weights if
    the samples form k coherent clusters on them. The paper's M is the transpose of X. A table the
    wrong way round cannot be told from a right one, and gives a weight for every sample.
    `eigensieve.QAlphaSelector` is the same as a scikit-learn selector; the meaning of the options
    is told there.

    Parameters
    ----------
    X : array (q, n), numpy (in memory or mapped from a file), scipy.sparse, torch or cupy
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
    >>> X = rng.normal(size=(30, 50))                     # 30 samples, 50 features
    >>> X[:15, :5] += 4                                   # five features tell two groups apart
    >>> found = es.qalpha(X, 2, random_state=0)
    >>> np.sort(np.argsort(-found.alpha)[:5]).tolist()
    [0, 1, 2, 3, 4]
    >>> found.verify(X)
    """
    options = QAlphaOptions(
        n_clusters, variant, kernel, kernel_params, eigensolver, n_init, offset, gamma,
        k_within, k_between, center, scale, tol, max_iter,
    )  # fmt: skip
    budget = Budget(time_limit=time_limit, callback=callback)
    table = _take_table(X, device)
    code = check_classes(y, table.shape[0], options)
    rng = np.random.default_rng(as_seed(random_state))
    with budget.interruptible():
        rows = make_rows(table, options, code)
        return ascend(make_family(rows, options, code, rng), options, budget, rng)


def _take_table(X: Any, device: Any = None) -> Any:
    """The table (samples x features): an array, sparse, mapped, or on a device."""
    if np.ma.isMaskedArray(X):
        raise InputError("X is a masked array; fill in or drop what is masked first")
    if not isinstance(X, np.ndarray) and as_big_table(X) is not None:
        raise InputError(
            f"X is a {type(X).__name__}; qalpha takes tables in memory, or mapped by numpy. "
            "QAlphaSelector.fit takes it"
        )
    if is_device_array(X):
        check_device_table(X, "X", "samples x features")
        return to_device(X, device)
    X = X.tocsr() if sparse.issparse(X) else np.asanyarray(plain_frame(X, "X"))
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X has shape {X.shape}; it must be samples x features, none of them 0")
    if X.dtype.kind not in "biuf":
        raise InputError(f"X holds {X.dtype}; it must hold real numbers")
    mapped = None if sparse.issparse(X) else as_big_table(X)
    if mapped is None and not all_finite(X.data if sparse.issparse(X) else X):
        raise InputError("X contains NaN or infinity; impute or drop them first")
    if device is None:
        return X if mapped is None else mapped
    if mapped is not None or sparse.issparse(X):
        what = "sparse" if mapped is None else "mapped from a file"
        raise InputError(f"X is {what}; device={device!r} is for arrays in memory: leave it out")
    return to_device(np.asarray(X), device)


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
