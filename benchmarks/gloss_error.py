"""Group-lasso optimal scoring and its rivals: rules of classification, largest penalties, seconds.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.gloss_error [--part rules]``

Rules: mean accuracy over ten open sets, five stratified half splits each, of GroupLassoLDA(k,
weights="std") by its rule of classification, and of SparseLDA(k). Siblings: the same by set for
the rules of penalized LDA, SLDA and SULDA.

Limits: the largest penalty with which penalized LDA leaves a feature, on six gene sets. SLDA:
seconds.

The paper's simulations and tumours are experiments: ``eigensieve reproduce merchante2012``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.experiments.data import half_split
from eigensieve.scoring.penalized_lda import largest_alpha
from eigensieve.tables.statistics import ClassStats

from .accuracy import SETS as OPEN_SETS
from .data import load_open_set
from .sulda import SETS, load


def print_rules(splits: int = 5) -> None:
    """Accuracy against k, by the rule."""
    print("\naccuracy at k features: GLOSS by rule, SparseLDA beside it")
    data = {name: load_open_set(name) for name in OPEN_SETS}
    for k in (5, 10, 20, 30):
        models = {
            f"{within} {rule}": es.GroupLassoLDA(k, within=within, weights="std", rule=rule)
            for within in ("full", "diagonal")
            for rule in ("penalized", "lda")
        }
        models["SparseLDA"] = es.SparseLDA(k, certificate="none")
        scores: dict[str, list[float]] = {name: [] for name in models}
        for X, y in data.values():
            for seed in range(splits):
                train, test = half_split(y, seed)
                for name, model in models.items():
                    scores[name].append(model.fit(X[train], y[train]).score(X[test], y[test]))
        cells = ", ".join(f"{name} {np.mean(values):.3f}" for name, values in scores.items())
        print(f"  k = {k}: {cells}", flush=True)


def print_siblings(splits: int = 5) -> None:
    """Accuracy of GLOSS, PLDA, SLDA and SULDA on each set, by the rule."""
    print("\naccuracy by rule")
    models = {
        "GLOSS(5)": (es.GroupLassoLDA(5, weights="std"), ("lda", "penalized", "centroid")),
        "PLDA": (es.PenalizedLDA(), ("centroid", "lda", "1-nn")),
        "SLDA(5)": (es.SparseOptimalScoring(5), ("lda", "centroid", "1-nn")),
        "SULDA": (es.SparseUncorrelatedLDA(), ("centroid", "lda", "1-nn")),
    }
    for name in OPEN_SETS:
        X, y = load_open_set(name)
        sizes = "/".join(str(size) for size in np.unique(y, return_counts=True)[1])
        for title, (model, rules) in models.items():
            scores: dict[str, list[float]] = {rule: [] for rule in rules}
            for seed in range(splits):
                train, test = half_split(y, seed)
                scale = StandardScaler().fit(X[train])
                for rule in rules:
                    fitted = model.set_params(rule=rule).fit(scale.transform(X[train]), y[train])
                    scores[rule].append(fitted.score(scale.transform(X[test]), y[test]))
            cells = ", ".join(f"{rule} {np.mean(values):.3f}" for rule, values in scores.items())
            print(f"  {name:<12} ({sizes}) {title:<9} {cells}", flush=True)


def print_limits() -> None:
    """How much penalty penalized LDA bears."""
    print("\npenalized LDA: 1/sqrt(p), largest alpha, features of the first direction there, fit")
    for name in SETS:
        X, y = load(name)
        stats = ClassStats.from_data(X, y, form="rows")
        top = largest_alpha(stats.between_factor() / np.sqrt(stats.within_variance()))
        start = time.perf_counter()
        lda = es.PenalizedLDA(top).fit(X, y)
        seconds = time.perf_counter() - start
        used = np.count_nonzero(lda.scalings_[:, 0])
        print(f"  {name:<10}{X.shape[1] ** -0.5:8.3f}{top:8.3f}{used:7d}{seconds:8.2f} s")


def print_slda() -> None:
    """Seconds of sparse optimal scoring and of GLOSS with as many features."""
    print("\n10 features in each direction: SLDA, and GLOSS with as many in all")
    for name in ("srbct", "brain", "nakayama"):
        X, y = load(name)
        X = StandardScaler().fit_transform(X)
        start = time.perf_counter()
        lda = es.SparseOptimalScoring(10).fit(X, y)
        middle = time.perf_counter()
        es.GroupLassoLDA(int(lda.support_.sum())).fit(X, y)
        end = time.perf_counter()
        sizes = ", ".join(str(support.size) for support in lda.supports_)
        print(
            f"  {name:<10} {middle - start:6.2f} s, {end - middle:6.2f} s; {lda.support_.sum()} "
            f"features in all ({sizes})"
        )


PARTS: dict[str, Callable[[], None]] = {
    "rules": print_rules,
    "siblings": print_siblings,
    "limits": print_limits,
    "slda": print_slda,
}


def main() -> None:
    """Run everything and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("all", *PARTS), default="all")
    options = parser.parse_args()
    print(f"eigensieve {es.__version__}, numpy {np.__version__}")
    for name, run in PARTS.items():
        if options.part in ("all", name):
            run()


if __name__ == "__main__":
    main()
