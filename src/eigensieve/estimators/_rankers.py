"""The classical filters and wrappers, from scikit-learn: features in order, best first.

Every ranker takes a table (n, p), its labels and a seed, and gives all p columns in order. Columns
are standardised first, so that their scales do not matter; constant ones come last; of equal scores
the first column's comes first. Of a sparse table the standardised columns are `CentredRows`, or
the ranker scores its columns as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.svm import SVC, LinearSVC

from ..pencil.factor_pencil import dense_rows, take_columns
from ..pencil.row_factor import RowFactor, weighted_gram
from ..q_alpha.qalpha import qalpha as find_weights
from ..tables.column_statistics import class_means
from ..tables.operators.centred_rows import CentredRows
from ..tables.statistics import ClassStats

Rank = Callable[[Any, np.ndarray, int], np.ndarray]
Ranker = Callable[..., np.ndarray]

# A variance within the classes that is a smaller share of the whole is round-off in an F value.
PERFECT = 1e-12
# Scores that agree in so many digits are equal: BLAS need not give copies of a column the same.
DIGITS = 12
MAX_LIBSVM_ROWS = 1000  # libsvm takes minutes for a ranking with more
ONE_BY_ONE = 60  # from so many features on SVM-RFE drops one a round; before, a tenth
L1_STEPS, L1_RATIO = 40, 1.15  # penalties of the l1 path, and the ratio of neighbours
MAX_STEPS = 10**7  # of liblinear: never needed, so that it has nothing to warn of
L1_SLACK = 1.01  # how far the optimality conditions of features left out may be off


def _ranker(rank: Rank) -> Ranker:
    """A function of the columns that vary, standardised, as one of a table and its labels."""
    return _ranker_with(rank)(rank)


def _ranker_with(of_sparse: Rank) -> Callable[[Rank], Ranker]:
    """The same with another function for sparse tables, of the columns as they are."""

    def decorate(rank: Rank) -> Ranker:
        @wraps(rank)
        def ranked(X: Any, y: ArrayLike, random_state: int | None = None) -> np.ndarray:
            code, seed = np.unique(y, return_inverse=True)[1], random_state or 0
            some, Z = (standardize_sparse if sparse.issparse(X) else _standardize)(X)
            rest = np.setdiff1d(np.arange(X.shape[1]), some)
            if some.size == 0:
                return rest
            if isinstance(Z, RowFactor) and of_sparse is not rank:
                order = of_sparse(X.tocsc()[:, some], code, seed)
            else:
                order = rank(Z, code, seed)
            return np.concatenate([some[order], rest])

        return ranked

    return decorate


def _standardize(X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the columns that vary, and these at mean 0 and variance 1."""
    data = np.asarray(X, dtype=np.float64)
    some = np.flatnonzero(data.max(axis=0) > data.min(axis=0))
    Z = data[:, some]
    if some.size:
        Z -= Z.mean(axis=0)
        Z -= Z.mean(axis=0)  # the second pass removes the round-off of a large common offset
        Z /= Z.std(axis=0)
    return some, Z


def descending(scores: np.ndarray) -> np.ndarray:
    """The largest first; of equal ones the first."""
    mantissa, exponent = np.frexp(scores)
    return np.argsort(-np.ldexp(np.round(mantissa, DIGITS), exponent), kind="stable")


def _indicators(code: np.ndarray) -> np.ndarray:
    """(n, m): +1 for the rows of one class, -1 for the rest; one column for two classes."""
    n_classes = int(code.max()) + 1
    targets = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.where(np.equal.outer(code, targets), 1.0, -1.0)


@_ranker
def pearson(Z: Any, code: np.ndarray, seed: int) -> np.ndarray:
    """|correlation| with the class; several classes: the largest with one against the rest."""
    Y = _indicators(code)
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    return descending(np.abs(Z.T @ Y).max(axis=1) / len(Z))


def _anova_of_sparse(X: Any, code: np.ndarray, seed: int) -> np.ndarray:
    return descending(f_values(X, code, PERFECT))


@_ranker_with(_anova_of_sparse)
def anova(Z: np.ndarray, code: np.ndarray, seed: int) -> np.ndarray:
    """F of a one-way analysis of variance."""
    rest = Z - class_means(Z, code)[code]
    imperfect = np.square(rest).mean(axis=0) > PERFECT
    scores = np.full(Z.shape[1], np.inf)
    if imperfect.any():
        scores[imperfect] = f_classif(Z[:, imperfect], code)[0]
    return descending(scores)


