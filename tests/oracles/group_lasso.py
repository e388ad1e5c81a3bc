"""Group-lasso optimal scoring by the textbook: dense matrices, a cone solver, scikit-learn.

    minimise  1/2 |T - FB|^2 + 1/2 tr B'RB + lambda sum_j w_j |beta_j|

Nothing here knows `ScoringProblem`: scatter matrices are sums of outer products, scores come from a
singular value decomposition of the indicators. Scores are unique up to a rotation of their columns,
and B with them: compare BB', or turn one into the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
from scipy import linalg, sparse
from sklearn.linear_model import MultiTaskLasso

Data = tuple[np.ndarray, np.ndarray]
SURE = 1e-9


def random_classes(
    rng: np.random.Generator, counts: tuple[int, ...], p: int, shift: float = 1.0
) -> Data:
    """Normal samples, classes of these sizes; their means differ in half of the columns."""
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    means = shift * rng.normal(size=(len(counts), p)) * (rng.random(p) < 0.5)
    means[:, 0] = shift * np.arange(len(counts))
    return rng.normal(size=(y.size, p)) + means[y] + 2.0, y


def second_differences(p: int) -> sparse.csr_array:
    """D'D with D the second differences of p neighbours: a ridge that asks for smooth rows."""
    D = sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(p - 2, p))
    return sparse.csr_array(D.T @ D)


