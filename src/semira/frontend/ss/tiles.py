"""Objects in pieces and other shapes: split, concat, flatten, reshape."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue
from semira.base.memory import require_bytes, tells_shortage
from semira.contract.rearrange import Rearrangement
from semira.engine import recording
from semira.engine.rearranging import computes_itself
from semira.engine.values import Value
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix, coo_to_vector
from semira.formats.index import MAX_SIZE, index_dtype, offset_dtype
from semira.formats.matrix import is_hypersparse
from semira.frontend import reading
from semira.frontend.checks import bad_type
from semira.frontend.construct import check_size, is_rowwise
from semira.frontend.kinds import OBJECTS
from semira.frontend.ss.lines import one_line, rearranged
from semira.ops.meaning import cast_array


def _one_size(given: Any, message: str) -> int | None:
    if given is None:
        return None
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if hasattr(given, "__index__") and not isinstance(given, bool):
        return int(given)
    raise DomainMismatch(f"{message} {given!r}")


def _sizes_along(chunks: Any, size: int) -> list[int]:
    if isinstance(chunks, np.ndarray):
        if chunks.dtype.kind not in "iu":
            raise DomainMismatch(f"chunks must be integer dtype; got {chunks.dtype}")
        if chunks.ndim != 1:
            raise DomainMismatch(f"numpy array for chunks must be 1-dimension; got {chunks.ndim}")
    if not isinstance(chunks, (list, tuple, np.ndarray)):
        piece = _one_size(chunks, "Chunks for a dimension must be an integer, None or a list, not")
        if piece is None:
            return [size]
        if piece <= 0:
            raise InvalidValue(f"Chunksize must be greater than 0, got {piece}")
        whole, rest = divmod(size, piece)
        return [piece] * whole + [rest] * (rest > 0)
    return _listed_sizes(chunks, size)


def _listed_sizes(chunks: Any, size: int) -> list[int]:
    sizes = [_one_size(piece, "chunks: expected int or None, but got") for piece in chunks]
    known = [piece for piece in sizes if piece is not None]
    if any(piece < 0 for piece in known):
        raise InvalidValue(f"Chunksize must be greater than 0, got {min(known)}")
    if len(known) < len(sizes) - 1:
        raise DomainMismatch("None value in chunks: only one of a dimension may be None")
    rest = size - sum(known)
    if rest < 0:
        raise DimensionMismatch(f"Chunks are too large: {sum(known)} for a size of {size}")
    if len(known) == len(sizes) and rest:
        raise DimensionMismatch(f"chunks cover {sum(known)} of {size} positions")
    return [rest if piece is None else piece for piece in sizes]


def chunk_sizes(chunks: Any, shape: tuple[int, ...]) -> list[list[int]]:
    """Return the sizes of the pieces of every dimension.

    A number cuts into pieces of that size, the last one smaller; a list names every piece, one None
    in it is what is left; None is one piece. There may be one of them for each dimension. Raises
    DomainMismatch for chunks of another type, InvalidValue if a size is below 1, or there are not
    as many as dimensions, and DimensionMismatch if a list does not add up to the size.
    """
    if isinstance(chunks, (list, tuple)) or (
        isinstance(chunks, np.ndarray) and chunks.ndim and len(shape) > 1
    ):
        parts = list(chunks)
        if len(shape) == 1 and not any(isinstance(part, (list, tuple)) for part in parts):
            parts = [chunks]
    elif chunks is None:
        raise DomainMismatch("chunks argument must be a list, a tuple or a number, not None")
    else:
        parts = [chunks] * len(shape) if not isinstance(chunks, np.ndarray) else [chunks]
    if len(parts) != len(shape):
        raise InvalidValue(f"chunks argument must be of length {len(shape)}, got {len(parts)}")
    return [_sizes_along(part, size) for part, size in zip(parts, shape, strict=True)]


def _slices(sizes: list[int]) -> list[slice]:
    ends = list(accumulate(sizes))
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def split(item: Any, chunks: Any, name: str | None, options: dict[str, Any]) -> list[Any]:
    """Return the pieces of a vector, or of a matrix as a list of rows of pieces."""
    name = item.name if name is None else name
    regions = [_slices(sizes) for sizes in chunk_sizes(chunks, item.shape)]
    if item.kind == "vector":
        return [item[part].new(name=f"{name}_{i}", **options) for i, part in enumerate(regions[0])]
    return [
        [
            item[rows, cols].new(name=f"{name}_{i}x{j}", **options)
            for j, cols in enumerate(regions[1])
        ]
        for i, rows in enumerate(regions[0])
    ]


def is_vector_list(tiles: Any) -> bool:
    """Whether `tiles` is a list of vectors (or Scalars), and not a grid.

    Raises DomainMismatch if it is neither: not a list, or of mixed kinds. Raises InvalidValue if
    nothing is in it.
    """
    if not isinstance(tiles, (list, tuple)):
        raise DomainMismatch(f"tiles argument must be list or tuple; got {type(tiles)}")
    if not tiles:
        raise InvalidValue("tiles argument must not be empty")
    are_vectors = [getattr(tile, "kind", None) in ("vector", "scalar") for tile in tiles]
    if any(are_vectors) and not all(are_vectors):
        where = are_vectors.index(False) if are_vectors[0] else are_vectors.index(True)
        raise DomainMismatch(f"Bad tile type for concat at position {where}")
    return all(are_vectors)


def check_grid(tiles: Any) -> list[list[Any]]:
    """Return a grid of tiles as lists.

    Raises DomainMismatch if it is none: not rows of Matrices, Vectors and Scalars. Raises
    InvalidValue if a row is empty, or longer than another one.
    """
    for row in tiles:
        if not isinstance(row, (list, tuple)):
            raise DomainMismatch(f"tiles must be lists or tuples; got {type(row)}")
        if not row:
            raise InvalidValue("tiles must not be empty")
        if len(row) != len(tiles[0]):
            raise InvalidValue("tiles must all be the same length")
        for tile in row:
            if getattr(tile, "kind", None) not in ("matrix", "vector", "scalar"):
                raise bad_type(tile, "Matrix, Vector, Scalar", "tiles", "ss.concat")
    return [list(row) for row in tiles]


def _line_arrays(tile: Any) -> VectorArrays:
    """Return the arrays of a vector; a Scalar is a vector of size 1."""
    arrays = reading.host_arrays(tile, "concat")
    if tile.kind == "vector":
        return arrays  # type: ignore[no-any-return]
    values = np.array([arrays.value] * arrays.nvals, arrays.dtype.np_type)
    return VectorArrays.sparse(1, arrays.dtype, np.arange(arrays.nvals), values)


def _tile_arrays(tile: Any) -> MatrixArrays:
    """Return a tile's arrays; a vector is a column."""
    if tile.kind == "matrix":
        return reading.host_arrays(tile, "concat")  # type: ignore[no-any-return]
    return one_line(_line_arrays(tile)).flipped()


