"""What ``Matrix.ss`` and ``Vector.ss`` share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DomainMismatch, EmptyObject, InvalidValue, OutputNotEmpty
from semira.frontend import reading
from semira.frontend.hints import parse_hints
from semira.frontend.kinds import OBJECTS
from semira.frontend.ss import serialize
from semira.frontend.ss.config import ObjectConfig
from semira.frontend.ss.exporting import export, stored_format
from semira.frontend.ss.lines import head, iterate, placed
from semira.frontend.ss.tiles import split


class ObjectExtensions:
    """Base of the extensions of one object.

    Parameters
    ----------
    parent : Matrix or Vector
    """

    __slots__ = ("_parent",)

    #: ``matrix`` or ``vector``.
    kind = ""

    def __init__(self, parent: Any) -> None:
        self._parent = parent

    def _named(self, method: str) -> str:
        return f"{self.kind.capitalize()}.ss.{method}"

    def _wrapped(self, made: Any, name: str | None = None) -> Any:
        return None if made is None else placed(self._parent, made, name)

    def _arrays(self) -> Any:
        return reading.host_arrays(self._parent, ".ss")

    @property
    def config(self) -> ObjectConfig:
        """How the object is stored, see `ObjectConfig`."""
        return ObjectConfig(self._parent)

    @property
    def format(self) -> str:
        """The format it is stored in: what `export` returns without being told."""
        return stored_format(self._arrays())

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of that format."""
        return int(self._arrays().nbytes)

    @property
    def is_iso(self) -> bool:
        """Whether the object stores one value for all its entries.

        Equal values are not looked for: entries that happen to be equal are not iso.
        """
        arrays = self._arrays()
        return bool(arrays.iso) and bool(arrays.nvals)

    @property
    def iso_value(self) -> Any:
        """The value all entries share, a Scalar.

        Raises
        ------
        InvalidValue
            The object is not iso.
        """
        arrays = self._arrays()
        if not arrays.iso or not arrays.nvals:
            raise InvalidValue(f"{self.kind.capitalize()} is not iso-valued")
        return OBJECTS["scalar"].from_value(arrays.values[0], self._parent.dtype)

    def export(
        self,
        format: str | None = None,
        *,
        sort: bool = False,
        give_ownership: bool = False,
        raw: bool = False,
        **opts: Any,
    ) -> dict[str, Any]:
        """Return the object as a dict of arrays, which ``import_any(**it)`` takes.

        Parameters
        ----------
        format : str, optional
            Matrix: ``csr csc hypercsr hypercsc coo coor cooc bitmapr bitmapc fullr fullc``, or
            ``rowwise`` / ``columnwise``. Vector: ``sparse bitmap full``. The stored one if None.
        sort : bool
            Nothing to do: entries are always stored in order.
        give_ownership : bool
            Leave the object empty and do not copy what it stores in this format. Such arrays are
            read-only.
        raw : bool
            Dense arrays come with one dimension, and with the sizes.

        Raises
        ------
        InvalidValue
            There is no such format, or a full one is asked for and entries are missing.

        Notes
        -----
        Indices come in the dtype they are stored in, `int32` below 2**31. An object on a GPU is
        copied to the host.

        Examples
        --------
        >>> from semira import Vector
        >>> sorted(Vector.from_coo([1, 3], [5, 6]).ss.export("sparse"))
        ['format', 'indices', 'is_iso', 'size', 'sorted_index', 'values']
        """
        del sort
        parse_hints(opts)
        return export(self._parent, format, raw=raw, give=give_ownership)

    def unpack(
        self, format: str | None = None, *, sort: bool = False, raw: bool = False, **opts: Any
    ) -> dict[str, Any]:
        """Return the arrays of the object and leave it empty; see `export`."""
        return self.export(format, sort=sort, give_ownership=True, raw=raw, **opts)

    def iterkeys(self, seek: int = 0) -> Iterator[Any]:
        """Return an iterator over the positions of the entries, in stored order.

        Parameters
        ----------
        seek : int
            Entries to skip, from the end if negative; in a bitmap or full vector, positions.
        """
        return iterate(self._parent, seek, "k", self._named("iterkeys"))

    def itervalues(self, seek: int = 0) -> Iterator[Any]:
        """Return an iterator over the values, in stored order; see `iterkeys`."""
        return iterate(self._parent, seek, "v", self._named("itervalues"))

    def iteritems(self, seek: int = 0) -> Iterator[Any]:
        """Return an iterator over (position, value) or (row, column, value); see `iterkeys`."""
        return iterate(self._parent, seek, "kv", self._named("iteritems"))

    def head(self, n: int = 10, dtype: Any = None, *, sort: bool = False) -> Any:
        """Return positions and values of the first `n` stored entries, as arrays.

        Parameters
        ----------
        n : int
        dtype : optional
            Dtype of the values.
        sort : bool
            Nothing to do: entries are always stored in order.

        Raises
        ------
        InvalidValue
            `n` is negative.
        """
        del sort
        return head(self._parent, n, dtype, self._named("head"))

    def split(self, chunks: Any, *, name: str | None = None, **opts: Any) -> list[Any]:
        """Return the object in pieces: a list, of a matrix a list of rows of pieces.

        Parameters
        ----------
        chunks : int, list, or for a matrix a pair of them
            A number cuts into pieces of that size; a list names every piece, and one None in it
            is what is left.
        name : str, optional
            Pieces are called ``name_0`` or ``name_0x1``; the object's name if None.

        Raises
        ------
        DimensionMismatch
            The pieces named do not add up to the size.
        InvalidValue
            A size below 1, or not one for each dimension.

        Notes
        -----
        On the object's device.
        """
        return split(self._parent, chunks, name, opts)

    def serialize(
        self, compression: str | None = "default", level: int | None = None, **opts: Any
    ) -> NDArray[np.uint8]:
        """Return the object as bytes, for `deserialize`; see `semira.frontend.ss.serialize`.

        Parameters
        ----------
        compression : {"default", None, "none", "zlib", "lz4", "lz4hc", "zstd"}
            Always zlib, the library of Python: the names of python-graphblas choose how hard it
            tries. None does not compress.
        level : int, optional
            For ``zlib`` and ``lz4hc`` 1 to 9, for ``zstd`` 1 to 19.

        Returns
        -------
        ndarray of uint8

        Raises
        ------
        InvalidValue
            There is no such compression or level.
        DomainMismatch
            A level for a compression that has none.

        Notes
        -----
        Nothing in it is executed on reading, unlike a pickle. SuiteSparse's blobs are another
        format.
        """
        parse_hints(opts)
        return serialize.pack(self._arrays(), self.kind, serialize.zlib_level(compression, level))

    @classmethod
    def deserialize(
        cls, data: Any, dtype: Any = None, *, name: str | None = None, **opts: Any
    ) -> Any:
        """Return the object that `serialize` turned into bytes.

        Parameters
        ----------
        data : bytes-like or ndarray of uint8
        dtype : optional
            The dtype expected.

        Raises
        ------
        InvalidObject
            `data` is truncated, corrupt, or something else; the message says what.
        OutOfMemory
            Compressed data becomes more than the option ``max_bytes`` allows.
        DomainMismatch
            The object has another dtype than `dtype`, or `data` is not bytes.
        """
        parse_hints(opts)
        arrays = serialize.unpack(data, cls.kind)
        if dtype is not None and lookup_dtype(dtype) is not arrays.dtype:
            raise DomainMismatch(f"the object has dtype {arrays.dtype}, not {lookup_dtype(dtype)}")
        return OBJECTS[cls.kind]._of(arrays, name)

    def _checked_scalar(self, value: Any) -> Any:
        """Return the value of `build_scalar` for an object without entries."""
        if self._parent.nvals:
            raise OutputNotEmpty(
                f"{self._parent.name} holds {self._parent.nvals} entries; call clear() first"
            )
        if getattr(value, "kind", None) == "scalar":
            value = value.value
        if value is None:
            raise EmptyObject("build_scalar needs a value; the scalar is empty")
        if np.ndim(value):
            raise DomainMismatch(f"build_scalar takes one value, got {type(value)}; use build")
        return np.asarray(value)
