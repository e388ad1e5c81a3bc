"""Rows that are copies of each other: one of them in a test part is known from the training part.

Rows are copies if they are equal, or if they are `FACTOR` times nearer to each other than to any
other row, and than rows usually are to the nearest one (columns standardised): one sample, measured
again. In tables of few columns, or of few values, either happens by chance. How rare it is follows
from the shares of rows that are as near in each column: the product for equal rows, with as many
factors as there are independent columns; else Fisher's sum of logarithms, compared with that of
random pairs of rows (a gamma distribution with their mean and variance: Brown 1975). Pairs are told
as long as at most `MAX_FALSE` of them are expected to be chance (Benjamini & Hochberg 1995, over
all pairs of rows).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from ...pencil.row_factor import feature_slices
from ...pencil.wording import counted
from ..standardize import Standardizer, replace_entries

FACTOR = 5
MAX_NEAR = 4  # rows that are nearly equal to one row
MAX_FALSE = 0.01
MAX_ROWS = 2000  # whose distances are computed: 32 MB, and some more for a moment
MAX_PRODUCTS = 2 * 10**10  # for the distances: a second or two
SAMPLE = 1000  # rows, and columns, from which the chance of a copy is told
MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class RowCopies:
    """Which rows are copies of each other.

    Attributes
    ----------
    groups : array (n,) of int; copies share a number
    pairs : array (m, 2), rows that are copies; the first of several equal rows stands for them
    is_near : mask (m,) of the pairs that are not equal
    """

    groups: np.ndarray
    pairs: np.ndarray
    is_near: np.ndarray


def find_row_copies(X: Any) -> RowCopies:
    """The copies among the rows of an array, or of a csr matrix; NaN is a missing value."""
    n = X.shape[0]
    same = _equal_rows(X)
    is_first = same == np.arange(n)
    first, others = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    equal = np.column_stack([same[others], others])
    distinct = X[first] if others.size else X
    near = first[_near_rows(distinct)] if n <= MAX_ROWS else equal[:0]
    pairs = np.concatenate([equal, near])
    told = _are_told(_chances(X, pairs, first), n * (n - 1) / 2)
    is_near = np.arange(len(pairs)) >= len(equal)
    return RowCopies(join_rows(n, pairs[told]), pairs[told], is_near[told])


def join_rows(n: int, pairs: np.ndarray) -> np.ndarray:
    """A number (n,) for every row, the same for rows that pairs (m, 2) connect."""
    links = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])


def _are_told(chances: np.ndarray, n_tests: float) -> np.ndarray:
    """Benjamini and Hochberg: a mask of the pairs, few of which are expected to be chance."""
    ordered = np.sort(chances)
    rank = np.arange(1, chances.size + 1)
    below = ordered[ordered * n_tests <= MAX_FALSE * rank]
    return chances <= below.max(initial=-1.0)


def _equal_rows(X: Any) -> np.ndarray:
    """For every row the first one that equals it; missing values are equal."""
    seen: dict[bytes, int] = {}
    same = np.empty(X.shape[0], dtype=np.intp)
    for i, key in enumerate(_keys(X)):
        same[i] = seen.setdefault(key, i)
    return same


def _keys(X: Any) -> Iterator[bytes]:
    for i in range(X.shape[0]):
        digest = hashlib.blake2b(digest_size=16)
        if sparse.issparse(X):
            own = slice(X.indptr[i], X.indptr[i + 1])
            stored = X.data[own] != 0
            digest.update(X.indices[own][stored].astype(np.int64).tobytes())
            row = X.data[own][stored]
        else:
            row = X[i] + 0.0  # -0.0 is 0.0
        gaps = np.isnan(row)
        digest.update(np.where(gaps, np.nan, row).tobytes() if gaps.any() else row.tobytes())
        yield digest.digest()


def _near_rows(X: Any) -> np.ndarray:
    """Pairs (m, 2), i < j, each of which is much nearer to the other than to rows without a pair.

    All rows are different.
    """
    n = X.shape[0]
    most = min(MAX_NEAR, n // 4)
    if most == 0:
        return np.empty((0, 2), dtype=np.intp)
    distances = np.sqrt(_square_distances(X))
    sizes = np.partition(distances, range(most + 1), axis=1)[:, : most + 1]
    gap = (FACTOR * sizes[:, :-1] <= sizes[:, 1:]) & np.isfinite(sizes[:, 1:])
    last = most - 1 - gap[:, ::-1].argmax(axis=1)  # of several gaps the widest circle
    inner, outer = (sizes[np.arange(n), last + step] for step in (0, 1))
    outer = np.where(gap.any(axis=1), outer, sizes[:, 0])
    # two rows far from all others are no copies if they are no nearer than others are
    is_near = gap.any(axis=1) & (FACTOR * inner <= np.median(outer))
    reach = np.where(is_near, inner, -1.0)
    inside = distances <= reach[:, None]
    return np.argwhere(np.triu(inside & inside.T))


def _square_distances(X: Any) -> np.ndarray:
    """Mean squared differences (n, n) of standardised columns, over those that both rows have.

    Infinite where those are not more than half of what the fullest row has, and on the diagonal.
    """
    n = X.shape[0]
    total, shared = np.zeros((n, n)), np.zeros((n, n))
    for Z, gaps in _standard_blocks(X):
        squares = (Z * Z).sum(axis=1)
        total += squares[:, None] + squares - 2 * _dense(Z @ Z.T)
        shared += Z.shape[1]
        if gaps is not None:  # what is missing in one row is 0 in Z, and does not count
            over = _dense(gaps @ (Z * Z).T)
            missing = gaps.sum(axis=1)
            total -= over + over.T
            shared -= missing[:, None] + missing - _dense(gaps @ gaps.T)
    enough = 2 * shared > shared.max(initial=0.0)
    np.fill_diagonal(enough, False)
    found = np.full((n, n), np.inf)
    np.divide(np.maximum(total, 0.0), shared, out=found, where=enough)
    return found


def _standard_blocks(X: Any) -> Iterator[tuple[Any, Any]]:
    """Columns with deviation 1, missing values 0, and where those are, if there are any.

    Evenly spread columns, if all would take too long.
    """
    n, p = X.shape
    columns = _spread(p, max(1, MAX_PRODUCTS // n**2))
    if sparse.issparse(X):
        table = X[:, columns]
        gaps = np.isnan(table.data)
        Z = replace_entries(table, np.where(gaps, 0.0, table.data))
        Z = replace_entries(Z, Z.data / Standardizer.fit(Z).scale[Z.indices])
        yield Z, replace_entries(table, gaps.astype(np.float64)) if gaps.any() else None
        return
    for part in feature_slices(columns.size, n):
        block = X[:, columns[part]]
        Z, gaps = _standardize(block)
        yield Z, gaps.astype(np.float64) if gaps.any() else None


def _standardize(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of mean 0 and deviation 1, 0 where values are missing; constant ones are 0."""
    gaps = np.isnan(block)
    known = np.maximum(len(block) - gaps.sum(axis=0), 1)
    filled = np.where(gaps, 0.0, block)
    Z = np.where(gaps, 0.0, filled - filled.sum(axis=0) / known)
    size = np.abs(Z).max(axis=0, initial=0.0)
    Z /= np.where(size > 0, size, 1.0)
    scale = np.sqrt(np.square(Z).sum(axis=0) / known)
    varies = size > 1e-12 * np.abs(filled).max(axis=0, initial=0.0)
    return np.where(varies, Z / np.where(scale > 0, scale, 1.0), 0.0), gaps


