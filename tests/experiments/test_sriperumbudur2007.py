"""D.C. programming: the pieces of its experiments against own arithmetic."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg

from eigensieve.errors import TableError
from eigensieve.experiments.sriperumbudur2007 import _components, colon, pitprops, sparsity
from eigensieve.experiments.sriperumbudur2007.scaling import exponent, random_problem
from eigensieve.pencil.pencil import Pencil
from eigensieve.search.solve import solve_components


def covariance(p: int = 7, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(40, p)) @ np.diag(np.arange(1.0, p + 1))
    return np.cov(X.T)


def test_variances_are_those_of_the_rows() -> None:
    """Plain, adjusted (QR of the scores) and subspace variance, from rows with this covariance."""
    C = covariance()
    V = np.random.default_rng(1).normal(size=(7, 3)) * (np.arange(21).reshape(7, 3) % 4 > 0)
    V /= np.linalg.norm(V, axis=0)
    found = _components.describe(Pencil(C), V)
    scores = linalg.sqrtm(C).real @ V
    total = np.trace(C) / 100
    np.testing.assert_allclose(found["plain"], np.cumsum((scores**2).sum(axis=0)) / total)
    R = np.linalg.qr(scores, mode="r")
    np.testing.assert_allclose(found["adjusted"], np.cumsum(np.diag(R) ** 2) / total)
    inside = [np.trace(np.linalg.pinv(V[:, :t]) @ C @ V[:, :t]) for t in (1, 2, 3)]
    np.testing.assert_allclose(found["subspace"], np.array(inside) / total)
    assert _components.cardinalities(found) == (V != 0).sum(axis=0).tolist()


@pytest.mark.parametrize("deflation", ["projection", "hotelling"])
def test_components_one_after_the_other(deflation: str) -> None:
    """The second has the largest variance, by brute force, in what the first leaves."""
    C = covariance()
    V = _components.sequential_components(Pencil(C), [2, 3], "exact", deflation)
    x, P = V[:, 0], np.eye(7) - np.outer(V[:, 0], V[:, 0])
    rest = P @ C @ P if deflation == "projection" else C - (x @ C @ x) * np.outer(x, x)
    for A, k, v in ((C, 2, V[:, 0]), (rest, 3, V[:, 1])):
        sets = map(list, combinations(range(7), k))
        best = max(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] for S in sets)
        assert v @ A @ v == pytest.approx(best)
        assert np.count_nonzero(v) == k


def test_relaxed_component_without_a_limit_is_the_eigenvector() -> None:
    C = covariance()
    x = _components.relaxed_component(C, 7)
    assert abs(x @ linalg.eigh(C)[1][:, -1]) == pytest.approx(1, abs=1e-5)
    # one feature: X is diagonal, and the largest variance takes all
    assert np.flatnonzero(_components.relaxed_component(C, 1)).tolist() == [np.diag(C).argmax()]


def test_equal_sets_in_any_order_read_alike() -> None:
    words = {pitprops.show_supports(s) for s in ([[3, 4], [9], [7]], [[7], [3, 4], [9]])}
    assert words == {"{3,4} {7} {9}"}


def test_refine_finds_every_interval() -> None:
    """A step function with a narrow interval that no point of the grid hits."""
    edges, calls = [1.0, 3.0, 3.003, 8.0], []

    def count(rho: float) -> int:
        calls.append(rho)
        return int(np.sum(rho < np.array(edges)))

    seen = sparsity.refine(count, np.geomspace(0.5, 9.0, 6).tolist(), 1e-6)
    rhos = sorted(seen)
    found = sparsity.widths(rhos, [seen[rho] for rho in rhos])
    assert found.keys() == {0, 1, 2, 3, 4}
    assert found[2] == pytest.approx(0.1, abs=1e-3)  # 3 to 3.003
    assert found[3] == pytest.approx(200, abs=1e-2)
    assert len(calls) < 150


def test_widths_takes_the_widest_of_several() -> None:
    """A number that comes back: its widest interval, not the sum, not from end to end."""
    found = sparsity.widths([1.0, 1.1, 2.0, 3.0, 4.5], [2, 2, 1, 2, 2])
    assert found == {2: pytest.approx(50), 1: 0.0}


def test_no_penalty_gives_four_pit_props(data_dir: Path) -> None:
    """Between 5 and 3 features nothing lasts: iterated by hand, 4 are only passed through."""
    A = _components.pit_props()
    x0 = linalg.eigh(A)[1][:, -1]
    numbers = set()
    for rho in np.linspace(0.3222, 0.3224, 9):
        x = x0
        for _ in range(20_000):
            g = A @ x
            t = np.divide(rho / 2, np.abs(x), out=np.full(13, np.inf), where=x != 0)
            u = np.sign(g) * np.maximum(np.abs(g) - t, 0.0)
            new = u / np.linalg.norm(u)
            done, x = np.linalg.norm(new - x) < 1e-6, new
            if done:
                break
        numbers.add(np.count_nonzero(x))
        assert np.count_nonzero(x) == sparsity._count_dc(Pencil(A), rho)
    assert numbers == {3, 5}


def test_fewest_genes(data_dir: Path) -> None:
    """The number found reaches the goal, one less does not; an impossible goal has none."""
    two = colon._dc(2, 1)["plain"][-1]
    assert colon.fewest_genes(two, "plain", 1) == 2
    assert colon.fewest_genes(two + 1e-6, "plain", 1) == 3


def test_spca_with_the_best_weights_of_its_sets(data_dir: Path) -> None:
    """Each of its components has the largest eigenvalue of its genes, by other arithmetic."""
    pencil = colon._correlations()
    X = np.log2(np.maximum(colon.load_set("colon")[0], 1.0))
    vectors, _ = solve_components(pencil, [4] * 3, "spca", ridge=np.inf)
    best = [np.linalg.eigvalsh(np.corrcoef(X[:, v != 0].T))[-1] for v in vectors.T]
    found = colon._spca(pencil, 4, 3)
    assert found[colon.RECOMPUTED]["first"] == pytest.approx(best[0])
    percent = 100 / X.shape[1]
    assert found[colon.RECOMPUTED]["plain"] == pytest.approx(percent * np.cumsum(best))
    own = vectors[:, 0] @ np.corrcoef(X.T) @ vectors[:, 0]
    assert found["SPCA"]["first"] == pytest.approx(own)
    assert own < best[0]
    assert colon._first(4, "spca", ridge=np.inf) <= 4


def test_share_of_the_sizes_with_more_variance() -> None:
    entries = [
        {"DC-PCA": {"subspace": [9.0, b]}, "SPCA": {"subspace": [1.0, 2.0]}}
        for b in (1.0, 2.0, 3.0, 4.0)
    ]
    assert colon.share_above(entries, "DC-PCA", "SPCA", "subspace") == 50.0


def test_the_deflation_is_a_reading(data_dir: Path) -> None:
    """At k = 5 it decides: Schur's has more adjusted variance than SPCA, projection less."""
    protocol = {"ks": [5], "components": 5, "polished_up_to": 0, "shown": 5}
    measured = colon.measure(protocol, [colon.work(**task) for task in colon.tasks(protocol)])
    readings = measured.readings["DC-PCA, all k", "k with more adjusted than SPCA, %"]
    assert {name: value.value for name, value in readings.items()} == {
        "projection deflation": 0.0, "Schur's deflation": 100.0,
    }  # fmt: skip
    adjusted = [
        float(measured.cells[f"{name}, k = 5", "adjusted, %"].value)
        for name in ("DC-PCA", "SPCA", "DC-PCA, Schur")
    ]
    assert adjusted == sorted(adjusted)


