"""Measure products with a full vector on every family of matrices, compared with cuSPARSE.

plus_times in FP32, and plus_second of a pattern without values, compared with the least time for
their bytes. Families: R-MAT, web, road, grid, mesh, random.

Examples
--------
python -m benchmarks spmv --quick
python -m benchmarks spmv --device cuda --out bench/results/spmv.jsonl
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.cupy_calls import product_peer
from benchmarks.harness import Options, Say, Study, graphs, option, time_of
from benchmarks.studies.device_micro import rtol_in
from semira.bench.device import free_memory, profile_calls
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record, without_result
from semira.bench.report import checked, figure
from semira.bench.timer import Budget, clock, measure
from semira.bench.traffic import ROOF

#: Graph -> its family, and whether it is regular: rows and columns of similar length, neighbours
#: with close numbers.
FAMILIES: dict[str, tuple[str, bool]] = {
    "kron:21": ("R-MAT", False),
    "cnr-2000": ("web", False),
    "USA-road-NE": ("road", False),
    "grid4900": ("grid", True),
    "rgg22": ("mesh", True),
    "er:4000000,degree=16": ("random", False),
}

#: Fast graphs of the same families.
QUICK = ("kron:10", "road:40x40", "grid:40x40", "rgg:10", "er:1000,degree=8")

#: Families of `QUICK`, and of other graphs of these generators.
_GENERATED = {"kron": ("R-MAT", False), "rmat": ("R-MAT", False), "road": ("road", False),
              "grid": ("grid", True), "rgg": ("mesh", True), "er": ("random", False)}  # fmt: skip

#: Bytes of a row: an offset, an entry of the operand, a result.
_ROW_BYTES = 12

#: Products: semiring, whether the matrix stores values.
PRODUCTS = {"FP32": ("plus_times", True), "pattern": ("plus_second", False)}

#: Share of the floor's rate that a regular matrix should reach.
GOAL = 0.8

#: Calls of the peer between two events: several hide the cost of Python.
_PEER_BATCH = 10


@dataclass(frozen=True, slots=True)
class SpmvOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(tuple(FAMILIES), quick=QUICK)
    seconds: float = option(1.0, quick=0.2)
    peers: bool = option(True, "Run cuSPARSE (SciPy on the host) too.")


def points(options: SpmvOptions, xp: Any, say: Say) -> Iterator[tuple[BenchGraph, Any]]:
    """Yield the graphs, each with the timer of the peer's product."""
    peer = product_peer(
        options.device, say, cusparse=_cusparse_product, scipy=_scipy_product, wanted=options.peers
    )
    return ((graph, peer) for graph in graphs(options, xp, say))


def least_bytes_of(graph: BenchGraph, has_values: bool) -> int:
    """Return the bytes that a product must move: 4 per index (8 with its value), 12 per row."""
    return graph.arrays.nvals * (8 if has_values else 4) + _ROW_BYTES * graph.n


def trial(options: SpmvOptions, point: tuple[BenchGraph, Any]) -> Iterator[Record]:
    """Measure and check both products of a graph."""
    import semira as gb

    graph, peer = point
    operand = np.random.default_rng(1).random(graph.n, np.float32)
    blank = Record(
        "spmv", "", graph.dataset, "semira", options.device,
        load_s=graph.load_s, build_s=graph.build_s,
    )  # fmt: skip
    expected: dict[str, Any] = {}
    with gb.device(options.device):
        for name, (semiring, has_values) in PRODUCTS.items():
            named = replace(blank, kernel=f"mxv {name} {semiring}")
            record, result = _ours(options, graph, named, semiring, operand)
            expected[name] = added_up(graph, operand, has_values)
            yield _checked(record, graph, result.to_dense(0), expected[name])
    free_memory(graph.xp)
    if peer is not None:
        yield _theirs(options, graph, blank, peer, operand, expected["FP32"])
        free_memory(graph.xp)


def _ours(
    options: SpmvOptions, graph: BenchGraph, blank: Record, semiring: str, operand: Any
) -> tuple[Record, Any]:
    import semira as gb

    arrays, has_values = graph.arrays.ordinary(), semiring == "plus_times"
    made = (
        graph.matrix_in("FP32")
        if has_values
        else gb.Matrix.from_csr(arrays.indptr, arrays.indices, True, ncols=graph.n)
    )
    matrix, convert_s = clock(lambda: made.to(options.device))
    vector = gb.Vector.from_dense(operand).to(options.device)
    product = getattr(gb.semiring, semiring)["FP32"]

    def call(_trial: int = 0) -> Any:
        return matrix.mxv(vector, product).new().wait()

    result, samples = measure(call, Budget(options.trials, options.seconds))
    with gb.tracing() as trace:
        call()
    record = replace(
        blank, dtype=result.dtype.name, convert_s=convert_s, first_s=samples.first_s,
        warm_s=samples.warm_s, least_bytes=least_bytes_of(graph, has_values),
        ran=dict(Counter(row.method for row in trace.rows)),
        touched=sum(row.touched for row in trace.rows),
        **profile_calls(options.device, call),
    )  # fmt: skip
    return record, result


