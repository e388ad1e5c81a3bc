"""The walk through a proof file: every record is judged, nothing is believed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, VerificationError
from .balls import keeps_subnormals
from .cases import Case
from .dual import check_dual_fix, check_dual_leaf
from .header import Header, read_header
from .level import check_level
from .limits import check_limit
from .lists import check_order
from .nodes import RecordedNode
from .objective import check_objective, check_status, scale_of
from .pencils import enclose
from .premises import check_premises, read_blocks
from .rational import limited_work
from .records import check_keys, indices, read_lines, refuse, whole
from .rows import check_rows
from .scores import check_scores
from .sources import make_source
from .statements import describe_problem, find_names
from .verdict import Verdict

_OUT, _FREE, _IN = 0, 1, 2


def check_proof(
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    Y: Any = None,
    A: Any = None,
    B: Any = None,
    blocks: Any = None,
    names: Any = None,
) -> Verdict:
    """Verify a proof file against the table it is about.

    The checker shares no code with the solvers. It encloses every number, bounds every rounding
    error, and decides with exact rationals where the enclosures are too wide.

    Parameters
    ----------
    path : path-like
        What ``solve(..., proof=path)`` wrote.
    X : array of shape (n, p), optional
        The table, for the pencils of tables ("lda", "pca", "cca"). If it is a frame, its columns
        must have the names that the proof gives, in order.
    y : array of shape (n,), optional
        The labels ("lda").
    Y : array of shape (n, q), optional
        The second table ("cca").
    A, B : arrays of shape (p, p), optional
        The pencil itself ("matrices"); no B is the identity.
    blocks : array of int of shape (p,), optional
        The block of every feature, where k was given by block ("matrices").
    names : list of str, optional
        The names of the features, where the tables are arrays that have none; those of the
        proof must be the same.

    Returns
    -------
    Verdict
        Accepted or not, with the reason and the line, and what was proved.

    Raises
    ------
    InputError
        If the file is no proof at all, the arrays are not those that its kind needs, or the
        arithmetic of this process flushes tiny numbers to zero.

    Examples
    --------
    >>> import json, hashlib, numpy as np, eigensieve as es
    >>> header = {
    ...     "format": "eigensieve-proof", "version": 1, "pencil": {"kind": "matrices"},
    ...     "n_features": 2, "names": None, "k": [1], "criterion": "lambda_max", "include": [],
    ...     "exclude": [], "support": [1], "objective": 3.0, "bound": 3.0, "gap_tol": 0.0,
    ...     "status": "optimal", "table": None, "made_by": "hand",
    ... }
    >>> lines = [header, {"leaf": "level", "level": {"E": None}}]
    >>> text = "".join(json.dumps(line) + "\\n" for line in lines)
    >>> text += json.dumps({"digest": hashlib.sha256(text.encode()).hexdigest()})
    >>> file = getfixture("tmp_path") / "proof.jsonl"
    >>> _ = file.write_text(text)
    >>> verdict = es.check_proof(file, A=np.diag([2.0, 3.0]))
    >>> verdict.accepted, verdict.bound
    (True, 3.0)
    """
    start = time.perf_counter()
    if not keeps_subnormals():
        raise InputError(
            "this process flushes subnormal numbers to zero, so that no rounding error could be "
            "bounded; undo it (torch.set_flush_denormal(False)), or check in a new process"
        )
    given = {"X": X, "y": y, "Y": Y, "A": A, "B": B, "blocks": blocks, "names": names}
    walk = _Walk(path, given)
    # what overflows is infinite, and shows nothing
    with np.errstate(all="ignore"), limited_work():
        try:
            walk.run()
            reason = None
        except InputError:
            raise
        except VerificationError as error:
            reason = str(error)
        except np.linalg.LinAlgError as error:
            reason = f"could not be decided: {error}"
        except MemoryError:
            reason = "needs more memory than there is"
        except (ArithmeticError, ValueError) as error:  # overflow, infinity as a fraction
            reason = f"is too large for the checker's arithmetic ({error!s:.80})"
    return walk.verdict(reason, time.perf_counter() - start)


@dataclass
class _Walk:
    """The state of the walk: the node at hand, and the branches whose second child is to come."""

    path: str | os.PathLike[str]
    given: dict[str, Any]
    line: int = 0
    n_nodes: int = 0
    n_leaves: int = 0
    n_exact: int = 0
    header: Header | None = None
    objective: float | None = None
    unit: float = 0.0
    names: list[str] | None = None
    problem: dict[str, Any] | None = None

    def run(self) -> None:
        records = self._counted(read_lines(self.path))
        first = next(records, None)
        if first is None:
            refuse("the file has no header")
        self.header = header = read_header(first)
        self._prepare(header)
        self._walk(records)
        for _ in records:
            refuse("the tree is closed, and another record follows")
        if header.listed is not None:
            header.listed.check_met()

    def _counted(self, records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        while True:
            self.line += 1
            record = next(records, None)
            if record is None:
                return
            yield record

    # ------------------------------------------------------------ the claim

    def _prepare(self, header: Header) -> None:
        source = make_source(header.recipe, header.n_features, self.given)
        self.blocks = read_blocks(header, source.view, self.given["blocks"])
        self.names = find_names(header, source, self.given["names"])
        self.problem = describe_problem(header, source, self.blocks, self.names)
        self.state = np.full(header.n_features, _FREE, dtype=np.int8)
        self.state[header.exclude] = _OUT
        if (self.state[header.include] == _OUT).any():
            refuse("a feature is in include and in exclude")
        self.state[header.include] = _IN
        self._check_set(header, header.support, "the support")
        self.case = case = Case(header, source, enclose(source))
        check_premises(case)
        scale = scale_of(case, self._node())
        check_status(case, scale)
        self.objective = check_objective(case, scale)
        self.unit = max(abs(self.objective), scale)
        self._check_list(header)
        self._note_exact()

    def _check_set(self, header: Header, support: Sequence[int], what: str) -> None:
        """A set is admissible."""
        sizes = np.bincount(self.blocks[np.array(support)], minlength=len(header.k)).tolist()
        if sizes != header.k:
            refuse(f"{what} has {sizes} features, and k is {header.k}")
        if not set(header.include) <= set(support):
            refuse(f"{what} lacks a feature of include")
        if set(header.exclude) & set(support):
            refuse(f"{what} has a feature of exclude")
        for limit in header.limits:
            if limit.room(support) < 0:
                refuse(f"{what} does not keep a limit ({limit.describe(self.names)})")

    def _check_list(self, header: Header) -> None:
        claim = header.listed
        if claim is None:
            return
        for i, support in enumerate(claim.sets):
            self._check_set(header, support, f"set {i} of the list")
        check_order(claim, header.support, header.bound, self.unit)
        check_scores(self.case, claim, self.unit)

    def _note_exact(self) -> None:
        self.n_exact += self.case.used_exact
        self.case.used_exact = False

    # ------------------------------------------------------------ the tree

    def _walk(self, records: Iterator[dict[str, Any]]) -> None:
        """Preorder with a stack of its own: (length of the trail, feature) for every branch."""
        trail: list[tuple[int, int]] = []  # feature, its state before
        waiting: list[tuple[int, int]] = []
        while True:
            record = next(records, None)
            if record is None:
                refuse("a subtree is missing: the file ends before the tree is closed")
            self.n_nodes += 1
            closed = self._judge(record, trail, waiting)
            self._note_exact()
            if not closed:
                continue
            self.n_leaves += 1
            if not waiting:
                return
            length, j = waiting.pop()
            while len(trail) > length:
                feature, before = trail.pop()
                self.state[feature] = before
            self._set(j, _IN, trail)

    def _set(self, j: int, state: int, trail: list[tuple[int, int]]) -> None:
        trail.append((j, int(self.state[j])))
        self.state[j] = state

    def _judge(
        self, record: dict[str, Any], trail: list[tuple[int, int]], waiting: list[tuple[int, int]]
    ) -> bool:
        """Whether the record closes its node."""
        if "leaf" in record:
            self._judge_leaf(record)
            return True
        if "branch" in record:
            check_keys(record, {"branch"}, "the branch")
            j = whole(record["branch"], len(self.state), "the branch")
            if self.state[j] != _FREE:
                refuse(f"branches on feature {j}, which is not free")
            waiting.append((len(trail), j))
            self._set(j, _OUT, trail)
            return False
        if "fix" not in record:
            refuse("is neither a branch, a fix nor a leaf")
        out, inside = self._judge_fix(record)
        for j in out:
            self._set(j, _OUT, trail)
        for j in inside:
            self._set(j, _IN, trail)
        return False

    def _node(self) -> RecordedNode:
        assert self.header is not None
        inside, free = (np.flatnonzero(self.state == kind) for kind in (_IN, _FREE))
        taken = np.bincount(self.blocks[inside], minlength=len(self.header.k)).tolist()
        need = [k - there for k, there in zip(self.header.k, taken)]
        return RecordedNode(inside, free, self.blocks[free], need)

    def _judge_leaf(self, record: dict[str, Any]) -> None:
        kind = record["leaf"]
        if kind == "empty":
            check_keys(record, {"leaf"}, "the leaf")
            if not self._node().is_empty:
                refuse("the leaf is said to be empty, and has admissible sets")
        elif kind == "dual":
            check_keys(record, {"leaf", "dual"}, "the leaf")
            check_dual_leaf(self.case, self._node(), record["dual"])
        elif kind == "level":
            check_keys(record, {"leaf", "level"}, "the leaf")
            check_level(self.case, self._node(), record["level"])
        elif kind == "rows":
            check_keys(record, {"leaf", "rows"}, "the leaf")
            check_rows(self.case, self._node(), record["rows"])
        elif kind == "limit":
            check_keys(record, {"leaf", "limit"}, "the leaf")
            check_limit(self.case.header.limits, self._node(), record["limit"])
        elif kind == "listed":
            check_keys(record, {"leaf", "set"}, "the leaf")
            if self.case.header.listed is None:
                refuse("a leaf speaks of a listed set, and the header has no list")
            self.case.header.listed.meet(record["set"], self._node())
        else:
            refuse("the leaf is none of empty, dual, level, rows, limit, listed")

    def _judge_fix(self, record: dict[str, Any]) -> tuple[list[int], list[int]]:
        witness = next((kind for kind in ("level", "rows", "limit") if kind in record), "dual")
        check_keys(record, {"fix", witness}, "the fix")
        node = self._node()
        out, inside = _read_fix(record["fix"], node, len(self.state))
        if witness == "dual":
            check_dual_fix(self.case, node, record["dual"], out, inside)
        elif witness == "level":
            check_level(self.case, node, record["level"], (out, inside))
        elif witness == "limit":
            check_limit(self.case.header.limits, node, record["limit"], (out, inside))
        else:
            check_rows(self.case, node, record["rows"], (out, inside))
        return out, inside

    # ------------------------------------------------------------ the end

    def verdict(self, reason: str | None, seconds: float) -> Verdict:
        header, accepted = self.header, reason is None
        claim = header.listed if accepted and header else None
        return Verdict(
            accepted=accepted,
            reason=reason,
            line=None if accepted else self.line,
            bound=header.bound if accepted and header else None,
            objective=self.objective if accepted else None,
            unit=self.unit if accepted else None,
            criterion=header.criterion if header else None,
            n_features=header.n_features if header else None,
            k=tuple(header.k) if header else None,
            support=tuple(header.support) if header else None,
            names=tuple(self.names[j] for j in header.support) if header and self.names else None,
            problem=self.problem,
            is_constrained=bool(header and (header.include or header.exclude)),
            n_limits=len(header.limits) if header else 0,
            sets=tuple(claim.sets) if claim else None,
            within=claim.within if claim else None,
            n_nodes=self.n_nodes,
            n_leaves=self.n_leaves,
            n_exact=self.n_exact,
            seconds=seconds,
        )


def _read_fix(given: Any, node: RecordedNode, p: int) -> tuple[list[int], list[int]]:
    """The features that go out and in; all must be free."""
    check_keys(given, set(), "the fix", optional={"out", "keep", "in"})
    if not given or {"out", "keep"} <= set(given):
        refuse('the fix has neither or both of "out" and "keep"')
    lists = {name: indices(values, p, f"{name} of the fix") for name, values in given.items()}
    free = set(node.free.tolist())
    if not all(free.issuperset(features) for features in lists.values()):
        refuse("the fix names a feature that is not free")
    inside = lists.get("in", [])
    out = sorted(free.difference(lists["keep"])) if "keep" in lists else lists.get("out", [])
    if not set(out).isdisjoint(inside):
        refuse("the fix puts a feature both out and in")
    return out, inside
