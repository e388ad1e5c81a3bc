"""Tools for AnnData: results are written into the object, by scanpy's conventions.

>>> import eigensieve as es
>>> es.tl.__all__[:3]
['certify', 'get_model', 'gloss']
"""

from __future__ import annotations

from .annotated.certificates import certify
from .annotated.components import sparse_cca, sparse_pca
from .annotated.discriminants import gloss, sparse_lda
from .annotated.near_optimal import near_optimal
from .annotated.paths import sparse_lda_path
from .annotated.prediction import get_model, predict
from .annotated.selection import qalpha

__all__ = [
    "certify",
    "get_model",
    "gloss",
    "near_optimal",
    "predict",
    "qalpha",
    "sparse_cca",
    "sparse_lda",
    "sparse_lda_path",
    "sparse_pca",
]
