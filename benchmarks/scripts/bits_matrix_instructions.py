"""One-bit matrix instructions beside AND and popc on one GPU: searches, and dense corners.

    python -m benchmarks.scripts.bits_matrix_instructions --out FILE.json kron:18 cnr-2000.npz

Needs CuPy and compute capability 9.0. *Lines*: a level of 256 searches that pulls, by tiles that
are not empty, eight of them (of 8, 16 or 64 rows and 32 columns) to a fragment of 256 columns;
beside it the same tiles of 8 rows by AND, and entry by entry, and compressed rows. What a search
has to do after it (visited vertices, turning bits for the next level) is left out: of the matrix
instructions these are the better times. *Corners*: vertices of greatest degree, the sum over the
bits (i, j) of their lower triangle L of what rows i and j share: all pairs of rows by ``mma.sync``,
by ``wgmma`` and by popc, and by popc the pairs that are bits of L. All results are compared; a
difference ends the run. Times are the least of 5, between events.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import semira as gb
from semira.backends.cuda.jit.compile import compile_source

SOURCE = Path(__file__).with_suffix(".cu")
ARCH = "sm_90a"

#: Sources of a level, and the share of them that a vertex's frontier has.
SOURCES, SHARE = 256, 0.25

#: Fragments of a chunk, the work of a warp; entries of a chunk of rows.
FRAGMENTS, ENTRIES = 16, 256

#: Vertices of a corner, a multiple of 256, and of the drawn ones that are checked against NumPy.
CORNER, DRAWN = 8192, 512

REPEATS = 5


def kernel_text() -> str:
    """Return the kernels, with the instruction of 64 x 256 x 256 bits written out."""
    counts = ", ".join(f"%{n}" for n in range(128))
    held = ", ".join(f'"+r"(d[{n}])' for n in range(128))
    given = ", ".join(f"%{n}" for n in range(128, 132))
    function = (
        "__device__ __forceinline__ void wgmma(int (&d)[128], uint4 a, unsigned long long b) {\n"
        '  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.fence.sync.aligned; "\n'
        '    "wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc "\n'
        f'    "{{{counts}}}, {{{given}}}, %132, p; "\n'
        '    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }"\n'
        f'    : {held} : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b) : "memory");\n'
        "}"
    )
    text = SOURCE.read_text(encoding="utf-8")
    return "#define SEMIRA_WGMMA\n" + text.replace("WGMMA_FUNCTION", function)


class Device:
    """CuPy, and the kernels on its device."""

    def __init__(self) -> None:
        import cupy

        self.cp = cupy
        cubin = compile_source(kernel_text(), SOURCE.stem, ARCH).code
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernels.cubin"
            path.write_bytes(cubin)
            self._module = cupy.RawModule(path=str(path))
            self._kernels = {name: self._module.get_function(name) for name in KERNELS}

    def launch(self, name: str, grid: tuple[int, ...], threads: int, *given: Any) -> None:
        """Start a kernel."""
        self._kernels[name](grid, (threads,), given)

    def least_us(self, call: Callable[[], Any]) -> float:
        """Return the least time of a call between events, in microseconds."""
        cp, times = self.cp, []
        call()
        for _ in range(REPEATS):
            start, end = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(cp.cuda.get_elapsed_time(start, end) * 1e3)
        return float(min(times))


KERNELS = ("lines_mma8", "lines_mma16", "lines_wgmma", "lines_and", "lines_entries", "rows",
           "wanted", "corner_mma", "corner_wgmma", "corner_popc", "corner_entries")  # fmt: skip


def same(what: str, found: Any, wanted: Any) -> None:
    """End the run if results differ."""
    if not bool((found == wanted).all()):
        raise SystemExit(f"{what}: wrong results")


# Lines: a level of many searches -----------------------------------------------------------------
def chunks_of(xp: Any, counts: Any, starts: Any, most: int) -> Any:
    """Return (line, first, how many, 0) of the chunks of lines, shape (chunks, 4)."""
    ends = xp.cumsum((counts + most - 1) // most)
    line = xp.searchsorted(ends, xp.arange(int(ends[-1])), side="right")
    number = xp.arange(len(line)) - (ends[line] - (counts[line] + most - 1) // most)
    first = starts[line] + number * most
    count = xp.minimum(most, starts[line] + counts[line] - first)
    return xp.stack([line, first, count, xp.zeros_like(line)], axis=1).astype(np.int32)


#: Axes of words (fragment, half, tile, ... row) in the order of a lane's registers.
_ORDERS: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {
    8: ((2, 4, 8), (0, 3, 2, 1)),
    16: ((2, 4, 2, 8), (0, 4, 2, 1, 3)),
    64: ((2, 4, 4, 2, 8), (0, 3, 5, 2, 1, 4)),
}


def fragments(xp: Any, rows: Any, cols: Any, n: int, height: int) -> tuple[Any, Any, Any, int]:
    """Return the chunks, columns and words of fragments, and the number of tiles not empty."""
    across = -(-n // 32)
    key, inverse = xp.unique(rows // height * across + cols // 32, return_inverse=True)
    line, lines = key // across, -(-n // height)
    tiles = xp.bincount(line, minlength=lines)
    counts = (tiles + 7) // 8
    starts = xp.cumsum(counts) - counts
    slot = starts[line] * 8 + xp.arange(len(key)) - (xp.cumsum(tiles) - tiles)[line]
    total = int(counts.sum())
    columns = xp.full(total * 8, across, np.int32)
    columns[slot] = key % across
    # Each bit comes once: their sum is their union. Floats of 64 bits hold 32 exactly.
    place = slot[inverse] * height + rows % height
    weight = xp.left_shift(xp.ones_like(cols), cols % 32).astype(np.float64)
    words = xp.bincount(place, weight, minlength=total * 8 * height)
    shape, order = _ORDERS[height]
    words = words.astype(np.uint32).reshape(total, *shape).transpose(order)
    return (
        chunks_of(xp, counts, starts, FRAGMENTS), columns, xp.ascontiguousarray(words), len(key)
    )  # fmt: skip


def frontiers(xp: Any, n: int) -> tuple[Any, Any, Any]:
    """Return a drawn frontier by vertices, by tiles of columns and sources, and by registers."""
    across = -(-n // 32)
    here = xp.zeros(((across + 1) * 32, SOURCES), bool)
    here[:n] = xp.random.RandomState(1).rand(n, SOURCES) < SHARE
    by_vertex = _packed(xp, here)
    by_tile = _packed(xp, here.reshape(-1, 32, SOURCES).transpose(0, 2, 1)).reshape(-1, SOURCES)
    by_register = by_tile.reshape(-1, 8, 4, 8).transpose(0, 1, 3, 2)
    return by_vertex, by_tile, xp.ascontiguousarray(by_register)


def _packed(xp: Any, here: Any) -> Any:
    """Return Booleans as words of 32 along the last axis."""
    raw = xp.packbits(xp.ascontiguousarray(here).reshape(-1), bitorder="little")
    return raw.view(np.uint32).reshape(*here.shape[:-1], -1)


def _unpacked(xp: Any, words: Any) -> Any:
    raw = xp.ascontiguousarray(words).view(np.uint8)
    return xp.unpackbits(raw.reshape(-1), bitorder="little").reshape(*words.shape, 32)


def by_rows(xp: Any, name: str, out: Any, n: int) -> Any:
    """Return what a kernel found as words of eight for each row."""
    if name in ("lines_entries", "rows"):
        return out.reshape(-1, 8)[:n]
    if name == "lines_and":
        # A word of 32 sources for each row and source's eighth, in this order.
        return out.reshape(-1, 8)[:n]
    bits = _unpacked(xp, out)
    if name == "lines_mma8":
        # (line, i, source's half, row's bit) by lane (source, row): source 16 i + 8 half + g.
        bits = bits.reshape(-1, 16, 2, 2, 8, 4).transpose(0, 5, 3, 1, 2, 4)
    else:
        # (line, j, row's half, source's bit) by lane (row, source): source 8 j + 2 t + bit.
        bits = bits.reshape(-1, 32, 2, 2, 8, 4).transpose(0, 2, 4, 1, 5, 3)
    return _packed(xp, bits.reshape(-1, SOURCES).astype(bool))[:n]


def level(device: Device, name: str, at: tuple[Any, Any], n: int) -> Iterator[dict[str, Any]]:
    """Yield what a level takes, a row for each way."""
    cp = device.cp
    order = cp.lexsort(cp.stack([cp.asarray(at[1]), cp.asarray(at[0])]))
    rows, cols = (cp.asarray(each)[order].astype(np.int64) for each in at)
    nvals, (by_vertex, by_tile, by_register) = len(rows), frontiers(cp, n)
    indices, owners = cols.astype(np.int32), rows.astype(np.int32)
    wanted = cp.zeros((n, 8), np.uint32)
    device.launch("wanted", (-(-nvals * 8 // 256),), 256, owners, indices, np.int64(nvals),
                  by_vertex, wanted)  # fmt: skip
    lengths = cp.bincount(rows, minlength=n)
    chunks = chunks_of(cp, lengths, cp.cumsum(lengths) - lengths, ENTRIES)

    def run(kernel: str, grid: int, room: int, *given: Any) -> float:
        out = cp.zeros(room, np.uint32)
        elapsed_us = device.least_us(lambda: device.launch(kernel, (grid,), 128, *given, out))
        same(f"{kernel} on {name}", by_rows(cp, kernel, out, n), wanted)
        return elapsed_us

    def told(kernel: str, elapsed_us: float, tiles: int, held: int) -> dict[str, Any]:
        return {
            "kind": "lines", "graph": name, "kernel": kernel, "nvals": nvals, "tiles": tiles,
            "fragments": held, "us": elapsed_us, "ns_per_tile": elapsed_us * 1e3 / max(1, tiles),
            "ns_per_entry": elapsed_us * 1e3 / nvals,
        }  # fmt: skip

    num = len(chunks)
    elapsed_us = run("rows", -(-num // 4), n * 8, chunks, np.int32(num), indices, by_vertex)
    yield told("rows", elapsed_us, 0, 0)
    ways = {8: ("lines_mma8", "lines_and", "lines_entries"), 16: ("lines_mma16",),
            64: ("lines_wgmma",)}  # fmt: skip
    operand = {"lines_and": by_tile, "lines_entries": by_vertex, "lines_wgmma": by_tile}
    for height, kernels in ways.items():
        chunks, columns, words, tiles = fragments(cp, rows, cols, n, height)
        num, lines = len(chunks), -(-n // height)
        for kernel in kernels:
            grid = num if height == 64 else -(-num // 4)
            elapsed_us = run(kernel, grid, lines * height * 8, chunks, np.int32(num), columns,
                             words, operand.get(kernel, by_register))  # fmt: skip
            yield told(kernel, elapsed_us, tiles, len(columns) // 8)
        del chunks, columns, words
        cp.get_default_memory_pool().free_all_blocks()


# Corners -----------------------------------------------------------------------------------------
def corner(device: Device, name: str, lower: Any) -> Iterator[dict[str, Any]]:
    """Yield what a corner takes; `lower`: Booleans, strictly lower, a multiple of 256 a side."""
    cp, n = device.cp, len(lower)
    width, is_, js = n // 32, *(each.astype(np.int32) for each in cp.nonzero(lower))
    held = _packed(cp, lower)
    # (16 rows, step, lane, register) and (8 rows, step, lane, register).
    left = held.reshape(-1, 2, 8, width // 8, 2, 4).transpose(0, 3, 2, 5, 4, 1)
    right = held.reshape(-1, 8, width // 8, 2, 4).transpose(0, 2, 1, 4, 3)
    # (256 rows, step, 8 rows, half, row, word).
    shared = held.reshape(-1, 32, 8, width // 8, 2, 4).transpose(0, 3, 1, 4, 2, 5)
    left, right, shared = (cp.ascontiguousarray(each) for each in (left, right, shared))
    given, total = (held, np.int32(width)), cp.zeros(1, np.uint64)
    ways = {
        "corner_popc": ((n // 64, n // 64), 256, given),
        "corner_entries": ((132 * 8,), 256, (is_, js, np.int32(len(is_)), *given)),
        "corner_mma": ((n // 128, n // 128), 128, (left, right, *given)),
        "corner_wgmma": ((n // 256, n // 64), 128, (left, shared, *given)),
    }
    found = {}
    for kernel, (grid, threads, operands) in ways.items():
        total.fill(0)
        device.launch(kernel, grid, threads, *operands, total)
        found[kernel] = int(total[0])
        elapsed_us = device.least_us(
            lambda k=kernel, g=grid, t=threads, o=operands: device.launch(k, g, t, *o, total)
        )
        yield {"kind": "corner", "graph": name, "kernel": kernel, "n": n, "bits": len(is_),
               "total": found[kernel], "us": elapsed_us}  # fmt: skip
    if n <= DRAWN:
        dense = lower.astype(np.int64)
        found["numpy"] = int(((dense @ dense.T) * dense).sum())
    if len(set(found.values())) > 1:
        raise SystemExit(f"corner of {name}: {found}")


def corner_of(xp: Any, at: tuple[Any, Any], n: int, side: int) -> Any:
    """Return the lower triangle among the vertices of greatest degree, the greatest first."""
    rows, cols = xp.asarray(at[0]), xp.asarray(at[1])
    degree = xp.bincount(rows, minlength=n) + xp.bincount(cols, minlength=n)
    number = xp.empty(n, np.int64)
    number[xp.argsort(-degree)] = xp.arange(n)
    i, j = number[rows], number[cols]
    inner = (i < side) & (j < side) & (i != j)
    low = xp.zeros((side, side), bool)
    low[xp.maximum(i, j)[inner], xp.minimum(i, j)[inner]] = True
    return low


def main() -> None:
    """Print a line for each measurement, and write all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripts.bits_matrix_instructions")
    parser.add_argument("graphs", nargs="+", help="files or specifications of generators")
    parser.add_argument("--corners", type=int, nargs="+", default=[CORNER])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    device = Device()
    cp = device.cp
    found: list[dict[str, Any]] = []

    def note(row: dict[str, Any]) -> None:
        found.append(row)
        sys.stdout.write(f"{json.dumps(row)}\n")
        sys.stdout.flush()

    drawn = cp.tril(cp.random.RandomState(2).rand(DRAWN, DRAWN) < 0.3, -1)
    at = np.nonzero(np.random.default_rng(3).random((1000, 1000)) < 0.02)
    for row in (*corner(device, "drawn", drawn), *level(device, "drawn", at, 1000)):
        note(row)
    for number, text in enumerate(given.graphs):
        with gb.device("cpu"):
            A = gb.io.read(text)  # noqa: N806
            at, n = A.to_coo(values=False)[:2], A.nrows
        for row in level(device, Path(text).stem, at, n):
            note(row)
        for side in given.corners if number == 0 else ():
            for row in corner(device, Path(text).stem, corner_of(cp, at, n, side)):
                note(row)
    if given.out:
        properties = cp.cuda.runtime.getDeviceProperties(0)
        told = {"gpu": properties["name"].decode(), "rows": found}
        given.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
