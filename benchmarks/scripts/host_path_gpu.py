"""Host cost of a warm call on the cuda backend, step by step.

Run on a machine with a GPU from the repository's root::

    python -m benchmarks.scripts.host_path_gpu --out host_path.json

Microseconds by the host's clock, the minimum of 5 medians: each of `--repeats` repetitions is
submitted without waiting, and the host waits for the device only between batches (and where the
call itself waits). Objects have 34 positions, like the karate club.

`calls` are public calls from Python to Python, and the share that `CudaBackend.execute` takes of
them; `parts` are whole calls of algorithms, split into consecutive stages; `steps` are single steps
of a call, among them several ways to launch: the driver's function through
cuda.bindings (what the runtime does) or through ctypes, and cuda.core's `launch`.

`graphs` are whole calls on the real graphs present in the folder `SEMIRA_TEST_DATA`: time by the
host's clock, time of kernels by events, their difference, the parts, and the calls of the driver.
`first` is the first call in a fresh process, with kernels in the disk cache.
``--only graphs first`` measures only these.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import semira as gb
from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime import frame, launch
from semira.backends.registry import backend_for
from semira.bench.environment import describe_environment
from semira.engine import loops, remembered, run, warm
from semira.frontend import repeat as repeat_module

N = 34


def karate_like(value: Any = True) -> Any:
    """Return a symmetric matrix of 34 vertices and about 156 entries, all of equal value."""
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(0, N, 78), rng.integers(0, N, 78)
    keys = np.unique(np.concatenate([rows * N + cols, cols * N + rows]))
    return gb.Matrix.from_coo(keys // N, keys % N, value, nrows=N, ncols=N).to("cuda")


def calls() -> dict[str, Callable[[], Any]]:
    """Return the measured public calls."""
    graph = karate_like()
    weights = graph.apply("one").new("FP64")
    u = gb.Vector.from_coo([1, 3], [1.0, 2.0], size=N).to("cuda")
    v = gb.Vector.from_coo([1, 4], [1.0, 2.0], size=N).to("cuda")
    w = gb.Vector(float, N).to("cuda")
    front = gb.Vector.from_coo([1], True, size=N).to("cuda")
    seen = gb.Vector.from_coo([5], True, size=N).to("cuda")
    total = gb.Scalar.from_value(0.0)
    any_pair = gb.semiring.any_pair

    def masked_vxm() -> None:
        front(~seen.S, replace=True) << front.vxm(graph, any_pair)

    def mxv() -> None:
        w << weights.mxv(u, gb.semiring.plus_times)

    def ewise_add() -> None:
        w << u.ewise_add(v, gb.binary.plus)

    def apply() -> None:
        w << u.apply(gb.unary.ainv)

    def assign() -> None:
        w[:] << 1.0

    def masked_assign() -> None:
        w(seen.S) << 1.0

    def reduce() -> None:
        total << u.reduce("plus")

    def extract() -> None:
        u[1].new()

    return {
        "masked vxm": masked_vxm, "mxv": mxv, "ewise_add": ewise_add, "apply": apply,
        "assign": assign, "masked assign": masked_assign, "reduce": reduce,
        "extract element": extract,
        "ewise_add into a new vector": lambda: u.ewise_add(v, gb.binary.plus).new(),
        "empty vector": lambda: gb.Vector(float, N).to("cuda"),
        "vector of one entry": lambda: gb.Vector.from_coo([3], True, size=N).to("cuda"),
        "nvals (waits)": lambda: u.nvals,
        "element to Python (waits)": lambda: u.get(1),
        "bfs (waits)": lambda: gb.algorithms.bfs(graph, 1),
    }  # fmt: skip


def steps(backend: Any) -> dict[str, Callable[[], Any]]:
    """Return the single steps of a launch."""
    runtime, frames = backend.runtime, []
    execute = backend.execute

    def catch(executable: Any, bindings: Any) -> Any:
        frames.append((executable, bindings))
        return execute(executable, bindings)

    u = gb.Vector.from_coo([1, 3], [1.0, 2.0], size=N).to("cuda")
    w = gb.Vector(float, N).to("cuda")
    backend.execute = catch
    for _ in range(2):
        w << u.apply(gb.unary.ainv)
    backend.execute = execute
    executable, bindings = frames[-1]
    frame, threads = executable.frame, executable.lowered.shape.threads
    driver, queue = runtime._driver, runtime._queue
    library = ctypes.CDLL("libcuda.so.1").cuLaunchCooperativeKernel
    library.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p]
    raw = int(frame.kernel.function), int(queue)
    words = np.zeros(executable.lowered.table.size, np.int64)
    buffer, pinned = runtime.allocate(words.nbytes), runtime.pinned(len(words))
    place = int(buffer.handle)

    def by_bindings() -> None:
        runtime.launch(frame.kernel, frame.blocks, threads, frame.parameters)

    def by_ctypes() -> None:
        library(raw[0], frame.blocks, 1, 1, threads, 1, 1, 0, raw[1], frame.parameters)

    def same_objects(alive: Any = (u, w)) -> None:
        del alive
        execute(executable, bindings)

    return {
        "execute, same objects": same_objects,
        "check_process": runtime.check_process,
        "frame.holds": lambda: frame.holds(bindings, None),
        "launch by cuda.bindings": by_bindings,
        "launch by ctypes": by_ctypes,
        "event record": runtime.stream.record,
        "stream query": lambda: driver.cuStreamQuery(queue),
        "allocate and free 1 KB": lambda: runtime.allocate(1024).close(runtime.stream),
        "clear 1 KB": lambda: driver.cuMemsetD8Async(place, 0, words.nbytes, queue),
        "upload of a table, pageable": lambda: runtime.upload(words, buffer),
        "upload of a table, page-locked": lambda: runtime.upload(pinned, buffer),
        "download of one word (waits)": lambda: runtime.download(buffer, np.int64, 1),
        "wait for an idle stream": runtime.stream.sync,
        **empty_kernel(runtime),
    }


def empty_kernel(runtime: Any) -> dict[str, Callable[[], Any]]:
    """Return two ways to launch a kernel that takes one number; cuda.core passes no structs."""
    from cuda.core import LaunchConfig, Program, ProgramOptions, launch

    source = 'extern "C" __global__ void nothing(long long) {}'
    unit = Program(source, "c++", ProgramOptions(arch=runtime.arch))
    kernel = unit.compile("cubin").get_kernel("nothing")
    config = LaunchConfig(grid=1, block=32)
    function = runtime._driver.CUfunction(int(kernel.handle))
    number = ctypes.c_int64(7)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(number))
    place = ctypes.addressof(pointers)

    def by_bindings(keep: Any = (number, pointers)) -> None:
        del keep
        runtime._driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, runtime._queue, place, 0)

    return {
        "empty kernel by cuda.core": lambda: launch(runtime.stream, config, kernel, 7),
        "empty kernel by cuda.bindings": by_bindings,
    }


def measure(call: Callable[[], Any], repeats: int, backend: Any) -> float:
    """Return microseconds per call: the minimum of 5 medians of batches of 50."""
    for _ in range(3):
        call()
    best = float("inf")
    for _ in range(5):
        samples = []
        for _ in range(max(1, repeats // 250)):
            backend.synchronise()
            started = time.perf_counter()
            for _ in range(50):
                call()
            samples.append((time.perf_counter() - started) / 50)
        best = min(best, statistics.median(samples))
    return 1e6 * best


def inside(call: Callable[[], Any], backend: Any) -> float:
    """Return the microseconds of a call spent in `execute`; a median of 200."""
    execute, samples = backend.execute, []

    def timed(executable: Any, bindings: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(executable, bindings)
        finally:
            samples.append(time.perf_counter() - started)

    backend.execute = timed
    try:
        for _ in range(200):
            call()
    finally:
        backend.execute = execute
    backend.synchronise()
    return 1e6 * statistics.median(samples) if samples else 0.0


#: Parts of a whole call: a name, and the function that is timed.
PARTS = {
    "put": (CudaBackend, "put"),
    "put together": (CudaBackend, "put_all"),
    "execute": (CudaBackend, "execute"),
    "release": (CudaBackend, "release"),
    "describe": (repeat_module, "describe"),
    "recall": (remembered, "recall"),
    "record": (loops, "_record_cycle"),
    "read": (loops.warm, "read_loop"),
    "loop": (run, "run_loop"),
    "place": (warm.Asked, "bindings"),
    "bind": (frame.Frame, "holds"),
    "launch": (launch, "_launch"),
    "wait": (launch, "wait"),
    "decode": (launch, "read_outcome"),
}


def parts(call: Callable[[], Any], backend: Any, repeats: int = 300) -> dict[str, float]:
    """Return the microseconds of the parts of a whole call: medians, inner parts included.

    "loop" holds look-up and execution, with "place" and the rest inside; "whole" is all.
    """
    spent: dict[str, float] = {}
    kept = {name: getattr(*where) for name, where in PARTS.items()}

    def timed(name: str) -> Callable[..., Any]:
        def wrapped(*given: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return kept[name](*given, **named)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - started

        return wrapped

    samples: dict[str, list[float]] = {name: [] for name in ("whole", *PARTS)}
    for name, (owner, attribute) in PARTS.items():
        setattr(owner, attribute, timed(name))
    try:
        for _ in range(repeats):
            spent.clear()
            backend.synchronise()
            started = time.perf_counter()
            call()
            spent["whole"] = time.perf_counter() - started
            for name, listed in samples.items():
                listed.append(spent.get(name, 0.0))
    finally:
        for name, (owner, attribute) in PARTS.items():
            setattr(owner, attribute, kept[name])
    return {name: 1e6 * statistics.median(listed) for name, listed in samples.items()}


def whole_calls() -> dict[str, Callable[[], Any]]:
    """Return the algorithms measured in whole calls."""
    graph, lengths, algorithms = karate_like(), karate_like(1.0), gb.algorithms
    return {
        "bfs": lambda: algorithms.bfs(graph, 1),
        "bfs with parents": lambda: algorithms.bfs(graph, 1, parents=True),
        "sssp": lambda: algorithms.sssp(lengths, 1),
        "pagerank": lambda: algorithms.pagerank(graph, max_iterations=20),
        "connected_components": lambda: algorithms.connected_components(graph),
    }


#: Real graphs for whole calls.
GRAPHS = ("karate", "minnesota", "delaunay_n16", "USA-road-NE")

#: Numbers of calls that are timed, profiled and split into parts.
TIMED, PROFILED, CUT = 50, 7, 50


def real_graph(name: str) -> Any:
    """Return the symmetric pattern of a graph on the host, None if its file is missing."""
    path = Path(os.environ.get("SEMIRA_TEST_DATA", "../shared/data")) / f"{name}.npz"
    if not path.is_file():
        return None
    with np.load(path) as held:
        rows, cols, n = held["row"].astype(np.int64), held["col"].astype(np.int64), int(held["n"])
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    made = gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)
    made.symmetric = True
    return made


def graph_calls(host: Any) -> dict[str, Callable[[], Any]]:
    """Return the algorithms on one graph."""
    graph, algorithms = host.to("cuda"), gb.algorithms
    lengths = host.apply("one").new("FP32")
    lengths.symmetric = True
    lengths = lengths.to("cuda")
    return {
        "bfs": lambda: algorithms.bfs(graph, 1),
        "sssp": lambda: algorithms.sssp(lengths, 1),
        "pagerank": lambda: algorithms.pagerank(graph, tol=0, max_iterations=20, dtype="FP32"),
        "connected_components": lambda: algorithms.connected_components(graph, symmetric=True),
        "triangle_count": lambda: algorithms.triangle_count(graph, symmetric=True),
    }


def whole(call: Callable[[], Any], backend: Any) -> dict[str, Any]:
    """Return milliseconds of a whole call, of its kernels and of the rest; medians."""
    for _ in range(5):
        call()
    backend.synchronise()
    walls, devices = [], []
    for _ in range(TIMED):
        started = time.perf_counter()
        call()
        walls.append(1e3 * (time.perf_counter() - started))
    before = backend.statistics()
    call()
    after = backend.statistics()
    for _ in range(PROFILED):
        with backend.profiled() as profile:
            call()
        devices.append(profile.device_ms)
    wall, device = statistics.median(walls), statistics.median(devices)
    asked = ("synchronisations", "launches", "allocations", "bytes_allocated")
    return {
        "wall_ms": wall, "least_wall_ms": min(walls), "device_ms": device,
        "host_ms": wall - device, "parts_us": parts(call, backend, CUT),
        "asked": {name: getattr(after, name) - getattr(before, name) for name in asked},
    }  # fmt: skip


def measure_graphs(backend: Any) -> dict[str, Any]:
    """Return the figures of `whole` for each algorithm on each available graph."""
    found: dict[str, Any] = {}
    for name in GRAPHS:
        host = real_graph(name)
        if host is None:
            print(f"{name}: its file is missing")
            continue
        found[name] = {"nrows": host.nrows, "nvals": int(host.nvals)}
        for what, call in graph_calls(host).items():
            row = found[name][what] = whole(call, backend)
            times = ", ".join(
                f"{key} {row[key]:.3f}" for key in ("wall_ms", "device_ms", "host_ms")
            )
            print(f"{name:14} {what:22} {times}, {row['asked']}", flush=True)
    return found


#: Program of a fresh process; its argument is the name of an algorithm.
FRESH = """
import json, sys, time
marks = [time.perf_counter()]
import semira as gb
marks.append(time.perf_counter())
from semira.backends.registry import backend_for
backend = backend_for("cuda")
marks.append(time.perf_counter())
from bench.host_path_gpu import karate_like
graph = karate_like()
backend.synchronise()
modules, marks = len(sys.modules), [*marks, time.perf_counter()]
call = lambda: getattr(gb.algorithms, sys.argv[1])(graph, *map(int, sys.argv[2:]))
for _ in range(2):
    call()
    marks.append(time.perf_counter())
