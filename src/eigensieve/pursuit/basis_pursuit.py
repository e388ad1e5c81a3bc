"""`basis_pursuit`: the door to the simplex, the row-sparse method and the Bregman iteration.

None of them is a solver of pencils, so none declares a ``SOLVER``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator

from ..errors import InputError, OptionError
from ..pencil.budget import Budget, Callback
from ..pencil.checks import check_choice, check_number
from .bregman import check_bregman, enough_mu, solve_bregman
from .pursuit_columns import Pursue, pursue_by_columns
from .row_pursuit import solve_row_sparse
from .simplex import solve_simplex
from .solution import PENALTIES, Answer, OrthonormalForm, PursuitSolution, judge

RANK_TOL = 1e-12
METHODS = ("simplex", "bregman")
BREGMAN: dict[str, Any] = {"mu": "auto", "delta": 0.9, "tau": 1.0, "tol": 1e-5, "max_iter": 20_000}


def basis_pursuit(
    A: ArrayLike,
    b: ArrayLike,
    *,
    penalty: str = "l1",
    solver: str = "simplex",
    rank_tol: float = RANK_TOL,
    time_limit: float | None = None,
    callback: Callback | None = None,
    **solver_options: Any,
) -> PursuitSolution:
    """Basis pursuit: the x with Ax = b whose norm is least, with a certificate.

    Parameters
    ----------
    A : array (m, p)
        Usually m < p; rows may be dependent if b agrees.
    b : array (m,) or (m, q)
    penalty : "l1" or "l21"
        The sum of all ``|x_ij|``, every column of b for itself; or, for several columns, the sum of
        the lengths of the rows of x: the columns then share their non-zero rows.
    solver : "simplex" or "bregman"
        Exact; with "l21" its vertices start an interior-point method. Or the accelerated linearized
        Bregman iteration, an approximation, for "l1" only.
    rank_tol : float
        Singular values of A (rows scaled to length 1) below this share of the largest are zero.
    time_limit : seconds
        What "simplex" has then satisfies Ax = b, and has a valid bound; see ``residual`` for
        "bregman".
    callback : called with progress events
    **solver_options : of "bregman"
        mu ("auto": just above the threshold from which the limit is exact), delta, tau (tau * delta
        <= 1), tol (of ``|Ax - b| / |b|``), max_iter.

    Returns
    -------
    PursuitSolution

    Notes
    -----
    With "l1" no column of x has more than rank(A) non-zeros. The minimum may be attained by several
    x; of identical columns the first is used.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> A = np.random.default_rng(0).normal(size=(20, 100))
    >>> hidden = np.zeros(100)
    >>> hidden[[3, 50]] = 1.0, -2.0
    >>> found = es.basis_pursuit(A, A @ hidden)
    >>> found.support.tolist(), found.x[found.support].round(10).tolist()
    ([3, 50], [1.0, -2.0])
    >>> found.is_certified
    True
    """
    budget = Budget(time_limit, callback=callback)
    matrix, target = _check_data(A, b)
    columns = target.reshape(len(target), -1)
    check_number(rank_tol, "rank_tol", 0.0, 0.1, "a number in [0, 0.1]")
    form = OrthonormalForm.of(matrix, columns, rank_tol)
    with budget.interruptible():
        answer = pursue(form.rows, form.target, penalty, solver, budget, solver_options)
    x, y = answer.x.reshape(matrix.shape[1], *target.shape[1:]), form.back @ answer.y
    solution = judge(matrix, target, x, y.reshape(target.shape), penalty, solver, answer.stopped)
    return replace(solution, n_iter=answer.n_iter, seconds=budget.seconds)


def _check_data(A: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    if sparse.issparse(A) or isinstance(A, LinearOperator):
        raise InputError("A must be a dense array; toarray() makes one of a sparse matrix")
    matrix, target = _to_real(A), _to_real(b)
    if matrix.ndim != 2 or target.ndim not in (1, 2) or len(matrix) != len(target):
        raise InputError(
            f"A has shape {matrix.shape} and b {target.shape}; need (m, p) and (m,) or (m, q)"
        )
    if 0 in matrix.shape or 0 in target.shape:
        raise InputError(f"A has shape {matrix.shape} and b {target.shape}: nothing to solve")
    if not (np.isfinite(matrix).all() and np.isfinite(target).all()):
        raise InputError("A or b contains NaN or infinity")
    return matrix, target


def _to_real(values: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(values)
        real = np.array(array.real, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"A and b must hold numbers only: {error}") from error
    if np.iscomplexobj(array):
        raise InputError("A and b must be real; stack real and imaginary parts")
    return real


def check_method(penalty: Any, solver: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the solver, complete; an error for what does not go together."""
    check_choice(penalty, "penalty", PENALTIES)
    check_choice(solver, "solver", METHODS)
    if solver == "bregman" and penalty != "l1":
        raise OptionError(f"solver 'bregman' is for penalty 'l1', not {penalty!r}; use 'simplex'")
    known = BREGMAN if solver == "bregman" else {}
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise OptionError(
            f"solver {solver!r} has no option {', '.join(unknown)}; "
            f"it has {', '.join(known) if known else 'none'}"
        )
    complete = {**known, **options}
    if complete:
        check_bregman(**complete)
    return complete