def _dense(product: Any) -> np.ndarray:
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def _spread(total: int, most: int) -> np.ndarray:
    """At most so many of 0..total-1, evenly spread."""
    return np.unique(np.linspace(0, total - 1, min(total, most)).astype(np.intp))


def _chances(X: Any, pairs: np.ndarray, first: np.ndarray) -> np.ndarray:
    """How likely two rows that have nothing to do with each other are as near as each pair."""
    if not len(pairs):
        return np.zeros(0)
    columns, rows = _spread(X.shape[1], SAMPLE), first[_spread(first.size, SAMPLE)]
    sample = _values(X, rows, columns)
    one, other = (_values(X, pairs[:, side], columns) for side in (0, 1))
    rarity = _rarity(sample, one, other)
    i, j = np.sort(np.random.default_rng(0).integers(len(sample), size=(2, SAMPLE)), axis=0)
    known = pairs @ [X.shape[0], 1]
    usual_pairs = (i < j) & ~np.isin(rows[i] * X.shape[0] + rows[j], known)
    usual = _rarity(sample, sample[i[usual_pairs]], sample[j[usual_pairs]])
    mean, variance = (usual.mean(), usual.var()) if usual.size else (0.0, 0.0)
    if variance == 0:
        return np.ones(len(pairs))
    near = stats.gamma.sf(rarity, mean**2 / variance, scale=variance / mean)
    Z = _standardize(sample)[0]
    gram = Z @ Z.T
    # the share of the columns that are independent: 1 if none is correlated, 1 / p if all are
    share = np.trace(gram) ** 2 / np.square(gram).sum() / np.count_nonzero(Z.any(axis=0))
    equal = np.exp(-rarity * share)
    return np.where(np.any(np.abs(one - other) > 0, axis=1), near, equal)


