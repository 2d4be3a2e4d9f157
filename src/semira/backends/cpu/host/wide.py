"""Vectors of 2**31 positions and more: nothing may be allocated per position.

Every position that an operation can touch is on one of a few lists. The positions are renumbered
0, 1, 2, ... in order, the ordinary code runs on the short vectors, and its result is numbered back.
Statements with matrices do the same in `host.wide_matrix`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host.update import Update
from semira.backends.cpu.masks import VectorMask
from semira.backends.cpu.storage import CpuVector, sparse_vector, to_sparse
from semira.base.errors import OutOfMemory
from semira.formats import index_dtype


def numbers_of(universe: Array, positions: Array) -> Array:
    """Return the numbers of `positions` that are in sorted `universe`."""
    at = np.searchsorted(universe, positions)
    at = at[universe[np.minimum(at, len(universe) - 1)] == positions] if len(universe) else at[:0]
    return at.astype(index_dtype(len(universe)), copy=False)


def narrowed_mask(mask: VectorMask | None, universe: Array) -> VectorMask | None:
    """Return the mask over the positions of `universe`."""
    if mask is None:
        return None
    if mask.listed is None:
        raise OutOfMemory(f"a mask of size {mask.size} must be a list of entries")
    return VectorMask(len(universe), mask.complement, numbers_of(universe, mask.listed))


def _narrowed(vector: CpuVector, universe: Array) -> CpuVector:
    if vector.indices is None:
        raise OutOfMemory(
            f"a vector of size {vector.size} with an entry everywhere takes part in an operation "
            "that needs its entries one by one; select a region or use a mask"
        )
    numbers = numbers_of(universe, vector.indices)
    return sparse_vector(len(universe), vector.dtype, numbers, vector.values, iso=vector.iso)


def widened(vector: CpuVector, universe: Array, size: int) -> CpuVector:
    """Return a short result numbered back."""
    listed = to_sparse(vector)
    indices = universe[listed.entry_indices()].astype(index_dtype(size), copy=False)
    return sparse_vector(size, listed.dtype, indices, listed.values, iso=listed.iso)


def narrowed_vector(vector: CpuVector, ids: Array) -> CpuVector:
    """Return the entries of any vector at the sorted positions `ids`, renumbered."""
    given, values, stride = vector.entries_at(ids)
    if given is None:
        return CpuVector(len(ids), vector.dtype, "full", values, iso=stride == 0)
    numbers = np.flatnonzero(given).astype(index_dtype(len(ids)), copy=False)
    values = values[given] if stride else values
    return sparse_vector(len(ids), vector.dtype, numbers, values, iso=stride == 0)


def narrowed_update(update: Update) -> tuple[Update, Array]:
    """Return the update over the positions that can change or stay, and those positions."""
    lists = [vector.indices for vector in (update.out, update.result)]
    if update.mask is not None:
        lists.append(update.mask.listed)
    lists.append(update.region)
    universe = np.unique(np.concatenate([part for part in lists if part is not None]))
    result = update.result
    if result.indices is None and result.iso:
        # An entry everywhere: of those only the ones that the mask or region lists can be written.
        if update.mask is None or update.mask.complement:
            raise OutOfMemory(
                f"writing all {result.size} positions one by one; use a mask or region"
            )
        short = CpuVector(len(universe), result.dtype, "full", result.values, iso=True)
    else:
        short = _narrowed(result, universe)
    region = None if update.region is None else numbers_of(universe, update.region)
    return (
        replace(
            update,
            out=_narrowed(update.out, universe),
            result=short,
            mask=narrowed_mask(update.mask, universe),
            region=region,
            storage="auto",
        ),
        universe,
    )
