"""Searches in one kernel: with a barrier per iteration, with few barriers, and with none.

Run on a machine with a GPU and CuPy, from the repository's root; nvcc is not needed::

    python -m benchmarks.scripts.asynchronous_study --out bench/results/asynchronous_study.json
    python -m benchmarks.scripts.asynchronous_study --graphs USA-road-NE --sweep

The kernels are in `asynchronous_study.cu`; predictions and reasons are in
docs/decisions/0040-asynchronous-schedules.md. Shortest paths, levels (all weights 1) and components
(the smallest vertex spreads) are minima: every schedule ends with the same result. Distances are
integers below 2**24, so FP32 represents them exactly. Results must equal SciPy's, or on large
graphs Semira's own, which must be a fixed point with a tight edge into every reached vertex.

Times are device times, medians of five calls queued behind a kernel that blocks the stream.
``prepare_ms``, part of ``ms``, is the time to reset the search before. A kernel that exceeds
``--limit`` gives up and reports it; it cannot hang.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semira.bench.graphs import BenchGraph, load_bench_graph

HERE = Path(__file__).resolve().parent

GRAPHS = ("minnesota", "delaunay_n16", "USA-road-NE", "grid4900")

SEARCHES = ("sssp", "bfs", "components")

#: Prints a line.
Say = Callable[[str], None]

#: Members of the kernels' `Problem`, of 8 bytes each.
PROBLEM = (
    "indptr", "indices", "weights", "distance", "dirty", "nearest", "claimed", "lists", "control",
    "vertices", "source", "words", "rounds", "width", "labels", "ask", "fences", "limit",
)  # fmt: skip

#: Bytes of the kernels' `Control`; offset of the reason why a kernel ended, in words of 4 bytes,
#: and offsets of the sums, in words of 8 bytes.
CONTROL_BYTES, STOP = 552, 32
SUMS = {"edges": 64, "vertices": 65, "rounds": 66, "longest": 67, "phases": 68}

#: Reasons why a kernel ended, indexed by the kernels' numbers.
ENDS = ("never ended", "done", "gave up")

#: Most blocks that fit in `nearest`.
MOST_BLOCKS = 4096

#: Most vertices for which SciPy gives the expected result; timed launches, fewer once they take so
#: many seconds; clock cycles per second.
FEW_VERTICES, TRIALS, ENOUGH_S, CLOCKS = 2_000_000, 5, 0.5, 2.0e9

#: From this many vertices on, only the reference search runs without a window: on a grid such a
#: search reads the graph hundreds of times.
MANY_VERTICES = 8_000_000


@dataclass(frozen=True)
class Variant:
    """A kernel and its launch parameters.

    Attributes
    ----------
    kind : {"synchronous", "local_rounds", "free_running"}
    threads : int
        Per block.
    blocks : int
        Per multiprocessor.
    rounds : int
        Per block between two barriers; only for ``local_rounds``.
    width : int
        Of the window, in mean weights; 0: no window.
    ask : bool
        Whether a distance is read before it is lowered.
    fences : bool
        Whether bits and distances are ordered as CUDA's memory model requires. Without fences,
        results depend on the hardware; ``synchronous`` needs none.
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
        """Name in reports.

        Examples
        --------
        >>> Variant("local_rounds", 512, 2, 8, 16).title
        'local_rounds 512x2 rounds 8 width 16'
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
        """Return the number of blocks of a launch, and of words in the range of each.

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
        """Return the dynamic shared memory of a block: a bit for each waiting vertex."""
        return 0 if self.kind == "synchronous" else 4 * words


#: The variants measured without ``--sweep``.
VARIANTS = (
    Variant("synchronous", 512, 2),
    *(Variant("local_rounds", 512, 1, *each) for each in ((1, 16), (2, 16), (8, 16), (8, 64))),
    *(Variant("free_running", 512, 1, 0, width) for width in (4, 16, 64, 0)),
    Variant("free_running", 256, 4, 0, 16),
    Variant("free_running", 512, 1, 0, 16, ask=False),
    Variant("free_running", 512, 1, 0, 16, fences=False),
)


def sweep() -> Iterator[Variant]:
    """Yield the variants of ``--sweep``."""
    shapes = (128, 1), (128, 4), (256, 1), (256, 4), (512, 2), (1024, 1)
    widths = 2, 4, 8, 16, 32, 64, 256
    yield from (Variant("synchronous", *shape) for shape in shapes)
    for shape, rounds, width in itertools.product(shapes, (1, 2, 4, 8, 32), widths):
        yield Variant("local_rounds", *shape, rounds, width)
    for shape, width, ask in itertools.product(shapes, widths, (True, False)):
        yield Variant("free_running", *shape, 0, width, ask)


