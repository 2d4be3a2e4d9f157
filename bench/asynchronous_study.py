"""Shortest paths as one kernel: with a barrier an iteration, with few barriers, and with none.

Run on a machine with a GPU and CuPy, from the repository's root; nvcc is not needed::

    PYTHONPATH=src python bench/asynchronous_study.py --out bench/results/asynchronous_study.json
    PYTHONPATH=src python bench/asynchronous_study.py --graphs USA-road-NE --sweep

The kernels are in `asynchronous_study.cu`; what is expected, and why, in
docs/decisions/0040-asynchronous-schedules.md. Weights are whole numbers and distances FP32, below
2**24, so every schedule has the same result to the last bit. It must equal SciPy's Dijkstra, or on
large graphs Semira's own result, which must be a fixed point with a tight edge into every reached
vertex. Times are the device's, medians of five, calls queued behind a kernel that holds it;
``prepare_ms``, part of ``ms``, is what it takes to forget the search before. A kernel that exceeds
``--limit`` gives up, and says so; it cannot hang.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semira.bench.graphs import BenchGraph, load_bench_graph

HERE = Path(__file__).resolve().parent

GRAPHS = ("minnesota", "delaunay_n16", "USA-road-NE", "grid4900")

#: Members of the kernels' `Problem`, of 8 bytes each.
PROBLEM = (
    "indptr", "indices", "weights", "distance", "dirty", "nearest", "claimed", "lists", "control",
    "vertices", "source", "words", "rounds", "width", "ask", "fences", "limit",
)  # fmt: skip

#: Bytes of the kernels' `Control`; where it says why a kernel ended, in words of 4 bytes, and where
#: the sums of 8 bytes are.
CONTROL_BYTES, STOP = 552, 32
SUMS = {"edges": 64, "vertices": 65, "rounds": 66, "longest": 67, "phases": 68}

#: Why a kernel ended, by the kernels' numbers.
ENDS = ("never ended", "done", "gave up")

#: Blocks that `nearest` has room for.
MOST_BLOCKS = 4096

#: Vertices up to which SciPy says what is right; launches that are timed, or as many as fit so many
#: seconds; clocks of a second.
FEW_VERTICES, TRIALS, ENOUGH_S, CLOCKS = 2_000_000, 5, 0.5, 2.0e9

#: Vertices from which an unbounded window is not tried: it reads hundreds of times the graph.
MANY_VERTICES = 8_000_000


@dataclass(frozen=True)
class Variant:
    """A kernel and what it is started with.

    Attributes
    ----------
    kind : {"synchronous", "local_rounds", "free_running"}
    threads : int
        Of a block.
    blocks : int
        Of a multiprocessor.
    rounds : int
        Of a block between two barriers, ``local_rounds`` alone.
    width : int
        Of the window in units of weight; 0: none.
    ask : bool
        Whether a distance is read before it is lowered.
    fences : bool
        Whether bits and distances are ordered as CUDA's model of memory asks. Without, results rest
        on what hardware does; ``synchronous`` needs none.
    """

    kind: str
    threads: int
    blocks: int
    rounds: int = 0
    width: int = 0
    ask: bool = True
    fences: bool = True

    @property
    def title(self) -> str:
        """What reports call it.

        Examples
        --------
        >>> Variant("local_rounds", 512, 2, 8, 512).title
        'local_rounds 512x2 rounds 8 width 512'
        >>> Variant("free_running", 256, 1, ask=False, fences=False).title
        'free_running 256x1 width none, not asked, no fences'
        """
        words = [self.kind, f"{self.threads}x{self.blocks}"]
        if self.kind == "local_rounds":
            words.append(f"rounds {self.rounds}")
        if self.kind != "synchronous":
            words.append(f"width {self.width or 'none'}")
        marks = ["", *(["not asked"] * (not self.ask)), *(["no fences"] * (not self.fences))]
        return " ".join(words) + ", ".join(marks)

    def layout(self, vertices: int, multiprocessors: int) -> tuple[int, int]:
        """Return the blocks of a launch, and the words of the range of each.

        Examples
        --------
        >>> Variant("free_running", 256, 1).layout(1_524_453, 132)
        (132, 364)
        >>> Variant("local_rounds", 256, 4, 8).layout(100, 132)
        (528, 1)
        """
        blocks = self.blocks * multiprocessors
        # One block of free_running watches the others.
        owners = blocks - (self.kind == "free_running")
        return blocks, math.ceil(math.ceil(vertices / 32) / owners)

    def shared_bytes(self, words: int) -> int:
        """Return the dynamic shared memory of a block: a bit for each vertex that waits."""
        return 0 if self.kind == "synchronous" else 4 * words


#: What is measured unless a sweep is asked for. Widths are 4, 16 and 64 mean weights.
VARIANTS = (
    Variant("synchronous", 512, 2),
    Variant("synchronous", 1024, 1),
    *(Variant("local_rounds", 512, 1, *each) for each in ((1, 512), (2, 512), (8, 512), (8, 2048))),
    *(Variant("free_running", 512, 1, 0, width) for width in (128, 512, 2048, 0)),
    Variant("free_running", 256, 1, 0, 512),
    Variant("free_running", 256, 4, 0, 512),
    Variant("free_running", 256, 4, 0, 128),
    Variant("free_running", 512, 1, 0, 512, ask=False),
    Variant("free_running", 512, 1, 0, 512, ask=False, fences=False),
)


def sweep() -> Iterator[Variant]:
    """Yield many variants."""
    shapes = (128, 1), (128, 4), (256, 1), (256, 4), (512, 2), (1024, 1)
    widths = 128, 256, 512, 1024, 2048, 8192
    yield from (Variant("synchronous", *shape) for shape in shapes)
    for shape, rounds, width in itertools.product(shapes, (1, 2, 4, 8, 32), widths):
        yield Variant("local_rounds", *shape, rounds, width)
    for shape, width, ask in itertools.product(shapes, widths, (True, False)):
        yield Variant("free_running", *shape, 0, width, ask)


def source() -> str:
    """Return the kernels' text."""
    return (HERE / "asynchronous_study.cu").read_text(encoding="utf-8")


