"""split, concat, flatten, reshape, iterators and head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import (
    DimensionMismatch,
    EmptyObject,
    InvalidValue,
    OutputNotEmpty,
)
from semira.frontend.ss.tiles import chunk_sizes


@pytest.fixture
def matrix() -> Any:
    return gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 3, 2], [1, 2, 3, 4], nrows=3, ncols=4, name="A")


def test_split_and_concat_are_inverse(matrix: Any) -> None:
    tiles = matrix.ss.split([[1, None], 3])
    assert [[tile.shape for tile in row] for row in tiles] == [[(1, 3), (1, 1)], [(2, 3), (2, 1)]]
    assert tiles[1][0].name == "A_1x0"
    assert gb.ss.concat(tiles).isequal(matrix, check_dtype=True)
    copy = gb.Matrix("FP32", 3, 4)
    copy.ss.concat(tiles)
    assert copy.isequal(matrix)
    assert copy.dtype == "FP32"
    v = gb.Vector.from_coo([1, 3], [1, 2], size=5)
    assert gb.ss.concat(v.ss.split(2)).isequal(v, check_dtype=True)
    assert [part.name for part in v.ss.split([4, 1], name="p")] == ["p_0", "p_1"]


def test_chunks_are_sizes_of_each_dimension() -> None:
    assert chunk_sizes(10, (20, 25)) == [[10, 10], [10, 10, 5]]
    assert chunk_sizes([[5, None], 15.0], (20, 20)) == [[5, 15], [15, 5]]
    assert chunk_sizes(np.array([1, 2]), (3,)) == [[1, 2]]
    for chunks, words in [
        ([30, 10, 1], "of length 2"), (0, "greater than 0"), ([[30, None], 1], "too large"),
        ([[5, 5], 1], "cover 10 of 20"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            chunk_sizes(chunks, (20, 20))


def test_scalars_are_tiles_of_size_one() -> None:
    one, none = gb.Scalar.from_value(5), gb.Scalar(int)
    v = gb.Vector.from_coo([1], [7], size=2)
    assert gb.ss.concat([one, none, v]).isequal(gb.Vector.from_coo([0, 3], [5, 7], size=4))
    row = gb.ss.concat([[one, none]])
    assert row.isequal(gb.Matrix.from_coo([0], [0], [5], nrows=1, ncols=2))
    column = gb.ss.concat([[one], [v]])
    assert column.isequal(gb.Matrix.from_coo([0, 2], [0, 0], [5, 7], nrows=3, ncols=1))


@every("seed", range(4))
def test_tiles_one_below_the_other(seed: int, device: str) -> None:
    rng = np.random.default_rng(seed)
    with gb.device(device):
        dense = [
            rng.integers(1, 9, (height, 5)) * (rng.random((height, 5)) < 0.4)
            for height in (3, 1, 4)
        ]
        tiles = [
            gb.Matrix.from_dense(each, 0, dtype=dtype)
            for each, dtype in zip(dense, ("INT8", "FP32", "INT64"), strict=True)
        ]
        ones = gb.Matrix.from_coo([0, 1], [4, 0], 1, nrows=3, ncols=5)
        below = gb.ss.concat([[tile] for tile in (*tiles, ones, gb.Matrix(int, 2, 5))])
    expected = np.vstack([*dense, ones.to_dense(0), np.zeros((2, 5))])
    np.testing.assert_array_equal(below.to_dense(0), expected)
    assert (below.dtype.name, below.nvals) == ("INT8", np.count_nonzero(expected))


def test_concat_says_what_does_not_fit(matrix: Any) -> None:
    v = gb.Vector.from_coo([0], [1], size=3)
    for tiles, words in [
        (5, "must be list or tuple"), ([matrix], "must be lists or tuples"),
        ([v, [v]], "position 1"), ([[v], v], "position 1"), ([[5]], "Bad type for argument"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=words):
            gb.ss.concat(tiles)
    for bad, words in [
        ([], "not be empty"),
        ([[]], "not be empty"),
        ([[v], [v, v]], "same length"),
    ]:
        with pytest.raises(ValueError, match=words):
            gb.ss.concat(bad)
    with pytest.raises(DimensionMismatch, match=r"tile \(0, 1\) is 4 x 3; .* is 3 x 3"):
        gb.ss.concat([[matrix, matrix.T]])
    with pytest.raises(DimensionMismatch, match="3 x 8"):
        matrix.ss.concat([[matrix, matrix]])
    assert matrix.nvals == 4
    assert gb.ss.concat([[matrix.T, matrix.T]]).shape == (4, 6)


def test_reshape_counts_positions(matrix: Any) -> None:
    for order, letter in (("rowwise", "C"), ("columnwise", "F")):
        dense = matrix.to_dense(0)
        flat = matrix.ss.flatten(order)
        assert flat.to_dense(0).tolist() == dense.ravel(letter).tolist()
        assert flat.ss.reshape(matrix.shape, order=order).isequal(matrix)
        made = matrix.ss.reshape(-1, 2, order)
        assert made.to_dense(0).tolist() == dense.reshape((-1, 2), order=letter).tolist()
    assert matrix.ss.reshape(12, 1, inplace=True) is None
    assert matrix.shape == (12, 1)
    for shape, words in [
        ((5, 5), "cannot reshape array of size 12"), ((-1, -1), "one unknown"),
        (((1, 2, 6),), "of length 2"), ((12,), "cannot reshape"), ((-1, 0), "cannot reshape"),
    ]:  # fmt: skip
        with pytest.raises(InvalidValue, match=words):
            matrix.ss.reshape(*shape)
    with pytest.raises(InvalidValue, match="2\\*\\*60"):
        gb.Matrix(int, 2**40, 2**40).ss.flatten()


def test_iterators_give_python_numbers_in_stored_order(matrix: Any) -> None:
    assert list(matrix.ss.iteritems()) == [(0, 1, 1), (1, 0, 2), (1, 3, 3), (2, 2, 4)]
    assert list(matrix.ss.iterkeys(2)) == [(1, 3), (2, 2)]
    assert list(matrix.ss.itervalues(-1)) == [4]
    assert list(matrix.ss.itervalues(9)) == []
    assert list(matrix.ss.itervalues(-9)) == [1, 2, 3, 4]
    assert type(next(matrix.ss.itervalues())) is int
    bitmap = gb.Vector.ss.import_bitmap(bitmap=[0, 1, 0, 1, 1], values=[0, 1, 0, 3, 4])
    assert list(bitmap.ss.iterkeys(2)) == [3, 4]
    assert list(bitmap.ss.iteritems(-1)) == [(4, 4)]
    with pytest.raises(InvalidValue, match="seek must be an integer"):
        matrix.ss.iterkeys("x")


def test_head_gives_the_first_entries(matrix: Any) -> None:
    rows, cols, values = matrix.ss.head(2, dtype=float)
    assert (rows.tolist(), cols.tolist(), values.tolist()) == ([0, 1], [1, 0], [1.0, 2.0])
    assert rows.dtype == np.uint64
    assert values.dtype == np.float64
    with pytest.raises(InvalidValue, match="n must be"):
        matrix.ss.head(-1)


def test_diagonals_and_one_value(matrix: Any) -> None:
    v = gb.ss.diag(matrix, 1, name="d")
    assert (v.name, v.to_dict()) == ("d", {0: 1})
    assert gb.ss.diag(v, dtype="FP32").dtype == "FP32"
    with pytest.raises(TypeError, match="Matrix, TransposedMatrix, Vector"):
        gb.ss.diag(5)
    with pytest.raises(DimensionMismatch, match="3 x 4 but must be"):
        matrix.ss.build_diag(v)
    w = gb.Vector(int, 9)
    with pytest.raises(DimensionMismatch, match="3 positions, the vector 9"):
        w.ss.build_diag(matrix, 0)
    w.ss.build_scalar([1, 4, 4], 2)
    assert w.to_dict() == {1: 2, 4: 2}
    with pytest.raises(OutputNotEmpty):
        w.ss.build_scalar([1], 2)
    with pytest.raises(EmptyObject):
        gb.Vector(int, 2).ss.build_scalar([1], None)


def test_expressions_have_the_extensions_of_their_result(matrix: Any) -> None:
    assert (matrix + matrix).ss.flatten().nvals == 4
    assert (matrix[0, :]).ss.format in ("sparse", "bitmap", "full")
