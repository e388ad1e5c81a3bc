"""How close greedy search comes to the optimum: the Monte Carlo of Moghaddam et al. 2006.

``python -m benchmarks.quality [--pairs 100]``. Pairs of fractional Brownian covariances (n = 16,
Hurst exponent U(.1, .9), 64 samples), A full or of rank one; mean ratio to the optimum
(solver "exhaustive") at the worst k, and how often the optimum itself was found.
"""

from __future__ import annotations

import argparse

import numpy as np

import eigensieve as es

N, KS = 16, range(1, 16)
METHODS = {
    "threshold on x": {"solver": "threshold", "vector": "x"},
    "threshold on y (the paper's)": {"solver": "threshold", "vector": "y"},
    "forward": {"direction": "forward", "swap": False},
    "backward": {"direction": "backward", "swap": False},
    "both (GSLDA)": {"direction": "both", "swap": False},
    "both + swap (default)": {},
    "both + swap, 7 starts": {"n_starts": 7, "random_state": 0},
}


def brownian_covariance(rng: np.random.Generator, samples: int = 64) -> np.ndarray:
    """Sample covariance of fractional Brownian motion."""
    H = 2 * rng.uniform(0.1, 0.9)
    t = np.arange(1.0, N + 1)
    C = (t[:, None] ** H + t**H - np.abs(t[:, None] - t) ** H) / 2
    return np.cov(rng.multivariate_normal(np.zeros(N), C, size=samples).T, bias=True)


def main() -> None:
    """Run the Monte Carlo and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100)
    pairs = parser.parse_args().pairs
    for label in ("rank one", "full rank"):
        rng = np.random.default_rng(0)
        ratios = {name: np.empty((pairs, len(KS))) for name in METHODS}
        for i in range(pairs):
            A, B = brownian_covariance(rng), brownian_covariance(rng)
            if label == "rank one":
                d = rng.multivariate_normal(np.zeros(N), A)
                A = np.outer(d, d)
            pencil = es.Pencil(A, B)
            best = es.solve_path(pencil, KS, solver="exhaustive").objectives
            for name, options in METHODS.items():
                ratios[name][i] = es.solve_path(pencil, KS, **options).objectives / best
        print(f"{label}, {pairs} pairs        mean ratio at the worst k   (k)   optimum found")
        for name, ratio in ratios.items():
            mean = ratio.mean(axis=0)
            found = np.mean(ratio > 1 - 1e-9)
            print(f"  {name:30s} {mean.min():.4f} {'':16s} {KS[mean.argmin()]:5d}   {found:8.1%}")


if __name__ == "__main__":
    main()
