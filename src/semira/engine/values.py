"""Values: the objects of the GraphBLAS API as the engine sees them, and where they live.

A value is *placed* once it was sent to a device on purpose or worked with a placed partner.
Until then it may already have a handle on the default device, but still follows the first
placed partner it meets.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from contextvars import ContextVar, Token
from dataclasses import replace
from functools import cache, lru_cache
from itertools import count
from typing import Any, cast

from semira.backends.registry import backend_for
from semira.base import locks
from semira.base.config import config
from semira.base.dtypes import DataType
from semira.base.errors import DeviceMismatch, DeviceUnavailable, InvalidValue, RecordError
from semira.base.memory import raise_with_figures
from semira.base.settings import DEVICES, settings
from semira.contract.backend import Arrays, DeviceBackend, TellsSymmetry
from semira.formats import MatrixArrays, RawArrays, ScalarArrays, VectorArrays
from semira.formats.raw import on_gpu

#: Kinds of values by the number of their dimensions.
_KINDS = ("scalar", "vector", "matrix")

#: Numbers values in the order they were made.
_serials = count()

#: Held while an object moves: two threads may meet the same unplaced object.
_moving = locks.rlock()

#: Arrays of vectors without entries, which nobody changes.
_empty_vector = lru_cache(maxsize=256)(VectorArrays.empty)

_context_device: ContextVar[str | None] = ContextVar("semira_device", default=None)


class Value:
    """A matrix, vector or scalar on the host or on a device."""

    __slots__ = (
        "_arrays", "_facts", "_handle", "_home", "count", "device", "dtype", "kind", "lean",
        "recording", "serial", "shape",
    )  # fmt: skip

    def __init__(self, kind: str, dtype: DataType, shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.dtype = dtype
        self.shape = shape
        #: Values made later have larger numbers.
        self.serial = next(_serials)
        #: Where it was placed; None while it may still follow a partner.
        self.device: str | None = _context_device.get()
        #: The recording whose temporary it is; such a value has no contents of its own.
        self.recording: Any = None
        self._arrays: Arrays | None = None
        self._handle: Any = None
        self._home: str | None = None
        #: The only orientation of a matrix that is kept; None keeps both once they are made.
        self.lean: str | None = None
        self._facts: dict[Any, Any] | None = None
        #: Entries when the host last knew, for a guess at what is cheap; None once it is written.
        self.count: int | None = None
        if kind == "matrix" and config["memory"] == "lean":
            self.lean = "csr"

    @classmethod
    def of(cls, arrays: Arrays | RawArrays) -> Value:
        """Return a value holding host arrays, which nobody may change afterwards.

        `RawArrays` are built at once, on the device that they name.
        """
        if isinstance(arrays, VectorArrays):
            value = cls("vector", arrays.dtype, (arrays.size,))
        elif isinstance(arrays, MatrixArrays):
            value = cls("matrix", arrays.dtype, arrays.shape)
            value.lean = arrays.orientation if value.lean or arrays.lean else None
        elif isinstance(arrays, RawArrays):
            return cls._built(arrays)
        else:
            value = cls("scalar", arrays.dtype, ())
        value._arrays = arrays
        return value

    @classmethod
    def _built(cls, raw: RawArrays) -> Value:
        handle = device_backend(raw.device).put(raw)
        value = cls("matrix" if handle.kind == "matrix" else "vector", handle.dtype, handle.shape)
        value._handle, value._home = handle, raw.device
        value.count = handle.known_entries()
        if any(map(on_gpu, (*raw.indices, raw.values))):
            value.device = raw.device
        return value

    @classmethod
    def held(cls, handle: Any, dtype: DataType, shape: tuple[int, ...], like: Value) -> Value:
        """Return the value of a handle that the device of `like` has made; placed as that is."""
        value = cls(_KINDS[len(shape)], dtype, shape)
        value._handle, value._home, value.device = handle, like._home, like.device
        return value

    @property
    def facts(self) -> dict[Any, Any]:
        """Numbers about a matrix that were read, and what was derived from it, until a write."""
        known = self._facts
        if known is not None:
            return known
        with _moving:
            if self._facts is None:
                self._facts = {}
            return self._facts

    def forget_facts(self) -> None:
        """Say that the contents are others now."""
        self.count = None
        # Whoever asks for facts from here on is told of the new contents.
        if self._facts is not None:
            with _moving:
                self._facts = None

    @property
    def where(self) -> str:
        """The device it is on or would go to."""
        return self.device or self._home or default_device()

    def handle_on(self, device: str) -> Any:
        """Return its handle on `device`, moving it there unless it is placed elsewhere."""
        if self.recording is not None:
            raise RecordError(
                "a temporary of a recorded loop was used outside of its iteration; "
                "write what must survive into an object made before the loop (`x << ...`)"
            )
        with _moving:
            if self._handle is not None and self._home == device:
                return self._handle
            arrays = self.read()
            if self.lean is not None and isinstance(arrays, MatrixArrays):
                arrays = replace(arrays, lean=True)
            try:
                handle = backend_for(device).put(arrays)
            except MemoryError as error:
                raise_with_figures(error, f"moving a {self.kind} to {device!r}")
            # The new place before the old one is given up: a forked child may see any step.
            old, home = self._handle, self._home
            self._handle, self._home, self._arrays = handle, device, None
            self.count = arrays.nvals
            if old is not None and home is not None:
                backend_for(home).release(old)
            return handle

    def place(self, device: str) -> None:
        """Place it on `device` for good."""
        self.handle_on(device)
        self.device = device

    def read(self) -> Arrays:
        """Return its arrays on the host; the caller must not change them."""
        if self.recording is not None:
            raise RecordError("a temporary of a recorded loop has no contents on the host")
        if self._handle is not None and self._home is not None:
            try:
                return backend_for(self._home).get(self._handle)
            except MemoryError as error:
                raise_with_figures(error, f"reading a {self.kind} on the host")
        if self._arrays is not None:
            return self._arrays
        if self.kind == "scalar":
            return ScalarArrays(self.dtype, None)
        if self.kind == "vector":
            return _empty_vector(self.shape[0], self.dtype)
        return MatrixArrays.empty(self.shape[0], self.shape[1], self.dtype)

    def export(self, layout: str, device: str, **how: Any) -> RawArrays:
        """Return its entries as arrays in a device's memory; see `DeviceBackend.export`.

        Raises DeviceMismatch if it is placed elsewhere. Raises InvalidValue if the device's memory
        is the host's.
        """
        backend = device_backend(device)
        if self.device not in (None, device):
            raise DeviceMismatch(
                f"a {self.kind} on {self.device!r} has no arrays on {device!r}; move it first "
                f"with .to({device!r})"
            )
        return backend.export(self.handle_on(device), layout, **how)

    def known_nvals(self) -> int | None:
        """Return the number of entries if the host knows it without asking a device."""
        if self._handle is not None or self.recording is not None:
            return None
        return 0 if self._arrays is None else self._arrays.nvals

    def last_count(self) -> int | None:
        """Return the number of entries that the host knows or knew last: for guesses only."""
        return self.count if self._handle is not None else self.known_nvals()

    def count_entries(self) -> int | None:
        """Return the number of entries if its handle can tell; may wait for the device."""
        count = getattr(self._handle, "count_entries", None)
        if count is None or self.recording is not None:
            return None
        found: int | None = count()
        if found is not None:
            self.count = found
        return found

    def copy(self) -> Value:
        """Return an independent copy on the same device."""
        twin = Value(self.kind, self.dtype, self.shape)
        twin.device = self.device
        twin.lean = self.lean
        if self._handle is not None and self._home is not None:
            try:
                twin._handle = backend_for(self._home).convert(self._handle, "copy")
            except MemoryError as error:
                raise_with_figures(error, f"copying a {self.kind}")
            twin._home, twin.count = self._home, self.count
        else:
            twin._arrays = self._arrays
        return twin

    def set_lean(self, *, lean: bool) -> None:
        """Keep one orientation of a matrix from now on (the one at hand), or both.

        Copies nothing where host and device share memory; what was made of the matrix (the other
        orientation, casts) is dropped.
        """
        if not lean:
            self.lean = None
        elif self.lean is None:
            arrays = self.read()
            assert isinstance(arrays, MatrixArrays)
            self.lean = arrays.orientation
            self.forget_facts()
        self._restate(lean=lean)

    @property
    def symmetric(self) -> bool | None:
        """Whether a matrix is known to equal its transpose; None: nobody has said."""
        if isinstance(self._handle, TellsSymmetry):
            return self._handle.symmetric
        arrays = self.read()
        return arrays.symmetric if isinstance(arrays, MatrixArrays) else None

    def set_symmetric(self, symmetric: bool | None) -> None:
        """Note that a matrix equals its transpose; one orientation then serves as both."""
        if isinstance(self._handle, TellsSymmetry):
            self._handle.state_symmetric(symmetric)
        else:
            self._restate(symmetric=symmetric)

    def _restate(self, **facts: Any) -> None:
        """Take the arrays back to the host, state facts with them, and let them return."""
        if self._handle is None and self._arrays is None:
            return
        self._arrays = replace(self.read(), **facts)
        self._forget_handle()
        if self.device is not None:
            self.handle_on(self.device)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array it holds, on the device or waiting on the host."""
        if self.recording is not None:
            raise RecordError("a temporary of a recorded loop has no memory of its own")
        if self._handle is not None:
            return dict(self._handle.memory_usage())
        arrays = self._arrays
        if arrays is None or isinstance(arrays, ScalarArrays):
            return {}
        prefix = f"{arrays.orientation}." if isinstance(arrays, MatrixArrays) else ""
        names = ("indptr", "majors", "indices", "present", "values")
        parts = ((name, getattr(arrays, name, None)) for name in names)
        return {prefix + name: part.nbytes for name, part in parts if part is not None}

    def surrender(self) -> Arrays:
        """Give its arrays away without copying (where the device allows); it is left empty.

        They are read-only: patterns and values may be shared with other objects.
        """
        arrays = self.read()
        self._forget_handle()
        self._arrays = None
        self.forget_facts()
        return arrays

    def replace_contents(self, arrays: Arrays | RawArrays | Value) -> None:
        """Give it new contents, and with them a new shape and dtype; it stays where it is.

        A value on its device that nobody else holds is given up to it.
        """
        fresh = arrays if isinstance(arrays, Value) else Value.of(arrays)
        self._forget_handle()
        self.forget_facts()
        self.kind, self.dtype, self.shape = fresh.kind, fresh.dtype, fresh.shape
        self._arrays = fresh._arrays
        if fresh._handle is not None and self.device in (None, fresh._home):
            self._handle, self._home, self.count = fresh._handle, fresh._home, fresh.count
            fresh._handle = fresh._home = None
            return
        if fresh._handle is not None:
            self._arrays = fresh.read()
        if self.device is not None:
            self.handle_on(self.device)

    def _forget_handle(self) -> None:
        if self._handle is not None and self._home is not None:
            backend_for(self._home).release(self._handle)
        self._handle = None
        self._home = None

    # A default, since globals are gone when the interpreter ends. The memory goes with the process.
    def __del__(self, is_over: Callable[[], bool] = sys.is_finalizing) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and self._home is not None and not is_over():
            backend = backend_for(self._home)
            if backend.capabilities().own_memory:
                backend.release(handle)


