"""Row-sparse basis pursuit: min sum_j |x_j| (lengths of the rows of x) subject to Ux = C, U with
orthonormal rows.

With r_j >= 0 the multiplier of |u_j'Y| <= 1, the optimum has rows x_j = r_j u_j'Y where Y solves
M(r) Y = C, M(r) = sum_j r_j u_j u_j', and r minimises the convex

    f(r) = 1/2 trace(C' M(r)^-1 C) + 1/2 sum_j r_j   subject to r >= 0.

Every r > 0 gives an x that satisfies the constraint, and Y, scaled, a lower bound. f is minimised
by a primal-dual interior-point method on a working set of columns, which the vertices of the l1
problem start; columns with |u_j'Y| > 1 join it until there are none. Newton steps on the columns
that are left (|u_j'Y| = 1) then give all digits. An optimum with fewer rows than the rank g needs
other last steps: x by least squares on those rows, and Y moved to where all of them have length 1.

Costs (w columns in the working set, about twice as many as the answer has): a step is
O(w^2 (g + w)), a check of all columns O(g p q).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from ..pencil.criteria import TINY
from ..pencil.solution import Status
from ..tables.copies import first_copies
from .dual import penalty_terms
from .solution import Answer

MAX_FIRST_COLUMNS_RATIO = 2  # times g q columns in the first working set: vertices have g q at most
MAX_STEPS = 100  # of one interior-point run; 15 to 25 are usual
MAX_ROUNDS = 50  # of the working set
CLOSE = 1e-11  # relative gap at which the last steps take over
VIOLATION = 1e-12  # of |u_j'Y| <= 1
SHORTEST = 1e-6  # multipliers below this share of the largest are taken for zeros, at first
NEWTON_STEPS = 12
NEARLY = 1e-6  # |z_j|^2 - 1 from which Newton's method counts as converging
EXACT = 1e-13  # relative residual
SINGULAR = 1e-15  # smallest entry in the diagonal of R, relatively, that is no round-off
DEPENDENT = 1e-10  # singular values of columns that do not span: round-off is far below
SHORT_STEP = 0.1  # shorter steps lead nowhere
CENTRING_STEPS = 50
CENTRED = 0.5  # Newton decrement below which full steps converge
TO_BOUNDARY = 0.99  # of the way: the next point must be inside
INSIDE = 0.9  # of |u_j'Y| <= 1, at the start
MIN_START_SHARE = 0.05  # of the mean multiplier: none starts at zero
GOOD_STEP = 0.9  # after such a step mu falls faster
FAST, SLOW, FIRST = 0.1, 0.4, 0.2  # factors of mu


def solve_row_sparse(
    rows: np.ndarray, target: np.ndarray, start: np.ndarray, budget: Budget
) -> Answer:
    """x (p, q) of least sum of row lengths, and the dual y (g, q).

    ``start`` (p, q) is some solution of the constraint; the columns it uses start the working set.
    """
    search = _Search(rows, target, budget)
    r = penalty_terms(start, "l21")
    longest = np.argsort(-r, kind="stable")[: MAX_FIRST_COLUMNS_RATIO * target.size]
    work = search.spanning(np.sort(longest[r[longest] > 0]))
    for _ in range(MAX_ROUNDS):
        found = search.finish(search.minimise(work, r[work]))
        sizes = penalty_terms(rows.T @ found.Y, "l21")
        violated = np.setdiff1d(np.flatnonzero(sizes > 1.0 + VIOLATION), found.work)
        if violated.size == 0 or search.stopped is not None:
            break
        worst = violated[np.argsort(-sizes[violated], kind="stable")[: 2 * len(rows)]]
        r = np.zeros(r.size)
        r[found.work] = found.r
        if np.isin(worst, work).any():
            search.shortest *= 0.01  # a short row was needed
        # where Y is not determined, columns that bounded it are needed although they have no weight
        work = search.spanning(np.union1d(found.work if found.is_sharp else work, worst))
    x = np.zeros_like(start)
    x[found.work] = found.x
    return Answer(x, found.Y, search.n_steps, search.stopped)


@dataclass(frozen=True, eq=False)
class _Point:
    """Multipliers r > 0 of the columns in ``work`` and Y, with Z = U'Y; M(r)Y = C - rest.

    By the QR factors of diag(sqrt(r)) U' = QR: M = R'R is nearly singular close to a degenerate
    optimum.
    """

    work: np.ndarray
    r: np.ndarray
    Y: np.ndarray
    Z: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    rest: np.ndarray

    @property
    def slack(self) -> np.ndarray:
        """(1 - |z_j|^2) / 2."""
        return 0.5 - 0.5 * np.einsum("ij,ij->i", self.Z, self.Z)

    @property
    def curvature(self) -> np.ndarray:
        """The Hessian of f in the variables r_j / sqrt(r_j), which are well scaled."""
        return (self.Q @ self.Q.T) * (self.Z @ self.Z.T)

    @property
    def x(self) -> np.ndarray:
        """The rows of x in work, which satisfy the constraint."""
        T = linalg.solve_triangular(self.R, self.rest, trans="T")
        root = np.sqrt(self.r)[:, None]
        return root * (root * self.Z + self.Q @ T)


@dataclass(frozen=True, eq=False)
class _Found:
    """Rows of x in ``work``, their multipliers, Y, and whether these rows determine Y."""

    work: np.ndarray
    x: np.ndarray
    r: np.ndarray
    Y: np.ndarray
    is_sharp: bool = False


class _Search:
    """The minimisation, the steps it took and why it stopped early, if it did."""

    def __init__(self, rows: np.ndarray, target: np.ndarray, budget: Budget) -> None:
        self.rows, self.target, self.budget = rows, target, budget
        self.shortest = SHORTEST
        self.n_steps = 0
        self.stopped: Status | None = None

    def spanning(self, work: np.ndarray) -> np.ndarray:
        """Without copies, and with further columns if these do not span all rows."""
        missing = len(self.rows) - np.linalg.matrix_rank(self.rows[:, work], tol=DEPENDENT)
        if missing:
            Q = linalg.qr(self.rows[:, work], mode="economic", pivoting=True)[0]
            Q = Q[:, : len(self.rows) - missing]
            rest = self.rows - Q @ (Q.T @ self.rows)
            order = linalg.qr(rest, mode="r", pivoting=True)[1]
            work = np.union1d(work, order[:missing])
        return work[np.unique(first_copies(self.rows[:, work]))]

    def point(self, work: np.ndarray, r: np.ndarray, Y: np.ndarray | None = None) -> _Point:
        """The point with these r and Y, or with Y = M(r)^-1 C."""
        if not (np.isfinite(r).all() and r.min() > 0.0):
            raise linalg.LinAlgError("left the interior")
        U = self.rows[:, work]
        Q, R = linalg.qr(np.sqrt(r)[:, None] * U.T, mode="economic")
        if np.abs(np.diag(R)).min() <= SINGULAR * np.abs(R).max():
            raise linalg.LinAlgError("M(r) is singular")
        if Y is None:
            Y = linalg.solve_triangular(R, linalg.solve_triangular(R, self.target, trans="T"))
        Z = U.T @ Y
        return _Point(work, r, Y, Z, Q, R, self.target - (U * r) @ Z)

    def gap(self, point: _Point) -> float:
        """Relative, with respect to the columns in work."""
        return self._gap(point.x, point.Y, point.work)

    def _gap(self, x: np.ndarray, Y: np.ndarray, work: np.ndarray) -> float:
        objective = float(penalty_terms(x, "l21").sum())
        longest = max(1.0, float(penalty_terms(self.rows[:, work].T @ Y, "l21").max()))
        return (objective - float((self.target * Y).sum()) / longest) / objective

    def minimise(self, work: np.ndarray, r: np.ndarray) -> _Point:
        """Interior points, until the gap on these columns is small."""
        r = np.maximum(r, MIN_START_SHARE * r.mean())
        point = self.point(work, r)
        scale = INSIDE / float(penalty_terms(point.Z, "l21").max())
        best = point = self.point(work, r / scale, point.Y * scale)
        smallest, shrink = self.gap(point), FIRST
        for _ in range(MAX_STEPS):
            self.stopped = self.stopped or self.budget.stop()
            if smallest <= CLOSE or self.stopped is not None:
                break
            self.budget.report("interior point", "steps", self.n_steps)
            try:
                point, length = self._step(point, shrink)
            except linalg.LinAlgError:
                break  # the optimum is degenerate, and this is as near as it gets
            self.n_steps += 1
            shrink = FAST if length > GOOD_STEP else SLOW
            gap = self.gap(point)
            if gap < smallest:
                best, smallest = point, gap
        return best

    def _step(self, point: _Point, shrink: float) -> tuple[_Point, float]:
        """A Newton step towards M(r)Y = C and r_j slack_j = mu; the new point, and its length."""
        mu = shrink * float(point.r @ point.slack) / point.r.size
        dr, dY = self._newton(point, mu)
        ball = _room_in_ball(point.Z, self.rows[:, point.work].T @ dY)
        length = min(_room(point.r, dr), ball)
        if length < SHORT_STEP:
            return self._centre(point), length
        return self.point(point.work, point.r + length * dr, point.Y + length * dY), length

    def _newton(self, point: _Point, mu: float) -> tuple[np.ndarray, np.ndarray]:
        """The changes of r and Y that solve both equations to first order."""
        Z, slack, root = point.Z, point.slack, np.sqrt(point.r)
        T = linalg.solve_triangular(point.R, point.rest, trans="T")
        missing = np.einsum("ij,ij->i", Z, point.Q @ T) / root
        H = point.curvature
        np.fill_diagonal(H, H.diagonal() + slack)
        change = linalg.cho_solve(linalg.cho_factor(H), root * (mu / point.r - slack + missing))
        T = T - point.Q.T @ (change[:, None] * Z)
        return root * change, linalg.solve_triangular(point.R, T)

    def _centre(self, point: _Point) -> _Point:
        """The maximum of <C, Y> + mu sum_j log slack_j, nearly: r_j = mu / slack_j there.

        A barrier of this kind lets damped Newton steps converge from anywhere inside. Slower than
        steps in r and Y, it is for points from which those lead nowhere.
        """
        mu = float(point.r @ point.slack) / point.r.size
        for _ in range(CENTRING_STEPS):
            point = self.point(point.work, mu / point.slack, point.Y)
            dY = self._newton(point, mu)[1]
            decrement = np.sqrt(max(0.0, float((point.rest * dY).sum())) / mu)
            if decrement < CENTRED:
                break
            room = _room_in_ball(point.Z, self.rows[:, point.work].T @ dY)
            point = self.point(
                point.work, point.r, point.Y + min(room, 1.0 / (1.0 + decrement)) * dY
            )
            self.n_steps += 1
        return point

    def finish(self, point: _Point) -> _Found:
        """All digits, where the optimum allows."""
        allowed = max(self.gap(point), CLOSE)
        for share in (1.0, 1e-2, 1e-4):
            long = point.r > share * self.shortest * point.r.max()
            for last_steps in (self._by_newton, self._by_least_squares):
                found = last_steps(point, long)
                if found is not None and self._gap(found.x, found.Y, found.work) <= allowed:
                    return found
        return _Found(point.work, point.x, point.r, point.Y)

    def _by_newton(self, point: _Point, long: np.ndarray) -> _Found | None:
        """|z_j| = 1 for the long rows, if there are enough of them to determine Y."""
        best, error = None, NEARLY
        work, r = point.work[long], point.r[long]
        for _ in range(NEWTON_STEPS):
            if work.size < len(self.rows):
                break
            try:
                trial = self.point(work, r)
                factor = linalg.cho_factor(trial.curvature)
            except linalg.LinAlgError:
                break
            off = float(np.abs(trial.slack).max())
            if off < error:
                best, error = trial, off
            elif best is not None:
                break  # no more digits to gain
            root = np.sqrt(r)
            r = r - root * linalg.cho_solve(factor, root * trial.slack)
            work, r = work[r > 0.0], r[r > 0.0]
        return None if best is None else _Found(best.work, best.x, best.r, best.Y, is_sharp=True)

    def _by_least_squares(self, point: _Point, long: np.ndarray) -> _Found | None:
        """x from the long rows alone, if they can do without the others."""
        work, x = point.work[long], point.x[long]
        U = self.rows[:, work]
        change, _, rank, _ = linalg.lstsq(U, self.target - U @ x, cond=DEPENDENT)
        x = x + change
        if np.linalg.norm(U @ x - self.target) > EXACT * np.linalg.norm(self.target):
            return None
        lengths = np.linalg.norm(x, axis=1)
        if rank < work.size or not lengths.all():
            return _Found(work, x, lengths, point.Y)  # several x are optimal: Y is not moved
        Y = point.Y + linalg.lstsq(U.T, x / lengths[:, None] - U.T @ point.Y)[0]
        return _Found(work, x, lengths, Y)


def _room(values: np.ndarray, step: np.ndarray) -> float:
    """How far one may go along step with values staying positive, at most 1."""
    falling = step < 0
    return min(1.0, TO_BOUNDARY * float(np.min(-values[falling] / step[falling], initial=np.inf)))


def _room_in_ball(Z: np.ndarray, step: np.ndarray) -> float:
    """How far one may go along step with all rows of Z staying shorter than 1, at most 1."""
    a = np.einsum("ij,ij->i", step, step)
    b = np.einsum("ij,ij->i", Z, step)
    c = 1.0 - np.einsum("ij,ij->i", Z, Z)
    # the positive root of a t^2 + 2 b t = c, without cancellation
    room = c / np.maximum(b + np.sqrt(b * b + a * c), TINY)
    return min(1.0, TO_BOUNDARY * float(room.min()))
