"""Strict reading of a proof file: JSON lines, sizes and types checked, the digest first."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import numpy as np

from ..errors import InputError, VerificationError
from .sources import IS_IT_THE_TABLE, TableRecipe

FORMAT, VERSION = "eigensieve-proof", 1
CRITERIA = ("lambda_max", "trace", "logdet")
_LONGEST_LINE = 64 * 2**20
_LONGEST_NAME = 1000
_HEADER = {
    "format", "version", "pencil", "n_features", "names", "k", "criterion", "include", "exclude",
    "support", "objective", "bound", "gap_tol", "status", "table", "made_by",
}  # fmt: skip
_RECIPES = {
    "matrices": {"kind"},
    "lda": {"kind", "shrinkage", "ridge", "members"},
    "pca": {"kind"},
    "cca": {"kind", "shrinkage"},
}


@dataclass(frozen=True, eq=False)
class Header:
    """The claim, as the first line makes it."""

    recipe: TableRecipe
    n_features: int
    names: list[str] | None
    k: list[int]
    criterion: str
    include: list[int]
    exclude: list[int]
    support: list[int]
    objective: float
    bound: float
    gap_tol: float
    status: str
    table: dict[str, Any] | None


def refuse(reason: str) -> NoReturn:
    """End the check of a file that is not as it must be."""
    raise VerificationError(reason)


def refute(reason: str) -> NoReturn:
    """End the check of a file that is well made, but whose claim does not hold for this table."""
    refuse(f"{reason}; {IS_IT_THE_TABLE}")


# ---------------------------------------------------------------- lines


def read_lines(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The records of a file but for the digest, which is checked before the first one is given.

    Raises
    ------
    InputError
        If the file cannot be read, or is no proof at all.
    VerificationError
        If a line is malformed or the digest does not fit.
    """
    try:
        with open(path, "rb") as file:
            _check_first(file, path)
            end = _check_digest(file)
            file.seek(0)
            while file.tell() < end:
                yield parse(file.readline())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _check_first(file: BinaryIO, path: object) -> None:
    advice = "a proof file is written by solve(..., proof=FILE)"
    line = file.readline(_LONGEST_LINE)
    if not line.lstrip().startswith(b"{") or FORMAT.encode() not in line:
        raise InputError(f"{path}: is no proof file of eigensieve; {advice}")
    try:
        first = parse(line)
    except VerificationError as error:
        raise InputError(f"{path}: is no proof file of eigensieve ({error}); {advice}") from error
    if first.get("format") != FORMAT:
        raise InputError(f"{path}: is no proof file of eigensieve; {advice}")
    version = first.get("version")
    if type(version) is not int or version != VERSION:
        raise InputError(f"{path}: has version {version!r:.40}; this checker reads {VERSION}")


def _check_digest(file: BinaryIO) -> int:
    """Where the last line starts, if it is the digest of all that comes before."""
    file.seek(0)
    digest, line, end = hashlib.sha256(), b"", 0
    while following := file.readline(_LONGEST_LINE):
        digest.update(line)
        end += len(line)
        line = following
        if len(line) == _LONGEST_LINE:
            refuse(f"a line is longer than {_LONGEST_LINE} bytes")
    last = parse(line)
    if set(last) != {"digest"}:
        refuse("the last line is not the digest: the file is cut off")
    if last["digest"] != digest.hexdigest():
        refuse("the digest does not fit: the file was damaged or changed")
    return end


