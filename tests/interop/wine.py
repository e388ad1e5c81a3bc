"""Wine with labels in words, and every classifier of the package."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_wine

import eigensieve as es

WINE, CODE = load_wine(return_X_y=True, as_frame=True)
Y = CODE.map({0: "barolo", 1: "grignolino", 2: "barbera"})
CLASSIFIERS = {
    "SparseLDA": es.SparseLDA(4, certificate="none"),
    "RankedLDA": es.RankedLDA("anova", 4),
    "GroupLassoLDA": es.GroupLassoLDA(alpha=0.4),
    "GroupLassoLDACV": es.GroupLassoLDACV(alphas=[0.5, 0.3], cv=3),
    "UncorrelatedLDA": es.UncorrelatedLDA(),
    "SparseUncorrelatedLDA": es.SparseUncorrelatedLDA(rule="lda"),
    "PenalizedLDA": es.PenalizedLDA(0.1),
    "SparseOptimalScoring": es.SparseOptimalScoring(alpha=0.3),
    "PreparedClassifier": es.PreparedClassifier(es.SparseLDA(3, certificate="none")),
}


def lda(k: int = 4, **options: Any) -> es.SparseLDA:
    return es.SparseLDA(k, certificate="none", **options)
