"""Results computed from a matrix, cached with it until the matrix is written."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from semira.engine import recording
from semira.engine.values import Value
from semira.frontend.collection import Collection

Result = TypeVar("Result")

#: Marks these results among the facts of a matrix.
_DERIVED = object()


def derived(matrix: Value, key: Hashable, make: Callable[[], Result]) -> Result:
    """Return the result cached under `key`, or compute it; see `Matrix.derived`."""
    recording.refuse_host_read("derived makes something at once", "do it before the loop")
    if matrix.lean is not None:
        return make()
    place = (_DERIVED, matrix.device, key)
    # Taken before anything is made: whoever writes the matrix meanwhile puts others in its place.
    known: dict[Any, Any] = matrix.facts
    if place not in known:
        known[place] = make()
    found: Result = known[place]
    return found


def derived_usage(matrix: Value) -> dict[str, int]:
    """Return the bytes of all cached results under one name; an empty dict without any."""
    made = [each for place, each in matrix.facts.items() if place[0] is _DERIVED]
    several = (tuple, list)
    parts = [part for each in made for part in (each if isinstance(each, several) else (each,))]
    sizes = [sum(x.memory_usage().values()) for x in parts if isinstance(x, Collection)]
    sizes += [x.nbytes for x in parts if isinstance(x, np.ndarray)]
    return {"derived": sum(sizes)} if sizes else {}
