"""Tables VII to IX and Figures 3 and 7 to 9 of the paper on Bit-GraphBLAS, on one GPU.

    python -m benchmarks.scripts.bits_paper measure bench/results/bits_paper.json NAME.npz ...
    python -m benchmarks.scripts.bits_paper table bench/results/bits_paper.json
    python -m benchmarks.scripts.bits_paper bytes NAME.npz ...

``measure`` times whole warm calls, and what they run on the GPU by PyTorch's profiler: products and
algorithms by tiles of bits, by compressed rows, and of products by cuSPARSE (values of 32 bits,
through CuPy). The rows' result is the one that all must have. Graphs are made symmetric, without
self-loops. Processes of their own compile first, side by side. ``table`` prints what the page of
bits shows. ``bytes`` needs no GPU (Figures 3 and 7).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import semira as gb
from semira import algorithms as al
from semira.backends.registry import backend_for

#: Semirings of the schemes bin_bin_bin, bin_bin_full and bin_full_full.
SCHEMES = {"any_pair": "any_pair", "plus_pair": "plus_pair", "plus_second": "plus_second[FP32]"}

ALGORITHMS: dict[str, Callable[..., Any]] = {
    "bfs": lambda given, **o: al.bfs(given, 0, **o).level,
    "sssp": lambda given, **o: al.sssp(given, 0, **o).distance,
    "pagerank": lambda given, **o: al.pagerank(given, tol=0, max_iterations=10, **o).rank,
    "components": lambda given, **o: al.connected_components(given, symmetric=True, **o).label,
    "triangles": lambda given, **o: al.triangle_count(given, symmetric=True, **o).count,
}

#: Sizes of tiles that are measured, of products and of algorithms.
SIZES, FEW = (4, 8, 16, 32), (8, 32)

#: cuSPARSE squares no matrix with more products than this.
MOST_PRODUCTS = 2e8


def graph(name: str) -> gb.Matrix:
    """Return a graph on the GPU, symmetric, without self-loops; one value, which tiles can tell."""
    with gb.device("cpu"):
        made = gb.io.read(name)
        both = made.ewise_add(made.T, "any").new().select("offdiag").new()
    rows, cols, _ = both.to_coo(values=False)
    with gb.device("cuda"):
        return gb.Matrix.from_coo(rows, cols, True, dtype=bool, nrows=both.nrows, ncols=both.ncols)


def calls_on(given: gb.Matrix) -> Iterator[tuple[str, Any, Callable[[], Any]]]:
    """Yield the name of a case, the size of its tiles (None: rows), and the call."""
    rng = np.random.default_rng(0)
    with gb.device("cuda"):
        half = gb.Vector.from_coo(
            np.flatnonzero(rng.random(given.nrows) < 0.5), True, size=given.nrows
        )
        whole = gb.Vector.from_dense(rng.random(given.nrows).astype(np.float32))
    for name, ring in SCHEMES.items():
        expression = given.mxv(
            whole if name == "plus_second" else half, gb.semiring.from_string(ring)
        )
        for bits in (None, *SIZES):
            opts: dict[str, Any] = {} if bits is None else {"bits": bits}
            yield name, bits, partial(expression.new, direction="pull", **opts)
    for name, call in ALGORITHMS.items():
        for bits in (None, *FEW):
            yield name, bits, partial(call, given, **({} if bits is None else {"bits": bits}))


def cusparse_calls(given: gb.Matrix) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield cuSPARSE's product with a vector, and the square of the matrix where it fits."""
    from cupyx.scipy.sparse import csr_matrix

    rows = gb.kernels.rows_of(given, values=False)
    with gb.kernels.array_module("cuda") as xp:
        x = xp.random.default_rng(0).random(given.nrows).astype(xp.float32)
        held = csr_matrix((xp.ones(given.nvals, xp.float32), rows.indices, rows.indptr), rows.shape)
        products = int((xp.diff(rows.indptr).astype(xp.int64) ** 2).sum())
    yield "plus_second", lambda: held @ x
    if products < MOST_PRODUCTS:
        yield "triangles", lambda: held @ held


def wait_for(result: Any) -> Any:
    """Return what a call found as arrays or a number."""
    return result.to_coo() if hasattr(result, "to_coo") else int(result)


def finished(call: Callable[[], Any]) -> Any:
    """Return what a call found when the GPU has it."""
    result = call()
    if hasattr(result, "wait"):
        result.wait()
    backend_for("cuda").synchronise()
    return result


def timed(call: Callable[[], Any], repetitions: int = 9) -> tuple[float, float]:
    """Return the milliseconds of a whole warm call, and of what it ran on the GPU."""
    from torch.profiler import ProfilerActivity, profile

    walls = []
    for _ in range(repetitions):
        start = time.perf_counter()
        finished(call)
        walls.append(1e3 * (time.perf_counter() - start))
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        finished(call)
    return min(walls), sum(each.self_device_time_total for each in seen.key_averages()) / 1e3


