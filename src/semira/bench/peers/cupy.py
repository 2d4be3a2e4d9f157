"""CuPy's arrays, and cuSPARSE behind its sparse matrices, beside single operations on the GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from semira.bench.graphs import BenchGraph
from semira.bench.probes import Probed, dense_values, shuffled

try:
    import cupy
    from cupyx.scipy import sparse
except ImportError:
    # Nothing here is called then: the device it measures is not there either.
    cupy = sparse = None


class CupyOperands(Probed):
    """The operands that CuPy can hold."""

    __slots__ = ()

    def build(self) -> Any:
        """Return the matrix of entries that lie on the host, repeats added up."""
        places = cupy.asarray(self.rows), cupy.asarray(self.cols)
        made = sparse.coo_matrix((cupy.asarray(self.values), places), shape=self.weighted.shape)
        return made.tocsr()


def matrix_of(graph: BenchGraph, dtype: Any) -> Any:
    """Return the matrix by rows on the current device, its values cast."""
    arrays = graph.arrays.ordinary()
    values = cupy.asarray(arrays.entry_values().astype(dtype))
    indptr, indices = cupy.asarray(arrays.indptr), cupy.asarray(arrays.indices)
    return sparse.csr_matrix((values, indices, indptr), (graph.n, graph.n))


def cupy_operands(graph: BenchGraph) -> CupyOperands:
    """Return the operands on the current device."""
    arrays, weighted = graph.arrays.ordinary(), matrix_of(graph, np.float32)
    weights, light = arrays.entry_values(), arrays.to_coo()
    keep = weights <= 32
    rows, cols = (cupy.asarray(part[keep]) for part in light[:2])
    values = cupy.asarray(weights[keep].astype(np.float32))
    small = sparse.coo_matrix((values, (rows, cols)), shape=weighted.shape).tocsr()
    first, second = dense_values(graph.n)
    dense, other = (cupy.asarray(each.astype(np.float32)) for each in (first, second))
    return CupyOperands(
        weighted,
        matrix_of(graph, np.float64),
        small,
        dense,
        other,
        cupy.asarray(first),
        *shuffled(graph),
    )


def run_timed(
    call: Callable[[], Any], trials: int, batch: int = 1
) -> tuple[Any, list[float], list[float]]:
    """Return a result, and of each warm call the seconds of the host and of the device.

    A trial makes `batch` calls in a row and has the mean of them: the device then seldom waits
    for Python.
    """
    result, walls, times = call(), [], []
    for _ in range(trials):
        cupy.cuda.Device().synchronize()
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        clock = time.perf_counter()
        start.record()
        for _ in range(batch):
            call()
        end.record()
        end.synchronize()
        walls.append((time.perf_counter() - clock) / batch)
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3 / batch)
    return result, walls, times


def to_host(result: Any) -> Any:
    """Return a result as a NumPy array, a number, or (rows, columns, values) by rows."""
    if sparse.issparse(result):
        made = result.tocsr().get()
        made.sort_indices()
        rows = np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))
        return rows, made.indices, made.data
    return cupy.asnumpy(result)
