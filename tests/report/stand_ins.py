"""What looks like a fitted selector, with a null made up for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from eigensieve.q_alpha.null import QAlphaNull
from eigensieve.report.selector import render_selector_report
from tests.report.pages import text_of

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [SCRIPT, "a&b", "x" * 300, "温度 β ☃", "$x_1$", "bad\x00\x1b\u202ename"]
HOSTILE += ["'; --></style><img src=x onerror=alert(1)>"]
HISTORY = (1.5, 2.25, 2.5)


def draw(rng: np.random.Generator, p: int, k: int, signal: float) -> np.ndarray:
    alpha = np.abs(rng.normal(size=p))
    alpha[:k] += signal
    return alpha / np.linalg.norm(alpha)


def null_of(rng: np.random.Generator, alpha: np.ndarray, n_permutations: int) -> QAlphaNull:
    null = np.sort([draw(rng, alpha.size, 0, 0.0) for _ in range(n_permutations)])[:, ::-1]
    lower, median, upper = np.quantile(null, [0.025, 0.5, 0.975], axis=0)
    reached = null.size - np.searchsorted(np.sort(null, axis=None), alpha)
    p_values = (1 + reached) / (1 + null.size)
    return QAlphaNull(p_values, lower, median, upper, n_permutations, n_unfinished=0)


def make_selector(
    p: int = 60, k: int = 5, *, signal: float = 20.0, n_permutations: int = 20, **changes: Any
) -> SimpleNamespace:
    """What a fitted selector has, its k first features relevant; without a null for 0."""
    rng = np.random.default_rng(0)
    alpha = draw(rng, p, k, signal)
    support = np.zeros(p, dtype=bool)
    support[np.argsort(-alpha, kind="stable")[:k]] = True
    facts: dict[str, Any] = {
        "alpha_": alpha,
        "support_": support,
        "null_": null_of(rng, alpha, n_permutations) if n_permutations else None,
        "n_features_in_": p,
        "n_samples_": 80,
        "n_clusters_": 3,
        "n_permutations": n_permutations,
        "variant": "standard",
        "kernel": "linear",
        "eigensolver_": "lanczos",
        "cut_": "ratio",
        "objective_": HISTORY[-1],
        "n_iter_": len(HISTORY),
        "n_init_": 6,
        "converged_": True,
        "solution_": SimpleNamespace(history=HISTORY, seconds=0.5, status="converged"),
        "get_params": lambda deep=True: {"n_clusters": 3, "random_state": 7, "metric": len},
    }
    return SimpleNamespace(**(facts | changes))


def said_of(selector: Any, **options: Any) -> str:
    return text_of(render_selector_report(selector, **options))
