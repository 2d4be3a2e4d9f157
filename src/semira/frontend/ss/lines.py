"""Rows or columns as *lines* of entries: what the extensions compute on.

A line is a row (csr) or a column (csc); a vector is a matrix of one line. So every function on
lines serves ``order="rowwise"``, ``order="columnwise"`` and vectors alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.memory import tells_shortage
from semira.contract.rearrange import Rearrangement
from semira.engine.rearranging import rearrange
from semira.engine.values import Value
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix, index_dtype, offset_dtype
from semira.frontend import reading
from semira.frontend.construct import is_rowwise
from semira.frontend.kinds import OBJECTS


@tells_shortage("a rearrangement on the host")
def rearranged(
    item: Any,
    request: Rearrangement,
    what: str,
    on_host: Callable[[MatrixArrays], list[MatrixArrays]],
) -> list[Any]:
    """Return what is made of an object where it lives: values of its device, or arrays.

    Parameters
    ----------
    request : Rearrangement
        What the device is asked for.
    what : str
        Name of the method, for messages.
    on_host : callable
        Makes the same of lines, for an object in the host's memory.

    Raises
    ------
    RecordError
        Inside a recorded loop body.
    """
    value, transposed = item._operand()
    made = rearrange(value, request, what, transposed=transposed)
    if made is not None:
        return list(made)
    found = on_host(lines_of(item, "columnwise" if request.by_columns else "rowwise", what))
    return [to_vector(lines) for lines in found] if item.kind == "vector" else list(found)


def one_line(arrays: VectorArrays) -> MatrixArrays:
    """Return a vector as the matrix of one row; shares its arrays if it is sparse."""
    values = arrays.values[:1] if arrays.iso else arrays.entry_values()
    indptr = np.array([0, arrays.nvals], offset_dtype(arrays.nvals))
    return MatrixArrays(
        1, arrays.size, arrays.dtype, "csr", indptr, arrays.entry_indices(), values, arrays.iso
    )


def from_entries(
    shape: tuple[int, int], orientation: str, major: Any, minor: Any, values: Any, like: Any
) -> MatrixArrays:
    """Return the matrix of entries in any order.

    Parameters
    ----------
    shape : (number of lines, length of a line)
    values : ndarray or None
        None: an iso matrix with the value of `like`.
    like : MatrixArrays
        Its dtype counts if the values are shared.
    """
    shared = like.values[0] if len(like.values) else like.dtype.scalar(0)
    made = coo_to_matrix(
        *shape, major, minor, values, dtype=like.dtype if values is None else None, iso_value=shared
    )
    return made if orientation == "csr" else made.flipped()


def oriented(arrays: MatrixArrays, orientation: str) -> MatrixArrays:
    """Return the matrix by rows (``csr``) or columns (``csc``), sorted anew if it is not."""
    if arrays.orientation == orientation:
        return arrays
    lines = entry_lines(arrays)
    values = None if arrays.iso else arrays.values
    shape = (arrays.nminor, arrays.nmajor)
    return from_entries(shape, orientation, arrays.indices, lines, values, arrays)


def lines_of(item: Any, order: str, what: str) -> MatrixArrays:
    """Return the rows or the columns of a matrix, or a vector as one line."""
    arrays = reading.host_arrays(item, what)
    if item.kind == "vector":
        return one_line(arrays)
    return oriented(arrays, "csr" if is_rowwise(order) else "csc")


def entry_lines(lines: MatrixArrays) -> NDArray[Any]:
    """Return the line of each entry."""
    return lines.entry_major()


def entry_places(lines: MatrixArrays) -> NDArray[Any]:
    """Return how many entries of its line come before each entry."""
    starts, lengths = lines.indptr[:-1], np.diff(lines.indptr)
    places = np.arange(lines.nvals, dtype=lines.indptr.dtype) - np.repeat(starts, lengths)
    return np.asarray(places)


def picked(
    lines: MatrixArrays, entries: Any, minor: Any, length: int, values: Any = None
) -> MatrixArrays:
    """Return lines made of some entries of `lines`, at other positions in their line.

    Parameters
    ----------
    entries : ndarray
        Which entries.
    minor : ndarray
        Their new positions.
    length : int
        The new length of a line.
    values : ndarray, optional
        Their new values; without, they keep theirs.
    """
    major = entry_lines(lines)[entries]
    if values is None and not lines.iso:
        values = lines.values[entries]
    minor = np.asarray(minor).astype(index_dtype(length), copy=False)
    return from_entries((lines.nmajor, length), lines.orientation, major, minor, values, lines)


def to_vector(lines: MatrixArrays) -> VectorArrays:
    """Return the one line as a vector."""
    return VectorArrays.sparse(
        lines.nminor, lines.dtype, lines.indices, lines.values, iso=lines.iso
    )


def placed(item: Any, arrays: Any, name: str | None = None) -> Any:
    """Return the Matrix or Vector of `arrays` (or of a value), placed where `item` is placed."""
    if isinstance(arrays, Value):
        return OBJECTS[arrays.kind]._wrap(arrays, name)
    kind = "matrix" if isinstance(arrays, MatrixArrays) else "vector"
    made = OBJECTS[kind]._of(arrays, name)
    device = item._operand()[0].device
    if device is not None:
        made._value.place(device)
    return made
