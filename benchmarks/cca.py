"""Sparse CCA on planted views: what holds on fresh rows, against cca-zoo at 10 + 10 features.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.cca [--seeds 3] [--models easy,weak] [--slow]``

200 rows, 2,000 columns a view, a latent in ten columns of each. Three models:

* easy: each of the ten is the latent plus unit noise;
* weak: 0.7 times the latent plus unit noise;
* nuisance: weak, and in each view forty other columns share a strong factor of their own.

The peers' penalties are tuned by bisection so that 10 + 10 weights are left (as near as they
get), on raw and on standardised columns, each a row of its own. Two held-out correlations on 2,000
fresh rows: of the weights as they are, and of classical CCA refitted on the ten largest of each
view. Seconds are those of one fit at the tuned penalty; tuning comes on top.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import eigensieve as es

N, P, K, FRESH = 200, 2_000, 10, 2_000
MODELS = {"easy": (1.0, 0), "weak": (0.7, 0), "nuisance": (0.7, 40)}
FITS = 12  # of a bisection

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Row:
    """One fit: held-out correlations, true features found (of 20), weights left, seconds."""

    held_out: float
    refitted: float
    found: int
    left: int
    seconds: float
    tuning: float = 0.0


def draw(rng: np.random.Generator, n: int, model: str) -> Pair:
    """Rows of both views; the true columns are the first ten."""
    loading, crowd = MODELS[model]
    X, Y = rng.normal(size=(2, n, P))
    latent = rng.normal(size=(n, 1))
    for view in (X, Y):
        view[:, :K] += loading * latent
        view[:, K : K + crowd] += 1.5 * rng.normal(size=(n, 1))
    return X, Y


def correlation(views: Pair, weights: Pair) -> float:
    """Pearson correlation of the scores, 0 if there is none."""
    x, y = (V @ w - (V @ w).mean() for V, w in zip(views, weights))
    size = np.linalg.norm(x) * np.linalg.norm(y)
    return float(x @ y / size) if size > 0 else 0.0


def refit(views: Pair, weights: Pair) -> Pair:
    """Classical CCA on the ten largest weights of each view."""
    supports = [np.argsort(-np.abs(w), kind="stable")[:K] for w in weights]
    (Qx, Rx), (Qy, Ry) = (np.linalg.qr(V[:, S] - V[:, S].mean(0)) for V, S in zip(views, supports))
    U, _, Vt = np.linalg.svd(Qx.T @ Qy)
    full = np.zeros(P), np.zeros(P)
    for w, S, R, direction in zip(full, supports, (Rx, Ry), (U[:, 0], Vt[0])):
        w[S] = np.linalg.solve(R, direction)
    return full


def judge(train: Pair, fresh: Pair, weights: Pair, seconds: float, tuning: float = 0.0) -> Row:
    """What the weights are worth."""
    weights = np.ravel(weights[0]), np.ravel(weights[1])
    again = refit(train, weights)
    found = sum(int(np.count_nonzero(w[:K])) for w in again)
    left = sum(int(np.count_nonzero(np.abs(w) > 1e-10)) for w in weights)
    return Row(correlation(fresh, weights), correlation(fresh, again), found, left, seconds, tuning)


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """The answer, and its seconds."""
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def ours(train: Pair, fresh: Pair) -> Iterator[tuple[str, Row]]:
    """SparseCCA with default settings, per solver that is there."""
    for solver in ("greedy", "dc"):
        if solver in es.available_solvers():
            cca, seconds = timed(lambda s=solver: es.SparseCCA(solver=s).fit(*train))
            yield (
                f"eigensieve {solver}",
                judge(train, fresh, (cca.x_weights_, cca.y_weights_), seconds),
            )


def peers(slow: bool) -> dict[str, tuple[Callable[..., Any], tuple[float, float] | None]]:
    """Every sparse method of cca-zoo: penalty -> model, and where the penalty is sought.

    The interval goes from the sparse end to the dense one; None: the number of features is given.
    """
    from cca_zoo import sparse

    seeded = {"random_state": 0}
    found: dict[str, tuple[Callable[..., Any], tuple[float, float] | None]] = {
        "SpanCCA": (lambda _: sparse.SpanCCA(span=K, **seeded), None),
        "PMDCCA": (lambda b: sparse.PMDCCA(l1_bound=b, **seeded), (1 / np.sqrt(P), 1.0)),
        "ParkhomenkoCCA": (lambda a: sparse.ParkhomenkoCCA(alpha=a, **seeded), (0.9, 0.01)),
        "IPLSCCA": (lambda a: sparse.IPLSCCA(alpha=a, **seeded), (0.9, 0.01)),
        "ADMMCCA": (lambda a: sparse.ADMMCCA(alpha=a, **seeded), (0.9, 0.01)),
    }
    if slow:  # a minute or more each
        found["SAR (BIC)"] = (lambda _: sparse.SAR(), None)
        found["OMP-CCA"] = (
            lambda _: sparse.OrthogonalMatchingPursuitCCA(n_nonzero_coefs=K, **seeded),
            None,
        )
        found["ElasticNetCCA"] = (lambda a: sparse.ElasticNetCCA(alpha=a, **seeded), (5.0, 0.1))
    return found


def tuned(make: Callable[..., Any], ends: tuple[float, float] | None, views: Pair) -> Any:
    """The penalty that leaves K + K weights, or nearly so, by bisection of its logarithm."""
    if ends is None:
        return None
    (sparse_end, dense_end), best, fewest_off = np.log(ends), ends[1], np.inf
    for _ in range(FITS):
        middle = (sparse_end + dense_end) / 2
        model = make(float(np.exp(middle))).fit(list(views))
        counts = np.array([np.count_nonzero(np.abs(w) > 1e-10) for w in model.weights_])
        off = np.abs(counts - K).sum()
        if off < fewest_off:
            best, fewest_off = float(np.exp(middle)), off
        if off == 0:
            break
        if counts.sum() > 2 * K:
            dense_end = middle
        else:
            sparse_end = middle
    return best


def theirs(train: Pair, fresh: Pair, slow: bool) -> Iterator[tuple[str, Row]]:
    """cca-zoo's methods, on raw and on standardised columns."""
    scales = tuple(V.std(axis=0) for V in train)
    for label, units in (("", (np.ones(P), np.ones(P))), (", scaled", scales)):
        views = tuple((V - V.mean(axis=0)) / u for V, u in zip(train, units))
        for name, (make, ends) in peers(slow).items():
            penalty, tuning = timed(lambda m=make, e=ends, v=views: tuned(m, e, v))
            model, seconds = timed(lambda m=make, a=penalty, v=views: m(a).fit(list(v)))
            weights = tuple(np.ravel(w[:, 0]) / u for w, u in zip(model.weights_, units))
            yield name + label, judge(train, fresh, weights, seconds, tuning)


