"""What the page of a comparison says: who is best, and who cannot be told apart from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..plots._style import printable, shorten
from ..studies.comparison import Comparison
from .facts import baseline, inner_model, is_balanced
from .facts import class_weights as weights_of
from .words import UNKNOWN, count, listed, percent

CLEARLY = 2.0  # standard errors
MAX_FEATURES_NAMED = 6


def judged(comparison: Comparison) -> list[dict[str, Any]]:
    """The rows that have an error, the smallest first."""
    return [row for row in comparison.rows if row["error"] is not None]


def best_row(comparison: Comparison) -> dict[str, Any] | None:
    """The row of the smallest error."""
    rows = judged(comparison)
    return rows[0] if rows else None


def close_methods(comparison: Comparison) -> list[str]:
    """The best method, and those that differ from it by less than two standard errors."""
    best = best_row(comparison)
    if best is None:
        return []
    # the same folds and samples: the paired differences are to the best method here
    rows = judged(replace(comparison, reference=best["method"]))
    return [row["method"] for row in rows if row is rows[0] or _is_close(row)]


def _is_close(row: dict[str, Any]) -> bool:
    difference, error = row["difference"], row["difference_se"]
    if difference is None or error is None:
        return False
    return bool(abs(difference) <= CLEARLY * error)


def lead(comparison: Comparison) -> list[str]:
    """Who is best, and how sure that is."""
    best = best_row(comparison)
    n = count(len(comparison.results), "method")
    if best is None:
        return [f"{n} were compared, but no error could be estimated."]
    first = (
        f"Of {n}, {shorten(best['method'], 40)} has the smallest error on new samples: "
        f"{percent(best['error'])} (95\u00a0% interval {percent(best['low'])} to "
        f"{percent(best['high'])}), with {count(best['n_features'], 'feature')}."
    )
    return [first, _rivals(comparison)]


def _rivals(comparison: Comparison) -> str:
    close, n = close_methods(comparison)[1:], len(judged(comparison)) - 1
    if n == 0:
        return "There is no other to compare it with."
    if not close:
        return "All others have clearly larger errors."
    if len(close) == n:
        return "None of the others can be told apart from it."
    worse = [row["method"] for row in judged(comparison)[1:] if row["method"] not in close]
    if len(worse) < len(close):
        verb = "is" if len(worse) == 1 else "are"
        who = listed([shorten(name, 40) for name in worse])
        return f"Only {who} {verb} clearly worse; the others cannot be told apart from it."
    names = [shorten(name, 40) for name in close[:MAX_FEATURES_NAMED]]
    more = len(close) - len(names)
    names += [f"{more:,} more"] if more else []
    return f"It cannot be told apart from {listed(names)}."


def findings(comparison: Comparison) -> list[str]:
    """What else to know."""
    study = next(iter(comparison.results.values()))
    guess = percent(baseline(study))
    apart = (
        "To be told apart, the errors on the same samples have to differ by more than two standard "
        "errors. The best of several errors is a little kind to its method."
    )
    sentences = [
        f"Always guessing the largest class would be wrong for {guess} of these samples.",
        apart,
    ]
    if any(map(is_balanced, comparison.results.values())):
        sentences.append(
            "The numbers of features were chosen by the balanced error, in which every class "
            "counts alike; the methods are ordered by the plain error."
        )
    sentences += _unweighted_sentences(comparison)
    fewest = _fewest(comparison)
    if fewest is not None:
        sentences.insert(0, fewest)
    for name, reason in comparison.failures.items():
        sentences.append(f"{shorten(name, 40)} has no result: {printable(reason)}.")
    return sentences


def _fewest(comparison: Comparison) -> str | None:
    """The method with the fewest features among those that are as good, if it is not the best."""
    close = close_methods(comparison)
    rows = [row for row in judged(comparison) if row["method"] in close]
    if len(rows) < 2:
        return None
    least = min(rows, key=lambda row: row["n_features"])
    if least["n_features"] >= rows[0]["n_features"]:
        return None
    return (
        f"With the fewest features among these: {shorten(least['method'], 40)}, "
        f"{count(least['n_features'], 'feature')} for an error of {percent(least['error'])}."
    )


def choices(comparison: Comparison) -> str:
    """How the numbers of features came about: the rules, and whose they are if there are more."""
    rules: dict[str, list[str]] = {}
    for name, study in comparison.results.items():
        rules.setdefault(printable(study.k_rule), []).append(shorten(name, 40))
    if len(rules) == 1:
        return next(iter(rules))
    return "; ".join(f"{listed(names)}: {rule}" for rule, names in rules.items())


def class_weights(comparison: Comparison) -> str:
    """Whose classes were weighted in the fit, and how; "" where nobody's were."""
    kinds: dict[str, list[str]] = {}
    for name, study in comparison.results.items():
        kind = weights_of(inner_model(study)) or "none"
        kinds.setdefault(kind, []).append(shorten(name, 40))
    if list(kinds) == ["none"]:
        return ""
    return "; ".join(f"{listed(names)}: {kind}" for kind, names in kinds.items())


def _unweighted_sentences(comparison: Comparison) -> list[str]:
    """Those whose classes have no weights, where others have some."""
    models = {name: inner_model(study) for name, study in comparison.results.items()}
    bare = [shorten(name, 40) for name, model in models.items() if weights_of(model) is None]
    if not bare or len(bare) == len(models):
        return []
    return [f"Without class weights in the fit, unlike the others: {listed(bare)}."]


def difference(row: dict[str, Any], reference: str) -> str:
    """The difference from the reference in percentage points, with its standard error."""
    if row["method"] == reference:
        return "reference"
    if row["difference"] is None or row["difference_se"] is None:
        return UNKNOWN
    points = f"{100 * row['difference']:+.1f}".replace("-", "\u2212")
    return f"{points}\u00a0± {100 * row['difference_se']:.1f}"
