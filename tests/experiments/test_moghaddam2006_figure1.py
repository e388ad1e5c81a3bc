"""The compiled Monte Carlo against brute force, SciPy and the package's own solvers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.datasets.moghaddam2006 import draw_pairs
from eigensieve.experiments.cache import as_plain
from eigensieve.experiments.moghaddam2006 import figure1
from eigensieve.plots._style import house_style
from tests.oracles import naive

SAME = 1e-9
SMALL = {"n": 8, "pairs": 5, "part": 2, "seed": 3}
OPTIONS: dict[str, dict[str, Any]] = {
    "ST": {"solver": "threshold", "vector": "y"},
    "ST on x": {"solver": "threshold", "vector": "x"},
    "GSLDA": {"direction": "both", "swap": False},
    "forward alone": {"direction": "forward", "swap": False},
    "backward alone": {"direction": "backward", "swap": False},
    "GSLDA + swaps": {"direction": "both", "swap": True, "n_starts": 0},
}


@cache
def solved(kind: str, n: int, pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and the values of all methods."""
    A, B = draw_pairs(pairs, np.random.default_rng(n), n, rank_one=kind == "Rank one")
    return A, B, figure1.solve_methods(A, B)


def of(name: str, values: np.ndarray) -> np.ndarray:
    return values[:, figure1.METHODS.index(name)]


def test_rank_one_optima() -> None:
    A, B, values = solved("Rank one", 16, 25)
    for i, found in enumerate(of("ESLDA", values)):
        j = int(np.argmax(np.diag(A[i])))
        d = A[i][j] / np.sqrt(A[i][j, j])
        assert found == pytest.approx(naive.all_rank_one(d, B[i])[1:], rel=SAME)


@pytest.mark.parametrize(("kind", "n", "pairs"), [
    ("Full rank", 9, 30), ("Rank one", 9, 30), ("Full rank", 16, 2), ("Full rank", 2, 5),
])  # fmt: skip
def test_optima_against_every_subset(kind: str, n: int, pairs: int) -> None:
    A, B, values = solved(kind, n, pairs)
    for i, found in enumerate(of("ESLDA", values)):
        path = es.solve_path(es.Pencil(A[i], B[i]), range(1, n + 1), solver="exhaustive")
        assert found == pytest.approx(path.objectives, rel=SAME)


def test_the_proof_mends_a_bad_start() -> None:
    """Where exchanges end below the optimum the search must find it: there are such pairs here."""
    _, _, values = solved("Full rank", 9, 30)
    ratio = of("GSLDA + swaps", values) / of("ESLDA", values)
    assert ratio.max() <= 1 + SAME
    assert ratio.min() < 0.99


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kind", figure1.KINDS)
def test_methods_against_the_solvers(kind: str, name: str) -> None:
    A, B, values = solved(kind, 16, 25)
    start = 2 if name == "backward alone" else 1  # the solver enumerates single features
    for i in range(6):
        path = es.solve_path(es.Pencil(A[i], B[i]), range(start, 17), **OPTIONS[name])
        assert of(name, values)[i, start - 1 :] == pytest.approx(path.objectives, rel=SAME)


@pytest.mark.parametrize("kind", figure1.KINDS)
def test_the_backward_pass_ends_with_one_feature(kind: str) -> None:
    A, B, values = solved(kind, 9, 30)
    for i in range(10):
        last = naive.backward(A[i], B[i], 1, "lambda_max")
        value = naive.score(A[i], B[i], last, "lambda_max")
        assert of("backward alone", values)[i, 0] == pytest.approx(value, rel=SAME)


def test_ties_go_to_the_lowest_index() -> None:
    """Two features are equal alone, but one has a partner; the forward pass takes the first."""
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.5, 0.5]])
    turned = A[[1, 0, 2]][:, [1, 0, 2]]
    values = figure1.solve_methods(np.stack([A, turned]), np.stack([np.eye(3)] * 2))
    pair = 0.75 + np.hypot(0.25, 0.5)
    assert of("forward alone", values)[:, 1] == pytest.approx([1.0, pair])
    assert of("ESLDA", values)[:, 1] == pytest.approx([pair, pair])


def run(protocol: dict[str, Any]) -> Any:
    found = [as_plain(figure1.work(**task)) for task in figure1.tasks(protocol)]
    return figure1.measure(protocol, found)


def all_values(kind: str) -> np.ndarray:
    """The values of `SMALL`, pair by pair."""
    parts = [task for task in figure1.tasks(SMALL) if task["kind"] == kind]
    assert [task["pairs"] for task in parts] == [2, 2, 1]
    draws = [
        draw_pairs(t["pairs"], np.random.default_rng(t["seed"]), 8, rank_one=kind == "Rank one")
        for t in parts
    ]
    return np.concatenate([figure1.solve_methods(*pair) for pair in draws])


@pytest.mark.parametrize("kind", figure1.KINDS)
def test_parts_add_up(kind: str) -> None:
    measured = run(SMALL)
    values = all_values(kind)
    for name in OPTIONS:
        ratio = of(name, values) / of("ESLDA", values)
        worst = int(np.argmin(ratio.mean(axis=0)))
        cell = measured.cells[f"{kind}: {name}", "worst mean ratio"]
        assert cell.value == pytest.approx(ratio[:, worst].mean())
        assert cell.se == pytest.approx(ratio[:, worst].std(ddof=1) / np.sqrt(5), abs=1e-7)
        assert measured.cells[f"{kind}: {name}", "worst k"].value == worst + 1
        share = np.mean(ratio[:, :7] > 1 - 1e-6, axis=1)
        cell = measured.cells[f"{kind}: {name}", "optimal sets, %"]
        assert cell.value == pytest.approx(100 * share.mean())
        assert cell.se == pytest.approx(100 * share.std(ddof=1) / np.sqrt(5), abs=1e-5)
    least = (of("GSLDA", values) / of("ESLDA", values)).min()
    (note,) = (note for note in measured.notes if note.startswith(kind))
    assert f"by up to {1 - least:.0%}" in note


def test_suboptimality_is_what_is_missing() -> None:
    cells = run(SMALL).cells
    ratio = cells["Full rank: GSLDA", "worst mean ratio"]
    missing = cells["Full rank: GSLDA", "worst suboptimality, %"]
    assert missing.value == pytest.approx(100 - 100 * ratio.value)
    assert missing.se == pytest.approx(100 * ratio.se)


def test_the_figure_shows_the_papers_methods() -> None:
    measured, values = run(SMALL), all_values("Full rank")
    with house_style():
        score, ratio = figure1.draw(measured.series).axes
    best = of("ESLDA", values)
    for i, (name, marker) in enumerate([("ST", "s"), ("GSLDA", "D"), ("ESLDA", "o")]):
        expected = of(name, values)
        assert score.lines[i].get_marker() == ratio.lines[i].get_marker() == marker
        assert score.lines[i].get_ydata() == pytest.approx(np.mean(expected / best[:, -1:], axis=0))
        assert ratio.lines[i].get_ydata() == pytest.approx(np.mean(expected / best, axis=0))
        assert np.array_equal(ratio.lines[i].get_xdata(), np.arange(1, 9))