def suited(variants: Iterable[Variant], search: str, vertices: int) -> list[Variant]:
    """Return the distinct variants that make sense for a search in a graph.

    Labels have no window: their size alone does not tell which of them are final.

    Examples
    --------
    >>> [each.title for each in suited(VARIANTS[:3], "components", 2_642)]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['synchronous 512x2', 'local_rounds 512x1 rounds 1 width none',
     'local_rounds 512x1 rounds 2 width none']
    >>> [each.title for each in suited(VARIANTS, "components", 24_010_000)]
    ['synchronous 512x2']
    """
    if search == "components":
        variants = (replace(each, width=0) for each in variants)
    return [
        each
        for each in dict.fromkeys(variants)
        if vertices < MANY_VERTICES or each.kind == "synchronous" or each.width > 0
    ]


def source() -> str:
    """Return the source of the kernels."""
    return (HERE / "asynchronous_study.cu").read_text(encoding="utf-8")


def members(variant: Variant, words: int, mean: float, given: Mapping[str, int]) -> np.ndarray:
    """Return the `Problem` of a launch: int64[18], from addresses and sizes by name.

    `mean` is that of the weights, the unit of windows.
    """
    known = {
        **given, "words": words, "rounds": variant.rounds, "width": math.ceil(variant.width * mean),
        "ask": variant.ask, "fences": variant.fences and variant.kind != "synchronous",
    }  # fmt: skip
    return np.array([known[name] for name in PROBLEM], np.int64)


def outcome(control: np.ndarray) -> dict[str, Any]:
    """Return the reason why a kernel ended, and its sums, from the bytes of its `Control`."""
    sums = control.view(np.uint64)
    return {
        "end": ENDS[int(control.view(np.uint32)[STOP])],
        **{name: int(sums[place]) for name, place in SUMS.items()},
    }


def why_not_shortest(graph: BenchGraph, weights: Any, distance: Any, start: int) -> str:
    """Return what is wrong with distances along positive weights; empty if they are right.

    Distances are shortest if no edge lowers one and a tight edge leads into every other reached
    vertex.
    """
    xp, tails, heads = graph.xp, graph.tails, graph.heads
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


def by_scipy(search: str, graph: BenchGraph, start: int) -> np.ndarray:
    """Return the result of a search by SciPy."""
    from scipy.sparse.csgraph import connected_components, dijkstra

    if search == "components":
        _, part = connected_components(graph.weighted, directed=False)
        _, first = np.unique(part, return_index=True)
        return first[part]
    return dijkstra(graph.weighted, indices=start, unweighted=search == "bfs")


