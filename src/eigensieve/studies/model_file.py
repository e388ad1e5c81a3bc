"""The final model of a study, as its file holds it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..io.model import LinearModel


def make_model(study: Any) -> LinearModel:
    """The selected features and the rule of a `Study`, and where they come from."""
    final, solution = study.final_estimator, study.solution
    source, error = study.source, study.honest_error
    info = {
        "method": study.setting,
        "k": study.best_k,
        "criterion": solution.criterion,
        "shrinkage": getattr(final.estimator_, "shrinkage_", None),
        "solver": solution.solver,
        "status": str(solution.status),
        "objective": solution.objective,
        "bound": _finite_or_none(solution.bound),
        "gap": _finite_or_none(solution.gap),
        "eigensieve": __version__,
        "target": source.target,
        "n_samples": study.n_samples,
        "n_features": len(study.names),
        "seed": source.seed,
        "fingerprint": source.fingerprint,
        "error": None if error is None else asdict(error.estimate),
    }
    if source.layer is not None:
        info["layer"] = source.layer
    if study.unfinished:
        info["unfinished"] = list(study.unfinished)
    return LinearModel.from_estimator(final, study.names, log2_floor=source.log2_floor, info=info)


def _finite_or_none(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None
