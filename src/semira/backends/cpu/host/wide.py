"""Vectors longer than 2**31: nothing may be allocated per position.

Every position that an operation can touch is on one of a few lists. The positions are renumbered
0, 1, 2, ... in order, the ordinary code runs on the short vectors, and its result is numbered back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from semira.backends.cpu.host.structure import gather_rows
from semira.backends.cpu.masks import VectorMask
from semira.backends.cpu.storage import Array, Compressed, CpuVector, sparse_vector, to_sparse
from semira.base.errors import NotImplementedException, OutOfMemory
from semira.formats import index_dtype

if TYPE_CHECKING:
    from semira.backends.cpu.host.mxv import Product
    from semira.backends.cpu.host.update import Update


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


def push(product: Product, mask: VectorMask | None) -> tuple[CpuVector, int]:
    """Push into a long result: only the frontier's rows are looked at."""
    from semira.backends.cpu.host import mxv

    _refuse_positions(product)
    frontier = product.vector.entry_indices()
    values, stride = product.vector.entry_values()
    rows = gather_rows(product.edges, frontier, product.edges.degrees()[frontier])
    universe, numbers = np.unique(rows.indices, return_inverse=True)
    numbers = numbers.astype(index_dtype(len(universe)), copy=False)
    edges = Compressed(rows.nmajor, len(universe), rows.indptr, numbers, rows.values, rows.iso)
    vector = CpuVector(len(frontier), product.vector.dtype, "full", values, iso=stride == 0)
    short = replace(product, edges=edges, vector=vector, size=len(universe))
    result, touched = mxv.push(short, narrowed_mask(mask, universe))
    return widened(result, universe, product.size), touched


def pull_operand(product: Product) -> Product:
    """Return the product with only those columns of the matrix that a long operand has."""
    from semira.backends.cpu.host.extract import kept_columns

    _refuse_positions(product)
    vector = product.vector
    if vector.indices is None:
        raise OutOfMemory(f"an operand of size {vector.size} must be a list of entries")
    edges = kept_columns(product.edges, vector.indices)
    short = CpuVector(vector.nvals, vector.dtype, "full", vector.values, iso=vector.iso)
    return replace(product, edges=edges, vector=short)


def _refuse_positions(product: Product) -> None:
    if product.multiply.is_positional:
        raise NotImplementedException(
            f"{product.multiply} is not available for vectors of 2**31 positions and more; "
            "use a vector of positions as the operand and an operator on values"
        )


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
