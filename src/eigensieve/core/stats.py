"""Class statistics: counts, means and the within-class scatter, mergeable.

``a + b`` is the statistics of the rows of both: chunks of a file, workers of a
cluster and ``partial_fit`` all meet here. The within-class scatter is kept as
p x p sums of squares for tall data and as residual rows R (scatter = R'R) for
wide data, where p x p would not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..errors import InputError, OptionError
from .checks import check_number

# Residuals below this many units in the last place of a column are round-off: a column that is
# constant (within the classes) must have a variance of exactly zero, not 1e-34.
ROUND_OFF = 16 * np.finfo(np.float64).eps
# Up to this many features p x p is small whatever the number of rows.
DENSE_FEATURES = 500
LARGEST = 1e70
# Weights of classes further apart than this say nothing, and their squares would vanish.
LARGEST_WEIGHT = 1e30

# What each class counts: None as its samples, "balanced" all alike, or a weight per class.
ClassWeight = Mapping[Any, float] | str | None


@dataclass(frozen=True, eq=False)
class ClassStats:
    """Counts, means and within-class scatter of labelled rows.

    Attributes
    ----------
    classes : array (K,), sorted labels
    counts : array (K,)
    means : array (K, p)
    tails : array (K, p)
        What the rounding of ``means`` left out: merging stays exact under a large offset.
    rows : array (m, p) or None
        Residual rows R with R'R = within-class sum of squares (wide data).
    gram : array (p, p) or None
        The within-class sum of squares itself (tall data).
    row_class : array (m,) or None
        The index of the class that each of ``rows`` belongs to.
    shares : array (K,) or None
        What each class counts where that is not its frequency: see `weighted`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import ClassStats
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    >>> whole = ClassStats.from_data(X, y)
    >>> parts = ClassStats.from_data(X[:3], y[:3]) + ClassStats.from_data(X[3:], y[3:])
    >>> bool(np.allclose(whole.within_scatter(), parts.within_scatter()))
    True
    """

    classes: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    tails: np.ndarray
    rows: np.ndarray | None
    gram: np.ndarray | None
    row_class: np.ndarray | None = None
    shares: np.ndarray | None = None

    @classmethod
    def from_data(cls, X: ArrayLike, y: ArrayLike, *, form: str = "auto") -> ClassStats:
        """Statistics of data (n, p) with labels (n,).

        ``form`` is "rows", "gram", or "auto": gram if p <= max(n, 500).
        """
        if sparse.issparse(X):
            raise InputError("X is a sparse matrix; X.toarray() makes an array of it")
        data = np.asarray(X)
        labels = np.asarray(y)
        if data.ndim != 2 or labels.shape != (len(data),):
            raise InputError(f"X has shape {data.shape} and y {labels.shape}; need (n, p) and (n,)")
        if 0 in data.shape:
            raise InputError(f"X has shape {data.shape}: no rows, or no columns")
        classes, code = np.unique(labels, return_inverse=True)
        counts = np.bincount(code, minlength=classes.size)
        means, tails, rows = _centre_by_class(data, code, counts)
        p = data.shape[1]
        if form == "auto":
            form = "gram" if p <= max(len(data), DENSE_FEATURES) else "rows"
        if form == "gram":
            return cls(classes, counts, means, tails, None, rows.T @ rows)
        if form == "rows":
            return cls(classes, counts, means, tails, rows, None, code)
        raise InputError(f"form is {form!r}; it must be 'auto', 'rows' or 'gram'")

    def weighted(self, class_weight: ClassWeight) -> ClassStats:
        """The same statistics with classes that count as ``class_weight`` says.

        A sample of class k counts weight_k: the share pi_k of a class is proportional to
        weight_k n_k, and takes the place of n_k/n in ``priors``, in ``mean`` and in both scatters.

        Parameters
        ----------
        class_weight : None, "balanced" or dict of class: weight > 0
            None is 1 for every class, "balanced" is 1/n_k (all shares alike). A class that the
            dict does not name counts 1.
        """
        if class_weight is None:
            return replace(self, shares=None)
        if self.rows is None:
            raise InputError(
                "class_weight needs the scatter of each class, and these statistics hold the sum "
                "over the classes; make them with form='rows', or give X and y"
            )
        return replace(self, shares=_class_shares(class_weight, self.classes, self.counts))

    @property
    def n_samples(self) -> int:
        """Number of rows seen."""
        return int(self.counts.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.means.shape[1]

    @property
    def priors(self) -> np.ndarray:
        """Class frequencies, or the shares of weighted classes."""
        return self.counts / self.n_samples if self.shares is None else self.shares

    @property
    def mean(self) -> np.ndarray:
        """The mean of all rows (of the class means, by their shares, if weighted)."""
        return self.priors @ self.means

    def within_variance(self) -> np.ndarray:
        """The diagonal of the within-class scatter (divisor n)."""
        if self.gram is not None:
            return np.diag(self.gram) / self.n_samples
        assert self.rows is not None
        if self.shares is not None:  # three operands: no second copy of wide data
            weights = np.square(self.row_scale())
            return np.einsum("i,ij,ij->j", weights, self.rows, self.rows) / self.n_samples
        return np.einsum("ij,ij->j", self.rows, self.rows) / self.n_samples

    def within_scatter(self) -> np.ndarray:
        """The within-class scatter as p x p (divisor n)."""
        if self.gram is not None:
            return self.gram / self.n_samples
        assert self.rows is not None
        rows = self.rows if self.shares is None else self.rows * self.row_scale()[:, None]
        return rows.T @ rows / self.n_samples

    def row_scale(self) -> np.ndarray:
        """Factors (m,) that make ``rows`` the residual rows of the weighted classes."""
        assert self.row_class is not None
        return np.sqrt(self.priors * self.n_samples / self.counts)[self.row_class]

    def between_factor(self) -> np.ndarray:
        """H (c, p), c <= K - 1, with H'H = sum_k pi_k (m_k - m)(m_k - m)', pi = priors."""
        # differences to one class first: equal means then give exact zeros
        shifts = (self.means - self.means[0]) + (self.tails - self.tails[0])
        root = np.sqrt(self.priors)
        H = root[:, None] * (shifts - self.priors @ shifts)
        # root' H = 0: a Householder reflection that maps root to e_1 leaves K - 1 rows
        v = root.copy()
        v[0] += 1.0
        H = H - np.outer(v, (v @ H) * (2.0 / (v @ v)))
        H[:, self._round_off(np.abs(H).max(axis=0))] = 0.0
        return np.ascontiguousarray(H[1:])

    def _round_off(self, size: np.ndarray) -> np.ndarray:
        """Columns of which numbers of this size are round-off."""
        return size <= ROUND_OFF * np.abs(self.means).max(axis=0)

    def __add__(self, other: ClassStats) -> ClassStats:
        if not isinstance(other, ClassStats):
            return NotImplemented
        if self.n_features != other.n_features:
            raise InputError(
                f"cannot merge statistics of {self.n_features} and {other.n_features} features"
            )
        if self.shares is not None or other.shares is not None:
            raise InputError("cannot merge weighted statistics; merge first, then call weighted")
        if (self.classes.dtype.kind in "US") != (other.classes.dtype.kind in "US"):
            raise InputError("cannot merge classes that are text with classes that are numbers")
        classes = np.union1d(self.classes, other.classes)
        na, ma, ta = _spread(self, classes)
        nb, mb, tb = _spread(other, classes)
        counts = na + nb
        # a class that one side has not seen takes no part in the difference
        ma, ta = np.where(na[:, None] > 0, (ma, ta), (mb, tb))
        mb, tb = np.where(nb[:, None] > 0, (mb, tb), (ma, ta))
        delta = (mb - ma) + (tb - ta)
        step = ta + (nb / counts)[:, None] * delta
        means = ma + step
        shift = np.sqrt(na * nb / counts)[:, None] * delta
        merged = ClassStats(classes, counts, means, (ma - means) + step, None, None)
        shift[:, merged._round_off(np.abs(shift).max(axis=0))] = 0.0
        if self.gram is None and other.gram is None:
            assert self.rows is not None
            assert other.rows is not None
            both = (na > 0) & (nb > 0)
            own = _row_classes(self, classes), _row_classes(other, classes), np.flatnonzero(both)
            rows = np.vstack([self.rows, other.rows, shift[both]])
            return replace(merged, rows=rows, row_class=np.concatenate(own))
        return replace(merged, gram=self._sums() + other._sums() + shift.T @ shift)

    def _sums(self) -> np.ndarray:
        return self.within_scatter() * self.n_samples


def _spread(stats: ClassStats, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, means and tails on a larger list of classes (0 where absent)."""
    counts = np.zeros(classes.size, dtype=np.int64)
    means = np.zeros((classes.size, stats.n_features))
    tails = np.zeros_like(means)
    at = np.searchsorted(classes, stats.classes)
    counts[at], means[at], tails[at] = stats.counts, stats.means, stats.tails
    return counts, means, tails


