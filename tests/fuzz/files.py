"""Files as people have them: delimited text of every kind, clean and broken."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.strategies import SEEDS

CELLS = st.one_of(
    st.floats(allow_nan=False, width=32).map(str),
    st.integers(-100, 100).map(str),
    st.sampled_from(["", "NA", "nan", "inf", "-inf", "1,5", "1e999", "1_000", " 2 ", "0x1f", "١٢"]),
    st.sampled_from(["a", "b", "yes", "β", '"', "x;y", "a\nb", "\x00", "=1+1", "'", "\ud7ff"]),
    st.text(max_size=4),
)
NAMES = st.one_of(
    st.sampled_from(["a", "b", "y", "", " ", "id", "a", "1", "3.5", "NA", "β", "x,y", "ä\nö"]),
    st.text(max_size=5),
)


@st.composite
def csv_bytes(draw: Any) -> bytes:
    """Text that may be a table: rows of unequal width, quotes anywhere, any encoding."""
    width, n, tame = draw(st.integers(1, 5)), draw(st.integers(0, 7)), draw(st.booleans())
    names = st.just(list("abcde")[:width])
    header = draw(names if tame else st.lists(NAMES, min_size=width, max_size=width))
    if width > 1 and draw(st.booleans()):
        header[-1] = "y"
    wild = st.lists(st.booleans(), min_size=width, max_size=width)
    kinds = [True] * width if tame else draw(wild)  # numbers, or anything
    rows = [header]
    rng = np.random.default_rng(draw(SEEDS))
    for _ in range(n):
        rows.append([str(rng.integers(9)) if kind else draw(CELLS) for kind in kinds])
        rows[-1][-1] = str(rng.choice(["u", "v"])) if header[-1] == "y" else rows[-1][-1]
    if draw(st.integers(0, 9)) == 0 and n:
        rows[draw(st.integers(0, n))].append("1")
    text = io.StringIO()
    delimiter = draw(st.sampled_from([","] * 5 + [";", "\t", "|", " "]))
    ends = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    csv.writer(text, delimiter=delimiter, lineterminator=ends, quoting=quoting).writerows(rows)
    content = text.getvalue()
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):  # damage
        place = draw(st.integers(0, len(content)))
        piece = draw(st.sampled_from(['"', "\n", "\n\n", delimiter, "#", "\x00", "\ufeff", " "]))
        content = content[:place] + piece + content[place:]
    encoding = draw(st.sampled_from(["utf-8"] * 4 + ["utf-8-sig", "latin-1", "utf-16"]))
    data = content.encode(encoding, errors="replace")
    return gzip.compress(data) if draw(st.integers(0, 19)) == 0 else data


@dataclass(frozen=True, eq=False, repr=False)
class CleanFile:
    """A table and the file that holds it."""

    data: bytes
    suffix: str
    X: np.ndarray
    names: list[str]
    y: list[str]

    def __repr__(self) -> str:
        return f"CleanFile({self.data!r}, {self.suffix!r})"


@st.composite
def clean_files(draw: Any) -> CleanFile:
    """Numbers with names and labels, written in one of the ways that must be read."""
    n, p = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(SEEDS))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-8, 9, size=p)
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    letters = "abcxyzβ é'\"" + ",;" * (quoting != csv.QUOTE_MINIMAL)  # else: which delimiter?
    words = st.text(letters, min_size=1, max_size=6).map(lambda s: f"n{s.strip()}")
    names = draw(st.lists(words, min_size=p, max_size=p, unique=True))
    y = [draw(st.sampled_from(["u", "v", "long label", "β"])) for _ in range(n)]
    suffix = draw(st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz"]))
    delimiter = draw(st.sampled_from([",", ";", "\t"])) if ".csv" in suffix else "\t"
    text = io.StringIO()
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ends, quoting=quoting)
    writer.writerow([*names, "target"])
    for row, label in zip(X.tolist(), y):
        writer.writerow([*row, label])
        if draw(st.integers(0, 9)) == 0:
            text.write(ends)  # an empty line
    data = text.getvalue().encode(draw(st.sampled_from(["utf-8", "utf-8-sig"])))
    return CleanFile(gzip.compress(data) if ".gz" in suffix else data, suffix, X, names, y)


def json_values() -> st.SearchStrategy[Any]:
    """Anything that JSON can say, and what only Python's reader takes for JSON."""
    numbers = st.one_of(st.floats(), st.integers(), st.just(10**400))
    leaves = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=5))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=6,
    )
