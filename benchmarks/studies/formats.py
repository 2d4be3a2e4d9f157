"""Compare products of random matrices in every storage format with dense ones.

With a vector and with a few columns: csr, csc, COO, ELL, ELL-R, padded and sliced ELL, dense;
bytes and build time of each copy; dense products on the CPU and on the GPU (Hwu, Kirk,
El Hajj, Programming Massively Parallel Processors). Every result is checked.

Examples
--------
python -m benchmarks formats --quick
python -m benchmarks formats --device cuda --out bench/results/formats.jsonl
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Options, Say, held_for, option
from benchmarks.studies.device_micro import rtol_in
from benchmarks.studies.spmm import fastest_of
from semira.base.errors import InvalidValue, OutOfMemory, PlanError
from semira.bench.device import profile_calls
from semira.bench.environment import version_of
from semira.bench.record import Dataset, Record, without_result
from semira.bench.timer import Budget, clock, measure
from semira.methods.dense.arrays import dense_bytes
from semira.methods.ell.arrays import KINDS, ell_bytes

#: Storages that every product can be pinned to, and the one with every position.
PINNED = ("csr", "csc", "coo", "ell", "ellr", "pell", "sell")
STORAGES = (*PINNED, "dense")

#: Bytes of a value.
_VALUE = 4


@dataclass(frozen=True, slots=True)
class FormatsOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option((), hidden=True)
    trials: int = option(20, quick=3)
    seconds: float = option(1.0, quick=0.1)
    rows: Sequence[int] = option((1024, 2048, 4096), "Rows of each square matrix.", quick=(64, 128))
    densities: Sequence[float] = option((0.1, 0.01), "Shares of positions with an entry.")
    columns: int = option(
        64, "Columns of the full operand of SpMM; 0: only SpMV.", quick=8, least=0
    )
    peers: bool = option(True, "Run NumPy, SciPy, CuPy, cuSPARSE too.")


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A matrix by rows and as a dense array, an operand, and their product in FP64.

    Attributes
    ----------
    density : float
    dense : ndarray of float32, shape (n, n)
    indptr, indices, values : ndarray
    operand : ndarray of float32, shape (n,) or (n, columns)
    expected : ndarray of float64
    """

    density: float
    dense: NDArray[Any]
    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    operand: NDArray[Any]
    expected: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.dense.shape[0], self.dense.shape[1]

    @property
    def columns(self) -> int:
        """Columns of the operand; 0: a vector."""
        return 0 if self.operand.ndim == 1 else self.operand.shape[1]


def draw(n: int, density: float, columns: int) -> Drawn:
    """Return a random matrix from a seed; its values are above 0.

    Raises
    ------
    InvalidValue
        No such matrix exists.

    Examples
    --------
    >>> drawn = draw(50, 0.1, 0)
    >>> drawn.shape, int(drawn.indptr[-1]) == len(drawn.indices)
    ((50, 50), True)
    """
    if n < 1 or not 0 < density <= 1:
        raise InvalidValue(f"{n} rows of density {density:g}: give 1 or more, and 0 < density <= 1")
    rng = np.random.default_rng(n)
    dense = np.where(
        rng.random((n, n), np.float32) < density, 1 - rng.random((n, n), np.float32), 0
    )
    dense = dense.astype(np.float32)
    rows, cols = np.nonzero(dense)
    indptr = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    operand = rng.random((n, columns) if columns else n, np.float32)
    expected = dense.astype(np.float64) @ operand.astype(np.float64)
    values = dense[rows, cols]
    return Drawn(density, dense, indptr, cols.astype(np.int32), values, operand, expected)


def points(options: FormatsOptions, _xp: Any, say: Say) -> Iterator[tuple[Drawn, dict[str, Any]]]:
    """Yield the random matrices and the peers."""
    peers = _open_peers(options, say)
    return (
        (draw(n, density, columns), peers)
        for density in options.densities
        for n in options.rows
        for columns in dict.fromkeys((0, options.columns))
    )


