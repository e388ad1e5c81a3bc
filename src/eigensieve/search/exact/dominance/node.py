"""One node: which features every set above the level has, and which it cannot have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.criteria import EPS
from ...linear_kernel import ratio_of_set
from ...sparse_pca_relaxation import State
from ...target import FREE, IN, OUT
from ..coverage import record_closed
from ..level import LevelTree
from ..level_kernel import find_indefinite, reduce_to_free
from .absorb import absorb
from .rows import Decision, Rows, decide, excess, tune

# Rounds of tuning weights and steps of the relaxation: at the root, and where a parent had some.
TUNING, FIXING, STEPS = (60, 3), (15, 2), (80, 4)
# The relaxation decomposes matrices of so many features at most.
MAX_ABSORBED = 700
# A factorization costs little beside it; without it, so many features for each that is needed.
FACTORIZED = 3
# Sets of so many further features are looked at one by one.
FEW = 3
# What a round of the test and a decomposition take, per entry of the matrix, and per further
# feature, in units of `Budget.spend`.
WORK_OF_ROUND, WORK_OF_STEP = 4.0, 0.5


class Warm(NamedTuple):
    """What a node leaves to its children: its features, their weights, its relaxation."""

    free: np.ndarray
    weights: np.ndarray
    state: State | None


@dataclass
class Examined:
    """What came of a node.

    Attributes
    ----------
    is_closed : whether no set of the node is above the level
    branch : the feature to branch on; -1 if the node is closed, or a limit came first
    better : features of a set above the level, or None
    listed : all sets above the level that were met, if they are to be listed
    bound : no set of the node exceeds it
    doubt : the largest ratio that rounding may have hidden
    """

    state: np.ndarray
    is_closed: bool = False
    branch: int = -1
    better: np.ndarray | None = None
    bound: float = np.inf
    doubt: float = -np.inf
    work: float = 0.0
    warm: Warm | None = field(default=None, repr=False)
    listed: list[np.ndarray] = field(default_factory=list, repr=False)


class Examination:
    """Looks at a node until it is closed, or no test says any more of it."""

    def __init__(
        self, tree: LevelTree, level: float, state: np.ndarray, counts: np.ndarray, absorbs: bool
    ) -> None:
        self.tree, self.level, self.counts, self.absorbs = tree, level, counts, absorbs
        self.lifted = 0.0
        self.found = Examined(state.copy())
        self.is_root = True

    def run(self, warm: Warm | None) -> Examined:
        """Everything that can be said of the node."""
        self.is_root = warm is None
        n = self.tree.features.size
        self.weights = np.ones(n)
        self.relaxation = None
        if warm is not None:
            self.weights[warm.free] = warm.weights
            self.relaxation = None if warm.state is None else (warm.free, warm.state)
        while not (self._is_done() or self.tree.stop[0]):
            pass
        return self.found

    def _counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How many features of every block are FREE, and how many a set still needs."""
        tree, state, n = self.tree, self.found.state, self.tree.need.size
        chosen = np.bincount(tree.blocks[state == IN], minlength=n)
        return np.bincount(tree.blocks[state == FREE], minlength=n), tree.need - chosen

    def _close(self, sizes: np.ndarray, needs: np.ndarray, amount: int = 1) -> bool:
        record_closed(self.counts, self.tree.strides, sizes, needs, amount)
        self.found.is_closed = amount > 0
        return True

    def _is_done(self) -> bool:
        """Whether the node is closed or to be branched on; otherwise features were decided."""
        tree, found = self.tree, self.found
        if not self._narrow():
            return True
        sizes, needs = self._counts()
        full = (needs == 0) | (needs == sizes)  # there is no choice left in such a block
        inside = np.flatnonzero(
            (found.state == IN) | ((found.state == FREE) & (full & (needs > 0))[tree.blocks])
        )
        free = np.flatnonzero((found.state == FREE) & ~full[tree.blocks])
        free = free[np.argsort(tree.blocks[free], kind="stable")]
        wanted = np.where(full, 0, needs)
        M = self._reduce(inside, free)
        if M is None:
            return found.branch >= 0 or found.better is not None or self._close(sizes, needs)
        if free.size == 0:
            return self._close(sizes, needs)
        blocks = tree.blocks[free]
        if wanted.sum() <= FEW:
            some = find_indefinite(M, blocks, wanted)
            if some.size == 0:
                return self._close(sizes, needs)
            if not tree.goes_through and self._offer(inside, free[some]):
                return True  # if it is not better after all, double precision could not tell
        d = 1.0 / np.sqrt(np.diag(M))
        M *= d[:, None]
        M *= d
        if self._is_definite(M, int(wanted.sum())):
            return self._close(sizes, needs)
        starts = np.append(0, np.cumsum(np.bincount(blocks, minlength=needs.size)))
        decision = self._test(M, free, np.square(d) * tree.least_B, starts, wanted)
        if decision is None:
            return self._close(sizes, needs)
        if not (decision.must.any() or decision.cannot.any()):
            found.branch = int(free[np.argmax(decision.ratios)])
            return True
        return self._fix(free, decision, (sizes, needs))

    def _fix(
        self, free: np.ndarray, decision: Decision, before: tuple[np.ndarray, np.ndarray]
    ) -> bool:
        state = self.found.state
        state[free[decision.must]] = IN
        state[free[decision.cannot & ~decision.must]] = OUT
        sizes, needs = self._counts()
        if np.any(needs < 0) or np.any(sizes < needs) or np.any(decision.must & decision.cannot):
            return self._close(*before)
        self._close(*before)
        self._close(sizes, needs, -1)  # it goes on as what is left of it
        return False

    def _reduce(self, inside: np.ndarray, free: np.ndarray) -> np.ndarray | None:
        """N on the free features, with a positive diagonal; None where a better set was found."""
        tree, found = self.tree, self.found
        M, n_positive, slack, lifted = reduce_to_free(
            tree.A, tree.B, self.level, inside, free, tree.reach
        )
        found.work += WORK_OF_ROUND * (inside.size + free.size) ** 2 * (inside.size + 1)
        bad = np.flatnonzero(~(np.diag(M) > 0.0))
        if tree.goes_through and (n_positive < inside.size or bad.size):
            some = np.arange(free.size) if n_positive < inside.size else bad
            self._go_through(inside, free, some)
            return None
        if n_positive < inside.size and self._offer(inside, free[:0]):
            return None
        for i in bad:
            if self._offer(inside, free[i : i + 1]):
                return None
            lifted += (slack - M[i, i]) * tree.reach[free[i]]
            M[i, i] = slack
        if lifted > 0.0:  # double precision could not tell
            found.doubt = max(found.doubt, self.level + lifted)
        self.lifted = lifted
        return np.asarray(M)

    def _offer(self, inside: np.ndarray, more: np.ndarray) -> bool:
        """Fill up a set; whether it is better."""
        tree, found = self.tree, self.found
        chosen = np.zeros(tree.features.size, dtype=bool)
        chosen[inside] = chosen[more] = True
        for b, need in enumerate(tree.need):
            own = np.flatnonzero(~chosen & (tree.blocks == b) & (found.state == FREE))
            chosen[own[: need - int(np.count_nonzero(chosen & (tree.blocks == b)))]] = True
        S = np.flatnonzero(chosen)
        if ratio_of_set(tree.A, tree.B, S) > self.level:
            found.better = S
            return True
        return False

    def _go_through(self, inside: np.ndarray, free: np.ndarray, some: np.ndarray) -> None:
        """Every set with all of ``inside`` and one of ``some`` (places in ``free``) exceeds the
        level: take those that are complete, or branch until they are.
        """
        tree, found = self.tree, self.found
        n_missing = int(tree.need.sum()) - inside.size
        if n_missing > 1:
            found.branch = int(free[some[0]])
            return
        whole = [inside] if n_missing == 0 else [np.append(inside, free[i]) for i in some]
        for S in map(np.sort, whole):
            if tree.limits is not None and not tree.limits.allows(S):
                continue
            if tree.lists:
                found.listed.append(S)
            elif ratio_of_set(tree.A, tree.B, S) > self.level:
                found.better = S
                return

    def _narrow(self) -> bool:
        """Decide what the limits decide; whether they leave a set of the node."""
        tree, state = self.tree, self.found.state
        if tree.limits is None:
            return True
        before = self._counts()
        narrowed = tree.limits.narrow(state, int(tree.need.sum()))
        if narrowed is None:
            return not self._close(*before)
        if not np.array_equal(narrowed, state):
            self.found.state = narrowed
            after = self._counts()
            if np.any(after[1] < 0) or np.any(after[0] < after[1]):
                return not self._close(*before)
            self._close(*before)
            self._close(*after, -1)
        return True

    def _is_definite(self, M: np.ndarray, m: int) -> bool:
        """Whether N is positive definite on all of the free features."""
        if len(M) > max(FACTORIZED * m, MAX_ABSORBED if self.absorbs else 0):
            return False
        self.found.work += float(len(M)) ** 3 / 10
        margin = EPS * len(M) * (len(M) + 2)  # of the factorization, where the diagonal is 1
        failed = linalg.lapack.dpotrf(M - margin * np.eye(len(M)), overwrite_a=True)[1]
        return not failed

    def _test(
        self,
        M: np.ndarray,
        free: np.ndarray,
        lift: np.ndarray,
        starts: np.ndarray,
        needs: np.ndarray,
    ) -> Decision | None:
        """What the rows decide, those of Q too if they must; None if they close the node."""
        rows = Rows.of(M, lift, starts, needs)
        decision = self._look_at(rows, free)
        if decision is None or decision.must.any() or decision.cannot.any():
            return decision
        if not self.absorbs or free.size > MAX_ABSORBED:
            self._remember(free)
            return decision
        return self._absorb(rows, M, free)

    def _look_at(self, rows: Rows, free: np.ndarray, keep: bool = True) -> Decision | None:
        found, first = self.found, 0 if self.is_root else 1
        weights = self.weights[free] if keep else np.ones(free.size)
        tuned = tune(rows, weights / weights.max(), TUNING[first])
        found.work += WORK_OF_ROUND * rows.size**2 * (tuned.n_rounds + FIXING[first] + 2)
        self._bound(tuned.excess)
        if tuned.passes:
            return None
        if keep:
            self.weights[free] = tuned.weights
        decision = decide(rows, tuned.weights, FIXING[first])
        return decision if decision.n_failing else None

    def _bound(self, excess: float) -> None:
        self.found.bound = min(self.found.bound, self.level + self.lifted + max(excess, 0.0))

    def _absorb(self, rows: Rows, M: np.ndarray, free: np.ndarray) -> Decision | None:
        """The same with what is semidefinite in M left out."""
        m, state = int(rows.needs.sum()), self._inherited(free)
        n_steps = STEPS[0 if state is None else 1]
        absorbed = absorb(M, m, state, n_steps, self.tree.stop)
        self.found.work += WORK_OF_STEP * float(free.size) ** 3 * n_steps
        self._remember(free, absorbed.state)
        own = Rows.of(absorbed.Q, rows.lift, rows.starts, rows.needs)
        if own.diagonal.min() <= 0.0:
            self._bound(excess(own, np.ones(free.size)))
        else:
            decision = self._look_at(own, free, keep=False)
            if decision is None or decision.must.any() or decision.cannot.any():
                return decision
        nothing = np.zeros(free.size, dtype=bool)
        return Decision(np.ones(free.size), absorbed.shares, free.size, nothing, nothing)

    def _inherited(self, free: np.ndarray) -> State | None:
        if self.relaxation is None:
            return None
        known, state = self.relaxation
        place = np.full(self.tree.features.size, -1)
        place[known] = np.arange(known.size)
        return state.restrict(place[free])

    def _remember(self, free: np.ndarray, state: State | None = None) -> None:
        if state is not None:
            self.relaxation = (free, state)
        self.found.warm = Warm(free, self.weights[free], state)
