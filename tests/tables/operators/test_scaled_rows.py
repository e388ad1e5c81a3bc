"""Scaled rows, dense, mapped, sparse and stacked: against numpy on the scaled matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.pencil import row_factor
from eigensieve.q_alpha.options import QAlphaOptions
from eigensieve.q_alpha.passes import project_and_turn, turn, weigh, weigh_and_turn
from eigensieve.q_alpha.problem import make_rows
from eigensieve.q_alpha.tall_rows import TallRows
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.kinds.opening import as_big_table
from eigensieve.tables.operators.centred_rows import CentredRows
from eigensieve.tables.operators.scaled_rows import centred_on_paper
from eigensieve.tables.operators.scaling import find_scaling
from eigensieve.tables.operators.streamed_rows import StreamedRows
from eigensieve.tables.operators.table_rows import ArrayRows, StackedRows, TableRows
from tests.oracles import qalpha as oracle

Q, N = 12, 30
SCALINGS: list[dict[str, Any]] = [{}, {"offset": 0.5}, {"center": False}, {"scale": False}]
DENSE = ("dense", "dense ints", "dense float32", "mapped C", "mapped F", "mapped ints")
DENSE += ("mapped float32", "stacked")
SPARSE = ("csr", "csc", "coo", "csr_matrix", "sparse ints", "sparse float32", "stored zeros")


def table(kind: str) -> np.ndarray:
    """X (samples, features), about half zeros; a zero column, a constant one, a pair."""
    rng = np.random.default_rng(1)
    X = rng.integers(-4, 9, size=(Q, N)) * (rng.random((Q, N)) < 0.5)
    X[:, 3], X[:, 4], X[:, 20] = 0, 7, X[:, 8]
    dtype = np.int64 if "ints" in kind else np.float32 if "float32" in kind else np.float64
    return X.astype(dtype) if "ints" in kind else (X / 4 + 0.1 * (X > 5)).astype(dtype)


def make(kind: str, path: Path, **options: Any) -> tuple[TableRows, np.ndarray]:
    """The rows, and M (n, q) as numpy has it."""
    X, chosen = table(kind), QAlphaOptions(**options)
    M = oracle.normalize_rows(X.T.astype(float), chosen.shift, chosen.is_centred, chosen.scale)
    if not chosen.scale:
        M /= np.linalg.norm(M, axis=1).max()
    given: Any = X
    np.save(path / "X.npy", np.asfortranarray(X) if kind == "mapped F" else X)
    mapped = np.load(path / "X.npy", mmap_mode="r")
    if "mapped" in kind:
        given = mapped
    elif kind in SPARSE:
        form = kind if kind in SPARSE[:3] else "csr"
        given = getattr(sparse, "csr_matrix" if kind == "csr_matrix" else f"{form}_array")(X)
    if kind == "stored zeros":
        given = sparse.csr_array(np.where(X == 0, 99.0, X))
        given.data[given.data == 99.0] = 0.0
    rows = make_rows(given, chosen)
    if kind == "stacked":
        scaling = find_scaling(X, center=chosen.is_centred, scale=chosen.scale, offset=chosen.shift)
        parts = [rows, centred_on_paper(sparse.csc_array(X), scaling)]
        on_disk = as_big_table(mapped)
        assert on_disk is not None
        return StackedRows([*parts, StreamedRows(on_disk, scaling)]), np.vstack([M, M, M])
    return rows, M


def assert_rows(rows: TableRows, M: np.ndarray) -> None:
    """Everything that is asked of rows, by numpy."""
    n, q = M.shape
    assert (rows.n_features, rows.n_samples) == (n, q)
    rng = np.random.default_rng(2)
    B, W, w = (rng.standard_normal(s).astype(rows.dtype) for s in ((q, 3), (n, 3), n))
    A = rng.standard_normal((q, q)).astype(rows.dtype)
    picks = rng.permutation(n)[:5]
    U, turned = project_and_turn(rows, B, w)
    y, again = weigh_and_turn(rows, W, B)
    plain_y = np.sum(W * (M @ B), axis=1)
    near = 1e-13 if rows.dtype == np.float64 else 3e-6
    expected = {
        "rmatmat": (rows.rmatmat(B), M @ B),
        "R.T @": (rows.T @ B, M @ B),
        "matmat": (rows.matmat(W), M.T @ W),
        "of a few": (rows @ (W * (w > 1)[:, None]), M.T @ (W * (w > 1)[:, None])),
        "gram": (rows.gram(w), M.T @ np.diag(w) @ M),
        "equal gram": (rows.gram(), M.T @ M),
        "cross": (rows.cross(M.T.astype(rows.dtype), w), M.T @ np.diag(w) @ M),
        "weigh": (weigh(rows, W, B), plain_y),
        "turn": (turn(rows, w, W), M.T @ (w[:, None] * W)),
        "project_and_turn, U": (U, M @ B),
        "project_and_turn": (turned, M.T @ (w[:, None] * (M @ B))),
        "weigh_and_turn, y": (y, plain_y),
        "weigh_and_turn": (again, M.T @ (plain_y[:, None] * W)),
        "quadratic_forms": (rows.quadratic_forms(A), np.diag(M @ A @ M.T)),
        "inner": (rows.inner(), M @ M.T),
        "limits": (np.array(rows.limits()), np.array([M.min(axis=1), M.max(axis=1)])),
        "columns": (rows.columns(picks), M[picks].T),
        "scaled": (rows.scaled(w) @ W, M.T @ (w[:, None] * W)),
        "blocks": (np.hstack([block for _, block in rows.column_blocks()]), M.T),
    }
    for name, (ours, plain) in expected.items():
        assert ours.shape == plain.shape, name
        assert ours.dtype == rows.dtype, name
        size = max(1.0, np.abs(plain).max())
        np.testing.assert_allclose(ours, plain, rtol=0, atol=near * size, err_msg=name)


# -- products --------------------------------------------------------------------------------


def use_blocks_of(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_factor, "FEATURE_ENTRIES", entries)
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", entries)


@pytest.mark.parametrize("entries", [2_000_000, 3 * Q, 1])
@pytest.mark.parametrize("kind", DENSE + SPARSE)
def test_products(kind: str, entries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_blocks_of(entries, monkeypatch)
    for options in SCALINGS:
        rows, M = make(kind, tmp_path, **options)
        assert rows.dtype == (np.float32 if "float32" in kind else np.float64)
        assert_rows(rows, M)
        samples = np.array([7, 2, 9, 3])
        assert_rows(rows.of_rows(samples), M[:, samples])


@pytest.mark.parametrize("kind", ["dense", "mapped C", "csr", "stacked"])
def test_samples_of_rows(kind: str, tmp_path: Path) -> None:
    rows, M = make(kind, tmp_path)
    assert_rows(rows.of_rows(np.array([7, 2, 9, 3])).of_rows(np.array([2, 0])), M[:, [9, 7]])


def test_kinds_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(make("mapped C", tmp_path)[0]) is ArrayRows  # so small a table is held in memory
    use_blocks_of(3 * Q, monkeypatch)
    kinds = {
        "csc": CentredRows,
        "dense": ArrayRows,
        "mapped C": StreamedRows,
        "mapped F": StreamedRows,
    }
    for kind, expected in kinds.items():
        assert type(make(kind, tmp_path)[0]) is expected
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert type(make_rows(np.asarray(X)[2:], QAlphaOptions())) is StreamedRows
    assert type(make_rows(np.asarray(X)[2:].T, QAlphaOptions())) is TallRows
    laplacian = QAlphaOptions(variant="laplacian")  # which needs the samples themselves
    assert type(make_rows(np.asarray(X)[2:].T, laplacian)) is StreamedRows
    assert type(make_rows(np.array(X), QAlphaOptions())) is ArrayRows


# -- permutations ----------------------------------------------------------------------------


@pytest.mark.parametrize("entries", [2_000_000, 3 * Q])
@pytest.mark.parametrize("kind", [k for k in DENSE + SPARSE if k != "stacked"])
def test_permutations(
    kind: str, entries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_blocks_of(entries, monkeypatch)
    rows, M = make(kind, tmp_path)
    before = rows[:, :].T
    one, same, other = (rows.permuted(seed) for seed in (1, 1, 2))
    P, P1, P2 = (r[:, :].T for r in (one, same, other))
    near = {"rtol": 0.0, "atol": 1e-12 if rows.dtype == np.float64 else 1e-6}
    np.testing.assert_allclose(np.sort(P, axis=1), np.sort(M, axis=1), **near)
    assert np.array_equal(P, P1)
    varying = np.flatnonzero(np.abs(M).max(axis=1) > 0)
    for R in (P, P2):
        assert np.mean([np.abs(R[i] - M[i]).max() > 1e-3 for i in varying]) > 0.9
    assert np.abs(P - P2).max() > 0.1
    # of their own: no two features, not even in different blocks, are moved the same way
    moved = [tuple(np.argsort(row, kind="stable")) for row in P[varying]]
    assert len(set(moved)) == len(moved)
    assert np.array_equal(rows[:, :].T, before)  # the rows stay as they were
    assert_rows(one, P.astype(np.float64))
    assert_rows(rows.beside(one), np.vstack([M, P.astype(np.float64)]))
    samples = np.array([4, 0, 11])
    some = one.of_rows(samples)[:, :].T
    np.testing.assert_allclose(some, P[:, samples], **near)


# -- scaling ---------------------------------------------------------------------------------


def test_constant_features_are_zero_and_extremes_are_not() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(40)
    columns = [x, x * 1e200, x * 1e-200, 1e6 + 1e-11 * x, np.full(40, 0.1), np.zeros(40)]
    columns += [np.full(40, 1e250), 1e6 + 1e-3 * x, np.full(40, -1e-300), x + 1e8]
    X = np.column_stack(columns)
    for given in (X, sparse.csr_array(X)):
        scaling = find_scaling(given, center=True, scale=True, offset=0.0)
        assert np.flatnonzero(scaling.factor == 0).tolist() == [3, 4, 5, 6, 8]
        M = make_rows(given, QAlphaOptions())[:, :].T
        z = (x - x.mean()) / np.linalg.norm(x - x.mean())
        for i in (0, 1, 2):
            np.testing.assert_allclose(M[i], z, atol=1e-14)
        for i in (7, 9):
            np.testing.assert_allclose(M[i], z, atol=1e-6)
        assert not M[scaling.factor == 0].any()
    with pytest.raises(InputError, match="constant"):
        find_scaling(X[:, 3:7], center=True, scale=True, offset=0.0)
    with pytest.raises(InputError, match="1e\\+290"):
        find_scaling(X[:, :1] * 1e295, center=True, scale=True, offset=0.0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_float32_with_a_large_mean(form: Any) -> None:
    """Digits are lost in the data, not after: as good as float64 on the same numbers."""
    x = np.random.default_rng(4).standard_normal((50, 8))
    X = (x + 1e4 * np.arange(8)).astype(np.float32)
    M = oracle.normalize_rows(X.T.astype(np.float64))
    rows = make_rows(form(X), QAlphaOptions())
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[:, :].T, M, atol=1e-6)


@pytest.mark.parametrize("variant", ["standard", "basic", "ritz", "gap", "supervised"])
def test_units_do_not_matter(variant: str) -> None:
    rng = np.random.default_rng(5)
    for n, q in ((9, 24), (30, 11), (90, 14)):
        y = np.arange(q) % 3 == 0
        M = np.round(rng.standard_normal((n, q)) * 1024) / 1024  # so that adding 2^20 is exact
        M[: n // 3, : q // 2] += 2.0
        M[1] = M[4]
        options: dict[str, Any] = {"y": y, "variant": variant, "n_init": 1, "tol": 0, "max_iter": 3}
        found = es.qalpha(M.T, **options)
        scaled = M * 10.0 ** rng.choice([-60, 0, 60], size=(n, 1))
        for other in (scaled, M + 2.0**20 * rng.choice([-1, 0, 1], size=(n, 1))):
            again = es.qalpha(other.T, **options)
            np.testing.assert_allclose(again.alpha, found.alpha, rtol=0, atol=1e-8)
            np.testing.assert_allclose(again.history, found.history, rtol=1e-8)
            again.verify(other.T, y)
        plain, turned = (
            es.qalpha(X.T, offset=0.0, **options).alpha for X in (M, -M)
        )  # m_i m_i' has no sign
        np.testing.assert_allclose(turned, plain, rtol=0, atol=1e-8)


WRONG: dict[str, Any] = {
    "missing": lambda M: np.where(M > 1, np.nan, M),
    "infinite": lambda M: np.where(M > 1, np.inf, M),
    "infinite, both": lambda M: np.where(np.abs(M) > 1, M * np.inf, M),
    "large": lambda M: np.where(M > 1, 1e300, M),
    "too large to sum": lambda M: np.where(M > 1, 1e308, M),
    "constant": lambda M: np.full((3, 4), 2.0),
    "empty": lambda M: M[:0],
    "text": lambda M: M.astype(str),
    "sparse, missing": lambda M: sparse.csr_array(np.where(M > 1, np.nan, M)),
}


@pytest.mark.parametrize("kind", list(WRONG))
def test_tables_that_cannot_be_used(kind: str) -> None:
    with pytest.raises(InputError):
        es.qalpha(WRONG[kind](np.random.default_rng(6).standard_normal((9, 24))).T)


# -- sparse tables ---------------------------------------------------------------------------


def sparse_table(n: int, q: int) -> Any:
    M = sparse.random_array((n, q), density=0.1, rng=np.random.default_rng(7), format="csr")
    M.data += 0.5
    return M


@pytest.mark.parametrize("variant", ["standard", "basic", "ritz", "gap", "laplacian", "supervised"])
def test_sparse_and_mapped_are_as_dense(variant: str, tmp_path: Path) -> None:
    for n, q in ((40, 60), (90, 30)):
        M = sparse_table(n, q)
        np.save(tmp_path / "M.npy", M.toarray())
        y = np.arange(q) % 3
        dense, *others = (
            es.qalpha(X.T, y=y, variant=variant, n_init=1, tol=0.0, max_iter=3)
            for X in (M.toarray(), M, M.tocoo(), np.load(tmp_path / "M.npy", mmap_mode="r"))
        )
        for found in others:
            np.testing.assert_allclose(found.alpha, dense.alpha, rtol=0, atol=1e-8)
            np.testing.assert_allclose(found.history, dense.history, rtol=1e-8)
            found.verify(M.toarray().T, y)


def test_verify_of_a_sparse_table() -> None:
    es.qalpha(sparse_table(40, 60).T).verify(sparse_table(40, 60).T)


@pytest.mark.parametrize("variant", ["standard", "basic", "ritz", "supervised"])
def test_sparse_tables_are_never_filled_in(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with Lanczos or single steps; "gram" fills in a block of features at a time."""
    small, large = sparse_table(300, 200), sparse_table(300, 1100)

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        # the affinity of up to 1000 samples (q, q) is formed, and is no table
        assert self.shape == (200, 200), f"a table {self.shape} was filled in"
        return self.tocoo()._real_toarray()

    monkeypatch.setattr(sparse.coo_array, "_real_toarray", sparse.coo_array.toarray, raising=False)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    for M in (small, large):
        for solver in ("lanczos", "single-step")[: 1 + (variant in ("standard", "basic"))]:
            y = np.arange(M.shape[1]) % 2
            found = es.qalpha(M.T, y=y, variant=variant, eigensolver=solver, n_init=2, max_iter=2)
            assert np.isfinite(found.alpha).all()


