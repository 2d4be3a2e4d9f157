"""Objects as bytes: a self-describing format with checksums, and nothing that executes.

Checksums find damage, not intent: whoever makes a blob makes them too. So nothing that a header
says is believed that can be checked, and what would be dear to check (whether a matrix is
symmetric) is not kept: it is found out again when it is asked for.

Layout: ``b"SEMIRA"``, version (2 bytes), length of the header (4 bytes), header (JSON: kind,
dtype, shape and one row for each array), CRC-32 of all that (4 bytes), then the arrays as they
are or compressed with zlib. Numbers are little-endian. The header's row of an array has its
dtype, length, stored bytes and CRC-32.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import ALL_DTYPES, DataType, lookup_dtype
from semira.base.errors import DomainMismatch, InvalidObject, InvalidValue
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import layout
from semira.files.compression import check_expansion
from semira.formats import MatrixArrays, VectorArrays
from semira.formats.index import MAX_SIZE
from semira.formats.matrix import ORIENTATIONS
from semira.frontend.ss.importing import parts_of, stored_widths

MAGIC = b"SEMIRA"
VERSION = 1
_FIXED = struct.Struct("<6sHI")
_CHECK = struct.Struct("<I")

#: Arrays of each kind, and what besides them describes an object.
_ARRAYS = {
    "matrix": ("indptr", "indices", "values", "majors"),
    "vector": ("values", "indices", "present"),
}


def _is_size(fact: Any) -> bool:
    return type(fact) is int and 0 <= fact <= MAX_SIZE


def _is_flag(fact: Any) -> bool:
    return type(fact) is bool


def _is_word(fact: Any) -> bool:
    return type(fact) is str


_FACTS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "matrix": {"nrows": _is_size, "ncols": _is_size, "orientation": _is_word, "iso": _is_flag},
    "vector": {"size": _is_size, "storage": _is_word, "nvals": _is_size, "iso": _is_flag},
}
#: A fact that earlier versions wrote.
_IGNORED = "symmetric"

#: What objects of each storage consist of: arrays that they have, and that they may have.
_STORAGES: dict[str, dict[str, tuple[set[str], set[str]]]] = {
    "matrix": dict.fromkeys(ORIENTATIONS, ({"indptr", "indices", "values"}, {"majors"})),
    "vector": {
        "sparse": ({"indices", "values"}, set()),
        "bitmap": ({"present", "values"}, set()),
        "full": ({"values"}, set()),
    },
}
_CLASSES: dict[str, Any] = {"matrix": MatrixArrays, "vector": VectorArrays}

#: Dtypes by the name in a header, NumPy's names of plain ones, and the keys of a record.
_NAMES = {dtype.name: dtype for dtype in ALL_DTYPES}
_LEAVES = {dtype.np_type.newbyteorder("<").str for dtype in ALL_DTYPES}
_RECORD = {"names", "formats", "offsets", "itemsize", "aligned"}

#: Levels of records in records.
_MAX_DEPTH = 16

#: Bytes that one compressed byte becomes at most.
_ZLIB_RATIO = 1032


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

    Raises InvalidValue if there is no such compression, or no such level of it. Raises
    DomainMismatch if the compression has no levels.
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
    """Return the bytes of a "matrix" or "vector".

    `level` is zlib's; 0 does not compress.
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
        return view.cast("B") if view.nbytes else memoryview(b"")
    except (TypeError, ValueError):
        raise DomainMismatch(f"deserialize needs bytes or an array, got {type(data)}") from None


def _header(data: memoryview) -> tuple[Any, int]:
    """Return the header, as yet unchecked, and where the arrays start."""
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
    try:
        header = json.loads(bytes(data[_FIXED.size : end]))
    except (ValueError, RecursionError) as error:
        raise InvalidObject(f"corrupt: the header is not JSON ({error})") from None
    return header, end + _CHECK.size


def _expect(is_right: bool, what: str) -> None:
    if not is_right:
        raise InvalidObject(f"corrupt: {what}")


def _brief(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, (list, dict)) else repr(value)[:40]


def _check_header(header: Any, kind: str) -> None:
    parts = {"kind", "dtype", "codec", "facts", "arrays"}
    _expect(isinstance(header, dict) and set(header) == parts, f"the header is not {sorted(parts)}")
    found = header["kind"]
    _expect(_is_word(found) and found in _FACTS, f"there is no kind {_brief(found)}")
    if found != kind:
        raise InvalidObject(f"a {found} was serialized, not a {kind}")
    _expect(header["codec"] in ("zlib", "none"), f"there is no codec {_brief(header['codec'])}")
    facts, rows, wanted = header["facts"], header["arrays"], _FACTS[kind]
    are_those = isinstance(facts, dict) and set(facts) - {_IGNORED} == set(wanted)
    _expect(are_those, f"the header does not have the facts {', '.join(wanted)}")
    for name, fits in wanted.items():
        _expect(fits(facts[name]), f"{name} cannot be {_brief(facts[name])}")
    _expect(isinstance(rows, list), f"the arrays are {_brief(rows)}")
    for row in rows:
        is_row = isinstance(row, list) and len(row) == 5 and _is_word(row[0])
        _expect(is_row and all(map(_is_size, row[2:])), "a row of an array is none")
    _check_names([row[0] for row in rows], facts, kind)