def _row_classes(stats: ClassStats, classes: np.ndarray) -> np.ndarray:
    """The class of each residual row as an index into a larger list of classes."""
    assert stats.row_class is not None
    return np.searchsorted(classes, stats.classes)[stats.row_class]


def _class_shares(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """pi (K,), proportional to weight times count, sum 1."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.full(classes.size, 1.0 / classes.size)
    if not isinstance(class_weight, Mapping):
        raise OptionError(
            f"class_weight is {class_weight!r}; it must be None, 'balanced' or a dict of "
            "class: weight"
        )
    index = {label: i for i, label in enumerate(classes.tolist())}
    weights = np.ones(classes.size)
    for label, weight in class_weight.items():
        if label not in index:
            known = ", ".join(map(repr, index))
            raise InputError(f"class_weight names the class {label!r}; the classes are {known}")
        low, high = 1 / LARGEST_WEIGHT, LARGEST_WEIGHT
        allowed = f"a number > 0 (from {low:.0e} to {high:.0e})"
        weights[index[label]] = check_number(
            weight, f"class_weight of class {label!r}", low, high, allowed
        )
    shares = weights * counts
    return shares / shares.sum()


def refuse_extremes(magnitude: np.ndarray, names: Sequence[str] | None = None) -> None:
    """Squares must neither overflow nor vanish."""
    extreme = (magnitude > LARGEST) | ((magnitude > 0) & (magnitude < 1 / LARGEST))
    if extreme.any():
        j = int(np.argmax(extreme))
        raise InputError(
            f"column {j if names is None else repr(str(names[j]))} has values of size "
            f"{magnitude[j]:.1e}; rescale it: sizes between "
            f"{1 / LARGEST:.0e} and {LARGEST:.0e} are allowed"
        )


def _centre_by_class(
    X: np.ndarray, code: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Class means with their tails (K, p), residuals (n, p); exact zeros for constants."""
    try:
        rows = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold numbers only: {error}") from error
    high, low = rows.max(axis=0), rows.min(axis=0)
    if not (np.isfinite(high).all() and np.isfinite(low).all()):
        raise InputError("X contains NaN or infinity; impute or drop them first")
    magnitude = np.maximum(high, -low)
    refuse_extremes(magnitude)
    member = np.equal.outer(np.arange(counts.size), code) / counts[:, None]
    shifts = []
    for _ in range(2):  # the second pass removes the round-off of a large common offset
        shifts.append(member @ rows)
        _subtract_class_rows(rows, shifts[-1], code)
    means = shifts[0] + shifts[1]
    tails = (shifts[0] - means) + shifts[1]
    # max and min, not abs: no second copy of wide data
    flat = np.maximum(rows.max(axis=0), -rows.min(axis=0)) <= ROUND_OFF * magnitude
    rows[:, flat] = 0.0
    constant = high == low
    means[:, constant], tails[:, constant] = high[constant], 0.0
    return means, tails, rows


def _subtract_class_rows(rows: np.ndarray, shift: np.ndarray, code: np.ndarray) -> None:
    """rows -= shift[code], in blocks: no second copy of wide data."""
    step = max(1, 2**18 // rows.shape[1])
    for start in range(0, len(rows), step):
        rows[start : start + step] -= shift[code[start : start + step]]
