"""Studies in which a sentence is easily wrong: small, cheap, and each odd in its own way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import ShuffleSplit

import eigensieve as es
from eigensieve.pencil.solution import Status
from eigensieve.studies.result import Study

NAMES = list("abcdefgh")


def table(n_classes: int, shift: float, n: int = 48, p: int = 6, seed: int = 0) -> tuple[Any, Any]:
    """Rows of p columns, of which the first ones differ between the classes by ``shift``."""
    rng = np.random.default_rng(seed)
    code = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    for c in range(1, n_classes):
        X[code == c, (c - 1) % p] += shift
    return X, np.array([f"class {c}" for c in code])


def studied(X: Any, y: Any, estimator: Any = None, **options: Any) -> Study:
    names = NAMES[: X.shape[1]]
    given: dict[str, Any] = {"ks": (1, 2, 3), "n_repeats": 1, "names": names} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return es.study(X, y, estimator, **given)


def copies() -> Study:
    X, y = table(2, 2.0)
    X[:, 1:] = X[:, :1] * np.arange(2, 7)
    return studied(X, y)


def interrupted() -> Study:
    """Ctrl-C in the second repeat: the nested check is done, the permutations are not."""
    n_done = 0

    def stop(stage: str, done: int, total: int) -> None:
        nonlocal n_done
        n_done += stage == "cross-validation"
        if stage == "cross-validation" and n_done == 7:
            raise KeyboardInterrupt

    X, y = table(2, 1.5)
    return studied(X, y, n_repeats=3, n_permutations=2, progress=stop)


def interrupted_early() -> Study:
    """Ctrl-C in the nested check: k is known, its error is not."""

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "nested check":
            raise KeyboardInterrupt

    X, y = table(2, 1.5)
    return studied(X, y, progress=stop)


def single() -> Study:
    """A class of one sample, which no cross-validation can have."""
    X, y = table(2, 3.0)
    y = y.astype(object)
    y[0] = "solo"
    return studied(X, y.astype(str), k=2, ks=(2,))


def negative() -> Study:
    """A ranking by another measure: other sets are better by that of the report."""
    X, y = table(3, 2.0, p=8)
    X[:, 7] = X[:, 0] + 0.01 * X[:, 7]
    return studied(X, y, es.RankedLDA("pearson"))


def kept_in() -> Study:
    """A feature has copies, another is kept in by the user: only the first can be left out."""
    X, y = table(2, 2.0)
    X[:, 1], X[:, 2] = 2 * X[:, 0] + 3, -X[:, 0]
    return studied(X, y, es.SparseLDA(include=["f"]), k=2, ks=(2,))


def unequal() -> Study:
    """Better than permuted labels, while the largest class is guessed nearly as well."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 8)), np.repeat(["big", "mid", "small"], [44, 12, 4])
    X[44:56, 0] += 2
    X[56:, 1] += 1
    return studied(X, y, n_permutations=20, n_repeats=2)


def gap_left() -> Study:
    study = studied(*table(3, 1.0))
    place = list(study.path).index(study.best_k)
    found = list(study.optimality)
    found[place] = replace(found[place], bound=np.inf, status=Status.FEASIBLE)
    return replace(study, optimality=found)


CASES: dict[str, Callable[[], Study]] = {
    "chance": lambda: studied(*table(2, 0.0), n_permutations=4),
    "chance, one permutation": lambda: studied(*table(2, 0.0, seed=3), n_permutations=1),
    "floor": lambda: studied(*table(2, 3.0), n_permutations=20),
    "no mistake": lambda: studied(*table(3, 30.0), n_permutations=19),
    "many classes": lambda: studied(*table(12, 4.0, n=96, p=8), ks=(1, 4, 8)),
    "one feature": lambda: studied(*table(2, 1.0, p=1), ks=(1,)),
    "k is p": lambda: studied(*table(2, 1.0), k=6),
    "k of one": lambda: studied(*table(2, 4.0), k=1, n_repeats=3),
    "proved": lambda: studied(*table(3, 1.0), es.SparseLDA(solver="exact")),
    "no bound": gap_left,
    "groups": lambda: studied(*table(2, 1.0), groups=np.arange(48) // 3, n_permutations=3),
    "settings": lambda: studied(
        *table(2, 1.0),
        {"weak": es.SparseLDA(shrinkage=0.1), "strong": es.SparseLDA(shrinkage=0.9)},
        score="balanced_error",
        n_permutations=2,
    ),
    "constraints": lambda: studied(*table(2, 1.5), es.SparseLDA(include=["f"], exclude=["a"])),
    "copies": copies,
    "own number": lambda: studied(*table(3, 1.0), es.SparseUncorrelatedLDA()),
    "nearest sample": lambda: studied(*table(3, 1.0), es.SparseUncorrelatedLDA(rule="1-nn")),
    "ranking": negative,
    "sparse": lambda: studied(sparse.csr_array(np.maximum(table(2, 2.0)[0], 0)), table(2, 2.0)[1]),
    "leave-one-out": lambda: studied(*table(2, 1.0, n=24), cv="loo"),
    "some left out": lambda: studied(
        *table(2, 1.0), k=2, ks=(2,), cv=ShuffleSplit(3, test_size=0.2, random_state=0)
    ),
    "one part": lambda: studied(
        *table(2, 1.0), cv=ShuffleSplit(1, test_size=0.3, random_state=0), n_permutations=2
    ),
    "one sample": single,
    "kept in": kept_in,
    "unequal": unequal,
    "most features": lambda: studied(*table(3, 1.0, p=8), es.PenalizedLDA(0.3), n_permutations=3),
    "interrupted": interrupted,
    "interrupted early": interrupted_early,
}


@cache
def study_of(case: str) -> Study:
    return CASES[case]()