def _check_names(names: list[str], facts: dict[str, Any], kind: str) -> None:
    """Check that an object has the arrays of its storage, each once, and no others."""
    storage = facts["orientation" if kind == "matrix" else "storage"]
    _expect(storage in _STORAGES[kind], f"there is no {kind} stored as {_brief(storage)}")
    needed, optional = _STORAGES[kind][storage]
    for name in names:
        _expect(name in needed | optional, f"a {storage} {kind} has no array {_brief(name)}")
        _expect(names.count(name) == 1, f"the array {name!r} is named twice")
    missing = ", ".join(sorted(needed - set(names)))
    _expect(not missing, f"a {storage} {kind} needs the arrays {missing}")


def _numpy_dtype(given: Any, depth: int = 0) -> np.dtype[Any]:
    """Return the NumPy dtype that a header describes: numbers, records and sub-arrays of them."""
    if depth > _MAX_DEPTH:
        raise TypeError(f"records of records are read to a depth of {_MAX_DEPTH}")
    if isinstance(given, str) and given in _LEAVES:
        return np.dtype(given)
    if isinstance(given, list) and len(given) == 2 and isinstance(given[1], list):
        nested: np.dtype[Any] = np.dtype((_numpy_dtype(given[0], depth + 1), tuple(given[1])))
        return nested
    if isinstance(given, dict) and set(given) == _RECORD and isinstance(given["formats"], list):
        record: Any = {
            **given,
            "formats": [_numpy_dtype(part, depth + 1) for part in given["formats"]],
        }
        made: np.dtype[Any] = np.dtype(record)
        return made
    raise TypeError(f"{_brief(given)} is no dtype")


def _described(given: Any) -> np.dtype[Any]:
    try:
        return _numpy_dtype(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidObject(f"corrupt: no dtype is described ({error})") from None


def _dtype(given: Any) -> DataType:
    """Return the dtype of the values that a header names."""
    if isinstance(given, str) and given in _NAMES:
        return _NAMES[given]
    try:
        return lookup_dtype(_described(given))
    except (DomainMismatch, InvalidValue) as error:
        raise InvalidObject(f"corrupt: no dtype is described ({error})") from None


def _array(row: list[Any], body: memoryview, codec: str) -> NDArray[Any]:
    name, dtype, length, stored, check = row
    if len(body) < stored:
        raise InvalidObject(f"truncated: {len(body)} of the {stored} bytes of {name!r} are there")
    if zlib.crc32(body) != check:
        raise InvalidObject(f"corrupt: the checksum of {name!r} does not match")
    wanted = _described(dtype)
    size = length * wanted.itemsize
    plain: Any = _inflated(body, size, name) if codec == "zlib" else body
    if len(plain) != size:
        raise InvalidObject(f"corrupt: {name!r} holds {len(plain)} bytes, its header says {size}")
    _expect(wanted.itemsize > 0, f"values of {name!r} have no bytes")
    array = np.frombuffer(plain, wanted).astype(wanted.newbyteorder("="))
    _expect(not _has_odd_bools(array), f"a truth value of {name!r} is neither 0 nor 1")
    return array


def _inflated(body: memoryview, size: int, name: str) -> bytes:
    """Return decompressed bytes; no more than one beyond `size` are ever made."""
    _expect(size <= _ZLIB_RATIO * (len(body) + 64), f"{name!r} claims {size} bytes of {len(body)}")
    check_expansion(repr(name), len(body), size)
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(body, size + 1)
    except zlib.error as error:
        raise InvalidObject(f"corrupt: {name!r} cannot be decompressed ({error})") from None
    is_whole = stream.eof and not stream.unused_data
    _expect(is_whole or len(plain) != size, f"{name!r} does not end where it should")
    return plain


def _has_odd_bools(array: NDArray[Any]) -> bool:
    """Whether a truth value is neither 0 nor 1: NumPy and kernels rely on it."""
    if array.dtype.names is not None:
        return any(_has_odd_bools(array[name]) for name in array.dtype.names)
    return array.dtype == np.bool_ and bool((array.view(np.uint8) > 1).any())


def _with_stored_widths(arrays: Any) -> Any:
    """Return valid arrays with indices and offsets of the widths that objects have."""
    parts, wanted = parts_of(arrays), stored_widths(arrays)
    cast = {name: parts[name].astype(wanted[name], copy=False) for name in {*parts} & {*wanted}}
    return replace(arrays, **cast)


@tells_shortage("ss.deserialize")
def unpack(data: Any, kind: str) -> Any:
    """Return the arrays of an object from its bytes.

    Raises InvalidObject if they are truncated, corrupt, of another version, or of no such object;
    the message says which part. Raises OutOfMemory if compressed arrays are larger than the option
    ``max_bytes`` allows, and DomainMismatch if `data` is not bytes.
    """
    view = _as_bytes(data)
    header, start = _header(view)
    _check_header(header, kind)
    dtype = _dtype(header["dtype"])
    parts = {}
    for row in header["arrays"]:
        name, stored = row[0], row[3]
        parts[name] = _array(row, view[start : start + stored], header["codec"])
        start += stored
    if start != len(view):
        raise InvalidObject(f"{len(view)} bytes, the object ends after {start}")
    for name in ("indptr", "indices", "majors"):
        if name in parts and parts[name].dtype not in (np.int32, np.int64):
            raise InvalidObject(f"corrupt: {name} are of dtype {parts[name].dtype}")
    facts = {name: header["facts"][name] for name in _FACTS[kind]}
    arrays = _CLASSES[kind](dtype=dtype, **facts, **parts)
    arrays.validate()
    return _with_stored_widths(arrays)