def parse(line: bytes) -> dict[str, Any]:
    """One line as a JSON object; nothing that JSON leaves to taste is accepted."""
    try:
        record = json.loads(
            line.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        refuse(f"is not a line of JSON ({error!s:.80})")
    if not isinstance(record, dict):
        refuse("is not a JSON object")
    return record


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def read_claim(path: str | os.PathLike[str]) -> Header | None:
    """The header of a proof file, not verified; None if the file is damaged or the header is.

    Raises
    ------
    InputError
        If the file cannot be read, or is no proof at all.
    """
    try:
        return read_header(next(read_lines(path)))
    except VerificationError:
        return None


# ---------------------------------------------------------------- values


def check_keys(record: object, allowed: set[str], what: str, *, needed: bool = True) -> None:
    """An object with these keys: all of them, or some."""
    if not isinstance(record, dict):
        refuse(f"{what} is not an object")
    if unknown := sorted(set(record) - allowed):
        refuse(f"{what} has an unknown key {unknown[0]!r:.40}")
    if needed and (missing := sorted(allowed - set(record))):
        refuse(f"{what} has no {missing[0]!r}")


def number(value: object, what: str) -> float:
    """A finite double."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        refuse(f"{what} is not a number")
    try:
        found = float(value)
    except OverflowError:
        refuse(f"{what} is no double")
    if not math.isfinite(found) or found != value:
        refuse(f"{what} is no finite double")
    return found


def whole(value: object, below: int, what: str) -> int:
    """A whole number from 0 on."""
    if type(value) is not int or not 0 <= value < below:
        refuse(f"{what} is not a whole number from 0 to {below - 1}")
    return value


def indices(values: object, below: int, what: str) -> list[int]:
    """Different whole numbers from 0 on."""
    if not isinstance(values, list) or len(values) > below:
        refuse(f"{what} is not a list of at most {below} indices")
    found = [whole(value, below, f"an index of {what}") for value in values]
    if len(set(found)) < len(found):
        refuse(f"{what} has an index twice")
    return found


def vector(values: object, length: int, what: str) -> np.ndarray:
    """A list of so many doubles."""
    if not isinstance(values, list) or len(values) != length:
        refuse(f"{what} is not a list of {length} numbers")
    if set(map(type, values)) <= {float}:  # the usual case, fast
        found = np.array(values, dtype=np.float64)
        return found if np.isfinite(found).all() else refuse(f"{what} has an infinite entry")
    return np.array([number(value, f"an entry of {what}") for value in values], dtype=np.float64)


def matrix(values: object, rows: int, columns: int, what: str) -> np.ndarray:
    """So many lists of so many doubles."""
    if not isinstance(values, list) or len(values) != rows:
        refuse(f"{what} is not a list of {rows} rows")
    found = [vector(row, columns, f"a row of {what}") for row in values]
    return np.array(found, dtype=np.float64).reshape(rows, columns)


# ---------------------------------------------------------------- header


def read_header(record: dict[str, Any]) -> Header:
    """The claim of a file, every field judged."""
    check_keys(record, _HEADER, "the header")
    p = whole(record["n_features"], 2**31, "n_features")
    names, k = record["names"], record["k"]
    if names is not None and (
        not isinstance(names, list)
        or len(names) != p
        or not all(isinstance(name, str) and len(name) <= _LONGEST_NAME for name in names)
    ):
        refuse(f"names is neither null nor a list of {p} texts")
    if not isinstance(k, list) or not 0 < len(k) <= p:
        refuse("k is not a list of sizes")
    sizes = [whole(value, p + 1, "a size in k") for value in k]
    if not 0 < sum(sizes) <= p:
        refuse(f"k asks for {sum(sizes)} of {p} features")
    if record["criterion"] not in CRITERIA:
        refuse(f"the criterion is none of {', '.join(CRITERIA)}")
    for key in ("status", "made_by"):
        if not isinstance(record[key], str):
            refuse(f"{key} is not a text")
    gap_tol = number(record["gap_tol"], "gap_tol")
    return Header(
        recipe=_read_recipe(record["pencil"], p),
        n_features=p,
        names=names,
        k=sizes,
        criterion=record["criterion"],
        include=indices(record["include"], p, "include"),
        exclude=indices(record["exclude"], p, "exclude"),
        support=sorted(indices(record["support"], p, "support")),
        objective=number(record["objective"], "objective"),
        bound=number(record["bound"], "bound"),
        gap_tol=gap_tol if gap_tol >= 0.0 else refuse("gap_tol is negative"),
        status=record["status"],
        table=read_how(record["table"]),
    )


def _read_recipe(given: object, p: int) -> TableRecipe:
    if not isinstance(given, dict) or given.get("kind") not in list(_RECIPES):
        refuse(f"the pencil's kind is none of {', '.join(_RECIPES)}")
    kind = given["kind"]
    if kind == "matrices" and {"factor", "slack"} & set(given):
        check_keys(given, {"kind", "factor", "slack", "least"}, "the pencil")
        rows = given["factor"]
        width = len(rows[0]) if isinstance(rows, list) and rows and type(rows[0]) is list else 0
        slack = vector(given["slack"], p, "slack")
        if (slack < 0.0).any():
            refuse("slack has a negative entry")
        least = number(given["least"], "least")
        if least < 0.0:
            refuse("least is negative")
        return TableRecipe(kind, factor=matrix(rows, p, width, "factor"), slack=slack, least=least)
    check_keys(given, _RECIPES[kind], "the pencil")
    if kind == "lda":
        ridge = number(given["ridge"], "ridge")
        members = given["members"]
        if not isinstance(members, list) or not members:
            refuse("members is not a list of rows")
        return TableRecipe(
            kind,
            (_share(given["shrinkage"]),),
            ridge if ridge >= 0.0 else refuse("ridge is negative"),
            tuple(indices(members, 2**31, "members")),
        )
    if kind == "cca":
        shares = given["shrinkage"]
        if not isinstance(shares, list) or len(shares) != 2:
            refuse("shrinkage is not a pair of numbers")
        return TableRecipe(kind, (_share(shares[0]), _share(shares[1])))
    return TableRecipe(kind)


def _share(value: object) -> float:
    share = number(value, "shrinkage")
    return share if 0.0 <= share <= 1.0 else refuse("shrinkage is not between 0 and 1")


def read_how(given: object) -> dict[str, Any] | None:
    """How the table was read: target, transpose, log2_floor (or null) and ignore."""
    if given is None:
        return None
    check_keys(given, {"target", "transpose", "log2_floor", "ignore"}, "table", needed=False)
    assert isinstance(given, dict)
    if not isinstance(given.get("target"), str | None):
        refuse("the table's target is not a text")
    if not isinstance(given.get("transpose", False), bool):
        refuse("the table's transpose is not true or false")
    floor = given.get("log2_floor")
    if floor is not None and number(floor, "the table's log2_floor") <= 0.0:
        refuse("the table's log2_floor is not positive")
    ignore = given.get("ignore", [])
    if not isinstance(ignore, list) or not all(isinstance(name, str) for name in ignore):
        refuse("the table's ignore is not a list of texts")
    return given