def members(variant: Variant, words: int, given: Mapping[str, int]) -> np.ndarray:
    """Return the `Problem` of a launch: int64[17], from addresses and sizes by name."""
    known = {
        **given, "words": words, "rounds": variant.rounds, "width": variant.width,
        "ask": variant.ask, "fences": variant.fences and variant.kind != "synchronous",
    }  # fmt: skip
    return np.array([known[name] for name in PROBLEM], np.int64)


def outcome(control: np.ndarray) -> dict[str, Any]:
    """Return why a kernel ended, and its sums, from the bytes of its `Control`."""
    sums = control.view(np.uint64)
    return {
        "end": ENDS[int(control.view(np.uint32)[STOP])],
        **{name: int(sums[place]) for name, place in SUMS.items()},
    }


def why_not_shortest(xp: Any, graph: BenchGraph, distance: Any, start: int) -> str:
    """Return what is wrong with distances along positive weights; nothing is wrong if empty.

    Distances that no edge lowers, with an edge into every other reached vertex that explains it,
    are those of shortest paths.
    """
    tails, heads = graph.tails, graph.heads
    weights = xp.asarray(graph.arrays.entry_values().astype(np.float32))
    if not bool((weights > 0).all()):
        return "weights are not positive"
    if float(distance[start]) != 0:
        return "the source is not at 0"
    offers = distance[tails] + weights
    if bool((offers < distance[heads]).any()):
        return "an edge lowers a distance"
    explained = ~xp.isfinite(distance)
    explained[heads[offers == distance[heads]]] = True
    explained[start] = True
    return "" if bool(explained.all()) else "no edge explains a distance"


