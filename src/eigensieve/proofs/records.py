"""Strict reading of a proof file: JSON lines, sizes and types checked, the digest first."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, BinaryIO, NoReturn

import numpy as np

from ..errors import InputError, VerificationError
from .sources import IS_IT_THE_TABLE

FORMAT, VERSION = "eigensieve-proof", 1
_LONGEST_LINE = 64 * 2**20


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


# ---------------------------------------------------------------- values


def check_keys(
    record: object, needed: AbstractSet[str], what: str, *, optional: AbstractSet[str] = frozenset()
) -> None:
    """An object with these keys, and perhaps some that are optional."""
    if not isinstance(record, dict):
        refuse(f"{what} is not an object")
    if unknown := sorted(set(record) - needed - optional):
        refuse(f"{what} has an unknown key {unknown[0]!r:.40}")
    if missing := sorted(needed - set(record)):
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