def test_entries_stored_twice_are_summed() -> None:
    """As scipy has it; both in coordinates and in compressed rows."""
    M = sparse_table(40, 30).tocoo()
    twice = sparse.coo_array((np.r_[M.data, 2 * M.data], np.c_[M.coords, M.coords]), shape=M.shape)
    once = M.tocsr()
    pieces = [np.split(x, once.indptr[1:-1]) for x in (once.indices, once.data)]
    columns, values = (np.concatenate([np.r_[p, p] for p in part]) for part in pieces)
    rows = sparse.csr_array((values * 1.5, columns, 2 * once.indptr), shape=M.shape)
    expected = es.qalpha(3 * M.toarray().T).alpha
    for given in (twice, rows):
        np.testing.assert_allclose(given.toarray(), 3 * M.toarray())
        np.testing.assert_allclose(es.qalpha(given.T).alpha, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("variant", ["standard", "gap", "laplacian"])
def test_the_table_is_not_changed(variant: str) -> None:
    """Unsorted indices are sorted by some of scipy's methods, in place."""
    M = sparse_table(40, 30)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(M.indptr[:-1], M.indptr[1:])])
    given = sparse.csr_array((M.data[order], M.indices[order], M.indptr), shape=M.shape)
    before = given.toarray()
    found = es.qalpha(given.T, variant=variant, n_init=1).alpha
    assert np.array_equal(given.toarray(), before)
    expected = es.qalpha(before.T, variant=variant, n_init=1).alpha
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