# ---------------------------------------------------------------------------------------- the GPU
class Bench:
    """One graph on the GPU, and what every variant must find."""

    def __init__(self, module: Any, graph: BenchGraph, limit_s: float) -> None:
        import cupy as cp

        self.module, self.graph, self.start = module, graph, graph.sources(0)[0]
        arrays, n = graph.arrays.ordinary(), graph.n
        self.multiprocessors = cp.cuda.Device().attributes["MultiProcessorCount"]
        self.kept = {
            "indptr": cp.asarray(arrays.indptr.astype(np.int32)),
            "indices": cp.asarray(arrays.indices.astype(np.int32)),
            "weights": cp.asarray(arrays.entry_values().astype(np.float32)),
            "distance": cp.empty(n, cp.float32), "dirty": cp.empty(n // 32 + 1, cp.uint32),
            "nearest": cp.empty(MOST_BLOCKS, cp.uint32), "claimed": cp.empty(n, cp.uint32),
            "lists": cp.empty(2 * n, cp.int32), "control": cp.zeros(CONTROL_BYTES // 8, cp.uint64),
        }  # fmt: skip
        self.numbers = {
            "vertices": n, "source": self.start, "limit": int(limit_s * CLOCKS),
            **{name: each.data.ptr for name, each in self.kept.items()},
        }  # fmt: skip
        self.expected: Any = None

    def ours(self) -> dict[str, Any]:
        """Time Semira's own search; it decides what is right where SciPy would take long."""
        import cupy as cp

        import semira as gb
        from semira.bench.device import held_for, profile_calls
        from semira.bench.timer import clock

        matrix = self.graph.matrix_in("FP32").to("cuda")
        gb.algorithms.sssp(matrix, self.start, dtype="FP32")
        found, taken_s = clock(lambda: gb.algorithms.sssp(matrix, self.start, dtype="FP32"))
        facts = profile_calls(
            "cuda", lambda: gb.algorithms.sssp(matrix, self.start, dtype="FP32"),
            held_s=held_for([taken_s]),
        )  # fmt: skip
        distance = cp.asarray(found.distance.to_dense(np.inf).astype(np.float32))
        if self.graph.n <= FEW_VERTICES:
            from scipy.sparse.csgraph import dijkstra

            right = dijkstra(self.graph.weighted, indices=self.start)
            self.expected = cp.asarray(right.astype(np.float32))
        else:
            self.expected = distance
        wrong = why_not_shortest(cp, self.graph, self.expected, self.start)
        return {
            "ms": 1e3 * statistics.median(facts["device_s"]), "method": found.method,
            "end": "done", "is_right": not wrong and bool((distance == self.expected).all()),
            "wrong": wrong, "iterations": found.iterations,
        }  # fmt: skip

    def launcher(self, variant: Variant) -> Callable[[], tuple[float, float]]:
        """Return what searches once, and returns milliseconds: of all, and of the preparation."""
        import cupy as cp

        from semira.bench.peers.cupy import hold

        blocks, words = variant.layout(self.graph.n, self.multiprocessors)
        shared = variant.shared_bytes(words)
        problem = cp.asarray(members(variant, words, self.numbers))
        prepare = self.module.get_function("prepare")
        kernel = self.module.get_function(variant.kind)
        if shared > 0:
            kernel.max_dynamic_shared_size_bytes = shared
        control = self.kept["control"]

        def search() -> tuple[float, float]:
            start, ready, end = (cp.cuda.Event() for _ in range(3))
            hold(cp.cuda.get_current_stream(), 5e-4)
            start.record()
            control.fill(0)
            prepare((4 * self.multiprocessors,), (256,), (problem,))
            ready.record()
            kernel((blocks,), (variant.threads,), (problem,), shared_mem=shared)
            end.record()
            end.synchronize()
            times = cp.cuda.get_elapsed_time(start, end), cp.cuda.get_elapsed_time(start, ready)
            return times[0], times[1]

        return search

    def run(self, variant: Variant) -> dict[str, Any]:
        """Check and time a variant: every launch is checked."""
        import cupy as cp

        search = self.launcher(variant)
        samples: list[tuple[float, float]] = []
        is_right = True
        for trial in range(1 + TRIALS):
            took = search()
            found = outcome(cp.asnumpy(self.kept["control"]))
            is_right = is_right and bool((self.kept["distance"] == self.expected).all())
            # The first launch is timed only if there is no other one.
            samples = [took] if trial < 2 else [*samples, took]
            is_enough = trial > 0 and sum(ms for ms, _ in samples) > 1e3 * ENOUGH_S
            if is_enough or found["end"] != "done":
                break
        whole, prepared = (statistics.median(each) for each in zip(*samples, strict=True))
        return {"ms": whole, "prepare_ms": prepared, **found, "is_right": is_right}


def suits(variant: Variant, vertices: int) -> bool:
    """Return whether a variant makes sense for a graph.

    Examples
    --------
    >>> suits(Variant("free_running", 256, 1), 24_010_000)
    False
    """
    return vertices < MANY_VERTICES or variant.kind == "synchronous" or variant.width > 0


def measured(
    module: Any, name: str, variants: list[Variant], limit_s: float, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return what every variant took on a graph."""
    import cupy as cp

    graph = load_bench_graph(name, xp=cp)
    bench = Bench(module, graph, limit_s)
    entries = graph.arrays.nvals
    say(f"{name}: {graph.n:,} vertices, {entries:,} entries, source {bench.start}")
    ways = {"semira": bench.ours()}
    report(say, "semira", ways["semira"], entries)
    for variant in variants:
        if not suits(variant, graph.n):
            continue
        try:
            ways[variant.title] = bench.run(variant)
        except cp.cuda.driver.CUDADriverError as error:
            # More blocks than fit at once: the others shall be measured.
            ways[variant.title] = {"ms": None, "end": str(error)[:80], "is_right": False}
        report(say, variant.title, ways[variant.title], entries)
    return {"vertices": graph.n, "entries": entries, "source": bench.start, "ways": ways}


def report(say: Callable[[str], None], title: str, way: dict[str, Any], entries: int) -> None:
    """Print one line."""
    end = "" if way["end"] == "done" else f"  {way['end'].upper()}"
    right = "" if way["is_right"] or end else f"  WRONG {way.get('wrong', '')}"
    rest = {key: way[key] for key in ("phases", "rounds", "longest", "iterations") if key in way}
    read = f"{way['edges'] / entries:8.2f} of the edges" if "edges" in way else ""
    taken = f"{way['ms']:10.3f} ms" if way["ms"] is not None else ""
    say(f"  {title:62} {taken} {read}{end}{right}  {rest}")


def main() -> int:
    """Measure, print and write; 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--sweep", action="store_true", help="many variants, of few graphs")
    parser.add_argument("--only", default="", help="what titles begin with, by commas")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds before a kernel gives up")
    parser.add_argument("--seconds", type=float, default=150.0, help="no graph begins after them")
    given = parser.parse_args()
    import cupy as cp

    from semira.bench.environment import describe_environment

    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"{time.perf_counter() - began:6.1f} s  {text}", flush=True)  # noqa: T201 - the report

    module = cp.RawModule(code=source(), options=("-std=c++17",), enable_cooperative_groups=True)
    module.get_function("prepare")
    say("compiled")
    first = tuple(given.only.split(","))
    variants = [
        each for each in (sweep() if given.sweep else VARIANTS) if each.title.startswith(first)
    ]
    records: dict[str, Any] = {}
    for name in given.graphs.split(","):
        if time.perf_counter() - began > given.seconds:
            say(f"{name}: left out, no time")
            continue
        records[name] = measured(module, name, variants, given.limit, say)
        cp.get_default_memory_pool().free_all_blocks()
        if given.out:
            found = {"environment": describe_environment("cuda"), "graphs": records}
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    ways = [way for record in records.values() for way in record["ways"].values()]
    return 0 if ways and all(way["is_right"] for way in ways if way["end"] == "done") else 1


if __name__ == "__main__":
    raise SystemExit(main())
