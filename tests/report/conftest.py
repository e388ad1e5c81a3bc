"""The browser that opens the pages, and the studies that the pages are about."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from markupsafe import Markup
from sklearn.datasets import load_breast_cancer, load_iris

import eigensieve as es
from eigensieve.studies.result import Study
from tests.report.stand_ins import HOSTILE, SCRIPT


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("NO BROWSER: there is no chromium on PATH (Debian: apt install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("NO BROWSER: playwright is not installed (pip install 'eigensieve[dev]')")
    with sync_playwright() as playwright:
        args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        opened = playwright.chromium.launch(executable_path=chromium, args=args)
        yield opened
        opened.close()


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the words only: drawing takes most of the time."""
    for module in ("sections", "panels"):
        monkeypatch.setattr(f"eigensieve.report.{module}.drawn", lambda *_: Markup("<svg></svg>"))


@pytest.fixture(scope="session")
def two() -> Study:
    """Two classes, k chosen, permuted labels."""
    data = load_breast_cancer()
    y = data.target_names[data.target]
    names = [str(name) for name in data.feature_names]
    return es.study(
        data.data, y, ks=(1, 3, 10), n_repeats=2, names=names, target="diagnosis",
        n_permutations=6,
    )  # fmt: skip


@pytest.fixture(scope="session")
def three() -> Study:
    """Three classes, a given k, two settings, groups, a missing value, balanced error."""
    data = load_iris()
    X = data.data.copy()
    X[3, 1] = np.nan
    settings = {"weak": es.SparseLDA(shrinkage=0.1), "strong": es.SparseLDA(shrinkage=0.9)}
    return es.study(
        X, data.target_names[data.target], settings, ks=(1,), k=3, n_repeats=1, target="species",
        names=data.feature_names, groups=np.arange(150) // 2, missing="median",
        score="balanced_error",
    )  # fmt: skip


@pytest.fixture(scope="session")
def hostile() -> Study:
    """Names of features, classes, groups, target, settings and annotations that could harm."""
    rng = np.random.default_rng(0)
    names = [*HOSTILE, "50 $", "#24292f", *(f"f{i}" for i in range(41))]
    X = rng.normal(size=(80, len(names)))
    y = np.array([SCRIPT, "$\\frac{1$", "_hidden & 'co'", "z" * 300])[np.arange(80) % 4]
    X[:, 0] += np.arange(80) % 4
    settings = {SCRIPT: es.SparseLDA(), "b": es.SparseLDA(shrinkage=0.5)}
    study = es.study(
        X, y, settings, k=len(names), ks=(1, 10), n_repeats=1, names=names, target=SCRIPT,
        groups=np.array([f"{SCRIPT}{i // 2}" for i in range(80)]),
    )  # fmt: skip
    notes = {"annotation_columns": (SCRIPT, "where"), "annotations": {names[0]: (SCRIPT, SCRIPT)}}
    return replace(study, source=replace(study.source, **notes), unfinished=(SCRIPT,))


@pytest.fixture(scope="session")
def crowd() -> Study:
    """Fifty classes, and a feature that does not vary within them."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 3)
    X = rng.normal(size=(150, 12)) + 3 * rng.normal(size=(50, 12))[y]
    X[:, 5] = y % 7
    classes = np.array([f"population {i} of the northern highlands" for i in range(50)])
    names = [f"marker {j}" for j in range(12)]
    return es.study(X, classes[y], k=8, ks=(1,), n_repeats=1, names=names)


@pytest.fixture(scope="session")
def lonely() -> Study:
    """A class of one sample: no cross-validation, no error."""
    X = np.random.default_rng(0).normal(size=(21, 5))
    X[:10, 2] += 5
    X[:, 4] = 1.0
    y = np.array(["a"] * 10 + ["b"] * 10 + ["solo"])
    return es.study(X, y, k=1, ks=(1,), names=list("pqrst"))


@pytest.fixture(scope="session")
def own() -> Study:
    """A method that chooses the number of features itself, and has no Solution of its own."""
    data = load_iris()
    y = data.target_names[data.target]
    return es.study(data.data, y, es.PenalizedLDA(0.1), n_repeats=2, names=data.feature_names)


@pytest.fixture(scope="session")
def ranked() -> Study:
    """A ranking by a filter: the sets were not chosen by the class separation."""
    data = load_breast_cancer()
    return es.study(data.data[::3], data.target[::3], es.RankedLDA("anova"), ks=(2, 5), n_repeats=1)
