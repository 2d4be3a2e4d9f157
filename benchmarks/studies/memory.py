"""Measure the peak memory of building, transposing and multiplying.

The peak counts all allocations of Semira and the operands, but not arrays passed by the caller;
it is compared with the arrays of the matrix by rows and by columns.

Examples
--------
python -m benchmarks memory --quick
python -m benchmarks memory --graphs kron:18 --only build,transpose --most 1.6
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness import Options, Say, Study, graphs, option
from benchmarks.studies.selection import choose_cases
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.formats import MatrixArrays
from semira.generators import is_generator_spec


@dataclass(slots=True, eq=False)
class Prepared:
    """One case, ready to be measured once.

    Attributes
    ----------
    run : callable
        Returns every object that it makes.
    arrays : MatrixArrays
        The matrix by rows; the peak is divided by twice its bytes.
    operands : tuple of Matrix and Vector
        Semira objects made before `run`; they count, but arrays passed by the caller do not.
    check : callable or None
        Whether the objects returned by `run` are right.
    """

    run: Callable[[], Any]
    arrays: MatrixArrays
    operands: tuple[Any, ...] = ()
    check: Callable[[Any], bool] | None = None


def _shuffled(arrays: MatrixArrays) -> tuple[Any, Any, Any]:
    """Return the entries in random order, positions in the dtype python-graphblas uses."""
    rows, cols, values = arrays.to_coo()
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order].astype(np.uint64), cols[order].astype(np.uint64), values[order]


def _iso(arrays: MatrixArrays) -> MatrixArrays:
    return replace(arrays, values=arrays.values[:1], iso=True)


def _is_pattern_of(made: Any, arrays: MatrixArrays) -> bool:
    indptr, indices, _ = made.to_csr()
    return np.array_equal(indptr, arrays.indptr) and np.array_equal(indices, arrays.indices)


def _is_equal(made: Any, arrays: MatrixArrays) -> bool:
    return _is_pattern_of(made, arrays) and np.array_equal(made.to_csr()[2], arrays.values)


def _placed(graph: BenchGraph) -> tuple[Any, MatrixArrays]:
    """Return an FP64 matrix by rows, not marked as symmetric, and its arrays."""
    from semira import Matrix
    from semira.io import arrays_of

    rows = graph.arrays
    made = Matrix.from_csr(rows.indptr, rows.indices, rows.values.astype(np.float64), ncols=graph.n)
    arrays = arrays_of(made)
    return made.to("cpu"), arrays


def _build(graph: BenchGraph, copies: int = 1) -> Prepared:
    """Prepare a build in which each entry occurs `copies` times."""
    from semira import Matrix

    rows, cols, values = (np.tile(part, copies) for part in _shuffled(graph.arrays))
    shape: dict[str, Any] = {"nrows": graph.n, "ncols": graph.n}
    return Prepared(
        lambda: Matrix.from_coo(rows, cols, values, dup_op="first", **shape),
        graph.arrays,
        check=lambda made: _is_equal(made, graph.arrays),
    )


def _build_iso(graph: BenchGraph) -> Prepared:
    from semira import Matrix

    rows, cols, _ = _shuffled(graph.arrays)
    shape: dict[str, Any] = {"nrows": graph.n, "ncols": graph.n}
    return Prepared(
        lambda: Matrix.from_coo(rows, cols, 1.0, **shape),
        _iso(graph.arrays),
        check=lambda made: _is_pattern_of(made, graph.arrays),
    )


def _read(graph: BenchGraph) -> Prepared:
    from semira.io import arrays_of, read

    made = arrays_of(read(graph.name))
    return Prepared(lambda: read(graph.name), made, check=lambda again: _is_pattern_of(again, made))


def _transpose(graph: BenchGraph) -> Prepared:
    matrix, arrays = _placed(graph)
    return Prepared(matrix.T.new, arrays, (matrix,), lambda made: _is_equal(made.T.new(), arrays))


def _both_products(graph: BenchGraph) -> Prepared:
    from semira import Vector

    matrix, arrays = _placed(graph)
    vector = Vector.from_dense(np.ones(graph.n)).to("cpu")
    return Prepared(
        lambda: (matrix.mxv(vector).new(), vector.vxm(matrix).new()), arrays, (matrix, vector)
    )


def _select(graph: BenchGraph) -> Prepared:
    matrix, arrays = _placed(graph)
    return Prepared(lambda: matrix.select("tril").new(), arrays, (matrix,))


def _algorithm(name: str, **options: Any) -> Callable[[BenchGraph], Prepared]:
    def prepare(graph: BenchGraph) -> Prepared:
        from semira import algorithms

        run, (matrix, arrays) = getattr(algorithms, name), _placed(graph)
        return Prepared(lambda: run(matrix, **options), arrays, (matrix,))

    return prepare


#: Case -> its preparation. "read" needs a generator's name, since it generates the edges too.
CASES: dict[str, Callable[[BenchGraph], Prepared]] = {
    "build": _build,
    "build repeats": lambda graph: _build(graph, copies=2),
    "build iso": _build_iso,
    "read": _read,
    "transpose": _transpose,
    "mxv and vxm": _both_products,
    "select tril": _select,
    "bfs": _algorithm("bfs", source=0),
    "sssp": _algorithm("sssp", source=0),
    "pagerank": _algorithm("pagerank"),
}


@dataclass(frozen=True, slots=True)
class MemoryOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:16", "kron:18"), quick=("kron:12",))
    only: Sequence[str] = option((), "Parts of names of cases.")
    most: float | None = option(
        None, "Exit with 1 if a peak exceeds this multiple of rows and columns.", least=0.0
    )


def peak_of(prepare: Callable[[], Prepared]) -> tuple[int, bool | None]:
    """Return the peak of one call in bytes, operands included, and whether it was right.

    An unmeasured first call on other objects compiles the code.

    Parameters
    ----------
    prepare : callable
        Returns equal cases on fresh objects.

    Notes
    -----
    Counts allocations of NumPy and Python (`tracemalloc`); kernels themselves allocate nothing as
    large as a matrix. Slower than the call alone.
    """
    prepare().run()
    case = prepare()
    held = sum(sum(operand.memory_usage().values()) for operand in case.operands)
    gc.collect()
    is_mine = not tracemalloc.is_tracing()
    if is_mine:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        made = case.run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if is_mine:
            tracemalloc.stop()
    return held + peak - before, None if case.check is None else case.check(made)


def points(options: MemoryOptions, xp: Any, say: Say) -> Iterator[tuple[str, Any, BenchGraph]]:
    """Yield each graph with each case.

    Raises
    ------
    InvalidValue
        No case has a requested name.
    """
    cases = choose_cases(CASES, options.only, "case")
    return (
        (name, case, graph)
        for graph in graphs(options, xp, say)
        for name, case in cases.items()
        if name != "read" or is_generator_spec(graph.name)
    )


def trial(_options: MemoryOptions, point: tuple[str, Any, BenchGraph]) -> Iterator[Record]:
    """Measure the peak of one case on the cpu device."""
    import semira

    name, case, graph = point
    with semira.device("cpu"):
        yield _measure(name, case, graph)


def _measure(name: str, case: Callable[[BenchGraph], Prepared], graph: BenchGraph) -> Record:
    peak, is_right = peak_of(lambda: case(graph))
    arrays = case(graph).arrays
    record = Record("memory", name, graph.dataset, "semira", "cpu", arrays.dtype.name)
    return replace(
        record,
        peak_bytes=peak,
        arrays_bytes=2 * arrays.nbytes,
        verified=is_right,
        verified_by="" if is_right is None else "the arrays it was made from",
        note="" if is_right is not False else "another matrix",
    )


def too_large(options: MemoryOptions, records: Sequence[Record]) -> Iterator[str]:
    """Yield a complaint for each peak above the limit."""
    for record in records:
        if options.most is not None and (record.memory_ratio or 0) > options.most:
            name = f"{record.dataset.name} {record.kernel}"
            yield f"{name}: {record.memory_ratio:.2f} exceeds {options.most:g}"


STUDY = Study(__doc__, MemoryOptions, trial, points=points, objections=too_large)
