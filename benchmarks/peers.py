"""eigensieve beside the packages that people would otherwise take: speed, quality, failures.

``OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks.peers [--only pca,lasso]``
(EIGENSIEVE_DATA, and ``pip install 'eigensieve[bench]' celer``). Every figure of
docs/comparison.md is printed here, in one run.

Seconds are CPU seconds, user and system, of the fastest of a few runs on one core: other work on
the machine disturbs them less than it would the clock on the wall. Where a peer has several
variants, all are printed, and the page quotes the strongest. A penalty is tuned by bisection until
k features are left; for sparse PCA the seconds contain that, for sparse CCA they stand apart.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.decomposition import SparsePCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.svm import SVC

import eigensieve as es
from benchmarks import accuracy, cca
from benchmarks.data import data_folder, load_open_set
from benchmarks.greedy import planted
from benchmarks.peer_processes import failures, first_calls, memory
from eigensieve.experiments.data import half_split
from eigensieve.pencil.budget import Budget
from eigensieve.scoring.gloss import make_search

PACKAGES = (
    "eigensieve", "numpy", "scipy", "scikit-learn",
    "fastcan", "abess", "skglm", "celer", "cca-zoo",
)  # fmt: skip
SETS = ("colon", "leukemia", "prostate", "srbct83", "lymphoma", "sonar", "ionosphere")
SPLITS = 5
KS = (5, 10, 20)  # of the error tables, and of sparse PCA


def cpu(function: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The answer, and the CPU seconds of the fastest run; the first (warm-up) does not count."""
    answer, times = function(), []
    for _ in range(repeats):
        start = time.process_time()
        answer = function()
        times.append(time.process_time() - start)
    return answer, min(times)


def once(function: Callable[[], Any]) -> tuple[Any, float]:
    """The answer of one run, and its CPU seconds."""
    start = time.process_time()
    return function(), time.process_time() - start


def header() -> None:
    """Versions and machine, without its name."""
    print("Python", platform.python_version(), platform.machine(), f"{os.cpu_count()} cores")
    for name in PACKAGES:
        try:
            print(f"  {name} {version(name)}", end="")
        except PackageNotFoundError:
            print(f"  {name} is not installed", end="")
    print(f"\n  load when it began: {os.getloadavg()[0]:.1f}")


# -- choosing columns ----------------------------------------------------------------


def choosing() -> None:
    """Seconds of one selection of exactly k columns, and the criterion reached."""
    from fastcan import FastCan

    for n, p, k in ((62, 2_000, 10), (100, 20_000, 20)):
        X, y = planted(n, p, 2, 1)
        print(f"\nchoosing {k} of {p:,} columns, {n} rows (simulated, two classes)")
        models: dict[str, tuple[Callable[[], Any], int]] = {
            "SparseLDA": (partial(es.SparseLDA(k).fit, X, y), 3),
            "SparseLDA, greedy": (partial(es.SparseLDA(k, certificate="none").fit, X, y), 3),
            "SparseLDA, quick bound": (partial(es.SparseLDA(k, effort=0).fit, X, y), 3),
            "SparseLDA, forward only": (partial(forward_lda(k).fit, X, y), 3),
            "SparseLDA, shrinkage=0": (partial(forward_lda(k, 0.0).fit, X, y), 3),
            "fastcan": (partial(FastCan(k, verbose=0).fit, X, y), 3),
            "SVM-RFE, a tenth a step": (partial(elimination(k).fit, X, y), 1),
            "abess LogisticRegression": (partial(best_subset(y, k).fit, X, y), 1),
        }
        report_choices(X, y, k, models)
    X, labels = load_open_set("sonar")
    y = (labels == "M").astype(float)
    print("\nchoosing 10 of 60 columns, 208 rows (sonar)")
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    forward = SequentialFeatureSelector(lda, n_features_to_select=10)
    models = {
        "SparseLDA": (partial(es.SparseLDA(10).fit, X, y), 3),
        "SparseLDA, greedy": (partial(es.SparseLDA(10, certificate="none").fit, X, y), 3),
        "fastcan": (partial(FastCan(10, verbose=0).fit, X, y), 3),
        "SFS of shrunk LDA": (partial(forward.fit, X, y), 0),
        "abess LogisticRegression": (partial(best_subset(y, 10).fit, X, y), 1),
    }
    report_choices(X, y, 10, models)


