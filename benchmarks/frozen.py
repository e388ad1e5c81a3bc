"""The frozen bank: what the public face of the package answers, kept to the last bit.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.frozen make FILE.npz [--only PART]`` computes the bank
and writes it; ``... compare FILE.npz [--only PART] [--tol 1e-12]`` computes it again, prints every
difference and exits with 1 if there is one. EIGENSIEVE_DATA must be set. Only public names and the
command line are used, so that the same file runs on trees that are built differently.

A case is an expression, its entries are the arrays and texts that its value consists of; errors and
warnings count, too. Arrays are close if they differ by at most tol times their largest entry, texts
if they differ in numbers only, by at most tol of each.
"""

from __future__ import annotations

import argparse
import inspect
import io
import os
import re
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import is_dataclass
from enum import Enum
from functools import partial
from importlib import import_module as load
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import datasets
from sklearn.base import BaseEstimator

import eigensieve as es

from .data import load_open_set

Bank = dict[str, np.ndarray]
Scope = dict[str, Any]
Problem = partial[es.Pencil]

# Names of what is not kept: clocks; tables and wishes, which were given; the version.
LEFT_OUT = ("seconds", "problem", "options", "eigensieve", "eigensieve_version")
MASKS = (
    (r"\b\d+(\.\d+)? s\b", "# s"),  # clocks, in words, JSON and HTML
    (r'(seconds": )[\d.e-]+', r"\1#"),
    (r"(\d of \d+</td><td>)\d+", r"\1#"),
    (r'(eigensieve ?|(?:eigensieve|version)": ")\d[\w.+]*', r"\1#"),  # the version
    (r'("digest": ?)"[^"]*"', r"\1#"),  # of files that name the version
    (r"0x[0-9a-f]{6,}", "0x#"),  # addresses of objects
)
TEXTS = (".csv", ".html", ".json", ".proof", ".svg")
NUMBER = re.compile(r"([-+]?\d+\.?\d*(?:e[-+]?\d+)?)")

