"""Writing a proof: records of a search tree in preorder, one JSON value a line.

docs/proofs.md describes the format. What reads and checks it is in ``proofs/``, which shares no
code with this.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np

FORMAT, VERSION = "eigensieve-proof", 1
# Records that are kept in memory until the header is known.
IN_MEMORY = 2**25


class ProofFile:
    """The records of a proof; the header, which has the bound that came out, is written last."""

    def __init__(self) -> None:
        self._body = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed by __exit__)
        self.n_records = 0
        # of leaves with a listed set: the line that is written if the set is not listed after all
        self._unlisted: dict[bytes, bytes] = {}
        self._instead: dict[bytes, bytes] = {}

    def __enter__(self) -> ProofFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._body.close()

    def clear(self) -> None:
        """Forget what was written."""
        self._body.seek(0)
        self._body.truncate()
        self.n_records = 0
        self._unlisted, self._instead = {}, {}

    def branch(self, feature: int) -> None:
        """Two subtrees follow: without the feature, then with it."""
        self._add({"branch": int(feature)})

    def empty(self) -> None:
        """A leaf without a single set."""
        self._add({"leaf": "empty"})

    def leaf(self, kind: str, witness: Any) -> None:
        """A leaf that a witness, or the limit of a number, closes."""
        self._add({"leaf": kind, kind: witness})

    def listed(self, number: int, witness: dict[str, Any] | None = None) -> None:
        """A leaf whose only set is a listed one; a dual witness closes it if that is unlisted."""
        record = {"leaf": "listed", "set": number}
        if witness is not None:
            self._unlisted[_line(record)] = _line({"leaf": "dual", "dual": witness})
        self._add(record)

    def unlist(self, number: int) -> float:
        """Let its witness close the leaf of a set, if it has one; the value of that."""
        line = _line({"leaf": "listed", "set": number})
        if line not in self._unlisted:
            return -math.inf
        self._instead[line] = instead = self._unlisted[line]
        return float(json.loads(instead)["dual"]["value"])

    def fix(self, inside: np.ndarray, keep: np.ndarray, kind: str, witness: Any) -> None:
        """One subtree follows, with ``inside`` chosen and all FREE features but ``keep`` out."""
        changes = {"keep": np.union1d(inside, keep).tolist(), "in": inside.tolist()}
        self._add({"fix": changes, kind: witness})

    def obey(self, limit: int, inside: np.ndarray, out: np.ndarray) -> None:
        """One subtree follows, with what a limit decides, given by its number."""
        self._add({"fix": {"out": out.tolist(), "in": inside.tolist()}, "limit": limit})

    def _add(self, record: dict[str, Any]) -> None:
        self._body.write(_line(record))
        self.n_records += 1

    def write(self, path: str | os.PathLike[str], header: dict[str, Any]) -> None:
        """Put header, records and digest into a file; a half-written one is never left there."""
        target = Path(path)
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        digest = hashlib.sha256()
        try:
            with draft.open("wb") as file:
                for piece in self._pieces({"format": FORMAT, "version": VERSION, **header}):
                    digest.update(piece)
                    file.write(piece)
                file.write(_line({"digest": digest.hexdigest()}))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    def _pieces(self, header: dict[str, Any]) -> Iterator[bytes]:
        yield _line(header)
        self._body.seek(0)
        yield from (self._instead.get(line, line) for line in self._body)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n"
