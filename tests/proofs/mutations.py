"""Changes to a proof file, each likely to make one of its claims false.

Every change takes the problem, the lines (a copy of its own) and a random generator, and returns
the problem that the new header describes with the new lines; None where it does not apply.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.proofs.naive_prover import Problem
from tests.proofs.proof_files import Lines

KINDS = ("dual", "level", "rows")
Changed = tuple[Problem, Lines] | None
Change = Callable[[Problem, Lines, np.random.Generator], Changed]


def apply(change: Change, problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """One change to a copy of the lines."""
    return change(problem, copy.deepcopy(lines), rng)


def _leaves(lines: Lines, *kinds: str) -> list[int]:
    return [i for i, line in enumerate(lines) if line.get("leaf") in (kinds or (line.get("leaf"),))
            and "leaf" in line]  # fmt: skip


def _witnesses(lines: Lines) -> list[dict[str, Any]]:
    return [line[kind] for line in lines[1:] for kind in KINDS if kind in line]


def _end(lines: Lines, at: int) -> int:
    """The line after the subtree that starts at a line."""
    open_nodes = 1
    while open_nodes:
        open_nodes += ("branch" in lines[at]) - ("leaf" in lines[at])
        at += 1
    return at


def _pick(rng: np.random.Generator, values: Any) -> Any:
    values = list(values)
    return values[rng.integers(len(values))] if values else None


# ---------------------------------------------------------------- the header


def lower_bound(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """Below the optimum, by a little or by much."""
    best = problem.best()[0]
    size = abs(best) or 1.0
    lines[0]["bound"] = best - 10.0 ** rng.uniform(-7, 0) * size
    return problem, lines


def lower_bound_below_a_leaf(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """Just below what the leaves show, though perhaps still true."""
    values = [line["dual"]["value"] for line in lines if line.get("leaf") == "dual"]
    if not values:
        return None
    lines[0]["bound"] = float(np.nextafter(max(values), -np.inf))
    return problem, lines


def raise_objective(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    best = lines[0]["objective"]
    lines[0]["objective"] = best + 10.0 ** rng.uniform(-7, 0) * (abs(best) or 1.0)
    return problem, lines


def change_support(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    support = lines[0]["support"]
    support[rng.integers(len(support))] = int(rng.integers(problem.p))
    return (problem, lines) if len(set(support)) == len(support) else None


def change_limits(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """Another include, exclude or k."""
    header, j = lines[0], int(rng.integers(problem.p))
    which = _pick(rng, ["include", "exclude", "k"])
    if which == "k":
        b = rng.integers(len(header["k"]))
        header["k"][b] += int(rng.choice([-1, 1]))
        if not 0 <= header["k"][b] <= problem.p or sum(header["k"]) == 0:
            return None
    elif j in header[which]:
        header[which].remove(j)
    else:
        header[which].append(j)
    limits = {name: tuple(header[name]) for name in ("include", "exclude")}
    if set(limits["include"]) & set(limits["exclude"]):
        return None
    return replace(problem, k=list(header["k"]), **limits), lines


def permute_members(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    members = lines[0]["pencil"].get("members")
    if members is None or problem.columns is None:
        return None
    order = rng.permutation(len(members))
    lines[0]["pencil"]["members"] = [members[i] for i in order]
    columns, weights = problem.columns[:, order], problem.weights[order]
    return replace(problem, columns=columns, weights=weights), lines


# ---------------------------------------------------------------- the tree


def remove_record(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    del lines[rng.integers(1, len(lines))]
    return problem, lines


def remove_subtree(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = int(rng.integers(1, len(lines)))
    del lines[at : _end(lines, at)]
    return problem, lines


def double_subtree(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = int(rng.integers(1, len(lines)))
    end = _end(lines, at)
    lines[at:at] = copy.deepcopy(lines[at:end])
    return problem, lines


def swap_children(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = _pick(rng, [i for i, line in enumerate(lines) if "branch" in line])
    if at is None:
        return None
    middle = _end(lines, at + 1)
    end = _end(lines, middle)
    lines[at + 1 : end] = lines[middle:end] + lines[at + 1 : middle]
    return problem, lines


def empty_a_leaf(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = _pick(rng, _leaves(lines, *KINDS))
    if at is None:
        return None
    lines[at] = {"leaf": "empty"}
    return problem, lines


def close_early(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """A leaf of elsewhere in the place of a whole subtree."""
    leaf = _pick(rng, _leaves(lines))
    at = int(rng.integers(1, len(lines)))
    lines[at : _end(lines, at)] = [copy.deepcopy(lines[leaf])]
    return problem, lines


def change_branch(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = _pick(rng, [i for i, line in enumerate(lines) if "branch" in line])
    if at is None:
        return None
    lines[at]["branch"] = int(rng.integers(problem.p))
    return problem, lines


def extend_fix(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """A feature of the best set goes out as well, or one that is not in it goes in."""
    at = _pick(rng, [i for i, line in enumerate(lines) if "fix" in line])
    if at is None:
        return None
    fix, support = lines[at]["fix"], lines[0]["support"]
    if rng.random() < 0.3:
        others = sorted(set(range(problem.p)) - set(support))
        fix["in"] = [*fix.get("in", []), _pick(rng, others)]
    elif "keep" in fix:
        fix["keep"] = [j for j in fix["keep"] if j != _pick(rng, support)]
    else:
        fix["out"] = [*fix.get("out", []), _pick(rng, support)]
    return problem, lines


# ---------------------------------------------------------------- witnesses


def swap_witnesses(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    leaves = _leaves(lines, *KINDS)
    if len(leaves) < 2:
        return None
    a, b = rng.choice(leaves, size=2, replace=False)
    lines[a], lines[b] = lines[b], lines[a]
    return problem, lines


def lower_value(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = _pick(rng, _leaves(lines, "dual"))
    if at is None:
        return None
    value = lines[at]["dual"]["value"]
    lines[at]["dual"]["value"] = value - 10.0 ** rng.uniform(-6, 0) * abs(value)
    return problem, lines


def change_number(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """One entry of V, D, Q or E, by a factor or with the other sign."""
    witness = _pick(rng, _witnesses(lines))
    if witness is None or "weights" in witness:
        return None
    name = _pick(rng, [key for key in ("V", "D", "Q", "E") if witness.get(key)])
    if name is None:
        return None
    entries = witness[name]
    if name in ("V", "Q"):
        entries = _pick(rng, entries)
    factor = _pick(rng, [1.1, 1.5, 3.0, 100.0, 0.5] + ([-1.0] if name in ("V", "Q") else []))
    entries[rng.integers(len(entries))] *= factor
    return problem, lines


def enlarge_d(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """A larger D makes every term smaller, and the remainder indefinite."""
    duals = [witness for witness in _witnesses(lines) if witness.get("D")]
    witness = _pick(rng, duals)
    if witness is None:
        return None
    factor = 1.0 + 10.0 ** rng.uniform(-3, 1)
    witness["D"] = [factor * d for d in witness["D"]]
    return problem, lines


# ---------------------------------------------------------------- rows witnesses


def _pick_rows(lines: Lines, rng: np.random.Generator, *, with_q: bool) -> dict[str, Any] | None:
    found = [line["rows"] for line in lines[1:] if "rows" in line]
    return _pick(rng, [rows for rows in found if rows["weights"] and (rows["Q"] or not with_q)])


def change_weight(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    rows = _pick_rows(lines, rng, with_q=False)
    if rows is None:
        return None
    at = rng.integers(len(rows["weights"]))
    rows["weights"][at] *= _pick(rng, [0.01, 0.3, 0.9, 1.1, 3.0, 100.0, -1.0, 0.0])
    return problem, lines


def swap_weights(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    rows = _pick_rows(lines, rng, with_q=False)
    if rows is None:
        return None
    rng.shuffle(rows["weights"])
    return problem, lines


def forget_a_weight(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    rows = _pick_rows(lines, rng, with_q=False)
    if rows is None:
        return None
    rows["weights"].pop()
    return problem, lines


def shorten_keep(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """A feature of a fix by rows goes out as well."""
    at = _pick(rng, [i for i, line in enumerate(lines) if "fix" in line and "rows" in line])
    if at is None or not lines[at]["fix"]["keep"]:
        return None
    keep = lines[at]["fix"]["keep"]
    keep.remove(_pick(rng, keep))
    return problem, lines


def force_a_feature(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    at = _pick(rng, [i for i, line in enumerate(lines) if "fix" in line and "rows" in line])
    others = sorted(set(lines[at]["fix"]["keep"]) - set(lines[at]["fix"]["in"])) if at else []
    if not others:
        return None
    lines[at]["fix"]["in"].append(_pick(rng, others))
    return problem, lines


def close_a_fix(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """The witness of a fix is said to close the whole node."""
    at = _pick(rng, [i for i, line in enumerate(lines) if "fix" in line and "rows" in line])
    if at is None:
        return None
    lines[at : _end(lines, at)] = [{"leaf": "rows", "rows": lines[at]["rows"]}]
    return problem, lines


def change_q(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    """An entry of Q, all of them, or a scale."""
    rows = _pick_rows(lines, rng, with_q=True)
    if rows is None:
        return None
    name = _pick(rng, ["scales", "upper"])
    entries = rows["Q"][name]
    at = int(rng.integers(len(entries)))
    if name == "upper" and rng.random() < 0.5:
        entries[at] = _pick(rng, [-entries[at], 3 * entries[at], 0, entries[at] + 400])
    else:
        factor = 1.0 + 10.0 ** rng.uniform(-3, 1)
        everywhere = rng.random() < 0.5
        rows["Q"][name] = [
            x * factor if everywhere or i == at else x for i, x in enumerate(entries)
        ]
    return problem, lines


def leave_q_out(problem: Problem, lines: Lines, rng: np.random.Generator) -> Changed:
    rows = _pick_rows(lines, rng, with_q=True)
    if rows is None:
        return None
    rows["Q"] = None
    return problem, lines


CHANGES: tuple[Change, ...] = (
    lower_bound, lower_bound_below_a_leaf, raise_objective, change_support, change_limits,
    permute_members, remove_record, remove_subtree, double_subtree, swap_children, empty_a_leaf,
    close_early, change_branch, extend_fix, swap_witnesses, lower_value, change_number, enlarge_d,
)  # fmt: skip
# For proofs with rows witnesses; the last two change a Q.
ROW_CHANGES: tuple[Change, ...] = (
    lower_bound, change_limits, remove_subtree, swap_children, close_early, extend_fix,
    swap_witnesses, change_weight, swap_weights, forget_a_weight, shorten_keep, force_a_feature,
    close_a_fix, change_q, leave_q_out,
)  # fmt: skip
