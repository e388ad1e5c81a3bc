"""fit --prefer and --within: the set that is taken, against every set."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.files import refused
from tests.studies.test_near_optimal import logdet_scores
from tests.studies.whole import make_table

X, y = make_table(gaps=False)
NAMES = [f"gene {j}" for j in range(14)]
COSTS = np.array([3.0, 1, 4, 9, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7])
FAST = ["--k", "2", "--ks", "2", "--repeats", "1", "--cv", "3", "--shrinkage", "0.7"]


COMMON = ["table.csv", "--target", "kind", *FAST, "--jobs", "1"]
ANNOTATIONS = ["--annotations", "genes.csv", "--costs", "price"]


@pytest.fixture(autouse=True)
def tables(tmp_path: Path) -> None:
    pd.DataFrame(X, columns=NAMES).assign(kind=y).to_csv(tmp_path / "table.csv", index=False)
    about = pd.DataFrame({"gene": NAMES, "price": COSTS})
    about.to_csv(tmp_path / "genes.csv", index=False)


def near_best(share: float) -> list[tuple[int, ...]]:
    scores = logdet_scores(0.7, 2)
    best = max(scores.values())
    near = [S for S in combinations(range(14), 2) if scores[S] >= (1 - share) * best]
    return sorted(near, key=lambda S: -scores[S])


def test_the_cheapest_is_taken(run: Any) -> None:
    options = [*COMMON, *ANNOTATIONS, "--prefer", "cheap", "--within", "70%", "--out", "out"]
    plain = json.loads(run("fit", *options, "--json").stdout)
    sets = near_best(0.7)
    cheapest = min(sets, key=lambda S: COSTS[list(S)].sum())
    assert cheapest != sets[0]
    assert set(plain["features"]) == {NAMES[j] for j in cheapest}
    paid, best = (COSTS[list(S)].sum() for S in (cheapest, sets[0]))
    assert f"it costs {paid:g}, the best one {best:g}" in plain["preferred"]
    assert plain["near_optimal"]["n_panels"] == len(sets)
    assert plain["near_optimal"]["within"] == 0.7
    lines = run("fit", *options).stdout.splitlines()
    assert f"taken   {plain['preferred']}" in lines
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert plain["preferred"].replace(" %", "\u00a0%") in page


def test_the_stable_one_is_taken(run: Any) -> None:
    result = run("fit", *COMMON, "--prefer", "stable", "--within", "0.4", "--json", "--out", "out")
    plain = json.loads(result.stdout)
    often = pd.read_csv("out/stability.csv", index_col=0).iloc[:, 0]
    shares = np.array([often.get(name, 0.0) for name in NAMES])
    most = max(near_best(0.4), key=lambda S: round(shares[list(S)].sum(), 9))
    assert set(plain["features"]) == {NAMES[j] for j in most}
    assert "preferred set chosen inside" in plain["error_from"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prefer", "cheap"], "--prefer cheap needs --costs"),
        (["--prefer", "stable", "--method", "gloss"], "--prefer is for method sparse-lda"),
        (["--prefer", "nice"], "'nice' is not one of 'stable', 'cheap'"),
        (["--within", "150%"], "150%"),
        (ANNOTATIONS, "--costs needs --max-cost"),
    ],
)
def test_what_cannot_be_is_refused(
    run: Any, tmp_path: Path, options: list[str], words: str
) -> None:
    assert words in refused(run, tmp_path, *COMMON, *options)
