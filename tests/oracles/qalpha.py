"""Q-alpha (Wolf & Shashua, 2005) by its definitions: dense, slow, with the errata of the notes.

M is features x samples (n, q) and already normalised. Forms over the features are n x n matrices,
`numpy.linalg.eigh` finds their leading eigenvector. After r cycles: the weights of cycle r, Q after
the QR step of cycle r, and the objective of these two. Weights have unit norm and a sum that is not
negative; R of a QR step has a diagonal that is not negative.
"""

from __future__ import annotations

import numpy as np

Blocks = dict[tuple[int, int], np.ndarray]
Result = tuple[np.ndarray, np.ndarray, np.ndarray]
TINY = 1e-12


# -- before the first cycle ------------------------------------------------------------------


def normalize_rows(
    M: np.ndarray, offset: float = 0.0, center: bool = True, scale: bool = True
) -> np.ndarray:
    """Centre, divide by the population's standard deviation, add the offset, to unit norm.

    Constant rows become 0; zero ones alone where they are not centred. Without ``scale`` rows are
    only centred and shifted.
    """
    normal = np.zeros(M.shape)
    for i, row in enumerate(np.asarray(M, dtype=float)):
        new = row - row.mean() if center else row
        deviation = np.sqrt(np.mean(new**2))
        if deviation > TINY * np.abs(row).max():
            new = (new / deviation if scale else new) + offset
            normal[i] = new / np.linalg.norm(new) if scale else new
    return normal


def svd_start(M: np.ndarray, k: int) -> np.ndarray:
    """The k leading right singular vectors."""
    return np.linalg.svd(M)[2][:k].T


def supervised_start(Ms: list[np.ndarray], k_within: int = 2, k_between: int = 1) -> Blocks:
    """Q_gh: the leading right singular vectors of M_g'M_h."""
    return {
        (g, h): svd_start(left.T @ right, k_within if g == h else k_between)
        for g, left in enumerate(Ms)
        for h, right in enumerate(Ms)
    }


def kernel_start(V: np.ndarray, k: int) -> np.ndarray:
    """E with M'E = the k leading right singular vectors, for whatever M has V = MM'."""
    values, vectors = np.linalg.eigh(V)
    return np.asarray(vectors[:, : -k - 1 : -1] / np.sqrt(values[: -k - 1 : -1]))


# -- pieces of a cycle -----------------------------------------------------------------------


def upright(alpha: np.ndarray) -> np.ndarray:
    return -alpha if alpha.sum() < 0 else alpha


def leading(form: np.ndarray) -> np.ndarray:
    """The eigenvector of the largest eigenvalue, by its value and not by its size."""
    return upright(np.linalg.eigh(form)[1][:, -1])


def qr(Z: np.ndarray) -> np.ndarray:
    Q, R = np.linalg.qr(Z)
    return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0))


