"""Q-alpha as a scikit-learn selector."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ..errors import InputError, OptionError
from ..pencil.budget import Budget
from ..pencil.checks import as_seed, check_choice, check_number
from ..pencil.solution import Status
from ..q_alpha.ascent import ascend
from ..q_alpha.null import QAlphaNull, compare_with_permuted
from ..q_alpha.options import QAlphaOptions
from ..q_alpha.problem import check_null_fits, make_family, make_rows
from ..q_alpha.qalpha import check_classes
from ..q_alpha.weight_cut import CUTS, count_relevant
from ..tables.kinds.arrays import is_device_array, like, namespace
from ..tables.kinds.big_table import BigTable
from ..tables.kinds.frames import plain_frame
from ..tables.kinds.opening import as_big_table
from ..tables.operators.scaling import working_dtype
from ._callbacks import WatchedFit
from ._shared import clip_k, warn_or_reraise
from ._validation import take_labels, validate_table

# weights that agree in so many digits of the largest are equal: those of copies need not be alike
DIGITS = {"float64": 10, "float32": 5}


class QAlphaSelector(WatchedFit, SelectorMixin, BaseEstimator):
    """Features on which the samples cluster, by spectral weights (Wolf & Shashua 2005).

    Maximises trace(Q'A^2 Q), A = sum_i alpha_i m_i m_i' (m_i is feature i, centred and of unit
    norm), over orthonormal Q (n_samples, n_clusters) and weights alpha of unit norm: the weights
    that make the samples fall into ``n_clusters`` coherent clusters. No labels are needed; with
    them, variant="supervised" looks for coherent classes. The cost is linear in the number of
    features. scipy.sparse tables are never filled in, float32 stays float32. Tables that do not fit
    (memory-mapped, dask, zarr, HDF5, parquet) are read in blocks: wide ones twice in a cycle of
    single steps, tall ones twice in all. Arrays of torch and cupy are used on their device
    (variants standard, basic and supervised).

    Parameters
    ----------
    n_features_to_select : int or "auto"
        "auto": as many as ``cut`` says.
    n_clusters : int, default 2
        Not used by variant "supervised".
    variant : str
        "standard" (the paper's power-embedded method), "basic" (exact Q in every cycle), "ritz"
        (the same weights as standard, at twice the cost; Q ordered), "laplacian" (features scaled
        but not centred; near chance on most planted features, for comparison only), "gap" (the
        leading eigenvalues against the others), "supervised" (needs y).
    kernel : None, "linear", "poly", "rbf", "block", a function or "precomputed"
        A kernel between *features*: relations of higher order. A function gets two arrays
        (features, samples) and gives the matrix; for "precomputed", fit gets the matrix (features,
        features). For variant "standard" (and "ritz", which is the same).
    kernel_params : dict, optional
        poly: degree = 2, coef0 = 0; rbf: gamma = 1; block: size = 8 (squared inner products over
        sessions of so many successive samples, added up). Any: landmarks (Nystroem map).
    eigensolver : str
        How the weights are found in each cycle: "lanczos"; "gram" (a matrix of
        n_samples x n_clusters rows); "single-step" (one step of the power method, which climbs as
        steadily and is by far the fastest). "auto": "lanczos" for small tables (up to 200,000
        entries x clusters), else "single-step".
    n_init : int or "auto"
        Starts, of which the best counts: the first from the singular vectors of the table, the
        others at random. "auto": the first, and the best of 60 random ones after a few single
        steps (variants without single steps: 6 starts). Large tables (5,000,000 entries x
        clusters; 500,000 without single steps): the first only.
    offset : float or "auto"
        Added to every feature, in units of its deviation, before it is scaled. "auto": 0.5 for
        variant "supervised", where it is needed if the class means differ (0 if only their
        spreads or correlations do); else 0.
    gamma, k_within, k_between : variant "supervised"
        The weight of the affinities between classes, and how many eigenvectors count within and
        between classes.
    center, scale : bool, or "auto" for center
        Whether features are centred (all variants but laplacian) and scaled to unit norm.
    cut : "otsu", "ratio", "energy" or "null"
        With n_features_to_select="auto": the best split of the weights into two groups; the largest
        ratio of successive weights; the fewest with a share ``energy`` of the sum of squares; those
        that pass the permuted-features null at a false discovery rate of 5 %.
    energy : float, default 0.9
    n_permutations : int, default 0
        Runs beside permuted copies of all features, which give ``null_``: each costs about twice
        the fit. The profile of the weights is no evidence by itself: that of noise is as sparse.
    weight : bool, default False
        transform returns all columns, as they are given, times their weights, instead of the
        selected columns: scale them before. ``support_`` and ``get_support`` do not change.
    tol, max_iter : a start ends when alpha moves by at most tol in a cycle
    time_limit : seconds for all of the fit; the best so far is kept, with a warning
    random_state : seed of the random starts, permutations and landmarks; None is 0
    device : "cuda", "cuda:1" or "cpu", where to compute (by torch); None: where X is

    Attributes
    ----------
    alpha_ : array (n_features,), the weights: unit norm, mostly >= 0; 0 for constant features
    support_ : mask (n_features,) of the selected features
        Those with the largest weights; with cut="null", those that pass.
    Q_ : array (n_samples, n_clusters), orthonormal
        A dict from pairs of classes to arrays for "supervised"; None with a kernel.
    objective_ : what was maximised
    n_iter_, converged_ : cycles of the best start, and whether they came to rest
    null_ : QAlphaNull with p_values and the band of the curve, or None without permutations
    cut_ : how the number of features was decided: one of the cuts, or "given"
    solution_ : QAlphaSolution, with the history of the objective
    selected_features_ : names (or indices) of the selected features, in column order
    n_clusters_ : n_clusters, at most the number of rows and columns; None for "supervised"
    eigensolver_, n_init_ : as used
    classes_ : labels, for "supervised"; else None
    n_samples_ : None for kernel="precomputed"
    n_features_in_, feature_names_in_

    Notes
    -----
    Among copies of a relevant feature the weight is shared, none is left out: the selected set is
    relevant, not minimal. To cluster the samples on it, see `eigensieve.spectral_clusters`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve import QAlphaSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 500))
    >>> X[:20, :10] += 3                                  # ten columns tell two groups apart
    >>> selector = QAlphaSelector(n_clusters=2, n_permutations=5, random_state=0).fit(X)
    >>> selector.selected_features_.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> bool(selector.null_.p_values[:10].max() < 0.01)
    True
    >>> selector.transform(X).shape
    (40, 10)
    """

    def __init__(
        self,
        n_features_to_select: int | str = "auto",
        *,
        n_clusters: int = 2,
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
        cut: str = "otsu",
        energy: float = 0.9,
        n_permutations: int = 0,
        weight: bool = False,
        tol: float = 1e-4,
        max_iter: int = 100,
        time_limit: float | None = None,
        random_state: Any = None,
        device: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.variant = variant
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.eigensolver = eigensolver
        self.n_init = n_init
        self.offset = offset
        self.gamma = gamma
        self.k_within = k_within
        self.k_between = k_between
        self.center = center
        self.scale = scale
        self.cut = cut
        self.energy = energy
        self.n_permutations = n_permutations
        self.weight = weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: ArrayLike | None = None) -> QAlphaSelector:
        """Find the weights, and the features that have large ones.

        X : table (n_samples, n_features)
            Dense, scipy.sparse, memory-mapped, of dask, zarr, h5py, anndata or pyarrow (parquet),
            or an array of torch or cupy.
        """
        options = self._check_options()
        with self._watched(X, y):
            budget = Budget(self.time_limit, callback=self._tasks)
            data, code = self._take_data(X, y, options)
            k = None if self._is_auto() else clip_k(self.n_features_to_select, self.n_features_in_)
            most = min(data.shape)
            self.n_clusters_ = None if code is not None else min(self.n_clusters, most)
            if code is None and self.n_clusters > most:
                warnings.warn(
                    f"n_clusters is {self.n_clusters}, but the table is {data.shape[0]} x "
                    f"{data.shape[1]}; looking for {most}",
                    UserWarning,
                    stacklevel=2,
                )
            rng = np.random.default_rng(as_seed(self.random_state))
            with budget.interruptible():
                self._weigh(data, code, options, budget, rng)
                ended = budget.stop()
            self._select(k)
            runs = 0 if self.null_ is None else self.null_.n_permutations
            is_cut = runs < self.n_permutations or ended is Status.INTERRUPTED
            status = ended if is_cut else self.solution_.status
            kept = f"alpha (starts: {self.n_init_}, permutations: {runs})"
            if status is Status.ITERATION_LIMIT:
                kept += f"; it is not at rest with max_iter = {self.max_iter}: raise that, or tol"
            warn_or_reraise(status, kept)
            return self

    def transform(self, X: Any) -> Any:
        """The selected columns; with ``weight``, all columns times their weights.

        Those of a table on disk come as an array in memory, those of torch or cupy stay there.
        """
        check_is_fitted(self)
        if is_device_array(X):
            return self._transform_device(X)
        is_array = isinstance(X, np.ndarray)  # a mapped one, too: numpy multiplies it
        if as_big_table(X) is not None and not (self.weight and is_array):
            return self._transform_big(X)
        X = plain_frame(X)
        if not self.weight:
            return super().transform(X)
        table = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        # as the dtype of the table, where that can hold it: float32 stays float32
        alpha = self.alpha_.astype(np.result_type(table.dtype, np.float32), copy=False)
        return table.multiply(alpha).tocsr() if sparse.issparse(table) else table * alpha

    def _transform_device(self, X: Any) -> Any:
        table = validate_table(self, X, reset=False)
        if self.weight:
            return table * like(self.alpha_, table, working_dtype(table))
        return namespace(table).take(table, like(np.flatnonzero(self.support_), table), axis=1)

    def _transform_big(self, X: Any) -> np.ndarray:
        table: BigTable = validate_table(self, X, reset=False)
        if self.weight:
            raise InputError(
                f"X is {table.kind}, and all of its columns times their weights would be as large; "
                "use weight=False, or multiply where it is: X * selector.alpha_"
            )
        chosen = np.flatnonzero(self.support_)
        if not table.is_tall:
            return table.columns(chosen)
        return table.map_rows(lambda block: block[:, chosen])

    def _check_options(self) -> QAlphaOptions:
        names = [field.name for field in fields(QAlphaOptions)]
        options = QAlphaOptions(**{name: getattr(self, name) for name in names})
        check_choice(self.cut, "cut", CUTS)
        check_number(self.energy, "energy", 0.0, 1.0, "a number in [0, 1]")
        number = self.n_permutations
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise OptionError(
                f"n_permutations is {number!r}; it must be a whole number, at least 0"
            )
        wanted = self.n_features_to_select
        if wanted is None or (isinstance(wanted, str) and wanted != "auto"):
            raise OptionError(
                f"n_features_to_select is {wanted!r}; it must be a whole number, at least 1, or "
                "'auto'"
            )
        if not isinstance(self.weight, bool | np.bool_):
            raise OptionError(f"weight is {self.weight!r}; it must be True or False")
        if number == 0 and self.cut == "null" and self._is_auto():
            raise OptionError("cut 'null' needs permutations: n_permutations=20, say")
        if number > 0 and options.is_precomputed:
            raise OptionError("features cannot be permuted in a precomputed kernel matrix")
        return options

    def _is_auto(self) -> bool:
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto"

    def _take_data(self, X: Any, y: Any, options: QAlphaOptions) -> tuple[Any, np.ndarray | None]:
        """The table as it came (float32, mapped, sparse), and the class of every sample."""
        is_matrix = options.is_precomputed
        table = validate_table(
            self, X, reset=True, device=self.device, accept_sparse=not is_matrix, min_samples=2,
            dtype="numeric",
        )  # fmt: skip
        self.classes_, code = None, None
        if options.variant == "supervised":
            labels = take_labels(y, table.shape[0], table)
            self.classes_ = np.unique(labels)
            code = check_classes(labels, table.shape[0], options)
        if getattr(table.dtype, "kind", "f") not in "biuf":
            raise InputError(f"X holds {table.dtype}; it must hold real numbers")
        if is_matrix and table.shape[0] != table.shape[1]:
            raise InputError(
                f"X has shape {table.shape}; with kernel='precomputed' it is the matrix (features, "
                "features)"
            )
        self.n_samples_ = None if is_matrix else table.shape[0]
        return table, code

    def _weigh(
        self,
        data: Any,
        code: np.ndarray | None,
        options: QAlphaOptions,
        budget: Budget,
        rng: np.random.Generator,
    ) -> None:
        self.null_: QAlphaNull | None = None
        rows = make_rows(data, options, code)
        if self.n_permutations > 0:
            check_null_fits(rows, options)
        found = ascend(make_family(rows, options, code, rng), options, budget, rng)
        if self.n_permutations > 0 and budget.stop() is None:
            self.null_ = compare_with_permuted(
                rows, code, options, self.n_permutations, budget, rng
            )
        self.solution_ = found
        self.alpha_, self.Q_, self.objective_ = found.alpha, found.Q, found.objective
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.eigensolver_, self.n_init_ = found.eigensolver, found.n_starts
        if self.classes_ is not None:
            names = self.classes_.tolist()
            self.Q_ = {(names[g], names[h]): Q for (g, h), Q in found.Q.items()}

    def _select(self, k: int | None) -> None:
        """The largest weights, k or as many as the cut says; of equal ones the first."""
        p = self.n_features_in_
        self.cut_ = self.cut if k is None else "given"
        if k is None and self.cut == "null":
            self.support_ = self._find_significant()
        else:
            if k is None:
                k = count_relevant(self.alpha_, self.cut, float(self.energy))
            self.support_ = np.zeros(p, dtype=bool)
            # constant features, the only ones at exactly 0, come after negative weights
            ranked = np.lexsort((-_round(self.alpha_), self.alpha_ == 0))
            self.support_[ranked[:k]] = True
        names = getattr(self, "feature_names_in_", np.arange(p))
        self.selected_features_ = names[self.support_]

    def _find_significant(self) -> np.ndarray:
        if self.null_ is None:  # time was over: a warning says so
            return np.zeros(self.n_features_in_, dtype=bool)
        found = self.null_.passing()
        if not found.any():
            warnings.warn(
                "no feature passes the permuted-features null: none is selected",
                UserWarning,
                stacklevel=4,
            )
        return found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that transform gives."""
        if not self.weight:
            return super().get_feature_names_out(input_features)
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Zeros where columns were left out; not for weighted columns, some of which are lost."""
        if self.weight:
            raise InputError("weight=True: columns with weight 0 cannot be restored")
        return super().inverse_transform(X)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_matrix = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse, tags.input_tags.pairwise = not is_matrix, is_matrix
        tags.target_tags.required = self.variant == "supervised"
        return tags


def _round(alpha: np.ndarray) -> np.ndarray:
    return np.round(alpha / np.abs(alpha).max(), DIGITS[alpha.dtype.name])
