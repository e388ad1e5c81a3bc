"""Does optimality pay on new samples? Error of proved optima, of greedy sets and of rankings.

Half/half splits of colon, leukemia and prostate; genes are chosen in the training half alone (the
optimum with s = .5, proved within a node limit, against greedy searches for the same criterion,
SVM-RFE, lasso, SNR and ANOVA), and the same classifier follows: LDA on the k genes, shrunk as
`RankedLDA` does. None of this depends on the scales of the columns. The nested error has k chosen
for every method by cross-validation inside the training half. Splits of one set share samples, so
that the standard errors of paired differences are corrected (Nadeau and Bengio 2003):
sqrt((1/J + n_test/n_train) var). Said beforehand: the optimum is better (worse) where the
difference is beyond 2 of these; equal where it is within ``margin`` points by 2 of them; else it
cannot be told, nor from fewer than 10 splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.model_selection import StratifiedKFold

from ...estimators.ranked import RankedLDA
from ...plots._style import legend_below, new_figure
from ...tables.builders import lda_pencil
from ..data import half_split
from ..values import Measured, Place, Value, mean_value
from ._common import (
    FORWARD,
    GREEDY,
    OPTIMUM,
    RIVALS,
    STYLES,
    choose,
    find_optimum,
    gap,
    limit_of,
    load,
    separation,
    title,
)

METHODS = (OPTIMUM, *RIVALS)
ALL = "All sets"
ROUND_OFF = 12  # digits of a difference: what is beyond is no gain
ERRORS_BEYOND = 2.0
MIN_SPLITS = 10  # splits: fewer say nothing certain of their own spread
GAIN, NESTED_GAIN = "optimum's gain, points", "optimum's gain, nested, points"
BETTER, WORSE, EQUAL, OPEN = "better", "worse", "equal", "cannot be told"
# what the answer is about: other sets for the same criterion, and other criteria
SEARCHES, OTHERS = (GREEDY, FORWARD), RIVALS[2:]


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One split of one set each; the largest set first."""
    common = {name: protocol[name] for name in ("ks", "folds", "shrinkage", "max_nodes")}
    return [
        {"name": name, "split": protocol["seed"] + split, **common}
        for name in protocol["sets"][::-1]
        for split in range(protocol["splits"])
    ]


def work(
    name: str, split: int, ks: Sequence[int], folds: int, shrinkage: float, max_nodes: int
) -> dict[str, Any]:
    """Errors and gaps of every method at every k, and the errors inside the training half."""
    X, y = load(name)
    train, test = half_split(y, split)
    supports, gaps = select(X[train], y[train], ks, shrinkage, max_nodes)
    inner = np.zeros((len(METHODS), len(ks)))
    parts = StratifiedKFold(folds, shuffle=True, random_state=split)
    for learn, check in parts.split(train, y[train]):
        learn, check = train[learn], train[check]
        chosen, _ = select(X[learn], y[learn], ks, shrinkage, max_nodes)
        inner += check.size * errors_of(X, y, learn, check, chosen)
    return {
        "errors": errors_of(X, y, train, test, supports).tolist(),
        "gaps": gaps.tolist(),
        "inner": (inner / train.size).tolist(),
        "ratio": test.size / train.size,
    }


def select(
    X: np.ndarray, y: np.ndarray, ks: Sequence[int], shrinkage: float, max_nodes: int
) -> tuple[list[list[np.ndarray]], np.ndarray]:
    """The sets of every method at every k, and their gaps in per cent."""
    pencil = lda_pencil(X, y, shrinkage=shrinkage)
    best = [find_optimum(pencil, k, max_nodes) for k in ks]
    supports = [[solution.support for solution in best]]
    for rival in RIVALS:
        chosen = choose(X, y, pencil, ks, rival)
        supports.append([chosen[k] for k in ks])
    limits = [limit_of(solution) for solution in best]
    gaps = [
        [gap(limit, separation(pencil, S)) for limit, S in zip(limits, row)] for row in supports
    ]
    return supports, np.array(gaps)