def report_choices(
    X: np.ndarray, y: np.ndarray, k: int, models: dict[str, tuple[Callable[[], Any], int]]
) -> None:
    """Seconds, ratio to SparseLDA, and the class separation of the chosen set with two criteria."""
    pencils = [es.lda_pencil(X, y, shrinkage=s) for s in ("auto", 0.0)]
    base = None
    print(f"{'':<28}{'CPU s':>9}{'ratio':>8}{'k':>5}{'shrunk':>9}{'plain':>9}")
    for name, (fit, repeats) in models.items():
        model, seconds = cpu(fit, repeats) if repeats else once(fit)
        base = seconds if base is None else base
        S = chosen_of(model)
        scores = [separation(pencil, S) for pencil in pencils]
        print(
            f"{name:<28}{seconds:9.3f}{seconds / base:8.2f}{S.size:5d}"
            f"{scores[0]:9.4f}{scores[1]:9.4f}"
        )


def chosen_of(model: Any) -> np.ndarray:
    """The columns a fitted model of any package uses."""
    if hasattr(model, "get_support"):
        return np.flatnonzero(model.get_support())
    return np.flatnonzero(np.atleast_2d(model.coef_.T).any(axis=0))


def separation(pencil: es.Pencil, S: np.ndarray) -> float:
    """log det(I + B^-1 A) of a set, computed here."""
    small = pencil.restrict(S)
    return float(np.linalg.slogdet(small.A + small.B)[1] - np.linalg.slogdet(small.B)[1])


def forward_lda(k: int, shrinkage: float | str = "auto") -> es.SparseLDA:
    """Forward steps, no swap, no bound: what fastcan does where the shrinkage is 0."""
    options = {"direction": "forward", "swap": False}
    return es.SparseLDA(
        k, solver="greedy", shrinkage=shrinkage, certificate="none", solver_options=options
    )


def elimination(k: int) -> RFE:
    """SVM-RFE, a tenth of the columns a step."""
    return RFE(SVC(kernel="linear", C=1.0), n_features_to_select=k, step=0.1)


def best_subset(y: np.ndarray, k: int) -> Any:
    """abess for two classes, or for more."""
    import abess

    kind = abess.LogisticRegression if np.unique(y).size == 2 else abess.MultinomialRegression
    return kind(support_size=k)


# -- error on rows that were not seen ------------------------------------------------


def errors() -> None:
    """Half/half splits of open data sets: the error at exactly k columns, and the seconds."""
    methods = {
        "SparseLDA": accuracy.sparse_lda,
        "SparseLDA, effort 0": accuracy.sparse_lda_greedy,
        "fastcan + shrunk LDA": by_fastcan,
        "abess, its own rule": by_abess,
        "abess + shrunk LDA": by_abess_and_lda,
        "SVM-RFE + shrunk LDA": accuracy.svm_rfe_libsvm,
        "ANOVA + shrunk LDA": accuracy.anova,
    }
    print(f"\ntest error in %, mean of {SPLITS} half/half splits, k = {KS}; CPU s a path")
    table = np.full((len(methods), len(SETS), SPLITS, len(KS)), np.nan)
    seconds = np.zeros(len(methods))
    for s, name in enumerate(SETS):
        X, y = load_open_set(name)
        for r in range(SPLITS):
            train, test = half_split(y, r)
            mean, sd = X[train].mean(axis=0), X[train].std(axis=0)
            Z = ((X - mean) / np.where(sd > 0, sd, 1.0))[:, sd > 0]  # abess refuses constants
            for m, method in enumerate(methods.values()):
                found, took = once(partial(method, Z[train], y[train], Z[test]))
                seconds[m] += took / (len(SETS) * SPLITS)
                table[m, s, r] = [np.mean(found[k] != y[test]) for k in KS]
    means = 100 * table.mean(axis=2)
    print(f"{'':<26}{'mean over the sets':<20}{'CPU s':>7}   each set at k = {KS[1]}")
    for m, name in enumerate(methods):
        mean = "".join(f"{e:6.1f}" for e in means[m].mean(axis=0))
        each = " ".join(f"{e:5.1f}" for e in means[m, :, 1])
        print(f"{name:<26}{mean:<20}{seconds[m]:7.2f}   {each}")
    print(f"{'':<26}{'':<30}{' '.join(SETS)}")