names = ("import_ms", "context_ms", "graph_ms", "first_ms", "second_ms")
record = {name: 1e3 * (b - a) for name, a, b in zip(names, marks, marks[1:])}
record["modules"] = len(sys.modules) - modules
record["compiled"], record["loaded"] = (
    getattr(backend.statistics(), name) for name in ("compiled", "loaded")
)
print(json.dumps(record))
"""


def first_calls() -> dict[str, Any]:
    """Return the times of first calls in fresh processes, after one run that fills the cache.

    The minimum of three processes.
    """
    found: dict[str, Any] = {}
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    environment = os.environ | {"PYTHONPATH": paths}
    for what in (("bfs", "1"), ("pagerank",), ("connected_components",), ("triangle_count",)):
        records = []
        for _ in range(4):
            done = subprocess.run(  # noqa: S603 - this file's own text
                [sys.executable, "-c", FRESH, *what], env=environment, cwd=root, check=True,
                capture_output=True, text=True,
            )  # fmt: skip
            records.append(json.loads(done.stdout.splitlines()[-1]))
        found[what[0]] = min(records[1:], key=lambda record: record["first_ms"])
        print(f"first {what[0]:22} {found[what[0]]}", flush=True)
    return found


def measure_objects(backend: Any, repeats: int) -> dict[str, Any]:
    """Return calls, parts and steps on objects of 34 positions."""
    record: dict[str, Any] = {"calls": {}, "parts": {}, "steps": {}}
    for name, call in calls().items():
        total, share = measure(call, repeats, backend), inside(call, backend)
        record["calls"][name] = {"us": total, "execute_us": share}
        print(f"{name:32} {total:9.2f} us, execute {share:9.2f} us", flush=True)
    for name, call in whole_calls().items():
        record["parts"][name] = {"total": measure(call, repeats, backend)}
        record["parts"][name] |= parts(call, backend)
        shown = ", ".join(f"{part} {us:.1f}" for part, us in record["parts"][name].items())
        print(f"{name:32} {shown} us", flush=True)
    for name, step in steps(backend).items():
        record["steps"][name] = measure(step, repeats, backend)
        print(f"{name:32} {record['steps'][name]:9.2f} us", flush=True)
    return record


def main() -> None:
    """Measure, print, write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    groups = ("objects", "graphs", "first")
    parser.add_argument("--only", nargs="+", choices=groups, default=groups)
    options = parser.parse_args()
    backend: Any = backend_for("cuda")
    record: dict[str, Any] = {
        "environment": describe_environment("cuda"),
        "repeats": options.repeats,
    }
    if "objects" in options.only:
        record |= measure_objects(backend, options.repeats)
    if "graphs" in options.only:
        record["graphs"] = measure_graphs(backend)
    if "first" in options.only:
        record["first"] = first_calls()
    if options.out:
        options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
