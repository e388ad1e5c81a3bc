"""Branching on directions: brute force agrees, and no cone hides a better set."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.problem import Problem, make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.exact import tree as rounds
from eigensieve.search.exact.direction import cones as meshes
from eigensieve.search.exact.direction import direction, tree
from eigensieve.search.exact.direction.cones_kernel import cone_reach
from eigensieve.search.exact.perspective.relaxation import relax_all
from eigensieve.search.exact.perspective.scaled_pencil import ScaledPencil
from eigensieve.search.target import start_state
from tests.clock import solve_in_time
from tests.oracles import naive

Kind = Callable[[np.random.Generator, int, int], es.Pencil]


def factors(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    W = rng.normal(size=(int(rng.integers(0, 6)), n))
    return es.FactorPencil(rng.normal(size=(c, n)), W, rng.uniform(0.02, 1, n))


def ties(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    H, W = (rng.integers(-1, 2, size=(rows, n)).astype(float) for rows in (c, 3))
    return es.FactorPencil(H, W, np.full(n, rng.choice([0.25, 1.0])))


def twins(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    half = [rng.normal(size=(rows, (n + 1) // 2)) for rows in (c, 3)]
    H, W = (np.hstack([part, part])[:, :n] for part in half)
    return es.FactorPencil(H, W, np.full(n, 0.3))


def near_rank_one(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    H = rng.normal(size=n) + 1e-3 * rng.normal(size=(c, n))
    return es.FactorPencil(H, rng.normal(size=(4, n)), np.full(n, 0.5))


def scales(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    d = np.geomspace(1e-4, 1e4, n)
    H, W = (rng.normal(size=(rows, n)) * d for rows in (c, 4))
    return es.FactorPencil(H, W, 0.2 * d * d)


def dense(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    pencil = factors(rng, n, c)
    return es.Pencil(pencil.A, pencil.B)


def classes(rng: np.random.Generator, n: int, c: int) -> es.Pencil:
    y = np.arange(40) % (c + 1)
    X = rng.normal(size=(40, n)) + rng.normal(size=(c + 1, n))[y]
    return es.lda_pencil(X, y, shrinkage=float(rng.choice([0.1, 0.5, 1.0])))


KINDS: dict[str, Kind] = {
    "factors": factors,
    "ties": ties,
    "twins": twins,
    "near rank one": near_rank_one,
    "scales": scales,
    "dense": dense,
    "classes": classes,
}


def all_sets(pencil: es.Pencil, k: int, include: list[int], exclude: list[int]) -> list[list[int]]:
    allowed = np.setdiff1d(np.arange(pencil.size), exclude)
    sets = (list(map(int, S)) for S in itertools.combinations(allowed, k))
    return [S for S in sets if set(include) <= set(S)]


def score_all(pencil: es.Pencil, sets: list[list[int]]) -> np.ndarray:
    A, B = pencil.A, pencil.B
    return np.array([naive.score(A, B, S, "lambda_max") for S in sets])


def draw(kind: str, seed: int) -> tuple[np.random.Generator, es.Pencil, dict]:
    """A pencil of up to 12 features, rank 1 to 4, with k, include and exclude."""
    rng = np.random.default_rng([seed, *kind.encode()])
    n = int(rng.integers(3, 13))
    pencil = KINDS[kind](rng, n, int(rng.integers(1, 5)))
    k, order = int(rng.integers(1, n + 1)), rng.permutation(n).tolist()
    include = order[: rng.integers(0, k + 1)] if rng.random() < 0.4 else []
    exclude = order[k:][:2] if rng.random() < 0.3 else []
    return rng, pencil, {"k": k, "include": include, "exclude": exclude}


@pytest.fixture
def directions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other search takes over, however few features are left."""
    monkeypatch.setattr(tree, "FEW", 0)


@pytest.fixture
def no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """The start is a poor set, and swaps improve nothing: the search must find the optimum."""

    def worst(problem: Problem, *_: object, **__: object) -> np.ndarray:
        order = np.argsort(problem.pencil.diag_A / problem.pencil.diag_B, kind="stable")
        others = order[~np.isin(order, problem.include)][: problem.k - problem.include.size]
        return np.sort(np.concatenate([problem.include, others]))

    for module in (direction, rounds):
        monkeypatch.setattr(module, "swap_refine", lambda _, S, *__: (np.sort(S), 0, None))
    monkeypatch.setattr(direction, "find_start", worst)


