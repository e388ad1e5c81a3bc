"""Whether there is a set that keeps all limits, which one weighs most, and if none why not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize, sparse

from ..errors import InputError
from .limits import FREE, IN, Limits

# A conflict is looked for among so many rules at most.
MAX_RULES = 60
# Seconds that the search for a set may take.
SECONDS = 20.0
# How near to the largest sum a set is to come.
NEAR = 0.01
TINY = 1e-9
INFEASIBLE = 2  # scipy's status


def heaviest_allowed(
    limits: Limits, k: int, include: np.ndarray, gains: np.ndarray | None = None
) -> np.ndarray | None:
    """The allowed set of k features with the largest sum of gains; None if there is none.

    With an integer program: exact for whether there is one, near to exact for the sum.
    """
    if gains is None and (packed := _packed(limits, k, include)) is not None:
        return packed
    gains = np.zeros(limits.size) if gains is None else gains
    found = _solve(limits, np.arange(limits.most.size), (k, k), include, -gains)
    if found is not None and not limits.allows(found):  # the solver allows for some rounding
        return None
    return found


def check_allowed(limits: Limits, k: int, include: np.ndarray) -> None:
    """Raise, with the reason, unless some set of k features keeps all limits."""
    if heaviest_allowed(limits, k, include) is not None:
        return
    conflict = _conflict(limits, k, include)
    rules = "; ".join(dict.fromkeys(limits.names[c] for c in conflict))
    forced = f" with the {include.size} included" if include.size else ""
    raise InputError(
        f"no set of {k} features{forced} keeps all limits; these cannot hold together: "
        f"{rules}{_advice(limits, k, include)}"
    )


def _packed(limits: Limits, k: int, include: np.ndarray) -> np.ndarray | None:
    """Some allowed set, if the features that weigh least make one: nearly always, and at once."""
    state = np.zeros(limits.size, dtype=np.int8)
    state[include] = IN
    share = np.maximum(limits.most, limits.slack) + limits.slack
    burden = limits.rows.T @ (1.0 / np.maximum(share, TINY))
    for j in np.argsort(burden, kind="stable").tolist():
        if np.count_nonzero(state == IN) >= k:
            break
        if state[j] != FREE:
            continue
        trial = state.copy()
        trial[j] = IN
        narrowed = limits.narrow(trial, k)
        if narrowed is None:
            return None
        state = narrowed
    found = np.flatnonzero(state == IN)
    return found if found.size == k and limits.allows(found) else None


def _conflict(limits: Limits, k: int, include: np.ndarray) -> list[int]:
    """Rows that already have no set: what is left when those are dropped that can be."""
    rules = list(dict.fromkeys(limits.names))
    by_rule = {rule: [c for c, name in enumerate(limits.names) if name == rule] for rule in rules}
    kept = rules
    for rule in rules if len(rules) <= MAX_RULES else ():
        fewer = [other for other in kept if other != rule]
        rows = [c for other in fewer for c in by_rule[other]]
        if _solve(limits, np.array(rows, dtype=np.intp), (k, k), include) is None:
            kept = fewer
    return [c for rule in kept for c in by_rule[rule]]


def _advice(limits: Limits, k: int, include: np.ndarray) -> str:
    """The nearest numbers of features for which there is a set."""
    every, one = np.arange(limits.most.size), np.ones(limits.size)
    below = _solve(limits, every, (1, k), include, -one)
    above = _solve(limits, every, (k, limits.size), include, one)
    sizes = [str(found.size) for found in (below, above) if found is not None and found.size]
    return f" (with {' or '.join(sizes)} features there is a set)" if sizes else ""


def _solve(
    limits: Limits,
    rows: np.ndarray,
    sizes: Sequence[int],
    include: np.ndarray,
    price: np.ndarray | None = None,
) -> np.ndarray | None:
    """The cheapest set that keeps some of the rows, or None."""
    p = limits.size
    least = np.zeros(p)
    least[include] = 1.0
    constraints = [optimize.LinearConstraint(sparse.csr_array(np.ones((1, p))), *sizes)]
    if rows.size:
        matrix = limits.rows[rows]
        constraints.append(optimize.LinearConstraint(matrix, -np.inf, limits.most[rows]))
    found = optimize.milp(
        np.zeros(p) if price is None else price,
        integrality=np.ones(p),
        bounds=optimize.Bounds(least, np.ones(p)),
        constraints=constraints,
        options={"time_limit": SECONDS, "mip_rel_gap": 0.0 if price is None else NEAR},
    )
    if found.x is None and found.status != INFEASIBLE:
        raise InputError(
            f"whether any set keeps all limits could not be found out within {SECONDS:g} s"
        )
    return None if found.x is None else np.flatnonzero(found.x > 0.5)