# One case a line; indented lines go on. <a|b> stands for a and b in turn, in all its places at
# once, and <name> for the entries of that name in `make_choices`.
CASES = {
    "face": """
describe(es.<public>)
es.available_solvers()
""",
    "solvers": """
es.solve(<small>, 4, "<solver>", "<criterion>"<|, **wishes>)
es.solve(<blocked>, (2, 3), "<solver>", "<criterion>"<|, **wishes>)
es.solve(<some>, 4, "greedy", "<criterion>", <direction="forward"|direction="backward", swap=False|
    n_starts=5, random_state=3|unknown=1>)
es.solve(<some>, 4, "threshold", "<criterion>", vector="<y|best>")
es.solve(<some>, 4, "<dc|scotlass>", "<criterion>", <n_starts=3|swap=True|tol=1e-3>)
es.solve(<some>, None, "<dc|scotlass|spca>", "<criterion>", rho=0.01)
es.solve(<some>, 4, "<spca|dspca>", "<criterion>", max_iter=10)
es.solve(<some>, 4, "interlacing", "<criterion>", <search="depth"|order="natural", max_nodes=9>)
es.solve(<some>, 4, "exact", "<criterion>", <start=[0, 1, 2, 3]|max_nodes=2|audit=True|gap_tol=0.1>)
es.solve(<large>, 5, "<greedy|dc|scotlass|spca|threshold>", "<criterion>")
es.solve(<large>, 5, "<exact|leaps|levelset|perspective>", "<criterion>", max_nodes=50)
es.solve(psd, <0|13|None|2.5|(2, 3)>, "<greedy|unknown>", "<trace|unknown>")
""",
    "pencils": """
[<small>.A, <small>.B, <small>.scales, <small>.is_psd, <small>.is_rank_one, <small>.blocks]
[<large>.diag_A, <large>.diag_B, <large>.columns_B(3), <large>.top(2), <large>.restrict(range(9)).A]
es.solve_path(<small>, [2, 5, 9], "<greedy|dc|exact|threshold>", "<criterion>")
[found := es.certify(<small>, <[1, 2, 9]|[0, 3, 4, 5, 6]|range(11)>, "<criterion>", None),
    found.explain("genes")]
es.inclusion_bounds(<small>, <None|4|chain=[[3], [3, 4], [1, 3, 4, 5]]>)
es.renormalize(<small>, np.arange(12.0) % 3)
es.dc_path(<small>, <None|[1e-3, 0.1, 1.0], warm=True>)
prove(problems["<small>"], es.solve, 4, "exact", "<criterion>"<|, **wishes>)
prove(problems["<blocked>"], es.solve, (2, 3), "exact", "<criterion>"<|, **wishes>)
prove(problems["<small>"], es.certify, [1, 2, 3], "<criterion>", None)
""",
    "methods": """
[path := es.gloss_path(*<tall|wide|words|single>, [0.8, 0.4], within="<full|diagonal>",
    solver="<auto|working-set|dual|variational>", tol=1e-6), path.directions(1)]
es.gloss_path(*wide, weights="std", ridge=0.1, max_features=20)
es.qalpha(<tall|wide|words|single>[0], 3, y=<tall|wide|words|single>[1], max_iter=10,
    variant="<standard|basic|laplacian|ritz|gap|supervised>",
    eigensolver="<auto|lanczos|gram|single-step>")
es.qalpha(wide[0], 2, variant="<standard|ritz>", kernel="<linear|poly|rbf|block>")
es.qalpha(<wide[0].T @ wide[0], kernel="precomputed"|wide[0], center=False, scale=False>)
es.spectral_clusters(<tall|wide|words|single>[0], 3)
[found := es.UncorrelatedFamily.from_data(*<tall|wide|words|single>), found.member(5)]
es.ClassStats.from_data(*<tall|wide|words|single>, form="<auto|rows|gram|grams|moments>")
es.basis_pursuit(wide[0], wide[0][:, :<1|3>] + 1, penalty="<l1|l21>", solver="<simplex|bregman>")
""",
    "estimators": """
use(es.SparseLDA(<n_features_to_select=5|solver="exact", shrinkage=0.7, class_weight="balanced"|
    solver="threshold", criterion="trace", ridge=0.1, n_components=1|
    solver="dc", criterion="lambda_max", certificate="none">), *<data>)
use(es.SparsePCA(n_features_to_select=<5|[4, 2], deflation="schur"|
    5, deflation="hotelling", solver="threshold"|
    5, deflation="orthogonalized-hotelling", certificate="none"|
    3, solver="spca", solver_options=dict(tol=1e-4)>), *<data>)
use(es.GroupLassoLDA(<4|within="diagonal", rule="lda", priors="balanced"|
    alpha=0.4, weights="std", rule="centroid">), *<data>)
use(es.GroupLassoLDACV([0.7, 0.5], cv=3, selection="one-se"), *<data>)
use(es.PenalizedLDA(<|fusion=0.01, rule="lda"|alpha=0.03, rule="1-nn">), *<data>)
use(es.QAlphaSelector(<|variant="supervised", cut="energy"|cut="null", n_permutations=5, n_init=1|
    variant="laplacian", cut="ratio", weight=True, max_iter=20>), *<data>)
use(es.RankedLDA("<pearson|anova|snr|svm-rfe|l1|qalpha>", 4), *<data>)
use(es.SparseOptimalScoring(<3|alpha=0.5, rule="1-nn">), *<data>)
use(es.SparseUncorrelatedLDA(<|penalty="l21", rule="lda"|
    solver="bregman", solver_options=dict(max_iter=2000)>), *<data>)
use(es.UncorrelatedLDA(<|rule="1-nn", rank_tol=1e-3>), *<data>)
[cca := es.SparseCCA(<n_features_to_select=2|n_components=2, n_features_to_select=(2, 1)|
    n_features_to_select=4, together=True>).fit(*halves(<data>)), cca.transform(*halves(<data>)),
    cca.correlations(*halves(<data>))]
es.SparseCCA(n_features_to_select=2).permutation_test(*halves(<wine|sonar>), n_permutations=3)
use(es.<estimator>(), frame, wine[1])
[model := es.<estimator>().fit(*wine), run_onnx(model, wine[0])]
es.<SparseLDA|SparsePCA|GroupLassoLDA>(4).partial_fit(*even).partial_fit(*odd)
es.<SparseLDA|RankedLDA|PreparedClassifier>().fit_path(*wine, [1, 3, 6])
""",
    "tables": """
use(es.<estimator>(), KINDS["<kind>"](<broad|long>[0]), <broad|long>[1])
use(es.<SparseLDA|PenalizedLDA|QAlphaSelector>(), npy(huge[0]), huge[1])
""",
    "anndata": """
es.tl.<sparse_lda|gloss>(cells, "type", 4)
es.tl.<sparse_pca(cells)|qalpha(cells, 4)|sparse_lda_path(cells, "type", [1, 2, 5])>
es.tl.<certify(cells, "type", ["1", "2"], time_limit=None)|predict(cells)|get_model(cells)>
cells.<obs|var|uns|obsm|varm>
vars(es.pl.<sparse_lda|gloss|loadings|dotplot|qalpha|path>(cells, show=False))
vars(es.pl.sparse_pca(cells, "type", show=False))
""",
    "studies": """
report(es.study(<*iris|*wine, groups=pairs, n_permutations=2, score="balanced_error"|
    gaps, wine[1], [es.SparseLDA(), es.SparseLDA(shrinkage=0.8)], missing="median"|
    csr(wine[0]), wine[1], es.GroupLassoLDA()|*wine, es.SparseUncorrelatedLDA()>, **quick))
report(es.study(*colon, es.QAlphaSelector(), k=5, **quick))
report(es.compare(*wine, **quick))
""",
    "commands": """
run("<fit|demo|compare|predict|certify|export|check-proof|evaluate|reproduce> --help")
run("<|data|data list|data show> --help")
run("fit wine.csv --target kind --jobs 1 <--k 3 --out fitted|--k 9 --method anova --cv loo|
    --ks 1,4 --cv 3 --method gloss --balanced --out gloss --json|
    --ks 1,2 --cv 3 --permutations 1 --shrinkage 0.2,0.8 --out tuned|--solver none|--k 0>")
run("fit <wine.csv --target missing|none.csv --target kind>")
run("predict fitted/model.json wine.csv<| --out labels.csv>")
run("predict wine.csv fitted/model.json")
run("evaluate fitted/model.json wine.csv --target kind<| --json>")
run("certify wine.csv --target kind --time-limit 600 --jobs 1 --features
    <c0,c6,c9 --proof three.proof|c1,c2 --criterion trace --json|none>")
run("check-proof three.proof <wine.csv|wine.csv --json|other.csv>")
run("export fitted/model.json model.onnx")
run("compare wine.csv --target kind --methods sparse-lda,anova --ks 1,3 --cv 3 --jobs 1")
run("<data list|data show wine|reproduce --list|demo --out demo|unknown>")
run("reproduce sriperumbudur2007/pitprops_first --quick --fresh --jobs 1 --out reproduced")
read_files()
""",
}

