"""Making objects and reading them back, against python-graphblas."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import by_row, examples, mirror, suitesparse
from tests.helpers.strategies import DTYPES, matrices, vectors

import semira as gb


def same_arrays(mine: Any, other: Any) -> None:
    assert len(mine) == len(other)
    pairs = zip(map(np.asarray, mine), map(np.asarray, other), strict=True)
    for a, b in pairs:
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist() or np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@examples(10)
@given(data=st.data())
def test_matrix_exports(dtype: str, device: str, data: Any) -> None:
    a = data.draw(matrices(dtype, special=True))
    with gb.device(device):
        ours = a.build(gb).dup()
    theirs = a.build(suitesparse())
    same_arrays(ours.to_coo(), by_row(theirs.to_coo()))
    same_arrays(ours.to_csr(), theirs.to_csr())
    same_arrays(ours.to_csc(), theirs.to_csc())
    same_arrays(ours.T.to_csr(), theirs.T.to_csr())
    if ours.nvals:  # python-graphblas' to_dicts fails on a matrix without rows
        assert str(ours.to_dicts()) == str(_plain(theirs.to_dicts()))
    assert ours.nvals == theirs.nvals
    if ours.nvals:
        filled, expected = ours.to_dense(0), theirs.to_dense(0)
        assert np.array_equal(filled, expected, equal_nan=filled.dtype.kind in "fc")


def _plain(nested: Any) -> Any:
    return {i: {j: np.asarray(x).item() for j, x in row.items()} for i, row in nested.items()}


@pytest.mark.parametrize("dtype", DTYPES)
@examples(10)
@given(data=st.data())
def test_vector_exports(dtype: str, device: str, data: Any) -> None:
    u = data.draw(vectors(dtype, special=True))
    with gb.device(device):
        ours = u.build(gb).dup()
    theirs = u.build(suitesparse())
    same_arrays(ours.to_coo(), theirs.to_coo())
    assert ours.to_coo(values=False)[1] is None
    if ours.nvals:
        same_arrays([ours.to_dense(0)], [theirs.to_dense(0)])
    assert list(ours) == list(theirs)


@examples(30)
@given(data=st.data())
def test_round_trips(device: str, data: Any) -> None:
    a, u = data.draw(matrices("FP64")), data.draw(vectors("INT16"))
    with gb.device(device):
        x, v = a.build(gb), u.build(gb)
        shape = {"nrows": x.nrows, "ncols": x.ncols}
        for back in (
            gb.Matrix.from_coo(*x.to_coo(), **shape),
            gb.Matrix.from_csr(*x.to_csr(), ncols=x.ncols),
            gb.Matrix.from_csc(*x.to_csc(), nrows=x.nrows),
            gb.Matrix.from_dicts(x.to_dicts(), "FP64", **shape),
            pickle.loads(pickle.dumps(x)),
            x.dup(),
            x.T.new().T.new(),
        ):
            assert back.isequal(x, check_dtype=True)
        for back in (
            gb.Vector.from_coo(*v.to_coo(), size=v.size),
            gb.Vector.from_dict(v.to_dict(), "INT16", size=v.size),
            gb.Vector.from_pairs(v.to_dict().items(), "INT16", size=v.size),
            pickle.loads(pickle.dumps(v)),
            v.dup(),
        ):
            assert back.isequal(v, check_dtype=True)


@pytest.mark.parametrize("dup_op", ["plus", "min", "first", "second", "times", "max", "lor"])
@pytest.mark.parametrize("dtype", ["INT8", "FP32", "UINT64"])
@examples(8)
@given(data=st.data())
def test_repeated_positions_are_folded(dup_op: str, dtype: str, device: str, data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    count = data.draw(st.sampled_from((1, 5, 30)))
    rows, cols = rng.integers(0, 3, count), rng.integers(0, 4, count)
    values = rng.integers(0, 100, count).astype(np.dtype(dtype.lower().replace("fp", "float")))

    def program(library: Any) -> Any:
        op = getattr(library.binary, dup_op)
        matrix = library.Matrix.from_coo(rows, cols, values, nrows=3, ncols=4, dup_op=op)
        return matrix, library.Vector.from_coo(rows, values, size=3, dup_op=op)

    mirror(device, program)


def test_constructors_agree(device: str) -> None:
    def program(library: Any) -> Any:
        Matrix, Vector = library.Matrix, library.Vector
        return (
            Matrix("INT8", 2, 3),
            Vector("BOOL", 4),
            Matrix(),
            Vector(),
            Matrix.from_coo([0, 2], [1, 0]),
            Matrix.from_coo([0, 2], [1, 0], [True, False]),
            Matrix.from_coo([], [], [], dtype="INT8", nrows=2, ncols=2),
            Matrix.from_edgelist([(0, 1), (2, 0)]),
            Matrix.from_edgelist([(0, 1, 5), (2, 0, 7)]),
            Matrix.from_scalar(3, 2, 2),
            Matrix.from_dense([[1, 0], [0, 4]], missing_value=0),
            Matrix.from_dense([[1, 2], [3, 4]], dtype="FP32"),
            Matrix.from_dicts({0: {1: 5}, 3: {0: 2}}),
            Matrix.from_dicts({0: {1: 5}, 3: {0: 2}}, order="columnwise"),
            Vector.from_coo([3, 1], [1.5, 2.5]),
            Vector.from_coo([3, 1], 7, size=9),
            Vector.from_dict({0: 1, 4: 2}),
            Vector.from_pairs([(0, 1), (4, 2)]),
            Vector.from_scalar(2.5, 3),
            Vector.from_scalar(2, 3, "INT8"),
            Vector.from_dense([1, 0, 2], missing_value=0),
            Vector.from_dense([True, False]),
            Vector.from_coo([0, 1], [1, 2]).diag(),
            Vector.from_coo([0, 1], [1, 2]).diag(-2),
            Matrix.from_dense([[1, 2], [3, 4]]).diag(),
            Matrix.from_dense([[1, 2], [3, 4]]).diag(1),
            Matrix.from_dense([[1, 2], [3, 4]]).diag(-5),
        )

    mirror(device, program)


def test_nan_can_mark_missing_values(device: str) -> None:
    # python-graphblas compares with ==, which never finds a NaN; here it does what it says.
    with gb.device(device):
        nan = float("nan")
        assert gb.Vector.from_dense([1.5, nan], missing_value=nan).to_dict() == {0: 1.5}
        matrix = gb.Matrix.from_dense([[nan, 2.0]], missing_value=nan)
        assert matrix.to_dicts() == {0: {1: 2.0}}


def test_resize_clear_build(device: str) -> None:
    def program(library: Any) -> Any:
        matrix = library.Matrix.from_coo([0, 2], [1, 0], [5, 6], nrows=3, ncols=3)
        matrix.resize(2, 5)
        vector = library.Vector.from_coo([0, 4], [1.5, 2.5])
        vector.resize(2)
        cleared = matrix.dup()
        cleared.clear()
        rebuilt = library.Matrix("INT64", 2, 2)
        rebuilt.build([0, 1], [1, 0], [3, 4])
        again = library.Vector.from_coo([0, 1], [1, 2])
        again.build([3], [9], clear=True, size=5)
        return matrix, vector, cleared, rebuilt, again

    mirror(device, program)


def test_comparisons(device: str) -> None:
    for library in (gb, suitesparse()):
        with gb.device(device):
            a = library.Matrix.from_coo([0, 1], [1, 0], [1, 2], nrows=2, ncols=2)
            b = library.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
            assert a.isequal(b)
            assert not a.isequal(b, check_dtype=True)
            assert not a.isequal(library.Matrix("INT64", 2, 2))
            assert not a.isequal(library.Matrix.from_coo([0, 1], [1, 0], [1, 2], nrows=2, ncols=3))
            assert b.isclose(library.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0 + 1e-9]))
            assert not b.isclose(library.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.1]))
            assert b.isclose(library.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.1]), rel_tol=0.1)
