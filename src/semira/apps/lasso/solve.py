"""The choice of a solver, the primal-dual one, and the proof of either's result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import device_traits
from semira.apps.lasso.problem import SOLVERS, Problem
from semira.exceptions import InvalidValue
from semira.kernels import ArrayKernel, run_loop

_PLACE = "semira.apps.lasso.kernels:trend"
_STEP = ArrayKernel(_PLACE, "step", lanes=2)
_SETTLE = ArrayKernel(_PLACE, "settle", lanes=2)
_JOIN = ArrayKernel(_PLACE, "join", lanes=2)
_GATHER = ArrayKernel(_PLACE, "gather")
_LEVEL = ArrayKernel(_PLACE, "level")
_ENERGIES = ArrayKernel(_PLACE, "energies")
_FOLD = ArrayKernel(_PLACE, "fold")
_JUDGE = ArrayKernel(_PLACE, "judge")

#: Most ranges of vertices whose energies are summed one by one, least vertices of one, and groups
#: of ranges.
_PARTS, _RANGE, _GROUPS = 1 << 16, 16, 256

#: Steps of a round, an even number, and steps between two looks at the gap.
_ROUND, _OFTEN = 10, 50


@dataclass(frozen=True, slots=True)
class Pair:
    """A solution and the flow that bounds how good it is."""

    #: Array of float64, shape (n,).
    x: Any
    #: Array of float64. What each arc carries away from its row, within the limits.
    flow: Any
    #: `objective`, `gap`: `gap` is what the objective exceeds that of the dual problem by.
    objective: float
    gap: float
    steps: int = 0
    #: Times that the momentum was dropped.
    restarts: int = 0


def choose(solver: str, device: str) -> tuple[str, str]:
    """Return the solver, and why; raises InvalidValue if there is no such solver."""
    if solver not in ("auto", *SOLVERS):
        raise InvalidValue(f"solver={solver!r} must be one of auto, {', '.join(SOLVERS)}")
    if solver != "auto":
        return solver, "as asked for"
    if device_traits(device).own_memory:
        return "primal_dual", "a GPU takes thousands of its steps in one launch"
    return "cuts", "one thread of a host finds the exact solution with less work"


def descend(problem: Problem, tolerance: float, most: int) -> Pair:
    """Minimise by accelerated projected gradients on the dual problem.

    The flow u of ``min 0.5 |soft(y - D'u)|^2`` within its limits gives ``x = soft(y - D'u)``. A
    step goes by ``1 / (d_i + d_j)`` along the edge between vertices of these degrees; the momentum
    starts again when the dual objective falls. Vertices that edges below their limits join have
    equal values in the end: their means are a second fit, most often a far better one.
    """
    xp, n, arcs = problem.xp, problem.n, len(problem.indices)
    y, threshold, graph, flow = problem.y, problem.threshold, _graph(problem), xp.zeros(2 * arcs)
    x, betas = xp.zeros(2 * n), xp.zeros(_ROUND + 1)
    x[:n] = xp.sign(y) * xp.maximum(abs(y) - threshold, 0)
    rest, fits = xp.empty(n), xp.empty(2 * n)
    key, parts = xp.empty(n, xp.int32), xp.empty(n, xp.int32)
    sums, counts = xp.empty(n, xp.int64), xp.empty(n, xp.int64)
    degree, scale = xp.diff(problem.indptr).astype(xp.int32), float(2 ** (62 - n.bit_length()))
    lengths = 1 / xp.maximum(xp.arange(2 * (int(degree.max()) if n else 0) + 1), 1)
    state = xp.asarray([0, _ROUND, 0, 0], xp.int64)
    gate = state, _OFTEN
    steps = [
        _STEP.launch(
            n, n, arcs, *graph, degree, lengths, y, threshold, x, flow, betas, at, work=arcs
        )
        for at in range(_ROUND)
    ]
    fit = [
        _SETTLE.launch(
            n, problem.indptr, flow, y, threshold, rest, fits, key, sums, counts, *gate,
            work=arcs,
        ),
        _JOIN.launch(n, *graph, flow, key, *gate, work=arcs),
        _GATHER.launch(n, scale, rest, key, parts, sums, counts, *gate),
        _LEVEL.launch(n, n, scale, threshold, parts, sums, counts, fits, *gate),
    ]  # fmt: skip
    return _judged(problem, fits, flow, state, betas, steps + fit, _OFTEN, most, tolerance)


def certify(problem: Problem, x: Any, flow: Any) -> Pair:
    """Return a solution with its objective and the gap that a flow proves."""
    xp = problem.xp
    state = xp.zeros(4, xp.int64)
    return _judged(problem, xp.concatenate([x, x]), flow, state, xp.zeros(1), [], 1, 0, 0.0)


def _graph(problem: Problem) -> tuple[Any, Any, Any, int]:
    """Return the arcs, and limits: one, or those that vary from arc to arc."""
    limit = problem.limit
    if len(limit) and bool((limit == limit[0]).all()):
        return problem.indptr, problem.indices, limit[:1], 0
    return problem.indptr, problem.indices, limit, 1


def _judged(
    problem: Problem, fits: Any, flow: Any, state: Any, betas: Any, before: list[Any], often: int,
    most: int, tolerance: float,
) -> Pair:  # fmt: skip
    """Run kernels, and the sums of energies, until the better of two fits is good enough."""
    xp, n = problem.xp, problem.n
    count = max(1, min(_PARTS, n // _RANGE))
    groups = min(_GROUPS, count)
    parts, folded = xp.zeros(4 * count), xp.zeros(4 * groups)
    pace = xp.asarray([1.0, 0, 0, -np.inf])
    run_loop(
        state,
        *before,
        _ENERGIES.launch(
            count, n, count, *_graph(problem), flow, problem.y, problem.threshold, fits, parts,
            state, often, work=len(problem.indices),
        ),
        _FOLD.launch(4 * groups, count, groups, parts, folded, state, often),
        _JUDGE.launch(
            1, groups, folded, state, pace, betas, len(betas) - 1, often, most, tolerance
        ),
        device=problem.device,
    )  # fmt: skip
    _, steps, better, restarts = state.tolist()
    _, objective, gap, _ = pace.tolist()
    fit = fits[better * n : better * n + n]
    arcs = len(problem.indices)
    return Pair(fit, flow[:arcs], objective, gap, steps - len(betas) + 1, restarts)
