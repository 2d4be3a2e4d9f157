"""What tiles of bits were not given, and what it would bring (docs/guide/bits.md).

    python -m benchmarks.scripts.bits_left_out delaunay_n16.npz USA-road-NE.npz

Prints bytes by those of compressed rows, alone and with scattered entries left in rows, of tiles
of 4, 8, 16, 32 and 64 bits, in three orders of the vertices; milliseconds of processor time of
products in the order of reverse Cuthill-McKee, and of moving the vector and the result; those of
weights as planes of bits, a product of pairs for each; and those of pushes by rows and by tiles
of 8 x 8 bits: of the levels of a search whose rows have less than half of all entries, and of every
50th vertex by chance.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from benchmarks.scripts.bits import SIZES, least
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

import semira as gb

Entries = tuple[NDArray[Any], NDArray[Any]]


def shares(at: Entries, n: int, bits: int) -> tuple[float, float]:
    """Return the bytes of tiles alone, and of the best split, by those of compressed rows."""
    across = -(-n // bits)
    _, counts = np.unique(at[0] // bits * across + at[1] // bits, return_counts=True)
    tile, offsets = (2 if across <= 2**16 else 4) + bits * bits // 8, 4 * (n + 1)
    whole = 4 * len(at[0]) + offsets
    few = counts * 4 <= tile
    left = 4 * int(counts[few].sum())
    split = tile * int((~few).sum()) + left + offsets * bool(left)
    return (4 * across + tile * len(counts)) / whole, (4 * across + split) / whole


def orders(at: Entries, n: int) -> dict[str, NDArray[Any]]:
    """Return the new number of each vertex, by the name of an order."""
    pattern = csr_array((np.ones(len(at[0]), np.int8), at), shape=(n, n))
    degree = np.bincount(at[0], minlength=n) + np.bincount(at[1], minlength=n)
    cuthill = reverse_cuthill_mckee(pattern, symmetric_mode=False)
    listed = {"rcm": cuthill, "degree": np.argsort(-degree, kind="stable")}
    return {"as given": np.arange(n)} | {name: np.argsort(each) for name, each in listed.items()}


def renumbered(name: str, at: Entries, number: NDArray[Any]) -> None:
    """Print times of products in both orders, and of moving vectors between them."""
    n, order = len(number), np.argsort(number)
    half = np.flatnonzero(np.random.default_rng(0).random(n) < 0.5)
    for text, place in (("as given", np.arange(n)), ("rcm", number)):
        A = gb.Matrix.from_coo(place[at[0]], place[at[1]], True, nrows=n, ncols=n)  # noqa: N806
        product = A.mxv(gb.Vector.from_coo(place[half], 1.0, size=n), "any_pair")
        times = [least(partial(product.new, direction="pull", bits=bits)) for bits in SIZES]
        print(name, "any_pair", text, *(f"{each:.2f}" for each in times))
    here, values = np.zeros(n, bool), np.zeros(n)

    def move() -> None:
        found, moved = np.empty(n, bool), np.empty(n)
        # The vector there, presence and values of the result back.
        found[order], moved[order] = here[order], values

    print(name, f"moving {least(move):.2f}")


def planes(name: str, at: Entries, n: int) -> None:
    """Print times of products of a vector of ones with weights of few bits."""
    u = gb.Vector.from_coo(np.arange(0, n, 2), 1, size=n)
    for count in (2, 4, 8):
        weight = np.random.default_rng(1).integers(1, 1 << count, len(at[0]))
        A = gb.Matrix.from_coo(*at, weight, dtype="UINT8", nrows=n, ncols=n)  # noqa: N806
        pick = [(weight >> plane & 1).astype(bool) for plane in range(count)]
        held = [gb.Matrix.from_coo(at[0][k], at[1][k], True, nrows=n, ncols=n) for k in pick]

        def of_planes(held: list[gb.Matrix] = held) -> None:
            for each in held:
                each.mxv(u, "plus_pair").new(direction="pull", bits=32)

        rows = least(partial(A.mxv(u, gb.semiring.plus_first["INT64"]).new, method="pull"))
        print(name, count, f"planes {least(of_planes):.2f} rows {rows:.2f}")


@njit  # type: ignore[untyped-decorator]
def push_rows(front: Any, indptr: Any, indices: Any, out: Any) -> None:
    """Mark the neighbours of vertices."""
    for u in front:
        for e in range(indptr[u], indptr[u + 1]):
            out[indices[e]] = 1


@njit  # type: ignore[untyped-decorator]
def push_tiles(
    front: Any,
    bytes_of: Any,
    indptr: Any,
    tiles: Any,
    words: Any,
    chosen: Any,
    lines: Any,
    out: Any,
) -> None:
    """Mark the neighbours of vertices, a byte of them at a time; `chosen` and `lines` are room."""
    num = 0
    for u in front:
        if chosen[u >> 3] == 0:
            lines[num] = u >> 3
            num += 1
        chosen[u >> 3] |= np.uint8(1 << (u & 7))
    for line in lines[:num]:
        rows = bytes_of[chosen[line]]
        chosen[line] = 0
        for t in range(indptr[line], indptr[line + 1]):
            met = words[t] & rows
            for half in (32, 16, 8):
                met |= met >> np.uint64(half)
            out[tiles[t]] |= np.uint8(met & np.uint64(255))


def pushes(name: str, A: gb.Matrix, at: Entries, n: int) -> None:  # noqa: N803
    """Print times of pushes by rows and by tiles."""
    rows = gb.kernels.rows_of(A, values=False)
    across, length = -(-n // 8), np.diff(rows.indptr)
    key, cell = at[0] // 8 * across + at[1] // 8, at[0] % 8 * 8 + at[1] % 8
    order = np.argsort(key, kind="stable")
    tile, first = np.unique(key[order], return_index=True)
    words = np.bitwise_or.reduceat(np.uint64(1) << cell[order].astype(np.uint64), first)
    starts = np.searchsorted(tile // across, np.arange(across + 1)).astype(np.int32)
    bytes_of = np.array([sum(255 << 8 * b for b in range(8) if x >> b & 1) for x in range(256)],
                        np.uint64)  # fmt: skip
    held = bytes_of, starts, (tile % across).astype(np.int32), words
    room = np.zeros(across, np.uint8), np.zeros(across, np.int64)
    level = gb.algorithms.bfs(A, int(np.argmax(length))).level.to_dense(-1)
    fronts = [np.flatnonzero(level == depth) for depth in range(level.max() + 1)]
    fronts = [each for each in fronts if 2 * length[each].sum() < len(at[0])]
    drawn = [np.random.default_rng(0).choice(n, n // 50, replace=False)]
    for text, chosen in (("levels", fronts), ("every 50th", drawn)):
        flags, bits = np.zeros(n, np.uint8), np.zeros(across, np.uint8)

        def by_rows(chosen: list[Any] = chosen, flags: Any = flags) -> None:
            for front in chosen:
                push_rows(front, rows.indptr, rows.indices, flags)

        def by_tiles(chosen: list[Any] = chosen, bits: Any = bits) -> None:
            for front in chosen:
                push_tiles(front, *held, *room, bits)

        print(name, f"pushes of {text}: rows {least(by_rows):.3f} tiles {least(by_tiles):.3f}")
        assert np.array_equal(np.unpackbits(bits, bitorder="little")[:n], flags)


def main() -> None:
    """Measure each graph named on the command line."""
    for name in sys.argv[1:]:
        A = gb.io.read(name)  # noqa: N806
        rows, cols, _ = A.to_coo(values=False)
        at, n = (rows.astype(np.int64), cols.astype(np.int64)), A.nrows
        places = orders(at, n)
        for text, place in places.items():
            told = [shares((place[at[0]], place[at[1]]), n, bits) for bits in (*SIZES, 64)]
            print(name, text, *(f"{alone:.2f}/{split:.2f}" for alone, split in told))
        renumbered(name, at, places["rcm"])
        across = -(-n // 128)
        wide = len(np.unique(at[0] // 8 * across + at[1] // 128))
        each, read = len(at[0]) / wide, (128 + 4096) * wide / len(at[0])
        print(name, f"8 x 128: {each:.1f} entries a tile, {read:.0f} bytes each, 256 searches")
        planes(name, at, n)
        pushes(name, A, at, n)


if __name__ == "__main__":
    with gb.device("cpu"):
        main()
