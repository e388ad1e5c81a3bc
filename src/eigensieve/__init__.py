"""eigensieve: exactly k features out of thousands, and a small model on them.

The public names live here and are loaded on first use (PEP 562), so that
``import eigensieve`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:  # written when the package is built or installed, from git's tags
    from ._version import __version__
except ImportError:  # a source tree that is only on the path
    __version__ = "0.0"

_HOME = {
    "Pencil": "core.pencil",
    "FactorPencil": "core.factor_pencil",
    "Solution": "core.solution",
    "SolutionPath": "core.solution",
    "Status": "core.solution",
    "ClassStats": "core.stats",
    "UncorrelatedFamily": "core.uncorrelated",
    "pca_pencil": "core.builders",
    "lda_pencil": "core.builders",
    "cca_pencil": "core.builders",
    "renormalize": "core.moves",
    "inclusion_bounds": "core.inclusion",
    "basis_pursuit": "solvers.pursuit:find_least_norm",  # a solver's file has the public name
    "PursuitSolution": "core.pursuit",
    "ScoringProblem": "core.scoring",
    "GroupLassoSolution": "core.group_lasso",
    "gloss_path": "solvers.gloss",
    "GlossPath": "solvers.gloss",
    "qalpha": "solvers.qalpha:weigh_features",  # a solver's file has the public name
    "QAlphaSolution": "core.qalpha_solution",
    "QAlphaNull": "core.qalpha_null",
    "solve": "solvers.dispatch",
    "solve_path": "solvers.dispatch",
    "available_solvers": "solvers.dispatch",
    "dc_path": "solvers.dc",
    "DcPath": "solvers.dc",
    "certify": "solvers.certificate",
    "check_proof": "proofs.checker",
    "Verdict": "proofs.verdict",
    "Certificate": "solvers.certificate",
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
    "to_onnx": "io.onnx_export",
    "study": "studies.run:run_study",
    "Study": "studies.result",
    "compare": "studies.comparison:compare_methods",
    "Comparison": "studies.comparison",
}

_MODULES = ("errors", "pl", "tl")  # es.errors.InputError; es.tl and es.pl are for AnnData

__all__ = ["__version__", "pl", "tl", *_HOME]

if TYPE_CHECKING:
    from . import pl, tl
    from .core.builders import cca_pencil, lda_pencil, pca_pencil
    from .core.factor_pencil import FactorPencil
    from .core.group_lasso import GroupLassoSolution
    from .core.inclusion import inclusion_bounds
    from .core.moves import renormalize
    from .core.pencil import Pencil
    from .core.pursuit import PursuitSolution
    from .core.qalpha_null import QAlphaNull
    from .core.qalpha_solution import QAlphaSolution
    from .core.scoring import ScoringProblem
    from .core.solution import Solution, SolutionPath, Status
    from .core.stats import ClassStats
    from .core.uncorrelated import UncorrelatedFamily
    from .estimators._permutation import PermutationTest
    from .estimators.clustering import spectral_clusters
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
    from .io.onnx_export import to_onnx
    from .proofs.checker import check_proof
    from .proofs.verdict import Verdict
    from .solvers.certificate import Certificate, certify
    from .solvers.dc import DcPath, dc_path
    from .solvers.dispatch import available_solvers, solve, solve_path
    from .solvers.gloss import GlossPath, gloss_path
    from .solvers.pursuit import find_least_norm as basis_pursuit
    from .solvers.qalpha import weigh_features as qalpha
    from .studies.comparison import Comparison
    from .studies.comparison import compare_methods as compare
    from .studies.prepared import PreparedClassifier
    from .studies.result import Study
    from .studies.run import run_study as study


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
