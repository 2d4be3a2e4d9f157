"""Kronecker graphs drawn where they are measured: the host takes minutes for the large ones.

The same distribution as `semira.generators.generate_kronecker`, other random numbers: equal seeds
and versions of the array module give equal graphs, but not those of the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from semira.base.dtypes import lookup_dtype
from semira.formats import MatrixArrays, hash_weights, index_dtype, offset_dtype
from semira.generators import generate_kronecker, parse_spec

#: Scale from which graphs are drawn on a device that can; smaller ones are the host's everywhere.
FROM_SCALE = 20

#: Draws, and sorted entries, that are worked on at a time; entries that are sorted together.
_SLICE, _PIECE = 1 << 26, 1 << 28

#: Options that the drawing here knows; a spec with others is the host's.
_KNOWN = {"edge_factor", "a", "b", "c", "seed", "weights"}


def draw_spec(spec: str, xp: Any, *, weights: bool = True) -> MatrixArrays | None:
    """Return the matrix of a spec, drawn with `xp`; None where the host is to make it.

    NumPy leaves every graph to the generators. Weights are integers from 1 to 64, equal in both
    directions; without them it is a pattern.
    """
    generator, size, parameters = parse_spec(spec)
    is_known = generator.generate is generate_kronecker and parameters.keys() <= _KNOWN
    if xp is np or not is_known or size[0] < FROM_SCALE:
        return None
    parameters.pop("weights", None)
    return draw_kronecker(xp, *size, weights=weights, **parameters)


def draw_kronecker(
    xp: Any,
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    weights: bool = True,
) -> MatrixArrays:
    """Return a symmetric graph without self-loops, vertices shuffled, as arrays of the host.

    On the device 16 bytes for each draw, and at most about 9 GB beside: with 16 draws for each
    vertex 26 GB at scale 26, 18 GB at 25. On the host 8 bytes for each draw (an index for each of
    its directions), 12 more if there are weights.
    """
    random = xp.random.default_rng(seed)
    n = 1 << scale
    labels = xp.argsort(random.random(n)).astype(np.int64)
    keys = _draw_keys(xp, random, labels, scale, edge_factor * n, (a, a + b, a + b + c))
    del labels
    degrees = xp.zeros(n, np.int64)
    indices = np.empty(len(keys), index_dtype(n))
    values: Any = np.empty(len(keys), np.int32) if weights else np.ones(1, np.bool_)
    stop = 0
    for piece in _sorted_pieces(xp, keys, scale):
        for first in range(0, len(piece), _SLICE):
            part = _first_of_each(xp, piece, first)
            tails, heads = part >> scale, part & (n - 1)
            degrees += xp.bincount(tails, minlength=n)
            where = slice(stop, stop + len(part))
            # Narrow first: what takes long is the way to the host.
            indices[where] = _on_host(heads.astype(indices.dtype))
            if weights:
                values[where] = _on_host(hash_weights(tails, heads, seed))
            stop = where.stop
    indptr = np.zeros(n + 1, offset_dtype(stop))
    indptr[1:] = _on_host(xp.cumsum(degrees))
    dtype = lookup_dtype("INT32" if weights else "BOOL")
    kept = values[:stop] if weights else values
    return MatrixArrays(
        n, n, dtype, "csr", indptr, indices[:stop], kept, iso=not weights, symmetric=True
    )


def _sorted_pieces(xp: Any, keys: Any, scale: int) -> Iterator[Any]:
    """Yield the keys in order, those of one range of rows after the other.

    Each range has about as many, since vertices are shuffled. Sorting all of them at once would
    take as much memory again, and libraries that count with 31 bits end there.
    """
    bits = min(scale, max(0, (len(keys) - 1) // _PIECE).bit_length())
    if bits == 0:
        keys.sort()
        yield keys
        return
    shift = 2 * scale - bits
    slices = [keys[first : first + _SLICE] for first in range(0, len(keys), _SLICE)]
    for number in range(1 << bits):
        piece = xp.concatenate([part[part >> shift == number] for part in slices])
        piece.sort()
        yield piece


def _draw_keys(
    xp: Any, random: Any, labels: Any, scale: int, count: int, limits: tuple[float, ...]
) -> Any:
    """Return both directions of every edge that is no loop, as row * n + column."""
    keys = xp.empty(2 * count, np.int64)
    stop = 0
    for first in range(0, count, _SLICE):
        size = min(_SLICE, count - first)
        rows, cols = xp.zeros(size, np.int64), xp.zeros(size, np.int64)
        for _ in range(scale):
            # Quadrants A B C D: the row bit is set in C and D, the column bit in B and D.
            drawn = random.random(size, dtype=np.float32)
            past_a, past_b, past_c = (drawn >= limit for limit in limits)
            rows = (rows << 1) | past_b
            cols = (cols << 1) | (past_a ^ past_b ^ past_c)
        apart = rows != cols
        rows, cols = labels[rows[apart]], labels[cols[apart]]
        for tails, heads in ((rows, cols), (cols, rows)):
            keys[stop : stop + len(tails)] = (tails << scale) | heads
            stop += len(tails)
    return keys[:stop]


def _first_of_each(xp: Any, keys: Any, first: int) -> Any:
    """Return the keys of a slice of sorted ones that differ from the key before them."""
    part = keys[first : first + _SLICE]
    is_fresh = xp.ones(len(part), np.bool_)
    is_fresh[1:] = part[1:] != part[:-1]
    if first:
        is_fresh[:1] = part[:1] != keys[first - 1 : first]
    return part[is_fresh]


def _on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array