def errors_of(
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    supports: list[list[np.ndarray]],
) -> np.ndarray:
    """Share of the test samples that LDA on each set gets wrong."""
    return np.array(
        [
            [1.0 - RankedLDA(n_features_to_select=S.size).fit(X[np.ix_(train, S)], y[train])
             .score(X[np.ix_(test, S)], y[test]) for S in row]
            for row in supports
        ]
    )  # fmt: skip


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Errors, gaps and paired differences by set; all sets together; the answer in words."""
    sets = {
        name: _gather([r for t, r in zip(tasks(protocol), found) if t["name"] == name])
        for name in protocol["sets"]
    }
    cells: dict[Place, Value] = {}
    gains: dict[str, dict[str, list[Value]]] = {GAIN: {}, NESTED_GAIN: {}}
    for name, data in sets.items():
        _fill_errors(cells, title(name), data, protocol["ks"])
        for i, rival in enumerate(RIVALS, start=1):
            for column, errors in ((GAIN, data["mean"]), (NESTED_GAIN, data["nested"])):
                gain = paired(errors[:, i] - errors[:, 0], data["ratio"])
                cells[f"{title(name)}: {rival}", column] = gain
                gains[column].setdefault(rival, []).append(gain)
        row = f"{title(name)}: {OPTIMUM}"
        cells[row, "correlation of gap and error"] = correlation(data["gaps"], data["errors"])
    words: dict[str, dict[str, str]] = {}
    for column, by_rival in gains.items():
        for rival, parts in by_rival.items():
            row, whole = f"{ALL}: {rival}", pool(parts)
            cells[row, column] = whole
            few = protocol["splits"] < MIN_SPLITS
            said = OPEN if few else verdict(whole, protocol["margin"])
            words.setdefault(column, {})[rival] = said
            cells[row, f"optimum is{', nested' * (column == NESTED_GAIN)}"] = Value(said)
    return Measured(cells, _series(protocol, sets), _notes(protocol, words, sets))


def _gather(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The splits of one set: arrays (splits, methods, ks); errors in per cent."""
    errors = 100 * np.array([result["errors"] for result in results])
    # the first of equal ones is the smallest k
    chosen = np.array([np.argmin(result["inner"], axis=1) for result in results])
    return {
        "errors": errors,
        "gaps": np.array([result["gaps"] for result in results]),
        "chosen": chosen,
        "mean": errors.mean(axis=2),
        "nested": np.take_along_axis(errors, chosen[:, :, None], axis=2)[:, :, 0],
        "ratio": results[0]["ratio"],
    }


def _fill_errors(
    cells: dict[Place, Value], name: str, data: dict[str, Any], ks: Sequence[int]
) -> None:
    for i, method in enumerate(METHODS):
        row = f"{name}: {method}"
        for j, k in enumerate(ks):
            cells[row, f"error, k = {k}, %"] = mean_value(data["errors"][:, i, j])
        cells[row, "nested error, %"] = mean_value(data["nested"][:, i])
        cells[row, "k chosen"] = mean_value(np.asarray(ks)[data["chosen"][:, i]])
        cells[row, "gap, %"] = mean_value(data["gaps"][:, i].mean(axis=1))
        # the k of a split are no independent cases
        optimal = 100 * (data["gaps"][:, i] == 0).mean(axis=1)
        cells[row, "optimal, %"] = mean_value(optimal)


def paired(differences: np.ndarray, ratio: float) -> Value:
    """Mean of differences over splits, with the standard error corrected for shared samples."""
    n, mean = differences.size, round(float(differences.mean()), ROUND_OFF) + 0.0
    if n < 2:
        return Value(mean)
    variance = float(differences.var(ddof=1))
    return Value(mean, float(np.sqrt((1 / n + ratio) * variance)))


def pool(parts: Sequence[Value]) -> Value:
    """The mean over sets, which are independent."""
    value = float(np.mean([part.value for part in parts]))
    if any(part.se is None for part in parts):
        return Value(value)
    return Value(value, float(np.sqrt(sum((part.se or 0.0) ** 2 for part in parts)) / len(parts)))


def verdict(gain: Value, margin: float) -> str:
    """Whether the optimum is better, worse, equal up to ``margin`` points, or none of these."""
    if gain.se is None:
        return OPEN
    value, room = float(gain.value), ERRORS_BEYOND * gain.se
    if abs(value) > room:
        return BETTER if value > 0 else WORSE
    return EQUAL if abs(value) + room <= margin else OPEN