# -- problems --------------------------------------------------------------------------------


def classes(n: int, p: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of K classes, the first of which is the largest, that differ in half the columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), np.arange(n) % (K + 1) % K
    X[:, : p // 2] += rng.normal(size=(K, p // 2))[y]
    return X, y


def csr(X: np.ndarray) -> sparse.csr_matrix:
    return sparse.csr_matrix(np.where(X > 0.8, X, 0.0))


def pose(make: Any, **arguments: Any) -> Problem:
    return partial(make, **arguments)


def make_problems() -> dict[str, Problem]:
    """Those with twelve features are small: every solver can do them."""
    rng = np.random.default_rng(1)
    R, S, H = rng.normal(size=(12, 12)), rng.normal(size=(20, 12)), rng.normal(size=(3, 12))
    P, B = S.T @ S / 20, np.eye(12) + 0.3 * np.cov(rng.normal(size=(15, 12)).T)
    whole = rng.integers(-2, 3, size=(12, 12)).astype(float)
    X = classes(60, 12, 3)[0]
    units, flat = np.geomspace(1e-8, 1e8, 12), np.where(np.arange(12) % 5 == 2, 0.1, X)
    matrices, cca = pose(es.Pencil, B=B), pose(es.cca_pencil, shrinkage=0.2)
    factors = pose(es.FactorPencil, H=H, W=S[:4], d=np.full(12, 0.3))

    def lda(n: int, p: int, K: int, **options: Any) -> Problem:
        return pose(es.lda_pencil, **dict(zip("Xy", classes(n, p, K))), **options)

    three = lda(60, 12, 3)
    (tall, _), (wide, labels) = classes(100, 60, 3), classes(60, 300, 3)
    genes = dict(zip("Xy", load_open_set("colon")))
    return {
        "psd": pose(es.Pencil, A=P), "psd_B": pose(matrices, A=P), "factors": factors,
        "indefinite": pose(matrices, A=R + R.T), "negative": pose(matrices, A=-P),
        "rank_one": pose(matrices, A=np.outer(R[0], R[0])), "zero": pose(matrices, A=0 * P),
        "rank_three": pose(matrices, A=H.T @ H), "ties": pose(es.Pencil, A=whole @ whole.T),
        "diagonal_B": pose(es.Pencil, A=P, B=np.diag(units**0.1)),
        "blocks": pose(matrices, A=P, blocks=[j % 2 for j in range(12)]),
        "turned": pose(factors, core=np.diag([1.0, -1.0, 2.0])),
        "pca": pose(es.pca_pencil, X=X), "wide_pca": pose(es.pca_pencil, X=X[:8]),
        "word_pca": pose(es.pca_pencil, X=csr(X)),
        "views": pose(cca, X=X[:, :5], Y=X[:, 5:]), "sparse": pose(three, X=csr(X)),
        "twins": pose(three, X=np.hstack([X[:, :7], X[:, :5]]), shrinkage=0.1),
        "units": pose(three, X=X * units, shrinkage=0.3), "constant": pose(three, X=flat),
        "two": lda(60, 12, 2), "five": lda(60, 12, 5, shrinkage=0.3), "wide_five": lda(11, 12, 5),
        "wide_two": lda(10, 12, 2, shrinkage=0.2), "plain": pose(three, shrinkage=0.0),
        "shrunk": pose(three, shrinkage=1.0), "ridge": pose(three, shrinkage=0.0, ridge=0.5),
        "balanced": pose(three, class_weight="balanced"),
        "large_two": lda(100, 60, 2, shrinkage=0.1), "large_four": lda(100, 60, 4),
        "gene_two": lda(40, 200, 2, shrinkage=0.5), "gene_four": lda(40, 200, 4, shrinkage=0.5),
        "large_pca": pose(es.pca_pencil, X=tall), "gene_pca": pose(es.pca_pencil, X=wide),
        "large_views": pose(cca, X=tall[:, ::2], Y=tall[:, 1::2]),
        "word_views": pose(cca, X=csr(wide[:, ::2]), Y=csr(wide[:, 1::2])),
        "topics": pose(es.lda_pencil, X=csr(wide), y=labels),
        "colon_lda": pose(es.lda_pencil, **genes),
    }  # fmt: skip


def make_scope() -> Scope:
    """What the expressions of the cases may name."""
    problems = make_problems()
    bunches = {n: getattr(datasets, f"load_{n}")() for n in ("wine", "iris", "breast_cancer")}
    sets = {n: (bunch.data, bunch.target) for n, bunch in bunches.items()}
    sets |= {n: load_open_set(n) for n in ("colon", "leukemia", "srbct", "ionosphere", "sonar")}
    X, y = sets["wine"]
    wide, labels = classes(30, 80, 3)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(13)])
    frame.assign(kind=y).to_csv("wine.csv", index=False)
    frame.assign(kind=y)[::-1].to_csv("other.csv", index=False)
    Z, kind = classes(60, 20, 3)
    obs = pd.DataFrame({"type": np.array(["B", "T", "NK"])[kind]}, index=[*map(str, range(60))])
    return globals() | sets | {name: make() for name, make in problems.items()} | {
        "problems": problems, "sets": sets, "wishes": {"include": [1], "exclude": [0, 7]},
        "tall": classes(60, 12, 3), "wide": (wide, labels), "words": (csr(wide), labels),
        "single": (wide.astype(np.float32), labels), "long": classes(150, 12, 3),
        "broad": classes(40, 300, 3), "huge": classes(40, 110_000, 3), "frame": frame,
        "even": (X[::2], y[::2]), "odd": (X[1::2], y[1::2]), "pairs": np.arange(y.size) // 2,
        "gaps": np.where(np.arange(X.size).reshape(X.shape) % 29 == 3, np.nan, X),
        "quick": {"ks": (1, 2, 4), "n_repeats": 1, "cv": 3, "n_jobs": 1},
        "cells": load("anndata").AnnData(Z, obs=obs),
    }  # fmt: skip


