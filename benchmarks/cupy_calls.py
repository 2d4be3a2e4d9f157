"""CuPy's arrays, and cuSPARSE through its sparse matrices, as peers of single operations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.studies.probes import Probed, dense_values, shuffled
from semira.bench.device import hold
from semira.bench.environment import version_of
from semira.bench.graphs import BenchGraph

try:
    import cupy
    from cupyx.scipy import sparse
except ImportError:
    # Without CuPy nothing here is called: there is no device to measure.
    cupy = sparse = None


class CupyOperands(Probed):
    """The operands that CuPy can hold."""

    __slots__ = ()

    def build(self) -> Any:
        """Return the matrix of entries on the host; duplicates are summed."""
        places = cupy.asarray(self.rows), cupy.asarray(self.cols)
        made = sparse.coo_matrix((cupy.asarray(self.values), places), shape=self.weighted.shape)
        return made.tocsr()


def matrix_of(graph: BenchGraph, dtype: Any) -> Any:
    """Return the matrix by rows on the current device, with its values cast."""
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
    """Return a result, and the host's and the device's seconds of each warm call.

    A trial is the mean of `batch` calls in a row, so that the device seldom waits for Python.
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


#: Algorithms of cuSPARSE's product, by the numbers of ``cusparseSpMMAlg_t``: CuPy has no names for
#: the newer ones. NVIDIA recommends the second where the dense matrices lie row by row.
SPMM_ALGORITHMS = {"default": 0, "csr_alg2": 6}

#: ``CUDA_R_32F``.
_FP32 = 0


def spmm_calls(matrix: Any, dense: Any, *, by_columns: bool) -> dict[str, Callable[[], Any]]:
    """Return calls of cuSPARSE's product of a sparse matrix by rows with a dense one, by algorithm.

    Both dense matrices lie row by row, or column by column: CuPy itself offers the latter alone.

    Parameters
    ----------
    matrix : `benchmarks.studies.spmm.Sparse`
    dense : ndarray of float32
    """
    names = ("default",) if by_columns else tuple(SPMM_ALGORITHMS)
    return {name: _spmm_call(matrix, dense, by_columns, SPMM_ALGORITHMS[name]) for name in names}


def _spmm_call(matrix: Any, dense: Any, by_columns: bool, algorithm: int) -> Callable[[], Any]:
    """Return a call that makes its operands on first use and keeps them."""
    made: list[Any] = []

    def call() -> Any:
        if not made:
            made.append(_SparseTimesDense(matrix, dense, by_columns, algorithm))
        return made[0].run()

    return call


def square_calls(matrix: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return calls of cuSPARSE's product of a matrix with itself, unsorted and sorted.

    Parameters
    ----------
    matrix : `benchmarks.studies.spmm.Sparse`
    """
    parts = [cupy.asarray(part) for part in (matrix.values, matrix.indices, matrix.indptr)]
    held = sparse.csr_matrix(tuple(parts), matrix.shape)

    def in_order() -> Any:
        made = held @ held
        made.sort_indices()
        return made

    return lambda: held @ held, in_order


class _SparseTimesDense:
    """One prepared product: it owns all arrays, since cuSPARSE keeps only addresses."""

    def __init__(self, matrix: Any, dense: Any, by_columns: bool, algorithm: int) -> None:
        from cupy_backends.cuda.libs import cusparse
        from cupyx import cusparse as wrapped

        order = "F" if by_columns else "C"
        parts = [cupy.asarray(part) for part in (matrix.values, matrix.indices, matrix.indptr)]
        self.left = sparse.csr_matrix(tuple(parts), matrix.shape)
        self.right = cupy.asarray(dense, order=order)
        self.made = cupy.empty((matrix.shape[0], dense.shape[1]), np.float32, order=order)
        layout = cusparse.CUSPARSE_ORDER_COL if by_columns else cusparse.CUSPARSE_ORDER_ROW

        def described(array: Any) -> Any:
            step = array.shape[0] if by_columns else array.shape[1]
            found = cusparse.createDnMat(*array.shape, step, array.data.ptr, _FP32, layout)
            return wrapped.DnMatDescriptor(found, cusparse.dnMatGet, cusparse.destroyDnMat)

        self.descriptors = (
            wrapped.SpMatDescriptor.create(self.left), described(self.right), described(self.made),
        )  # fmt: skip
        self.one, self.none = np.ones(1, np.float32), np.zeros(1, np.float32)
        plain = cusparse.CUSPARSE_OPERATION_NON_TRANSPOSE
        left, right, result = (each.desc for each in self.descriptors)
        self.given = (
            cupy.cuda.device.get_cusparse_handle(), plain, plain, self.one.ctypes.data, left, right,
            self.none.ctypes.data, result, _FP32, algorithm,
        )  # fmt: skip
        self.room = cupy.empty(max(1, cusparse.spMM_bufferSize(*self.given)), np.int8)
        self._multiply = cusparse.spMM

    def run(self) -> Any:
        """Start the product; return the array of its result."""
        self._multiply(*self.given, self.room.data.ptr)
        return self.made


def spmv_call(matrix: Any, vector: Any) -> Callable[[], Any]:
    """Return a call of cuSPARSE's product of a sparse matrix by rows with a vector, by CuPy."""
    parts = [cupy.asarray(part) for part in (matrix.values, matrix.indices, matrix.indptr)]
    left, right = sparse.csr_matrix(tuple(parts), matrix.shape), cupy.asarray(vector)
    return lambda: left @ right


def dense_call(matrix: Any, operand: Any) -> Callable[[], Any]:
    """Return a call of cuBLAS's product of arrays, by CuPy, which computes FP32 in FP32."""
    left, right = cupy.asarray(matrix), cupy.asarray(operand)
    return lambda: left @ right


# times without the host --------------------------------------------------------------------------
#: Calls queued while a kernel blocks the stream.
QUEUED = 10


def run_queued(call: Callable[[], Any], trials: int) -> tuple[Any, list[float], list[float]]:
    """Return a result, and for each trial the seconds of a whole call and of the device per call.

    Device seconds are the mean of calls that were all queued before the first one started, so that
    Python's time does not count, however short the calls are.
    """
    device, stream = cupy.cuda.Device(), cupy.cuda.get_current_stream()
    result, walls, times = call(), [], []
    for _ in range(trials):
        device.synchronize()
        clock = time.perf_counter()
        call()
        device.synchronize()
        walls.append(time.perf_counter() - clock)
    for _ in range(trials):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        hold(cupy, stream, 2 * QUEUED * max(walls))
        start.record()
        for _ in range(QUEUED):
            call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3 / QUEUED)
    return result, walls, times


def product_peer(
    device: str, say: Callable[[str], None], *, cusparse: Any, scipy: Any, wanted: bool = True
) -> Any:
    """Return the timer of a peer's product: cuSPARSE's on the GPU, SciPy's on the host, or None."""
    if not wanted:
        return None
    if device != "cuda":
        return scipy
    if version_of("cupy-cuda13x") is None:
        say("peer cupy: not installed")
        return None
    return cusparse
