"""Everything in a study as bytes, timings apart; and a table on which a study takes no second."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

import numpy as np

import eigensieve as es

TIMINGS = {"seconds"}
PLAIN = {
    "ks": (1, 2, 3, 5),
    "cv": 3,
    "n_repeats": 3,
    "n_permutations": 4,
    "missing": "median",
}


def make_table(
    n: int = 45, p: int = 14, *, gaps: bool = True, seed: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that two columns tell apart, by and large."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b", "c"], n // 3)
    X = rng.normal(size=(y.size, p))
    X[y == "a", 3] += 2.0
    X[y == "b", 7] += 2.0
    if gaps:
        X[::7, 3] = np.nan
        X[1::11, 0] = np.nan
    return X, y


def plain_study(**options: Any) -> es.Study:
    """A study with everything in it."""
    return es.study(*make_table(), **{**PLAIN, **options})


def as_bytes(study: es.Study) -> bytes:
    """All that a study holds, down to the last bit of every array; its tables as text."""
    tables = [study.table, study.stability, study.stability_index]
    whole = [_plain(study), [table.to_csv() for table in tables], repr(study)]
    return json.dumps(whole, sort_keys=True).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype == object else value.tobytes().hex()
        return [str(value.dtype), list(value.shape), content]
    if isinstance(value, float):
        return float(value).hex()
    if value is None or isinstance(value, str | int | np.integer | Enum | np.dtype | type):
        return repr(value)
    if isinstance(value, dict):
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    fields = {name: one for name, one in vars(value).items() if name not in TIMINGS}
    return [type(value).__name__, _plain(fields)]