def put_on(backend: Any, listed: list[Arrays]) -> list[Any]:
    """Return handles of arrays on a device, which may take several of them together."""
    if len(listed) > 1 and hasattr(backend, "put_all"):
        return backend.put_all(listed)  # type: ignore[no-any-return]
    return [backend.put(arrays) for arrays in listed]


def take_to(device: str, values: list[Value]) -> None:
    """Take new vectors and scalars to a device together, where that helps; others stay."""
    if len(values) == 1 or not hasattr(backend_for(device), "put_all"):
        return
    with _moving:
        listed = []
        for value in values:
            if value._handle is not None or value.kind == "matrix" or value.recording is not None:
                return
            listed.append(value._arrays or value.read())
        try:
            handles = put_on(backend_for(device), listed)
        except MemoryError as error:
            raise_with_figures(error, f"moving {len(values)} objects to {device!r}")
        for value, handle, arrays in zip(values, handles, listed, strict=True):
            value._handle, value._home, value._arrays = handle, device, None
            value.count = arrays.nvals


def device_backend(name: str) -> DeviceBackend:
    """Return a backend that has memory of its own; raises InvalidValue if it has not."""
    backend = backend_for(name)
    if not backend.capabilities().own_memory:
        raise InvalidValue(f"device {name!r} has no memory of its own; its arrays are NumPy's")
    return cast("DeviceBackend", backend)


