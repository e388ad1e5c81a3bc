"""What the experiments of Chu & Zhang share: the gene sets, SULDA and SLDA, the measures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...estimators.sparse_optimal_scoring import SparseOptimalScoring
from ...estimators.sparse_uncorrelated_lda import SparseUncorrelatedLDA
from ...pencil.solution import Status
from ...pursuit.uncorrelated import UncorrelatedFamily
from ..data import half_split, load_set

FILES = {
    "Colon": "colon",
    "Leukemia": "leukemia",
    "Prostate": "prostate",
    "SRBCT": "srbct",
    "Brain": "brain",
}


def read(data: str) -> tuple[np.ndarray, np.ndarray]:
    """A set as it is compared: Colon, which is not logged in the file, in log10."""
    X, y = load_set(FILES[data])
    return (np.log10(X) if data == "Colon" else X), y


def z_scored(X: np.ndarray) -> np.ndarray:
    """Every array (row) with mean 0 and deviation 1, as most of these sets have them."""
    X = X - X.mean(axis=1, keepdims=True)
    return np.asarray(X / X.std(axis=1, keepdims=True))


def read_halves(
    data: str, seed: int, z_score: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X and y of the training samples, X and y of the test samples."""
    X, y = read(data)
    X = z_scored(X) if z_score else X
    train, test = half_split(y, seed)
    return X[train], y[train], X[test], y[test]


def fit_sulda(X: np.ndarray, y: np.ndarray, penalty: str = "l1") -> SparseUncorrelatedLDA:
    """SULDA with 1-NN, exact; the proof of its optimality is recomputed."""
    lda = SparseUncorrelatedLDA(penalty, rule="1-nn").fit(X, y)
    family = UncorrelatedFamily.from_data(X, y)
    lda.solution_.verify(family.rows, family.target)
    return lda


def fit_bregman(
    X: np.ndarray, y: np.ndarray, mu: float, epsilon: float, max_iter: int, relative: bool = False
) -> SparseUncorrelatedLDA:
    """SULDA by the paper's iteration (delta .9, tau 1), until |U'G - C| <= epsilon (times |C|)."""
    size = float(np.linalg.norm(UncorrelatedFamily.from_data(X, y).target))
    tol = epsilon if relative else epsilon / size
    options = {"mu": mu, "delta": 0.9, "tau": 1.0, "tol": tol, "max_iter": max_iter}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it has not converged is counted
        return SparseUncorrelatedLDA(solver="bregman", rule="1-nn", solver_options=options).fit(
            X, y
        )


def has_converged(lda: SparseUncorrelatedLDA) -> bool:
    """Whether the iteration came to its end."""
    return lda.solution_.status in (Status.CONVERGED, Status.OPTIMAL)


def fit_slda(
    X: np.ndarray, y: np.ndarray, sulda: SparseUncorrelatedLDA, ridge: float
) -> SparseOptimalScoring:
    """SLDA with 1-NN, each direction with as many features as SULDA's.

    ``ridge`` is a share of the mean variance of the features.
    """
    sizes = np.count_nonzero(sulda.scalings_, axis=0).tolist()
    units = ridge * float(X.var(axis=0).mean())
    with warnings.catch_warnings():
        # where no penalty gives exactly so many features the nearest number will do
        warnings.filterwarnings("ignore", message=".*no penalty was found", category=UserWarning)
        return SparseOptimalScoring(sizes, ridge=units, rule="1-nn").fit(X, y)


def orthogonality(X: np.ndarray, G: np.ndarray) -> float:
    """|G'S_t G - I| / sqrt(q), Frobenius, S_t = Xc'Xc / n.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve.experiments.chu2013._common import orthogonality
    >>> orthogonality(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([[2.0], [0.0]]))
    3.0
    """
    Z = (X - X.mean(axis=0)) @ G
    q = G.shape[1]
    return float(np.linalg.norm(Z.T @ Z / len(Z) - np.eye(q)) / np.sqrt(q))


def describe(lda: Any, X: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict[str, float]:
    """The four columns of Table 2 for a classifier fitted to X."""
    G = lda.scalings_
    return {
        "accuracy, %": 100.0 * float(np.mean(lda.predict(X_test) == y_test)),
        "sparsity, %": 100.0 * float(np.mean(G == 0)),
        "orthogonality": orthogonality(X, G),
        "variables": float(np.count_nonzero(G.any(axis=1))),
    }