def _check_castable(tile: Any, dtype: DataType) -> None:
    if tile.dtype is not dtype and "V" in (tile.dtype.kind, dtype.kind):
        raise DomainMismatch(
            f"tiles of {tile.dtype} cannot be joined as {dtype}: user-defined dtypes are cast "
            "to nothing else"
        )


def _values_of(arrays: Any, dtype: DataType) -> NDArray[Any]:
    _check_castable(arrays, dtype)
    return np.asarray(cast_array(arrays.entry_values(), dtype.array_dtype))


@tells_shortage("ss.concat")
def concat(tiles: Any, dtype: DataType) -> Any:
    """Return vectors and Scalars one after the other, or a grid of tiles, as arrays or a value.

    Raises
    ------
    DomainMismatch
        `tiles` is not a list, or something in it is no Matrix, Vector or Scalar.
    DimensionMismatch
        A tile is not as high (wide) as the others of its row (column).
    InvalidValue
        `tiles` is empty, or its rows have different lengths.
    """
    are_vectors = is_vector_list(tiles)
    grid = [[tile] for tile in tiles] if are_vectors else check_grid(tiles)
    recording.refuse_host_read("concat puts objects together at once", "do it before the loop")
    if any(computes_itself(tile._operand()[0]) for row in grid for tile in row):
        return _concat_by_assigning(grid, dtype, are_vectors=are_vectors)
    return _concat_vectors(tiles, dtype) if are_vectors else _concat_matrices(grid, dtype)


def _concat_by_assigning(grid: list[list[Any]], dtype: DataType, *, are_vectors: bool) -> Value:
    """Return the object of which each tile is assigned to its region: it stays on its device."""
    shapes = [[(*tile.shape, 1, 1)[:2] for tile in row] for row in grid]
    tops, lefts = _edges(shapes)
    size = check_size(tops[-1], "size" if are_vectors else "nrows")
    if are_vectors:
        out = OBJECTS["vector"](dtype, size)
    else:
        out = OBJECTS["matrix"](dtype, size, check_size(lefts[-1], "ncols"))
    for row, top, bottom in zip(grid, tops, tops[1:], strict=False):
        for tile, left, right in zip(row, lefts, lefts[1:], strict=False):
            _check_castable(tile, dtype)
            if 0 in tile.shape:
                continue
            down: Any = top if tile.kind == "scalar" else slice(top, bottom)
            across: Any = slice(left, right) if tile.kind == "matrix" else left
            out[down if are_vectors else (down, across)] << tile
    value: Value = out._value
    return value


def _edges(shapes: list[list[tuple[int, int]]]) -> tuple[list[int], list[int]]:
    """Return where rows and columns of tiles begin, and where the last ones end."""
    heights, widths = [row[0][0] for row in shapes], [shape[1] for shape in shapes[0]]
    for i, row in enumerate(shapes):
        for j, (height, width) in enumerate(row):
            if (height, width) != (heights[i], widths[j]):
                raise DimensionMismatch(
                    f"tile ({i}, {j}) is {height} x {width}; its place in the grid is "
                    f"{heights[i]} x {widths[j]}"
                )
    return list(accumulate(heights, initial=0)), list(accumulate(widths, initial=0))


