"""Checks of walks, and what they read of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.apps.arrays import per_vertex
from semira.apps.sampling.problem import check_int, keys_of
from semira.apps.sampling.weights import running_totals
from semira.exceptions import InvalidValue
from semira.kernels import ArrayKernel, rows_of

#: Ways to choose the next vertex.
KINDS = ("uniform", "greedy", "stochastic_greedy", "biased", "node2vec")

#: What is kept of a walk.
KEPT = ("paths", "ends", "counts")

#: A walk by rejection may take up to so many trials a step.
_MOST_TRIALS = 10_000

_best = ArrayKernel("semira.apps.walks.kernels:walk", "best_neighbours", lanes=32)


@dataclass(frozen=True, slots=True)
class Walks:
    """What is asked for, checked."""

    kind: str
    #: Vertices of a walk, its start included.
    length: int
    walks_per_vertex: int
    p: float
    q: float
    restart: float
    #: Of the random numbers.
    key: int
    keep: str


def checked(
    kind: str,
    length: int,
    walks_per_vertex: int,
    p: float,
    q: float,
    restart: float,
    seed: int,
    keep: str,
) -> Walks:
    """Return what is asked for; raises InvalidValue if a parameter is out of its range."""
    if kind not in KINDS:
        raise InvalidValue(f"kind={kind!r} must be one of {', '.join(KINDS)}")
    if keep not in KEPT:
        raise InvalidValue(f"keep={keep!r} must be one of {', '.join(KEPT)}")
    if not 0 <= _number(restart, "restart") < 1:
        raise InvalidValue(f"restart={restart} must be from 0 up to, but not including, 1")
    if not 0 < _number(p, "p") < np.inf:
        raise InvalidValue(f"p={p} must be a positive number")
    if not 0 < _number(q, "q") <= _MOST_TRIALS:
        raise InvalidValue(
            f"q={q} must be positive and at most {_MOST_TRIALS}: a step may take q trials"
        )
    return Walks(
        kind,
        check_int(length, "length", 1),
        check_int(walks_per_vertex, "walks_per_vertex", 1),
        float(p),
        float(q),
        float(restart),
        keys_of(seed, 1)[0],
        keep,
    )


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InvalidValue(f"{name}={value!r} must be a number")
    return float(value)


@dataclass(frozen=True, slots=True)
class Ground:
    """The arrays that walkers read."""

    indptr: Any
    indices: Any
    #: Array of int64. Running totals of weights, or one 0.
    running: Any
    #: Best neighbour of each vertex, or one 0.
    best: Any


def ground_of(A: Any, walks: Walks, scores: Any, weighted: bool, xp: Any) -> Ground:
    """Return what walkers read of a matrix.

    Raises InvalidValue, DomainMismatch, DimensionMismatch, InvalidWeight or NegativeWeight if
    scores or weights are missing, of another length, or not such as the kind of walk needs.
    """
    by_score = walks.kind in ("greedy", "stochastic_greedy")
    if (scores is not None) != by_score:
        needed = "needs scores=, a number for each vertex" if by_score else "reads no scores"
        raise InvalidValue(f"a {walks.kind} walk {needed}")
    by_weight = walks.kind == "biased" or (walks.kind == "node2vec" and weighted)
    rows = rows_of(A, values=by_weight)
    running = best = xp.zeros(1, xp.int64)
    if by_weight:
        running = running_totals(xp, rows.indptr, rows.values, "weights", A.device)
    if by_score:
        scores = per_vertex(scores, A.nrows, "scores", xp, A.device, finite=True)
        if walks.kind == "greedy":
            best = xp.empty(A.nrows, rows.indices.dtype)
            given = (rows.indptr, rows.indices, scores)
            _best(A.nrows, *given, best, device=A.device, work=A.nvals)
        else:
            weights = scores[rows.indices]
            running = running_totals(xp, rows.indptr, weights, "scores", A.device)
    return Ground(rows.indptr, rows.indices, running, best)