def added_up(graph: BenchGraph, operand: Any, has_values: bool) -> Any:
    """Return the product in FP64, summed along a list of entries."""
    xp = graph.xp
    terms = xp.asarray(operand)[graph.heads].astype(np.float64)
    if has_values:
        terms *= graph.lengths
    return xp.bincount(graph.tails, terms, minlength=graph.n)


def _checked(record: Record, graph: BenchGraph, found: Any, expected: Any) -> Record:
    xp = graph.xp
    rtol = rtol_in("FP32")
    is_right = bool(xp.allclose(xp.asarray(found), expected, rtol=rtol, atol=0))
    note = "" if is_right else f"differs from sums in FP64 by more than {rtol:g}"
    return replace(
        record, verified=is_right, verified_by="sums along the entries in FP64", note=note
    )


# the peers ---------------------------------------------------------------------------------------
def _scipy_product(graph: BenchGraph, operand: Any, trials: int) -> tuple[str, Any, Any, Any]:
    from scipy.sparse import csr_array

    arrays = graph.arrays.ordinary()
    values = arrays.entry_values().astype(np.float32)
    matrix = csr_array((values, arrays.indices, arrays.indptr), shape=(graph.n, graph.n))
    made = matrix @ operand
    return "scipy", made, [clock(lambda: matrix @ operand)[1] for _ in range(trials)], None


def _cusparse_product(graph: BenchGraph, operand: Any, trials: int) -> tuple[str, Any, Any, Any]:
    from benchmarks.cupy_calls import matrix_of, run_timed

    xp = graph.xp
    matrix, vector = matrix_of(graph, np.float32), xp.asarray(operand)
    made, calls, device_s = run_timed(lambda: matrix @ vector, trials, _PEER_BATCH)
    return "cusparse", made, calls, device_s


def _theirs(
    options: SpmvOptions, graph: BenchGraph, blank: Record, peer: Any, operand: Any, expected: Any
) -> Record:
    blank = replace(
        blank, kernel="mxv FP32 plus_times", backend="", dtype="FP32",
        library="cusparse" if options.device == "cuda" else "scipy",
        least_bytes=least_bytes_of(graph, has_values=True),
    )  # fmt: skip
    try:
        name, made, calls, device_s = peer(graph, operand, options.trials)
    except Exception as error:  # noqa: BLE001 - libraries raise anything
        return without_result(blank, error)
    record = replace(blank, library=name, warm_s=calls, device_s=device_s)
    return _checked(record, graph, made, expected)


# the table ---------------------------------------------------------------------------------------
def family_of(name: str) -> tuple[str, bool]:
    """Return the family of a graph and whether it is regular.

    Examples
    --------
    >>> family_of("grid4900"), family_of("kron:12,ef=8"), family_of("my.mtx")
    (('grid', True), ('R-MAT', False), ('-', False))
    """
    if name in FAMILIES:
        return FAMILIES[name]
    return _GENERATED.get(name.partition(":")[0], ("-", False))


def spmv_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: rates against the floor, times against the peer.

    The pattern is compared with the peer's product in FP32: the peer has none of patterns.
    """
    head = [
        "graph", "family", "device", "product", "entries", "ms", "TB/s", "floor ms",
        "share of floor", f"{GOAL:.0%} of it", "peer ms", "times faster", "at least the peer",
        "verified",
    ]  # fmt: skip
    chosen = [record for record in records if record.kind == "spmv"]
    peers = {each.dataset.name: each for each in chosen if each.library != "semira"}
    rows = []
    for record in chosen:
        taken_s = time_of(record)
        if record.library != "semira" or not taken_s or not record.least_bytes:
            continue
        family, is_regular = family_of(record.dataset.name)
        floor_s, peer = record.least_bytes / ROOF, peers.get(record.dataset.name)
        # Roofs are the GPU's.
        is_gpu = record.device_s is not None
        share = floor_s / taken_s
        rows.append(
            [
                record.dataset.name, family, record.backend, record.kernel,
                f"{record.dataset.nvals:,}", figure(1e3 * taken_s),
                figure(record.least_bytes / taken_s / 1e12),
                figure(1e3 * floor_s) if is_gpu else "-", f"{share:.0%}" if is_gpu else "-",
                ("yes" if share >= GOAL else "no") if is_gpu and is_regular else "-",
                *_beside(taken_s, peer), checked(record),
            ]
        )  # fmt: skip
    return head, rows


def _beside(taken_s: float, peer: Record | None) -> list[str]:
    """Return the peer's time, the ratio, and whether ours is at least as fast."""
    theirs_s = None if peer is None else time_of(peer)
    if peer is None or not theirs_s:
        return ["-"] * 3
    name = f"{peer.library} {figure(1e3 * theirs_s)}"
    return [name, figure(theirs_s / taken_s), "yes" if taken_s <= theirs_s else "no"]


STUDY = Study(__doc__, SpmvOptions, trial, {"Products with a full vector": spmv_table}, points)