def by_fastcan(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """Forward selection by canonical correlation with the class indicators."""
    from fastcan import FastCan

    classes = np.unique(y)
    target = (y[:, None] == classes[: max(1, classes.size - 1)]).astype(float)
    order = FastCan(max(KS), verbose=0).fit(X, target).indices_
    return {k: accuracy._shrunk_lda(X, y, X_new, order[:k]) for k in KS}


def by_abess(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """Best-subset logistic regression, and what it predicts itself."""
    classes, codes = np.unique(y, return_inverse=True)
    return {k: classes[best_subset(codes, k).fit(X, codes).predict(X_new).astype(int)] for k in KS}


def by_abess_and_lda(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> dict[int, np.ndarray]:
    """The same columns, and the classifier that the other selections get."""
    codes = np.unique(y, return_inverse=True)[1]
    sets = {k: chosen_of(best_subset(codes, k).fit(X, codes)) for k in KS}
    return {k: accuracy._shrunk_lda(X, y, X_new, S) for k, S in sets.items()}


# -- sparse PCA at exactly k ---------------------------------------------------------


def components() -> None:
    """The variance of one component with exactly k columns."""
    X = load_open_set("colon")[0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    print("\nvariance of one component of exactly k columns (CPU s)")
    compare_components("colon", X.T @ X / len(X), X)
    penalised = SparsePCA(1, alpha=1, random_state=0, max_iter=200).fit(X).components_
    print(
        f"    scikit-learn's SparsePCA(1, alpha=1) leaves {np.count_nonzero(penalised):,} of them"
    )
    for name in ("communities", "digits"):
        with np.load(data_folder() / "covariance" / f"{name}.npz") as file:
            S = file["S"]
        compare_components(name, (S + S.T) / 2, symmetric_root(S))


def symmetric_root(S: np.ndarray) -> np.ndarray:
    """Rows whose second moments are S, for packages that want rows."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(np.maximum(values, 0.0))).T * np.sqrt(len(S))


def compare_components(name: str, S: np.ndarray, rows: np.ndarray) -> None:
    solvers: dict[str, Callable[[int], np.ndarray]] = {
        "eigensieve greedy": lambda k: es.solve(es.Pencil(S), k, "greedy").support,
        "eigensieve dc": lambda k: es.solve(es.Pencil(S), k, "dc").support,
        "abess SparsePCA(Sigma)": lambda k: abess_component(S, k),
        "scikit-learn SparsePCA, tuned": lambda k: tuned_component(rows, k),
        "largest entries of PCA": lambda k: np.argsort(-np.abs(np.linalg.eigh(S)[1][:, -1]))[:k],
    }
    print(f"  {name}, {len(S):,} columns: k = {KS}")
    for label, solver in solvers.items():
        cells = ""
        for k in KS:
            support, seconds = once(lambda f=solver, k=k: f(k))
            top = np.linalg.eigvalsh(S[np.ix_(support, support)])[-1]
            cells += f"{top:10.4f} ({seconds:.2f} s, k = {support.size})"
        print(f"    {label:<30}{cells}", flush=True)
    if len(S) < 500:
        for k in KS:
            proved = es.solve(es.Pencil(S), k, "exact", time_limit=20)
            print(
                f"    proved for k = {k}: at most {proved.bound:.4f}, found {proved.objective:.4f}"
            )


def abess_component(S: np.ndarray, k: int) -> np.ndarray:
    """Splicing on the matrix: of fewer rows than columns it makes nothing (see the edge cases).

    A millionth on the diagonal: a matrix of lower rank is refused, as round-off makes it so.
    """
    import abess

    safe = (S + S.T) / 2 + 1e-6 * np.trace(S) / len(S) * np.eye(len(S))
    return np.flatnonzero(abess.SparsePCA(support_size=k).fit(Sigma=safe).coef_)


def tuned_component(rows: np.ndarray, k: int) -> np.ndarray:
    """alpha by bisection until k loadings are left; if it skips k, the k largest of a few more."""
    low, high, best = 1e-3, 1e3, None
    for _ in range(14):
        alpha = np.sqrt(low * high)
        v = SparsePCA(1, alpha=alpha, random_state=0, max_iter=200).fit(rows).components_[0]
        if np.count_nonzero(v) >= k:
            best, low = v, alpha
        else:
            high = alpha
        if np.count_nonzero(v) == k:
            break
    assert best is not None
    return np.argsort(-np.abs(best), kind="stable")[:k]


# -- sparse CCA ----------------------------------------------------------------------


def views() -> None:
    """cca-zoo at 10 + 10 of 2,000 + 2,000 columns; benchmarks.cca has more models and seeds."""
    rng = np.random.default_rng(0)
    train, fresh = cca.draw(rng, cca.N, "weak"), cca.draw(rng, cca.FRESH, "weak")
    print("\nsparse CCA, 200 rows, a latent in 10 + 10 of 2,000 + 2,000 columns, weak (one seed)")
    print(
        f"{'':<24}{'held-out':>9}{'refitted':>9}{'true/20':>8}{'left':>6}{'CPU s':>8}{'tuning':>8}"
    )
    for name, row in (*our_views(train, fresh), *their_views(train, fresh)):
        print(
            f"{name:<24}{row.held_out:9.4f}{row.refitted:9.4f}{row.found:8d}{row.left:6d}"
            f"{row.seconds:8.2f}{row.tuning:8.2f}",
            flush=True,
        )


def our_views(train: cca.Pair, fresh: cca.Pair) -> Iterator[tuple[str, cca.Row]]:
    for solver in ("greedy", "dc"):
        model, seconds = once(lambda s=solver: es.SparseCCA(solver=s).fit(*train))
        weights = model.x_weights_, model.y_weights_
        yield f"eigensieve {solver}", cca.judge(train, fresh, weights, seconds)


def their_views(train: cca.Pair, fresh: cca.Pair) -> Iterator[tuple[str, cca.Row]]:
    """Centred columns, not scaled: the simulation has equal scales."""
    centred = tuple(V - V.mean(axis=0) for V in train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at penalties on the way
        for name, (make, ends) in cca.peers(slow=False).items():
            penalty, tuning = once(lambda m=make, e=ends: cca.tuned(m, e, centred))
            model, seconds = once(lambda m=make, a=penalty: m(a).fit(list(centred)))
            weights = tuple(np.ravel(w[:, 0]) for w in model.weights_)
            yield f"cca-zoo {name}", cca.judge(train, fresh, weights, seconds, tuning)


# -- group lasso ---------------------------------------------------------------------


def lasso() -> None:
    """The same convex problem: a path of 12 penalties, to 1e-4 of the optimality conditions."""
    print("\ngroup lasso, a path of 12 penalties; peers at their loosest tolerance that is enough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tolerances that are too loose say so
        for name in ("srbct", "prostate"):
            compare_paths(name)


def compare_paths(name: str) -> None:
    """One set, all packages: CPU seconds of a warm path, and how exact it is."""
    from benchmarks import gloss

    X, y = gloss.load(name)
    problem = es.ScoringProblem.from_data(X, y)
    rows, target, penalties = problem.factor, problem.target, problem.lambda_max * gloss.SHARES

    def judge(path: list[np.ndarray]) -> float:
        return max(gloss.kkt_of(rows, target, B, t) for B, t in zip(path, penalties))

    def ours() -> list[Any]:
        search = make_search(es.ScoringProblem.from_data(X, y), "auto", 1e-10, Budget())
        return [search.solve(float(t)).coefficients for t in penalties]

    found, base = cpu(ours)
    print(f"  {name}, {len(X)} x {X.shape[1]:,}")
    print(f"    {'eigensieve, tol 1e-10':<34}{base:8.3f} s          KKT {judge(found):.0e}")
    for rival, path in gloss.rivals(rows, target, penalties):
        _, first = once(partial(path, 1e-2))
        tol, worst = gloss.loosest(path, judge)
        _, seconds = cpu(partial(path, tol), 2)
        print(
            f"    {rival:<34}{seconds:8.3f} s x {seconds / base:6.1f} KKT {worst:.0e}"
            f" at tol {tol:.0e}, first path {first:.1f} s",
            flush=True,
        )


SECTIONS = {
    "choosing": choosing,
    "errors": errors,
    "pca": components,
    "cca": views,
    "lasso": lasso,
    "first": first_calls,
    "memory": memory,
    "failures": failures,
}


def main() -> None:
    """Run everything, or the sections named, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, by comma")
    wanted = parser.parse_args().only.split(",")
    header()
    for name in wanted:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
