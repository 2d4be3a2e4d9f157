"""Small objects that go to the device together: one allocation and one copy for all of them.

A search makes a few vectors and scalars on each call. Their memory goes to the next objects of the
same forms once all of them were released, and with it the handles themselves: launches bound to
them need no other words.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaVector
from semira.backends.cuda.runtime.parts import ALIGNMENT, Part, laid_out
from semira.backends.cuda.runtime.scalars import CELL_BYTES, LITERAL_BYTES, CudaScalar, enter_value
from semira.backends.cuda.runtime.transfer import enter
from semira.backends.cuda.runtime.vector_memory import Form, VectorMemory, form_of
from semira.base.dtypes import DataType
from semira.formats import ScalarArrays, VectorArrays

#: Most bytes of values and list of a vector: its whole capacity is copied.
MOST_BYTES = 4096

#: Members at the most: the driver takes so many bytes from memory that is not page-locked at once.
MOST_MEMBERS = 6


class Bundle:
    """Memory of small vectors and scalars, given and taken together."""

    __slots__ = (
        "_address", "_empty", "_image", "_key", "_members", "_out", "_place", "_starts", "_whole",
    )  # fmt: skip

    def __init__(self, runtime: Runtime, listed: Sequence[Any], key: tuple[int, ...]) -> None:
        """Make the members; raises OutOfMemory if they do not fit."""
        forms = [
            form_of(arrays.size, arrays.dtype.itemsize)
            if arrays.__class__ is VectorArrays
            else None
            for arrays in listed
        ]
        starts, end = laid_out(tuple(ALIGNMENT if form is None else form.end for form in forms))
        self._key, self._starts = key, starts
        self._whole = runtime.allocate(end)
        self._place = int(self._whole.handle)
        # The bytes of vectors without entries and scalars without a value, and what is sent.
        self._empty, self._image = bytearray(end), bytearray(end)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._image))
        # Those that were given back, with their stamps then; how many were not.
        self._members: list[Any] = []
        self._out = 0
        for place, (start, form, arrays) in enumerate(zip(starts, forms, listed, strict=True)):
            made = self._scalar(runtime, arrays.dtype, start)
            if form is not None:
                made = self._vector(runtime, arrays, form, start)
            made.bundle, made.place = self, place
            self._members.append((made, made.stamp))

    def _scalar(self, runtime: Runtime, dtype: DataType, start: int) -> Any:
        cell = Part(self._whole, self._place, start, CELL_BYTES)
        return CudaScalar(runtime, dtype, cell)

    def _vector(self, runtime: Runtime, arrays: VectorArrays, form: Form, start: int) -> Any:
        whole, place, size = self._whole, self._place, arrays.size
        self._empty[start : start + len(form.empty)] = form.empty
        offsets, _ = laid_out(form.sizes)
        parts = [
            Part(whole, place, start + offset, nbytes)
            for offset, nbytes in zip(offsets, form.sizes, strict=True)
        ]
        memory = VectorMemory.of_parts(
            size, arrays.dtype.itemsize, Part(whole, place, start, form.end), parts
        )
        return CudaVector.in_memory(runtime, size, arrays.dtype, memory)

    def fill(self, runtime: Runtime, listed: Sequence[Any]) -> list[Any]:
        """Give the members out, with what these hold."""
        image, made = self._image, []
        image[:] = self._empty
        for (handle, stamp), start, arrays in zip(self._members, self._starts, listed, strict=True):
            if handle.__class__ is CudaScalar:
                value = arrays.value
                handle.begin(stamp, has_value=value is not None)
                if value is not None:
                    enter_value(image, start, start + LITERAL_BYTES, handle.dtype, value)
            else:
                handle.stamp, handle.is_new = stamp, not arrays.nvals
                if arrays.nvals:
                    form = form_of(handle.size, handle.dtype.itemsize)
                    enter(memoryview(image)[start:], arrays, form, with_values=True)
            made.append(handle)
        self._members, self._out = [None] * len(made), len(made)
        runtime.send(self._place, self._address, len(image))
        return made

    def take_back(self, runtime: Runtime, place: int, member: tuple[Any, int]) -> None:
        """Take a member that was released; with the last one all of them are free."""
        self._members[place] = member
        self._out -= 1
        if not self._out:
            stream = runtime.stream
            if not runtime.spares.give(self._key, self, self._whole, stream):
                self._whole.close(stream)


def is_small(arrays: Any) -> bool:
    """Return whether an object may be a member."""
    if arrays.__class__ is VectorArrays:
        return bool(arrays.size * (arrays.dtype.itemsize + 4) <= MOST_BYTES)
    return arrays.__class__ is ScalarArrays and arrays.dtype.itemsize <= LITERAL_BYTES


def put_together(runtime: Runtime, listed: Sequence[Any]) -> list[Any] | None:
    """Copy small objects to the device in one piece; None if they are few, many or not small.

    Raises OutOfMemory if they do not fit.
    """
    if not 1 < len(listed) <= MOST_MEMBERS or runtime.keeps_apart:
        return None
    # Dtypes live for as long as the bundle does.
    parts: list[int] = []
    for arrays in listed:
        parts += id(arrays.dtype), arrays.size if arrays.__class__ is VectorArrays else -1
    key = tuple(parts)
    bundle: Bundle | None = runtime.spares.take(key)
    if bundle is None:
        if not all(map(is_small, listed)):
            return None
        bundle = Bundle(runtime, listed, key)
    return bundle.fill(runtime, listed)
