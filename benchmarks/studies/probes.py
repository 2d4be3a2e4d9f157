"""Single operations on the GPU: the computation, the bytes it must move, and CuPy's equivalent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.bench.graphs import BenchGraph
from semira.bench.traffic import Widths, bytes_of

#: Traffic of a push of a weighted matrix in FP32.
_PUSH = Widths(4, 4, 4)


@dataclass(slots=True, eq=False)
class Probed:
    """Operands of `PROBES` in one library, without those it does not support.

    Attributes
    ----------
    weighted, exact, pattern : Matrix, shape (n, n), FP32, FP64, BOOL
        A graph; the last one without stored values.
    small, lower : Matrix, FP32, BOOL
        The lighter half of its edges, its strictly lower triangle.
    dense, other, exact_dense : Vector, FP32, FP32, FP64
        Every entry present.
    some : Vector, FP32
        Every other entry.
    frontiers : list of Vector, FP32
        In the order of `FRONTIERS`.
    rows, cols, values : ndarray
        Entries in random order.
    """

    weighted: Any
    exact: Any
    small: Any
    dense: Any
    other: Any
    exact_dense: Any
    rows: Any
    cols: Any
    values: Any
    pattern: Any = None
    lower: Any = None
    some: Any = None
    frontiers: Any = None


@dataclass(frozen=True, slots=True)
class Probe:
    """An operation.

    Attributes
    ----------
    run : callable
        (module, operands) -> an object.
    reads : tuple of str
        Operands that it reads completely. Empty: the trace has the reads.
    peer : callable or None
        CuPy's operands -> the same result.
    is_heavy : bool
        Its work grows with the square of degrees: not for larger graphs.
    """

    run: Callable[[Any, Probed], Any]
    reads: tuple[str, ...] = ()
    peer: Callable[[Any], Any] | None = None
    is_heavy: bool = False


#: Name -> number of vertices of a frontier, given n.
FRONTIERS: dict[str, Callable[[int], int]] = {
    "1": lambda _n: 1,
    "1,000": lambda n: min(1_000, n),
    "n/100": lambda n: max(1, n // 100),
    "n/10": lambda n: max(1, n // 10),
}


def shuffled(graph: BenchGraph) -> tuple[Any, Any, Any]:
    """Return rows, columns and FP32 values of the entries in random order."""
    rows, cols, weights = graph.arrays.to_coo()
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order], cols[order], weights[order].astype(np.float32)


def dense_values(n: int) -> tuple[Any, Any]:
    """Return two arrays of random numbers between 0 and 1."""
    random = np.random.default_rng(1)
    return random.random(n), random.random(n)


def probed(gb: Any, graph: BenchGraph, device: str) -> Probed:
    """Return the operands on a Semira device."""
    arrays, n = graph.arrays.ordinary(), graph.n
    weighted = graph.matrix.dup("FP32")
    first, second = (each.astype(np.float32) for each in dense_values(n))
    random = np.random.default_rng(2)
    rows, cols, values = shuffled(graph)

    def placed(made: Any) -> Any:
        return made.to(device)

    def sparse(places: Any) -> Any:
        return placed(gb.Vector.from_coo(np.sort(places), first[np.sort(places)], size=n))

    pattern = gb.Matrix.from_csr(arrays.indptr, arrays.indices, True, ncols=n)
    return Probed(
        placed(weighted), placed(graph.matrix.dup("FP64")),
        placed(weighted.select("<=", 32.0).new()),
        placed(gb.Vector.from_dense(first)), placed(gb.Vector.from_dense(second)),
        placed(gb.Vector.from_dense(dense_values(n)[0])), rows, cols, values,
        placed(pattern), placed(pattern.select("tril", -1).new()), sparse(np.arange(0, n, 2)),
        [sparse(random.choice(n, count(n), replace=False)) for count in FRONTIERS.values()],
    )  # fmt: skip


def _push(which: int) -> Probe:
    return Probe(
        lambda gb, o: o.frontiers[which].vxm(o.weighted, gb.semiring.min_plus).new(
            direction="push"
        )
    )  # fmt: skip


def _masked_push(gb: Any, o: Probed) -> Any:
    made = gb.Vector("FP32", o.weighted.ncols)
    made(~o.some.S, replace=True, direction="push") << o.frontiers[-1].vxm(
        o.weighted, gb.semiring.min_plus
    )
    return made


def _assign(gb: Any, o: Probed) -> Any:
    made = gb.Vector("FP32", o.dense.size)
    made[:] << 1
    return made


def _assign_masked(_gb: Any, o: Probed) -> Any:
    made = o.dense.dup()
    made(o.some.S) << 1
    return made


def _masked_mxm(gb: Any, o: Probed) -> Any:
    made = gb.Matrix("INT64", *o.lower.shape)
    made(o.lower.S) << o.lower.mxm(o.lower.T, gb.semiring.plus_pair["INT64"])
    return made


def _build(gb: Any, o: Probed) -> Any:
    shape = {"nrows": o.weighted.nrows, "ncols": o.weighted.ncols}
    return gb.Matrix.from_coo(o.rows, o.cols, o.values, dup_op=gb.binary.plus, **shape)


def _pull(matrix: str, vector: str, semiring: str, **more: Any) -> Probe:
    def run(gb: Any, o: Probed) -> Any:
        product = getattr(o, matrix).mxv(getattr(o, vector), getattr(gb.semiring, semiring))
        return product.new(direction="pull")

    return Probe(run, (matrix, vector), **more)


#: Name to operation.
PROBES: dict[str, Probe] = {
    "mxv pull FP32": _pull("weighted", "dense", "plus_times", peer=lambda o: o.weighted @ o.dense),
    "mxv pull FP64": _pull(
        "exact", "exact_dense", "plus_times", peer=lambda o: o.exact @ o.exact_dense
    ),
    "mxv pull pattern": _pull("pattern", "dense", "plus_second"),
    **{f"vxm push {name}": _push(which) for which, name in enumerate(FRONTIERS)},
    "vxm push n/10 masked": Probe(_masked_push),
    "ewise_add vector": Probe(
        lambda gb, o: o.dense.ewise_add(o.some, gb.binary.plus).new(), ("dense", "some")
    ),
    "ewise_mult vector": Probe(
        lambda gb, o: o.dense.ewise_mult(o.other, gb.binary.times).new(),
        ("dense", "other"),
        lambda o: o.dense * o.other,
    ),
    "reduce vector": Probe(
        lambda gb, o: o.dense.reduce(gb.monoid.plus).new(), ("dense",), lambda o: o.dense.sum()
    ),
    "assign vector": Probe(_assign, (), lambda o: o.dense * 0 + 1),
    "assign vector masked": Probe(_assign_masked, ("dense", "some")),
    "select tril": Probe(lambda gb, o: o.weighted.select(gb.select.tril, -1).new(), ("weighted",)),
    "select value": Probe(
        lambda gb, o: o.weighted.select(gb.select.valuegt, 32.0).new(), ("weighted",)
    ),
    "ewise_add matrix": Probe(
        lambda gb, o: o.weighted.ewise_add(o.small, gb.binary.plus).new(),
        ("weighted", "small"),
        lambda o: o.weighted + o.small,
    ),
    "ewise_mult matrix": Probe(
        lambda gb, o: o.weighted.ewise_mult(o.small, gb.binary.times).new(),
        ("weighted", "small"),
        lambda o: o.weighted.multiply(o.small),
    ),
    "mxm masked": Probe(_masked_mxm, ("lower", "lower")),
    "mxm": Probe(
        lambda gb, o: o.small.mxm(o.small, gb.semiring.plus_times).new(),
        ("small", "small"),
        lambda o: o.small @ o.small,
        is_heavy=True,
    ),
    "build from_coo": Probe(_build, (), lambda o: o.build()),
}  # fmt: skip


def stored_bytes(thing: Any) -> int:
    """Return the bytes of an object's entries as a kernel reads or writes them once.

    A pattern has no values; a vector with every entry has no positions.
    """
    width: int = thing.dtype.itemsize
    if thing.ndim == 0:
        return width
    nvals = int(thing.nvals)
    if thing.ndim == 2:
        values = 0 if thing.dtype.name == "BOOL" else width
        return nvals * (4 + values) + 4 * (int(thing.nrows) + 1)
    return nvals * (width if nvals == thing.size else 4 + width)


def probe_bytes(probe: Probe, operands: Probed, result: Any, rows: list[Any]) -> int:
    """Return the bytes a probe must move: its operands and result, or the products of its trace."""
    if not probe.reads and rows:
        return sum(bytes_of(row, _PUSH) for row in rows)
    return sum(stored_bytes(getattr(operands, name)) for name in probe.reads) + stored_bytes(result)
