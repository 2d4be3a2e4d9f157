"""Huge objects: a search of a huge graph, and a store of the cpu that checks what it makes."""

from __future__ import annotations

from typing import Any

import semira as gb
from semira.backends.cpu.huge import _Store


def recorded_levels(A: gb.Matrix, source: int) -> gb.Vector:
    """Return hops from `source` by a recorded loop, whatever the size of the matrix."""
    level = gb.Vector(int, A.nrows)
    frontier = gb.Vector.from_coo([source], True, size=A.nrows)
    depth = gb.Scalar.from_value(0)

    def step() -> Any:
        level(frontier.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
        return frontier.nvals > 0

    gb.repeat(step)
    return level


class CheckedStore(_Store):
    """Ordinary objects of the cpu backend, each of which is checked."""

    def moved(self, thing: Any, shape: Any, places: Any, entries: Any) -> Any:
        made = super().moved(thing, shape, places, entries)
        self.get(made).validate()
        return made
