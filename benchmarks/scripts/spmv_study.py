"""Variants of y = A u over plus.second on the GPU: a pattern times a vector.

Run on a machine with a GPU, CuPy and nvcc, from the repository's root::

    python -m benchmarks.scripts.spmv_study --out spmv_study.json

The kernels are in `spmv_study.cu`; `bench/notes/spmv.md` describes each and its predicted time.
All vectors hold integers from 1 to 7, so every order of summation gives the same sums and the
check is equality, with sums made from a running total of integers. Times are medians of 10 between
events; launches queue behind a spinning kernel, short ones several at a time, to exclude the
host's time. Work per product (the table of hot values) is included; work per matrix (slices, bins,
recoded columns) is reported separately.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
from benchmarks.scripts.spmv_graphs import Graph, by_degree, grid, kronecker, mesh, web

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "src/semira/backends/cuda/kernels"

#: Members of struct Problem, 8 bytes each.
PROBLEM = (
    "indptr", "indices", "coded", "u", "y", "words", "slices", "num_slices", "slice_items", "rows",
    "nvals", "carry_rows", "carry_has", "carry_values", "counters", "barrier", "hot_list",
    "hot_values", "hot", "bins", "end0", "end1", "end2", "end3", "sink", "phases",
)  # fmt: skip

#: Shares of the merge path: the most shares, and the fewest items of one.
SLICES = {"as now": (16_384, 512), "fine": (65_536, 128), "more": (65_536, 512)}

#: Longest rows for a lane, for 8 lanes, for a warp.
BINS = (8, 64, 8192)

SAMPLES = 10
THOUSAND = 1024


@dataclass(frozen=True)
class Variant:
    """A kernel with one shape."""

    name: str
    call: str  # a __device__ function that takes a Problem
    threads: int
    blocks: int  # per multiprocessor
    bits: int = 32  # of a value
    hot: int = 0  # columns
    shared: bool = False  # the hot values lie in shared memory
    slices: str = "as now"
    kind: str = "stream"

    @property
    def title(self) -> str:
        """The name with the shape."""
        return f"{self.name} {self.threads}x{self.blocks}"


def stream(
    name: str, shape: tuple[int, int] = (512, 2), quads: int = 1, columns: int = 1, table: int = 0,
    ahead: bool = True, hot: int = 0, bits: int = 32, slices: str = "as now", where: int = 0,
) -> Variant:  # fmt: skip
    """Return a variant of `stream`; the numbers match spmv_study.cu."""
    number = "float" if bits == 32 else "double"
    call = f"stream<{number}, {quads}, {columns}, {table}, {str(ahead).lower()}, {where}>"
    return Variant(name, call, *shape, bits=bits, hot=hot, shared=where == 1, slices=slices)


def variants() -> Iterator[Variant]:
    """Yield every variant, in the order of the table."""
    for shape in ((256, 4), (512, 2), (1024, 1)):
        yield Variant("1 present", "present<float>", *shape, kind="present")
    yield Variant("1 present FP64", "present<double>", 512, 2, bits=64, kind="present")
    for group in (1, 2, 4, 8, 16, 32):
        yield Variant(
            f"2 groups of {group}", f"by_groups<float, {group}>", 256, 8, kind=f"g{group}"
        )
    yield Variant("3 bins", "by_bins<float>", 512, 2, kind="bins")
    yield Variant("3 bins", "by_bins<float>", 256, 8, kind="bins")
    yield stream("4 stream, not ahead", ahead=False)
    yield stream("4 stream, 8 a lane, not ahead", ahead=False, quads=2)
    yield stream("4 stream")
    for shape in ((256, 4), (256, 5), (512, 3), (512, 4), (1024, 1)):
        yield stream("4 stream", shape)
    yield stream("4 stream, not ahead", (512, 3), ahead=False)
    yield stream("4 stream, 8 a lane", quads=2)
    yield stream("4 stream, more slices", slices="more")
    yield stream("4 stream, fine slices", slices="fine")
    yield stream("4 stream FP64", bits=64)
    yield stream("5 columns plain", columns=0)
    yield stream("5 columns evict first", columns=2)
    yield stream("5 values evict last in L1", table=1)
    yield stream("5 values past L1", table=2)
    yield stream("5 values evict last in L2", table=3)
    yield stream("5 both in L2", columns=2, table=3)
    yield Variant("5 cp.async of 2", "stream_copied<float, 16, 2, 0>", 512, 2)
    yield Variant("5 cp.async of 4", "stream_copied<float, 16, 4, 0>", 512, 2)
    for thousands in (8, 16, 24):
        yield stream(f"6 shared hot {thousands}k", hot=thousands * THOUSAND, where=1)
    for thousands in (16, 32, 48, 56):
        yield stream(f"6 shared hot {thousands}k", (1024, 1), hot=thousands * THOUSAND, where=1)
    yield stream("6 shared hot 48k, 8 a lane", (1024, 1), quads=2, hot=48 * THOUSAND, where=1)
    for thousands in (8, 32, 48, 64):
        yield stream(f"6 table hot {thousands}k", hot=thousands * THOUSAND, table=2, where=2)
    yield stream("6 table hot 48k, L1 for all", hot=48 * THOUSAND, table=0, where=2)
    yield Variant("limit: columns", "probe<float, 1, 1, 0, 0, false>", 512, 4, kind="columns")
    yield Variant(
        "limit: columns, 4 loads", "probe<float, 4, 1, 0, 0, false>", 512, 2, kind="columns"
    )
    limit = Variant("limit: gathers", "probe<float, 1, 1, 0, 0, true>", 512, 4, kind="probe")
    yield limit
    yield replace(limit, call="probe<float, 2, 1, 0, 0, true>", name="limit: gathers, 8", blocks=2)
    yield replace(limit, call="probe<float, 1, 1, 2, 0, true>", name="limit: gathers past L1")
    for thousands in (32, 48):
        yield replace(
            limit, call="probe<float, 2, 1, 0, 1, true>", name=f"limit: shared hot {thousands}k",
            threads=1024, blocks=1, hot=thousands * THOUSAND, shared=True,
        )  # fmt: skip
    yield replace(
        limit, call="probe<float, 2, 1, 2, 2, true>", name="limit: table hot 48k", blocks=2,
        hot=48 * THOUSAND,
    )  # fmt: skip


# ---------------------------------------------------------------------------------- compiling
class Library:
    """The kernels, compiled by several nvcc processes at once."""

    def __init__(self, chosen: list[Variant], parts: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="spmv_study"))
        self.functions: dict[str, Any] = {}
        self.reports: list[str] = []
        self.units: list[tuple[list[str], subprocess.Popen[str], Path]] = []
        self.names: dict[Variant, str] = {}
        groups: dict[int, list[tuple[str, str]]] = {}
        entries: dict[tuple[str, int, int], str] = {}
        for number, variant in enumerate(chosen):
            key = (variant.call, variant.threads, variant.blocks)
            if key not in entries:
                entries[key] = f"variant_{number}"
                text = (
                    f'extern "C" __global__ void __launch_bounds__({variant.threads}, '
                    f"{variant.blocks}) variant_{number}(const Problem* p) {{ {variant.call}(p); }}"
                )
                groups.setdefault(number % parts, []).append((entries[key], text))
            self.names[variant] = entries[key]
        for number, kind in enumerate(("float", "double")):
            text = (
                f'extern "C" __global__ void hot_{32 << number}(const Problem* p) '
                f"{{ gather_hot<{kind}>(p); }}"
            )
            groups.setdefault(0, []).append((f"hot_{32 << number}", text))
        for part, made in groups.items():
            self._start(part, made)

    def _start(self, part: int, made: list[tuple[str, str]]) -> None:
        source = self.folder / f"unit_{part}.cu"
        lines = ['#include "spmv_study.cu"', *(text for _, text in made)]
        source.write_text("\n".join(lines) + "\n")
        cubin = source.with_suffix(".cubin")
        command = [
            shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc", "-std=c++17", "-arch=sm_90",
            "-cubin", "-Xptxas", "-v", f"-I{HERE}", f"-I{KERNELS}", str(source), "-o", str(cubin),
        ]  # fmt: skip
        log = cubin.with_suffix(".log").open("w")
        running = subprocess.Popen(command, stdout=log, stderr=log, text=True)  # noqa: S603 - ours
        self.units.append(([name for name, _ in made], running, cubin))

    def wait(self) -> None:
        """Load the compiled kernels."""
        for names, running, cubin in self.units:
            if running.wait() != 0:
                raise RuntimeError(cubin.with_suffix(".log").read_text())
            self.reports.append(cubin.with_suffix(".log").read_text())
            module = cp.RawModule(path=str(cubin), enable_cooperative_groups=True)
            plain = cp.RawModule(path=str(cubin))
            for name in names:
                self.functions[name] = module.get_function(name)
            for name in ("spin", "rmat"):
                self.functions[name] = plain.get_function(name)

    def __getitem__(self, name: str) -> Any:
        return self.functions[name]

    def resources(self) -> dict[str, str]:
        """Return registers and spilled bytes of every kernel, from the assembler's report."""
        found: dict[str, str] = {}
        for report in self.reports:
            name, spills = "", ""
            for line in report.splitlines():
                if "Compiling entry function" in line:
                    name = line.split("'")[1]
                elif "spill stores" in line:
                    spills = line.split(",")[1].split()[0]
                elif "Used" in line and name:
                    registers = line.split("Used ")[1].split()[0]
                    found[name] = f"{registers}r" + (f"+{spills}b" if spills != "0" else "")
        return found