def test_a_number_without_a_penalty_is_not_the_narrowest() -> None:
    """4 features have no penalty; the narrowest intervals are those of 2 and 3."""
    rhos, counts = [1.0, 2.0, 3.0, 3.1, 4.0, 4.2, 5.0, 9.0], [5, 5, 3, 3, 2, 2, 1, 1]
    entry = {"n": 6, "top": 9.0, "coarse": [5, 1], "rhos": rhos, "counts": counts, "beside": None}
    protocol = dict.fromkeys(("rows", "columns", "seed", "grid", "fine", "draws"), 0)
    exact = {"n": 6, "ks": [1, 2], "counts": [1, 3]}
    found = sparsity.measure({"problems": ["p"], **protocol}, [entry, entry, entry, exact])
    assert found.cells["p: DC-PCA", "two narrowest k"].value == "2, 3"
    assert found.cells["p: DC-PCA", "narrowest interval, %"].value == pytest.approx(100 * 0.1 / 3)
    assert found.cells["p: DC-PCA", "k without a penalty"].value == 1
    assert "p: DC-PCA: no penalty gives k = 4." in found.notes


def test_exponent_and_problem() -> None:
    assert exponent({n: 3.0 * n**1.5 for n in (10, 30, 100)}) == pytest.approx(1.5)
    A = random_problem(12, 3)
    assert np.linalg.matrix_rank(A) == 11  # centred columns
    np.testing.assert_array_equal(A, random_problem(12, 3))
    assert np.trace(A) / 12 == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_damaged_file_is_named(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pitprops.npz"
    if content is None:
        np.savez(path, corr=np.eye(3))
    else:
        path.write_bytes(content)
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    with pytest.raises(TableError, match=r"pitprops\.npz"):
        _components.pit_props()
