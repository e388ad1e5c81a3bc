"""Proof files written by hand: lines, header, digest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

Lines = list[dict[str, Any]]


def make_header(p: int, k: int | list[int], criterion: str, **other: Any) -> dict[str, Any]:
    """A header with harmless values wherever ``other`` does not say anything."""
    header = {
        "format": "eigensieve-proof",
        "version": 1,
        "pencil": {"kind": "matrices"},
        "n_features": p,
        "names": None,
        "k": [k] if isinstance(k, int) else k,
        "criterion": criterion,
        "include": [],
        "exclude": [],
        "support": [],
        "objective": 0.0,
        "bound": 0.0,
        "gap_tol": 1e-6,
        "status": "optimal",
        "table": None,
        "made_by": "hand",
    }
    assert set(other) <= set(header)
    return header | other


def write_proof(path: Path, lines: Lines) -> Path:
    """The lines with the digest they need."""
    return write_text(path, "".join(json.dumps(line) + "\n" for line in lines))


def write_text(path: Path, text: str) -> Path:
    """Any text with the digest it needs."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(text + json.dumps({"digest": digest}) + "\n", encoding="utf-8")
    return path


def read_proof(path: Path) -> Lines:
    """The lines without the digest."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:-1]]