def pursue(
    rows: Any,
    target: np.ndarray,
    penalty: str,
    solver: str,
    budget: Budget,
    options: dict[str, Any],
) -> Answer:
    """x (p, q) of least norm with rows x = target, for orthonormal rows (g, p): array or factor."""
    options = check_method(penalty, solver, options)
    in_memory = isinstance(rows, np.ndarray)
    if solver == "bregman" and not in_memory:
        raise OptionError(
            "solver 'bregman' needs a dense table in memory; use 'simplex', which is exact"
        )
    if solver == "bregman" and options["mu"] != "auto":
        return solve_bregman(rows, target, budget, **options)
    find: Pursue = solve_simplex if penalty == "l1" else _pursue_rows
    if solver == "bregman":
        find = partial(_iterate, options=options)

    def find_in_memory(rows: np.ndarray, target: np.ndarray, budget: Budget) -> Answer:
        unit = float(np.abs(target).max(initial=0.0)) or 1.0  # squares must not vanish
        answer = find(rows, target / unit, budget)
        return replace(answer, x=answer.x * unit)

    if in_memory:
        return find_in_memory(rows, target, budget)
    return pursue_by_columns(rows, target, penalty, budget, find_in_memory)


def _iterate(
    rows: np.ndarray, target: np.ndarray, budget: Budget, options: dict[str, Any]
) -> Answer:
    """The Bregman iteration with the mu that the exact answer asks for, and the exact dual."""
    exact = solve_simplex(rows, target, budget)
    if exact.stopped is not None:
        return exact
    mu = enough_mu(rows, exact, options["delta"])
    return replace(solve_bregman(rows, target, budget, **{**options, "mu": mu}), y=exact.y)


def _pursue_rows(rows: np.ndarray, target: np.ndarray, budget: Budget) -> Answer:
    """The row-sparse x; its norm does not change if the columns of the target are rotated.

    They are rotated to as few as the target's rank: of one column the norm is the l1 norm.
    """
    left, sizes, turn = linalg.svd(target, full_matrices=False)
    rank = max(1, int(np.count_nonzero(sizes > RANK_TOL * sizes.max(initial=0.0))))
    few = left[:, :rank] * sizes[:rank]
    answer = solve_simplex(rows, few, budget)
    if rank > 1 and answer.stopped is None:
        first = answer.n_iter
        answer = solve_row_sparse(rows, few, answer.x, budget)
        answer = replace(answer, n_iter=first + answer.n_iter)
    return replace(answer, x=answer.x @ turn[:rank], y=answer.y @ turn[:rank])
