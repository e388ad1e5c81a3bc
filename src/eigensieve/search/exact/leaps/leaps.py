"""Leaps and bounds: exact search for the trace and log-det criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....pencil.budget import Budget
from ....pencil.criteria import EPS
from ....pencil.factor_pencil import dense_rows
from ....pencil.grading import MAX_CANCELLATION, align, cancellation, is_graded
from ....pencil.problem import Problem
from ....pencil.solution import Status
from ...greedy.start import find_start
from ...quick_bound import root_bound
from ...solver import Solver
from ...target import IN, OUT, Outcome, Target, start_state
from ..coverage import CoverageCount
from ..tree import Expansion, Node, Order, Search, SearchOptions, solve_by_tree
from .node_kernel import AGAIN, CLOSED, visit
from .problem import LeapsProblem, Log
from .problem_kernel import LOGDET, RANK_ONE, TRACE

# Work of one expansion, in nodes times features squared: about .02 s.
WORK = 15_000_000
# A node takes about so long per feature squared, in units of `Budget.spend`.
WORK_OF_NODE = 0.5
# What a relaxation costs, in nodes of a dive.
RELAX_WORK = 40
# With a tolerance above this the bound at the root is computed first.
WIDE = 1e-3


class LeapsTree:
    """The search tree: a node is a state of all features, the kernel does the rest.

    The features are in the order of their blocks. B is scaled by powers of two to a diagonal near
    1, which is exact.
    """

    name = "leaps"

    def __init__(self, problem: Problem) -> None:
        pencil = problem.pencil
        blocks, quota = problem.blocks_and_needs()
        self.features = np.argsort(blocks, kind="stable")
        scale = np.exp2(-np.round(np.log2(pencil.diag_B) / 2))
        H = _thin_factor(pencil.spectral_factor, scale, problem.criterion)[self.features]
        B = (pencil.B * np.outer(scale, scale))[np.ix_(self.features, self.features)]
        kind = LOGDET if problem.criterion == "logdet" else TRACE
        if H.shape[1] == 1 and kind == TRACE:
            kind = RANK_ONE
        unit = float(np.einsum("ij,ij->i", H, H).max())
        if kind == LOGDET and unit > 0:
            unit = cancellation(
                H.T
            )  # not below 1: a difference of logarithms is no more exact than that
        self.is_blurred = kind == LOGDET and unit > MAX_CANCELLATION
        self.left_out = 0.0
        if kind == LOGDET and is_graded(pencil.diag_A, pencil.diag_B):
            self.left_out = problem.k * pencil.left_out("logdet")
        else:  # B^-1 magnifies it as it does round-off
            unit += 2.0 * pencil.factor_error / EPS
        self._kernel_problem = LeapsProblem(kind, B, H, blocks[self.features], quota, unit)
        self._strides = CoverageCount(problem, False).strides
        self._size_of_node = pencil.size**2 * (1 if kind == RANK_ONE else 2)
        self._limit = max(2, WORK // self._size_of_node)
        self._root = start_state(problem)[self.features]

    def roots(self, coverage: CoverageCount) -> list[Node]:
        """All features free but those that must be chosen."""
        return [Node(np.inf, self._root)]

    def prepare(self, nodes: Sequence[Node], budget: Budget) -> None:
        """Nothing: every node brings what it needs."""

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        """Search below a node, until its number of nodes is reached; see node_kernel.pyx."""
        p = self.features.size
        best, record = np.zeros(p, dtype=np.bool_), np.array([order.cut, order.step, -np.inf])
        log = Log(best, record, counts, self._strides)
        states, bounds = np.empty((p + 1, p), dtype=np.int8), np.empty(p + 1)
        stack, nodes, work = [Node(node.bound, node.state.copy())], 0, 0
        while stack and work < self._limit:
            bound, state, _ = stack.pop()
            pick, bound, visited, n_open = visit(
                self._kernel_problem, log, state, bound, self._limit, states, bounds
            )
            nodes, work = nodes + visited, work + visited + RELAX_WORK
            for s, b in zip(states[:n_open], bounds[:n_open]):
                stack.append(Node(min(float(b), bound), s.copy()))
            if n_open:  # the dive used up its limit
                break
            if pick == AGAIN:
                stack.append(Node(bound, state))
            elif pick != CLOSED:
                for side in (OUT, IN):  # the better half is searched first
                    child = state.copy()
                    child[pick] = side
                    stack.append(Node(bound, child))
        support = np.sort(self.features[best]) if best.any() else None
        cut = float(max(record[0], record[2]))
        return Expansion(nodes, stack, support, cut, work * WORK_OF_NODE * self._size_of_node)


def _thin_factor(
    factor: tuple[np.ndarray, np.ndarray], scale: np.ndarray, criterion: str
) -> np.ndarray:
    """H (p, c) with A = H H' in the units of ``scale``, and no more columns than A has rank."""
    H, signs = dense_rows(factor[0], "solver 'leaps'"), factor[1]
    H = H[signs > 0] * scale
    if criterion == "logdet" and is_graded(np.square(H).sum(axis=0), np.ones(scale.size)):
        return np.ascontiguousarray(align(H).T)  # small directions count
    _, sizes, rows = np.linalg.svd(H, full_matrices=False)
    keep = sizes > 1e-10 * sizes.max(initial=0.0)
    if not keep.any():
        return np.zeros((scale.size, 1))
    return np.ascontiguousarray((sizes[keep, None] * rows[keep]).T)


def search_leaps(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """Exact for the trace and log-det criteria, and for any criterion if A has rank one."""
    tree = LeapsTree(target.problem)
    # the greedy sets and one expansion solve what is easy, in less time than more starts take
    known = options.known
    support = known.support if known else find_start(
        target.problem, budget, "leaps", given=options.start, n_starts=0
    )  # fmt: skip
    if tree.is_blurred:  # it would see no difference between sets
        bound, value = root_bound(target.problem, support), target.problem.score(support)
        return Outcome(support, value, bound, 0, None)
    search = Search(tree, target, budget, replace(options, max_nodes=1))
    bound = known.bound if known else np.inf
    if budget.gap_tol > WIDE and not known:  # or the tolerance itself would be all there is to say
        bound = target.inward(root_bound(target.asked, support))
    outcome = search.run(support, bound)
    is_hard = outcome.stopped is Status.ITERATION_LIMIT
    most = options.max_nodes
    if is_hard and (most is None or search.n_nodes < most):
        support = outcome.support if known else find_start(
            target.problem, budget, "leaps", given=outcome.support.tolist(),
            n_starts=options.n_starts, random_state=options.random_state,
        )  # fmt: skip
        search.max_nodes = most
        outcome = search.run(support, outcome.bound)
    outcome.bound += tree.left_out
    if np.isinf(outcome.bound):  # there was no time for a single node
        outcome.bound = target.inward(root_bound(target.asked, outcome.support))
    return outcome


def refuses(problem: Problem) -> str | None:
    """Why leaps and bounds cannot take the problem, or None."""
    pencil = problem.pencil
    if problem.criterion != "lambda_max" or pencil.is_rank_one or pencil.scale == 0:
        return None
    return (
        "is for the trace and log-det criteria, or an A of rank one; "
        "use 'dominance' for the largest eigenvalue"
    )


SOLVER = Solver(
    name="leaps",
    search=search_leaps,
    summary="leaps and bounds on the inverse; proves optimality; two classes, trace, log-det",
    solve=partial(solve_by_tree, "leaps", search_leaps),
    certifies=True,
    max_features=300,
    refuses=refuses,
    warm_start=True,
)
