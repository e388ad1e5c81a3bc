"""The generalized inclusion principle: what all subsets of the features have in common.

Let lambda_1 <= ... <= lambda_n be the eigenvalues of (A, B), B positive definite, and
mu_1 <= ... <= mu_k those of the pencil restricted to any k of its n features. Then
(Moghaddam, Weiss and Avidan 2006, theorem 1)

    lambda_i <= mu_i <= lambda_{i+n-k},     i = 1..k.

With i = k: lambda_k <= the largest eigenvalue of every set of k features <= lambda_n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np
from scipy import linalg

from ...errors import InputError
from ...pencil.checks import check_k
from ...pencil.criteria import score_values
from ...pencil.factor_pencil import _square_root
from ...pencil.pencil import Pencil
from ...pencil.problem import check_pencil

Chain = Iterable[Sequence[int] | np.ndarray]


class InclusionBounds(NamedTuple):
    """Between these two lies the largest eigenvalue of every set of k features."""

    lower: float
    upper: float


class InclusionCurve(NamedTuple):
    """The bounds for every cardinality: entry k - 1 is that of k features."""

    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True, eq=False)
class InclusionChain:
    """How the eigenvalues of nested subsets interlace; everything from small to large.

    Attributes
    ----------
    subsets : the subsets, sorted feature indices
    values : the eigenvalues of each subset, ascending
    lower, upper : the bounds that each subset's eigenvalues get from the next larger subset;
        the largest subset gets them from the whole pencil
    """

    subsets: tuple[np.ndarray, ...]
    values: tuple[np.ndarray, ...]
    lower: tuple[np.ndarray, ...]
    upper: tuple[np.ndarray, ...]

    @property
    def sizes(self) -> list[int]:
        """The number of features of each subset."""
        return [subset.size for subset in self.subsets]


@overload
def inclusion_bounds(pencil: Pencil, k: int, *, chain: None = None) -> InclusionBounds: ...
@overload
def inclusion_bounds(pencil: Pencil, k: None = None, *, chain: None = None) -> InclusionCurve: ...
@overload
def inclusion_bounds(pencil: Pencil, k: None = None, *, chain: Chain) -> InclusionChain: ...


def inclusion_bounds(
    pencil: Pencil, k: int | None = None, *, chain: Chain | None = None
) -> InclusionBounds | InclusionCurve | InclusionChain:
    """Bounds on the largest eigenvalue of every set of k features (paper, theorem 1).

    They need no search, and are often loose: the upper one is the same for every k, and with
    two classes (A of rank one) the lower one is 0 for every k < n.

    Parameters
    ----------
    pencil : Pencil
        Wide data kept as factors cost O(p n^2): p x p is not formed.
    k : int, optional
        A cardinality; None gives all of them.
    chain : nested subsets of the features, in any order, optional
        Instead of k: the interlacing of these subsets.

    Returns
    -------
    InclusionBounds (lower, upper)
        For one k: lambda_k(A, B), the k-th smallest eigenvalue, and lambda_n(A, B).
    InclusionCurve (lower, upper)
        Without k: arrays of length n; entry k - 1 is for k features.
    InclusionChain
        With ``chain``: the eigenvalues of every subset, and the bounds that each gets from
        the next larger one.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> pencil = es.Pencil(np.diag([1.0, 2.0, 5.0]))
    >>> es.inclusion_bounds(pencil, 2)
    InclusionBounds(lower=2.0, upper=5.0)
    >>> es.inclusion_bounds(pencil).lower.tolist()
    [1.0, 2.0, 5.0]
    >>> chain = es.inclusion_bounds(pencil, chain=[[0], [0, 2]])
    >>> chain.values[0].tolist(), chain.lower[0].tolist(), chain.upper[0].tolist()
    ([1.0], [1.0], [5.0])
    """
    check_pencil(pencil)
    if chain is not None:
        if k is not None:
            raise InputError("give k or a chain of subsets, not both")
        return _interlace(pencil, chain)
    if k is not None and check_k(k) > pencil.size:
        raise InputError(f"k is {k}; the pencil has {pencil.size} features")
    values = spectrum(pencil)
    if k is None:
        return InclusionCurve(values, np.full(values.size, values[-1]))
    return InclusionBounds(float(values[k - 1]), float(values[-1]))


def criterion_bounds(values: np.ndarray, k: int, criterion: str) -> InclusionBounds:
    """The same for any criterion, from the eigenvalues (ascending) of a set of at least k.

    All criteria grow with every eigenvalue, and by theorem 1 those of a set of k features lie
    between the k smallest and the k largest.
    """
    lower, upper = (score_values(part, criterion) for part in (values[:k], values[-k:]))
    return InclusionBounds(lower, upper)


def spectrum(pencil: Pencil) -> np.ndarray:
    """All generalized eigenvalues, ascending."""
    if pencil.max_rank < pencil.size:
        # B^-1 H' C H has the eigenvalues of C H B^-1 H' (c x c), and p - c zeros
        L, core = _square_root(pencil.factors.inner_gram()), pencil.factors.core
        inner = linalg.eigvalsh(L.T @ (L if core is None else core @ L))
        return np.sort(np.concatenate([inner, np.zeros(pencil.size - inner.size)]))
    A, B = pencil.A, pencil.B
    d = 1.0 / np.sqrt(np.diag(B))
    return linalg.eigh(A * np.outer(d, d), B * np.outer(d, d), eigvals_only=True)


def _interlace(pencil: Pencil, chain: Chain) -> InclusionChain:
    subsets = _nested(chain, pencil.size)
    spectra = [spectrum(pencil.take(subset)) for subset in subsets]
    whole = subsets[-1].size == pencil.size
    larger = [*spectra[1:], spectra[-1] if whole else spectrum(pencil)]
    lower = [outer[: inner.size] for inner, outer in zip(spectra, larger)]
    upper = [outer[outer.size - inner.size :] for inner, outer in zip(spectra, larger)]
    return InclusionChain(tuple(subsets), tuple(spectra), tuple(lower), tuple(upper))


def _nested(chain: Chain, p: int) -> list[np.ndarray]:
    """The subsets, small to large, each inside the next."""
    if not isinstance(chain, Iterable):
        raise InputError(f"chain must be a list of subsets of feature indices, not {chain!r}")
    subsets = sorted((_subset(item, p) for item in chain), key=len)
    if not subsets:
        raise InputError("chain is empty: name at least one subset")
    for inner, outer in pairwise(subsets):
        stray = np.setdiff1d(inner, outer)
        if stray.size:
            raise InputError(
                f"chain is not nested: feature {stray[0]} of the subset of {inner.size} is not in "
                f"that of {outer.size}"
            )
    return subsets


def _subset(item: Sequence[int] | np.ndarray, p: int) -> np.ndarray:
    subset = np.asarray(item)
    if subset.ndim != 1 or subset.size == 0 or subset.dtype.kind not in "iu":
        raise InputError(f"chain must hold subsets of feature indices, not {item!r}")
    if subset.min() < 0 or subset.max() >= p:
        wrong = subset[(subset < 0) | (subset >= p)][0]
        raise InputError(f"chain names feature {wrong}, outside 0..{p - 1}")
    if np.unique(subset).size < subset.size:
        raise InputError(f"chain has a subset that names a feature twice: {item!r}")
    return np.sort(subset).astype(np.intp)
