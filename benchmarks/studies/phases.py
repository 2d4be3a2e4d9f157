"""Break down the GPU's time inside a program, and the share of products in it.

A copy of each program is compiled with a clock that one thread reads after every barrier. A *phase*
lies between two consecutive barriers: the slowest block's work and the barrier. Events time
separate launches (products of matrices, sorts) instead.

A phase belongs to the products if it called a phase function of `PRODUCT_FAMILIES`, a launch if its
kernel is named after a product. Other statements in a product's phase count with it, so the share
of products is an upper bound.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import re
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import semira.methods
from semira.backends.registry import backend_for
from semira.base.errors import MissingFile
from semira.bench.device import array_module
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.libraries import KERNELS, UNDIRECTED
from semira.bench.ours import VARIANTS, semira_library
from semira.bench.report import figure
from semira.contract import PRODUCTS

#: Folders of kernels that are products.
PRODUCT_FAMILIES = ("vxm", "mxm", "methods")

#: Available cases: the algorithm, and its arguments that differ from the defaults. Lengths and
#: ranks match the comparison with peers on the GPU.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{kernel: (kernel, {}) for kernel in KERNELS},
    # Pins the default products: otherwise graphs of short rows are solved without products, and
    # there are no phases.
    "sssp": ("sssp", {**VARIANTS["sssp"][0], "policy": "auto"}),
    "delta": ("sssp", {"dtype": "FP32", "algorithm": "delta_stepping"}),
    "window": ("sssp", {"dtype": "FP32", "algorithm": "window"}),
    "pagerank": ("pagerank", VARIANTS["pagerank"][1]),
}

#: Most barriers of a program, and most names of functions that its phases call.
_MOST = 64

_CLOCK = """
extern "C" __device__ int printf(const char*, ...);
__device__ unsigned long long phase_sum[64 * 64], phase_names[64 * 64], phase_called, phase_last;
__device__ unsigned phase_count[64 * 64], phase_at;
__device__ unsigned each_cycles[4096], each_place[4096], each_count;
__device__ unsigned long long phase_ns, phase_begin;
__device__ __forceinline__ unsigned long long phase_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
__device__ __forceinline__ void phase_call(int name) {
  if (blockIdx.x == 0 && threadIdx.x == 0) phase_called |= 1ull << name;
}
template <class T>
__device__ __forceinline__ const T& phase_called_with(const T& team, int name) {
  phase_call(name);
  return team;
}
__device__ __forceinline__ void phase_stamp(unsigned here) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const unsigned long long now = clock64();
  const unsigned at = phase_at * 64 + here;
  if (here == 0) {
    each_count = 0;
  } else {
    phase_sum[at] += now - phase_last;
    phase_count[at] += 1;
    phase_names[at] |= phase_called;
    if (each_count < 4096) {
      each_cycles[each_count] = static_cast<unsigned>(now - phase_last);
      each_place[each_count++] = at;
    }
  }
  phase_called = 0;
  phase_last = now;
  phase_at = here;
  if (here == 0) {
    phase_ns = phase_now();
    phase_begin = now;
  }
}
__device__ inline void phase_print(int program) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  printf("RATE %d %llu %llu\\n", program, phase_now() - phase_ns, clock64() - phase_begin);
  for (unsigned k = 0; k < 64 * 64; ++k) {
    if (phase_count[k] != 0) {
      printf("PHASE %d %u %u %llu %u %llu\\n", program, k / 64, k % 64, phase_sum[k],
             phase_count[k], phase_names[k]);
    }
    phase_sum[k] = phase_names[k] = phase_count[k] = 0;
  }
  if (!kEach) return;
  printf("EACH %d", program);
  for (unsigned k = 0; k < each_count; ++k) {
    printf(" %u,%u,%u", each_place[k] / 64, each_place[k] % 64, each_cycles[k]);
  }
  printf("\\n");
}
"""

_WAIT = re.compile(r"barrier\.(?:wait|meet<\w+>)\(\);")
_CALL = re.compile(
    r"\b(\w+)(<[^;{}()]*>)?\((team(?:_of\(barrier\.blocks\))?)(?=[,)])"
    r"|// position by position: ([\d, ]+)"
)

_PHASE = re.compile(r"^(?:template <.*> )?SEMIRA_PHASE\b[^(]*?\b(\w+)\(", re.MULTILINE)


# instruments -------------------------------------------------------------------------------------
@functools.cache
def phase_families() -> dict[str, str]:
    """Return the functions called by all threads of a program, each with its folder of kernels.

    Those of `semira.methods` are ``methods``.

    Examples
    --------
    >>> phase_families()["spmspv_push_block"], phase_families()["clear_spare"]
    ('vxm', 'common')
    """
    from semira.backends.cuda.jit.render import KERNELS as FOLDER

    families = {path: path.parent.name for path in sorted(FOLDER.glob("*/*.cuh"))}
    brought = Path(semira.methods.__file__).parent.glob("*/kernels/*.cuh")
    families |= dict.fromkeys(sorted(brought), "methods")
    return {
        name: family
        for path, family in families.items()
        for name in _PHASE.findall(path.read_text("utf-8"))
    }


def instrument(source: str, program: int, *, each: bool = False) -> tuple[str, list[str]]:
    """Return the source of a program with a clock, and the names of functions its phases may call.

    Parameters
    ----------
    source : str
        The whole translation unit.
    program : int
        Number in its lines of output.
    each : bool
        Whether it also prints the phases in their order.

    Raises
    ------
    ValueError
        The source was not made by `lower`, or has too many barriers or names.
    """
    head, entry, body = source.partition("struct Table {")
    names: list[str] = []

    def bit(name: str) -> int:
        if name not in names:
            names.append(name)
        return names.index(name)

    def marked(found: re.Match[str]) -> str:
        name, parameters, team, cells = found.groups()
        if cells:
            return f"phase_call({bit(f'cells {cells}')});"
        if name not in phase_families():
            return found.group()
        return f"{name}{parameters or ''}(phase_called_with({team}, {bit(name)})"

    body = _CALL.sub(marked, body)
    stamps = iter(range(1, 1 + len(_WAIT.findall(body))))
    body = _WAIT.sub(lambda found: f"{found.group()} phase_stamp({next(stamps)});", body)
    closing = "close_progress(team,"
    places = ("\n  auto run = ", closing)
    if any(body.count(place) != 1 for place in places) or '#line 1 "' not in head:
        raise ValueError("this is not a program as they are written for the GPU")
    if max(len(names), 1 + len(_WAIT.findall(body))) > _MOST:
        raise ValueError(f"more than {_MOST} barriers or names in a program: no room for a clock")
    body = body.replace(places[0], f"\n  phase_stamp(0);{places[0]}")
    body = body.replace(closing, f"phase_print({program});\n  {closing}")
    library, mark, rest = head.partition('#line 1 "')
    clock = f"static constexpr bool kEach = {str(each).lower()};{_CLOCK}"
    return library + clock + mark + rest + entry + body, names


@contextmanager
def clocked_programs(*, each: bool = False) -> Iterator[list[list[str]]]:
    """Add a clock to programs compiled in the block; yield the names of each.

    Programs loaded earlier have none: start with this in a fresh process.
    """
    from semira.backends.cuda.jit import compile as module
    from semira.backends.cuda.jit.render import PROGRAM, defines, render_source

    names: list[list[str]] = []

    def render(generated: str, offset_type: str, root: str = PROGRAM) -> str:
        text = render_source(generated, offset_type, root)
        if root != PROGRAM:
            return text
        text, called = instrument(text, len(names), each=each)
        names.append(called)
        return text

    compiler: Any = module
    compiler.render_source = render
    # No kernel in the cache has a clock, or one of the same number.
    own = f"SEMIRA_CLOCKED_{uuid.uuid4().hex}"
    defines.append(own)
    try:
        yield names
    finally:
        defines.remove(own)
        compiler.render_source = render_source


@contextmanager
def printed_by_device() -> Iterator[list[str]]:
    """Yield a list that receives, after the block, the lines printed outside of Python."""
    lines: list[str] = []
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            lines += file.read().decode().splitlines()


# the output --------------------------------------------------------------------------------------
def phases_of(
    lines: Iterable[str], names: Sequence[Sequence[str]]
) -> tuple[list[dict[str, Any]], list[list[float]]]:
    """Return the phases that clocks printed, and their sequence if printed.

    A phase has the ``program``, its first and last barrier (``from``, ``to``; 0 is the start), the
    number of ``times`` it ran, ``us`` per run, and ``what`` its runs called.
    """
    sums: defaultdict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    clocks: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    order: list[list[int]] = []
    for line in lines:
        kind, *rest = line.split()
        if kind == "RATE":
            program, nanoseconds, cycles = map(int, rest)
            clocks[program][0] += nanoseconds
            clocks[program][1] += cycles
        elif kind == "PHASE":
            program, before, here, cycles, count, called = map(int, rest)
            cell = sums[program, before, here]
            cell[0] += cycles
            cell[1] += count
            cell[2] |= called
        elif kind == "EACH":
            order += [[int(rest[0]), *map(int, step.split(","))] for step in rest[1:]]
    us = {program: ns / 1e3 / max(cycles, 1) for program, (ns, cycles) in clocks.items()}
    rows = [
        {
            "program": program, "from": before, "to": here, "times": count,
            "us": cycles / count * us[program],
            "what": [name for k, name in enumerate(names[program]) if called >> k & 1],
        }
        for (program, before, here), (cycles, count, called) in sorted(sums.items())
    ]  # fmt: skip
    return rows, [[*step[:3], round(step[3] * us[step[0]], 2)] for step in order]


def is_product_phase(phase: dict[str, Any]) -> bool:
    """Return whether a phase called a function of a product.

    Examples
    --------
    >>> is_product_phase({"what": ["cells 0, 1", "sum_all_rows"]})
    True
    """
    families = phase_families()
    return any(families.get(name) in PRODUCT_FAMILIES for name in phase["what"])


def is_product_launch(launch: dict[str, Any]) -> bool:
    """Return whether a kernel launched separately is named after a product.

    Examples
    --------
    >>> is_product_launch({"name": "mxm-29579c81164b:t_dots_by_entry"})
    True
    >>> is_product_launch({"name": "matrix_base:semira_scan32_few"})
    False
    """
    return launch["name"].split("-")[0] in PRODUCTS


def is_shared_phase(phase: dict[str, Any]) -> bool:
    """Return whether a product's phase also has element-wise statements."""
    return is_product_phase(phase) and any(name.startswith("cells ") for name in phase["what"])


