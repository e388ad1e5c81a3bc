"""The claim of a proof file: its first line, every field judged."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from ..errors import VerificationError
from .limits import Limit, read_limits
from .lists import ListClaim, read_list
from .records import check_keys, indices, matrix, number, read_lines, refuse, vector, whole
from .sources import TableRecipe

CRITERIA = ("lambda_max", "trace", "logdet")
_LONGEST_NAME = 1000
_HEADER = {
    "format", "version", "pencil", "n_features", "names", "k", "criterion", "include", "exclude",
    "support", "objective", "bound", "gap_tol", "status", "table", "made_by",
}  # fmt: skip
_OPTIONAL = {"limits", "list"}
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
    limits: list[Limit] = field(default_factory=list)
    listed: ListClaim | None = None


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


def read_header(record: dict[str, Any]) -> Header:
    """The claim of a file, every field judged."""
    check_keys(record, _HEADER, "the header", optional=_OPTIONAL)
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
        limits=read_limits(record["limits"], p) if "limits" in record else [],
        listed=read_list(record["list"], p, sum(sizes)) if "list" in record else None,
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
    known = {"target", "transpose", "log2_floor", "ignore"}
    check_keys(given, set(), "table", optional=known)
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
