"""Writing vectors: the results of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DimensionMismatch, InvalidValue
from semira.files.compression import split_suffix
from semira.files.delimited import write_rows
from semira.files.npz import writable_labels
from semira.files.output import Writable, open_output, target_name
from semira.formats import VectorArrays

Labels = NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class _Columns:
    """What is written: positions, and the values that each vector has there."""

    size: int
    indices: NDArray[Any]
    values: dict[str, NDArray[Any]]
    labels: Labels


def _write_csv(stream: BinaryIO, table: _Columns) -> None:
    names, columns = ["index", *table.values], [table.indices, *table.values.values()]
    if table.labels is not None:
        names.append("label")
        columns.append(table.labels[table.indices])
    write_rows(stream, tuple(names), columns)


def _write_npz(stream: BinaryIO, table: _Columns) -> None:
    # One vector has "values"; several have their names.
    values = {"values" if name == "value" else name: each for name, each in table.values.items()}
    members = {"size": np.int64(table.size), "indices": table.indices, **values}
    named = writable_labels(table.labels)
    if named is not None:
        members["labels"] = named
    np.savez_compressed(stream, **members)  # type: ignore[arg-type]


#: Writers by suffix, first the formats' names.
WRITERS: dict[str, Callable[[BinaryIO, _Columns], None]] = {"csv": _write_csv, "npz": _write_npz}


def vector_writer(
    path: Writable, format: str | None = None
) -> Callable[[BinaryIO, _Columns], None]:
    """Return what writes vectors to `path`; `format` overrides its suffix.

    Raises InvalidValue if the format is unknown; the message has those that are not.
    """
    suffix = split_suffix(target_name(path))[0].rsplit(".", 1)[-1].lower()
    writer = WRITERS.get(suffix if format is None else format)
    if writer is None:
        asked = f"suffix of {target_name(path)!r}" if format is None else f"format {format!r}"
        raise InvalidValue(f"{asked} names no vector format; choose one of {', '.join(WRITERS)}")
    return writer


def _columns_of(named: Mapping[str, VectorArrays], labels: Labels) -> _Columns:
    first, *others = named.values()
    indices = first.entry_indices()
    if any(not np.array_equal(indices, each.entry_indices()) for each in others):
        raise InvalidValue(f"{', '.join(named)} have different entries; write a file for each")
    if labels is not None and len(labels) != first.size:
        raise DimensionMismatch(f"{len(labels)} labels for a vector of size {first.size}")
    values = {name: each.entry_values() for name, each in named.items()}
    return _Columns(first.size, indices, values, labels)


def write_vector(
    path: Writable,
    vector: VectorArrays | Mapping[str, VectorArrays],
    *,
    labels: Labels = None,
    format: str | None = None,
) -> None:
    """Write the entries of a vector, or of several by name; `format` overrides the suffix.

    That is ``.csv`` (also ``.csv.gz``, ``.bz2``, ``.xz``) or ``.npz``; ``"-"`` is standard output.
    Several vectors have entries at the same positions, and a column each. csv has the columns
    ``index,value[,label]``, one line an entry. npz has ``size``, ``indices``, ``values`` and
    perhaps ``labels``, the names of all positions. Of several vectors their names stand in place of
    ``value`` and ``values``.

    Raises InvalidValue if the format is unknown, or several vectors have different entries;
    DimensionMismatch if there is not one label for each position; FileWriteError if the file cannot
    be written; nothing is left behind.

    Examples
    --------
    >>> import io
    >>> from semira.base.dtypes import INT64
    >>> out = io.BytesIO()
    >>> write_vector(out, VectorArrays.full(INT64, np.array([4, 2])), format="csv")
    >>> out.getvalue().decode().split()
    ['index,value', '0,4', '1,2']
    """
    write = vector_writer(path, format)
    named = vector if isinstance(vector, Mapping) else {"value": vector}
    table = _columns_of(named, labels)
    with open_output(path) as stream:
        write(stream, table)
