"""Programs with loops that algorithms run, planned for the GPU."""

from __future__ import annotations

from functools import cache
from typing import Any

import semira as gb
from semira.contract import Loop, Program
from semira.engine.explain import plan_for


@cache
def looping_program(name: str, **options: Any) -> Program:
    """Return the last program with a loop that an algorithm runs, planned for cuda.

    It is recorded on another device, so it follows what the algorithm says today.
    """
    with gb.device("reference"), gb.tracing() as traced:
        graph = gb.io.read("kron:4").dup("FP32")
        places = (0,) if name in ("bfs", "sssp") else ()
        getattr(gb.algorithms, name)(graph, *places, **options)
    found = [p for p in traced.programs if any(isinstance(item, Loop) for item in p.body)]
    return plan_for(found[-1], "cuda")
