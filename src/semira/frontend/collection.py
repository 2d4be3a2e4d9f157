"""What Matrix and Vector share: names, masks, devices, copies, waiting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

from semira.backends.registry import backend_for, capabilities_of
from semira.base.dtypes import lookup_dtype
from semira.engine.values import Value
from semira.formats import MatrixArrays, RawArrays, VectorArrays
from semira.formats.index import MAX_SIZE
from semira.frontend import elementwise, raw, reading
from semira.frontend.call import Template, emit, fresh_value
from semira.frontend.infix import Made_co
from semira.frontend.mask import Mask, as_mask, check_mask
from semira.frontend.updater import Updatable, Updater

#: Devices as DLPack names them.
_DLPACK_HOST, _DLPACK_GPU = (1, 0), (2, 0)


class Collection(Updatable[Made_co]):
    """Base of Matrix and Vector."""

    __slots__ = ("__weakref__", "_value", "name")

    name: str
    ndim: ClassVar[int]
    #: What new objects are called: a letter, and a number that python-graphblas' tests reset.
    _letter: ClassVar[str]
    _name_counter: ClassVar[Iterator[int]]
    to_dense: Callable[..., Any]

    @classmethod
    def _new_name(cls) -> str:
        return f"{cls._letter}_{next(cls._name_counter)}"

    @classmethod
    def _wrap(cls, value: Value, name: str | None = None, device: str | None = None) -> Self:
        made = cls.__new__(cls)
        made._value = value
        made.name = name or f"{cls._letter}_{next(cls._name_counter)}"
        if device is not None:
            value.place(device)
        return made

    @classmethod
    def _of(
        cls,
        arrays: MatrixArrays | VectorArrays | RawArrays,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        return cls._wrap(Value.of(arrays), name, device)

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        name: str | None = None,
        device: str | None = None,
        **opts: Any,
    ) -> Self:
        """Return the object of a dense array; `missing_value` marks positions without entry.

        Masked elements of a masked array have no entry either. `device` as in `from_coo`.

        Raises
        ------
        InvalidValue
            A value does not fit into `dtype`.

        Examples
        --------
        >>> import numpy as np
        >>> import semira as gb
        >>> gb.Matrix.from_dense([[0, 2], [3, 0]], missing_value=0).to_dicts()
        {0: {1: 2}, 1: {0: 3}}
        >>> gb.Vector.from_dense(np.ma.array([1, 2, 3], mask=[0, 1, 0])).to_dict()
        {0: 1, 2: 3}
        """
        del opts
        return cls._of(raw.from_dense(cls.ndim, values, missing_value, dtype, device), name, device)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of positions in each dimension."""
        return self._value.shape

    @property
    def S(self) -> Mask:  # noqa: N802 - GraphBLAS' name
        """The mask "has an entry"."""
        return Mask(self, structure=True)

    @property
    def V(self) -> Mask:  # noqa: N802 - GraphBLAS' name
        """The mask "has an entry that is true"."""
        return Mask(self, structure=False)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array it holds, by name; ``sum(x.memory_usage().values())``.

        Counted are the arrays of every orientation and what is kept beside them (values in other
        dtypes, degrees). Arrays shared with another object count for both. On ``cuda`` the arrays
        are one number, ``buffers``; a matrix has ``entry_rows``, ``slices``, ``hot`` and
        ``diagonals`` beside them.

        Examples
        --------
        >>> import semira as gb
        >>> gb.Vector.from_dense([1.0, 2.0]).memory_usage()
        {'values': 16}
        """
        return self._value.memory_usage()

    def __sizeof__(self) -> int:
        """Return the bytes of the object and of the arrays it holds (``sys.getsizeof``)."""
        return object.__sizeof__(self) + sum(self.memory_usage().values())

    def __dlpack__(self, **options: Any) -> Any:
        """Return a DLPack capsule of a copy of the values, on the device where they are.

        Raises
        ------
        BufferError
            Entries are missing; use ``semira.io.to_dlpack`` with a fill value.
        """
        positions, nvals = math.prod(self.shape), reading.count_entries(self)
        if nvals != positions:
            raise BufferError(
                f"{self.name} has {nvals} entries at {positions} positions and DLPack "
                "holds dense arrays; use semira.io.to_dlpack(x, fill_value)"
            )
        to_host = options.get("dl_device") == _DLPACK_HOST
        is_here = to_host or self.__dlpack_device__() == _DLPACK_HOST
        return self.to_dense(device=None if is_here else self.device).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_GPU if capabilities_of(self.device).own_memory else _DLPACK_HOST

    def to(self, device: str) -> Self:
        """Return a copy placed on `device` (this object if it is placed there already).

        Parameters
        ----------
        device : "reference", "cpu", "cuda" or "suitesparse"

        Raises
        ------
        DeviceUnavailable
            There is no such device, or this machine lacks it.
        RecordError
            Inside a recorded loop body.
        OutOfMemory
            It does not fit into the memory of the GPU.

        Examples
        --------
        >>> import semira as gb
        >>> v = gb.Vector.from_coo([1], [2.0], size=3)
        >>> v.to("reference").device
        'reference'
        """
        if self._value.device == device:
            return self
        backend_for(device)
        twin = Value.of(reading.host_arrays(self, ".to()"))
        twin.place(device)
        return type(self)._wrap(twin)

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
        **opts: Any,
    ) -> Self:
        """Return an independent copy, possibly in another dtype, masked, or without entries."""
        if opts.get("input_mask") is not None:
            raise TypeError("`input_mask` argument may only be used for extract")
        wanted = self.dtype if dtype is None else lookup_dtype(dtype)
        value = fresh_value(self.kind, wanted, self.shape)
        made = type(self)._wrap(value, name)
        if value.recording is None:
            value.device = self._value.device
            if wanted is self.dtype and mask is None and not clear and not opts:
                return type(self)._wrap(self._value.copy(), name)
        if not clear:
            _emit_copy(made, self, mask, opts)
        elif value.recording is not None:
            # A birth without entries: no row lies beyond the largest size.
            nothing = elementwise.select(self, "rowgt", MAX_SIZE)
            emit(nothing._template, made._value, new=True)
        return made

    def clear(self) -> None:
        """Remove every entry."""
        reading.refuse_recorded(self, "clear")
        empty: Any = (VectorArrays, MatrixArrays)[self.ndim - 1]
        reading.replace_contents(self, empty.empty(*self.shape, self.dtype))

    def __setitem__(self, keys: Any, given: Any, **opts: Any) -> None:
        Updater(self, opts=opts)[keys].update(given)

    def __delitem__(self, keys: Any, **opts: Any) -> None:
        """Delete the entries of a region."""
        del Updater(self, opts=opts)[keys]

    def __reduce__(self) -> tuple[Any, ...]:
        reading.refuse_recorded(self, "pickle")
        return _rebuild, (type(self), reading.host_arrays(self, "pickling"), self.name)


def _emit_copy(made: Any, source: Any, mask: Any, opts: dict[str, Any]) -> None:
    dims = elementwise.own_dims(source)
    template = Template("copy", (source,), source.kind, source.dtype, source.shape, dims)
    checked = None if mask is None else as_mask(mask)
    check_mask(checked, source.kind, source.shape)
    emit(template, made._value, mask=checked, options=opts, new=True)


def _rebuild(cls: Any, arrays: Any, name: str) -> Any:
    return cls._wrap(Value.of(arrays), name)
