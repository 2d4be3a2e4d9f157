"""Single products of blocks of vectors: each level of an algorithm in every way.

The statements of the algorithms run one after another, so that a level's product can be repeated
on the operands that the previous level left.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.studies.frontiers import WAYS
from semira.bench.device import device_seconds
from semira.bench.timer import clock

#: Further ways under a mask that selects the results: by its entries, or by column.
NAMED_WAYS: dict[str, dict[str, Any]] = {"dots": {"method": "dot"}, "block": {"method": "pull"}}

#: Tolerance of sums in another order.
ROUNDING = 1e-9


@dataclass(slots=True)
class Levels:
    """The rows of one walk.

    Attributes
    ----------
    device : str
    trials : int
        Timed calls of each way at each level.
    exact : bool
        Results must be equal, not merely close.
    rows : list of dict
        For each product: the ``level``, its ``part`` of the algorithm, entries of the ``frontier``,
        its ``storage`` before the product and that of the result (``made``), whether the ways
        ``agree``, and of each way (`WAYS`; also `NAMED_WAYS` where they are) the seconds ``s``, the
        entries ``touched``, what ``ran`` and by which ``method``.
    """

    device: str
    trials: int
    exact: bool = True
    rows: list[dict[str, Any]] = field(default_factory=list)

    def product(self, frontier: Any, by: Callable[[Any], Any], mask: Any, part: str = "out") -> Any:
        """Return the masked product of the frontier by `by`, after adding a row on every way."""
        storage = storage_of(frontier)
        ways = WAYS if mask.complement else WAYS | NAMED_WAYS

        def step(pins: dict[str, Any]) -> Any:
            return by(frontier).new(mask=mask, **pins).wait()

        found = {way: self._in_one_way(step, pins) for way, pins in ways.items()}
        result = found["auto"][0]
        self.rows.append(
            {
                "level": sum(row["part"] == part for row in self.rows), "part": part,
                "frontier": int(frontier.nvals), "storage": storage, "made": found["auto"][1],
                "agree": all(alike(result, each[0], self.exact) for each in found.values()),
                **{way: each[2] for way, each in found.items()},
            }
        )  # fmt: skip
        return result

    def _in_one_way(
        self, step: Callable[[dict[str, Any]], Any], pins: dict[str, Any]
    ) -> tuple[Any, str, dict[str, Any]]:
        """Return the result, its storage, and the figures of one way."""
        import semira as gb

        with gb.tracing() as trace:
            result = step(pins)
        made, (ran,) = storage_of(result), trace.rows
        times = [_seconds(self.device, lambda: step(pins)) for _ in range(self.trials)]
        taken_s = round(statistics.median(times), 9)
        facts = {
            "s": taken_s, "touched": ran.touched, "ran": ran.direction, "method": ran.method
        }  # fmt: skip
        return result, made, facts


def storage_of(matrix: Any) -> str:
    """Return ``rows``, ``block`` or ``both``: how the device stores a matrix.

    A device that keeps no blocks between products has rows.
    """
    usage = matrix.memory_usage()
    if not usage.get("block"):
        return "rows"
    return "both" if usage.get("buffers") else "block"


def alike(first: Any, second: Any, exact: bool) -> bool:
    """Return whether two matrices or vectors have the same entries, up to rounding if inexact."""
    same = first.isequal(second) if exact else first.isclose(second, rel_tol=ROUNDING)
    return bool(same)


def _seconds(device: str, call: Callable[[], Any]) -> float:
    """Return the seconds of the launches of a call, or of the whole call without a device clock."""
    on_device = device_seconds(device, call)
    return clock(call)[1] if on_device is None else on_device


def _starts(matrix: Any, sources: Sequence[int], value: Any, dtype: Any = None) -> Any:
    """Return a matrix with a row for each source and an entry at it."""
    import semira as gb

    shape = {"nrows": len(sources), "ncols": matrix.nrows}
    made = gb.Matrix.from_coo(np.arange(len(sources)), sources, value, dtype, **shape)
    return made.to(matrix.device)


def walk_searches(matrix: Any, sources: Sequence[int], levels: Levels) -> None:
    """Search breadth-first from `sources`."""
    import semira as gb

    any_pair = gb.semiring.any_pair["BOOL"]
    frontier = _starts(matrix, sources, True)
    seen = frontier.dup()
    while frontier.nvals:
        frontier = levels.product(frontier, lambda f: f.mxm(matrix, any_pair), ~seen.S)
        seen(frontier.S) << True


def walk_centrality(matrix: Any, sources: Sequence[int], levels: Levels) -> None:
    """Count shortest paths from `sources` forwards, then gather dependencies backwards."""
    import semira as gb

    plus_first = gb.semiring.plus_first["FP64"]
    frontier, seen = _starts(matrix, sources, 1.0), _starts(matrix, sources, True)
    found = []
    while frontier.nvals:
        found.append(frontier)
        frontier = levels.product(frontier, lambda f: f.mxm(matrix, plus_first), ~seen.S)
        seen(frontier.S) << True
    share = found[-1].apply(gb.unary.minv).new()
    for paths in reversed(found[1:-1]):
        gained = levels.product(share, lambda f: f.mxm(matrix.T, plus_first), paths.S, "back")
        share = paths.apply(gb.unary.minv).ewise_add(gained).new()


def walk_paths(matrix: Any, sources: Sequence[int], levels: Levels) -> None:
    """Relax distances from `sources` until none decreases; weights are nonnegative."""
    import semira as gb

    lengths = matrix.dup("FP64")
    min_plus = gb.semiring.min_plus["FP64"]
    active = _starts(matrix, sources, 0, "FP64")
    selves, distance = active.dup(), active.dup()
    while active.nvals:
        reached = levels.product(active, lambda f: f.mxm(lengths, min_plus), ~selves.S)
        worse = reached.ewise_mult(distance, gb.binary.ge).new()
        active(~worse.V, replace=True) << reached
        distance(active.S) << active