def times_of(case: dict[str, Any]) -> tuple[float, float]:
    """Return the ms of a case on the device, and those of its products."""
    whole = products = 0.0
    for phase in case["phases"]:
        taken_ms = phase["us"] * phase["times"] / 1e3
        whole += taken_ms
        products += taken_ms * is_product_phase(phase)
    for launch in case["launches"]:
        whole += launch["ms"]
        products += launch["ms"] * is_product_launch(launch)
    return whole, products


# measuring ---------------------------------------------------------------------------------------
def measure_case(
    name: str, graph: BenchGraph, names: Sequence[Sequence[str]], device: str = "cuda"
) -> dict[str, Any]:
    """Return phases and launches of the second call of a case; see `clocked_programs`.

    ``lost`` is the number of program launches whose clocks did not print.

    Raises
    ------
    RuntimeError
        No clock printed.
    """
    backend: Any = backend_for(device)
    kernel, options = CASES[name]
    entry = semira_library(device, None, {kernel: options}).entries[kernel]
    used = graph.undirected if kernel in UNDIRECTED else graph
    matrix, source = entry.prepare(used), used.sources(0)[0]
    with printed_by_device():
        entry.run(matrix, source)
        backend.synchronise()
    with printed_by_device() as lines, backend.profiled() as profile:
        result = entry.run(matrix, source)
        backend.synchronise()
    phases, order = phases_of(lines, names)
    kernels = profile.kernels()
    # Clocks time their phases, and printing takes longer than the programs.
    programs = [use for use in kernels if use.name.startswith("program-")]
    lost = sum(use.launches for use in programs) - sum(line.startswith("RATE") for line in lines)
    if programs and not phases:
        raise RuntimeError(f"{graph.name} {name}: programs ran, and their clocks printed nothing")
    launches = [
        {"name": use.name, "launches": use.launches, "ms": use.device_ms}
        for use in kernels
        if use not in programs
    ]
    case = {
        "graph": graph.name, "algorithm": name, "iterations": result.iterations,
        "lost": lost, "phases": phases, "launches": launches, "each": order,
    }  # fmt: skip
    return case | {"device_ms": times_of(case)[0]}


