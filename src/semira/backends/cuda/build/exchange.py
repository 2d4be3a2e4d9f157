"""Arrays of callers in the device's memory: read where they lie, in the order of their streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported
from semira.backends.cuda.runtime.primitives import array_library, cupy_memory, primitives_of
from semira.base.errors import InvalidValue
from semira.formats.raw import on_gpu


@contextmanager
def borrowed(runtime: Runtime, given: Sequence[Any]) -> Iterator[list[Any]]:
    """Give the block arrays it can read on the runtime's stream, which is CuPy's in the block.

    What the callers' streams did before comes first, and what they do afterwards waits for the
    block. Arrays on the host are copied to the device. Raises InvalidValue if an array lies on
    another GPU, or has a mask.
    """
    streams: set[int | None] = set()
    views = [_view(one, streams) for one in given]
    # What CuPy did in `joined` is in order already.
    streams.discard(runtime.stream_handle)
    for handle in streams - {None}:
        runtime.stream.wait(_stream(handle))
    try:
        with primitives_of(runtime).cupy_stream():
            yield [_readable(runtime, one) for one in views]
    finally:
        for handle in streams - {None}:
            _stream(handle).wait(runtime.stream)
        if None in streams:
            # The caller named no stream that could wait.
            runtime.synchronise()


@contextmanager
def lent(runtime: Runtime) -> Iterator[Any]:
    """Run a block on the caller's stream, after the runtime's work; the runtime waits for it.

    The caller's is CuPy's current stream: what CuPy allocates in the block is the caller's.
    """
    stream = _others(runtime)
    if stream is None:
        yield runtime.stream
        return
    stream.wait(runtime.stream)
    try:
        yield stream
    finally:
        runtime.stream.wait(stream)


@contextmanager
def joined(runtime: Runtime) -> Iterator[Any]:
    """Give the block CuPy, on the runtime's stream and in its memory.

    What the caller's stream, CuPy's current one, did before comes first; what it does afterwards
    waits for the block.
    """
    stream = _others(runtime)
    if stream is not None:
        runtime.stream.wait(stream)
    try:
        with primitives_of(runtime).cupy_stream():
            yield array_library()
    finally:
        if stream is not None:
            stream.wait(runtime.stream)


def is_foreign(runtime: Runtime) -> bool:
    """Return whether CuPy's current stream is not the runtime's."""
    return bool(array_library().cuda.get_current_stream().ptr != runtime.stream_handle)


def _others(runtime: Runtime) -> Any:
    """Return CuPy's current stream, or None if it is the runtime's."""
    handle = array_library().cuda.get_current_stream().ptr
    return None if handle == runtime.stream_handle else _stream(handle)


class Lease:
    """Memory of an object that a caller reads on a stream of its own."""

    def __init__(self, runtime: Runtime, buffer: Any, stream: Any) -> None:
        self._runtime, self._buffer, self._stream = runtime, buffer, stream

    def __del__(self) -> None:
        # The memory may be used anew at once, on the runtime's stream. Nothing is left to order
        # when the interpreter ends.
        with suppress(Exception):
            if self._stream is not self._runtime.stream:
                self._runtime.stream.wait(self._stream)


def shared_view(runtime: Runtime, buffer: Any, dtype: Any, count: int, stream: Any) -> Any:
    """Return a buffer as a CuPy array for a caller, without a copy."""
    lease = Lease(runtime, buffer, stream)
    place = cupy_memory(runtime, buffer, np.dtype(dtype).itemsize * count, lease)
    return array_library().ndarray((count,), dtype, place)


class Adopted:
    """A caller's array that an object is made of."""

    def __init__(self, runtime: Runtime, array: Any) -> None:
        self._runtime, self._array = runtime, array

    def __del__(self) -> None:
        # Its library may use the memory anew at once, on a stream that nobody here knows.
        with suppress(Exception):
            self._runtime.stream.sync()


def adopted(runtime: Runtime, array: Any) -> Any:
    """Return a caller's array as a buffer of ours; the array lives as long as the buffer."""
    from cuda.core import Buffer

    owner = Adopted(runtime, array)
    return Buffer.from_handle(int(array.data.ptr), int(array.nbytes), owner=owner)


def _view(given: Any, streams: set[int | None]) -> Any:
    """Return an array on the device as CuPy's; others as they are. Nothing runs yet."""
    if not on_gpu(given):
        return np.asarray(given)
    cupy = array_library()
    if isinstance(given, cupy.ndarray) and given.size:
        streams.add(cupy.cuda.get_current_stream().ptr)
        _check_gpu(given.device.id)
        return given
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is None:
        streams.add(None)
        return given
    if interface.get("mask") is not None:
        raise InvalidValue("an array with a mask on the GPU cannot be taken; fill it first")
    streams.add(interface.get("stream"))
    dtype = np.dtype(interface["typestr"])
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    if 0 in shape:
        return np.empty(shape, dtype)
    steps = strides or ()
    span = sum(abs(step) * (size - 1) for step, size in zip(steps, shape, strict=False))
    size = (span or dtype.itemsize * (int(np.prod(shape)) - 1)) + dtype.itemsize
    memory = cupy.cuda.UnownedMemory(interface["data"][0], size, given)
    _check_gpu(memory.device_id)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0), strides=strides)


def _readable(runtime: Runtime, view: Any) -> Any:
    """Return a view as a contiguous CuPy array; called on the runtime's stream."""
    cupy = array_library()
    if isinstance(view, np.ndarray):
        buffer = runtime.upload(view)
        array = primitives_of(runtime).as_cupy(buffer, view.dtype, view.size)
        return array.reshape(view.shape)
    if not isinstance(view, cupy.ndarray):
        _check_gpu(int(view.__dlpack_device__()[1]))
        view = _from_dlpack(view)
    with reported("reading an array of the caller"):
        return cupy.ascontiguousarray(view).reshape(view.shape)


def _from_dlpack(given: Any) -> Any:
    """Return a tensor as CuPy's, which hands its current stream to the producer to wait for."""
    try:
        return array_library().from_dlpack(given)
    except (BufferError, RuntimeError) as error:
        raise InvalidValue(
            f"CuPy cannot take this {type(given).__name__} over DLPack ({error}); copy it to the "
            "host first, for example with .cpu()"
        ) from error


def _check_gpu(number: int) -> None:
    if number != 0:
        raise InvalidValue(f"an array lies on GPU {number}, device 'cuda' is GPU 0; copy it there")


def _stream(handle: int | None) -> Any:
    from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Stream

    if handle in (0, 1):
        return LEGACY_DEFAULT_STREAM
    return PER_THREAD_DEFAULT_STREAM if handle == 2 else Stream.from_handle(handle)
