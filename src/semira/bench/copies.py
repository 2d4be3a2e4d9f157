"""What a device keeps of a matrix beside its rows: the time to make each copy, and its bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from semira.algorithms.oriented_edges import oriented_edges
from semira.backends.registry import backend_for
from semira.base.errors import GraphblasException
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record, without_result
from semira.bench.timer import clock

#: Times that a copy is made again, or fewer if that takes longer than so many seconds.
_BUILDS, _BUILD_S = 3, 2.0

#: What an algorithm keeps of a graph: the name of the record.
ORIENTED = "oriented edges"

#: The rows themselves.
ROWS = "put rows"


def measure_copies(graph: BenchGraph, device: str, blank: Record) -> list[Record]:
    """Return records of what a matrix keeps on the device, made one by one.

    The rows, then what the backend's `copies` names, each at a matrix that has its rows alone;
    ``arrays_bytes`` is what stays, with what else was made on the way. Columns are made as of a
    matrix that nobody knows to be symmetric: they are sorted, then compared with the rows. Last the
    oriented edges of triangle counting, of the undirected graph. A copy that the device refuses to
    make has a note, and the time that it took to find out.
    """
    copies = [*_of_backend(graph, device, blank), _of_triangles(graph, device, blank)]
    return [replace(each, kind="copy", library="semira", backend=device) for each in copies]


def _of_backend(graph: BenchGraph, device: str, blank: Record) -> list[Record]:
    backend: Any = backend_for(device)
    arrays = replace(graph.arrays.ordinary(), symmetric=None)
    records: dict[str, Record] = {}
    for _ in _builds():
        rows, put_s = clock(partial(_complete, backend, partial(backend.put, arrays)))
        held = _held(rows)
        _add(records, replace(blank, kernel=ROWS), put_s, held)
        for name, step in backend.copies().items():
            # Arrays are shared with `rows`; what is kept is not.
            handle = backend.convert(rows, "copy")
            case = partial(_attempt, replace(blank, kernel=name), partial(step, handle), backend)
            tried, step_s = clock(case)
            _add(records, tried, step_s, _held(handle) - held)
            backend.release(handle)
        backend.release(rows)
    return list(records.values())


def _of_triangles(graph: BenchGraph, device: str, blank: Record) -> Record:
    used = graph.undirected
    records: dict[str, Record] = {}
    for _ in _builds():
        matrix = used.matrix.to(device)
        matrix.wait()
        make = partial(oriented_edges, matrix, symmetric=True, order="auto")
        _, made_s = clock(partial(_complete, backend_for(device), make))
        kept = matrix.memory_usage()["derived"]
        _add(records, replace(blank, kernel=ORIENTED, dataset=used.dataset), made_s, kept)
    return records[ORIENTED]


def _builds() -> Iterator[int]:
    """Count the builds: the first one, one warm one, and more as long as there is time."""
    start_s = time.perf_counter()
    for build in range(1 + _BUILDS):
        if build > 1 and time.perf_counter() - start_s > _BUILD_S:
            return
        yield build


def _add(records: dict[str, Record], blank: Record, taken_s: float, kept: int) -> None:
    """Put a time into the record of a copy, the first one apart."""
    before = records.get(blank.kernel)
    if before is None:
        note = blank.note or ("" if kept else "of no use")
        records[blank.kernel] = replace(blank, first_s=taken_s, arrays_bytes=kept, note=note)
    else:
        records[blank.kernel] = replace(before, warm_s=[*before.warm_s, taken_s])


def _attempt(blank: Record, step: Callable[[], Any], backend: Any) -> Record:
    """Return the record of a copy after it was made, or with a note that says why it was not."""
    try:
        _complete(backend, step)
    except GraphblasException as error:
        return without_result(blank, error)
    return blank


def _held(handle: Any) -> int:
    return sum(handle.memory_usage().values())


def _complete(backend: Any, step: Callable[[], Any]) -> Any:
    made = step()
    backend.synchronise()
    return made