def is_same(one: Any, other: Any) -> bool:
    """Return whether two results agree; floats up to their order of addition."""
    pairs = zip(np.atleast_1d(one), np.atleast_1d(other), strict=True)
    if isinstance(one, tuple):
        pairs = zip(one, other, strict=True)
    return all(np.allclose(a, b, rtol=1e-5, atol=0) for a, b in pairs)


def measure(out: Path, names: list[str]) -> None:
    """Write a record of each case, after each graph."""
    records: list[dict[str, Any]] = []
    for name in names:
        given = graph(name)
        expected: dict[str, Any] = {}
        for case, bits, call in calls_on(given):
            found = wait_for(call())
            same = is_same(expected.setdefault(case, found), found)
            records.append(record_of(given, (name, case, bits), (*timed(call), same)))
        for case, call in cusparse_calls(given):
            with gb.kernels.array_module("cuda"):
                finished(call)
                records.append(record_of(given, (name, case, "cuSPARSE"), (*timed(call), None)))
        lines = ",\n".join(map(json.dumps, records))
        out.write_text(f"[\n{lines}\n]\n")


def record_of(
    given: gb.Matrix, what: tuple[str, str, Any], found: tuple[float, float, Any]
) -> dict[str, Any]:
    """Print and return a record."""
    name, case, bits = what
    whole, kernels, same = found
    record = {"graph": Path(name).stem, "n": given.nrows, "entries": given.nvals, "case": case,
              "bits": bits, "ms": whole, "kernel_ms": kernels, "same": same}  # fmt: skip
    print(record, flush=True)
    return record


def warm(names: list[str]) -> None:
    """Compile the kernels of all cases on some graphs, a process for each case and size."""
    cases = [f"{case}:{bits}" for case in (*SCHEMES, *ALGORITHMS)
             for bits in ((None, *SIZES) if case in SCHEMES else (None, *FEW))]  # fmt: skip
    given = [[sys.executable, "-m", "benchmarks.scripts.bits_paper", "one", case, *names]
             for case in cases]  # fmt: skip
    for process in [subprocess.Popen(each) for each in given]:  # noqa: S603 - this file
        process.wait()


def one(case: str, names: list[str]) -> None:
    """Call one case."""
    for name in names:
        for own, bits, call in calls_on(graph(name)):
            if f"{own}:{bits}" == case:
                wait_for(call())


def table(record: Path) -> None:
    """Print the tables of a record."""
    rows = json.loads(record.read_text())
    assert all(row["same"] in (True, None) for row in rows), "results differ"
    time_of = {(row["graph"], row["case"], row["bits"]): row for row in rows}
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    print("| graph | " + " | ".join(ALGORITHMS) + " |\n|---|" + "---|" * len(ALGORITHMS))
    for name in graphs:
        cells = []
        for case in ALGORITHMS:
            mine = [(time_of[name, case, bits]["ms"], bits) for bits in FEW]
            ours, bits = min(mine)
            cells.append(f"{time_of[name, case, None]['ms']:.3g} / {ours:.3g} ({bits})")
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("\nHow many times quicker kernels are; the most, and where:\n")
    print("| product | " + " | ".join(map(str, SIZES)) + " |\n|---|" + "---|" * len(SIZES))
    for case in SCHEMES:
        for other, base in (("rows", (case, None)), ("cuSPARSE", ("plus_second", "cuSPARSE"))):
            cells = []
            for bits in SIZES:
                gains = []
                for name in graphs:
                    mine = time_of[name, case, bits]["kernel_ms"]
                    gains.append((time_of[name, *base]["kernel_ms"] / mine, name))
                mean = statistics.geometric_mean(gain for gain, _ in gains)
                cells.append(f"{mean:.2f} ({max(gains)[0]:.2f} {max(gains)[1]})")
            print(f"| {case} beside {other} | " + " | ".join(cells) + " |")


def compare_bytes(names: list[str]) -> None:
    """Print how many graphs tiles of each size make smaller, and how full these are."""
    told = [gb.io.read(name).bits_profile() for name in names]
    told = [each for each in told if each.nvals]
    print("| bits | smaller than rows | than rows with FP32 | a quarter of these | the smallest |"
          " tiles occupied | bits set in these |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for place, bits in enumerate(SIZES):
        mine = [each.sizes[place] for each in told]
        cells = [
            sum(each.of_pattern < 1 for each in mine),
            sum(each.of_matrix < 1 for each in mine),
            sum(each.of_matrix <= 0.25 for each in mine),
            sum(each.smallest == bits for each in told),
        ]
        means = [f"{statistics.mean(getattr(x, key) for x in mine):.1%}"
                 for key in ("occupied", "fill")]  # fmt: skip
        print("|", " | ".join(map(str, [bits, *cells, *means])), "|")
    print(f"\n{len(told)} graphs; smaller at no size:",
          sum(min(x.of_pattern for x in each.sizes) >= 1 for each in told))  # fmt: skip


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "measure":
        warm(given[1:3])
        measure(Path(given[0]), given[1:])
    elif what == "one":
        one(given[0], given[1:])
    elif what == "bytes":
        compare_bytes(given)
    else:
        table(Path(given[0]))
