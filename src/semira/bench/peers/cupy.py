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


def spmm_call(matrix: Any, dense: Any, *, by_columns: bool) -> Callable[[], Any]:
    """Return a call of cuSPARSE's product of a sparse matrix by rows with a dense one.

    Both dense matrices lie row by row, or column by column: CuPy itself offers the latter alone.

    Parameters
    ----------
    matrix : `semira.bench.spmm.Sparse`
    dense : ndarray of float32
    """
    from cupy_backends.cuda.libs import cusparse
    from cupyx import cusparse as wrapped

    order = "F" if by_columns else "C"
    parts = [cupy.asarray(part) for part in (matrix.values, matrix.indices, matrix.indptr)]
    left = sparse.csr_matrix(tuple(parts), matrix.shape)
    right = cupy.asarray(dense, order=order)
    made = cupy.empty((matrix.shape[0], dense.shape[1]), np.float32, order=order)
    layout = cusparse.CUSPARSE_ORDER_COL if by_columns else cusparse.CUSPARSE_ORDER_ROW
    kind = 0  # CUDA_R_32F

    def described(array: Any) -> Any:
        step = array.shape[0] if by_columns else array.shape[1]
        return cusparse.createDnMat(*array.shape, step, array.data.ptr, kind, layout)

    sparse_left = wrapped.SpMatDescriptor.create(left)
    dense_right, dense_made = described(right), described(made)
    one, none = np.ones(1, np.float32), np.zeros(1, np.float32)
    plain = cusparse.CUSPARSE_OPERATION_NON_TRANSPOSE
    handle = cupy.cuda.device.get_cusparse_handle()
    given = (
        handle, plain, plain, one.ctypes.data, sparse_left.desc, dense_right, none.ctypes.data,
        dense_made, kind, cusparse.CUSPARSE_SPMM_ALG_DEFAULT,
    )  # fmt: skip
    room = cupy.empty(max(1, cusparse.spMM_bufferSize(*given)), np.int8)

    def call() -> Any:
        cusparse.spMM(*given, room.data.ptr)
        return made

    return call