def format_bytes(drawn: Drawn, storage: str) -> int:
    """Return the bytes of a matrix in a storage, of numbers of 32 bits."""
    (n, m), nvals = drawn.shape, len(drawn.indices)
    if storage == "dense":
        return dense_bytes(n, m, _VALUE)
    if storage not in KINDS:
        lines = {"coo": nvals, "csc": m + 1}.get(storage, n + 1)
        return 4 * lines + nvals * (4 + _VALUE)
    # A product with a vector pulls: its lines are rows.
    height = KINDS[storage].get("slice_lines") or n
    lengths = np.diff(drawn.indptr)
    multiple = KINDS[storage].get("multiple", 1)
    longest = [int(lengths[at : at + height].max()) for at in range(0, n, height)]
    widths = [-(-width // multiple) * multiple for width in longest]
    return ell_bytes(
        n, m, widths, _VALUE, slice_rows=height, lengths=KINDS[storage].get("lengths", False)
    )


def least_bytes_of(drawn: Drawn, storage: str) -> int:
    """Return the bytes that a product must move: the matrix, the operand, the result."""
    return format_bytes(drawn, storage) + _VALUE * max(1, drawn.columns) * sum(drawn.shape)


def _pin_of(storage: str, columns: int) -> str:
    """Return the pin of a storage; two full matrices are read by position without one."""
    return "csr" if storage == "dense" and columns else storage


def trial(options: FormatsOptions, point: tuple[Drawn, dict[str, Any]]) -> Iterator[Record]:
    """Measure and check the product of a matrix in every storage, and by the peers.

    A storage that the product does not support, or a peer that fails, gets a record with a note.
    """
    drawn, peers = point
    n, nvals = drawn.shape[0], len(drawn.indices)
    name = f"random {n} x {n}, {drawn.density:g}"
    kernel = f"mxm n={drawn.columns}" if drawn.columns else "mxv"
    blank = Record(
        "formats", kernel, Dataset(name, n, nvals, ""), "semira", options.device, dtype="FP32",
        options={"density": drawn.density, "columns": drawn.columns},
    )  # fmt: skip
    for storage in STORAGES:
        named = replace(
            blank, options={**blank.options, "storage": storage},
            plan={"matrix_storage": _pin_of(storage, drawn.columns)},
            least_bytes=least_bytes_of(drawn, storage),
            facts={"bytes": format_bytes(drawn, storage)},
        )  # fmt: skip
        try:
            yield _ours(options, drawn, named)
        except (PlanError, OutOfMemory) as error:
            # The product does not support this storage, or it would be nearly all padding.
            yield without_result(named, error)
    for library, run in peers.items():
        # Peers on the host say nothing about a device.
        named = replace(blank, library=library, backend="")
        try:
            result, calls_s, device_s = run(drawn, options.trials)
            record = replace(named, warm_s=calls_s, device_s=device_s)
            yield _checked(record, _on_host(result), drawn)
        except Exception as error:  # noqa: BLE001 - libraries raise anything
            yield without_result(named, error)


# Semira ------------------------------------------------------------------------------------------
def _ours(options: FormatsOptions, drawn: Drawn, blank: Record) -> Record:
    import semira as gb

    def placed() -> Any:
        with gb.device(options.device):
            if blank.options["storage"] == "dense":
                return gb.Matrix.from_dense(drawn.dense).to(options.device)
            arrays = drawn.indptr, drawn.indices, drawn.values
            return gb.Matrix.from_csr(*arrays, ncols=drawn.shape[1]).to(options.device)

    with gb.device(options.device):
        kind = gb.Matrix if drawn.columns else gb.Vector
        operand = kind.from_dense(drawn.operand).to(options.device)
        shape = (drawn.shape[0], drawn.columns) if drawn.columns else (drawn.shape[0],)
        result = kind("FP32", *shape).to(options.device)
    semiring = gb.semiring.plus_times["FP32"]

    def product(matrix: Any) -> Any:
        call = matrix.mxm if drawn.columns else matrix.mxv
        result(**blank.plan) << call(operand, semiring)
        return result.wait()

    matrix = placed()
    _, samples = measure(lambda _trial: product(matrix), Budget(options.trials, options.seconds))
    record = replace(blank, first_s=samples.first_s, warm_s=samples.warm_s)
    call_s = statistics.median(samples.warm_s)
    # The first product of another matrix makes its copy, but compiles nothing.
    other, convert_s = clock(placed)
    before = sum(other.memory_usage().values())
    _, first_s = clock(lambda: product(other))
    kept = sum(other.memory_usage().values()) - before
    record = replace(
        record, convert_s=convert_s, build_s=max(0.0, first_s - call_s),
        facts={**record.facts, "kept": kept},
        **profile_calls(options.device, lambda: product(matrix), held_s=held_for(samples.warm_s)),
    )  # fmt: skip
    return _checked(record, result.to_dense(0), drawn)


def _checked(record: Record, found: Any, drawn: Drawn) -> Record:
    rtol = rtol_in("FP32")
    is_right = found.shape == drawn.expected.shape and np.allclose(
        found, drawn.expected, rtol=rtol, atol=0
    )
    note = "" if is_right else f"differs from the product in FP64 by more than {rtol:g}"
    by = "NumPy's product in FP64"
    return replace(record, verified=bool(is_right), verified_by=by, note=note)


# the peers ---------------------------------------------------------------------------------------
#: From a peer: a result, seconds of whole calls, and of the device where it has a clock.
_Timed = tuple[Any, list[float], list[float] | None]


def _open_peers(
    options: FormatsOptions, say: Callable[[str], None]
) -> dict[str, Callable[[Drawn, int], _Timed]]:
    if not options.peers:
        return {}
    found: dict[str, Callable[[Drawn, int], _Timed]] = {"numpy dense": _numpy_dense}
    if version_of("scipy") is None:
        say("peer scipy: not installed")
    else:
        found["scipy csr"] = _scipy_csr
    if options.device != "cuda":
        return found
    if version_of("cupy-cuda13x") is None:
        say("peer cupy: not installed")
        return found
    return found | {"cupy dense": _cupy_dense, "cusparse csr": _cusparse_csr}


def _timed_on_host(call: Callable[[], Any], trials: int) -> _Timed:
    result = call()
    return result, [clock(call)[1] for _ in range(trials)], None


def _numpy_dense(drawn: Drawn, trials: int) -> _Timed:
    return _timed_on_host(lambda: drawn.dense @ drawn.operand, trials)


def _scipy_csr(drawn: Drawn, trials: int) -> _Timed:
    from scipy.sparse import csr_array

    arrays = drawn.values, drawn.indices, drawn.indptr
    matrix = csr_array(arrays, shape=drawn.shape)
    return _timed_on_host(lambda: matrix @ drawn.operand, trials)


def _cupy_dense(drawn: Drawn, trials: int) -> _Timed:
    from benchmarks.cupy_calls import dense_call, run_queued

    return run_queued(dense_call(drawn.dense, drawn.operand), trials)


def _cusparse_csr(drawn: Drawn, trials: int) -> _Timed:
    from benchmarks.cupy_calls import run_queued, spmm_calls, spmv_call

    if not drawn.columns:
        return run_queued(spmv_call(drawn, drawn.operand), trials)
    calls = spmm_calls(drawn, drawn.operand, by_columns=False)
    return fastest_of(calls, lambda call: run_queued(call, trials))[1]


def _on_host(result: Any) -> Any:
    """Return a NumPy or CuPy array as a NumPy array."""
    return result.get() if hasattr(result, "get") else result