def make_choices(scope: Scope) -> dict[str, list[str]]:
    """What a <name> stands for."""
    small = [name for name in scope["problems"] if scope[name].size == 12]
    called = [name for name in es.__all__ if callable(getattr(es, name))]
    return {
        "public": [*called, *(f"{m}.{n}" for m in ("tl", "pl") for n in getattr(es, m).__all__)],
        "estimator": [n for n in called if hasattr(getattr(es, n), "fit") and n != "SparseCCA"],
        "criterion": ["lambda_max", "trace", "logdet"], "solver": [*es.available_solvers()],
        "small": small, "some": small[::3], "large": [*scope["problems"]][len(small) :],
        "blocked": [name for name in small if scope[name].blocks is not None],
        "data": [*scope["sets"]], "kind": [*KINDS],
    }  # fmt: skip


# -- what the expressions call ---------------------------------------------------------------


def attempt(task: Callable[[], Any]) -> Any:
    """What comes out, or what the error says."""
    try:
        return task()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def describe(value: Any) -> list[str]:
    """Parameters with their defaults, and the docstring; annotations may be spelt otherwise."""
    parameters = inspect.signature(value).parameters.values()
    plain = [str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters]
    return [*plain, inspect.getdoc(value) or ""]


def prove(problem: Problem, ask: Callable[..., Any], *args: Any, **options: Any) -> list[Any]:
    """The solution, the proof file, and what the checker says of it."""
    pencil = problem()
    found = ask(pencil, *args, **options, proof="proof")
    given = {n: v for n, v in problem.keywords.items() if n in ("X", "y", "Y", "blocks")}
    dense = {n: v.toarray() if sparse.issparse(v) else v for n, v in given.items()}
    check = partial(es.check_proof, "proof", **dense, A=pencil.A, B=pencil.B)
    return [found, Path("proof").read_text(), attempt(check)]


