"""Measure sparse times dense (SpMM) in FP32, compared with cuSPARSE.

On matrices from a few long rows to many short ones (dense:ROWSxCOLUMNS, or with an entry in
every STEP columns, strided:ROWSxCOLUMNSxSTEP) and on graphs; on the GPU with every way to balance
the work, and the planner's choice compared with an oracle.

Examples
--------
python -m benchmarks spmm --quick
python -m benchmarks spmm --device cuda --columns 1,8,64,256 --out bench/results/spmm.jsonl
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cupy_calls import product_peer
from benchmarks.harness import STEADY, Options, Say, Study, held_for, option, time_of
from benchmarks.studies.device_micro import rtol_in
from benchmarks.sweep import graphs_of
from semira.base.errors import InvalidValue
from semira.bench.device import profile_calls
from semira.bench.graphs import load_bench_graph, rows_of_entries
from semira.bench.record import Dataset, Record, without_result
from semira.bench.report import checked, figure
from semira.bench.timer import Budget, clock, measure
from semira.bench.traffic import ROOF
from semira.plan.rules_full import PIECES

#: Ways to balance work; the planner's choice is None.
BALANCES = ("rows", "edges", "thread", PIECES)

#: Times within this are equal: without long rows, `thread` and `pieces` are the same kernel.
ALIKE = 0.05

#: Entries of the matrices of the aspect-ratio family, and their numbers of rows.
ASPECT_ENTRIES, ASPECT_ROWS = 1 << 24, tuple(1 << k for k in range(1, 24, 2))

#: Graphs of other families, by name or generator.
GRAPHS = (
    "kron:16", "kron:18", "kron:20", "er:1000000,degree=4", "er:1000000,degree=16",
    "er:200000,degree=64", "grid:1000x1000", "grid:3000x3000", "road:1000x1000,removed=0.05",
    "rgg:18", "rgg:20", "minnesota", "delaunay_n14", "delaunay_n16", "mycielskian12",
    "soc-Slashdot0902", "coAuthorsDBLP", "cnr-2000", "USA-road-NE", "web-NotreDame",
    "ak2010", "luxembourg_osm", "email-Enron", "wiki-Vote", "p2p-31", "cora", "pubmed",
    "ego-Facebook", "loc-gowalla",
)  # fmt: skip

#: A few fast ones of both.
QUICK = ("dense:2x512", "dense:512x2", "kron:8", "grid:20x20")


def default_matrices() -> tuple[str, ...]:
    """Return the aspect-ratio family, then the graphs.

    Examples
    --------
    >>> default_matrices()[0], len(default_matrices())
    ('dense:2x8388608', 41)
    """
    family = (f"dense:{rows}x{ASPECT_ENTRIES // rows}" for rows in ASPECT_ROWS)
    return (*family, *GRAPHS)


@dataclass(frozen=True, slots=True)
class SpmmOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(default_matrices(), quick=QUICK)
    trials: int = option(5, quick=2)
    seconds: float = option(1.0, quick=0.2)
    columns: Sequence[int] = option((64,), "Columns of the dense operand.")
    by_columns: bool = option(False, "Store the dense operand by columns.")
    peers: bool = option(True, "Run cuSPARSE (SciPy on the host) too.")


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse matrix by rows, and the inputs of checks.

    Attributes
    ----------
    name : str
    shape : (int, int)
    indptr, indices, values : ndarray
    """

    name: str
    shape: tuple[int, int]
    indptr: Any
    indices: Any
    values: Any

    @property
    def dataset(self) -> Dataset:
        """Its description in records."""
        return Dataset(self.name, self.shape[0], len(self.indices), "")

    @property
    def mean_row(self) -> float:
        """Mean length of the rows that are not empty."""
        return len(self.indices) / max(1, int(np.count_nonzero(np.diff(self.indptr))))


#: Matrices with rows of equal length, with the format of their names after the colon.
_SIZES = {"dense": "ROWSxCOLUMNS", "strided": "ROWSxCOLUMNSxSTEP"}


