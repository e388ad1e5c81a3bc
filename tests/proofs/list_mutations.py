"""Changes to proofs of lists and of limits, each likely to make a claim false; see mutations.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.proofs.mutations import CHANGES, Change, Changed, _end, _pick
from tests.proofs.naive_prover import Problem
from tests.proofs.proof_files import Lines

# ---------------------------------------------------------------- the list


def remove_a_set(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """From the list alone, or with its leaf and the numbers that follow."""
    claim = lines[0].get("list")
    if claim is None or len(claim["sets"]) < 2:
        return None
    i = int(rng.integers(len(claim["sets"])))
    del claim["sets"][i], claim["scores"][i]
    if i == 0:
        lines[0]["support"] = claim["sets"][0]
    if rng.random() < 0.7:
        for at, line in enumerate(lines):
            if line.get("leaf") == "listed" and line["set"] == i:
                lines[at] = {"leaf": "empty"}
            elif line.get("leaf") == "listed" and line["set"] > i:
                line["set"] -= 1
    return problem, lines


def replace_a_set(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """By any other one, with its true score or with the old one."""
    claim = lines[0].get("list")
    if claim is None:
        return None
    i, other = int(rng.integers(len(claim["sets"]))), _pick(rng, problem.sets())
    claim["sets"][i] = list(other)
    if rng.random() < 0.5:
        claim["scores"][i] = problem.score(other)
    return problem, lines


def add_a_set(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    claim = lines[0].get("list")
    if claim is None:
        return None
    other = _pick(rng, problem.sets())
    claim["sets"].append(list(other))
    claim["scores"].append(problem.score(other))
    return problem, lines


def change_a_score(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    claim = lines[0].get("list")
    if claim is None:
        return None
    i = int(rng.integers(len(claim["scores"])))
    claim["scores"][i] *= 1.0 + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-7, 0)
    return problem, lines


def swap_two_sets(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    claim = lines[0].get("list")
    if claim is None or len(claim["sets"]) < 2:
        return None
    a, b = rng.choice(len(claim["sets"]), size=2, replace=False)
    for name in ("sets", "scores") if rng.random() < 0.5 else ("sets",):
        claim[name][a], claim[name][b] = claim[name][b], claim[name][a]
    return problem, lines


def change_the_threshold(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """The bound, the share, or both alike."""
    claim, best = lines[0].get("list"), lines[0]["objective"]
    if claim is None:
        return None
    share = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-6, -0.3)
    which = _pick(rng, ["bound", "within", "both"])
    if which != "within":
        lines[0]["bound"] += share * abs(best)
    if which != "bound" and claim["within"] is not None:
        claim["within"] -= share
    return problem, lines


def change_a_listed_leaf(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """Another number, or a leaf of another kind."""
    at = _pick(rng, [i for i, line in enumerate(lines) if line.get("leaf") == "listed"])
    if at is None:
        return None
    n_sets = len(lines[0]["list"]["sets"])
    others = [line for line in lines if "leaf" in line and line["leaf"] != "listed"]
    if others and rng.random() < 0.5:
        lines[at] = _pick(rng, others)
    else:
        lines[at]["set"] = int(rng.integers(n_sets + 1))
    return problem, lines


def list_early(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """A whole subtree becomes the leaf of a listed set."""
    listed = [line for line in lines if line.get("leaf") == "listed"]
    if not listed:
        return None
    at = int(rng.integers(1, len(lines)))
    lines[at : _end(lines, at)] = [dict(_pick(rng, listed))]
    return problem, lines


# ---------------------------------------------------------------- limits


def change_a_row(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """Of one limit the number, a weight, or a feature."""
    rows = lines[0].get("limits")
    if not rows:
        return None
    row = _pick(rng, rows)
    which, at = rng.random(), int(rng.integers(len(row["features"])))
    if which < 0.4:
        row["most"] += float(rng.choice([-1.0, 1.0]))
    elif which < 0.7:
        row["weights"][at] *= float(rng.choice([-1.0, 0.5, 2.0]))
    else:
        others = sorted(set(range(problem.p)) - set(row["features"]))
        if not others:
            return None
        row["features"][at] = _pick(rng, others)
    return replace(problem, limits=rows), lines


def forget_a_row(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    rows = lines[0].get("limits")
    if not rows:
        return None
    del rows[rng.integers(len(rows))]
    return replace(problem, limits=rows), lines


def change_a_price(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    priced = [line["dual"] for line in lines if line.get("dual", {}).get("prices")]
    witness = _pick(rng, priced)
    if witness is None:
        return None
    pair = _pick(rng, witness["prices"])
    if rng.random() < 0.3:
        pair[0] = int(rng.integers(len(problem.limits) + 1))
    else:
        pair[1] *= float(_pick(rng, [-1.0, 0.0, 0.5, 0.9, 1.1, 3.0, 100.0]))
    return problem, lines


def change_a_limit_record(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """Another limit is said to decide, or one decides what another kind of witness did."""
    if not problem.limits:
        return None
    at = _pick(rng, [i for i, line in enumerate(lines[1:], 1) if "branch" not in line])
    if at is None or lines[at].get("leaf") == "listed":
        return None
    c = int(rng.integers(len(problem.limits)))
    if "fix" in lines[at]:
        lines[at] = {"fix": lines[at]["fix"], "limit": c}
    else:
        lines[at] = {"leaf": "limit", "limit": c}
    return problem, lines


LIST_CHANGES: tuple[Change, ...] = (
    remove_a_set, replace_a_set, add_a_set, change_a_score, swap_two_sets, change_the_threshold,
    change_a_listed_leaf, list_early,
)  # fmt: skip
LIMIT_CHANGES: tuple[Change, ...] = (
    change_a_row, forget_a_row, change_a_price, change_a_limit_record,
)  # fmt: skip
ALL_CHANGES: tuple[Change, ...] = (*LIST_CHANGES, *LIMIT_CHANGES, *CHANGES)
