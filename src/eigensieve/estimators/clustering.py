"""Clusters of samples from the leading eigenvectors of their affinity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_array

from ..errors import InputError
from ..pencil.checks import as_seed, check_k
from ..q_alpha.options import QAlphaOptions
from ..q_alpha.relevance import leading_samples
from ..tables.kinds.frames import plain_frame
from ..tables.operators.scaled_rows import scaled_rows


def spectral_clusters(
    X: ArrayLike,
    n_clusters: int = 2,
    *,
    center: bool = True,
    scale: bool = True,
    n_init: int = 10,
    random_state: Any = None,
) -> np.ndarray:
    """Cluster the rows of a table of selected features, as Wolf & Shashua (2005) do.

    The affinity of two samples is the inner product of their rows, features centred and scaled to
    unit norm; the rows of its ``n_clusters`` leading eigenvectors are clustered by k-means.

    Parameters
    ----------
    X : array (n_samples, n_features), numpy or scipy.sparse: what `QAlphaSelector.transform` gives
    n_clusters : int
    center, scale : bool
        Whether features are centred and scaled first. ``scale=False`` for weighted columns: scaling
        would take the weights off.
    n_init : starts of k-means
    random_state : seed of k-means; None is 0

    Returns
    -------
    labels : array (n_samples,) of ints, numbered in order of first appearance

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 500))
    >>> X[:20, :10] += 3
    >>> selected = es.QAlphaSelector(n_clusters=2).fit_transform(X)
    >>> es.spectral_clusters(selected, 2)[[0, 19, 20, 39]].tolist()
    [0, 0, 1, 1]
    """
    k = check_k(n_clusters, "n_clusters")
    X = plain_frame(X)
    table = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32])
    if k > table.shape[0]:
        raise InputError(f"n_clusters is {k}, but there are only {table.shape[0]} samples")
    options = QAlphaOptions(center=center, scale=scale)  # which checks them
    rows = scaled_rows(table, center=options.is_centred, scale=bool(options.scale))
    Q = leading_samples(rows, k)
    found = KMeans(k, n_init=n_init, random_state=as_seed(random_state)).fit_predict(Q)
    _, first, code = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code]