def _rarity(sample: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Sums over columns of -log q for pairs of rows, q the share of rows as near to the first.

    A column in which one of them has no value says nothing.
    """
    distance = np.abs(one - other)
    differ = np.any(distance > 0, axis=1)
    rarity = np.zeros(len(one))
    for j in range(sample.shape[1]):
        known = np.sort(sample[~np.isnan(sample[:, j]), j])
        low = np.searchsorted(known, one[:, j] - distance[:, j], side="left")
        high = np.searchsorted(known, one[:, j] + distance[:, j], side="right")
        # the row itself counts, the other does not: it is what is asked about
        share = np.maximum(high - low - differ, 1) / max(known.size, 1)
        rarity -= np.where(np.isnan(distance[:, j]), 0.0, np.log(np.minimum(share, 1.0)))
    return rarity


def _values(X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    part = X[rows]
    return _dense(part[:, columns])


def describe_row_copies(
    copies: RowCopies, groups: np.ndarray | None, names: Sequence[str] | None
) -> list[str]:
    """What a user should know about copies that no group keeps together; how they were sought.

    Rows without names are numbered from 1.
    """
    n, apart, is_near, notes = copies.groups.size, copies.pairs, copies.is_near, []
    if groups is not None:
        own = groups[apart[:, 0]] != groups[apart[:, 1]]
        apart, is_near = apart[own], is_near[own]
    if len(apart):
        rows = counted(np.unique(apart).size, "row")
        some = "equal, or nearly so" if is_near.any() else "equal"
        kind = "nearly equal" if is_near.all() else some
        labels = range(1, n + 1) if names is None else [repr(name) for name in names]
        shown = [f"{labels[i]} and {labels[j]}" for i, j in apart[:MAX_NAMED].tolist()]
        more = ", and so on" if len(apart) > MAX_NAMED else ""
        known = "" if groups is None else ", and the groups do not keep them together"
        option = "groups=es.copy_groups(X" + (")" if groups is None else ", groups)")
        notes.append(
            f"{rows} are copies of each other ({kind}){known}: {', '.join(shown)}{more}. With one "
            "in a training part and its copy in the test part the error comes out too small. Keep "
            f"copies together: {option}, or --group-copies on the command line."
        )
    if n > MAX_ROWS:
        notes.append(
            f"Rows that are equal were looked for, not rows that are nearly equal: there are more "
            f"than {MAX_ROWS:,}."
        )
    return notes