def form(left: np.ndarray, right: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """G_ij = (l_i.l_j)(r_i'QQ'r_j)."""
    return np.asarray((left @ left.T) * (right @ Q @ Q.T @ right.T))


def affinity(alpha: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The sum of alpha_i l_i r_i'."""
    return np.einsum("i,ia,ib->ab", alpha, left, right)


def energy(A: np.ndarray, Q: np.ndarray) -> float:
    """trace Q'A'AQ."""
    return float(np.trace(Q.T @ A.T @ A @ Q))


def by_size(A: np.ndarray) -> np.ndarray:
    """Eigenvectors of a symmetric matrix by falling absolute value: the criterion has A^2."""
    values, vectors = np.linalg.eigh(A)
    return np.asarray(vectors[:, np.argsort(-np.abs(values), kind="stable")])


# -- the variants ----------------------------------------------------------------------------


def literal_qalpha(M: np.ndarray, Q0: np.ndarray, n_iter: int, variant: str = "standard") -> Result:
    """Definition 2, definition 4 ("ritz"), the basic method, and the gap of section 2.1.

    ritz: Q has the Ritz vectors of the weights computed anew; those of step 2 are returned.
    """
    Q, k, objectives = Q0, Q0.shape[1], []
    for _ in range(n_iter):
        G = form(M, M, Q)
        alpha = leading(2 * G - (M @ M.T) ** 2 if variant == "gap" else G)
        A = affinity(alpha, M, M)
        Q = by_size(A)[:, :k] if variant in ("basic", "gap") else qr(A @ Q)
        if variant == "ritz":
            anew = affinity(leading(form(M, M, Q)), M, M)
            Q = Q @ by_size(Q.T @ anew @ Q)
        value = energy(A, Q)
        objectives.append(2 * value - float(np.sum(A * A)) if variant == "gap" else value)
    return alpha, Q, np.array(objectives)


def literal_single_step(M: np.ndarray, Q0: np.ndarray, n_iter: int) -> Result:
    """Definition 2 with one power step for the eigenvector, from equal weights."""
    Q, objectives = Q0, []
    alpha = np.full(len(M), len(M) ** -0.5)
    for _ in range(n_iter):
        alpha = form(M, M, Q) @ alpha
        alpha = upright(alpha / np.linalg.norm(alpha))
        A = affinity(alpha, M, M)
        Q = qr(A @ Q)
        objectives.append(energy(A, Q))
    return alpha, Q, np.array(objectives)


def laplacians(M: np.ndarray, d: np.ndarray) -> np.ndarray:
    """L_i = m_i m_i' - diag(m_i m_i'1) + d_i I, (n, q, q)."""
    eye = np.eye(M.shape[1])
    return np.array([np.outer(m, m) - np.diag(m * m.sum()) + a * eye for m, a in zip(M, d)])


def literal_laplacian(M: np.ndarray, Q0: np.ndarray, n_iter: int) -> Result:
    """Definition 5; M not centred."""
    Q, objectives = Q0, []
    L = laplacians(M, (M * M.sum(axis=1, keepdims=True)).max(axis=1))
    for _ in range(n_iter):
        LQ = L @ Q
        alpha = leading(np.einsum("iab,jab->ij", LQ, LQ))
        d = affinity(alpha, M, M).sum(axis=1).max() / alpha.sum()
        L = laplacians(M, np.full(len(M), d))
        total = np.einsum("i,iab->ab", alpha, L)
        Q = qr(total @ Q)
        objectives.append(energy(total, Q))
    return alpha, Q, np.array(objectives)


def literal_supervised(
    Ms: list[np.ndarray], Qs: Blocks, gamma: float, n_iter: int
) -> tuple[np.ndarray, Blocks, np.ndarray]:
    """Definition 6: Ms has a matrix for each class, Qs a q_h x k_gh matrix for each (g, h)."""
    sign = {(g, h): 1.0 if g == h else -gamma for g, h in Qs}
    objectives = []
    for _ in range(n_iter):
        G = [sign[g, h] * form(Ms[g], Ms[h], Q) for (g, h), Q in Qs.items()]
        alpha = leading(np.sum(G, axis=0))
        A = {(g, h): affinity(alpha, Ms[g], Ms[h]) for g, h in Qs}
        Qs = {gh: qr((A[gh] if gh[0] == gh[1] else A[gh].T @ A[gh]) @ Q) for gh, Q in Qs.items()}
        objectives.append(sum(sign[gh] * energy(A[gh], Q) for gh, Q in Qs.items()))
    return alpha, Qs, np.array(objectives)


def literal_kernel(V: np.ndarray, E0: np.ndarray, n_iter: int) -> Result:
    """Definition 14 with E <- D V E R^-1; M'E is the Q of the other variants."""
    E, objectives = E0, []
    for _ in range(n_iter):
        H = V @ E
        alpha = leading(V * (H @ H.T))
        Z = np.diag(alpha) @ H
        R = np.linalg.cholesky(Z.T @ V @ Z).T
        E = Z @ np.linalg.inv(R)
        DVE = np.diag(alpha) @ V @ E
        objectives.append(float(np.trace(DVE.T @ V @ DVE)))
    return alpha, E, np.array(objectives)
