"""eigensieve: exactly k features out of thousands, and a small model on them.

The public names live here and are loaded on first use (PEP 562), so that
``import eigensieve`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .studies.page import Reported as _Reported

try:  # written when the package is built or installed, from git's tags
    from ._version import __version__
except ImportError:  # a source tree that is only on the path
    __version__ = "0.0"

_HOME = {
    "Pencil": "pencil.pencil",
    "FactorPencil": "pencil.factor_pencil",
    "Solution": "pencil.solution",
    "SolutionPath": "pencil.solution",
    "Status": "pencil.solution",
    "ClassStats": "tables.statistics",
    "UncorrelatedFamily": "pursuit.uncorrelated",
    "pca_pencil": "tables.builders",
    "lda_pencil": "tables.builders",
    "cca_pencil": "tables.view_builders",
    "renormalize": "search.moves",
    "inclusion_bounds": "search.exact.inclusion",
    "basis_pursuit": "pursuit.basis_pursuit",
    "PursuitSolution": "pursuit.solution",
    "ScoringProblem": "scoring.scoring",
    "GroupLassoSolution": "scoring.solution",
    "gloss_path": "estimators.gloss_path",
    "GlossPath": "scoring.gloss",
    "qalpha": "q_alpha.qalpha",
    "QAlphaSolution": "q_alpha.solution",
    "QAlphaNull": "q_alpha.null",
    "solve": "search.solve",
    "solve_path": "search.solve",
    "available_solvers": "search.solve",
    "dc_path": "search.relaxed.dc",
    "DcPath": "search.relaxed.dc",
    "certify": "search.certify",
    "check_proof": "proofs.checker",
    "Verdict": "proofs.verdict",
    "Certificate": "search.certificate",
    "near_optimal": "search.near_optimal.near_optimal",
    "NearOptimalSets": "search.near_optimal.sets",
    "PenalizedLDA": "estimators.penalized_lda",
    "GroupLassoLDA": "estimators.group_lasso_lda",
    "GroupLassoLDACV": "estimators.group_lasso_lda_cv",
    "QAlphaSelector": "estimators.qalpha_selector",
    "spectral_clusters": "estimators.clustering",
    "SparseCCA": "estimators.sparse_cca",
    "PermutationTest": "estimators._permutation",
    "RankedLDA": "estimators.ranked",
    "SparseLDA": "estimators.sparse_lda",
    "SparseOptimalScoring": "estimators.sparse_optimal_scoring",
    "SparsePCA": "estimators.sparse_pca",
    "SparseUncorrelatedLDA": "estimators.sparse_uncorrelated_lda",
    "UncorrelatedLDA": "estimators.uncorrelated_lda",
    "PreparedClassifier": "studies.prepared",
    "load_model": "io.model",
    "save_model": "io.model",
    "to_onnx": "io.onnx_export",
    "study": "studies.run:run_study",
    "Study": "studies.result",
    "copy_groups": "studies.data",
    "compare": "studies.comparison:compare_methods",
    "Comparison": "studies.comparison",
}

_MODULES = ("errors", "pl", "tl")  # es.errors.InputError; es.tl and es.pl are for AnnData

__all__ = ["__version__", "pl", "tl", *_HOME]

if TYPE_CHECKING:
    from . import pl, tl
    from .estimators._permutation import PermutationTest
    from .estimators.clustering import spectral_clusters
    from .estimators.gloss_path import gloss_path
    from .estimators.group_lasso_lda import GroupLassoLDA
    from .estimators.group_lasso_lda_cv import GroupLassoLDACV
    from .estimators.penalized_lda import PenalizedLDA
    from .estimators.qalpha_selector import QAlphaSelector
    from .estimators.ranked import RankedLDA
    from .estimators.sparse_cca import SparseCCA
    from .estimators.sparse_lda import SparseLDA
    from .estimators.sparse_optimal_scoring import SparseOptimalScoring
    from .estimators.sparse_pca import SparsePCA
    from .estimators.sparse_uncorrelated_lda import SparseUncorrelatedLDA
    from .estimators.uncorrelated_lda import UncorrelatedLDA
    from .io.model import load_model, save_model
    from .io.onnx_export import to_onnx
    from .pencil.factor_pencil import FactorPencil
    from .pencil.pencil import Pencil
    from .pencil.solution import Solution, SolutionPath, Status
    from .proofs.checker import check_proof
    from .proofs.verdict import Verdict
    from .pursuit.basis_pursuit import basis_pursuit
    from .pursuit.solution import PursuitSolution
    from .pursuit.uncorrelated import UncorrelatedFamily
    from .q_alpha.null import QAlphaNull
    from .q_alpha.qalpha import qalpha
    from .q_alpha.solution import QAlphaSolution
    from .scoring.gloss import GlossPath
    from .scoring.scoring import ScoringProblem
    from .scoring.solution import GroupLassoSolution
    from .search.certificate import Certificate
    from .search.certify import certify
    from .search.exact.inclusion import inclusion_bounds
    from .search.moves import renormalize
    from .search.near_optimal.near_optimal import near_optimal
    from .search.near_optimal.sets import NearOptimalSets
    from .search.relaxed.dc import DcPath, dc_path
    from .search.solve import available_solvers, solve, solve_path
    from .studies.comparison import Comparison
    from .studies.comparison import compare_methods as compare
    from .studies.data import copy_groups
    from .studies.prepared import PreparedClassifier
    from .studies.result import Study
    from .studies.run import run_study as study
    from .tables.builders import lda_pencil, pca_pencil
    from .tables.statistics import ClassStats
    from .tables.view_builders import cca_pencil


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'eigensieve' has no attribute {name!r}")
    module, _, own_name = _HOME[name].partition(":")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), own_name or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _write_page(result: Study | Comparison, path: str, title: str | None) -> None:
    """The report of a result: it lies above the studies, so that only the face may join the two."""
    from .report import write_comparison_report, write_study_report
    from .studies.result import Study

    if isinstance(result, Study):
        write_study_report(result, path, title=title)
    else:
        write_comparison_report(result, path, title=title)


_Reported._write = _write_page
