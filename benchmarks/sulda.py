"""Sparse uncorrelated LDA: exact, and how fast.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.sulda [--sets colon,brain] [--repeats 3]``

All samples of a set, each of the q columns of min |g|_1 subject to U'g = c by the simplex of
eigensieve, by HiGHS (scipy, its dual simplex and its automatic choice: the faster one counts) and
by the paper's accelerated linearized Bregman iteration (delta .9, tau 1, until |U'g - c| <= 1e-5;
mu is 1.05 times the exact threshold, which is given to it for free). The singular value
decomposition, the same for all, is timed apart. Seconds are for all columns, ours the best of the
repeats. Then what the rotation of the directions changes, and the best rotation.

The tables of the paper (Chu & Zhang 2013): ``eigensieve reproduce chu2013``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.pursuit import rotation
from eigensieve.pursuit.bregman import enough_mu, solve_bregman
from eigensieve.pursuit.row_pursuit import solve_row_sparse
from eigensieve.pursuit.simplex import solve_simplex
from eigensieve.pursuit.solution import Answer, judge
from eigensieve.tables.column_statistics import class_contrasts

from .data import data_folder

SETS = ("colon", "leukemia", "prostate", "srbct", "brain", "nakayama")
LOGARITHMS = {"colon": np.log10, "nakayama": np.log2}
PAPER_EPS = 1e-5


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y as the paper takes them."""
    with np.load(data_folder() / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    return LOGARITHMS.get(name, np.asarray)(X), y


def best_of(repeats: int, function: Callable[[], Any]) -> tuple[Any, float]:
    """The answer, and the least of the times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = function()
        times.append(time.perf_counter() - start)
    return answer, min(times)


def by_highs(rows: np.ndarray, target: np.ndarray, method: str) -> float:
    """The sum of the l1 norms, every column for itself."""
    p = rows.shape[1]
    A = np.hstack([rows, -rows])
    return sum(
        linprog(np.ones(2 * p), A_eq=A, b_eq=c, bounds=(0, None), method=method).fun
        for c in target.T
    )


def compare_speed(name: str, repeats: int) -> None:
    """One set: exactness of our answer, and seconds of all."""
    X, y = load(name)
    family, svd = best_of(repeats, lambda: es.UncorrelatedFamily.from_data(X, y))
    rows, target = family.rows, family.target
    exact, ours = best_of(repeats, lambda: solve_simplex(rows, target, Budget()))
    answer = judge(rows, target, exact.x, exact.y, "l1", "simplex")
    few, extra = (
        best_of(repeats, lambda: solve_row_sparse(rows, target, exact.x, Budget()))
        if family.least_dimension > 1
        else (exact, 0.0)
    )
    shared = judge(rows, target, few.x, few.y, "l21", "simplex")
    scores = (X - family.mean) @ exact.x
    error = np.linalg.norm(scores.T @ scores / len(X) - np.eye(family.least_dimension))
    print(
        f"\n{name}: {len(X)} x {X.shape[1]}, rank {family.rank}, q = {family.least_dimension}; "
        f"decomposition {svd:.3f} s\n"
        f"  l1:  gap {answer.gap:.0e}, residual {answer.residual:.0e}, orthogonality "
        f"{error / np.sqrt(family.least_dimension):.0e}, {answer.support.size} variables, at most "
        f"{int(np.count_nonzero(exact.x, axis=0).max())} a column, {exact.n_iter} steps\n"
        f"  l21: gap {shared.gap:.0e}, residual {shared.residual:.0e}, "
        f"{shared.support.size} variables, {ours + extra:.3f} s with its l1 start"
    )
    report_rivals(rows, target, exact, answer.objective, ours)


def report_rivals(
    rows: np.ndarray, target: np.ndarray, exact: Answer, norm: float, ours: float
) -> None:
    """Seconds of the others, and ratios to ours."""
    print(f"  {'simplex':<24}{ours:9.4f} s")
    highs = {m: best_of(1, lambda m=m: by_highs(rows, target, m)) for m in ("highs-ds", "highs")}
    for method, (value, seconds) in highs.items():
        print(
            f"  {'scipy ' + method:<24}{seconds:9.4f} s   x {seconds / ours:6.1f}   "
            f"its norm - ours {(value - norm) / norm:+.0e} (relative)"
        )
    mu, tol = enough_mu(rows, exact, 0.9), PAPER_EPS / float(np.linalg.norm(target))
    slow, seconds = best_of(
        1,
        lambda: solve_bregman(
            rows, target, Budget(), mu=mu, delta=0.9, tau=1.0, tol=tol, max_iter=30_000
        ),
    )
    end = "converged" if slow.stopped is None else str(slow.stopped)
    off = np.abs(slow.x - exact.x).max() / np.abs(exact.x).max()
    print(
        f"  {'linearized Bregman':<24}{seconds:9.4f} s   x {seconds / ours:6.1f}   "
        f"{end} after {slow.n_iter} iterations, mu {mu:.0f}, largest weight off by {off:.0e}"
    )
    fastest = min(seconds for _, seconds in highs.values())
    print(f"  ratios: HiGHS / simplex {fastest / ours:.1f}, Bregman / simplex {seconds / ours:.1f}")


def report_rotation(name: str) -> None:
    """How many features change when X does by 1e-15, relatively: with either choice of rotation."""
    X, y = load(name)
    noisy = X * (1 + 1e-15 * np.random.default_rng(0).choice([-1.0, 1.0], size=X.shape))
    shares = []
    for find_target in (lambda family, y: family.target, plain_target):
        used = []
        for data in (X, noisy):
            family = es.UncorrelatedFamily.from_data(data, y)
            x = solve_simplex(family.rows, find_target(family, y), Budget()).x
            used.append(x.any(axis=1))
        shares.append(np.mean(~used[1][used[0]]))
    print(
        f"{name}: X changed by 1e-15 exchanges {100 * shares[0]:.0f} % of the features with the "
        f"rotation fixed, {100 * shares[1]:.0f} % with that of the decomposition"
    )


def report_best_rotation(name: str) -> None:
    """The least l1 norm with the rotation fixed, with the best one found, and the bound for all."""
    X, y = load(name)
    fits, seconds = [], []
    for options in ({}, {"rotation": "best"}, {"penalty": "l21"}):
        start = time.perf_counter()
        fits.append(es.SparseUncorrelatedLDA(**options).fit(X, y))
        seconds.append(time.perf_counter() - start)
    fixed, best = fits[0].solution_, fits[1].solution_
    features = ", ".join(str(int(lda.support_.sum())) for lda in fits)
    print(
        f"{name}: norm {fixed.objective:.4f} fixed, {best.objective:.4f} best, at least "
        f"{best.bound_any_rotation:.4f} (gap {best.gap_any_rotation:.2%}); features {features}; "
        f"{seconds[0]:.2f}, {seconds[1]:.2f} s, l21 {seconds[2]:.2f} s"
    )


def random_classes(n: int, p: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal numbers; class k is shifted by k in column k."""
    y = np.arange(n) % n_classes
    X = np.random.default_rng(seed).normal(size=(n, p))
    X[np.arange(n), y] += y
    return X, y


def report_search_for_a_rotation() -> None:
    """Angles that prove the best one, what more starts would find, and cost by classes."""
    shapes = ((14, 25), (30, 100), (60, 500), (45, 800), (100, 2000))
    tables = [random_classes(n, p, 3, seed) for seed, (n, p) in enumerate(shapes)]
    best = es.SparseUncorrelatedLDA(rotation="best")
    angles = [best.fit(*table).solution_.rotation_proof.angles.size for table in tables]
    print(f"three classes, five random tables: {min(angles)} to {max(angles)} angles")
    gains = []
    for seed in range(15):
        X, y = random_classes(16, 24, 4 + seed % 2, seed)
        family = es.UncorrelatedFamily.from_data(X, y)
        norms = []
        for starts in (rotation.STARTS, 40):
            with patch.object(rotation, "STARTS", starts):
                found = rotation.pursue_rotated(family.rows, family.target, Budget())[0]
            norms.append(np.abs(found.x).sum())
        gains.append(1 - norms[1] / norms[0])
    print(f"40 starts on 15 tables of 4 and 5 classes: norms smaller by up to {max(gains):.2%}")
    for n_classes in (4, 6, 8):
        table = random_classes(40, 200, n_classes, 0)
        fixed = best_of(3, lambda table=table: es.SparseUncorrelatedLDA().fit(*table))[1]
        found, seconds = best_of(1, lambda table=table: best.fit(*table))
        print(
            f"40 x 200, {n_classes} classes: {seconds:.1f} s, {seconds / fixed:.0f} times the "
            f"fixed rotation's; gap {found.solution_.gap_any_rotation:.0%}"
        )


def plain_target(family: es.UncorrelatedFamily, y: np.ndarray) -> np.ndarray:
    """The target with the rotation that the singular value decomposition (5) happens to give."""
    contrasts = class_contrasts(np.unique(y, return_inverse=True)[1])
    P = np.linalg.svd(family.left.T @ contrasts, full_matrices=False)[0]
    return P / family.singular_values[:, None]


def main() -> None:
    """Run everything and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"eigensieve {es.__version__}, numpy {np.__version__}")
    es.basis_pursuit(np.eye(3, 5), np.ones(3))  # imported outside the clock
    for name in options.sets.split(","):
        compare_speed(name, options.repeats)
    print()
    for name in ("srbct", "brain"):
        report_rotation(name)
    for name in ("lymphoma", "srbct", "brain"):
        report_best_rotation(name)
    report_search_for_a_rotation()


if __name__ == "__main__":
    main()