def _concat_vectors(tiles: Any, dtype: DataType) -> VectorArrays:
    parts = [_line_arrays(tile) for tile in tiles]
    starts = list(accumulate((part.size for part in parts), initial=0))
    size = check_size(starts[-1], "size")
    indices = [
        part.entry_indices().astype(np.int64) + start
        for part, start in zip(parts, starts, strict=False)
    ]
    values = np.concatenate([_values_of(part, dtype) for part in parts])
    return coo_to_vector(size, np.concatenate(indices), values, dtype=dtype)


def _concat_matrices(tiles: Any, dtype: DataType) -> MatrixArrays:
    """Return the grid of tiles, of one height a row and one width a column, as one matrix."""
    grid = [[_tile_arrays(tile) for tile in row] for row in tiles]
    tops, lefts = _edges([[tile.shape for tile in row] for row in grid])
    nvals = sum(tile.nvals for row in grid for tile in row)
    by_rows = all(row[0].orientation == "csr" for row in grid)
    if by_rows and len(lefts) == 2 and not is_hypersparse(tops[-1], nvals):
        return _stacked([row[0] for row in grid], dtype)
    # Rows and columns of 64 bits, and values.
    require_bytes(nvals * (16 + dtype.array_dtype.itemsize), f"joining {nvals} entries")
    rows, cols, values = [], [], []
    for i, row in enumerate(grid):
        for j, tile in enumerate(row):
            row_of, col_of, _ = tile.to_coo()
            rows.append(row_of.astype(np.int64) + tops[i])
            cols.append(col_of.astype(np.int64) + lefts[j])
            values.append(_values_of(tile, dtype))
    nrows, ncols = check_size(tops[-1], "nrows"), check_size(lefts[-1], "ncols")
    together = (np.concatenate(parts) for parts in (rows, cols, values))
    return coo_to_matrix(nrows, ncols, *together, dtype=dtype)


def _stacked(tiles: list[MatrixArrays], dtype: DataType) -> MatrixArrays:
    """Return rows of tiles one below the other: nothing has to be sorted."""
    nrows, ncols = sum(tile.nrows for tile in tiles), tiles[0].ncols
    nvals = sum(tile.nvals for tile in tiles)
    index = index_dtype(nrows, ncols)
    require_bytes(
        nvals * (index.itemsize + dtype.array_dtype.itemsize), f"{nvals} entries of tiles"
    )
    lengths = np.concatenate([np.diff(tile.ordinary().indptr) for tile in tiles])
    indptr = np.zeros(nrows + 1, offset_dtype(nvals))
    np.cumsum(lengths, out=indptr[1:])
    indices = np.concatenate([tile.indices for tile in tiles], dtype=index)
    values = np.concatenate([_values_of(tile, dtype) for tile in tiles])
    return MatrixArrays(nrows, ncols, dtype, "csr", indptr, indices, values)


def parse_shape(nrows: Any, ncols: Any, length: int) -> tuple[int, int]:
    """Return the shape that `reshape` was given; -1 stands for what is left.

    Raises InvalidValue if it does not hold `length` positions.
    """
    shape = (nrows, ncols)
    if ncols is None:
        shape = tuple(nrows) if isinstance(nrows, (list, tuple)) else (nrows,)
        if len(shape) > 2:
            raise InvalidValue(f"Shape tuple must be of length 2, not {len(shape)}")
    sizes = [int(size) for size in shape]
    if sizes.count(-1) > 1:
        raise InvalidValue("can only specify one unknown dimension")
    if len(sizes) == 2 and -1 in sizes:
        other = max(sizes)
        if other > 0 and length % other == 0:
            sizes[sizes.index(-1)] = length // other
    if len(sizes) != 2 or min(sizes) < 0 or sizes[0] * sizes[1] != length:
        raise InvalidValue(f"cannot reshape array of size {length} into shape {tuple(shape)}")
    return sizes[0], sizes[1]


def _check_length(shape: tuple[int, int]) -> int:
    length = shape[0] * shape[1]
    if length > MAX_SIZE:
        raise InvalidValue(
            f"a matrix of {shape[0]} x {shape[1]} has {length} positions; a vector has at most "
            "2**60"
        )
    return length


@tells_shortage("ss.flatten")
def flatten(item: Any, order: str, what: str) -> Any:
    """Return the matrix as one long vector; see `MatrixExtensions.flatten`."""
    length = _check_length(item.shape)
    return _moved(item, (length,), order, what)


def _moved(item: Any, shape: tuple[int, ...], order: str, what: str) -> Any:
    request = Rearrangement("reshape", not is_rowwise(order), shape=shape)
    return rearranged(item, request, what)[0]


@tells_shortage("ss.reshape")
def reshape(item: Any, nrows: Any, ncols: Any, order: str, what: str) -> Any:
    """Return the entries of a matrix or vector in another shape; see `MatrixExtensions.reshape`."""
    shape = parse_shape(nrows, ncols, prod(item.shape))
    is_rowwise(order)
    _check_length(shape)
    return _moved(item, shape, order, what)
