"""``fit --proof``: a file that shows what is proved of the selected set, beside the model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from ._outputs import PROOF, WrittenProof
from .certify import ask_proof, check_provable

if TYPE_CHECKING:
    from ..studies.result import Study
    from ._tables import StudyTable


def check_proof_wanted(table: StudyTable, options: dict[str, Any]) -> None:
    """Refuse before the work what no proof can be written of."""
    from scipy import sparse

    check_provable(options)
    if options["balanced"]:
        raise click.UsageError(
            "--balanced does not go with --proof: a proof is about samples that all count alike."
        )
    if sparse.issparse(table.X):
        raise click.UsageError(
            "--proof needs a dense table, and the numbers of this file are stored as a sparse one."
        )


def write_proof(
    path: Path, out: Path, table: Path, read: StudyTable, study: Study, options: dict[str, Any]
) -> WrittenProof:
    """Write the proof for the selected set, about the table as its file has it."""
    from ..estimators.sparse_lda import SparseLDA
    from ..pencil.budget import Budget
    from ..pencil.constraints import as_constraints
    from ..search.proof.proof import prove_known
    from ..tables.builders import lda_problem

    inner, known = study.final_estimator.estimator_, study.solution
    is_own = isinstance(inner, SparseLDA)
    shrinkage, ridge = (inner.shrinkage_, inner.ridge) if is_own else ("auto", 0.0)
    include, exclude = (inner.include, inner.exclude) if is_own else ((), ())
    limits = as_constraints(inner.constraints) if is_own else None
    pencil = lda_problem(read.X, read.y, shrinkage, ridge, names=read.names).pencil
    request = ask_proof(path, table, study.source.target, read, options)
    with common.progress_bar() as progress:
        budget = Budget(options["time_limit"], callback=common.show_search(progress))
        shown = prove_known(pencil, known, include, exclude, budget, request, limits)
    constrained = len(include) + len(exclude) > 0 or limits is not None
    words, whole = (common.describe_bound(each, constrained) for each in (shown, known))
    command = shlex.join(["eigensieve", "check-proof", str(out / PROOF), str(table)])
    return WrittenProof(shown, None if words == whole else words, command)