def measure_phases(
    graphs: Sequence[str],
    names: Sequence[str],
    *,
    data: Path | None = None,
    limit: float = float("inf"),
    each: bool = False,
    say: Callable[[str], None] = lambda _text: None,
) -> Iterator[dict[str, Any]]:
    """Yield the cases of all graphs; no graph or case starts after `limit` seconds.

    Raises
    ------
    DeviceUnavailable
        This machine lacks the GPU.
    """
    end_s = time.perf_counter() + limit
    xp = array_module("cuda")
    with clocked_programs(each=each) as called:
        for spec in graphs:
            if time.perf_counter() > end_s:
                say(f"{spec} and beyond: left out after {limit:g} s")
                return
            try:
                graph = load_bench_graph(spec, data, xp)
            except MissingFile as error:
                say(f"graph {error}: left out")
                continue
            for name in names:
                if time.perf_counter() > end_s:
                    say(f"{spec} {name}: left out after {limit:g} s")
                    continue
                yield measure_case(name, graph, called)


def read_cases(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the environment and the cases written by the script ``phases_gpu``."""
    written = json.loads(path.read_text("utf-8"))
    return written["environment"], written["results"]


# results -----------------------------------------------------------------------------------------
def phases_table(cases: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the share of products in device time, by graph.

    *At most* where statements share a phase with a product.
    """
    found = {(case["graph"], case["algorithm"]): case for case in cases}
    algorithms = [name for name in CASES if any(name == each for _, each in found)]

    def cell(graph: str, name: str) -> str:
        case = found.get((graph, name))
        if case is None:
            return "-"
        whole, products = times_of(case)
        bound = "at most " if any(map(is_shared_phase, case["phases"])) else ""
        return f"{bound}{products / whole:.0%} of {figure(whole)} ms"

    graphs = dict.fromkeys(graph for graph, _ in found)
    return ["graph", *algorithms], [
        [graph, *(cell(graph, name) for name in algorithms)] for graph in graphs
    ]
