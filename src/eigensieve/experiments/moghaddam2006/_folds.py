"""Repeated 5-fold cross-validation of sparse LDA, as in the paper's Figures 2 and 3.

Every repetition permutes the samples and cuts them into five folds. On four of them means and
covariances are estimated and variables selected, for every k; the fifth is classified. Columns are
not standardised (the paper names nothing of the kind).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...estimators._rankers import pearson
from ...search.solve import solve_path
from ..values import Value, mean_value
from ._two_classes import DIRECT, WHITENED, TwoClasses, first_of

FOLDS = 5
SHARE = 1e-3  # alpha is "smaller than lambda_min by O(10^3)"
ST, ST_DIRECT, PEARSON, GSLDA, ESLDA = "ST", "ST on x", "P-corr", "GSLDA", "ESLDA"
BIASED = "GSLDA chosen on all samples"
TEST, TRAINING = "test error, %", "training error, %"

Sets = dict[int, np.ndarray]


@dataclass(frozen=True)
class Choice:
    """What was selected in one fold, and what to test it on.

    Attributes
    ----------
    training : TwoClasses
    held_out : tuple of arrays
        Rows and classes of the fold.
    sets : dict
        ``{method: {k: support}}``.
    proved, reached : lists of bool
        For every k of the exact search: whether optimality was proved, and whether GSLDA had found
        a set as good.
    """

    training: TwoClasses
    held_out: tuple[np.ndarray, np.ndarray]
    sets: dict[str, Sets]
    proved: list[bool]
    reached: list[bool]


def cut_folds(n: int, seed: int, repetition: int) -> list[np.ndarray]:
    """Five random folds of n samples, whatever their classes."""
    order = np.random.default_rng((seed, repetition)).permutation(n)
    return np.array_split(order, FOLDS)


class CrossValidation:
    """The selections of every fold of a repetition.

    Parameters
    ----------
    X, y : arrays (n, p), (n,) of bool
    sizes : list of int
        The k of all methods.
    exact : list of int
        The k that are also solved to proved optimality.
    """

    def __init__(self, X: np.ndarray, y: np.ndarray, sizes: list[int], exact: list[int]) -> None:
        self.X, self.y, self.sizes, self.exact = X, y, sizes, exact
        self._biased = _greedy_sets(TwoClasses(X, y, SHARE), sizes)

    def choose(self, seed: int, repetition: int) -> list[Choice]:
        """One repetition: five folds."""
        n = len(self.X)
        folds = cut_folds(n, seed, repetition)
        return [self._choose_in(np.setdiff1d(np.arange(n), fold), fold) for fold in folds]

    def _choose_in(self, rest: np.ndarray, fold: np.ndarray) -> Choice:
        training = TwoClasses(self.X[rest], self.y[rest], SHARE)
        sets = {
            ST: first_of(training.threshold_order(WHITENED), self.sizes),
            ST_DIRECT: first_of(training.threshold_order(DIRECT), self.sizes),
            PEARSON: first_of(pearson(training.X, training.y), self.sizes),
            GSLDA: _greedy_sets(training, self.sizes),
            BIASED: self._biased,
        }
        proved, reached = [], []
        if self.exact:
            path = solve_path(training.pencil, self.exact, solver="exact")
            path.verify(training.pencil)
            sets[ESLDA] = {k: solution.support for k, solution in path.items()}
            for k, solution in path.items():
                proved.append(solution.is_certified)
                reached.append(_is_as_good(training, sets[GSLDA][k], solution.objective))
        return Choice(training, (self.X[fold], self.y[fold]), sets, proved, reached)


def _greedy_sets(training: TwoClasses, sizes: list[int]) -> Sets:
    """The better one of a forward and a backward pass, at each k."""
    path = solve_path(training.pencil, sizes, "greedy", direction="both", swap=False)
    path.verify(training.pencil)
    return {k: solution.support for k, solution in path.items()}


def _is_as_good(training: TwoClasses, support: np.ndarray, best: float) -> bool:
    small = training.pencil.restrict(support)
    return bool(small.top()[0][0] >= best * (1 - 1e-6))


def count_errors(choices: list[Choice]) -> dict[str, Any]:
    """Misclassified samples of one repetition, summed over its folds, by method and k."""
    sizes = {method: list(sets) for method, sets in choices[0].sets.items()}
    test, training = (
        {
            method: np.sum([_errors_of(c, method, seen) for c in choices], axis=0).tolist()
            for method in sizes
        }
        for seen in (False, True)
    )
    return {"sizes": sizes, "test": test, "training": training}


def _errors_of(choice: Choice, method: str, seen: bool) -> list[int]:
    """How many rows are misclassified in one fold, for every k."""
    training, sets = choice.training, choice.sets[method].values()
    rows = (training.X, training.y) if seen else choice.held_out
    return [int(training.misclassified(*rows, support).sum()) for support in sets]


@dataclass(frozen=True)
class ErrorRates:
    """Errors in per cent, by method: arrays (repetitions, number of k)."""

    sizes: dict[str, list[int]]
    test: dict[str, np.ndarray]
    training: dict[str, np.ndarray]

    @classmethod
    def join(cls, repetitions: list[dict[str, Any]], n: int) -> ErrorRates:
        """From the counts; every sample is tested once and trained on four times."""
        test, training = (
            {
                method: 100 * np.array([part[kind][method] for part in repetitions]) / total
                for method in repetitions[0][kind]
            }
            for kind, total in (("test", n), ("training", (FOLDS - 1) * n))
        )
        return cls(repetitions[0]["sizes"], test, training)

    def at(self, method: str, k: int, kind: str = TEST) -> np.ndarray:
        """Errors of every repetition at one k."""
        rates = self.test if kind == TEST else self.training
        return rates[method][:, self.sizes[method].index(k)]

    def mean_difference(self, method: str, other: str, sizes: list[int]) -> Value:
        """Method minus other, mean over several k; the repetitions are paired."""
        gaps = [self.at(method, k) - self.at(other, k) for k in sizes]
        return mean_value(np.mean(gaps, axis=0))

    def cells(self, methods: list[str], sizes: list[int]) -> dict[tuple[str, str], Value]:
        """Test and training error of each method at some k."""
        return {
            (f"{method}, k = {k}", kind): mean_value(self.at(method, k, kind))
            for k in sizes
            for method in methods
            if k in self.sizes.get(method, [])
            for kind in (TEST, TRAINING)
        }

    def curve(self, method: str, kind: str = TEST) -> dict[str, Any]:
        """What a figure shows of one method."""
        values = [mean_value(self.at(method, k, kind)) for k in self.sizes[method]]
        return {
            "label": method if kind == TEST else f"{method}, training",
            "k": self.sizes[method],
            "error": [value.value for value in values],
            "se": [value.se or 0.0 for value in values],
        }


def repetition_blocks(protocol: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """Repetitions 0, 1, ... in blocks, each with these entries of the protocol."""
    every, block = list(range(protocol["repetitions"])), protocol["block"]
    shared = {name: protocol[name] for name in names}
    return [{"repetitions": every[i : i + block], **shared} for i in range(0, len(every), block)]