def check(pencil: es.Pencil, how: dict, gap_tol: float) -> es.Solution:
    solution = es.solve(
        pencil, solver="direction", criterion="lambda_max", gap_tol=gap_tol, audit=True, **how
    )
    solution.verify(pencil)
    best = score_all(pencil, all_sets(pencil, **how)).max()
    unit = max(abs(best), pencil.scale)
    assert solution.is_certified
    assert solution.bound >= best - 1e-8 * unit
    assert best - (gap_tol + 1e-8) * unit <= solution.objective <= best + 1e-8 * unit
    return solution


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.usefixtures("directions_only", "no_help")
def test_brute_force_agrees(kind: str, seed: int) -> None:
    rng, pencil, how = draw(kind, seed)
    check(pencil, how, float(rng.choice([1e-6, 1e-6, 1e-3, 0.05])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(30, 45))
def test_brute_force_agrees_on_the_usual_way(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "FEW", 5)
    _, pencil, how = draw(kind, seed)
    check(pencil, how, 1e-6)


@pytest.mark.usefixtures("directions_only", "no_help")
def test_the_searches_above_are_searches() -> None:
    """They branch, and come upon the optimum by themselves."""
    solutions, better = [], 0
    for kind, seed in itertools.product(KINDS, range(30)):
        _, pencil, how = draw(kind, seed)
        solutions.append(check(pencil, how, 1e-6))
        problem = make_problem(pencil, how["k"], "lambda_max", how["include"], how["exclude"])
        start = direction.find_start(problem)
        better += problem.score(start) < solutions[-1].objective * (1 - 1e-6)
    assert sum(solution.n_nodes > 5 for solution in solutions) >= 15
    assert better >= 80


def test_the_root_may_leave_too_few_features() -> None:
    """Cones are open, but no feature fits into a set above the cut."""
    H = [
        [1, -1, 1, 0, 1, 1, -1, -1, 1, -1, -1, 0],
        [-1, 1, -1, -1, 0, 1, -1, -1, 1, 0, 0, 0],
        [0, 0, 0, -1, 0, 1, -1, 1, 0, 1, 1, 0],
    ]
    W = [
        [1, 1, 1, 1, 0, -1, -1, 1, 0, -1, 0, 0],
        [-1, -1, 1, -1, 1, -1, 1, 0, 1, 0, 0, 0],
        [0, -1, 1, -1, -1, 1, -1, -1, 0, -1, 1, 0],
    ]
    pencil = es.FactorPencil(np.array(H, float), np.array(W, float), np.full(12, 0.25))
    check(pencil, {"k": 9, "include": [], "exclude": []}, 1e-9)


def root_of(pencil: es.Pencil, how: dict) -> tuple[Problem, direction.Root]:
    problem = make_problem(pencil, how["k"], "lambda_max", how["include"], how["exclude"])
    return problem, direction.Root(problem, ScaledPencil(problem), Budget())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(100, 115))
@pytest.mark.parametrize("above", [False, True])
def test_no_cone_hides_a_better_set(kind: str, seed: int, above: bool) -> None:
    """Just above the optimum anything may be left out; just below it nothing of an optimal set."""
    rng, pencil, how = draw(kind, seed)
    problem, root = root_of(pencil, how)
    if not 0 < root.need < problem.pencil.size - root.n_forced:
        return
    sets = [problem.to_local(S) for S in all_sets(pencil, **how)]
    values = np.array([problem.score(S) for S in sets])
    best = values.max()
    cut = best * (1 + 1e-6 if above else 1 - float(rng.choice([1e-6, 0.1])))
    if best == 0:
        return
    cones = root.cones(sets[int(rng.integers(len(sets)))])
    for step in range(3):
        must, cannot = cones.fix(cut) if cones.cells.size else (None, None)
        for S in (S for S, value in zip(sets, values) if value > cut):
            v, value = leading_direction(problem, S)
            assert any(reach >= value * (1 - 1e-9) for reach in reaches_at(cones, v))
            chosen = np.isin(root._free, S)
            assert not (chosen & cannot).any()
            assert chosen[must].all()
        if step == 0:
            cones.refine(cut)
        elif cones.cells.size:  # finer than needed: all is true of any cones
            cones._split(np.ones(len(cones.cells), dtype=bool), halves(cones))
            cones._measure()


def halves(cones: meshes.Cones) -> np.ndarray:
    c = cones.cells.shape[1]
    return np.tile([0, c - 1], (len(cones.cells), 1))


def leading_direction(problem: Problem, S: np.ndarray) -> tuple[np.ndarray, float]:
    """Of a set: the direction in the space of H's rows, and its value, by eigen-decomposition."""
    scaled = ScaledPencil(problem)
    H, B = scaled.factor(S), scaled.block(S)
    values, vectors = linalg.eigh(H @ linalg.solve(B, H.T))
    return vectors[:, -1], float(values[-1])


def reaches_at(cones: meshes.Cones, v: np.ndarray) -> list[float]:
    """The bounds of the cones that hold v or -v."""
    found = []
    for frame, reach in zip(cones.frames, cones.reach):
        a = np.linalg.solve(frame.T, v)
        if a.min() >= -1e-7 or a.max() <= 1e-7:
            found.append(float(reach))
    return found