def scatters(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S_w and S_b (p, p), divisor n."""
    p = X.shape[1]
    within, between, centre = np.zeros((p, p)), np.zeros((p, p)), X.mean(axis=0)
    for label in np.unique(y):
        part = X[y == label]
        rest, shift = part - part.mean(axis=0), part.mean(axis=0) - centre
        within += rest.T @ rest / len(X)
        between += len(part) / len(X) * np.outer(shift, shift)
    return within, between


def scores(y: np.ndarray) -> np.ndarray:
    """Orthonormal (n, K - 1), constant within the classes, of mean zero."""
    indicators = np.equal.outer(y, np.unique(y)).astype(float)
    left, _, _ = linalg.svd(indicators - indicators.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, :-1])


@dataclass(frozen=True)
class Regression:
    """F (r, p), T (r, q), R (p, p), w (p,)."""

    F: np.ndarray
    T: np.ndarray
    R: np.ndarray
    w: np.ndarray

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        *,
        within: str = "full",
        ridge: Any = 0.0,
        weights: Any = None,
    ) -> Regression:
        """The problem of these data; ``weights`` and ``ridge`` as `ScoringProblem` takes them."""
        n, p = X.shape
        centred, E = X - X.mean(axis=0), scores(y)
        R = n * dense(ridge, p)
        w = np.ones(p) if weights is None else weights
        w = centred.std(axis=0) if isinstance(w, str) else np.asarray(w, dtype=float)
        if within == "full":
            return cls(centred, E, R, w)
        within_scatter, _ = scatters(X, y)
        return cls(E.T @ centred, np.eye(E.shape[1]), R + n * np.diag(np.diag(within_scatter)), w)

    @property
    def lambda_max(self) -> float:
        """Above it zero is the answer."""
        return float((np.linalg.norm(self.F.T @ self.T, axis=1) / self.w).max())

    def objective(self, B: np.ndarray, penalty: float) -> float:
        """What is minimised."""
        smooth = np.sum((self.T - self.F @ B) ** 2) + np.trace(B.T @ self.R @ B)
        return float(0.5 * smooth + penalty * self.w @ np.linalg.norm(B, axis=1))

    def slope(self, B: np.ndarray) -> np.ndarray:
        """Minus the gradient of the smooth part."""
        return np.asarray(self.F.T @ (self.T - self.F @ B) - self.R @ B)

    def violation(self, B: np.ndarray, penalty: float) -> float:
        """The largest violation of an optimality condition, as a share of lambda w_j."""
        worst = 0.0
        for slope, row, t in zip(self.slope(B), B, penalty * self.w, strict=True):
            if row.any():
                off = float(np.linalg.norm(slope - t * row / np.linalg.norm(row)))
            else:
                off = max(0.0, float(np.linalg.norm(slope)) - t)
            worst = max(worst, off / t)
        return worst

    def bound(self, B: np.ndarray, penalty: float) -> float:
        """Of the dual, max <T, r> - |r|^2 / 2 with |column_j'r| <= lambda w_j: r from B, scaled."""
        columns, target = self.stacked()
        r = target - columns @ B
        reach = float((np.linalg.norm(columns.T @ r, axis=1) / (penalty * self.w)).max())
        r = r / max(1.0, reach)
        return float(np.sum(target * r) - 0.5 * np.sum(r * r))

    def stacked(self) -> Data:
        """[F; root of R] and [T; 0]: the same problem without R."""
        values, vectors = linalg.eigh(self.R)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return np.vstack([self.F, root]), np.vstack([self.T, np.zeros((len(root), len(self.T.T)))])

    def surely(self, B: np.ndarray, penalty: float) -> bool:
        """Whether the bound proves B."""
        value = self.objective(B, penalty)
        return value - self.bound(B, penalty) <= SURE * value


def dense(ridge: Any, p: int) -> np.ndarray:
    if sparse.issparse(ridge):
        return np.asarray(ridge.toarray())
    return np.asarray(ridge, dtype=float) if np.ndim(ridge) else float(ridge) * np.eye(p)


def least_by_cone(problem: Regression, penalty: float) -> np.ndarray:
    """B by second-order cones s_j >= |beta_j|, proved by the bound, whatever clarabel says."""
    p, q = problem.F.shape[1], problem.T.shape[1]
    G = problem.F.T @ problem.F + problem.R
    # rows in units in which every feature has curvature 1
    unit = 1.0 / np.sqrt(np.where(np.diag(G) > 0, np.diag(G), 1.0))
    curved = np.kron(G * np.outer(unit, unit), np.eye(q))
    P = sparse.triu(sparse.block_diag([curved, sparse.csc_matrix((p, p))]), format="csc")
    pull = unit[:, None] * (problem.F.T @ problem.T)
    c = np.concatenate([-pull.ravel(), penalty * problem.w * unit])
    select = np.zeros((p, 1 + q, p * q + p))
    for j in range(p):
        select[j, 0, p * q + j] = -1.0
        select[j, 1 + np.arange(q), j * q + np.arange(q)] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for tol in (1e-12, 1e-11, 1e-10, 1e-13, 1e-9):
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        solution = clarabel.DefaultSolver(
            P,
            c,
            sparse.csc_matrix(select.reshape(p * (1 + q), -1)),
            np.zeros(p * (1 + q)),
            [clarabel.SecondOrderConeT(1 + q)] * p,
            settings,
        ).solve()
        B = unit[:, None] * np.array(solution.x[: p * q]).reshape(p, q)
        if problem.surely(B, penalty):
            return B
    raise ArithmeticError("clarabel: no B that the bound proves")


def least_by_sklearn(problem: Regression, penalty: float) -> np.ndarray:
    """B by scikit-learn: rows are stacked for R, columns divided by the weights."""
    columns, target = problem.stacked()
    model = MultiTaskLasso(
        alpha=penalty / len(columns), fit_intercept=False, tol=1e-14, max_iter=100_000
    )
    B = model.fit(columns / problem.w, target).coef_.T / problem.w[:, None]
    if not problem.surely(B, penalty):
        raise ArithmeticError("scikit-learn: a B that the bound does not prove")
    return np.asarray(B)


def least_by_proximal_gradient(problem: Regression, penalty: float) -> np.ndarray:
    """B by accelerated proximal gradient steps, started again whenever they overshoot."""
    step = 1.0 / float(linalg.eigvalsh(problem.F.T @ problem.F + problem.R)[-1])
    B = ahead = np.zeros((problem.F.shape[1], problem.T.shape[1]))
    speed = 1.0
    for iteration in range(200_000):
        moved = ahead + step * problem.slope(ahead)
        lengths = np.linalg.norm(moved, axis=1)
        short = 1.0 - step * penalty * problem.w / np.maximum(lengths, 1e-300)
        new = np.maximum(short, 0.0)[:, None] * moved
        if np.sum((ahead - new) * (new - B)) > 0:
            speed = 1.0
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * speed**2))
        ahead = new + (speed - 1.0) / faster * (new - B)
        B, speed = new, faster
        if iteration % 50 == 0 and problem.surely(B, penalty):
            return B
    raise ArithmeticError("proximal gradient: no B that the bound proves")
