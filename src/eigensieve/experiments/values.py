"""What an experiment measures: figures with their standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Place = tuple[str, str]  # row and column of a cell


@dataclass(frozen=True)
class Value:
    """A measured figure (or word), with its standard error where chance has a part in it.

    ``n`` is the number of runs (splits, random problems) behind it: every figure in which chance
    has a part has one, also where it has no standard error. None: the paper's own data, and no
    random number.
    """

    value: float | str
    se: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Measured:
    """What a whole experiment found.

    Attributes
    ----------
    cells : dict
        ``{(row, column): Value}``, in the order in which they are shown.
    series : dict
        What ``draw`` needs: plain numbers, texts and lists of them.
    notes : sequence of str
        Findings in sentences, computed from the figures.
    readings : dict
        ``{(row, column): {name: Value}}``: the figure under every choice that the paper leaves
        open; the first is the one in ``cells``.
    """

    cells: dict[Place, Value]
    series: dict[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    readings: dict[Place, dict[str, Value]] = field(default_factory=dict)


def word_value(holds: bool, n: int | None = None) -> Value:
    """Whether a claim holds in all of n runs, as papers put it."""
    return Value("yes" if holds else "no", n=n)


def mean_value(values: Sequence[float] | np.ndarray) -> Value:
    """Mean and standard error of repeated runs; one run alone has no standard error.

    Examples
    --------
    >>> from eigensieve.experiments.values import mean_value
    >>> mean_value([1.0, 3.0])
    Value(value=2.0, se=1.0, n=2)
    """
    values = np.asarray(values, dtype=float)
    se = None if values.size < 2 else float(values.std(ddof=1) / np.sqrt(values.size))
    return Value(float(values.mean()), se, values.size)


def share_value(hits: Sequence[bool] | np.ndarray) -> Value:
    """Share of successes; its standard error is never 0, even where every run succeeded.

    Two successes and two failures are added for the error (Agresti and Coull), as a share of 1 in
    80 runs does not mean that a failure is impossible.

    Examples
    --------
    >>> from eigensieve.experiments.values import share_value
    >>> share_value([True] * 60).se > 0
    True
    """
    hits = np.asarray(hits, dtype=float)
    n = hits.size + 4
    share = (hits.sum() + 2) / n
    return Value(float(hits.mean()), float(np.sqrt(share * (1 - share) / n)), hits.size)


def jackknife_value(statistic: Callable[..., float], *runs: Sequence[float] | np.ndarray) -> Value:
    """A statistic of repeated runs with its jackknife standard error: each run left out in turn.

    Several arrays are of the same runs, along their first axes.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve.experiments.values import jackknife_value, mean_value
    >>> jackknife_value(np.mean, [1.0, 3.0]) == mean_value([1.0, 3.0])
    True
    """
    arrays = [np.asarray(each, dtype=float) for each in runs]
    n, value = len(arrays[0]), float(statistic(*arrays))
    if n < 2:
        return Value(value, None, n)
    left = [statistic(*(np.delete(each, i, axis=0) for each in arrays)) for i in range(n)]
    return Value(value, float(np.sqrt((n - 1) * np.var(left))), n)