def asked_device() -> str | None:
    """Return the device that a ``with device(...)`` block asks for, None outside of one."""
    return _context_device.get()


def default_device() -> str:
    """Return the device of objects that nobody placed."""
    return _context_device.get() or settings().device


class _Placing(ContextDecorator):
    """Places what is made inside of a block, or of a function, on a device."""

    def __init__(self, name: str) -> None:
        self._name = name
        # Of the blocks that are open, the inner one last.
        self._tokens: list[Token[str | None]] = []

    def _recreate_cm(self) -> _Placing:
        # A function may be called in two threads.
        return _Placing(self._name)

    def __enter__(self) -> None:
        name = self._name
        if name not in DEVICES:
            raise DeviceUnavailable(f"no device {name!r}; choose one of {', '.join(DEVICES)}")
        backend_for(name)
        self._tokens.append(_context_device.set(name))

    def __exit__(self, *error: object) -> None:
        _context_device.reset(self._tokens.pop())


def device(name: str) -> _Placing:
    """Place every object made inside the block on the device `name`.

    Examples
    --------
    >>> import semira as gb
    >>> with gb.device("reference"):
    ...     v = gb.Vector.from_coo([1], [2.0], size=4)
    >>> v.device
    'reference'

    Raises
    ------
    DeviceUnavailable
        There is no such device, or this machine lacks it.
    """
    return _Placing(name)