def correlation(gaps: np.ndarray, errors: np.ndarray) -> Value:
    """Of mean gap and mean error over the methods, at equal k; jackknifed over the splits."""
    n = len(gaps)
    whole = _correlate(gaps.mean(axis=0), errors.mean(axis=0))
    if n < 2:
        return Value(whole)
    left = np.array(
        [
            _correlate(np.delete(gaps, i, 0).mean(axis=0), np.delete(errors, i, 0).mean(axis=0))
            for i in range(n)
        ]
    )
    return Value(whole, float(np.sqrt((n - 1) * np.square(left - left.mean()).mean())))


def _correlate(gaps: np.ndarray, errors: np.ndarray) -> float:
    """(methods, ks) each; what all methods have in common at a k is taken away."""
    a, b = (gaps - gaps.mean(axis=0)).ravel(), (errors - errors.mean(axis=0)).ravel()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 0.0


def _series(protocol: dict[str, Any], sets: dict[str, Any]) -> dict[str, Any]:
    labels = [f"k = {k}" for k in protocol["ks"]] + ["nested"]
    points: dict[str, Any] = {}
    for name, data in sets.items():
        columns = [*np.moveaxis(data["errors"], 2, 0), data["nested"]]
        points[title(name)] = {
            method: [[float(v.value), v.se or 0.0] for v in (mean_value(c[:, i]) for c in columns)]
            for i, method in enumerate(METHODS)
        }
    return {"labels": labels, "errors": points}


def _notes(
    protocol: dict[str, Any], words: dict[str, dict[str, str]], sets: dict[str, Any]
) -> list[str]:
    said = words[GAIN]
    answer = (
        f"Does optimality pay? Against other searches for the same criterion: "
        f"{_answer(said, SEARCHES)}. Against other criteria: {_answer(said, OTHERS)}. "
        f"With k chosen by cross-validation, against all: {_answer(words[NESTED_GAIN], RIVALS)}."
    )
    notes = [answer]
    at = METHODS.index(GREEDY)
    hits = np.concatenate([data["gaps"][:, at].ravel() == 0 for data in sets.values()])
    proved = np.concatenate([data["gaps"][:, 0].ravel() == 0 for data in sets.values()])
    notes.append(
        f"{proved.sum()} of {proved.size} optima on training halves are proved within about "
        f"{protocol['max_nodes']:,} nodes; greedy + swap had found {hits.sum()} of them."
    )
    return notes


def _answer(said: dict[str, str], rivals: Sequence[str]) -> str:
    """The verdicts, with the rivals that each is about where they are not the same for all."""
    phrases = {
        BETTER: "it pays",
        WORSE: "it costs",
        EQUAL: "it does not matter",
        OPEN: "it cannot be told",
    }
    groups = {word: [rival for rival in rivals if said[rival] == word] for word in phrases}
    told = {phrases[word]: ", ".join(names) for word, names in groups.items() if names}
    return ", ".join(told if len(told) == 1 else (f"{p} ({names})" for p, names in told.items()))


def draw(series: dict[str, Any]) -> Figure:
    """Test errors with standard errors, one panel a set."""
    errors = series["errors"]
    figure = new_figure(1.0 + 1.7 * len(errors))
    panels: np.ndarray = figure.subplots(len(errors), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (name, by_method) in zip(panels, errors.items()):
        _draw_set(panel, series["labels"], by_method)
        panel.set_title(name, loc="left", fontsize=10)
    panels[len(panels) // 2].set_ylabel("test error, %")
    legend_below(panels[-1], *panels[-1].get_legend_handles_labels())
    return figure


def _draw_set(panel: Axes, labels: list[str], by_method: dict[str, list[list[float]]]) -> None:
    for i, (method, points) in enumerate(by_method.items()):
        color, marker = STYLES[method]
        where = np.arange(len(labels)) + 0.1 * (i - (len(by_method) - 1) / 2)
        means, errors = np.array(points).T
        panel.errorbar(
            where, means, errors, fmt=marker, color=color, label=method, markersize=5, lw=1
        )
    panel.set_ylim(bottom=0)
    panel.set_xticks(range(len(labels)), labels)
    panel.grid(axis="y")
