"""Whether there is a set that keeps all limits, which one weighs most, and if none why not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize, sparse

from ..errors import InputError
from .limits import FREE, IN, Limits
from .wording import counted

# A conflict is looked for among so many rules at most.
MAX_RULES = 60
# The message names so many of them.
MAX_NAMED = 10
# Seconds that the search for a set may take.
SECONDS = 20.0
# How near to the largest sum of gains a set is to come.
NEAR = 1e-3
# A row whose weights are no integers is to be kept by so much, in units of its largest weight.
MARGIN = 2e-6
TINY = 1e-9
INFEASIBLE = 2  # scipy's status


def heaviest_allowed(
    limits: Limits, k: int, include: np.ndarray, gains: np.ndarray | None = None
) -> np.ndarray | None:
    """The allowed set of k features with the largest sum of gains; None if there is none.

    By an integer program: exact in whether there is one, within a thousandth in the sum.
    """
    if gains is None:
        packed = _packed(limits, k, include)
        if packed is not None:
            return packed
        gains = np.zeros(limits.size)
    if include.size > k:
        return None
    free = _heaviest(gains, k, include)
    if limits.allows(free):
        return free
    every = np.arange(limits.most.size)
    for margin in (0.0, MARGIN):  # the solver allows for some rounding, and limits do not
        found = _solve(limits, every, (k, k), include, -gains, margin=margin, near=NEAR)
        if found is None or limits.allows(found):
            return found
    return None


def _heaviest(gains: np.ndarray, k: int, include: np.ndarray) -> np.ndarray:
    """The set of k features with the largest sum of gains, whether or not it is allowed."""
    own = np.array(gains, dtype=np.float64)
    own[include] = np.inf
    return np.sort(np.argsort(-own, kind="stable")[:k])


def check_allowed(limits: Limits, k: int | None, include: np.ndarray) -> None:
    """Raise, with the reason, unless some set of k features keeps all limits (None: any k)."""
    if k is None:
        sizes, what = (1, limits.size), "no set of features, whatever their number,"
        is_possible = next_size(limits, 1, include) is not None
    else:
        sizes, what = (k, k), f"no set of {counted(k, 'feature')}"
        is_possible = heaviest_allowed(limits, k, include) is not None
    if is_possible:
        return
    conflict = _conflict(limits, sizes, include)
    names = list(dict.fromkeys(limits.names[c] for c in conflict))
    more = len(names) - MAX_NAMED
    rules = "; ".join(names[:MAX_NAMED]) + (f"; and {more} more" if more > 0 else "")
    forced = f" with the {include.size} included" if include.size else ""
    why = "none keeps this one" if len(names) == 1 else "these cannot hold together"
    advice = "" if k is None else _advice(limits, k, include)
    raise InputError(f"{what}{forced} keeps all limits; {why}: {rules}{advice}")


def next_size(limits: Limits, k: int, include: np.ndarray) -> int | None:
    """The least number of features, k or more, of an allowed set; None if there is none."""
    if k > limits.size:
        return None
    if _packed(limits, k, include) is not None:
        return k
    every, one = np.arange(limits.most.size), np.ones(limits.size)
    found = _solve(limits, every, (k, limits.size), include, one)
    return None if found is None else found.size


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


def _conflict(limits: Limits, sizes: tuple[int, int], include: np.ndarray) -> list[int]:
    """Rows that already have no set: what is left when those are dropped that can be."""
    rules = list(dict.fromkeys(limits.names))
    by_rule = {rule: [c for c, name in enumerate(limits.names) if name == rule] for rule in rules}
    kept, free = rules, np.zeros(limits.size)
    for rule in rules if len(rules) <= MAX_RULES else ():
        fewer = [other for other in kept if other != rule]
        rows = np.array([c for other in fewer for c in by_rule[other]], dtype=np.intp)
        if _solve(limits, rows, sizes, include, free) is None:
            kept = fewer
    return [c for rule in kept for c in by_rule[rule]]


def _advice(limits: Limits, k: int, include: np.ndarray) -> str:
    """The nearest numbers of features for which there is a set."""
    every, one = np.arange(limits.most.size), np.ones(limits.size)
    below = _solve(limits, every, (1, k), include, -one)
    nearest = [None if below is None else below.size, next_size(limits, k, include)]
    sizes = [str(size) for size in nearest if size]
    return f" (with {' or '.join(sizes)} features there is a set)" if sizes else ""


def _solve(
    limits: Limits,
    rows: np.ndarray,
    sizes: Sequence[int],
    include: np.ndarray,
    price: np.ndarray,
    *,
    margin: float = 0.0,
    near: float = 0.0,
) -> np.ndarray | None:
    """The cheapest set that keeps some of the rows, or None."""
    # the solver is not told of what is fixed: of that it would print lines on stdout
    free, least = np.setdiff1d(np.arange(limits.size), include), max(sizes[0], include.size)
    if free.size == 0:
        free, include = include, free
    one, range_ = np.ones(free.size), (least - include.size, sizes[1] - include.size)
    constraints = [optimize.LinearConstraint(sparse.csr_array(one[None]), *range_)]
    if rows.size:
        scale = 1.0 / limits.largest[rows]  # what the solver tolerates is absolute
        matrix = sparse.diags_array(scale) @ limits.rows[rows]
        most = limits.most[rows] * scale - margin * ~limits.is_integral[rows]
        most = most - np.asarray(matrix[:, include].sum(axis=1)).ravel()
        constraints.append(optimize.LinearConstraint(matrix[:, free], -np.inf, most))
    found = optimize.milp(
        price[free],
        integrality=one,
        bounds=optimize.Bounds(0.0, 1.0),
        constraints=constraints,
        # its presolve may take minutes over costs of thousands of features, its search a moment
        options={"time_limit": SECONDS, "presolve": False, "mip_rel_gap": near},
    )
    if found.x is None and found.status != INFEASIBLE:
        raise InputError(
            f"whether any set keeps all limits could not be found out within {SECONDS:g} s"
        )
    return None if found.x is None else np.union1d(include, free[found.x > 0.5])