@pytest.mark.parametrize("c", [1, 2, 3, 4])
def test_the_level_of_a_cone_is_its_maximum_or_more(c: int) -> None:
    """Over many directions of the cone; and not much more, with one feature and so one set."""
    rng = np.random.default_rng(c)
    for _ in range(50):
        M = rng.normal(size=(c, c))
        V = np.linalg.qr(rng.normal(size=(c, c)))[0] + 0.7 * rng.normal(size=c)
        V /= np.linalg.norm(V, axis=1)[:, None]
        gram = V @ V.T
        if gram.min() < 0:
            continue
        M = V @ M @ M.T @ V.T
        places = np.array([[min(i, j) * c + max(i, j) for i in range(c) for j in range(c)]])
        total = np.ascontiguousarray(M.reshape(-1))
        (level,) = cone_reach(gram.reshape(1, -1), places, c, total, total, total)
        a = rng.dirichlet(np.full(c, 0.5), size=4000)
        values = np.einsum("ni,ij,nj->n", a, M, a) / np.einsum("ni,ij,nj->n", a, gram, a)
        whole = linalg.eigh(M, gram, eigvals_only=True)[-1]
        assert values.max() <= level * (1 + 1e-9)
        assert level <= whole * (1 + 1e-6)


def planted(p: int, n_classes: int, shrinkage: float = 0.5, size: float = 1.5) -> es.Pencil:
    rng = np.random.default_rng(3)
    y = np.arange(60) % n_classes
    X = rng.normal(size=(60, p))
    X[:, :6] += size * rng.normal(size=(n_classes, 6))[y]
    return es.lda_pencil(X, y, shrinkage=shrinkage)


@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_pairs_among_many_features(n_classes: int) -> None:
    """All 179,700 pairs at once: the eigenvalues of 2 x 2 pencils in closed form."""
    pencil = planted(600, n_classes)
    A, B = pencil.A, pencil.B
    i, j = np.triu_indices(600, 1)
    a, b, c = A[i, i], A[i, j], A[j, j]
    d, e, f = B[i, i], B[i, j], B[j, j]
    half, det = (a * f + c * d) / 2 - b * e, d * f - e * e
    values = (half + np.sqrt(half**2 - det * (a * c - b * b))) / det
    solution = es.solve(pencil, 2, "exact", criterion="lambda_max", audit=True)
    assert solution.solver == "direction"
    assert solution.is_certified
    assert solution.objective == pytest.approx(values.max(), rel=1e-6)


def test_threads_change_nothing() -> None:
    pencil = planted(700, 4, size=0.5)
    options = {"solver": "direction", "criterion": "lambda_max", "start": range(8), "n_starts": 0}
    one, two = (es.solve(pencil, 8, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert one.is_certified
    assert (one.support.tolist(), one.objective) == (two.support.tolist(), two.objective)
    assert one.n_nodes == two.n_nodes > 200


def test_limits_leave_a_bound_that_is_no_worse_than_the_trace() -> None:
    pencil, k = planted(700, 4, 0.3), 12
    problem = make_problem(pencil, k, "lambda_max")
    weights = np.full(pencil.size, k / pencil.size)
    trace = relax_all(problem, ScaledPencil(problem), start_state(problem), weights).bound
    options = {"solver": "direction", "criterion": "lambda_max"}
    few = es.solve(pencil, k, max_nodes=10, audit=True, **options)
    more = es.solve(pencil, k, max_nodes=300, audit=True, **options)
    assert few.status is more.status is Status.ITERATION_LIMIT
    assert more.objective < more.bound < few.bound <= trace * (1 + 1e-6)
    stopped = solve_in_time(pencil, k, time_limit=0.3, audit=True, **options)
    assert stopped.status is Status.TIME_LIMIT
    assert stopped.objective < stopped.bound < np.inf  # it may end the relaxation, too
    effort = es.solve(pencil, k, criterion="lambda_max", effort="quick")
    assert effort.solver == "direction"
    assert effort.objective < effort.bound <= trace * (1 + 1e-3)


def test_what_it_is_not_made_for() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    with pytest.raises(ValueError, match="rank 4 at most"):
        es.solve(es.pca_pencil(X), 3, "direction")
    with pytest.raises(ValueError, match="one direction"):
        es.solve(planted(20, 4), 3, "direction", criterion="trace")
    with pytest.raises(ValueError, match="one k for all blocks"):
        es.solve(es.cca_pencil(X[:, :4], X[:, 4:], shrinkage=0.2), (2, 2), "direction")
    singular = es.FactorPencil(rng.normal(size=(2, 8)), 1e4 * rng.normal(size=(3, 8)), np.ones(8))
    with pytest.raises(ValueError, match="nearly singular"):
        es.solve(singular, 3, "direction", criterion="lambda_max")
