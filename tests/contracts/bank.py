"""A bank of small problems that every solver must survive."""

from __future__ import annotations

import numpy as np

import eigensieve as es


def problem_bank() -> dict[str, es.Pencil]:
    """Pencils of every kind, small enough for brute force."""
    rng = np.random.default_rng(0)
    X, y2, y4 = rng.normal(size=(24, 9)), np.arange(24) % 2, np.arange(24) % 4
    twins = np.hstack([X[:, :5], X[:, :4]])
    near = twins.copy()
    near[:, 5:] += 1e-7 * rng.normal(size=(24, 4))
    flat = X.copy()
    flat[:, [2, 6]] = 0.1
    integers = rng.integers(-2, 3, size=(9, 9)).astype(float)
    factor = es.FactorPencil(rng.normal(size=(2, 9)), rng.normal(size=(4, 9)), np.full(9, 0.3))
    return {
        "pca": es.pca_pencil(X),
        "two classes": es.lda_pencil(X, y2, shrinkage=0.3),
        "four classes": es.lda_pencil(X, y4, shrinkage=0.3),
        "no shrinkage": es.lda_pencil(X, y2, shrinkage=0.0),
        "singular within scatter": es.lda_pencil(X[:6], y2[:6], shrinkage=0.0),
        "diagonal": es.lda_pencil(X, y4, shrinkage=1.0),
        "factors": factor,
        "duplicates": es.lda_pencil(twins, y4, shrinkage=0.4),
        "near duplicates": es.lda_pencil(near, y4, shrinkage=0.1),
        "constant columns": es.lda_pencil(flat, y2, shrinkage=0.3),
        "scales": es.lda_pencil(X * np.geomspace(1e-8, 1e8, 9), y4, shrinkage=0.3),
        "ties": es.Pencil(integers @ integers.T, np.eye(9)),
        "indefinite": es.Pencil(integers + integers.T, np.eye(9) + 0.5),
        "two views": es.cca_pencil(X[:, :5], X[:, 5:], shrinkage=0.2),
        "zero A": es.Pencil(np.zeros((4, 4)), np.diag([1.0, 2.0, 3.0, 4.0])),
        "one feature": es.Pencil([[2.0]], [[4.0]]),
        "tall": es.lda_pencil(np.vstack([X] * 3) + rng.normal(size=(72, 9)), np.arange(72) % 3),
    }