# ---------------------------------------------------------------------------------------- the GPU
class Bench:
    """A search in one graph on the GPU, and the result that every variant must find."""

    def __init__(self, module: Any, graph: BenchGraph, search: str, limit_s: float) -> None:
        import cupy as cp

        self.module, self.graph, self.search = module, graph, search
        self.start = graph.sources(0)[0]
        arrays, n = graph.arrays.ordinary(), graph.n
        weights = np.ones(arrays.nvals) if search == "bfs" else arrays.entry_values()
        self.mean = float(weights.mean())
        self.multiprocessors = cp.cuda.Device().attributes["MultiProcessorCount"]
        self.kept = {
            "indptr": cp.asarray(arrays.indptr.astype(np.int32)),
            "indices": cp.asarray(arrays.indices.astype(np.int32)),
            "weights": cp.asarray(weights.astype(np.float32)),
            "distance": cp.empty(n, cp.uint32), "dirty": cp.empty(n // 32 + 1, cp.uint32),
            "nearest": cp.empty(MOST_BLOCKS, cp.uint32), "claimed": cp.empty(n, cp.uint32),
            "lists": cp.empty(2 * n, cp.int32), "control": cp.zeros(CONTROL_BYTES // 8, cp.uint64),
        }  # fmt: skip
        self.numbers = {
            "vertices": n, "source": self.start, "labels": search == "components",
            "limit": int(limit_s * CLOCKS),
            **{name: each.data.ptr for name, each in self.kept.items()},
        }  # fmt: skip
        self.expected: Any = None

    def _bits(self, found: Any) -> Any:
        """Return a result as the bits that the kernels keep."""
        import cupy as cp

        if self.search == "components":
            return cp.asarray(found).astype(cp.uint32)
        return cp.asarray(found).astype(cp.float32).view(cp.uint32)

    def _search(self, matrix: Any) -> tuple[Any, np.ndarray]:
        """Return the run of Semira's own search, and its result on the host."""
        from semira import algorithms

        if self.search == "sssp":
            # Pins the loop: by default these graphs use the schedules studied here.
            run = algorithms.sssp(matrix, self.start, dtype="FP32", policy="auto")
            return run, run.distance.to_dense(np.inf)
        if self.search == "bfs":
            run = algorithms.bfs(matrix, self.start)
            levels = run.level.to_dense(-1)
            # Integers have no infinity.
            return run, np.where(levels < 0, np.inf, levels)
        run = algorithms.connected_components(matrix)
        return run, run.label.to_dense(-1)

    def ours(self) -> dict[str, Any]:
        """Time Semira's own search; it gives the expected result where SciPy would take long."""
        import cupy as cp

        from semira.bench.device import profile_calls

        matrix = self.graph.matrix_in("FP32").to("cuda")
        run, found = self._search(matrix)
        facts = profile_calls("cuda", lambda: self._search(matrix), times=TRIALS)
        own = self._bits(found)
        few = self.graph.n <= FEW_VERTICES
        self.expected = self._bits(by_scipy(self.search, self.graph, self.start)) if few else own
        wrong = ""
        if self.search != "components":
            distance, weights = self.expected.view(cp.float32), self.kept["weights"]
            wrong = why_not_shortest(self.graph, weights, distance, self.start)
        return {
            "ms": 1e3 * statistics.median(facts["device_s"]), "end": "done",
            "is_right": not wrong and bool((own == self.expected).all()),
            "wrong": wrong, "iterations": run.iterations,
        }  # fmt: skip

    def launcher(self, variant: Variant) -> Callable[[], tuple[float, float]]:
        """Return a function that searches once and returns total and preparation milliseconds."""
        import cupy as cp

        from semira.bench.device import hold

        blocks, words = variant.layout(self.graph.n, self.multiprocessors)
        shared = variant.shared_bytes(words)
        problem = cp.asarray(members(variant, words, self.mean, self.numbers))
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


def measured(
    module: Any, graph: BenchGraph, search: str, every: Iterable[Variant], limit_s: float, say: Say
) -> dict[str, Any]:
    """Return the times of every variant of a search on a graph."""
    import cupy as cp

    bench = Bench(module, graph, search, limit_s)
    entries = graph.arrays.nvals
    say(f"{search}, {graph.name}: {graph.n:,} vertices, {entries:,} entries, from {bench.start}")
    ways = {"semira": bench.ours()}
    report(say, "semira", ways["semira"], entries)
    for variant in suited(every, search, graph.n):
        try:
            ways[variant.title] = bench.run(variant)
        except cp.cuda.driver.CUDADriverError as error:
            # More blocks than fit at once: go on with the other variants.
            ways[variant.title] = {"ms": None, "end": str(error)[:80], "is_right": False}
        report(say, variant.title, ways[variant.title], entries)
    return {
        "graph": graph.name, "search": search, "vertices": graph.n, "entries": entries,
        "source": bench.start, "mean_weight": bench.mean, "ways": ways,
    }  # fmt: skip


def report(say: Say, title: str, way: dict[str, Any], entries: int) -> None:
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
    parser.add_argument("--searches", default=",".join(SEARCHES))
    parser.add_argument("--sweep", action="store_true", help="many variants, few graphs")
    parser.add_argument("--only", default="", help="prefixes of titles, separated by commas")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds before a kernel gives up")
    parser.add_argument("--seconds", type=float, default=150.0, help="latest start of a graph, s")
    given = parser.parse_args()
    import cupy as cp

    from semira.bench.environment import describe_environment

    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"{time.perf_counter() - began:6.1f} s  {text}", flush=True)

    module = cp.RawModule(code=source(), options=("-std=c++17",), enable_cooperative_groups=True)
    module.get_function("prepare")
    say("compiled")
    first = tuple(given.only.split(","))
    every = sweep() if given.sweep else VARIANTS
    variants = [each for each in every if each.title.startswith(first)]
    records: list[dict[str, Any]] = []
    for name in given.graphs.split(","):
        if time.perf_counter() - began > given.seconds:
            say(f"{name}: left out, no time")
            continue
        graph = load_bench_graph(name, xp=cp)
        for search in given.searches.split(","):
            of = graph.undirected if search == "components" else graph
            records.append(measured(module, of, search, variants, given.limit, say))
            cp.get_default_memory_pool().free_all_blocks()
            if given.out:
                found = {"environment": describe_environment("cuda"), "results": records}
                given.out.write_text(
                    json.dumps(found, indent=1, default=str) + "\n", encoding="utf-8"
                )
    ways = [way for record in records for way in record["ways"].values()]
    return 0 if ways and all(way["is_right"] for way in ways if way["end"] == "done") else 1


if __name__ == "__main__":
    raise SystemExit(main())
