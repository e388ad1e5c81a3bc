"""Random tables, labels and pencils, odd ones among them.

Shapes, kinds and options are drawn by hypothesis, which shrinks them; most entries come from a
numpy generator with a drawn seed, for speed. Tiny tables are also drawn entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import eigensieve as es
from tests.oracles.instances import KINDS

SEEDS = st.integers(0, 2**32 - 1)
CRITERIA = ("lambda_max", "trace", "logdet")
NASTY = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-8, 1e8, 5e-324, 1e-300, 1e300, 2.0**53]
Draw = Callable[[st.SearchStrategy], Any]


# ---------------------------------------------------------------- tables


def _duplicated(X: np.ndarray, rng: np.random.Generator) -> None:
    j = rng.integers(X.shape[1], size=2)
    X[:, j[0]] = rng.choice([1.0, -1.0, 2.0]) * X[:, j[1]]


def _constant(X: np.ndarray, rng: np.random.Generator) -> None:
    X[:, rng.integers(X.shape[1])] = rng.choice([0.0, 1.0, 0.1])


def _near_copy(X: np.ndarray, rng: np.random.Generator) -> None:
    j = rng.integers(X.shape[1], size=2)
    X[:, j[0]] = X[:, j[1]] * (1 + 1e-9 * rng.normal(size=len(X)))


def _scaled(X: np.ndarray, rng: np.random.Generator) -> None:
    X *= 10.0 ** rng.choice([-8.0, 0.0, 8.0], size=X.shape[1])


def _shifted(X: np.ndarray, rng: np.random.Generator) -> None:
    X += rng.choice([0.0, 1e3, 1e6], size=X.shape[1])


def _sparse(X: np.ndarray, rng: np.random.Generator) -> None:
    X[rng.random(X.shape) < 0.7] = 0.0


def _ties(X: np.ndarray, rng: np.random.Generator) -> None:
    X[:] = np.round(X)


def _repeated_rows(X: np.ndarray, rng: np.random.Generator) -> None:
    X[:] = X[rng.integers(len(X), size=len(X))]


def _outlier(X: np.ndarray, rng: np.random.Generator) -> None:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = 1e6


def _nearly_constant(X: np.ndarray, rng: np.random.Generator) -> None:
    j = rng.integers(X.shape[1])
    X[:, j] = 1e6
    X[0, j] = np.nextafter(1e6, 2e6)


MILD = (_duplicated, _constant, _ties, _repeated_rows, _sparse)
ODD = (*MILD, _near_copy, _scaled, _shifted, _outlier, _nearly_constant)


def _huge(X: np.ndarray, rng: np.random.Generator) -> None:
    X *= 1e300


def _tiny(X: np.ndarray, rng: np.random.Generator) -> None:
    X *= 1e-300


def _not_finite(X: np.ndarray, rng: np.random.Generator) -> None:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])


def _mixed_scales(X: np.ndarray, rng: np.random.Generator) -> None:
    X *= 10.0 ** rng.choice([-300.0, -150.0, 0.0, 150.0, 300.0], size=X.shape[1])


WILD = (*ODD, *ODD, _huge, _tiny, _not_finite, _mixed_scales)


@st.composite
def arrays(
    draw: Draw,
    kinds: tuple[Any, ...] = ODD,
    rows: tuple[int, int] = (2, 40),
    columns: tuple[int, int] = (1, 30),
) -> np.ndarray:
    """A float64 table with up to three oddities of the given kinds."""
    n, p = draw(st.integers(*rows)), draw(st.integers(*columns))
    rng = np.random.default_rng(draw(SEEDS))
    X = rng.normal(size=(n, p))
    for change in draw(st.lists(st.sampled_from(kinds), max_size=3)) if kinds else ():
        with np.errstate(all="ignore"):
            change(X, rng)
    return X


def tiny_arrays() -> st.SearchStrategy[np.ndarray]:
    """Every entry drawn by hypothesis: anything a float64 can be."""
    shapes = st.tuples(st.integers(2, 6), st.integers(1, 4))
    entries = st.one_of(st.sampled_from(NASTY), st.floats(width=64), st.integers(-3, 3).map(float))
    return hnp.arrays(np.float64, shapes, elements=entries)


STRANGE_NAMES = st.lists(
    st.one_of(st.text(max_size=8), st.sampled_from(["", " ", "a,b", '"', "\n", "NaN", "β", "0"])),
    min_size=30,
    max_size=30,
    unique=True,
)


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _strided(X: np.ndarray) -> np.ndarray:
    wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _with_explicit_zeros(X: np.ndarray) -> sparse.csr_matrix:
    stored = sparse.csr_matrix(np.ones_like(X))
    stored.data = X.ravel().copy()
    return stored


# Containers that hold the very numbers of the array.
SAME: dict[str, Callable[[np.ndarray], Any]] = {
    "array": np.array,
    "Fortran": np.asfortranarray,
    "read-only": _read_only,
    "strided": _strided,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "list": lambda X: X.tolist(),
    "big-endian": lambda X: X.astype(">f8"),
}
SPARSE: dict[str, Callable[[np.ndarray], Any]] = {
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr array": sparse.csr_array,
    "coo": sparse.coo_matrix,
    "explicit zeros": _with_explicit_zeros,
}
# Containers that may change the numbers.
OTHER: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "integers": lambda X: np.clip(np.nan_to_num(X), -1000, 1000).astype(np.int64),
    "bytes": lambda X: np.clip(np.nan_to_num(X), 0, 200).astype(np.uint8),
    "bools": lambda X: X > 0,
    "objects": lambda X: X.astype(object),
    "strings": lambda X: X.astype(str),
    "complex": lambda X: X.astype(complex),
    "three axes": lambda X: X[None],
    "one axis": lambda X: X[:, 0],
    "no columns": lambda X: X[:, :0],
    "no rows": lambda X: X[:0],
}


@st.composite
def containers(draw: Draw, X: np.ndarray, refusable: bool = True) -> Any:
    """The table as an array of some layout or type, a sparse matrix or a frame."""
    good = sorted({**SAME, **SPARSE, "frame": None})
    kind = draw(st.sampled_from(good * 4 + sorted(OTHER) if refusable else good))
    if kind == "frame":
        names = draw(STRANGE_NAMES)[: X.shape[1]]
        return pd.DataFrame(X, columns=pd.Index(names, dtype=object))
    with np.errstate(all="ignore"):
        return {**SAME, **SPARSE, **OTHER}[kind](X)


# ---------------------------------------------------------------- labels


@st.composite
def labels(draw: Draw, n: int, odd: bool = True) -> Any:
    """Labels of n samples: ints, words, bools, floats, mixed; one class, singletons, missing."""
    most = draw(st.integers(1 if odd else 2, 5))
    code = np.random.default_rng(draw(SEEDS)).integers(most, size=n)
    if not odd:
        code = np.arange(n) % most
    elif most > 1 and n >= 4:
        code[:4] = [0, 1, 0, 1]
    kinds = ["ints", "words", "bools", "negative", "objects", "series"] * (4 if odd else 1)
    kinds += ["mixed", "floats", "halves", "missing", "None", "column", "short", "alone"] * odd
    kind = draw(st.sampled_from(kinds))
    words = np.array(["a", "β", "class c", "", "1"])
    made: dict[str, Callable[[], Any]] = {
        "ints": lambda: code,
        "words": lambda: words[code],
        "bools": lambda: code % 2 == 0,
        "negative": lambda: -7 * code,
        "objects": lambda: words[code].astype(object),
        "series": lambda: pd.Series(words[code]),
        "mixed": lambda: np.array([i if i % 2 else str(i) for i in code.tolist()], dtype=object),
        "floats": lambda: code.astype(float),
        "halves": lambda: code / 2 + 0.25,
        "missing": lambda: np.where(np.arange(n) == 0, np.nan, code),
        "None": lambda: np.array([None, *words[code][1:]], dtype=object),
        "column": lambda: code[:, None],
        "short": lambda: code[:-1],
        "alone": lambda: np.arange(n),
    }
    return made[kind]()


@dataclass(frozen=True, eq=False)
class Labelled:
    """A table and its labels; ``repr`` is what a failing case shows."""

    X: np.ndarray
    y: np.ndarray

    def __repr__(self) -> str:
        return f"Labelled(np.array({self.X.tolist()}), np.array({self.y.tolist()}))"


@st.composite
def labelled(
    draw: Draw,
    kinds: tuple[Any, ...] = (),
    rows: tuple[int, int] = (8, 30),
    columns: tuple[int, int] = (2, 9),
) -> Labelled:
    """Classes of two samples and more, and columns that tell them apart a little."""
    X = draw(arrays(kinds, rows, columns))
    K = draw(st.integers(2, min(4, len(X) // 2)))
    y = np.arange(len(X)) % K
    X[:, 0] += draw(st.sampled_from([0.0, 1.0, 3.0])) * y
    return Labelled(X, y)


# ---------------------------------------------------------------- pencils


@dataclass(frozen=True, eq=False)
class Drawn:
    """A pencil and how it was made."""

    pencil: es.Pencil
    kind: str
    seed: int

    def __repr__(self) -> str:
        return f"KINDS[{self.kind!r}](np.random.default_rng({self.seed}))"


@st.composite
def pencils(draw: Draw, most: int = 9, kinds: tuple[str, ...] = tuple(KINDS)) -> Drawn:
    """A pencil of one of the kinds of tests/oracles, of at most so many features."""
    kind, seed = draw(st.sampled_from(kinds)), draw(SEEDS)
    pencil = KINDS[kind](np.random.default_rng(seed))
    if pencil.size > most:
        pencil = pencil.take(np.arange(most))
    return Drawn(pencil, kind, seed)


@st.composite
def matrices(draw: Draw) -> tuple[Any, Any]:
    """A and B as users might give them: not square, not symmetric, indefinite, nearly singular."""
    p = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(SEEDS))
    A = rng.normal(size=(p, p))
    if draw(st.booleans()):
        A = A + A.T
    H = rng.normal(size=(draw(st.integers(0, p + 2)), p))
    B: Any = H.T @ H + draw(st.sampled_from([0.0, 1e-14, 1e-8, 1.0])) * np.eye(p)
    factor = draw(st.sampled_from([1.0, 1e-200, 1e200, 1e-300, 1e300]))
    change = draw(
        st.sampled_from(["none", "scale A", "scale B", "nan", "shape", "no B", "negative"])
    )
    with np.errstate(all="ignore"):
        if change == "scale A":
            A = A * factor
        elif change == "scale B":
            B = B * factor
        elif change == "nan":
            A[0, -1] = A[-1, 0] = np.nan
        elif change == "shape":
            B = B[:-1]
        elif change == "no B":
            B = None
        elif change == "negative":
            B = -B
    return A, B


SHRINKAGES = st.one_of(
    st.floats(0, 1),
    st.sampled_from(["auto", "auto", 0.0, 1.0, 0.5, 1e-6]),
    st.sampled_from(["auto"] * 12 + [-0.1, 2, None, "some", np.nan, True]),
)
