"""Products and triangles by tiles of bits beside compressed rows, on the cpu.

    python -m benchmarks.scripts.bits cnr-2000.npz mycielskian12.npz

Prints milliseconds of processor time of whole calls, the least of many: a product that finds which
rows meet half of a vector (any_pair), one that counts the entries that meet (plus_pair), one with
values of the vector (min_second), triangles, and with ``--matrices`` squares of the matrix.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import semira as gb
from semira.algorithms import triangle_count

SIZES = (4, 8, 16, 32)


def least(call: Callable[[], Any], repetitions: int = 25) -> float:
    """Return the milliseconds of processor time of the quickest call."""
    call()
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def squares(path: str, A: gb.Matrix) -> None:  # noqa: N803
    """Print a line for each square."""
    for ring in ("any_pair", "plus_pair"):
        times = [least(partial(A.mxm(A, ring).new, bits=bits), 3) for bits in (None, *SIZES[1:])]
        texts = [f"{each:8.1f}" for each in times]
        print(f"{path:24} {f'mxm {ring}':11}", texts[0], " " * 8, *texts[1:])


def measure(path: str) -> None:
    """Print a line for each product of a graph."""
    A = gb.io.read(path)  # noqa: N806
    if "--matrices" in sys.argv:
        squares(path, A)
        return
    n = A.nrows
    half = np.flatnonzero(np.random.default_rng(0).random(n) < 0.5)
    u = gb.Vector.from_coo(half, 1.0, size=n)
    values = gb.Vector.from_dense(np.random.default_rng(1).random(n))
    for ring, x in (("any_pair", u), ("plus_pair", u), ("min_second", values)):
        # Whole rows: the direction is the same for all.
        product = A.mxv(x, ring)
        found = [least(partial(product.new, method="pull"))]
        found += [least(partial(product.new, direction="pull", bits=bits)) for bits in SIZES]
        print(f"{path:24} {ring:11}", *(f"{each:8.2f}" for each in found))
    counts = [least(lambda: triangle_count(A), 5)]
    counts += [least(partial(triangle_count, A, bits=bits), 5) for bits in SIZES[1:]]
    texts = [f"{each:8.2f}" for each in counts]
    print(f"{path:24} {'triangles':11}", texts[0], " " * 8, *texts[1:])


if __name__ == "__main__":
    print(f"{'graph':24} {'product':11}     rows", *(f"{f'bits={bits}':>8}" for bits in SIZES))
    with gb.device("cpu"):
        for name in sys.argv[1:]:
            if name != "--matrices":
                measure(name)
