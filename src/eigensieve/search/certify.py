"""`certify`: how far from optimal is a set of features that any tool has chosen?"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..pencil.budget import Budget, Callback
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem, check_pencil, make_problem
from ..pencil.solution import Solution, Status, relative_gap
from ..pencil.wording import MAX_RATIO_IN_PERCENT, ROUND_OFF, above, at_least, rounded, rounded_up
from ..tables.builders import lda_pencil
from ..tables.kinds.frames import column_names
from .proof.proof import ProofRequest, Prover, as_request
from .quick_bound import root_bound
from .solve import check_shared, solve_problem

TIME_LIMIT = 10.0
GIVEN = "given"  # the solver's name where nothing had to be searched
MAX_FEATURES_NAMED = 50  # features of a better set that the sentence names
CLOSED = 1e-6  # a gap up to this is "the best" in words, whatever gap_tol allows


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Solution):
    """What is proved of a given set of features.

    A `Solution` for the given set: ``objective`` is its own score, ``bound`` what no set of as
    many features can exceed, ``gap`` the distance. ``status`` is OPTIMAL if the given set is
    proved to be the best (up to gap_tol), the limit that ended the search if one did, and
    FEASIBLE if the search ended by itself and knows better.

    Attributes
    ----------
    better : Solution or None
        The best set that was found, if it scores more than the given one (by more than round-off;
        by more than a millionth, where the given one counts as optimal).
    sizes : tuple of int
        How many features of each block the rivals have; empty for a pencil without blocks.
    is_constrained : bool
        Whether include or exclude left only some of these sets as rivals.
    """

    better: Solution | None = None
    sizes: tuple[int, ...] = ()
    is_constrained: bool = False

    def __repr__(self) -> str:
        return super().__repr__().replace("Solution", "Certificate", 1)

    @property
    def is_better_best(self) -> bool:
        """Whether a better set was found and proved the best, whatever gap_tol allows."""
        better = self.better
        return (
            better is not None and better.is_certified and min(better.gap, better.gap_tol) <= CLOSED
        )

    def describe_bound(self) -> str:
        """The bound, and how far it is above the given set's score.

        Where a better set is proved the best, it is the bound of that one, and `explain` says how
        much higher it scores.
        """
        if math.isinf(self.bound):
            return "unknown"
        if self.is_better_best:
            return f"{self.bound:.6g}, that of the better set"
        if self.objective <= 0:
            return f"{self.bound:.6g}"
        return f"{self.bound:.6g}, {above(self.bound, self.objective)}"

    def explain(self, noun: str = "features", names: Sequence[str] | None = None) -> str:
        """What is proved, in one sentence.

        Parameters
        ----------
        noun : what the features are called, in the plural: "genes"
        names : the names of all features of the pencil, to name those of a better set

        Examples
        --------
        >>> import numpy as np, eigensieve as es
        >>> pencil = es.Pencil(np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
        >>> es.certify(pencil, [0, 1]).explain("genes")
        'proved: no other set of 2 genes scores higher (within 0.0001 %)'
        >>> es.certify(pencil, [1, 2]).explain(names=["a", "b", "c"])
        'a set of 2 features scores 80.9 % higher: a, b (proved the best)'
        """
        allowed = "allowed " if self.is_constrained else ""
        sizes = " + ".join(map(str, self.sizes or (self.k,)))
        group = f"{allowed}set of {sizes} {noun.removesuffix('s') if self.k == 1 else noun}"
        if names is not None and len(names) != self.n_features:
            raise InputError(f"names has {len(names)} entries; the pencil has {self.n_features}")
        if self.solver == GIVEN:
            return f"there is no other {group} to choose"
        if self.is_certified and self.better is None:
            return f"proved: no other {group} scores higher{self._tolerance()}"
        if self.better is None:
            return self._limit(group)
        chosen = [str(j if names is None else names[j]) for j in self.better.support]
        listed = ", ".join(chosen[:MAX_FEATURES_NAMED]) + (
            ", ..." if len(chosen) > MAX_FEATURES_NAMED else ""
        )
        article, rest = "an" if allowed else "a", f"; {self._limit(f'{allowed}set')}"
        if self.is_better_best:
            rest = " (proved the best allowed)" if allowed else " (proved the best)"
            rest += "" if self.objective > 0 else f"; the given one scores {self.objective:.4g}"
        return f"{article} {group} scores {self._gain()}: {listed}{rest}"

    # Percentages are of the score itself; the unit of the gap may be larger than the score.

    def _tolerance(self) -> str:
        size = self.gap_tol * max(abs(self.objective), self.scale)
        if size <= 0:
            return ""
        if self.objective > 0:
            return f" (within {rounded_up(100 * size / self.objective)} %)"
        return f" (within {rounded_up(size)})"

    def _limit(self, group: str) -> str:
        if math.isinf(self.bound):
            return f"nothing is proved of the best {group}"
        if self.objective > 0:
            ratio = self.bound / self.objective
            if ratio > MAX_RATIO_IN_PERCENT:
                return f"no {group} can score more than {rounded_up(ratio)} times the given one"
            percent = rounded_up(100 * (ratio - 1))
            return f"no {group} can score more than {percent} % above the given one"
        bound, scores = at_least(self.bound), f"{self.objective:.4g}"
        return f"no {group} can score more than {bound}; the given one scores {scores}"

    def _gain(self) -> str:
        assert self.better is not None
        if self.objective > 0:
            ratio = self.better.objective / self.objective
            if ratio > MAX_RATIO_IN_PERCENT:
                return f"{rounded(ratio)} times as much"
            return f"{rounded(100 * (ratio - 1))} % higher"
        return f"{self.better.objective:.4g}"


def certify(
    pencil: Any,
    support: ArrayLike,
    criterion: str = "auto",
    time_limit: float | None = TIME_LIMIT,
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    gap_tol: float = 1e-6,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    random_state: Any = None,
    client: Any = None,
    proof: str | os.PathLike[str] | ProofRequest | None = None,
    *,
    features: Sequence[Any] | None = None,
) -> Certificate:
    """An upper bound and the gap for a set of features, whoever chose it.

    An exact search starts from the given set; what it proves within the time limit holds for
    every set of as many features. Where the pencil has blocks (CCA) the rivals are the sets
    with as many features of each block.

    Parameters
    ----------
    pencil : Pencil; or a table, with ``features``
    support : feature indices of the set, in any order; or the labels of the table's rows
    features : names (or indices) of the set among the table's columns, optional
        ``certify(X, y, features=names)`` is ``certify(lda_pencil(X, y), ...)`` of their indices.
    criterion : "auto", "lambda_max", "trace" or "logdet"
        "auto" is the one that belongs to the pencil, ``pencil.criterion``: "logdet" for LDA,
        "lambda_max" for PCA, CCA and matrices. A set that was chosen by another one is judged by
        that one only if it is named here.
    time_limit : seconds, None for no limit; 0 gives the bound at the root of the search
    include, exclude : features that every rival must, or must not, have; the given set, too
    gap_tol, n_jobs, callback, random_state, client, proof : as in `solve`

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> pencil = es.lda_pencil(X, y, shrinkage=0.5)
    >>> claim = es.certify(pencil, [0, 6, 9, 12])
    >>> claim.is_certified, claim.better is None
    (True, True)
    """
    if features is not None:
        pencil, support = lda_pencil(pencil, support), _find_columns(pencil, features)
    pencil = check_pencil(pencil).in_memory_if_small()
    chosen = _check_support(support, pencil)
    request = None if proof is None else _request(proof, pencil, chosen)
    sizes = () if pencil.blocks is None else _sizes(pencil.blocks, chosen)
    pencil, k, unused = _cardinality(pencil, chosen)
    problem = make_problem(pencil, k, criterion, include, [*exclude, *unused])
    _check_allowed(chosen, include, exclude)
    rivals = {"sizes": sizes, "is_constrained": len(include) + len(exclude) > 0}
    given = problem.solution(
        problem.to_local(chosen), status=Status.FEASIBLE, solver=GIVEN, gap_tol=gap_tol
    )
    if math.isfinite(given.bound):  # there is no other set
        if request is None:
            return _judge(given, given, given.bound, **rivals)
        given = replace(given, bound=math.inf)  # the file decides what can be said
    found = solve_problem(
        problem,
        "exact",
        Budget(time_limit, gap_tol, callback),
        shared=check_shared(random_state, n_jobs, client),
        options={"start": chosen},
        prover=None if request is None else Prover(problem, pencil, request),
    )
    ceiling = problem.ceiling(problem.to_local(chosen))
    return _judge(given, _with_bound(found, problem), ceiling, **rivals)


def _find_columns(X: Any, features: Sequence[Any]) -> list[int]:
    """Positions of the columns that are named, or numbered."""
    if isinstance(features, str):
        raise InputError(f"features must be a list of columns, not {features!r}")
    names = column_names(X)
    place = {} if names is None else {name: j for j, name in enumerate(names)}
    found = []
    for feature in features:
        if not isinstance(feature, str):
            found.append(feature)
        elif feature in place:
            found.append(place[feature])
        else:
            raise InputError(
                f"no column is called {feature!r}"
                + ("; X has no names: give indices" if names is None else "")
            )
    return found


def _request(
    proof: str | os.PathLike[str] | ProofRequest, pencil: Pencil, chosen: np.ndarray
) -> ProofRequest:
    """A proof about the given set, in which also the blocks that it leaves out are counted."""
    request, blocks = replace(as_request(proof), given=chosen), pencil.blocks
    if blocks is None or np.unique(blocks[chosen]).size == 1:
        return request
    return replace(request, sizes=list(_sizes(blocks, chosen)))


def _sizes(blocks: np.ndarray, chosen: np.ndarray) -> tuple[int, ...]:
    """How many of the features lie in each block."""
    return tuple(np.bincount(blocks[chosen], minlength=int(blocks.max()) + 1).tolist())


def _with_bound(found: Solution, problem: Problem) -> Solution:
    """A search that ended before its first node has no bound yet: that of the root."""
    if math.isfinite(found.bound):
        return found
    support = problem.to_local(found.support)
    return replace(found, bound=max(root_bound(problem, support), problem.ceiling(support)))


def _judge(given: Solution, found: Solution, ceiling: float, **rivals: Any) -> Certificate:
    """The given set, with the bound that the search proved and the better set it found.

    ``ceiling`` is what the given set may be worth by itself, round-off included.
    """
    bound = min(given.bound, max(found.bound, ceiling))
    closed = relative_gap(given.objective, bound, given.scale) <= given.gap_tol
    early = found.status if found.status.is_early else Status.FEASIBLE
    claim = replace(
        given,
        bound=bound,
        status=Status.OPTIMAL if closed else early,
        solver=found.solver,
        n_nodes=found.n_nodes,
        n_iter=found.n_iter,
        seconds=found.seconds,
    )
    gain = relative_gap(given.objective, found.objective, given.scale)
    better = found if gain > (min(given.gap_tol, CLOSED) if closed else ROUND_OFF) else None
    own = {f.name: getattr(claim, f.name) for f in fields(Solution)}
    return Certificate(**own, better=better, **rivals)


def _check_support(support: ArrayLike, pencil: Pencil) -> np.ndarray:
    chosen = np.asarray(support)
    if chosen.dtype == bool and chosen.ndim == 1:
        raise InputError("support must list feature indices, not a mask: use np.flatnonzero(mask)")
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise InputError(f"support must list feature indices (whole numbers), not {support!r}")
    if chosen.min() < 0 or chosen.max() >= pencil.size:
        wrong = chosen[(chosen < 0) | (chosen >= pencil.size)][0]
        raise InputError(f"support names feature {wrong}, outside 0..{pencil.size - 1}")
    values, counts = np.unique(chosen, return_counts=True)
    if values.size < chosen.size:
        raise InputError(f"support names feature {values[np.argmax(counts)]} more than once")
    return values.astype(np.intp)


def _check_allowed(chosen: np.ndarray, include: Sequence[int], exclude: Sequence[int]) -> None:
    missing, banned = np.setdiff1d(include, chosen), np.intersect1d(exclude, chosen)
    if missing.size:
        raise InputError(f"feature {missing[0]} is in include, but not in the support")
    if banned.size:
        raise InputError(f"feature {banned[0]} of the support is in exclude")


def _cardinality(pencil: Pencil, chosen: np.ndarray) -> tuple[Pencil, int | list[int], list[int]]:
    """How many features the rivals have, per block where there are blocks, and who is none.

    Rivals lie in the blocks that have features; the pencil comes back with those blocks only.
    """
    blocks = pencil.blocks
    if blocks is None:
        return pencil, int(chosen.size), []
    used, counts = np.unique(blocks[chosen], return_counts=True)
    unused = np.flatnonzero(~np.isin(blocks, used)).tolist()
    if used.size == 1:
        return pencil, int(chosen.size), unused
    if unused:  # they are excluded: it does not matter to which block they are counted
        pencil = copy(pencil)
        pencil.blocks = np.minimum(np.searchsorted(used, blocks), used.size - 1)
    return pencil, counts.tolist(), unused