def beside(item: Any, algorithm: str | None = None) -> AbstractContextManager[None]:
    """Place every object made inside the block where `item` lies.

    If the block is an algorithm, its name lets a GPU compile the kernels that it is known to ask
    for side by side, should one of them be missing.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0], [1], 1.0, device="cpu")
    >>> with gb.device("reference"), gb.beside(A):
    ...     gb.Vector.from_coo([1], [2.0]).device
    'cpu'
    """
    where = item.device
    if algorithm is not None and has_own_memory(where):
        _announce(algorithm, item, where)
    # `default_device`, without a call of it: each call of an algorithm comes here.
    is_here = where == (_context_device.get() or settings().device)
    return _nothing if is_here else _Placing(where)


#: What `beside` returns where nothing changes.
_nothing = nullcontext()

#: Algorithms that devices have been told of, on matrices of a dtype.
_announced: set[tuple[str, str, str]] = set()


@cache
def has_own_memory(device: str) -> bool:
    """Return whether a device has memory of its own; each device is asked once."""
    return backend_for(device).capabilities().own_memory


def _announce(algorithm: str, item: Any, where: str) -> None:
    told = algorithm, where, item.dtype.name
    if told not in _announced:
        _announced.add(told)
        device_backend(where).expect(algorithm, item.dtype.name, item.nvals)


def common_device(values: Iterable[Value]) -> str:
    """Return the device the values agree on.

    Raises DeviceMismatch if two of them are placed on different devices.
    """
    chosen: Value | None = None
    home: str | None = None
    for value in values:
        home = home or value._home
        if value.device is None:
            continue
        if chosen is None:
            chosen = value
        elif chosen.device != value.device:
            raise DeviceMismatch(
                f"a {chosen.kind} is on {chosen.device!r} and a {value.kind} on "
                f"{value.device!r}; move one of them, for example with .to({chosen.device!r})"
            )
    if chosen is not None and chosen.device is not None:
        return chosen.device
    return home or default_device()
