"""The compiled Monte Carlo against brute force, SciPy and the package's own solvers."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.datasets.moghaddam2006 import draw_pairs
from eigensieve.errors import InputError, VerificationError
from eigensieve.experiments.cache import as_plain
from eigensieve.experiments.moghaddam2006 import figure1
from eigensieve.plots._style import house_style
from tests.oracles import naive

SAME = 1e-9
SMALL = {"n": 8, "paths": 64, "pairs": 5, "part": 2, "seed": 3, "readings": [9], "reading_pairs": 6}
OPTIONS: dict[str, dict[str, Any]] = {
    "ST": {"solver": "threshold", "vector": "y"},
    "ST on x": {"solver": "threshold", "vector": "x"},
    "GSLDA": {"solver": "greedy", "direction": "both", "swap": False},
    "forward alone": {"solver": "greedy", "direction": "forward", "swap": False},
    "backward alone": {"solver": "greedy", "direction": "backward", "swap": False},
    "GSLDA + swaps": {"solver": "greedy", "direction": "both", "n_starts": 0},
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


@pytest.mark.parametrize(("a", "b"), [(1e-200, 1.0), (1e200, 1.0), (1.0, 1e-200), (1e250, 1e200)])
@pytest.mark.parametrize("kind", figure1.KINDS)
def test_scale_does_not_matter(kind: str, a: float, b: float) -> None:
    A, B, values = solved(kind, 9, 30)
    found = figure1.solve_methods(a * A, b * B)
    np.testing.assert_allclose(found / of("ESLDA", found)[:, None],
                               values / of("ESLDA", values)[:, None], rtol=SAME)  # fmt: skip
    np.testing.assert_allclose(found, a / b * values, rtol=SAME)


def test_pairs_may_differ_in_scale() -> None:
    A, B, values = solved("Full rank", 9, 30)
    sizes = 10.0 ** np.linspace(-200, 200, 30)
    found = figure1.solve_methods(A * sizes[:, None, None], B)
    np.testing.assert_allclose(found, values * sizes[:, None, None], rtol=SAME)


def near_duplicates(distance: float) -> np.ndarray:
    """B of three features, two of which differ by so much noise."""
    x, y, z = np.eye(3)
    rows = np.array([x, x + distance * y, z])
    return np.asarray(rows @ rows.T)


BAD: dict[str, tuple[np.ndarray, np.ndarray, str]] = {
    "zero A": (np.zeros((3, 3)), np.eye(3), "A is 0"),
    "nan in A": (np.full((3, 3), np.nan), np.eye(3), "A has an entry that is not finite"),
    "infinite B": (np.eye(3), np.diag([1.0, np.inf, 1.0]), "B has an entry that is not finite"),
    "indefinite A": (np.diag([1.0, -1.0, 0.0]), np.eye(3), "A is not positive semidefinite"),
    "zero B": (np.eye(3), np.zeros((3, 3)), "B is 0"),
    "singular B": (np.eye(3), np.ones((3, 3)), "condition number of at most 1e"),
    "indefinite B": (np.eye(3), np.diag([1.0, -1.0, 1.0]), "condition number of at most 1e"),
    "near-duplicates": (np.eye(3), near_duplicates(1e-6), "condition number of at most 1e"),
    "out of range": (1e200 * np.eye(3), 1e-200 * np.eye(3), "too large or too small beside B"),
    "out of range, small": (1e-200 * np.eye(3), 1e200 * np.eye(3), "too large or too small"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_solved_safely_is_refused(name: str) -> None:
    """The second pair is the bad one."""
    A, B, message = BAD[name]
    with pytest.raises(InputError, match=rf"pair 1: .*{message}"):
        figure1.solve_methods(np.stack([np.eye(3), A]), np.stack([np.eye(3), B]))


def test_what_is_not_refused_is_optimal() -> None:
    """B as near to singular as is allowed, against every subset."""
    A, B = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]]), near_duplicates(3e-3)
    assert 1e5 < np.linalg.cond(B) < figure1.CONDITION
    found = of("ESLDA", figure1.solve_methods(A[None], B[None]))[0]
    for k in (1, 2, 3):
        best = max(linalg.eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True)[-1]
                   for S in map(list, combinations(range(3), k)))  # fmt: skip
        assert found[k - 1] == pytest.approx(best, rel=SAME)


def test_a_heuristic_above_the_optimum_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.ones((1, len(figure1.METHODS), 2))
    values[0, figure1.METHODS.index("ST"), 0] = 1 + 1e-6
    monkeypatch.setattr(figure1, "_search", lambda A, B: values)
    with pytest.raises(VerificationError, match="above the optimum"):
        figure1.solve_methods(np.eye(2)[None], np.eye(2)[None])


def run(protocol: dict[str, Any]) -> Any:
    found = [as_plain(figure1.work(**task)) for task in figure1.tasks(protocol)]
    return figure1.measure(protocol, found)


def all_values(kind: str) -> np.ndarray:
    """The values of `SMALL`, pair by pair."""
    parts = [t for t in figure1.tasks(SMALL) if t["kind"] == kind and t["paths"] == 64]
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
    assert f"by up to {100 * (1 - least):.0f}\u00a0%" in note


def test_suboptimality_is_what_is_missing() -> None:
    cells = run(SMALL).cells
    ratio = cells["Full rank: GSLDA", "worst mean ratio"]
    missing = cells["Full rank: GSLDA", "worst suboptimality, %"]
    assert missing.value == pytest.approx(100 - 100 * ratio.value)
    assert missing.se == pytest.approx(100 * ratio.se)


def test_every_number_of_paths_is_a_reading() -> None:
    """Nine paths of eight features: some pairs are nearly singular, and left out."""
    ratios, lost = [], 0
    for start in (0, 2, 4):
        A, B = draw_pairs(2, np.random.default_rng([3, start]), 8, paths=9)
        for a, b in zip(A, B):
            values = np.linalg.eigvalsh(b)
            if values[-1] > 0.99e6 * values[0]:
                lost += 1
            else:
                each = figure1.solve_methods(a[None], b[None])
                ratios.append((of("GSLDA", each) / of("ESLDA", each))[0])
    assert len(ratios) > 1
    mean = np.mean(ratios, axis=0)
    measured = run(SMALL)
    readings = measured.readings["Full rank: GSLDA", "worst mean ratio"]
    assert list(readings) == ["64 paths", "9 paths"]
    assert readings["9 paths"].value == pytest.approx(mean.min())
    assert readings["9 paths"].n == len(ratios)
    assert readings["64 paths"] == measured.cells["Full rank: GSLDA", "worst mean ratio"]
    worst = measured.readings["Full rank: GSLDA", "worst k"]
    assert worst["9 paths"].value == np.argmin(mean) + 1
    told = [note for note in measured.notes if "left out" in note]
    assert len(told) == (lost > 0)
    assert all(f"9 paths: {lost} of 6 pairs" in note for note in told)


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