def use(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """A fitted estimator, and what it makes of the table."""
    model.fit(X, y)
    names = ("predict", "predict_proba", "decision_function", "transform")
    uses = {name: attempt(lambda: getattr(model, name)(X)) for name in names}  # noqa: B023
    return {"": model, "names": attempt(model.get_feature_names_out), **uses}


def halves(table: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return table[0][:, ::2], table[0][:, 1::2]


def run_onnx(model: Any, X: np.ndarray) -> list[Any]:
    onnx = es.to_onnx(model)
    session = load("onnxruntime").InferenceSession(onnx.SerializeToString())
    facts = {fact.key: fact.value for fact in onnx.metadata_props}
    return [facts, str(onnx.graph.node), session.run(None, {"X": X})]


def npy(X: np.ndarray) -> Any:
    np.save("X.npy", X)
    return np.load("X.npy", mmap_mode="r")


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda X: X.astype(np.float32),
    "csr": csr,
    "csc": lambda X: csr(X).tocsc(),
    "npy": npy,
    "hdf5": lambda X: load("h5py").File("X.h5", "w").create_dataset("X", data=X, chunks=(7, 6)),
    "zarr": lambda X: load("zarr").array(X, chunks=(13, 5)),
    "dask": lambda X: load("dask.array").from_array(X, chunks=(17, 40)),
    "torch": lambda X: load("torch").from_numpy(X),
    "polars": lambda X: load("polars").DataFrame(X),
}


def report(found: Any) -> list[Any]:
    found.report("report.html")
    return [found, Path("report.html").read_text()]


def run(line: str) -> dict[str, Any]:
    """What ``python -m eigensieve``, run in this process, prints; and its exit code."""
    out, err, code = io.StringIO(), io.StringIO(), None
    with patch.object(sys, "argv", ["eigensieve", *line.split()]):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                runpy.run_module("eigensieve", run_name="__main__")
        except SystemExit as end:
            code = end.code
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def read_files() -> dict[str, str]:
    """The texts that the commands have written; the names in a cache depend on all sources."""
    files = [path for path in sorted(Path().rglob("*.*")) if "cache" not in path.parts]
    return {str(path): path.read_text() for path in files if path.suffix in TEXTS}


# -- the bank --------------------------------------------------------------------------------


def expand(text: str, choices: Mapping[str, list[str]]) -> Iterator[str]:
    """The cases that the lines stand for."""
    for line in re.sub(r"\n +", " ", text).split("\n"):
        wheels = list(dict.fromkeys(re.findall("<([^<>]+)>", line)))
        for values in product(*(choices.get(w) or w.split("|") for w in wheels)):
            case = line
            for wheel, value in zip(wheels, values):
                case = case.replace(f"<{wheel}>", value)
            yield case


def entries(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays and texts that a value consists of."""
    parts = find_parts(value)
    if parts is None:
        array = np.asarray(value.toarray() if sparse.issparse(value) else value)
        yield name, array if array.dtype.kind in "fiub" else as_text(array)
        return
    for key, part in parts.items():
        if key not in LEFT_OUT:
            yield from entries(f"{name}/{key}", part)


def find_parts(value: Any) -> dict[str, Any] | None:
    """By name, what a value consists of; None for numbers, arrays and texts."""
    if isinstance(value, pd.DataFrame):
        return {"index": value.index.to_numpy(), **{str(n): value[n].to_numpy() for n in value}}
    if isinstance(value, Mapping):
        return {str(key): part for key, part in value.items()}
    if isinstance(value, list | tuple):
        is_flat = all(isinstance(item, int | float | str | np.generic) for item in value)
        return None if is_flat else {str(i): part for i, part in enumerate(value)}
    if isinstance(value, BaseEstimator):
        return {name: part for name, part in vars(value).items() if name.endswith("_")}
    if is_dataclass(value):  # with its properties
        names = [name for name in dir(value) if not name.startswith("_") and name not in LEFT_OUT]
        found = {name: attempt(partial(getattr, value, name)) for name in names}
        return {name: part for name, part in found.items() if not callable(part)}
    is_inner = hasattr(value, "__dict__") and not hasattr(value, "dtype")
    return {} if is_inner and not isinstance(value, Enum) else None


def as_text(array: np.ndarray) -> np.ndarray:
    texts = [str(item) for item in array.ravel()]
    # between the tags and words of a page any space is as good as another
    texts = [re.sub(r"\s*(<[^>]*>)\s*|[ \n]+", r" \1 ", t) if "</html>" in t else t for t in texts]
    texts = [re.sub(r" +", " ", t) if "</html>" in t else t for t in texts]
    for pattern, instead in MASKS:
        texts = [re.sub(pattern, instead, text) for text in texts]
    return np.array(texts)


def make(only: list[str]) -> Bank:
    """The bank, or some parts of it."""
    bank: Bank = {}
    print(es.__file__)
    for part in only or CASES:
        start, before = time.process_time(), len(bank)
        with TemporaryDirectory() as folder, chdir(folder):
            scope = make_scope()
            for case in expand(CASES[part].strip(), make_choices(scope)):
                name = f"{part}: {case}"
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    bank |= entries(name, attempt(partial(eval, case, scope)))
                said = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
                bank |= {f"{name}/warnings": as_text(np.array(said))} if said else {}
        seconds, count = time.process_time() - start, len(bank) - before
        print(f"{part:12}{count:8,} entries{seconds:8.1f} s of CPU time", flush=True)
    return bank


def judge(old: np.ndarray, new: np.ndarray, tol: float) -> str:
    """One of "same" and "close", or what is different."""
    alike = old.shape == new.shape and old.dtype.kind == new.dtype.kind
    if alike and old.dtype == new.dtype and old.tobytes() == new.tobytes():
        return "same"
    if alike and old.dtype.kind == "U":
        if all(is_near(a, b, tol) for a, b in zip(old.tolist(), new.tolist())):
            return "close"
        a, b = ("\n".join(array.tolist()) for array in (old, new))
        same = next((i for i, (c, d) in enumerate(zip(a, b)) if c != d), min(len(a), len(b)))
        start = max(same - 60, 0)
        return f"{a[start : start + 160]!r} -> {b[start : start + 160]!r}"
    if alike and old.dtype == new.dtype and old.dtype.kind == "f":
        unit = np.abs(old[np.isfinite(old)]).max(initial=0.0)
        if np.allclose(old, new, rtol=0.0, atol=tol * unit, equal_nan=True):
            return "close"
    first = old.ravel()[:3], new.ravel()[:3]
    if alike:
        off = old.ravel() != new.ravel()
        first = old.ravel()[off][:3], new.ravel()[off][:3]
    return " -> ".join(f"{a.dtype}{a.shape} {b.tolist()}"[:200] for a, b in zip((old, new), first))


def is_near(old: str, new: str, tol: float) -> bool:
    """Whether two texts differ in numbers only, and little."""
    first, second = NUMBER.split(old), NUMBER.split(new)
    a, b = (np.array(parts[1::2], dtype=np.float64) for parts in (first, second))
    return first[::2] == second[::2] and bool(np.all(np.abs(a - b) <= tol * np.abs(a)))


def compare(old: Bank, new: Bank, tol: float) -> int:
    """Print what is different; how many entries that are."""
    found = {name: judge(old[name], new[name], tol) for name in old.keys() & new.keys()}
    found |= dict.fromkeys(old.keys() - new.keys(), "is missing")
    found |= dict.fromkeys(new.keys() - old.keys(), "is new")
    for name, said in sorted(found.items()):
        if said not in ("same", "close"):
            print(f"{name}: {said}")
    same, close = (list(found.values()).count(word) for word in ("same", "close"))
    different = len(found) - same - close
    print(f"{same:,} equal to the last bit, {close:,} within {tol:g}, {different:,} different")
    return different


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=["make", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", action="append", choices=list(CASES), default=[], metavar="PART")
    parser.add_argument("--tol", type=float, default=1e-12)
    args = parser.parse_args()
    os.environ["COLUMNS"] = "80"  # for help texts
    bank = make(args.only)
    if args.command == "make":
        np.savez_compressed(args.file, allow_pickle=False, **bank)
        return
    with np.load(args.file) as file:
        old = {n: file[n] for n in file.files if not args.only or n.split(":")[0] in args.only}
    sys.exit(compare(old, bank, args.tol) > 0)


if __name__ == "__main__":
    main()
