"""Regions of huge matrices: the part of an axis that a statement can touch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host.regions import Region
from semira.backends.cpu.host.wide import narrowed_vector
from semira.backends.cpu.host.wide_lists import as_wide, renumbered
from semira.backends.cpu.storage import CpuMatrix, CpuVector, WideMatrix
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.lists import checked, image, located
from semira.base.errors import OutOfMemory
from semira.base.memory import require_bytes
from semira.contract import Statement
from semira.formats import ScalarArrays
from semira.formats.index import WIDE


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """An assign over the listed rows and columns of the output; `args` end with its regions."""

    statement: Statement
    args: list[Any]
    mask: MaskData | None
    out: CpuMatrix
    rows: Array
    cols: Array


def assign(
    statement: Statement, x: Any, regions: list[Region], mask: MaskData | None, out: WideMatrix
) -> Problem:
    """Return the assign over the rows and columns that it can touch.

    Raises
    ------
    OutOfMemory
        A scalar for 2**31 positions and more, one by one.
    """
    into_row = statement.indices[0].kind == "one"
    submask = bool(statement.param("submask")) and mask is not None
    if getattr(x, "value", None) is not None and (mask is None or mask.complement):
        # Before the positions are listed, which takes 8 bytes each.
        lengths = map(_length, regions, (out.nrows, out.ncols))
        _check_room(x, mask, regions, math.prod(lengths), submask=submask)
    named = [
        _named(x, axis, region, mask, out, into_row=into_row, submask=submask)
        for axis, region in enumerate(regions)
    ]
    ids = [
        np.unique(np.concatenate([old, new]))
        for old, new in zip((out.row_ids, out.col_ids), named, strict=True)
    ]
    (row_numbers, row_places), (col_numbers, col_places) = (
        located(np, region, listed, length)
        for region, listed, length in zip(regions, ids, (out.nrows, out.ncols), strict=True)
    )
    _check_room(x, mask, regions, len(row_numbers) * len(col_numbers), submask=submask)
    inside = (col_numbers if into_row else row_numbers, row_numbers, col_numbers)
    operand = x if isinstance(x, ScalarArrays) else _narrowed(x, *inside)
    test = mask
    if mask is not None:
        where = inside if submask else (ids[0], ids[0], ids[1])
        test = MaskData(_narrowed(mask.data, *where), mask.structural, mask.complement)
    given = [
        None if region is None else places
        for region, places in zip(regions, (row_places, col_places), strict=True)
    ]
    small = renumbered(out, ids[0], ids[1])
    return Problem(statement, [operand, *given], test, small, ids[0], ids[1])


def _narrowed(x: Any, along: Array, rows: Array, cols: Array) -> CpuVector | CpuMatrix:
    if isinstance(x, CpuVector):
        return narrowed_vector(x, along)
    return renumbered(as_wide(x), rows, cols)


def _named(
    x: Any,
    axis: int,
    region: Region,
    mask: MaskData | None,
    out: WideMatrix,
    *,
    into_row: bool,
    submask: bool,
) -> Any:
    """Return the positions along an axis that can gain an entry."""
    length = (out.nrows, out.ncols)[axis]
    if region is not None and not isinstance(region, tuple):
        return checked(region, length)
    if isinstance(x, ScalarArrays):
        if x.value is None:
            return np.empty(0, np.int64)
        count = _length(region, length)
        if mask is None or mask.complement:
            if count >= WIDE:
                raise OutOfMemory(
                    f"a value for {count} positions along one axis (limit: fewer than 2**31); "
                    "name the positions, or use a mask that lists them"
                )
            require_bytes(8 * count, f"a list of {count} positions")
            return image(region, np.arange(count))
        numbers = _numbers(mask.data, axis, into_row=into_row)
        return image(region, numbers) if submask else numbers
    return image(region, _numbers(x, axis, into_row=into_row))


def _length(region: Region, length: int) -> int:
    """Return how many positions along an axis a region names."""
    if region is None:
        return length
    return len(range(*region)) if isinstance(region, tuple) else len(np.unique(region))


def _numbers(x: Any, axis: int, *, into_row: bool) -> Array:
    """Return the positions in use along an axis; a vector lies along one axis only."""
    if isinstance(x, CpuVector):
        if x.indices is None and x.size >= WIDE:
            raise OutOfMemory(
                f"{x.size} entries one by one (limit: fewer than 2**31); use a vector that lists "
                "its entries"
            )
        return x.entry_indices() if axis == int(into_row) else np.empty(0, np.int64)
    wide = as_wide(x)
    return wide.row_ids if axis == 0 else wide.col_ids


def _check_room(
    x: Any, mask: MaskData | None, regions: list[Region], count: int, *, submask: bool
) -> None:
    """Check that a scalar has room: it takes the whole region, or what a full mask lists."""
    listed = mask is not None and not mask.complement and not submask
    everything = regions[0] is None and regions[1] is None
    if isinstance(x, ScalarArrays) and not (listed and everything) and count >= WIDE:
        raise OutOfMemory(
            f"a value for {count} positions (limit: fewer than 2**31); name fewer rows or columns"
        )
