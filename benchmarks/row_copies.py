"""What copies of rows do to a study, and what groups by them make good.

``python -m benchmarks.row_copies [--studies 200]``. Tables of noise, every one of 30 rows twice,
exactly or with a tenth of a deviation of noise added to each; the labels are random, the same for a
row and its copy. Prints the mean error (guessing: .5) and the share of p-values up to .05 (should
be .05) of studies without groups and with those of `es.copy_groups`, and the
share of copies found.
"""

from __future__ import annotations

import argparse

import numpy as np

import eigensieve as es

N_ROWS, N_COLUMNS, N_PERMUTATIONS = 30, 40, 19


def noise_twice(jitter: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are next to their copies, and labels."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(N_ROWS, N_COLUMNS)), 2, axis=0)
    y = np.repeat(rng.permutation(N_ROWS) % 2, 2)
    return X + jitter * rng.normal(size=X.shape), y


def measure(jitter: float, n_studies: int) -> None:
    """One line without groups, one with them."""
    found = {"none": [], "copies": []}
    n_found = 0
    for seed in range(n_studies):
        X, y = noise_twice(jitter, seed)
        groups = es.copy_groups(X)
        n_found += 2 * N_ROWS - np.unique(groups).size
        for name, given in (("none", None), ("copies", groups)):
            study = es.study(
                X, y, es.RankedLDA("anova"), ks=(5,), k=5, n_repeats=1, groups=given,
                n_permutations=N_PERMUTATIONS, random_state=seed,
            )  # fmt: skip
            found[name].append((study.honest_error.error, study.null.p_value <= 0.05))
    for name, values in found.items():
        error, low = np.mean(values, axis=0)
        print(f"  noise added {jitter:<4} groups {name:<7} error {error:.3f}   p <= .05 {low:.3f}")
    print(f"  copies found: {n_found / (N_ROWS * n_studies):.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    n_studies = parser.parse_args().studies
    for jitter in (0.0, 0.1):
        measure(jitter, n_studies)


if __name__ == "__main__":
    main()