def _snr_of_sparse(X: Any, code: np.ndarray, seed: int) -> np.ndarray:
    ratios = [_sparse_signal_to_noise(X, signs > 0, PERFECT) for signs in _indicators(code).T]
    return descending(np.max(ratios, axis=0))


@_ranker_with(_snr_of_sparse)
def signal_to_noise(Z: np.ndarray, code: np.ndarray, seed: int) -> np.ndarray:
    """|m1 - m2| / (s1 + s2) (Golub et al. 1999); several classes: the largest of one against
    the rest. The deviations are those with divisor n, so that a class may have one sample.
    """
    best = np.zeros(Z.shape[1])
    for signs in _indicators(code).T:
        one, rest = Z[signs > 0], Z[signs < 0]
        signal, noise = np.abs(one.mean(0) - rest.mean(0)), one.std(0) + rest.std(0)
        noise[noise <= np.sqrt(PERFECT)] = 0.0
        ratio = np.divide(signal, noise, out=np.full_like(signal, np.inf), where=noise > 0)
        best = np.maximum(best, ratio)
    return descending(best)


@_ranker
def svm_rfe(Z: Any, code: np.ndarray, seed: int) -> np.ndarray:
    """Recursive elimination by the squared weights of a linear SVM (Guyon et al. 2002).

    The SVMs are libsvm's, C = 1, class against class (from 1,000 rows on liblinear's, which are
    one class against the rest). A tenth of the features is dropped a round, below 60 one by one.
    """
    alive, dropped = np.arange(Z.shape[1]), []
    while alive.size > 1:
        order = descending(_svm_weights(Z, code))
        few = alive.size <= ONE_BY_ONE
        drop = 1 if few else max(1, min(alive.size // 10, alive.size - ONE_BY_ONE))
        dropped.append(alive[order[-drop:]])
        keep = np.sort(order[:-drop])
        alive, Z = alive[keep], take_columns(Z, keep)
    return np.concatenate([alive, *dropped[::-1]])


def _svm_weights(Z: Any, code: np.ndarray) -> np.ndarray:
    """Squared weights of the features, summed over the pairs of classes."""
    if len(Z) > MAX_LIBSVM_ROWS:
        samples = dense_rows(Z, f"ranker 'svm-rfe' with more than {MAX_LIBSVM_ROWS:,} samples")
        svm = LinearSVC(dual=False, max_iter=MAX_STEPS).fit(samples, code)
        return np.square(svm.coef_).sum(axis=0)
    by_gram = isinstance(Z, RowFactor) or Z.shape[1] > len(Z)
    kernel = "precomputed" if by_gram else "linear"
    svm = SVC(kernel=kernel).fit(weighted_gram(Z) if by_gram else Z, code)
    # libsvm: the rows of a class come together, each with a multiplier per other class
    ends = np.cumsum(svm.n_support_)
    rows = [slice(end - size, end) for end, size in zip(ends, svm.n_support_)]
    pairs = list(combinations(range(ends.size), 2))
    multipliers = np.zeros((len(pairs), len(Z)))
    for multiplier, (i, j) in zip(multipliers, pairs):
        multiplier[svm.support_[rows[i]]] = svm.dual_coef_[j - 1, rows[i]]
        multiplier[svm.support_[rows[j]]] = svm.dual_coef_[i, rows[j]]
    return np.square(multipliers @ Z).sum(axis=0)


@_ranker
def l1(Z: Any, code: np.ndarray, seed: int) -> np.ndarray:
    """The order in which features enter a linear SVM as its l1 penalty falls.

    min |w|_1 + C sum_i max(0, 1 - y_i f(x_i))^2, one class against the rest, for 40 values of C,
    or until as many features as samples have entered. Those that enter together come by |weight|,
    those that never do last, by |gradient|.
    """
    Y = _indicators(code)
    pull = _pull(Z, Y, 0.0)
    # from here on something is left of a model: of the features, or of the intercept
    penalty = max(float(pull.max()), 2.0 * float(np.abs(Y.sum(axis=0)).max()))
    entered, size = np.full(Z.shape[1], L1_STEPS), np.zeros(Z.shape[1])
    for step in range(L1_STEPS):
        before, penalty = penalty, penalty / L1_RATIO
        # the strong rule (Tibshirani et al. 2012): gradients change no faster than the penalty
        used = (pull >= 2 * penalty - before) | (entered < L1_STEPS)
        weights, pull = _fit_l1(Z, code, Y, penalty, used, pull, seed)
        fresh = (weights > 0) & (entered == L1_STEPS)
        entered[fresh], size[fresh] = step, weights[fresh]
        if np.count_nonzero(entered < L1_STEPS) >= len(Z):
            break
    never = entered == L1_STEPS
    size[never] = pull[never]
    return np.lexsort((-size, entered))


def _fit_l1(
    Z: Any, code: np.ndarray, Y: np.ndarray, penalty: float,
    used: np.ndarray, pull: np.ndarray, seed: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Largest |weight| and |gradient| of every feature over the classes, at the optimum.

    Starts from the features in ``used``, and lets in those that turn out to be wanted.
    """
    weights = np.zeros(Z.shape[1])
    while used.any():
        columns = Z[:, used]
        svm = LinearSVC(
            penalty="l1",
            dual=False,
            C=1.0 / penalty,
            tol=1e-3,
            max_iter=MAX_STEPS,
            random_state=seed,
        ).fit(columns, code)
        weights[used] = np.abs(svm.coef_).max(axis=0)
        pull = _pull(Z, Y, columns @ svm.coef_.T + svm.intercept_)
        missed = (pull > L1_SLACK * penalty) & ~used
        if not missed.any():
            break
        used = used | missed
    return weights, pull


def _pull(Z: Any, Y: np.ndarray, scores: Any) -> np.ndarray:
    """The largest |gradient| of the loss for every feature, at C = 1."""
    slack = np.maximum(0.0, 1.0 - Y * scores)
    return 2.0 * np.abs(Z.T @ (Y * slack)).max(axis=1)


def _qalpha_of_sparse(X: Any, code: np.ndarray, seed: int) -> np.ndarray:
    n_clusters = min(int(code.max()) + 1, *X.shape)
    found = find_weights(X, n_clusters, center=True, random_state=seed)
    return order_by_alpha(found.alpha)


@_ranker_with(_qalpha_of_sparse)
def qalpha(Z: np.ndarray, code: np.ndarray, seed: int) -> np.ndarray:
    """Q-alpha's weights (Wolf & Shashua 2005) for as many clusters as classes; no label is used."""
    n_clusters = min(int(code.max()) + 1, *Z.shape)
    return order_by_alpha(find_weights(Z, n_clusters, random_state=seed).alpha)


def order_by_alpha(alpha: np.ndarray) -> np.ndarray:
    """The largest weight first; constant features, the only ones at exactly 0, last."""
    return np.lexsort((-alpha, alpha == 0))


RANKERS: dict[str, Ranker] = {
    "pearson": pearson,
    "anova": anova,
    "snr": signal_to_noise,
    "svm-rfe": svm_rfe,
    "l1": l1,
    "qalpha": qalpha,
}


def standardize_sparse(X: Any) -> tuple[np.ndarray, CentredRows | np.ndarray]:
    """Indices of the columns that vary, and these at mean 0 and variance 1, on paper.

    As an array where they are few.
    """
    stats = ClassStats.from_data(X, np.zeros(X.shape[0], dtype=np.int8), form="rows")
    deviations = np.sqrt(stats.within_variance())
    varies = deviations > 0
    scaled = stats.rows / np.where(varies, deviations, 1.0)
    return np.flatnonzero(varies), scaled.take(np.flatnonzero(varies))


def f_values(X: Any, code: np.ndarray, perfect: float) -> np.ndarray:
    """F of a one-way analysis of variance; inf if less than a share varies within the classes."""
    stats = ClassStats.from_data(X, code, form="rows")
    n, K = stats.n_samples, stats.classes.size
    between, within = np.square(stats.between_factor()).sum(axis=0), stats.within_variance()
    scores = np.full(between.size, np.inf)
    use = within > perfect * (between + within)
    scores[use] = (between[use] / (K - 1)) / (within[use] / (n - K))
    return scores


def _sparse_signal_to_noise(X: Any, member: np.ndarray, perfect: float) -> np.ndarray:
    """|m1 - m2| / (s1 + s2) of the rows of a class (a mask) and the rest."""
    stats = ClassStats.from_data(X, member, form="rows")
    signal = np.abs((stats.means[1] - stats.means[0]) + (stats.tails[1] - stats.tails[0]))
    parts = [stats.rows.of_rows(np.flatnonzero(own)) for own in (member, ~member)]
    noise = sum(np.sqrt(part.squares() / len(part)) for part in parts)
    total = stats.within_variance() + np.square(stats.between_factor()).sum(axis=0)
    use = noise > np.sqrt(perfect * total)
    return np.divide(signal, noise, out=np.full_like(signal, np.inf), where=use)
