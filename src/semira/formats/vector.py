"""Vectors: sparse (index list), bitmap (values and presence) and full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidObject, OutOfMemory
from semira.base.memory import require_bytes
from semira.formats.index import WIDE, index_dtype

STORAGES = ("sparse", "bitmap", "full")

_REMEDY = "extract a part of the vector, or write it under a mask"


@dataclass(slots=True, eq=False)
class VectorArrays:
    """The arrays of one vector; nobody sets its fields.

    Attributes
    ----------
    size : int
        Number of positions.
    dtype : DataType
    storage : {"sparse", "bitmap", "full"}
    values : ndarray
        ``nvals`` values (sparse) or ``size`` values (bitmap, full); a single value if `iso`.
    indices : ndarray or None
        Sparse: positions of the entries, strictly increasing.
    present : ndarray of bool or None
        Bitmap: whether each position holds an entry.
    nvals : int
        Number of entries.
    iso : bool
        Whether all entries share ``values[0]``.
    """

    size: int
    dtype: DataType
    storage: str
    values: NDArray[Any]
    indices: NDArray[Any] | None = None
    present: NDArray[np.bool_] | None = None
    nvals: int = 0
    iso: bool = False

    @classmethod
    def empty(cls, size: int, dtype: DataType) -> VectorArrays:
        """Return a vector without entries."""
        indices = np.empty(0, index_dtype(size))
        return cls(size, dtype, "sparse", np.empty(0, dtype.array_dtype), indices)

    @classmethod
    def sparse(
        cls,
        size: int,
        dtype: DataType,
        indices: NDArray[Any],
        values: NDArray[Any],
        *,
        iso: bool = False,
    ) -> VectorArrays:
        """Return a sparse vector of sorted `indices`; nothing is copied or checked."""
        return cls(size, dtype, "sparse", values, indices, None, len(indices), iso)

    @classmethod
    def full(cls, dtype: DataType, values: NDArray[Any]) -> VectorArrays:
        """Return a full vector of `values`; nothing is copied."""
        return cls(len(values), dtype, "full", values, None, None, len(values))

    @property
    def shape(self) -> tuple[int]:
        """The size."""
        return (self.size,)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = (self.values, self.indices, self.present)
        return sum(part.nbytes for part in parts if part is not None)

    def entry_indices(self) -> NDArray[Any]:
        """Return the positions of the entries, increasing; O(size) unless sparse.

        Raises
        ------
        OutOfMemory
            There is an entry at each of 2**31 positions or more, or they do not fit.
        """
        if self.indices is not None:
            return self.indices
        if self.present is not None:
            return np.flatnonzero(self.present).astype(index_dtype(self.size), copy=False)
        self._check_listable(index_dtype(self.size).itemsize)
        return np.arange(self.size, dtype=index_dtype(self.size))

    def entry_values(self) -> NDArray[Any]:
        """Return the values of the entries in the order of `entry_indices`."""
        if self.iso:
            self._check_listable(self.values.itemsize)
            return np.repeat(self.values[:1], self.nvals)
        if self.present is not None:
            return self.values[self.present]
        return self.values

    def _check_listable(self, itemsize: int) -> None:
        if self.nvals >= WIDE:
            raise OutOfMemory(
                f"{self.nvals} entries one by one (limit: fewer than 2**31); {_REMEDY}"
            )
        require_bytes(self.nvals * itemsize, "a list of entries", _REMEDY)

    def validate(self) -> None:
        """Check every invariant.

        Raises
        ------
        InvalidObject
            An invariant is broken; the message names it.
        """
        if self.storage not in STORAGES:
            raise InvalidObject(f"storage {self.storage!r} is none of {STORAGES}")
        expected = {"sparse": self.nvals, "bitmap": self.size, "full": self.size}[self.storage]
        if len(self.values) != (1 if self.iso else expected):
            raise InvalidObject(
                f"{self.storage} vector of size {self.size} with {self.nvals} entries "
                f"(iso={self.iso}) holds {len(self.values)} values"
            )
        if self.values.dtype != self.dtype.array_dtype:
            raise InvalidObject(f"values are {self.values.dtype}, the dtype is {self.dtype}")
        if self.storage == "sparse":
            self._validate_indices()
        if self.storage == "bitmap" and (
            self.present is None
            or self.present.dtype != np.bool_
            or len(self.present) != self.size
            or int(np.count_nonzero(self.present)) != self.nvals
        ):
            raise InvalidObject(f"bitmap of size {self.size} does not hold {self.nvals} entries")
        if self.storage == "full" and self.nvals != self.size:
            raise InvalidObject(f"full vector of size {self.size} claims {self.nvals} entries")

    def _validate_indices(self) -> None:
        indices = self.indices
        if indices is None or len(indices) != self.nvals:
            raise InvalidObject(f"sparse vector claims {self.nvals} entries without their indices")
        if len(indices) and (indices[0] < 0 or indices[-1] >= self.size):
            raise InvalidObject(f"an index lies outside [0, {self.size})")
        if np.count_nonzero(indices[1:] <= indices[:-1]):
            raise InvalidObject("indices are not strictly increasing")
