"""Objects as bytes: a self-describing format with checksums, and nothing that executes.

Layout: ``b"SEMIRA"``, version (2 bytes), length of the header (4 bytes), header (JSON: kind,
dtype, shape and one row for each array), CRC-32 of all that (4 bytes), then the arrays as they
are or compressed with zlib. Numbers are little-endian. The header's row of an array has its
dtype, length, stored bytes and CRC-32.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DomainMismatch, InvalidObject, InvalidValue
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import layout, of_layout
from semira.formats import MatrixArrays, VectorArrays

MAGIC = b"SEMIRA"
VERSION = 1
_FIXED = struct.Struct("<6sHI")
_CHECK = struct.Struct("<I")

#: Arrays of each kind, and what besides them describes an object.
_ARRAYS = {
    "matrix": ("indptr", "indices", "values", "majors"),
    "vector": ("values", "indices", "present"),
}
_FACTS = {
    "matrix": ("nrows", "ncols", "orientation", "iso", "symmetric"),
    "vector": ("size", "storage", "nvals", "iso"),
}
_CLASSES: dict[str, Any] = {"matrix": MatrixArrays, "vector": VectorArrays}


class _Codec(NamedTuple):
    """A name python-graphblas knows, and the zlib levels that stand for it."""

    default: int
    #: Largest level a caller may ask for; 0 if the codec has none.
    largest: int


_CODECS = {
    None: _Codec(0, 0),
    "none": _Codec(0, 0),
    "default": _Codec(1, 0),
    "lz4": _Codec(1, 0),
    "lz4hc": _Codec(6, 9),
    "zstd": _Codec(1, 19),
    "zlib": _Codec(6, 9),
}


def zlib_level(compression: str | None, level: int | None) -> int:
    """Return the zlib level for a compression asked for; 0 stores the arrays as they are.

    Raises
    ------
    InvalidValue
        There is no such compression, or no such level of it.
    DomainMismatch
        The compression has no levels.
    """
    name = compression.lower() if isinstance(compression, str) else compression
    if name not in _CODECS:
        known = ", ".join(str(codec) for codec in _CODECS)
        raise InvalidValue(f"compression argument {compression!r} is none of {known}")
    codec = _CODECS[name]
    if level is None:
        return codec.default
    if not codec.largest:
        raise DomainMismatch(f"level argument: compression {compression!r} has no levels")
    if isinstance(level, bool) or not hasattr(level, "__index__"):
        raise DomainMismatch(f"level argument must be an integer, got {level!r}")
    if not 1 <= level <= codec.largest:
        raise InvalidValue(f"level argument of {name} is 1 to {codec.largest}, got {level}")
    return -(-9 * int(level) // codec.largest)


@tells_shortage("ss.serialize")
def pack(arrays: Any, kind: str, level: int) -> NDArray[np.uint8]:
    """Return the bytes of an object.

    Parameters
    ----------
    arrays : MatrixArrays or VectorArrays
    kind : {"matrix", "vector"}
    level : int
        Of zlib; 0 does not compress.
    """
    rows, bodies = [], []
    for name in _ARRAYS[kind]:
        part = getattr(arrays, name)
        if part is None:
            continue
        plain = np.ascontiguousarray(part, part.dtype.newbyteorder("<")).tobytes()
        body = zlib.compress(plain, level) if level else plain
        described = layout(part.dtype.newbyteorder("<"))
        rows.append([name, described, len(part), len(body), zlib.crc32(body)])
        bodies.append(body)
    facts = {name: getattr(arrays, name) for name in _FACTS[kind]}
    is_record = arrays.dtype.kind == "V"
    dtype = layout(arrays.dtype.np_type) if is_record else arrays.dtype.name
    header = {"kind": kind, "dtype": dtype, "codec": "zlib" if level else "none"}
    described = {**header, "facts": facts, "arrays": rows}
    text = json.dumps(described, default=lambda number: number.item()).encode()
    start = _FIXED.pack(MAGIC, VERSION, len(text)) + text
    whole = b"".join([start, _CHECK.pack(zlib.crc32(start)), *bodies])
    return np.frombuffer(bytearray(whole), np.uint8)


def _as_bytes(data: Any) -> memoryview:
    try:
        buffer: Any = np.ascontiguousarray(data) if isinstance(data, np.ndarray) else data
        view = memoryview(buffer)
    except TypeError:
        raise DomainMismatch(f"deserialize needs bytes or an array, got {type(data)}") from None
    return view.cast("B") if view.nbytes else memoryview(b"")


def _header(data: memoryview) -> tuple[dict[str, Any], int]:
    """Return the header and where the arrays start."""
    if len(data) < _FIXED.size or bytes(data[: len(MAGIC)]) != MAGIC:
        raise InvalidObject("not serialized by Semira: the first bytes are not 'SEMIRA'")
    _, version, length = _FIXED.unpack(data[: _FIXED.size])
    if version != VERSION:
        raise InvalidObject(f"serialized in version {version} of the format; known is {VERSION}")
    end = _FIXED.size + length
    if len(data) < end + _CHECK.size:
        raise InvalidObject(f"truncated: {len(data)} bytes, the header alone ends at {end}")
    (expected,) = _CHECK.unpack(data[end : end + _CHECK.size])
    if zlib.crc32(data[:end]) != expected:
        raise InvalidObject("corrupt: the checksum of the header does not match")
    return json.loads(bytes(data[_FIXED.size : end])), end + _CHECK.size


def _array(row: list[Any], body: memoryview, codec: str) -> NDArray[Any]:
    name, dtype, length, stored, check = row
    if len(body) < stored:
        raise InvalidObject(f"truncated: {len(body)} of the {stored} bytes of {name!r} are there")
    if zlib.crc32(body) != check:
        raise InvalidObject(f"corrupt: the checksum of {name!r} does not match")
    wanted = of_layout(dtype)
    size = length * wanted.itemsize
    plain: Any = body
    if codec == "zlib":
        # One byte more than promised would show: it never inflates to more than that.
        plain = zlib.decompressobj().decompress(body, size + 1)
    if len(plain) != size:
        raise InvalidObject(f"corrupt: {name!r} holds {len(plain)} bytes, its header says {size}")
    return np.frombuffer(plain, wanted).astype(wanted.newbyteorder("="))


@tells_shortage("ss.deserialize")
def unpack(data: Any, kind: str) -> Any:
    """Return the arrays of an object from its bytes.

    Raises
    ------
    InvalidObject
        Truncated, corrupt, of another version, or no such object; the message says which part.
    DomainMismatch
        `data` is not bytes.
    """
    view = _as_bytes(data)
    header, start = _header(view)
    if header["kind"] != kind:
        raise InvalidObject(f"a {header['kind']} was serialized, not a {kind}")
    parts = {}
    for row in header["arrays"]:
        parts[row[0]] = _array(row, view[start : start + row[3]], header["codec"])
        start += row[3]
    if start != len(view):
        raise InvalidObject(f"{len(view)} bytes, the object ends after {start}")
    named = header["dtype"]
    dtype = lookup_dtype(named if isinstance(named, str) else of_layout(named))
    arrays = _CLASSES[kind](dtype=dtype, **header["facts"], **parts)
    arrays.validate()
    return arrays
