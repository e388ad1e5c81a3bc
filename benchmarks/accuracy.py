"""Half/half accuracy on ten open data sets: do the selected features hold on new samples?

``python -m benchmarks.accuracy [--splits 10] [--sets colon,sonar] [--tuned] [--efforts]``, with
EIGENSIEVE_DATA set. ``--tuned`` adds SparseLDA with its shrinkage chosen by 5-fold
cross-validation inside the training half, for every k. ``--efforts`` compares the default with
less effort instead of with other methods: "quick", and 0, which is greedy search alone and what a
study does in its folds.

Ten stratified half/half splits per set, columns standardised on the training half;
SparseLDA with its default settings, against ANOVA ranking and SVM-RFE (two common linear
SVMs: the choice matters at small k) followed by LDA with Ledoit-Wolf shrinkage. Prints the mean
test accuracy at k = 5, 10, 20, 30, the paired differences with their standard errors (over sets
and splits, and over sets alone: splits of one set are no new data), and seconds per path.
``--sets nakayama,breast,brain_outcome`` are sets that had no part in choosing the defaults.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from benchmarks.data import load_open_set
from eigensieve import SparseLDA
from eigensieve.experiments.data import half_split

SETS = (
    "colon", "leukemia", "prostate", "srbct83", "brain",
    "lymphoma", "ramaswamy_filtered", "dlbcl_fl", "sonar", "ionosphere",
)  # fmt: skip
KS = (5, 10, 20, 30)
SHRINKAGES: tuple[float | str, ...] = ("auto", 0.25, 0.5, 0.75)
BARS = (0.80, 0.84, 0.865, 0.87)

Method = Callable[[np.ndarray, np.ndarray, np.ndarray], dict[int, np.ndarray]]


def sparse_lda(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """The package's default, selection and classifier."""
    return {k: m.predict(X_new) for k, m in SparseLDA().fit_path(X, y, KS).items()}


def sparse_lda_quick(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """A tenth of the default effort."""
    path = SparseLDA(effort="quick").fit_path(X, y, KS)
    return {k: m.predict(X_new) for k, m in path.items()}


def sparse_lda_greedy(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """No exact search."""
    return {k: m.predict(X_new) for k, m in SparseLDA(effort=0).fit_path(X, y, KS).items()}


def tuned_sparse_lda(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """Of several shrinkages the one with the least error inside the training half, for every k."""
    models = [SparseLDA(shrinkage=s) for s in SHRINKAGES]
    folds = min(5, int(np.unique(y, return_counts=True)[1].min()))
    wrong = np.zeros((len(models), len(KS)))
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        for i, model in enumerate(models):
            path = model.fit_path(X[train], y[train], KS)
            wrong[i] += [np.sum(path[k].predict(X[test]) != y[test]) for k in KS]
    paths = [model.fit_path(X, y, KS) for model in models]
    best = wrong.argmin(axis=0)
    return {k: paths[i][k].predict(X_new) for i, k in zip(best.tolist(), KS)}


def anova(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """The k largest F values."""
    order = np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")
    return {k: _shrunk_lda(X, y, X_new, order[:k]) for k in KS}


def svm_rfe_liblinear(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """One class against the rest, squared hinge (scikit-learn's LinearSVC)."""
    svm = LinearSVC(C=1.0, dual=True, max_iter=100_000, random_state=0)
    return _eliminate(svm, X, y, X_new)


def svm_rfe_libsvm(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """Class against class, hinge (scikit-learn's SVC)."""
    return _eliminate(SVC(kernel="linear", C=1.0), X, y, X_new)


def _eliminate(
    svm: LinearSVC | SVC, X: np.ndarray, y: np.ndarray, X_new: np.ndarray
) -> dict[int, np.ndarray]:
    """Recursive elimination by squared weights: a tenth a round, below 60 one by one."""
    alive, found = np.arange(X.shape[1]), {}
    while alive.size >= min(KS):
        if alive.size in KS:
            found[alive.size] = _shrunk_lda(X, y, X_new, alive)
        weight = np.square(svm.fit(X[:, alive], y).coef_).sum(axis=0)
        drop = 1 if alive.size <= 60 else max(1, min(alive.size // 10, alive.size - 60))
        alive = alive[np.sort(np.argsort(-weight, kind="stable")[: alive.size - drop])]
    return found


def _shrunk_lda(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, columns: np.ndarray) -> np.ndarray:
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return lda.fit(X[:, columns], y).predict(X_new[:, columns])


TUNED = "SparseLDA, s tuned"
METHODS: dict[str, Method] = {
    "SparseLDA": sparse_lda,
    "SVM-RFE (libsvm)": svm_rfe_libsvm,
    "SVM-RFE (liblinear)": svm_rfe_liblinear,
    "ANOVA": anova,
}
EFFORTS: dict[str, Method] = {
    "SparseLDA": sparse_lda,
    "effort quick": sparse_lda_quick,
    "effort 0": sparse_lda_greedy,
}


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--efforts", action="store_true")
    arguments = parser.parse_args()
    if arguments.efforts:
        METHODS.clear()
        METHODS.update(EFFORTS)
    if arguments.tuned:
        METHODS[TUNED] = tuned_sparse_lda
    names = arguments.sets.split(",")
    accuracy = np.full((len(METHODS), len(names), arguments.splits, len(KS)), np.nan)
    seconds = np.zeros(len(METHODS))
    for s, name in enumerate(names):
        X, y = load_open_set(name)
        for r in range(arguments.splits):
            train, test = half_split(y, r)
            mean, sd = X[train].mean(axis=0), X[train].std(axis=0)
            Z = (X - mean) / np.where(sd > 0, sd, 1.0)
            for m, method in enumerate(METHODS.values()):
                start = time.perf_counter()
                found = method(Z[train], y[train], Z[test])
                seconds[m] += time.perf_counter() - start
                accuracy[m, s, r] = [np.mean(found[k] == y[test]) for k in KS]
        row = "  ".join(
            f"{method} " + " ".join(f"{a:.3f}" for a in accuracy[m, s].mean(axis=0))
            for m, method in enumerate(METHODS)
        )
        print(f"{name:20s} {row}", flush=True)
    _summary(accuracy, seconds / (len(names) * arguments.splits))


def _summary(accuracy: np.ndarray, seconds: np.ndarray) -> None:
    print(f"\n{'mean test accuracy':20s}" + "".join(f"  k={k:<4d}" for k in KS) + "  s per path")
    for m, method in enumerate(METHODS):
        cells = "".join(f"  {a:.4f}" for a in accuracy[m].mean(axis=(0, 1)))
        print(f"{method:20s}{cells}  {seconds[m]:.2f}")
    print(f"{'bar':20s}" + "".join(f"  {b:.4f}" for b in BARS))
    for m, method in enumerate(METHODS):
        if m == 0:
            continue
        difference = accuracy[0] - accuracy[m]
        each, by_set = difference.reshape(-1, len(KS)), difference.mean(axis=1)
        cells = "".join(
            f"  {d:+.4f} ({e:.4f}, {s:.4f})"
            for d, e, s in zip(each.mean(axis=0), _standard_error(each), _standard_error(by_set))
        )
        print(f"SparseLDA - {method}:{cells}")


def _standard_error(rows: np.ndarray) -> np.ndarray:
    if len(rows) < 2:
        return np.full(rows.shape[1], np.nan)
    return rows.std(axis=0, ddof=1) / np.sqrt(len(rows))


if __name__ == "__main__":
    main()
