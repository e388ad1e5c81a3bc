"""The sections of a study's page: figures, tables and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots import (
    AlphaDisplay,
    CorrelationCircleDisplay,
    CVPathDisplay,
    GapDisplay,
    LoadingsDisplay,
    ProjectionDisplay,
    StabilityDisplay,
)
from ..plots._style import printable, shorten
from ..plots.loadings import sides_of
from ..studies.copies import describe_copies
from ..studies.result import SelectedFeature, Study
from . import words
from .facts import (
    class_counts,
    frequencies,
    inner_model,
    is_balanced,
    mark_of_k,
    room,
    solutions,
    why_no_error,
)
from .figures import drawn
from .null_figure import MIN_PERMUTATIONS, NullDisplay

MAX_SHARES = 6
MAX_ROWS = 200  # of a table
MAX_LOADING_COLUMNS = 2  # columns: more get a table of their own
MIN_FEATURES_ON_A_LINE = 3  # features, for a figure of their correlations with one score
MAX_FREQUENT_ROWS = 30  # rows of the table of the features selected most often


def curve(study: Study) -> dict[str, Any]:
    """The curve of error against k with its numbers, or the reason why there is none."""
    if study.cv is None:
        why = why_no_error(study)
        return {"figure": None, "several": len(study.ks) > 1, "why": why, "rows": []}
    rows = study.rows
    figure = None
    if len(study.ks) > 1:
        label = (
            f"Cross-validated error against the number of features, from {study.ks[0]} to "
            f"{study.ks[-1]}; {mark_of_k(study) or 'taken'}: {study.best_k}. The numbers are in "
            "the table below."
        )
        figure = drawn(CVPathDisplay.from_study(study), "path", label)
    return {
        "figure": figure,
        "several": len(study.ks) > 1,
        "chose_k": study.chose_k,
        "honest": study.honest_error is not None,
        "rows": [_curve_row(study, row) for row in rows],
        "inexact": any(row["n_features"] != row["k"] for row in rows),
        "settings": len(study.settings) > 1,
        "se_of": "balanced error" if is_balanced(study) else "error",
    }


def _k_cell(study: Study, k: int) -> dict[str, Any]:
    """A k in a table; that of the final set is marked, if there are others."""
    chosen = k == study.best_k and len(study.ks) > 1
    return {"k": k, "chosen": chosen, "mark": mark_of_k(study) if chosen else ""}


def _curve_row(study: Study, row: dict[str, Any]) -> dict[str, Any]:
    return {
        **_k_cell(study, row["k"]),
        "error": words.percent(row["error"]),
        "se": words.percent(row["se"]),
        "balanced_error": words.percent(row["balanced_error"]),
        "auc": words.decimals(row["auc"]),
        "n_features": f"{row['n_features']:,.1f}",
        "setting": printable(row.get("setting", "")),
    }


def features(study: Study) -> dict[str, Any]:
    """The selected features: what they are, what they weigh, how sure they are."""
    model = inner_model(study)
    figures = _feature_figures(study)
    shares = [words.percent(r) for r in model.explained_variance_ratio_]
    shown = study.selected[:MAX_ROWS]
    n_directions = len(study.selected[0].loadings) if study.selected else 0
    return {
        **figures,
        "rows": [_feature_row(study, feature) for feature in shown],
        "n_more": len(study.selected) - len(shown),
        "copies": [printable(text) for text in describe_copies(study.copies)],
        "annotations": [printable(name) for name in study.source.annotation_columns],
        "has_shares": frequencies(study, study.best_k) is not None,
        "has_prices": bool(study.prices),
        "directions": n_directions,
        "sides": [None if side is None else shorten(side, 40) for side in sides_of(study)],
        "apart": n_directions > MAX_LOADING_COLUMNS,
        "shares": shares[:MAX_SHARES] + ["…"] * (len(shares) > MAX_SHARES),
    }


def _feature_row(study: Study, feature: SelectedFeature) -> dict[str, Any]:
    shares = frequencies(study, study.best_k)
    price = next((one for one in study.prices if one.index == feature.index), None)
    texts = study.source.annotations.get(feature.name, ())
    columns = len(study.source.annotation_columns)
    return {
        "rank": feature.rank,
        "name": printable(feature.name),
        "annotations": [printable(text) for text in (*texts, *[""] * columns)[:columns]],
        "loadings": [words.number(value) for value in feature.loadings],
        "weight": words.number(feature.weight),
        "share": "" if shares is None else words.whole_percent(shares[feature.index]),
        "price": words.UNKNOWN if price is None else words.price(price.loss),
        "stand_ins": []
        if price is None
        else [(shorten(one.name), words.price(one.loss)) for one in price.stand_ins],
    }


def _feature_figures(study: Study) -> dict[str, Any]:
    if not study.selected:
        return {"loadings": None, "circle": None, "alpha": None}
    ranker = getattr(inner_model(study), "ranker_", None)
    alpha = None
    if hasattr(ranker, "alpha_"):
        label = "The sorted weights alpha of all features."
        alpha = drawn(AlphaDisplay.from_estimator(ranker), "alpha", label)
    label = "Bars of the loadings of the selected features. The numbers are in the table."
    loadings = drawn(LoadingsDisplay.from_study(study), "loadings", label)
    circle = None
    # one or two correlations with a single score say nothing that the loadings do not
    if len(study.selected) >= MIN_FEATURES_ON_A_LINE or len(study.selected[0].loadings) > 1:
        label = "Correlations of the selected features with the discriminant scores."
        circle = drawn(CorrelationCircleDisplay.from_study(study), "circle", label)
    return {"loadings": loadings, "circle": circle, "alpha": alpha}


def samples(study: Study) -> dict[str, Any]:
    """The training samples on the selected features, and the sizes of the classes."""
    classes = class_counts(study)
    label = f"The {study.n_samples} training samples of {len(classes)} classes, by their scores."
    figure = drawn(ProjectionDisplay.from_study(study), "samples", label)
    found = study.honest_error
    # the table of the mistakes has the sizes of the classes, if every sample was predicted
    is_known = found is not None and found.n_samples == study.n_samples
    return {"figure": figure, "classes": [] if is_known else classes}


def stability(study: Study) -> dict[str, Any] | None:
    """How often the features come back, or None where nothing was selected again."""
    shares = frequencies(study, study.best_k)
    if shares is None:
        return None
    label = (
        "Bars: how often the features were selected in training parts. "
        "The numbers are in the table."
    )
    selected = {feature.index for feature in study.selected}
    order = np.argsort(-shares, kind="stable")[:MAX_FREQUENT_ROWS]
    return {
        "figure": drawn(StabilityDisplay.from_study(study), "stability", label),
        "rows": [
            {
                "name": printable(study.names[j]),
                "share": words.whole_percent(shares[j]),
                "final": j in selected,
            }
            for j in order.tolist()
            if shares[j] > 0
        ],
        "indices": [
            {
                **_k_cell(study, index.k),
                "index": words.decimals(index.index, 2),
                "low": words.decimals(index.low, 2),
                "high": words.decimals(index.high, 2),
            }
            for index in study.indices
        ],
    }


def chance(study: Study) -> dict[str, Any] | None:
    """What permuted labels give, or None where none were tried."""
    null = study.null
    if null is None:
        return None
    figure, score = None, "balanced error" if is_balanced(study) else "error"
    if null.n_permutations >= MIN_PERMUTATIONS:
        label = (
            f"Errors of {null.n_permutations} permutations of the labels, from "
            f"{words.percent(null.errors.min())} to {words.percent(null.errors.max())}; with the "
            f"true labels: {words.percent(null.observed)}."
        )
        figure = drawn(NullDisplay(null, score), "null", label)
    rows = [("True labels", words.percent(null.observed))]
    for name, share in (("smallest", 0.0), ("median", 0.5), ("largest", 1.0)):
        value = float(np.quantile(null.errors, share))
        rows.append((f"Permuted labels, {name}", words.percent(value)))
    return {
        "figure": figure,
        "n": words.count(null.n_permutations, "permutation"),
        "chose_k": study.chose_k,
        "honest": study.honest_error,
        "rows": rows,
        "score": score,
    }


def optimality(study: Study) -> dict[str, Any]:
    """How close the sets are to the best ones of their size."""
    found = solutions(study)
    figure = None
    if len(found) > 1:
        label = (
            "Class separation of the selected set and its proved upper bound, for every k. "
            "The numbers are in the table."
        )
        figure = drawn(GapDisplay.from_study(study), "gap", label)
    rows = [
        {
            **_k_cell(study, k),
            "n_features": solution.k,
            "objective": words.number(solution.objective),
            "bound": words.number(solution.bound) if np.isfinite(solution.bound) else words.UNKNOWN,
            "room": room(solution)[0],
            "status": str(solution.status),
        }
        for k, solution in found.items()
    ]
    inexact = any(row["n_features"] != row["k"] for row in rows)
    return {"figure": figure, "rows": rows, "inexact": inexact}
