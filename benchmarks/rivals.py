"""How tight bounds of sparse PCA are without a search: spectral, DSPCA, and what fits print.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.rivals`` (one core, needs EIGENSIEVE_DATA). Gaps are
to the best set that greedy search finds with 20 starts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import eigensieve as es
from benchmarks.data import data_folder
from eigensieve.pencil.problem import make_problem
from eigensieve.search.quick_bound import root_bound
from eigensieve.search.spectral_bound import spectral_upper_bound

KS = (3, 5, 6, 10)


def matrices() -> Iterator[tuple[str, np.ndarray]]:
    """Pit props, the covariances of the data folder, and correlations of noise."""
    folder = data_folder()
    with np.load(folder / "pitprops.npz") as file:
        yield "pit props", file["corr"]
    for path in sorted((folder / "covariance").glob("*.npz")):
        with np.load(path) as file:
            yield path.stem, file["S"]
    yield "noise, 200 rows", np.corrcoef(np.random.default_rng(0).normal(size=(200, 100)).T)


def main() -> None:
    """Print a line per matrix and k."""
    print("gap in %, seconds             columns   k   spectral        dspca            root")
    for name, S in matrices():
        pencil = es.Pencil(S)
        for k in KS:
            best = es.solve(pencil, k, "greedy", n_starts=20)
            problem = make_problem(pencil, k)
            line = f"{name:<30}{len(S):>7}{k:>4}"
            for bound in (
                lambda p=problem: spectral_upper_bound(p),
                lambda k=k, A=pencil: es.solve(A, k, "dspca", time_limit=20).bound,
                lambda p=problem, S=best.support: root_bound(p, S),
            ):
                start = time.perf_counter()
                gap = 100 * (bound() / best.objective - 1)
                line += f"{max(gap, 0):8.2f} {time.perf_counter() - start:6.3f} "
            print(line)


if __name__ == "__main__":
    main()
