"""GPU against CPU: the same calls on a numpy table and on a torch table, in one run.

``python -m benchmarks.gpu [--device cuda|cpu] [--quick] [--only NAME ...] [--json FILE]``. The data
are drawn on the device and copied to the host once; libraries and kernels are warmed up at a small
size before the clock starts, and what was asked of the device is finished when it stops. The best
of three runs on the device, one on the CPU (with as many threads as BLAS takes; set
``OPENBLAS_NUM_THREADS`` for fewer). Pencils are made outside the clock, and are new for every run
of greedy; for the bound they are as a search leaves them. The last column compares the results. A
row ends with ok or MISSED against its bar, where it has one and has its full size.

``--device cpu`` compares numpy with torch on the same cores: to see that everything runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import eigensieve as es
from eigensieve.pencil.factor_pencil import FactorPencil
from eigensieve.pencil.problem import make_problem
from eigensieve.pursuit.uncorrelated import UncorrelatedFamily
from eigensieve.search.quick_bound import root_bound
from eigensieve.tables.device_pencil import DevicePencil
from eigensieve.tables.kinds.arrays import to_numpy

REPEATS = 3
MIN_RATIO = 20.0
CLASSES = 5


@dataclass
class Row:
    """One call on both machines.

    Attributes
    ----------
    bar : seconds on the device, None where there is no bar
    agreement : what compares the two results
    """

    name: str
    size: str
    cpu_seconds: float
    device_seconds: float
    agreement: str
    bar: float | None

    @property
    def ratio(self) -> float:
        return self.cpu_seconds / self.device_seconds

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return "-"
        return "ok" if self.device_seconds < self.bar and self.ratio >= MIN_RATIO else "MISSED"


class Device:
    """Draws data, and knows when it has finished."""

    def __init__(self, name: str) -> None:
        import torch

        self.torch, self.name = torch, name
        self.is_gpu = torch.device(name).type == "cuda"
        self.generator = torch.Generator(device=name).manual_seed(0)

    @property
    def title(self) -> str:
        return self.torch.cuda.get_device_name(self.name) if self.is_gpu else "torch on the CPU"

    def normal(self, *shape: int) -> Any:
        return self.torch.randn(
            shape, dtype=self.torch.float64, device=self.name, generator=self.generator
        )

    def table(self, n: int, p: int, classes: int = CLASSES) -> tuple[Any, np.ndarray]:
        """Columns with eight factors in common; the first fifty of every class are shifted."""
        y = np.arange(n) % classes
        X = self.normal(n, p)
        X += 0.5 * (self.normal(n, 8) @ self.normal(8, p))
        for c in range(classes):
            X[c::classes, 50 * c : 50 * c + 50] += 0.5
        return X, y

    def groups(self, n: int, p: int) -> Any:
        """Four groups of samples in float32, each shifted on one feature in a hundred."""
        X = self.torch.randn(
            (n, p), dtype=self.torch.float32, device=self.name, generator=self.generator
        )
        few = p // 100
        for c in range(4):
            X[c::4, few * c : few * c + few] += 1.0
        return X

    def finish(self) -> None:
        if self.is_gpu:
            self.torch.cuda.synchronize(self.name)

    def clock(self, run: Callable[[], Any]) -> tuple[float, Any]:
        self.finish()
        start = time.perf_counter()
        result = run()
        self.finish()
        return time.perf_counter() - start, result


def compare(
    device: Device,
    call: Callable[[Any], Any],
    host: Callable[[], Any],
    there: Callable[[], Any],
    repeats: int,
) -> tuple[float, float, Any, Any]:
    """Seconds and results of ``call`` on what ``host`` and ``there`` make, outside the clock."""
    times = []
    for _ in range(1 + repeats):  # the first one allocates
        given = there()
        seconds, found = device.clock(lambda given=given: call(given))
        times.append(seconds)
    given = host()
    seconds, known = device.clock(lambda: call(given))
    return seconds, min(times[1:]), known, found


# -- the calls -------------------------------------------------------------------------------


def qalpha(
    device: Device, size: int, repeats: int, **options: Any
) -> tuple[str, float, float, str]:
    """100 samples in four groups, float32, single steps from one start."""
    X = device.groups(100, size)
    on_host = to_numpy(X)

    def call(table: Any) -> Any:
        return es.qalpha(table, 4, eigensolver="single-step", n_init=1, **options)

    cpu, gpu, known, found = compare(device, call, lambda: on_host, lambda: X, repeats)
    top = [np.argsort(-np.abs(to_numpy(each.alpha)))[: size // 100] for each in (known, found)]
    same = np.intersect1d(*top).size / top[0].size
    cycles = f"{known.history.size} and {found.history.size} cycles"
    return f"{size:.0e} x 100", cpu, gpu, f"{cycles}, {same:.2%} of the top 1 % the same"


def greedy(device: Device, p: int, repeats: int) -> tuple[str, float, float, str]:
    """Forward, k = 50, by the trace, 200 samples."""
    H, W, d = lda_factors(device, p)
    rows = to_numpy(W)

    def call(pencil: es.Pencil) -> Any:
        return es.solve(
            pencil, 50, solver="greedy", criterion="trace", direction="forward", swap=False
        )

    cpu, gpu, known, found = compare(
        device, call, lambda: FactorPencil(H, rows, d), lambda: DevicePencil(H, W, d), repeats
    )
    same = np.intersect1d(known.support, found.support).size
    return f"200 x {p:.0e}, k = 50", cpu, gpu, f"{same} of 50 features the same"


def bound(
    device: Device, p: int, repeats: int, classes: int = CLASSES
) -> tuple[str, float, float, str]:
    """The perspective bound, k = 20, log-det, 200 samples."""
    H, W, d = lda_factors(device, p, classes)
    host, there = FactorPencil(H, to_numpy(W), d), DevicePencil(H, W, d)
    start = es.solve(there, 20, "greedy", "logdet", direction="forward", swap=False).support

    def call(problem: Any) -> float:
        return root_bound(problem, start)

    def problem(pencil: es.Pencil) -> Any:
        made = make_problem(pencil, 20, "logdet")
        made.score(start)
        assert pencil.diag_B.size == pencil.diag_A.size  # both are known after a search
        return made

    cpu, gpu, known, found = compare(
        device, call, lambda: problem(host), lambda: problem(there), repeats
    )
    gap = abs(found - known) / abs(known)
    return f"200 x {p:.0e}, k = 20", cpu, gpu, f"bounds differ by {gap:.0e}"


def stats(device: Device, p: int, repeats: int) -> tuple[str, float, float, str]:
    """Class means and residuals of 200 samples."""
    X, y = device.table(200, p)
    table = to_numpy(X)

    def call(data: Any) -> es.ClassStats:
        return es.ClassStats.from_data(data, y, form="rows")

    cpu, gpu, known, found = compare(device, call, lambda: table, lambda: X, repeats)
    gap = float(np.abs(known.means - found.means).max())
    return f"200 x {p:.0e}", cpu, gpu, f"means differ by {gap:.0e}"


def sulda(device: Device, p: int, repeats: int) -> tuple[str, float, float, str]:
    """The factors of uncorrelated discriminants, 200 samples."""
    X, y = device.table(200, p)
    table = to_numpy(X)

    def call(data: Any) -> UncorrelatedFamily:
        return UncorrelatedFamily.from_data(data, y)

    cpu, gpu, known, found = compare(device, call, lambda: table, lambda: X, repeats)
    gap = float(np.abs(known.correlations - found.correlations).max())
    return f"200 x {p:.0e}", cpu, gpu, f"correlations differ by {gap:.0e}"


def lda_factors(
    device: Device, p: int, classes: int = CLASSES
) -> tuple[np.ndarray, Any, np.ndarray]:
    pencil = es.lda_pencil(*device.table(200, p, classes))
    assert isinstance(pencil, DevicePencil)
    return pencil.H, pencil.W.array, pencil.d


# -- the run ---------------------------------------------------------------------------------

# name: the call, its full size, a small one, seconds that it may take on an H200
CALLS: dict[str, tuple[Callable[..., tuple[str, float, float, str]], int, int, float | None]] = {
    # ten cycles, as in benchmarks.qalpha, and as many as the default limits allow
    "qalpha": (partial(qalpha, max_iter=10, tol=0.0), 10**7, 20_000, 0.5),
    "qalpha to rest": (qalpha, 10**7, 20_000, None),
    "greedy": (greedy, 10**6, 5_000, 1.0),
    "bound, 2 classes": (partial(bound, classes=2), 10**6, 5_000, 2.0),
    "bound, 5 classes": (partial(bound, classes=5), 10**6, 5_000, 2.0),
    "stats": (stats, 10**6, 5_000, None),
    "sulda": (sulda, 10**5, 2_000, None),
}


def measure(device: Device, names: list[str], quick: bool) -> Iterator[Row]:
    """A row for every call."""
    for name in names:
        run, full, small, bar = CALLS[name]
        run(device, small, 1)
        size, *seconds, agreement = run(device, small if quick else full, REPEATS)
        is_judged = not quick and device.is_gpu
        yield Row(name, size, *seconds, agreement, bar if is_judged else None)


def main() -> None:
    """Run everything and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda", help="as torch calls it (default: cuda)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=list(CALLS), default=list(CALLS))
    parser.add_argument("--json", help="a file for the numbers")
    options = parser.parse_args()
    device = Device(options.device)
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "all")
    print(f"{device.title} against numpy on {os.cpu_count()} cores (threads: {threads})")
    rows = []
    for row in measure(device, options.only, options.quick):
        rows.append(row)
        bar = "" if row.bar is None else f" (bar {row.bar:g} s, {MIN_RATIO:g} x)"
        print(
            f"{row.name:16s} {row.size:20s} CPU {row.cpu_seconds:8.3f} s, device "
            f"{row.device_seconds:8.4f} s, {row.ratio:6.1f} x; {row.agreement}; "
            f"{row.verdict}{bar}",
            flush=True,
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(row) | {"ratio": row.ratio} for row in rows], file, indent=2)


if __name__ == "__main__":
    main()
