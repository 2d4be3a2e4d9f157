"""gather and scatter against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import examples
from tests.helpers.strategies import vectors

import semira as gb

INDEX_DTYPES = ("INT64", "INT32", "UINT8", "UINT64")
FOLDS = {"min": np.minimum, "max": np.maximum, "plus": np.add, "times": np.multiply}


def drawn_index(data: Any, length: int, target: int, dtype: str) -> tuple[Any, Any]:
    """Draw positions into a vector of size `target`, at some of `length` places."""
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    present = np.flatnonzero(rng.random(length) < data.draw(st.sampled_from((0.0, 0.5, 1.0))))
    if not target:
        present = present[:0]
    positions = rng.integers(0, max(target, 1), len(present)).astype(dtype.lower())
    return present, positions


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
@examples(30)
@given(data=st.data())
def test_gather(dtype: str, device: str, data: Any) -> None:
    source = data.draw(vectors("INT32"))
    length = data.draw(st.sampled_from((0, 1, 4, 9)))
    places, positions = drawn_index(data, length, source.size, dtype)
    with gb.device(device):
        v = source.build(gb)
        index = gb.Vector.from_coo(places, positions, dtype=dtype, size=length)
        result = v.gather(index).new()
        entries = v.to_dict()
    expected = {
        int(place): entries[int(position)]
        for place, position in zip(places, positions, strict=True)
        if int(position) in entries
    }
    assert result.dtype is v.dtype
    assert result.size == length
    assert result.to_dict() == expected


@pytest.mark.parametrize("fold", FOLDS)
@examples(30)
@given(data=st.data())
def test_scatter_folds_like_numpy(fold: str, device: str, data: Any) -> None:
    size = data.draw(st.sampled_from((1, 3, 8)))
    length = data.draw(st.sampled_from((0, 1, 4, 9)))
    dtype = data.draw(st.sampled_from(INDEX_DTYPES))
    places, positions = drawn_index(data, length, size, dtype)
    values = data.draw(vectors("INT32", length))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    before = rng.integers(-9, 9, size).astype(np.int32)
    with gb.device(device):
        out = gb.Vector.from_dense(before)
        index = gb.Vector.from_coo(places, positions, dtype=dtype, size=length)
        given_values = values.build(gb)
        out.scatter(index, given_values, fold)
        entries = given_values.to_dict()
    expected = before.copy()
    for place, position in zip(places, positions, strict=True):
        if int(place) in entries:
            with np.errstate(over="ignore"):
                FOLDS[fold].at(expected, int(position), np.int32(entries[int(place)]))
    assert out.to_dense().tolist() == expected.tolist()


@examples(40)
@given(data=st.data())
def test_scatter_into_sparse_and_without_a_fold(device: str, data: Any) -> None:
    out, length = data.draw(vectors("INT32")), data.draw(st.sampled_from((0, 3, 8)))
    places, positions = drawn_index(data, length, out.size, "INT64")
    values = data.draw(vectors("INT32", length))
    with gb.device(device):
        built = out.build(gb)
        before, entries = built.to_dict(), values.build(gb).to_dict()
        index = gb.Vector.from_coo(places, positions, size=length, dtype="INT64")
        built.scatter(index, values.build(gb))
        after = built.to_dict()
    candidates: dict[int, set[int]] = {}
    for place, position in zip(places, positions, strict=True):
        if int(place) in entries:
            candidates.setdefault(int(position), set()).add(entries[int(place)])
    assert after.keys() == before.keys() | candidates.keys()
    for position, value in after.items():
        assert value in candidates.get(position, {before.get(position)})


@pytest.mark.parametrize("position", [5, 2**31])
def test_positions_outside_are_refused_and_nothing_is_written(position: int, device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0, 4], [1, 2], size=5)
        index = gb.Vector.from_coo([0, 1], [4, position], size=2)
        with pytest.raises(gb.exceptions.IndexOutOfBound):
            v.gather(index).new()
        with pytest.raises(gb.exceptions.IndexOutOfBound):
            v.scatter(index, gb.Vector.from_dense([7, 8]), "min")
        assert v.to_dict() == {0: 1, 4: 2}


def test_negative_positions_are_refused(device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_dense([1, 2, 3])
        with pytest.raises(gb.exceptions.IndexOutOfBound):
            v.gather(gb.Vector.from_dense([-1])).new()


def test_index_must_be_a_vector_of_integers(device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_dense([1, 2, 3])
        for index in (gb.Vector.from_dense([0.0]), gb.Matrix("INT64", 1, 1), [0]):
            with pytest.raises(gb.exceptions.InvalidIndex):
                v.gather(index)
        with pytest.raises(gb.exceptions.DimensionMismatch):
            v.scatter(gb.Vector.from_dense([0]), gb.Vector.from_dense([1, 2]))
