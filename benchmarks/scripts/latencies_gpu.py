"""Latency in cycles of single dependent instructions on one multiprocessor.

Run on a machine with a GPU and CuPy::

    python -m benchmarks.scripts.latencies_gpu

For blocks of 32, 128 and 512 threads: reading a clock, a barrier of the block, an atomic whose
result is used, a load through L2, a fence, an atomic followed by a load of its result, a
conversion to FP64 with a product and a comparison, a load through L1, a sum over a warp, a shuffle.
Levels of a search consist of these (`bench/notes/loops.md`).
"""

from __future__ import annotations

import sys

import cupy
import numpy as np

_LOAD = (
    'unsigned v; asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"'
    ' : "=r"(v) : "l"(word + (acc & 1))); acc += v;'
)

#: Name -> one step; the next step depends on it through `acc`.
STEPS = {
    "global timer": 'long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); acc += t;',
    "clock64": "acc += clock64();",
    "block barrier": "__syncthreads();",
    "atomic, its result": "acc += atomicAdd(word + threadIdx.x / 32 * 64 + (acc & 1), 1u);",
    "load through L2": _LOAD,
    "fence": "__threadfence();",
    "atomic, then a load": "atomicAdd(word + (acc & 1), 1u); " + _LOAD,
    "FP64 of a count": "double d = __dmul_rn((double)(acc + i), 1.5); acc += d > 3.0;",
    "load through L1": "acc += word[acc & 1];",
    "sum over a warp": "acc += __reduce_add_sync(~0u, (unsigned)acc);",
    "shuffle": "acc += __shfl_up_sync(~0u, (unsigned)acc, 1);",
}  # fmt: skip

REPEATS = 200

_KERNEL = r"""
extern "C" __global__ void latency(long long* out, unsigned* word, int count) {
  long long acc = 0;
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < count; ++i) { STEP }
  const long long end = clock64();
  if (threadIdx.x == 0) { out[0] = end - begin; out[1] = acc; }
}
"""


def cycles(step: str, threads: int) -> float:
    """Return the cycles of one step in a block of `threads` threads."""
    kernel = cupy.RawKernel(_KERNEL.replace("STEP", step), "latency")
    out, words = cupy.zeros(2, np.int64), cupy.zeros(4096, np.uint32)
    for _ in range(2):
        kernel((1,), (threads,), (out, words, np.int32(REPEATS)))
    return int(out[0]) / REPEATS


def main() -> None:
    """Print a table."""

    def write(line: str) -> None:
        sys.stdout.write(f"{line}\n")

    sizes = (32, 128, 512)
    write(f"{'cycles, of threads':22s}" + "".join(f"{size:10d}" for size in sizes))
    for name, step in STEPS.items():
        write(f"{name:22s}" + "".join(f"{cycles(step, size):10.1f}" for size in sizes))


if __name__ == "__main__":
    main()
