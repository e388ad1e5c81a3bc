"""What users give to penalised optimal scoring: penalties, a price per feature, and a ridge."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from ..errors import OptionError
from ..pencil.checks import asymmetry, check_choice, check_number

SOLVERS = ("auto", "working-set", "dual", "variational")
ALPHAS = 0.5 ** (np.arange(15) / 2)  # 1 to 1/128
SMALLEST = 1e-9  # alpha that can be asked for
# A matrix with eigenvalues below minus this share of its largest entry is not semidefinite.
NEGATIVE = 1e-10


def check_method(solver: Any, tol: Any) -> float:
    """The tolerance, if it and the solver are ones that can be asked for."""
    check_choice(solver, "solver", SOLVERS)
    return check_number(tol, "tol", 1e-15, 0.1, "a number from 1e-15 to 0.1")


def check_alpha(alpha: Any, name: str = "alpha") -> float:
    """A penalty as a share of lambda_max that leaves something."""
    allowed = f"at least {SMALLEST:g} and below 1, at which no feature is used"
    return check_number(alpha, name, SMALLEST, 1.0 - SMALLEST, allowed)


def check_alphas(alphas: ArrayLike | None) -> np.ndarray:
    """Shares of lambda_max, descending."""
    if alphas is None:
        return ALPHAS.copy()
    wrong = OptionError(
        f"alphas is {alphas!r}; it must list numbers from {SMALLEST:g} to 1, such as [0.5, 0.1]"
    )
    try:
        shares = np.array(alphas, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise wrong from None
    if shares.ndim != 1 or shares.size == 0 or not np.all((shares >= SMALLEST) & (shares <= 1)):
        raise wrong
    return np.sort(shares)[::-1].copy()


def check_weights(weights: Any, spread: np.ndarray) -> np.ndarray:
    """One positive weight per feature; "std": its standard deviation, 1 for constant columns."""
    if weights is None:
        return np.broadcast_to(1.0, spread.shape)  # no memory, however many there are
    if isinstance(weights, str) and weights == "std":
        return np.where(spread > 0, np.sqrt(spread), 1.0)
    wrong = OptionError(
        f"weights is {reprlib.repr(weights)}; it must be None, 'std' or {spread.size} positive "
        "numbers"
    )
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if w.shape != spread.shape or not np.all((w > 0) & np.isfinite(w)):
        raise wrong
    return w


def check_ridge(ridge: Any, p: int, n: int) -> Any:
    """n times the ridge: a diagonal (p,), or a symmetric semidefinite matrix (p, p)."""
    if np.ndim(ridge) == 0 and not sparse.issparse(ridge):
        number = check_number(ridge, "ridge", 0.0, 1e150, "a number >= 0, or a matrix")
        return np.full(p, n * number)
    if sparse.issparse(ridge):
        matrix = ridge.tocsr().astype(np.float64)
        finite = bool(np.isfinite(matrix.data).all())
    else:
        try:
            matrix = np.array(ridge, dtype=np.float64)
        except (TypeError, ValueError):
            raise OptionError("ridge must be a number >= 0, or a matrix of numbers") from None
        finite = bool(np.isfinite(matrix).all())
    if matrix.shape != (p, p):
        raise OptionError(
            f"ridge has shape {matrix.shape}; it must be a number, or a matrix with a row and a "
            f"column per feature, {(p, p)}; for differences D give D.T @ D"
        )
    if not finite:
        raise OptionError("ridge has NaN or infinity in it")
    size = float(abs(matrix).max())
    if asymmetry(matrix) > 0:
        raise OptionError("ridge is not symmetric; for differences D give D.T @ D")
    matrix = (matrix + matrix.T) / 2
    if size > 0 and not _is_semidefinite(matrix / size):
        raise OptionError(
            "ridge has negative eigenvalues: it must be positive semidefinite; for differences D "
            "give D.T @ D"
        )
    return n * (matrix.tocsr() if sparse.issparse(matrix) else matrix)


def _is_semidefinite(matrix: Any) -> bool:
    """By the pivots of an elimination without row exchanges, a little above singular."""
    if not sparse.issparse(matrix):
        moved = matrix + NEGATIVE * np.eye(len(matrix))
        return int(linalg.lapack.dpotrf(moved, lower=True)[1]) == 0
    moved = (matrix + NEGATIVE * sparse.eye_array(matrix.shape[0])).tocsc()
    try:
        factors = splu(
            moved,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # a pivot is zero
        return False
    return bool(np.all(factors.U.diagonal() > 0))
