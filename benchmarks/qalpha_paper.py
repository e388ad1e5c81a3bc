"""Q-alpha on the simulations of Wolf & Shashua (2005), beside the figures of ../shared/notes.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.qalpha_paper [--part weston] [--runs 30]``

One start from the singular vectors, at most 20 cycles, tol 1e-4. Repetition r draws from
default_rng(r). A line has the notes' value, ours, its standard error, and "agrees" within two
standard errors of a difference: both are means of as many runs (``--runs`` changes ours only).

Weston: error on 500 fresh samples of a support vector machine (C = 1, features standardised by the
training samples) on the best 6 (linear) or 2 (polynomial of degree 2) features. Supervised: classes
are normalised together; 2 directions within, 1 between, gamma = .5.

Gap: mean weight of the 5 relevant features over that of the other 120. Kernel: share of runs with
10 of the 12 relevant features among the best 12; "squared" squares what is measured, then centres.
Ben-Dor: share of relevant features among as many best ones. Positivity: share of random matrices
of positive mean whose leading eigenvector has one sign (erratum 6).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy import linalg
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import eigensieve as es
from eigensieve.datasets import wolf2005

SIZES = (20, 50, 75, 100)
# "-": the notes have no figure
LINEAR = {
    "supervised, offset .5": "0.207 0.062 0.014 0.010",
    "supervised, offset 0": "0.49 0.49 0.49 0.49",
    "unsupervised": "- - - 0.17",
    "Fisher score": "0.173 0.043 0.013 0.010",
    "all features": "0.329 0.204 0.157 0.117",
}
NONLINEAR = {
    "supervised, offset 0": "0.319 0.063 0.041 0.039",
    "oracle": "0.073 0.047 0.041 0.039",
}
GAP = "39.9 29.8 21.8 16.0 11.7 9.1 6.2 3.6 3.3"
SPREADS = (0.001, 0.005, 0.01, 0.02, 0.03, 0.04)
KERNEL = {
    "kernel": "1.000 0.975 0.863 0.637 0.412 0.175",
    "squared": "1.000 0.863 0.425 0.025 0.000 0.000",
    "plain": "0.06 0.000 0.000 0.000 0.000 0.000",
}
# mean, deviation, size of the matrix, share of positive eigenvectors, default number of runs
POSITIVITY = (
    (1 / 6, 2**0.5 / 6, 20, "0.968", 2000),
    (1 / 6, 2**0.5 / 6, 25, "0.992", 2000),
    (0.1, 1.0, 500, "0.000", 40),
    (0.1, 1.0, 2000, "1.000", 40),
)


def weights(
    X: np.ndarray,
    n_clusters: int = 2,
    *,
    y: np.ndarray | None = None,
    offset: float = 0.0,
    center: bool = True,
    scale: bool = True,
    session: int | None = None,
) -> np.ndarray:
    """Weights of the columns of X; with ``session``, by the kernel over blocks of so many rows."""
    return es.qalpha(
        X.T,
        n_clusters,
        y=y,
        variant="standard" if y is None else "supervised",
        kernel=None if session is None else "block",
        kernel_params=None if session is None else {"size": session},
        n_init=1,
        offset=offset,
        center=center,
        scale=scale,
        tol=1e-4,
        max_iter=20,
    ).alpha


def fisher_scores(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared difference of the two means over the sum of the variances."""
    one, other = X[y == 1], X[y == -1]
    apart = one.mean(axis=0) - other.mean(axis=0)
    return np.asarray(apart**2 / (one.var(axis=0) + other.var(axis=0)))


