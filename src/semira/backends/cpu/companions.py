"""What is kept beside an orientation of a matrix: lines padded to one width, and every position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.ops.meaning import cast_array


class Valued:
    """Values of entries, or of slots, with casts that are made once and kept."""

    __slots__ = ()

    values: NDArray[Any]
    iso: bool
    _casts: dict[DataType, NDArray[Any]]

    @property
    def stride(self) -> int:
        """Step from one value to the next."""
        return 0 if self.iso else 1

    def values_as(self, dtype: DataType) -> NDArray[Any]:
        """Return the values in `dtype`; a cast is made once and kept."""
        if self.values.dtype == dtype.array_dtype:
            return self.values
        if dtype not in self._casts:
            self._casts[dtype] = cast_array(self.values, dtype.array_dtype)
        return self._casts[dtype]

    def cast_usage(self) -> dict[str, int]:
        """Return the bytes of kept casts."""
        return {f"values as {dtype}": cast.nbytes for dtype, cast in self._casts.items()}


@dataclass(slots=True, eq=False)
class Padded(Valued):
    """One orientation with its lines padded: `semira.formats.EllArrays` with casts of its values.

    Attributes
    ----------
    height : int
    starts, indices, values : ndarray
    lengths : ndarray or None
    iso : bool
    """

    height: int
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    lengths: NDArray[Any] | None
    iso: bool
    _casts: dict[DataType, NDArray[Any]] = field(default_factory=dict)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array; a single value is the orientation's own."""
        parts = {"starts": self.starts, "indices": self.indices, "lengths": self.lengths}
        parts |= {} if self.iso else {"values": self.values}
        held = {name: part.nbytes for name, part in parts.items() if part is not None}
        return held | self.cast_usage()


@dataclass(slots=True, eq=False)
class Dense(Valued):
    """One orientation line by line with a place for every position, with casts of its values.

    Attributes
    ----------
    values : ndarray, shape (lines * width,) or (1,)
    present : ndarray of bool or None, shape (lines * width,)
        None: every entry is there.
    iso : bool
    is_own : bool
        Whether values and casts are not the matrix' own.
    """

    values: NDArray[Any]
    present: NDArray[Any] | None
    iso: bool
    is_own: bool = True
    _casts: dict[DataType, NDArray[Any]] = field(default_factory=dict)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array that is not the matrix' own."""
        held = {} if self.present is None else {"present": self.present.nbytes}
        return held | ({"values": self.values.nbytes} | self.cast_usage() if self.is_own else {})
