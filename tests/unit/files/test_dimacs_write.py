"""DIMACS files that are written: what is read back, and what cannot be written."""

from __future__ import annotations

import io

import numpy as np
import pytest

from semira.base.errors import FileWriteError, InvalidValue
from semira.files import read_edges, write_edges
from semira.formats import EdgeList

ROWS, COLS = np.array([0, 2, 1]), np.array([1, 0, 1])


def written(values, n: int = 4) -> bytes:
    stream = io.BytesIO()
    write_edges(stream, EdgeList(n, n, ROWS, COLS, values), format="dimacs")
    return stream.getvalue()


@pytest.mark.parametrize(
    "values",
    [
        np.array([7, -2, 2**62]),
        np.array([7.0, 0.0, 2.0**53]),
        np.array([1, 2, 3], np.uint8),
        np.array([True, True, False]),
    ],
)
def test_what_is_written_is_read_back(values):
    read = read_edges(io.BytesIO(written(values)))
    assert (read.nrows, read.ncols) == (4, 4)
    assert read.rows.tolist() == ROWS.tolist()
    assert read.cols.tolist() == COLS.tolist()
    assert read.values.tolist() == values.astype(np.int64).tolist()


def test_edges_without_weights_have_weight_1():
    assert written(None) == b"p sp 4 3\na 1 2 1\na 3 1 1\na 2 2 1\n"


@pytest.mark.parametrize(
    "wrong", [0.5, np.nan, np.inf, 2.0**63, -(2.0**64), np.uint64(2**63), 1 + 0j]
)
def test_weights_that_the_format_cannot_hold(wrong):
    values = np.array([1, wrong, 1], np.asarray(wrong).dtype)
    with pytest.raises(FileWriteError, match="no whole number below"):
        written(values)


def test_a_rectangle_is_refused():
    with pytest.raises(InvalidValue, match="2 x 3"):
        write_edges(io.BytesIO(), EdgeList(2, 3, np.array([0]), np.array([2])), format="dimacs")
