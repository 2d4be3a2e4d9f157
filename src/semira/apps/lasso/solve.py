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
_SET = ArrayKernel(_PLACE, "place")
_STEP = ArrayKernel(_PLACE, "step")
_ENERGIES = ArrayKernel(_PLACE, "energies")
_JUDGE = ArrayKernel(_PLACE, "judge")

#: Ranges of vertices whose energies are summed one by one; `kParts` in the kernel.
_PARTS = 1024

#: Steps between two looks at the gap.
_OFTEN = 25


@dataclass(frozen=True, slots=True)
class Pair:
    """A solution and the flow that bounds how good it is.

    Attributes
    ----------
    x : array of float64, shape (n,)
    flow : array of float64
        What each arc carries away from its row, within the limits.
    objective, gap : float
        `gap` is what the objective exceeds that of the dual problem by.
    steps : int
    restarts : int
        Times that the momentum was dropped.
    """

    x: Any
    flow: Any
    objective: float
    gap: float
    steps: int = 0
    restarts: int = 0


def choose(solver: str, device: str) -> tuple[str, str]:
    """Return the solver, and why.

    Raises
    ------
    InvalidValue
        There is no such solver.
    """
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
    starts again when the gap grows.
    """
    xp, n = problem.xp, problem.n
    flow, ahead = xp.zeros(len(problem.indices)), xp.zeros(len(problem.indices))
    x, fit, parts = xp.empty(n), xp.empty(n), xp.zeros(2 * _PARTS)
    state, pace = xp.zeros(4, xp.int64), xp.asarray([1.0, 0.0, 0.0, 0.0, np.inf])
    y, threshold, work = problem.y, problem.threshold, len(problem.indices)
    run_loop(
        state,
        _SET.launch(n, problem.indptr, ahead, y, threshold, x, state, 1, work=work),
        _STEP.launch(
            n, problem.indptr, problem.indices, problem.limit, x, ahead, flow, pace, work=work
        ),
        _SET.launch(n, problem.indptr, flow, y, threshold, fit, state, _OFTEN, work=work),
        _energies(problem, flow, fit, parts, state, _OFTEN),
        _JUDGE.launch(1, parts, state, pace, _OFTEN, most, tolerance),
        device=problem.device,
    )  # fmt: skip
    return _pair(fit, flow, state, pace)


def certify(problem: Problem, x: Any, flow: Any) -> Pair:
    """Return a solution with its objective and the gap that a flow proves."""
    xp = problem.xp
    parts, state, pace = xp.zeros(2 * _PARTS), xp.zeros(4, xp.int64), xp.zeros(5)
    run_loop(
        state,
        _energies(problem, flow, x, parts, state, 1),
        _JUDGE.launch(1, parts, state, pace, 1, 0, 0.0),
        device=problem.device,
    )
    return _pair(x, flow, state, pace)


def _energies(problem: Problem, flow: Any, x: Any, parts: Any, state: Any, often: int) -> Any:
    return _ENERGIES.launch(
        _PARTS, problem.n, problem.indptr, problem.indices, problem.limit, flow, problem.y,
        problem.threshold, x, parts, state, often, work=len(problem.indices),
    )  # fmt: skip


def _pair(x: Any, flow: Any, state: Any, pace: Any) -> Pair:
    _, steps, _, restarts = state.tolist()
    _, _, objective, gap, _ = pace.tolist()
    return Pair(x, flow, objective, gap, steps - 1, restarts)
