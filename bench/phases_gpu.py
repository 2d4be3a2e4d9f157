"""Where an iteration's time goes on the GPU: from each barrier of a program to the next one.

    python bench/phases_gpu.py minnesota,USA-road-NE pagerank,sssp --out phases.json

A copy of each program is compiled with a clock read by one thread after every barrier, and printed
when the launch ends (which takes longer than the launch, and is not counted). What a phase costs is
what lies between two barriers that follow each other: the slowest block's work and the barrier.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

_CLOCK = """
__device__ unsigned long long phase_sum[64 * 64], phase_last;
__device__ unsigned phase_count[64 * 64], phase_at;
__device__ unsigned each_cycles[4096], each_place[4096], each_count;
__device__ unsigned long long phase_ns, phase_begin;
__device__ __forceinline__ unsigned long long phase_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
__device__ __forceinline__ void phase_stamp(unsigned here) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const unsigned long long now = clock64();
  const unsigned at = phase_at * 64 + here;
  phase_sum[at] += now - phase_last;
  phase_count[at] += 1;
  if (here == 0) each_count = 0;
  if (here != 0 && each_count < 4096) {
    each_cycles[each_count] = static_cast<unsigned>(now - phase_last);
    each_place[each_count++] = at;
  }
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
      printf("PHASE %d %u %u %llu %u\\n", program, k / 64, k % 64, phase_sum[k], phase_count[k]);
    }
    phase_sum[k] = phase_count[k] = 0;
  }
  printf("EACH %d", program);
  for (unsigned k = 0; k < each_count; ++k) {
    printf(" %u,%u,%u", each_place[k] / 64, each_place[k] % 64, each_cycles[k]);
  }
  printf("\\n");
}
extern "C" __device__ int printf(const char*, ...);
"""

_WAIT = re.compile(r"barrier\.(?:wait|meet<\w+>)\(\);")
_CALLS = re.compile(
    r"\b(\w+)(?:<[^;{}]*?>)?\((?:team|open_scatter)\b|position by position: ([\d, ]+)"
)

#: Of each instrumented program: what stands before each of its barriers.
legends: list[dict[int, str]] = []


def instrument(source: str) -> str:
    """Return the source with a clock; its legend joins `legends`."""
    head, entry, body = source.partition("struct Table {")
    legend: dict[int, str] = {0: "start"}
    parts, last = [], 0
    for number, found in enumerate(_WAIT.finditer(body), 1):
        between = body[last : found.start()]
        calls = [name or f"cells {cells}" for name, cells in _CALLS.findall(between)]
        skip = {"store_word", "zero_next", "store_listed", "store_spare", "reset_cell", "row"}
        legend[number] = " ".join(dict.fromkeys(c for c in calls if c not in skip)) or "-"
        parts += [between, found.group(), f" phase_stamp({number});"]
        last = found.end()
    body = "".join(parts) + body[last:]
    program = len(legends)
    legends.append(legend)
    body = body.replace("\n  auto run = ", "\n  phase_stamp(0);\n  auto run = ", 1)
    body = body.replace("close_progress(team,", f"phase_print({program});\n  close_progress(team,")
    library, mark, rest = head.partition('#line 1 "')
    clock = 'extern "C" __device__ int printf(const char*, ...);\n' + _CLOCK.rsplit("extern", 1)[0]
    return library + clock + mark + rest + entry + body


def _child(graphs: list[str], algorithms: list[str]) -> None:
    import semira as gb
    from semira.backends.cuda.jit import compile as compiler
    from semira.backends.registry import backend_for
    from semira.bench.graphs import load_bench_graph

    plain = compiler.render_source

    def render(generated: str, offset_type: str, root: str = compiler.PROGRAM) -> str:
        text = plain(generated, offset_type, root)
        return instrument(text) if root == compiler.PROGRAM else text

    compiler.render_source = render
    backend: Any = backend_for("cuda")
    for name in graphs:
        graph = load_bench_graph(name)
        matrix, source = graph.matrix.to("cuda"), graph.sources(0)[0]
        calls = {
            "bfs": lambda a=matrix, s=source: gb.algorithms.bfs(a, s),
            "sssp": lambda a=matrix, s=source: gb.algorithms.sssp(a, s, dtype="FP32"),
            "delta": lambda a=matrix, s=source: gb.algorithms.sssp(
                a, s, dtype="FP32", method="delta_stepping"
            ),
            "window": lambda a=matrix, s=source: gb.algorithms.sssp(
                a, s, dtype="FP32", method="window"
            ),
            "pagerank": lambda a=matrix: gb.algorithms.pagerank(
                a, tol=0, max_iterations=20, dtype="FP32"
            ),
            "cc": lambda a=matrix: gb.algorithms.connected_components(a, symmetric=True),
        }
        for algorithm in algorithms:
            calls[algorithm]()
            backend.synchronise()
            print(f"CASE {json.dumps([name, algorithm])}", flush=True)  # noqa: T201 - read by `_read`
            result = calls[algorithm]()
            backend.synchronise()
            figures = {"iterations": result.iterations}
            print(f"DONE {json.dumps([figures, legends])}", flush=True)  # noqa: T201


def _read(lines: list[str]) -> list[dict[str, Any]]:
    cases, cells, rates, each = [], defaultdict(lambda: [0, 0]), {}, []
    name = algorithm = ""
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "CASE":
            name, algorithm = json.loads(rest)
            cells.clear()
            each = []
        elif kind == "RATE":
            program, nanoseconds, cycles = map(int, rest.split())
            rates[program] = nanoseconds / 1e3 / cycles
        elif kind == "PHASE":
            program, before, here, cycles, count = map(int, rest.split())
            cells[program, before, here][0] += cycles
            cells[program, before, here][1] += count
        elif kind == "EACH":
            program, *steps = rest.split()
            for step in steps:
                before, here, cycles = map(int, step.split(","))
                each.append([int(program), before, here, round(cycles * rates[int(program)], 2)])
        elif kind == "DONE":
            figures, found = json.loads(rest)
            rows = [
                {
                    "program": program, "from": before, "to": here, "times": count,
                    "us": cycles / count * rates[program], "what": found[program][str(here)],
                }
                for (program, before, here), (cycles, count) in sorted(cells.items())
                if here != 0
            ]  # fmt: skip
            whole = sum(row["us"] * row["times"] for row in rows) or 1.0
            for row in rows:
                row["share"] = row["us"] * row["times"] / whole
            figures["device_ms"] = whole / 1e3
            case = {"graph": name, "algorithm": algorithm, **figures, "phases": rows}
            cases.append(case | {"each": list(each)})
    return cases


def main() -> None:
    """Measure in a process whose output is read, since a device prints past Python."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs")
    parser.add_argument("algorithms")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--each", action="store_true", help="also give the phases in their order")
    given = parser.parse_args()
    if given.child:
        _child(given.graphs.split(","), given.algorithms.split(","))
        return
    command = [sys.executable, __file__, given.graphs, given.algorithms, "--child"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    cases = _read(ran.stdout.splitlines())
    for case in cases:
        print(  # noqa: T201 - the report
            f"\n{case['graph']} {case['algorithm']}: {case['device_ms']:.3f} ms, "
            f"{case['iterations']} iterations"
        )
        for row in case["phases"]:
            print(  # noqa: T201
                f"  {row['program']}:{row['from']:>2} ->{row['to']:>2} x{row['times']:<6} "
                f"{row['us']:8.2f} us {row['share']:6.1%}  {row['what'][:90]}"
            )
        if given.each:
            steps = [f"{before}>{here} {us}" for _, before, here, us in case["each"]]
            print("  " + ", ".join(steps))  # noqa: T201
        else:
            del case["each"]
    if given.out:
        given.out.write_text(json.dumps(cases, indent=1))
    if ran.returncode:
        sys.exit(ran.stderr[-3000:])


if __name__ == "__main__":
    main()