def load_sparse(name: str, data: Path | None, xp: Any = np) -> Sparse:
    """Return a matrix with random values in FP32.

    Raises
    ------
    InvalidValue
        The shape of a ``dense:`` or ``strided:`` matrix is invalid.
    MissingFile
        The graph does not exist.
    """
    rng = np.random.default_rng(0)
    kind, _, size = name.partition(":")
    if kind in _SIZES:
        parts = [int(part) for part in size.split("x") if part.isdecimal()]
        if (
            len(parts) != _SIZES[kind].count("x") + 1
            or min(parts) < 1
            or size.count("x") >= len(parts)
        ):
            raise InvalidValue(f"{name}: write {kind}:{_SIZES[kind]}, with numbers from 1 on")
        return _long_rows(name, rng, *parts)
    arrays = load_bench_graph(name, data, xp, weights=False).arrays.ordinary()
    values = rng.random(arrays.nvals, np.float32)
    return Sparse(name, (arrays.nrows, arrays.ncols), arrays.indptr, arrays.indices, values)


def _long_rows(name: str, rng: Any, nrows: int, ncols: int, step: int = 1) -> Sparse:
    """Return a matrix with one entry in every `step` columns of each row."""
    each = max(1, ncols // step)
    indptr = np.arange(0, nrows * each + 1, each, dtype=np.int32)
    indices = np.tile(step * np.arange(each, dtype=np.int32), nrows)
    if step > 1:
        indices += rng.integers(0, min(step, ncols), len(indices), np.int32)
    return Sparse(name, (nrows, ncols), indptr, indices, rng.random(len(indices), np.float32))


def points(options: SpmmOptions, xp: Any, say: Say) -> Iterator[tuple[Sparse, int, Any, Any]]:
    """Yield the matrices with each number of columns, and the timer of the peer's product."""
    peer = product_peer(
        options.device, say, cusparse=_cusparse_product, scipy=_scipy_product, wanted=options.peers
    )
    return (
        (matrix, columns, xp, peer)
        for matrix in graphs_of(options.graphs, options.data, xp, say, load_sparse)
        for columns in options.columns
    )


def least_bytes_of(matrix: Sparse, columns: int) -> int:
    """Return the bytes that a product must move: A, and B and C once each."""
    return 8 * len(matrix.indices) + 4 * columns * sum(matrix.shape) + 4 * len(matrix.indptr)


def trial(options: SpmmOptions, point: tuple[Sparse, int, Any, Any]) -> Iterator[Record]:
    """Measure and check the products of a matrix with an operand of some columns."""
    import semira as gb

    matrix, columns, xp, peer = point
    dense = np.random.default_rng(1).random((matrix.shape[1], columns), np.float32)
    blank = Record(
        "spmm", f"mxm n={columns}", matrix.dataset, "semira", options.device, dtype="FP32",
        options={"columns": columns, "by_columns": options.by_columns},
        least_bytes=least_bytes_of(matrix, columns), facts={"mean_row": matrix.mean_row},
    )  # fmt: skip
    expected = row_sums(matrix, dense, xp)
    balances = (None, *BALANCES) if options.device == "cuda" else (None,)
    with gb.device(options.device):
        sparse = gb.Matrix.from_csr(
            matrix.indptr, matrix.indices, matrix.values, ncols=matrix.shape[1]
        ).to(options.device)
        given = gb.Matrix.from_dense(dense.T if options.by_columns else dense)
        full = given.to(options.device)
    right = full.T if options.by_columns else full
    for balance in balances:
        pins = {} if balance is None else {"balance": balance}
        yield _ours(options, sparse, right, blank, pins, expected, xp)
    if peer is not None:
        yield _theirs(options, peer, matrix, dense, blank, expected, xp)


def _ours(
    options: SpmmOptions, sparse: Any, right: Any, blank: Record, pins: dict[str, Any],
    expected: Any, xp: Any,
) -> Record:  # fmt: skip
    import semira as gb

    semiring = gb.semiring.plus_times["FP32"]
    result = gb.Matrix("FP32", sparse.nrows, right.ncols).to(options.device)

    def call(_trial: int = 0) -> Any:
        result(**pins) << sparse.mxm(right, semiring)
        return result.wait()

    _, samples = measure(call, Budget(options.trials, options.seconds))
    sums = result.reduce_rowwise("plus").new("FP64").to(options.device)
    record = replace(
        blank, plan=pins, first_s=samples.first_s, warm_s=samples.warm_s,
        **profile_calls(
            options.device, call, held_s=held_for(samples.warm_s), times=STEADY
        ),
    )  # fmt: skip
    return _checked(record, sums.to_dense(0), expected, xp)


def row_sums(matrix: Sparse, dense: Any, xp: Any) -> Any:
    """Return the sum of each row of the product in FP64: A times the sums of B's rows."""
    of_rows = xp.asarray(dense).sum(axis=1, dtype=np.float64)
    terms = of_rows[xp.asarray(matrix.indices)] * xp.asarray(matrix.values)
    rows = rows_of_entries(xp, xp.asarray(matrix.indptr))
    return xp.bincount(rows, terms, minlength=matrix.shape[0])


def _checked(record: Record, found: Any, expected: Any, xp: Any) -> Record:
    rtol = rtol_in("FP32")
    is_right = bool(xp.allclose(xp.asarray(found), expected, rtol=rtol, atol=0))
    note = "" if is_right else f"sums of rows differ from FP64 by more than {rtol:g}"
    return replace(record, verified=is_right, verified_by="sums of rows in FP64", note=note)


# the peers ---------------------------------------------------------------------------------------
def _scipy_product(
    matrix: Sparse, dense: Any, trials: int, by_columns: bool
) -> tuple[str, Any, list[float], Any]:
    from scipy.sparse import csr_array

    left = csr_array((matrix.values, matrix.indices, matrix.indptr), shape=matrix.shape)
    right = np.asfortranarray(dense) if by_columns else dense
    made = left @ right
    return "scipy", made, [clock(lambda: left @ right)[1] for _ in range(trials)], None


def _cusparse_product(
    matrix: Sparse, dense: Any, trials: int, by_columns: bool
) -> tuple[str, Any, list[float], Any]:
    from benchmarks.cupy_calls import run_queued, spmm_calls

    calls = spmm_calls(matrix, dense, by_columns=by_columns)
    found, timed = fastest_of(calls, lambda call: run_queued(call, trials))
    return f"cusparse {found}", *timed


def fastest_of(
    calls: dict[str, Callable[[], Any]],
    timed: Callable[[Callable[[], Any]], tuple[Any, list[float], list[float]]],
) -> tuple[str, tuple[Any, list[float], list[float]]]:
    """Return the name and times of the fastest call on the device.

    Skips calls that raise; if all do, raises the first error.
    """
    results: dict[str, tuple[Any, list[float], list[float]]] = {}
    errors: list[Exception] = []
    for name, call in calls.items():
        try:
            results[name] = timed(call)
        except Exception as error:  # noqa: BLE001 - libraries raise anything
            errors.append(error)
    if not results:
        raise errors[0]
    best = min(results, key=lambda name: statistics.median(results[name][2]))
    return best, results[best]


def _theirs(
    options: SpmmOptions, peer: Any, matrix: Sparse, dense: Any, blank: Record, expected: Any,
    xp: Any,
) -> Record:  # fmt: skip
    blank = replace(blank, library="cusparse" if options.device == "cuda" else "scipy", backend="")
    try:
        name, made, calls, device_s = peer(matrix, dense, options.trials, options.by_columns)
        sums = made.sum(axis=1, dtype=np.float64)
    except Exception as error:  # noqa: BLE001 - libraries raise anything
        return without_result(blank, error)
    ran = {name: 1}
    record = replace(blank, ran=ran, warm_s=calls, device_s=device_s)
    return _checked(record, sums, expected, xp)


# the tables --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Compared:
    """The records of one product.

    Attributes
    ----------
    chosen : Record
        The planner's.
    pinned : dict
        By balance.
    peer : Record or None
    """

    chosen: Record
    pinned: dict[str, Record]
    peer: Record | None

    @property
    def oracle(self) -> Record:
        """Semira's fastest verified record."""
        return min((self.chosen, *self.pinned.values()), key=_seconds)

    @property
    def names_best(self) -> bool:
        """Whether the planner's balance is the fastest of all, or within `ALIKE` of it."""
        if not self.pinned:
            return False
        best = min(map(_seconds, self.pinned.values()))
        return _seconds(self.pinned[PIECES]) <= (1 + ALIKE) * best


def _seconds(record: Record) -> float:
    taken_s = time_of(record)
    return taken_s if taken_s and record.verified is not False else math.inf


def compare_records(records: Sequence[Record]) -> list[Compared]:
    """Return the products of a run, each with all of its records."""
    products: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.kind == "spmm":
            products.setdefault((record.dataset.name, record.kernel), []).append(record)
    found = []
    for made in products.values():
        ours = [each for each in made if each.library == "semira"]
        pinned = {each.plan["balance"]: each for each in ours if each.plan}
        chosen = next((each for each in ours if not each.plan), None)
        peer = next((each for each in made if each.library != "semira"), None)
        if chosen is not None:
            found.append(Compared(chosen, pinned, peer))
    return found


def spmm_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the planner's time, each balance, the floor and the peer."""
    head = [
        "matrix", "rows", "entries", "mean row", "n", "ms", *(f"{name} ms" for name in BALANCES),
        "floor ms", "peer ms", "times faster", "verified",
    ]  # fmt: skip
    rows = []
    for one in compare_records(records):
        record, taken_s = one.chosen, time_of(one.chosen)
        if not taken_s or not record.least_bytes:
            continue
        peer_s = None if one.peer is None else time_of(one.peer)
        floor_s = record.least_bytes / ROOF if record.device_s is not None else None
        pinned = [one.pinned.get(name) for name in BALANCES]
        rows.append(
            [
                record.dataset.name, f"{record.dataset.n:,}", f"{record.dataset.nvals:,}",
                figure(record.facts["mean_row"]), str(record.options["columns"]),
                figure(1e3 * taken_s), *(_pinned_ms(each) for each in pinned),
                _ms(floor_s), _ms(peer_s), figure(peer_s / taken_s) if peer_s else "-",
                checked(record),
            ]
        )  # fmt: skip
    return head, rows


def _ms(seconds: float | None) -> str:
    return "-" if not seconds else figure(1e3 * seconds)


def _pinned_ms(record: Record | None) -> str:
    """Return the time of a pinned balance, marked if its result was wrong."""
    if record is None:
        return "-"
    return _ms(time_of(record)) + (" (wrong)" if record.verified is False else "")


def summary_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and row: geometric means against the peer, heuristic against an oracle."""
    found = compare_records(records)
    beside = [
        _seconds(one.peer) / _seconds(one.chosen)
        for one in found
        if one.peer is not None and math.isfinite(_seconds(one.peer))
    ]
    tried = [one for one in found if one.pinned]
    lost = [_seconds(one.chosen) / _seconds(one.oracle) for one in tried]
    head = ["products", "times faster than the peer", "heuristic right", "beside the oracle"]
    row = [
        str(len(found)),
        figure(_geometric_mean(beside)) if beside else "-",
        f"{sum(one.names_best for one in tried) / len(tried):.1%}" if tried else "-",
        figure(_geometric_mean(lost)) if lost else "-",
    ]
    return head, [row]


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


STUDY = Study(
    __doc__,
    SpmmOptions,
    trial,
    {"Sparse times dense": spmm_table, "All products": summary_table},
    points,
)