def has_peer() -> bool:
    """Whether cca-zoo is there; says its version, or how to get it."""
    try:
        import cca_zoo
    except ImportError:
        print("cca-zoo is not installed (pip install 'eigensieve[bench]'): ours only")
        return False
    print(f"cca-zoo {cca_zoo.__version__}")
    return True


def report(model: str, table: dict[str, list[Row]]) -> None:
    """Means over the seeds, best first (of both correlations), and ratios to the strongest peer."""
    head = f"{'held-out':>9}{'refitted':>9}{'true/20':>8}{'left':>6}{'seconds':>9}{'tuning':>8}"
    print(
        f"\n{model}: latent x {MODELS[model][0]}, mean of {len(next(iter(table.values())))} seeds"
    )
    print(f"{'':<24}{head}")
    best = {
        name: max(_mean(rows, "held_out"), _mean(rows, "refitted")) for name, rows in table.items()
    }
    for name in sorted(table, key=lambda name: -best[name]):
        rows = table[name]
        print(
            f"{name:<24}{_mean(rows, 'held_out'):9.4f}{_mean(rows, 'refitted'):9.4f}"
            f"{_mean(rows, 'found'):8.1f}{_mean(rows, 'left'):6.0f}"
            f"{_mean(rows, 'seconds'):9.2f}{_mean(rows, 'tuning'):8.2f}"
        )
    peer_names = [name for name in table if not name.startswith("eigensieve")]
    if not peer_names:
        return
    strongest = max(peer_names, key=lambda name: best[name])
    cost = _mean(table[strongest], "seconds") + _mean(table[strongest], "tuning")
    for name in (name for name in table if name not in peer_names):
        print(
            f"{name} to the strongest peer ({strongest}): "
            f"correlation x {best[name] / best[strongest]:.4f}, "
            f"its seconds with tuning / ours {cost / _mean(table[name], 'seconds'):.2f}"
        )


def _mean(rows: list[Row], what: str) -> float:
    return float(np.mean([getattr(row, what) for row in rows]))


def main() -> None:
    """Run everything and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--slow", action="store_true", help="also SAR, OMP-CCA, ElasticNetCCA")
    options = parser.parse_args()
    # the peers' warnings stay, one line each
    warnings.formatwarning = lambda text, kind, *_: f"  {kind.__name__}: {str(text)[:80]}\n"
    print(f"eigensieve {es.__version__}, numpy {np.__version__}")
    with_peer = has_peer()
    for model in options.models.split(","):
        table: dict[str, list[Row]] = {}
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            train, fresh = draw(rng, N, model), draw(rng, FRESH, model)
            rows = list(ours(train, fresh))
            if with_peer:
                rows += theirs(train, fresh, options.slow)
            for name, row in rows:
                table.setdefault(name, []).append(row)
        report(model, table)


if __name__ == "__main__":
    main()
