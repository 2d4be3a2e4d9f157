"""Writing vectors: the results of algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DimensionMismatch, InvalidValue
from semira.files.delimited import write_rows
from semira.files.npz import writable_labels
from semira.files.output import Writable, open_output, target_name
from semira.formats import VectorArrays

Labels = NDArray[Any] | None


def _write_csv(stream: BinaryIO, vector: VectorArrays, labels: Labels) -> None:
    indices = vector.entry_indices()
    columns, names = [indices, vector.entry_values()], ("index", "value")
    if labels is None:
        write_rows(stream, names, columns)
    else:
        write_rows(stream, (*names, "label"), [*columns, labels[indices]])


def _write_npz(stream: BinaryIO, vector: VectorArrays, labels: Labels) -> None:
    members = {
        "size": np.int64(vector.size),
        "indices": vector.entry_indices(),
        "values": vector.entry_values(),
    }
    named = writable_labels(labels)
    if named is not None:
        members["labels"] = named
    np.savez_compressed(stream, **members)  # type: ignore[arg-type]


#: Writers by suffix, first the formats' names.
WRITERS: dict[str, Callable[[BinaryIO, VectorArrays, Labels], None]] = {
    "csv": _write_csv,
    "npz": _write_npz,
}


def write_vector(
    path: Writable,
    vector: VectorArrays,
    *,
    labels: Labels = None,
    format: str | None = None,
) -> None:
    """Write the entries of a vector.

    Parameters
    ----------
    path : str, os.PathLike or binary stream
        ``.csv``, ``.csv.gz`` or ``.npz``; ``"-"`` is standard output.
    vector : VectorArrays
    labels : ndarray, shape (size,), optional
        Name of each position, written beside (csv) or after (npz) the values.
    format : {"csv", "npz"}, optional
        Overrides the suffix.

    Raises
    ------
    InvalidValue
        The format is unknown.
    DimensionMismatch
        There is not one label for each position.
    FileWriteError
        The file cannot be written; nothing is left behind.

    Notes
    -----
    csv has the columns ``index,value[,label]``, one line an entry. npz has ``size``,
    ``indices``, ``values`` and perhaps ``labels`` (all of them).

    Examples
    --------
    >>> import io
    >>> from semira.base.dtypes import INT64
    >>> out = io.BytesIO()
    >>> write_vector(out, VectorArrays.full(INT64, np.array([4, 2])), format="csv")
    >>> out.getvalue().decode().split()
    ['index,value', '0,4', '1,2']
    """
    suffix = target_name(path).removesuffix(".gz").rsplit(".", 1)[-1].lower()
    writer = WRITERS.get(suffix if format is None else format)
    if writer is None:
        asked = f"suffix of {target_name(path)!r}" if format is None else f"format {format!r}"
        raise InvalidValue(f"{asked} names no vector format; choose one of {', '.join(WRITERS)}")
    if labels is not None and len(labels) != vector.size:
        raise DimensionMismatch(f"{len(labels)} labels for a vector of size {vector.size}")
    with open_output(path) as stream:
        writer(stream, vector, labels)
