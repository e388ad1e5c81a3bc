"""Class statistics: counts, means and the within-class scatter, mergeable.

``a + b`` is the statistics of the rows of both: chunks of a file, workers of a
cluster and ``partial_fit`` all meet here. The within-class scatter is kept as
p x p sums of squares for tall data (in all, or class by class: moments.py) and as
residual rows R (scatter = R'R) for wide data, where p x p would not fit.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..errors import InputError, OptionError
from ..pencil.checks import check_labels, check_number
from ..pencil.magnitudes import ROUND_OFF
from .dense_statistics import centre_dense
from .kinds.arrays import is_device_array, to_numpy
from .kinds.big_table import BLOCK_ENTRIES, BigTable
from .kinds.frames import plain_frame
from .moments import ClassMoments, Part, check_features, merge_moments
from .operators.any_rows import row_products, row_squares, scale_rows
from .operators.centred_rows import stack_rows
from .sparse_statistics import centre_sparse

# Up to this many features p x p is small whatever the number of rows.
DENSE_FEATURES = 500

# The forms that hold sums over the rows, of some size whatever the number of rows.
SUMS = ("gram", "grams", "moments")
FORMS = ("auto", "rows", *SUMS)

# What each class counts: None as its samples, "balanced" all alike, or a weight per class.
ClassWeight = Mapping[Any, float] | str | None
# Weights of classes further apart than this say nothing, and their squares would vanish.
LARGEST_WEIGHT = 1e30


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
    rows : array (m, p), RowFactor (of sparse data), device array, or None
        Residual rows R with R'R = within-class sum of squares (wide data).
    gram : array (p, p) or None
        The within-class sum of squares itself (tall data).
    row_class : array (m,) or None
        The index of the class that each of ``rows`` belongs to.
    shares : array (K,) or None
        What each class counts where that is not its frequency: see `weighted`.
    moments : ClassMoments or None
        The sum of squares class by class, with higher moments or without (tall data).

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
    rows: Any
    gram: np.ndarray | None
    row_class: np.ndarray | None = None
    shares: np.ndarray | None = None
    moments: ClassMoments | None = None

    @classmethod
    def from_data(cls, X: Any, y: ArrayLike, *, form: str = "auto") -> ClassStats:
        """Statistics of data (n, p) with labels (n,).

        Parameters
        ----------
        X : array, scipy.sparse matrix, array of torch or cupy, or `BigTable` (see `from_table`)
        y : labels
        form : what is kept of the scatter within the classes
            "rows": the residuals of all samples.
            "gram": p x p, the sum over the classes.
            "grams": p x p of each class, so that classes can be weighted.
            "moments": those and third and fourth moments, (2K + 1) p^2 numbers in all, so that
            the shrinkage "auto" is exact after merging, too.
            "auto": gram if p <= max(n, 500), else rows.
        """
        if isinstance(X, BigTable):
            return cls.from_table(X, y, form=form)
        data, labels = _check_data(X, y)
        n, p = data.shape
        if form not in FORMS:
            raise InputError(f"form is {form!r}; it must be one of {', '.join(FORMS)}")
        if form == "auto":
            form = "gram" if p <= max(n, DENSE_FEATURES) else "rows"
        if form in ("grams", "moments") and not isinstance(data, np.ndarray):
            check_features(p)
            blocks = _dense_blocks(data)
            own = (cls.from_data(block, labels[where], form=form) for where, block in blocks)
            return reduce(operator.add, own)
        classes, code = np.unique(labels, return_inverse=True)
        counts = np.bincount(code, minlength=classes.size)
        centre: Any = centre_sparse if sparse.issparse(data) else centre_dense
        means, tails, rows = centre(data, code, counts)
        if form == "rows":
            return cls(classes, counts, means, tails, rows, None, code)
        if form == "gram":
            return cls(classes, counts, means, tails, None, row_products(rows))
        moments = ClassMoments.from_rows(rows, code, classes.size, higher=form == "moments")
        return cls(classes, counts, means, tails, None, None, moments=moments)

    @classmethod
    def from_table(cls, table: BigTable, y: ArrayLike, *, form: str = "gram") -> ClassStats:
        """Statistics of a table that is read in blocks of rows, in one pass.

        What is in memory is one block and p x p for each class and moment, see `from_data`: for
        tall tables of up to 20,000 features.

        Parameters
        ----------
        table : BigTable
        y : labels, in memory
        form : "gram", "grams" or "moments"
        """
        labels = np.asarray(y)
        if labels.shape != (table.shape[0],):
            raise InputError(f"X has shape {table.shape} and y {labels.shape}; need (n, p), (n,)")
        if form not in SUMS:
            raise InputError(
                f"form is {form!r}; for {table.kind} it must be one of {', '.join(SUMS)}"
            )
        check_features(table.shape[1])
        classes, code = np.unique(labels, return_inverse=True)
        code = code.astype(np.min_scalar_type(classes.size - 1))
        stats = table.reduce_rows(BlockStats(code, form), operator.add)
        return replace(stats, classes=classes)

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
        if self.rows is None and self.moments is None:
            raise InputError(
                "class_weight needs the scatter of each class, and these statistics hold the sum "
                "over the classes; make them with form='rows' or 'grams', or give X and y"
            )
        return replace(self, shares=shares_of_classes(class_weight, self.classes, self.counts))

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
        if self.moments is not None:
            return self.moments.pooled_variance(self._class_scale()) / self.n_samples
        if self.shares is not None and isinstance(self.rows, np.ndarray):
            # three operands: no second copy of wide data
            weights = np.square(self.row_scale())
            return np.einsum("i,ij,ij->j", weights, self.rows, self.rows) / self.n_samples
        return row_squares(self.weighted_rows()) / self.n_samples

    def within_scatter(self) -> np.ndarray:
        """The within-class scatter as p x p (divisor n)."""
        if self.gram is not None:
            return self.gram / self.n_samples
        if self.moments is not None:
            return self.moments.pooled(self._class_scale()) / self.n_samples
        return row_products(self.weighted_rows()) / self.n_samples

    def weighted_rows(self) -> Any:
        """``rows``, as they are or (weighted classes) each times its factor."""
        if self.shares is None:
            return self.rows
        return scale_rows(self.rows, self.row_scale())

    def row_scale(self) -> np.ndarray:
        """Factors (m,) that make ``rows`` the residual rows of the weighted classes."""
        assert self.row_class is not None
        return np.sqrt(self._class_scale())[self.row_class]

    def _class_scale(self) -> np.ndarray:
        """What the squares of each class count in the sum over the classes: 1 if unweighted."""
        return self.priors * self.n_samples / self.counts

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
        merged = ClassStats(classes, counts, means, (ma - means) + step, None, None)
        root = np.sqrt(na * nb / counts)[:, None]
        delta[:, merged._round_off(np.abs(root * delta).max(axis=0))] = 0.0
        if self.moments is not None and other.moments is not None:
            places = (np.searchsorted(classes, part.classes) for part in (self, other))
            shifts = -(nb / counts)[:, None] * delta, (na / counts)[:, None] * delta
            each = zip((self.moments, other.moments), places, (na, nb), shifts)
            return replace(merged, moments=merge_moments([Part(*one) for one in each]))
        shift = root * delta
        if self._has_host_rows() and other._has_host_rows():
            both = (na > 0) & (nb > 0)
            own = _row_classes(self, classes), _row_classes(other, classes), np.flatnonzero(both)
            rows = stack_rows([self.rows, other.rows, shift[both]])
            return replace(merged, rows=rows, row_class=np.concatenate(own))
        return replace(merged, gram=self._sums() + other._sums() + shift.T @ shift)

    def _has_host_rows(self) -> bool:
        return self.rows is not None and not is_device_array(self.rows)

    def _sums(self) -> np.ndarray:
        return self.within_scatter() * self.n_samples


def check_classes(classes: np.ndarray, n_samples: int) -> None:
    """Raise unless there are two classes, and two samples of one of them."""
    if classes.size < 2:
        raise InputError(
            f"y has one class only ({str(classes[0])!r}); LDA needs at least two classes"
        )
    if n_samples <= classes.size:
        raise InputError(
            "every class has one sample only, so there is no within-class scatter; "
            "at least one class needs two samples"
        )


class BlockStats:
    """The statistics of a block of rows, as a function that can be sent to a worker."""

    def __init__(self, code: np.ndarray, form: str, start: int = 0) -> None:
        self.code, self.form, self.start = code, form, start

    def __call__(self, where: slice, block: np.ndarray) -> ClassStats:
        own = self.code[where.start - self.start : where.stop - self.start]
        return ClassStats.from_data(block, own, form=self.form)

    def of_rows(self, where: slice) -> BlockStats:
        """The same function for these rows only: it carries no labels but theirs."""
        return BlockStats(self.code[where], self.form, where.start)


def _check_data(X: Any, y: ArrayLike) -> tuple[Any, np.ndarray]:
    is_dense = not (sparse.issparse(X) or is_device_array(X))
    data, labels = np.asarray(plain_frame(X)) if is_dense else X, to_numpy(y)
    if data.ndim != 2 or labels.shape != (data.shape[0],):
        shapes = f"X has shape {tuple(data.shape)} and y {labels.shape}"
        raise InputError(f"{shapes}; need (n, p) and (n,)")
    if 0 in data.shape:
        raise InputError(f"X has shape {tuple(data.shape)}: no rows, or no columns")
    check_labels(labels)
    return data, labels


def _dense_blocks(X: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of a sparse matrix, or of a device array, as blocks of some 32 MB."""
    source = X.tocsr() if sparse.issparse(X) else X
    step = max(1, BLOCK_ENTRIES // X.shape[1])
    for start in range(0, X.shape[0], step):
        where = slice(start, start + step)
        yield where, source[where].toarray() if sparse.issparse(X) else to_numpy(source[where])


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


def shares_of_classes(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
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
