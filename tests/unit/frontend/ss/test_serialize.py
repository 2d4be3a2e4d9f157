"""Objects as bytes."""

from __future__ import annotations

import copy
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.base import settings
from semira.exceptions import GraphblasException, InvalidObject, OutOfMemory

OBJECTS = {
    "matrix": lambda: gb.Matrix.from_coo([0, 2, 2], [1, 0, 3], [1.5, 2.5, -1], nrows=3, ncols=9),
    "iso": lambda: gb.Matrix.from_coo([0, 1], [1, 0], True),
    "hypersparse": lambda: gb.Matrix.from_coo([2**40], [2**50], [3], nrows=2**41, ncols=2**51),
    "sparse": lambda: gb.Vector.from_coo([1, 70], [1, 2], dtype="UINT8", size=100),
    "bitmap": lambda: gb.Vector.ss.import_bitmap(bitmap=[1, 0, 1], values=[1, 2, 3]),
    "full": lambda: gb.Vector.from_dense([1.0, 2.0]),
    "empty": lambda: gb.Vector("INT16", 0),
    "complex": lambda: gb.Vector.from_coo([1], [1 + 2j], dtype="FC64"),
}


@every("compression", [None, "none", "default", "zlib", "lz4", "lz4hc", "zstd"])
@every("name", OBJECTS)
def test_objects_survive(name: str, compression: str | None) -> None:
    item = OBJECTS[name]()
    data = item.ss.serialize(compression)
    assert data.dtype == np.uint8
    for given in (data, data.tobytes(), bytearray(data)):
        back = type(item).ss.deserialize(given, name="b")
        assert back.isequal(item, check_dtype=True)
        assert back.ss.format == item.ss.format
        assert back.ss.is_iso == item.ss.is_iso
        assert back.name == "b"


def test_compression_makes_smaller() -> None:
    v = gb.Vector.from_dense(np.zeros(10_000))
    assert len(v.ss.serialize("zstd", 19)) < len(v.ss.serialize(None)) / 50


def test_every_changed_byte_is_noticed() -> None:
    item = OBJECTS["matrix"]()
    for compression in (None, "zlib"):
        data = item.ss.serialize(compression)
        for place in range(len(data)):
            changed = data.copy()
            changed[place] ^= 0x40
            with pytest.raises(InvalidObject):
                gb.Matrix.ss.deserialize(changed)


def test_every_truncation_is_noticed() -> None:
    data = OBJECTS["sparse"]().ss.serialize().tobytes()
    for length in range(len(data)):
        with pytest.raises(InvalidObject):
            gb.Vector.ss.deserialize(data[:length])
    with pytest.raises(InvalidObject, match="the object ends after"):
        gb.Vector.ss.deserialize(data + b"x")


def test_errors_name_what_is_wrong() -> None:
    v = OBJECTS["full"]()
    data = v.ss.serialize()
    with pytest.raises(InvalidObject, match="a vector was serialized, not a matrix"):
        gb.Matrix.ss.deserialize(data)
    with pytest.raises(TypeError, match="FP64, not INT8"):
        gb.Vector.ss.deserialize(data, dtype="INT8")
    with pytest.raises(InvalidObject, match="not serialized by Semira"):
        gb.Vector.ss.deserialize(b"PK\x03\x04 something else entirely")
    with pytest.raises(TypeError, match="needs bytes"):
        gb.Vector.ss.deserialize("text")
    with pytest.raises(InvalidObject, match="'values'"):
        gb.Vector.ss.deserialize(data[:-1])


