"""Objects as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.exceptions import InvalidObject

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


@pytest.mark.parametrize("compression", [None, "none", "default", "zlib", "lz4", "lz4hc", "zstd"])
@pytest.mark.parametrize("name", OBJECTS)
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