# ------------------------------------------------------------------------------------- graphs
# -------------------------------------------------------------------------------- measurement
class Bench:
    """One graph, its vectors, and the time of variants."""

    def __init__(self, library: Library, graph: Graph) -> None:
        self.library, self.graph = library, graph
        self.processors = cp.cuda.Device().attributes["MultiProcessorCount"]
        size, nvals = graph.size, graph.nvals
        whole = cp.random.randint(1, 8, size).astype(cp.int32)
        self.u = {32: whole.astype(cp.float32), 64: whole.astype(cp.float64)}
        self.y = {32: cp.empty(size, cp.float32), 64: cp.empty(size, cp.float64)}
        running = cp.cumsum(whole[graph.indices], dtype=cp.int64)
        running = cp.concatenate([cp.zeros(1, cp.int64), running])
        self.expected = running[graph.indptr[1:]] - running[graph.indptr[:-1]]
        del running
        self.filled = cp.diff(graph.indptr) > 0
        self.words = cp.zeros((size + 31) // 32, cp.uint32)
        most = 65_536
        self.keep: dict[str, Any] = {
            "carry_rows": cp.zeros(most, cp.int32), "carry_has": cp.zeros(most, bool),
            "carry_values": cp.zeros(most, cp.float64), "counters": cp.zeros(8, cp.uint64),
            "barrier": cp.zeros(2, cp.uint32), "sink": cp.zeros(2048 * self.processors, cp.float64),
        }  # fmt: skip
        self.slices = {name: self._slices(*given) for name, given in SLICES.items()}
        self._bins()
        self.hot: dict[int, dict[str, Any]] = {}
        if graph.skewed:
            counts = cp.bincount(graph.indices, minlength=size)
            self.by_count = cp.argsort(-counts).astype(cp.int32)
            self.shares = cp.cumsum(counts[self.by_count]) / nvals
        cp.cuda.Device().synchronize()

    def _slices(self, most: int, least: int) -> tuple[Any, int, int]:
        graph = self.graph
        path = graph.size + graph.nvals
        items = max(least, -(-path // most))
        count = -(-path // items)
        ends = graph.indptr[1:].astype(cp.int64) + cp.arange(graph.size)
        at = cp.minimum(cp.arange(count + 1, dtype=cp.int64) * items, path)
        return cp.searchsorted(ends, at).astype(cp.int32), count, items

    def _bins(self) -> None:
        """Sort rows into bins by length; bins of long rows have the longest first."""
        degrees = cp.diff(self.graph.indptr)
        lists, low = [], -1
        for number, high in enumerate((*BINS, 2**31 - 1)):
            rows = cp.nonzero((degrees > low) & (degrees <= high))[0].astype(cp.int32)
            lists.append(rows[cp.argsort(-degrees[rows])] if number > 1 else rows)
            low = high
        self.bins = cp.concatenate(lists)
        self.bin_ends = np.cumsum([len(rows) for rows in lists]).tolist()
        self.graph.build["bin rows"] = [len(rows) for rows in lists]

    def _coded(self, hot: int) -> dict[str, Any]:
        """Recode the columns for one number of hot columns; keep only the latest."""
        hot = min(hot, self.graph.size)
        if hot not in self.hot:
            slot = cp.arange(self.graph.size, dtype=cp.int32)
            slot[self.by_count[:hot]] = ~cp.arange(hot, dtype=cp.int32)
            self.hot = {
                hot: {
                    "coded": slot[self.graph.indices], "hot_list": self.by_count[:hot],
                    "hot_values": cp.zeros(hot, cp.float64), "hot": hot,
                }
            }  # fmt: skip
            self.graph.build[f"hot share {hot}"] = round(float(self.shares[hot - 1]), 3)
        return self.hot[hot]

    def problem(self, variant: Variant) -> Any:
        """Return the descriptor of a variant, on the device."""
        slices, count, items = self.slices[variant.slices]
        members: dict[str, Any] = {
            **self.keep, "indptr": self.graph.indptr, "indices": self.graph.indices,
            "u": self.u[variant.bits], "y": self.y[variant.bits], "words": self.words,
            "slices": slices, "num_slices": count, "slice_items": items, "rows": self.graph.size,
            "nvals": self.graph.nvals, "bins": self.bins, "phases": 3,
            **{f"end{number}": end for number, end in enumerate(self.bin_ends)},
        }  # fmt: skip
        if variant.hot:
            members |= self._coded(variant.hot)
        words = [members.get(name, 0) for name in PROBLEM]
        return cp.asarray(
            np.array([w.data.ptr if isinstance(w, cp.ndarray) else w for w in words], np.int64)
        )

    def launcher(self, variant: Variant, problem: Any) -> Callable[[], None]:
        """Return a function that starts one product."""
        function = self.library[self.library.names[variant]]
        shared = variant.hot * variant.bits // 8 if variant.shared else 0
        if shared:
            function.max_dynamic_shared_size_bytes = shared
        shape = (variant.blocks * self.processors,), (variant.threads,), (problem,)
        if not variant.hot:
            return lambda: function(*shape, shared_mem=shared)
        first = self.library[f"hot_{variant.bits}"]
        few = (-(-variant.hot // 256),), (256,), (problem,)

        def both() -> None:
            first(*few)
            function(*shape, shared_mem=shared)

        return both

    def wrong(self, variant: Variant) -> int:
        """Return the number of wrong rows."""
        found = self.y[variant.bits]
        same = found == self.expected
        if variant.kind in {"present", "stream"}:
            rest = ~self.filled & cp.isnan(found)
            bits = cp.arange(self.graph.size)
            has = self.words[bits // 32] >> (bits % 32).astype(cp.uint32) & cp.uint32(1)
            same = ((has == 1) == self.filled) & (same | rest)
        return int(self.graph.size - cp.count_nonzero(same))

    def time(self, launch: Callable[[], None]) -> float:
        """Return microseconds of one launch."""
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        spin = self.library["spin"]

        def sample(count: int) -> float:
            spin((1,), (1,), (np.int64(2000 * (100 + 25 * count)),))
            start.record()
            for _ in range(count):
                launch()
            stop.record()
            stop.synchronize()
            return 1e3 * cp.cuda.get_elapsed_time(start, stop) / count

        launch()
        once = min(sample(1), sample(1))
        if once > 20_000:
            return once
        count = max(1, min(20, int(400 / once)))
        return statistics.median(sample(count) for _ in range(SAMPLES))

    def run(self, variant: Variant) -> tuple[float, int]:
        """Check and time a variant."""
        problem = self.problem(variant)
        launch = self.launcher(variant, problem)
        wrong = 0
        if variant.kind not in {"probe", "columns"}:
            self.y[variant.bits].fill(cp.nan)
            self.words.fill(0)
            launch()
            wrong = self.wrong(variant)
        return self.time(launch), wrong

    def suits(self, variant: Variant) -> bool:
        """Whether a variant makes sense for the graph."""
        if variant.hot:
            return self.graph.skewed and variant.hot < self.graph.size // 4
        if variant.kind.startswith("g"):
            group = int(variant.kind[1:])
            return self.graph.mean / 16 <= group <= max(4, 4 * self.graph.mean)
        return True


def cusparse(bench: Bench, bits: int) -> dict[str, tuple[float, int]]:
    """Return the times of cuSPARSE's algorithms, with all values 1."""
    import cupyx.cusparse as wrapped
    from cupy_backends.cuda.libs import cusparse as lib
    from cupyx.scipy import sparse

    graph, dtype = bench.graph, cp.float32 if bits == 32 else cp.float64
    ones = cp.ones(graph.nvals, dtype)
    shape = (graph.size, graph.size)
    matrix = sparse.csr_matrix((ones, graph.indices, graph.indptr), shape=shape)
    u, y = bench.u[bits], bench.y[bits]
    handle = cp.cuda.device.get_cusparse_handle()
    a, x, out = (
        wrapped.SpMatDescriptor.create(matrix), wrapped.DnVecDescriptor.create(u),
        wrapped.DnVecDescriptor.create(y),
    )  # fmt: skip
    one, zero = np.array(1, dtype), np.array(0, dtype)
    kind = 0 if bits == 32 else 1  # CUDA_R_32F, CUDA_R_64F
    found = {}
    for name, algorithm in (("default", 0), ("ALG1", 2), ("ALG2", 3)):
        given = (
            handle, 0, one.ctypes.data, a.desc, x.desc, zero.ctypes.data, out.desc, kind, algorithm
        )  # fmt: skip
        scratch = cp.empty(max(1, lib.spMV_bufferSize(*given)), cp.int8)
        y.fill(cp.nan)
        lib.spMV(*given, scratch.data.ptr)
        wrong = int(cp.count_nonzero(y != bench.expected))
        time_of = bench.time(lambda given=given, at=scratch.data.ptr: lib.spMV(*given, at))
        found[f"cuSPARSE FP{bits} {name}"] = time_of, wrong
    return found


def plain_cusparse(bench: Bench) -> dict[str, tuple[float, int]]:
    """Return the time of CuPy's own call, if the library's is not reachable."""
    from cupyx.scipy import sparse

    graph, u = bench.graph, bench.u[32]
    ones = cp.ones(graph.nvals, cp.float32)
    matrix = sparse.csr_matrix((ones, graph.indices, graph.indptr), shape=(graph.size, graph.size))
    wrong = int(cp.count_nonzero(matrix @ u != bench.expected))
    return {"CuPy csr @ x (host's time included)": (bench.time(lambda: matrix @ u), wrong)}


# -------------------------------------------------------------------------------------- report
def graphs(library: Library) -> Iterator[tuple[str, Callable[[Graph | None], Graph]]]:
    """Yield names and makers; a maker receives the previous graph."""
    yield "kron21", lambda _: kronecker(library, "kron21", 21, 44, keep=True)
    yield "kron21deg", lambda last: by_degree(last, "kron21deg")
    yield "road", lambda _: grid("road", 1250, 0.63)
    yield "mesh8", lambda _: mesh("mesh8", 1_000_000, 8, 2000)
    yield "web", lambda _: web("web", 1_000_000, 20)
    yield "kron20", lambda _: kronecker(library, "kron20", 20, 16)
    yield "grid", lambda _: grid("grid", 1250, 1.0)
    yield "random8", lambda _: mesh("random8", 1_000_000, 8, 499_999)


def say(text: str) -> None:
    """Print and flush."""
    print(text, flush=True)


def measure(bench: Bench, chosen: list[Variant]) -> dict[str, Any]:
    """Return the times of all variants on one graph, and the errors."""
    times, wrong = {}, {}
    for variant in chosen:
        if not bench.suits(variant):
            continue
        try:
            times[variant.title], bad = bench.run(variant)
        except Exception as error:  # noqa: BLE001 - go on with the others
            wrong[variant.title] = str(error)[:120]
            continue
        if bad:
            wrong[variant.title] = f"{bad} rows"
    for work in (lambda: cusparse(bench, 32), lambda: cusparse(bench, 64)):
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - as above
            wrong["cuSPARSE"] = str(error)[:120]
            found = plain_cusparse(bench)
        for name, (micros, bad) in found.items():
            times[name] = micros
            if bad:
                wrong[name] = f"{bad} rows"
    return {"us": times, "wrong": wrong}


def table(records: dict[str, Any], registers: dict[str, str]) -> list[str]:
    """Return lines: variants, microseconds and billions of gathers per second."""
    names = list(dict.fromkeys(name for record in records.values() for name in record["us"]))
    lines = ["".join([f"{'us (G/s)':34}{'':9}", *(f"{name:>15}" for name in records)])]
    for name in names:
        cells = []
        for record in records.values():
            micros = record["us"].get(name)
            rate = f"{micros:.1f} ({record['nvals'] / micros / 1e3:.0f})" if micros else "-"
            cells.append(f"{rate + ('!' if name in record['wrong'] else ''):>15}")
        lines.append("".join([f"{name:34.34}{registers.get(name, ''):9}", *cells]))
    return lines


def main() -> int:
    """Measure, print, write the record; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--graphs", default="", help="names, separated by commas; all if empty")
    parser.add_argument("--only", default="", help="first letters of variants, separated by commas")
    parser.add_argument("--budget", type=float, default=80, help="latest start of a graph, s")
    parser.add_argument("--parts", type=int, default=10, help="parallel compilers")
    options = parser.parse_args()
    began = time.perf_counter()
    only = tuple(filter(None, options.only.split(",")))
    chosen = [variant for variant in variants() if variant.name.startswith(only or ("",))]
    library = Library(chosen, options.parts)
    cp.random.seed(3)
    cp.ones(1).sum()  # create the device's context while nvcc runs
    library.wait()
    resources = library.resources()
    registers = {variant.title: resources[name] for variant, name in library.names.items()}
    say(f"compiled after {time.perf_counter() - began:.1f} s")
    records: dict[str, Any] = {}
    wanted = set(filter(None, options.graphs.split(",")))
    last: Graph | None = None
    for name, make in graphs(library):
        if (wanted and name not in wanted) or time.perf_counter() - began > options.budget:
            say(f"{name}: left out")
            continue
        last = graph = make(last)
        bench = Bench(library, graph)
        record = {"rows": graph.size, "nvals": graph.nvals, "floor_us": graph.floor}
        records[name] = record | measure(bench, chosen) | {"build": graph.build}
        say(
            f"{name}: {graph.size} rows, {graph.nvals} entries, longest "
            f"{int(cp.diff(graph.indptr).max())}, floor {graph.floor:.1f} us, {graph.build}, "
            f"after {time.perf_counter() - began:.1f} s"
        )
        for title, text in records[name]["wrong"].items():
            say(f"  WRONG {title}: {text}")
        if options.out:
            found = {"registers": registers, "graphs": records}
            options.out.write_text(json.dumps(found, indent=1) + "\n")
        del bench
        cp.get_default_memory_pool().free_all_blocks()
    for line in table(records, registers):
        say(line)
    shutil.rmtree(library.folder)
    return 1 if any(record["wrong"] for record in records.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