def best(scores: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(-scores, kind="stable")[:count]


def show(name: str, published: str, values: list[float], yes_no: bool = False) -> None:
    """One line; of yes and no the error is that of a share, between the notes' share and ours."""
    runs, ours = len(values), float(np.mean(values))
    known = published != "-"
    digits = len(published.partition(".")[2]) if known else 2
    error = float(np.std(values, ddof=1) / np.sqrt(runs))
    if yes_no:
        share = (ours + float(published)) / 2
        error = float(np.sqrt(share * (1 - share) / runs))
    verdict = ""
    if known:
        apart = abs(ours - float(published))
        rounding = 0.5 * 10.0**-digits
        verdict = "agrees" if apart <= 2 * np.sqrt(2) * error + rounding else "differs"
    print(f"  {name:<32}{published:>8}{ours:9.{digits}f}  ({error:.{digits + 1}f})  {verdict}")


def error_on(train: tuple, test: tuple, columns: np.ndarray, machine: SVC) -> float:
    """Error on the test samples with these columns."""
    (X, y), (X_test, y_test) = train, test
    model = make_pipeline(StandardScaler(), machine).fit(X[:, columns], y)
    return 1.0 - float(model.score(X_test[:, columns], y_test))


def linear_columns(X: np.ndarray, y: np.ndarray, q: int) -> dict[str, np.ndarray]:
    """Columns by method; the unsupervised one where the notes have a figure."""
    columns = {
        "supervised, offset .5": best(weights(X, y=y, offset=0.5), 6),
        "supervised, offset 0": best(weights(X, y=y), 6),
        "Fisher score": best(fisher_scores(X, y), 6),
        "all features": np.arange(X.shape[1]),
    }
    if q == SIZES[-1]:
        columns["unsupervised"] = best(weights(X), 6)
    return columns


def nonlinear_columns(X: np.ndarray, y: np.ndarray, q: int) -> dict[str, np.ndarray]:
    """Columns by method."""
    return {"supervised, offset 0": best(weights(X, y=y), 2), "oracle": np.arange(2)}


def print_weston(runs: int = 30) -> None:
    """Both problems of Weston et al."""
    for title, draw, choose, machine, published in (
        ("linear", wolf2005.weston_linear, linear_columns, SVC(kernel="linear"), LINEAR),
        (
            "non-linear",
            wolf2005.weston_nonlinear,
            nonlinear_columns,
            SVC(kernel="poly", degree=2, coef0=1.0),
            NONLINEAR,
        ),
    ):
        print(f"\nWeston, {title}: test error, {runs} runs")
        for i, q in enumerate(SIZES):
            errors: dict[str, list[float]] = {name: [] for name in published}
            for seed in range(runs):
                rng = np.random.default_rng(seed)
                X, y, _ = draw(q, rng)
                X_test, y_test, _ = draw(500, rng)
                for name, columns in choose(X, y, q).items():
                    errors[name].append(error_on((X, y), (X_test, y_test), columns, machine))
            for name, values in errors.items():
                if values:
                    show(f"q = {q}, {name}", published[name].split()[i], values)


def print_gap(runs: int = 20) -> None:
    """The sparsity gap against the number of clusters."""
    print(f"\nsparsity gap, k = number of clusters, {runs} runs")
    for k, published in enumerate(GAP.split(), start=2):
        ratios = []
        for seed in range(runs):
            X, _, relevant = wolf2005.clusters_in_noise(k, np.random.default_rng(seed))
            alpha = weights(X, k)
            ratios.append(float(alpha[relevant].mean() / alpha[~relevant].mean()))
        show(f"{k} clusters", published, ratios)


def print_kernel(runs: int = 80) -> None:
    """Hidden signs: the kernel over sessions, squares, and the plain method."""
    print(f"\nhidden sessions, k = 3: share of successes, {runs} runs")
    for i, spread in enumerate(SPREADS):
        found: dict[str, list[float]] = {name: [] for name in KERNEL}
        for seed in range(runs):
            X, _, relevant = wolf2005.hidden_sessions(spread, np.random.default_rng(seed))
            for name, alpha in {
                "kernel": weights(X, 3, center=False, session=wolf2005.SESSION),
                "squared": weights(X**2, 3),
                "plain": weights(X, 3, center=False),
            }.items():
                found[name].append(float(relevant[best(alpha, 12)].sum() >= 10))
        for name, values in found.items():
            show(f"spread {spread}, {name}", KERNEL[name].split()[i], values, yes_no=True)


def print_ben_dor(runs: int = 20) -> None:
    """Precision with unit norm, and without: then the scale tells relevant features."""
    print(f"\nBen-Dor: precision, {runs} runs")
    for title, e, s in (
        ("defaults", 0.72, 0.75),
        ("e = .995", 0.995, 0.75),
        ("s = 1000", 0.72, 1e3),
    ):
        for scale in (True, False):
            precision = []
            for seed in range(runs):
                X, _, relevant = wolf2005.ben_dor(np.random.default_rng(seed), e=e, s=s)
                chosen = best(weights(X, scale=scale), int(relevant.sum()))
                precision.append(float(relevant[chosen].mean()))
            published = "0.85" if scale and title == "defaults" else "-"
            show(f"{title}, {'' if scale else 'no '}unit norm", published, precision)


def print_positivity(runs: int | None = None) -> None:
    """How often the leading eigenvector is positive."""
    print("\npositive leading eigenvector: share of matrices")
    for mean, deviation, n, published, usual in POSITIVITY:
        positive = []
        for seed in range(usual if runs is None else runs):
            rng = np.random.default_rng(seed)
            G = wolf2005.positive_mean_matrix(n, mean, deviation, rng)
            _, v = linalg.eigh(G, subset_by_index=[n - 1, n - 1])
            positive.append(float(np.all(v > 0) or np.all(v < 0)))
        show(f"mean {mean:.3f}, sd {deviation:.3f}, n = {n}", published, positive, yes_no=True)


PARTS: dict[str, Callable[..., None]] = {
    "weston": print_weston,
    "gap": print_gap,
    "kernel": print_kernel,
    "bendor": print_ben_dor,
    "positivity": print_positivity,
}


def main() -> None:
    """Run everything and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, help="instead of those of the notes")
    parser.add_argument("--part", choices=("all", *PARTS), default="all")
    wishes = parser.parse_args()
    print(f"eigensieve {es.__version__}, numpy {np.__version__}: notes, ours (standard error)")
    for name, run in PARTS.items():
        if wishes.part in ("all", name):
            run(*([] if wishes.runs is None else [wishes.runs]))


if __name__ == "__main__":
    main()
