"""Proofs of random problems are accepted; whatever is done to a file, nothing false is."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import eigensieve as es
from tests.fuzz.files import json_values
from tests.fuzz.harness import Refused, attempt, cases, new_folder
from tests.fuzz.strategies import CRITERIA, MILD, SEEDS, Labelled, labelled
from tests.proofs.proof_files import Lines, read_proof, write_proof
from tests.proofs.test_records import places

FOLDER = new_folder()
PATH = FOLDER / "proof"
SLACK = 1e-8
DATA = st.data()


@dataclass(frozen=True, eq=False)
class Claim:
    """A pencil, what ``check_proof`` needs for it, and the truth by brute force."""

    pencil: es.Pencil
    given: dict[str, Any]

    def score(self, support: tuple[int, ...], criterion: str) -> float:
        block = np.ix_(support, support)
        values = np.linalg.eigvals(np.linalg.solve(self.pencil.B[block], self.pencil.A[block])).real
        if criterion == "lambda_max":
            return float(values.max())
        return float(values.sum() if criterion == "trace" else np.log1p(values).sum())

    def is_true(self, verdict: es.Verdict) -> bool:
        """Whether what was accepted holds, for the problem that the verdict names."""
        problem, sizes = verdict.problem, verdict.k
        assert problem is not None
        assert sizes is not None
        blocks = self.given.get("blocks")
        if blocks is None:
            first = self.given["X"].shape[1] if "Y" in self.given else problem["n_features"]
            blocks = (np.arange(problem["n_features"]) >= first) * (len(sizes) > 1)
        best = -np.inf
        for S in itertools.combinations(range(problem["n_features"]), sum(sizes)):
            if not set(problem["include"]) <= set(S) or set(problem["exclude"]) & set(S):
                continue
            if np.bincount(blocks[list(S)], minlength=len(sizes)).tolist() == list(sizes):
                best = max(best, self.score(S, problem["criterion"]))
        own = self.score(verdict.support, problem["criterion"])
        room = SLACK * max(abs(own), abs(best))
        return bool(best <= verdict.bound + room and own >= verdict.objective - room)


@st.composite
def claims(draw: Any) -> tuple[Claim, Any, dict[str, Any]]:
    """A small problem of any kind, its k, and other arguments of ``solve``."""
    case: Labelled = draw(labelled(MILD, (8, 16), (3, 7)))
    X, y = case.X, case.y
    p = X.shape[1]
    kind = draw(st.sampled_from(["lda", "pca", "cca", "matrices"]))
    shrinkage = draw(st.sampled_from([0.05, 0.3, 1.0]))
    k: Any = draw(st.integers(1, p - 1))
    criterion = draw(st.sampled_from(CRITERIA)) if kind in ("lda", "matrices") else CRITERIA[0]
    if kind == "lda" and np.unique(y).size <= p:  # with more classes it is about the matrices
        claim = Claim(es.lda_pencil(X, y, shrinkage=shrinkage), {"X": X, "y": y})
    elif kind == "pca":
        claim = Claim(es.pca_pencil(X), {"X": X})
    elif kind == "cca":
        views = X[:, :2], X[:, 2:]
        claim = Claim(es.cca_pencil(*views, shrinkage=shrinkage), {"X": views[0], "Y": views[1]})
        return claim, (draw(st.integers(1, 2)), 1), {"criterion": criterion}
    else:
        pencil = es.lda_pencil(X, y, shrinkage=shrinkage)
        claim = Claim(es.Pencil(pencil.A, pencil.B), {"A": pencil.A, "B": pencil.B})
    order = draw(st.permutations(range(p)))
    include = order[: draw(st.integers(0, min(1, k)))]
    exclude = order[k : k + draw(st.integers(0, 1))]
    return claim, k, {"criterion": criterion, "include": include, "exclude": exclude}


@cases(20, 400)
@given(claims())
def test_what_is_found_is_proved(case: tuple[Claim, Any, dict[str, Any]]) -> None:
    claim, k, options = case
    found = attempt(es.solve, claim.pencil, k, "exact", **options, proof=PATH)
    if isinstance(found, Refused):
        return
    verdict = attempt(es.check_proof, PATH, **claim.given)
    assert verdict.accepted, verdict.explain()
    assert verdict.bound == found.bound
    assert claim.is_true(verdict)


# ---------------------------------------------------------------- files that were changed


@cache
def library() -> list[tuple[Claim, Lines]]:
    """True proofs of all kinds."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(14, 6)) @ rng.normal(size=(6, 6)), np.arange(14) % 3
    X[:, 0] += y
    lda = es.lda_pencil(X, y, shrinkage=0.1)
    blocks = np.array([0, 1, 0, 1, 0, 1])
    plain = es.Pencil(lda.A, lda.B)
    parts = es.Pencil(lda.A, lda.B, blocks=blocks)
    matrices = {"A": lda.A, "B": lda.B}
    views = X[:, :3], X[:, 3:]
    problems: list[tuple[Claim, Any, str]] = [
        *((Claim(lda, {"X": X, "y": y}), 3, criterion) for criterion in CRITERIA),
        *((Claim(plain, matrices), 2, criterion) for criterion in CRITERIA),
        (Claim(parts, matrices | {"blocks": blocks}), (1, 2), "lambda_max"),
        (Claim(es.pca_pencil(X), {"X": X}), 2, "lambda_max"),
        (Claim(es.cca_pencil(*views, shrinkage=0.2), {"X": views[0], "Y": views[1]}), (1, 1),
         "lambda_max"),
    ]  # fmt: skip
    found = []
    for claim, k, criterion in problems:
        es.solve(claim.pencil, k, "exact", criterion, proof=PATH)
        found.append((claim, read_proof(PATH)))
    return found


