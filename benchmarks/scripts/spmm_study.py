"""Sparse times dense with both operands in tiles, against Semira and cuSPARSE (thesis, 6.4).

Run on a machine with a GPU and CuPy, from the repository's root; nvcc is not needed::

    python -m benchmarks.scripts.spmm_study --out bench/results/spmm_study.json

The kernels are in `spmm_study.cu`. Rows have thousands to millions of entries; 64 columns in FP32
stand on the right. All values are 0 or 1, so every order of summation gives the same sums:
results must equal cuSPARSE's, whose sums of rows must be those in FP64. Times are medians of the
device's, calls queued behind a kernel that blocks the stream. The start of each tile in each row is
found once per matrix, like the pieces of `balance="pieces"`, and timed separately.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.studies.spmm import Sparse, load_sparse

HERE = Path(__file__).resolve().parent

#: Columns of the dense operand, warps and threads of a block, as in the kernels.
COLUMNS, WARPS, THREADS = 64, 16, 512

#: Random rows of the dense operand; further rows repeat them.
PERIOD = 65_537

#: Waves of blocks: ranges of columns end at different times.
ROUNDS = 4

#: Timed calls of each way.
TRIALS = 3

#: Long rows with every column, or one in 2, 8 or 32. Last the slowest to make, with 2.1 GB of B.
MATRICES = (
    "dense:128x131072", "dense:512x32768", "dense:2048x8192", "strided:128x131072x2",
    "strided:4096x4096x2", "strided:4096x4096x8", "strided:4096x4096x32", "dense:8x2097152",
    "dense:2x8388608",
)  # fmt: skip

#: Semira's ways that split long rows; None is the planner's choice.
BALANCES = (None, "pieces", "edges")

#: Longest rows for the ways that do not: two rows of eight million entries take a second.
SHORT_ENOUGH = 1 << 18


@dataclass(frozen=True)
class Variant:
    """A shape of the tiled kernel, the same as `Tiled` in spmm_study.cu.

    Attributes
    ----------
    tile : int
        Rows of B in shared memory.
    rows : int
        Rows of A whose sums a warp holds.
    split : int
        Warps that share the same rows.
    across : int
        Columns per lane.
    listed : bool
        Whether a warp reads its entries from shared memory, or by shuffles.
    blocks : int
        Per multiprocessor.
    """

    tile: int
    rows: int
    split: int
    across: int
    listed: bool
    blocks: int

    @property
    def name(self) -> str:
        """Name of the kernel.

        Examples
        --------
        >>> Variant(128, 4, 1, 4, True, 2).name
        'tiled_128_4_1_4_listed_2'
        """
        how = "listed" if self.listed else "shuffled"
        return f"tiled_{self.tile}_{self.rows}_{self.split}_{self.across}_{how}_{self.blocks}"

    @property
    def rows_of_block(self) -> int:
        """Rows of A that a block sums."""
        return self.rows * WARPS // self.split

    @property
    def text(self) -> str:
        """The kernel's source."""
        shape = f"{self.tile}, {self.rows}, {self.split}, {self.across}, {int(self.listed)}"
        return (
            f'extern "C" __global__ void __launch_bounds__(kThreads, {self.blocks}) {self.name}('
            "const int* starts, const int* indices, const float* values, const float* b, "
            "float* parts, long long nrows, long long ncols, long long tiles) {\n"
            f"  multiply_tiled<Tiled<{shape}>>("
            "starts, indices, values, b, parts, nrows, ncols, tiles);\n}"
        )

    def ranges(self, nrows: int, ncols: int, multiprocessors: int) -> tuple[int, int]:
        """Return the number of ranges of columns, and of tiles in each.

        Examples
        --------
        >>> Variant(128, 2, 16, 4, True, 2).ranges(2, 128 * 5000, 132)
        (1000, 5)
        >>> Variant(128, 8, 1, 4, True, 1).ranges(4096, 4096, 132)
        (16, 2)
        """
        tiles = -(-ncols // self.tile)
        groups = -(-nrows // self.rows_of_block)
        wanted = max(1, ROUNDS * self.blocks * multiprocessors // groups)
        each = -(-tiles // min(tiles, wanted))
        return -(-tiles // each), each


#: Variants for few rows, shared by all warps, and for many. With NVRTC for sm_90 none spills more
#: than 12 bytes, except those of 4 columns per lane and 8 rows per warp (36).
VARIANTS = (
    Variant(128, 2, 16, 2, False, 2),
    Variant(128, 2, 16, 4, True, 2),
    Variant(128, 8, 16, 2, True, 2),
    Variant(128, 8, 16, 4, True, 1),
    Variant(128, 4, 1, 4, True, 2),
    Variant(128, 8, 1, 2, False, 2),
    Variant(128, 8, 1, 4, False, 1),
    Variant(128, 8, 1, 4, True, 1),
    Variant(64, 8, 1, 2, True, 2),
)


def source(variants: tuple[Variant, ...] = VARIANTS) -> str:
    """Return one translation unit with the kernels of all variants."""
    text = (HERE / "spmm_study.cu").read_text(encoding="utf-8")
    return "\n".join([text, *(each.text for each in variants)]) + "\n"


def suits(variant: Variant, nrows: int) -> bool:
    """Return whether the rows per block of a variant match the matrix, within a factor.

    Examples
    --------
    >>> [suits(Variant(128, 2, 16, 4, True, 2), nrows) for nrows in (2, 8, 128)]
    [True, True, False]
    """
    return nrows <= 4 * variant.rows_of_block if variant.split > 1 else nrows >= 32


def with_ones(matrix: Sparse) -> Sparse:
    """Return a matrix whose values are 0 or 1."""
    return replace(matrix, values=(matrix.values < 0.5).astype(np.float32))


def operand(nrows: int) -> Any:
    """Return the dense operand with values 0 or 1: float32[nrows, 64].

    Rows repeat after `PERIOD`, no multiple of a tile: half a billion random draws take long.
    """
    drawn = np.random.default_rng(1).integers(0, 2, (min(nrows, PERIOD), COLUMNS), np.uint8)
    return np.resize(drawn.astype(np.float32), (nrows, COLUMNS))


# ---------------------------------------------------------------------------------------- the GPU
class Bench:
    """One matrix on the GPU, its operand, and the product that all ways must return."""

    def __init__(self, module: Any, matrix: Sparse, dense: Any) -> None:
        import cupy as cp

        self.module, self.matrix, self.on_host = module, matrix, dense
        self.dense = cp.asarray(dense)
        self.indptr, self.indices, self.values = (
            cp.asarray(part) for part in (matrix.indptr, matrix.indices, matrix.values)
        )
        self.multiprocessors = cp.cuda.Device().attributes["MultiProcessorCount"]
        self.expected: Any = None

    def cusparse(self) -> dict[str, Any]:
        """Time cuSPARSE's fastest algorithm; the other results must equal its result."""
        import cupy as cp
        from benchmarks.cupy_calls import run_timed, spmm_calls
        from benchmarks.studies.spmm import fastest_of

        calls = spmm_calls(self.matrix, self.dense, by_columns=False)
        name, (made, _, times) = fastest_of(calls, lambda call: run_timed(call, TRIALS))
        self.expected = made.copy()
        whole = self.dense.sum(axis=1, dtype=cp.float64)[self.indices] * self.values
        rows = cp.repeat(cp.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr).tolist())
        sums = cp.bincount(rows, whole, minlength=self.matrix.shape[0])
        is_right = bool((self.expected.sum(axis=1, dtype=cp.float64) == sums).all())
        return {"ms": 1e3 * statistics.median(times), "is_right": is_right, "ran": name}

    def tiled(self, variant: Variant) -> dict[str, Any]:
        """Time a variant, including the sum over its ranges."""
        import cupy as cp
        from benchmarks.cupy_calls import run_timed

        nrows, ncols = self.matrix.shape
        ranges, each = variant.ranges(nrows, ncols, self.multiprocessors)
        parts = -(-ncols // variant.tile) * variant.split
        starts = cp.empty(nrows * (parts + 1), cp.int32)
        find, kernel = (
            self.module.get_function("find_starts"),
            self.module.get_function(variant.name),
        )
        grid = (-(-len(starts) // 256),), (256,)
        width = np.int64(variant.tile // variant.split)

        def finds() -> Any:
            find(
                *grid, (self.indptr, self.indices, starts, np.int64(nrows), np.int64(parts), width)
            )

        _, _, found_s = run_timed(finds, 1)
        out = cp.full((nrows, COLUMNS), cp.nan, cp.float32)
        room = out if ranges == 1 else cp.full((ranges, nrows, COLUMNS), cp.nan, cp.float32)
        add, sums = self.module.get_function("add_parts"), np.int64(nrows * COLUMNS)
        groups = -(-nrows // variant.rows_of_block)
        given = (
            starts, self.indices, self.values, self.dense, room, np.int64(nrows), np.int64(ncols),
            np.int64(each),
        )  # fmt: skip

        def call() -> Any:
            kernel((groups * ranges,), (THREADS,), given)
            if ranges > 1:
                add((-(-int(sums) // 256),), (256,), (room, out, sums, np.int64(ranges)))
            return out

        made, _, times = run_timed(call, TRIALS)
        return {
            "ms": 1e3 * statistics.median(times), "is_right": bool((made == self.expected).all()),
            "ranges": ranges, "starts_ms": 1e3 * statistics.median(found_s),
            "registers": kernel.num_regs, "spilled": kernel.local_size_bytes,
        }  # fmt: skip

    def ours(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Time Semira's product, with the pin of each way."""
        import cupy as cp
        from benchmarks.harness import held_for

        import semira as gb
        from semira.bench.device import profile_calls
        from semira.bench.timer import Budget, measure

        matrix = self.matrix
        sparse = gb.Matrix.from_csr(
            matrix.indptr, matrix.indices, matrix.values, ncols=matrix.shape[1]
        ).to("cuda")
        full = gb.Matrix.from_dense(self.on_host).to("cuda")
        longest = int(np.diff(matrix.indptr).max())
        ways = (*BALANCES, *(("rows",) if longest <= SHORT_ENOUGH else ()))
        for balance in ways:
            result = gb.Matrix("FP32", matrix.shape[0], COLUMNS).to("cuda")
            pins = {} if balance is None else {"balance": balance}

            def call(_trial: int = 0, result: Any = result, pins: dict[str, Any] = pins) -> Any:
                result(**pins) << sparse.mxm(full, "plus_times")
                return result.wait()

            _, samples = measure(call, Budget(TRIALS, 0.2))
            facts = profile_calls("cuda", call, held_s=held_for(samples.warm_s), times=TRIALS)
            found = result.to_dense(0)
            yield (
                f"semira {balance or 'auto'}",
                {
                    "ms": 1e3 * statistics.median(facts["device_s"]),
                    "is_right": bool((found == cp.asnumpy(self.expected)).all()),
                },
            )


def measured(module: Any, name: str, say: Any) -> dict[str, Any]:
    """Return the times of every way on one matrix."""
    matrix = with_ones(load_sparse(name, None))
    bench = Bench(module, matrix, operand(matrix.shape[1]))
    ways: dict[str, Any] = {"cusparse": bench.cusparse()}
    for variant in VARIANTS:
        if suits(variant, matrix.shape[0]):
            ways[variant.name] = bench.tiled(variant)
    ways.update(bench.ours())
    least = 4 * (2 * len(matrix.indices) + COLUMNS * sum(matrix.shape))
    say(f"{name}: {len(matrix.indices):,} entries, {least / 1e6:.0f} MB at least")
    for way, facts in sorted(ways.items(), key=lambda item: item[1]["ms"]):
        right = "" if facts["is_right"] else "  WRONG"
        rest = {key: facts[key] for key in facts if key not in ("ms", "is_right")}
        say(f"  {way:32} {facts['ms']:9.3f} ms{right}  {rest or ''}")
    return {"entries": len(matrix.indices), "least_bytes": least, "ways": ways}


def main() -> int:
    """Measure, print and write; 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--matrices", default=",".join(MATRICES))
    parser.add_argument("--seconds", type=float, default=50.0, help="latest start of a matrix, s")
    given = parser.parse_args()
    import cupy as cp

    from semira.bench.environment import describe_environment

    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"{time.perf_counter() - began:6.1f} s  {text}", flush=True)

    module = cp.RawModule(code=source(), options=("-std=c++17",))
    module.get_function("add_parts")
    say("compiled")
    records: dict[str, Any] = {}
    for name in given.matrices.split(","):
        if time.perf_counter() - began > given.seconds:
            say(f"{name}: left out, no time")
            continue
        records[name] = measured(module, name, say)
        cp.get_default_memory_pool().free_all_blocks()
    if given.out:
        found = {"environment": describe_environment("cuda"), "matrices": records}
        given.out.write_text(json.dumps(found, indent=1, default=str) + "\n", encoding="utf-8")
    ways = [way for record in records.values() for way in record["ways"].values()]
    return 0 if ways and all(way["is_right"] for way in ways) else 1


if __name__ == "__main__":
    raise SystemExit(main())
