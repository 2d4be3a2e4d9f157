"""Matrices from what methods make of them, with checks that nothing else is in the arrays."""

from __future__ import annotations

import numpy as np

from semira.formats import MatrixArrays, index_dtype, offset_dtype
from semira.methods.dense.arrays import DenseArrays
from semira.methods.ell.arrays import PADDING, EllArrays


def from_ell(made: EllArrays, given: MatrixArrays, multiple: int = 1) -> MatrixArrays:
    """Return the matrix of padded lines, made of a `given` one of the same shape."""
    height, lines = made.height, given.nmajor
    assert made.starts[0] == 0
    assert made.starts[-1] == len(made.indices)
    assert len(made.values) == (1 if made.iso else len(made.indices))
    assert made.values.dtype == given.dtype.array_dtype
    places = np.flatnonzero(made.indices != PADDING)
    which = np.searchsorted(made.starts, places, side="right") - 1
    inside = places - made.starts[which]
    line, turn = which * height + inside % height, inside // height
    counts = np.bincount(line, minlength=len(made.widths) * height)
    assert not counts[lines:].any(), "no line behind the last one"
    assert (turn < counts[line]).all(), "padding behind the entries"
    longest = counts.reshape(-1, height).max(axis=1) if len(counts) else counts
    assert np.array_equal(-(-longest // multiple) * multiple, made.widths)
    assert made.lengths is None or np.array_equal(made.lengths, counts[:lines])
    order = places[np.lexsort((turn, line))]
    indptr = np.zeros(lines + 1, offset_dtype(len(places)))
    np.cumsum(counts[:lines], out=indptr[1:])
    values = made.values if made.iso else made.values[order]
    return MatrixArrays(
        given.nrows, given.ncols, given.dtype, given.orientation, indptr, made.indices[order],
        values, made.iso,
    )  # fmt: skip


def from_dense(made: DenseArrays, given: MatrixArrays) -> MatrixArrays:
    """Return the matrix by rows of values at every position, made of a `given` one."""
    assert made.values.shape == ((1, 1) if made.iso else given.shape)
    assert made.values.dtype == given.dtype.array_dtype
    present = np.ones(given.shape, np.bool_) if made.present is None else made.present
    assert (present.shape, present.dtype) == (given.shape, np.bool_)
    rows, cols = np.nonzero(present)
    indptr = np.zeros(given.nrows + 1, offset_dtype(len(rows)))
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    values = made.values.ravel() if made.iso else made.values[present]
    cols = cols.astype(index_dtype(*given.shape))
    return MatrixArrays(*given.shape, given.dtype, "csr", indptr, cols, values, made.iso)