def judge(claim: Claim, header: dict[str, Any]) -> None:
    """A verdict or a refusal; accepted only if it is true of this table."""
    verdict = attempt(es.check_proof, PATH, **claim.given)
    if isinstance(verdict, Refused) or not verdict.accepted:
        return
    if verdict.problem["shrinkage"] != shares_of(header):
        return  # a proof about another pencil of the same table, which the verdict names
    if verdict.problem["ridge"] != header["pencil"].get("ridge"):
        return
    assert claim.is_true(verdict), verdict


def shares_of(header: dict[str, Any]) -> list[float] | None:
    value = header["pencil"].get("shrinkage")
    return value if value is None or isinstance(value, list) else [value]


@cases(40, 1500)
@given(st.integers(0, 8), SEEDS, st.integers(1, 3))
def test_damaged_bytes(number: int, seed: int, times: int) -> None:
    claim, lines = library()[number]
    rng = np.random.default_rng(seed)
    data = bytearray(write_proof(PATH, lines).read_bytes())
    for _ in range(times):
        at = int(rng.integers(len(data)))
        piece = rng.choice([b"", b"0", b"-", b"e9", b"\n", b"\xff", b"]", b",", b"null"]).item()
        data[at : at + int(rng.integers(0, 4))] = piece
    head, _, _ = bytes(data).rpartition(b'{"digest"')
    PATH.write_bytes(bytes(data))
    judge(claim, lines[0])
    if head:
        seal = {"digest": hashlib.sha256(head).hexdigest()}
        PATH.write_bytes(head + json.dumps(seal).encode())
        judge(claim, lines[0])


@cases(80, 3000)
@given(st.integers(0, 8), DATA, json_values())
def test_forged_values(number: int, draws: st.DataObject, value: Any) -> None:
    """Any value in any place, or a number that is a little off, with a digest that fits."""
    claim, lines = library()[number]
    changed = copy.deepcopy(lines)
    spots = list(places(changed))
    for _ in range(draws.draw(st.integers(1, 2))):
        spot = draws.draw(st.sampled_from(spots))
        inner: Any = changed
        try:
            for key in spot[:-1]:
                inner = inner[key]
            old = inner[spot[-1]]
            if isinstance(old, float) and draws.draw(st.integers(0, 3)):
                value = old * draws.draw(st.sampled_from([0.0, 0.5, 0.99, 1.01, 2.0, -1.0, 1e9]))
            elif isinstance(old, int) and draws.draw(st.integers(0, 3)):
                value = old + draws.draw(st.sampled_from([-1, 1]))
            inner[spot[-1]] = copy.deepcopy(value)  # a list may be put into itself
        except (KeyError, IndexError, TypeError):
            continue  # the first change took that place away
    write_proof(PATH, changed)
    judge(claim, lines[0])


@cases(40, 1500)
@given(st.integers(0, 8), SEEDS)
def test_records_in_other_places(number: int, seed: int) -> None:
    """Lines taken out, doubled or moved, with a digest that fits."""
    claim, lines = library()[number]
    rng, changed = np.random.default_rng(seed), list(lines)
    for _ in range(int(rng.integers(1, 4))):
        at, to = (int(i) for i in rng.integers(1, len(changed), size=2))
        changed[to:to] = [changed.pop(at)] if rng.random() < 0.4 else [changed[at]]
        if rng.random() < 0.5 and len(changed) > 2:
            del changed[int(rng.integers(1, len(changed)))]
    if rng.random() < 0.5:
        bound = lines[0]["bound"] * float(rng.choice([0.9, 0.999, 1.5]))
        changed[0] = lines[0] | {"bound": bound, "status": "feasible"}
    write_proof(PATH, changed)
    judge(claim, lines[0])
