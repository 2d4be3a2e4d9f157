"""Index expressions: ``v[2:9]``, ``A[[1, 3], :]``, ``A[i, j]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.base.errors import DimensionMismatch, DomainMismatch, IndexOutOfBound
from semira.engine import recording
from semira.engine.calls import ALL, Region
from semira.formats import index_dtype
from semira.frontend.call import Template, expression
from semira.frontend.mask import Mask, as_mask


@dataclass(frozen=True, slots=True)
class Axis:
    """One resolved axis: its region, and its length (None if the axis disappears)."""

    region: Region
    length: int | None


def resolve_axis(key: Any, size: int, what: str) -> Axis:
    """Return the axis an index names along a dimension of `size`.

    Raises IndexOutOfBound if a position lies outside the dimension. Raises TypeError if the index
    is of a kind GraphBLAS does not accept (boolean arrays, empty lists).
    """
    if isinstance(key, slice):
        return _resolve_slice(key, size)
    if hasattr(key, "_operand"):
        key = _scalar_index(key)
    if isinstance(key, (bool, np.bool_)):
        raise TypeError("Invalid dtype for index: bool")
    if isinstance(key, (int, np.integer)):
        position = int(key)
        _check_range(position, position, size, what)
        return Axis(Region("one", np.array([position % size], np.int64)), None)
    return _resolve_positions(key, size, what)


def _resolve_positions(key: Any, size: int, what: str) -> Axis:
    if not isinstance(key, (list, np.ndarray, range)) and not hasattr(key, "__array__"):
        raise TypeError(
            f"Invalid type for index: {type(key).__name__}; give an integer, a slice, a list or an "
            "array of integers"
        )
    array = np.asarray(key)
    if array.dtype.kind not in "iu":
        # NumPy makes objects or floats of integers beyond 64 bits.
        if isinstance(key, list) and key and all(each.__class__ is int for each in key):
            _check_range(min(key), max(key), size, what)
        raise TypeError(f"Invalid dtype for index: {array.dtype}")
    if array.ndim == 0:
        return resolve_axis(int(array), size, what)
    if array.ndim != 1:
        raise TypeError(f"Invalid number of dimensions for index: {array.ndim}")
    low, high = (int(array.min()), int(array.max())) if array.size else (0, -1)
    _check_range(low, high, size, what)
    if low < 0:
        # In 64 bits: `size` need not fit into the dtype that the caller chose.
        array = np.where(array < 0, array.astype(np.int64) + size, array)
    return Axis(Region("list", array.astype(index_dtype(size), copy=False)), len(array))


def _check_range(low: int, high: int, size: int, what: str) -> None:
    """Check the least and the greatest index, as they were given: from the end if negative."""
    if low < -size or high >= size:
        bad = low if low < -size else high
        raise IndexOutOfBound(f"{what} index {bad} is outside [{-size}, {size})")


def _scalar_index(key: Any) -> int:
    if key.kind != "scalar":
        raise TypeError(f"Invalid type for index: {type(key).__name__}.")
    if not key.dtype.is_integer:
        raise TypeError(f"An integer is required for indexing; got a Scalar of {key.dtype}")
    recording.refuse_host_read(
        "a Scalar as an index is read on the host", "use a mask, or `gather` and `scatter`"
    )
    return int(key)


def _resolve_slice(key: slice, size: int) -> Axis:
    try:
        bounds = key.indices(size)
    except TypeError:
        raise TypeError(f"slice bounds must be integers, got {key!r}") from None
    if bounds == (0, size, 1):
        return Axis(ALL, size)
    return Axis(Region("range", bounds), len(range(*bounds)))


def resolve(keys: Any, shape: tuple[int, ...]) -> list[Axis]:
    """Return one axis per dimension of `shape`."""
    if keys is Ellipsis:
        keys = (slice(None),) * len(shape)
    if len(shape) == 1:
        keys = keys if isinstance(keys, tuple) else (keys,)
        if len(keys) != 1:
            raise TypeError(f"Index for Vector must be a single index, got {len(keys)}")
    elif not isinstance(keys, tuple) or len(keys) != 2:
        raise TypeError("Index for Matrix must be a 2-tuple")
    names = ("row", "column") if len(shape) == 2 else ("vector",)
    return [
        resolve_axis(key, size, name) for key, size, name in zip(keys, shape, names, strict=True)
    ]


def extract_expression(x: Any, keys: Any) -> Any:
    """Return ``x[keys]``."""
    if hasattr(x, "_require_usable"):
        x._require_usable("self", f"{type(x).__name__}.__getitem__")
    return extract_axes(x, resolve(keys, x.shape))


def extract_axes(x: Any, axes: list[Axis]) -> Any:
    """Return the region of `x` that resolved axes name."""
    shape = tuple(axis.length for axis in axes if axis.length is not None)
    kind = ("scalar", "vector", "matrix")[len(shape)]
    dims = tuple(
        (0, 1 - number if x._is_transposed else number)
        if axis.region is ALL
        else ("region", number)
        for number, axis in enumerate(axes)
        if axis.length is not None
    )
    regions = tuple([axis.region for axis in axes])
    made = expression(Template("extract", (x,), kind, x.dtype, shape, dims, regions=regions))
    made._target = (x, axes)
    return made


def _check_vector(mask: Mask, x: Any, axes: Any) -> int:
    """Check a Vector mask on a Matrix operand; returns the axis it runs along."""
    kept = [number for number, axis in enumerate(axes) if axis.length is not None]
    if len(kept) != 1:
        raise DomainMismatch("Got Vector `input_mask` when extracting a submatrix from a Matrix")
    if mask.parent.shape[0] != x.shape[kept[0]]:
        name = ("nrows", "ncols")[kept[0]]
        raise DimensionMismatch(
            f"Size of `input_mask` Vector does not match {name} of Matrix: "
            f"{mask.parent.shape[0]} and {x.shape[kept[0]]}"
        )
    return kept[0]


def output_mask(expression: Any, given: Any) -> Mask:
    """Return the mask of ``x[...].new(input_mask=given)`` for its result.

    ``x[I](input_mask=M)`` keeps what M lets through before indexing, which is what ``M[I]`` lets
    through after it. Raises DomainMismatch if the expression is no extract, or the mask is of a
    kind that does not fit. Raises DimensionMismatch if the mask does not have the operand's shape.
    """
    target = expression._target
    if target is None:
        raise DomainMismatch("`input_mask` argument may only be used for extract")
    if not expression.shape:
        raise DimensionMismatch("input_mask is not allowed when a single element is extracted")
    x, axes = target
    mask = as_mask(given)
    parent = mask.parent
    if x.kind == "vector" and parent.kind != "vector":
        raise DomainMismatch(f"Mask object must be type Vector; got {parent.kind}")
    if parent.kind == "vector":
        axis = 0 if x.kind == "vector" else _check_vector(mask, x, axes)
        if parent.shape[0] != x.shape[axis]:
            raise DimensionMismatch(
                f"Size of `input_mask` does not match size of input: {parent.shape} and {x.shape}"
            )
        indexed = extract_axes(parent, [axes[axis]]).new()
    else:
        if parent.shape != x.shape:
            raise DimensionMismatch(
                f"Shape of `input_mask` does not match shape of input: {parent.shape} and {x.shape}"
            )
        indexed = extract_axes(parent, axes).new()
    return Mask(indexed, structure=mask.structure, complement=mask.complement)