@pytest.mark.parametrize(
    ("compression", "level", "error", "words"),
    [
        ("bad", None, ValueError, "compression argument"),
        ("default", 3, TypeError, "level argument"),
        (None, 3, TypeError, "level argument"),
        ("lz4hc", 0, ValueError, "1 to 9, got 0"),
        ("zstd", 20, ValueError, "1 to 19, got 20"),
        ("zstd", 1.5, TypeError, "level argument"),
    ],
)
def test_unknown_compressions_and_levels(
    compression: Any, level: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        OBJECTS["full"]().ss.serialize(compression, level)


# --- blobs that somebody made, checksums and all ------------------------------------------------

Header = dict[str, Any]


def taken_apart(data: Any) -> tuple[Header, list[bytes]]:
    """Return the header of a blob and the bytes of its arrays."""
    data = bytes(data)
    (length,) = struct.unpack("<I", data[8:12])
    header = json.loads(data[12 : 12 + length])
    bodies, start = [], 16 + length
    for row in header["arrays"]:
        bodies.append(data[start : start + row[3]])
        start += row[3]
    return header, bodies


def put_together(header: Any, bodies: list[bytes]) -> bytes:
    """Return a blob with right checksums; `header` may be text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = struct.pack("<6sHI", b"SEMIRA", 1, len(text)) + text
    return start + struct.pack("<I", zlib.crc32(start)) + b"".join(bodies)


def crafted(change: Callable[[Header, list[bytes]], Any], name: str, codec: str) -> bytes:
    """Return the blob of an object after `change` of its parts; sizes and checksums follow."""
    header, bodies = taken_apart(OBJECTS[name]().ss.serialize(None))
    header["codec"] = codec
    change(header, bodies)
    if codec == "zlib":
        bodies = [zlib.compress(each) for each in bodies]
    if isinstance(header["arrays"], list):
        for row, each in zip(header["arrays"], bodies, strict=False):
            if len(row) == 5:
                row[3:] = [len(each), zlib.crc32(each)]
    return put_together(header, bodies)


def facts(**changed: Any) -> Callable[[Header, list[bytes]], None]:
    return lambda header, _bodies: header["facts"].update(changed)


def parts(**changed: Any) -> Callable[[Header, list[bytes]], None]:
    return lambda header, _bodies: header.update(changed)


def body(place: int, array: Any) -> Callable[[Header, list[bytes]], None]:
    """Replace an array by another of the same or another dtype."""

    def change(header: Header, bodies: list[bytes]) -> None:
        given = np.asarray(array)
        bodies[place] = given.tobytes()
        header["arrays"][place][1:3] = [given.dtype.str, len(given)]

    return change


def without(place: int) -> Callable[[Header, list[bytes]], None]:
    def change(header: Header, bodies: list[bytes]) -> None:
        del header["arrays"][place], bodies[place]

    return change


def twice(header: Header, bodies: list[bytes]) -> None:
    header["arrays"].append(list(header["arrays"][0]))
    bodies.append(bodies[0])


def renamed(header: Header, _bodies: list[bytes]) -> None:
    header["arrays"][0][0] = "lean"


DEEP = {"names": ["a"], "formats": ["<f8"], "offsets": [0], "itemsize": 8, "aligned": False}
for _ in range(400):
    DEEP = {**DEEP, "formats": [DEEP]}

#: The object that is changed, the change, and what the error says.
CRAFTED: dict[str, tuple[str, Callable[[Header, list[bytes]], Any], str]] = {
    "size is text": ("matrix", facts(nrows="6"), "nrows cannot be '6'"),
    "size is negative": ("matrix", facts(ncols=-1), "ncols cannot be -1"),
    "size is huge": ("matrix", facts(ncols=2**70), "ncols cannot be"),
    "size is a truth value": ("sparse", facts(size=True), "size cannot be True"),
    "size is a float": ("full", facts(size=2.0), "size cannot be 2.0"),
    "iso is a number": ("matrix", facts(iso=0), "iso cannot be 0"),
    "iso of many values": ("matrix", facts(iso=True), "3 values for 3 entries"),
    "iso is denied": ("iso", facts(iso=False), "1 values for 2 entries"),
    "orientation is another": ("matrix", facts(orientation="coo"), "no matrix stored as 'coo'"),
    "orientation is a vector's": ("matrix", facts(orientation="full"), "no matrix stored as"),
    "orientation is a list": ("matrix", facts(orientation=["csr"]), "orientation cannot be a list"),
    "storage is another": ("sparse", facts(storage="bitmap"), "has no array 'indices'"),
    "storage is full with indices": ("sparse", facts(storage="full"), "has no array 'indices'"),
    "nvals is more": ("sparse", facts(nvals=3), "3 entries"),
    "a fact more": ("matrix", facts(lean=True), "does not have the facts"),
    "an array as a fact": ("matrix", facts(majors=[0]), "does not have the facts"),
    "facts is a list": ("matrix", parts(facts=[1]), "does not have the facts"),
    "a fact less": ("matrix", lambda header, _: header["facts"].pop("iso"), "have the facts"),
    "arrays is null": ("matrix", parts(arrays=None), "the arrays are None"),
    "arrays is a dict": ("matrix", parts(arrays={}), "the arrays are a dict"),
    "a row is short": ("matrix", lambda header, _: header["arrays"][0].pop(), "a row of an array"),
    "array is missing": ("matrix", without(1), "needs the arrays indices"),
    "values are missing": ("full", without(0), "needs the arrays values"),
    "array named twice": ("matrix", twice, "'indptr' is named twice"),
    "array of another name": ("matrix", renamed, "has no array 'lean'"),
    "kind is null": ("matrix", parts(kind=None), "no kind None"),
    "kind is a list": ("matrix", parts(kind=[]), "no kind a list"),
    "codec is another": ("matrix", parts(codec="lz4"), "no codec 'lz4'"),
    "a part more": ("matrix", parts(more=1), "the header is not"),
    "dtype is unknown": ("matrix", parts(dtype="FP65"), "no dtype is described"),
    "dtype is Python's": ("matrix", parts(dtype="float"), "no dtype is described"),
    "dtype of objects": ("matrix", parts(dtype="|O"), "no dtype is described"),
    "dtype is a short dict": ("matrix", parts(dtype={"a": "O"}), "no dtype is described"),
    "dtype is a short list": ("matrix", parts(dtype=["x"]), "no dtype is described"),
    "dtype is null": ("matrix", parts(dtype=None), "no dtype is described"),
    "dtype is text to evaluate": ("matrix", parts(dtype="INT64[" + "(" * 300), "no dtype"),
    "dtype is deep": ("matrix", parts(dtype=DEEP), "no dtype|are float64"),
    "dtype without bytes": ("matrix", parts(dtype=["<f8", [0]]), "no dtype|no bytes|values are"),
    "dtype is enormous": ("matrix", parts(dtype=["<f8", [2**40]]), "no dtype is described"),
    "dtype of a field overlaps": (
        "matrix",
        parts(dtype={**DEEP, "formats": ["<f8"], "offsets": [-4]}),
        "no dtype is described",
    ),
    "dtype of another width": ("matrix", parts(dtype="INT8"), "values are float64"),
    "values of another dtype": ("matrix", body(2, np.int64([1, 2, 3])), "values are int64"),
    "array of objects": (
        "matrix", lambda header, _: header["arrays"][2].__setitem__(1, "|O"), "no dtype"
    ),
    "array of times": (
        "matrix", lambda header, _: header["arrays"][2].__setitem__(1, "<M8[s]"), "no dtype"
    ),
    "offsets are floats": ("matrix", body(0, np.float64([0, 1, 1, 3])), "indptr are of dtype"),
    "offsets are bytes": ("matrix", body(0, np.uint8([0, 1, 1, 3])), "indptr are of dtype uint8"),
    "offsets fall": ("matrix", body(0, np.int32([0, 2, 1, 3])), "indptr must rise"),
    "offsets wrap": ("matrix", body(0, np.int32([0, 2**31 - 1, -(2**31), 3])), "indptr must rise"),
    "offsets wrap wide": (
        "matrix", body(0, np.int64([0, 2**63 - 1, -(2**63), 3])), "indptr must rise"
    ),
    "no offsets": ("matrix", body(0, np.int32([])), "indptr must start at 0"),
    "indices unsorted": ("matrix", body(1, np.int32([1, 3, 0])), "strictly increasing"),
    "indices repeated": ("matrix", body(1, np.int32([1, 3, 3])), "strictly increasing"),
    "index outside": ("matrix", body(1, np.int32([1, 0, 9])), "outside"),
    "index negative": ("matrix", body(1, np.int32([1, -1, 3])), "outside"),
    "indices of a vector unsorted": ("sparse", body(1, np.int32([70, 1])), "outside|increasing"),
    "indices of a vector are floats": ("sparse", body(1, np.float64([1, 70])), "indices are of"),
    "listed rows unsorted": ("hypersparse", body(3, np.int64([2**50])), "outside"),
    "truth value of 2": (
        "bitmap", body(1, np.uint8([1, 0, 1])), "does not hold|uint8|bitmap"
    ),
    "presence of another count": ("bitmap", body(1, np.array([1, 1, 1], bool)), "does not hold"),
}  # fmt: skip


@every("case", CRAFTED)
@every("codec", ["none", "zlib"])
def test_crafted_blobs_are_refused_by_name(case: str, codec: str) -> None:
    name, change, reason = CRAFTED[case]
    with pytest.raises(InvalidObject, match=reason):
        type(OBJECTS[name]()).ss.deserialize(crafted(change, name, codec))


@every(
    "text",
    [b"", b"[1]", b"null", b"{", b"[" * 200_000, b'{"a":' * 200_000, b"\xff", b"9" * 5000, b"NaN"],
    ids=len,
)
def test_headers_that_are_no_headers_are_refused(text: bytes) -> None:
    with pytest.raises(InvalidObject, match="header"):
        gb.Matrix.ss.deserialize(put_together(text, []))


def test_symmetry_is_not_taken_on_trust() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 1], [1, 2], nrows=2, ncols=2)
    header, bodies = taken_apart(A.ss.serialize(None))
    header["facts"]["symmetric"] = True
    B = gb.Matrix.ss.deserialize(put_together(header, bodies))
    assert B.isequal(A)
    assert not B.symmetric
    C = gb.Matrix.from_coo([0, 1], [1, 0], [1, 1])
    C.symmetric = True
    assert gb.Matrix.ss.deserialize(C.ss.serialize()).symmetric


def test_indices_of_any_width_become_those_of_objects() -> None:
    def widen(header: Header, bodies: list[bytes]) -> None:
        body(0, np.int64([0, 1, 1, 3]))(header, bodies)
        body(1, np.int64([1, 0, 3]))(header, bodies)

    A = gb.Matrix.ss.deserialize(crafted(widen, "matrix", "none"))
    assert A.ss.export("csr")["indptr"].dtype == np.int32
    assert A.isequal(OBJECTS["matrix"]())


@pytest.mark.parametrize("dtype", ["BOOL", {"a": bool, "b": int}], ids=str)
def test_truth_values_are_0_or_1(dtype: Any) -> None:
    value = True if dtype == "BOOL" else (True, 3)
    v = gb.Vector.from_coo([0, 2], [value, value], dtype=dtype)
    header, bodies = taken_apart(v.ss.serialize(None))
    assert gb.Vector.ss.deserialize(put_together(header, bodies)).isequal(v)
    place = next(at for at, row in enumerate(header["arrays"]) if row[0] == "values")
    bodies[place] = b"\x02" + bodies[place][1:]
    header["arrays"][place][4] = zlib.crc32(bodies[place])
    with pytest.raises(InvalidObject, match="neither 0 nor 1"):
        gb.Vector.ss.deserialize(put_together(header, bodies))


def test_compressed_arrays_are_bounded() -> None:
    data = gb.Vector.from_dense(np.zeros(100_000)).ss.serialize("zlib", 9)
    before = settings.override(max_bytes=10_000)
    try:
        with pytest.raises(OutOfMemory, match="become 800000 or more, beyond the limit of 10000"):
            gb.Vector.ss.deserialize(data)
    finally:
        settings.restore(before)
    header, bodies = taken_apart(data)
    header["arrays"][0][2] = 10**15
    header["facts"] |= {"size": 10**15, "nvals": 10**15}
    with pytest.raises(InvalidObject, match="claims 8000000000000000 bytes"):
        gb.Vector.ss.deserialize(put_together(header, bodies))
    stored = zlib.compress(bytes(800_000), 9)[:-4]
    header, _ = taken_apart(data)
    header["arrays"][0][3:] = [len(stored), zlib.crc32(stored)]
    with pytest.raises(InvalidObject, match="does not end"):
        gb.Vector.ss.deserialize(put_together(header, [stored]))


@pytest.mark.parametrize("given", [memoryview(b"abcd")[::2], np.array([{}], object), 3, None])
def test_what_is_no_bytes_is_refused(given: Any) -> None:
    with pytest.raises((TypeError, InvalidObject)) as caught:
        gb.Vector.ss.deserialize(given)
    assert isinstance(caught.value, GraphblasException)


#: What values of headers are replaced by.
ODD = [None, True, False, 0, 1, -1, 3, 2**31, 2**62, 2**64, 10**400, 0.5, "", "csr", "csc", "full",
       "sparse", "bitmap", "values", "indices", "<f8", "|O", "<M8[s]", "BOOL", "FC64", [], {}, [[]],
       ["<i4", [3]], {"names": ["a"], "formats": ["<i4"]}, [0, 1], "\x1b", "\ud800"]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every part of a JSON value."""
    found = [path] if path else []
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        found += places(value[key], (*path, key))
    return found


def mutated(rng: np.random.Generator, header: Header) -> Header:
    """Return a header with one to three parts replaced, dropped, doubled or renamed."""
    header = copy.deepcopy(header)
    for _ in range(int(rng.integers(1, 4))):
        found = places(header)
        if not found:
            break
        *above, last = found[int(rng.integers(len(found)))]
        holder = header
        for key in above:
            holder = holder[key]
        kind, odd = int(rng.integers(5)), copy.deepcopy(ODD[int(rng.integers(len(ODD)))])
        if kind < 3:
            holder[last] = odd
        elif kind == 3:
            del holder[last]
        elif isinstance(holder, list):
            holder.insert(int(rng.integers(len(holder) + 1)), copy.deepcopy(holder[last]))
        else:
            holder[str(odd)] = holder.pop(last)
    return header


@pytest.mark.fuzz
@pytest.mark.parametrize("name", OBJECTS)
def test_any_header_ends_in_an_object_or_in_an_error_of_ours(name: str) -> None:
    rng = np.random.default_rng(8)
    item = OBJECTS[name]()
    refused = 0
    for codec in (None, "zlib"):
        header, bodies = taken_apart(item.ss.serialize(codec))
        for _ in range(400):
            changed = mutated(rng, header)
            bodies_now = list(bodies)
            if rng.random() < 0.5 and bodies:
                place = int(rng.integers(len(bodies)))
                wrong = bytearray(bodies[place])
                if wrong:
                    wrong[int(rng.integers(len(wrong)))] = int(rng.integers(256))
                bodies_now[place] = bytes(wrong)
                with_sums(changed, bodies_now)
            try:
                made = type(item).ss.deserialize(put_together(changed, bodies_now))
            except (InvalidObject, OutOfMemory):
                refused += 1
            else:
                made._value.read().validate()
                assert isinstance(made.isequal(made), bool)
    assert refused > 400


def with_sums(header: Any, bodies: list[bytes]) -> None:
    """Put right checksums into the rows of a header, as far as there are rows."""
    rows = header.get("arrays") if isinstance(header, dict) else None
    for row, each in zip(rows if isinstance(rows, list) else [], bodies, strict=False):
        if isinstance(row, list) and len(row) == 5:
            row[3:] = [len(each), zlib.crc32(each)]
