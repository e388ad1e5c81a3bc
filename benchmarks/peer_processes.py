"""What a fresh process tells of each package: first call, peak memory, edge cases.

Part of ``python -m benchmarks.peers``; every snippet runs in an interpreter of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np

TABLE = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(100, {p})), np.arange(100) % 2
X[:, :5] += y[:, None]
both = np.c_[y, 1.0 - y]
"""
# of the process itself: getrusage would also count what its parent had before the start
PEAK = """
import re
print("PEAK", re.search("VmHWM:\\\\s*(\\\\d+)", open("/proc/self/status").read())[1])
"""
LDA = "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA\n"
NOTHING = {"numpy and the table only": ""}
OURS = "from eigensieve import SparseLDA; SparseLDA(10).fit(X, y)"
FASTCAN = "from fastcan import FastCan; FastCan(10, verbose=0).fit(X, y)"
ABESS = "import abess; abess.LogisticRegression(support_size=10).fit(X, y)"

FIRST_CALLS = {
    **NOTHING,
    "scikit-learn LDA": f"{LDA}LDA().fit(X, y)",
    "eigensieve SparseLDA": OURS,
    "eigensieve GroupLassoLDA": "from eigensieve import GroupLassoLDA as G; G(10).fit(X, y)",
    "fastcan": FASTCAN,
    "abess": ABESS,
    "skglm MultiTaskLasso": "import skglm; skglm.MultiTaskLasso(0.1).fit(X, both)",
    "skglm Lasso": "import skglm; skglm.Lasso(0.1).fit(X, both[:, 0])",
    "celer Lasso": "import celer; celer.Lasso(0.1).fit(X, both[:, 0])",
    "cca-zoo PMDCCA": (
        "from cca_zoo.sparse import PMDCCA; PMDCCA(l1_bound=0.3).fit([X[:, :100], X[:, 100:200]])"
    ),
}
MEMORY = {
    **NOTHING,
    "scikit-learn LDA, shrinkage auto": f"{LDA}LDA(solver='lsqr', shrinkage='auto').fit(X, y)",
    "scikit-learn LDA, svd, no shrinkage": f"{LDA}LDA().fit(X, y)",
    "eigensieve SparseLDA, k = 10": OURS,
    "fastcan, k = 10": FASTCAN,
    "abess, k = 10": ABESS,
}
EDGES = {
    "abess SparsePCA, 100 rows, 200 columns, support_size=5": (
        "import abess\n"
        "v = abess.SparsePCA(support_size=5).fit(X).coef_\n"
        "print(np.count_nonzero(v), 'non-zeros; values', np.unique(v)[:3])"
    ),
    "abess LogisticRegression, support_size=300 of 200 columns": (
        "import abess\n"
        "model = abess.LogisticRegression(support_size=300).fit(X, y)\n"
        "print(np.count_nonzero(model.coef_), 'columns')"
    ),
    "eigensieve SparseLDA, n_features_to_select=300 of 200 columns": (
        "from eigensieve import SparseLDA\n"
        "warnings.simplefilter('always')\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    model = SparseLDA(300).fit(X, y)\n"
        "print(model.get_support().sum(), 'columns;', len(told), 'warning:', told[0].message)"
    ),
    "celer MultiTaskLasso": (
        "import celer\n"
        "print(np.count_nonzero(celer.MultiTaskLasso(0.1).fit(X, both).coef_[0]), 'columns')"
    ),
    "scikit-learn LDA of scipy.sparse": (
        f"{LDA}from scipy import sparse\nLDA().fit(sparse.csr_array(X), y)\nprint('taken')"
    ),
    "fastcan, labels that are words": (
        "from fastcan import FastCan\n"
        "print(FastCan(3, verbose=0).fit(X, np.array(['a', 'b'])[y]).indices_)"
    ),
}


def process(code: str, p: int) -> tuple[subprocess.CompletedProcess[str], float, float]:
    """What became of a fresh interpreter, its CPU seconds and its peak memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", TABLE.format(p=p) + code + PEAK], capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = float(done.stdout.rpartition("PEAK ")[2]) / 2**10 if "PEAK " in done.stdout else np.nan
    return done, seconds, peak


def first_calls() -> None:
    """Import and first fit in a fresh process, caches on disk warm: the second of two runs."""
    print("\nfirst fit in a fresh process, import included, 100 x 2,000 (CPU s)")
    for name, code in FIRST_CALLS.items():
        process(code, 2_000)
        done, seconds, _ = process(code, 2_000)
        print(f"  {name:<40}{seconds:6.2f}{'' if done.returncode == 0 else '  failed'}", flush=True)


def memory() -> None:
    """Peak memory of a process, and its CPU seconds."""
    for p in (1_000, 3_000):
        print(f"\npeak memory in MB, 100 x {p:,} (CPU s, import included)")
        for name, code in MEMORY.items():
            done, seconds, peak = process(code, p)
            end = "" if done.returncode == 0 else "  failed"
            print(f"  {name:<40}{peak:8.0f}  ({seconds:.1f} s){end}", flush=True)


def failures() -> None:
    """What the notes say fails: does it still?"""
    print("\nedge cases, 100 x 200")
    for name, code in EDGES.items():
        done, _, _ = process(code, 200)
        said = done.stdout.partition("PEAK")[0].strip()
        if done.returncode:
            end = "the interpreter aborts: " if done.returncode < 0 else ""
            said = end + (done.stderr.strip().splitlines() or ["nothing is said"])[-1].strip()
        print(f"  {name}\n    {said[:160]}", flush=True)
