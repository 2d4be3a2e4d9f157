"""From the pairs that a generator draws to an edge list."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.memory import require_bytes
from semira.formats import EdgeList, hash_weights, index_dtype
from semira.generators.streams import map_chunks


class Pairs(NamedTuple):
    """Edges of one chunk: both ends, and a length each if the generator has lengths."""

    tails: NDArray[Any]
    heads: NDArray[Any]
    lengths: NDArray[Any] | None = None


def require_edges(
    num_vertices: int, num_edges: float, *, symmetric: bool, weighted: bool, extra: int = 0
) -> None:
    """Check that a graph fits into memory before anything of it is allocated.

    So many edges are expected, each listed twice if `symmetric`; one in a hundred may be missing.
    The generator holds `extra` bytes beside when it puts the list together. Raises OutOfMemory if
    it does not fit.
    """
    num_edges = math.floor(0.99 * num_edges)
    num_entries = num_edges * (2 if symmetric else 1)
    ends = 2 * index_dtype(num_vertices).itemsize
    needed = num_edges * ends + num_entries * (ends + (4 if weighted else 0)) + extra
    require_bytes(
        needed,
        f"a graph of {num_vertices} vertices and about {num_entries} entries",
        "ask for a smaller graph",
    )


def assemble(
    num_vertices: int,
    chunks: list[Pairs],
    *,
    symmetric: bool,
    weight_seed: int | None = None,
    meta: dict[str, Any],
) -> EdgeList:
    """Return the edge list of all chunks, both directions of each edge if `symmetric`.

    Chunks come in an order that does not depend on threads, and are emptied, to give memory back
    early. Weights are uniform, of `weight_seed`; None keeps the chunks' lengths, if they have any.
    `meta` goes into the edge list, together with ``directed``.
    """
    width = 2 if symmetric else 1
    sizes = [len(chunk.tails) for chunk in chunks]
    starts = [0, *accumulate(width * size for size in sizes)]
    has_lengths = bool(chunks) and chunks[0].lengths is not None
    index = index_dtype(num_vertices)
    rows, cols = np.empty(starts[-1], index), np.empty(starts[-1], index)
    values: NDArray[Any] | None = None
    if weight_seed is not None:
        values = np.empty(starts[-1], np.int32)
    elif has_lengths:
        values = np.empty(starts[-1], chunks[0].lengths.dtype)  # type: ignore[union-attr]

    def place(number: int, _start: int, _stop: int) -> None:
        tails, heads, lengths = chunks[number]
        if weight_seed is not None:
            lengths = hash_weights(tails, heads, weight_seed)
        for turn, (ends, others) in enumerate(((tails, heads), (heads, tails))[:width]):
            start = starts[number] + turn * sizes[number]
            where = slice(start, start + sizes[number])
            rows[where], cols[where] = ends, others
            if values is not None:
                values[where] = lengths
        chunks[number] = Pairs(tails[:0].copy(), heads[:0].copy())

    map_chunks(place, len(chunks), size=1)
    meta = {**meta, "directed": not symmetric}
    return EdgeList(num_vertices, num_vertices, rows, cols, values, symmetric, meta=meta)
