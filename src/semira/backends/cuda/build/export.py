"""Entries of vectors and matrices as arrays on the caller's stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.backends.cuda.build.exchange import is_foreign, lent, shared_view
from semira.backends.cuda.build.objects import shop_of
from semira.backends.cuda.build.shop import Shop
from semira.backends.cuda.lower.context import check_dtype
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.base.dtypes import DataType
from semira.base.errors import InvalidValue
from semira.formats import RawArrays

#: An array that is to be handed out: memory, dtype, number of items.
Piece = tuple[Any, Any, int]


def export(
    runtime: Runtime,
    handle: CudaVector | CudaMatrix,
    layout: str,
    *,
    transposed: bool = False,
    dtype: DataType | None = None,
    fill: Any = None,
    copy: bool = True,
    repeats: bool = True,
) -> RawArrays:
    """Return an object's entries as CuPy arrays; see `DeviceBackend.export`.

    Raises InvalidValue if the object has no such layout, or a dense one lacks entries and there is
    no `fill`.
    """
    is_lent = not copy and dtype is None and layout != "dense" and isinstance(handle, CudaMatrix)
    # On another stream, arrays that are dropped say how far it has read them.
    if not is_lent or is_foreign(runtime):
        return _export(runtime, handle, layout, transposed, dtype, fill, copy, repeats)
    assert isinstance(handle, CudaMatrix)
    key = layout, transposed, repeats
    found: RawArrays | None = handle.lent.get(key)
    if found is None:
        found = _export(runtime, handle, layout, transposed, dtype, fill, copy, repeats)
        # Not a value for each entry, which takes memory.
        if not (handle.iso and repeats):
            handle.lent[key] = found
    return found


def _export(
    runtime: Runtime,
    handle: CudaVector | CudaMatrix,
    layout: str,
    transposed: bool,
    dtype: DataType | None,
    fill: Any,
    copy: bool,
    repeats: bool,
) -> RawArrays:
    wanted = handle.dtype if dtype is None else dtype
    check_dtype(wanted)
    shop = shop_of(runtime)
    is_vector = isinstance(handle, CudaVector)
    found = _LAYOUTS.get(("vector" if is_vector else "matrix", layout))
    if found is None:
        raise InvalidValue(f"a {handle.kind} has no layout {layout!r} on the device")
    indices, values = found(shop, handle, layout, transposed)
    shape = handle.shape[::-1] if transposed else handle.shape
    count = indices[-1][2] if indices else handle.shape[0]
    cast = _cast(shop, values, handle.dtype, wanted)
    if layout != "dense":
        arrays = _handed(runtime, [*indices, cast], copy=copy)
        listed = arrays[-1]
        if len(listed) == 1 and count != 1 and repeats:
            # On the caller's stream, which is CuPy's current one.
            listed = listed.repeat(count)
        return RawArrays("cuda", layout, shape, tuple(arrays[:-1]), listed, wanted)
    dense = _dense(runtime, shape, indices, cast, fill, wanted)
    return RawArrays("cuda", layout, shape, (), dense, wanted)


def _cast(shop: Shop, values: Piece, given: DataType, wanted: DataType) -> Piece:
    memory, _, count = values
    if wanted is given:
        return values
    with shop.primitives.cupy_stream():
        made = shop.cast(shop.array(memory, given.np_type, count), wanted)
    return made, wanted.np_type, count


def _handed(runtime: Runtime, pieces: list[Piece], *, copy: bool) -> list[Any]:
    """Return arrays of the caller's: copies, or (not to be written to) the memory itself."""
    primitives = shop_of(runtime).primitives
    with lent(runtime) as stream:
        if copy:
            return [primitives.as_cupy(*piece).copy() for piece in pieces]
        return [shared_view(runtime, *piece, stream) for piece in pieces]


def _dense(
    runtime: Runtime,
    shape: tuple[int, ...],
    indices: list[Piece],
    values: Piece,
    fill: Any,
    dtype: DataType,
) -> Any:
    shop = shop_of(runtime)
    positions = int(np.prod(shape))
    array = shop.primitives.as_cupy
    if not indices:
        with lent(runtime):
            return array(*values).copy()
    if indices[-1][2] < positions and fill is None:
        raise InvalidValue("entries are missing; give the value that stands for them")
    shop.require(positions * dtype.itemsize, f"a dense array of shape {shape}")
    with lent(runtime):
        dense = shop.xp.empty(shape, dtype.np_type)
        if fill is not None:
            dense[...] = fill
        dense[tuple(array(*piece) for piece in indices)] = array(*values)
        return dense


# layouts -----------------------------------------------------------------------------------------
def _vector_entries(
    shop: Shop, vector: CudaVector, layout: str, _transposed: bool
) -> tuple[list[Piece], Piece]:
    """Return positions (none: all of them) and values; waits for their number."""
    nvals, (memory, words, _) = vector.read_state()
    kind = vector.dtype.np_type
    if layout == "dense" and nvals == vector.size:
        return [], (memory, kind, nvals)
    positions, wide = shop.primitives.positions(words, vector.size, nvals)
    values = shop.primitives.reorder(memory, wide, nvals, vector.dtype.itemsize)
    return [(positions, np.int32, nvals)], (values, kind, nvals)


def _matrix_entries(
    shop: Shop, matrix: CudaMatrix, _layout: str, transposed: bool
) -> tuple[list[Piece], Piece]:
    """Return rows and columns in the order of the matrix's rows, and values."""
    (_, columns), values = _matrix_lines(shop, matrix, "csr", transposed=False)
    rows = (matrix.entry_rows("csr"), np.int32, matrix.nvals)
    return ([columns, rows] if transposed else [rows, columns]), values


def _matrix_lines(
    _shop: Shop, matrix: CudaMatrix, layout: str, transposed: bool
) -> tuple[list[Piece], Piece]:
    """Return offsets and indices, and values."""
    orientation = layout if not transposed else {"csr": "csc", "csc": "csr"}[layout]
    matrix.need(orientation)
    indptr, indices, values = matrix.orientations[orientation]
    lines = matrix.nrows if orientation == "csr" else matrix.ncols
    count = 1 if matrix.iso else matrix.nvals
    return (
        [(indptr, matrix.offset_type, lines + 1), (indices, np.int32, matrix.nvals)],
        (values, matrix.dtype.np_type, count),
    )


_LAYOUTS: dict[tuple[str, str], Callable[..., tuple[list[Piece], Piece]]] = {
    ("vector", "coo"): _vector_entries,
    ("vector", "dense"): _vector_entries,
    ("matrix", "coo"): _matrix_entries,
    ("matrix", "csr"): _matrix_lines,
    ("matrix", "csc"): _matrix_lines,
    ("matrix", "dense"): _matrix_entries,
}
